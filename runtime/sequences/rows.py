"""What a staged `for` runs over: a range with traced ends, or the rows of traced arrays.

`range`, `enumerate`, `zip` and `reversed` are Python's own unless a traced value is among their arguments.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.numpy_array import MutableArray, is_known, item
from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.effects.optional_values import present, read
from autograph.runtime.errors.advice import iterated
from autograph.runtime.errors.errors import ConcreteValueError, NotStagedError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.values.abstract_values import AbstractValue, ArrayType, type_of
from autograph.runtime.values.intervals import interval_of
from autograph.runtime.values.values import DynamicLength, Maybe


class Range:
    """`range(start, stop, step)` with traced ends or step, or with hints for its loop; `item` makes of an index what the loop takes.

    `lists`: the lists that it takes items of, if these may change in the loop; `again` makes a range that takes them of what they are then.
    `most`: a number of iterations that is not exceeded if they do not become longer.
    `over`: the arrays whose rows it takes.
    """

    def __init__(
        self, start: Any, stop: Any, step: Any, unroll: int = 1, rolled: bool | None = None, item: Callable[[Any], Any] | None = None,
        lists: Sequence[DynamicLength] = (), again: Callable[[Sequence[DynamicLength]], Range] | None = None, most: int | None = None,
        over: Sequence[Any] = (),
    ) -> None:  # fmt: skip
        self.start, self.stop, self.step, self.unroll, self.rolled, self._item = start, stop, step, unroll, rolled, item
        self.lists, self.again, self.most, self.over = lists, again, most, over

    @property
    def plain(self) -> bool:
        """Whether the loop takes the indices themselves."""
        return self._item is None

    def item(self, i: Any) -> Any:
        return i if self._item is None else self._item(i)

    @property
    def static(self) -> builtins.range | None:
        """The range in Python, if all is known."""
        parts = (self.start, self.stop, self.step)
        return None if any(unknown(p) for p in parts) else builtins.range(*parts)

    def __getattr__(self, name: str) -> Any:
        static = None if name.startswith("__") else self.static
        if static is None:
            raise AttributeError(name)
        return getattr(static, name)

    def __iter__(self) -> Any:
        if self.static is not None:
            return iter(self.static)
        raise ConcreteValueError(
            "a `range` with traced ends is iterated where no loop is compiled",
            here(),
            "iterate it by a `for` statement of a converted function, or make its ends static (`static_argnames`)",
        )

    def __len__(self) -> int:
        return len(self._known())

    def __getitem__(self, i: Any) -> Any:
        return self._known()[i]

    def __contains__(self, x: Any) -> bool:
        return x in self._known()

    def __reversed__(self) -> Any:
        return iter(reversed(self))

    def __repr__(self) -> str:
        return f"range({self.start}, {self.stop}, {self.step})"

    def _known(self) -> builtins.range:
        if self.static is None:
            raise ConcreteValueError("the length of a `range` with traced ends", here(), "compute it: `max(0, stop - start)`")
        return self.static

    def iterations(self) -> Any:
        """How many items there are, before the lower bound 0."""
        sign = jnp.sign(self.step) if unknown(self.step) else 1 if self.step > 0 else -1
        return (self.stop - self.start + self.step - sign) // self.step


class Rows:
    """Items taken row by row from traced arrays: `item(i)` is the i-th, `spec` its type, `arrays` what is scanned over, unless items are computed.

    `over`: the arrays of the program whose rows they are; `numbers`: the range that is to be rolled, if they are its numbers; `tail` gives one item
    more, which has another type.
    """

    def __init__(
        self,
        length: int,
        item: Callable[[Any], Any],
        spec: AbstractValue,
        arrays: Sequence[Any],
        over: Sequence[Any],
        tail: Callable[[], Any] | None = None,
    ) -> None:
        self.length, self.item, self.spec, self.arrays, self.over, self.tail = length, item, spec, arrays, over, tail
        self.numbers: builtins.range | None = None

    @property
    def computed(self) -> bool:
        """Whether the items are no rows of `arrays`, and are taken by their number."""
        return not self.arrays

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: int) -> Any:  # iterators of Python's take them when they reach them
        return self.item(builtins.range(self.length)[i]) if self.tail is None or i != self.length else self.tail()

    @property
    def full(self) -> Rows:
        """Those of one type."""
        return Rows(self.length, self.item, self.spec, self.arrays, self.over)

    @property
    def rest(self) -> Rows:
        """Those after the first."""
        rest = Rows(self.length - 1, lambda i: self.item(i + 1), self.spec, [x[1:] for x in self.arrays], self.over, self.tail)
        rest.numbers = self.numbers and self.numbers[1:]
        return rest


class Stream:
    """What a compiled loop takes as rows, and Python iterates: a dataset.  `random` is a Variable that its order is made of, or None."""

    random: Any = None

    def rows(self) -> Rows:
        raise NotImplementedError

    def saved_parts(self) -> list[tuple[str, Any]]:
        """What of it is saved, by names."""
        return [("random", self.random)]

    def why_not_saved(self) -> str:
        """Why that is not all that there is; else ""."""
        return ""


def unknown(x: Any) -> bool:
    """Whether x is an array whose value is not known now."""
    return not _jax.concrete(x)


def rows_of(items: Any) -> Range | Rows | None:
    """What a staged loop runs over; None where Python iterates."""
    if isinstance(items, (Range, Rows)):
        return items
    if isinstance(items, Maybe):
        items = read(items)
    if isinstance(items, Stream):
        return items.rows() if _jax.compiling() else None
    if isinstance(items, DynamicLength):
        return counted([items]) if unknown(items.length) else None
    if is_known(items) or not unknown(items) and not (isinstance(items, jax.Array) and _jax.compiling()):
        return None  # of what is compiled, all rows are traced
    if items.ndim == 0:
        place = here()
        advice = f"iterate over `range({iterated(place)})`, or over an array with at least one axis"
        raise NotStagedError("iteration over a 0-d array", place, advice)
    return _rows(items)


def counted(items: Sequence[DynamicLength]) -> Range:
    """A loop over the items of which it is data-dependent how many there are."""
    (x,) = items
    if not x.can_change():
        return Range(0, x.length, 1, item=x.row, most=x.most())
    return Range(0, x.length, 1, item=x.item, lists=items, again=counted, most=x.most())


def _rows(items: Any) -> Rows:
    row = type_of(items)
    assert row is not None
    return Rows(
        items.shape[0],
        lambda i: _row(items, i),
        ArrayType(row.shape[1:], row.dtype, row.weak, numpys=isinstance(items, MutableArray)),
        [items],
        [items],
    )


def _row(x: Any, i: Any) -> Any:
    if isinstance(x, MutableArray):
        return item(x, i)
    return jax.lax.dynamic_index_in_dim(x, i, keepdims=False) if isinstance(i, jax.core.Tracer) else x[i]


def range(*args: Any, unroll: int = 1, rolled: bool | None = None) -> Iterable[int]:
    """`range`, whose ends and step may be traced 0-d integers, with hints for the loop over it.

    Args:
      unroll: how many iterations the compiled loop makes at once.
      rolled: True compiles one iteration however long the loop is, False one for each iteration; by default long loops are rolled where it cannot
      be seen.

    Raises:
      ConcreteValueError: (AG502) a part is not a 0-d integer.

    >>> import autograph.runtime as ag
    >>> list(ag.range(0, 10, 3, unroll=2))
    [0, 3, 6, 9]
    """
    args = tuple(present(a, "'NoneType' object cannot be interpreted as an integer") if isinstance(a, Maybe) else value_of(read(a)) for a in args)
    if not any(unknown(a) for a in args):
        static = builtins.range(*args)
        return static if unroll == 1 and rolled is None else Range(static.start, static.stop, static.step, unroll, rolled)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    for end in (start, stop, step):
        t = type_of(end)
        if t is None or t.shape != () or t.dtype.kind not in "iu":
            raise ConcreteValueError(f"`range` needs 0-d integers, and this is {t}", here(), "round it: `x.astype(int)`")
    if unknown(step):
        fail(lax.eq(step, lax.full((), 0, step.dtype)), ValueError, "range() arg 3 must not be zero")
    elif step == 0:
        raise ValueError("range() arg 3 must not be zero")
    least, limit = interval_of(start).low, interval_of(stop).high
    most = max(0, -((least - limit) // step)) if least is not None and limit is not None and type(step) is int and step > 0 else None
    start, stop, step = (weak_integers(p) if unknown(p) else p for p in (start, stop, step))
    return Range(start, stop, step if unknown(step) else int(step), unroll, rolled, most=most)


def traced_part(x: Any) -> bool:
    """Whether a value, or a part of a tuple or list, is traced."""
    return any(map(traced_part, x)) if isinstance(x, (tuple, list)) else unknown(x) or isinstance(x, Maybe)


def weak_integers(x: Any) -> Any:
    """Traced integers as Python's: of the default type, which gives way to others."""
    return _jax.convert_type(x, jax.dtypes.canonicalize_dtype(builtins.int), True)


def static_range(*args: Any) -> Iterable[int]:
    """`range` whose loop is never rolled: the index is a Python integer in every iteration.

    Raises:
      ConcreteValueError: (AG502) a part is traced.

    >>> import autograph.runtime as ag
    >>> list(ag.static_range(3))
    [0, 1, 2]
    """
    if any(unknown(a) for a in args):
        raise ConcreteValueError("`static_range` needs Python integers, and one of these is traced", here(), "use `range`")
    r = builtins.range(*args)
    return Range(r.start, r.stop, r.step, 1, rolled=False)


def enumerate(items: Any, start: Any = 0) -> Any:
    """`enumerate`, also of the rows of a traced array."""
    rows = _hinted(rows_of(items))
    if rows is None:
        return builtins.enumerate(items, start)
    if isinstance(rows, Range) and rows.static is not None:
        return builtins.enumerate(rows, start)
    if isinstance(rows, Range):
        length, item = _indexed(rows)
        again = rows.again
        return Range(
            0, length, 1, item=lambda k: (k + start, item(k)), lists=rows.lists, again=again and (lambda now: enumerate(again(now), start)),
            most=rows.most, over=rows.over,
        )  # fmt: skip
    if rows.computed:
        last, n = rows.tail, rows.length
        return Rows(n, lambda i: (i + start, rows.item(i)), None, (), (), None if last is None else lambda: (n + start, last()))
    counts = weak_integers(jnp.arange(rows.length)) + start
    count = type_of(counts)
    assert count is not None
    return Rows(
        rows.length, lambda i: (i + start, rows.item(i)), (ArrayType((), count.dtype, count.weak), rows.spec), [counts, *rows.arrays],
        rows.over,
    )  # fmt: skip


def zip(*parts: Any, strict: bool = False) -> Any:
    """`zip`, also of the rows of traced arrays and of ranges with traced ends."""
    rows = [_hinted(rows_of(p)) for p in parts]
    if builtins.any(isinstance(r, Range) and r.static is None for r in rows):
        return _zip_counted([r if r is not None else p for r, p in builtins.zip(rows, parts, strict=True)], strict)
    if all(r is None for r in rows):
        return builtins.zip(*parts, strict=strict)
    rolled = builtins.any(isinstance(r, Rows) and (r.numbers is not None or r.computed) for r in rows)
    every = [
        r if r is not None else index_rows(p) if rolled and isinstance(p, builtins.range) else rows_of_static(p)
        for r, p in builtins.zip(rows, parts, strict=True)
    ]
    if builtins.any(not isinstance(r, Rows) for r in every):
        return builtins.zip(*(r if isinstance(r, Rows) else p for r, p in builtins.zip(every, parts, strict=True)), strict=strict)
    both: list[Rows] = [r for r in every if isinstance(r, Rows)]
    lengths = [r.length for r in both]
    if strict:
        _check_lengths(lengths)
    n = min(lengths)
    if builtins.any(r.computed for r in both):
        ends = [r.tail if r.length == n else functools.partial(r.item, n) for r in both]
        tail = None if builtins.any(end is None for end in ends) else lambda: tuple(end() for end in ends if end is not None)
        return Rows(n, lambda i: tuple(r.item(i) for r in both), None, (), [x for r in both for x in r.over], tail)
    return Rows(
        n, lambda i: tuple(r.item(i) for r in both), tuple(r.spec for r in both),
        [a[:n] if a.shape[0] != n else a for r in both for a in r.arrays], [x for r in both for x in r.over],
    )  # fmt: skip


def _check_lengths(lengths: list[int]) -> None:
    """The error of `zip(..., strict=True)`."""
    if len(set(lengths)) > 1:
        first = lengths.index(min(lengths))  # the argument that ends first, or else the first that does not end with it
        other, how = (first, "shorter") if first else (next(k for k, n in builtins.enumerate(lengths) if n > lengths[0]), "longer")
        raise ValueError(f"zip() argument {other + 1} is {how} than argument{f's 1-{other}' if other > 1 else ' 1'}")


def _zip_counted(parts: list[Any], strict: bool) -> Range:
    """`zip` where the length of some part is traced."""
    indexed = [_indexed(p) for p in parts]
    length: Any = indexed[0][0]
    for k, (n, _) in builtins.enumerate(indexed[1:], 2):
        if strict:
            short = "shorter" if isinstance(n, builtins.int) and not unknown(length) and n < length else "shorter or longer"
            fail(jnp.asarray(n != length), ValueError, f"zip() argument {k} is {short} than argument 1")
        length = jnp.minimum(length, n)
    ranges = [p for p in parts if isinstance(p, Range)]
    most = min([r.most for r in ranges if r.most is not None] + [n for n, _ in indexed if isinstance(n, builtins.int)], default=None)
    over = [x for p in parts for x in (p.over if isinstance(p, (Range, Rows)) else [p] if isinstance(p, jax.Array) else ())]
    return Range(
        0, length, 1, item=lambda i: tuple(item(i) for _, item in indexed), lists=[x for r in ranges for x in r.lists], most=most, over=over
    )  # fmt: skip


def _indexed(part: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The length of what a loop runs over, and its k-th item."""
    if isinstance(part, builtins.range):
        part = Range(part.start, part.stop, part.step)
    if isinstance(part, Range):
        iterations = part.iterations()
        return (jnp.maximum(iterations, 0) if unknown(iterations) else max(iterations, 0)), lambda k: part.item(part.start + k * part.step)
    rows = part if isinstance(part, Rows) else rows_of_static(part)
    if rows is None:
        raise NotStagedError(f"a `{type(part).__name__}` together with a range whose ends are traced", here(), "make it an array: `jnp.asarray(x)`")
    return rows.length, rows.item


def index_rows(items: builtins.range) -> Rows:
    """A static range as rows to scan over."""
    rows = _rows(weak_integers(jnp.arange(items.start, items.stop, items.step)))
    by_array = rows.item
    rows.item = lambda i: items[i] if isinstance(i, builtins.int) else by_array(i)
    rows.over, rows.numbers = (), items
    return rows


def _hinted(rows: Range | Rows | None) -> Range | Rows | None:
    """A range beside other things whose loop is to be rolled: rows."""
    return index_rows(rows.static) if isinstance(rows, Range) and rows.rolled and rows.plain and rows.static is not None else rows


def rows_of_static(items: Any) -> Rows | None:
    """The rows of a concrete array beside a traced one."""
    return _rows(items) if isinstance(items, jax.Array) and items.ndim > 0 else None


def reversed(items: Any) -> Any:
    """`reversed`, also of a range with traced ends and of the rows of a traced array."""
    rows = rows_of(items) if not isinstance(items, Stream) else None  # Python's own error
    if rows is None:
        return builtins.reversed(items)
    if isinstance(rows, Range):
        last = rows.start + (rows.iterations() - 1) * rows.step
        return Range(last, rows.start - rows.step, -rows.step, rows.unroll, rows.rolled, rows._item, rows.lists, most=rows.most, over=rows.over)
    return Rows(rows.length, lambda i: rows.item(rows.length - 1 - i), rows.spec, [a[::-1] for a in rows.arrays], rows.over)


def indices(x: Any) -> Any:
    """What a loop over x takes whose body stores into x: the places of the rows of an array, the items of anything else."""
    if isinstance(x, (jax.Array, np.ndarray)) and x.ndim:
        return builtins.range(x.shape[0]) if not unknown(x) else Range(0, x.shape[0], 1, rolled=x.shape[0] > _FEW_ROWS)
    return x


_FEW_ROWS = 8


def row(x: Any, k: Any) -> Any:
    """The k-th of them."""
    return _row(x, k) if isinstance(x, (jax.Array, np.ndarray)) and x.ndim else k
