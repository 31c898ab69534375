"""Outside a trace the user's own statements run; what a function is, seen from outside, does not change."""

from __future__ import annotations

import gc
import inspect
import pickle
import sys
import threading
import traceback
import warnings
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag
from tests.sourced import define

calls: list[str] = []


def default() -> int:
    calls.append("default")
    return 3


@ag.convert
def documented(x: int, /, y: int = default(), *rest: int, z: float = 1.5, **more: int) -> float:
    """Its documentation."""
    if x > 0:
        return x + y + z
    return x


def test_what_a_function_says_of_itself() -> None:
    original = documented.__wrapped__  # type: ignore[attr-defined]
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__defaults__", "__kwdefaults__", "__annotations__"):
        assert getattr(documented, name) == getattr(original, name)
    assert inspect.signature(documented) == inspect.signature(original)
    assert documented.__closure__ is None and documented.__code__.co_freevars == ()
    assert inspect.getsource(documented) == inspect.getsource(original)
    assert documented.__code__.co_firstlineno == original.__code__.co_firstlineno
    assert documented.__code__.co_flags == original.__code__.co_flags


def test_defaults_are_evaluated_once() -> None:
    assert jax.jit(documented)(1) == 5.5 and documented(1) == 5.5
    assert calls == ["default"]


def test_attributes_of_the_function_are_kept() -> None:
    def f(x: int) -> int:
        return x

    f.marker = 7  # type: ignore[attr-defined]
    assert ag.convert(f).marker == 7  # type: ignore[attr-defined]


def test_locals_and_the_closure_are_the_users(run: Any) -> None:
    def f(x: Any) -> Any:
        y = x
        return sorted(locals())

    assert ag.convert(f)(1) == ["x", "y"]
    assert ag.convert(f, form="staged")(1) == ["x", "y"]


def test_a_user_may_have_a_name_ag(run: Any) -> None:
    f = define(
        """
        def f(x, ag):
            then = 1
            if x > ag:
                y = then
            else:
                y = ag
            return y
        """
    )
    assert run(f)(3, 2) == 1 and run(f)(1, 2) == 2
    assert "ag_.cond" in ag.to_code(f)


def test_private_names_and_class_cells(run: Any) -> None:
    class C:
        def __secret(self) -> int:
            return 7

        def method(self, x: Any) -> Any:
            if x > 0:
                return self.__secret() + x
            return x

    assert run(C().method)(1) == 8


def test_lazy_scan_in_a_loop_compiles_once() -> None:
    """A function handed to JAX has one twin: eager `lax.scan` in a loop traces it once."""
    traced: list[int] = []

    def step(c: Any, x: Any) -> Any:
        traced.append(1)
        if x > 1:
            c = c + x
        return c, c

    @ag.convert
    def f(xs: Any) -> Any:
        for _ in range(5):
            total, _ = jax.lax.scan(step, 0.0, xs)
        return total

    assert float(f(jnp.arange(4.0))) == 5.0
    assert len(traced) <= 2


def test_functions_handed_to_jax_are_converted() -> None:
    def loss(w: Any) -> Any:
        if w > 0:
            return w * w
        return -w

    @ag.convert
    def f(w: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(w)
        return value + slope + jax.vmap(loss)(jnp.array([1.0, -2.0])).sum() + jax.jit(loss)(w)

    assert float(f(3.0)) == 9 + 6 + 1 + 2 + 9
    assert float(jax.jit(f)(3.0)) == 27


def test_a_closure_is_freed_without_the_collector() -> None:
    class Big:
        pass

    def make() -> tuple[Any, Any]:
        big = Big()

        @ag.convert
        def f(x: Any) -> Any:
            if x > 0:
                return id(big)
            return 0

        return f, weakref.ref(big)

    gc.disable()
    try:
        f, alive = make()
        f(1)
        jax.make_jaxpr(lambda x: x + f(0))(1.0)
        del f
        assert alive() is None
    finally:
        gc.enable()


def test_a_namespace_that_is_executed_again_is_freed() -> None:
    class Big:
        pass

    f = define("@ag.convert\ndef f(x):\n    return x if x > 0 else big.__class__ and x\n", ag=ag, big=(big := Big()))
    alive = weakref.ref(big)
    jax.jit(f)(1)
    f.__globals__.clear()
    del f, big
    jax.clear_caches()
    gc.collect()
    assert alive() is None


def test_the_traceback_has_the_users_line_and_caret() -> None:
    @ag.convert
    def fails(x: Any) -> Any:
        y = 1 if x > 0 else 2
        return (x / 0) + y

    for f in (fails, ag.convert(fails.__wrapped__, form="staged")):  # type: ignore[attr-defined]
        with pytest.raises(ZeroDivisionError) as caught:
            f(1)
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert last.filename == __file__ and last.line == "return (x / 0) + y"
        assert (last.colno, last.end_colno) == (16, 21)


def test_an_error_under_jit_points_at_the_users_line() -> None:
    @ag.convert
    def fails(x: Any) -> Any:
        for _ in range(3):
            if x.sum() > 0:
                x = x @ jnp.ones((7, 7))
        return x

    with pytest.raises(TypeError) as caught:
        jax.jit(fails)(jnp.ones((2, 3)))
    files = [frame for frame in traceback.extract_tb(caught.value.__traceback__)]
    mine = [frame for frame in files if frame.filename == __file__]
    assert mine[-1].line == "x = x @ jnp.ones((7, 7))"
    assert not [frame for frame in files if "/runtime/" in frame.filename]


def test_line_events_are_the_users(tmp_path: Any) -> None:
    """What `pdb` and coverage see: the lines of the function, in both forms."""

    def f(x: Any) -> Any:
        total = 0
        for i in range(3):
            if i > x:
                total += i
        return total

    def lines(g: Any) -> list[int]:
        seen: list[int] = []

        def tracer(frame: Any, event: str, arg: Any) -> Any:
            if frame.f_code.co_filename != __file__:
                return None
            if event == "line":
                seen.append(frame.f_lineno)
            return tracer

        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            g(1)
        finally:
            sys.settrace(before)
        return seen

    native = lines(f)
    assert lines(ag.convert(f)) == native
    assert set(native) <= set(lines(ag.convert(f, form="staged")))


def test_pdb_stops_at_the_users_line() -> None:
    import bdb

    def f(x: Any) -> Any:
        y = x + 1
        return y

    stops: list[tuple[int, Any]] = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame: Any) -> None:
            if self.break_here(frame):
                stops.append((frame.f_lineno, frame.f_locals.get("y")))
            self.set_continue()

    line = f.__code__.co_firstlineno + 2
    debugger = Debugger()
    assert debugger.set_break(__file__, line) is None
    debugger.runcall(ag.convert(f), 1)
    assert stops == [(line, 2)]


def test_jax_source_info_is_the_users_line() -> None:
    def f(x: Any) -> Any:
        while x < 10:
            x = jnp.exp2(x)
        return x

    first = f.__code__.co_firstlineno
    text = jax.jit(ag.convert(f)).lower(1.0).as_text(debug_info=True)
    assert "runtime/loops/while_loop.py" not in text
    import os

    assert f'{os.path.basename(__file__)}":{first + 2}' in text, text[:2000]


def test_threads_convert_once() -> None:
    f = define("def f(x):\n    return x if x > 0 else -x\n")
    twins: list[Any] = []
    start = threading.Barrier(8)

    def work() -> None:
        from autograph.forms.callees import twin_of

        start.wait()
        twins.append(twin_of(f))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({id(t) for t in twins}) == 1


def test_disable_jit_runs_the_users_statements() -> None:
    seen: list[Any] = []

    @ag.function
    def f(x: Any) -> Any:
        seen.append(type(x))
        return x if x > 0 else -x

    with jax.disable_jit():
        f(-1.0)
    assert not issubclass(seen[0], jax.core.Tracer)


def test_generators_and_frames_stay_python() -> None:
    @ag.convert
    def numbers(n: int) -> Any:
        for i in range(n):
            if i % 2:
                yield i

    @ag.convert
    def names(x: Any) -> Any:
        if True:
            y = x
        return sorted(locals()), y

    assert list(numbers(6)) == [1, 3, 5]
    assert jax.jit(lambda x: x + len(names(x)[0]))(1) == 3
    assert jax.jit(lambda x: sum(numbers(6)) + x)(1) == 10


def test_a_stack_level_counts_no_frame_of_ours() -> None:
    @ag.convert
    def f(x: Any) -> Any:
        if x is not None:
            warnings.warn("mind", stacklevel=2)
        return x

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(1)
        line = sys._getframe().f_lineno - 1
        jax.make_jaxpr(lambda x: f(x))(1)
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, line), (__file__, line + 2)]


def test_recursion_three_hundred_deep() -> None:
    @ag.convert
    def down(n: int) -> int:
        if n == 0:
            return 0
        return 1 + down(n - 1)

    deep: list[int] = []
    thread = threading.Thread(target=lambda: deep.append(ag.convert(down.__wrapped__, form="staged")(300)))  # type: ignore[attr-defined]
    thread.start()
    thread.join()
    assert deep == [300] and down(300) == 300


def test_late_binding_in_loops(run: Any) -> None:
    def f(n: Any) -> Any:
        made = []
        for i in range(3):
            made.append(lambda: i)
        return [g() + n for g in made]

    assert [int(x) for x in run(f)(1)] == [3, 3, 3]


def test_nonlocal_counts(run: Any) -> None:
    def f(x: Any) -> Any:
        count = 0

        def bump(y: Any) -> Any:
            nonlocal count
            if y > 0:
                count += 1
            return y

        bump(x)
        bump(-x)
        bump(x)
        return count

    assert int(run(f)(1)) == 2


def test_module_level_objects_pickle_by_name() -> None:
    assert pickle.loads(pickle.dumps(documented)) is documented


def helper(x: Any) -> Any:
    """A function that is converted when it is reached."""
    if x > 0:
        return x
    return -x


def test_a_twin_is_nobodys_in_a_copy() -> None:
    """`functools.wraps` copies `__dict__`, the twin of the wrapped function among it."""
    import functools

    @ag.convert
    def first(x: Any) -> Any:
        return helper(x)

    assert jax.jit(first)(-2) == 2

    @functools.wraps(helper)
    def other(x: Any) -> Any:
        return 10 if x > 0 else 20

    @ag.convert
    def second(x: Any) -> Any:
        return other(x)

    assert second(1) == 10 and jax.jit(second)(-1) == 20
    assert pickle.loads(pickle.dumps(helper)) is helper


def test_functions_that_keep_their_argument_get_it_as_it_is() -> None:
    import functools

    seen: list[Any] = []

    @ag.convert
    def f(x: Any) -> Any:
        thread = threading.Thread(target=helper, args=(1,))
        seen.append(functools.wraps(helper)(lambda x: x).__wrapped__)  # type: ignore[attr-defined]
        jax.debug.callback(lambda v: seen.append(type(v)), x)
        return thread._target(x)  # type: ignore[attr-defined]

    assert f(2) == 2
    jax.effects_barrier()
    assert seen[0] is helper


def test_partials_and_builtins_that_call_their_argument(run: Any) -> None:
    import functools

    def f(x: Any) -> Any:
        doubled = functools.partial(helper)
        return sum(map(helper, [x, -x])) + doubled(x) + functools.reduce(lambda a, b: a + helper(b), [x, x], 0)

    assert run(f)(-2) == 10


def test_compile_time_evaluation_inside_a_trace() -> None:
    @ag.convert
    def f(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            y = helper(jnp.float32(-3))
        return x + y if x > 0 else x

    assert jax.jit(f)(1.0) == 4.0
