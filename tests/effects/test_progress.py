"""`ag.progress`, and `tqdm` around loops that are compiled."""

from __future__ import annotations

import io
import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag

tqdm = pytest.importorskip("tqdm", reason="tqdm is not installed")


def counts(text: str) -> list[str]:
    return re.findall(r"\d+/\d+", text)


def ran(f: Any, *args: Any) -> Any:
    out = jax.block_until_ready(f(*args))
    jax.effects_barrier()
    return out


def test_a_range_with_a_traced_end() -> None:
    out = io.StringIO()

    @ag.function
    def f(n: Any) -> Any:
        s = 0.0
        for i in ag.progress(range(2, n, 2), every=2, desc="sum", file=out):
            s += i
        return s

    assert ran(f, 12) == 30
    assert counts(out.getvalue()) == ["2/5", "4/5", "5/5"]
    assert out.getvalue().startswith("sum: 2/5 (40 %), ")
    ran(f, 6)  # every call tells, and nothing is compiled again
    assert counts(out.getvalue())[3:] == ["2/2"]
    assert ran(f, 2) == 0 and len(counts(out.getvalue())) == 4


@pytest.mark.parametrize("n", [3, 3000])
def test_a_known_range(n: int) -> None:
    out = io.StringIO()

    @ag.function
    def f(x: Any) -> Any:
        for _ in ag.progress(range(n), every=n // 3, file=out):
            x = jnp.sin(x) + 1.0
        return x

    def want(x: Any) -> Any:
        for _ in range(n):
            x = jnp.sin(x) + 1.0
        return x

    assert abs(ran(f, 0.5) - want(0.5)) < 1e-5
    assert counts(out.getvalue()) == [f"{n // 3}/{n}", f"{2 * (n // 3)}/{n}", f"{n}/{n}"]
    assert len(str(f.trace(0.5).jaxpr)) < 20_000  # a long one is rolled


def test_rows_pairs_and_lists() -> None:
    out = io.StringIO()

    @ag.function
    def f(v: Any) -> Any:
        s = 0.0
        for x in ag.progress(v, every=2, file=out):
            s += x
        for i, x in ag.progress(enumerate(v), every=3, file=out):
            s += i * x
        for x in ag.progress([v[0], v[1]], file=out):
            s += x
        return s

    assert ran(f, jnp.arange(4.0)) == 6 + 14 + 1
    assert counts(out.getvalue()) == ["2/4", "4/4", "3/4", "4/4", "1/2", "2/2"]
    out.truncate(0)
    assert jax.grad(f)(jnp.arange(4.0))[1] == 1 + 1 + 1  # a scan still


def test_break_and_values() -> None:
    out = io.StringIO()

    @ag.function
    def f(v: Any) -> Any:
        total = 0.0
        bar = ag.progress(v, every=1, file=out)
        for x in bar:
            total += x
            bar.set_postfix(total=total)
            if total > 2:
                break
        return total

    assert ran(f, jnp.arange(5.0)) == 3
    assert [x.partition(" s")[2] for x in out.getvalue().splitlines()] == ["", ", total=0", ", total=1"] or "total=" in out.getvalue()
    assert counts(out.getvalue())[:2] == ["1/5", "2/5"]


def test_without_a_trace_it_is_a_plain_loop() -> None:
    out = io.StringIO()

    @ag.convert
    def f(n: int) -> list[int]:
        return [i for i in ag.progress(range(n), every=2, file=out)]

    assert f(5) == [0, 1, 2, 3, 4]
    assert counts(out.getvalue()) == ["2/5", "4/5", "5/5"]
    assert len(ag.progress(range(3))) == 3
    with pytest.raises(ValueError, match="every is a positive number of iterations"):
        ag.progress(range(3), every=0)


def test_lanes_tell_once() -> None:
    out = io.StringIO()

    def f(x: Any) -> Any:
        for _ in ag.progress(range(40), every=20, file=out):
            x = x + 1.0
        return x

    assert list(ran(jax.jit(jax.vmap(ag.convert(f))), jnp.arange(3.0))) == [40, 41, 42]
    assert counts(out.getvalue()) == ["20/40", "40/40"]


def test_tqdm_around_a_staged_loop() -> None:
    out = io.StringIO()

    @ag.function
    def f(n: Any) -> Any:
        s = 0.0
        for i in tqdm.tqdm(range(n), desc="turns", file=out, mininterval=0):
            s += i
        for _ in tqdm.trange(n, file=out, mininterval=0):
            s += 1.0
        return s

    assert ran(f, 4) == 10
    text = out.getvalue()
    assert "turns: 100%" in text and text.count("4/4") >= 2
    assert ran(f, 5) == 15 and "5/5" in out.getvalue()


def test_tqdm_elsewhere_is_itself() -> None:
    out = io.StringIO()

    @ag.function
    def f(x: Any) -> Any:
        names = [name for name in tqdm.tqdm(iter("ab"), file=out)]
        return x + len(names)

    assert ran(f, 1) == 3 and "2it" in out.getvalue()
