"""Slices and masked items of arrays of which it is data-dependent how many rows they have: `x[:n]`, `x[x > 0]`.

XLA compiles for fixed shapes, so a `PaddedSlice` has as many rows as the array that it is taken from: its own come first, and zeros follow.  What it
can do are operations that what stands behind the end changes neither in values nor in derivatives: sums, products and extremes, what is computed
item by item, loops over the rows, stores.  Anything else is refused by name.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.numpy_array import OPERATIONS, MutableArray, moment
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.errors.errors import ConcreteValueError, SourceSpan, without_comment
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.jax_errors import text_of
from autograph.runtime.sequences.rows import unknown, weak_integers
from autograph.runtime.values.abstract_values import is_leaf
from autograph.runtime.values.values import ARRAYS, DynamicLength

_ADVICE = (
    "use it in arithmetic or a `for` loop, by its methods `sum`, `mean`, `min`, `max`, `any` and `all`, return it from the function, "
    "take a mask over the whole array (`jnp.where(mask, x, 0)`) or a slice of known length (`x[i:i + 3]`), or make the bound static"
)


class Origin:
    """Where a section was taken, which is no part of its type: the place, what is data-dependent, and of which array of NumPy's it is a view.

    `of_numpy`: whether it is an array of NumPy's, which operators like `+=` change in place.
    """

    def __init__(self, place: SourceSpan | None, what: str, of_numpy: bool = False, whole: MutableArray | None = None) -> None:
        self.place, self.what, self.of_numpy = place, what, of_numpy
        self.whole = weakref.ref(whole) if whole is not None else None

    def copied(self) -> Origin:
        """That of a copy, or of what an operation gives."""
        return Origin(self.place, self.what, self.of_numpy) if self.whole is not None else self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin)

    def __hash__(self) -> int:
        return 0


class PaddedSlice(DynamicLength):
    """The first `length` of `rows`; the others are zeros.

    A slice of an array of NumPy's is a view: `part` is the array (or section) and the slice, and `take` gives the rows of what that holds.  One that
    comes out of a compiled loop or branch is none any more, and cannot be used once the array has changed.

    With a `mask` (as it was given, and flat) the items stay where they are in the array, zeros between them, until their order is asked for.
    """

    def __init__(
        self, length: Any, rows: Any, origin: Origin, part: tuple[Any, slice] | None = None, take: Callable[[Any], Any] | None = None,
        mask: tuple[Any, Any] | None = None,
    ) -> None:  # fmt: skip
        self.length, self.kept, self.origin = length, rows, origin
        self.part, self.take, self.mask = part, take, mask
        self.since = moment() if origin.whole is not None else 0

    @property
    def rows(self) -> Any:
        if self.part is not None and self.take is not None:
            whole = self.part[0]
            return self.take(whole.rows if isinstance(whole, PaddedSlice) else jnp.asarray(whole))
        if (lost := self.lost) is not None and lost.changed > self.since:
            raise self.refusal("it is a view that was taken in a compiled loop or branch, and the array has changed since", "take it again")
        return self.kept if self.mask is None else self.in_order(self.kept)

    @property
    def items(self) -> Any:
        """The rows, in whatever order and with zeros among them."""
        return self.kept if self.mask is not None else self.rows

    def in_order(self, items: Any) -> Any:
        """The items that the mask takes, without what is between them."""
        assert self.mask is not None
        return items[jnp.argsort(~self.mask[1], stable=True)]

    def is_view(self) -> bool:
        return self.part is not None and not is_leaf(self.length)

    @property
    def lost(self) -> MutableArray | None:
        """The array that it was a view of, before it came out of a loop or branch."""
        whole = self.origin.whole
        if self.part is not None or whole is None or not isinstance(self.kept, jax.Array):  # a view, or a spec, or a block's variables
            return None
        return whole()

    def most(self) -> int:
        return len(self.kept)

    # what an array of unknown length can tell

    @property
    def dtype(self) -> Any:
        return self.kept.dtype

    @property
    def ndim(self) -> int:
        return int(self.kept.ndim)

    @property
    def size(self) -> Any:
        return self.length * int(np.prod(self.kept.shape[1:]))

    def refusal(self, why: str, advice: str = "") -> ConcreteValueError:
        taken, used = self.origin.place, here()
        text = without_comment(text_of(taken)).strip()
        return ConcreteValueError(
            f"{self.origin.what} is traced, so the length of the result is not static{f': `{text}`' if text else ''}; and {why}", used,
            advice or _ADVICE, [(taken, "")] if taken is not None and (used is None or taken.line != used.line) else (),
        )  # fmt: skip

    def known(self) -> Any:
        """The array, where the length is known."""
        return self.rows[: int(self.length)]

    @property
    def inside(self) -> Any:
        """Which of the items are there, in a shape that goes with them."""
        there = jnp.arange(self.kept.shape[0]) < self.length if self.mask is None else self.mask[1]
        return there.reshape((-1,) + (1,) * (self.ndim - 1))

    def row(self, i: Any) -> Any:
        return lax.dynamic_index_in_dim(self.rows, jnp.asarray(i), keepdims=False)

    def filled(self, value: Any) -> Any:
        """The items, with another value where there is none."""
        return jnp.where(self.inside, self.items, jnp.asarray(value, self.dtype))

    def mapped(self, fn: Callable[[Any], Any]) -> PaddedSlice:
        """`fn` of each element; what it makes of the zeros is not kept."""
        items = fn(self.items)
        return self.made(self.length, jnp.where(self.inside, items, jnp.zeros((), items.dtype)), self.mask)

    def __iter__(self) -> Iterator[Any]:
        if _jax.concrete(self.length):
            return iter(self.known())
        raise self.refusal("its rows are needed one after the other where no loop is compiled")

    def __len__(self) -> int:
        if _jax.concrete(self.length):
            return int(self.length)
        raise self.refusal("its length is needed as a number", "use `.size`, which may be traced" if self.ndim == 1 else "")

    def __bool__(self) -> bool:
        if is_leaf(self.length):  # a spec
            return True
        raise self.refusal("its truth is asked for", "use `.any()` or `.all()`, or `len(x) > 0`")

    def __jax_array__(self) -> Any:
        return _NoArray(self)  # operators of JAX's arrays leave it to ours

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise self.refusal("a function that needs a shape is given it")

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return OPERATIONS["function"](ufunc if method == "__call__" else getattr(ufunc, method), args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.refusal(f"its `{name}` is used")

    def __repr__(self) -> str:
        return repr(self.known()) if isinstance(self.length, ARRAYS) and _jax.concrete(self.length) else f"a part of {self.rows}"

    def __str__(self) -> str:
        return str(self.known()) if _jax.concrete(self.length) else repr(self)

    __hash__ = None  # type: ignore[assignment]

    # operators

    def __eq__(self, other: object) -> Any:
        if is_leaf(self.length):  # a spec
            return isinstance(other, PaddedSlice) and self.length == other.length and self.rows == other.rows
        return self.combined(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return not self == other if is_leaf(self.length) else self.combined(other, operator.ne)

    def combined(self, other: Any, op: Callable[[Any, Any], Any], fill: int = 0) -> Any:
        """`op` of two sections of one length, or of a section and what goes with each of its rows; `fill` is behind the end of each."""
        if not isinstance(other, (PaddedSlice, jax.Array, np.ndarray, np.generic, bool, int, float, complex)):
            return NotImplemented
        if not isinstance(other, PaddedSlice):
            if np.ndim(other) > self.ndim:
                raise self.refusal("an array with more axes is joined with it")
            if np.ndim(other) < self.ndim or np.shape(other)[0] == 1:
                return self.made(self.length, op(self.filled(fill) if fill else self.items, other), self.mask).mapped(lambda items: items)
            other = PaddedSlice(counted(np.shape(other)[0]), jnp.asarray(other), self.origin)
        if self.mask is not None and other.mask is not None and self.mask[0] is other.mask[0]:
            a, b = (s.filled(fill) if fill else s.kept for s in (self, other))
            return self.made(self.length, op(a, b), self.mask).mapped(lambda items: items)
        count, a, b = _aligned(self, other)
        if fill:
            a, b = (PaddedSlice(count, x, self.origin.copied()).filled(fill) for x in (a, b))
        return self.made(count, op(a, b)).mapped(lambda rows: rows)

    def made(self, length: Any, rows: Any, mask: tuple[Any, Any] | None = None) -> PaddedSlice:
        """What an operation gives: a new array."""
        return PaddedSlice(length, rows, self.origin.copied(), mask=mask)

    def _beside_ones(self, other: Any, op: Callable[[Any, Any], Any]) -> Any:
        """An operator that zeros are no operands for (a quotient, a power): ones stand behind the end."""
        if not isinstance(other, PaddedSlice) and np.ndim(other) == 0 and unknown(other):
            other = jnp.where(self.length == 0, jnp.ones((), jnp.result_type(other)), other)
        return self.combined(other, op, fill=1)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __neg__(self) -> PaddedSlice:
        return self.mapped(operator.neg)

    def __pos__(self) -> PaddedSlice:
        return self.copy()

    def __invert__(self) -> PaddedSlice:
        return self.mapped(operator.invert)

    def __abs__(self) -> PaddedSlice:
        return self.mapped(operator.abs)

    def astype(self, dtype: Any) -> PaddedSlice:
        return self.mapped(lambda rows: rows.astype(dtype))

    def copy(self) -> PaddedSlice:
        return self.mapped(lambda rows: rows)

    def fill(self, value: Any) -> None:
        OPERATIONS["store_section"](self, slice(None), value)

    # reductions

    def sum(self, axis: Any = None) -> Any:
        return self.filled(0).sum(axis=self._axis(axis))

    def prod(self, axis: Any = None) -> Any:
        return self.filled(1).prod(axis=self._axis(axis))

    def any(self, axis: Any = None) -> Any:
        return self.filled(0).any(axis=self._axis(axis))

    def all(self, axis: Any = None) -> Any:
        return self.filled(1).all(axis=self._axis(axis))

    def mean(self, axis: Any = None) -> Any:
        return jnp.mean(self.items, axis=self._axis(axis), where=self.inside)

    def min(self, axis: Any = None) -> Any:
        return self._extreme("min", axis)

    def max(self, axis: Any = None) -> Any:
        return self._extreme("max", axis)

    def argmin(self, axis: Any = None) -> Any:
        return self._extreme("argmin", axis)

    def argmax(self, axis: Any = None) -> Any:
        return self._extreme("argmax", axis)

    def _extreme(self, name: str, axis: Any) -> Any:
        place = name.startswith("arg")
        empty = f"attempt to get {name} of an empty sequence" if place else f"zero-size array to reduction operation {name} which has no identity"
        fail(self.length == 0, ValueError, empty)
        ordered = PaddedSlice(self.length, self.rows, self.origin.copied()) if place else self
        return getattr(ordered.filled(_worst(self.dtype, name.removeprefix("arg"))), name)(axis=self._axis(axis))

    def _axis(self, axis: Any) -> Any:
        if axis is None:
            return 0 if self.ndim == 1 else None
        if axis not in (0, -self.ndim):
            raise self.refusal("an axis is reduced that is not the one of unknown length", "take it of the whole array, and then the part")
        return 0


class _NoArray:
    """What JAX is given where it asks a section for its array: an operator takes what it does not know for a reason to ask the other operand,
    and anything else that looks at it, if only for a message, is told why there is no array."""

    __slots__ = ("_of",)

    def __init__(self, of: PaddedSlice) -> None:
        self._of = of

    def __jax_array__(self) -> Any:
        return self._of.__array__()

    __array__ = __repr__ = __jax_array__
    dtype = shape = ndim = property(__jax_array__)


def _operators() -> None:
    """The operators: beside zeros behind the end, or beside ones where a zero is no operand."""
    for name in ("add", "sub", "mul", "lt", "le", "gt", "ge", "and", "or", "xor"):
        op = getattr(operator, f"__{name}__")
        setattr(PaddedSlice, f"__{name}__", lambda self, other, op=op: self.combined(other, op))
        if name not in ("lt", "le", "gt", "ge"):
            setattr(PaddedSlice, f"__r{name}__", lambda self, other, op=op: self.combined(other, lambda a, b: op(b, a)))
            setattr(PaddedSlice, f"__i{name}__", _in_place(f"__{name}__"))
    for name in ("truediv", "floordiv", "mod", "pow"):
        op = getattr(operator, name)
        setattr(PaddedSlice, f"__{name}__", lambda self, other, op=op: self._beside_ones(other, op))
        setattr(PaddedSlice, f"__i{name}__", _in_place(f"__{name}__"))
        setattr(PaddedSlice, f"__r{name}__", lambda self, other, op=op: self._beside_ones(other, lambda a, b: op(b, a)))
    for name in ("matmul", "rmatmul"):
        setattr(PaddedSlice, f"__{name}__", lambda self, other: dot(self, other))


def _in_place(symbol: str) -> Callable[..., Any]:
    def operate(self: PaddedSlice, other: Any) -> Any:
        return OPERATIONS["update_section"](self, symbol, other) if self.origin.of_numpy else getattr(self, symbol)(other)

    return operate


_operators()
_jax.takes_as_array(_NoArray, _NoArray.__jax_array__, _NoArray.__jax_array__)

jax.tree_util.register_pytree_node(
    PaddedSlice, lambda s: ((s.length, s.rows), s.origin), lambda origin, parts: PaddedSlice(parts[0], parts[1], origin)
)


def counted(n: Any) -> Any:
    """A number of rows, as `len` gives it: an integer that gives way to other types."""
    return weak_integers(jnp.asarray(n))


def dot(a: Any, b: Any) -> Any:
    """The inner product of two vectors."""
    section = a if isinstance(a, PaddedSlice) else b
    if np.ndim(a) != 1 or np.ndim(b) != 1:
        raise section.refusal("a product of matrices needs their shapes")
    if not isinstance(a, PaddedSlice):
        a, b = b, a
    b = b if isinstance(b, PaddedSlice) else PaddedSlice(counted(np.shape(b)[0]), jnp.asarray(b), a.origin)
    fail(jnp.asarray(a.length != b.length), TypeError, "dot_general requires contracting dimensions to have the same shape")
    size = min(a.rows.shape[0], b.rows.shape[0])
    return jnp.dot(a.rows[:size], b.rows[:size])


def _aligned(a: PaddedSlice, b: PaddedSlice) -> tuple[Any, Any, Any]:
    """The length of what two sections give together, and their rows; one that has a single row goes with each of the other's."""
    length = max(a.rows.shape[0], b.rows.shape[0])
    differ = jnp.asarray((a.length != b.length) & (a.length != 1) & (b.length != 1))
    if a.origin.of_numpy and b.origin.of_numpy:
        fail(differ, ValueError, "operands could not be broadcast together: two slices differ in length")
    else:
        fail(differ, TypeError, "got incompatible shapes for broadcasting: two slices differ in length")
    rows = [jnp.pad(s.rows, [(0, length - s.rows.shape[0]), *[(0, 0)] * (s.ndim - 1)]) for s in (a, b)]
    first, second = (jnp.where(s.length == 1, r[:1], r) if length else r for s, r in zip((a, b), rows, strict=True))
    return jnp.where(a.length == 1, b.length, a.length), first, second


def _worst(dtype: Any, name: str) -> Any:
    """What no minimum or maximum is, unless all are."""
    if jnp.issubdtype(dtype, jnp.bool_):
        return name == "min"
    if jnp.issubdtype(dtype, jnp.integer):
        return getattr(jnp.iinfo(dtype), "max" if name == "min" else "min")
    return jnp.inf if name == "min" else -jnp.inf
