"""Rules 17 to 25 of `docs/semantics.md`, names and objects: what works, and what is refused without giving a number."""

from __future__ import annotations

import threading
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


# --- 17: captured variables ---------------------------------------------------------------------------------------------------------------------


def test_17_after_any_exit_the_cell_holds_the_outer_value() -> None:
    total = 1.0

    def f(v: Any, bad: bool) -> Any:
        nonlocal total
        for x in v:
            total = total + x
            if bad and x > 100:
                total = total.no_such_attribute
        return total * 1

    with pytest.raises(AttributeError):
        ag.function(f, static_argnums=1)(jnp.ones(2) * 200, True)
    assert total == 1 or total == 201  # a number, no tracer
    total = 1.0
    assert ag.function(f, static_argnums=1)(jnp.ones(2), False) == 3 and total == 3
    assert isinstance(total, (float, jax.Array)) and not isinstance(total, jax.core.Tracer)


def test_17_a_closure_of_the_same_turn_may_be_called() -> None:
    @ag.function
    def f(v: Any) -> Any:
        total = 0.0
        for x in v:
            scale = x * 2

            def add(y: Any) -> Any:
                return total + y * scale

            total = add(x)
        return total

    assert f(jnp.array([1.0, 3.0])) == 2 + 18


def test_17_a_closure_that_escapes_its_turn_is_refused() -> None:
    @ag.function
    def f(v: Any, n: Any) -> Any:
        g = None
        for k in range(n):
            g = lambda y: v[k] + y
        return g(1.0)

    assert refused(f, jnp.ones(3), 3).id == "AG201"


def test_17_two_threads_trace_one_function() -> None:
    total = 0.0

    def f(v: Any) -> Any:
        nonlocal total
        for x in v:
            total = total + x
        return total

    g = ag.function(f)
    threads = [threading.Thread(target=g, args=(jnp.ones(n),)) for n in range(2, 8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not isinstance(total, jax.core.Tracer)


# --- 18: stores on global and free names --------------------------------------------------------------------------------------------------------


def test_18_a_store_on_a_global_does_not_make_it_local() -> None:
    text = """
    import jax.numpy as jnp
    x = jnp.zeros(3)
    def f(i, v):
        {declared}
        x[i] = v
        return x.sum()
    def held():
        return x
    """
    f = define(text.format(declared=""), "f")
    with pytest.raises((UnboundLocalError, ag.AutographError, TypeError)):
        f(1, 2.0)  # Python: an immutable array
    space = define(text.format(declared="global x"), "held")
    g = ag.function(space.__globals__["f"])
    assert g(1, 2.0) == 2 and float(space()[1]) == 2
    assert g(0, 5.0) == 7


def test_18_a_numpy_global_is_stored_into() -> None:
    held = define(
        """
    import numpy as np
    x = np.zeros(3, np.float32)
    def f(i, v):
        x[i] = v
    def held():
        return x
    """,
        "held",
    )
    x = held()
    ag.function(held.__globals__["f"])(1, 2.0)
    assert held() is x and x.tolist() == [0, 2, 0]


# --- 19: aliases --------------------------------------------------------------------------------------------------------------------------------


def test_19_names_that_were_moved_share_and_results_do_not() -> None:
    def f(x: Any, i: Any) -> Any:
        a = x + 0.0
        b = a
        c = a + 0
        a[i] = 9.0
        return a, b, c

    for got, want in zip(ag.function(f)(jnp.zeros(3), 1), f(np.zeros(3), 1)):
        assert got.tolist() == want.tolist()


def test_19_the_callers_array_does_not_change_and_style_is_free() -> None:
    def push(a: Any, x: Any) -> Any:
        a[0] = x
        return a

    @ag.function
    def f(a: Any) -> Any:
        a = push(a, 1.0)
        return push(a, 2.0)

    mine = jnp.zeros(2)
    assert f(mine)[0] == 2 and mine[0] == 0


@pytest.mark.parametrize("which", [1, -1])
def test_19_a_name_for_one_of_two_arrays(which: int) -> None:
    def f(x: Any, which: Any) -> Any:
        a, b = x + 1.0, x + 2.0
        c = a if which > 0 else b
        c[0] = 5.0
        return a, b, c

    for form in (ag.function, ag.convert):
        jax.tree.map(np.testing.assert_array_equal, form(f)(jnp.zeros(2), which), f(np.zeros(2), which))


# --- 20: NumPy arrays ---------------------------------------------------------------------------------------------------------------------------


def test_20_a_concrete_value_changes_it_in_place() -> None:
    @ag.convert
    def f(a: Any) -> Any:
        a[0] = 3
        return a

    a = np.zeros(2)
    assert f(a) is a and a[0] == 3


def test_20_a_numpy_argument_is_updated_when_the_call_ends() -> None:
    @ag.function
    def f(a: Any, v: Any) -> Any:
        a[0] = v
        a[1] += a[0]

    a, b = np.zeros(3, np.float32), jnp.zeros(3)
    f(a, 2.0)
    f(a, 3.0)
    assert a.tolist() == [3, 5, 0]
    f(b, 2.0)
    assert b.tolist() == [0, 0, 0]


def test_20_what_would_round_or_overlap_is_refused() -> None:
    @ag.function
    def f(a: Any, v: Any) -> Any:
        a[0] = v

    @ag.function
    def g(a: Any, b: Any, v: Any) -> Any:
        a[0] = v
        b[0] = v + 1
        return a.sum()

    wide = np.zeros(2)
    assert refused(f, wide, 0.1).id == "AG403" and wide[0] == 0
    fixed = np.zeros(2, np.float32)
    fixed.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        f(fixed, 1.0)
    objects = np.array([None, 1], object)
    with pytest.raises((TypeError, ag.AutographError)):
        f(objects, 1.0)
    base = np.zeros(3, np.float32)
    assert refused(g, base[:2], base[1:], 1.0).id in ("AG403", "AG407") and base.tolist() == [0, 0, 0]
    assert g(base, base, 1.0) == 2 and base.tolist() == [2, 0, 0], "one array is no overlap"


def test_20_a_copy_back_inside_of_a_trace_is_refused() -> None:
    @ag.function
    def f(a: Any, v: Any) -> Any:
        a[0] = v
        return a[0] * 1

    a = np.zeros(2, np.float32)
    refused(jax.jit(lambda v: f(a, v)), 1.0)
    assert a.tolist() == [0, 0]


# --- 21: everything else keeps its own store ----------------------------------------------------------------------------------------------------


def test_21_lists_dicts_and_classes_keep_their_stores() -> None:
    class Log:
        def __init__(self) -> None:
            self.items: list[Any] = []

        def __setitem__(self, k: Any, v: Any) -> None:
            self.items.append((k, v))

    @ag.function
    def f(x: Any) -> Any:
        log, d, items = Log(), {}, [0, 0]
        log[1] = x
        log["a"] = x + 1
        d["k"] = x
        d["k"] += x
        items[1] = x
        return log.items[0][1] + log.items[1][1], d["k"], items[1]

    assert list(map(float, f(2.0))) == [5, 4, 2]


def test_21_a_reference_is_stored_into() -> None:
    @ag.function
    def f(x: Any) -> Any:
        ref = jax.new_ref(jnp.zeros(2))
        ref[0] = x
        ref[1] += 2 * x
        return ref[...]

    assert f(3.0).tolist() == [3, 6]


def test_21_a_tuple_refuses_as_python_does() -> None:
    @ag.function
    def f(x: Any) -> Any:
        t = (x, x)
        t[0] = x
        return t

    with pytest.raises(TypeError, match="'tuple' object does not support item assignment"):
        f(1.0)


# --- 22: evaluation order -----------------------------------------------------------------------------------------------------------------------


_which = 1


def _turn(value: Any) -> Any:
    global _which
    _which = 2 - _which
    return value


def test_22_an_index_that_a_call_binds_anew() -> None:
    def f(x: Any, y: Any) -> Any:
        x[_which] = _turn(y)  # the value first: item 1 of these two
        x[_which] += _turn(y) * 10  # the index first
        x[_which % 3] += 100 if _turn(y) > 0 else x[0]
        return x

    def run(g: Any, x: Any, y: Any) -> Any:
        global _which
        _which = 1
        return g(x, y).tolist()

    assert run(ag.function(f), jnp.zeros(3), jnp.float32(2)) == run(f, np.zeros(3), 2.0)


@pytest.mark.parametrize("kind", [np.array, jnp.array])
def test_22_order_is_pythons(kind: Any) -> None:
    seen: list[str] = []

    def note(name: str, value: Any) -> Any:
        seen.append(name)
        return value

    class Box:
        def __init__(self, x: Any) -> None:
            self.x = x

    def f(x: Any, y: Any) -> Any:
        box = Box(x)
        x = box.x
        x[note("i", 0)] = note("v", y)
        note("box", box).x[note("j", 1)] += note("w", y)
        (note("a", box).x[note("k", 0)], note("b", box).x[note("l", 1)]) = note("t", (y, y))
        return box.x

    assert ag.convert(f)(np.zeros(2), 1.0).tolist() == [1, 1]
    assert seen == "v i box j w t a k b l".split()
    del seen[:]
    if kind is jnp.array:
        traced = jax.jit(ag.convert(f))
        assert traced(jnp.zeros(2), 1.0).tolist() == [1, 1] and seen == "v i box j w t a k b l".split()


def test_22_a_repeated_index_counts_once() -> None:
    @ag.function
    def f(x: Any, i: Any) -> Any:
        x[i] += 1
        return x

    i = jnp.array([0, 1, 0])
    want = np.zeros(3)
    want[np.array(i)] += 1
    assert f(jnp.zeros(3), i).tolist() == want.tolist() == [1, 1, 0]


def test_22_a_swap_reads_both_first() -> None:
    @ag.function
    def f(x: Any, i: Any, j: Any) -> Any:
        x[i], x[j] = x[j], x[i]
        return x

    assert f(jnp.arange(3.0), 0, 2).tolist() == [2, 1, 0]


# --- 23: attributes and entries -----------------------------------------------------------------------------------------------------------------


class Part:
    def __init__(self, c: Any) -> None:
        self.c = c


class Whole:
    def __init__(self) -> None:
        self.b, self.d, self.items = Part(0.0), {"k": 0.0}, [0.0, 0.0]

    @property
    def c(self) -> Any:
        return self.b.c

    @c.setter
    def c(self, value: Any) -> None:
        self.b.c = value * 2

    @ag.function
    def run(self, v: Any) -> Any:
        for x in v:
            if x > 0:
                self.b.c += x
                self.d["k"] += 1
            else:
                self.items[0] = x
        return self.b.c

    @ag.function
    def by_property(self, x: Any) -> Any:
        if x > 0:
            self.c = x
        return self.b.c


def test_23_attributes_and_entries_in_blocks() -> None:
    a = Whole()
    assert a.run(jnp.array([1.0, -2.0, 3.0])) == 4
    assert (float(a.b.c), int(a.d["k"]), float(a.items[0])) == (4, 2, -2)
    assert a.by_property(5.0) == 10 and a.by_property(-1.0) == 10


def test_23_two_names_for_one_object_are_one_state() -> None:
    @ag.function
    def f(p: Any, q: Any, x: Any) -> Any:
        if x > 0:
            p.c = p.c + x
            q.c = q.c * 10
        return p.c + 0

    one, two = Part(1.0), Part(1.0)
    assert f(one, one, 1.0) == 20
    assert f(one, two, 1.0) == 21 and float(two.c) == 10


def test_23_an_index_that_decides_on_an_object_is_refused() -> None:
    @ag.function
    def f(i: Any) -> Any:
        parts = [Part(0.0), Part(1.0)]
        parts[i].c = 5.0
        return parts[0].c

    error = refused(f, 1)
    assert error.id in ("AG201", "AG202", "AG302", "AG405", "AG502")


def test_23_a_base_that_the_block_binds_anew() -> None:
    @ag.function
    def f(v: Any) -> Any:
        p = Part(0.0)
        for x in v:
            p = Part(p.c + x)
            p.c = p.c * 2
        return p.c

    try:
        assert f(jnp.array([1.0, 2.0])) == ((0 + 1) * 2 + 2) * 2
    except ag.AutographError as error:
        assert error.id in ("AG201", "AG401")


# --- 24: lists that grow ------------------------------------------------------------------------------------------------------------------------
# tests/lists_and_dicts/test_lists.py has most of them.


def test_24_appends_in_known_loops_are_a_stack() -> None:
    @ag.function
    def f(v: Any) -> Any:
        out = []
        for x in v:
            out.append(x * x)
        return jnp.stack(out)

    assert f(jnp.arange(4.0)).tolist() == [0, 1, 4, 9]


def test_24_a_loop_without_a_bound_is_refused() -> None:
    def f(x: Any) -> Any:
        out = []
        while x > 1:
            x = x / 2
            out.append(x)
        return len(out)

    def bounded(x: Any) -> Any:
        out = []
        with ag.loop(max_steps=20):
            while x > 1:
                x = x / 2
                out.append(x)
        return len(out)

    assert refused(ag.function(f), 9.0).id == "AG405"
    assert ag.function(bounded)(9.0) == f(9.0) == 4


# --- 25: targets of `for` -----------------------------------------------------------------------------------------------------------------------


def test_25_any_target() -> None:
    def f(v: Any, w: Any) -> Any:
        box, d, total = Part(0.0), {"k": 0.0}, 0.0
        for box.c in v:
            total += box.c
        for d["k"] in v:
            total += d["k"]
        for first, *rest in w:
            total += first * len(rest)
        for (a, b), c in zip(w[:, :2], v):
            total += a * b * c
        return total, box.c, d["k"], c

    v, w = np.array([1.0, 2.0]), np.arange(6.0).reshape(2, 3)
    jax.tree.map(np.testing.assert_allclose, ag.function(f)(jnp.array(v), jnp.array(w)), f(v, w))


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_20_an_augmented_assignment_of_a_numpy_argument(x: float) -> None:
    def added(a: Any, x: Any) -> Any:
        if x > 0:
            a += x
        return a

    def stored_and_added(a: Any, x: Any) -> Any:
        a[0] = x
        a += 1
        return a

    def anew(a: Any, x: Any) -> Any:
        a = a + x
        a += 1
        return a

    def through_a_slice(a: Any, x: Any) -> Any:
        if x > 0:
            a[:] += x
        return a

    for f in (added, stored_and_added, anew, through_a_slice):
        got, want = np.zeros(2, np.float32), np.zeros(2, np.float32)
        result = f(want, x).tolist()
        assert ag.function(f)(got, x).tolist() == result and got.tolist() == want.tolist()
        assert ag.function(f)(given := jnp.zeros(2), x).tolist() == result and given.tolist() == [0, 0], "an array of JAX does not change"


def test_20_numbers_stay_on_the_short_way() -> None:
    @ag.function
    def down(n: Any) -> Any:
        while n > 1:
            n -= 1
        return n

    assert down(3.0) == 1 and "__call__" in vars(type(down)), "calls with numbers go to JAX at once"
    assert down(jnp.full(1, 3.0)) == 1
    array = np.full(1, 3, np.float32)
    assert down(array) == 1 and array.tolist() == [1]
