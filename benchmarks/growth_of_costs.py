"""What one thing costs against what lies around it, at two sizes a hundred times apart.

    python benchmarks/growth_of_costs.py [NAME ...]

Each row is a cost at the small and at the large size, and their ratio.  Where the cost must not depend on the size a ratio above 2 is told, and the
exit status is 1.  The two sizes are measured in one process, each as the best of several runs of CPU time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import autograph as ag

SMALL, LARGE = 50, 5_000


class Row(NamedTuple):
    """What is measured: `make` gives, for a size, what is timed, and how often a run of it does the thing."""

    name: str
    make: Callable[[int], tuple[Callable[[], Any], int]]
    constant: bool = True  # must the cost be the same at both sizes?


class Box:
    def __init__(self, n: int) -> None:
        self.h, self.rows, self.n = jnp.zeros(3), list(range(n)), 3

    @ag.function
    def read(self, x: Any) -> Any:
        return self.h * self.n + x


@ag.function
def first_of(x: Any, rows: Any) -> Any:
    return x + rows[0]


@ag.convert
def put(a: Any, i: int) -> None:
    a[i] = 0


def module_with(n: int) -> types.ModuleType:
    """A module of n functions and as many global variables."""
    function = "G{k} = {k}\n\n\ndef f{k}(x):\n    if x > G{k}:\n        return x - {k}\n    return x\n\n\n"
    text = "import autograph as ag\n" + "".join(function.format(k=k) for k in range(n))
    path = Path(tempfile.mkdtemp()) / f"module_{n}.py"
    path.write_text(text)
    module = types.ModuleType(f"module_{n}")
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec"), vars(module))
    return module


def traced(f: Callable[..., Any], *args: Any) -> Any:
    """Trace a function; JAX remembers the jaxpr of one that it has traced."""
    return jax.make_jaxpr(lambda *given: f(*given))(*args)


def stores_outside(n: int) -> tuple[Callable[[], Any], int]:
    rows = list(range(n))

    def run() -> None:
        for _ in range(200):
            put(rows, 3)

    return run, 200


def call_with_attributes(n: int) -> tuple[Callable[[], Any], int]:
    box, x = Box(n), jnp.ones(3)
    box.read(x)
    return lambda: [box.read(x) for _ in range(5)], 5


def call_with_argument(n: int) -> tuple[Callable[[], Any], int]:
    rows, x = [float(k) for k in range(n)], jnp.ones(3)
    first_of(x, rows)
    return lambda: first_of(x, rows), 1


def call_in_a_module(n: int) -> tuple[Callable[[], Any], int]:
    f, x = ag.function(module_with(n // 10).f0), jnp.float32(3)  # type: ignore[attr-defined]
    f(x)
    return lambda: [f(x) for _ in range(50)], 50


def call_of_a_closure(n: int) -> tuple[Callable[[], Any], int]:
    rows, x = list(range(n)), jnp.float32(3)

    @ag.function
    def f(x: Any) -> Any:
        return x + len(rows)

    f(x)
    return lambda: [f(x) for _ in range(5)], 5


def conversion_in_a_file(n: int) -> tuple[Callable[[], Any], int]:
    module = module_with(n // 10 + 10)
    names = iter([k for k in vars(module) if k.startswith("f")][1:])
    ag.convert(module.f0)
    return lambda: ag.convert(getattr(module, next(names))), 1


def trace_of_stores(n: int) -> tuple[Callable[[], Any], int]:
    count = n // 10

    def f(x: Any) -> Any:
        rows = [0.0] * count
        for k in ag.static_range(5):
            rows[k % count] = x * k
        return rows[0]

    g = ag.convert(f)
    return lambda: traced(g, 1.0), 5


def trace_of_traced_stores(n: int) -> tuple[Callable[[], Any], int]:
    count = max(n // 10, 5)

    def f(x: Any, i: Any) -> Any:
        rows = [0.0] * count
        for _ in ag.static_range(5):
            rows[i] = x
        return rows[0]

    g = ag.convert(f)
    return lambda: traced(g, 1.0, 2), 5 * count


def trace_of_appends(n: int) -> tuple[Callable[[], Any], int]:
    count = n // 10

    def f(x: Any) -> Any:
        rows = []
        for k in ag.static_range(count):
            rows.append(x + k)
        return rows[-1]

    g = ag.convert(f)
    return lambda: traced(g, 1.0), count


def trace_of_iterations(n: int) -> tuple[Callable[[], Any], int]:
    count = n // 10

    def f(x: Any) -> Any:
        for k in ag.static_range(count):
            if x > k:
                x = x - 1
        return x

    g = ag.convert(f)
    return lambda: traced(g, 1.0), count


def first_calls(n: int) -> tuple[Callable[[], Any], int]:
    module = module_with(n // 10)
    x = jnp.float32(1)
    for k in range(n // 10):
        jax.make_jaxpr(ag.convert(getattr(module, f"f{k}")))(x)

    def fresh() -> None:
        def g(x: Any) -> Any:
            if x > 0:
                return x - 1
            return x

        jax.make_jaxpr(ag.convert(g))(x)

    return fresh, 1


ROWS = [
    Row("a call outside of jit that stores: items of its list", stores_outside),
    Row("a compiled call: items of an attribute that it does not read", call_with_attributes),
    Row("a compiled call: items of a list among its arguments", call_with_argument, constant=False),
    Row("a compiled call: functions and variables of its module", call_in_a_module),
    Row("a compiled call: items of a list of the function around", call_of_a_closure),
    Row("conversion: functions in the file", conversion_in_a_file),
    Row("trace of a store at a known place: items of the list", trace_of_stores),
    Row("trace of a store at a traced place, per item: items", trace_of_traced_stores),
    Row("trace of an append: items of the list", trace_of_appends),
    Row("trace of an iteration: iterations before it", trace_of_iterations),
    Row("a first call: earlier first calls", first_calls),
]


def cost(make: Callable[[int], tuple[Callable[[], Any], int]], n: int) -> float:
    """Microseconds of CPU time that the thing costs."""
    run, times = make(n)
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best / times * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the rows' names")
    options = parser.parse_args()
    grown = 0
    for row in ROWS:
        if options.names and not any(name in row.name for name in options.names):
            continue
        small, large = cost(row.make, SMALL), cost(row.make, LARGE)
        bad = row.constant and large > 2 * small
        grown += bad
        print(f"{row.name:62} {small:9.1f} {large:9.1f} us  x {large / small:.1f}{'  GROWS' if bad else ''}", flush=True)
    print(f"{grown} grow that should not")
    return grown


if __name__ == "__main__":
    sys.exit(bool(main()))
