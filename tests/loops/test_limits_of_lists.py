"""A `while` whose test limits a list that grows in it: how long it may become is read from the test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

END, MOST = 3, 10
PROGRAMS: list[Callable[..., Any]] = []
program = PROGRAMS.append


def following(token: Any) -> Any:
    return (token * 5 + 1) % 7


@program
def left_by_break(token: Any) -> Any:
    out: list[Any] = []
    while len(out) < MOST:
        token = following(token)
        out.append(token)
        if token == END:
            break
    return len(out), sum(out)


@program
def left_before_it_grows(token: Any) -> Any:
    out: list[Any] = []
    while len(out) < MOST:
        token = following(token)
        if token == END:
            break
        out.append(token)
    return len(out), sum(out)


@program
def its_last_item(token: Any) -> Any:
    out = [token]
    while out[-1] != END and len(out) < MOST:
        out.append(following(out[-1]))
    return len(out), out[-1]


@program
def its_length_first(token: Any) -> Any:
    out = [token]
    while len(out) < MOST and out[-1] != END:
        out += [following(out[-1])]
    return len(out), sum(out)


@program
def the_token_first(token: Any) -> Any:
    out: list[Any] = []
    while token != END and len(out) <= MOST:
        token = following(token)
        out.append(token)
    return len(out), sum(out)


@program
def negated(token: Any) -> Any:
    out: list[Any] = []
    while not (token == END or MOST <= len(out)):
        token = following(token)
        out.append(token)
    return len(out), sum(out)


@program
def without_end(token: Any) -> Any:
    out: list[Any] = []
    while True:
        token = following(token)
        out.append(token)
        if token == END or len(out) == MOST:
            break
    return len(out), sum(out)


@program
def without_end_asked_first(token: Any) -> Any:
    out: list[Any] = []
    while True:
        if len(out) >= MOST:
            break
        token = following(token)
        out.append(token)
        if token == END:
            break
    return len(out), sum(out)


@program
def returned_from(token: Any) -> Any:
    out: list[Any] = []
    while len(out) + 1 < MOST:
        token = following(token)
        out.append(token)
        if token == END:
            return len(out), sum(out)
    return -1, sum(out)


@program
def counted(token: Any) -> Any:
    out, i = [], 0
    while i < MOST and token != END:
        token = following(token)
        out.append(token)
        i += 1
    return len(out), sum(out), i


@program
def counted_down(token: Any) -> Any:
    out, left = [], MOST
    while left > 0 and token != END:
        token = following(token)
        out.append(token)
        left -= 3
    return len(out), sum(out), left


@program
def counted_to_a_number(token: Any) -> Any:
    out, i = [], 0
    while i != MOST:
        token = following(token)
        out.append(token)
        i += 1
        if token == END:
            break
    return len(out), sum(out), i


@program
def two_lists(token: Any) -> Any:
    out: list[Any] = []
    twice: list[Any] = []
    while len(out) < MOST and token != END:
        token = following(token)
        out.append(token)
        twice.append(token)
        twice.append(-token)
    return len(out), len(twice), sum(twice)


@program
def two_at_a_time(token: Any) -> Any:
    out: list[Any] = [token]
    while len(out) < MOST and token != END:
        token = following(token)
        out.append(token)
        out.append(-token)
    return len(out), sum(out)


@program
def some_turns_only(token: Any) -> Any:
    out: list[Any] = []
    steps = 0
    while len(out) < MOST and steps < 100:
        token = following(token + 1)
        steps += 1
        if token % 2 == 0:
            out.append(token)
    return len(out), sum(out), steps


@program
def beam(token: Any) -> Any:
    out: list[Any] = []
    logp = token * 0.0
    while len(out) < MOST and logp > -3.0:
        out.append((token, logp))
        token, logp = following(token), logp - token * 0.25
    return len(out), sum(t for t, _ in out), logp


class Decoder:
    def __init__(self) -> None:
        self.tokens: list[Any] = []

    def run(self, token: Any) -> Any:
        while len(self.tokens) < MOST and token != END:
            token = following(token)
            self.tokens.append(token)
        return len(self.tokens), token


@program
def in_an_object(token: Any) -> Any:
    decoder = Decoder()
    return (*decoder.run(token), sum(decoder.tokens))


@program
def queue(token: Any) -> Any:
    todo, seen = [token], 0
    while len(todo) > 0 and seen < MOST:
        token = todo.pop()
        seen += 1
        if token != END:
            todo.append(following(token))
            if token % 2 == 0:
                todo.append(END)
    return len(todo), seen


@program
def a_walrus(token: Any) -> Any:
    out: list[Any] = []
    while (token := following(token)) != END and len(out) < MOST:
        out.append(token)
    return len(out), sum(out), token


@program
def told_two_turns_later(token: Any) -> Any:
    out, stop, soon = [token] * 3, False, False
    while not stop:
        stop = soon
        soon = len(out) >= 2
        token = following(token)
        out.append(token)
        if token == END:
            stop = True
    return len(out), sum(out)


@program
def more_than_the_limit_before(token: Any) -> Any:
    out = [token] * 12
    while True:
        token = following(token)
        out.append(token)
        if token == END or len(out) >= MOST:
            break
    return len(out), sum(out)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any]) -> None:
    g, h = ag.function(f), jax.jit(ag.convert(f))
    for token in range(7):
        want = [float(x) for x in f(np.int32(token))]
        assert [float(x) for x in g(jnp.int32(token))] == want
        assert [float(x) for x in h(jnp.int32(token))] == want


def test_the_room_is_what_is_needed() -> None:
    def f(token: Any) -> Any:
        out = []
        while len(out) < 40 and token != END:
            token = following(token)
            out.append(token)
        return sum(out)

    assert "i32[40]" in str(jax.make_jaxpr(ag.convert(f))(jnp.int32(1)))


def test_gradients_and_vmap() -> None:
    def f(x: Any) -> Any:
        out = [x]
        while len(out) < 6 and out[-1] < 3.0:
            out.append(out[-1] * 1.5)
        return sum(out)

    g = ag.convert(f)
    xs = jnp.array([0.3, 1.0, 2.5, 7.0])
    want = [f(float(x)) for x in xs]
    np.testing.assert_allclose(jax.vmap(g)(xs), want, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(lambda x: ag.convert(f)(x)))(xs), np.array(want) / np.asarray(xs), rtol=1e-5)


UNLIMITED: list[Callable[..., Any]] = []


@UNLIMITED.append
def by_the_token_only(token: Any) -> Any:
    out: list[Any] = []
    while token != END:
        token = following(token)
        out.append(token)
    return len(out)


@UNLIMITED.append
def either(token: Any) -> Any:
    out: list[Any] = []
    while len(out) < MOST or token != END:
        token = following(token)
        out.append(token)
    return len(out)


@UNLIMITED.append
def from_below(token: Any) -> Any:
    out = [token]
    while len(out) > 0 and token != END:
        token = following(token)
        out.append(token)
    return len(out)


@UNLIMITED.append
def past_it(token: Any) -> Any:
    out: list[Any] = []
    while len(out) != 5 and token != END:
        token = following(token)
        out.append(token)
        out.append(token)
    return len(out)


@UNLIMITED.append
def of_another(token: Any) -> Any:
    short: list[Any] = []
    out: list[Any] = []
    while len(short) < MOST and token != END:
        token = following(token)
        out.append(token)
        if token == 2:
            short.append(token)
    return len(out)


@UNLIMITED.append
def of_a_number_that_may_stay(token: Any) -> Any:
    out, i = [], 0
    while i < MOST and token != END:
        token = following(token)
        out.append(token)
        if token == 2:
            i += 1
    return len(out)


@UNLIMITED.append
def in_another_loop(token: Any) -> Any:
    """The inner loop begins with fewer items in later turns of the outer one."""
    out, other, turns = [token] * 8, [], 0
    while turns < 4:
        turns += 1
        for _ in range(3):
            if len(out) > 0:
                out.pop()
        while len(out) < MOST:
            token = following(token + turns)
            out.append(token)
            other.append(token)
            if token > 3:
                break
    return len(out), len(other), sum(other)


@pytest.mark.parametrize("f", UNLIMITED, ids=lambda f: f.__name__)
def test_nothing_limits_it(f: Callable[..., Any]) -> None:
    with pytest.raises(ag.StagingError, match="AG405 `(out|other)` grows in a compiled loop whose trip count is data-dependent"):
        ag.function(f)(jnp.int32(1))
