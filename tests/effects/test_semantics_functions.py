"""Rules 31 to 42 of `docs/semantics.md`, functions, calls and caches: what works, and what is refused without giving a number."""

from __future__ import annotations

import copy
import enum
import functools
import gc
import inspect
import itertools
import operator
import pickle
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.sourced import define


def refused(f: Callable[..., Any], *args: Any) -> ag.AutographError:
    with pytest.raises(ag.AutographError) as caught:
        f(*args)
    return caught.value


# --- 31: moved code -----------------------------------------------------------------------------------------------------------------------------


class _Base:
    def shift(self, x: Any) -> Any:
        return x + 10

    __rate = 3.0


class _Child(_Base):
    __rate = 5.0

    def shift(self, x: Any) -> Any:
        if x > 0:
            x = super().shift(x) * self.__rate
        return x

    def cls(self, x: Any) -> Any:
        if x > 0:
            return x * (1 if __class__ is _Child else 0)  # noqa: F821
        return x


def test_31_super_private_names_and_the_class_cell() -> None:
    c = _Child()
    assert ag.function(lambda x: c.shift(x))(1.0) == 55
    assert ag.function(lambda x: c.cls(x))(2.0) == 2


def test_31_defaults_and_decorators_are_evaluated_once() -> None:
    count = itertools.count()

    def counted(f: Any) -> Any:
        next(count)
        return f

    @ag.function
    @counted
    def f(x: Any, y: Any = next(count)) -> Any:
        return x + y if x > 0 else x

    assert f(1.0) == 1 + f.__defaults__[0] and next(count) == 2


def test_31_a_walrus_in_a_lazy_operand() -> None:
    def f(x: Any) -> Any:
        if x > 0 and (y := x * 2) > 3:
            return y
        return (z := x - 1) + z

    for x in (1.0, 2.0, -1.0):
        assert ag.function(f)(x) == f(x)


# --- 32, 34: what is planted, and one text -------------------------------------------------------------------------------------------------------


def test_32_a_users_ag_and_locals_are_the_users() -> None:
    f = define("""
    def f(x, ag=2.0):
        names = sorted(locals())
        y = x * ag if x > 0 else x
        return y, names
    """)
    value, names = ag.convert(f)(3.0)
    assert value == 6 and names == ["ag", "x"]
    assert "ag_" in ag.to_code(define("def f(x, ag=2.0):\n    return x * ag if x > 0 else x\n"))


def test_32_an_executed_namespace_is_freed() -> None:
    class Token:
        pass

    token = Token()
    f = define("def f(x):\n    return x if x > 0 else token", "f", token=token)
    ag.convert(f)(1.0)
    alive = weakref.ref(token)
    del f, token
    gc.collect()
    assert alive() is None


def test_34_the_printed_text_is_what_runs(tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    source.write_text("import autograph as ag\n\n\n@ag.function\ndef f(x):\n    while x > 1:\n        x = x / 2\n    return x\n")
    shown = subprocess.run([sys.executable, "-m", "autograph", "show", f"{source}:f"], capture_output=True, text=True, check=True).stdout
    spec = {"__name__": "program"}
    exec(compile(source.read_text(), str(source), "exec"), spec)
    assert ag.to_code(spec["f"]).strip() in shown


# --- 33: names from bytecode --------------------------------------------------------------------------------------------------------------------


def test_33_errors_name_the_variable_and_the_line() -> None:
    def f(v: Any, n: Any) -> Any:
        total = jnp.zeros(2)
        for k in range(n):
            total = jnp.append(total, v[k])
        return total

    error = refused(ag.function(f), jnp.ones(3), 3)
    assert "`total`" in str(error) and str(f.__code__.co_firstlineno + 3) in str(error)


def test_33_callables_without_code_have_numbers() -> None:
    import autograph.runtime as rt

    grow = functools.partial(lambda k, x, y: (x, jnp.append(y, k)), 1.0)
    with pytest.raises(ag.AutographError, match=r"`state\[1\]`"):
        jax.jit(lambda x, y: rt.while_loop(functools.partial(lambda x, y: x < 3), grow, x, y))(1, jnp.ones(1))


# --- 35: twins ----------------------------------------------------------------------------------------------------------------------------------


def test_35_a_callee_has_one_twin_that_dies_with_it() -> None:
    big = jnp.ones(3)

    def make() -> Callable[[Any], Any]:
        held = big + 0

        def g(x: Any) -> Any:
            return x * held.sum() if x > 0 else x

        return g

    g = make()
    f = ag.function(lambda h, x: h(x))
    assert f(g, 2.0) == 6
    alive = weakref.ref(g)
    f.clear_cache()
    del g
    gc.collect()
    assert alive() is None


def test_35_the_twin_is_nobodys_in_a_copy() -> None:
    def g(x: Any) -> Any:
        return x if x > 0 else -x

    ag.convert(lambda x: g(x))(1.0)

    @functools.wraps(g)
    def other(x: Any) -> Any:
        return g(x) + 1

    assert ag.function(other)(-2.0) == 3


# --- 36: functions that are handed on -----------------------------------------------------------------------------------------------------------


def test_36_functions_that_call_their_argument_get_the_twin() -> None:
    def half(x: Any) -> Any:
        return x / 2 if x > 1 else x

    def f(x: Any) -> Any:
        b = functools.reduce(lambda s, y: s + half(y), [x, x + 1], 0.0)
        c = sum(map(half, (x, -x)))
        d = functools.partial(half, x)()
        e = sorted([x, -x], key=half)[0]
        m = max(x, -x, key=half)
        return b, c, d, e, m

    jax.tree.map(np.testing.assert_allclose, ag.function(f)(5.0), f(5.0))
    assert ag.function(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: half(x), x))(5.0) == 0.625


@pytest.mark.parametrize("best", [max, min])
@pytest.mark.parametrize("x", [1.0, -3.0, 2.0])
def test_36_a_key_is_called_once_for_each_value_in_their_order(best: Any, x: float) -> None:
    def of_list(x: Any) -> Any:
        seen = []

        def key(v: Any) -> Any:
            seen.append(v)
            return abs(v)

        return best([x, 2.0, x + 1], key=key), best(x, -x, key=key), best((x,), key=key), jnp.stack(seen)

    def of_rows(v: Any) -> Any:
        turns, weighed = 0, 0.0

        def key(a: Any) -> Any:
            nonlocal turns, weighed
            turns += 1
            weighed += turns * a
            return a * a

        return best(v, key=key), max((a + 1 for a in v if a < 2), key=key, default=5.0), turns, weighed

    jax.tree.map(np.testing.assert_allclose, ag.function(of_list)(x), of_list(jnp.float32(x)))
    for n in (0, 2, 9):
        v = x + jnp.arange(1, n + 1) % 4
        if n:
            jax.tree.map(np.testing.assert_allclose, ag.function(of_rows)(v), of_rows(v))
        else:
            for f in (of_rows, ag.function(of_rows)):
                with pytest.raises(ValueError, match="empty"):
                    f(v)


def test_36_functions_that_keep_their_argument_get_it_as_it_is() -> None:
    def g(x: Any) -> Any:
        return x

    seen: list[Any] = []

    @ag.convert
    def f(x: Any) -> Any:
        thread = __import__("threading").Thread(target=g, args=(x,))
        seen.append(thread._target)
        return x

    f(1.0)
    assert seen == [g]


def test_36_a_jitted_function_is_converted() -> None:
    @jax.jit
    def g(x: Any) -> Any:
        return x if x > 0 else -x

    assert ag.function(lambda x: g(x))(-1.0) == 1 and ag.convert(lambda x: g(x))(-1.0) == 1
    with pytest.raises(jax.errors.TracerBoolConversionError):
        g(1.0)  # itself it is what it was


# --- 37: wrappers of libraries ------------------------------------------------------------------------------------------------------------------


def test_37_wrappers_of_libraries() -> None:
    def f(x: Any) -> Any:
        return x if x > 0 else -x

    assert refused(ag.function, functools.lru_cache(f)).id == "AG104"
    assert ag.function(jax.jit(f))(-2.0) == 2 and jax.jit(ag.convert(jax.jit(f)))(-2.0) == 2
    assert ag.function(jax.vmap(f))(jnp.array([-1.0, 2.0])).tolist() == [1, 2]
    assert jax.vmap(ag.function(f))(jnp.array([-1.0, 2.0])).tolist() == [1, 2]
    for converted in (ag.convert(f), f):
        assert ag.function(jax.grad(converted))(-3.0) == -1 and ag.function(jax.value_and_grad(converted))(2.0) == (2, 1)


# --- 38: arguments ------------------------------------------------------------------------------------------------------------------------------


class Mode(enum.Enum):
    UP = 1
    DOWN = 2


def test_38_static_leaves_and_functions() -> None:
    traces = itertools.count()

    @ag.function
    def f(x: Any, options: Any, by: Any = None, kind: Any = float) -> Any:
        next(traces)
        if options["mode"] is Mode.UP:
            x = x + options["amount"]
        return by(x) if by is not None else kind(0) + x

    double = lambda x: x * 2 if x > 0 else x
    assert f(1.0, {"mode": Mode.UP, "amount": 2.0}) == 3
    assert f(1.0, {"mode": Mode.UP, "amount": 5.0}) == 6 and next(traces) == 1
    assert f(1.0, {"mode": Mode.DOWN, "amount": 2.0}) == 1
    assert f(1.0, {"mode": Mode.DOWN, "amount": 2.0}, double) == 2
    assert f(4.0, {"mode": Mode.DOWN, "amount": 2.0}, double) == 8 and next(traces) == 4


def test_38_options_of_jit_are_in_the_users_positions() -> None:
    class Sum:
        total = 0.0

        @ag.function(static_argnums=2, static_argnames=("n", "name"))
        def add(self, x: Any, n: int, name: str = "a") -> Any:
            for _ in range(n):
                self.total += x
            return self.total if name == "a" else -self.total

    s = Sum()
    assert s.add(1.0, 3) == 3 and s.add(1.0, 2, name="b") == -5 and s.add(1.0, n=1) == 6

    @ag.function(donate_argnums=1)
    def f(x: Any, y: Any) -> Any:
        return y + x if x > 0 else y

    y = jnp.ones(4)
    assert f(1.0, y).tolist() == [2, 2, 2, 2]


# --- 39: self -----------------------------------------------------------------------------------------------------------------------------------


class Net:
    def __init__(self, w: Any, rate: float = 1.0) -> None:
        self.w, self.rate, self.h = w, rate, 0.0

    @ag.function
    def __call__(self, x: Any) -> Any:
        self.h += x * self.rate
        return self.h * self.w

    @ag.function
    def leak(self, x: Any) -> Any:
        _BOARD.seen = x + self.w
        return x


class _Board:
    __slots__ = ("seen",)


_BOARD = _Board()


def test_39_written_read_and_guarded_attributes() -> None:
    traces = itertools.count()

    class Traced(Net):
        @ag.function
        def run(self, x: Any) -> Any:
            next(traces)
            self.h += x * self.rate
            return self.h * self.w

    n = Traced(jnp.array(1.0))
    assert [float(n.run(1.0)) for _ in range(3)] == [1, 2, 3]
    before = next(traces)
    n.w = jnp.array(10.0)
    assert n.run(1.0) == 40 and next(traces) == before + 1  # not traced again
    n.rate = 2.0
    assert n.run(1.0) == 60 and next(traces) == before + 3  # traced again, once


def test_39_the_instance_is_freed() -> None:
    n = Net(jnp.array(1.0))
    n(1.0)
    alive = weakref.ref(n)
    del n
    gc.collect()
    assert alive() is None


def test_39_no_tracer_is_left_in_another_object() -> None:
    n = Net(jnp.array(1.0))
    n.leak(1.0)
    assert not isinstance(_BOARD.seen, jax.core.Tracer) and float(_BOARD.seen) == 2


def test_39_a_tracer_of_plain_jit_is_refused_or_jaxs_own_leak() -> None:
    n = Net(jnp.array(1.0))

    @jax.jit
    @ag.convert
    def f(v: Any) -> Any:
        for x in v:
            n.h = n.h + x
        return n.h

    assert f(jnp.array([1.0, 2.0])) == 3


# --- 40: the object -----------------------------------------------------------------------------------------------------------------------------


@ag.function
def absolute(x: Any, /, *, scale: Any = 1.0) -> Any:
    """The absolute value."""
    return x * scale if x > 0 else -x * scale


def test_40_what_it_can_do() -> None:
    assert absolute.__doc__ == "The absolute value." and list(inspect.signature(absolute).parameters) == ["x", "scale"]
    assert "while" not in absolute.lower(1.0).as_text() and absolute.eval_shape(1.0).shape == ()
    assert absolute.trace(1.0).jaxpr is not None
    assert copy.deepcopy(absolute) is absolute and pickle.loads(pickle.dumps(absolute)) is absolute
    assert jax.vmap(absolute)(jnp.array([-1.0, 2.0])).tolist() == [1, 2]
    assert jax.grad(absolute)(-3.0) == -1
    assert ag.function(lambda x: absolute(x) + 1)(-3.0) == 4
    absolute.clear_cache()
    with pytest.raises(TypeError):
        absolute()


# --- 41: files ----------------------------------------------------------------------------------------------------------------------------------


def test_41_a_file_with_what_it_calls(tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    source.write_text(
        "import autograph as ag\n\n\ndef halve(x):\n    return x / 2 if x > 1 else x\n\n\n@ag.function\ndef f(x):\n    return halve(x)\n\n\n"
        "def other(x):\n    return x if x > 0 else -x\n\n\nprint(f(4.0))\n"
    )
    run = functools.partial(subprocess.run, capture_output=True, text=True, cwd=tmp_path)
    out = run([sys.executable, "-m", "autograph", "transpile", "program.py", "-o", "converted.py"])
    assert out.returncode == 0, out.stderr
    text = (tmp_path / "converted.py").read_text()
    assert "@ag.jit" in text and "ag.cond" in text.partition("def f")[0] and "return x if x > 0 else -x" in text
    assert run([sys.executable, "converted.py"]).stdout == run([sys.executable, "program.py"]).stdout == "2.0\n"
    out = run([sys.executable, "-m", "autograph", "transpile", "missing.py"])
    assert out.returncode != 0 and "missing.py" in out.stderr


# --- 42: frames ---------------------------------------------------------------------------------------------------------------------------------


def test_42_a_stack_level_counts_no_frame_of_ours() -> None:
    @ag.convert
    def f(x: Any) -> Any:
        warnings.warn("look here", UserWarning, stacklevel=2)
        return x if x > 0 else -x

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(1.0)
        line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    assert caught[0].filename == __file__ and caught[0].lineno == line


def test_42_compile_time_evaluation() -> None:
    @ag.function
    def f(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            n = jnp.arange(4).sum()
            k = 0
            for i in range(3):
                if n > i:
                    k += operator.index(jnp.asarray(1))
        return x * k

    assert f(2.0) == 6
