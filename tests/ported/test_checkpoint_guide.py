"""TensorFlow's guide "Training checkpoints": tensorflow.org/guide/checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file

import autograph as ag
from autograph.runtime.errors.errors import CheckpointError


class Net(ag.layers.Model):
    """One linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.l1 = ag.layers.Dense(5)

    def call(self, x: Any) -> Any:
        return self.l1(x)


def toy_dataset() -> ag.data.Dataset:
    inputs = jnp.arange(10.0)[:, None]
    labels = inputs * 5.0 + jnp.arange(5.0)[None, :]
    return ag.data.Dataset.from_tensor_slices(dict(x=inputs, y=labels)).repeat().batch(2)


def absolute(x: Any) -> Any:
    return x * jnp.sign(x)  # as tf.abs, whose gradient at 0 is 0; that of jnp.abs is 1 (docs/tensorflow-names.md)


def train_step(net: Any, example: Any, optimizer: Any) -> Any:
    with ag.GradientTape() as tape:
        output = net(example["x"])
        loss = jnp.mean(absolute(output - example["y"]))
    variables = net.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


class Training(NamedTuple):
    """What a cycle of training leaves."""

    said: list[str]
    losses: list[float]
    net: Net
    optimizer: Any
    checkpoint: ag.Checkpoint
    manager: ag.CheckpointManager


def train_and_checkpoint(folder: str) -> Training:
    opt = ag.optimizers.Adam(0.1)
    net = Net()
    iterator = iter(toy_dataset())
    ckpt = ag.Checkpoint(step=ag.Variable(1), optimizer=opt, net=net, iterator=iterator)
    manager = ag.CheckpointManager(ckpt, folder, max_to_keep=3)
    said, losses = [], []
    ckpt.restore(manager.latest_checkpoint)
    if manager.latest_checkpoint:
        said.append(f"Restored from {Path(manager.latest_checkpoint).name}")
    else:
        said.append("Initializing from scratch.")
    for _ in range(50):
        example = next(iterator)
        loss = train_step(net, example, opt)
        losses.append(float(loss))
        ckpt.step.assign_add(1)
        if int(ckpt.step) % 10 == 0:
            save_path = manager.save()
            said.append(f"Saved checkpoint for step {int(ckpt.step)}: {Path(save_path).name}")
    return Training(said, losses, net, opt, ckpt, manager)


class Cycles(NamedTuple):
    folder: Path
    first: Training
    second: Training


@pytest.fixture(scope="module")
def cycles(tmp_path_factory: pytest.TempPathFactory) -> Cycles:
    folder = tmp_path_factory.mktemp("checkpoints") / "tf_ckpts"
    ag.set_seed(0)
    return Cycles(folder, train_and_checkpoint(str(folder)), train_and_checkpoint(str(folder)))


# saving from the training API


def test_save_weights_of_a_model_that_is_not_built(tmp_path: Path) -> None:
    # the page saves a model that has never been called, and so no weight at all; here that is refused
    with pytest.raises(CheckpointError, match="AG705 `net` has no Variable"):
        Net().save_weights(tmp_path / "easy_checkpoint")


def test_save_weights(tmp_path: Path) -> None:
    net, other = Net(), Net()
    for model in (net, other):
        model(jnp.ones((1, 1)))
    net.save_weights(tmp_path / "easy_checkpoint")
    other.load_weights(tmp_path / "easy_checkpoint")
    np.testing.assert_array_equal(other.l1.kernel.numpy(), net.l1.kernel.numpy())


# the data and the step


def test_the_toy_dataset() -> None:
    example = next(iter(toy_dataset()))
    assert sorted(example) == ["x", "y"]
    np.testing.assert_array_equal(example["x"], [[0.0], [1.0]])
    np.testing.assert_array_equal(example["y"], [[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]])


def test_ten_steps_of_adam_by_hand() -> None:
    # the page's losses depend on the random first kernel; these are Adam's formulas (Keras: epsilon 1e-7) in NumPy
    ag.set_seed(1)
    net, opt, data = Net(), ag.optimizers.Adam(0.1), iter(toy_dataset())
    net(jnp.ones((1, 1)))
    weights = [net.l1.kernel.numpy().astype(np.float64), net.l1.bias.numpy().astype(np.float64)]
    first, second = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    for t in range(1, 11):
        example = next(data)
        x, y = np.asarray(example["x"], np.float64), np.asarray(example["y"], np.float64)
        rest = x @ weights[0] + weights[1] - y
        assert float(train_step(net, example, opt)) == pytest.approx(np.abs(rest).mean(), rel=1e-4)
        for k, g in enumerate([x.T @ np.sign(rest) / rest.size, np.sign(rest).sum(0) / rest.size]):
            first[k] = 0.9 * first[k] + 0.1 * g
            second[k] = 0.999 * second[k] + 0.001 * g * g
            weights[k] = weights[k] - 0.1 * (first[k] / (1 - 0.9**t)) / (np.sqrt(second[k] / (1 - 0.999**t)) + 1e-7)
    np.testing.assert_allclose(net.l1.kernel.numpy(), weights[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(net.l1.bias.numpy(), weights[1], rtol=1e-4, atol=1e-4)
    assert opt.iterations.numpy() == 10


# training and checkpoints


def test_the_first_cycle(cycles: Cycles) -> None:
    assert cycles.first.said == ["Initializing from scratch."] + [f"Saved checkpoint for step {10 * k}: ckpt-{k}" for k in range(1, 6)]
    assert np.mean(cycles.first.losses[-5:]) < np.mean(cycles.first.losses[:5]) / 4  # five batches are one epoch
    assert int(cycles.first.checkpoint.step) == 51


def test_the_second_cycle_goes_on(cycles: Cycles) -> None:
    assert cycles.second.said == ["Restored from ckpt-5"] + [f"Saved checkpoint for step {10 * k}: ckpt-{k}" for k in range(6, 11)]
    assert int(cycles.second.checkpoint.step) == 100
    assert cycles.second.optimizer.iterations.numpy() == 99  # 49 steps were in the checkpoint that it began with
    assert np.mean(cycles.second.losses[:5]) < np.mean(cycles.first.losses[:5]) / 4  # it does not begin anew
    assert np.mean(cycles.second.losses[-5:]) < 2.0


def test_the_three_latest_are_kept(cycles: Cycles) -> None:
    assert cycles.second.manager.checkpoints == [str(cycles.folder / f"ckpt-{k}") for k in (8, 9, 10)]
    assert ag.latest_checkpoint(cycles.folder) == str(cycles.folder / "ckpt-10")
    # TensorFlow writes `checkpoint`, and an index and data for each; here they are JSON and safetensors
    files = sorted(p.name for p in cycles.folder.iterdir())
    assert files == ["checkpoint.json"] + [f"ckpt-{k}.{kind}" for k in (10, 8, 9) for kind in ("json", "safetensors")]
    assert json.loads((cycles.folder / "checkpoint.json").read_text()) == ["ckpt-8", "ckpt-9", "ckpt-10"]


def test_the_iterator_goes_on(tmp_path: Path) -> None:
    iterator = iter(toy_dataset())
    ckpt = ag.Checkpoint(step=ag.Variable(1), iterator=iterator)
    for _ in range(3):
        next(iterator)
    path = ckpt.save(tmp_path / "ckpt")
    iterator = iter(toy_dataset())
    ag.Checkpoint(step=ag.Variable(1), iterator=iterator).restore(path)
    np.testing.assert_array_equal(next(iterator)["x"], [[6.0], [7.0]])


# how values find their Variables


def test_the_bias_alone(cycles: Cycles) -> None:
    to_restore = ag.Variable(jnp.zeros([5]))
    assert to_restore.numpy().tolist() == [0.0] * 5
    fake_net = ag.Module()
    fake_net.l1 = ag.Module()
    fake_net.l1.bias = to_restore
    status = ag.Checkpoint(net=fake_net).restore(ag.latest_checkpoint(cycles.folder))
    np.testing.assert_array_equal(to_restore.numpy(), cycles.second.net.l1.bias.numpy())
    status.assert_existing_objects_matched()
    assert {"net/l1/kernel", "optimizer/iterations", "step"} <= set(status.unused)
    with pytest.raises(CheckpointError, match="AG705 .* has values that no Variable has taken"):
        status.assert_consumed()


def test_a_kernel_that_comes_later(cycles: Cycles) -> None:
    fake_net = ag.Module()
    fake_net.l1 = ag.Module()
    fake_net.l1.bias = ag.Variable(jnp.zeros([5]))
    ag.Checkpoint(net=fake_net).restore(ag.latest_checkpoint(cycles.folder))
    deferred_restore = ag.Variable(jnp.zeros([1, 5]))
    assert deferred_restore.numpy().tolist() == [[0.0] * 5]
    fake_net.l1.kernel = deferred_restore
    np.testing.assert_array_equal(deferred_restore.numpy(), cycles.second.net.l1.kernel.numpy())


def test_checkpoints_as_the_objects(cycles: Cycles) -> None:
    to_restore = ag.Variable(jnp.zeros([5]))
    fake_layer = ag.Checkpoint(bias=to_restore)
    fake_net = ag.Checkpoint(l1=fake_layer)
    new_root = ag.Checkpoint(net=fake_net)
    new_root.restore(ag.latest_checkpoint(cycles.folder))
    np.testing.assert_array_equal(to_restore.numpy(), cycles.second.net.l1.bias.numpy())


# looking into a checkpoint


def test_a_reader(cycles: Cycles) -> None:
    reader = ag.load_checkpoint(cycles.folder)
    assert reader.get_variable_to_shape_map()["net/l1/kernel"] == [1, 5]


def test_the_file_is_safetensors(cycles: Cycles) -> None:
    # without a reader: the file is one that the library of safetensors reads
    arrays = load_file(cycles.folder / "ckpt-10.safetensors")
    slots = [f"optimizer/slots/net/l1/{of}/{k}" for of in ("bias", "kernel") for k in range(3)]
    assert sorted(arrays) == ["iterator/at", "net/l1/bias", "net/l1/kernel", "optimizer/iterations", "optimizer/learning_rate", *slots, "step"]
    assert (arrays["net/l1/kernel"].shape, arrays["net/l1/kernel"].dtype.name) == ((1, 5), "float32")
    np.testing.assert_array_equal(arrays["net/l1/kernel"], cycles.second.net.l1.kernel.numpy())
    assert arrays["step"] == 100


# lists and dicts


def test_attributes_of_a_checkpoint(tmp_path: Path) -> None:
    save = ag.Checkpoint()
    save.listed = [ag.Variable(1.0)]
    save.listed.append(ag.Variable(2.0))
    save.mapped = {"one": save.listed[0]}
    save.mapped["two"] = save.listed[1]
    save_path = save.save(tmp_path / "tf_list_example")

    restore = ag.Checkpoint()
    v2 = ag.Variable(0.0)
    assert 0.0 == v2.numpy()
    restore.mapped = {"two": v2}
    restore.restore(save_path)
    assert 2.0 == v2.numpy()
    restore.listed = []
    v1 = ag.Variable(0.0)
    restore.listed.append(v1)
    assert 1.0 == v1.numpy()


def test_a_list_and_a_dict(tmp_path: Path) -> None:
    # the same with the objects handed in when the checkpoint is made
    listed = [ag.Variable(1.0)]
    mapped = {"one": listed[0]}
    save = ag.Checkpoint(listed=listed, mapped=mapped)
    listed.append(ag.Variable(2.0))
    mapped["two"] = listed[1]
    save_path = save.save(tmp_path / "tf_list_example")

    v2 = ag.Variable(0.0)
    assert 0.0 == v2.numpy()
    later: list[ag.Variable] = []
    restore = ag.Checkpoint(mapped={"two": v2}, listed=later)
    restore.restore(save_path)
    assert 2.0 == v2.numpy()
    # lists stay Python's own; a Variable that is appended gets its value when it is read
    assert restore.listed is later and later == []
    v1 = ag.Variable(0.0)
    later.append(v1)
    assert 1.0 == v1.numpy()
