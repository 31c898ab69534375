"""`ag.progress`: a loop that tells how far it is, also from inside of the compiled program; `tqdm` around a staged loop is the same with its bar."""

from __future__ import annotations

import builtins
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from types import BuiltinFunctionType
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.branches.conditional import staged_cond
from autograph.runtime.host.effect_order import ordering
from autograph.runtime.host.output import afterwards
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.sequences.rows import Range, Rows, enumerate, range, rows_of, unknown

T = TypeVar("T")
PARTS = 20  # reports of a loop of known length


class Line:
    """Progress as text: one line that is written again on a terminal, a line for each report elsewhere."""

    def __init__(self, total: int | None, desc: str | None = None, file: Any = None) -> None:
        self.total, self.desc, self.file = total, desc, file if file is not None else sys.stderr
        self.n, self.note, self.start = 0, "", time.monotonic()

    def update(self, n: int) -> None:
        self.n += n
        done = f"{self.n}/{self.total} ({100 * self.n // max(self.total, 1)} %)" if self.total is not None else f"{self.n} iterations"
        text = f"{self.desc + ': ' if self.desc else ''}{done}, {time.monotonic() - self.start:.1f} s{self.note}"
        terminal = getattr(self.file, "isatty", lambda: False)()
        self.file.write(f"\r{text}\x1b[K" if terminal else f"{text}\n")
        self.file.flush()

    def set_description(self, desc: str | None = None) -> None:
        self.desc = desc

    def set_postfix(self, **values: Any) -> None:
        self.note = "".join(f", {name}={value:.4g}" if isinstance(value, float) else f", {name}={value}" for name, value in values.items())

    def close(self) -> None:
        if getattr(self.file, "isatty", lambda: False)():
            self.file.write("\n")


class Progress:
    """Items, and what makes the bar that tells how many of them have been taken; there is one bar for each run of the loop."""

    def __init__(self, items: Any, every: int | None, make: Callable[[int | None], Any]) -> None:
        self.items, self.every, self.make = items, every, make
        self.bar: Any = None

    def __iter__(self) -> Iterator[Any]:
        total = len(self.items) if isinstance(self.items, Sized) else None
        every = self._every(total)
        self._begin(total)
        done = 0
        for done, x in builtins.enumerate(self.items, 1):
            yield x
            if done % every == 0 or done == total:
                self._reach(done, total)

    def __len__(self) -> int:
        return len(self.items)

    def set_description(self, desc: str | None = None) -> None:
        """Another text before the count; `set_postfix(loss=loss)` puts values behind it."""
        afterwards(lambda desc: self.bar is not None and self.bar.set_description(desc), (desc,), {})

    def set_postfix(self, **values: Any) -> None:
        """Values behind the count, from the next report on; they may be traced."""
        afterwards(lambda **v: self.bar is not None and self.bar.set_postfix(**{n: _number(x) for n, x in v.items()}), (), values)

    def iterations(self) -> tuple[Any, Any, Callable[[Any], tuple[Any, Any]]]:
        """What a staged loop runs over instead; how many items there are, if that is known or traced; and of each its number and the item itself."""
        rows = rows_of(self.items)
        plain = rows if isinstance(rows, Range) else self.items if isinstance(self.items, builtins.range) else None
        if plain is not None and (not isinstance(plain, Range) or plain.plain):
            total = plain.iterations() if isinstance(plain, Range) else len(plain)
            return plain, jnp.maximum(total, 0) if unknown(total) else max(total, 0), lambda i: ((i - plain.start) // plain.step, i)
        total = rows.iterations() if isinstance(rows, Range) else len(self.items) if isinstance(self.items, Sized) else None
        return enumerate(self.items if rows is None else rows), total, lambda pair: pair

    def tell(self, k: Any, total: Any, body: Callable[[], Any]) -> Any:
        """One iteration of a loop that is being traced."""
        every = self._every(total)
        if unknown(k):
            k = (k + np.zeros(1, np.int32))[0]  # an array of its own: what is told of an index does not keep a loop from being rolled
        self._when(k == 0, self._begin, total)
        out = body()
        done = k + 1
        self._when((done % every == 0) | (done == total) if total is not None else done % every == 0, self._reach, done, total)
        return out

    def _when(self, p: Any, f: Callable[..., None], *values: Any) -> None:
        if p is False or p is True:
            if p:
                jax.debug.callback(f, *values, ordered=ordering.ordered)
            return
        staged_cond(p, lambda: jax.debug.callback(f, *values, ordered=ordering.ordered), lambda: None, ())

    def _every(self, total: Any) -> Any:
        if self.every is not None or total is None:
            return self.every or 1
        return jnp.maximum(total // PARTS, 1) if unknown(total) else max(total // PARTS, 1)

    def _begin(self, total: Any) -> None:
        if self.bar is not None:
            self.bar.close()
        self.bar = self.make(None if total is None else int(total))

    def _reach(self, done: Any, total: Any) -> None:
        if self.bar is None or int(done) <= self.bar.n:  # another lane has been there
            return
        self.bar.update(int(done) - self.bar.n)
        if total is not None and done == total:
            self.bar.close()
            self.bar = None


def _number(x: Any) -> Any:
    return x.item() if getattr(x, "shape", None) == () else x


class ProgressStep:
    """The body of a loop that tells how far it is; it stands for the user's in errors."""

    def __init__(self, progress: Progress, body: Callable[..., Any], total: Any, parts: Callable[[Any], tuple[Any, Any]]) -> None:
        self.progress, self.body, self.total, self.parts = progress, body, total, parts
        for name in ("__code__", "__closure__", "__globals__", "__module__", "__defaults__", "__kwdefaults__"):
            setattr(self, name, getattr(body, name, None))

    def __call__(self, item: Any, *state: Any) -> Any:
        k, x = self.parts(item)
        return self.progress.tell(k, self.total, lambda: self.body(x, *state))


def progress(items: Iterable[T], *, every: int | None = None, desc: str | None = None, file: Any = None) -> Iterable[T]:
    """The items of a loop, which tells on stderr how far it is; in a compiled loop, too, whenever it runs.

    Args:
      items: a range with known or traced ends, an array, whose rows are taken, or any iterable.
      every: after how many iterations it reports; by default 20 times where the trip count is static, else after each.
      desc: what is written before the count.
      file: where it is written.

    >>> import sys, autograph as ag
    >>> @ag.function
    ... def total(n):
    ...     s = 0.0
    ...     for i in ag.progress(range(n), every=2, desc="sum", file=sys.stdout):
    ...         s += i
    ...     return s
    >>> print("the sum is", total(4))  # doctest: +ELLIPSIS
    sum: 2/4 (50 %), ... s
    sum: 4/4 (100 %), ... s
    the sum is 6.0
    """
    if every is not None and (type(every) is not int or every < 1):
        raise ValueError(f"every is a positive number of iterations, not {every!r}")
    return Progress(items, every, lambda total: Line(total, desc, file))


def of_tqdm(f: Any) -> Callable[..., Any] | None:
    """What stands in a trace for `tqdm` and `trange`: a bar around what a staged loop runs over; None for anything else."""
    if isinstance(f, BuiltinFunctionType) or (getattr(f, "__module__", None) or "").partition(".")[0] != "tqdm":
        return None
    if isinstance(f, type):
        cls, items = f, None
    elif getattr(f, "__name__", "") in ("trange", "tnrange"):
        cls, items = _bar_of(f), range
    else:
        return None

    def staged(*args: Any, **options: Any) -> Any:
        over = items(*args) if items is not None else args[0] if args else options.pop("iterable", None)
        if len(args) > 1 and items is None or not (_jax.staging() and isinstance(over, (Range, Rows, builtins.range, jax.Array, list, tuple))):
            return f(*args, **options)
        return Progress(over, None, lambda total: cls(**{"total": total, **options}))

    return staged


def _bar_of(trange: Any) -> Any:
    return sys.modules[trange.__module__].__dict__["tqdm"]
