"""State that objects of other libraries hold, in loops and data-dependent branches: as in plain Python.

Each program is a function that is made twice, `make(form)`: once to be compiled, and once to run as it is.
"""

import os
import subprocess
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.harness import assert_same

pytestmark = pytest.mark.libraries
os.environ.setdefault("KERAS_BACKEND", "jax")
X = jnp.array(np.random.RandomState(0).randn(20, 2), jnp.float32)
Y = X @ jnp.array([[1.0], [2.0]]) + 0.5


def plain(f):
    return f


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed: `pip install -e .[libraries]`")


def same(got, expected):
    assert_same(jax.tree.leaves(got), jax.tree.leaves(expected), rtol=2e-5, atol=2e-5)


# flax.nnx


@pytest.fixture
def nnx():
    return library("flax.nnx")


@pytest.fixture
def counter(nnx):
    class Counter(nnx.Module):
        def __init__(self):
            self.count = nnx.Variable(jnp.array(0.0))
            self.last = nnx.data(jnp.array(0.0))

        def __call__(self, x):
            self.count[...] = self.count[...] + 1
            return x * 2

        @ag.function
        def doubled_to(self, x, limit):
            while x < limit:
                x = self(x)
            return x

    return Counter


def compiled_nnx(nnx):
    return {"ag.function": ag.function, "nnx.jit": lambda f: nnx.jit(ag.convert(f)), "staged": lambda f: ag.function(lambda *a: ag.convert(f)(*a))}


FORMS = pytest.mark.parametrize("form", ["ag.function", "nnx.jit", "staged"])


@FORMS
def test_a_variable_in_a_branch_and_a_loop(nnx, counter, form):
    def program(c, x):
        if x > 0:
            x = c(x)
        for _ in range(3):
            if x < 20:
                x = c(x)
        while x < 100:
            c.count[...] *= 2
            x = x + 30
        return x

    results = []
    for f in (compiled_nnx(nnx)[form](program), program):
        c = counter()
        results.append([(f(c, jnp.float32(x)), c.count[...]) for x in (1, -1, 5, 200)])
    same(*results)


@FORMS
def test_training_until_it_is_good(nnx, form):
    optax = library("optax")

    def train(model, optimizer, X, Y):
        loss, steps = jnp.inf, 0
        while loss > 1e-4 and steps < 100:
            loss, gradients = nnx.value_and_grad(lambda m: ((m(X) - Y) ** 2).mean())(model)
            if steps % 3 != 2:
                optimizer.update(model, gradients)
            steps += 1
        return loss, steps

    results = []
    for f in (compiled_nnx(nnx)[form](train), train):
        model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.adam(0.2), wrt=nnx.Param)
        results.append((f(model, optimizer, X, Y), f(model, optimizer, X, -Y), nnx.state(model), nnx.state(optimizer)))
    same(*results)


def test_statistics_and_random_draws_follow_the_mode(nnx):
    class Net(nnx.Module):
        def __init__(self, rngs):
            self.layers = nnx.List([nnx.Linear(2, 3, rngs=rngs), nnx.BatchNorm(3, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)])

        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def program(net, x):
        if x.sum() > 0:
            y = net(x)
        else:
            y = net(-x) * 2
        return y

    results = []
    for f in (ag.function(program), program):
        net = Net(nnx.Rngs(0))
        found = []
        for mode in (net.train, net.eval, net.train):
            mode()
            found += [f(net, X), f(net, -X)]
        results.append((found, nnx.state(net)))
    same(*results)


def test_a_method_and_an_attribute(counter):
    c = counter()
    assert c.doubled_to(1.0, 10.0) == 16 and c.doubled_to(6.0, 10.0) == 12
    assert c.count[...] == 5

    @ag.function
    def keep(c, x):
        if x > 0:
            c.last = c.last + x

    keep(c, 3.0), keep(c, -1.0), keep(c, 4.0)
    assert c.last == 7


def test_what_a_function_closes_over_is_read_when_it_is_called(nnx):
    model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    f = ag.function(lambda x: model(x))
    first = f(X)
    model.kernel[...] = jnp.zeros((2, 1))
    assert jnp.any(first != 0) and not jnp.any(f(X))


@pytest.mark.parametrize("form", [plain, ag.function])
def test_a_tape_over_modules(nnx, form):
    model, norm = nnx.Linear(2, 1, rngs=nnx.Rngs(0)), nnx.BatchNorm(1, rngs=nnx.Rngs(0))

    def loss(weights):
        return ((X @ weights + model.bias[...]) ** 2).sum()

    @form
    def gradient():
        with ag.GradientTape() as tape:
            kernel = model.kernel[...]
            tape.watch(kernel)
            value = (model(X) ** 2).sum()
            norm(model(X))
        return tape.gradient(value, kernel)

    same(gradient(), jax.grad(loss)(model.kernel[...]))
    assert jnp.any(norm.mean[...] != 0)


def test_functional_states_are_loop_variables(nnx):
    graph, start = nnx.split(nnx.Linear(2, 2, rngs=nnx.Rngs(0)))

    def program(state, x):
        turns, best = 0, state
        while jnp.abs(x).sum() > 0.1 and turns < 10:
            state = jax.tree.map(lambda p: p * 0.5, state)
            x = nnx.merge(graph, state)(x)
            if turns < 2:
                best = state
            turns += 1
        return x, turns, state, best

    same(ag.function(program)(start, jnp.ones(2)), program(start, jnp.ones(2)))


def test_modules_made_inside(nnx):
    def program(x):
        model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
        for _ in range(5):
            if x.sum() > 0:
                model.kernel[...] = model.kernel[...] * 2
                x = x - 1
        return model(x)

    same(ag.function(program)(jnp.ones(2)), program(jnp.ones(2)))


@pytest.mark.parametrize("where", ["scan", "jit", "grad"])
def test_what_flax_refuses_is_refused(nnx, counter, where):
    """A Variable that a function under a transformation of JAX's own closes over."""
    c = counter()

    @ag.convert
    def step(x, y=0.0):
        return c(x), y

    with pytest.raises(library("flax.errors").TraceContextError):
        {
            "scan": lambda: ag.function(lambda x: jax.lax.scan(step, x, jnp.arange(3.0))[0])(1.0),
            "jit": lambda: jax.jit(step)(1.0),
            "grad": lambda: ag.function(lambda x: jax.grad(lambda x: step(x)[0])(x))(1.0),
        }[where]()
    assert c.count[...] == 0


# Keras


@pytest.fixture
def keras():
    keras = library("keras")
    if keras.backend.backend() != "jax":
        pytest.skip("Keras runs on another backend in this process")
    keras.utils.set_random_seed(0)
    return keras


def test_a_keras_variable_in_a_branch_and_a_loop(keras):
    def program(v, x):
        if x > 0:
            v.assign_add(x)
        while x < 100:
            v.assign(v * 2)
            x = x + 30
        return x * v

    results = []
    for f in (ag.function, plain):
        v = keras.Variable(jnp.array(1.0))
        results.append([(f(partial(program, v))(jnp.float32(x)), v.value) for x in (1, -1, 5, 200)])
    same(*results)


def test_keras_layers_and_metrics(keras):
    def make(form):
        norm, dropout, mean = keras.layers.BatchNormalization(), keras.layers.Dropout(0.5, seed=1), keras.metrics.Mean()
        norm.build((None, 2))

        @form
        def program(x, rows):
            if x.sum() > 0:
                x = norm(x, training=True)
            turns = 0
            while jnp.abs(x).sum() < 100 and turns < 4:
                x = dropout(x, training=True) + 1
                turns += 1
            for row in rows:
                if row > 0:
                    mean.update_state(row)
            return x, mean.result()

        rows = jnp.array([1.0, -2.0, 4.0])
        return [program(X, rows), program(-X, -rows)], norm.moving_mean.value, mean.result()

    same(make(ag.function), make(plain))


def test_a_keras_model_is_trained_by_the_tape(keras):
    def make(form):
        keras.utils.set_random_seed(0)
        model = keras.Sequential(
            [keras.Input((2,)), keras.layers.Dense(4, activation="tanh"), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
        )
        optimizer = keras.optimizers.Adam(0.05)
        optimizer.build(model.trainable_variables)

        @form
        def train(X, Y):
            loss, steps = jnp.inf, 0
            while loss > 0.1 and steps < 8:
                with ag.GradientTape() as tape:
                    loss = ((model(X, training=True) - Y) ** 2).mean()
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply(gradients, model.trainable_variables)
                steps += 1
            return loss, steps

        return train(X, Y), train(X, -Y), [v.value for v in model.variables], optimizer.iterations.value

    same(make(ag.function), make(plain))


def test_an_eager_tape_before_anything_is_converted(keras):
    program = """
import keras, jax.numpy as jnp, autograph as ag
model = keras.Sequential([keras.layers.Dense(2)])
x = jnp.ones((1, 3))
model(x)
with ag.GradientTape() as tape:
    y = model(x).sum()
assert all(g is not None for g in tape.gradient(y, model.trainable_variables))
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "KERAS_BACKEND": "jax"}, timeout=300)


def test_a_keras_variable_under_a_transformation_of_jax(keras):
    v = keras.Variable(jnp.array(1.0), name="total")

    @jax.jit
    @ag.convert
    def add(x):
        if x > 0:
            v.assign_add(x)
        return x

    with pytest.raises(ag.StagingError, match="the Variable `total` is assigned in a function under `jit` of JAX") as caught:
        add(2.0)
    assert caught.value.id == "AG702" and v.value == 1

    @ag.function
    def total(xs):
        def step(carry, x):
            v.assign_add(x)
            return carry, x

        return jax.lax.scan(step, 0.0, xs)[0]

    with pytest.raises(ag.StagingError, match="the Variable `total` is changed under `scan`"):
        total(jnp.arange(3.0))
    assert v.value == 1


# equinox and optax, whose objects do not change


def test_equinox_modules_and_states_of_optax_beside_variables():
    eqx, optax = library("equinox"), library("optax")
    transformation = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1))

    def make(form):
        class Trainer:
            def __init__(self):
                self.model = eqx.nn.Linear(2, 1, key=jax.random.key(0))
                self.moments = transformation.init(eqx.filter(self.model, eqx.is_array))
                self.steps = ag.Variable(0)

            @form
            def fit(self, X, Y, tolerance):
                loss = jnp.inf
                while loss > tolerance and self.steps < 60:
                    loss, gradients = eqx.filter_value_and_grad(lambda m: ((jax.vmap(m)(X) - Y) ** 2).mean())(self.model)
                    if loss > 0.5:
                        gradients = jax.tree.map(lambda g: g * 2, gradients)
                    updates, self.moments = transformation.update(gradients, self.moments)
                    self.model = eqx.apply_updates(self.model, updates)
                    self.steps.assign_add(1)
                return loss

        trainer = Trainer()
        return trainer.fit(X, Y, 0.01), trainer.fit(X, Y, 0.001), trainer.steps.value, trainer.model.weight, trainer.moments

    same(make(ag.function), make(plain))


def test_no_library_is_loaded_for_its_adapter(tmp_path):
    (tmp_path / "program.py").write_text(
        "import sys\nimport autograph as ag\nag.function(lambda x: x)(1.0)\nassert not {'flax', 'keras', 'equinox', 'optax'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, tmp_path / "program.py"], check=True)


def test_the_library_is_what_it_was_afterwards():
    flax = pytest.importorskip("flax", reason="flax is not installed")
    from flax.nnx import tracers  # noqa: PLC0415

    nnx = flax.nnx

    @ag.function
    def grown(v):
        v[...] = v[...] + 1 if v[...] > 0 else v[...]
        return v[...]

    before = dict(vars(nnx.Variable)), tracers.current_jax_trace
    assert float(grown(nnx.Param(jnp.float32(1)))) == 2
    assert (dict(vars(nnx.Variable)), tracers.current_jax_trace) == before
