"""Rules 26 to 30 of `docs/semantics.md`, effects, errors and exits: what works, and what is refused without giving a number."""

from __future__ import annotations

import contextlib
import io
import logging
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


def refused(f: Callable[..., Any], *args: Any) -> ag.AutographError:
    with pytest.raises(ag.AutographError) as caught:
        f(*args)
    return caught.value


def printed(f: Callable[..., Any], *args: Any) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        jax.block_until_ready(f(*args))
        jax.effects_barrier()
    return out.getvalue()


# --- 26: host effects ---------------------------------------------------------------------------------------------------------------------------


def test_26_print_in_program_order_on_the_taken_side() -> None:
    def f(v: Any) -> Any:
        print("begin", v.shape)
        for i, x in enumerate(v):
            if x > 1:
                print(f"{i}: {x:.2f}", end=";\n")
            else:
                print(i, "small", sep="-")
        print("end", v.sum())
        return v.sum()

    v = np.array([0.5, 2.0, 1.5], np.float32)
    want = printed(f, v)
    g = ag.function(f)
    assert printed(g, jnp.array(v)) == want == printed(g, jnp.array(v))


def test_26_logging_and_append() -> None:
    logger, records = logging.getLogger("rule 26"), []
    handler = logging.Handler()
    handler.emit = lambda r: records.append(r.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)

    @ag.function
    def f(x: Any) -> Any:
        if x > 0:
            logger.info("x is %s", x)
        return x

    for x in (1.5, -1.5, 2.5):
        f(x)
    jax.effects_barrier()
    assert records == ["x is 1.5", "x is 2.5"]


@pytest.mark.parametrize(
    "effect",
    [lambda: random.random(), lambda: time.time(), lambda: np.random.rand(), lambda: open("no such file"), lambda: input()],
    ids=["random", "time", "np.random", "open", "input"],
)
def test_26_others_in_staged_blocks_are_refused(effect: Callable[[], Any]) -> None:
    @ag.function
    def f(x: Any) -> Any:
        y = 0.0
        if x > 0:
            y = effect()
        return y

    assert refused(f, -1.0).id == "AG405"


def test_26_next_of_an_iterator_from_outside_is_refused() -> None:
    it = iter([1, 2])

    @ag.function
    def f(x: Any) -> Any:
        if x > 0:
            return next(it)
        return 0

    assert refused(f, -1.0).id == "AG405" and next(it) == 1


# --- 27: raise and assert -----------------------------------------------------------------------------------------------------------------------
# tests/calls/test_transforms.py has those under transformations.


def test_27_the_first_in_program_order_wins_and_nothing_follows() -> None:
    @ag.function
    def f(v: Any) -> Any:
        total = 0.0
        for i, x in enumerate(v):
            if x < 0:
                raise ValueError(f"item {i} is {x}")
            print("took", i)
            total += x
        assert total < 10, total
        return total

    assert f(jnp.array([1.0, 2.0])) == 3
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(ValueError, match=r"item 1 is -2\.0"):
        f(jnp.array([1.0, -2.0, -3.0]))
    jax.effects_barrier()
    assert out.getvalue() == "took 0\n"
    with pytest.raises(AssertionError) as caught:
        f(jnp.array([1.0, 10.0]))
    assert str(caught.value) == "11.0"


def test_27_state_before_an_error_stays_and_after_it_does_not() -> None:
    class Account:
        balance, fees = 10.0, 0.0

        @ag.function
        def pay(self, x: Any) -> Any:
            self.fees += 1.0
            if x > self.balance:
                raise ValueError("too much")
            self.balance -= x
            return self.balance

    a = Account()
    assert a.pay(4.0) == 6
    with pytest.raises(ValueError, match="too much"):
        a.pay(7.0)
    assert (float(a.balance), float(a.fees)) == (6, 2)


LEVEL = 1


def test_27_a_global_that_a_branch_in_a_branch_would_change() -> None:
    def f(a: Any, b: Any, x: Any) -> Any:
        global LEVEL
        if x == x:
            if a + LEVEL > 3:
                raise RuntimeError(f"bad {a}")
            else:
                LEVEL, b = b, LEVEL
        return x

    global LEVEL
    for a, want in ((3, 1), (1, 7)):
        LEVEL = 1
        if a == 3:
            with pytest.raises(RuntimeError, match="bad 3"):
                ag.function(f)(jnp.int32(a), jnp.int32(7), jnp.float32(2.0))
        else:
            ag.function(f)(jnp.int32(a), jnp.int32(7), jnp.float32(2.0))
        assert int(LEVEL) == want


def test_27_a_program_without_checks_gets_no_equation() -> None:
    def f(x: Any) -> Any:
        return jnp.sin(x) if x.ndim == 0 else x

    assert [e.primitive.name for e in ag.function(f).trace(jnp.array(1.0)).jaxpr.eqns] == ["sin"]


# --- 28: text -----------------------------------------------------------------------------------------------------------------------------------


def test_27_deferred_checks_are_read_by_the_next_call() -> None:
    @ag.function(checks="deferred")
    def root(x: Any) -> Any:
        if x < 0:
            raise ValueError(f"root of {x}")
        return x**0.5

    assert float(root(4.0)) == 2.0
    root(-4.0)
    with pytest.raises(ValueError, match="root of -4.0") as caught:
        root(9.0)
    assert caught.traceback[-1].name == "root" and "an earlier call of" in caught.value.__notes__[0]
    assert float(root(9.0)) == 3.0
    ag.check()
    root(-1.0)
    root.lower(1.0)
    with pytest.raises(ValueError, match="root of -1.0"):
        ag.check()
    ag.check()
    jax.grad(root)(-2.0)
    with pytest.raises(ValueError, match="root of -2.0"):
        ag.check()
    with pytest.raises(ValueError, match="root of -3.0"):  # who calls it looks at once
        ag.function(lambda x: root(x) + 1)(-3.0)
    with pytest.raises(ValueError, match='"immediate" or "deferred", not'):
        ag.function(checks="never")(lambda x: x)


def test_27_deferred_checks_of_a_function_with_state() -> None:
    class Counter:
        def __init__(self) -> None:
            self.n: Any = 0.0

        @ag.function(checks="deferred")
        def step(self, x: Any) -> Any:
            self.n += 1
            assert x > 0, "too small"
            self.n += x
            return self.n

    counter = Counter()
    assert float(counter.step(1.0)) == 2.0
    counter.step(-1.0)
    assert float(counter.n) == 3.0
    with pytest.raises(AssertionError, match="too small"):
        counter.step(1.0)
    assert float(counter.n) == 3.0 and float(counter.step(1.0)) == 5.0


def test_27_a_deferred_error_that_nobody_reads_is_told_at_the_end(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import autograph as ag\n"
        "@ag.function(checks='deferred')\n"
        "def f(x):\n"
        "    assert x > 0, 'too small'\n"
        "    return x\n"
        "f(-1.0)\n"
    )  # fmt: skip
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert done.stderr.count("Traceback") == 1 and "line 4, in f" in done.stderr and "AssertionError: too small" in done.stderr
    assert "autograph/runtime" not in done.stderr.replace("\\", "/")


def test_28_text_is_made_when_the_values_are_known() -> None:
    def f(x: Any) -> Any:
        print(f"{x:.1f}|{x!r:>5}|" + "%s %d" % (x, 3) + "|{:.2f}".format(x))  # noqa: UP031, UP032
        if x < 0:
            raise ValueError("%.1f is negative" % x)  # noqa: UP031
        return x

    g = ag.function(f)
    assert printed(g, jnp.float32(1.25)).startswith("1.2|")
    with pytest.raises(ValueError) as caught:
        g(-2.5)
    assert str(caught.value) == "-2.5 is negative"


def test_28_its_characters_are_refused() -> None:
    @ag.function
    def f(x: Any) -> Any:
        return len(f"{x}")

    assert refused(f, 1.0).id == "AG502"


# --- 29: try, finally, with ---------------------------------------------------------------------------------------------------------------------


def test_29_they_run_while_tracing() -> None:
    seen: list[str] = []

    @contextlib.contextmanager
    def around(name: str) -> Any:
        seen.append("enter " + name)
        yield
        seen.append("leave " + name)

    def f(x: Any) -> Any:
        with around("a"):
            try:
                y = x * 2 if x > 0 else x
            finally:
                seen.append("finally")
        return y

    assert jax.jit(ag.convert(f))(2.0) == 4 and seen == ["enter a", "finally", "leave a"]


def test_29_an_except_around_a_staged_raise_is_refused() -> None:
    @ag.function
    def f(x: Any) -> Any:
        try:
            if x > 0:
                raise ValueError
        except ValueError:
            return -1.0
        return x

    assert refused(f, -1.0).id == "AG404"


@pytest.mark.parametrize("make", [threading.Lock, tempfile.TemporaryFile, lambda: open(__file__)], ids=["lock", "temporary", "file"])
def test_29_locks_and_files_in_a_staged_block_are_refused(make: Callable[[], Any]) -> None:
    held = make()

    @ag.function
    def f(x: Any) -> Any:
        if x > 0:
            with held:
                x = x + 1
        return x

    @ag.function
    def around(x: Any) -> Any:
        with held:
            if x > 0:
                x = x + 1
        return x

    assert refused(f, -1.0).id == "AG405"
    assert around(1.0) == 2


# --- 30: recursion ------------------------------------------------------------------------------------------------------------------------------


def test_30_recursion_on_static_structure_works() -> None:
    def power(x: Any, n: int) -> Any:
        if n == 0:
            return x * 0 + 1
        half = power(x, n // 2)
        return half * half * x if n % 2 else half * half

    assert ag.function(power, static_argnums=1)(3.0, 5) == 243


def test_30_recursion_under_a_traced_condition_is_refused() -> None:
    @ag.convert
    def collatz(n: Any) -> Any:
        if n <= 1:
            return 0
        return 1 + collatz(n // 2)

    error = refused(ag.function(collatz), 8)
    assert error.id == "AG501" and "collatz" in str(error)


@pytest.mark.parametrize("form", [ag.convert, ag.function])
def test_a_format_in_a_format(form: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any, width: int = 8) -> Any:
        digits = 2
        print(f"{3:>{width}}|{x:{width}.{digits}f}|{{{'a':<{width - 5}}}}")
        return x

    form(f)(1.5)
    jax.effects_barrier()
    assert capsys.readouterr().out == "       3|    1.50|{a  }\n"
