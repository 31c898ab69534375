"""TensorFlow's guide "Introduction to Variables", tensorflow.org/guide/variable."""

from __future__ import annotations

import gc
import weakref

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import DeviceError, VariableError

my_tensor = jnp.array([[1.0, 2.0], [3.0, 4.0]])


# Create a variable


def test_a_variable_has_the_type_of_its_initial_value() -> None:
    my_variable = ag.Variable(my_tensor)

    bool_variable = ag.Variable([False, False, False, True])
    complex_variable = ag.Variable([5 + 4j, 6 + 1j])

    assert my_variable.shape == (2, 2)
    assert my_variable.dtype == jnp.float32
    assert isinstance(my_variable.numpy(), np.ndarray) and my_variable.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert bool_variable.dtype == jnp.bool_ and bool_variable.numpy().tolist() == [False, False, False, True]
    # complex128 in TensorFlow: JAX has double precision only if it is switched on
    assert complex_variable.dtype == jnp.complex64 and complex_variable.numpy().tolist() == [5 + 4j, 6 + 1j]


def test_operations_take_variables() -> None:
    my_variable = ag.Variable(my_tensor)

    assert repr(my_variable) == "<ag.Variable shape=(2, 2) dtype=float32, value=[[1. 2.]\n [3. 4.]]>"
    assert str(my_variable) == "[[1. 2.]\n [3. 4.]]"  # it prints as the array that it holds
    viewed = jnp.asarray(my_variable)
    assert not isinstance(viewed, ag.Variable) and viewed.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert jnp.argmax(my_variable, axis=0).tolist() == [1, 1]  # `jnp.argmax` without an axis is that of all items: 3

    # a new array; the Variable keeps its shape
    assert jnp.reshape(my_variable, [1, 4]).tolist() == [[1.0, 2.0, 3.0, 4.0]]
    assert my_variable.shape == (2, 2)
    with pytest.raises(AttributeError):
        my_variable.shape = (4,)  # type: ignore[misc]


def test_assign_keeps_type_and_shape() -> None:
    a = ag.Variable([2.0, 3.0])
    a.assign([1, 2])
    assert a.dtype == jnp.float32 and a.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"shape \(2,\), and is assigned shape \(3,\)") as error:  # a ValueError in TensorFlow too
        a.assign([1.0, 2.0, 3.0])
    assert isinstance(error.value, VariableError) and error.value.id == "AG701"
    assert a.numpy().tolist() == [1.0, 2.0]


def test_a_variable_made_of_another_is_a_copy() -> None:
    a = ag.Variable([2.0, 3.0])
    b = ag.Variable(a)
    a.assign([5, 6])

    assert a.numpy().tolist() == [5.0, 6.0]
    assert b.numpy().tolist() == [2.0, 3.0]

    assert a.assign_add([2, 3]).numpy().tolist() == [7.0, 9.0]
    assert a.assign_sub([7, 9]).numpy().tolist() == [0.0, 0.0]


# Lifecycles, naming, and watching


def test_a_variable_lives_as_long_as_its_references() -> None:
    a = ag.Variable(my_tensor)
    held = weakref.ref(a)
    del a
    gc.collect()
    assert held() is None


def test_two_variables_of_one_name() -> None:
    a = ag.Variable(my_tensor, name="Mark")
    b = ag.Variable(my_tensor + 1, name="Mark")

    assert a.name == b.name == "Mark"  # TensorFlow appends ":0"
    assert (a == b).tolist() == [[False, False], [False, False]]


def test_a_variable_that_is_not_trained() -> None:
    step_counter = ag.Variable(1, trainable=False)
    assert not step_counter.trainable and int(step_counter) == 1

    with ag.GradientTape() as tape:
        step_counter * 2.0
    assert tape.watched_variables() == ()


# Placing variables and tensors


def test_variables_and_arrays_on_a_device() -> None:
    with ag.device("CPU:0"):
        a = ag.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        b = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        c = jnp.matmul(a, b)

    assert c.tolist() == [[22.0, 28.0], [49.0, 64.0]]
    for x in (a.value, b, c):
        assert [(d.platform, d.id) for d in x.devices()] == [("cpu", 0)]


def test_a_computation_on_another_device() -> None:
    with ag.device("CPU:0"):
        a = ag.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        b = ag.Variable([[1.0, 2.0, 3.0]])

    if ag.num_gpus():
        with ag.device("GPU:0"):
            k = a * b
    else:  # TensorFlow computes on the CPU where there is no GPU; here a device that is not there is an error
        with pytest.raises(DeviceError, match="there is no GPU:0") as error, ag.device("GPU:0"):
            pass
        assert error.value.id == "AG706"
        with ag.device("CPU:0"):
            k = a * b

    assert k.tolist() == [[1.0, 4.0, 9.0], [4.0, 10.0, 18.0]]
