"""Edges where converted code could give something else than Python without an error."""

from __future__ import annotations

import collections
import functools
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.sourced import define

NAN = float("nan")
LIST, ARRAY, RANGE = list(range(300)), np.arange(300), range(0, 1000, 5)
TABLE = np.arange(9).reshape(3, 3)


def row(*values: float) -> Any:
    return jnp.array(values, jnp.float32)


def pair_or_none(k: Any) -> Any:
    best = None
    if k > 0:
        best = (k, k * 2)
    return best


def none_pattern_first(k: Any) -> Any:
    match pair_or_none(k):
        case None:
            return -1
        case (a, b):
            return a + b


def repeated_keys(k: Any) -> Any:
    match k:
        case 1:
            y = 10
        case 1:
            y = 20
        case 2:
            y = 30
        case _:
            y = 40
    return y


def repeated_zero(k: Any) -> Any:
    if k == 0:
        y = 1
    elif k == -0:
        y = 2
    elif k == 2:
        y = 3
    else:
        y = 4
    return y


def constant_in_a_long_loop(x: Any) -> Any:
    y = x
    for i in range(3000):
        x = x + 1
        if i > 5:
            y = 3
    return y * 100


def constant_in_a_long_ternary(x: Any) -> Any:
    y = x
    for i in range(3000):
        x = x + 1
        y = 100 if i > 5 else x
    return y * 100


def truth_in_a_long_loop(x: Any) -> Any:
    y = x > 0
    for i in range(3000):
        x = x + 1
        if i > 5:
            y = i > 10
    return jnp.zeros(int(y) + 1) + x


def optional_in_a_long_loop(v: Any) -> Any:
    at = None
    for i in range(300):
        if v[i % 3] == i:
            at = i
    return at


def first_is_none(v: Any) -> Any:
    first = next((None if x < 0 else x for x in v), 5.0)
    return -1.0 if first is None else first


def extremes_of_ranges(n: Any) -> Any:
    return min(e * 2 for e in range(1, n)), max(5 - e for e in range(1, n)), next((e for e in range(1, n) if e > 1), 0)


def at_the_end_of_the_integers(n: Any) -> Any:
    up = down = 0
    for _ in range(n, 2147483647, 3):
        up += 1
    for _ in range(-n, -2147483648, -3):
        down += 1
    return up, down


def repeated_targets(v: Any) -> Any:
    return sum(1 for _, _ in zip(v, v, strict=True))


def attributes(k: Any) -> Any:
    best = pair_or_none(k)
    return (1 if hasattr(best, "index") else 2), (1 if callable(best) else 2), (1 if isinstance(best, tuple) else 2)


def two_optionals(v: Any) -> Any:
    a = b = None
    for e in v:
        if e > 0:
            a = e
        if e > 1:
            b = e
    return (1.0 if a == b else 0.0), (1.0 if a != b else 0.0), (1.0 if b == b else 0.0)


def optional_pair_compared(k: Any) -> Any:
    return 1.0 if pair_or_none(k) == (1, 2) else 0.0


CASES: list[tuple[Callable[..., Any], list[Any]]] = [
    (none_pattern_first, [2, -1]),
    (repeated_keys, [1, 2, 3]),
    (repeated_zero, [0, 2, 5]),
    (lambda i: LIST[i], [jnp.int8(-1), jnp.uint8(200), jnp.int8(100)]),
    (lambda i: ARRAY[i], [jnp.int8(-1), jnp.uint8(200)]),
    (lambda i: RANGE[i], [jnp.uint8(60), jnp.int8(-1)]),
    (lambda i: (TABLE[:, i], TABLE[i, 1:], TABLE[i, i]), [0, 2, -1]),
    (lambda x: x in range(0, 200, 3), [jnp.int8(9), jnp.int8(10)]),
    (lambda x: x in range(0, 300), [jnp.uint8(250)]),
    (lambda x: x in (16777217, 1, 2, 3, 4, 5, 6, 7, 0.5, 9), [jnp.int32(16777216), jnp.int32(7)]),
    (constant_in_a_long_loop, [jnp.int8(1)]),
    (constant_in_a_long_ternary, [jnp.int8(1)]),
    (truth_in_a_long_loop, [1.0]),
    (optional_in_a_long_loop, [jnp.array([0, 40, 5]), jnp.array([9, 9, 9])]),
    (first_is_none, [row(-1, 2), row(1, 2)]),
    (lambda v: (max(v), min(v)), [row(1, 1, 1, 1, 1, NAN, 2, 2, 2, 2), row(NAN, 1, 1, 1, 1, 1, 2, 2, 2, 2), row(3, 1, 2)]),
    (at_the_end_of_the_integers, [2147483640, 2147483645]),
    (extremes_of_ranges, [2, 3, 6]),
    (lambda v: (min(e for e in v), max(e for e in v)), [row(4, 1, 3), row(1, 5, 2)]),
    (repeated_targets, [row(1, 2)]),
    (attributes, [1, -1]),
    (two_optionals, [row(0, 0.5), row(0, -1), row(2, 2)]),
    (optional_pair_compared, [1, 2, -1]),
    (lambda v: sum(filter(None, v)), [row(1, 0, 2)]),
]


@pytest.mark.parametrize(("f", "inputs"), CASES, ids=[f.__name__ if f.__name__ != "<lambda>" else str(k) for k, (f, _) in enumerate(CASES)])
def test_as_python(f: Callable[..., Any], inputs: list[Any]) -> None:
    for x in inputs:
        want = f(x)
        for form in (ag.convert(f, form="staged"), ag.function(f)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ag.LargeUnrollWarning)
                got = form(x)
            assert jax.tree.structure(got) == jax.tree.structure(want)
            jax.tree.map(np.testing.assert_allclose, got, want)


def test_patterns_that_look_into_an_optional_are_refused() -> None:
    def f(k: Any) -> Any:
        match pair_or_none(k):
            case (a, b):
                return a + b
            case _:
                return -1

    with pytest.raises(ag.AutographError, match="AG302") as caught:
        ag.function(f)(2)
    assert "case None" in str(caught.value)


def test_the_type_of_an_optional_is_refused() -> None:
    with pytest.raises(ag.AutographError, match="AG302"):
        ag.function(lambda k: 1 if type(pair_or_none(k)) is tuple else 2)(2)


def test_a_variable_that_the_body_deletes_is_checked_in_the_test():
    def f(x, n):
        k, turns = x, 0
        while k + n > x and turns < 4:
            turns += 1
            del k
        return turns

    for form in (ag.convert(f, form="staged"), ag.function(f)):
        with pytest.raises(UnboundLocalError, match="'k'"):
            form(3, 2)
    assert ag.function(f)(3, -1) == 0


def test_what_is_only_none_or_unset_is_returned():
    def f(x, n):
        o, turns = None, 0
        while x > turns and turns < n:
            turns += 1
            del o
        return o

    compiled = ag.function(f)
    assert compiled(-1.0, 1) is None
    with pytest.raises(UnboundLocalError, match="'o'"):
        compiled(2.0, 1)


def test_pythons_own_error_in_an_operand_that_may_not_be_evaluated():
    @ag.function
    def f(n, x, y):
        s = y
        for j in range(n):
            if x < 5:
                low = x if j < 0 and not all(2 for e in (1, 2)) else None
                s = x if s > y - [1, 2.0, 3.0][j % 3] <= low else y
        return s

    assert f(0, 1.0, 2.0) == 2.0
    with pytest.raises(TypeError, match="'<=' not supported between instances of 'Array' and 'NoneType'"):
        f(2, 1.0, 2.0)


def test_an_error_in_finally_after_one_that_traced_values_decide_is_refused():
    @ag.function
    def operation(i, j):
        try:
            x = [1.0, 2.0][i]
        finally:
            y = [3.0, 4.0][j]
        return x + y

    @ag.function
    def unset(i):
        try:
            x = [1.0, 2.0][i]
        finally:
            y = x
        return y

    @ag.function
    def harmless(i):
        try:
            x = [1.0, 2.0][i]
        finally:
            y = len([3.0, 4.0])
        return x + y

    for call in (lambda: operation(0, 0), lambda: unset(0)):
        with pytest.raises(ag.StagingError, match="AG404 this `finally`"):
            call()
    assert harmless(1) == 4.0
    with pytest.raises(IndexError):
        harmless(5)


def test_a_target_that_its_own_value_binds_is_read_first():
    def f(n, d):
        d -= n if n <= d and n > (d := -1) else d
        return d

    for args in ((2, 3), (5, 3)):
        want = f(*args)
        assert ag.convert(f, form="staged")(*args) == want and ag.function(f)(*args) == want


def test_an_optional_that_every_turn_makes_none():
    @ag.function
    def f(x, n):
        best = x if x > 0 else None
        while n < 2:
            n += 1
            best = None
        return best

    assert f(1.0, 0) is None and f(1.0, 5) == 1.0 and f(-1.0, 5) is None


def test_a_captured_name_that_a_loop_binds_again():
    def f(mode, v):
        match (mode, v[1]):
            case [m, 1 | 2]:
                pass
            case [3, _]:
                m = 0
        for m, _ in enumerate(v):
            kept = (e for e in range(3) if v[-1] > m)
        return len(list(kept))

    v = np.array([2.0, 1.5, 1.25])
    assert ag.convert(f, form="staged")(1, v) == f(1, v)


def test_a_function_whose_every_path_fails():
    @ag.function
    def f(x, n):
        while n < 1:
            n += 1
            for t in (1.0, 2.0):
                if x > t:
                    return x, n
            del t
            n = t
        return t, n

    with pytest.raises(UnboundLocalError, match="'t'"):
        f(0.0, 0)


def test_the_subject_of_a_match_is_read_whatever_the_patterns_look_at():
    def in_a_tuple(a, mode=2):
        if mode == 7:
            j = 3
        else:
            match (1, j):
                case [1, k] if mode != 1:
                    a = k
                case _:
                    pass
        return a

    def deleted(a):
        for k in range(3):
            del k
            match (a, k):
                case [3, _]:
                    pass
                case [2, _]:
                    a = 5
        return a

    def alone(a, mode=2):
        if mode == 7:
            j = 3
        match j:
            case _ if a > 0:
                pass
        return a

    for f in (in_a_tuple, deleted, alone):
        for form in (ag.convert(f), ag.convert(f, form="staged"), ag.function(f, static_argnames="mode") if f is not deleted else ag.function(f)):
            with pytest.raises(UnboundLocalError):
                form(2)


def test_a_function_reads_a_variable_that_was_deleted_after_it_was_made():
    def f(a, x):
        j = a + 1

        def g():
            return j < 100

        n = 0
        while n < 3 and g():
            n += 1
            if x > n:
                del j
        return n

    for form in (ag.convert(f), ag.convert(f, form="staged"), ag.function(f)):
        assert form(1, -1.0) == 3
        with pytest.raises(NameError, match="cannot access free variable 'j'"):
            form(1, 5.0)


def test_an_operand_reads_a_variable_that_was_deleted():
    def ternary(x):
        s = 3
        del s
        return (x, x if x > 0 else s)

    def conjunction(x, s):
        del s
        return x <= 0 and s

    for form in (ag.convert(ternary), ag.convert(ternary, form="staged"), ag.function(ternary)):
        assert form(1.0) == (1, 1)
        with pytest.raises(UnboundLocalError, match="cannot access local variable 's'"):
            form(-1.0)
    for form in (ag.convert(conjunction), ag.convert(conjunction, form="staged"), ag.function(conjunction)):
        assert not form(1.0, 2)
        with pytest.raises(UnboundLocalError, match="cannot access local variable 's'"):
            form(-1.0, 2)


def test_a_later_part_of_a_chain_fails():
    def f(x):
        limit = None
        return 1 if 0 < x + 1 > limit else 2

    def g(x):
        limit = None
        return x > limit

    for form in (f, ag.convert(f), ag.convert(f, form="staged"), ag.function(f)):
        assert form(-5.0) == 2
        with pytest.raises(TypeError, match="'>' not supported between instances of '(float|Array)' and 'NoneType'"):
            form(1.0)
    with pytest.raises(TypeError, match="'>' not supported between instances of 'Array' and 'NoneType'"):
        ag.function(g)(1.0)


def test_rows_are_exchanged_by_lists_of_traced_indices() -> None:
    def f(a: Any, k: Any) -> Any:
        p = k
        for i in range(3):
            if a[i, 0] > a[p, 0]:
                p = i
        a[[k, p]] = a[[p, k]]
        return a, a[[p, 1], [k, 2]]

    a = np.array([[1.0, 2, 3], [7, 1, 0], [2, 2, 9]], np.float32)
    for got, want in zip(ag.function(f)(a.copy(), jnp.int32(0)), f(a.copy(), 0), strict=True):
        assert got.tolist() == want.tolist()


def test_a_generator_that_stores_its_parameter_into_an_array_of_its_own() -> None:
    def gen(x: Any, n: int) -> Any:
        u = np.zeros(3, np.float32)
        for k in range(n):
            u[k] = x
            yield u.sum()

    @ag.function
    def f(x: Any) -> Any:
        return sum(gen(x, 3))

    assert f(2.0) == 12


def test_the_same_function_in_two_files_has_two_places() -> None:
    text = "def g(x):\n    if x[0] > 1:\n        y = 1\n    else:\n        y = (1, 2)\n    return y\n"
    one, two = define(text, "g"), define(text, "g")

    for g in (one, two):

        @ag.function
        def f(v: Any, g: Any = g) -> Any:
            return g(v)

        with pytest.raises(ag.StagingError, match="AG202") as error:
            f(np.ones(3, np.float32))
        assert g.__code__.co_filename in str(error.value)


@pytest.mark.parametrize("x", [2.0, -2.0])
def test_a_function_that_changes_its_parameter_by_an_augmented_assignment(x: float) -> None:
    def g(v: Any, x: Any) -> Any:
        if x > 0:
            v -= x
        return v * 2

    def f(v: Any, x: Any) -> Any:
        w = v
        twice = g(v, x)
        return v, twice, w

    given, want = np.ones(3, np.float32), np.ones(3, np.float32)
    jax.tree.map(np.testing.assert_array_equal, ag.function(f)(given, x), f(want, x))
    assert given.tolist() == want.tolist()


def test_callables_whose_equality_is_their_own() -> None:
    @ag.function
    def f(x: Any) -> Any:
        items = [3.0, 1.0, 2.0]
        if x > 0:
            items = sorted(items, key=functools.cmp_to_key(lambda a, b: a - b))
        return items

    assert f(1.0) == [1.0, 2.0, 3.0] and f(-1.0) == [3.0, 1.0, 2.0]


def test_extremes_of_what_a_dict_or_deque_holds() -> None:
    def f(x: Any) -> Any:
        d = {"a": x, "b": 2 * x}
        return max(d.values()), min(d.values()), max(collections.deque([x, 2 * x]))

    for x in (2.0, -2.0):
        np.testing.assert_allclose(ag.function(f)(x), f(x))
