"""Names of JAX that are not public: when one moves, these tests name the file to mend."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime import _jax

FILE = "runtime/_jax.py has to follow a change of JAX"


def test_the_trace_state_tells_whether_a_trace_is_active() -> None:
    seen = []

    def f(x: jax.Array) -> jax.Array:
        seen.append(_jax.trace_state.value is _jax.eval_trace)
        return x

    f(jnp.ones(()))
    jax.jit(f)(1.0)
    jax.grad(f)(1.0)
    jax.vmap(f)(jnp.ones(2))
    assert seen == [True, False, False, False], FILE
    assert _jax.trace_state.value is _jax.eval_trace, FILE


def test_staging_tells_recording_from_evaluating() -> None:
    seen = []

    def f(x: jax.Array) -> jax.Array:
        seen.append(_jax.staging())
        return x

    jax.jit(f)(1.0)
    jax.grad(f)(1.0)
    jax.vmap(f)(jnp.ones(2))
    assert seen == [True, False, False], FILE


def test_a_trace_keeps_outer_tracers_as_constants() -> None:
    def f(x: jax.Array) -> jax.Array:
        jaxpr, consts = _jax.trace(lambda y: [y * x], [_jax.aval_of(jnp.float32(1))])
        assert len(jaxpr.constvars) == len(consts) == 1 and consts[0] is x, FILE
        return x

    jax.jit(f)(2.0)


def test_concrete_values_are_recognised() -> None:
    seen = []

    def f(x: jax.Array) -> jax.Array:
        seen.append(_jax.concrete(x))
        return x

    jax.grad(f)(1.0)
    jax.jit(f)(1.0)
    assert seen == [True, False], FILE


def test_scan_can_be_bound() -> None:
    body, _ = _jax.trace(lambda c, s, x: [s + x * c], [_jax.aval_of(jnp.float32(1))] * 3)
    closed = _jax.jaxpr_with(body, body.invars, body.outvars, body.eqns)

    def f(c: jax.Array, s: jax.Array, xs: jax.Array) -> jax.Array:
        (out,) = _jax.bind_scan(closed, [c], [s], [xs], 3, 1)
        return out

    assert float(jax.jit(f)(jnp.float32(2), jnp.float32(0), jnp.arange(3.0))) == 6.0, FILE
    assert float(jax.grad(f)(jnp.float32(2), jnp.float32(0), jnp.arange(3.0))) == 3.0, FILE


def test_a_type_can_be_made_weak() -> None:
    assert _jax.convert_type(jnp.float32(1), jnp.dtype("float32"), True).weak_type, FILE
    assert hasattr(lax, "cond_p") and hasattr(lax, "while_p") and hasattr(lax, "scan_p"), FILE
