"""Abstract values: what is known of a value at trace time.

    (x, 3, "cpu")  with x a tracer        =>        (ArrayType((), float32), Static(3), Static("cpu"))

An abstract value is the value's own tree, with

- `ArrayType` where an array goes: shape, dtype, whether the type is weak, mesh axes, whether NumPy's rules hold;
- `Static` for what stays Python: numbers, texts, functions;
- `ByReference` for an object that is carried as the object that it is;
- `Option` for a value that may be None or undefined, with the name of its tag.

`generalize` makes Python scalars weakly typed arrays, as a staged loop needs them; `joins.join` is the least upper bound of two; `flatten.flatten`
and `unflatten` go between values and flat lists of arrays of these types.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any, Final

import jax
import numpy as np

from autograph.runtime.arrays.numpy_array import MutableArray
from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.jaxapi.traces import ShapedArray, Tracer, axes_of, shaped
from autograph.runtime.tracing.trace_context import unwatched
from autograph.runtime.values.values import (
    ARRAYS,
    ATOMS,
    CONTAINERS,
    ITERATORS,
    LASTING,
    NUMBERS,
    DynamicLength,
    Maybe,
    Poison,
    Record,
    Unset,
    blank,
    is_value,
)

AbstractValue = Any  # a pytree of Type and Static
LASTING.add(__name__)


@dataclass(frozen=True)
class Option:
    """The spec of a `Maybe`."""

    value: Any
    bits: int
    name: str = field(compare=False, default="")


@dataclass(frozen=True, slots=True)
class ArrayType:
    """Shape, dtype and weak type of an array, and over which axes of a mesh it varies; `numpys`: in Python it is an array or a number of NumPy's."""

    shape: tuple[int, ...]
    dtype: Any
    weak: bool
    axes: frozenset[str] = frozenset()
    numpys: bool = field(default=False, compare=False)

    def aval(self) -> ShapedArray:
        return shaped(self.shape, self.dtype, self.weak, self.axes)

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


class TreeNode:
    """An object of a class that is registered as a pytree: its structure, one level deep, and what stands for its parts.

    No object of the class is made for what is no value: its own code could make nothing of it.
    """

    __slots__ = ("keys", "parts", "tree")

    def __init__(self, tree: Any, keys: tuple[Any, ...], parts: Sequence[Any]) -> None:
        self.tree, self.keys, self.parts = tree, keys, parts

    @property
    def cls(self) -> type:
        return self.tree.node_data()[0]  # type: ignore[no-any-return]

    def made(self, parts: Sequence[Any]) -> Any:
        """The object with these parts."""
        with unwatched():  # its class may set attributes
            return self.tree.unflatten(parts)

    def __eq__(self, other: object) -> bool:
        """Whether two specs of objects are the same."""
        return isinstance(other, TreeNode) and self.tree == other.tree and list(self.parts) == list(other.parts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = [jax.tree_util.keystr((k,)).lstrip(".") if not isinstance(k, jax.tree_util.FlattenedIndexKey) else "" for k in self.keys]
        return f"{self.cls.__name__}({', '.join(f'{n}={p!r}' if n else repr(p) for n, p in zip(names, self.parts, strict=True))})"


jax.tree_util.register_pytree_with_keys(
    TreeNode, lambda n: (list(zip(n.keys, n.parts, strict=True)), (n.tree, n.keys)), lambda aux, parts: TreeNode(aux[0], aux[1], list(parts)),
    lambda n: (n.parts, (n.tree, n.keys)),
)  # fmt: skip


def described(leaf: Callable[[Any], Any], value: Any, is_leaf: Callable[[Any], bool]) -> Any:
    """`trees.map(leaf, value)` whose results are no values: a `TreeNode` stands for each object of a registered class."""

    def each(x: Any) -> Any:
        if is_leaf(x) or not trees.is_own_node(x):
            return leaf(x)
        return one_level(lambda part: described(leaf, part, is_leaf), x)

    return trees.map(each, value, is_leaf=lambda x: is_leaf(x) or trees.is_own_node(x))


def one_level(f: Callable[[Any], Any], x: Any) -> Any:
    """What stands for an object, or a tuple: `f` of its parts."""
    if not trees.is_own_node(x):
        return trees.map(f, x, is_leaf=lambda part: part is not x)
    parts, tree = trees.with_paths(x, is_leaf=lambda part: part is not x)
    return TreeNode(tree, tuple(path[0] for path, _ in parts), [f(part) for _, part in parts])


class Static(Record):
    """A leaf that stays Python."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value
        if type(value) not in ATOMS:
            self.holds(value)

    def __repr__(self) -> str:
        if isinstance(self.value, Unset):
            return "unset"
        if type(self.value) is Poison:
            return "what may have changed"
        try:
            text = repr(self.value)
        except Exception:  # the user's own, of an object whose attributes are what they were before
            return f"a `{type(self.value).__name__}`"
        return text if len(text) <= 60 else f"a `{type(self.value).__name__}`"

    def __eq__(self, other: object) -> bool:
        a, b = self.value, other.value if isinstance(other, Static) else other
        if a is b or type(a) is not type(b) or isinstance(a, VariableRef):
            return a is b
        if isinstance(a, jax.Array):  # a comparison would be recorded, perhaps of a value that is of another trace
            return False
        if isinstance(a, (Unset, Poison)):
            return True
        if type(a) in NUMBERS:
            return repr(a) == repr(b)  # 0.0 is not -0.0, and nan is nan
        if not _compares_itself(type(a)):
            return bool(a == b)
        if not getattr(getattr(type(a), "__dataclass_params__", None), "frozen", False):
            return False  # two objects that may change are two, also where they are equal now
        fields = type(a).__dataclass_fields__  # type: ignore[union-attr]
        return all(Static(getattr(a, n, None)) == Static(getattr(b, n, None)) for n in fields)

    __hash__ = None  # type: ignore[assignment]


def _compares_itself(cls: type) -> bool:
    """Whether `==` of objects of a class runs Python code of the user's, or of a library's."""
    return isinstance(cls.__eq__, FunctionType) and cls.__module__.partition(".")[0] not in _COMPARED


_COMPARED: Final = frozenset({*sys.stdlib_module_names, "autograph", "jax", "jaxlib", "numpy"}) - {"__main__"}


class ByReference(Static):
    """A list, dict, set, deque or view that is the same object before and after a block; what it holds is state of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"the {type(self.value).__name__}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByReference) and self.value is other.value

    __hash__ = None  # type: ignore[assignment]


TAG: Final = ArrayType((), np.dtype("int8"), False)
BLANK: Final = Static(blank)
jax.tree_util.register_pytree_node(Option, lambda o: ((o.value, TAG), (o.bits, o.name)), lambda aux, children: Option(children[0], *aux))
_WEAK_TYPES: Final = {bool: False, int: True, float: True, complex: True}
SCALARS: Final = {"i": int, "u": int, "f": float, "c": complex}


def type_of(v: Any) -> ArrayType | None:
    """The type of an array or number; of a spec's leaf; None of what stays Python."""
    if isinstance(v, Tracer):
        return _of_tracer(v)
    if isinstance(v, ArrayType):
        return v
    if isinstance(v, ByReference):
        return None
    if isinstance(v, Static):
        return type_of(v.value) if isinstance(v.value, (*NUMBERS, *ARRAYS)) else None
    if isinstance(v, NUMBERS) and not isinstance(v, np.generic):
        kind = next(k for k in NUMBERS if isinstance(v, k))  # a member of an IntEnum is an int
        return ArrayType((), jax.dtypes.canonicalize_dtype(kind), _WEAK_TYPES[kind])
    if isinstance(v, np.ndarray) and (v.dtype.kind in "OSUMm" or v.dtype.names):  # of objects, texts, dates: it stays Python's
        return None
    aval = jax.typeof(v)
    dtype = jax.dtypes.canonicalize_dtype(aval.dtype) if isinstance(aval.dtype, np.dtype) else aval.dtype
    return ArrayType(aval.shape, dtype, aval.weak_type and aval.dtype != bool, axes_of(aval), isinstance(v, np.ndarray) and v.ndim > 0)


def _of_tracer(v: Any) -> ArrayType:
    return of_aval(v.aval, bool(v.scalar) if type(v) is Array else isinstance(v, MutableArray))


def of_aval(aval: Any, numpys: bool = False) -> ArrayType:
    # Comparing two weak values gives a weak bool; a bool has nothing to be weak about.
    return ArrayType(aval.shape, aval.dtype, bool(getattr(aval, "weak_type", False)) and aval.dtype != bool, axes_of(aval), numpys)


def spec_of(v: Any) -> AbstractValue:
    """The spec of a value: arrays become types, the rest stays what it is."""
    if isinstance(v, Tracer):
        return _of_tracer(v)
    if type(v) in ATOMS:
        return Static(v)
    if isinstance(v, ARRAYS):
        return array_spec(v)
    if isinstance(v, Maybe):
        return Option(spec_of(v.value), v.bits, v.name)
    return described(_leaf_spec, v, is_leaf=is_value)


def spec_in_block(
    v: Any, inside: Callable[[Any], bool] = lambda container: False, kept: Callable[[Any], bool] = lambda array: False
) -> AbstractValue:
    """The spec of what goes into a block or comes out of it: lists, dicts, sets and deques stay the objects that they are.

    Those for which `inside` holds are looked into.  So do the arrays for which `kept` holds.
    """

    def leaf(x: Any) -> AbstractValue:
        if is_container(x) or _is_view(x):
            return spec_of(x) if inside(x) else ByReference(x)
        return ByReference(x) if isinstance(x, Array) and kept(x) else _leaf_spec(x)

    if type(v) is Array:  # whose class is not to be asked for (`ArrayTracer.__class__`)
        return ByReference(v) if kept(v) else _of_tracer(v)
    if type(v) in ATOMS:
        return spec_of(v)
    if isinstance(v, ARRAYS):
        return leaf(v)
    if isinstance(v, Maybe):
        return Option(spec_in_block(v.value, inside, kept), v.bits, v.name)
    if is_container(v) or _is_view(v):
        return leaf(v)
    return described(leaf, v, is_leaf=lambda x: type(x) is Array or is_value(x) or is_container(x) or _is_view(x))


def _is_view(x: Any) -> bool:
    return isinstance(x, DynamicLength) and x.is_view()


def is_container(x: Any) -> bool:
    """Whether it is an object of Python's whose contents can change."""
    return isinstance(x, CONTAINERS)


def _leaf_spec(x: Any) -> AbstractValue:
    return array_spec(x) if isinstance(x, ARRAYS) else spec_of(x) if isinstance(x, Maybe) else Static(x)


def array_spec(v: Any) -> AbstractValue:
    if isinstance(v, np.ndarray) and v.dtype.kind not in "biufcV":
        return Static(v)  # strings and objects
    return type_of(v)


def is_leaf(spec: AbstractValue) -> bool:
    return isinstance(spec, (ArrayType, Static))


def leaves(spec: AbstractValue) -> list[Any]:
    return [spec] if is_leaf(spec) else trees.leaves(spec)


def types(specs: Iterable[AbstractValue]) -> list[ArrayType]:
    """The array types in some specs, in order."""
    return [leaf for spec in specs for leaf in leaves(spec) if isinstance(leaf, ArrayType)]


def generalize(spec: AbstractValue) -> AbstractValue:
    """The spec in which Python numbers are weakly typed arrays, as a staged loop needs them."""
    return (type_of(spec) or spec) if is_leaf(spec) else trees.map(lambda s: type_of(s) or s, spec)


def over(spec: AbstractValue, axes: frozenset[str]) -> AbstractValue:
    """The spec of values that vary over some axes of a mesh as well."""
    if not axes:
        return spec
    return trees.map(lambda s: replace(s, axes=s.axes | axes) if isinstance(s, ArrayType) else s, spec, is_leaf=is_leaf)


def children(v: Any) -> tuple[list[Any], Any]:
    if isinstance(v, ITERATORS):
        return [v], _LEAF
    found: tuple[list[Any], Any] = trees.flatten(v, is_leaf=lambda x: x is not v)
    return found


_LEAF = trees.structure(0)


def has_option(spec: AbstractValue) -> bool:
    """Whether a value of this spec may be unset or None in part."""
    return any(isinstance(x, Option) for x in trees.leaves(spec, is_leaf=lambda s: is_leaf(s) or isinstance(s, Option)))
