"""Specs as errors show them."""

from __future__ import annotations

import jax

from autograph.runtime.heap import Items
from autograph.runtime.specs import Option, Spec, Static, Type, is_blank, is_leaf
from autograph.runtime.values import NONE, NUMBERS, UNSET


def describe(spec: Spec) -> str:
    """A spec as an error shows it."""
    if isinstance(spec, Static):
        v = spec.value
        if type(v) in NUMBERS:
            return f"the number {v!r}"
        return repr(spec)
    if isinstance(spec, Type):
        return f"{spec!r}" + (" (weak)" if spec.weak else "")
    if isinstance(spec, Option):
        others = [word for bit, word in ((UNSET, "unset"), (NONE, "None")) if spec.bits & bit]
        return " or ".join([*([] if is_blank(spec.value) else [describe(spec.value)]), *others])
    return _tree_text(spec)


def described(spec: Spec) -> str:
    """What a place holds, as an error shows it."""
    if not isinstance(spec, Items):
        return describe(spec)
    return f"it has {len(spec.values)} items" if len(spec.values) != 1 else "it has 1 item"


def _tree_text(spec: Spec) -> str:
    inner = jax.tree.map(lambda s: _Text(describe(s)), spec, is_leaf=lambda x: is_leaf(x) or isinstance(x, Option))
    return repr(inner)


class _Text(str):
    def __repr__(self) -> str:
        return str(self)
