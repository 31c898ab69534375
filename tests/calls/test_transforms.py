"""`jax.grad`, `jax.vmap` and their kin inside converted code: errors and state of the function that they are given."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph as ag
from autograph.passes.callables import THREADED
from autograph.runtime.calls import transforms
from autograph.runtime.calls.transforms import is_transformation

Program = Callable[[Any], Any]


def log(x: Any) -> Any:
    if x <= 0:
        raise ValueError(f"log of {x}")
    return jnp.log(x)


def by_grad(x: Any) -> Any:
    return jax.grad(log)(x)


def by_value_and_grad(x: Any) -> Any:
    return jax.value_and_grad(log)(x)


def by_aux(x: Any) -> Any:
    def f(x: Any) -> Any:
        return log(x), {"double": 2 * x}

    slope, aux = jax.grad(f, has_aux=True)(x)
    (value, again), same = jax.value_and_grad(f, 0, True)(x)
    return slope, aux["double"], value, again["double"], same


def by_jvp(x: Any) -> Any:
    return jax.jvp(log, (x,), (1.0,))


def by_vjp(x: Any) -> Any:
    y, pull = jax.vjp(log, x)
    return y, pull(1.0)


def by_vjp_aux(x: Any) -> Any:
    y, pull, aux = jax.vjp(lambda x: (log(x), x + 1), x, has_aux=True)
    return y, pull(1.0), aux


def by_linearize(x: Any) -> Any:
    y, push = jax.linearize(log, x)
    return y, push(1.0)


def by_jacfwd(x: Any) -> Any:
    return jax.jacfwd(log)(x), jax.jacrev(log)(x)


def by_hessian(x: Any) -> Any:
    return jax.hessian(log)(x)


def by_grad_of_grad(x: Any) -> Any:
    return jax.grad(jax.grad(log))(x)


def by_checkpoint(x: Any) -> Any:
    return jax.grad(jax.checkpoint(log))(x) + jax.remat(log)(x)


def by_jit(x: Any) -> Any:
    return jax.jit(log)(x) + jax.jit(lambda n, x: log(x) * n, static_argnums=0)(2, x)


def by_vmap(x: Any) -> Any:
    return jax.vmap(log)(jnp.stack([x + 5, x, x - 1])).sum()


def by_scan(x: Any) -> Any:
    def turn(total: Any, d: Any) -> Any:
        return total + log(x + d), total

    return lax.scan(turn, 0.0, jnp.array([5.0, 0.0, -1.0]))


def by_reversed_scan(x: Any) -> Any:
    return lax.scan(lambda total, d: (total + log(x + d), None), 0.0, jnp.array([-1.0, 0.0, 5.0]), reverse=True)[0]


def by_map(x: Any) -> Any:
    return lax.map(lambda d: log(x + d), jnp.array([5.0, 0.0, -1.0]))


def in_a_branch(x: Any) -> Any:
    if x < 7:
        return jax.grad(log)(x)
    return x


def in_a_loop(x: Any) -> Any:
    total = 0.0
    while total < 3 and x > -5:
        total += jax.value_and_grad(log)(x)[0]
        x = x - 1.0
    return total, x


ALL = [f for f in list(globals().values()) if getattr(f, "__name__", "").startswith(("by_", "in_a_"))]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_an_error_is_raised_when_the_call_ends(f: Program) -> None:
    g = ag.function(f)
    unchecked = types.FunctionType(f.__code__, {**globals(), "log": jnp.log})
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), g(6.5), unchecked(jnp.array(6.5)))
    assert "callback" not in str(g.trace(6.5).jaxpr)
    with pytest.raises(ValueError) as caught:
        g(-1.5)
    assert str(caught.value) == "log of -1.5"
    assert caught.traceback[-1].name == "log"


def test_the_lowest_lane_fails_first() -> None:
    @ag.function
    def f(v: Any) -> Any:
        return jax.vmap(jax.grad(log), in_axes=0)(v), jax.vmap(jax.vmap(log))(v[None])

    jax.tree.map(np.testing.assert_allclose, f(jnp.array([1.0, 2.0])), (jnp.array([1.0, 0.5]), jnp.log(jnp.array([[1.0, 2.0]]))))
    with pytest.raises(ValueError, match="log of -3.0"):
        f(jnp.array([1.0, -3.0, -4.0]))


def test_no_lane_fails_where_there_is_none() -> None:
    @ag.function
    def f(v: Any) -> Any:
        return lax.map(log, v), lax.scan(lambda c, x: (c + log(x), None), 0.0, v)[0]

    assert f(jnp.zeros(0))[1] == 0


def test_the_first_error_wins() -> None:
    @ag.function
    def f(x: Any) -> Any:
        if x < -10:
            raise KeyError("first")
        y = jax.grad(log)(x)
        if x < 0:
            raise KeyError("last")
        return y

    with pytest.raises(KeyError, match="first"):
        f(-11.0)
    with pytest.raises(ValueError, match="log of -1.0"):
        f(-1.0)


def test_every_path_fails() -> None:
    def f(x: Any) -> Any:
        raise ValueError("never")

    @ag.function
    def g(x: Any) -> Any:
        if x > 0:
            return jax.grad(f)(x)
        return x

    assert g(-1.0) == -1
    with pytest.raises(ValueError, match="never"):
        g(1.0)


def test_a_program_without_checks_gets_no_equation() -> None:
    def f(x: Any) -> Any:
        return jax.value_and_grad(jnp.sin)(x), jax.vmap(jnp.cos)(x[None]), jax.jvp(jnp.sin, (x,), (x,)), lax.scan(lambda c, e: (c + e, e), x, x[None])

    got, want = ag.function(f).trace(jnp.array(1.0)).jaxpr, jax.jit(f).trace(jnp.array(1.0)).jaxpr
    assert [e.primitive for e in got.eqns] == [e.primitive for e in want.eqns]


def test_plain_jit_raises_by_a_callback() -> None:
    f = jax.jit(ag.convert(by_vmap))
    assert np.isfinite(f(3.0))
    with pytest.raises(jax.errors.JaxRuntimeError, match="log of 0.0"):
        jax.block_until_ready(f(0.0))
        jax.effects_barrier()


class Model:
    """Running statistics, which a loss updates."""

    def __init__(self) -> None:
        self.w, self.mean, self.calls, self.seen = jnp.array(2.0), jnp.array(0.0), 0, []

    def loss(self, w: Any, x: Any) -> Any:
        self.mean = 0.5 * self.mean + 0.5 * x.mean()
        self.calls += 1
        if w < 0:
            raise ValueError(f"w is {w}")
        return ((w * x - self.mean) ** 2).sum()

    @ag.function
    def step(self, x: Any) -> Any:
        value, slope = jax.value_and_grad(self.loss)(self.w, x)
        self.w = self.w - 0.125 * slope
        return value

    @ag.function
    def twice(self, x: Any) -> Any:
        return jax.jit(self.loss)(self.w, x) + jax.checkpoint(self.loss)(self.w, x)

    @ag.function
    def each(self, xs: Any) -> Any:
        return jax.vmap(lambda x: self.loss(self.w, x))(xs)

    @ag.function
    def scanned(self, xs: Any) -> Any:
        return lax.scan(lambda c, x: (c + self.loss(self.w, x), None), 0.0, xs)[0]


def test_state_that_a_loss_changes() -> None:
    m, x = Model(), jnp.array([1.0, 3.0])
    assert m.step(x) == (2 - 1) ** 2 + (6 - 1) ** 2
    assert (float(m.mean), int(m.calls)) == (1, 1)
    assert float(m.w) == 2 - 0.125 * (2 * 1 * 1 + 2 * 5 * 3)
    with pytest.raises(ValueError, match="w is -2.0"):
        m.step(x)
    assert (float(m.mean), int(m.calls)) == (1.5, 2)  # as Python: they changed before the error


def test_state_under_jit_and_checkpoint() -> None:
    m, x = Model(), jnp.array([1.0, 3.0])
    assert m.twice(x) == 1 + 25 + (2 - 1.5) ** 2 + (6 - 1.5) ** 2
    assert (float(m.mean), int(m.calls)) == (1.5, 2)


def test_state_of_lanes_and_turns_is_refused() -> None:
    for f, name in ((Model.each, "vmap"), (Model.scanned, "scan")):
        m = Model()
        with pytest.raises(ag.AutographError, match=f"`Model.mean` is changed under `{name}`") as caught:
            f(m, jnp.ones((3, 2)))
        assert caught.value.id == "AG405"
        assert (float(m.mean), m.calls) == (0, 0)


def test_nothing_changes_after_an_error() -> None:
    m = Model()

    @ag.function
    def f(x: Any) -> Any:
        if x[0] < 0:
            raise KeyError("early")
        return jax.grad(m.loss)(m.w, x)

    with pytest.raises(KeyError):
        f(jnp.array([-1.0, 3.0]))
    assert (float(m.mean), int(m.calls)) == (0, 0)
    f(jnp.array([1.0, 3.0]))
    assert (float(m.mean), int(m.calls)) == (1, 1)


@pytest.mark.parametrize("inner", [ag.function, lambda f: f])
def test_functions_in_functions(inner: Any) -> None:
    g = inner(log)

    @ag.function
    def f(x: Any) -> Any:
        return jax.vmap(jax.grad(g))(jnp.stack([x, x + 1])), jax.grad(lambda x: g(x) * 2)(x)

    np.testing.assert_allclose(f(1.0)[0], [1, 0.5])
    with pytest.raises(ValueError, match="log of -0.5"):
        f(-0.5)
    eager = jax.vmap(ag.function(log))
    np.testing.assert_allclose(eager(jnp.array([1.0])), [0])
    with pytest.raises(ValueError, match="log of -2.0"):
        eager(jnp.array([1.0, -2.0, -7.0]))
    with pytest.raises(ValueError, match="log of -2.0"):
        jax.grad(ag.function(log))(-2.0)


def by_cond(m: Model, x: Any) -> Any:
    return lax.cond(x[0] > 0, m.loss, lambda w, x: w, m.w, x)


def by_while(m: Model, x: Any) -> Any:
    return lax.while_loop(lambda w: w < 3, lambda w: m.loss(w, x) + 1, m.w)


def by_custom_jvp(m: Model, x: Any) -> Any:
    f = jax.custom_jvp(lambda w: m.loss(w, x))
    f.defjvps(lambda t, y, w: t)
    return f(m.w)


@pytest.mark.parametrize("f", [by_cond, by_while, by_custom_jvp], ids=lambda f: f.__name__)
def test_state_under_other_transformations_is_refused(f: Callable[..., Any]) -> None:
    m = Model()
    with pytest.raises(
        ag.AutographError, match=f"`Model.mean` is changed by a function under `{f.__name__[3:].replace('while', 'while_loop')}"
    ) as caught:
        ag.function(f)(m, jnp.ones(2))
    assert caught.value.id == "AG405" and (float(m.mean), m.calls, m.seen) == (0, 0, [])


def test_errors_under_other_transformations_are_raised_by_a_callback() -> None:
    f = ag.function(lambda x: lax.cond(x > 5, lambda x: x, log, x))
    assert f(6.0) == 6 and f(1.0) == 0
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match="log of -1.0"):
        jax.block_until_ready(f(-1.0))
        jax.effects_barrier()


def test_the_names_that_the_text_knows_are_those_that_the_runtime_threads() -> None:
    named = {functools.reduce(getattr, path.split(".")[1:], jax) for path in THREADED}
    assert all(map(is_transformation, named)) and named == transforms._KNOWN


def test_an_error_with_values_in_a_loop() -> None:
    @ag.function
    def f(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = x - jax.grad(log)(x)
        return x

    assert f(3.0, 2) == 3 - np.float32(1 / 3) - 1 / (3 - np.float32(1 / 3))
    with pytest.raises(ValueError, match="log of -1.5"):
        f(0.5, 3)


def of_a_local_list(x: Any) -> Any:
    found = []
    for k in range(3):
        found.append(x * k)
    return sum(found).sum()  # type: ignore[attr-defined]


SLOPE, LANES = jax.grad(of_a_local_list), jax.vmap(of_a_local_list)


def test_functions_that_jax_has_made_before_of_functions_with_lists_of_their_own() -> None:
    x = jnp.arange(4.0)
    np.testing.assert_allclose(ag.function(lambda x: SLOPE(x))(x), [3, 3, 3, 3])
    np.testing.assert_allclose(ag.function(lambda x: LANES(x))(jnp.ones((2, 3))), [9, 9])
    np.testing.assert_allclose(ag.function(jax.grad(of_a_local_list))(x), [3, 3, 3, 3])


def test_what_they_change_outside_is_still_refused() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append(x)
        return x.sum()

    slope = jax.grad(f)
    with pytest.raises(ag.AutographError, match="AG405"):
        ag.function(lambda x: slope(x))(jnp.arange(4.0))
    assert not seen
