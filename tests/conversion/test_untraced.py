"""What reaches nothing traced runs as Python inside a trace: what it gives, changes and raises is what it was."""

from __future__ import annotations

import collections
import dataclasses
import dis
import enum
import functools
import itertools
import math
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.native import run_natively as native
from autograph.runtime.native.code_facts import facts_of
from autograph.runtime.state.state_refs import ContentsRef

TABLE = [3, 1, 4, 1, 5]
MEMO: dict[int, int] = {}
SCALE = 2


def natively(f: Callable[..., Any], *args: Any) -> tuple[Any, int]:
    """What a converted function gives under `jit`, and how many calls and loops in it ran as Python."""
    runs = 0
    admitted = native._admitted

    def counted(*given: Any) -> Any:
        nonlocal runs
        run = admitted(*given)
        runs += run is not None
        return run

    native._admitted = counted
    try:
        out = jax.jit(ag.convert(f), static_argnums=tuple(range(1, len(args))))(*args)
    finally:
        native._admitted = admitted
    return out, runs


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Pair(NamedTuple):
    a: int
    b: int


@dataclasses.dataclass
class Tally:
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    total: int = 0

    def add(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
        self.total += 1

    @property
    def most(self) -> int:
        return max(self.counts.values(), default=0)


class Node:
    def __init__(self, value: int, below: list[Node] | None = None) -> None:
        self.value, self.below = value, below or []

    def sum(self) -> int:
        return self.value + sum(n.sum() for n in self.below)


def gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def primes(n: int) -> Iterator[int]:
    for k in range(2, n):
        if all(k % d for d in range(2, math.isqrt(k) + 1)):
            yield k


@functools.cache
def stairs(n: int) -> int:
    return 1 if n < 2 else stairs(n - 1) + stairs(n - 2)


def from_table(k: int) -> int:
    out = 0
    for i in range(k):
        out += TABLE[i % len(TABLE)] * SCALE
    return out


def remembered(k: int) -> int:
    if k not in MEMO:
        MEMO[k] = k * k
    return MEMO[k]


def few_primes() -> int:
    return sum(k for k in primes(30))


def many_stairs() -> int:
    return stairs(20)


def turned(text: str) -> str:
    try:
        return text[::-1] + str(int(text))
    except ValueError:
        return "?"


def parts(n: int) -> list[tuple[int, ...]]:
    return [c for r in range(n) for c in itertools.combinations(range(n), r) if sum(c) % 2]


def tree(depth: int) -> Node:
    return Node(depth, [tree(depth - 1) for _ in range(2)] if depth else None)


def tallied(text: str) -> Any:
    t = Tally()
    for word in text.split():
        t.add(word)
    return t


def grouped(words: list[str]) -> dict[int, list[str]]:
    found = collections.defaultdict(list)
    for w in words:
        found[len(w)].append(w)
    return found


def named(k: int) -> Color:
    return Color.RED if k % 2 else Color.GREEN


CALLS: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda x: x * gcd(84, 36),
    "a_generator_inside": lambda x: x * few_primes(),
    "a_cache": lambda x: x * many_stairs(),
    "a_table": lambda x: x * from_table(7),
    "text": lambda x: x * len(turned("12") + turned("a")),
    "itertools": lambda x: x * len(parts(5)),
    "objects": lambda x: x * tree(3).sum(),
    "a_dataclass": lambda x: x * tallied("a b a").most + tallied("a b a").total,
    "a_dict_that_makes_keys": lambda x: x * sum(len(v) for v in grouped(["a", "bb", "cc"]).values()),
    "an_enumeration": lambda x: x * (1 if named(3) is Color.RED else 2),
    "a_named_tuple": lambda x: x * Pair(gcd(4, 6), 3).a,
}


@pytest.mark.parametrize("f", CALLS.values(), ids=CALLS)
def test_calls(f: Callable[[Any], Any]) -> None:
    out, runs = natively(f, 3)
    assert int(out) == f(3)
    assert runs > 0


def counting(x: Any, n: int) -> Any:
    seen: dict[int, int] = {}
    for i in range(n):
        seen[i * i % 7] = seen.get(i * i % 7, 0) + 1
    return x * max(seen.values())


def with_jumps(x: Any, n: int) -> Any:
    found = []
    for i in range(n):
        if i % 3 == 0:
            continue
        for j, k in enumerate(range(i)):
            if j * k > 10:
                break
            found.append((j, k))
        else:
            found.append((-1, i))
        if len(found) > 40:
            break
    return x * len(found) + found[-1][1]


def a_stack(x: Any, n: int) -> Any:
    todo, order = [n], []
    while todo:
        k = todo.pop()
        order.append(k)
        if k > 1:
            todo += [k // 2, k - k // 2 - 1]
    return x * len(order) + order[-1]


def strings(x: Any, n: int) -> Any:
    out = ""
    for c in f"{n:>05}":
        out = c + out if c != "0" else f"{out}-"
    return x * len(out) + out.count("-")


def two_lists(x: Any, n: int) -> Any:
    a, b = list(range(n)), [0] * n
    for i, (p, q) in enumerate(zip(a, reversed(a), strict=True)):
        b[i] = p * q
        a[-1 - i] += 1
    return x * sum(b) + a[0]


def its_own_helper(x: Any, n: int) -> Any:
    def collatz(k: int) -> int:
        steps = 0
        while k != 1:
            k = 3 * k + 1 if k % 2 else k // 2
            steps += 1
        return steps

    best = 0
    for i in range(1, n):
        best = max(best, collatz(i))
    return x * best


def an_error_inside(x: Any, n: int) -> Any:
    good = 0
    for i in range(n):
        try:
            good += 10 // (i % 3)
        except ZeroDivisionError:
            good -= 1
    return x * good


LOOPS = [counting, with_jumps, a_stack, strings, two_lists, its_own_helper, an_error_inside]


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_loops(f: Callable[..., Any]) -> None:
    out, runs = natively(f, 3, 23)
    assert int(out) == f(3, 23)
    assert runs > 0


def test_what_is_looked_up_is_looked_at_again() -> None:
    global SCALE
    f = ag.function(lambda x: x * from_table(3))
    assert int(f(1)) == 16
    SCALE = 5
    try:
        assert int(jax.jit(ag.convert(lambda x: x * from_table(3)))(1)) == 40
    finally:
        SCALE = 2


def test_a_helper_that_is_given_arrays_later() -> None:
    space: dict[str, Any] = {}
    exec("def helper(k):\n    return k + 1\n", space)
    helper = space["helper"]

    def f(x: Any) -> Any:
        return x * helper(2)

    assert int(jax.jit(ag.convert(f))(3)) == 9
    helper = lambda k: jnp.sin(k)  # noqa: E731
    assert float(jax.jit(ag.convert(lambda x: x * helper(2)))(3.0)) == pytest.approx(3 * math.sin(2))


def test_traced_values_in_what_is_given() -> None:
    def total(items: list[Any]) -> Any:
        out = 0
        for x in items:
            out += x
        return out

    class Box:
        def __init__(self, inside: Any) -> None:
            self.inside = inside

    def opened(box: Box) -> Any:
        return box.inside if box.inside > 0 else -box.inside

    f = jax.jit(ag.convert(lambda x: total([1, 2]) + total([1, x]) + opened(Box(-3)) + opened(Box(x))))
    assert [int(f(x)) for x in (5, -5)] == [3 + 6 + 3 + 5, 3 - 4 + 3 + 5]


def test_changes_of_what_is_outside_are_told() -> None:
    class Counter:
        def __init__(self) -> None:
            self.seen, self.count = [], 0

    box, log = Counter(), []

    @ag.function
    def f(x: Any) -> Any:
        for i in range(4):
            box.seen.append(i)
            box.count += 1
            log.append(i)
        return x * box.count

    assert [int(f(2)) for _ in range(3)] == [8, 16, 24]
    assert (box.count, box.seen, log) == (12, [0, 1, 2, 3] * 3, [0, 1, 2, 3] * 3)


def test_a_memo_of_the_module() -> None:
    MEMO.clear()
    f = ag.function(lambda x: x * remembered(7))
    assert [int(f(2)) for _ in range(2)] == [98, 98]
    assert MEMO == {7: 49}


def test_in_a_branch_that_traced_values_decide() -> None:
    log: list[int] = []

    def root(k: int) -> int:
        if k < 0:
            raise ValueError("negative")
        return math.isqrt(k)

    def f(x: Any) -> Any:
        y, held = x, [0, 0, 0]
        if x > 0:
            for i in range(3):
                held[i] = i + 1
            y = x * root(16)
        elif x < -10:
            y = x + root(-4)
        return y + held[2]

    g = ag.function(f)
    assert [float(g(x)) for x in (2.0, -2.0)] == [11.0, -2.0]
    with pytest.raises(ValueError, match="negative"):
        g(-11.0)
    assert log == []


def test_a_turn_that_is_thrown_away_leaves_nothing() -> None:
    @ag.function
    def f(x: Any) -> Any:
        n, marks = 0, [0, 0]
        while x < 100:
            for i in range(2):
                marks[i] += 1
            x, n = x * 2, n + 1
        return x, n, marks

    x, n, marks = f(3.0)
    assert (float(x), int(n), [*map(int, marks)]) == (192.0, 6, [6, 6])


def test_host_effects_are_what_they_were() -> None:
    def draws(n: int) -> float:
        return sum(random.random() for _ in range(n))

    def f(x: Any) -> Any:
        y = x
        if x > 0:
            y = x * draws(2)
        return y

    with pytest.raises(ag.AutographError, match="AG405"):
        ag.function(f)(1.0)
    random.seed(3)
    expected = sum(random.random() for _ in range(2))
    random.seed(3)
    assert float(jax.jit(ag.convert(lambda x: x * draws(2)))(1.0)) == pytest.approx(expected)


def test_a_generator_is_resumed_where_it_stopped() -> None:
    def numbers() -> Iterator[int]:
        yield from range(5)

    def f(x: Any) -> Any:
        items = numbers()
        first = next(items)
        for k in items:
            if k == 2:
                break
        return x + first * 100 + next(items)

    assert int(jax.jit(ag.convert(f))(1)) == f(1)


def test_variables_of_the_function_around() -> None:
    def f(x: Any) -> Any:
        count = 0

        def tick(k: int) -> int:
            nonlocal count
            count += k
            return count

        for i in range(4):
            tick(i)
        return x * count

    assert int(jax.jit(ag.convert(f))(2)) == 12


def test_a_list_grows_only_where_a_traced_value_decides() -> None:
    def f(x: Any) -> Any:
        found = []
        for i in range(300):
            if i % 100 == 7:
                if x > i:
                    found.append(x * i)
            elif i % 150 == 3:
                found.append(x)
        return len(found), sum(found)

    g = ag.function(f)
    for x in (5.0, 120.0):
        assert [float(v) for v in g(x)] == [float(v) for v in f(x)]


def test_recursion_is_as_deep_as_before() -> None:
    def deep(x: Any, n: int) -> Any:
        return x if n == 0 else 1 + deep(x, n - 1)

    assert float(jax.jit(ag.convert(deep), static_argnums=1)(1.0, 250)) == 251.0


def test_numpy_and_jax_are_never_python() -> None:
    def uses_numpy(n: int) -> Any:
        return np.zeros(n).sum() + n

    def uses_jax(n: int) -> Any:
        return jnp.ones(n).sum()

    out, runs = natively(lambda x: x + uses_numpy(3) + uses_jax(2), 1.0)
    assert (float(out), runs) == (6.0, 0)


def test_errors_are_the_programs() -> None:
    def third(items: list[int]) -> int:
        return items[2]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(IndexError, match="list index out of range") as caught:
            jax.jit(ag.convert(lambda x: x * third([1])))(1)
    assert caught.traceback[-1].name == "third"


def _facts_of(text: str) -> Any:
    space: dict[str, Any] = {}
    exec(text, space)
    return facts_of(space["f"].__code__)


def test_what_code_does_is_read_from_its_instructions() -> None:
    """Of each Python: a name of an instruction that changes is seen here."""
    plain = _facts_of("def f(a):\n    b = a.real\n    return len(b) + g(a)")
    assert (plain.variables, plain.attributes) == (frozenset({"len", "g"}), frozenset({"real"}))
    assert not (plain.changes or plain.binds or plain.refused)
    for text in ("a[0] = 1", "del a[0]", "a[1:2] = []", "a.x = 1", "del a.x", "a += [1]", "a.append(1)", "a[0] += 1"):
        assert _facts_of(f"def f(a):\n    {text}").changes, text
    for text in ("import os", "from os import path", "global g; g = 1", "global g; del g", "class C: pass"):
        assert _facts_of(f"def f(a):\n    {text}").refused, text
    assert _facts_of("async def f(a):\n    return a").refused
    inner = _facts_of("def outer():\n    n = 0\n    def f():\n        nonlocal n\n        n += 1\n    return f\nf = outer()")
    assert inner.binds
    assert not _facts_of("def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    return g").binds
    assert "super" in _facts_of("class A:\n    def f(self):\n        return super().f()\nf = A.f").variables
    assert all(op in dis.opmap for op in ("IMPORT_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "STORE_SUBSCR", "STORE_ATTR", "LOAD_GLOBAL"))


# What programs written to break this have found.  Each gives the same as Python does on concrete values, called three times, with both outcomes of
# its condition, and leaves the same outside.


def an_error_in_the_middle(x: Any, log: list[Any]) -> Any:
    for i in range(4):
        log.append(i)
        {0: 0, 1: 1}[i]
    return x


def read_by_a_function(x: Any, log: list[Any]) -> Any:
    k, t = 0, 0

    def get() -> Any:
        return k

    for i in range(3):
        k = i
        t += get()
    return x + t


def functions_that_see_the_variable(x: Any, log: list[Any]) -> Any:
    k, fs = 0, []
    for _ in range(3):
        fs.append(lambda: k)
    k = x
    return fs[0]() + fs[1]()


def functions_of_the_turns(x: Any, log: list[Any]) -> Any:
    fs = {}
    for i in range(3):
        fs[i] = lambda y, i=i: y * i if y > i else y
    return fs[2](x)


def a_function_is_itself(x: Any, log: list[Any]) -> Any:
    def h(v: Any) -> Any:
        return v

    fs, n = [h], 0
    h.calls = 0  # type: ignore[attr-defined]
    for _ in range(3):
        if h in fs:
            n += 1
        h.calls += 1  # type: ignore[attr-defined]
    return x + n + h.calls  # type: ignore[attr-defined]


class Registry:
    made = 0
    names: list[int] = []

    @classmethod
    def make(cls) -> None:
        cls.made += 1


def counted_calls() -> None:
    counted_calls.calls += 1  # type: ignore[attr-defined]


counted_calls.calls = 0  # type: ignore[attr-defined]


def a_class_attribute(x: Any, log: list[Any]) -> Any:
    Registry.made = 0
    if x > 0:
        Registry.make()
    return x + Registry.made


def a_function_attribute(x: Any, log: list[Any]) -> Any:
    counted_calls.calls = 0  # type: ignore[attr-defined]
    if x > 0:
        counted_calls()
    return x + counted_calls.calls  # type: ignore[attr-defined]


def put(items: list[int], v: int) -> None:
    items.__setitem__(0, v)


def applied(p: Callable[..., Any], v: Any) -> None:
    p(v)


def changes_by_dunders(x: Any, log: list[Any]) -> Any:
    items = [0]
    if x > 0:
        put(items, 5)
    return x + items[0]


def a_method_is_handed_on(x: Any, log: list[Any]) -> Any:
    for k in range(2):
        applied(log.append, k)
    return x + len(log)


def taken(t: Any) -> int:
    return next(t[0][0])  # type: ignore[no-any-return]


def made_later(items: list[int]) -> Any:
    return (items.append(i) for i in range(3))


def a_lazy_result(x: Any, log: list[Any]) -> Any:
    list(made_later(log))
    return x + len(log)


def an_exception_holds_it(x: Any, log: list[Any]) -> Any:
    e = ValueError([x])

    def positive() -> int:
        return 1 if e.args[0][0] > 0 else 2

    return x + positive()


BROKEN = [
    an_error_in_the_middle, read_by_a_function, functions_that_see_the_variable, functions_of_the_turns, a_function_is_itself, a_class_attribute,
    a_function_attribute, changes_by_dunders, a_method_is_handed_on, a_lazy_result, an_exception_holds_it,
]  # fmt: skip


@pytest.mark.parametrize("f", BROKEN, ids=lambda f: f.__name__)
def test_programs_that_broke_it(f: Callable[..., Any]) -> None:
    log: list[Any] = []
    own: list[Any] = []

    def ours(x: Any) -> Any:
        return f(x, own)

    compiled = ag.function(ours)
    for x in (2.0, -2.0, 3.0):
        try:
            expected: Any = f(x, log)
        except KeyError as error:
            expected = error
        try:
            found: Any = float(compiled(x))
        except KeyError as error:
            found = error
        assert str(found) == str(expected), x
        assert own == log


def test_a_class_gets_an_attribute_later() -> None:
    def sign(b: Any) -> int:
        return 1 if b.v > 0 else 2

    def f(x: Any) -> Any:
        class A:
            v = 0

        class B(A):
            pass

        first = sign(B())
        B.v = x
        return first * 10 + sign(B())

    assert [int(jax.jit(ag.convert(f))(x)) for x in (3.0, -3.0)] == [21, 22]


def test_a_variable_of_a_function_that_has_ended() -> None:
    def counter() -> Callable[[], int]:
        count = 0

        def tick() -> int:
            nonlocal count
            count += 1
            return count

        return tick

    tick = counter()
    f = ag.function(lambda x: tick() + x)
    assert [int(f(0)) for _ in range(3)] == [1, 2, 3]


def test_iterators_in_a_branch_are_refused_as_before() -> None:
    def f(x: Any) -> Any:
        t = ((iter([1, 2, 3]),),)
        a = 0
        if x > 0:
            a = taken(t)
        return a + taken(t)

    with pytest.raises(ag.AutographError, match="AG405"):
        jax.jit(ag.convert(f))(-2.0)


def in_a_range(x: Any, n: int) -> Any:
    seen: list[int] = []
    for i in range(n):
        seen.append(i)
        if i % 1000 == 3:
            x = x + len(seen)
    return x


def over_a_list(x: Any, n: int) -> Any:
    seen, counts = [], {}
    for word in [f"w{i % 7}" for i in range(n)]:
        seen.append(word)
        counts[word] = counts.get(word, 0) + 1
        if len(seen) % 1000 == 3:
            x = x + counts[word]
    return x


def over_pairs(x: Any, n: int) -> Any:
    seen = [0] * n
    for i, k in enumerate(range(1, n + 1)):
        seen[i] = k
        if i % 1000 == 3:
            x = x + seen[i]
    return x


def over_two(x: Any, n: int) -> Any:
    seen = [0] * n
    for i, k in zip(reversed(list(range(n))), range(1, n + 1), strict=True):
        seen[i] = k
        if i % 1000 == 3:
            x = x + seen[i]
    return x


def left_early(x: Any, n: int) -> Any:
    seen = [0] * (n + 1)
    for i, k in enumerate(range(1, n + 100)):
        seen[i] = k
        if i % 1000 == 3:
            x = x + seen[i]
        if i == n:
            break
    return x


def while_python_knows(x: Any, n: int) -> Any:
    seen: list[int] = []
    while len(seen) < n:
        seen.append(len(seen))
        if len(seen) % 1000 == 3:
            x = x + len(seen)
    return x


@pytest.mark.parametrize("f", [in_a_range, over_a_list, over_pairs, over_two, left_early, while_python_knows])
def test_turns_look_at_no_list_that_they_change(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a loop takes the square of its turns: what a list held is noted once a loop, not once a turn."""
    looked, get = [0], ContentsRef.get

    def counted(self: ContentsRef) -> Any:
        looked[0] += 1
        return get(self)

    monkeypatch.setattr(ContentsRef, "get", counted)
    found = {}
    for n in (50, 200):
        looked[0] = 0
        assert jax.jit(ag.convert(f), static_argnums=1)(1, n) == f(1, n)
        found[n] = looked[0]
    assert found[200] == found[50] < 20, found
