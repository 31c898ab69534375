"""Variables that may be unset or None where that is data-dependent (`docs/semantics.md`, "Unset and None")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.harness import assert_same

ROWS = [jnp.array(v, jnp.float32) for v in ([], [2.0], [-1.0, -2.0], [1.0, 5.0, -3.0, 5.0], [-1.0, 4.0, 2.0])]
COUNTS = [0, 1, 2, 5]


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        out = f(*args)
    except Exception as error:
        return type(error) if isinstance(error, ag.AutographError) else (type(error), str(error).replace("ArrayImpl", "Array"))
    return out


def agree(f: Callable[..., Any], *args: Any) -> None:
    """Python, the staged form on static values and the compiled function give the same value, None or error."""
    want = outcome(f, *args)
    for got in (outcome(ag.convert(f, form="staged"), *args), outcome(ag.function(f), *args)):
        if want is None or isinstance(want, tuple) and isinstance(want[0], type):
            assert got == want, (got, want)
        else:
            assert_same(got, want)


# --- None --------------------------------------------------------------------------------------------------------------------------------------


def best_of(v: Any) -> Any:
    best = None
    for e in v:
        if best is None or e > best:
            best = e
    return best


def best_positive(v: Any) -> Any:
    best = None
    for e in v:
        if e > 0 and (best is None or e > best):
            best = e
    return best


def guarded_by_a_test(v: Any) -> Any:
    best = best_positive(v)
    if best is None:
        return -1.0
    return best * 2


def guarded_by_a_ternary(v: Any) -> Any:
    best = best_positive(v)
    return best * 2 if best is not None else 0.0


def guarded_by_truth(v: Any) -> Any:
    best = best_positive(v)
    return best * 2 if best else 7.0


def not_guarded(v: Any) -> Any:
    return best_positive(v) + 1


def an_attribute(v: Any) -> Any:
    return best_positive(v).dtype.itemsize


def an_item(v: Any) -> Any:
    return best_positive(v)[None]


def compared(v: Any) -> Any:
    return best_positive(v) < 3


def equal(v: Any) -> Any:
    best = best_positive(v)
    return (best == 5) | (best != 4)


def found_at(v: Any, x: Any) -> Any:
    for i, e in enumerate(v):
        if e == x:
            return i
    return None


def found_or(v: Any) -> Any:
    k = found_at(v, 5.0)
    return -1 if k is None else k * 10


def pairs(v: Any) -> Any:
    best = None
    for i, e in enumerate(v):
        if e > 0 and (best is None or e > best[1]):
            best = (i, e)
    if best is not None:
        i, e = best
        return i + e
    return 0.0


def none_again(v: Any) -> Any:
    last = None
    for e in v:
        last = e if e > 0 else None
    return last


def previous(v: Any) -> Any:
    prev, rises = None, 0
    for e in v:
        if prev is not None and e > prev:
            rises += 1
        prev = e
    return rises


def until_close(v: Any) -> Any:
    x, last = v.sum() + 10, None
    while last is None or abs(x - last) > 0.5:
        last = x
        x = x / 2
    return x, last


def not_none_in_the_test(v: Any) -> Any:
    rest: Any = v.sum() + 4
    turns = 0
    while rest is not None:
        rest = rest - 1 if rest > 1 else None
        turns += 1
    return turns


def a_message_or_nothing(v: Any) -> Any:
    note = None
    if v.sum() > 3:
        note = "large"
    return 1.0 if note is None else 2.0


@pytest.mark.parametrize("v", ROWS, ids=len)
@pytest.mark.parametrize(
    "f",
    [
        best_of, best_positive, guarded_by_a_test, guarded_by_a_ternary, guarded_by_truth, not_guarded, an_item, compared, equal, found_or, pairs,
        none_again, previous, until_close, not_none_in_the_test, a_message_or_nothing,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_none_or_a_value(f: Callable[..., Any], v: Any) -> None:
    agree(f, v)


@pytest.mark.parametrize("f", [guarded_by_a_test, guarded_by_a_ternary, guarded_by_truth, found_or, pairs, previous, until_close])
@pytest.mark.parametrize("v", ROWS[1:], ids=len)
def test_what_is_tested_needs_nobody_to_read_errors(f: Callable[..., Any], v: Any) -> None:
    want = f(v)
    got = jax.jit(ag.convert(f))(v)
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w), got, want)
    each = jax.vmap(ag.convert(f))(jnp.stack([v, v]))
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g[1], w), each, want)


def test_tests_leave_no_checks_in_the_program() -> None:
    """A program whose reads are all guarded does not carry an error code."""
    f = ag.function(guarded_by_a_test)
    assert f(ROWS[3]) == 10.0
    assert len(f.lower(ROWS[3]).out_info.shape) == 0  # the number alone


def test_a_gradient_takes_the_path_that_has_a_value() -> None:
    f = ag.function(guarded_by_a_test)
    np.testing.assert_allclose(jax.grad(f)(ROWS[3]), jax.grad(guarded_by_a_test)(ROWS[3]))
    np.testing.assert_allclose(jax.grad(f)(ROWS[2]), np.zeros(2))


def test_refused_where_nobody_reads_errors() -> None:
    for f in (not_guarded, best_positive):
        with pytest.raises(ag.AutographError) as caught:
            jax.jit(ag.convert(f))(ROWS[3])
        assert caught.value.id == "AG302" and isinstance(caught.value, TypeError)
    with pytest.raises(ag.AutographError, match="AG302"):
        jax.vmap(ag.function(best_positive))(jnp.ones((2, 3)))


# --- unset -------------------------------------------------------------------------------------------------------------------------------------


def set_on_one_side(n: Any) -> Any:
    if n > 1:
        y = n * 2
    return y + 1  # pyright: ignore[reportPossiblyUnbound]


def set_in_a_loop(n: Any) -> Any:
    for i in range(n):
        last = i * 2
    return last + 1


def guarded_by_a_flag(n: Any) -> Any:
    found = False
    for i in range(n):
        if i * i >= 4:
            found, at = True, i
    return at if found else -1


def flag_does_not_guard(n: Any) -> Any:
    found = False
    for i in range(n):
        if i * i >= 4:
            found, at = True, i
    return at if not found else -1


def read_in_a_branch(n: Any) -> Any:
    if n > 1:
        y = n
    if n > 0:
        return y * 2
    return 0


def read_in_a_loop(n: Any) -> Any:
    total = 0
    for i in range(n):
        if i == 1:
            step = 3
        if i >= 1:
            total += step
    return total


def read_too_early_in_a_loop(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += step
        if i == 1:
            step = 3
    return total


def deleted(n: Any) -> Any:
    y = n
    if n > 1:
        del y
    return y


def deleted_and_set(n: Any) -> Any:
    y = n
    if n > 1:
        del y
        y = n * 3
    return y


def two_errors(n: Any) -> Any:
    if n > 1:
        a = n
    if n > 2:
        b = n
    return a + b


def after_a_failure(n: Any) -> Any:
    if n > 1:
        a = n
    k = a
    while k != 0:  # never ends for a value that is not there
        k -= 1
    return a


def in_a_test(n: Any) -> Any:
    if n > 1:
        stop = n
    k = 0
    while k < stop:
        k += 1
    return k


def optional_and_unset(n: Any) -> Any:
    if n > 0:
        y = None if n > 1 else n
    return y is None


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize(
    "f",
    [
        set_on_one_side, set_in_a_loop, guarded_by_a_flag, flag_does_not_guard, read_in_a_branch, read_in_a_loop, read_too_early_in_a_loop, deleted,
        deleted_and_set, two_errors, after_a_failure, in_a_test, optional_and_unset,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_unset_or_set(f: Callable[..., Any], n: int) -> None:
    agree(f, n)


def test_unset_is_refused_where_nobody_reads_errors() -> None:
    for wrap in (lambda f: jax.jit(ag.convert(f)), lambda f: lambda n: jax.vmap(ag.convert(f))(jnp.array([n]))):
        with pytest.raises(ag.AutographError) as caught:
            wrap(set_on_one_side)(3)
        assert caught.value.id == "AG301" and isinstance(caught.value, UnboundLocalError) and "`y`" in str(caught.value)


def test_a_free_variable_that_is_unset() -> None:
    def f(n: Any) -> Any:
        if n > 1:
            y = n
        return (lambda: y + 1)()

    for n in COUNTS:
        agree(f, n)


def test_the_traceback_ends_at_the_users_line() -> None:
    with pytest.raises(UnboundLocalError) as caught:
        ag.function(set_on_one_side)(0)
    last = caught.traceback[-1]
    assert str(last.path) == __file__ and str(last.statement).strip().startswith("return y + 1") and last.frame.code.name == "set_on_one_side"


# --- who reads the error code ------------------------------------------------------------------------------------------------------------------


def test_a_function_that_another_calls() -> None:
    inner = ag.function(set_on_one_side)

    def f(n: Any) -> Any:
        return inner(n) + 1

    for n in COUNTS:
        agree(f, n)


def test_eager_transformations_read_it() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            y = x * x
        return y

    g = ag.function(f)
    assert jax.grad(g)(3.0) == 6.0 and jax.hessian(g)(3.0) == 2.0 and jax.jvp(g, (3.0,), (1.0,)) == (9.0, 6.0)
    for transformed in (jax.grad(g), jax.hessian(g), jax.value_and_grad(g)):
        with pytest.raises(UnboundLocalError):
            transformed(0.5)


def test_under_a_transformation_that_is_not_converted_the_program_raises() -> None:
    g = jax.vmap(ag.function(set_on_one_side))
    np.testing.assert_array_equal(g(jnp.array([2, 3])), [5, 7])
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'y'"):
        g(jnp.array([2, 0]))
    with pytest.raises(jax.errors.JaxRuntimeError, match="cannot access local variable 'y'"):
        jax.block_until_ready(jax.jit(g)(jnp.array([2, 0])))
        jax.effects_barrier()


def test_checks_that_a_later_trace_finds() -> None:
    @ag.function
    def f(n: Any, mode: Any) -> Any:
        if mode is not None and n > 1:
            y = n
        elif mode is None:
            y = 0
        return y

    assert f(3, None) == 0 and f(0, None) == 0
    assert f(3, 1) == 3
    with pytest.raises((UnboundLocalError, jax.errors.JaxRuntimeError)):
        jax.block_until_ready(f(0, 1))
        jax.effects_barrier()


def test_methods() -> None:
    class Box:
        def __init__(self) -> None:
            self.limit = 1

        @ag.function
        def f(self, n: Any) -> Any:
            if n > self.limit:
                return n

    assert Box().f(3) == 3 and Box().f(0) is None


def test_no_tracer_is_left_behind() -> None:
    with jax.checking_leaks():
        for f in (best_positive, guarded_by_a_test, pairs):
            ag.function(f)(ROWS[3])
        for g in (guarded_by_a_flag, read_in_a_loop, in_a_test):
            ag.function(g)(5)


def test_an_effect_free_program_without_checks_has_no_code() -> None:
    def f(n: Any) -> Any:
        y = 0
        if n > 1:
            y = n
        return y

    assert "i32[] i32[]" not in str(jax.make_jaxpr(ag.function(f))(3))
    assert len(jax.make_jaxpr(ag.function(f))(3).jaxpr.outvars) == 1


# --- objects that one side of a branch makes -----------------------------------------------------------------------------------------------------


class Hit:
    def __init__(self, x):
        self.x = x

    def bump(self, y):
        self.x = self.x + y
        return self.x


class Slotted:
    __slots__ = ("n", "x")

    def __init__(self, x):
        self.x, self.n = x, 1


def changed_afterwards(x):
    best = None
    if x > 0:
        best = Hit(x * 2)
    if best is not None:
        best.x += 1
        best.bump(x)
        return best.x
    return -1.0


def in_branches_of_branches(x):
    best = None
    if x > 0:
        if x > 1:
            best = Hit(x * 2)
        elif x > 0.5:
            best = None
    return -1.0 if best is None else best.bump(3)


def as_an_attribute_and_its_own(x):
    root = Hit(x)
    root.child = None
    if x > 0:
        root.child = Hit(x * 2)
        root.child.child = Hit(x * 3)
    return root.child.child.x + root.child.x if root.child is not None else 0.0


def as_an_entry(x):
    table = {"k": None}
    if x > 0:
        table["k"] = Hit(x)
    return table["k"].x if table["k"] is not None else 0.0


def with_a_list(x):
    best = None
    if x > 0:
        best = Hit([x, 2 * x])
        best.x[0] = 7.0
    return sum(best.x) if best is not None else 0.0


def with_slots(x):
    best = None
    if x > 0:
        best = Slotted(x * 2)
    return best.x * best.n if best is not None else 0.0


def in_each_turn(x):
    total, i = 0.0, 0
    while i < 4:
        best = None
        if x > i:
            best = Hit(x * 2 + i)
        if best is not None:
            total += best.bump(i)
        i += 1
    return total


def found(x):
    if x > 0:
        return Hit(x)
    return None


def given_by_a_helper(x):
    p, q = found(x), found(-x)
    if p is None:
        return q.x if q is not None else 9.0
    return p.x * 10


def of_two_names(x):
    best = other = None
    if x > 0:
        best = Hit(x)
        other = Hit(best)
    if best is not None and other is not None:
        best.x = 5.0 * x
        return other.x.x
    return 0.0


def in_a_closure(x):
    best = None
    if x > 0:
        best = Hit(x)

    def inner():
        return best.x

    if best is not None:
        return inner()
    return 0.0


def one_that_was_there(x):
    keep, best = Hit(x), None
    if x > 0:
        keep.x = x * 3
        best = keep
    return keep.x + (best.x if best is not None else 0.0)


def read_where_there_is_none(x):
    best = None
    if x > 0:
        best = Hit(x)
    return best.x


MAKING = [
    changed_afterwards, in_branches_of_branches, as_an_attribute_and_its_own, as_an_entry, with_a_list, with_slots, in_each_turn, given_by_a_helper,
    of_two_names, in_a_closure, one_that_was_there, read_where_there_is_none,
]  # fmt: skip


@pytest.mark.parametrize("f", MAKING)
def test_an_object_that_one_side_makes(f: Callable[..., Any]) -> None:
    for x in (2.0, -2.0, 0.75):
        agree(f, np.float32(x))
    if f is not read_where_there_is_none:
        for x in (2.0, -2.0):
            np.testing.assert_allclose(jax.jit(ag.convert(f))(x), f(x))


def test_an_object_that_one_side_makes_is_differentiated() -> None:
    assert jax.grad(ag.function(changed_afterwards))(2.0) == 3.0
    np.testing.assert_allclose(jax.vmap(ag.convert(changed_afterwards))(jnp.array([2.0, -2.0])), [7.0, -1.0])


def test_which_of_two_objects_is_not_chosen() -> None:
    def f(x):
        if x > 0:
            hit = Hit(x)
        else:
            hit = Hit(-x)
        return hit.x

    with pytest.raises(ag.AutographError, match="AG202 `hit` is a `Hit`.*another `Hit`"):
        ag.function(f)(2.0)


class Row:
    def __init__(self, items):
        self.items = items
        self.n = 0

    def __setitem__(self, i, x):
        self.items[i] = x
        self.n += 1


def test_a_list_of_an_object_that_was_there_is_no_new_one() -> None:
    @ag.function
    def f(x, row):
        best = None
        if x > 0:
            row[0] = x
            best = row
        else:
            row.items[1] = x
        return row.n if best is None else best.n, row.items

    for x in (2.0, -2.0):
        n, items = f(x, Row([0.0, 0.0]))
        assert n == (x > 0) and items == ([2.0, 0.0] if x > 0 else [0.0, -2.0])


def test_a_name_that_may_hold_an_array_and_is_not_set_yet() -> None:
    """Another name that an augmented assignment asks about is no read of the program's."""

    def f(a: Any, x: Any, y: Any) -> Any:
        for _ in range(a):
            try:
                y += 2
                p = (1, x)
            finally:
                pass
            y, x = p
        return x, y

    for form in ("both", "staged"):
        assert ag.convert(f, form=form)(np.int32(2), np.float32(2.5), np.float32(1.0)) == (2.5, 1)
    assert [*map(float, ag.function(f, static_argnums=0)(2, 2.5, 1.0))] == [2.5, 1.0]
