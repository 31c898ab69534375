"""A slice of the differential campaign, the interpreter that it rests on, and its reducer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))

import campaign
import interpreter
import programs
import stateful

pytestmark = pytest.mark.one_python

PROGRAMS = 210
JUMPS, LOOPS = ("break", "continue", "return"), ("while", "a range", "rows", "a static loop")


@pytest.mark.parametrize("part", range(7))
def test_programs_give_what_python_gives(part: int) -> None:
    size = PROGRAMS // 7
    tally = campaign.run(range(part * size, (part + 1) * size), seed=1)
    for p, failures in tally.reports:
        print(p.source, *failures, sep="\n")
    assert tally.different == 0
    assert tally.refused.total() <= 2, tally.refusals


@pytest.mark.parametrize("part", range(7))
def test_programs_with_state_give_what_python_gives(part: int) -> None:
    tally = campaign.run(range(part * 10, (part + 1) * 10), seed=1, kind="stateful")
    for p, failures in tally.reports:
        print(p.source, *failures, sep="\n")
    assert tally.different == 0
    assert tally.refused.total() <= 1, tally.refusals


@pytest.mark.parametrize(
    "number",
    [9163, 9720, 8619, 7653, 3621],
)
def test_programs_that_were_different(number: int) -> None:
    assert campaign.run([number], seed=700, kind="stateful").different == 0


@pytest.mark.parametrize("module", [programs, stateful])
def test_a_program_is_the_same_for_the_same_seed(module: Any) -> None:
    assert module.program(7, 3).source == module.program(7, 3).source != module.program(8, 3).source


def test_every_construct_is_generated() -> None:
    kinds = sum((programs.program(k).kinds for k in range(1000)), start=programs.Counter())
    deep = {f"{jump} in {loop}, depth {d}" for jump in JUMPS for loop in LOOPS for d in (1, 2, 3)}
    assert deep <= kinds.keys()
    assert min(kinds[kind] for kind in deep) >= 5 and min(n for kind, n in kinds.items() if kind not in deep) >= 20, kinds


def test_every_statement_about_state_is_generated() -> None:
    kinds = sum((stateful.program(k).kinds for k in range(400)), start=programs.Counter())
    assert min(kinds.values()) >= 5 and len(kinds) >= 25, kinds


def test_interpreting_gives_what_xla_gives() -> None:
    def f(a: Any, x: Any, v: Any) -> Any:
        def turn(i: Any, c: Any) -> Any:
            s, w = c
            s = jax.lax.cond(s > 3, lambda: s % 5 - 2, lambda: s + v[i % 3])
            return s, w.at[i % 2].add(s)

        total = jax.lax.scan(lambda c, r: (c * 2 + r, c), x, v)
        return jax.lax.fori_loop(0, a, turn, (x, jnp.zeros(2))), total, a // 2, jnp.flip(v)

    args = np.int32(5), np.float32(1.5), np.array([0.5, -2, 4], np.float32)
    for g, given in ((f, args), (jax.vmap(f), [np.stack([x, x + 1]) for x in args])):
        closed = jax.make_jaxpr(g)(*given)
        want = jax.tree.leaves(jax.jit(g)(*given))
        for got, w in zip(interpreter.run(closed, given), want, strict=True):
            np.testing.assert_array_equal(got, w)


def test_a_failing_program_is_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def f(a, b, x, y, v):\n    s = 0\n    for i in range(a):\n        s += 1\n    t = s * 2 + b\n    return (t, x)\n"
    p = programs.Program(0, source, programs.program(0).inputs)

    def jit(self: campaign.Runner) -> None:
        if "* 2" in self.p.source:
            self.failures.append(campaign.Failure("jit", 0, "1", "2"))

    monkeypatch.setattr(campaign.Runner, "jit", jit)
    small = campaign.reduced(p, campaign.Failure("jit", 0, "1", "2"), 20)
    assert "* 2" in small.source and "for" not in small.source and "t, x" in small.source
