"""Values on their way out of a compiled function: an optional becomes None or the value, and text a string, once they are known."""

from __future__ import annotations

from typing import Any

import jax

from autograph.runtime.effects.optional_values import optional_result
from autograph.runtime.errors.errors import NotStagedError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.traces import ArrayImpl, concrete, number
from autograph.runtime.state.captured_state import reachable
from autograph.runtime.state.formatting import Text
from autograph.runtime.values.values import NONE, Blank, DynamicLength, Maybe, is_value, map_maybe, traced


class Packed:
    """An optional on its way out of a compiled function."""

    def __init__(self, value: Any, tag: Any, bits: int, name: str) -> None:
        self.value, self.tag, self.bits, self.name = value, tag, bits, name


jax.tree_util.register_pytree_node(Packed, lambda p: ((p.value, p.tag), (p.bits, p.name)), lambda aux, children: Packed(*children, *aux))


def packed(x: Maybe) -> Packed:
    value = None if isinstance(x.value, Blank) else map_maybe(packed, x.value)
    return Packed(value, x.tag, x.bits, x.name)


def leaving(out: Any, name: str) -> Any:
    """The result of a function that is compiled: strings in it become text, which leaves beside the arrays.

    Raises:
      NotStagedError: (AG501) a set, or an object of a class that JAX does not know, is part of it.
    """

    def leaf(x: Any) -> Any:
        if isinstance(x, Text):
            return Text(x.how, x.template, trees.map(leaf, x.values, is_leaf=lambda v: isinstance(v, Text)))
        if isinstance(x, str):
            return Text("format", x.replace("{", "{{").replace("}", "}}"), ((), {}))
        if isinstance(x, (set, frozenset)):
            raise NotStagedError(
                f"`{name}` returns a `{type(x).__name__}`, and a compiled function returns only arrays, numbers, strings and pytrees", here(),
                "return a list or tuple of what it holds: `sorted(x)`",
            )  # fmt: skip
        if type(x).__module__ not in ("builtins", "numpy") and hasattr(x, "__dict__") and not (is_value(x) or _is_ours(x) or hasattr(x, "dtype")):
            raise NotStagedError(
                f"`{name}` returns a `{type(x).__name__}`, and a compiled function returns only arrays, numbers, strings and pytrees", here(),
                "return what it holds, or register its class as a pytree (`jax.tree_util.register_dataclass`)",
            )  # fmt: skip
        return x

    parts, tree = trees.flatten(out, is_leaf=lambda x: is_value(x) or isinstance(x, (Text, DynamicLength)))
    return tree.unflatten([leaf(x) for x in parts])


def _is_ours(x: Any) -> bool:
    return type(x).__module__.startswith(("autograph.", "jax"))


def settled(value: Any) -> Any:
    """A value whose optionals are None or the value, where that is known now; inside a trace they stay optionals."""
    if type(value) is ArrayImpl:
        return value
    return trees.map(_settled, value, is_leaf=lambda x: is_value(x) or isinstance(x, (Packed, Text, DynamicLength, trees.Boxed)))


def has_late(value: Any) -> bool:
    """Whether text with traced values in it, or a list whose length they decide, is part of a value."""
    return any(
        isinstance(x, (Text, DynamicLength)) for x in trees.leaves(value, is_leaf=lambda x: is_value(x) or isinstance(x, (Text, DynamicLength)))
    )


def _settled(x: Any) -> Any:
    if isinstance(x, Text):
        return x if traced(x) else str(x)
    if isinstance(x, trees.Boxed):
        return {k: settled(v) for k, v in x.opened().items()}
    if isinstance(x, DynamicLength):
        if concrete(x.length):
            return settled(x.known())
        if not reachable():
            raise x.refusal("it leaves the function inside of another transformation")
        return x
    if not isinstance(x, (Packed, Maybe)):
        return x
    if concrete(x.tag):
        return None if number(x.tag) == NONE else settled(x.value)
    if not reachable():
        raise optional_result()
    return Maybe(settled(x.value), x.tag, x.bits, x.name)
