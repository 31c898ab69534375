"""Loops over known ranges: one compiled turn where Python's numbers stay what they are, and turn by turn where they would not."""

import importlib.util
import math
import random
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.loops import static_range as rolling
from tests.harness import assert_same


def became(f, *args):
    """What the first loop of a function becomes."""
    return next(s.became for s in ag.explain(f, *args).statements if s.text.startswith("for")).split()[0].rstrip(",")


same = partial(assert_same, rtol=1e-4)


def work(x):
    return x * 0.5 + jnp.sin(x)


class Holder:
    pass


def a_flag_of_the_first_turn(x):
    first = True
    for _ in range(300):
        x = x + 10 if first else work(x)
        first = False
    return x, jnp.zeros(int(first) + 2)


def a_variable_that_becomes_a_number(x):
    y = x * 2
    for _ in range(300):
        x, y = work(x), 3
    return x, jnp.zeros(y)


def a_number_set_in_each_turn(x):
    k = 0
    for _ in range(300):
        x = work(x) + k
        k = 5
    return x, jnp.zeros(k)


def counts_and_the_last_index(x):
    n, last = 0, 0
    for i in range(3, 900, 3):
        x = work(x)
        n += 2
        last = i
    return x, jnp.zeros(n), last


def counts_in_an_object(x):
    o = Holder()
    o.n, o.last, o.v = 0, 0, 0.0
    for i in range(300):
        x = work(x)
        o.n += 1
        o.last = i
        o.v = 0.9 * o.v + x
    return x, jnp.zeros(o.n), o.last, o.v


def a_list_that_grows(x):
    found = []
    for _ in range(300):
        x = work(x)
        found.append(x)
    return jnp.stack(found), len(found)


def a_triangle(x):
    for i in range(60):
        for j in range(i, 60):
            x = x * 0.5 + (i * j) * 0.001 + jnp.sin(x)
    return x


def best_and_where(x):
    best, where = x[0], 0
    for i in range(1, len(x)):
        if x[i] > best:
            best, where = x[i], i
    return best, where * 2


def borders(x):
    out = jnp.zeros_like(x)
    for i in range(len(x)):
        if i == 0 or i == len(x) - 1:
            out[i] = x[i]
        else:
            out[i] = x[i - 1] + x[i + 1]
    return out


def in_reverse(x):
    y = 0.0
    for i in reversed(range(len(x))):
        y = y * 0.9 + x[i]
    return y


def a_sum_and_an_extreme(x):
    return sum(x[i] * x[i] for i in range(len(x))), max(abs(x[i]) for i in range(len(x)))


def fractions_of_the_index(x):
    for i in range(1, 300):
        x = work(x) + 1 / i + np.sqrt(i)
    return x


def time_in_steps(x):
    t, dt = 1.0, 0.01
    for _ in range(1000):
        x = x + dt * (jnp.cos(t) - 0.5 * x)
        t += dt
    return x, t


def time_in_an_object(x):
    o = Holder()
    o.t, o.dt = 1.0, 0.01
    for _ in range(1000, 0, -2):
        x = x + o.dt * (jnp.cos(o.t) - 0.5 * x)
        o.t = o.t - o.dt
    return x, o.t


def twice_the_index_afterwards(x):
    k = 0
    for i in range(300):
        x = work(x) + k
        k = i * 2
    return x, jnp.zeros(k)


def a_rate_that_decays(x):
    rate = 0.1
    for _ in range(300):
        x = work(x) - rate * x
        rate *= 0.99
    return x, rate


def corrected_moments(x):
    one = two = 1.0
    m = v = 0.0
    for _ in range(300):
        g = work(x)
        one *= 0.9
        two *= 0.999
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        x = x - 0.01 * (m / (1 - one)) / (jnp.sqrt(v / (1 - two)) + 1e-8)
    return x, one


def every_tenth(x):
    k, kept = 0, np.zeros(30, np.float32)
    for i in range(300):
        x = work(x)
        if i % 10 == 0:
            kept[k] = x
            k += 1
    return x, kept, jnp.zeros(k)


def to_and_fro(x):
    left, n = False, 1
    for _ in range(300):
        x = (work(x) + (1.0 if left else 2.0)) * n * 0.1
        left = not left
        n = 3 if n == 1 else 1
    return x, left, n


def within_a_time(x):
    for i in range(300):
        if 0.3 < i * 0.01 <= 0.7:
            x = x + 1
        x = work(x)
    return x


def a_least_rate(x):
    rate = 1.0
    for _ in range(300):
        x = work(x) - rate * x
        if rate > 1e-3:
            rate = rate / 2
    return x, rate


def begun_again(x):
    count = 0
    for _ in range(300):
        x = work(x)
        count += 1
        if count == 7:
            x, count = x * 0.5, 0
    return x, jnp.zeros(count + 1)


def of_two_before(x):
    a, b = 0, 1
    for _ in range(300):
        x = work(x) + a * 1e-3
        a, b = b, (a + b) % 1000
    return x, a, b


def numbers_of_an_object(x):
    o = Holder()
    o.rate, o.k = 0.5, 0
    for i in range(300):
        x = work(x) - o.rate * x
        o.rate *= 0.97
        if i % 3 == 1:
            o.k += 2
    return x, o.rate, o.k


def a_scale_that_data_changes(x):
    scale = 1.0
    for i in range(300):
        x = jnp.tanh(work(x) * scale)
        if i % 20 == 19:
            if x > 0.3:
                scale *= 0.5
            else:
                scale *= 1.1
    return x, scale


def a_count_that_is_reset(x):
    n = 0
    for i in range(300):
        x = jnp.tanh(work(x) + n * 0.01)
        if x > 0:
            n += 1
        if i % 20 == 19:
            n = 0
    return x, n


def a_cosine(x):
    for i in range(300):
        rate = 0.5 * (1 + math.cos(math.pi * i / 300))
        if rate < 0.25:
            rate = rate * 2
        x = work(x) - rate * x
    return x


def counted_beside_an_error(x):
    c = 0
    for i in range(300):
        x = work(x)
        if x > 1e9:
            raise ValueError("large")
        if i % 4 == 0:
            c += 3
    return x, c


def every_tenth_in_a_list(x):
    kept = []
    for i in range(300):
        x = work(x)
        if i % 10 == 0:
            kept.append(x)
    return jnp.stack(kept), jnp.zeros(len(kept)), kept[-3:]


def after_a_while_in_a_list(x):
    kept = []
    for i in range(300):
        x = work(x)
        if i >= 250:
            kept.append(x)
    return jnp.stack(kept).mean(0)


class Log:
    def __init__(self):
        self.kept, self.n = [], 0

    def step(self, x):
        self.n += 1
        if self.n % 10 == 0:
            self.kept.append(x)


def a_list_of_an_object(x):
    log = Log()
    for _ in range(300):
        x = work(x)
        log.step(x)
    return jnp.stack(log.kept), log.n


def the_last_four(x):
    kept = []
    for i in range(300):
        x = work(x)
        if i % 10 == 0:
            kept.append(x)
        if len(kept) > 4:
            kept.pop(0)
    return jnp.stack(kept)


def what_data_and_the_index_append(x):
    kept = []
    for i in range(300):
        x = work(x)
        if i % 10 == 0:
            if x > 0.3:
                kept.append(x)
    return sum(kept), len(kept)


def a_row_that_data_change(x):
    out = np.zeros((4, 3), np.float32)
    row = out[0]
    for _ in range(300):
        x = work(x)
        if x > 0.2:
            row = out[2]
        row[1] += 1
    return out


def two_rows_by_turns(x):
    u = np.zeros((2, 8), np.float32)
    u[0] = np.arange(8)
    old, new = u[0], u[1]
    for _ in range(100):
        new[1:-1] = old[1:-1] + 0.1 * (old[2:] - 2 * old[1:-1] + old[:-2]) + x * 0
        old, new = new, old
    return old, u


def a_sequence_of_random_integers(x):
    seed = 12345
    for _ in range(300):
        seed = (seed * 16807) % 2147483647  # the product does not fit int32
        x = work(x) + (seed % 100) * 1e-4
    return x, seed


def places_by_fractions(x):
    v = jnp.arange(50.0) * x
    s = 0.0
    for i in range(300):
        k, r, f = int(i * 0.1), round(i / 7), math.floor(i * 0.3)
        s = s * 0.9 + work(v[k % 50]) * r + f + (i ^ 5) * 0.01 + (i >> 2) * 0.001 + (i * 0.3 % 1.0) + i // 0.7
    return s


ROW = jnp.array(np.random.RandomState(0).randn(200), jnp.float32)
ROLLED = [
    a_flag_of_the_first_turn, a_variable_that_becomes_a_number, a_number_set_in_each_turn, counts_and_the_last_index, counts_in_an_object,
    a_list_that_grows, a_triangle, best_and_where, borders, in_reverse, a_sum_and_an_extreme, fractions_of_the_index, time_in_steps,
    time_in_an_object, twice_the_index_afterwards, a_rate_that_decays, corrected_moments, every_tenth, to_and_fro, within_a_time, a_least_rate,
    begun_again, of_two_before, numbers_of_an_object, a_scale_that_data_changes, a_count_that_is_reset, a_cosine, counted_beside_an_error,
    every_tenth_in_a_list, after_a_while_in_a_list, a_list_of_an_object, the_last_four, what_data_and_the_index_append, a_row_that_data_change,
    two_rows_by_turns, a_sequence_of_random_integers, places_by_fractions,
]  # fmt: skip
ARRAYS = (best_and_where, borders, in_reverse, a_sum_and_an_extreme)


@pytest.mark.parametrize("f", ROLLED, ids=lambda f: f.__name__)
def test_one_compiled_turn(f):
    x = ROW if f in ARRAYS else jnp.float32(1.0)
    same(ag.function(f)(x), ag.convert(f)(x))
    if f is not a_sum_and_an_extreme:
        assert became(f, x) == "scan"
    assert len(str(jax.make_jaxpr(ag.function(f))(x))) < 40_000


def a_product(x):
    p = 1
    for _ in range(300):
        p = p * 3 % 10**12
        x = work(x) + p % 7
    return x


def a_product_in_an_object(x):
    o = Holder()
    o.p = 1
    for _ in range(300):
        o.p = o.p * 3 % 10**12
        x = work(x) + o.p % 7
    return x


def a_product_in_a_list(x):
    held = [1]
    for _ in range(300):
        held[0] = held[0] * 5 % 10**11
        x = work(x) + held[0] % 3
    return x


def indices_in_a_list(x):
    found = []
    for i in range(300):
        x = work(x)
        found.append(i)
    return x, jnp.zeros(found[3])


def a_truth_that_is_known_afterwards(x):
    y = x > 0
    for i in range(300):
        x = work(x)
        if i > 5:
            y = i > 10
    return jnp.zeros(int(y) + 1) + x


def counts_in_containers(x):
    d, items = {"n": 0}, [0, 5]
    for _ in range(300):
        d["n"] += 2
        items[0] += 1
        x = work(x)
    return x, jnp.zeros(d["n"]), jnp.zeros(items[0] + items[1])


def an_inner_product(x):
    for i in range(1, 30):
        p = 1
        for j in range(1, i):
            p = p * j % 10**10
        x = work(x) + p % 5
    return x


def powers_of_two(x):
    for i in range(300):
        x = work(x) + 2**i % 5
    return x


def items_of_an_iterator(x):
    it, seen = iter(range(1000)), []
    for _ in range(300):
        for a, _ in zip(it, range(1)):
            x = work(x) + a * 0.001
            seen.append(a)
    return x, jnp.array(seen)


def draws(x):
    for _ in range(300):
        x = work(x) + random.random()
    return x


MADE = [
    a_product, a_product_in_an_object, a_product_in_a_list, indices_in_a_list, a_truth_that_is_known_afterwards,
    counts_in_containers, an_inner_product, powers_of_two, items_of_an_iterator, draws,
]  # fmt: skip


@pytest.mark.parametrize("f", MADE, ids=lambda f: f.__name__)
def test_made_by_python_where_a_number_would_be_another(f):
    random.seed(0)
    want = f(jnp.float32(1.0))
    random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.LargeUnrollWarning)
        same(ag.function(f)(1.0), want)
        assert became(f, 1.0) == ("unrolled" if f is an_inner_product else "scan")
        assert f is an_inner_product or len(jax.make_jaxpr(ag.convert(f))(1.0).eqns) < 40


def test_a_loop_of_any_length_is_as_much_to_compile():
    def f(x, n):
        for i in range(n):
            x = work(x) + x * i
        return x

    sizes = [len(str(jax.make_jaxpr(lambda x, n=n: ag.convert(f)(x, n))(1.0))) for n in (100, 1_000, 100_000)]
    assert max(sizes) - min(sizes) < 20


@pytest.mark.parametrize("transform", [jax.grad, lambda f: jax.vmap(f, axis_size=3, in_axes=None), jax.hessian], ids=["grad", "vmap", "hessian"])
def test_under_transformations(transform):
    def plain(x):
        for i in range(100):
            x = jnp.sin(x) * 0.9 + x * 0.1 * (i % 3)
        return x

    f = ag.convert(plain)
    text = str(jax.make_jaxpr(transform(f))(1.0))
    assert "scan" in text and len(text) < 20_000
    same(jax.jit(transform(f))(0.5), transform(plain)(0.5))


# Stores of several sides of a branch


def either_place(t, i, j, v):
    if v > 0:
        t[i, j] = v
    else:
        t[i, j] = t[j, i]
    return t


def read_between_stores(t, i, j, v):
    if v > 0:
        t[i, 0] = v
        t[j, 0] += 2
        t[i, 1] = t[i, 0] + t[j, 0]
    else:
        t[j, 2] = 5
    return t


def rows_and_items(t, i, j, v):
    if v > 0:
        t[i, 1:] = v
    elif v < -1:
        t[i, 1:] = t[j, :-1]
        t[j, 0] = 7
    return t


def the_whole_is_read(t, i, j, v):
    if v > 0:
        t[i, j] = v
        s = t.sum()
    else:
        t[j, i] = 1
        s = t[0, 0]
    return t, s


@pytest.mark.parametrize("f", [either_place, read_between_stores, rows_and_items, the_whole_is_read], ids=lambda f: f.__name__)
def test_stores_in_the_sides_of_a_branch(f):
    table = np.arange(9.0).reshape(3, 3)
    compiled = jax.jit(ag.convert(f))
    for i in (-1, 0, 2):
        for j in (0, 1, 2):
            for v in (-2.0, -1.0, 3.0):
                same(compiled(jnp.array(table), i, j, v), f(table.copy(), i, j, v))
    lanes = [(0, 1, 3.0), (1, 1, -1.0), (2, 0, -2.0)]
    got = jax.vmap(lambda i, j, v: compiled(jnp.array(table), i, j, v))(*map(jnp.array, zip(*lanes)))
    same(jax.tree.map(lambda x: x[1], got), f(table.copy(), *lanes[1]))


def test_gradients_of_stores_in_the_sides():
    def by_hand(t, v):
        return jnp.where(v > 0, t.at[2, 1].set(v), t.at[2, 1].set(t[1, 2]))

    t = jnp.arange(9.0).reshape(3, 3)
    for v in (-1.0, 3.0):
        gradients = [
            jax.grad(lambda t, v, f=f: jnp.sin(f(t, v)).sum(), (0, 1))(t, v) for f in (lambda t, v: ag.function(either_place)(t, 2, 1, v), by_hand)
        ]
        same(*gradients)


def test_no_array_is_copied_in_a_loop():
    @ag.function
    def fill(t, x):
        for i in range(1, 200):
            for j in range(1, 200):
                if x[i] > x[j]:
                    t[i, j] = t[i - 1, j - 1]
                else:
                    t[i, j] = t[i - 1, j] + 1
        return t

    text = fill.lower(jnp.zeros((200, 200)), jnp.arange(200.0)).compile().as_text()
    inner = [line for line in text.splitlines() if " copy(" in line and "f32[200,200]" in line]
    assert len(inner) <= 1  # of the argument, which the caller keeps


def test_a_switch_says_what_is_rolled() -> None:
    def short(x: Any) -> Any:
        for i in range(6):
            x = x + jnp.sin(x) * i
        return x

    def long(x: Any) -> Any:
        for i in range(300):
            x = x + jnp.sin(x) * i
        return x

    def became(f: Any) -> str:
        return str(ag.explain(f, 1.0).statements[0].became)

    assert [became(short), became(long)] == ["unrolled, 6 iterations", "scan of 300 iterations"]
    with ag.loops(roll="always"):
        assert became(short) == "scan of 6 iterations"
        with ag.loops(roll="never"):
            assert became(long) == "unrolled, 300 iterations"

    def inside(x: Any) -> Any:
        with ag.loops(roll="always"):
            return short(x)

    assert "scan" in str(jax.make_jaxpr(ag.convert(inside))(1.0))
    assert float(ag.function(inside)(1.0)) == pytest.approx(float(short(1.0)), rel=1e-5)
    with pytest.raises(ValueError, match="'always' or 'never', not 'perhaps'"):
        ag.loops(roll="perhaps")
    try:
        ag.loops(roll="never").everywhere()
        assert became(long) == "unrolled, 300 iterations"
    finally:
        ag.loops(roll="auto").everywhere()


def test_a_check_that_the_range_proves_is_none() -> None:
    def smoothed(x: Any) -> Any:
        out = jnp.zeros(())
        for n in range(4, 200):
            out = out * 0.9 + jnp.sum(x[n - 4 : n])
        return out

    x = jnp.arange(200.0)
    assert "cond" not in str(jax.make_jaxpr(ag.convert(smoothed))(x))
    expected = 0.0
    for n in range(4, 200):
        expected = expected * 0.9 + float(np.arange(200.0)[n - 4 : n].sum())
    assert float(ag.function(smoothed)(x)) == pytest.approx(expected, rel=1e-5)

    def beyond(x: Any) -> Any:
        out = 0.0
        for n in range(300):
            out += x[n] if n < 5 else x[n - 5]
        return out

    assert float(ag.function(beyond)(jnp.arange(300.0))) == pytest.approx(sum(k if k < 5 else k - 5 for k in range(300)))


def test_comprehensions_roll() -> None:
    class Average:
        def __init__(self) -> None:
            self.m = 0.0

        def step(self, v: Any) -> Any:
            self.m = 0.9 * self.m + 0.1 * v
            return self.m

    def averages(x: Any) -> Any:
        average = Average()
        return jnp.array([average.step(v) for v in x])

    x = jnp.arange(150.0)
    text = str(jax.make_jaxpr(ag.convert(averages))(x))
    assert "scan" in text and "concatenate" not in text
    np.testing.assert_allclose(ag.function(averages)(x), averages(np.arange(150.0)), rtol=1e-5)

    def f(v: Any) -> Any:
        return v + 1

    def kinds(x: Any) -> Any:
        a, b = [f(v) for v in x]
        return a * b, [f(k) for k in range(3)], [f(v) for v in [x[0], 2]], [f(k) for k in "ab" for k in (1, 2)]

    assert [*map(float, jax.tree.leaves(ag.function(kinds)(jnp.array([1.0, 2.0]))))] == [6, 1, 2, 3, 2, 3, 2, 3, 2, 3]


def benchmark_programs() -> dict[str, Any]:
    path = Path(__file__).parents[2] / "benchmarks" / "known_ranges.py"
    spec = importlib.util.spec_from_file_location("known_ranges", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAMS


@pytest.mark.parametrize("make", benchmark_programs().values(), ids=lambda make: make.__name__)
def test_programs_of_the_benchmark_are_compiled_as_turns(make):
    ours, _, args = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ag.LargeUnrollWarning)
        jax.make_jaxpr(ag.convert(ours))(*args)


def test_a_fault_of_the_package_is_no_reason_to_unroll(monkeypatch):
    def fault(*args, **kwargs):
        raise KeyError("a fault")

    def f(x):
        for _ in range(300):
            x = work(x)
        return x

    fault = type(fault)(fault.__code__.replace(co_filename=rolling.__file__), {"KeyError": KeyError}, "fault")
    monkeypatch.setattr(rolling, "_rolled", fault)
    with pytest.raises(KeyError, match="a fault"):
        ag.function(f)(jnp.ones(3))


def an_attribute_that_the_first_turn_makes(x):
    held = Holder()
    for _ in range(300):
        x = work(x)
        if hasattr(held, "last"):
            x = x + held.last * 0.1
        held.last = x
    return x


def a_variable_that_is_deleted_in_turns(x):
    for i in range(300):
        x = work(x)
        if i > 5:
            del before
        before = x * 0.5
    return before


def an_entry_that_turns_take_away(x):
    held = {"a": x}
    for _ in range(300):
        x = work(x) + held.pop("a") * 0.1
        held["a"] = x
    return x, len(held)


@pytest.mark.parametrize(
    "f", [an_attribute_that_the_first_turn_makes, a_variable_that_is_deleted_in_turns, an_entry_that_turns_take_away], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("form", [ag.function, lambda f: jax.jit(ag.convert(f))], ids=["function", "jit"])
def test_what_one_turn_cannot_do_is_made_turn_by_turn(f, form):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.LargeUnrollWarning)
        same(form(f)(jnp.float32(0.3)), jax.jit(f)(jnp.float32(0.3)))
