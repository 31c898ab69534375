"""Loops with bookkeeping that only Python can do: Python makes their turns, and turns that are the same operations are one compiled turn."""

from __future__ import annotations

import array
import functools
import io
import queue
import random
import warnings
from collections import ChainMap, UserDict, defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.harness import assert_same

pytestmark = pytest.mark.usefixtures("quick_compilation")
A = jnp.array(np.random.RandomState(0).randn(4, 4) * 0.3, jnp.float32)
START = np.array([0.0, 0.25, 0.5, 0.75], np.float32)
TURNS = 60


def step(x: Any, t: Any) -> Any:
    y = jnp.tanh(A @ x + t)
    return x + 0.1 * (y * jnp.cos(x) + 0.1 * jnp.sin(3 * x) - x)


def times_in_a_list(x: Any) -> Any:
    t, ts, xs = 0.0, [], []
    for _ in range(TURNS):
        x = step(x, t)
        t += 0.01
        ts.append(t)
        xs.append(x)
    return jnp.array(ts), jnp.stack(xs)


def counts_in_a_dict(x: Any) -> Any:
    counts = {"all": 0, "odd": 0}
    for i in range(TURNS):
        x = step(x, 0.1)
        counts["all"] += 1
        if i % 2:
            counts["odd"] += 1
    return x, counts


def counts_that_are_traced(x: Any) -> Any:
    counts = {"all": 0, "positive": 0}
    for _ in range(TURNS):
        x = step(x, 0.1)
        counts["all"] += 1
        if x[0] > 0:
            counts["positive"] += 1
    return x, counts


def a_history_in_a_dict(x: Any) -> Any:
    history: dict[str, list[Any]] = {"loss": [], "step": []}
    for i in range(TURNS):
        x = step(x, 0.1)
        history["loss"].append((x**2).sum())
        history["step"].append(i)
    return x, history


def phases(x: Any) -> Any:
    phase = "warm"
    for i in range(TURNS):
        if i == 15:
            phase = "main"
        if i == 40:
            phase = "cool"
        x = step(x, 0.01 * i if phase == "warm" else 0.5 if phase == "main" else 0.1)
    return x


def a_schedule_in_a_dict(x: Any) -> Any:
    rates, rate = {0: 0.1, 30: 0.05, 45: 0.01}, 0.1
    for i in range(TURNS):
        if i in rates:
            rate = rates[i]
        x = step(x, rate)
    return x


def hours(x: Any) -> Any:
    t, hour, sold = 0.0, 0, []
    for _ in range(TURNS):
        t += 0.05
        if int(t) > hour:
            hour = int(t)
            sold.append(x.sum())
        x = step(x, t)
    return x, sold, hour


def a_queue(x: Any) -> Any:
    queue = [0, 1, 2]
    for _ in range(TURNS):
        k = queue.pop(0)
        queue.append((k * 2 + 1) % 7)
        x = step(x, float(k))
    return x, queue


def the_last_five(x: Any) -> Any:
    recent: deque[Any] = deque(maxlen=5)
    for _ in range(TURNS):
        x = step(x, 0.1)
        recent.append(x.sum())
    return x, sum(recent)


def a_moving_mean_of_three(x: Any) -> Any:
    recent: deque[Any] = deque([x, x, x], maxlen=3)
    for i in range(TURNS):
        x = step(x, len(recent) * 0.1 * (str(i)[-1] == "0")) + 0.01 * sum(recent)
        recent.append(x)
    return x


def two_that_change_places(x: Any) -> Any:
    names = {"a": x, "b": x + 1}
    for i in range(TURNS):
        names["a"], names["b"] = names["b"], step(names["a"], 0.1 * (i % 3))
    return names


def what_was_best_at_times(x: Any) -> Any:
    kept: dict[str, Any] = {"x": x, "at": 0}
    for i in range(TURNS):
        x = step(x, 0.1) + 0.01 * kept["x"]
        if i % 20 == 7:
            kept["x"], kept["at"] = x, i
    return x, kept


def rows_by_number(x: Any) -> Any:
    meta: dict[int, str] = {}
    table = jnp.zeros(TURNS)
    for i in range(TURNS):
        x = step(x, x[i % 4])
        table = table.at[i].set(x.sum())
        meta[i] = "done"
    return x, table


def rows_in_numpys(x: Any) -> Any:
    meta: dict[int, str] = {}
    table = np.zeros((TURNS, 4))
    for i in range(TURNS):
        x = step(x, 0.1)
        table[i] = x
        meta[i] = "done"
    return x, table


def bodies(x: Any) -> Any:
    found = [{"position": x * k, "name": f"b{k}"} for k in range(3)]
    log = []
    for s in range(20):
        for body in found:
            body["position"] = step(body["position"], 0.1 if body["name"] == "b0" else 0.2)
        log.append((s, {body["name"]: body["position"].sum() for body in found}))
    return [body["position"] for body in found], log[-1]


def adam(x: Any) -> Any:
    p, m, v = {"w": x, "b": jnp.float32(0)}, {"w": x * 0, "b": 0.0}, {"w": x * 0, "b": 0.0}
    history = []
    for t in range(1, TURNS + 1):
        loss, g = jax.value_and_grad(lambda p: ((jnp.tanh(A @ p["w"]) + p["b"] - 0.3) ** 2).sum())(p)
        for k in p:
            m[k] = 0.9 * m[k] + 0.1 * g[k]
            v[k] = 0.99 * v[k] + 0.01 * g[k] ** 2
            p[k] = p[k] - 0.1 * (m[k] / (1 - 0.9**t)) / (jnp.sqrt(v[k] / (1 - 0.99**t)) + 1e-8)
        history.append({"step": t, "loss": loss})
    return p, history[-1]["loss"]


def random_steps(x: Any) -> Any:
    key, seen = jax.random.key(0), {}
    for i in range(TURNS):
        key, k = jax.random.split(key)
        x = step(x, 0.1) + 0.01 * jax.random.normal(k, (4,))
        seen[i] = str(i)
    return x


def rules_of_derivatives(x: Any) -> Any:
    seen = defaultdict(int)
    for i in range(TURNS):
        x = jax.nn.relu(step(x, 0.1)) + 0.1 * jax.nn.softmax(x)
        seen[i % 3] += 1
    return x


def python_draws(x: Any) -> Any:
    random.seed(0)
    for _ in range(TURNS):
        x = step(x, random.random())
    return x


def rates_in_a_list(x: Any) -> Any:
    for rate in [0.1 / (k + 1) for k in range(TURNS)]:
        x = step(x, rate)
    return x


def named_steps(x: Any) -> Any:
    for name, k in {f"s{i}": i for i in range(TURNS)}.items():
        x = step(x, 0.01 * k if name.endswith("3") else 0.2)
    return x


def a_list_of_work(x: Any) -> Any:
    todo = list(range(TURNS))
    while todo:
        x = step(x, 0.01 * todo.pop())
    return x


def numbers_in_branches(x: Any) -> Any:
    count, text = {"n": 0}, ""
    for i in range(TURNS):
        count["n"] += 1
        text += "x"
        if x.sum() > 0.3:
            x = jnp.sort(step(x, 0.1 * count["n"])) * (len(text) % 3)
        else:
            x = step(x, 0.2 * len(text)) + 1.0 * i
            if x[0] > 1:
                x = jnp.cumsum(x) * 0.1 * len(text) + x[i % 4]
        x = x / (1 + jnp.abs(x).max())
    return x, count


def gradients_inside(x: Any) -> Any:
    def loss(x: Any) -> Any:
        count = {"n": 0}
        for _ in range(TURNS):
            x = step(x, 0.1 * (count["n"] % 3))
            count["n"] += 1
        return (x**2).sum()

    value, slope = jax.value_and_grad(loss)(x)
    return value, slope


PROGRAMS = [
    times_in_a_list, counts_in_a_dict, counts_that_are_traced, a_history_in_a_dict, phases, a_schedule_in_a_dict, hours, a_queue, the_last_five,
    a_moving_mean_of_three, two_that_change_places, what_was_best_at_times, rows_by_number, rows_in_numpys, bodies, adam, random_steps,
    rules_of_derivatives, python_draws, rates_in_a_list, named_steps, a_list_of_work, numbers_in_branches,
    gradients_inside,
]  # fmt: skip


close = partial(assert_same, rtol=2e-3, atol=1e-4)


def equations(f: Callable[..., Any], *args: Any) -> int:
    return len(jax.make_jaxpr(ag.convert(f))(*args).eqns)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_one_compiled_turn(f: Callable[..., Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ag.LargeUnrollWarning)
        close(ag.function(f)(START), f(jnp.asarray(START)))
        assert equations(f, START) < 4 * TURNS
        assert "scan" in str(jax.make_jaxpr(ag.convert(f))(START))


@pytest.mark.parametrize("f", [counts_in_a_dict, what_was_best_at_times, a_moving_mean_of_three, rows_by_number], ids=lambda f: f.__name__)
def test_derivatives_and_lanes(f: Callable[..., Any]) -> None:
    def total(x: Any) -> Any:
        return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(f(x)) if isinstance(leaf, jax.Array))

    x, h = jnp.asarray(START), 1e-2
    slope = jax.grad(ag.function(total))(x)
    for k in range(2):
        moved = jnp.zeros(4).at[k].set(h)
        np.testing.assert_allclose(slope[k], (total(x + moved) - total(x - moved)) / (2 * h), rtol=2e-2, atol=2e-3)
    lanes = jnp.stack([x, x + 0.5])
    np.testing.assert_allclose(jax.vmap(ag.function(total))(lanes), [total(lane) for lane in lanes], rtol=1e-3)


def arrays_of_around(x: Any) -> Any:
    """Traced arrays of the code around, another in each turn, in functions and branches that are traced by themselves."""
    rates = {"warm": x * 2, "main": x + 1}

    def loss(v: Any) -> Any:
        for i in range(TURNS):
            v = jnp.tanh(rates["warm" if i < 20 else "main"] * v + 0.1 * jnp.sin(v) * jnp.cos(v) + 0.01 * i)
        return v.sum()

    if x.sum() > 0:
        for i in range(TURNS):
            x = jnp.tanh(rates[("warm", "main")[i % 2]] * x + 0.1 * jnp.sin(x) * jnp.cos(x))
    return x, jax.grad(loss)(x)


def test_arrays_of_the_code_around() -> None:
    close(ag.function(arrays_of_around)(START), arrays_of_around(jnp.asarray(START)))


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_short_loops_where_all_are_compiled(turns: int) -> None:
    def f(x: Any) -> Any:
        n = np.zeros(3)
        for k in range(turns):
            n[k] = k + 1
        return x * n.sum()

    with ag.loops(roll="always"):
        close(ag.function(f)(START), f(jnp.asarray(START)))


def draws_of_numpy(x: Any) -> Any:
    rng, seen = np.random.default_rng(0), []
    for _ in range(TURNS):
        seen.append(rng.normal())
        x = step(x, seen[-1])
    return x, seen[0], len(seen)


def draws_of_a_lambda(x: Any) -> Any:
    rng = np.random.RandomState(0)
    draw = lambda: rng.rand()  # noqa: E731
    for _ in range(TURNS):
        x = step(x, draw())
    return x


def draws_of_python(x: Any) -> Any:
    rng, order = random.Random(1), list(range(6))
    for _ in range(TURNS):
        rng.shuffle(order)
        x = step(x, order[0] * rng.random())
    return x, order


def permutations(x: Any) -> Any:
    rng = np.random.RandomState(0)
    for _ in range(10):
        for i in rng.permutation(6):
            x = step(x, i * 0.1)
    return x


def a_chain_map(x: Any) -> Any:
    m = ChainMap({"n": 0})
    for _ in range(TURNS):
        m["n"] = m["n"] + 1
        x = step(x, m["n"] * 0.01)
    return x, m["n"]


def a_user_dict(x: Any) -> Any:
    m: UserDict[str, int] = UserDict(n=0)
    for _ in range(TURNS):
        m["n"] += 1
        x = step(x, m["n"] * 0.01)
    return x, m["n"]


def an_array_of_python(x: Any) -> Any:
    t = array.array("d", [0.0])
    for _ in range(TURNS):
        t[0] += 0.01
        x = step(x, t[0])
    return x, t[0]


def a_queue_of_threads(x: Any) -> Any:
    q: queue.Queue[int] = queue.Queue()
    for k in range(100):
        q.put(k)
    for _ in range(TURNS):
        x = step(x, q.get() * 0.01)
    return x, q.qsize()


def a_text_file(x: Any) -> Any:
    out = io.StringIO()
    for _ in range(TURNS):
        out.write("x")
        x = step(x, len(out.getvalue()) * 0.01)
    return x, len(out.getvalue())


def a_partial_next(x: Any) -> Any:
    take = functools.partial(next, iter(range(1000)))
    for _ in range(TURNS):
        x = step(x, take() * 0.01)
    return x, take()


THINGS = [
    draws_of_numpy, draws_of_a_lambda, draws_of_python, permutations, a_chain_map, a_user_dict, an_array_of_python, a_queue_of_threads, a_text_file,
    a_partial_next,
]  # fmt: skip


@pytest.mark.parametrize("f", THINGS, ids=lambda f: f.__name__)
def test_turns_that_are_tried_take_nothing(f: Callable[..., Any]) -> None:
    """Things of Python's own that give another value each time are asked once in each turn."""
    close(jax.tree.map(jnp.asarray, ag.function(f)(START)), jax.tree.map(jnp.asarray, f(jnp.asarray(START))))


def test_what_is_printed_comes_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        seen = {}
        for i in range(TURNS):
            x = step(x, 0.1)
            seen[i] = "ok"
            if i % 20 == 0:
                print("turn", i)
        return x

    ag.function(f)(START)
    jax.effects_barrier()
    assert capfd.readouterr().out.split() == ["turn", "0", "turn", "20", "turn", "40"]
    assert equations(f, START) < TURNS


def test_what_else_holds_a_value_has_it_afterwards() -> None:
    """A function that JAX has made in a turn holds values of that turn."""

    def f(x: Any) -> Any:
        pulls, log = [], {}
        for i in range(TURNS):
            x, pull = jax.vjp(lambda x, i=i: step(x, 0.01 * i), x)
            log[i] = "made"
            if i in (10, 50):
                pulls.append(pull)
        return x, [pull(jnp.ones(4))[0] for pull in pulls]

    close(ag.function(f)(START), f(jnp.asarray(START)))
    assert equations(f, START) < 8 * TURNS


def test_turns_in_the_block_of_a_tape_are_one_operation_of_it() -> None:
    """A tape holds whatever turns have computed, until one loop stands for them."""

    def f(x: Any) -> Any:
        count = {"n": 0}
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(20):
                y = step(y, 0.1 * (count["n"] % 3))
                count["n"] += 1
            loss = (y**2).sum()
        return loss, tape.gradient(loss, x)

    def loss(x: Any) -> Any:
        for k in range(20):
            x = step(x, 0.1 * (k % 3))
        return (x**2).sum()

    close(ag.function(f)(START), jax.value_and_grad(loss)(jnp.asarray(START)))
    assert "scan" in str(jax.make_jaxpr(ag.convert(f))(START))


def test_arrays_of_before_the_loop_are_not_copied() -> None:
    """Layers with weights of their own stay as they are: a table of them would be as large again."""

    def f(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jnp.tanh(w @ x) + 0.1 * jnp.sin(x) * jnp.cos(x)
        return x

    weights = [A + k for k in range(TURNS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.LargeUnrollWarning)
        assert "scan" not in str(jax.make_jaxpr(ag.convert(f))(weights, START))
        close(ag.function(f)(weights, START), f(weights, jnp.asarray(START)))


def test_turns_that_differ_stay_as_they_are() -> None:
    def f(x: Any) -> Any:
        meta = {}
        for i in range(200):
            x = step(x, jnp.ones(i % 50 + 1).mean())
            meta[i] = "ok"
        return x

    with pytest.warns(ag.LargeUnrollWarning, match="this loop of 200 iterations is unrolled into about [34]... operations, because "):
        assert equations(f, START) > 2000


def test_who_asks_for_turns_gets_them() -> None:
    with ag.loops(roll="never"):
        assert equations(counts_in_a_dict, START) > 10 * TURNS

    def f(x: Any) -> Any:
        for i in ag.static_range(TURNS):
            x = step(x, 0.1 * i)
        return x

    assert equations(f, START) > 10 * TURNS


def test_explain_tells_what_became_of_it() -> None:
    made = next(s for s in ag.explain(counts_in_a_dict, START).statements if s.kind == "for")
    assert made.became == f"scan of {TURNS} iterations, re-rolled"
