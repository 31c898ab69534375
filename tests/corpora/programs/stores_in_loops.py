"""Loops that store into arrays, as NumPy programs have them: each iteration touches a few items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def stored(x: Any) -> Any:
    y = np.zeros(len(x), np.float32)
    for i in range(len(x)):
        y[i] = np.sin(x[i]) * 2
    return y


def recurrence(x: Any) -> Any:
    y = np.zeros(len(x), np.float32)
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i]
    return y


def stored_in_a_branch(x: Any) -> Any:
    y = np.zeros(len(x), np.float32)
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i] * x[i]
    return y


def read_and_cleared(x: Any) -> Any:
    u, v = np.zeros(len(x), np.float32), x * x
    for i in range(len(x)):
        u[i] = v[i]
        v[i] = 0
    return u, v


def read_into_a_sum_and_cleared(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i]
        x[i] = 0
    return total, x


def swapped(x: Any) -> Any:
    for i in range(len(x) - 1):
        j = (i * 7) % len(x)
        x[i], x[j] = x[j], x[i]
    return x * x


def in_place(x: Any) -> Any:
    for i in range(1, len(x) - 1):
        x[i] = 0.25 * x[i - 1] + 0.5 * x[i] * x[i] + 0.25 * x[i + 1]
    return x


def two_arrays(x: Any) -> Any:
    a, b = np.zeros(len(x), np.float32), np.zeros(len(x), np.float32)
    for i in range(1, len(x)):
        a[i] = a[i - 1] * 0.5 + x[i]
        b[i] = a[i] * b[i - 1] + x[i]
    return b


def tridiagonal(x: Any) -> Any:
    n = len(x)
    c, d = np.zeros(n, np.float32), np.zeros(n, np.float32)
    for i in range(1, n):
        m = 4.0 - c[i - 1]
        c[i] = 1.0 / m
        d[i] = (x[i] - d[i - 1]) / m
    for i in range(n - 2, -1, -1):
        d[i] = d[i] - c[i] * d[i + 1]
    return d


def scattered(x: Any) -> Any:
    h = np.zeros(len(x), np.float32)
    for i in range(len(x)):
        h[(i * 7) % len(x)] += x[i] * x[i]
    return h


def rows(x: Any) -> Any:
    a = x.reshape(-1, 4)
    y = np.zeros(a.shape, np.float32)
    for i in range(len(a)):
        y[i] = np.sin(a[i])
    return y


def of_unknown_length(x: Any) -> Any:
    y = np.zeros(len(x), np.float32)
    i = 0
    while i < len(x) and x[i] > -100:
        y[i] = x[i] * x[i]
        i += 1
    return y


def stored_and_added(x: Any) -> Any:
    y = np.zeros(len(x), np.float32)
    for i in range(len(x)):
        y[i] = x[i] * x[i]
        if x[i] > 0:
            y[i] += x[i]
    return y


def cleared_and_added_elsewhere(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = 0.0
        x[(i * 3) % len(x)] += x[i] + x[(i * 5) % len(x)] * 2.0
    return x


def stored_into_a_matrix(x: Any) -> Any:
    a = x.reshape(-1, 20)
    for i in range(len(a)):
        for j in range(1, 20):
            a[i, j] = a[i, j] * 0.5
            a[i, j] += a[i, j - 1]
    return a


def ended_early(x: Any) -> Any:
    y = np.zeros(len(x), np.float32)
    for i in range(len(x)):
        if x[i] > 100:
            break
        y[i] = np.sin(x[i])
    return y


def appended(x: Any) -> Any:
    out = []
    for v in x:
        out.append(np.sin(v))
    return np.array(out)


PROGRAMS: list[Callable[[Any], Any]] = [
    stored, recurrence, stored_in_a_branch, read_and_cleared, read_into_a_sum_and_cleared, swapped, in_place, two_arrays, tridiagonal, scattered,
    rows, of_unknown_length, ended_early, appended, stored_and_added, cleared_and_added_elsewhere, stored_into_a_matrix,
]  # fmt: skip
