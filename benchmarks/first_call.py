"""First calls and steady state of the programs in `known_ranges.py`, over the rolled form by hand; each in a process of its own.

    python benchmarks/first_call.py [NAME ...] [--plot FILE.svg]     # the plot wants matplotlib
    python benchmarks/first_call.py --turns                          # one program of 10 to 10,000 iterations

First calls trace, compile and run; steady state is the best of interleaved calls.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))


def first(f: Any, args: Any) -> tuple[Any, float]:
    import jax

    start = time.perf_counter()
    out = jax.block_until_ready(f(*args))
    return out, time.perf_counter() - start


def alike(got: Any, want: Any) -> bool:
    import jax
    import numpy as np

    a, b = ([np.asarray(x) for x in jax.tree.leaves(t)] for t in (got, want))
    return len(a) == len(b) and all(x.shape == y.shape and np.allclose(x, y, rtol=2e-3, atol=1e-4) for x, y in zip(a, b, strict=True))


def measured(ours: Any, by_hand: Any, args: Any) -> dict[str, Any]:
    """First calls, and steady state: the best of many calls by turns."""
    import jax

    jax.block_until_ready(jax.jit(lambda x: x + 1)(1.0))  # what the first compilation of a process costs
    want, hand_first = first(by_hand, args)
    got, our_first = first(ours, args)
    steady = {"ours": float("inf"), "by hand": float("inf")}
    end = time.perf_counter() + 2
    while time.perf_counter() < end:
        for name, f in (("ours", ours), ("by hand", by_hand)):
            steady[name] = min(steady[name], first(f, args)[1])
    return {"first": our_first, "hand": hand_first, "steady": steady["ours"], "hand steady": steady["by hand"], "equal": alike(got, want)}


def one(name: str) -> None:
    import jax
    from known_ranges import PROGRAMS

    import autograph as ag

    warnings.simplefilter("ignore", ag.LargeUnrollWarning)
    ours, by_hand, args = PROGRAMS[name]()
    print(json.dumps(measured(ag.function(ours), jax.jit(by_hand), args)))


def turns(count: int) -> None:
    import jax
    import jax.numpy as jnp

    import autograph as ag

    def logistic(x: Any, r: Any) -> Any:
        total = jnp.zeros_like(x)
        for i in range(count):
            x = r * x * (1 - x)
            if x > 0.5:
                total = total + jnp.sin(x) * i
        return total

    def by_hand(x: Any, r: Any) -> Any:
        def turn(i: Any, carry: Any) -> Any:
            x, total = carry
            x = r * x * (1 - x)
            return x, jnp.where(x > 0.5, total + jnp.sin(x) * i, total)

        return jax.lax.fori_loop(0, count, turn, (x, jnp.zeros_like(x)))[1]

    print(json.dumps(measured(ag.function(logistic), jax.jit(by_hand), (jnp.float32(0.3), jnp.float32(3.0)))))


def row(title: str, arguments: list[str], limit: float = 300) -> dict[str, Any] | None:
    try:
        done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        print(f"{title:45} more than {limit:.0f} s", flush=True)
        return None
    if done.returncode:
        print(f"{title:45} {done.stderr.strip().splitlines()[-1]}", flush=True)
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    kept = found["first"] <= min(2 * found["hand"] + 1, 5) and found["steady"] <= 1.3 * found["hand steady"] and found["equal"]
    print(
        f"{title:45} {found['first']:6.2f} s {found['hand']:6.2f} s  {found['steady'] * 1e6:8.0f} µs {found['hand steady'] * 1e6:8.0f} µs"
        f"  {found['steady'] / found['hand steady']:5.2f}{'' if found['equal'] else '  ANOTHER VALUE'}{'' if kept else '  *'}",
        flush=True,
    )
    return found


def plot(found: dict[str, dict[str, Any]], path: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt

    names = sorted(found, key=lambda n: found[n]["first"])
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 0.28 * len(names) + 1), sharey=True, layout="constrained")
    places = range(len(names))
    left.barh([p + 0.2 for p in places], [found[n]["first"] for n in names], 0.4, label="ag.function", color="#1f6f8b")
    left.barh([p - 0.2 for p in places], [found[n]["hand"] for n in names], 0.4, label="rolled by hand", color="#c9b79c")
    left.set_yticks(list(places), [n.replace("_", " ") for n in names])
    left.set_xscale("log")
    left.set_xlabel("first call, seconds")
    left.legend(loc="lower right")
    right.barh(list(places), [found[n]["steady"] / found[n]["hand steady"] for n in names], 0.6, color="#1f6f8b")
    right.axvline(1.0, color="#a23b2a", linewidth=1)
    right.set_xlabel("steady state, over the rolled form by hand")
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--plot")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one or given.count:
        one(given.one) if given.one else turns(given.count)
        return
    import jax
    from known_ranges import PROGRAMS

    print(
        f"{jax.default_backend()}, JAX {jax.__version__}; a star: a first call of more than twice that by hand and 1 s, or than 5 s; a ratio over 1.3"
    )
    print(f"{'':45} {'first':>8} {'by hand':>8} {'steady':>12} {'by hand':>11} {'ratio':>6}")
    if given.turns:
        for count in (10, 100, 1_000, 10_000):
            row(f"{count} iterations", ["--count", str(count)])
        return
    found = {name: r for name in given.names or PROGRAMS if (r := row(name, ["--one", name])) is not None}
    if given.plot:
        plot(found, given.plot)


if __name__ == "__main__":
    main()
