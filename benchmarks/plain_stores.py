"""A converted function that stores, called outside of every trace: microseconds a call, for arguments of 100 and of 10,000 items.

    python benchmarks/plain_stores.py

What a call costs must not grow with what its arguments hold.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autograph as ag


class Box:
    def __init__(self, n: int) -> None:
        self.a = list(range(n))


def put(a: Any, i: int) -> None:
    a[i] = 0


def swap(a: Any, i: int, j: int) -> None:
    a[i], a[j] = a[j], a[i]


def count(d: Any, k: Any) -> None:
    d[k] = d.get(k, 0) + 1


def nested(g: Any, i: int) -> None:
    g[i % len(g)][0] += 1


def held(b: Any, i: int) -> None:
    b.a[i] = 1


CALLS: list[tuple[str, Callable[..., Any], Callable[[int], tuple[Any, ...]]]] = [
    ("list", put, lambda n: (list(range(n)), 3)),
    ("two items of a list", swap, lambda n: (list(range(n)), 1, 2)),
    ("dict", count, lambda n: ({k: k for k in range(n)}, 5)),
    ("list of lists", nested, lambda n: ([[k, k] for k in range(n)], 3)),
    ("NumPy array", put, lambda n: (np.zeros(n), 3)),
    ("list of an object", held, lambda n: (Box(n), 3)),
]


def per_call(f: Callable[..., Any], *args: Any) -> float:
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(200):
            f(*args)
        best = min(best, time.perf_counter() - start)
    return best / 200 * 1e6


def main() -> int:
    slow = 0
    print(f"{'':22}{'Python':>8}{'100':>8}{'10,000':>8}")
    for name, f, make in CALLS:
        g = ag.convert(f)
        native, few, many = per_call(f, *make(100)), per_call(g, *make(100)), per_call(g, *make(10_000))
        slow += many > 2 * few or many > max(20 * native, 5)
        print(f"{name:22}{native:8.2f}{few:8.2f}{many:8.2f}", flush=True)
    print(f"microseconds a call; {slow} of {len(CALLS)} too slow")
    return slow


if __name__ == "__main__":
    sys.exit(bool(main()))
