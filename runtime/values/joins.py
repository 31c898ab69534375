"""Joint types: the least spec that covers two."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.jaxapi import trees
from autograph.runtime.values.abstract_values import (
    BLANK,
    SCALARS,
    AbstractValue,
    ArrayType,
    ByReference,
    Option,
    Static,
    children,
    is_container,
    is_leaf,
    spec_of,
    type_of,
)
from autograph.runtime.values.values import (
    NONE,
    UNSET,
    Blank,
    DynamicLength,
    Poison,
    Unset,
)


class Mismatch(Exception):
    """Two specs that nothing covers: the path below the variable, and both specs."""

    def __init__(self, path: str, a: AbstractValue, b: AbstractValue, why: str = "") -> None:
        super().__init__(path, a, b, why)
        self.path, self.a, self.b, self.why = path, a, b, why


def join(a: AbstractValue, b: AbstractValue, path: str = "") -> AbstractValue:
    """The least spec that covers both (dtypes and weak types as `jnp.promote_types`; a scalar broadcasts).

    Raises Mismatch where there is none.
    """
    if is_leaf(a) and is_leaf(b) and a == b:
        return b if isinstance(a, ArrayType) and a.numpys else a  # one of NumPy's, if both are
    if is_blank(a):
        return b
    if is_blank(b):
        return a
    for s in (a, b):
        if isinstance(s, Static) and type(s.value) is Poison:
            return s
    if bits := _bits(a) | _bits(b):
        return Option(join(_inner(a), _inner(b), path), bits, _name(a) or _name(b))
    a, b = _opened(a), _opened(b)
    if is_leaf(a) and is_leaf(b):
        return _join_leaves(a, b, path)
    if is_leaf(a) or is_leaf(b):
        raise Mismatch(path, a, b)
    (xs, tree), (ys, other) = children(a), children(b)
    if tree != other:
        raise Mismatch(path, a, b)
    keys = [_key(k) for k, _ in trees.with_paths(a, is_leaf=lambda x: x is not a)[0]]
    return tree.unflatten([join(x, y, path + key) for key, x, y in zip(keys, xs, ys, strict=True)])


def _opened(spec: AbstractValue) -> AbstractValue:
    """The parts of what a spec says to stay the object that it is; of a Variable the type of its value."""
    if isinstance(spec, Static) and isinstance(spec.value, VariableRef):
        return spec_of(spec.value.value)
    if isinstance(spec, ByReference) or isinstance(spec, Static) and _has_parts(spec.value):
        return spec_of(spec.value)
    return spec


def _has_parts(value: Any) -> bool:
    """Whether a place that holds it may be given another one of the same structure."""
    return isinstance(value, (tuple, DynamicLength)) or is_container(value) or trees.is_own_node(value)


def _join_leaves(a: ArrayType | Static, b: ArrayType | Static, path: str) -> AbstractValue:
    s, t = type_of(a), type_of(b)
    if s is None or t is None:
        raise Mismatch(path, a, b)
    if s.shape != t.shape and s.shape and t.shape:
        raise Mismatch(path, a, b)
    try:
        dtype = s.dtype if s.dtype == t.dtype else jnp.result_type(_promotable(s), _promotable(t))
    except Exception as error:  # no common dtype, or promotion is strict: the reason is JAX's
        raise Mismatch(path, a, b, str(error).splitlines()[0]) from None
    weak = all(u.weak or (u.dtype == bool and s.dtype != t.dtype) for u in (s, t))
    arrays = [u for u in (s, t) if u.shape] or [u for u in (s, t) if not u.weak]  # Python's numbers become NumPy's
    numpys = bool(arrays) and all(u.numpys for u in arrays)
    return ArrayType(s.shape or t.shape, dtype, weak, s.axes | t.axes, numpys)


def _promotable(t: ArrayType) -> Any:
    return SCALARS[t.dtype.kind] if t.weak else t.dtype


def is_blank(spec: AbstractValue) -> bool:
    return isinstance(spec, Static) and isinstance(spec.value, Blank)


def _bits(s: AbstractValue) -> int:
    """Which tags besides SET a spec has."""
    if isinstance(s, Option):
        return s.bits
    return (UNSET if isinstance(s.value, Unset) else NONE if s.value is None else 0) if isinstance(s, Static) else 0


def _inner(s: AbstractValue) -> AbstractValue:
    return s.value if isinstance(s, Option) else BLANK if _bits(s) else s


def _name(s: AbstractValue) -> str:
    if isinstance(s, Option):
        return s.name
    return s.value.name if isinstance(s, Static) and isinstance(s.value, Unset) else ""


def _key(path: tuple[Any, ...]) -> str:
    return str(jax.tree_util.keystr(path))


def covers(wide: AbstractValue, spec: AbstractValue) -> bool:
    """Whether a value of `spec` can be widened to `wide`."""
    try:
        return bool(join(wide, spec) == wide)
    except Mismatch:
        return False
