"""In which order a dataset gives its items: numbers of items as arrays, computed by JAX of a random key, so that Python and a compiled loop agree.

An order is finite and regular: `full` has the numbers of the items, or of the items in each batch, and `last` those in a batch that is smaller.  Both
are tuples: the numbers of what the source gives (an array; of datasets beside or behind each other, theirs), and one array for each method that
counts (`enumerate`, `flat_map`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Irregular(NamedTuple):
    """Why an order is no array: it does not end, or has batches of several sizes elsewhere than at its end."""

    why: str
    instead: str


class Step(NamedTuple):
    """One of the methods that have made a dataset, with its numbers.

    `size` is None for `repeat()` without an end, and for a `flat_map` to datasets of which it is not known how many items they have.
    """

    name: str  # shuffle, repeat, batch, padded, take, skip, shard, window, enumerate, flat
    size: int | None = None
    drop: bool = False  # a last batch or window that is smaller
    again: bool = True  # shuffled anew each time
    seed: int = 0
    shift: int = 1  # between windows; the first item of a shard
    stride: int = 1  # between the items of a window


class Parts(NamedTuple):
    """What the source of a dataset is made of, where it is no array: the steps and the source of each of several datasets."""

    parts: tuple[tuple[tuple[Step, ...], Base], ...]
    behind: bool  # each other (`concatenate`), or beside (`zip`)


Base = int | Parts | Irregular  # how many rows the source has


class Shape(NamedTuple):
    """How many items or batches there are, of which sizes: `batches` holds the sizes, the innermost first; `last` is the size of a smaller one."""

    length: int
    batches: tuple[int, ...] = ()
    last: int = 0


def shape_after(steps: Sequence[Step], base: Base) -> Shape | Irregular:
    """The shape of an order, or why there is none."""
    shape = _shape_of(base)
    if isinstance(shape, Irregular):
        return shape
    for k, step in enumerate(steps):
        following = _shape_after(step, shape, steps[k + 1 :])
        if isinstance(following, Irregular):
            return following
        shape = following
    return shape


def _shape_of(base: Base) -> Shape | Irregular:
    if isinstance(base, int):
        return Shape(base)
    if isinstance(base, Irregular):
        return base
    shapes = []
    for steps, inner in base.parts:
        shape = shape_after(steps, inner)
        if isinstance(shape, Irregular):
            return shape if base.behind else NO_ORDER_OF_PAIRS
        shapes.append(shape)
    if not base.behind:
        length = min(s.length for s in shapes)
        return Shape(length, (), int(all(s.length > length or s.last for s in shapes)))
    if any(s.last for s in shapes[:-1]):
        return _after_a_smaller_one("concatenate")
    return Shape(sum(s.length for s in shapes), (), shapes[-1].last)


NO_ORDER_OF_PAIRS = Irregular("what it zips is shuffled, batched or filtered before", "zip the datasets first, or the loop: `for x, y in zip(a, b):`")


def _after_a_smaller_one(name: str) -> Irregular:
    return Irregular(f"`{name}` comes after a `batch` whose last one is smaller", f"write `{name}` before, or `batch(n, drop_remainder=True)`")


def _shape_after(step: Step, shape: Shape, following: Sequence[Step]) -> Shape | Irregular:
    count, batches, last = shape
    size = step.size or 0
    if last and step.name not in ("take", "skip", "shard", "enumerate"):
        return _after_a_smaller_one({"flat": "flat_map", "padded": "padded_batch"}.get(step.name, step.name))
    if step.name == "batch":
        return Shape(count // size, (*batches, size), 0 if step.drop else count % size)
    if step.name == "take":
        return Shape(min(count, size), batches, last if size > count else 0)
    if step.name == "skip":
        return Shape(max(count - size, 0), batches, last if size <= count else 0)
    if step.name == "shard":
        return Shape(len(range(step.shift, count, size)), batches, last if count % size == step.shift else 0)
    if step.name == "repeat":
        times = step.size if step.size is not None else _needed(following, count)
        if times is None:
            return Irregular("`repeat()` has no end", "write `repeat(n)`, or `take(n)` after it")
        return Shape(count * times, batches)
    if step.name == "window":
        full, smaller = _windows(step, count)
        if smaller > 1:
            return Irregular("the last windows are smaller, each of another size", "write `window(n, ..., drop_remainder=True)`")
        return Shape(full, (*batches, size), len(range(full * step.shift, count, step.stride)) if smaller else 0)
    if step.name == "flat":
        if step.size is None:
            return Irregular(
                "it is not known how many items the datasets of `flat_map` have",
                "iterate in Python, and call the compiled function for each item",
            )
        return Shape(count * step.size, batches)
    if step.name == "padded":
        return Irregular("`padded_batch` pads items of several shapes", "iterate in Python, and call the compiled function for each batch")
    return shape


def _windows(step: Step, count: int) -> tuple[int, int]:
    """How many windows are full, and how many are smaller."""
    assert step.size is not None
    full = len(range(0, count - step.stride * (step.size - 1), step.shift))
    return full, 0 if step.drop else -(-count // step.shift) - full


def count_after(steps: Sequence[Step], length: float) -> float | None:
    """How many items there are of `length` (which may be infinite); None if it is not known."""
    count = length
    for step in steps:
        size = step.size or 0
        if step.name == "take":
            count = min(count, size)
        elif step.name == "repeat":
            count = count * size if step.size is not None else math.inf if count else 0
            count = 0 if math.isnan(count) else count
        elif step.name == "flat":
            if step.size is None:
                return None
            count = count * size if size else 0
        elif count == math.inf:
            continue
        elif step.name in ("batch", "padded"):
            count = count // size if step.drop else -(-count // size)
        elif step.name == "skip":
            count = max(count - size, 0)
        elif step.name == "shard":
            count = len(range(step.shift, int(count), size))
        elif step.name == "window":
            count = sum(_windows(step, int(count)))
    return count


def _needed(following: Sequence[Step], count: int) -> int | None:
    """How often what repeats without end is gone over, until `take` ends it."""
    items, more = 1, 0  # in an item of what follows; that are skipped, or wait in a buffer
    for step in following:
        size = step.size or 0
        if step.name in ("batch", "shard"):
            items *= size
        elif step.name == "window":
            more += items * (step.stride * (size - 1) + 1)
            items *= step.shift
        elif step.name in ("skip", "shuffle"):
            more += items * size
        elif step.name == "take":
            return -(-(items * size + more) // max(count, 1))
        elif step.name == "repeat" or step.name == "flat" and not size:
            return None
    return None


def shuffles(steps: Sequence[Step], base: Base) -> tuple[Step, ...]:
    """The `shuffle`s of a dataset and of what it is made of, its own first."""
    inner = [shuffles(*part) for part in base.parts] if isinstance(base, Parts) else []
    return tuple(s for part in ([s for s in steps if s.name == "shuffle"], *inner) for s in part)


def order(steps: Sequence[Step], base: Base, key: Any) -> tuple[Any, Any]:
    """`full` and `last` of an order; `last` is None where no batch is smaller.

    Args:
      base: how many rows there are.
      key: a random key, another one each time.
    """
    return _order(tuple(steps), base, key, jnp)


def order_on_host(steps: tuple[Step, ...], base: Base, key: Any) -> tuple[Any, Any]:
    """The same as NumPy's arrays; nothing is compiled where nothing is random."""
    if not shuffles(steps, base):
        return _order(steps, base, key, np)
    return jax.tree.map(np.asarray, _compiled(steps, base)(key))  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=128)
def _compiled(steps: tuple[Step, ...], base: Base) -> Callable[[Any], Any]:
    return jax.jit(lambda key: _order(steps, base, key, jnp))  # type: ignore[no-any-return]


def at(full: Any, k: Any) -> Any:
    """What an order has at some place."""
    return jax.tree.map(lambda x: x[k], full)


def length_of(full: Any) -> int:
    return len(jax.tree.leaves(full)[0])


def _order(steps: tuple[Step, ...], base: Base, key: Any, xp: Any, following: tuple[Step, ...] = ()) -> tuple[Any, Any]:
    if not steps:
        return _order_of(base, key, xp)
    *before, step = steps
    inner = functools.partial(_order, tuple(before), base, xp=xp, following=(step, *following))
    if step.name == "repeat":
        return _repeated(step, before, base, key, xp, following, inner), None
    full, last = inner(key=key)
    count, size = length_of(full), step.size or 0
    if step.name == "shuffle":
        own = jax.random.fold_in(key, len(before)) if step.again else jax.random.key(step.seed)
        if step.again and any(s.name == "shuffle" for s in before):  # the key is made of the first one's seed
            own = jax.random.fold_in(own, step.seed)
        return at(full, shuffled(own, count, size)), last
    if step.name == "batch":
        batches, rest = divmod(count, size)
        stacked = jax.tree.map(lambda x: x[: batches * size].reshape(batches, size, *x.shape[1:]), full)
        return stacked, at(full, slice(batches * size, None)) if rest and not step.drop else None
    if step.name == "window":
        windows, smaller = _windows(step, count)
        places = xp.arange(windows)[:, None] * step.shift + xp.arange(size) * step.stride
        first = windows * step.shift
        return at(full, places), at(full, slice(first, first + size * step.stride, step.stride)) if smaller else None
    if step.name == "take":
        return at(full, slice(size)), last if size > count else None
    if step.name == "skip":
        return at(full, slice(size, None)), last if size <= count else None
    if step.name == "shard":
        return at(full, slice(step.shift, None, size)), last if count % size == step.shift else None
    if step.name == "enumerate":
        numbers = xp.arange(size, size + count, dtype=np.int32)
        return (*full, numbers), None if last is None else (*last, np.int32(size + count))
    assert step.name == "flat"
    return (*jax.tree.map(lambda x: xp.repeat(x, size, axis=0), full), xp.tile(xp.arange(size, dtype=np.int32), count)), None


def _repeated(step: Step, before: Sequence[Step], base: Base, key: Any, xp: Any, following: tuple[Step, ...], inner: Any) -> Any:
    inside = shape_after(before, base)
    assert isinstance(inside, Shape)
    times = step.size if step.size is not None else _needed(following, inside.length)
    assert times is not None
    if not times:
        return at(inner(key=key)[0], slice(0))
    if not shuffles(before, base):
        return jax.tree.map(lambda x: xp.tile(x, (times, *[1] * (x.ndim - 1))), inner(key=key)[0])
    if times <= 4:
        return jax.tree.map(lambda *iterations: jnp.concatenate(iterations), *(inner(key=jax.random.fold_in(key, k))[0] for k in range(times)))
    full = lax.map(lambda k: inner(key=jax.random.fold_in(key, k))[0], jnp.arange(times))
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), full)


def _order_of(base: Base, key: Any, xp: Any) -> tuple[Any, Any]:
    """The numbers of what the source gives."""
    if isinstance(base, int):
        return (xp.arange(base, dtype=np.int32),), None
    assert isinstance(base, Parts)
    fulls, lasts = [], []
    for k, (steps, inner) in enumerate(base.parts):
        drawn = shuffles(steps, inner)
        own = jax.random.fold_in(jax.random.fold_in(key, 1 << 16 | k), drawn[0].seed) if drawn else key
        full, last = _order(steps, inner, own, xp)
        fulls.append(full)
        lasts.append(last)
    lengths = [length_of(full) for full in fulls]
    if not base.behind:
        least = min(lengths)
        ends = [at(full, least) if n > least else last for full, last, n in zip(fulls, lasts, lengths, strict=True)]
        return (tuple(at(full, slice(least)) for full in fulls),), None if any(end is None for end in ends) else (tuple(ends),)
    which = xp.concatenate([xp.full((n,), k, np.int32) for k, n in enumerate(lengths)])
    columns = [
        jax.tree.map(lambda x: xp.concatenate([x if j == k else xp.zeros((m, *x.shape[1:]), np.int32) for j, m in enumerate(lengths)]), full)
        for k, full in enumerate(fulls)
    ]
    if lasts[-1] is None:
        return ((which, *columns),), None
    return ((which, *columns),), ({"last": lasts[-1]},)  # of the last part: its shape is another


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
