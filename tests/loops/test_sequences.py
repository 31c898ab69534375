"""Programs over sequences as people write them (a list of states, a layer over it, a loss): as in Python, with all derivatives, and few compiled turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

T = 32
X = jnp.sin(jnp.arange(2 * T * 3.0)).reshape(2, T, 3)
IN, OVER, OUT = (jnp.sin(jnp.arange(float(a * b)) + a).reshape(a, b) * 0.3 for a, b in ((3, 4), (4, 4), (4, 3)))


def cell(h: Any, x: Any) -> Any:
    return jnp.tanh(x @ IN + h @ OVER)


def start() -> Any:
    return jnp.zeros((2, 4))


def states(x: Any) -> Any:
    h, outs = start(), []
    for t in range(x.shape[1]):
        h = cell(h, x[:, t])
        outs.append(h)
    return outs


def stacked(x: Any) -> Any:
    return jnp.stack(states(x), axis=1)


def renamed(x: Any) -> Any:
    h, outs = start(), []
    for t in range(x.shape[1]):
        h = cell(h, x[:, t])
        outs.append(h)
    outs = jnp.stack(outs, 1)
    return outs.mean(1)


def joined_along_an_axis(x: Any) -> Any:
    return jnp.concatenate([h[:, None] for h in states(x)], axis=1)


def a_layer_over_it(x: Any) -> Any:
    ys = [h @ OUT for h in states(x)]
    return jnp.stack(ys, -1)


def loss_of_each(x: Any) -> Any:
    loss = 0.0
    for t, h in enumerate(states(x)):
        loss += jnp.mean((h @ OUT - x[:, t]) ** 2)
    return loss


def loss_by_index(x: Any) -> Any:
    outs, loss = states(x), 0.0
    for t in range(len(outs)):
        loss += jnp.mean((outs[t] @ OUT - x[:, t]) ** 2)
    return loss / len(outs)


def side_by_side(x: Any) -> Any:
    outs, total = states(x), 0.0
    doubled = [jnp.cos(jnp.sin(h @ OVER) @ OVER) for h in outs]
    for a, b in zip(outs, doubled, strict=False):
        total += jnp.sum(jnp.tanh(a @ OVER) * jnp.cos(b) + jnp.sin(a))
    return total


def sum_of_losses(x: Any) -> Any:
    h, losses = start(), []
    for t in range(x.shape[1] - 1):
        h = cell(h, x[:, t])
        losses.append(jnp.mean((h @ OUT - x[:, t + 1]) ** 2))
    return sum(losses) / len(losses), losses[-1]


def sum_of_a_generator(x: Any) -> Any:
    return sum(jnp.mean((h @ OUT) ** 2) for h in states(x))


def pairs(x: Any) -> Any:
    h, c, outs = start(), start(), []
    for t in range(x.shape[1]):
        h, c = cell(h, x[:, t]), 0.9 * c + h
        outs.append((h, c))
    hs, cs = zip(*outs, strict=True)
    return jnp.stack(hs), jnp.stack([c for _, c in outs], 1)


def both_directions(x: Any) -> Any:
    forth, back, h = states(x), [], start()
    for t in reversed(range(x.shape[1])):
        h = cell(h, x[:, t])
        back.append(h)
    return jnp.concatenate([jnp.stack(forth, 1), jnp.stack(back[::-1], 1)], -1)


def two_layers(x: Any) -> Any:
    sequence = [x[:, t] for t in range(x.shape[1])]
    for layer in range(2):
        h, outs = start(), []
        for v in sequence:
            h = cell(h, v if layer == 0 else v @ OUT)
            outs.append(h)
        sequence = outs
    return jnp.stack(sequence, 1)


def back_through_pointers(x: Any) -> Any:
    """The most likely path (Viterbi, 1967)."""
    score, back = x[0, 0], []
    for t in range(1, x.shape[1]):
        reached = score[:, None] + jnp.tanh(IN @ OUT)
        back.append(jnp.argmax(reached, 0))
        score = jnp.max(reached, 0) + jnp.cos(x[0, t])
    path = [jnp.argmax(score)]
    for pointers in reversed(back):
        path.append(pointers[path[-1]])
    return jnp.max(score), jnp.stack(path[::-1])


def teacher_at_first(x: Any) -> Any:
    h, y, outs = start(), x[:, 0], []
    for t in range(x.shape[1]):
        h = cell(h, x[:, t] if t < 9 else y)
        y = h @ OUT
        outs.append(y)
    return jnp.stack(outs, 1)


def by_key(x: Any) -> Any:
    h, found = start(), {}
    for t in range(x.shape[1]):
        h = cell(h, x[:, t])
        found[f"step {t}"] = h
    return jnp.stack(list(found.values()))


def filled_by_place(x: Any) -> Any:
    h, outs = start(), [None] * x.shape[1]
    for t in range(x.shape[1]):
        h = cell(h, x[:, t])
        outs[t] = h
    return jnp.stack(outs)


def longer_lists(x: Any) -> Any:
    h, outs = start(), []
    for t in range(x.shape[1]):
        h = cell(h, x[:, t])
        outs = [*outs, h]
    return jnp.stack(outs)


def handed_to_a_helper(x: Any) -> Any:
    def keep(outs: list[Any], h: Any) -> None:
        outs.append(h)

    h, outs = start(), []
    for t in range(x.shape[1]):
        h = cell(h, x[:, t])
        keep(outs, h)
    return jnp.stack(outs, 1)


def the_last_three(x: Any) -> Any:
    h, outs = start(), []
    for t in range(x.shape[1]):
        h = cell(h, x[:, t])
        outs.append(h)
        h = h + sum(outs[-3:]) / 3
    return jnp.stack(outs)


def ended_by_a_number(x: Any) -> Any:
    h, outs = start(), []
    for t in range(x.shape[1]):
        h = cell(h, x[:, t])
        outs.append(h)
        if t > 28:
            break
    return jnp.stack(outs, 1)


def in_an_array(x: Any) -> Any:
    h, out = start(), np.zeros((2, T, 4), np.float32)
    for t in range(x.shape[1]):
        h = cell(h, x[:, t])
        out[:, t] = h
    return out


PROGRAMS: list[Callable[[Any], Any]] = [
    states, stacked, renamed, joined_along_an_axis, a_layer_over_it, loss_of_each, loss_by_index, side_by_side, sum_of_losses, sum_of_a_generator, pairs,
    back_through_pointers, both_directions, two_layers, teacher_at_first, by_key, filled_by_place, longer_lists, handed_to_a_helper, the_last_three, ended_by_a_number, in_an_array,
]  # fmt: skip
MOST = 14  # of the hyperbolic tangents that are recorded: unrolled, they are thirty-two or more


def total(out: Any) -> Any:
    return sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(out))


def by_tape(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def gradient(x: Any) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            value = total(f(x))
        return tape.gradient(value, x)

    return gradient


def recorded(f: Callable[..., Any], *args: Any) -> Counter[str]:
    """How many operations of each kind a function records, those in compiled turns once."""
    found: Counter[str] = Counter()
    todo = [jax.make_jaxpr(f)(*args).jaxpr]
    while todo:
        for e in todo.pop().eqns:
            found[e.primitive.name] += 1
            todo += [
                j.jaxpr if hasattr(j, "jaxpr") else j
                for p in e.params.values()
                for j in (p if isinstance(p, (tuple, list)) else (p,))
                if hasattr(j, "eqns")
            ]
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_python(program: Callable[[Any], Any]) -> None:
    want = program(X) if program is not in_an_array else jnp.stack(states(X), 1)
    got = ag.function(program)(X)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), got, want)
    slope = jax.grad(lambda x: total(program(x)))(X) if program is not in_an_array else jax.grad(lambda x: total(stacked(x)))(X)
    np.testing.assert_allclose(ag.function(by_tape(program))(X), slope, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(jax.grad(lambda x: total(ag.function(program)(x)))(X), slope, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_few_compiled_turns(program: Callable[[Any], Any]) -> None:
    if program is joined_along_an_axis:
        pytest.skip("its comprehension is no call: each of its items is a row with an axis more")
    assert recorded(ag.convert(program), X)["tanh"] <= MOST
    assert recorded(ag.convert(by_tape(program)), X)["tanh"] <= MOST


def items_that_are_stored_into(x: Any) -> Any:
    outs = states(x)
    for h in outs:
        h[0] = jnp.tanh(h[1]) * jnp.cos(h[0]) + jnp.sin(h[1] @ OVER) @ OVER
    return jnp.stack(outs)


def items_that_some_turns_store_into(x: Any) -> Any:
    outs = states(x)
    for k, h in enumerate(outs):
        if k == 7:
            h[0] = 5.0
        x = x + jnp.tanh(h @ OUT)[:, None]
    return jnp.stack(outs), x


def a_list_that_grows(x: Any) -> Any:
    outs, seen = states(x), 0.0
    for h in outs:
        if len(outs) < T + 5:
            outs.append(jnp.tanh(h @ OVER))
        seen = seen + jnp.sum(jnp.tanh(h @ OVER) @ OUT)
    return seen, len(outs)


def a_list_that_changes(x: Any) -> Any:
    outs, seen = states(x), 0.0
    for h in outs:
        outs[-1] = outs[-1] * 0.5
        seen = seen + jnp.sum(jnp.tanh(h @ OVER) @ OUT)
    return seen


def a_list_that_becomes_shorter(x: Any) -> Any:
    outs, seen = states(x), 0.0
    for h in reversed(outs):
        seen = seen + jnp.sum(jnp.tanh(h @ OVER) @ OUT)
        outs.pop()
    return seen, len(outs)


def a_list_that_grows_behind(x: Any) -> Any:
    outs, seen = states(x), 0.0
    for k, h in enumerate(reversed(outs)):
        seen = seen + k * jnp.sum(jnp.tanh(h @ OVER) @ OUT)
        if k % 2:
            outs.append(h)
    return seen, len(outs)


@pytest.mark.parametrize(
    "f",
    [
        a_list_that_becomes_shorter,
        a_list_that_grows_behind,
        items_that_are_stored_into,
        items_that_some_turns_store_into,
        a_list_that_grows,
        a_list_that_changes,
    ],
)
def test_lists_that_change_while_they_are_gone_over(f: Callable[[Any], Any]) -> None:
    """A loop that may be one compiled turn gives what its turns give one by one."""

    def turns(x: Any) -> Any:
        with ag.loops(roll="never"):
            return f(x)

    got, want = jax.tree.leaves(ag.function(f)(X)), jax.tree.leaves(ag.function(turns)(X))
    assert len(got) == len(want) and all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(got, want, strict=True))


@jax.custom_vjp
def rounded(x: Any) -> Any:
    return jnp.round(x)


rounded.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (3 * g,))


@jax.custom_jvp
def floored(x: Any) -> Any:
    return jnp.floor(x)


floored.defjvp(lambda x, t: (jnp.floor(x[0]), 5 * t[0]))


def test_rules_of_derivatives_stand_in_joined_turns() -> None:
    def f(x: Any) -> Any:
        found: dict[str, Any] = {}
        for t in range(T):
            x = jnp.tanh(x + 0.1 * rounded(x) + 0.01 * floored(x @ OVER) + jax.nn.relu(x) * jax.nn.softmax(x))
            found[str(t)] = x
        return x, found["3"]

    x = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
    want = jax.grad(lambda x: total(f(x)))(x)
    np.testing.assert_allclose(ag.function(by_tape(f))(x), want, rtol=1e-3, atol=1e-5)
    assert recorded(ag.convert(by_tape(f)), x)["tanh"] <= MOST


def after(x: Any, weights: Any) -> Any:
    return jnp.tanh(x @ weights + jnp.cos(x) @ weights)


def test_variables_and_persistent_tapes() -> None:
    w = ag.Variable(OVER, name="w")

    def both(x: Any) -> Any:
        found: dict[str, Any] = {}
        begin = x
        with ag.GradientTape(persistent=True) as tape:
            for t in range(T):
                x = after(x, w)
                found[f"{t}"] = x
            loss = jnp.sum(x)
            other = jnp.sum(found["5"] ** 2)
        return tape.gradient(loss, w), tape.gradient(other, w), tape.gradient(loss, begin)

    def pure(weights: Any) -> Any:
        x, found = start(), []
        for _ in range(T):
            x = after(x, weights)
            found.append(x)
        return jnp.sum(x), jnp.sum(found[5] ** 2)

    first, second, none = ag.function(both)(start())
    np.testing.assert_allclose(first, jax.grad(lambda v: pure(v)[0])(OVER), rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(second, jax.grad(lambda v: pure(v)[1])(OVER), rtol=1e-3, atol=1e-6)
    assert none is None


def test_a_gradient_by_what_a_turn_has_computed() -> None:
    def f(x: Any) -> Any:
        found: dict[str, Any] = {}
        with ag.GradientTape() as tape:
            tape.watch(x)
            for t in range(T):
                x = after(x, OVER)
                found[str(t)] = x
            loss = jnp.sum(x)
        return tape.gradient(loss, found["29"])

    def never(x: Any) -> Any:
        with ag.loops(roll="never"):
            return f(x)

    def of_a_list(x: Any) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            outs = states(x)
            loss = jnp.sum(outs[-1])
        return tape.gradient(loss, outs[3])

    for refused, given in ((f, start()), (of_a_list, X)):
        with pytest.raises(ag.AutographError, match="AG703 a gradient with respect to the result of one iteration is asked for"):
            ag.function(refused)(given)
    x = start()
    for _ in range(30):
        x = after(x, OVER)
    want = jax.grad(lambda x: jnp.sum(after(after(x, OVER), OVER)))(x)
    np.testing.assert_allclose(ag.function(never)(start()), want, rtol=1e-4)


@pytest.mark.parametrize("k", range(-7, 8))
def test_an_empty_slice_is_empty_wherever_it_begins(k: int) -> None:
    def around(x: Any, i: Any) -> Any:
        x[i:i] = 7.0
        return x[i:i].sum() + x[i - 1 : i - 1].size

    x = np.arange(3.0, dtype=np.float32)
    assert ag.function(around)(x, jnp.int32(k)) == around(x.copy(), k) == 0
    assert list(x) == [0, 1, 2]
