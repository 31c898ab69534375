"""The rules of `docs/semantics.md`, by number: what works, and what is refused."""

from __future__ import annotations

import itertools
import random
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.sourced import define


def refused(f: Callable[..., Any], *args: Any) -> ag.AutographError:
    with pytest.raises(ag.AutographError) as caught:
        f(*args)
    return caught.value


def same_type(a: Any, b: Any) -> bool:
    return bool(jax.typeof(a) == jax.typeof(b) and jax.typeof(a).weak_type == jax.typeof(b).weak_type)


# --- 1: the oracle is the function on concrete arrays -------------------------------------------------------------------------------------------


def counts_up(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = x + 100
    return x


def test_1_overflow_is_that_of_the_array() -> None:
    x = jnp.int8(100)
    assert int(ag.function(counts_up)(x, 2)) == int(x + 100 + 100) == 44
    assert same_type(ag.function(counts_up)(x, 2), x)


def test_1_dtypes_and_weak_types_are_those_of_python_on_arrays() -> None:
    def f(x: Any) -> Any:
        return x * 2 if x > 0 else x - 1

    for x in (jnp.int8(3), jnp.bfloat16(3), jnp.float32(3), jnp.asarray(3), 3, 3.0, jnp.uint32(5)):
        want = f(jnp.asarray(x) if not isinstance(x, (int, float)) else jax.jit(lambda x: x)(x))
        assert same_type(ag.function(f)(x), want), x


def test_1_an_integer_that_does_not_fit_a_carry_is_refused() -> None:
    def f(x: Any, n: Any) -> Any:
        y = 2**40
        for _ in range(n):
            y = x
        return y

    assert refused(ag.function(f), 3, 2).id == "AG203"


# --- 2: a predicate has one element -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_2_one_element_is_a_truth(shape: tuple[int, ...]) -> None:
    f = ag.function(lambda x: 1 if x > 0 else 2)
    assert (int(f(jnp.ones(shape))), int(f(-jnp.ones(shape)))) == (1, 2)


@pytest.mark.parametrize("shape", [(0,), (2,), (1, 2)])
def test_2_other_sizes_are_pythons_error(shape: tuple[int, ...]) -> None:
    error = refused(ag.function(lambda x: 1 if x > 0 else 2), jnp.ones(shape))
    assert error.id == "AG204" and isinstance(error, ValueError)


def test_2_numbers_want_no_axes() -> None:
    for f in (lambda x: int(x), lambda x: float(x), lambda x: [i for i in range(x)]):
        error = refused(ag.function(f), jnp.ones((1,), jnp.int32))
        assert error.id == "AG502" and isinstance(error, TypeError)


# --- 3: Python numbers --------------------------------------------------------------------------------------------------------------------------


def test_3_a_number_that_no_turn_changes_is_the_same_number_after_the_loop() -> None:
    seen: list[Any] = []

    def f(n: Any) -> Any:
        k, total = 3, 0.5
        for _ in range(n):
            total = total + k
            k = k + 0 if n > 100 else k
        seen.append(k)
        return total

    ag.function(f)(4)
    assert not isinstance(seen[0], int)  # a turn may change it

    def g(n: Any) -> Any:
        k, total = 3, 0.5
        for _ in range(n):
            total, k = total + k, k
        return jnp.zeros(k) + total

    np.testing.assert_allclose(ag.function(g)(4), [12.5, 12.5, 12.5])


def test_3_numbers_that_are_only_read_or_stand_in_a_branch_stay_numbers() -> None:
    def f(x: Any, n: Any) -> Any:
        k = 2
        for _ in range(n):
            x = x + jnp.zeros(k).sum()
        if x > 0:
            m = 3
            x = x + jnp.ones(m).sum()
        else:
            m = 3
        return x, jnp.zeros(m)

    assert ag.function(f)(1.0, 2)[1].shape == (3,)


def test_3_in_a_loop_a_number_that_changes_is_no_size() -> None:
    def f(n: Any) -> Any:
        k = 1
        for _ in range(n):
            k = k + 1
        return jnp.zeros(k)

    with pytest.raises(TypeError):
        ag.function(f)(2)


# --- 4: types of traced values ------------------------------------------------------------------------------------------------------------------


def test_4_a_traced_value_is_an_array() -> None:
    f = ag.function(lambda x: (isinstance(x, jax.Array), isinstance(x, (int, float, bool)), x is None))
    assert [bool(b) for b in f(jnp.int32(3))] == [True, False, False]
    assert [bool(b) for b in f(3)] == [True, True, False]  # a number that the caller has given is one, beside an array of JAX's
    assert [bool(b) for b in jax.jit(ag.convert(f))(3)] == [True, False, False]  # JAX does not say what its caller has given


def test_4_identity_with_a_bool_is_refused() -> None:
    assert refused(ag.function(lambda x: 1 if (x > 0) is True else 2), 3).id == "AG501"


# --- 5: min, max, sum, any, all, sorted ---------------------------------------------------------------------------------------------------------


def test_5_min_and_max_keep_pythons_order_with_nan() -> None:
    nan = float("nan")
    for a, b in ((nan, 1.0), (1.0, nan), (2.0, 1.0)):
        got = ag.function(lambda a, b: (min(a, b), max(a, b)))(a, b)
        np.testing.assert_equal([float(x) for x in got], [float(x) for x in (min(a, b), max(a, b))])


def test_5_sum_keeps_the_dtype_and_the_start() -> None:
    x = jnp.array([100, 100], jnp.int8)
    got = ag.function(lambda x: sum(x))(x)
    assert got.dtype == jnp.int8 and int(got) == int(sum(x))
    assert ag.function(lambda x: sum(x, 5))(jnp.zeros(0)) == 5


def test_5_any_all_and_sorted() -> None:
    f = ag.function(lambda x: (any(x), all(x), sorted(x), sorted(x, reverse=True)))
    some, every, up, down = f(jnp.array([2, 0, 1]))
    assert (bool(some), bool(every), [int(i) for i in up], [int(i) for i in down]) == (True, False, [0, 1, 2], [2, 1, 0])


def test_5_any_wants_rows_of_one_element() -> None:
    with pytest.raises(ValueError):
        ag.function(lambda x: any(x))(jnp.ones((2, 2)))


# --- 6: and, or ---------------------------------------------------------------------------------------------------------------------------------


def test_6_truth_needs_no_joint_type() -> None:
    f = ag.function(lambda x, name: 1 if x > 0 and name else 2, static_argnums=1)
    assert (int(f(1.0, "a")), int(f(1.0, "")), int(f(-1.0, "a"))) == (1, 2, 2)


def test_6_short_circuits_are_real() -> None:
    f = ag.function(lambda i: i < 3 and [1, 2, 3][i] == 2)
    assert [bool(f(i)) for i in (0, 1, 5)] == [False, True, False]


def test_6_operands_of_unequal_shape_are_refused() -> None:
    assert refused(ag.function(lambda x, y: x or y), jnp.ones(1), jnp.ones(())).id == "AG202"


# --- 7: subscripts ------------------------------------------------------------------------------------------------------------------------------


def test_7_lists_tuples_ranges_and_numpy_arrays() -> None:
    table = np.array([[1, 2], [3, 4]])

    def f(i: Any) -> Any:
        pair = [(1, 2.5), (3, 4.5)][i]
        return [1, 2.5][i], (7, 8)[i], range(5, 20, 3)[i], table[i, 0], table[i], pair[0], pair[1]

    for i in (0, 1, -1):
        jax.tree.map(np.testing.assert_allclose, ag.function(f)(i), f(i))
    assert jax.typeof(ag.function(f)(0)[0]).weak_type


def test_7_out_of_bounds_is_pythons_error_and_arrays_clamp() -> None:
    f = ag.function(lambda i: [1, 2, 3][i])
    for i in (3, -4, 100):
        with pytest.raises(IndexError, match="list index out of range"):
            f(i)
    with pytest.raises(IndexError, match="axis 0 with size 2"):
        ag.function(lambda i: np.zeros(2)[i])(5)
    with pytest.raises(IndexError):
        ag.function(lambda i: range(3)[i])(3)
    assert ag.function(lambda x, i: x[i])(jnp.array([1, 2]), 9) == 2


def test_7_an_index_that_is_not_reached_is_no_error() -> None:
    f = ag.function(lambda i: [1, 2, 3][i] if i < 3 else -1)
    assert [int(f(i)) for i in (0, 2, 3, 50)] == [1, 3, -1, -1]


def test_7_dicts_strings_and_unequal_items_are_refused() -> None:
    for f in (lambda i: {0: 1}[i], lambda i: "abc"[i], lambda i: [jnp.zeros(2), jnp.zeros(3)][i], lambda i: [1, "a"][i]):
        assert refused(ag.function(f), 0).id == "AG502"


def test_7_equality_and_membership() -> None:
    f = ag.function(lambda x, y: ((x, 1) == (y, 1), (x, 1) != (y, 2), x in (1, y), x not in [1, 2], x in range(0, 9, 3)))
    for x, y in ((1, 1), (5, 5), (2, 7), (6, 1)):
        assert [bool(b) for b in f(x, y)] == [(x, 1) == (y, 1), (x, 1) != (y, 2), x in (1, y), x not in [1, 2], x in range(0, 9, 3)]
    assert refused(ag.function(lambda x: x in {1, 2}), 1).id == "AG501"


# --- 8: runs of a body --------------------------------------------------------------------------------------------------------------------------
# tests/loops/test_body_runs.py counts them.


# --- 9: static, then traced ---------------------------------------------------------------------------------------------------------------------


def test_9_a_loop_that_becomes_traced_later_keeps_its_finished_turns() -> None:
    runs: Counter[str] = Counter()
    f = define(
        """
        def f(x):
            k, y = 0, 0.0
            while k < 3 or y < x:
                seen(k)
                y = y + 1.0 + x * 0
                k = k + 1
            return y, k
        """,
        seen=ag.do_not_convert(lambda k: runs.update([type(k).__name__])),
    )
    got = ag.function(f)(6.0)
    assert runs["int"] == 3 and runs.total() == 4
    jax.tree.map(np.testing.assert_allclose, got, f(6.0))


def test_9_what_is_left_of_a_finite_container_is_unrolled() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for a, b in zip([1.0, 2.0, 3.0], (4.0, 5.0, 6.0), strict=True):
            if total > x:
                break
            total = total + a * b
        for name in {"a": 1, "bb": 2, "ccc": 3}:
            if total > x + 10:
                break
            total = total + len(name)
        return total

    for x in (0.0, 5.0, 100.0):
        np.testing.assert_allclose(ag.function(f)(x), f(x))


def test_9_how_much_of_an_iterator_is_taken() -> None:
    def f(x: Any) -> Any:
        for i in (k * 2 for k in range(4)):
            if i > x:
                break
        return i

    def g(x: Any) -> Any:
        for i in itertools.cycle([1, 2]):
            if i > x:
                return i

    assert ag.function(f)(3) == 4
    assert refused(ag.function(g), 3).id == "AG501"


def test_9_the_break_test_is_asked_under_the_trip_test_only() -> None:
    def f(v: Any, n: Any) -> Any:
        k = 0
        for k in range(n):
            if [10, 20, 30][k] > v:
                break
        return k

    for v, n in ((15, 3), (99, 3), (0, 3), (99, 1)):
        assert int(ag.function(f)(v, n)) == f(v, n)


# --- 10: rolling --------------------------------------------------------------------------------------------------------------------------------

LONG = 3_000


def equations(f: Callable[..., Any], *args: Any) -> int:
    return len(jax.make_jaxpr(ag.function(f))(*args).eqns[0].params["jaxpr"].eqns)


def dots(v: Any) -> Any:
    total = 0.0
    for i in range(LONG):
        total = total + v[i] * i
    return total, i


def conditions(x: Any) -> Any:
    for i in range(LONG):
        if i % 3 == 0 and i > 10:
            x = x + i
        else:
            x = x * 0.5
    return x


def inner_loops(x: Any) -> Any:
    for i in range(500):
        for j in range(10):
            x = x + i * j
    return x


def draws_keys(x: Any) -> Any:
    key = jax.random.key(0)
    for _ in range(1000):
        key, one = jax.random.split(key)
        x = x + jax.random.normal(one)
    return x


def counts(x: Any) -> Any:
    n = 0
    for i in range(LONG):
        n += 2
        x = x + i
    return x, jnp.zeros(n // 1000)


@pytest.mark.parametrize("f", [dots, conditions, inner_loops, draws_keys, counts], ids=lambda f: f.__name__)
def test_10_long_loops_are_rolled(f: Callable[..., Any]) -> None:
    x = jnp.linspace(0, 1, LONG) if f is dots else 1.0
    assert equations(f, x) < 100
    want = ag.convert(f)(jnp.asarray(x))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3), ag.function(f)(x), want)


def test_10_short_loops_are_unrolled() -> None:
    def f(x: Any) -> Any:
        for i in range(20):
            x = x + jnp.zeros(i).sum()
        return x

    assert "scan" not in str(jax.make_jaxpr(ag.function(f))(1.0))


def factorials(x: Any) -> Any:
    fact = 1
    for i in range(1, LONG):
        fact *= i
        x = x + fact % 1000
    return x


def halves(x: Any) -> Any:
    for i in range(LONG):
        x = x + 1 / 2**i
    return x


def draws(x: Any) -> Any:
    for _ in range(LONG):
        x = x + random.random()
    return x


def draws_numpy(x: Any) -> Any:
    for _ in range(LONG):
        x = x + np.random.random()
    return x


def adds_tenths(x: Any) -> Any:
    a = 0.0
    for _ in range(LONG):
        a += 0.1
        x = x + a
    return x


def sizes(x: Any) -> Any:
    for i in range(LONG):
        x = x + jnp.zeros(i % 3).size
    return x


def squares(x: Any) -> Any:
    for i in range(LONG):
        x = x + i * i * i * i % 7
    return x


def takes_items(x: Any) -> Any:
    items = iter(range(LONG))
    for _ in range(LONG):
        x = x + next(items)
    return x


def appends(x: Any) -> Any:
    found: list[int] = []
    for i in range(LONG):
        found.append(i)
        x = x + 1
    return x + len(found)


@pytest.mark.parametrize("f", [factorials, halves, draws, draws_numpy, adds_tenths, sizes, squares, takes_items, appends], ids=lambda f: f.__name__)
def test_10_what_rolling_would_change_is_unrolled(f: Callable[..., Any]) -> None:
    random.seed(0)
    np.random.seed(0)
    want = f(np.float64(0.0))
    random.seed(0)
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(ag.function(f)(0.0), want, rtol=1e-4)


def test_10_a_large_unrolled_loop_warns_and_says_why() -> None:
    def f(x: Any) -> Any:
        for i in range(2000):
            x = x * 0.5 + 2**i % 7 + jnp.ones(i % 40 + 1).sum()
        return x

    with pytest.warns(ag.LargeUnrollWarning, match=r"2000 iterations is unrolled into about \d{4,5} operations, because ") as log:
        jax.make_jaxpr(ag.function(f))(1.0)
    assert log[0].filename == __file__


def test_10_hints_decide() -> None:
    def rolled(x: Any) -> Any:
        for i in ag.range(10, rolled=True):
            x = x + i
        return x

    def unrolled(x: Any) -> Any:
        for i in ag.range(LONG, rolled=False):
            x = x + i
        return x

    def static(x: Any) -> Any:
        for i in ag.static_range(5):
            x = x + jnp.zeros(i).size
        return x

    def twice(x: Any) -> Any:
        for i in ag.range(10, unroll=2):
            x = x + i
        return x

    assert "scan" in str(jax.make_jaxpr(ag.function(rolled))(1.0)) and ag.function(rolled)(1.0) == rolled(1.0) == 46
    assert equations(unrolled, 1.0) >= LONG and ag.function(unrolled)(1.0) == unrolled(1.0)
    assert ag.function(static)(1.0) == static(1.0) == 11
    assert "unroll=2" in str(jax.make_jaxpr(ag.function(twice))(1.0)) and ag.function(twice)(1.0) == 46
    assert refused(ag.function(lambda n: [i for i in ag.static_range(n)]), 3).id == "AG502"


def test_10_one_turn_is_inlined() -> None:
    def f(v: Any) -> Any:
        total = 0.0
        for x in v:
            total += x
        return total

    assert "scan" not in str(jax.make_jaxpr(ag.function(f))(jnp.ones(1))) and ag.function(f)(jnp.ones(1)) == 1


def test_10_a_bound_on_the_turns() -> None:
    def f(x: Any) -> Any:
        n = 0
        with ag.loop(max_steps=5):
            while x > 1:
                x, n = x / 2, n + 1
        return n

    g = ag.function(f)
    assert [int(g(x)) for x in (1.0, 8.0, 32.0)] == [0, 3, 5]
    assert refused(g, 33.0).id == "AG503"
    for wrong in ({"max_steps": -1}, {"max_steps": 1.5}, {"unroll": 0}):
        with pytest.raises(ValueError):
            ag.loop(**wrong)  # type: ignore[arg-type]


# --- 11: selects --------------------------------------------------------------------------------------------------------------------------------


def test_11_gradients_do_not_see_the_untaken_side() -> None:
    def f(x: Any) -> Any:
        return 0.0 if x > 10 else jnp.exp(x)

    def g(x: Any) -> Any:
        return jnp.sqrt(x) if x > 0 else x * 0

    assert jax.grad(ag.function(f))(100.0) == 0 and jax.grad(ag.function(g))(0.0) == 0
    assert "cond" in str(jax.make_jaxpr(ag.function(f))(1.0))


def test_11_what_only_moves_and_adds_is_a_select() -> None:
    assert "cond" not in str(jax.make_jaxpr(ag.function(lambda x, y: x + 1 if x > y else y - 2))(1.0, 2.0))


# --- 12: depth ----------------------------------------------------------------------------------------------------------------------------------


def test_12_recursion_three_hundred_deep() -> None:
    f = define("""
        def f(n, x):
            if n == 0:
                return x
            return f(n - 1, x + 1)
        """)
    assert ag.function(f, static_argnums=0)(300, 1.0) == 301.0


# --- 13: generators -----------------------------------------------------------------------------------------------------------------------------


def gives(n: Any) -> Any:
    for i in range(n):
        if i % 2:
            yield i


def test_13_generators_stay_python() -> None:
    assert ag.function(lambda x: x + sum(gives(6)))(1.0) == 10.0


def test_13_a_traced_predicate_in_one_is_refused() -> None:
    assert refused(ag.function(lambda n: [i for i in gives(n)]), 3).id in ("AG501", "AG502")


# --- 14, 15, 16: unset, None, no turns ----------------------------------------------------------------------------------------------------------
# tests/branches/test_optional.py has most of them.


def test_14_a_surely_unset_variable_is_pythons_error_at_once() -> None:
    def f(x: Any) -> Any:
        if x.ndim == 5:
            y = x
        return y

    with pytest.raises(UnboundLocalError):
        jax.jit(ag.convert(f))(1.0)


def test_14_an_except_that_could_catch_a_deferred_error_is_refused() -> None:
    def f(x: Any) -> Any:
        try:
            if x > 0:
                y = x
            return y
        except Exception:
            return -1.0

    error = refused(ag.function(f), 1.0)
    assert error.id == "AG404" and "except" in str(error)


def test_14_pythons_own_errors_in_a_branch_wait_until_it_is_taken() -> None:
    def f(x: Any) -> Any:
        table = {"a": 1.0}
        if x > 0:
            return table["b"]
        return x

    g = ag.function(f)
    assert g(-1.0) == -1
    with pytest.raises(KeyError, match="b"):
        g(1.0)


def test_16_no_turn_leaves_what_was_there() -> None:
    def f(n: Any, x: Any) -> Any:
        y, z = 0, None
        for _ in range(n):
            y, z = x * 1.5, x
        return y, z is None

    for n in (0, 2):
        jax.tree.map(np.testing.assert_allclose, ag.function(f)(n, 3.0), f(n, 3.0))


def test_16_a_scan_over_rows_leaves_nothing_unset() -> None:
    def f(v: Any) -> Any:
        for x in v:
            last = x
        return last

    assert jax.jit(ag.convert(f))(jnp.array([1.0, 4.0])) == 4
    with pytest.raises(UnboundLocalError):
        ag.function(f)(jnp.zeros(0))


# --- refusals cannot be swallowed ---------------------------------------------------------------------------------------------------------------


def test_an_except_does_not_swallow_a_refusal() -> None:
    def f(x: Any) -> Any:
        try:
            return {1: 2.0}[x]
        except Exception:
            return 0.0

    assert refused(ag.function(f), 1).id == "AG502"
    assert refused(jax.jit(ag.convert(f)), 1).id == "AG502"


def test_operators_without_a_function_of_ours_around_raise_by_a_callback() -> None:
    import autograph.runtime as rt

    f = jax.jit(lambda i: rt.cond(i > 0, lambda: rt.get_item([1, 2, 3], i), lambda: -1))
    assert [int(f(i)) for i in (-5, 1, 2)] == [-1, 2, 3]
    with pytest.raises(jax.errors.JaxRuntimeError, match="list index out of range"):
        jax.block_until_ready(f(7))
        jax.effects_barrier()
