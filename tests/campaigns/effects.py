"""Random programs with Variables: eagerly and in `ag.function` they leave the same in them, in the same order.

python -m tests.campaigns.effects --count 2000 --seed 1 --jobs 2
"""

from __future__ import annotations

import argparse
import contextlib
import io
import linecache
import multiprocessing
import random
import sys
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag

_VARIABLES = ("a", "b", "c")
_INPUTS = (3, -2)


class Program:
    """The text of a function of `x` that reads and assigns three Variables of integers, one of which an object holds."""

    def __init__(self, seed: int, number: int) -> None:
        self._random = random.Random(f"{seed}/{number}")
        self._loops = 0
        lines = [f"    t = x + {self._pick(0, 3)}", *self._statements(2, 6, least=3), "    return t, a + b - o.c"]
        self.source = "def f(x):\n" + "\n".join(lines) + "\n"

    def _pick(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def _name(self) -> str:
        return self._random.choice(("a", "b", "o.c"))

    def _value(self) -> str:
        v, w = self._name(), self._name()
        return self._random.choice((f"{v} + {w}", f"{v} * 2 - t", f"({v} + x) % 7", f"t - {v}", f"abs({v})", f"{v}.value + {self._pick(1, 5)}"))

    def _test(self) -> str:
        v = self._name()
        return self._random.choice((f"{v} % 2 == 0", f"{v} > t", f"t < {self._pick(-3, 5)}", f"x > 0 and {v} < 9", f"not {v} > {self._pick(0, 9)}"))

    def _statements(self, depth: int, most: int, jumps: bool = False, least: int = 1) -> list[str]:
        return [line for _ in range(self._pick(least, most)) for line in self._statement(depth, jumps)]

    def _statement(self, depth: int, jumps: bool) -> Iterator[str]:
        kinds = ["assign", "add", "local", "sub", "print", "helper"]
        if depth:
            kinds += ["if", "while", "for", "static", "with", "else"]
        kind = self._random.choice(kinds)

        def block(depth: int, jumps: bool = False) -> list[str]:
            return ["    " + line for line in self._statements(depth, 3, jumps)]

        if kind == "assign":
            yield f"    {self._name()}.assign(({self._value()}) % 23)"
        elif kind in ("add", "sub"):
            yield f"    {self._name()}.assign_{kind}({self._random.choice(('1', 't', 'x', self._name()))})"
        elif kind == "local":
            yield f"    t = ({self._value()}) % 11"
        elif kind == "print":
            yield f"    print('at', {self._name()}, t)"
        elif kind == "helper":
            yield f"    t = bump({self._random.choice(('a', 'b', 'o.c'))}, t)"
        elif kind == "if":
            yield f"    if {self._test()}:"
            yield from block(depth - 1, jumps)
            if jumps and self._pick(0, 2) == 0:
                yield "        " + self._random.choice(("break", "continue"))
        elif kind == "else":
            yield f"    if {self._test()}:"
            yield from block(depth - 1)
            yield "    else:"
            yield from block(depth - 1)
        elif kind in ("while", "for", "static"):
            self._loops += 1
            i = f"i{self._loops}"
            if kind == "while":
                yield f"    {i} = 0"
                yield f"    while {i} < x % 4:"
                yield f"        {i} += 1"
            else:
                yield f"    for {i} in range({'x % 3 + 1' if kind == 'for' else self._pick(1, 3)}):"
            yield from block(depth - 1, jumps=True)
        else:
            yield "    with ag.GradientTape():"
            yield from block(depth - 1)


_PRELUDE = """
def bump(v, t):
    if v > t:
        v.assign_add(1)
    return t + v % 3

class O:
    pass

o = O()
"""


def _defined(program: Program, name: str) -> tuple[Any, list[Any]]:
    space: dict[str, Any] = {"ag": ag, "__name__": "effects"}
    text = _PRELUDE + program.source
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), space)
    variables = [ag.Variable(k + 1, name=n) for k, n in enumerate(_VARIABLES)]
    space["a"], space["b"], space["o"].c = variables
    return space["f"], variables


def _outcome(f: Any, variables: list[Any]) -> list[Any]:
    found: list[Any] = []
    for x in _INPUTS:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            result = f(jnp.int32(x))
            jax.effects_barrier()
        found.append(([int(y) for y in result], [int(np.asarray(v)) for v in variables], out.getvalue()))
    return found


def different(seed: int, number: int) -> str | None:
    """What is different in one program, or why it is refused; None if nothing is."""
    program = Program(seed, number)
    plain, variables = _defined(program, f"<effects {number}>")
    want = _outcome(plain, variables)
    compiled, variables = _defined(program, f"<effects {number}, staged>")
    try:
        got = _outcome(ag.function(compiled), variables)
    except ag.AutographError as error:
        return f"refused: {error.id} {error.message}\n{program.source}"
    return None if got == want else f"different: {got} for {want}\n{program.source}"


def _work(job: tuple[int, int]) -> str | None:
    return different(*job)


def _quick() -> None:
    jax.config.update("jax_disable_most_optimizations", True)


def run(numbers: range, seed: int, jobs: int = 1) -> list[str]:
    """The reports of programs that are different or refused."""
    if jobs == 1:
        return [report for n in numbers if (report := different(seed, n)) is not None]
    with multiprocessing.get_context("spawn").Pool(jobs, _quick, maxtasksperchild=250) as pool:
        found = []
        for k, report in enumerate(pool.imap(_work, ((seed, n) for n in numbers), 10)):
            if report is not None:
                found.append(report)
                print(report, flush=True)
            if k % 100 == 99:
                print(f"{k + 1} of {len(numbers)}", file=sys.stderr, flush=True)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.effects", description="Run random programs with Variables.")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    found = run(range(given.first, given.first + given.count), given.seed, given.jobs)
    refused = sum(r.startswith("refused") for r in found)
    print(f"{given.count} programs, seed {given.seed}: refused {refused}, different {len(found) - refused}")


if __name__ == "__main__":
    main()
