"""The six workloads of the AutoGraph paper (Moldovan et al., 2019) under `ag.function`, over hand-written `lax`.

    python benchmarks/paper.py [NAME ...] [--size paper] [--rounds 7] [--counts]

Both programs run by turns in one process; the ratio of CPU times is taken within each round, and its median printed with the quartiles.  `--counts`
compiles both and prints what the optimised programs hold: loops, branches, copies, gathers, scatters, and the bytes that they access.
"""

from __future__ import annotations

import argparse
import importlib
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag

sys.path.insert(0, str(Path(__file__).parent))
NAMES = ("rnn", "beam_search", "lbfgs", "maml", "sgd_mnist", "seq2seq")
COUNTED = ("while", "conditional", "copy", "gather", "scatter", "dynamic-update-slice")


class Program(NamedTuple):
    """A workload: what is compiled, and its arguments."""

    ours: Any
    by_hand: Any
    args: tuple[Any, ...]
    static: dict[str, Any]
    close: Callable[[Any, Any], bool]


def program(name: str, size: str) -> Program:
    """A workload at one of its sizes ("check" is small)."""
    module = importlib.import_module(f"workloads.{name}")
    given = module.SIZES[size]
    static = module.static(**given)
    ours = ag.function(module.IMPERATIVE, static_argnames=tuple(static))
    by_hand = jax.jit(module.BY_HAND, static_argnames=tuple(static))

    def close(a: Any, b: Any) -> bool:
        left, right = jax.tree.leaves(a), jax.tree.leaves(b)
        rtol, atol = (t if isinstance(t, tuple) else (t,) * len(left) for t in (module.RTOL, module.ATOL))
        return len(left) == len(right) and all(np.allclose(*each) for each in zip(left, right, rtol, atol, strict=True))

    return Program(ours, by_hand, tuple(map(jnp.asarray, module.inputs(**given))), static, close)


def counts(compiled: Any) -> Counter[str]:
    """How often some instructions stand in an optimised program; `bytes` are those that XLA says it accesses, of loops one iteration."""
    text = compiled.as_text()
    found = Counter(name for name in re.findall(r"= \S+(?: \S+)* ([a-z-]+)\(", text) if name in COUNTED)
    cost = compiled.cost_analysis()
    found["bytes"] = int((cost[0] if isinstance(cost, list) else cost)["bytes accessed"])
    return found


def large_copies(compiled: Any, least: int) -> list[str]:
    """The copies of arrays of at least so many elements, but for the entry of the program."""
    found, inside = [], False
    for line in compiled.as_text().splitlines():
        if line.endswith("{") and not line.startswith(" "):
            inside = not line.startswith("ENTRY")
        match = re.search(r"= \w+\[([\d,]*)\]\S* copy\(", line)
        if inside and match and int(np.prod([int(n) for n in match[1].split(",") if n])) >= least:
            found.append(line.strip())
    return found


def compiled(p: Program) -> tuple[Any, Any]:
    """Our program, and that by hand."""
    return p.ours.lower(*p.args, **p.static).compile(), p.by_hand.lower(*p.args, **p.static).compile()


def timed(p: Program, rounds: int) -> list[float]:
    """The ratios of CPU time, one a round."""

    def sample(f: Any, times: int) -> float:
        start = time.process_time()
        for _ in range(times):
            jax.block_until_ready(f(*p.args, **p.static))
        return (time.process_time() - start) / times

    times = max(1, int(0.5 / max(sample(p.by_hand, 1), 1e-6)))
    out = []
    for k in range(rounds):
        first, second = (p.ours, p.by_hand) if k % 2 else (p.by_hand, p.ours)
        a, b = sample(first, times), sample(second, times)
        out.append(a / b if k % 2 else b / a)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--size", default="paper")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--counts", action="store_true")
    options = parser.parse_args()
    wrong = 0
    for name in options.names or NAMES:
        p = program(name, options.size)
        right = p.close(p.ours(*p.args, **p.static), p.by_hand(*p.args, **p.static))
        wrong += not right
        if options.counts:
            for which, found in zip(("ours", "by hand"), map(counts, compiled(p)), strict=True):
                print(f"{name:12} {which:8} {dict(sorted(found.items()))}", flush=True)
            continue
        ratios = sorted(timed(p, options.rounds))
        low, high = ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4]
        print(f"{name:12} {statistics.median(ratios):.2f} of hand-written JAX [{low:.2f} to {high:.2f}]{'' if right else '  DIFFERENT'}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main()))
