"""`input_signature`, `TensorSpec`, `get_concrete_function`, `Module`, `ag.random`, and programs that `lower` has made."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


@ag.function(input_signature=[ag.TensorSpec([None], jnp.float32), ag.TensorSpec([], jnp.int32)])
def counted(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = x + 1
    return x


def test_arguments_become_what_the_signature_says() -> None:
    assert counted([1, 2], 3).tolist() == [4, 5] and counted(np.ones(3), n=1).dtype == jnp.float32
    for wrong, why in ((([[1.0]], 1), "`x` has shape"), (([1.0], 1.5), "`n` is float32"), (([1.0],), "missing a required argument: 'n'")):
        with pytest.raises(TypeError, match=why):
            counted(*wrong)


def test_concrete_functions() -> None:
    program = counted.get_concrete_function(ag.TensorSpec([2]), ag.TensorSpec([], jnp.int32))
    assert program(jnp.ones(2), jnp.int32(2)).tolist() == [3, 3]
    with pytest.raises(TypeError, match="a size that is not known"):
        counted.get_concrete_function()
    assert ag.function(lambda x: x * 2).get_concrete_function(ag.TensorSpec([2]))(jnp.ones(2)).tolist() == [2, 2]


def test_concrete_functions_of_any_arguments_and_of_lists() -> None:
    x = jnp.float32(3)
    assert float(ag.function(lambda *a: a[0] + a[1]).get_concrete_function(x, x)(x, x)) == 6
    assert float(ag.function(lambda **k: k["z"] + 1).get_concrete_function(z=x)(z=x)) == 4

    def longer(xs: list[Any]) -> int:
        xs.append(xs[0])
        xs[0] = xs[0] + 1
        return len(xs)

    held = [jnp.float32(1)]
    program = ag.function(longer).get_concrete_function([jnp.float32(1)])
    assert program(held) == 2 and [*map(float, held)] == [2.0, 1.0]


def test_concrete_functions_with_what_is_static_and_with_numbers() -> None:
    @ag.function(static_argnums=0, static_argnames="m")
    def stepped(n: int, x: Any, m: int = 2, *, z: Any) -> Any:
        return x * n + m + z

    program = stepped.get_concrete_function(3, ag.TensorSpec([]), m=4, z=ag.TensorSpec([]))
    assert program(1.0, 2.0) == program(3, 1.0, z=2.0) == program(x=1.0, z=2.0, n=3, m=4) == 9
    with pytest.raises(TypeError, match="`n` is 3"):
        program(5, 1.0, z=2.0)

    @ag.function
    def scaled(x: Any, mode: str, k: int = 2) -> Any:
        return x * k if mode == "times" else x + k

    program = scaled.get_concrete_function(ag.TensorSpec([]), "times", k=3)
    assert program(2.0) == program(2.0, "times") == 6 and program(2.0, k=5) == program(2.0, "times", 5) == 10
    with pytest.raises(TypeError, match="`mode` is 'times'"):
        program(2.0, jnp.ones(2))
    with pytest.raises(TypeError, match="`x` twice"):
        program(2.0, "times", x=1.0)
    with pytest.raises(TypeError, match="at most 3 arguments"):
        program(2.0, "times", 3, 4)


class Net(ag.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w, self.frozen = ag.Variable(2.0), [ag.Variable(1.0, trainable=False)]
        self.dense = ag.layers.Dense(2)

    @ag.function(input_signature=[ag.TensorSpec([None, 3])])
    def __call__(self, x: Any) -> Any:
        return self.dense(x) * self.w


def test_a_module_finds_its_variables() -> None:
    net = Net()
    assert net(np.ones((1, 3))).shape == (1, 2) and net(np.ones((4, 3))).shape == (4, 2)
    assert (len(net.variables), len(net.trainable_variables), len(net.non_trainable_variables)) == (4, 3, 1)
    assert net.submodules == (net.dense,) and net.name == "net"


def test_programs_that_are_lowered_do_what_the_function_does() -> None:
    v, a = ag.Variable(2.0), np.zeros(3, np.float32)

    @ag.function
    def step(x: Any) -> Any:
        v.assign_add(x.sum())
        return x * v if x.sum() > 0 else x

    program = step.lower(jnp.ones(2)).compile()
    assert program(jnp.ones(2)).tolist() == [4, 4] and program(jnp.ones(2)).tolist() == [6, 6] and v == 6.0

    @ag.function
    def stored(a: Any) -> Any:
        a[0] = 5
        return a.sum()

    assert stored.trace(a).lower().compile()(a) == 5 and a.tolist() == [5, 0, 0]

    @ag.function
    def checked(x: Any) -> Any:
        assert x > 0, "negative"
        return x + 1

    program = checked.lower(1.0).compile()
    assert program(2.0) == 3
    with pytest.raises(AssertionError, match="negative"):
        program(-2.0)
    assert "cos" in ag.function(jnp.cos).lower(jax.ShapeDtypeStruct((), jnp.float32)).as_text()


def test_random_numbers_are_others_each_time_and_the_same_after_a_seed() -> None:
    @ag.function
    def drawn(n: Any) -> Any:
        total = 0.0
        for _ in range(n):
            total += ag.random.uniform(())
        return total, ag.random.normal((2,)), ag.random.shuffle(jnp.arange(50)), ag.random.categorical(jnp.zeros((2, 3)), 40)

    ag.set_seed(1)
    a, b = drawn(3), drawn(3)
    ag.set_seed(1)
    again = drawn(3)
    flat = [np.concatenate([np.ravel(x) for x in out]) for out in (a, b, again)]
    assert (flat[0] == flat[2]).all() and (flat[0] != flat[1]).any()
    assert sorted(a[2].tolist()) == list(range(50)) and set(np.ravel(a[3]).tolist()) <= {0, 1, 2}
    wide = ag.random.truncated_normal((1000,), 5.0, 2.0)
    assert 1.0 <= float(wide.min()) and float(wide.max()) <= 9.0 and abs(float(wide.mean()) - 5) < 0.3
    with pytest.raises(ValueError, match="needs `maxval`"):
        ag.random.uniform((2,), dtype=int)


def test_a_generator_in_a_branch() -> None:
    source = ag.random.Generator.from_seed(3)

    @ag.function
    def perhaps(x: Any) -> Any:
        return source.normal(()) if x > 0 else x

    first = float(perhaps(1.0))
    source.reset_from_seed(3)
    perhaps(-1.0)
    assert float(perhaps(1.0)) == first and float(perhaps(1.0)) != first
