"""Training loops with the bookkeeping that people write around them, compiled as a whole: as eagerly, and one compiled turn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.loops.reroll import record_iterations as repeats

pytest.importorskip("optax", reason="optimizers need the extra `train`")
EPOCHS = 12
X = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
Y = X @ np.arange(4, dtype=np.float32) + 0.5


def step(model: Any, optimizer: Any, x: Any, y: Any) -> Any:
    with ag.GradientTape() as tape:
        loss = jnp.mean((model(x)[:, 0] - y) ** 2)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


def history_in_a_dict(model: Any, optimizer: Any, dataset: Any) -> Any:
    history: dict[str, list[Any]] = {"loss": [], "epoch": []}
    for epoch in range(EPOCHS):
        total = 0.0
        for x, y in dataset:
            total += step(model, optimizer, x, y)
        history["loss"].append(total / len(dataset))
        history["epoch"].append(epoch)
    return history


def rates_by_phase(model: Any, optimizer: Any, dataset: Any) -> Any:
    losses = []
    for epoch in range(EPOCHS):
        if epoch < 4:
            optimizer.learning_rate = 0.02
        elif epoch < 8:
            optimizer.learning_rate = 0.01
        else:
            optimizer.learning_rate = 0.005
        for x, y in dataset:
            loss = step(model, optimizer, x, y)
        if epoch % 3 == 0:
            losses.append(loss)
    return losses


def best_and_a_log(model: Any, optimizer: Any, dataset: Any) -> Any:
    best, best_epoch, log = jnp.inf, 0, {}
    for epoch in range(EPOCHS):
        for x, y in dataset:
            loss = step(model, optimizer, x, y)
        if loss < best:
            best, best_epoch = loss, epoch
        log[f"epoch {epoch}"] = loss
    return best, best_epoch, log


def named_phases(model: Any, optimizer: Any, dataset: Any) -> Any:
    log = []
    for name, epochs in [("warm", 4), ("main", 6), ("cool", 2)]:
        for _ in range(epochs):
            for x, y in dataset:
                loss = step(model, optimizer, x, y)
        log.append((name, loss))
    return log


def metric_of_each_epoch(model: Any, optimizer: Any, dataset: Any) -> Any:
    mean, found = ag.metrics.Mean(), []
    for epoch in range(EPOCHS):
        mean.reset_state()
        for x, y in dataset:
            mean.update_state(step(model, optimizer, x, y))
        found.append({"epoch": epoch, "loss": mean.result()})
    return found


def state_after_the_loop(model: Any, optimizer: Any, dataset: Any) -> Any:
    log = {}
    for epoch in range(EPOCHS):
        for x, y in dataset:
            log[epoch] = step(model, optimizer, x, y)
    for v in model.trainable_variables:
        v.assign(v * 0.5)
    model.note = len(log)
    return log


def two_loops(model: Any, optimizer: Any, dataset: Any) -> Any:
    log, own = {}, ag.Variable(0.0)
    for epoch in range(EPOCHS):
        own.assign_add(jnp.sum(jnp.sin(jnp.arange(4.0) * epoch)))
        log["own", epoch] = own + 0.0
    for epoch in range(EPOCHS):
        log["model", epoch] = step(model, optimizer, X, Y)
    return log


def evaluates_now_and_then(model: Any, optimizer: Any, dataset: Any) -> Any:
    for epoch in range(EPOCHS):
        for x, y in dataset:
            loss = step(model, optimizer, x, y)
        if epoch % 5 == 0:
            error = jnp.mean((model(X)[:, 0] - Y) ** 2)
            print("epoch", epoch, "of", EPOCHS, error < 1e9)
    return loss


PROGRAMS = [
    history_in_a_dict,
    rates_by_phase,
    best_and_a_log,
    named_phases,
    metric_of_each_epoch,
    state_after_the_loop,
    two_loops,
    evaluates_now_and_then,
]


def given() -> tuple[Any, Any, Any]:
    ag.set_seed(0)
    model = ag.layers.Sequential([ag.layers.Dense(8, "relu", input_shape=(4,)), ag.layers.Dense(1)])
    return model, ag.optimizers.Adam(0.01), ag.data.Dataset.from_tensor_slices((X, Y)).batch(16)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_eagerly(program: Callable[..., Any]) -> None:
    eager, compiled = given(), given()
    expected = program(*eager)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ag.LargeUnrollWarning)
        got = ag.function(program)(*compiled)
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert a == b if isinstance(b, str) else np.allclose(a, b, rtol=1e-4, atol=1e-5)
    for a, b in zip(compiled[0].variables + compiled[1].variables, eager[0].variables + eager[1].variables, strict=True):
        np.testing.assert_allclose(a.value, b.value, rtol=1e-3, atol=1e-5)
    assert getattr(compiled[0], "note", 0) == getattr(eager[0], "note", 0)


def test_what_is_printed_in_some_epochs(capfd: pytest.CaptureFixture[str]) -> None:
    ag.function(evaluates_now_and_then)(*given())
    jax.effects_barrier()
    assert capfd.readouterr().out.splitlines() == [f"epoch {k} of {EPOCHS} True" for k in (0, 5, 10)]


@pytest.mark.parametrize("program", [rates_by_phase, evaluates_now_and_then], ids=lambda f: f.__name__)
def test_one_compiled_turn_that_is_traced_once(program: Callable[..., Any]) -> None:
    loop = next(line for line in str(ag.explain(program, *given())).splitlines() if "for epoch" in line)
    assert "the trip count is static" in loop


def blocks_traced(monkeypatch: pytest.MonkeyPatch) -> int:
    found = []
    with monkeypatch.context() as patch:
        begin = TracedRegion.__init__
        patch.setattr(TracedRegion, "__init__", lambda self, *args, **kwargs: found.append(self) or begin(self, *args, **kwargs))
        ag.function(best_and_a_log)(*given())
    return len(found)


def test_the_trace_that_finds_the_variables_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    early = blocks_traced(monkeypatch)
    monkeypatch.setattr(repeats, "end_if_made_again", lambda: None)
    whole = blocks_traced(monkeypatch)
    assert EPOCHS < early < 0.8 * whole


def test_an_error_after_the_loop_is_told_with_everything_as_it_was() -> None:
    def fit(model: Any, optimizer: Any) -> Any:
        log = {}
        for epoch in range(EPOCHS):
            try:
                log[epoch] = step(model, optimizer, X, Y)
            finally:
                log["last"] = epoch
        if len(log) > EPOCHS:
            raise RuntimeError("after the loop")
        return log

    model, optimizer, _ = given()
    before = [v.numpy() for v in model.variables]
    with pytest.raises(RuntimeError, match="after the loop"):
        ag.function(fit)(model, optimizer)
    after = [np.allclose(v.value, b) for v, b in zip(model.variables, before, strict=True)]
    expected = given()
    with pytest.raises(RuntimeError, match="after the loop"):
        fit(*expected[:2])
    assert after == [np.allclose(v.value, b) for v, b in zip(expected[0].variables, before, strict=True)]
