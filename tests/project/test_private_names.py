"""Names of JAX that are not public: when one moves, these tests name the file to mend."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from autograph.runtime.jaxapi import scans
from autograph.runtime.jaxapi import traces as _jax

pytestmark = pytest.mark.always

FILE = "runtime/jaxapi/traces.py has to follow a change of JAX"


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
        (out,) = scans.bind_scan(closed, [c], [s], [xs], 3, 1)
        return out

    assert float(jax.jit(f)(jnp.float32(2), jnp.float32(0), jnp.arange(3.0))) == 6.0, FILE
    assert float(jax.grad(f)(jnp.float32(2), jnp.float32(0), jnp.arange(3.0))) == 3.0, FILE


def test_a_type_can_be_made_weak() -> None:
    assert _jax.convert_type(jnp.float32(1), jnp.dtype("float32"), True).weak_type, FILE
    assert hasattr(lax, "cond_p") and hasattr(lax, "while_p") and hasattr(lax, "scan_p"), FILE


def test_the_current_trace_and_who_made_a_tracer() -> None:
    seen = []

    def f(x: jax.Array) -> jax.Array:
        outer = _jax.current_trace()

        def g(y: jax.Array) -> jax.Array:
            seen.append((_jax.current_trace() is outer, _jax.made_here(x), _jax.made_here(y)))
            return y

        jax.make_jaxpr(g)(1.0)
        seen.append((_jax.current_trace() is outer, _jax.made_here(x), _jax.recording()))
        return x

    jax.jit(f)(1.0)
    assert seen == [(False, False, True), (True, True, True)], FILE
    assert not _jax.recording(), FILE


def test_a_primitive_is_bound_in_an_outer_trace() -> None:
    p = _jax.Primitive("constant_of_a_test")
    p.def_abstract_eval(lambda: _jax.ShapedArray((), jnp.float32))

    def f(x: jax.Array) -> jax.Array:
        outer = _jax.current_trace()
        return jax.vmap(lambda y: y + _jax.bind_in(outer, p))(jnp.ones(2)) + x

    equations = jax.make_jaxpr(f)(1.0).eqns
    assert equations[0].primitive.name in ("constant_of_a_test", "broadcast_in_dim"), FILE
    assert any(e.primitive is p for e in equations), FILE


def test_equations_are_counted_while_they_are_recorded() -> None:
    seen = []

    def f(x: jax.Array) -> jax.Array:
        before = _jax.equations()
        y = jnp.sin(x) + jnp.cos(x)
        seen.append(_jax.equations() - before)
        return y

    jax.make_jaxpr(f)(1.0)
    assert seen == [3] and _jax.equations() == 0, FILE


def test_a_turn_that_changes_nothing_once_the_code_is_set() -> None:
    body = jax.make_jaxpr(lambda c, code, x: (c + x, code))(1.0, jnp.int32(0), 1.0)
    turn = scans.unless(body, 1, range(2))
    out = scans.bind_scan(turn, [], [jnp.float32(1), jnp.int32(0)], [jnp.arange(3.0)], 3, 1)
    assert float(out[0]) == 4, FILE
    out = scans.bind_scan(turn, [], [jnp.float32(1), jnp.int32(7)], [jnp.arange(3.0)], 3, 1)
    assert (float(out[0]), int(out[1])) == (1, 7), FILE


def test_errors_leave_without_frames_of_ours() -> None:
    @_jax.boundary
    def f() -> None:
        raise ValueError("text")

    try:
        f()
    except ValueError as error:
        tb, names = error.__traceback__, []
        while tb is not None:
            names.append(tb.tb_frame.f_code.co_name)
            tb = tb.tb_next
    assert names == ["test_errors_leave_without_frames_of_ours", "f"], FILE


def test_a_newer_jax_is_told() -> None:
    from autograph.runtime.jaxapi.versions import TESTED, check

    check((*TESTED, 9))
    with pytest.warns(UserWarning, match=r"JAX 0\.99\.1 is newer than any .*install `jax<"):
        check((0, 99, 1))
