"""The training that `test_scale.py` runs: on the devices of one process, or of two that find each other on the loopback.

python tests/seeds/scale_programs.py mesh FOLDER     (with 8 virtual devices)
python tests/seeds/scale_programs.py process FOLDER ADDRESS COUNT NUMBER
"""

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import autograph as ag

X = np.random.default_rng(0).normal(size=(512, 16)).astype(np.float32)
Y = X[:, :3].argmax(1).astype(np.int32)


def network() -> Any:
    ag.set_seed(0)
    return ag.layers.Sequential([ag.layers.Dense(32, "relu", input_shape=(16,)), ag.layers.Dense(3)])


@ag.function
def train(model: Any, optimizer: Any, dataset: Any, epochs: int) -> Any:
    loss = jnp.float32(0.0)
    for epoch in range(epochs):
        loss = jnp.float32(0.0)
        for x, y in dataset:
            with ag.GradientTape() as tape:
                value = ag.losses.sparse_softmax_cross_entropy(y, model(x))
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(value, variables), variables))
            loss += value
        if epoch % 2 == 0:
            print("epoch", epoch, "loss", loss)
    return loss


def trained(mesh: Any, epochs: int = 5, weights: Any = None) -> tuple[Any, Any, Any]:
    """The model, the optimizer and the last loss, of arrays that are spread over the devices of a mesh, or not."""
    model = network()
    optimizer = ag.optimizers.Adam(0.01)
    x, y = X, Y
    if mesh is not None:
        spread = NamedSharding(mesh, P("batch"))
        x, y = (jax.make_array_from_callback(a.shape, spread, lambda i, a=a: a[i]) for a in (X, Y))
        for v in model.variables:
            v.assign(jax.device_put(v.value, NamedSharding(mesh, P())))
    dataset = ag.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=0).batch(64)
    return model, optimizer, train(model, optimizer, dataset, epochs)


def values(model: Any) -> list[np.ndarray]:
    return [np.asarray(v.value) for v in model.variables]


def mesh_of(count: int, kind: Any) -> Any:
    return jax.make_mesh((count,), ("batch",), axis_types=(kind,), devices=jax.devices()[:count])


def on_meshes(folder: str) -> None:
    alone, of_one, want = trained(None)
    for kind in (AxisType.Auto, AxisType.Explicit):
        mesh = mesh_of(8, kind)
        with jax.set_mesh(mesh):
            model, optimizer, loss = trained(mesh)
        np.testing.assert_allclose(loss, want, rtol=1e-5)
        for a, b in zip(values(model), values(alone), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        assert len(model.variables[0].value.sharding.device_set) == 8
        print(kind, "as on one device")
    spread = NamedSharding(mesh, P("batch"))
    with jax.set_mesh(mesh):
        dataset = ag.data.Dataset.from_tensor_slices(tuple(jax.device_put(a, spread) for a in (X, Y))).batch(64)
        text = train.lower(model, optimizer, dataset, 1).compile().as_text()
    assert "f32[64,16]" in text and "all-reduce" in text  # each device has its rows, and the gradients are added up

    path = ag.Checkpoint(model=model, optimizer=optimizer).save(folder + "/of8")
    four = mesh_of(4, AxisType.Auto)
    with jax.set_mesh(four):
        half, its, _ = trained(four, epochs=1)
        ag.Checkpoint(model=half, optimizer=its).restore(path).assert_consumed()
    for a, b in zip(values(half), values(model), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(half.variables[0].value.sharding.device_set) == 4 and int(its.iterations) == int(optimizer.iterations)
    print("restored on half as many devices")

    # what follows is equal, too, on 8 devices, on 4, and on one
    def further(model: Any, optimizer: Any, mesh: Any) -> list[np.ndarray]:
        x, y = X, Y
        if mesh is not None:
            x, y = (jax.device_put(a, NamedSharding(mesh, P("batch"))) for a in (X, Y))
        train(model, optimizer, ag.data.Dataset.from_tensor_slices((x, y)).batch(64), 2)
        return values(model)

    one, its_own, _ = trained(None, epochs=1)
    ag.Checkpoint(model=one, optimizer=its_own).restore(path)
    with jax.set_mesh(four):
        of_four = further(half, its, four)
    for a, b in zip(of_four, further(one, its_own, None), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    print("resumed alike")


def in_process(folder: str, address: str, count: int, number: int) -> None:
    jax.distributed.initialize(address, count, number)
    assert len(jax.devices()) == count * len(jax.local_devices())
    mesh = jax.make_mesh((len(jax.devices()),), ("batch",), axis_types=(AxisType.Auto,))
    with jax.set_mesh(mesh):
        model, _, loss = trained(mesh)
    np.savez(f"{folder}/{number}.npz", **{f"arr_{k}": x for k, x in enumerate(values(model))}, loss=np.asarray(loss))
    print("process", number, "has ended")


if __name__ == "__main__":
    if sys.argv[1] == "mesh":
        on_meshes(sys.argv[2])
    else:
        in_process(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
