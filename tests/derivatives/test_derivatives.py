"""Derivatives of every staged construct, against the same function as Python runs it."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph as ag
from autograph.runtime.errors.errors import NotDifferentiableError
from autograph.runtime.loops.derivatives import pullback
from tests.harness import assert_same

pytestmark = [pytest.mark.usefixtures("quick_compilation"), pytest.mark.one_python]


W = jnp.array([[0.3, -0.2, 0.1], [0.4, 0.25, -0.3], [-0.1, 0.35, 0.2]], jnp.float32)
X = jnp.array([0.5, -0.4, 0.9], jnp.float32)
XS = jnp.stack([X, X * 0.5, -X, X + 1])
NS = jnp.array([3, 0, 5, 1])


def step(w, x):
    return jnp.tanh(w @ x) + 0.1 * x


def counted(x, w, n):
    i = 0
    while i < n:
        x = step(w, x)
        i += 1
    return (x**2).sum()


def until_small(x, w, n):
    while (x**2).sum() > 0.05 * n:
        x = step(w, x) * 0.8
    return x.sum()


def with_break(x, w, n):
    total = 0.0
    for i in range(n):
        x = step(w, x)
        if (x**2).sum() < 0.01:
            break
        total += x[0] * i
    return total + x.sum()


def with_continue(x, w, n):
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            continue
        x = step(w, x)
        total = total + x.sum() * i
    return total


def with_return(x, w, n):
    i = 0
    while i < n:
        x = step(w, x)
        if x.sum() < -0.2:
            return x[0] * 3
        i += 1
    return x.sum()


def nested(x, w, n):
    i = 0
    while i < n:
        y = x
        j = 0
        while j < i:
            y = step(w, y) + 0.1 * x
            j += 1
        x = y * 0.9 + 0.2 * x
        i += 1
    return (x**2).sum()


def branch_in_loop(x, w, n):
    i = 0
    while i < n:
        if x.sum() > 0.3:
            x = step(w, x)
        else:
            x = jnp.sin(x) + 0.4
        i += 1
    return x.sum()


def loop_in_branch(x, w, n):
    if n > 2:
        i = 0
        while i < n:
            x = step(w, x)
            i += 1
    else:
        x = jnp.cos(x)
    return x.sum()


def optional(x, w, n):
    best = None
    i = 0
    while i < n:
        x = step(w, x) + 0.3
        if best is None or x.sum() < best:
            best = x.sum()
        i += 1
    return x[0] if best is None else best * 2


def unset(x, w, n):
    found = False
    i = 0
    while i < n:
        x = step(w, x)
        if x[1] > 0:
            found = True
            at = x[1]
        i += 1
    return at * 3 if found else x.sum()


def containers(x, w, n):
    state = {"x": x, "pair": (x.sum(), 0)}
    while state["pair"][1] < n:
        s, k = state["pair"]
        state["x"] = step(w, state["x"])
        state["pair"] = (s + state["x"][0], k + 1)
    return state["pair"][0] + state["x"].sum()


def written(x, w, n):
    rows = jnp.zeros((6, 3))
    i = 0
    while i < n:
        x = step(w, x)
        rows[i] = x
        i += 1
    return (rows**2).sum()


def keys(x, w, n):
    key = jax.random.key(3)
    i = 0
    while i < n:
        key, one = jax.random.split(key)
        x = step(w, x) + 0.1 * jax.random.normal(one, (3,))
        i += 1
    return x.sum()


def raising(x, w, n):
    i = 0
    while i < n:
        x = step(w, x)
        if x[0] > 100:
            raise ValueError("too large")
        assert x[1] < 100
        i += 1
    return x.sum()


def deep(x, w, n):
    while n > 0:
        k = 0
        while k < 2:
            if x[0] > 0:
                m = 0
                while m < n:
                    x = x + 0.05 * step(w, x)
                    m += 1
            else:
                x = x + 0.2
            k += 1
        n = n - 1
    return (x**3).sum()


def scalar_rule(x, w, n):
    """A value that only the number of turns depends on."""
    t = x[0] ** 2 + 0.1
    while t < 4.0:
        t = t * 1.5 + 0.2
    return t * w[0, 0]


CONSTRUCTS = [
    counted, until_small, with_break, with_continue, with_return, nested, branch_in_loop, loop_in_branch, optional, unset, containers, written, keys,
    raising, deep, scalar_rule,
]  # fmt: skip


class Transform(NamedTuple):
    """A transformation of a function of x and w, and of n."""

    name: str
    of: Callable[[Callable[..., Any]], Callable[..., Any]]
    truth: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None  # what it gives, if Python cannot run it

    def of_python(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The transformation of the function as Python runs it, on concrete values; what stores into arrays is converted."""
        return (self.truth or self.of)(ag.convert(f) if f is written else f)


TRANSFORMS = [
    Transform("grad", lambda f: jax.grad(f, (0, 1))),
    Transform("value_and_grad", lambda f: jax.value_and_grad(f, (0, 1))),
    Transform("jvp", lambda f: lambda x, w, n: jax.jvp(lambda x, w: f(x, w, n), (x, w), (x + 1, w * 0.5))),
    Transform("linearize", lambda f: lambda x, w, n: (lambda out, lin: (out, lin(x + 1, w)))(*jax.linearize(lambda x, w: f(x, w, n), x, w))),
    Transform("vjp", lambda f: lambda x, w, n: jax.vjp(lambda x, w: f(x, w, n), x, w)[1](jnp.float32(2))),
    Transform("jacfwd", lambda f: lambda x, w, n: jax.jacfwd(lambda x: f(x, w, n))(x)),
    Transform("jacrev", lambda f: lambda x, w, n: jax.jacrev(lambda x: f(x, w, n))(x)),
    Transform("checkpoint", lambda f: jax.grad(jax.checkpoint(f), (0, 1)), lambda f: jax.grad(f, (0, 1))),
    Transform("hessian", lambda f: lambda x, w, n: jax.hessian(lambda x: f(x, w, n))(x)),
    Transform("grad of grad", lambda f: lambda x, w, n: jax.grad(lambda w: jax.grad(f)(x, w, n).sum())(w)),
]
GRADIENT = TRANSFORMS[0]


def compiled(f: Callable[..., Any], transform: Transform, around: Callable[..., Any] = lambda g: g) -> Callable[..., Any]:
    """A transformation of the converted function, compiled; one that may read an unset variable needs somebody to read errors."""
    if f is unset:
        return ag.function(lambda x, w, n: around(transform.of(f))(x, w, n))  # type: ignore[no-any-return]
    return jax.jit(around(transform.of(ag.convert(f))))


close = partial(assert_same, rtol=3e-4, atol=3e-5)


FEW = [t for t in TRANSFORMS if t.name in ("grad", "hessian")]
PAIRS = [pytest.param(f, t, id=f"{f.__name__}-{t.name}") for f in CONSTRUCTS for t in (TRANSFORMS if f is branch_in_loop else FEW)]


@pytest.mark.parametrize(("f", "transform"), PAIRS)
def test_transforms(f: Callable[..., Any], transform: Transform) -> None:
    """Under `jax.jit`, where nothing is known."""
    converted = compiled(f, transform)
    for n in (0, 1, 4):
        want = transform.of_python(f)(X, W, n)
        close(converted(X, W, n), want)


@pytest.mark.parametrize(("f", "transform"), [
    pytest.param(f, t, id=f"{f.__name__}-{t.name}") for f in CONSTRUCTS for t in (FEW if f in (counted, nested) else [GRADIENT])
])  # fmt: skip
def test_lanes(f: Callable[..., Any], transform: Transform) -> None:
    """Lanes with numbers of turns of their own."""
    got = compiled(f, transform, lambda g: jax.vmap(g, (0, None, 0)))(XS, W, NS)
    rows = [transform.of_python(f)(x, W, int(n)) for x, n in zip(XS, NS, strict=True)]
    close(got, jax.tree.map(lambda *a: jnp.stack(a), *rows))


@pytest.mark.parametrize("f", [counted, nested, loop_in_branch, unset, keys], ids=lambda f: f.__name__)
def test_the_gradient_of_all_lanes(f: Callable[..., Any]) -> None:
    g = f if f is unset else ag.convert(f)

    def whole(xs, w):
        return jax.grad(lambda xs, w: jax.vmap(g, (0, None, 0))(xs, w, NS).sum(), (0, 1))(xs, w)

    got = (ag.function if f is unset else jax.jit)(whole)(XS, W)
    rows = [GRADIENT.of_python(f)(x, W, int(n)) for x, n in zip(XS, NS, strict=True)]
    close(got, (jnp.stack([r[0] for r in rows]), sum(r[1] for r in rows)))


@pytest.mark.parametrize("f", [counted, with_break, nested, raising], ids=lambda f: f.__name__)
def test_of_an_ag_function(f: Callable[..., Any]) -> None:
    g = ag.function(f)
    close(jax.grad(g, (0, 1))(X, W, 4), jax.grad(f, (0, 1))(X, W, 4))
    close(ag.function(lambda x, w, n: jax.grad(f)(x, w, n))(X, W, 4), jax.grad(f)(X, W, 4))


def test_closed_over_values_have_gradients() -> None:
    def f(w, n):
        scale = w * 2

        def turn(x):
            return step(scale, x)

        x, i = X, 0
        while i < n:
            x = turn(x)
            i += 1
        return x.sum()

    close(jax.jit(jax.grad(ag.convert(f)))(W, 5), jax.grad(f)(W, 5))


def test_an_error_while_differentiating() -> None:
    def f(x, w, n):
        i = 0
        while i < n:
            x = x * 3
            if x[0] > 100:
                raise ValueError("too large")
            i += 1
        return x.sum()

    g = ag.function(lambda x, w, n: jax.grad(f)(x, w, n))
    close(g(X, W, 2), jnp.full(3, 9.0))
    with pytest.raises(ValueError, match="too large"):
        g(X, W, 20)


def test_a_third_derivative() -> None:
    def f(x, n):
        i = 0
        while i < n:
            x = jnp.sin(x) * 1.5
            i += 1
        return x

    third = lambda f: jax.grad(jax.grad(jax.grad(f)))  # noqa: E731
    close(jax.jit(third(ag.convert(f)))(0.7, 4), third(f)(0.7, 4))


def test_newtons_method_agrees_with_the_implicit_function_theorem() -> None:
    @ag.function
    def root(a):
        x = a
        while abs(x * x - a) > 1e-6:
            x = 0.5 * (x + a / x)
        return x

    close(jax.grad(root)(2.0), 0.5 / np.sqrt(2.0))


def test_half_precision_and_complex() -> None:
    @ag.convert
    def power(x, n):
        i = 0
        while i < n:
            x = x * x
            i += 1
        return x.sum()

    g = jax.jit(jax.grad(power))(jnp.ones(3, jnp.bfloat16), 3)
    assert g.dtype == jnp.bfloat16 and g[0] == 8

    def orbit(x, n):
        z = x.astype(jnp.complex64)
        i = 0
        while i < n:
            z = z * z * (0.5 + 0.3j) + x
            i += 1
        return (abs(z) ** 2).sum()

    close(jax.jit(jax.grad(ag.convert(orbit)))(X, 4), jax.grad(orbit)(X, 4))


@jax.custom_vjp
def doubled_sine(v):
    return jnp.sin(v)


doubled_sine.defvjp(lambda v: (jnp.sin(v), v), lambda v, c: (c * jnp.cos(v) * 2,))


@jax.custom_jvp
def tripled_sine(v):
    return jnp.sin(v)


tripled_sine.defjvp(lambda v, t: (jnp.sin(v[0]), 3 * jnp.cos(v[0]) * t[0]))


@pytest.mark.parametrize("rule", [doubled_sine, tripled_sine], ids=["custom_vjp", "custom_jvp"])
def test_custom_rules_in_a_turn(rule: Any) -> None:
    def f(x, n):
        i = 0
        while i < n:
            x = rule(x) + x
            i += 1
        return x.sum()

    g = ag.convert(f)
    close(jax.jit(jax.grad(g))(X, 3), jax.grad(f)(X, 3))
    close(jax.jit(jax.jacrev(jax.grad(g)))(X, 3), jax.jacrev(jax.grad(f))(X, 3))


def test_lanes_that_have_stopped_have_no_nan() -> None:
    def f(x, n):
        i = 0
        while i < n:
            x = jnp.sqrt(x - 1)
            i += 1
        return x

    got = jax.jit(jax.vmap(jax.grad(ag.convert(f))))(jnp.array([3.0, 2.0, 1.0]), jnp.array([2, 1, 0]))
    close(got, jnp.stack([jax.grad(f)(x, n) for x, n in ((3.0, 2), (2.0, 1), (1.0, 0))]))


def test_a_turn_is_printed_once(capsys: Any) -> None:
    @ag.function
    def f(x, n):
        i = 0
        while i < n:
            print("turn", i)
            x = jnp.sin(x)
            i += 1
        return x.sum()

    jax.block_until_ready(jax.grad(f)(X, 3))
    jax.effects_barrier()
    assert capsys.readouterr().out.split() == ["turn", "0", "turn", "1", "turn", "2"]


def test_a_loop_that_is_not_differentiated_is_jaxs_own() -> None:
    def by_hand(x, w, n):
        return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, step(w, s[1])), (0, x))[1]

    @ag.convert
    def f(x, w, n):
        i = 0
        while i < n:
            x, i = step(w, x), i + 1
        return x

    def operations(f: Any) -> Counter[str]:
        text = jax.jit(f).lower(X, W, 3).compile().as_text()
        return Counter(m.group(1) for m in re.finditer(r"= (?:\([^=]*\)|\S+) ([a-z][\w-]*)\(", text))

    assert operations(f) == operations(by_hand)
    assert operations(f)["while"] == 1


def test_what_has_no_derivative_names_the_loop() -> None:
    def f(x, n):
        i = 0
        while i < n:
            x = jax.pure_callback(np.sin, jax.ShapeDtypeStruct((3,), jnp.float32), x)
            i += 1
        return x.sum()

    with pytest.raises(NotDifferentiableError, match="AG602") as caught:
        jax.jit(jax.grad(ag.convert(f)))(X, 3)
    assert caught.value.place is not None and caught.value.place.file == __file__


ROTATION = jnp.asarray(np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0], jnp.float32)


def turn(w, x, i):
    """It keeps the norm, so that a turn that is left out is seen."""
    return w @ x + 1e-2 * jnp.sin(x * (1 + 0.1 * (i % 5)))


@functools.cache
def by_scan(n: int) -> Any:
    """The value after `n` iterations and its gradients, by a scan of known length."""

    def loss(w, x):
        return (lax.scan(lambda x, i: (turn(w, x, i), None), x, jnp.arange(n))[0] * X).sum()

    return jax.jit(jax.value_and_grad(loss, (0, 1)))(ROTATION, X)


@pytest.mark.parametrize(
    ("limits", "hints"),
    [
        ({}, {}), ({"DENSE": 1}, {}), ({"DENSE": 1, "REACH": 64}, {}), ({"REACH": 64}, {}), ({"SHORT": 64}, {}), ({}, {"checkpoints": 2}),
        ({}, {"checkpoints": 7}),
    ],
    ids=["residuals", "states", "blocks of states", "blocks of residuals", "small buffers", "checkpoints=2", "checkpoints=7"],
)  # fmt: skip
def test_numbers_of_turns_around_every_buffer(limits: dict[str, int], hints: dict[str, int], monkeypatch: Any) -> None:
    """Every iteration counts; against a scan of known length."""
    for name, value in limits.items():
        monkeypatch.setattr(pullback, name, value)

    @ag.convert
    def loss(w, x, n):
        i = 0
        with ag.loop(**hints):
            while i < n:
                x = turn(w, x, i)
                i += 1
        return (x * X).sum()

    gradient = jax.jit(jax.value_and_grad(loss, (0, 1)))
    for n in (0, 1, 2, 3, 6, 7, 8, 15, 16, 17, 49, 63, 64, 65, 127, 128, 129, 200):
        got = gradient(ROTATION, X, n)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(by_scan(n)), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3 * max(1.0, float(jnp.abs(b).max())))


def test_more_turns_than_max_steps() -> None:
    @ag.convert
    def f(x, exceeded="nan"):
        with ag.loop(max_steps=5, exceeded=exceeded):
            while x < 10:
                x = x * 1.5
        return x

    value, slope = jax.jit(jax.value_and_grad(f))(5.0)
    assert (value, slope) == (11.25, 2.25)
    value, slope = jax.jit(jax.value_and_grad(f))(0.1)
    assert jnp.isnan(value)
    with pytest.raises(ag.AutographError, match="AG503"):
        ag.function(f, static_argnames="exceeded")(0.1, exceeded="error")
    with pytest.raises(ValueError, match="'error' or 'nan'"):
        ag.loop(max_steps=5, exceeded="zero")
    with pytest.raises(ValueError, match="at least 2"):
        ag.loop(checkpoints=1)


def test_on_a_mesh_of_two_devices() -> None:
    program = Path(__file__).parents[1] / "corpora" / "programs" / "mesh.py"
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok") == 7
