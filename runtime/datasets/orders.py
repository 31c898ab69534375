"""In which order a dataset gives its items: numbers of items as arrays, computed by JAX of a random key, so that Python and a compiled loop agree.

An order is finite and regular: `full` has the numbers of the items, or of the items in each batch, and `last` those in a batch that is smaller.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


class Irregular(NamedTuple):
    """Why an order is no array: it does not end, or has batches of several sizes elsewhere than at its end."""

    why: str
    instead: str


class Step(NamedTuple):
    """One of the methods that have made a dataset, with its numbers; `size` is None for `repeat()` without an end."""

    name: str  # shuffle, repeat, batch, take, skip
    size: int | None = None
    drop: bool = False  # a last batch that is smaller
    again: bool = True  # shuffled anew each time
    seed: int = 0


class Shape(NamedTuple):
    """How many items or batches there are, of which sizes: `batches` holds the sizes, the innermost first; `last` is the size of a smaller one."""

    length: int
    batches: tuple[int, ...] = ()
    last: int = 0


def shape_after(steps: Sequence[Step], length: int) -> Shape | Irregular:
    """The shape of an order, or why there is none."""
    shape = Shape(length)
    for k, step in enumerate(steps):
        following = _shape_after(step, shape, steps[k + 1 :])
        if isinstance(following, Irregular):
            return following
        shape = following
    return shape


def _shape_after(step: Step, shape: Shape, following: Sequence[Step]) -> Shape | Irregular:
    count, batches, last = shape
    size = step.size or 0
    if last and step.name not in ("take", "skip"):
        return Irregular(
            f"`{step.name}` comes after a `batch` whose last one is smaller", f"write `{step.name}` before, or `batch(n, drop_remainder=True)`"
        )
    if step.name == "batch":
        return Shape(count // size, (*batches, size), 0 if step.drop else count % size)
    if step.name == "take":
        return Shape(min(count, size), batches, last if size > count else 0)
    if step.name == "skip":
        return Shape(max(count - size, 0), batches, last if size <= count else 0)
    if step.name == "repeat":
        times = step.size if step.size is not None else _needed(following, count)
        if times is None:
            return Irregular("`repeat()` has no end", "write `repeat(n)`, or `take(n)` after it")
        return Shape(count * times, batches)
    return shape


def count_after(steps: Sequence[Step], length: int) -> int | None:
    """How many items there are, None if there is no end."""
    count: float = length
    for step in steps:
        size = step.size or 0
        if step.name == "repeat":
            count = count * size if step.size is not None else math.inf if count else 0
        elif step.name == "batch" and count != math.inf:
            count = count // size if step.drop else -(-count // size)
        elif step.name == "take":
            count = min(count, size)
        elif step.name == "skip":
            count = max(count - size, 0)
    return None if count == math.inf else int(count)


def _needed(following: Sequence[Step], count: int) -> int | None:
    """How often what repeats without end is gone over, until `take` ends it."""
    items, more = 1, 0  # in an item of what follows; that are skipped, or wait in a buffer
    for step in following:
        size = step.size or 0
        if step.name == "batch":
            items *= size
        elif step.name in ("skip", "shuffle"):
            more += items * size
        elif step.name == "take":
            return -(-(items * size + more) // max(count, 1))
        elif step.name == "repeat":
            return None
    return None


def order(steps: Sequence[Step], length: int, key: Any) -> tuple[Any, Any]:
    """`full` and `last` of an order; `last` is None where no batch is smaller.

    Args:
      key: a random key, another one each time.
    """
    return _order(tuple(steps), length, key)


def _order(steps: tuple[Step, ...], length: int, key: Any, following: tuple[Step, ...] = ()) -> tuple[Any, Any]:
    if not steps:
        return jnp.arange(length), None
    *before, step = steps
    inner = functools.partial(_order, tuple(before), length, following=(step, *following))
    if step.name == "repeat":
        inside = shape_after(before, length)
        assert isinstance(inside, Shape)
        times = step.size if step.size is not None else _needed(following, inside.length)
        assert times is not None
        turns = [inner(key=jax.random.fold_in(key, k)) for k in range(times)] if times <= 4 else None
        if turns is None:
            full = lax.map(lambda k: inner(key=jax.random.fold_in(key, k))[0], jnp.arange(times))
            return full.reshape(-1, *full.shape[2:]), None
        return jnp.concatenate([full for full, _ in turns]) if turns else inner(key=key)[0][:0], None
    full, last = inner(key=key)
    if step.name == "shuffle":
        assert step.size is not None
        own = jax.random.fold_in(key, len(before)) if step.again else jax.random.key(step.seed)
        if step.again and any(s.name == "shuffle" for s in before):  # the key is made of the first one's seed
            own = jax.random.fold_in(own, step.seed)
        return full[shuffled(own, len(full), step.size)], last
    if step.name == "batch":
        assert step.size is not None
        count, rest = divmod(len(full), step.size)
        batches = full[: count * step.size].reshape(count, step.size, *full.shape[1:])
        return batches, full[count * step.size :] if rest and not step.drop else None
    assert step.size is not None
    if step.name == "take":
        return full[: step.size], last if step.size > len(full) else None
    return full[step.size :], last if step.size <= len(full) else None


def shuffled(key: Any, count: int, size: int) -> Any:
    """The order of `count` items that go through a buffer of `size`: each that leaves it is drawn from those in it, as in `tf.data`."""
    if size >= count:
        return jax.random.permutation(key, count)
    draws = jax.random.randint(key, (count,), 0, jnp.minimum(size, count - jnp.arange(count)))

    def leaves(buffer: Any, at: Any) -> tuple[Any, Any]:
        k, draw = at
        filled = jnp.minimum(size, count - k)
        out = buffer[draw]
        entering = jnp.where(k + size < count, k + size, buffer[filled - 1])
        return buffer.at[draw].set(entering), out

    return lax.scan(leaves, jnp.arange(size), (jnp.arange(count), draws))[1]
