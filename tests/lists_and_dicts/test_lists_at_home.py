"""Lists that objects, dicts, modules and closures hold, and that compiled loops and branches make longer or shorter."""

from __future__ import annotations

import collections
import gc
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

V = [1.0, -2.0, 3.0, 7.0, -2.0, 4.0]
RECORDED: list[Any] = []
Program = Callable[..., Any]
PROGRAMS: list[tuple[Program, Callable[[], Any], Any]] = []


class Log:
    def __init__(self) -> None:
        self.items: list[Any] = []
        self.n = 0
        self.best = 0.0

    def add(self, x: Any) -> None:
        self.items.append(x)
        self.n += 1


class Run:
    def __init__(self) -> None:
        self.log = Log()


class Stack:
    def __init__(self) -> None:
        self.items: list[Any] = []

    def push(self, x: Any) -> None:
        self.items.append(x)

    def pop(self) -> Any:
        return self.items.pop()

    def top(self) -> Any:
        return self.items[-1]

    def empty(self) -> bool:
        return len(self.items) == 0

    def __len__(self) -> int:
        return len(self.items)


class Pair:
    def __init__(self) -> None:
        self.a, self.b = Log(), Log()
        self.b.items = self.a.items


def of(make: Callable[[], Any], given: Any = V) -> Callable[[Program], Program]:
    """A program on an object that is made for it and an array."""

    def decorate(f: Program) -> Program:
        PROGRAMS.append((f, make, given))
        return f

    return decorate


@of(Log)
def under_a_condition(o, v):
    for x in v:
        if x > 0:
            o.items.append(x)
    return o.items


@of(Log)
def in_every_turn(o, v):
    for x in v:
        o.items.append(x * 2)
    return sum(x * x for x in o.items), [x + 1 for x in o.items], o.items[1:3], o.items + [1.0]


@of(Log, np.ones((3, 2), np.float32))
def arrays(o, v):
    total = jnp.zeros(2)
    for row in v:
        total = total + row
        o.items.append(total)
    return jnp.stack(o.items)


@of(Log)
def reads(o, v):
    o.items.append(v[0])
    for x in v:
        if x > 0:
            o.items.append(x + o.items[-1])
    return o.items[-1], o.items[0], len(o.items), sum(o.items), max(o.items), 3.0 in o.items, (1 if o.items else 0), not o.items


@of(Log)
def goes_on_afterwards(o, v):
    for x in v:
        if x > 0:
            o.items.append(x)
    o.items.append(9.0)
    o.items.append(v[1])
    total = 0.0
    for x in o.items:
        total += x
    return total


@of(Log)
def branches_alone(o, v):
    if v[0] > 0:
        o.items.append(v[1])
    if v[1] > 0:
        o.items.append(v[2])
    return len(o.items)


@of(Log)
def each_side_another(o, v):
    if v[0] > 5:
        o.items.append(v[1])
    else:
        o.items.append(v[2])
    return o.items[0]


@of(Log)
def a_loop_in_a_branch(o, v):
    if v[0] > 0:
        for x in v:
            o.items.append(x)
    else:
        o.items.append(v[1])
    return len(o.items)


@of(Log)
def pairs_in_nested_loops(o, v):
    for x in v:
        for y in v:
            if x < y:
                o.items.append((x, y))
    return len(o.items)


@of(Log)
def turn_by_turn(o, v):
    for i in range(3):
        if v[i] > 0:
            o.items.append(v[i])
        o.n += 1
    return o.n


@of(Log, 7)
def unknown_turns(o, n):
    with ag.loop(max_steps=10):
        while n > 0:
            o.items.append(n % 2)
            n = n // 2
    return n


@of(Log)
def returns_early(o, v):
    for x in v:
        if x > 5:
            return x
        o.items.append(x)
    return 0.0


@of(Log)
def breaks(o, v):
    for x in v:
        if x > 5:
            break
        o.items.append(x)
    else:
        o.items.append(100.0)
    return o.n


@of(Log)
def raises(o, v):
    for x in v:
        if x > 5:
            raise ValueError("big")
        o.items.append(x)
    return 0.0


@of(Log)
def takes_from_the_end(o, v):
    for x in v:
        if x > 0:
            o.items.append(x)
        elif o.items:
            o.best += o.items.pop()
    return o.best


@of(Log, [-1.0, 2.0])
def takes_from_nothing(o, v):
    for x in v:
        if x < 0:
            o.items.pop()
        else:
            o.items.append(x)
    return 1


@of(Log)
def more_at_once(o, v):
    for x in v:
        if x > 0:
            o.items.extend([x, x * 2])
        if x > 6:
            o.items.clear()
    return len(o.items)


@of(Log)
def by_an_operator(o, v):
    for x in v:
        if x > 0:
            o.items += [x]
    return len(o.items)


@of(Log)
def stores_into_items(o, v):
    for x in v:
        if x > 0:
            o.items.append(x)
        if len(o.items) > 1:
            o.items[0] += x
        if o.items:
            o.items[-1] = o.items[-1] * 2
    return o.items


@of(Log)
def at_a_traced_index(o, v):
    for x in v:
        o.items.append(x)
    k = 0
    for x in v:
        if x > 0:
            k += 1
    return o.items[k]


@of(Run)
def by_a_method(o, v):
    for x in v:
        if x > 0:
            o.log.add(x)
    return o.log.n


@of(Stack, [1, 2, -1, 3, -1, -1])
def a_class_of_the_users(s, v):
    for x in v:
        if x > 0:
            s.push(x)
        elif not s.empty():
            s.pop()
    return len(s.items)


@of(Stack, [1, 2, -2, 3, -3, -1])
def balanced(s, v):
    ok = True
    for x in v:
        if x > 0:
            s.push(x)
        elif s.empty() or s.top() != -x:
            ok = False
        else:
            s.pop()
    return ok and s.empty()


@of(lambda: {"loss": [], "other": []})
def of_a_dict(d, v):
    for x in v:
        if x > 0:
            d["loss"].append(x)
        else:
            d["other"].append(-x)
    return len(d["loss"])


@of(lambda: {"loss": []})
def of_a_dict_by_an_operator(d, v):
    for x in v:
        if x > 0:
            d["loss"] += [x, x]
    return len(d["loss"])


@of(lambda: [[], []])
def of_a_list(buckets, v):
    for x in v:
        if x > 0:
            buckets[0].append(x)
        else:
            buckets[1].append(-x)
    return len(buckets[0])


@of(Log)
def of_a_closure(o, v):
    recorded = []

    def note(x):
        recorded.append(x)

    for x in v:
        if x > 0:
            note(x)
    o.items = recorded
    return len(recorded)


@of(Log)
def by_recursion(o, v):
    def walk(k):
        if k == 3:
            return
        if v[k] > 0:
            o.items.append(v[k])
        walk(k + 1)

    walk(0)
    return 1


@of(lambda: 0)
def of_a_module(_, v):
    for x in v:
        if x > 0:
            RECORDED.append(x)
    return len(RECORDED)


def seen(x: Any) -> Any:
    """What a value is made of."""
    if isinstance(x, (Log, Run, Stack)):
        return {k: seen(v) for k, v in vars(x).items()}
    if isinstance(x, dict):
        return {k: seen(v) for k, v in x.items()}
    return [seen(v) for v in x] if isinstance(x, (list, tuple)) else np.asarray(x).tolist()


def twice(f: Program, o: Any, given: Any) -> list[Any]:
    RECORDED.clear()
    found = []
    for _ in range(2):
        try:
            found.append(seen(f(o, given)))
        except (ValueError, IndexError) as error:
            found.append(f"{type(error).__name__}: {error}")
        found.append(seen(o))
    return [*found, seen(RECORDED)]


@pytest.mark.parametrize(("f", "make", "given"), PROGRAMS, ids=[f.__name__ for f, *_ in PROGRAMS])
def test_as_python(f: Program, make: Callable[[], Any], given: Any) -> None:
    assert twice(ag.function(f), make(), jnp.asarray(given)) == twice(f, make(), np.asarray(given, np.asarray(jnp.asarray(given)).dtype))


def test_it_stays_the_list_that_it_is() -> None:
    class Model:
        def __init__(self) -> None:
            self.history: list[Any] = []

        @ag.function
        def train(self, v):
            for x in v:
                if x > 0:
                    self.history.append(x)
            return self.history

    model = Model()
    history = model.history
    assert model.train(jnp.asarray(V)) is history is model.history and seen(history) == [1, 3, 7, 4]
    other = Model()
    other.train(jnp.asarray(V[:3]))
    assert seen(other.history) == [1, 3] and len(history) == 4
    freed = weakref.ref(other)
    del other
    gc.collect()
    assert freed() is None


def test_functions_in_each_other() -> None:
    log = Log()

    @ag.function
    def step(o, x):
        if x > 0:
            o.items.append(x)

    @ag.function
    def run(o, v):
        for k in range(len(V)):
            step(o, v[k])
        o.items.append(0.0)
        return len(o.items)

    assert int(run(log, jnp.asarray(V))) == 5 and seen(log.items) == [1, 3, 7, 4, 0]


def test_in_a_gradient() -> None:
    class Model:
        def __init__(self) -> None:
            self.history: list[Any] = []

        @ag.function
        def slope(self, w, v):
            def loss(w):
                total = 0.0
                for x in v:
                    total = total + w * x
                    if x > 0:
                        total = total + w**2
                return total

            for _ in range(2):
                g = jax.grad(loss)(w)
                if g > 0:
                    self.history.append(g)
                w = w - 0.1 * g
            return w

    model = Model()
    w = model.slope(1.0, jnp.asarray(V))
    first = sum(V) + 8.0
    second = sum(V) + 8 * (1 - 0.1 * first)
    assert np.allclose(seen(model.history), [g for g in (first, second) if g > 0]) and np.allclose(w, 1 - 0.1 * (first + second))


def another_name(o: Any, v: Any) -> Any:
    items = o.items
    for x in v:
        if x > 0:
            o.items.append(x)
    return len(items)


def another_object(o: Any, v: Any) -> Any:
    for x in v:
        if x > 0:
            o.a.items.append(x)
    return len(o.b.items)


def both_objects(o: Any, v: Any) -> Any:
    for x in v:
        if x > 0:
            o.a.items.append(x)
        else:
            o.b.items.append(x)


@pytest.mark.parametrize(("f", "make", "name"), [(another_name, Log, "items"), (another_object, Pair, "o.b.items")])
def test_another_name_of_the_list_is_refused(f: Program, make: Callable[[], Any], name: str) -> None:
    o = make()
    with pytest.raises(
        ag.StagingError, match=f"AG407 the list `(o[.a-z]*|Log).items` becomes longer or shorter in compiled code, and `{name}` is another name"
    ):
        ag.function(f)(o, jnp.asarray(V))
    assert "[]" in str(vars(o)) or o.a.items == []


def test_two_names_of_the_list_turn_by_turn() -> None:
    python, compiled = Pair(), Pair()
    both_objects(python, V)
    ag.function(both_objects)(compiled, jnp.asarray(V))
    assert [*map(float, compiled.a.items)] == python.a.items and compiled.a.items is compiled.b.items


ALIAS: list[Any] = []


def length(o, v):
    if v[0] > 0:
        o.items.append(v[0])
    return len(ALIAS)


def truth(o, v):
    if v[0] > 0:
        o.items.append(v[0])
    return 1 if ALIAS else 0


def iteration(o, v):
    if v[0] > 0:
        o.items.append(v[0])
    n = 0
    for _ in ALIAS:
        n += 1
    return n


def change(o, v):
    if v[0] > 0:
        o.items.append(v[0])
    ALIAS.append(v[1])


def item(o, v):
    if v[0] > 0:
        o.items.append(v[0])
    return ALIAS[0] + 1


@pytest.mark.parametrize("f", [length, truth, iteration, change, item])
def test_a_global_name_of_the_list_sees_nothing_silently(f: Program) -> None:
    o = Log()
    o.items = ALIAS
    with pytest.raises(ag.StagingError, match="AG405 a list that becomes longer in compiled code is used by another name than `Log.items`"):
        ag.function(f)(o, jnp.asarray(V))
    assert ALIAS == [] and o.items is ALIAS


def test_a_key_that_a_dict_would_make_on_one_side_is_refused() -> None:
    @ag.function
    def f(d, v):
        for x in v:
            if x > 0:
                d["x"].append(x)

    d: Any = collections.defaultdict(list)
    with pytest.raises(ag.StagingError, match="AG405 `d`, a `defaultdict`, is changed in a compiled loop or branch: it has no key in one branch"):
        f(d, jnp.asarray(V))
    assert not d
    d["x"] = []
    f(d, jnp.asarray(V))
    assert seen(d) == {"x": [1, 3, 7, 4]}


def test_an_unknown_number_of_turns_is_refused() -> None:
    @ag.function
    def f(o, n):
        while n > 0:
            o.items.append(n)
            n -= 1

    o = Log()
    with pytest.raises(ag.StagingError, match="(?s)AG405 `o.items` grows in a compiled loop.*max_steps"):
        f(o, 3)
    assert o.items == []


def test_items_that_differ_are_refused() -> None:
    @ag.function
    def f(o, v, n):
        with ag.loop(max_steps=4):
            while n > 0:
                n -= 1
                if v[n] > 0:
                    o.items.append(v)
                else:
                    o.items.append(v[n])

    with pytest.raises(ag.StagingError, match="AG405 .* grows in compiled code, and its items differ"):
        f(Log(), jnp.asarray(V), 3)


def test_a_list_that_is_not_a_list_changes_as_it_does() -> None:
    class Total:
        def __init__(self) -> None:
            self.sum = jnp.float32(0)

        def append(self, x: Any) -> None:
            self.sum = self.sum + x

    class Holder:
        def __init__(self) -> None:
            self.items = Total()

    @ag.function
    def f(o, v):
        for x in v:
            if x > 0:
                o.items.append(x)

    o = Holder()
    f(o, jnp.asarray(V))
    assert float(o.items.sum) == 15


def stored_and_appended(b, o):
    assert b < 100, "large"
    o.items[0] = 9
    o.items.append(1)
    if b == 1:
        o.items.append(b)
    return b


def appended_and_stored(b, o):
    assert b < 100, "large"
    o.items.append(1)
    o.items[0] = 9
    if b == 1:
        o.items.append(b)
    return b


def taken_away(b, o):
    assert b < 100, "large"
    o.items[0] = 9
    o.items.pop()
    if b == 1:
        o.items.append(b)
    return b


def in_a_loop_before(b, o):
    assert b < 100, "large"
    for k in range(4):
        o.items[1], o.items[0] = o.items[0], o.items[1]
        o.items.append(k)
    if b != 1:
        return b
    o.items.append(b)
    return b + 1


def after_an_index(b, o):
    e = [1, 2, 3][b % 3]
    o.items[0] = 9
    o.items.append(1)
    if b == 1:
        o.items.append(e)
    return b


AFTER_ERRORS = [stored_and_appended, appended_and_stored, taken_away, in_a_loop_before, after_an_index]


@pytest.mark.parametrize("f", AFTER_ERRORS, ids=lambda f: f.__name__)
def test_a_list_that_changes_after_what_may_fail_and_then_under_a_condition(f: Callable[..., Any]) -> None:
    def run(g: Callable[..., Any], b: int) -> tuple[Any, list[float]]:
        o = Log()
        o.items[:] = [1, 2, 3]
        try:
            out = g(b, o)
        except AssertionError as error:
            out = str(error).partition("\n")[0]
        return out, [float(x) for x in o.items]

    compiled = ag.function(f)
    for b in (1, 4, 200):
        assert run(compiled, np.int32(b)) == run(f, b)


def test_a_list_that_grows_under_a_name_which_the_loop_gives_it() -> None:
    @ag.function
    def f(x):
        o, n = Log(), 0
        while n < x:
            o.other = o.items
            o.other.append(x)
            n += 1
        return o.items

    with pytest.raises(ag.AutographError, match=r"AG407 the list `\w+\.other` becomes longer .* this name was assigned inside"):
        f(3.0)


HISTORY: dict[str, list[Any]] = {"loss": [], "score": []}


def _of_a_module(n: Any) -> None:
    with ag.loop(max_steps=9):
        for k in range(n):
            HISTORY["loss"].append(k * 1.0)
            HISTORY["score"].append(k * 2.0)


def _of_the_code_around(n: Any) -> None:
    with ag.loop(max_steps=9):
        for k in range(n):
            for name, value in {"loss": k * 1.0, "score": k * 2.0}.items():
                _AROUND[name].append(value)


def _with_a_break(n: Any) -> None:
    for k in range(5):
        if k >= n:
            break
        HISTORY["loss"].append(k * 1.0)
        HISTORY["score"].append(k * 2.0)


_AROUND = HISTORY


@pytest.mark.parametrize("f", [_of_a_module, _of_the_code_around, _with_a_break], ids=lambda f: f.__name__[1:])
def test_lists_in_a_dict_outside(f):
    for items in HISTORY.values():
        items.clear()
    compiled = ag.function(f)
    compiled(2)
    compiled(3)
    assert [float(x) for x in HISTORY["loss"]] == [0.0, 1.0, 0.0, 1.0, 2.0]
    assert [float(x) for x in HISTORY["score"]] == [0.0, 2.0, 0.0, 2.0, 4.0]
    assert all(type(items) is list for items in HISTORY.values())


def test_a_list_leaves_a_function_that_reads_a_variable_as_a_list():
    v = ag.Variable(2.0)

    @ag.function
    def f(n):
        found = []
        for k in range(8):
            found.append(v * k)
            if k >= n:
                break
        return found

    for n in (2, 4, 1):
        found = f(n)
        assert type(found) is list and [float(x) for x in found] == [2.0 * k for k in range(n + 1)]
