"""What converted code holds in a variable, its spec, and how two specs are joined.

A *value* is an array, a number, a pytree of them, anything static, `Unset`, or `Maybe` (a value, and a tag that says whether it is set or None).
A *spec* is the same tree with `Type` where an array goes and `Static` elsewhere.  `join` settles types, `pack` gives flat arrays, `unpack` undoes it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime._jax import ShapedArray, Tracer, convert_type

NUMBERS: Final = (bool, int, float, complex)
ARRAYS: Final = (jax.Array, np.ndarray, np.generic)
Spec = Any  # a pytree of Type and Static


class Unset:
    """The value of the variable `name` while it has none."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name} is unset>"


class Blank:
    """A place that is written before it is read: it takes the type of whatever it meets."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


blank: Final = Blank("blank")
nothing: Final = Blank("nothing")  # what a path gives that certainly ends in an error
SET, UNSET, NONE = 0, 1, 2  # tags


class Maybe:
    """What only traced values know to be set, unset or None: a value, an int8 tag, and which of `UNSET | NONE` are possible.

    `optional.py` makes it an operand: an operation on it is the operation on the value, and Python's error where there is none.
    """

    __slots__ = ("bits", "name", "tag", "value")

    def __init__(self, value: Any, tag: Any, bits: int, name: str = "") -> None:
        self.value, self.tag, self.bits, self.name = value, tag, bits, name

    def __repr__(self) -> str:
        return f"Maybe({self.value!r}, {self.tag!r}, {self.bits})"


@dataclass(frozen=True)
class Option:
    """The spec of a `Maybe`."""

    value: Any
    bits: int
    name: str = field(compare=False, default="")


@dataclass(frozen=True, slots=True)
class Type:
    """Shape, dtype and weak type of an array."""

    shape: tuple[int, ...]
    dtype: Any
    weak: bool

    def aval(self) -> ShapedArray:
        return ShapedArray(self.shape, self.dtype, weak_type=self.weak)

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


class Static:
    """A leaf that stays Python."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        if isinstance(self.value, Unset):
            return "unset"
        text = repr(self.value)
        return text if len(text) <= 60 else f"a {type(self.value).__name__}"

    def __eq__(self, other: object) -> bool:
        a, b = self.value, other.value if isinstance(other, Static) else other
        if a is b or type(a) is not type(b):
            return a is b
        if isinstance(a, Unset):
            return True
        if type(a) in NUMBERS:
            return repr(a) == repr(b)  # 0.0 is not -0.0, and nan is nan
        try:
            return bool(a == b)
        except Exception:  # an `__eq__` of the user's that does not answer: different objects are different
            return False

    __hash__ = None  # type: ignore[assignment]


TAG: Final = Type((), np.dtype("int8"), False)
BLANK: Final = Static(blank)
jax.tree_util.register_pytree_node(Option, lambda o: ((o.value, TAG), (o.bits, o.name)), lambda aux, children: Option(children[0], *aux))
_WEAK_TYPES: Final = {bool: False, int: True, float: True, complex: True}
_SCALARS: Final = {"i": int, "u": int, "f": float, "c": complex}


def type_of(v: Any) -> Type | None:
    """The type of an array or number; of a spec's leaf; None of what stays Python."""
    if isinstance(v, Tracer):
        return of_aval(v.aval)
    if isinstance(v, Type):
        return v
    if isinstance(v, Static):
        return type_of(v.value) if isinstance(v.value, NUMBERS) else None
    if isinstance(v, NUMBERS) and not isinstance(v, np.generic):
        kind = next(k for k in NUMBERS if isinstance(v, k))  # a member of an IntEnum is an int
        return Type((), jax.dtypes.canonicalize_dtype(kind), _WEAK_TYPES[kind])
    aval = jax.typeof(v)
    dtype = jax.dtypes.canonicalize_dtype(aval.dtype) if isinstance(aval.dtype, np.dtype) else aval.dtype
    return Type(aval.shape, dtype, aval.weak_type and aval.dtype != bool)


def of_aval(aval: Any) -> Type:
    # Comparing two weak values gives a weak bool; a bool has nothing to be weak about.
    return Type(aval.shape, aval.dtype, bool(getattr(aval, "weak_type", False)) and aval.dtype != bool)


_ATOMS: Final = frozenset({bool, int, float, complex, str, bytes, type(None), Unset, Blank, range, slice, type})


def spec_of(v: Any) -> Spec:
    """The spec of a value: arrays become types, the rest stays what it is."""
    if isinstance(v, Tracer):
        return of_aval(v.aval)
    if type(v) in _ATOMS:
        return Static(v)
    if isinstance(v, ARRAYS):
        return _array_spec(v)
    if isinstance(v, Maybe):
        return Option(spec_of(v.value), v.bits, v.name)
    return jax.tree.map(_leaf_spec, v, is_leaf=is_value)


def is_value(x: Any) -> bool:
    """Whether a part of a value is not looked into: None, and what may be unset or None."""
    return x is None or isinstance(x, Maybe)


def _leaf_spec(x: Any) -> Spec:
    return _array_spec(x) if isinstance(x, ARRAYS) else spec_of(x) if isinstance(x, Maybe) else Static(x)


def _array_spec(v: Any) -> Spec:
    if isinstance(v, np.ndarray) and v.dtype.kind not in "biufcV":
        return Static(v)  # strings and objects
    return type_of(v)


def is_leaf(spec: Spec) -> bool:
    return isinstance(spec, (Type, Static))


def leaves(spec: Spec) -> list[Any]:
    return [spec] if is_leaf(spec) else jax.tree.leaves(spec)


def types(specs: Iterable[Spec]) -> list[Type]:
    """The array types in some specs, in order."""
    return [leaf for spec in specs for leaf in leaves(spec) if isinstance(leaf, Type)]


def widen(spec: Spec) -> Spec:
    """The spec in which Python numbers are weakly typed arrays, as a staged loop needs them."""
    return (type_of(spec) or spec) if is_leaf(spec) else jax.tree.map(lambda s: type_of(s) or s, spec)


def _children(v: Any) -> tuple[list[Any], Any]:
    found: tuple[list[Any], Any] = jax.tree.flatten(v, is_leaf=lambda x: x is not v)
    return found


class Mismatch(Exception):
    """Two specs that nothing covers: the path below the variable, and both specs."""

    def __init__(self, path: str, a: Spec, b: Spec, why: str = "") -> None:
        super().__init__(path, a, b, why)
        self.path, self.a, self.b, self.why = path, a, b, why


def join(a: Spec, b: Spec, path: str = "") -> Spec:
    """The least spec that covers both (dtypes and weak types as `jnp.promote_types`; a scalar broadcasts).

    Raises Mismatch where there is none.
    """
    if is_leaf(a) and is_leaf(b) and a == b:
        return a
    if is_blank(a):
        return b
    if is_blank(b):
        return a
    if bits := _bits(a) | _bits(b):
        return Option(join(_inner(a), _inner(b), path), bits, _name(a) or _name(b))
    if is_leaf(a) and is_leaf(b):
        return _join_leaves(a, b, path)
    if is_leaf(a) or is_leaf(b):
        raise Mismatch(path, a, b)
    (xs, tree), (ys, other) = _children(a), _children(b)
    if tree != other:
        raise Mismatch(path, a, b)
    keys = [_key(k) for k, _ in jax.tree_util.tree_flatten_with_path(a, is_leaf=lambda x: x is not a)[0]]
    return tree.unflatten([join(x, y, path + key) for key, x, y in zip(keys, xs, ys, strict=True)])


def _join_leaves(a: Type | Static, b: Type | Static, path: str) -> Spec:
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
    return Type(s.shape or t.shape, dtype, weak)


def _promotable(t: Type) -> Any:
    return _SCALARS[t.dtype.kind] if t.weak else t.dtype


def is_blank(spec: Spec) -> bool:
    return isinstance(spec, Static) and isinstance(spec.value, Blank)


def _bits(s: Spec) -> int:
    """Which tags besides SET a spec has."""
    if isinstance(s, Option):
        return s.bits
    return (UNSET if isinstance(s.value, Unset) else NONE if s.value is None else 0) if isinstance(s, Static) else 0


def _inner(s: Spec) -> Spec:
    return s.value if isinstance(s, Option) else BLANK if _bits(s) else s


def _name(s: Spec) -> str:
    if isinstance(s, Option):
        return s.name
    return s.value.name if isinstance(s, Static) and isinstance(s.value, Unset) else ""


def _key(path: tuple[Any, ...]) -> str:
    return str(jax.tree_util.keystr(path))


def covers(wide: Spec, spec: Spec) -> bool:
    """Whether a value of `spec` can be widened to `wide`."""
    try:
        return bool(join(wide, spec) == wide)
    except Mismatch:
        return False


class _Uses(threading.local):
    """How often a blank has been given a type, in this thread."""

    count = 0


blank_uses: Final = _Uses()


def to_type(x: Any, t: Type) -> Any:
    """`x` widened to an array of type `t`; never narrowed."""
    if isinstance(x, Blank):
        blank_uses.count += x is blank
        if t.weak:
            return _SCALARS[t.dtype.kind](0) if t.shape == () else convert_type(jnp.zeros(t.shape, t.dtype), t.dtype, True)
        return lax.full(t.shape, 0, t.dtype) if not isinstance(t.dtype, np.dtype) else np.zeros(t.shape, t.dtype)
    if isinstance(x, NUMBERS) and not isinstance(x, np.generic):
        if isinstance(x, int) and t.dtype.kind in "iu" and not np.iinfo(t.dtype).min <= x <= np.iinfo(t.dtype).max:
            raise OverflowError(f"{x} does not fit {t}")
        if t.weak and t.shape == () and t.dtype.kind in _SCALARS:
            return _SCALARS[t.dtype.kind](x)
        x = np.full(t.shape, x, t.dtype) if t.shape else t.dtype.type(x)
    have = type_of(x)
    assert have is not None and covers(t, have), f"{have} would be narrowed to {t}"
    if (have.dtype, have.weak) != (t.dtype, t.weak):
        x = convert_type(jnp.asarray(x), t.dtype, t.weak)
    return x if have.shape == t.shape else lax.broadcast(x, t.shape)


def pack(v: Any, spec: Spec, convert: Callable[[Any, Type], Any] = to_type) -> list[Any]:
    """The arrays of a value in the form that `spec` wants, flat."""
    if isinstance(spec, Type):
        return [convert(v, spec)]
    if isinstance(spec, Static):
        return []
    if isinstance(spec, Option):
        if isinstance(v, Unset):
            blank_uses.count += 1
        if isinstance(v, Maybe):
            inner, tag = v.value, v.tag
        else:
            inner, tag = (blank, UNSET) if isinstance(v, Unset) else (blank, NONE) if v is None else (v, SET)
        return pack(inner, spec.value, convert) + [convert(np.int8(tag) if type(tag) is int else tag, TAG)]
    inner_specs = _children(spec)[0]
    values = [v] * len(inner_specs) if isinstance(v, Blank) else _children(v)[0]
    return [x for w, s in zip(values, inner_specs, strict=True) for x in pack(w, s, convert)]


def unpack(spec: Spec, flat: Iterator[Any]) -> Any:
    """The value of `spec` whose arrays are the next ones of `flat`."""
    if isinstance(spec, Type):
        return next(flat)
    if isinstance(spec, Static):
        return spec.value
    if isinstance(spec, Option):
        value = unpack(spec.value, flat)
        return Maybe(value, next(flat), spec.bits, spec.name)
    return jax.tree.map(lambda s: unpack(s, flat), spec, is_leaf=lambda s: is_leaf(s) or isinstance(s, Option))


def parts(value: Any) -> list[Any]:
    """The leaves of a value; of what may be unset or None its value and its tag."""
    if type(value) in _ATOMS:
        return [value]
    if isinstance(value, Maybe):
        return [*parts(value.value), value.tag]
    return [p for x in jax.tree.leaves(value, is_leaf=is_value) for p in (parts(x) if isinstance(x, Maybe) else (x,))]


def flat_arrays(values: Sequence[Any]) -> list[Any]:
    """The arrays in some values, in the order of `types(map(spec_of, values))`."""
    return [x for v in values for x in parts(v) if isinstance(x, ARRAYS) and isinstance(_array_spec(x), Type)]


def has_option(spec: Spec) -> bool:
    """Whether a value of this spec may be unset or None in part."""
    return any(isinstance(x, Option) for x in jax.tree.leaves(spec, is_leaf=lambda s: is_leaf(s) or isinstance(s, Option)))


def map_maybe(fn: Callable[[Any], Any], value: Any) -> Any:
    """A value, with `fn` of the parts of it that may be unset or None in their place."""
    if not has_maybe(value):
        return value
    return jax.tree.map(lambda x: fn(x) if isinstance(x, Maybe) else x, value, is_leaf=is_value)


def has_maybe(value: Any) -> bool:
    """Whether a value that may be unset or None is part of a value."""
    if type(value) is tuple:
        return any(map(has_maybe, value))
    if type(value) in _ATOMS or isinstance(value, ARRAYS):
        return False
    return any(isinstance(x, Maybe) for x in jax.tree.leaves(value, is_leaf=is_value))


def traced(*values: Any) -> bool:
    """Whether any leaf is an array whose value is not known now."""
    return any(isinstance(x, Tracer) for v in values for x in parts(v))
