"""How Python goes over a dataset that is no array: it has no end, its batches have several sizes, or its items come from an iterable."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from autograph.runtime.datasets.orders import Step
from autograph.runtime.jaxapi import trees


def numbered(step: Step, items: Callable[[], Iterator[Any]], random: np.random.Generator) -> Callable[[], Iterator[Any]]:
    """What a method makes of items, as they come; `items` begins anew each time it is called."""
    return lambda: _STEPS[step.name](step, items, random)


def _shuffled(step: Step, items: Callable[[], Iterator[Any]], random: np.random.Generator) -> Iterator[Any]:
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


def _repeated(step: Step, items: Callable[[], Iterator[Any]], random: np.random.Generator) -> Iterator[Any]:
    for _ in itertools.count() if step.size is None else range(step.size):
        empty = True
        for x in items():
            empty = False
            yield x
        if empty:  # it would go on for ever, and give nothing
            return


def _batched(step: Step, items: Callable[[], Iterator[Any]], random: np.random.Generator) -> Iterator[Any]:
    assert step.size is not None
    rest = items()
    while len(part := list(itertools.islice(rest, step.size))) == step.size or part and not step.drop:
        yield trees.map(lambda *parts: np.stack(parts), *part)


def _taken(step: Step, items: Callable[[], Iterator[Any]], random: np.random.Generator) -> Iterator[Any]:
    return itertools.islice(items(), step.size)


def _skipped(step: Step, items: Callable[[], Iterator[Any]], random: np.random.Generator) -> Iterator[Any]:
    return itertools.islice(items(), step.size, None)


_STEPS: dict[str, Callable[[Step, Callable[[], Iterator[Any]], np.random.Generator], Iterator[Any]]] = {
    "shuffle": _shuffled, "repeat": _repeated, "batch": _batched, "take": _taken, "skip": _skipped,
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
