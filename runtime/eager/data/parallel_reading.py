"""How Python goes over a dataset that is no array: it has no end, its batches have several sizes, or its items come from an iterable."""

from __future__ import annotations

import itertools
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from autograph.runtime.eager.data.item_order import Step
from autograph.runtime.errors.errors import DatasetError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees

_Items = Callable[[], Iterator[Any]]


def numbered(step: Step, items: _Items, random: np.random.Generator) -> _Items:
    """What a method makes of items, as they come; `items` begins anew each time it is called."""
    return lambda: _STEPS[step.name](step, items, random)


def addressed(step: Step, items: _Items, random: np.random.Generator) -> _Items:
    """The same of the numbers of items: a tuple, to which methods that count add theirs."""
    if step.name == "enumerate":
        return lambda: ((*x, np.int32(k)) for k, x in enumerate(items(), step.size or 0))
    if step.name == "flat":
        return lambda: ((*x, np.int32(k)) for x in items() for k in range(step.size or 0))
    return numbered(step, items, random)


def _shuffled(step: Step, items: _Items, random: np.random.Generator) -> Iterator[Any]:
    assert step.size is not None
    random = random if step.again else np.random.default_rng(step.seed)
    buffer: list[Any] = []
    for x in items():
        if len(buffer) < step.size:
            buffer.append(x)
            continue
        k = random.integers(step.size)
        yield buffer[k]
        buffer[k] = x
    random.shuffle(buffer)
    yield from buffer


def _repeated(step: Step, items: _Items, random: np.random.Generator) -> Iterator[Any]:
    for _ in itertools.count() if step.size is None else range(step.size):
        empty = True
        for x in items():
            empty = False
            yield x
        if empty:  # it would go on for ever, and give nothing
            return


def stacked(step: Step, rest: Iterator[Any], stack: Callable[[list[Any]], Any]) -> Iterator[Any]:
    """As many items at once."""
    assert step.size is not None
    while len(part := list(itertools.islice(rest, step.size))) == step.size or part and not step.drop:
        yield stack(part)


def stack(items: list[Any]) -> Any:
    """Items along a new first axis.

    Raises:
      DatasetError: (AG707) they have several shapes.
    """
    try:
        return trees.map(lambda *parts: np.stack(parts), *items)
    except ValueError:
        shapes = dict.fromkeys(str(trees.map(np.shape, x)) for x in items)
        if len(shapes) < 2:
            raise
        raise DatasetError(
            f"`batch` is given items of the shapes {' and '.join([*shapes][:3])}", here(), "use `padded_batch`, or let `map` make them of one shape"
        ) from None


def _batched(step: Step, items: _Items, random: np.random.Generator) -> Iterator[Any]:
    return stacked(step, items(), stack)


def _windowed(step: Step, items: _Items, random: np.random.Generator) -> Iterator[Any]:
    assert step.size is not None
    wanted, held, rest = step.stride * (step.size - 1) + 1, deque[Any](), items()
    while True:
        held.extend(itertools.islice(rest, wanted - len(held)))
        if not held or step.drop and len(held) < wanted:
            return
        yield stack([*held][:: step.stride])
        for _ in range(min(step.shift, len(held))):
            held.popleft()
        if step.shift > wanted:
            for _ in itertools.islice(rest, step.shift - wanted):
                pass


def _taken(step: Step, items: _Items, random: np.random.Generator) -> Iterator[Any]:
    return itertools.islice(items(), step.size)


def _skipped(step: Step, items: _Items, random: np.random.Generator) -> Iterator[Any]:
    return itertools.islice(items(), step.size, None)


def _shard(step: Step, items: _Items, random: np.random.Generator) -> Iterator[Any]:
    return itertools.islice(items(), step.shift, None, step.size)


def _counted(step: Step, items: _Items, random: np.random.Generator) -> Iterator[Any]:
    return ((np.int32(k), x) for k, x in enumerate(items(), step.size or 0))


_STEPS: dict[str, Callable[[Step, _Items, np.random.Generator], Iterator[Any]]] = {
    "shuffle": _shuffled, "repeat": _repeated, "batch": _batched, "take": _taken, "skip": _skipped, "window": _windowed, "shard": _shard,
    "enumerate": _counted,
}  # fmt: skip

_END = object()


def ahead(items: Iterable[Any], size: int) -> Iterator[Any]:
    """The same items, of which a thread makes up to `size` ahead.  What making them raises is raised where the item would have come."""
    made: queue.Queue[Any] = queue.Queue(size)
    left = threading.Event()

    def put(x: Any) -> bool:
        while not left.is_set():
            try:
                made.put(x, timeout=0.05)
                return True
            except queue.Full:  # the loop is slower: wait, and see whether it has ended
                continue
        return False

    def make() -> None:
        try:
            for x in items:
                if not put((x, None)):
                    return
            put((_END, None))
        except BaseException as error:
            put((_END, error))

    thread = threading.Thread(target=make, name="ag.data.prefetch", daemon=True)
    thread.start()
    try:
        while True:
            x, error = made.get()
            if error is not None:
                raise error
            if x is _END:
                return
            yield x
    finally:
        left.set()
        thread.join()
