"""What compiled functions change outside themselves: objects, lists, dicts, globals, closures (RULES 17, 18, 23, 38, 39)."""

from __future__ import annotations

import enum
import gc
import types
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Model:
    def __init__(self, w: Any) -> None:
        self.w, self.h, self.calls, self.history = w, 0.0, 0, []

    @ag.function
    def add(self, x: Any) -> Any:
        self.h += x * self.w
        return self.h

    @ag.function
    def steps(self, x: Any, n: Any) -> Any:
        for i in range(n):
            if x > i:
                self.calls += 1
                self.h = self.h + x
        return self.h

    @ag.function
    def log(self, x: Any) -> Any:
        self.history.append(x)
        return len(self.history)

    @property
    def size(self) -> Any:
        return self.h if self.h > 0 else -self.h

    def __lt__(self, other: Any) -> Any:
        return self.h < other.h and self.calls <= other.calls


def test_attributes_of_self() -> None:
    model = Model(2.0)
    assert [float(model.add(1.0)) for _ in range(3)] == [2.0, 4.0, 6.0] and model.h == 6.0
    model.w = 10.0  # a number: compiles again
    assert model.add(1.0) == 16.0
    model.w = jnp.array(3.0)
    assert model.add(1.0) == 19.0
    assert model.steps(2.5, 5) == 26.5 and model.calls == 3 and model.h == 26.5
    assert model.steps(2.5, 5) == 34.0 and model.calls == 6
    assert (int(model.log(1.0)), int(model.log(2.0))) == (1, 2) and [float(x) for x in model.history] == [1.0, 2.0]
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None


def test_nested_methods_and_other_objects() -> None:
    model = Model(1.0)

    @ag.function
    def outer(x: Any) -> Any:
        model.calls += 1
        return model.add(x)

    assert (float(outer(1.0)), float(outer(2.0))) == (1.0, 3.0) and model.calls == 2 and model.h == 3.0


def test_properties_and_operators_are_converted() -> None:
    @ag.function
    def f(x: Any) -> Any:
        a, b = Model(1.0), Model(2.0)
        a.h, b.h = x, -x
        if a < b:
            return a.size
        return b.size + 1

    assert f(-2.0) == 2.0 and f(3.0) == 4.0


def test_what_happened_before_an_error_stays() -> None:
    model = Model(1.0)

    @ag.function
    def f(k: Any) -> Any:
        model.calls += 1
        value = [1.0, 2.0][k]
        model.calls += 10
        return value

    assert f(1) == 2.0 and model.calls == 11
    with pytest.raises(IndexError):
        f(7)
    assert model.calls == 12


def test_lists_and_dicts_among_the_arguments() -> None:
    @ag.function
    def f(items: Any, counts: Any, x: Any) -> None:
        items.append(x)
        items[0] = items[0] + x
        if x > 3:
            counts["large"] += 1

    items: Any = [1.0, 2.0]
    counts: Any = {"large": 0, "other": 7}
    f(items, counts, 3.0)
    f(items, counts, 4.0)
    assert [float(x) for x in items] == [8.0, 2.0, 3.0, 4.0] and counts["large"] == 1 and counts["other"] == 7


def test_a_list_of_an_object_that_each_turn_makes() -> None:
    class Box:
        def __init__(self, a: Any, items: Any) -> None:
            self.a, self.items = a, items

    def f(n: Any, o: Any) -> Any:
        total = 0
        for i in range(n):
            o.a[2:] = (o.a + 1)[2:]
            own = Box(None, [1, 2, 3])
            own.items[i % 3] += 1
            total += own.items[i % 3]
        return total

    want, got = Box(np.zeros(4, np.int32), []), Box(jnp.zeros(4, np.int32), [])
    assert f(5, want) == ag.function(f)(jnp.int32(5), got)
    np.testing.assert_array_equal(want.a, got.a)


def test_lists_and_objects_in_a_list_that_each_turn_makes() -> None:
    class Part:
        def __init__(self, value: Any) -> None:
            self.value, self.pair = value, [value, value]

    def objects(n: Any, a: Any, steps: Any) -> Any:
        for _ in range(n):
            parts = [Part(1), Part(2)]
            for i in steps:
                parts[0].value = i
                parts[1].pair[0] += i
            a += parts[0].value + parts[1].pair[0]
        return a

    def dicts(n: Any, a: Any, steps: Any) -> Any:
        for _ in range(n):
            d: dict[str, Any] = {"x": [1, 2], "y": {"z": 3}}
            for i in steps:
                d["x"][0] += i
                d["y"]["z"] *= 2
            a += d["x"][0] + d["y"]["z"]
        return a

    def tuples(n: Any, a: Any, steps: Any) -> Any:
        for _ in range(n):
            t = ([1, 2], [3, 4])
            for i in steps:
                t[0][0] += i
                if i > 0:
                    t[1][1] -= a
            a += t[0][0] + t[1][1]
        return a

    def deeper(n: Any, a: Any, steps: Any) -> Any:
        for j in range(n):
            u = [[[1, 2]]]
            k = 0
            while k < j:
                u[0][0][1] += 2
                k += 1
            a += u[0][0][1]
        return a

    def one_side(n: Any, a: Any, steps: Any) -> Any:
        if n > 1:
            u = [[1, 2], [3]]
            for i in steps:
                u[0][0] += i
            a += u[0][0]
        return a

    for f in (objects, dicts, tuples, deeper, one_side):
        for n in (0, 1, 3):
            want = f(n, 5, [0, 1, 2])
            for form in (ag.function, lambda f: jax.jit(ag.convert(f))):
                assert int(form(f)(jnp.asarray(n), jnp.asarray(5), jnp.arange(3))) == want


def test_a_store_keeps_no_array_alive() -> None:
    class Box:
        def __init__(self) -> None:
            self.a = jnp.zeros(3)

    @ag.convert
    def store(o: Any) -> None:
        o.a[0] = 1.0

    box = Box()
    old = weakref.ref(box.a)
    store(box)
    gc.collect()
    assert old() is None and box.a[0] == 1.0


def test_a_list_with_a_traced_index() -> None:
    @ag.function
    def histogram(values: Any) -> Any:
        counts = [0] * 4
        for v in values:
            counts[v] += 1
        return counts

    assert [int(c) for c in histogram(jnp.array([0, 3, 3, 1, 3]))] == [1, 1, 0, 3]
    with pytest.raises(IndexError):
        histogram(jnp.array([0, 9]))


def test_closures_and_globals_of_callees() -> None:
    def counted(n: Any) -> Any:
        total = 0

        def add(k: Any) -> None:
            nonlocal total
            total += k

        for i in range(n):
            add(i)
            if i > 2:
                add(100)
        return total

    assert ag.function(counted)(5) == counted(5) == 210

    count = 0

    @ag.function
    def increment(k: Any) -> None:
        nonlocal count
        count = count + k

    increment(1)
    increment(2)
    assert count == 3


class Mode(enum.Enum):
    SLOW = 1
    FAST = 2


def test_arguments_that_are_no_arrays() -> None:
    @ag.function
    def f(x: Any, how: Any = "add", by: Any = None) -> Any:
        if how == "add":
            return x + 1 if by is None else x + by(x)
        return x * 10 if how is Mode.FAST else -x

    assert f(1.0) == 2.0 and f(1.0, "other") == -1.0 and f(1.0, how=Mode.FAST) == 10.0 and f(2.0, by=lambda x: x * x) == 6.0


def test_a_change_is_undone_where_the_trace_fails() -> None:
    model = Model(1.0)

    @ag.function
    def f(xs: Any) -> Any:
        model.h = xs[0]
        for x in xs:
            if x > 0:
                model.missing = x
        return xs

    with pytest.raises(ag.AutographError, match="AG401.*`Model.missing`"):
        f(jnp.ones(2))
    assert model.h == 0.0 and not hasattr(model, "missing")


def test_plain_jit_carries_state_through_blocks() -> None:
    @ag.convert
    def f(x: Any, n: Any) -> Any:
        model = Model(1.0)
        for i in range(n):
            model.h += x
            if i > 1:
                model.calls += 1
        return model.h, model.calls

    assert tuple(map(float, jax.jit(f)(0.5, 4))) == (2.0, 2.0)
    assert jax.vmap(f, (0, None))(jnp.ones(2), 3)[0].tolist() == [3.0, 3.0]


def test_del_on_one_side() -> None:
    @ag.function
    def shorter(x: Any) -> Any:
        items = [1, 2, 3]
        if x > 0:
            del items[0]
        else:
            del items[1]
        return items[0]

    @ag.convert
    def has(x: Any) -> Any:
        entries = {"a": 1, "b": 2}
        if x > 0:
            del entries["a"]
        return "a" in entries

    assert shorter(1.0) == 2 and shorter(-1.0) == 1
    assert not ag.function(has)(1.0) and ag.function(has)(-1.0)
    with pytest.raises(ag.AutographError, match="AG405"):
        jax.jit(has)(-1.0)


def test_a_numpy_array_in_a_branch_that_is_not_taken() -> None:
    @ag.function
    def f(x: Any) -> Any:
        w = np.zeros(3)
        if x > 0:
            w[0] = 5.0
        return w

    assert f(1.0).tolist() == [5.0, 0.0, 0.0] and f(-1.0).tolist() == [0.0, 0.0, 0.0]


def test_what_has_no_item_assignment_is_pythons_error() -> None:
    @ag.function
    def f(x: Any) -> Any:
        pair = (1, 2)
        pair[0] = x  # type: ignore[index]
        return pair

    with pytest.raises(TypeError, match="'tuple' object does not support item assignment"):
        f(1.0)


def test_an_attribute_that_the_class_gives() -> None:
    class Account:
        balance, count = 10.0, 0

        def pay(self, x: Any) -> Any:
            if x > 0:
                self.balance -= x
            return self.balance

        def many(self, n: Any) -> Any:
            for _ in range(n):
                self.count += 1
            return self.count

    plain, compiled, other = Account(), Account(), Account()
    for method, x in ((Account.pay, 3.0), (Account.pay, -1.0), (Account.many, 3), (Account.many, 2)):
        assert method(plain, x) == ag.function(method)(compiled, x)
    assert (compiled.balance, compiled.count) == (7.0, 5)
    assert vars(other) == {} and (Account.balance, Account.count) == (10.0, 0)


class Holder:
    def __init__(self, a: Any, other: Any = None) -> None:
        self.a, self.other = a, other


def _store(x: Any, i: Any) -> None:
    x[i] += 7


TABLE = np.zeros(4, np.int32)


def test_a_numpy_array_that_a_callee_stores_into_stays_the_object_that_it_is() -> None:
    @ag.function
    def of_an_attribute(o: Any, i: Any) -> Any:
        _store(o.a, i)
        return o.a.sum()

    @ag.function
    def in_an_expression(o: Any, i: Any) -> Any:
        return o.a[i] + 1 if _store(o.a, i) is None else 0

    @ag.function
    def of_a_global_in_a_test(i: Any) -> Any:
        if (2 if _store(TABLE, i) is None else 3) > i:
            i = i + 1
        return i

    for f in (of_an_attribute, in_an_expression):
        o = Holder(np.zeros(3, np.int32))
        own = o.a
        f(o, jnp.int32(1))
        assert o.a is own and own.tolist() == [0, 7, 0]
    own = TABLE
    assert of_a_global_in_a_test(jnp.int32(1)) == 2
    assert TABLE is own and own.tolist() == [0, 7, 0, 0]


def test_a_numpy_array_in_the_place_of_which_another_comes() -> None:
    @ag.function
    def another(o: Any, i: Any) -> Any:
        o.a = o.other
        o.a[i] = 3
        return o.a.sum()

    o = Holder(np.zeros(3, np.int32), jnp.zeros(3, jnp.int32))
    first = o.a
    assert another(o, jnp.int32(1)) == 3
    assert o.a is o.other and first.tolist() == [0, 0, 0] and o.other.tolist() == [0, 3, 0]


def test_a_place_is_not_given_a_copy_of_a_list_that_others_hold() -> None:
    @ag.function
    def f(rows: Any, k: Any) -> None:
        rows[0] = rows[k]

    @ag.function
    def copied(rows: Any, k: Any) -> None:
        rows[0] = list(rows[k])

    rows = [[1, 2], [3, 4]]
    with pytest.raises(ag.StagingError, match="AG405 it is data-dependent which `list` `rows` holds, and others hold it too"):
        f(rows, jnp.int32(1))
    assert rows == [[1, 2], [3, 4]]
    copied(rows, jnp.int32(1))
    assert rows == [[3, 4], [3, 4]] and rows[0] is not rows[1]


def test_objects_of_each_turn_in_loops_in_loops() -> None:
    class Own:
        def __init__(self, t: Any) -> None:
            self.t = t

    def f(a: Any, m: Any) -> Any:
        c = 0
        while c < a:
            c += 1
            own, d = Own(0.5), 0
            while d < 2:
                d += 1
                own.t = -0.25
                if a > 3:
                    raise ValueError("too many")
                m[0] = c
        return a

    def g(a: Any, b: Any, o: Any, l: Any) -> Any:
        rows = [[1, 2, 3], [4, 5, 6]]
        for _ in range(3):
            rows[0][a % 3] %= 7
            for _ in rows[b % 2]:
                l.insert(0, l.pop())
                o.a *= -1
        return rows[1][a % 3]

    for a in (2, 5):
        outcomes = []
        for fn in (f, ag.function(f)):
            m = [1, 2]
            try:
                outcomes.append((int(fn(jnp.int32(a), m)), [int(x) for x in m]))
            except ValueError as error:
                outcomes.append((str(error), [int(x) for x in m]))
        assert outcomes[0] == outcomes[1]
    o, l = Holder(3), [0, 1, 2]
    assert ag.function(g)(jnp.int32(1), jnp.int32(3), o, l) == 5
    assert o.a == -3 and l == [0, 1, 2]


class Seen:
    def __init__(self) -> None:
        self.best: Any = None
        self.history: list[Any] = []


LAST: Any = None


def _attribute(o: Any, d: Any, x: Any) -> Any:
    if x > 0:
        o.best = x
    return x


def _entry(o: Any, d: Any, x: Any) -> Any:
    if x > 0:
        d["k"] = x
    return x


def _global(o: Any, d: Any, x: Any) -> Any:
    global LAST
    if x > 0:
        LAST = x
    return x


def _tuple(o: Any, d: Any, x: Any) -> Any:
    if x > 0:
        o.best = (x, 2 * x)
    return x


def _in_a_loop(o: Any, d: Any, x: Any) -> Any:
    for k in range(3):
        if o.best is None or x * k > o.best:
            o.best = x * k
    return o.best


def _none_again(o: Any, d: Any, x: Any) -> Any:
    o.best = jnp.ones(3) * x if x > 0 else None
    return x


def _read_again(o: Any, d: Any, x: Any) -> Any:
    if x > 0:
        o.best = x
    if o.best is None:
        return -1.0
    return o.best * 2


def _appended(o: Any, d: Any, x: Any) -> Any:
    o.history.append(o.best)
    if x > 0:
        o.best = x
    return x


def _before_an_error(o: Any, d: Any, x: Any) -> Any:
    if x > 0:
        o.best = x
    if x > 1:
        raise ValueError("large")
    return x


@pytest.mark.parametrize("f", [_attribute, _entry, _global, _tuple, _in_a_loop, _none_again, _read_again, _appended, _before_an_error])
@pytest.mark.parametrize("inputs", [(1.0, 2.0, -1.0), (-1.0, 2.0, -2.0, 3.0), (-1.0, -1.0)])
def test_places_that_hold_none_and_may_be_given_an_array(f: Any, inputs: Any) -> None:
    global LAST
    outcomes = []
    for fn in (f, ag.function(f)):
        LAST, o, d, seen = None, Seen(), {"k": None, "other": 1.0}, []
        for x in inputs:
            try:
                out: Any = fn(o, d, x)
            except ValueError as error:
                out = str(error)
            held = (out, o.best, o.history, d, LAST)
            seen.append(jax.tree.map(lambda v: v if isinstance(v, str) else np.asarray(v).tolist(), held))
        outcomes.append(seen)
    assert outcomes[0] == outcomes[1]


def test_the_collector_of_garbage_is_as_it_was() -> None:
    @ag.function
    def f(o, x):
        collecting.append(gc.isenabled())
        if x > 1:
            o["n"] += x
        return jnp.zeros(3) + jnp.zeros(int(x.ndim) + 4 if fails else 3)

    collecting: list[bool] = []
    fails = False
    f({"n": 1.0}, 2.0)
    fails = True
    with pytest.raises(TypeError):
        f({"n": 1.0, "m": 1.0}, jnp.float32(2))
    assert gc.isenabled() and collecting and not any(collecting)
    gc.disable()
    try:
        fails = False
        f({"n": 1.0, "k": 0.0}, 2.0)
        assert not gc.isenabled()
    finally:
        gc.enable()


class TwoNumbers:
    def __init__(self) -> None:
        self.a: Any = 0.0
        self.b: Any = 0.0


@pytest.mark.parametrize("k", range(5))
def test_sides_that_change_attributes_in_another_order(k: int) -> None:
    def f(o: Any, k: Any, x: Any) -> Any:
        if k == 0:
            o.a = x + 1
            o.b = x + 2
        elif k == 1:
            o.b = x + 3
            o.a = x + 4
        elif k == 2:
            o.b = x + 5
        elif k == 3:
            o.a = x * o.b
        return o.a, o.b

    ours, theirs = TwoNumbers(), TwoNumbers()
    assert [float(y) for y in ag.function(f)(ours, jnp.int32(k), jnp.float32(1))] == list(f(theirs, k, 1.0))
    assert (float(ours.a), float(ours.b)) == (theirs.a, theirs.b)


class Machine:
    def __init__(self) -> None:
        self.cells, self.top = [0] * 4, 0

    def push(self, v: Any) -> None:
        self.cells[self.top] = v

    def pop(self) -> Any:
        self.top -= 1
        return self.cells[self.top]


@pytest.mark.parametrize("op", range(4))
def test_a_machine_of_which_each_instruction_changes_something_else(op: int) -> None:
    def f(op: Any, x: Any) -> Any:
        m, n = Machine(), 0
        while n < 2:
            n += 1
            if op == 0:
                m.push(x)
            elif op == 1:
                m.pop()
            elif op == 2:
                m.push(m.pop() + x)
        return m.cells, m.top

    got = ag.function(f)(jnp.int32(op), jnp.int32(5))
    assert ([int(c) for c in got[0]], int(got[1])) == f(op, 5)


def test_namespaces_are_objects() -> None:
    def f(x: Any) -> Any:
        d = types.SimpleNamespace(found=[], n=0, v=x)
        for i in range(5):
            d.found.append(x * i)
            d.n += 1
        while d.v.sum() < 100:
            d.v = d.v * 2
        return sum(d.found).sum(), d.n, d.v

    got, want = ag.function(f)(jnp.ones(2)), f(jnp.ones(2))
    jax.tree.map(np.testing.assert_allclose, got, want)
    state = types.SimpleNamespace(total=jnp.float32(0), n=0)

    @ag.function
    def add(state: Any, x: Any) -> Any:
        state.total = state.total + x.sum()
        state.n += 1
        return state.total

    assert [float(add(state, jnp.ones(3))) for _ in range(2)] == [3, 6] and int(state.n) == 2
