"""A loop that Python has made iteration by iteration, as one compiled iteration.

Python makes all iterations, so whatever they do with numbers, texts, dicts and lists is what Python does.  What they have recorded is compared
afterwards (`iteration_equivalence.py`): iterations that are the same operations are one, numbers that differ are looked up in tables, and one
`lax.scan` stands in the place of all their equations.  Several kinds of iterations, as the sides of an `if` that Python decides, are the sides of a
`lax.switch` in it.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from autograph.runtime.errors.errors import LargeUnrollWarning
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.equation_ranges import EquationRange, may_loop, span
from autograph.runtime.loops.reroll.compile_size import LONG, size_of, size_of_all
from autograph.runtime.loops.reroll.iteration_equivalence import IterationTrace, StructuralKeys
from autograph.runtime.loops.reroll.unrolled_loop import NotAlike, UnrolledLoop
from autograph.runtime.state.retrace import end_if_made_again
from autograph.runtime.state.variable_reads import Recorder, recorders
from autograph.runtime.values.loop_options import rolling

_FEWEST = 4  # iterations
_REHEARSED = 3  # iterations
WARNED = 2_000  # operations, from which on a loop that stays unrolled warns


class _Unrolled(threading.local):
    size = 0  # how many operations loops have stayed unrolled into, in this thread


_unrolled = _Unrolled()


class RecordedIterations:
    """The iterations that Python makes of a loop; none where operations are not recorded as they are."""

    def __init__(self, span: EquationRange | None, wanted: bool = True) -> None:
        self._span, self._tapes = span, recorders.active
        self._wanted, self._before = wanted, _jax.equations()
        self._inside = _unrolled.size
        self._counts = [t.count() for t in self._tapes[:1]]  # of what the tape has recorded when each iteration begins

    def mark(self) -> None:
        """An iteration ends here."""
        if self._span is not None:
            self._span.mark()
            if self._tapes:
                self._counts.append(self._tapes[0].count())
            if len(self._span.marks) == 1 + _REHEARSED and sum(size_of(e) for eqns in self._span.sections() for e in eqns) > LONG:
                end_if_made_again()

    def join(self) -> bool:
        """Put one compiled loop in the place of all iterations, if they are alike and many operations together."""
        tape = self._tapes[0] if len(self._tapes) == 1 and recorders.active == self._tapes else None
        return self._span is not None and _join(self._span, tape, self._counts)

    def tell(self, iterations: int, why: str) -> None:
        """Warn of a loop that stays unrolled, if that is many operations and the user has not asked for it."""
        if not self._wanted:
            return
        size = sum(map(size_of, _jax.recorded(self._before)))
        if iterations >= _FEWEST:
            _unrolled.size = self._inside + size
        else:  # it is unrolled in any case, and tells of loops in it
            size = _unrolled.size - self._inside
        if size > WARNED and (place := here()) is not None:
            text = f"this loop of {iterations} iterations is unrolled into about {size} operations, because {why}"
            text += "; over `ag.range(n, rolled=True)`, with arrays that are indexed, it is compiled as one iteration"
            warnings.warn_explicit(text, LargeUnrollWarning, place.file, place.line)


@contextmanager
def record_iterations(wanted: bool = True) -> Iterator[RecordedIterations]:
    """Around a loop that Python makes; not `wanted` where the user has asked for iterations.

    >>> import jax.numpy as jnp, autograph as ag
    >>> @ag.do_not_convert
    ... def f(x):
    ...     with record_iterations() as made:
    ...         for k in range(100):
    ...             x = jnp.sin(x) * k + jnp.cos(x)
    ...             made.mark()
    ...         print(made.join())
    ...     return x
    >>> print(len(ag.function(f).trace(1.0).jaxpr.eqns))
    True
    1
    """
    if not wanted or rolling() == "never":
        yield RecordedIterations(None, wanted=False)
        return
    with span() as found:
        yield RecordedIterations(found)


def _join(span: EquationRange, tape: Recorder | None, counts: Sequence[int]) -> bool:
    """`counts`: how many operations the tape had recorded at each mark."""
    sections = span.sections()
    sizes = [size_of_all(eqns) for eqns in sections] if len(sections) >= _FEWEST else []
    if sum(sizes) <= (0 if rolling() == "always" else LONG):
        return False
    if any(not may_loop(e.effects) or any(_jax.axes_of(v.aval) for v in e.outvars) for eqns in sections for e in eqns):
        return False
    keys = StructuralKeys()
    iterations = [IterationTrace(eqns, keys, size) for eqns, size in zip(sections, sizes, strict=True)]
    first, last = _alike(iterations)
    if last - first < _FEWEST:
        return False
    try:
        loop = UnrolledLoop(span, iterations[first:last])
    except NotAlike:
        return False
    taken = tape.take(counts[first], counts[last], loop.defined, loop.given_to()) if tape is not None else None
    back = span.cut([e for t in iterations[first:last] for e in t.eqns])
    try:
        loop.plan(span.alive())
    except NotAlike:
        standing = back()
        if tape is not None and taken is not None:
            tape.put_back(taken, standing)
        return False
    bind = functools.partial(tape.record_loop, taken, loop) if tape is not None and taken is not None else loop.bind
    with _jax.set_current_trace(span.trace):  # below those of tapes
        span.replace(first, last, bind, loop.stand_ins)
    return True


def _alike(iterations: Sequence[IterationTrace]) -> tuple[int, int]:
    """The iterations without those at both ends that are like no other."""
    counts = Counter(t.key for t in iterations)
    alone = [counts[t.key] == 1 for t in iterations]
    first, last = 0, len(iterations)
    while first < last and alone[first]:
        first += 1
    while first < last and alone[last - 1]:
        last -= 1
    return first, last
