"""Items 13 to 17 of the articles: Variables, the order of effects, printing, what a loop carries, lists."""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
import textwrap
import threading
import weakref
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import VariableError, VariableStateError


def test_13_assignment_keeps_shape_and_dtype() -> None:
    v = ag.Variable([1, 2], name="v")
    assert v.assign([3, 4]) is v and v.assign_add(1) is v and v.assign_sub([0, 2]) is v
    assert np.array_equal(v.numpy(), [4, 3]) and v.dtype == jnp.int32 and v.shape == (2,)
    with pytest.raises(VariableError, match=r"the Variable `v` has shape \(2,\), and is assigned shape \(3,\)"):
        v.assign([1, 2, 3])
    with pytest.raises(VariableError, match="has dtype int32, and is assigned float32"):
        v.assign(jnp.array([1.0, 2.0]))
    with pytest.raises(VariableError, match="is given a `str`"):
        ag.Variable("text")
    x = ag.Variable(1.0)
    assert x.assign(2).dtype == jnp.float32 and not x.value.weak_type and not x.assign(3.0).value.weak_type
    assert ag.Variable(2, dtype=jnp.bfloat16).dtype == jnp.bfloat16


def test_13_everything_takes_one() -> None:
    v = ag.Variable([1.0, 2.0, 3.0])
    a = v.value
    assert np.array_equal(v * v, a * a) and np.array_equal(2 - v, 2 - a) and np.array_equal(v @ v, a @ a) and np.array_equal(v[1:], a[1:])
    assert np.array_equal(jnp.dot(v, v), a @ a) and np.array_equal(jax.lax.sin(v), jnp.sin(a)) and np.array_equal(np.cos(np.asarray(v)), np.cos(a))
    assert np.array_equal(jax.jit(lambda x: x + 1)(v), a + 1)
    [leaf] = jax.tree.leaves({"v": v})
    assert leaf is v
    assert np.array_equal(jax.vmap(lambda x: x * v[0])(v), a) and np.array_equal(jax.grad(lambda w: jnp.sum(w * v))(v), a)
    assert v.sum() == 6.0 and len(v) == 3 and [float(x) for x in v] == [1.0, 2.0, 3.0] and v.T.shape == (3,)
    n = ag.Variable(2)
    assert [10, 20, 30][n] == 30 and list(range(n)) == [0, 1] and int(n) == 2 and f"{n:03d}" == "002" and bool(n) and -n == -2 and n == 2
    assert repr(ag.Variable(2.0, name="w")) == "<ag.Variable 'w' shape=() dtype=float32, value=2.0>" and str(n) == "2"


def test_13_parts_are_assigned() -> None:
    v = ag.Variable(jnp.zeros(3))

    def f(i: Any, x: Any) -> Any:
        v[i] = x
        v[0] += 1
        if x > 4:
            v[1:] = x * 2
        return v[i] + v.sum()

    want = f(jnp.int32(1), jnp.float32(5.0)), v.numpy().tolist()
    v.assign(jnp.zeros(3))
    assert want == (f(jnp.int32(1), jnp.float32(5.0)), [1.0, 10.0, 10.0]) and want[0] == 31.0
    v.assign(jnp.zeros(3))
    assert ag.function(f)(1, 5.0) == 31.0 and v.numpy().tolist() == [1.0, 10.0, 10.0]


def test_13_the_buffer_is_freed_with_the_last_reference() -> None:
    v = ag.Variable(lambda: jax.random.normal(jax.random.key(0), (100, 100)))
    array, variable = weakref.ref(v._array), weakref.ref(v)

    @ag.function
    def f() -> Any:
        return v.sum()

    f()
    del v, f
    gc.collect()
    assert array() is None and variable() is None


class Lazy:
    def __init__(self) -> None:
        self.w: Any = None
        self.asked = 0

    def __call__(self, x: Any) -> Any:
        if self.w is None:
            self.w = ag.Variable(self.first, name="w")
        self.w.assign_add(1.0)
        return x @ self.w

    def first(self) -> Any:
        return jnp.eye(2) * 2


def test_13_built_in_the_first_staged_call() -> None:
    for staged in (True, False):
        layer = Lazy()
        run = ag.function(lambda layer, x: layer(x)) if staged else lambda layer, x: layer(x)
        assert np.array_equal(run(layer, jnp.ones(2)), [4.0, 4.0])
        w = layer.w
        assert np.array_equal(run(layer, jnp.ones(2)), [6.0, 6.0]) and layer.w is w and np.array_equal(w.value, [[4, 2], [2, 4]])


def test_13_local_to_a_call() -> None:
    def f(x: Any) -> Any:
        v = ag.Variable(x * 2)
        zero = ag.Variable(lambda: 0.0)
        i = 0
        while i < 3:
            v.assign_add(x)
            zero.assign_add(1)
            i += 1
        return v + zero

    staged = ag.function(f)
    assert [float(staged(2.0)), float(staged(3.0)), float(staged(2.0))] == [13.0, 18.0, 13.0] and f(2.0) == 13.0


def test_14_the_order_of_the_program() -> None:
    a, b = ag.Variable(1.0), ag.Variable(1.0)

    @ag.function
    def assigned() -> Any:
        a.assign(2.0)
        b.assign(3.0)
        return a + b

    assert assigned() == 5.0 and a == 2.0 and b == 3.0
    v = ag.Variable(5)

    @ag.function
    def find_next_odd() -> None:
        v.assign(v + 1)
        if v % 2 == 0:
            v.assign(v + 1)

    find_next_odd()
    assert v == 7


def test_14_reads_are_live() -> None:
    w, traces = ag.Variable(2.0), itertools.count()

    @ag.do_not_convert
    def traced() -> None:
        next(traces)

    @ag.function
    def times(x: Any) -> Any:
        traced()
        return w * x

    assert times(3.0) == 6.0
    made = repr(traces)
    w.assign(10.0)
    assert times(3.0) == 30.0 and repr(traces) == made


@pytest.mark.parametrize(
    "under",
    [jax.jit, lambda f: jax.jit(ag.convert(f)), lambda f: lambda x: jax.lax.scan(lambda c, r: (f(r), r), x[0], x)],
    ids=["jit", "convert", "scan"],
)
def test_14_a_write_under_a_raw_transformation(under: Any) -> None:
    v = ag.Variable(1.0, name="v")

    def f(x: Any) -> Any:
        v.assign(jnp.sum(x))
        return v * 1.0

    with pytest.raises(VariableStateError, match="the Variable `v` is assigned in a function under `") as caught:
        under(f)(jnp.ones(3))
    assert caught.value.id == "AG702" and v == 1.0


def test_14_under_vmap_grad_and_remat() -> None:
    v = ag.Variable(jnp.array([1.0, 2.0]))

    @ag.function
    def f(xs: Any) -> Any:
        v.assign(v * 2)
        return (
            jax.vmap(lambda x: x * v)(xs),
            jax.grad(lambda x: jnp.sum(x * v))(v.value),
            jax.checkpoint(lambda x: x * v)(1.0),
            jax.hessian(lambda x: jnp.sum(v * x**2))(v.value),
        )

    lanes, slope, again, curved = f(jnp.ones((3, 2)))
    assert np.array_equal(lanes, [[2.0, 4.0]] * 3) and np.array_equal(slope, [2.0, 4.0]) and np.array_equal(again, [2.0, 4.0])
    assert np.array_equal(curved, np.diag([4.0, 8.0]))

    @ag.function
    def moving(x: Any) -> Any:
        def loss(x: Any) -> Any:
            v.assign(v * 0.5)
            return jnp.sum(x * v)

        return jax.grad(loss)(x)

    assert np.array_equal(moving(jnp.ones(2)), [1.0, 2.0]) and np.array_equal(v, [1.0, 2.0])
    with pytest.raises(ag.AutographError, match="changed under `vmap`"):
        ag.function(lambda xs: jax.vmap(lambda x: v.assign(x).value)(xs))(jnp.ones((3, 2)))


def test_14_functions_in_each_other() -> None:
    v = ag.Variable(1)

    @ag.function
    def inner(x: Any) -> Any:
        v.assign_add(x)
        return v * 10

    @ag.function
    def outer(x: Any) -> Any:
        first = inner(x)
        i = 0
        while i < 2:
            inner(1)
            i += 1
        return first, v * 1

    assert [int(y) for y in outer(4)] == [50, 7] and v == 7
    assert [int(y) for y in outer(1)] == [80, 10] and inner(2) == 120


def test_14_calls_of_every_kind_after_each_other() -> None:
    """Calls that go straight, and those that cannot: keywords, other types, NumPy's arrays, objects, errors, and within a trace."""
    v, w = ag.Variable(1.0), ag.Variable(10.0)

    @ag.function
    def step(x: Any, other: Any = None) -> Any:
        v.assign_add(jnp.sum(x))
        if other is not None:
            w.assign_add(other)
        if v > 1000:
            raise ValueError("too large")
        return v * 2

    assert [float(step(1.0)), float(step(1.0)), float(step(jnp.ones(3)))] == [4.0, 6.0, 12.0]
    assert float(step(x=1.0)) == 14.0 and float(step(np.ones(2))) == 18.0 and float(step(1, other=5.0)) == 20.0 and w == 15.0
    assert float(step(ag.Variable(2.0))) == 24.0 and float(jax.jit(lambda x: x * 2)(step(1.0))) == 52.0
    with ag.run_eagerly():
        assert float(step(1.0)) == 28.0
    with pytest.raises(ValueError, match="too large"):
        step(5000.0)
    v.assign(0.0)
    assert float(step(1.0)) == 2.0 and float(step(2.0, 1.0)) == 6.0 and w == 16.0

    @ag.function
    def straight(x: Any) -> Any:
        v.assign(v + x)
        return v * 1

    assert [float(straight(1.0)) for _ in range(3)] == [4.0, 5.0, 6.0]
    assert float(straight(jnp.ones(()))) == 7.0 and float(straight(True)) == 8.0 and float(straight(x=1.0)) == 9.0
    with pytest.raises(ag.AutographError):
        straight(jnp.ones(2))
    assert v == 9.0 and float(straight(1.0)) == 10.0
    with ag.run_eagerly():
        assert float(straight(1.0)) == 11.0
    assert float(straight(1.0)) == 12.0


def test_14_after_an_error_of_the_program() -> None:
    """As in Python: what was assigned before it stays."""
    v = ag.Variable(1)

    def f(x: Any) -> Any:
        v.assign(x)
        if x > 2:
            raise ValueError("too large")
        v.assign_add(1)
        return v * 1

    for call in (f, ag.function(f)):
        v.assign(1)
        assert call(jnp.int32(2)) == 3 and v == 3
        with pytest.raises(ValueError, match="too large"):
            call(jnp.int32(5))
        assert v == 5


def test_14_sharded_arrays_keep_their_sharding(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import jax, jax.numpy as jnp, numpy as np, autograph as ag
        mesh = jax.make_mesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
        where = jax.NamedSharding(mesh, jax.P("d"))
        v = ag.Variable(jax.device_put(jnp.arange(8.0), where))

        @ag.function
        def step(x):
            v.assign(v * 2 + x)

        step(1.0)
        step(1.0)
        v.assign_add(1.0)
        v.assign(np.asarray(v) + 1)
        assert v.sharding.is_equivalent_to(where, 1), v.sharding
        assert np.array_equal(np.asarray(v), np.arange(8.0) * 4 + 5)
        print("done")
        """
    )
    where = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    (tmp_path / "sharded.py").write_text(program)
    out = subprocess.run([sys.executable, str(tmp_path / "sharded.py")], env=where, capture_output=True, text=True)
    assert out.stdout == "done\n", out.stderr


def test_14_threads_lose_nothing() -> None:
    v, w = ag.Variable(0), ag.Variable(0)

    @ag.function
    def count() -> None:
        w.assign_add(1)

    count()

    def work() -> None:
        for _ in range(300):
            v.assign_add(1)
            count()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert v == 1200 and w == 1201


def test_14_a_failing_call_leaves_all_as_it_was() -> None:
    v, w = ag.Variable(1.0), ag.Variable(1.0)

    def fails(x: Any) -> Any:
        raise RuntimeError("on the host")

    @ag.function
    def f(x: Any) -> Any:
        v.assign(x)
        w.assign(ag.py_func(fails, [x], jnp.float32, shape=()))

    with pytest.raises(Exception, match="on the host"):
        f(5.0)
    assert v == 1.0 and w == 1.0


def test_15_printing_in_a_loop(capfd: pytest.CaptureFixture[str]) -> None:
    step = ag.Variable(0)

    @ag.function
    def train(n: Any) -> Any:
        loss = 100.0
        for _ in range(n):
            step.assign_add(1)
            loss = loss / 2
            if step % 10 == 0:
                print("step", step, "loss", loss)
        return loss

    train(jnp.int32(25))
    jax.effects_barrier()
    assert capfd.readouterr().out == "step 10 loss 0.09765625\nstep 20 loss 9.536743e-05\n"
    assert step == 25


def test_16_what_a_loop_carries() -> None:
    def f(x: Any) -> Any:
        y = 0
        while x > 0:
            x = x - 1
        return x, y

    assert tuple(map(int, ag.function(f)(3))) == (0, 0)
    report = ag.explain(f, 3)
    [loop] = [line for line in str(report).splitlines() if "while_loop" in line]
    assert "`x`" in loop or " x" in loop
    assert "`y`" not in loop and " y:" not in loop


def test_17_lists_undefined_and_none() -> None:
    @ag.function
    def squares(n: Any) -> Any:
        out = []
        for i in range(5):
            if i < n:
                out.append(i * i)
        return len(out) if isinstance(n, jax.Array) else jnp.stack([jnp.asarray(x) for x in out])

    assert squares(3) == 3

    @ag.function
    def stacked(x: Any) -> Any:
        out = []
        for i in range(3):
            out.append(x * i)
        return jnp.stack(out)

    assert np.array_equal(stacked(2.0), [0.0, 2.0, 4.0])
    with pytest.raises(ag.AutographError):
        ag.function(lambda x: [1.0, "a"][x])(1)


def test_a_variable_where_an_array_is_expected() -> None:
    v, w = ag.Variable(2.0), ag.Variable(5)

    def f(x: Any) -> Any:
        y = v if x > 0 else x
        total = 0
        for i in range(w):
            total += i
        return y + 1, total, abs(v), max(v, x), sum([v, v]), not v, v and 1.0, v in (1.0, 2.0), v == 2.0, [1, 2, 3, 4, 5, 6][w], float(2), f"{v}"

    want = f(jnp.float32(3.0))
    got = ag.function(f)(jnp.float32(3.0))
    assert [np.asarray(a).tolist() for a in want] == [np.asarray(a).tolist() for a in got]


def test_containers_without_variables_stay_what_they_are() -> None:
    rows, v = [[1, 2], [3]], ag.Variable(1)

    @ag.function
    def longest(x: Any) -> Any:
        top = max(rows, key=len)
        top.append(9)
        return x + v

    assert longest(1.0) == 2.0 and rows == [[1, 2, 9], [3]] and max([v, 0]) == 1


def test_13_a_step_is_not_traced_in_each_call() -> None:
    """Calls that change nothing but Variables go straight to one compiled function, which is found again."""
    v, traces = ag.Variable(1.0), []

    @ag.function
    def step(x: Any) -> Any:
        v.assign(v * x)
        return v + 1

    def heard(event: str, duration: float, **_: Any) -> None:
        if "trace_duration" in event:
            traces.append(event)

    jax.monitoring.register_event_duration_secs_listener(heard)
    for _ in range(4):
        step(2.0)
    jax.block_until_ready(v.value)
    first = len(traces)
    for _ in range(8):
        step(2.0)
    assert v == 4096.0
    assert first > 0 and len(traces) - first <= 1, traces  # the comparison is one


@pytest.mark.parametrize("method", ["eval_shape", "lower", "trace"])
def test_14_what_looks_at_a_function_assigns_nothing(method: str) -> None:
    a, b = ag.Variable(1.0), ag.Variable(5.0)

    def f(x: Any) -> Any:
        a.value
        a.assign(b)
        b.assign(x)
        return a

    getattr(ag.function(f), method)(jnp.ones(()))
    assert float(a) == 1.0 and float(b) == 5.0
    assert float(ag.function(f)(jnp.ones(()))) == float(a) == 5.0 and float(b) == 1.0


def test_13_functions_of_numpy_take_one() -> None:
    w, x = ag.Variable([1.0, 2.0]), np.array([1.5, 0.5], np.float32)
    for use in (
        np.exp, np.sqrt, np.isnan, lambda w: np.maximum(w, x), lambda w: np.multiply(x, w), lambda w: np.matmul(x, w),
        lambda w: x * w, lambda w: w - x, lambda w: x < w, np.add.reduce, np.sum, lambda w: np.where(x > 1, w, x),
        lambda w: np.add(w, x, out=np.zeros(2, np.float32)),
    ):  # fmt: skip
        np.testing.assert_allclose(use(w), use(np.asarray(w)), rtol=1e-6)
    with ag.GradientTape() as tape:
        loss = np.exp(w).sum()
    np.testing.assert_allclose(tape.gradient(loss, w), np.exp([1.0, 2.0]), rtol=1e-6)


def test_13_keys_of_dicts_and_items_of_lists() -> None:
    variables = [ag.Variable(1.0), ag.Variable(2.0), ag.Variable(3.0)]
    slots = {v: ag.Variable(0.0) for v in variables}

    @ag.function
    def momentum(g: Any) -> None:
        for v, slot in slots.items():
            slot.assign(0.9 * slot + g)
        for v in variables:
            v.assign_sub(0.1 * slots[v])

    @ag.function
    def local(g: Any) -> Any:
        seen = {}
        for v in variables:
            seen[v] = v * g
        return seen[variables[1]]

    momentum(1.0)
    np.testing.assert_allclose([float(v) for v in variables], [0.9, 1.9, 2.9], rtol=1e-6)
    assert float(local(2.0)) == pytest.approx(3.8)
    assert float(ag.function(lambda i: variables[i] * 2)(2)) == pytest.approx(5.8)


@pytest.mark.parametrize("transform", [jax.grad, jax.jit, lambda f: lambda x: jax.vmap(f)(jnp.full(2, x))], ids=["grad", "jit", "vmap"])
def test_a_compiled_function_that_assigns_under_a_transformation(transform: Any) -> None:
    v, steps = ag.Variable(2.0, name="v"), ag.Variable(0)

    @ag.function
    def f(x: Any) -> Any:
        v.assign_add(x)
        return v * x

    with pytest.raises(ag.AutographError, match=r"`v` is assigned in a function under [\s\S]*`ag.GradientTape`") as caught:
        transform(f)(3.0)
    assert caught.value.id == "AG702" and v == 2.0
    assert f(3.0) == 15.0 and v == 5.0

    @ag.function
    def counted(x: Any) -> Any:
        steps.assign_add(1)
        return x * x

    assert jax.grad(counted)(3.0) == 6.0 and steps == 1  # the transformation does not see what does not depend on its inputs
