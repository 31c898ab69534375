"""Models, optimizers and training states of equinox, optax and flax as loop variables, branch results, attributes and items of lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.harness import assert_same

pytestmark = pytest.mark.libraries

KEY = jax.random.key(0)
X = jax.random.normal(KEY, (16, 3))
Y = X.sum(1)


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed")


def as_in_python(f: Callable[..., Any], *args: Any, turns: int) -> None:
    want = f(*args, turns)
    got = ag.function(f)(*args, jnp.int32(turns))
    assert_same(got, want, rtol=1e-3, atol=1e-4)


@pytest.fixture
def eqx() -> Any:
    return library("equinox")


@pytest.fixture
def Affine(eqx: Any) -> Any:
    class Affine(eqx.Module):
        w: jax.Array
        b: jax.Array = eqx.field(converter=jnp.asarray)
        act: Any = eqx.field(static=True, default=jax.nn.relu)
        n: int = 3

        def __check_init__(self) -> None:
            if self.b.ndim:
                raise ValueError("b is a number")

        def __call__(self, x: Any) -> Any:
            if x.sum() > 0:
                return self.act(self.w @ x + self.b)
            return self.w @ x - self.b

    return Affine


def loss_of(model: Any, x: Any, y: Any) -> Any:
    return jnp.mean((jax.vmap(model)(x)[:, 0] - y) ** 2)


def test_a_module_in_a_branch_a_loop_and_a_list(eqx: Any, Affine: Any) -> None:
    def f(x: Any, n: Any) -> Any:
        first = Affine(jnp.eye(3), 0.5)
        models = [first, first]
        best = None
        for i in range(n):
            models[0] = eqx.tree_at(lambda m: m.b, models[0], models[0].b + 1)
            if x.sum() > i:
                models[1] = models[0]
            if best is None or models[1].b > best.b:
                best = models[1]
        return [m.b for m in models], models[1](x), -1.0 if best is None else best.b

    for turns in (0, 1, 4):
        as_in_python(f, jnp.ones(3), turns=turns)
    assert float(ag.function(lambda m, x: m(x) if x[0] > 0 else x)(Affine(jnp.eye(3), 0.5), jnp.ones(3))[0]) == 1.5


def test_training_keeps_the_best(eqx: Any) -> None:
    optax = library("optax")

    def fit(x: Any, y: Any, steps: Any) -> Any:
        model = best = eqx.nn.MLP(3, 1, 8, 2, key=KEY)
        opt = optax.adam(1e-2)
        state, least = opt.init(eqx.filter(model, eqx.is_array)), jnp.inf
        for _ in range(steps):
            loss, grads = eqx.filter_value_and_grad(loss_of)(model, x, y)
            updates, state = opt.update(grads, state, model)
            model = eqx.apply_updates(model, updates)
            if loss < least:
                least, best = loss, model
        return least, jax.vmap(best)(x)

    as_in_python(fit, X, Y, turns=5)


def test_a_trainer_holds_its_model(eqx: Any) -> None:
    optax = library("optax")

    class Trainer:
        def __init__(self) -> None:
            self.model = eqx.nn.MLP(3, 1, 4, 1, key=KEY)
            self.opt = optax.sgd(0.1, momentum=0.9)
            self.state = self.opt.init(eqx.filter(self.model, eqx.is_array))
            self.best, self.least = None, jnp.inf

        def fit(self, x: Any, y: Any, steps: Any) -> Any:
            for _ in range(steps):
                loss, grads = eqx.filter_value_and_grad(loss_of)(self.model, x, y)
                updates, self.state = self.opt.update(grads, self.state)
                self.model = eqx.apply_updates(self.model, updates)
                if loss < self.least:
                    self.least, self.best = loss, self.model
            return self.least

    python, compiled = Trainer(), Trainer()
    want, got = python.fit(X, Y, 4), ag.function(Trainer.fit)(compiled, X, Y, jnp.int32(4))
    np.testing.assert_allclose(got, want, rtol=1e-3)
    for a, b in ((python.model, compiled.model), (python.best, compiled.best), (python.state, compiled.state)):
        jax.tree.map(lambda p, q: np.testing.assert_allclose(p, q, rtol=1e-3, atol=1e-4), eqx.filter(a, eqx.is_array), eqx.filter(b, eqx.is_array))


def test_state_of_equinox_in_a_branch(eqx: Any) -> None:
    class Counter(eqx.Module):
        index: Any

        def __init__(self) -> None:
            self.index = eqx.nn.StateIndex(jnp.array(0))

        def __call__(self, x: Any, state: Any) -> Any:
            seen = state.get(self.index)
            if x > 0:
                state = state.set(self.index, seen + 1)
            return state

    def f(x: Any, n: Any) -> Any:
        model, state = eqx.nn.make_with_state(Counter)()
        for i in range(n):
            state = model(x - i, state)
        return state.get(model.index)

    as_in_python(f, 2.0, turns=4)


def test_batch_norm_in_a_loop(eqx: Any) -> None:
    class Net(eqx.Module):
        norm: Any
        linear: Any

        def __init__(self, key: Any) -> None:
            self.norm = eqx.nn.BatchNorm(3, axis_name="batch", mode="batch")
            self.linear = eqx.nn.Linear(3, 1, key=key)

        def __call__(self, x: Any, state: Any) -> Any:
            x, state = self.norm(x, state)
            return self.linear(x), state

    def f(x: Any, n: Any) -> Any:
        model, state = eqx.nn.make_with_state(Net)(KEY)
        total = 0.0
        for _ in range(n):
            y, state = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)
            if y.sum() > 0:
                total = total + y.sum()
            else:
                total = total - 2 * y.sum()
        return total

    as_in_python(f, X, turns=3)


def test_a_train_state_of_flax() -> None:
    nn, optax = library("flax.linen"), library("optax")
    TrainState = library("flax.training.train_state").TrainState

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return nn.Dense(1)(nn.relu(nn.Dense(4)(x)))

    def begin() -> Any:
        net = Net()
        return TrainState.create(apply_fn=net.apply, params=net.init(KEY, X), tx=optax.adam(1e-2))

    def step(state: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((state.apply_fn(p, x)[:, 0] - y) ** 2))(state.params)
        return loss, state.apply_gradients(grads=grads)

    def fit(x: Any, y: Any, steps: Any) -> Any:
        state = best = begin()
        least = jnp.inf
        for _ in range(steps):
            loss, state = step(state, x, y)
            if loss < least:
                least, best = loss, state
        return least, best.params, state.step

    as_in_python(fit, X, Y, turns=4)

    class Trainer:
        def __init__(self) -> None:
            self.state = begin()

        def fit(self, x: Any, y: Any, steps: Any) -> Any:
            for _ in range(steps):
                loss, self.state = step(self.state, x, y)
            return loss

    python, compiled = Trainer(), Trainer()
    want, got = python.fit(X, Y, 3), ag.function(Trainer.fit)(compiled, X, Y, jnp.int32(3))
    np.testing.assert_allclose(got, want, rtol=1e-3)
    assert int(compiled.state.step) == 3
