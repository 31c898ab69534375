"""The tape against `jax.grad`: functions of every kind, eagerly, compiled, under `vmap`, in each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph as ag
from autograph.runtime.errors.errors import TapeError
from autograph.runtime.jaxapi import traces as _jax

KEY = jax.random.key(0)
A, B = jax.random.normal(KEY, (3, 3)), jax.random.normal(jax.random.key(1), (3, 3))
MESH = jax.make_mesh((1,), ("a",), axis_types=(jax.sharding.AxisType.Auto,))


@jax.custom_jvp
def own_jvp(x: Any) -> Any:
    return jnp.sin(x)


own_jvp.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), 3.0 * tangents[0]))


@jax.custom_vjp
def own_vjp(x: Any, y: Any) -> Any:
    return x * y


own_vjp.defvjp(lambda x, y: (x * y, (x, y)), lambda r, g: (g * 7.0, g * r[0]))
jitted = jax.jit(lambda x: jnp.tanh(x) @ x)


@ag.function
def converted(x: Any) -> Any:
    i, total = 0, 0.0
    while i < x.shape[0] + jnp.int32(x[0, 0] * 0):
        total += jnp.sum(x[i]) if x[i, 0] > 0 else jnp.sum(x[i] ** 2)
        i += 1
    return total


@ag.convert
def converted_rows(x: Any) -> Any:
    total = 1.0
    for row in x:
        if jnp.sum(row) > 0:
            total = total * jnp.sum(row * row)
        else:
            total = total - row[0]
    return total


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "product": lambda x: jnp.sum(x * x * 3.0),
    "matmul": lambda x: jnp.sum(jnp.tanh(x @ B) ** 2),
    "index": lambda x: x[0, 1] * x[1].sum() + x[:, 2].prod(),
    "at.set": lambda x: (x.at[0].set(2.0) * x).sum(),
    "where": lambda x: jnp.where(x > 0, x, x**2).sum(),
    "activations": lambda x: jax.nn.relu(x).sum() + jax.nn.softmax(x)[0, 0] + jax.nn.log_softmax(x)[1, 1] + jax.nn.gelu(x).sum(),
    "logsumexp": lambda x: jax.nn.logsumexp(x),
    "jit": lambda x: jitted(x).sum(),
    "jit in jit": lambda x: jax.jit(lambda y: jitted(y) * y)(x).sum(),
    "scan": lambda x: lax.scan(lambda c, _: (jnp.sin(c) @ B, None), x, None, length=3)[0].sum(),
    "scan over rows": lambda x: lax.scan(lambda c, r: (c * jnp.sum(r), c), 1.0, x)[0],
    "cond": lambda x: lax.cond(x[0, 0] > 0, lambda v: v * 2, lambda v: v**3, x).sum(),
    "cond, closures": lambda x: lax.cond(True, lambda: x * 2, lambda: x**3).sum(),
    "jit, a closure": lambda x: jax.jit(lambda y: y * x)(B).sum(),
    "scan, a closure": lambda x: lax.scan(lambda c, _: (c @ x, None), B, None, length=2)[0].sum(),
    "jit, a closure over a result": lambda x: (lambda z: jax.jit(lambda y: y * z)(B).sum())(x * 2),
    "custom_jvp": lambda x: own_jvp(x).sum(),
    "custom_vjp": lambda x: own_vjp(x, x * 2).sum(),
    "jit of custom_vjp": lambda x: jax.jit(own_vjp)(x, x * 2).sum(),
    "vmap": lambda x: jax.vmap(lambda r: jnp.dot(r, r))(x).sum(),
    "vmap, a closure": lambda x: jax.vmap(lambda r: jnp.dot(r, x[0]))(B).sum(),
    "stop_gradient": lambda x: (lax.stop_gradient(x) * x).sum() + (lax.stop_gradient(x * 2) * x).sum(),
    "dropout": lambda x: (x * jax.random.bernoulli(KEY, 0.5, x.shape)).sum(),
    "noise": lambda x: (x * jax.random.normal(KEY, x.shape)).sum(),
    "convolution": lambda x: lax.conv_general_dilated(
        x[None, :, :, None], B[:2, :2, None, None], (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    ).sum(),
    "cholesky": lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(3)).sum(),
    "solve": lambda x: jnp.linalg.solve(x, B).sum(),
    "det": lambda x: jnp.linalg.det(x),
    "svd": lambda x: jnp.linalg.svd(x, compute_uv=False).sum(),
    "sort": lambda x: (jnp.sort(x, axis=1) * B).sum(),
    "max": lambda x: x.max() + x.argmax(),
    "cumsum": lambda x: jnp.cumsum(x**2, axis=0).prod(),
    "stack": lambda x: jnp.concatenate([x, x * 2]).sum() + jnp.stack([x, x]).prod(),
    "grad inside": lambda x: jnp.sum(jax.grad(lambda y: jnp.sum(jnp.sin(y) * y))(x) ** 2),
    "vjp inside": lambda x: jax.vjp(jnp.sin, x)[1](x)[0].sum(),
    "jvp inside": lambda x: jax.jvp(jnp.sin, (x,), (x,))[1].sum(),
    "checkpoint": lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x).sum(),
    "einsum": lambda x: jnp.einsum("ij,jk,kl->il", x, B, x).sum(),
    "fori_loop": lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) * i, x).sum(),
    "identity in jit": lambda x: jax.jit(lambda y: y)(x).sum() * 2,
    "astype": lambda x: x.astype(jnp.bfloat16).astype(jnp.float32).sum(),
    "numbers of NumPy": lambda x: (np.float32(2) * x).sum(),
    "powers": lambda x: (2.0**x).sum() + (x**3).sum(),
    "an integer on the way": lambda x: x[jnp.argmax(x[:, 0])].sum(),
    "norm": lambda x: jnp.linalg.norm(x),
    "fft": lambda x: jnp.abs(jnp.fft.fft(x + 0j)).sum(),
    "map": lambda x: lax.map(lambda r: r * r.sum(), x).sum(),
    "shard_map": lambda x: jax.jit(jax.shard_map(lambda a: jnp.sin(a), mesh=MESH, in_specs=jax.P("a", None), out_specs=jax.P("a", None)))(x).sum(),
    "ag.function": converted,
    "ag.convert": converted_rows,
    "a python branch": lambda x: jnp.sum(x) if x.shape[0] > 2 else jnp.sum(x * x),
}


def slope(f: Callable[[Any], Any], x: Any) -> Any:
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, unconnected_gradients="zero")


def of_slope(grad: Callable[..., Any]) -> Callable[..., Any]:
    return lambda f, x: grad(lambda x: jnp.sum(grad(f, x) ** 2), x)


def by_jax(f: Callable[[Any], Any], x: Any) -> Any:
    return jax.grad(f)(x)


SETTINGS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "eager": (slope, by_jax),
    "in jit": (lambda f, x: jax.jit(lambda x: slope(f, x))(x), by_jax),
    "in ag.function": (lambda f, x: ag.function(lambda x: slope(f, x))(x), by_jax),
    "under vmap": (lambda f, x: jax.vmap(lambda x: slope(f, x))(jnp.stack([x, B])), lambda f, x: jax.vmap(jax.grad(f))(jnp.stack([x, B]))),
    "a tape of a tape": (of_slope(slope), of_slope(by_jax)),
    "jax.grad of a tape": (lambda f, x: jax.grad(lambda x: jnp.sum(slope(f, x) ** 2))(x), of_slope(by_jax)),
    "a tape of jax.grad": (lambda f, x: slope(lambda x: jnp.sum(jax.grad(f)(x) ** 2), x), of_slope(by_jax)),
    "hessian": (lambda f, x: jax.jacfwd(lambda x: slope(f, x))(x), lambda f, x: jax.hessian(f)(x)),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_grad(name: str, setting: str, quick_compilation: None) -> None:
    ours, theirs = SETTINGS[setting]
    np.testing.assert_allclose(ours(FUNCTIONS[name], A), theirs(FUNCTIONS[name], A), rtol=1e-3, atol=1e-4)


def test_there_are_enough() -> None:
    assert len(FUNCTIONS) >= 50


def test_against_finite_differences() -> None:
    for f in (converted, converted_rows, FUNCTIONS["activations"], FUNCTIONS["scan"]):
        got = np.asarray(slope(f, A))
        for i, j in ((0, 0), (1, 2), (2, 1)):
            step = jnp.zeros_like(A).at[i, j].set(1e-2)
            np.testing.assert_allclose(got[i, j], (f(A + step) - f(A - step)) / 2e-2, rtol=5e-2, atol=2e-2)


def test_nothing_is_recorded_that_is_not_asked_for() -> None:
    x = jnp.array(2.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = x * y
    assert tape.gradient([y, z], x) == 4.0
    v = ag.Variable(1.0)
    with ag.GradientTape(watch_accessed_variables=False) as tape:
        y = v * 2.0
    assert tape.gradient(y, v) is None


def test_a_tape_leaves_nothing_behind() -> None:
    x = jnp.array(2.0)
    tape = ag.GradientTape()
    with pytest.raises(ZeroDivisionError), tape:
        tape.watch(x)
        1 / 0
    assert ag.executing_eagerly() and (x * x) == 4.0
    with tape, pytest.raises(TapeError, match="recording already"):
        tape.__enter__()
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        assert tape.gradient(y, x) == 4.0
        z = y * y
    assert tape.gradient(z, x) == 32.0


def test_a_reference_and_an_eager_shard_map_are_refused() -> None:
    with ag.GradientTape() as tape, pytest.raises(TapeError, match="written to a `jax.Ref`"):
        tape.watch(A)
        jax.new_ref(A)
    with ag.GradientTape() as tape, pytest.raises(TapeError, match="wrap it in `jax.jit`"):
        tape.watch(A)
        jax.shard_map(lambda a: jnp.sin(a), mesh=MESH, in_specs=jax.P("a", None), out_specs=jax.P("a", None))(A)


def test_half_of_the_arguments_and_integers() -> None:
    a, n = jnp.array(3.0), jnp.array(2)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch([a, n])
        y = a * n
        k = jnp.argmax(jnp.stack([a, a]))
    assert tape.gradient(y, [a, n]) == [2.0, None] and tape.gradient(k, a) is None


# What takes a Variable as it is: functions of JAX that are jitted, with a custom derivative, or neither.
DIRECTLY: dict[str, Callable[[Any, Any], Any]] = {
    "jnp.dot": lambda x, w: jnp.dot(x, w), "jnp.matmul": lambda x, w: jnp.matmul(x, w), "jnp.vdot": lambda x, w: jnp.vdot(w, x),
    "jnp.tanh": lambda x, w: jnp.tanh(w), "jnp.square": lambda x, w: jnp.square(w) * x, "jnp.multiply": lambda x, w: jnp.multiply(w, w),
    "jnp.sum": lambda x, w: jnp.sum(w), "jnp.mean": lambda x, w: jnp.mean(w), "jnp.where": lambda x, w: jnp.where(x > 1, w, x),
    "jnp.take": lambda x, w: jnp.take(w, jnp.array([0, 0])), "jnp.maximum": lambda x, w: jnp.maximum(x, w), "jnp.linalg.norm": lambda x, w: jnp.linalg.norm(w),
    "jnp.einsum": lambda x, w: jnp.einsum("i,i", x, w), "jnp.concatenate": lambda x, w: jnp.concatenate([w, w]), "jnp.power": lambda x, w: jnp.power(w, 3),
    "jnp.outer": lambda x, w: jnp.outer(x, w), "jnp.sort": lambda x, w: jnp.sort(w) * x, "jnp.clip": lambda x, w: jnp.clip(w, 0.0, 1.5),
    "jax.nn.relu": lambda x, w: jax.nn.relu(w), "jax.nn.softmax": lambda x, w: jax.nn.softmax(w) * x, "jax.nn.silu": lambda x, w: jax.nn.silu(w),
    "lax.dot": lambda x, w: lax.dot(x, w), "jit": lambda x, w: jax.jit(lambda a: a * a)(w), "vmap": lambda x, w: jax.vmap(lambda a: a * a)(w),
    "custom_jvp": lambda x, w: _cubed(w), "custom_vjp": lambda x, w: _doubled(w),
}  # fmt: skip


@jax.custom_jvp
def _cubed(x: Any) -> Any:
    return x * x * x


_cubed.defjvps(lambda t, out, x: 5 * x * t)


@jax.custom_vjp
def _doubled(x: Any) -> Any:
    return x * 2


_doubled.defvjp(lambda x: (x * 2, None), lambda _, ct: (7 * ct,))


@pytest.mark.parametrize("name", DIRECTLY)
def test_functions_that_are_given_a_variable(name: str) -> None:
    use, x = DIRECTLY[name], jnp.array([3.0, 0.5])
    w = ag.Variable([1.0, 2.0])
    want = jax.grad(lambda v: jnp.sum(use(x, v)))(w.value)

    def gradient() -> Any:
        with ag.GradientTape() as tape:
            loss = jnp.sum(use(x, w))
        return tape.gradient(loss, w)

    def twice(n: Any) -> Any:
        total = jnp.zeros(2)
        for _ in range(n):
            total += gradient()
        return total / n

    for found in (gradient(), ag.function(gradient)(), ag.function(twice)(2)):
        np.testing.assert_allclose(found, want, rtol=1e-6)


def traces() -> tuple[Any, Any]:
    """JAX's traces of a tape and of one in it."""
    with ag.GradientTape():
        outer = _jax.innermost_trace()
        with ag.GradientTape():
            return outer, _jax.innermost_trace()


def test_a_thread_uses_its_traces_again() -> None:
    """JAX's caches know each trace as another: with a new one for each tape they would be full soon, and all operations slow."""
    first = traces()
    assert first[0] is not first[1] and all(a is b for a, b in zip(traces(), first, strict=True))
    with ThreadPoolExecutor() as pool:
        others = pool.submit(traces).result()
    assert not any(a is b for a in others for b in first)


def test_tapes_that_generators_leave_open() -> None:
    w = ag.Variable(3.0)

    def recording(power: int) -> Iterator[Any]:
        with ag.GradientTape() as tape:
            y = w**power
            yield None
            z = y * w
        yield tape.gradient(z, w)

    one, other = recording(1), recording(2)
    next(one)
    next(other)
    assert float(next(other)) == 27.0
    assert float(next(one)) == 6.0
    del one, other
    with ag.GradientTape() as tape:
        y = w * w
    assert float(tape.gradient(y, w)) == 6.0


def test_tapes_in_threads() -> None:
    def slope(k: int) -> float:
        w = ag.Variable(float(k))
        with ag.GradientTape() as outer:
            with ag.GradientTape() as tape:
                y = w * w * w
            dy = tape.gradient(y, w)
        return float(outer.gradient(dy, w))

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(slope, range(20))] == [6.0 * k for k in range(20)]
