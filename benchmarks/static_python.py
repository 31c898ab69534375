"""Python that is not traced, inside a trace: how long the converted function takes to trace, over what the same Python takes outside.

    python benchmarks/static_python.py

Each program computes a number of what is known, and multiplies the traced argument by it.  `in the function`: the loops stand in the traced function
itself; `called`: in a function that it calls; `mixed`: some iterations of the loop touch the traced value.  What tracing costs for an empty program
is taken off.  The last rows store into a list of 10 and of 10,000 items.
"""

from __future__ import annotations

import collections
import functools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

import autograph as ag

Program = Callable[..., Any]
PROGRAMS: list[tuple[str, Program, int]] = []


def program(kind: str, n: int) -> Callable[[Program], Program]:
    def add(f: Program) -> Program:
        PROGRAMS.append((kind, f, n))
        return f

    return add


@program("in the function", 4000)
def collatz(x: Any, n: int) -> Any:
    best = 0
    for i in range(1, n):
        k, steps = i, 0
        while k != 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
        if steps > best:
            best = steps
    return x * best


@program("in the function", 300_000)
def sieve(x: Any, n: int) -> Any:
    prime = [True] * n
    prime[0] = prime[1] = False
    i = 2
    while i * i < n:
        if prime[i]:
            for j in range(i * i, n, i):
                prime[j] = False
        i += 1
    return x * sum(prime)


@program("in the function", 100_000)
def counted_words(x: Any, n: int) -> Any:
    count: dict[str, int] = {}
    for i in range(n):
        word = f"w{i % 17}"
        count[word] = count.get(word, 0) + 1
    return x * max(count.values())


class Stack:
    def __init__(self) -> None:
        self.items: list[int] = []
        self.size = 0

    def push(self, x: int) -> None:
        self.items.append(x)
        self.size += 1

    def pop(self) -> int:
        self.size -= 1
        return self.items.pop()


@program("in the function", 100_000)
def stack(x: Any, n: int) -> Any:
    s, total = Stack(), 0
    for i in range(n):
        s.push(i)
        if i % 3 == 0:
            total += s.pop()
    return x * (total % 1000 + s.size)


@program("in the function", 80)
def matrix_product(x: Any, n: int) -> Any:
    a = [[i + j for j in range(n)] for i in range(n)]
    c = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            s = 0
            for k in range(n):
                s += a[i][k] * a[k][j]
            c[i][j] = s
    return x * (c[n - 1][n - 1] % 1000)


@program("in the function", 20_000)
def luhn(x: Any, n: int) -> Any:
    good = 0
    for i in range(n):
        digits = [int(d) for d in str(i * 7919)]
        total = sum(digits[-1::-2])
        for d in digits[-2::-2]:
            total += sum([int(q) for q in str(d * 2)])
        if total % 10 == 0:
            good += 1
    return x * good


@program("in the function", 7)
def queens(x: Any, n: int) -> Any:
    def safe(row: int, column: int, board: list[int]) -> bool:
        return all(c != column and abs(c - column) != row - r for r, c in enumerate(board))

    def place(row: int, board: list[int]) -> int:
        if row == n:
            return 1
        count = 0
        for column in range(n):
            if safe(row, column, board):
                count += place(row + 1, [*board, column])
        return count

    return x * place(0, [])


@program("in the function", 200)
def edit_distance(x: Any, n: int) -> Any:
    a, b = "kitten" * n, "sitting" * 5
    row = list(range(len(b) + 1))
    for i, p in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, q in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (p != q))
    return x * row[-1]


@program("in the function", 300)
def knapsack(x: Any, n: int) -> Any:
    best = [0] * 201
    for i in range(n):
        weight, value = 3 + i % 11, 10 + i * 7 % 23
        for room in range(200, weight - 1, -1):
            if best[room - weight] + value > best[room]:
                best[room] = best[room - weight] + value
    return x * best[200]


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@program("called", 24)
def recursion(x: Any, n: int) -> Any:
    return x * fib(n)


def distances(edges: list[tuple[int, int]], start: int) -> dict[int, int]:
    beside = collections.defaultdict(list)
    for a, b in edges:
        beside[a].append(b)
        beside[b].append(a)
    found, todo = {start: 0}, collections.deque([start])
    while todo:
        node = todo.popleft()
        for other in beside[node]:
            if other not in found:
                found[other] = found[node] + 1
                todo.append(other)
    return found


@program("called", 40_000)
def breadth_first(x: Any, n: int) -> Any:
    edges = [(i, i * 7 % n) for i in range(n)] + [(i, i + 1) for i in range(n - 1)]
    return x * max(distances(edges, 0).values())


@dataclass
class Account:
    owner: str
    balance: int = 0
    moves: int = 0

    def deposit(self, amount: int) -> None:
        if amount <= 0:
            raise ValueError("an amount is positive")
        self.balance += amount
        self.moves += 1


def bank(n: int) -> int:
    accounts = {name: Account(name) for name in "abc"}
    for i in range(n):
        try:
            accounts["abc"[i % 3]].deposit(i % 5)
        except ValueError:
            continue
    return sum(a.balance for a in accounts.values())


@program("called", 100_000)
def objects(x: Any, n: int) -> Any:
    return x * (bank(n) % 1000)


@functools.cache
def ways(n: int, most: int) -> int:
    return 1 if n == 0 else sum(ways(n - k, k) for k in range(1, min(n, most) + 1))


@program("called", 150)
def memoised(x: Any, n: int) -> Any:
    ways.cache_clear()
    return x * (ways(n, n) % 1000)


SIGNS = dict(M=1000, CM=900, D=500, CD=400, C=100, XC=90, L=50, XL=40, X=10, IX=9, V=5, IV=4, I=1)


def roman(n: int) -> str:
    out = ""
    for sign, value in SIGNS.items():
        while n >= value:
            out += sign
            n -= value
    return out


@program("called, one by one", 10_000)
def numerals(x: Any, n: int) -> Any:
    longest = 0
    y = x
    for i in range(n):
        longest = max(longest, len(roman(i % 3000)))
        if i % 1000 == 0:
            y = y + x
    return y * longest


@program("mixed", 20_000)
def sometimes_traced(x: Any, n: int) -> Any:
    y, seen = x, []
    for i in range(n):
        k = i * i % 7
        seen.append(k)
        if k == 4 and i % 1000 == 2:
            y = y + k * x
    return y * len(seen)


def measured(f: Program, n: int) -> tuple[float, float]:
    """Seconds of Python, and of tracing less what tracing an empty program costs; the best of three."""
    native = taken = empty = 1e9
    for _ in range(3):
        begin = time.perf_counter()
        wanted = f(1, n)
        native = min(native, time.perf_counter() - begin)
        for size in (n, 3):
            begin = time.perf_counter()
            jax.jit(ag.convert(f), static_argnums=1).trace(jnp.int32(1), size)
            spent = time.perf_counter() - begin
            taken, empty = (min(taken, spent), empty) if size == n else (taken, min(empty, spent))
    got = jax.jit(ag.convert(f), static_argnums=1)(1, n)
    assert int(got) == wanted, (f.__name__, int(got), wanted)
    return native, max(taken - empty, 1e-9)


def per_store(items: int) -> float:
    """Seconds for a store into a list of so many items, in a loop that touches the traced value at times."""

    def f(x: Any, n: int) -> Any:
        held = [0] * items
        for i in range(n):
            held[i % items] = i
            if i % 5000 == 0:
                x = x + held[0]
        return x

    def spent(n: int) -> float:
        begin = time.perf_counter()
        jax.jit(ag.convert(f), static_argnums=1).trace(jnp.float32(1), n)
        return time.perf_counter() - begin

    spent(3)
    few, many = 20_000, 80_000
    return min(spent(many) - spent(few) for _ in range(3)) / (many - few)


def main() -> None:
    ratios = []
    for kind, f, n in PROGRAMS:
        native, traced = measured(f, n)
        ratios.append(traced / native)
        print(f"{f.__name__:18} {kind:18} Python {1e3 * native:8.1f} ms, in a trace {1e3 * traced:8.1f} ms: {traced / native:6.2f}", flush=True)
    print(f"{len(ratios)} programs: median {statistics.median(ratios):.2f}, most {max(ratios):.2f}")
    for items in (10, 10_000):
        print(f"a store into a list of {items} items: {1e6 * per_store(items):.2f} us")


if __name__ == "__main__":
    main()
