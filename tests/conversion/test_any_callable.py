"""`ag.function` and `ag.convert` take any callable, and what it wraps is converted where it is the user's, also where converted code reaches it."""

# ruff: noqa
# mypy: ignore-errors

from __future__ import annotations

import os
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import autograph as ag


def f(x):
    if x > 1:
        return x**3
    return x * 5


c = ag.convert(f)


@ag.custom_gradient
def bounded(x):
    y = x * 3
    if y > 5:
        y = y * 2

    def grad(dy):
        return jnp.where(dy > 1, 1.0, dy)

    return y, grad


@jax.custom_jvp
def root(x):
    y = x
    while abs(y * y - x) > 1e-4:
        y = 0.5 * (y + x / y)
    return y


@root.defjvp
def rule(p, t):
    return root(*p), t[0] / (2 * root(*p))


@jax.custom_vjp
def root2(x):
    y = x
    while abs(y * y - x) > 1e-4:
        y = 0.5 * (y + x / y)
    return y


def fwd(x):
    r = root2(x)
    if r > 100:
        r = r
    return r, r


def bwd(r, g):
    if g > 100:
        return (g / r,)
    return (g / (2 * r),)


root2.defvjp(fwd, bwd)
grads = ag.gradients_function(f)


@functools.singledispatch
def sd(x):
    if x > 1:
        return x * 2
    return x


@functools.lru_cache
def cached(n):
    return n * 2


class C:
    def __call__(self, x):
        if x > 1:
            return x * 2
        return x

    def m(self, x):
        if x > 1:
            return x * 3
        return x

    @staticmethod
    def s(x):
        if x > 1:
            return x * 4
        return x

    @classmethod
    def k(cls, x):
        if x > 1:
            return x * 5
        return x


def deco(fn):
    @functools.wraps(fn)
    def inner(*a, **k):
        return fn(*a, **k) * 2

    return inner


@deco
def decorated(x):
    if x > 1:
        return x * 2
    return x


@functools.partial(jax.jit, static_argnums=1)
def st(x, n):
    for _ in range(n):
        if x > 1:
            x = x * 2
    return x


@functools.partial(jax.jit, static_argnames="n")
def st2(x, n=2):
    for _ in range(n):
        if x > 1:
            x = x * 2
    return x


def staircase(step):
    if step > 10:
        return 0.1
    return 1.0


SGD = optax.sgd(staircase)


def stepped(x):
    state = SGD.init(x)
    for _ in range(12):
        updates, state = SGD.update(jnp.ones_like(x), state)
        x = optax.apply_updates(x, updates)
    return x


CASES = {
    "grad_c": lambda: (ag.function(jax.grad(c))(2.0), 12),
    "jit_f": lambda: (ag.function(jax.jit(f))(2.0), 8),
    "jit_c": lambda: (ag.function(jax.jit(c))(2.0), 8),
    "sin": lambda: (ag.function(jnp.sin)(0.0), 0),
    "add": lambda: (ag.function(jnp.add)(1.0, 2.0), 3),
    "vmapsin": lambda: (ag.function(jax.vmap(jnp.sin))(jnp.zeros(1))[0], 0),
    "npsin": lambda: (ag.function(np.sin)(0.0), 0),
    "relu": lambda: (ag.function(jax.nn.relu)(-1.0), 0),
    "abs": lambda: (ag.function(abs)(-1.0), 1),
    "max": lambda: (ag.function(max)(-1.0, 2.0), 2),
    "len": lambda: (ag.convert(len)([1]), 1),
    "part": lambda: (ag.function(functools.partial(f))(2.0), 8),
    "partjit": lambda: (ag.function(functools.partial(jax.jit(f)))(2.0), 8),
    "sd": lambda: (ag.function(sd)(2.0), 4),
    "cj": lambda: (ag.function(root)(9.0), 3),
    "cv": lambda: (ag.function(root2)(9.0), 3),
    "grad_cj": lambda: (jax.grad(ag.function(root))(9.0), 1 / 6),
    "callable": lambda: (ag.function(C())(2.0), 4),
    "method": lambda: (ag.function(C().m)(2.0), 6),
    "static": lambda: (ag.function(C.s)(2.0), 8),
    "classm": lambda: (ag.function(C.k)(2.0), 10),
    "deco": lambda: (ag.function(decorated)(2.0), 8),
    "jitgrad": lambda: (ag.function(jax.jit(jax.grad(f)))(2.0), 12),
    "gradjit": lambda: (ag.function(jax.grad(jax.jit(f)))(2.0), 12),
    "gradjit_in": lambda: (ag.function(lambda x: jax.grad(jax.jit(f))(x))(2.0), 12),
    "jit_in": lambda: (ag.function(lambda x: jax.jit(f)(x))(2.0), 8),
    "st": lambda: (ag.function(st)(2.0, 2), 8),
    "st_in": lambda: (ag.function(lambda x: st(x, 2))(2.0), 8),
    "st2_in": lambda: (ag.function(lambda x: st2(x, n=2))(2.0), 8),
    "st2": lambda: (ag.function(st2)(2.0, n=2), 8),
    "remat": lambda: (ag.function(jax.checkpoint(f))(2.0), 8),
    "remat_in": lambda: (ag.function(lambda x: jax.checkpoint(f)(x))(2.0), 8),
    "grads": lambda: (ag.function(lambda x: grads(x)[0])(2.0), 12),
    "bounded": lambda: (ag.function(lambda x: jax.grad(bounded)(x))(2.0), 1),
    "root": lambda: (ag.function(lambda x: jax.grad(root)(x))(9.0), 1 / 6),
    "root2": lambda: (ag.function(lambda x: jax.grad(root2)(x))(9.0), 1 / 6),
    "rootv": lambda: (ag.function(lambda x: root(x))(9.0), 3),
    "root2v": lambda: (ag.function(lambda x: root2(x))(9.0), 3),
    "vmaproot": lambda: (ag.function(lambda x: jax.vmap(root)(x))(jnp.array([9.0]))[0], 3),
    "cached_in": lambda: (ag.function(lambda x: cached(3) * x)(2.0), 12),
    "cls": lambda: (ag.function(lambda x: C()(x))(2.0), 4),
    "vg": lambda: (ag.function(lambda x: jax.value_and_grad(jax.jit(f))(x)[1])(2.0), 12),
    "tree": lambda: (ag.function(lambda x: jax.tree.map(f, [x])[0])(2.0), 8),
    "schedule": lambda: (ag.function(stepped)(12.0), 0.9),
    "plain jit": lambda: (jax.jit(lambda x: jax.grad(ag.convert(root))(x))(9.0), 1 / 6),
}


@pytest.mark.parametrize("case", CASES)
def test_any_callable(case):
    value, wanted = CASES[case]()
    assert abs(float(value) - wanted) < 1e-3


def test_what_is_wrapped_stays_what_it_is():
    before = [vars(root)["fun"], vars(root)["jvp"], st.__wrapped__, SGD.update]
    for case in CASES.values():
        case()
    assert all(a is b for a, b in zip(before, [vars(root)["fun"], vars(root)["jvp"], st.__wrapped__, SGD.update]))
    with pytest.raises(jax.errors.TracerBoolConversionError):
        st(2.0, 2)
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(jax.grad(root))(9.0)


def test_a_jitted_helper_that_changes_state_or_fails():
    class Counter:
        n = 0

    counter = Counter()

    @jax.jit
    def helper(x):
        counter.n += 1
        assert x < 10, "too large"
        return x * 2

    @ag.function
    def run(x):
        return helper(x) + helper(x + 1)

    assert float(run(2.0)) == 10 and counter.n == 2
    with pytest.raises(AssertionError, match="too large"):
        run(9.5)


TRACES = []


@jax.jit
def straight(x, w):
    return jnp.tanh(x @ w) * 2.0


@jax.jit
def noted(x, w):
    TRACES.append(x)
    return jnp.tanh(x @ w) * 2.0


@jax.jit
def of_a_method(x, w):
    return x.predict(w)


def test_a_jitted_function_of_operations_is_called_as_it_is():
    from autograph.runtime.jaxapi.decorated import is_straight

    assert is_straight(straight.__wrapped__)
    assert not any(map(is_straight, (noted.__wrapped__, of_a_method.__wrapped__, st.__wrapped__, f)))
    x = jnp.eye(2)
    np.testing.assert_allclose(ag.function(lambda x: straight(straight(x, x), x))(x), straight(straight(x, x), x))


def test_a_file_that_imports_the_runtime_is_the_users(tmp_path):
    text = """
import autograph.runtime as rt


def f(x):
    if x > 0:
        return x * 2
    return -x
"""
    (tmp_path / "uses_the_runtime.py").write_text(text)
    space = {"__name__": "uses_the_runtime"}
    exec(compile(text, str(tmp_path / "uses_the_runtime.py"), "exec"), space)
    assert float(ag.function(space["f"])(3.0)) == 6 and "ag.cond" in ag.to_code(space["f"]).replace("rt.cond", "ag.cond")


@functools.partial(jax.jit, static_argnums=0)
def mapped(g, x):
    return jax.lax.map(g, x)


@functools.partial(jax.jit, static_argnums=0)
def first_of(t, x):
    return t[0](x)


@functools.partial(jax.jit, static_argnums=0)
def chosen(g, x):
    return jax.lax.cond(True, g, g, x)


@jax.jit
def filled(x):
    x[0:2] = 5.0
    return x


def bent(v):
    if v > 0:
        return v * 2
    return v


def test_functions_that_a_jitted_function_is_given():
    from autograph.runtime.jaxapi.decorated import is_straight

    x = jnp.array([1.0, -2.0, 3.0])
    assert not any(is_straight(g.__wrapped__) for g in (first_of, filled))
    np.testing.assert_allclose(ag.function(lambda x: mapped(bent, x))(x), [2, -2, 6])
    assert float(ag.function(lambda x: first_of((bent,), x))(3.0)) == 6
    np.testing.assert_allclose(ag.function(lambda x: filled(x))(x), [5, 5, 3])


def test_what_such_a_function_changes_in_a_loop():
    class Held:
        flag = 0

    held = Held()

    def marks(v):
        held.flag = 7
        return v * 2

    def loop(x):
        held.flag = 0
        while x < 20:
            x = chosen(marks, x)
        return x, held.flag

    try:
        got = ag.function(loop)(1.0)
    except ag.AutographError as error:
        assert error.id == "AG405"
    else:
        assert [float(v) for v in got] == [32, 7]


REGISTRY = """
def registry():
    held, last = [], None

    def register(f):
        nonlocal last
        held.append(f)
        last = f

    def run(x):
        for f in held:
            x = f(x)
        return x if last is None else last(x)

    return register, run
"""


def test_a_library_that_is_given_functions_later():
    """What was made of its function once would miss what it is given since."""
    space = {"__name__": "registering"}
    exec(compile(REGISTRY, f"{os.path.dirname(jax.__path__[0])}/registering.py", "exec"), space)
    register, run = space["registry"]()
    g = ag.convert(lambda x: run(x))
    register(lambda x: x + 1)
    assert float(jax.jit(lambda x: g(x))(1.0)) == 3
    register(lambda x: x * 10)
    assert float(jax.jit(lambda x: g(x))(1.0)) == 200
