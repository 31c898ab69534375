"""TensorFlow's guide "Introduction to modules, layers, and models": tensorflow.org/guide/intro_to_modules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file

import autograph as ag
from autograph.runtime.errors.errors import CheckpointError


class SimpleModule(ag.Module):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.a_variable = ag.Variable(5.0, name="train_me")
        self.non_trainable_variable = ag.Variable(5.0, trainable=False, name="do_not_train_me")

    def __call__(self, x: Any) -> Any:
        return self.a_variable * x + self.non_trainable_variable


class Dense(ag.Module):
    def __init__(self, in_features: int, out_features: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.w = ag.Variable(ag.random.normal([in_features, out_features]), name="w")
        self.b = ag.Variable(jnp.zeros([out_features]), name="b")

    def __call__(self, x: Any) -> Any:
        y = jnp.matmul(x, self.w) + self.b
        return jax.nn.relu(y)


class SequentialModule(ag.Module):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.dense_1 = Dense(in_features=3, out_features=3)
        self.dense_2 = Dense(in_features=3, out_features=2)

    def __call__(self, x: Any) -> Any:
        x = self.dense_1(x)
        return self.dense_2(x)


class FlexibleDenseModule(ag.Module):
    # the number of inputs is that of the first call
    def __init__(self, out_features: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.is_built = False
        self.out_features = out_features

    def __call__(self, x: Any) -> Any:
        if not self.is_built:
            self.w = ag.Variable(ag.random.normal([x.shape[-1], self.out_features]), name="w")
            self.b = ag.Variable(jnp.zeros([self.out_features]), name="b")
            self.is_built = True
        y = jnp.matmul(x, self.w) + self.b
        return jax.nn.relu(y)


class MySequentialModule(ag.Module):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.dense_1 = FlexibleDenseModule(out_features=3)
        self.dense_2 = FlexibleDenseModule(out_features=2)

    def __call__(self, x: Any) -> Any:
        x = self.dense_1(x)
        return self.dense_2(x)


class CompiledModule(SequentialModule):
    @ag.function
    def __call__(self, x: Any) -> Any:
        x = self.dense_1(x)
        return self.dense_2(x)


class MyDense(ag.layers.Layer):
    def __init__(self, in_features: int, out_features: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.w = ag.Variable(ag.random.normal([in_features, out_features]), name="w")
        self.b = ag.Variable(jnp.zeros([out_features]), name="b")

    def call(self, x: Any) -> Any:
        y = jnp.matmul(x, self.w) + self.b
        return jax.nn.relu(y)


class FlexibleDense(ag.layers.Layer):
    def __init__(self, out_features: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.out_features = out_features

    def build(self, input_shape: Any) -> None:
        self.w = ag.Variable(ag.random.normal([input_shape[-1], self.out_features]), name="w")
        self.b = ag.Variable(jnp.zeros([self.out_features]), name="b")

    def call(self, inputs: Any) -> Any:
        return jnp.matmul(inputs, self.w) + self.b


class MySequentialModel(ag.layers.Model):
    def __init__(self, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dense_1 = FlexibleDense(out_features=3)
        self.dense_2 = FlexibleDense(out_features=2)

    def call(self, x: Any) -> Any:
        x = self.dense_1(x)
        return self.dense_2(x)


def twos() -> Any:
    return jnp.array([[2.0, 2.0, 2.0]])


def by_numpy(x: Any, layers: Any, activation: Callable[[Any], Any] = lambda y: np.maximum(y, 0)) -> Any:
    """What two dense layers give: the weights are random, and the page's numbers are those of one run."""
    for layer in layers:
        x = activation(np.asarray(x) @ layer.w.numpy() + layer.b.numpy())
    return x


# TensorFlow modules


def test_a_module_of_two_scalars() -> None:
    simple_module = SimpleModule(name="simple")
    result = simple_module(jnp.array(5.0))
    assert (result.shape, result.dtype, float(result)) == ((), jnp.float32, 30.0)
    assert simple_module.name == "simple"


def test_trainable_and_all_variables() -> None:
    simple_module = SimpleModule(name="simple")
    assert [(v.name, v.shape, float(v)) for v in simple_module.trainable_variables] == [("train_me", (), 5.0)]
    assert [(v.name, v.trainable) for v in simple_module.variables] == [("train_me", True), ("do_not_train_me", False)]
    assert isinstance(simple_module.variables, tuple)


def test_two_dense_layers() -> None:
    ag.set_seed(1)
    my_model = SequentialModule(name="the_model")
    result = my_model(twos())
    assert result.shape == (1, 2)
    np.testing.assert_allclose(result, by_numpy(twos(), [my_model.dense_1, my_model.dense_2]), rtol=1e-5)


def test_submodules_and_variables() -> None:
    my_model = SequentialModule(name="the_model")
    assert my_model.submodules == (my_model.dense_1, my_model.dense_2)
    assert sorted((v.name, v.shape) for v in my_model.variables) == [("b", (2,)), ("b", (3,)), ("w", (3, 2)), ("w", (3, 3))]
    assert str(my_model.dense_2.b) == "[0. 0.]"
    assert repr(my_model.dense_2.b) == "<ag.Variable 'b' shape=(2,) dtype=float32, value=[0. 0.]>"


def test_the_order_of_variables() -> None:
    my_model = SequentialModule(name="the_model")
    assert [(v.name, v.shape) for v in my_model.variables] == [("b", (3,)), ("w", (3, 3)), ("b", (2,)), ("w", (3, 2))]


def test_variables_made_by_the_first_call() -> None:
    ag.set_seed(2)
    my_model = MySequentialModule(name="the_model")
    assert my_model.variables == ()
    result = my_model(twos())
    assert result.shape == (1, 2)
    assert [v.shape for v in my_model.variables] == [(3,), (3, 3), (2,), (3, 2)]
    np.testing.assert_allclose(result, by_numpy(twos(), [my_model.dense_1, my_model.dense_2]), rtol=1e-5)


# saving weights


def test_saved_weights_and_their_paths(tmp_path: Path) -> None:
    my_model = MySequentialModule(name="the_model")
    my_model(twos())
    path = ag.Checkpoint(model=my_model).save(tmp_path / "my_checkpoint")
    # the page lists an index and a data file; here they are JSON and safetensors, with a number
    files = sorted(p.name for p in tmp_path.glob("my_checkpoint*"))
    assert files == ["my_checkpoint-1.json", "my_checkpoint-1.safetensors"]
    # the page: model/dense_1/b [3], model/dense_1/w [3, 3], model/dense_2/b [2], model/dense_2/w [3, 2]
    arrays = load_file(path + ".safetensors")
    assert {name: x.shape for name, x in arrays.items()} == {
        "model/dense_1/b": (3,),
        "model/dense_1/w": (3, 3),
        "model/dense_2/b": (2,),
        "model/dense_2/w": (3, 2),
    }


def test_checkpoint_write(tmp_path: Path) -> None:
    my_model = SequentialModule(name="the_model")
    chkp_path = str(tmp_path / "my_checkpoint")
    checkpoint = ag.Checkpoint(model=my_model)
    assert checkpoint.write(chkp_path) == chkp_path


def test_list_variables(tmp_path: Path) -> None:
    path = ag.Checkpoint(model=SequentialModule()).save(tmp_path / "my_checkpoint")
    assert ("model/dense_1/w", [3, 3]) in ag.list_variables(path)


def test_restored_into_a_module_without_variables(tmp_path: Path) -> None:
    my_model = MySequentialModule(name="the_model")
    expected = my_model(twos())
    path = ag.Checkpoint(model=my_model).save(tmp_path / "my_checkpoint")
    new_model = MySequentialModule()
    status = ag.Checkpoint(model=new_model).restore(path)
    np.testing.assert_array_equal(new_model(twos()), expected)
    np.testing.assert_array_equal(new_model.dense_1.w.numpy(), my_model.dense_1.w.numpy())
    status.assert_consumed()


# saving functions


def test_a_compiled_module_gives_the_same() -> None:
    ag.set_seed(3)
    my_model = CompiledModule(name="the_model")
    expected = by_numpy(twos(), [my_model.dense_1, my_model.dense_2])
    np.testing.assert_allclose(my_model(twos()), expected, rtol=1e-5)
    # another shape is another program
    np.testing.assert_allclose(my_model(jnp.full((1, 2, 3), 2.0)), np.stack([np.repeat(expected, 2, axis=0)]), rtol=1e-5)


def test_lists_are_no_arrays_for_jnp() -> None:
    # tf.matmul makes a tensor of the page's [[2.0, 2.0, 2.0]]; jnp.matmul takes arrays
    with pytest.raises(TypeError, match="matmul requires ndarray or scalar arguments"):
        CompiledModule()([[2.0, 2.0, 2.0]])


def test_the_graph_of_a_function() -> None:
    # TensorBoard shows the graph that tf.summary.trace_on collects; here a report draws it
    assert not hasattr(ag.summary, "trace_on") and not hasattr(ag.summary, "trace_export")
    new_model = CompiledModule()
    assert ag.explain(new_model.__call__, twos()).svg().startswith("<svg")


def test_the_program_in_a_file(tmp_path: Path) -> None:
    # tf.saved_model.save keeps the programs of both signatures in one folder; here each is exported for its shape
    ag.set_seed(4)
    my_model = CompiledModule(name="the_model")
    shapes = [(1, 3), (1, 2, 3)]
    for k, shape in enumerate(shapes):
        (tmp_path / f"the_saved_model_{k}").write_bytes(ag.export(my_model.__call__, ag.TensorSpec(shape, jnp.float32)).serialize())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["the_saved_model_0", "the_saved_model_1"]
    for k, shape in enumerate(shapes):
        new_model = jax.export.deserialize(bytearray((tmp_path / f"the_saved_model_{k}").read_bytes()))
        assert not isinstance(new_model, SequentialModule)
        x = jnp.full(shape, 2.0)
        np.testing.assert_array_equal(new_model.call(x), my_model(x))
    with pytest.raises(ValueError, match=r"expected \(1, 2, 3\) and called with \(4, 4\)"):  # a program takes the shape that it was made for
        new_model.call(jnp.ones((4, 4)))


# Keras layers


def test_a_layer_of_a_module() -> None:
    ag.set_seed(5)
    simple_layer = MyDense(name="simple", in_features=3, out_features=3)
    np.testing.assert_allclose(simple_layer(twos()), by_numpy(twos(), [simple_layer]), rtol=1e-5)
    assert simple_layer.name == "simple" and len(simple_layer.variables) == 2


def test_a_layer_of_a_list() -> None:
    simple_layer = MyDense(name="simple", in_features=3, out_features=3)
    np.testing.assert_allclose(simple_layer([[2.0, 2.0, 2.0]]), by_numpy(twos(), [simple_layer]), rtol=1e-5)


def test_a_layer_of_the_library_of_a_list() -> None:
    assert ag.layers.Dense(3)([[2.0, 2.0, 2.0]]).shape == (1, 3)


# the build step


def test_build_makes_the_variables() -> None:
    ag.set_seed(6)
    flexible_dense = FlexibleDense(out_features=3)
    assert flexible_dense.variables == []
    x = jnp.array([[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    result = flexible_dense(x)
    np.testing.assert_allclose(result, by_numpy(x, [flexible_dense], lambda y: y), rtol=1e-5)
    np.testing.assert_allclose(result[1], 1.5 * result[0], rtol=1e-5)  # the bias is zero
    assert [(v.name, v.shape) for v in flexible_dense.variables] == [("w", (3, 3)), ("b", (3,))]


def test_inputs_of_another_width() -> None:
    flexible_dense = FlexibleDense(out_features=3)
    flexible_dense(twos())
    # InvalidArgumentError of TensorFlow's matmul is TypeError of JAX's
    with pytest.raises(TypeError, match=r"contracting dimensions.*\(4,\) and \(3,\)"):
        flexible_dense(jnp.array([[2.0, 2.0, 2.0, 2.0]]))


# Keras models


def test_a_model_of_layers() -> None:
    ag.set_seed(7)
    my_sequential_model = MySequentialModel(name="the_model")
    result = my_sequential_model(twos())
    layers = [my_sequential_model.dense_1, my_sequential_model.dense_2]
    np.testing.assert_allclose(result, by_numpy(twos(), layers, lambda y: y), rtol=1e-5)
    assert [v.shape for v in my_sequential_model.variables] == [(3, 3), (3,), (3, 2), (2,)]
    assert my_sequential_model.layers == layers


def test_submodules_of_a_model() -> None:
    my_sequential_model = MySequentialModel(name="the_model")
    my_sequential_model(twos())
    assert tuple(my_sequential_model.submodules) == (my_sequential_model.dense_1, my_sequential_model.dense_2)


def test_a_functional_model_is_sequential_here() -> None:
    # the functional API is not here (docs/from-tensorflow.md): Keras on its JAX backend has it
    assert not hasattr(ag.layers, "Input")
    with pytest.raises(TypeError, match="inputs"):
        ag.layers.Model(inputs=None, outputs=None)
    my_functional_model = ag.layers.Sequential([FlexibleDense(3), FlexibleDense(2)])
    assert my_functional_model(twos()).shape == (1, 2)
    # the page's summary: 12 and 8 parameters, 20 in all; here it is a text that is returned
    lines = [line.split() for line in my_functional_model.summary().splitlines()]
    assert [line[-1] for line in lines[1:3]] == ["12", "8"]
    assert lines[3][:2] == ["20", "parameters,"]


# saving Keras models


def test_a_whole_model_in_a_file(tmp_path: Path) -> None:
    my_sequential_model = MySequentialModel(name="the_model")
    expected = my_sequential_model(twos())
    my_sequential_model.save(tmp_path / "exname_of_file.keras")
    # classes are not registered: they are given when the model is loaded
    with pytest.raises(CheckpointError, match="AG705 .* names the class `MySequentialModel`"):
        ag.layers.load_model(tmp_path / "exname_of_file.keras")
    reconstructed_model = ag.layers.load_model(tmp_path / "exname_of_file.keras", custom_objects={"MySequentialModel": MySequentialModel})
    assert type(reconstructed_model) is MySequentialModel
    np.testing.assert_array_equal(reconstructed_model(twos()), expected)


def test_the_weights_of_a_model_in_a_file(tmp_path: Path) -> None:
    my_sequential_model = MySequentialModel(name="the_model")
    expected = my_sequential_model(twos())
    my_sequential_model.save_weights(tmp_path / "exname_of_file.weights")
    reconstructed_model = MySequentialModel()
    reconstructed_model(twos())  # built before
    reconstructed_model.load_weights(tmp_path / "exname_of_file.weights")
    np.testing.assert_array_equal(reconstructed_model(twos()), expected)


def test_a_checkpoint_of_a_model(tmp_path: Path) -> None:
    my_sequential_model = MySequentialModel(name="the_model")
    expected = my_sequential_model(twos())
    path = ag.Checkpoint(model=my_sequential_model).save(tmp_path / "my_checkpoint")
    new_model = MySequentialModel()
    status = ag.Checkpoint(model=new_model).restore(path)
    np.testing.assert_array_equal(new_model(twos()), expected)
    status.assert_consumed()
