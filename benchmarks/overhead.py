"""What conversion costs: ratios against the same program unconverted, measured by turns in one process, CPU time, best of many.

    python benchmarks/overhead.py [--repeat N]

Rows above their limit are marked.  Nothing here is a test: machines differ.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import platform
import statistics
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

import autograph as ag
from autograph.forms.forms import Form
from autograph.forms.lowering import forget, listing
from autograph.source.source import file_of


class Row(NamedTuple):
    name: str
    ratio: float
    limit: float


def ratio(native: Callable[[], Any], ours: Callable[[], Any], repeat: int) -> float:
    """The median over rounds of the ratio of CPU times, each the best of three."""

    def spent(f: Callable[[], Any]) -> float:
        best = 1e9
        for _ in range(3):
            start = time.process_time()
            f()
            best = min(best, time.process_time() - start)
        return best

    native(), ours()
    return statistics.median(spent(ours) / spent(native) for _ in range(repeat))


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def sieve(n: int) -> int:
    prime = [True] * n
    for i in range(2, n):
        if prime[i]:
            for j in range(i * i, n, i):
                prime[j] = False
    return sum(prime)


def add_one(x: int) -> int:
    return x + 1


def call_many(n: int) -> int:
    x = 0
    for _ in range(n):
        x = add_one(x)
    return x


class Adder:
    def add_one(self, x: int) -> int:
        return x + 1


def call_method(n: int) -> int:
    x, adder = 0, Adder()
    for _ in range(n):
        x = adder.add_one(x)
    return x


def store_items(n: int) -> list[int]:
    x = [0] * 10
    for i in range(n):
        x[3] = i
    return x


def outside_a_trace(repeat: int) -> Iterator[Row]:
    programs = [
        ("loop, collatz", collatz, 837799, 1.1), ("loop, sieve", sieve, 30000, 1.1), ("call of a module-level function", call_many, 50000, 1.5),
        ("call of a method", call_method, 50000, 5.0), ("x[i] = v on a list", store_items, 100000, 1.2),
    ]  # fmt: skip
    for name, f, n, limit in programs:
        g = ag.convert(f)
        assert g(n) == f(n)
        yield Row(name, ratio(lambda f=f, n=n: f(n), lambda g=g, n=n: g(n), repeat), limit)


# Functions of 4 to 180 lines with much control flow.
SUBJECTS = [
    ("textwrap", "TextWrapper._wrap_chunks"), ("heapq", "merge"), ("heapq", "_siftup_max"), ("difflib", "SequenceMatcher.find_longest_match"),
    ("shlex", "shlex.read_token"), ("fractions", "Fraction.limit_denominator"), ("random", "Random.sample"), ("colorsys", "rgb_to_hls"),
    ("json.decoder", "py_scanstring"), ("string", "Formatter._vformat"), ("csv", "Sniffer._guess_quote_and_delimiter"), ("colorsys", "hls_to_rgb"),
    ("fnmatch", "translate"), ("statistics", "_exact_ratio"),
]  # fmt: skip


def conversion(repeat: int) -> Iterator[Row]:
    import importlib

    ratios = []
    for module, path in SUBJECTS:
        f: Any = importlib.import_module(module)
        for part in path.split("."):
            f = getattr(f, part)
        f = inspect.unwrap(f)
        file = file_of(f.__code__.co_filename)

        def native(f: Any = f) -> None:
            text = textwrap.dedent(inspect.getsource(f))
            compile(ast.parse(text), "<native>", "exec")

        def ours(f: Any = f, file: Any = file) -> None:
            forget()  # nothing is taken over from the round before
            form = Form(f.__code__, file)
            form.plain()
            if form.stageable:
                form.staged()
            listing(form.node, file, free=frozenset(f.__code__.co_freevars))

        ratios.append(ratio(native, ours, repeat))
    yield Row(f"conversion, both forms and text, median of {len(ratios)} functions", statistics.median(ratios), 8.0)
    yield Row("conversion, the worst of them", max(ratios), 99.0)


def dispatch(repeat: int) -> Iterator[Row]:
    cases: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "a scalar": (lambda x: x + 1, (jnp.ones(()),)),
        "5 arrays": (lambda a, b, c, d, e: a + 1, tuple(jnp.ones(3) for _ in range(5))),
        "a dict of 20": (lambda d: d["k0"] + 1, ({f"k{i}": jnp.ones(2) for i in range(20)},)),
        "`*args`, which may be no arrays in a later call": (lambda *args: args[0] + 1, (jnp.ones(()),)),
    }
    for name, (f, args) in cases.items():
        native, ours = jax.jit(f), ag.function(f)
        native(*args), ours(*args)

        def many(g: Any, args: Any = args) -> None:
            for _ in range(2000):
                g(*args)

        yield Row(f"dispatch of ag.function, {name}", ratio(lambda n=native: many(n), lambda o=ours: many(o), repeat), 4.0 if "*" in name else 1.2)


def by_hand(x: Any) -> Any:
    for k in range(20):

        def body(s: Any, k: int = k) -> Any:
            x, i = s
            return lax.cond(x > k, lambda x: jnp.sin(x) + 1, lambda x: x + 2, x), i + 1

        x, _ = lax.while_loop(lambda s: s[1] < 10, body, (x, 0))
    return x


def plainly(x: Any) -> Any:
    for k in range(20):
        i = jnp.int32(0)
        while i < 10:
            if x > k:
                x = jnp.sin(x) + 1
            else:
                x = x + 2
            i += 1
    return x


def stores_by_hand(x: Any) -> Any:
    for k in range(200):
        x = x.at[k].set(2.0 * k)
    return x


def stores(x: Any) -> Any:
    with ag.loops(roll="never"):  # else they are one iteration
        for k in range(200):
            x[k] = 2.0 * k
    return x


def tracing(repeat: int) -> Iterator[Row]:
    ours = ag.convert(plainly)
    trace = {name: (lambda f=f: jax.make_jaxpr(lambda x: f(x))(1.0)) for name, f in (("native", by_hand), ("ours", ours))}
    yield Row("tracing 20 loops with branches", ratio(trace["native"], trace["ours"], repeat), 1.8)
    ours = ag.convert(stores)
    trace = {name: (lambda f=f: jax.make_jaxpr(lambda x: f(x))(jnp.zeros(300))) for name, f in (("native", stores_by_hand), ("ours", ours))}
    yield Row("tracing 200 stores", ratio(trace["native"], trace["ours"], repeat), 1.15)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    print(f"Python {platform.python_version()}, JAX {jax.__version__}")
    for rows in (outside_a_trace, dispatch, tracing, conversion):
        for row in rows(repeat):
            print(f"{row.ratio:6.2f}  (limit {row.limit:4.1f})  {row.name}{'   ABOVE' if row.ratio > row.limit else ''}", flush=True)


if __name__ == "__main__":
    main()
