"""Items 18 to 20 and 22 of the articles: optimizers, schedules, linear regression, losses and metrics."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import OptimizerError

optax = pytest.importorskip("optax", reason="optimizers need the extra `train`")


def test_18_minimize() -> None:
    w = ag.Variable(3.0)
    optimizer = ag.optimizers.GradientDescentOptimizer(learning_rate=0.1)
    seen = []
    for _ in range(5):
        optimizer.minimize(lambda: w * 5.0)
        seen.append(float(w))
    np.testing.assert_allclose(seen, [2.5, 2.0, 1.5, 1.0, 0.5], rtol=1e-5)
    assert optimizer.iterations == 5


def test_18_between_compute_and_apply(capsys: pytest.CaptureFixture[str]) -> None:
    w, step = ag.Variable(3.0, name="w"), ag.Variable(0, trainable=False)
    optimizer = ag.optimizers.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(lambda: w * 5.0, [w])
    optimizer.apply_gradients([(0.5 * g, v) for g, v in pairs], global_step=step)
    assert w == 2.75 and step == 1
    x = ag.Variable(10.0)
    descent = ag.optimizers.SGD(1.0)
    for _ in range(10):
        before = float(x)
        [(g, _)] = descent.compute_gradients(lambda: 0.5 * (x - 1.0) ** 2, x)
        descent.apply_gradients([(0.1 * g, x)])
        print(f"before {before:.3f} gradient {float(0.1 * g):.3f} after {float(x):.3f}")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "before 10.000 gradient 0.900 after 9.100" and abs(float(x) - (1 + 9 * 0.9**10)) < 1e-4


NAMED = {
    "SGD": (lambda: ag.optimizers.SGD(0.1), lambda: optax.sgd(0.1)),
    "momentum": (lambda: ag.optimizers.Momentum(0.1, 0.9), lambda: optax.sgd(0.1, momentum=0.9)),
    "nesterov": (lambda: ag.optimizers.SGD(0.1, 0.9, nesterov=True), lambda: optax.sgd(0.1, momentum=0.9, nesterov=True)),
    "RMSprop": (lambda: ag.optimizers.RMSprop(0.1), lambda: optax.rmsprop(0.1, decay=0.9, eps=1e-7)),
    "Adam": (lambda: ag.optimizers.Adam(0.1), lambda: optax.adam(0.1, eps=1e-7)),
    "Adagrad": (lambda: ag.optimizers.Adagrad(0.1), lambda: optax.adagrad(0.1, initial_accumulator_value=0.1, eps=1e-7)),
    "any": (
        lambda: ag.optimizers.Optimizer(optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(0.1))),
        lambda: optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(0.1)),
    ),
}


@pytest.mark.parametrize("staged", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", NAMED)
def test_18_as_optax(name: str, staged: bool) -> None:
    make, of_optax = NAMED[name]
    a, b = ag.Variable([1.0, -2.0]), ag.Variable(3.0)

    def loss(a: Any, b: Any) -> Any:
        return jnp.sum(a**2) * b + b**2

    optimizer = make()

    def step() -> None:
        optimizer.minimize(lambda: loss(a, b), [a, b])

    run = ag.function(step) if staged else step
    for _ in range(20):
        run()
    transformation, params = of_optax(), (jnp.array([1.0, -2.0]), jnp.float32(3.0))
    state = transformation.init(params)
    for _ in range(20):
        updates, state = transformation.update(jax.grad(lambda p: loss(*p))(params), state, params)
        params = optax.apply_updates(params, updates)
    np.testing.assert_allclose(a.value, params[0], rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(b.value, params[1], rtol=2e-4, atol=2e-5)
    assert optimizer.iterations == 20


def test_18_what_is_wrong() -> None:
    w, unused = ag.Variable(1.0, name="w"), ag.Variable(1.0, name="unused")
    optimizer = ag.optimizers.SGD()
    with pytest.raises(OptimizerError, match="there is no Variable to change"):
        optimizer.minimize(lambda: jnp.float32(1.0))
    with pytest.raises(OptimizerError, match="the gradients of `unused` are None"):
        optimizer.minimize(lambda: w * 2.0, [unused])
    with pytest.raises(OptimizerError, match="the loss is a value"):
        optimizer.minimize(w * 2.0, [w])
    with pytest.raises(OptimizerError, match=r"a gradient of shape \(2,\)"):
        optimizer.apply_gradients([(jnp.ones(2), w)])
    with pytest.raises(OptimizerError, match="there is no gradient"):
        optimizer.apply_gradients([])
    whole = ag.optimizers.Optimizer(optax.adam(0.1))
    whole.minimize(lambda: w * 1.0, [w])
    with pytest.raises(OptimizerError, match="other Variables before"):
        whole.minimize(lambda: unused * 1.0, [unused])
    assert unused == 1.0


STAR = (-6 + np.sqrt(36 + 480)) / 30  # the minimum of 5x³ + 3x² − 8x + 10


def cubic(x: Any) -> Any:
    return 5.0 * x**3 + 3.0 * x**2 - 8.0 * x + 10.0


@pytest.mark.parametrize(
    ("start", "make", "steps", "ends"),
    [
        (3.0, lambda: ag.optimizers.SGD(0.01), 100, lambda x: abs(x - STAR) < 1e-3),
        (10.0, lambda: ag.optimizers.SGD(0.01), 100, lambda x: not np.isfinite(x)),
        (10.0, lambda: ag.optimizers.SGD(0.001), 1000, lambda x: abs(x - STAR) < 1e-2),
        (3.0, lambda: ag.optimizers.Adam(0.1), 300, lambda x: abs(x - STAR) < 1e-2),
        (3.0, lambda: ag.optimizers.SGD(ag.optimizers.ExponentialDecay(0.01, 10, 0.9)), 100, lambda x: abs(x - STAR) < 0.05),
    ],
    ids=["converges", "diverges", "smaller steps", "Adam", "decay"],
)
def test_19_a_cubic(start: float, make: Any, steps: int, ends: Any) -> None:
    x, optimizer = ag.Variable(start), make()

    @ag.function
    def step() -> None:
        optimizer.minimize(lambda: cubic(x), x)

    for _ in range(steps):
        step()
    assert ends(float(x)), x


def test_19_exponential_decay() -> None:
    step = ag.Variable(0)
    rate = ag.optimizers.exponential_decay(0.1, step, decay_steps=10, decay_rate=0.5)
    optimizer, w = ag.optimizers.SGD(rate), ag.Variable(0.0)

    @ag.function
    def run() -> None:
        optimizer.minimize(lambda: -1.0 * w, [w], global_step=step)

    for _ in range(3):
        run()
    np.testing.assert_allclose(w.value, 0.1 * sum(0.5 ** (k / 10) for k in range(3)), rtol=1e-5)
    stairs = ag.optimizers.exponential_decay(0.1, ag.Variable(19), 10, 0.5, staircase=True)
    assert abs(float(stairs()) - 0.05) < 1e-7


def data(n: int) -> Any:
    x = jax.random.normal(jax.random.key(0), (n,))
    return x, x * 3 + 2 + jax.random.normal(jax.random.key(1), (n,))


def test_20_linear_regression() -> None:
    inputs, outputs = data(1000)
    w, b = ag.Variable(5.0), ag.Variable(10.0)

    def loss() -> Any:
        return jnp.mean(jnp.square(inputs * w + b - outputs))

    first = float(loss())
    for _ in range(200):
        with ag.GradientTape() as tape:
            value = loss()
        dw, db = tape.gradient(value, [w, b])
        w.assign_sub(dw * 0.01)
        b.assign_sub(db * 0.01)
    assert 60 < first < 80 and float(loss()) < 1.2 and abs(float(w) - 3) < 0.2 and abs(float(b) - 2) < 0.3


class Model:
    def __init__(self) -> None:
        self.W, self.B = ag.Variable(5.0, name="weight"), ag.Variable(10.0, name="bias")

    def __call__(self, inputs: Any) -> Any:
        return inputs * self.W + self.B


def test_20_as_a_model_trained_in_one_function(capfd: pytest.CaptureFixture[str]) -> None:
    inputs, outputs = data(2000)
    model, optimizer = Model(), ag.optimizers.SGD(0.01)

    @ag.function
    def train(model: Any, steps: Any) -> Any:
        loss = 0.0
        for i in range(steps):
            with ag.GradientTape() as tape:
                loss = ag.losses.mean_squared_error(outputs, model(inputs))
            variables = [model.W, model.B]
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            if i % 20 == 0:
                print("step", i)
        return loss

    loss = train(model, jnp.int32(300))
    jax.effects_barrier()
    assert float(loss) < 1.2 and abs(float(model.W) - 3) < 0.1 and optimizer.iterations == 300
    assert capfd.readouterr().out.splitlines() == [f"step {i}" for i in range(0, 300, 20)]


class Fit:
    """What is trained, its optimizer and the best so far, in one object that is an argument."""

    def __init__(self) -> None:
        self.w, self.best = ag.Variable(jnp.zeros(2)), ag.Variable(jnp.zeros(2), trainable=False)
        self.optimizer = ag.optimizers.Adam(0.2)

    def fit(self, x: Any, y: Any, patience: Any) -> Any:
        low, waited, steps = jnp.inf, 0, 0
        while waited < patience and steps < 100:
            with ag.GradientTape() as tape:
                loss = jnp.mean(jnp.logaddexp(0.0, -y * (x @ self.w)))
            self.optimizer.apply_gradients([(tape.gradient(loss, self.w), self.w)])
            if loss < low - 1e-3:
                low, waited = loss, 0
                self.best.assign(self.w)
            else:
                waited += 1
            steps += 1
        return low, steps


def test_20_an_optimizer_in_the_object_that_is_trained() -> None:
    x = jax.random.normal(jax.random.key(0), (40, 2))
    y = jnp.sign(x[:, 0] - 0.5 * x[:, 1] + 0.3 * jax.random.normal(jax.random.key(5), (40,)))
    eager, staged = Fit(), Fit()
    train = ag.function(Fit.fit)
    for _ in range(2):
        low, steps = eager.fit(x, y, 3)
        got, count = train(staged, x, y, 3)
        assert steps == count and abs(float(low) - float(got)) < 1e-5
    np.testing.assert_allclose(staged.best.value, eager.best.value, rtol=1e-3)
    assert staged.optimizer.iterations == eager.optimizer.iterations and len(staged.optimizer.variables) == len(eager.optimizer.variables) > 1


def test_22_losses_and_metrics() -> None:
    assert ag.losses.mean_squared_error(jnp.array([1.0, 2.0]), jnp.array([1.0, 4.0])) == 2.0
    logits, labels = jnp.array([[2.0, 1.0], [0.0, 3.0]]), jnp.array([0, 1])
    want = -np.mean([np.log(np.exp(2) / (np.exp(2) + np.e)), np.log(np.exp(3) / (1 + np.exp(3)))])
    np.testing.assert_allclose(ag.losses.sparse_softmax_cross_entropy(labels, logits), want, rtol=1e-5)
    m = ag.metrics.Mean("loss")
    m(0)
    m(5)
    assert m.result() == 2.5 and m([8, 9]) == 5.5
    m.reset_state()
    assert m.result() == 0.0
    accuracy = ag.metrics.SparseCategoricalAccuracy()

    @ag.function
    def update(labels: Any, logits: Any) -> Any:
        return accuracy(labels, logits)

    assert update(labels, logits) == 1.0 and update(labels, logits[::-1]) == 0.5


def test_24_what_a_tapes_block_sets_is_no_loop_variable() -> None:
    x = np.arange(30, dtype=np.float32).reshape(10, 3)
    model, optimizer = ag.layers.Dense(3), ag.optimizers.Adam(0.01)
    dataset, mean = ag.data.Dataset.from_tensor_slices(x).batch(4), ag.metrics.Mean()

    def train(epochs: Any) -> Any:
        for _ in range(epochs):
            for batch in dataset:
                with ag.GradientTape() as tape:
                    outputs = model(batch)
                    loss = jnp.mean(outputs**2)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True))
                mean.update_state(outputs)
        return mean.result()

    model(x)
    report = str(ag.explain(train, 2))
    assert "scan of 2 iterations" in report and "unrolled" not in report, report
    assert "outputs" not in "".join(line for line in report.splitlines() if "loop variable" in line)


def test_what_is_no_pair_of_a_gradient_and_a_variable() -> None:
    w, b = ag.Variable(jnp.ones(2), name="w"), ag.Variable(0.0, name="b")
    opt = ag.optimizers.SGD(0.1)
    with ag.GradientTape() as tape:
        loss = (w.value**2).sum()
    gradients = tape.gradient(loss, [w, b])
    for given in (gradients, [gradients[0]], [(gradients[0], w, b)]):
        with pytest.raises(OptimizerError, match=r"takes pairs of a gradient and its Variable[\s\S]*`zip\(gradients, variables\)`"):
            opt.apply_gradients(given)
    with pytest.raises(OptimizerError, match="takes pairs"):
        opt.apply_gradients(gradients, [w, b])
    with pytest.raises(OptimizerError, match="the Variable of a pair comes first, and the gradient second"):
        opt.apply_gradients(zip([w, b], gradients, strict=True))
    with pytest.raises(OptimizerError, match="the second of a pair is no Variable"):
        opt.apply_gradients([(gradients[0], jnp.ones(2))])
    assert w.value.tolist() == [1.0, 1.0] and opt.iterations == 0


def test_a_variable_without_a_gradient_is_told() -> None:
    w, b = ag.Variable(1.0, name="w"), ag.Variable(0.0, name="b")
    opt = ag.optimizers.SGD(0.1)
    with pytest.warns(UserWarning, match="the gradients of `b` are None, and these are not changed") as caught:
        opt.apply_gradients([(2.0, w), (None, b)])
    assert caught[0].filename == __file__ and abs(float(w) - 0.8) < 1e-6 and b == 0.0
    with pytest.raises(OptimizerError, match=r"the gradients of `b` \(2 of that name\) are None"):
        opt.apply_gradients([(None, b), (None, ag.Variable(1.0, name="b"))])


def test_losses_of_other_shapes() -> None:
    with pytest.raises(ag.AutographError, match=r"the labels have shape \(5,\) and the predictions \(5, 1\), which should be \(5,\)"):
        ag.losses.mean_squared_error(jnp.ones(5), jnp.ones((5, 1)))
    with pytest.raises(ag.AutographError, match=r"the labels have shape \(5, 1\) and the logits \(5, 3\), which should be \(5, 1, classes\)"):
        ag.losses.sparse_softmax_cross_entropy(jnp.ones((5, 1), int), jnp.ones((5, 3)))
    with pytest.raises(ag.AutographError, match="the labels are float32, and classes are given by their numbers"):
        ag.losses.sparse_softmax_cross_entropy(jnp.ones(5), jnp.ones((5, 3)))


def test_a_learning_rate_that_is_set_later() -> None:
    """Compiled steps see it, it may be set in them, and a checkpoint has it."""
    w, opt = ag.Variable(1.0), ag.optimizers.SGD(0.1)

    @ag.function
    def step() -> None:
        opt.apply_gradients([(jnp.float32(1.0), w)])

    @ag.function
    def decayed() -> None:
        for _ in range(3):
            opt.learning_rate = opt.learning_rate * 0.5
            opt.apply_gradients([(jnp.float32(1.0), w)])

    step()
    assert abs(float(w) - 0.9) < 1e-6 and opt.learning_rate == jnp.float32(0.1)
    opt.learning_rate = 0.5
    step()
    assert abs(float(w) - 0.4) < 1e-6
    decayed()
    assert abs(float(w) - (0.4 - 0.25 - 0.125 - 0.0625)) < 1e-6 and opt.learning_rate == 0.0625
    opt.learning_rate = lambda: 1.0
    opt.apply_gradients([(1.0, w)])
    assert abs(float(w) - (0.4 - 0.4375 - 1)) < 1e-6

    @ag.function
    def made(rate: Any) -> Any:
        v = ag.Variable(1.0)
        ag.optimizers.SGD(rate).apply_gradients([(jnp.float32(1.0), v)])
        return v.value

    assert abs(float(made(0.25)) - 0.75) < 1e-6


def test_a_checkpoint_has_the_learning_rate(tmp_path: Any) -> None:
    w, opt = ag.Variable(1.0), ag.optimizers.Adam(0.1)
    opt.apply_gradients([(1.0, w)])
    opt.learning_rate = 0.01
    path = ag.Checkpoint(w=w, opt=opt).save(str(tmp_path / "c"))
    other = ag.optimizers.Adam(0.1)
    ag.Checkpoint(w=w, opt=other).restore(path)
    assert other.learning_rate == jnp.float32(0.01)
