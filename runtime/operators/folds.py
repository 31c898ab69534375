"""Generators that are folded at once (`sum(f(x) for x in v if x > 0)`), where what they iterate or their conditions may be traced."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from jax import lax

from autograph.runtime.branches.conditional import cond
from autograph.runtime.branches.short_circuit import and_, not_, or_
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.effects.optional_values import some
from autograph.runtime.errors.errors import BranchTypeError, NotStagedError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.loops.for_loop import for_loop, over
from autograph.runtime.loops.row_loops import series_of
from autograph.runtime.operators.list_methods import append
from autograph.runtime.sequences.bounded_list import refuse_hidden
from autograph.runtime.sequences.rows import Range, Rows, Stream, rows_of
from autograph.runtime.sequences.truth import length, truth
from autograph.runtime.state.iterators import has_other_references
from autograph.runtime.state.type_text import describe, pair
from autograph.runtime.values.abstract_values import spec_of
from autograph.runtime.values.flatten import blank_uses
from autograph.runtime.values.intervals import note_interval
from autograph.runtime.values.values import UNSET, DynamicLength, Maybe, Unset

Value = Callable[..., Any]


class Each:
    """The values `value(*item)` of the items for which `test(*item)` holds; with `inner` each value is an `Each` whose values are meant."""

    def __init__(self, items: Any, value: Value, test: Value | None, unpack: int, inner: bool) -> None:
        self.sequence = items if type(items) in (list, tuple) else None  # of which the rest can be taken
        if self.sequence is not None:  # never rows, nor with a method of its own: `rows_of` and `over` would give it back
            self.items = iter(items)
        else:
            whole = isinstance(items, (Each, builtins.range, Stream)) or rows_of(items) is not None
            self.items = items if whole else iter(over(items))
        self.value, self.test, self.unpack, self.inner = value, test, unpack, inner

    def of(self, fn: Value, item: Any) -> Any:
        if not self.unpack:
            return fn(item)
        parts = tuple(item)
        if len(parts) != self.unpack:
            few = len(parts) < self.unpack
            text = (
                f"not enough values to unpack (expected {self.unpack}, got {len(parts)})"
                if few
                else f"too many values to unpack (expected {self.unpack})"
            )
            raise ValueError(text)
        return fn(*parts)

    def __iter__(self) -> Iterator[Any]:
        for item in self.items:
            taken = True if self.test is None else truth(self.of(self.test, item))
            if not isinstance(taken, bool):
                raise NotStagedError("the condition of this generator is traced", here(), "fold it with `sum`, `any`, `all`, `min` or `max`")
            if taken:
                value = self.of(self.value, item)
                yield from value if self.inner else (value,)

    def fold(self, step: Callable[[Any, Any], Any], state: Any, until: Callable[[Any], Any] | None = None) -> Any:
        """`state = step(state, value)` for each value; left early once `until(state)` is true."""

        def body(item: Any, state: Any, done: Any = False) -> Any:
            def take() -> Any:
                value = self.of(self.value, item)
                return value.fold(step, state, until) if self.inner else step(state, value)

            new = take() if self.test is None else cond(self.of(self.test, item), take, lambda: state)
            return new if until is None else (new, until(new))

        items = self.items
        count = sys.getrefcount(items) - 1  # the attribute
        held = has_other_references(items, count)
        if until is None:
            return for_loop(items, body, state, held=held)
        return for_loop(items, body, state, until(state), until="done", held=held)[0]


def each(items: Any, value: Value, test: Value | None = None, *, unpack: int = 0, inner: bool = False) -> Each:
    """The generator `(value(x) for x in items if test(x))`.

    >>> import jax, jax.numpy as jnp, autograph.runtime as ag
    >>> jax.jit(lambda v: ag.sum(ag.each(v, lambda x: x * 2, lambda x: x > 0)))(jnp.array([1.0, -5.0, 2.0]))
    Array(6., dtype=float32)
    """
    return Each(items, value, test, unpack, inner)


def collected(values: Each) -> list[Any]:
    """The list `[value(x) for x in items]`: over a range or the rows of an array a loop like any other, which is rolled if it is long.

    >>> import jax, jax.numpy as jnp, autograph.runtime as ag
    >>> jax.jit(lambda v: ag.collected(ag.each(v, lambda x: x + 1)))(jnp.array([1.0, 2.0]))
    [Array(2., dtype=float32), Array(3., dtype=float32)]
    """
    if not _jax.recording():
        each_value = values.test is None and not values.inner  # then this is what `Each` iterates, without its generator
        return [values.value(x) for x in values.items] if each_value and not values.unpack else list(values)
    items = values.items
    rows = rows_of(items) if not isinstance(items, (Each, builtins.range)) else None
    counts = isinstance(rows, Range) and rows.plain and rows.static is None and values.test is None and not values.inner
    if counts:
        return for_loop(items, lambda x, out: append(out, values.of(values.value, x)), list[Any](), held=False)  # type: ignore[no-any-return]
    if values.inner or values.test is not None or isinstance(items, Stream) or rows is not None and not isinstance(rows, Rows):
        return _kept(values, [])  # type: ignore[no-any-return]
    if not _jax.compiling():
        return list(values)
    if series_of(items) is not None:
        return for_loop(items, lambda x, out: append(out, values.of(values.value, x)), list[Any](), held=False)  # type: ignore[no-any-return]
    if rows is None and not isinstance(items, builtins.range):
        return list(values)
    found: list[Any] = []
    item = rows.item if isinstance(rows, Rows) else lambda i: i
    count = builtins.range(rows.length) if isinstance(rows, Rows) else items
    found = for_loop(count, lambda i, items: append(items, values.of(values.value, item(i))), found)
    return found if not isinstance(rows, Rows) or rows.tail is None else append(found, values.of(values.value, rows.tail()))  # type: ignore[no-any-return]


def _kept(values: Each, found: Any) -> Any:
    """A list, and the values for which the test holds: Python takes them as long as it knows the answers, then the loop that appends them."""

    def asked(item: Any) -> Any:
        return True if values.test is None else values.of(values.test, item)

    def kept(taken: Any, item: Any, found: Any) -> Any:
        return cond(taken, lambda found: _and_value(values, item, found), lambda found: found, found)

    def iteration(k: Any, found: Any) -> Any:
        item = item_at(k)
        return kept(asked(item), item, found)

    iterations: Any = values.items
    count = sys.getrefcount(iterations) - 1  # the attribute
    held, items = has_other_references(iterations, count), iterations if values.sequence is None else values.sequence
    item_at: Callable[[Any], Any] = lambda k: k  # noqa: E731
    rows = rows_of(items) if not isinstance(items, (Each, Stream, builtins.range)) else None
    if isinstance(rows, Rows):
        items = iterations = builtins.range(rows.length)
        item_at = rows.item
    if type(found) is list and not isinstance(items, (Each, Stream)) and (rows is None or isinstance(rows, Rows)):
        made, rest = 0, iter(iterations)
        for k in rest:
            made += 1
            item = item_at(k)
            taken = truth(asked(item))
            found = kept(taken, item, found)
            if not isinstance(taken, bool) or type(found) is not list:
                break
        items, held = items[made:] if isinstance(items, (list, tuple, builtins.range)) else list(rest), False
    found = for_loop(items, iteration, found, held=held)
    if isinstance(rows, Rows) and rows.tail is not None:
        last = rows.tail()
        found = kept(asked(last), last, found)
    return found


def _and_value(values: Each, item: Any, found: Any) -> Any:
    value = values.of(values.value, item)
    return _kept(value, found) if values.inner else append(found, value)


def total(values: Each, start: Any) -> Any:
    return values.fold(lambda state, value: state + value, start)


def count(values: Each) -> Any:
    return values.fold(lambda state, _: state + 1, 0)


def holds(values: Each, word: str) -> Any:
    """`any` or `all`."""
    if word == "any":
        return values.fold(lambda state, value: or_(state, lambda: value), False, lambda state: state)
    return values.fold(lambda state, value: and_(state, lambda: value), True, lambda state: cond(state, lambda: False, lambda: True))


def extreme(values: Each, name: str, better: Callable[[Any, Any], Any], options: dict[str, Any]) -> Any:
    """`min` or `max`, with their options."""
    key = options.get("key")
    default = [options["default"]] if "default" in options else []

    def step(best: Any, value: Any) -> Any:
        new = value if key is None else (value, key(value))  # called once for each value, in their order
        missing = _missing(best)
        if missing is True:
            return new
        rank = (lambda x: x) if key is None else operator.itemgetter(1)
        try:
            return cond(or_(missing, lambda: better(rank(new), rank(some(best)))), lambda: new, lambda: best)
        except BranchTypeError:
            if key is None or isinstance(best, Maybe):
                raise
            raise _not_chosen(name, best[0], new[0]) from None

    found = values.fold(step, Unset(name))
    if key is None:
        return _taken(found, ValueError, empty(name), *default)
    return _taken(found, ValueError, empty(name), *[(value, None) for value in default])[0]


def _not_chosen(name: str, a: Any, b: Any) -> BranchTypeError:
    """The error where `max` or `min` by a key would give one of several values that are no arrays."""
    one, other = pair(*(describe(spec_of(x)) for x in (a, b)))
    again = "look it up outside" if one[0] != "a" else "read what it holds there from arrays; or make its class a pytree (`@dataclass`, and "
    again += "" if one[0] != "a" else "`jax.tree_util.register_dataclass`)"
    return BranchTypeError(
        f"`{name}` by a traced `key` would give {one} or {other}, which have no common type", here(),
        f"take the place of the best, `k = jnp.arg{name}(jnp.array(keys))`, and {again}",
    )  # fmt: skip


def _missing(x: Any) -> Any:
    """Whether a fold has found nothing yet."""
    if type(x) is Unset:
        blank_uses.count += 1  # an iteration that starts with nothing is not like the others
        return True
    return lax.eq(x.tag, np.int8(UNSET)) if type(x) is Maybe and x.bits & UNSET else False


def empty(name: str) -> str:
    """Python's message for `min` or `max` of nothing, which depends on its version."""
    try:
        getattr(builtins, name)(())
    except ValueError as error:
        return str(error)
    raise AssertionError


def len(x: Any) -> Any:
    """`len`, also of a list that is only counted, and of an object that may be one of several."""
    refuse_hidden(x)
    if isinstance(x, DynamicLength):
        note_interval(x.length, 0, x.most())
        return x.length
    return count(x) if isinstance(x, Each) else length(x)


def next(values: Each, *default: Any) -> Any:
    """`next` of a new generator: its first value."""
    first = values.fold(lambda _, value: value, Unset("next"), lambda found: not_(_missing(found)))
    return _taken(first, StopIteration, "", *default)


def _taken(x: Any, kind: type[Exception], text: str, *default: Any) -> Any:
    """What a fold has found; if it has found nothing the default, or its error."""
    missing = _missing(x)
    if missing is False:
        return x
    if default:
        return default[0] if missing is True else cond(missing, lambda: default[0], lambda: some(x))
    fail(missing, kind, text)
    return some(x)
