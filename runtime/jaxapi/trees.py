"""`jax.tree` for dicts whose keys have no order as well: those are taken in the order of the dict."""

from __future__ import annotations

import builtins
import collections
from collections.abc import Callable, Sequence
from typing import Any

import jax

IsLeaf = Callable[[Any], bool] | None
OBJECTS: tuple[
    type, ...
] = ()  # classes of libraries that JAX looks into, and of which the objects are changed in place by their holders: none of ours


class _Ordered:
    """Stands for such a dict; the dict comes back where a tree is made of it."""

    def __init__(self, keys: tuple[Any, ...], values: Sequence[Any]) -> None:
        self.keys, self.values = keys, values


jax.tree_util.register_pytree_with_keys(
    _Ordered, lambda x: (list(zip(builtins.map(jax.tree_util.DictKey, x.keys), x.values, strict=True)), x.keys),
    lambda keys, values: dict(zip(keys, values, strict=True)), lambda x: (x.values, x.keys),
)  # fmt: skip


def objects(*classes: type) -> None:
    """Take objects of some classes as leaves."""
    global OBJECTS
    OBJECTS += classes


def _or_object(is_leaf: IsLeaf) -> IsLeaf:
    if not OBJECTS:
        return is_leaf
    return lambda x: isinstance(x, OBJECTS) or is_leaf is not None and is_leaf(x)


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    if hasattr(type(tree), "__next__"):  # an iterator, of which JAX would warn that it is a leaf
        return [tree]
    return _run(lambda t, is_leaf: jax.tree.leaves(t, is_leaf=is_leaf), [tree], is_leaf)  # type: ignore[no-any-return]


def children(tree: Any) -> list[Any]:
    """What a node holds; of a leaf itself."""
    return leaves(tree, is_leaf=lambda x: x is not tree)


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], Any]:
    return _run(lambda t, is_leaf: jax.tree.flatten(t, is_leaf=is_leaf), [tree], is_leaf)  # type: ignore[no-any-return]


def with_paths(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[Any, Any]], Any]:
    return _run(lambda t, is_leaf: jax.tree_util.tree_flatten_with_path(t, is_leaf=is_leaf), [tree], is_leaf)  # type: ignore[no-any-return]


def is_node(x: Any) -> bool:
    """Whether JAX looks into an object: by its class, nothing of the object is asked."""
    return bool(jax.tree_util.is_tree_node(type(x))) and not isinstance(x, OBJECTS)


def is_own_node(x: Any) -> bool:
    """Whether it is an object of a class that was registered as a pytree, which its own code makes and takes apart; none of Python's or ours."""
    kind = type(x)
    if kind in _BUILTIN or kind.__module__.startswith("autograph."):
        return False
    if not jax.tree_util.is_tree_node(kind) or isinstance(x, OBJECTS):
        return False
    return not (issubclass(kind, tuple) and tuple in kind.__bases__)  # a named tuple: nothing can stand between it and its parts


_BUILTIN = frozenset({tuple, list, dict, collections.OrderedDict, collections.defaultdict, collections.deque, type(None)})


def structure(tree: Any, is_leaf: IsLeaf = None) -> Any:
    return _run(lambda t, is_leaf: jax.tree.structure(t, is_leaf=is_leaf), [tree], is_leaf)


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    return _run(lambda t, *r, is_leaf: jax.tree.map(f, t, *r, is_leaf=is_leaf), [tree, *rest], is_leaf)


def _run(operation: Callable[..., Any], trees: list[Any], is_leaf: IsLeaf) -> Any:
    """An operation on trees, or on what stands for them if JAX cannot sort the keys of a dict in them."""
    is_leaf = _or_object(is_leaf)
    try:
        return operation(*trees, is_leaf=is_leaf)
    except ValueError as error:
        if "Comparator" not in str(error):
            raise
    return operation(*[sortable(t, is_leaf) for t in trees], is_leaf=is_leaf)


def is_sortable(tree: Any) -> bool:
    """Whether JAX takes a tree as it is."""
    try:
        jax.tree.structure(tree)
    except ValueError as error:
        if "Comparator" not in str(error):
            raise
        return False
    return True


class Boxed:
    """Such a dict on its way out of a compiled function."""

    def __init__(self, keys: tuple[Any, ...], values: Sequence[Any]) -> None:
        self.keys, self.values = keys, values

    def opened(self) -> dict[Any, Any]:
        return dict(zip(self.keys, self.values, strict=True))


jax.tree_util.register_pytree_node(Boxed, lambda x: (x.values, x.keys), Boxed)


def boxed(tree: Any) -> Any:
    """A tree as JAX takes it, with what is to be `opened` again."""
    return tree if is_sortable(tree) else sortable(tree, box=Boxed)


def sortable(tree: Any, is_leaf: IsLeaf = None, box: Callable[..., Any] = _Ordered) -> Any:
    """A tree that JAX takes, for one that it may not; the same where it comes back."""

    def is_left(x: Any) -> bool:
        return (is_leaf is not None and is_leaf(x)) or type(x) is dict and not _has_order(x)

    def instead(x: Any) -> Any:
        if type(x) is not dict or (is_leaf is not None and is_leaf(x)) or _has_order(x):
            return x
        return box(tuple(x), [sortable(v, is_leaf, box) for v in x.values()])

    return jax.tree.map(instead, tree, is_leaf=is_left)


def _has_order(x: dict[Any, Any]) -> bool:
    try:
        sorted(x)
    except TypeError:
        return False
    return True
