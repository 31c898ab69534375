"""`if`, ternaries, `and`/`or`/`not`, chained comparisons."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.sourced import define

INPUTS = (-3, -1, 0, 1, 2, 5)


def elif_chain(x: Any) -> Any:
    if x > 3:
        y = 1
    elif x > 1:
        y = 2
    elif x > -1:
        y = 3
    else:
        y = 4
    return y * x


def set_on_one_side(x: Any) -> Any:
    y = 10
    if x > 0:
        y = x
        x = x + 1
    return x + y


def set_on_both_sides(x: Any) -> Any:
    if x > 0:
        y, z = x, 1
    else:
        z = 2
        y = -x
    return y * z


def returns_in_some(x: Any) -> Any:
    if x > 2:
        return 1
    if x > 0:
        y = x
    else:
        if x < -1:
            return -1
        y = 2 * x
    return y


def guard_clauses(x: Any) -> Any:
    if x == 0:
        return 100
    if x == 1:
        return 200
    y = x * 2
    if y > 5:
        return y
    return -y


def nested(x: Any) -> Any:
    y = 0
    if x > 0:
        if x > 1:
            if x > 2:
                y = 3
            else:
                y = 2
        else:
            y = 1
    return y


def promoted(x: Any) -> Any:
    return 1 if x > 0 else 0.5


def promoted_variable(x: Any) -> Any:
    y = 1
    if x > 0:
        y = 2.5
    return y


def ternaries(x: Any) -> Any:
    return (1 if x > 3 else 2) if x > 0 else (3 if x < -2 else x)


def and_or_not(x: Any) -> Any:
    a = 1 if x > 0 and x < 3 else 0
    b = 2 if x < 0 or x > 4 else 0
    c = 4 if not x > 1 else 0
    d = 8 if not (x > 0 and not x == 1) or x == 5 else 0
    return a + b + c + d


def operands(x: Any) -> Any:
    return (x and 10) + (x or 20) + (x > 1 and x or -1)


def short_circuit(x: Any) -> Any:
    v = [1, 2, 3]
    i = 2
    return 1 if i < 3 and v[i] > 2 and x > 0 else 0


def truth_of_mixed_kinds(x: Any) -> Any:
    name = "here"
    if x > 0 and name:
        return 1
    if not name or x < -1:
        return 2
    return 3


def chained(x: Any) -> Any:
    return (1 if 0 <= x < 3 else 0) + (2 if -2 < x <= 2 < 4 else 0) + (4 if 0 < x + 1 < 3 < 5 else 0)


def tuples(x: Any) -> Any:
    p = (x, 1) if x > 0 else (0, x)
    return p[0] * 10 + p[1]


def pytrees(x: Any) -> Any:
    d = {"a": x, "b": (1, 2)}
    if x > 0:
        d = {"a": 0, "b": (x, 5)}
    return d["a"] + d["b"][0] * 10 + d["b"][1] * 100


def nothing_assigned(x: Any) -> Any:
    if x > 0:
        pass
    else:
        pass
    return x


def with_an_annotation(x: Any) -> Any:
    y: int
    if x > 0:
        y: int = 1
    else:
        y = 2
    return y


def walrus(x: Any) -> Any:
    if (y := x + 1) > 2 and y < 5:
        return y
    return -y


def captured(x: Any) -> Any:
    y = 1

    def get() -> Any:
        return y

    if x > 0:
        y = x
        z = get()
    else:
        z = get() + 1
    y = y + 1
    return get() * 10 + z


FUNCTIONS = [
    elif_chain, set_on_one_side, set_on_both_sides, returns_in_some, guard_clauses, nested, promoted, promoted_variable, ternaries, and_or_not, operands,
    short_circuit, truth_of_mixed_kinds, chained, tuples, pytrees, nothing_assigned, with_an_annotation, walrus, captured,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_python(f: Any, run: Any) -> None:
    g = run(f)
    for x in INPUTS:
        assert g(x) == f(x), x


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_under_vmap(f: Any) -> None:
    got = jax.vmap(ag.convert(f))(jnp.array(INPUTS))
    np.testing.assert_array_equal(got, [f(x) for x in INPUTS])


@pytest.mark.parametrize("f", [f for f in FUNCTIONS if f is not promoted], ids=lambda f: f.__name__)
def test_under_jvp(f: Any) -> None:
    """The tangent of the side that is taken, as eager differentiation gives it."""
    for x in (-2.5, 0.5, 2.25, 5.5):
        want = jax.jvp(f, (x,), (1.0,))
        got = jax.jit(lambda x, t, g=ag.convert(f): jax.jvp(g, (x,), (t,)))(x, 1.0)
        np.testing.assert_allclose(got[0], want[0])
        if getattr(want[1], "dtype", None) != jax.dtypes.float0:
            np.testing.assert_allclose(got[1], want[1])


def test_only_the_taken_side_is_differentiated() -> None:
    @ag.convert
    def f(x: Any) -> Any:
        return jnp.sqrt(x) if x > 0 else 0.0

    assert float(jax.jit(jax.grad(f))(0.0)) == 0.0  # a select would give nan


def test_small_branches_are_selects_and_others_are_not() -> None:
    small = jax.make_jaxpr(ag.convert(lambda x: x + 1 if x > 0 else 2 * x))(1.0)
    large = jax.make_jaxpr(ag.convert(lambda x: jnp.exp(x) if x > 0 else x))(1.0)
    assert "select_n" in str(small) and "cond[" not in str(small)
    assert "cond[" in str(large)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_predicate_has_one_element(shape: tuple[int, ...], run: Any) -> None:
    f = run(lambda p: 1 if p else 2)
    assert f(jnp.ones(shape)) == 1 and f(jnp.zeros(shape)) == 2


@pytest.mark.parametrize("shape", [(2,), (0,)])
def test_a_predicate_of_another_size_is_pythons_error(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"AG204.*truth value of an.*ambiguous"):
        jax.jit(ag.convert(lambda p: 1 if p else 2))(jnp.ones(shape))


def test_weak_types_are_kept() -> None:
    f = jax.jit(ag.convert(lambda x, c: (1.0 if c else 2.0) * x))
    assert f(jnp.ones((), jnp.bfloat16), True).dtype == jnp.bfloat16
    g = jax.jit(ag.convert(lambda x, c: (1.0 if c else x) * x))
    assert g(jnp.ones((), jnp.bfloat16), True).dtype == jnp.bfloat16


@pytest.mark.parametrize("a", [True, 1, 1.5, 1j, np.float32(1), np.int8(1), np.arange(2.0), jnp.bfloat16(1)])
@pytest.mark.parametrize("b", [False, 2, 2.5, jnp.float32(2), np.int32(3)])
def test_the_joint_type_is_that_of_promotion(a: Any, b: Any) -> None:
    got = jax.jit(lambda c: ag.convert(lambda c: a if c else b)(c))(True)
    assert got.dtype == jnp.where(True, a, b).dtype and got.shape == jnp.where(True, a, b).shape


def test_strings_and_functions_ride_along() -> None:
    @ag.convert
    def f(x: Any) -> Any:
        mode, g = "a", jnp.sin
        if x > 0:
            x = x + 1
            mode = "a"
        return (x if mode == "a" else -x) + g(0.0)

    assert jax.jit(f)(1.0) == 2.0


def test_keys_can_be_chosen() -> None:
    @ag.convert
    def f(x: Any) -> Any:
        key = jax.random.key(0)
        if x > 0:
            key = jax.random.split(key)[0]
        return jax.random.key_data(key)

    np.testing.assert_array_equal(jax.jit(f)(-1), jax.random.key_data(jax.random.key(0)))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_no_tracer_leaks(f: Any) -> None:
    with jax.checking_leaks():
        jax.jit(ag.convert(f))(3)


def test_dicts_of_dicts_that_a_branch_makes() -> None:
    def f(params: Any, x: Any) -> Any:
        for _ in range(x.astype(int)):
            if x > 1:
                params = jax.tree.map(lambda p: p + x, params)
        return params

    params = {"net": {"dense": {"kernel": jnp.ones(2)}, "list": [jnp.zeros(1)]}}
    got = ag.function(f)(params, jnp.array(2.0))
    assert got["net"]["dense"]["kernel"].tolist() == [5, 5] and got["net"]["list"][0].tolist() == [4]
    assert params["net"]["dense"]["kernel"].tolist() == [1, 1]


@pytest.mark.parametrize("whole", [np.s_[:], np.s_[0:], np.s_[...], np.s_[0:3], np.s_[::1]], ids=str)
def test_a_store_of_a_whole_array_on_one_side(whole: Any) -> None:
    def once(w: Any, p: Any) -> Any:
        w = w.copy()
        if p:
            w[whole] = w * 2
        return w

    def often(w: Any, p: Any) -> Any:
        w = w.copy()
        for i in range(4):
            if p:
                w[whole] = w + 1
            elif i == 2:
                w[0] = 7.0
        return w

    def on_both(w: Any, p: Any) -> Any:
        w = w.copy()
        if p:
            w[whole] = w + 1
        else:
            w[whole] = w - 1
        return w

    w = np.array([0.75, 0.0, 1.25], np.float32)
    for f in (once, often, on_both):
        for p in (True, False):
            np.testing.assert_allclose(ag.function(f)(jnp.array(w), p), f(w, p))


GUARDS = {"bare": "return", "None": "return None", "value": "return n", "raise": "raise ValueError", "two": "return\n    if off is None: return"}
PLACES = {
    "a branch": "    if flag:\n        a = n * 2\n        log.append(lambda p: p + a)",
    "a nested branch": "    if flag:\n        if n > 0:\n            a = n * 2\n            log.append(lambda p: p + a)",
    "either side": "    if flag:\n        a = n * 2\n    else:\n        a = n * 3\n    log.append(lambda p: p + a)",
    "a loop": "    for k in range(2):\n        if flag:\n            a = n * k\n            log.append(lambda p: p + a)",
    "a function in it": "    if flag:\n        a = n * 2\n        def new(p): return p + a\n        log.append(new)\n        a = n * 4",
    "after another guard": "    if not flag: return\n    a = n * 2\n    log.append(lambda p: p + a)",
}


@pytest.mark.parametrize("end", ["", "\n    return n", "\n    return"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_and_a_closure_in_a_branch(guard: str, place: str, end: str) -> None:
    text = f"def f(log, n, flag, off=False):\n    if off: {GUARDS[guard]}\n{PLACES[place]}{end}\n"
    text += "def run(x):\n    log = []\n    f(log, 3, True); f(log, 3, False)\n    return x + sum([new(k) * 10 ** k for k, new in enumerate(log)])\n"
    plain = define(text, "run")
    for new in (ag.function(define(text, "run")), ag.convert(define(text, "run")), jax.jit(ag.convert(define(text, "run")))):
        assert float(new(jnp.float32(3.0))) == float(plain(jnp.float32(3.0))), text
