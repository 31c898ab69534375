"""Differentiate random programs in reverse mode, and compare with dual numbers and with central differences.

    python tests/differential/derivatives.py --programs 2000 --second 200 --seed 0 --jobs 2

The truth is the unconverted function on Python's numbers, in double precision: its directional derivative by dual numbers (forward), and by
`(f(x + h d) - f(x - h d)) / 2h`.  The gradient of the compiled program, applied to the same direction, must equal both.  In second order the
derivative of that in another direction is compared with the central difference of the dual numbers' derivative.  A point where a predicate is
within 1e-4 of coming out otherwise, or where a number is large, is drawn again, and counted.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import smooth
from campaign import load
from duals import Dual, dual
from outcomes import SECONDS, in_processes, limit
from programs import Program

import autograph as ag
from autograph.runtime.effects.error_codes import Checked
from autograph.runtime.effects.output_values import Packed

CHUNK = 100
STEP = 1e-6
NEAR = 1e-4
TRIES = 20


@dataclass
class Tally:
    """The sums of a run."""

    programs: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    again: int = 0
    without: int = 0  # programs of which no point was far enough from every predicate
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.programs += other.programs
        self.again += other.again
        self.without += other.without
        self.wrong += other.wrong
        self.compared += other.compared
        self.kinds += other.kinds
        self.refused += other.refused


def total(out: Any) -> Any:
    """The sum of the floating-point numbers of a result, as one output to differentiate."""
    if isinstance(out, jax.Array):
        return out.sum()
    if isinstance(out, (tuple, list)) or (isinstance(out, np.ndarray) and out.ndim):
        parts = [total(x) for x in out]
        return sum(parts[1:], parts[0]) if parts else 0.0
    return 0.0 if out is None else out


def moved(args: Sequence[Any], direction: Sequence[Any], by: float) -> list[Any]:
    a, b, x, y, v = args
    dx, dy, dv = direction
    return [a, b, x + by * dx, y + by * dy, v + by * dv]


def directional(f: Any, args: Sequence[Any], direction: Sequence[Any]) -> Dual:
    """The value of a program, and its derivative in a direction."""
    a, b, x, y, v = args
    dx, dy, dv = direction
    rows = [Dual(float(e), float(t)) for e, t in zip(v, dv, strict=True)]
    with limit(SECONDS):
        return dual(total(f(int(a), int(b), Dual(float(x), float(dx)), Dual(float(y), float(dy)), rows)))


def direction(rng: random.Random, rows: int) -> tuple[float, float, Any]:
    return rng.uniform(-1, 1), rng.uniform(-1, 1), np.array([rng.uniform(-1, 1) for _ in range(rows)])


def far(f: Any, p: Program, rng: random.Random, tally: Tally) -> Iterator[tuple[Any, ...]]:
    """Inputs that are far from where a predicate changes."""
    for first in p.inputs:
        args = first
        for _ in range(TRIES):
            Dual.nearest = math.inf
            out = directional(f, args, direction(rng, len(args[4])))
            if Dual.nearest > NEAR and abs(out.x) < 1e6 and abs(out.t) < 1e6:
                yield args
                break
            tally.again += 1
            args = smooth.inputs(rng, len(first[4]))


def differ(got: float, want: float, tolerance: float) -> bool:
    return not abs(got - want) <= tolerance * max(1.0, abs(want))


def check(p: Program, second: bool, tally: Tally) -> None:
    """Compare the derivatives of one program."""
    rng = random.Random(p.number)
    f = load(p, jnp=smooth.NAMES)
    compiled = ag.function(load(p))._jitted

    def value(x: Any, y: Any, v: Any, a: Any, b: Any) -> Any:
        return total(result_of(compiled(a, b, x, y, v))) * 1.0

    gradient = jax.jit(jax.value_and_grad(value, (0, 1, 2)))

    def along(args: tuple[Any, ...], d: tuple[Any, ...], a: Any, b: Any) -> Any:
        g = jax.grad(value, (0, 1, 2))(*args, a, b)
        return sum((e * t).sum() for e, t in zip(g, d, strict=True))

    twice = jax.jit(lambda args, d, e, a, b: jax.jvp(lambda args: along(args, d, a, b), (args,), (e,))[1])
    try:
        points = list(far(f, p, rng, tally))
    except NameError:  # a jump has skipped what the generator took for set
        points = []
    tally.without += not points
    for args in points:
        a, b, x, y, v = args
        d, e = direction(rng, len(v)), direction(rng, len(v))
        exact = directional(f, args, d)
        got, g = gradient(x, y, v, a, b)
        reverse = float(sum((k * t).sum() for k, t in zip(g, map(np.asarray, d), strict=True)))
        steps = [directional(f, moved(args, d, s * STEP), d).x for s in (1, -1)]
        central = (steps[0] - steps[1]) / (2 * STEP)
        tally.compared["first"] += 1
        if differ(float(got), exact.x, 1e-9) or differ(reverse, exact.t, 1e-8) or differ(reverse, central, 1e-4):
            tally.wrong.append(f"first order: value {got} of {exact.x}; reverse {reverse}, dual {exact.t}, central {central}\n{args} {d}\n{p.source}")
            return
        if second:
            near = [directional(f, moved(args, e, s * 1e-5), d).t for s in (1, -1)]
            want = (near[0] - near[1]) / 2e-5
            mixed = float(twice((x, y, v), tuple(map(np.asarray, d)), tuple(map(np.asarray, e)), a, b))
            tally.compared["second"] += 1
            if differ(mixed, want, 1e-4):
                tally.wrong.append(f"second order: {mixed}, central {want}\n{args} {d} {e}\n{p.source}")
                return


def result_of(out: Any) -> Any:
    """The result of a compiled program, of which the error code is not asked."""
    value = out.value if isinstance(out, Checked) else out
    return jax.tree.map(
        lambda x: jax.numpy.where(x.tag > 0, 0.0, x.value) if isinstance(x, Packed) and x.value is not None else x,
        value,
        is_leaf=lambda x: isinstance(x, Packed),
    )


def run(numbers: Sequence[int], seed: int, second: int) -> Tally:
    """Check some programs; those below `second` in second order as well."""
    jax.config.update("jax_enable_x64", True)
    tally = Tally()
    for number in numbers:
        p = smooth.program(number, seed)
        tally.programs += 1
        tally.kinds += p.kinds
        try:
            with limit(10 * SECONDS):
                check(p, number < second, tally)
        except ag.AutographError as error:
            tally.refused[error.id] += 1
        except Exception as error:
            end = "".join(traceback.format_exception(error)[-4:])
            tally.wrong.append(f"{type(error).__name__}: {error}\n{p.source}\n{end}")
    return tally


def campaign(count: int, second: int, seed: int = 0, jobs: int = 1, first: int = 0) -> Tally:
    """Check the programs `first` to `first + count`, in processes that end after some of them."""
    tally = Tally()
    for part in in_processes(run, range(first, first + count), CHUNK, jobs, seed, second):
        tally.add(part)
        print(f"\r{tally.programs} programs, {len(tally.wrong)} wrong", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--second", type=int, default=200, help="how many of them in second order as well")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    start = time.monotonic()
    tally = campaign(options.programs, options.second, options.seed, options.jobs, options.first)
    for text in tally.wrong[:5]:
        print("---", text, sep="\n")
    print(f"seed {options.seed}, {tally.programs} programs, {time.monotonic() - start:.0f} s")
    print("points compared: " + ", ".join(f"{order} order {n}" for order, n in tally.compared.items()))
    print(f"points drawn again: {tally.again}; programs without a point: {tally.without}")
    print("constructs: " + ", ".join(f"{name} {n}" for name, n in tally.kinds.most_common()))
    refused = tally.refused.total()
    print(f"refused {refused} ({refused / max(1, tally.programs):.2%}) {dict(tally.refused)}, wrong {len(tally.wrong)}")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
