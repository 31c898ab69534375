"""TensorFlow's guide "Better performance with tf.function", tensorflow.org/guide/function."""

# `print` in a compiled function is the program's own, as `tf.print`; `tracing` below stands for the `print`s of the page that show when Python runs.
# JAX has no arrays of strings: Python's strings are static arguments.

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import DatasetError, NotStagedError

Captured = pytest.CaptureFixture[str]


@ag.do_not_convert
def tracing(*what: Any) -> None:
    sys.stdout.write(" ".join(["tracing", *map(str, what)]) + "\n")


def printed(capsys: Captured) -> list[str]:
    """The lines that have been printed since the last call."""
    jax.effects_barrier()
    return capsys.readouterr().out.splitlines()


# Usage


@ag.function
def add(a: Any, b: Any) -> Any:
    return a + b


def test_a_function_is_called() -> None:
    assert add(jnp.ones([2, 2]), jnp.ones([2, 2])).tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_function_is_differentiated() -> None:
    v = ag.Variable(1.0)
    with ag.GradientTape() as tape:
        result = add(v, 1.0)
    assert float(result) == 2.0
    assert float(tape.gradient(result, v)) == 1.0


@ag.function
def dense_layer(x: Any, w: Any, b: Any) -> Any:
    return add(jnp.matmul(x, w), b)


def test_a_function_in_a_function() -> None:
    assert dense_layer(jnp.ones([3, 2]), jnp.ones([2, 2]), jnp.ones([2])).tolist() == [[3.0, 3.0]] * 3


def test_a_convolution() -> None:
    ag.set_seed(0)
    conv_layer = ag.layers.Conv2D(4, 3)  # a smaller one than the page's, whose times are not compared

    @ag.function
    def conv_fn(image: Any) -> Any:
        return conv_layer(image)

    image = ag.random.normal([1, 8, 8, 3])
    eager, compiled = conv_layer(image), conv_fn(image)
    assert eager.shape == compiled.shape == (1, 6, 6, 4)
    np.testing.assert_allclose(eager, compiled, rtol=1e-4, atol=1e-5)


# What is tracing?


def make_double() -> Any:
    @ag.function
    def double(a: Any) -> Any:
        tracing()
        return a + a

    return double


def test_each_type_is_traced_once(capsys: Captured) -> None:
    double = make_double()
    assert double("a") == "aa"
    assert printed(capsys) == ["tracing"]
    assert int(double(jnp.asarray(1))) == 2
    assert printed(capsys) == ["tracing"]
    assert float(double(jnp.asarray(1.1))) == pytest.approx(2.2)
    assert printed(capsys) == ["tracing"]
    assert double("b") == "bb"  # a string is static: another one is traced again, where TensorFlow has traced all
    assert printed(capsys) == ["tracing"]
    assert double("b") == "bb" and int(double(jnp.asarray(5))) == 10
    assert printed(capsys) == []


def test_a_string_after_numbers() -> None:
    double = make_double()
    assert int(double(jnp.asarray(1))) == 2
    assert float(double(jnp.asarray(1.1))) == pytest.approx(2.2)
    # a function that has taken arrays alone is JAX's from then on: what is static is named so, or is there in the first call
    with pytest.raises(TypeError, match="static"):
        double("a")
    first = make_double()
    assert first("a") == "aa" and int(first(jnp.asarray(1))) == 2 and first("b") == "bb"


def test_the_traces_are_listed() -> None:
    double = make_double()
    double(jnp.asarray(1))
    double(jnp.asarray(1.1))
    # in the place of `pretty_printed_concrete_signatures`
    assert ag.explain(double, jnp.asarray(1)).retraces == ["`a` was int32[] (weak), and is float32[] (weak)"]


# Controlling retracing


@ag.function(input_signature=(ag.TensorSpec(shape=[None], dtype=jnp.int32),))
def next_collatz(x: Any) -> Any:
    tracing(x.dtype, x.shape)
    return jnp.where(x % 2 == 0, x // 2, 3 * x + 1)


def test_a_fixed_signature(capsys: Captured) -> None:
    assert next_collatz(jnp.array([1, 2])).tolist() == [4, 1]
    assert printed(capsys) == ["tracing int32 (2,)"]
    with pytest.raises(TypeError, match=r"`x` has shape \(2, 2\)"):
        next_collatz(jnp.array([[1, 2], [3, 4]]))
    with pytest.raises(TypeError, match="`x` is float32"):
        next_collatz(jnp.array([1.0, 2.0]))
    assert printed(capsys) == []


def test_unknown_sizes(capsys: Captured) -> None:
    @ag.function(input_signature=(ag.TensorSpec(shape=[None], dtype=jnp.int32),))
    def g(x: Any) -> Any:
        tracing(x.shape)
        return x

    assert g(jnp.array([1, 2, 3])).tolist() == [1, 2, 3]
    assert g(jnp.array([1, 2, 3, 4, 5])).tolist() == [1, 2, 3, 4, 5]
    # shapes are fixed when XLA compiles: once for each size, where TensorFlow traces once
    assert printed(capsys) == ["tracing (3,)", "tracing (5,)"]


def test_reduced_retracing() -> None:
    @ag.function(reduce_retracing=True)
    def g(x: Any) -> Any:
        return x

    for n in (3, 5, 7, 9):
        assert g(jnp.arange(1, n + 1)).tolist() == [*range(1, n + 1)]


def train_one_step() -> None:
    pass


@ag.function
def train(num_steps: Any) -> None:
    tracing("with num_steps")
    print("Executing with num_steps = ", num_steps)
    for _ in range(num_steps):
        train_one_step()


def test_numbers_and_arrays_as_arguments(capsys: Captured) -> None:
    train(num_steps=10)
    train(num_steps=20)
    train(num_steps=jnp.asarray(10))
    train(num_steps=jnp.asarray(20))
    # Python's numbers are traced too: one trace for all, where TensorFlow needs one for each number
    lines = printed(capsys)
    assert lines.count("tracing with num_steps") == 1
    assert [line for line in lines if not line.startswith("tracing")] == [f"Executing with num_steps =  {n}" for n in (10, 20, 10, 20)]


def test_separate_functions_share_no_traces(capsys: Captured) -> None:
    def f() -> None:
        tracing()
        print("Executing")

    ag.function(f)()
    assert sorted(printed(capsys)) == ["Executing", "tracing"]
    ag.function(f)()
    assert sorted(printed(capsys)) == ["Executing", "tracing"]


# Use the tracing protocol


class Fruit:
    flavor = jnp.array([0, 0])


class Apple(Fruit):
    flavor = jnp.array([1, 2])


class Mango(Fruit):
    flavor = jnp.array([3, 4])


def test_objects_as_arguments(capsys: Captured) -> None:
    @ag.function
    def get_mixed_flavor(fruit_a: Any, fruit_b: Any) -> Any:
        tracing()
        return fruit_a.flavor + fruit_b.flavor

    assert get_mixed_flavor(Apple(), Mango()).tolist() == [4, 6]
    assert get_mixed_flavor(Apple(), Mango()).tolist() == [4, 6]
    # other objects of the same classes need no other trace, and no `TraceType` as in TensorFlow
    assert printed(capsys) == ["tracing"]
    assert get_mixed_flavor(Mango(), Mango()).tolist() == [6, 8]
    assert printed(capsys) == ["tracing"]


# Obtaining concrete functions


def test_a_concrete_function_of_a_string(capsys: Captured) -> None:
    double = make_double()
    double_strings = double.get_concrete_function("a")
    assert printed(capsys) == ["tracing"]
    assert double_strings("a") == "aa"
    assert printed(capsys) == []
    with pytest.raises(TypeError):  # another string is another program; TensorFlow's program is for all strings
        double_strings("b")
    with pytest.raises(TypeError):  # there are no arrays of strings
        double.get_concrete_function(ag.TensorSpec(shape=[], dtype="string"))


def test_a_concrete_function_of_an_array(capsys: Captured) -> None:
    double = make_double()
    double_floats = double.get_concrete_function(jnp.float32(1))
    assert printed(capsys) == ["tracing"]
    assert float(double_floats(jnp.float32(2))) == 4.0
    assert printed(capsys) == []


def test_a_concrete_function_is_called_by_keyword() -> None:
    double_floats = make_double().get_concrete_function(jnp.float32(1))
    assert float(double_floats(a=jnp.float32(2))) == 4.0


def test_a_concrete_function_of_a_spec(capsys: Captured) -> None:
    double = make_double()
    from_spec = double.get_concrete_function(ag.TensorSpec(shape=[], dtype=jnp.float32))
    assert printed(capsys) == ["tracing"]
    assert float(from_spec(jnp.float32(3))) == 6.0
    assert printed(capsys) == []


def test_a_concrete_function_shows_its_signature() -> None:
    # TensorFlow prints the parameters and the result with their types
    assert "float32" in str(make_double().get_concrete_function(ag.TensorSpec(shape=[], dtype=jnp.float32)))


def test_the_signature_of_a_concrete_function() -> None:
    program = make_double().get_concrete_function(ag.TensorSpec(shape=[], dtype=jnp.float32))
    # in the place of `function_type`: what JAX's compiled programs have
    assert "float32[]" in str(program.in_avals)
    assert [(x.shape, x.dtype) for x in jax.tree.leaves(program.out_info)] == [((), jnp.float32)]


def test_a_concrete_function_of_another_type() -> None:
    program = make_double().get_concrete_function(ag.TensorSpec(shape=[], dtype=jnp.float32))
    with pytest.raises(TypeError, match="is float32.*called with int32"):  # `tf.errors.InvalidArgumentError` in TensorFlow
        program(jnp.asarray(1))


def test_a_concrete_function_is_differentiated() -> None:
    # a concrete function has gradients in TensorFlow; its `inference_fn` has none
    program = make_double().get_concrete_function(ag.TensorSpec(shape=[], dtype=jnp.float32))
    v = ag.Variable(3.0)
    with ag.GradientTape() as tape:
        y = program(v * v)
    assert float(y) == 18.0
    gradient = tape.gradient(y, v)
    assert gradient is not None and float(gradient) == 12.0


@ag.function
def power(a: Any, b: Any) -> Any:
    return a**b


def test_python_arguments_of_a_concrete_function() -> None:
    with pytest.raises(TypeError, match="a size that is not known"):  # a program is compiled for known shapes
        power.get_concrete_function(a=ag.TensorSpec(None, jnp.float32), b=2)
    square = power.get_concrete_function(a=ag.TensorSpec([], jnp.float32), b=2)
    # Python's numbers are traced: the program takes them again, and any
    assert float(square(a=jnp.float32(10.0), b=2)) == 100.0
    assert float(square(a=jnp.float32(10.0), b=3)) == 1000.0


@ag.function(static_argnames="b")
def static_power(a: Any, b: Any) -> Any:
    return a**b


def test_static_arguments_of_a_concrete_function() -> None:
    # one that is static is part of the program, as in TensorFlow
    square = static_power.get_concrete_function(a=ag.TensorSpec([], jnp.float32), b=2)
    assert float(square(a=jnp.float32(10.0))) == 100.0
    with pytest.raises(TypeError, match="`b` is 2 in the program"):
        square(a=jnp.float32(10.0), b=3)


def test_a_concrete_function_made_by_keyword_is_called_by_position() -> None:
    square = static_power.get_concrete_function(a=ag.TensorSpec([], jnp.float32), b=2)
    assert float(square(jnp.float32(10.0))) == 100.0


# Obtaining graphs


def test_the_graph_of_a_function() -> None:
    double = make_double()
    # in the place of `graph.as_graph_def().node`: the operations of the program, as JAX writes them
    assert [str(e.primitive) for e in double.trace(jax.ShapeDtypeStruct((), jnp.float32)).jaxpr.eqns] == ["add"]
    program = double.get_concrete_function(ag.TensorSpec([], jnp.float32))
    assert "add" in program.as_text()
    assert program.runtime_executable() is not None  # what runs without Python, as `inference_fn`


def test_the_graph_of_a_function_for_a_spec() -> None:
    assert make_double().trace(ag.TensorSpec([], jnp.float32)).jaxpr.eqns


# Debugging


def test_functions_run_eagerly(capsys: Captured) -> None:
    double = make_double()
    double(jnp.asarray(1))
    assert printed(capsys) == ["tracing"]
    with ag.run_eagerly():
        assert int(double(jnp.asarray(1))) == 2
        assert int(double(jnp.asarray(1))) == 2
    assert printed(capsys) == ["tracing", "tracing"]
    assert int(double(jnp.asarray(1))) == 2
    assert printed(capsys) == []


# AutoGraph transformations


@ag.function
def until_small(x: Any) -> Any:
    while jnp.sum(x) > 1:
        print(x)
        x = jnp.tanh(x)
    return x


def test_a_while_loop(capsys: Captured) -> None:
    start = np.array([0.66, 0.91, 0.12, 0.35, 0.74], np.float32)  # random on the page
    x = until_small(jnp.array(start))
    turns, by_hand = 0, start
    while by_hand.sum() > 1:
        by_hand, turns = np.tanh(by_hand), turns + 1
    np.testing.assert_allclose(x, by_hand, rtol=1e-4)
    lines = printed(capsys)
    assert len(lines) == turns > 10
    np.testing.assert_allclose([float(v) for v in lines[0].strip("[]").split()], start, rtol=1e-6)


def test_the_generated_code() -> None:
    code = ag.to_code(until_small)  # it takes the function itself, or what `__wrapped__` names as `python_function` does in TensorFlow
    assert "ag.while_loop(" in code
    assert ag.to_code(until_small.__wrapped__) == code


@ag.function
def fizzbuzz(n: Any) -> None:
    for i in range(1, n + 1):
        tracing("for loop")
        if i % 15 == 0:
            tracing("fizzbuzz branch")
            print("fizzbuzz")
        elif i % 3 == 0:
            tracing("fizz branch")
            print("fizz")
        elif i % 5 == 0:
            tracing("buzz branch")
            print("buzz")
        else:
            tracing("default branch")
            print(i)


def test_conditionals(capsys: Captured) -> None:
    fizzbuzz(jnp.asarray(5))
    lines = printed(capsys)
    # each branch is traced, whichever is taken
    assert {line for line in lines if line.startswith("tracing")} == {f"tracing {x}" for x in ("for loop", *(f"{b} branch" for b in BRANCHES))}
    assert [line for line in lines if not line.startswith("tracing")] == ["1", "2", "fizz", "4", "buzz"]
    fizzbuzz(jnp.asarray(20))
    expected = "1 2 fizz 4 buzz fizz 7 8 fizz buzz 11 fizz 13 14 fizzbuzz 16 17 fizz 19 buzz"
    assert printed(capsys) == expected.split()  # and nothing is traced again


BRANCHES = ("fizzbuzz", "fizz", "buzz", "default")


# Looping over Python data


def test_the_size_of_the_graph_of_a_loop() -> None:
    @ag.function
    def train(dataset: Any) -> Any:
        loss = jnp.asarray(0)
        for x, y in dataset:
            loss += jnp.abs(y - x)
        return loss

    def measure_graph_size(f: Any, *args: Any) -> int:
        return len(f.trace(*args).jaxpr.eqns)

    small_data = [(1, 1)] * 3
    big_data = [(1, 1)] * 10
    # a loop over a Python list is unrolled: three operations for each item, where TensorFlow makes 3 * n + 2 nodes
    assert measure_graph_size(train, small_data) == 9
    assert measure_graph_size(train, big_data) == 30

    # a loop over a dataset is one operation, whatever its length
    sizes = [measure_graph_size(train, ag.data.Dataset.from_tensor_slices(tuple(np.array(d).T))) for d in (small_data, big_data)]
    assert sizes[0] == sizes[1] < 10

    # a compiled loop does not take what a Python generator gives; TensorFlow fetches each item by a `py_function`
    from_generator = ag.data.Dataset.from_generator(lambda: small_data, (jnp.int32, jnp.int32))
    with pytest.raises(DatasetError, match="its items come from a Python iterable") as error:
        measure_graph_size(train, from_generator)
    assert error.value.id == "AG707"
    assert [(int(x), int(y)) for x, y in from_generator] == small_data


def test_loops_over_python_data_and_a_dataset() -> None:
    def distance(dataset: Any) -> Any:
        loss = jnp.asarray(0)
        for x, y in dataset:
            loss += jnp.abs(y - x)
        return loss

    pairs = [(1, 4), (2, 2), (9, 7)]
    assert int(ag.function(distance)(pairs)) == 5
    assert int(ag.function(distance)(ag.data.Dataset.from_tensor_slices(tuple(np.array(pairs).T)))) == 5


# Accumulating values in a loop

batch_size = 2
seq_len = 3
feature_size = 4


def rnn_step(inp: Any, state: Any) -> Any:
    return inp + state


@ag.function
def dynamic_rnn(rnn_step: Any, input_data: Any, initial_state: Any) -> Any:
    # [batch, time, features] -> [time, batch, features]
    input_data = jnp.transpose(input_data, [1, 0, 2])
    max_seq_len = input_data.shape[0]

    states = []  # in the place of a `tf.TensorArray`
    state = initial_state
    for i in range(max_seq_len):
        state = rnn_step(input_data[i], state)
        states.append(state)
    return jnp.transpose(jnp.stack(states), [1, 0, 2])


@ag.function
def dynamic_rnn_in_an_array(rnn_step: Any, input_data: Any, initial_state: Any) -> Any:
    input_data = jnp.transpose(input_data, [1, 0, 2])
    max_seq_len = input_data.shape[0]

    states = jnp.zeros((max_seq_len, *initial_state.shape))
    state = initial_state
    for i in ag.range(max_seq_len, rolled=True):  # `tf.range` is a compiled loop
        state = rnn_step(input_data[i], state)
        states[i] = state
    return jnp.transpose(states, [1, 0, 2])


@pytest.mark.parametrize("rnn", [dynamic_rnn, dynamic_rnn_in_an_array])
def test_values_are_accumulated(rnn: Any) -> None:
    ag.set_seed(0)
    inputs = ag.random.uniform([batch_size, seq_len, feature_size])
    states = rnn(rnn_step, inputs, jnp.zeros([batch_size, feature_size]))
    assert states.shape == (2, 3, 4)
    np.testing.assert_allclose(states, np.cumsum(inputs, axis=1), rtol=1e-6)  # the page's numbers are random


# Executing Python side effects


def test_effects_of_the_program_and_of_tracing(capsys: Captured) -> None:
    @ag.function
    def f(x: Any) -> None:
        tracing()
        print("Executed with", x)

    f(1)
    assert sorted(printed(capsys)) == ["Executed with 1", "tracing"]
    f(1)
    assert printed(capsys) == ["Executed with 1"]
    f(2)  # TensorFlow traces again for another Python number
    assert printed(capsys) == ["Executed with 2"]


def test_a_python_function_in_a_program(capsys: Captured) -> None:
    def py_plus(x: Any, y: Any) -> Any:
        print("Executing eagerly.")
        return x + y

    @ag.function
    def wrapper(x: Any, y: Any) -> Any:
        tracing()
        return ag.py_func(py_plus, [x, y], jnp.float32)

    assert float(wrapper(jnp.asarray(1.0), jnp.asarray(2.0))) == 3.0
    assert printed(capsys) == ["tracing", "Executing eagerly."]
    assert float(wrapper(jnp.asarray(1.0), jnp.asarray(2.0))) == 3.0
    assert printed(capsys) == ["Executing eagerly."]


def test_a_python_function_by_a_decorator() -> None:
    @ag.py_func(Tout=jnp.float32)
    def py_plus(x: Any, y: Any) -> Any:
        return x + y

    assert float(ag.function(lambda x, y: py_plus(x, y))(jnp.asarray(1.0), jnp.asarray(2.0))) == 3.0


external_list: list[Any] = []


def test_a_list_outside_of_the_function(capsys: Captured) -> None:
    @ag.function
    def side_effect(x: Any) -> None:
        print("Python side effect")
        external_list.append(x)

    external_list.clear()
    side_effect(1)
    side_effect(1)
    side_effect(1)
    # state is the object's: it happens whenever the function is called, where TensorFlow appends once, and a symbol
    assert [int(x) for x in external_list] == [1, 1, 1]
    assert printed(capsys) == ["Python side effect"] * 3


class Model(ag.Module):
    def __init__(self) -> None:
        super().__init__()
        self.v = ag.Variable(0)
        self.counter = 0

    @ag.function
    def __call__(self) -> Any:
        if self.counter == 0:
            self.counter += 1
            self.v.assign_add(1)

        return self.v


def test_a_counter_in_an_object() -> None:
    m = Model()
    # what the page wants, 1, 1, 1, and not TensorFlow's 1, 2, 3; so `tf.init_scope`, its way around, has no counterpart
    assert [int(m()) for _ in range(3)] == [1, 1, 1]
    assert m.counter == 1 and m.v.numpy() == 1
    assert not hasattr(ag, "init_scope")


def test_an_iterator_of_python(capsys: Captured) -> None:
    @ag.function
    def buggy_consume_next(iterator: Any) -> None:
        print("Value:", next(iterator))

    iterator = iter([1, 2, 3])
    buggy_consume_next(iterator)
    # as the page shows, the program has the first value
    buggy_consume_next(iterator)
    buggy_consume_next(iterator)
    assert printed(capsys) == ["Value: 1"] * 3


def test_an_iterator_of_a_dataset(capsys: Captured) -> None:
    @ag.function
    def good_consume_next(iterator: Any) -> None:
        print("Value:", next(iterator))

    ds = ag.data.Dataset.from_tensor_slices([1, 2, 3])
    iterator = iter(ds)
    good_consume_next(iterator)
    good_consume_next(iterator)
    good_consume_next(iterator)
    assert printed(capsys) == ["Value: 1", "Value: 2", "Value: 3"]


# All outputs of a function must be return values

leaked: Any = None


@ag.function
def leaky_function(a: Any) -> Any:
    global leaked
    leaked = a + 1
    return a + 2


@ag.function
def leaky_function_that_returns(a: Any) -> Any:
    global leaked
    leaked = a + 1
    return leaked


@ag.function
def captures_what_has_leaked(b: Any) -> Any:
    b += leaked
    return b


def test_global_variables_hold_values() -> None:
    correct_a = leaky_function(jnp.asarray(1))
    assert int(correct_a) == 3
    assert int(leaked) == 2  # a value; in TensorFlow a symbol, which has no `numpy()`

    correct_a = leaky_function_that_returns(jnp.asarray(1))
    assert int(correct_a) == 2
    assert int(leaked) == 2

    assert int(captures_what_has_leaked(jnp.asarray(2))) == 4  # TensorFlow raises a TypeError


class MyClass:
    def __init__(self) -> None:
        self.field: Any = None


another_list: list[Any] = []
external_object = MyClass()


@ag.function
def leaks_into_objects() -> None:
    a = jnp.asarray(1)
    another_list.append(a)
    external_object.field = a


def test_lists_and_objects_outside_hold_values() -> None:
    another_list.clear()
    leaks_into_objects()
    assert [int(x) for x in another_list] == [1] and int(external_object.field) == 1


# Recursive functions are not supported


def test_a_recursion_that_traced_values_end() -> None:
    @ag.function
    def recursive_fn(n: Any) -> Any:
        if n > 0:
            return recursive_fn(n - 1)
        else:
            return 1

    with pytest.raises(NotStagedError, match="both branches are traced, so the recursion does not end") as error:
        recursive_fn(jnp.asarray(5))
    assert error.value.id == "AG501"
    with pytest.raises(NotStagedError) as error:  # Python's numbers are traced too; TensorFlow traces it six times
        recursive_fn(5)
    assert error.value.id == "AG501"


def test_a_recursion_that_a_static_number_ends(capsys: Captured) -> None:
    @ag.function(static_argnames="n")
    def recursive_fn(n: Any) -> Any:
        if n > 0:
            tracing()
            return recursive_fn(n - 1)
        else:
            return 1

    assert recursive_fn(5) == 1
    assert printed(capsys) == ["tracing"] * 5


# Depending on Python global and free variables

foo: Any = None


@ag.function
def buggy_add() -> Any:
    return 1 + foo


@ag.function
def recommended_add(foo: Any) -> Any:
    return 1 + foo


@ag.function
def variable_add() -> Any:
    return 1 + foo


def test_a_global_number() -> None:
    global foo
    foo = 1
    assert int(buggy_add()) == 2
    assert int(recommended_add(foo)) == 2

    foo = 100
    assert int(buggy_add()) == 2  # as the page shows, it does not change
    assert int(recommended_add(foo)) == 101


def test_a_global_variable() -> None:
    global foo
    foo = ag.Variable(1)
    assert int(variable_add()) == 2

    foo.assign(100)
    assert int(variable_add()) == 101


# Depending on Python objects


class SimpleModel(ag.Module):
    def __init__(self) -> None:
        super().__init__()
        # no Variables
        self.bias = 0.0
        self.weight = 2.0


def evaluate(model: Any, x: Any) -> Any:
    return model.weight * x + model.bias


def test_attributes_that_are_numbers() -> None:
    simple_model = SimpleModel()
    evaluate_compiled = ag.function(evaluate)
    x = jnp.asarray(10.0)
    assert float(evaluate_compiled(simple_model, x)) == 20.0
    simple_model.bias += 5.0
    assert float(evaluate_compiled(simple_model, x)) == 25.0  # attributes are read when the call begins; TensorFlow gives 20 again


def test_a_concrete_function_of_an_object() -> None:
    new_model = SimpleModel()
    x = jnp.asarray(10.0)
    evaluate_no_bias = ag.function(evaluate).get_concrete_function(new_model, x)
    assert float(evaluate_no_bias(new_model, x)) == 20.0
    new_model.bias += 5.0
    evaluate_with_bias = ag.function(evaluate).get_concrete_function(new_model, x)
    assert float(evaluate_with_bias(new_model, x)) == 25.0


def test_a_concrete_function_has_captured_the_object() -> None:
    new_model = SimpleModel()
    x = jnp.asarray(10.0)
    evaluate_no_bias = ag.function(evaluate).get_concrete_function(new_model, x)
    assert float(evaluate_no_bias(x)) == 20.0


class BetterModel:
    def __init__(self) -> None:
        self.bias = ag.Variable(0.0)
        self.weight = ag.Variable(2.0)


def test_attributes_that_are_variables() -> None:
    better_model = BetterModel()
    evaluate_compiled = ag.function(evaluate)
    x = jnp.asarray(10.0)
    assert float(evaluate_compiled(better_model, x)) == 20.0
    better_model.bias.assign_add(5.0)
    assert float(evaluate_compiled(better_model, x)) == 25.0
    bias = better_model.bias
    better_model.bias += 5.0  # here it is the same: the Variable is assigned
    assert better_model.bias is bias and float(evaluate_compiled(better_model, x)) == 30.0


# Creating Variables


def test_a_variable_that_is_made_in_each_call() -> None:
    @ag.function
    def f(x: Any) -> Any:
        v = ag.Variable(1.0)
        return v

    # nothing has to be created once and only once; TensorFlow raises a ValueError
    assert float(f(1.0)) == 1.0 and float(f(1.0)) == 1.0


class Count(ag.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count: Any = None

    @ag.function
    def __call__(self) -> Any:
        if self.count is None:
            self.count = ag.Variable(0)
        return self.count.assign_add(1)


def test_a_variable_that_is_made_in_the_first_call() -> None:
    c = Count()
    assert int(c()) == 1
    assert int(c()) == 2
    assert isinstance(c.count, ag.Variable)


# Using with multiple Keras optimizers


def train_step(w: Any, x: Any, y: Any, optimizer: Any) -> None:
    with ag.GradientTape() as tape:
        L = jnp.sum(jnp.square(w * x - y))
    gradients = tape.gradient(L, [w])
    optimizer.apply_gradients(zip(gradients, [w]))


class AdamByHand:
    """Adam in double precision, for one number."""

    def __init__(self, rate: float) -> None:
        self.rate, self.m, self.v, self.t = rate, 0.0, 0.0, 0

    def step(self, w: float) -> float:
        g = 2 * (w * -1.0 - 2.0) * -1.0
        self.t += 1
        self.m, self.v = 0.9 * self.m + 0.1 * g, 0.999 * self.v + 0.001 * g * g
        return w - self.rate * (self.m / (1 - 0.9**self.t)) / (np.sqrt(self.v / (1 - 0.999**self.t)) + 1e-7)


X, Y = jnp.array([-1.0]), jnp.array([2.0])


def test_one_function_for_two_optimizers() -> None:
    opt1 = ag.optimizers.Adam(learning_rate=1e-2)
    opt2 = ag.optimizers.Adam(learning_rate=1e-3)
    step = ag.function(train_step)
    w = ag.Variable(2.0)

    step(w, X, Y, opt1)
    assert float(w) == pytest.approx(1.99, abs=1e-6)
    # nothing has to be created once and only once; TensorFlow raises a ValueError
    step(w, X, Y, opt2)
    assert float(w) == pytest.approx(1.989, abs=1e-6)


class TrainStep(ag.Module):
    def __init__(self, optimizer: Any) -> None:
        super().__init__()
        self.optimizer = optimizer

    @ag.function
    def __call__(self, w: Any, x: Any, y: Any) -> None:
        with ag.GradientTape() as tape:
            L = jnp.sum(jnp.square(w * x - y))
        gradients = tape.gradient(L, [w])
        self.optimizer.apply_gradients(zip(gradients, [w]))


def test_an_object_for_each_optimizer() -> None:
    train_o1 = TrainStep(ag.optimizers.Adam(learning_rate=1e-2))
    train_o2 = TrainStep(ag.optimizers.Adam(learning_rate=1e-3))
    w = ag.Variable(2.0)

    train_o1(w, X, Y)
    assert float(w) == pytest.approx(1.99, abs=1e-6)
    train_o2(w, X, Y)
    assert float(w) == pytest.approx(1.989, abs=1e-6)


def test_a_function_for_each_optimizer() -> None:
    opt1 = ag.optimizers.Adam(learning_rate=1e-2)
    opt2 = ag.optimizers.Adam(learning_rate=1e-3)
    w = ag.Variable(2.0)

    train_step_1 = ag.function(train_step)
    train_step_2 = ag.function(train_step)
    for i in range(10):
        if i % 2 == 0:
            train_step_1(w, X, Y, opt1)
        else:
            train_step_2(w, X, Y, opt2)

    by_hand, rules = 2.0, (AdamByHand(1e-2), AdamByHand(1e-3))
    for i in range(10):
        by_hand = rules[i % 2].step(by_hand)
    assert float(w) == pytest.approx(by_hand, abs=1e-5)


def test_one_function_for_two_models() -> None:
    # the page says in words that TensorFlow raises a ValueError for the second model
    ag.set_seed(0)
    apply = ag.function(lambda model, x: model(x))
    x = jnp.ones([1, 3])
    for model in (ag.layers.Dense(2), ag.layers.Dense(4)):
        y = apply(model, x)
        np.testing.assert_allclose(y, np.ones([1, 3]) @ model.kernel.numpy() + model.bias.numpy(), rtol=1e-5)
