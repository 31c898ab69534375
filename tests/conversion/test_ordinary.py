"""Ordinary Python that once went wrong: declarations anywhere, proxies and `super` objects, private names, errors with fields, generators, printing."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import io
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

cache: Any = None


def lines_of(call: Callable[[], Any]) -> list[str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call()
        jax.effects_barrier()
    return out.getvalue().splitlines()


@pytest.mark.parametrize("form", [ag.convert, ag.function, lambda f: ag.convert(f, form="staged")], ids=["plain", "function", "static"])
def test_global_is_declared_where_it_is_first_used(form: Any) -> None:
    def f(x: Any) -> Any:
        if not x:
            return 0
        global cache
        if cache is None:
            cache = {1: 2}
        while x > 3:
            x -= 1
        return cache[1] + x

    global cache
    cache = None
    assert form(f)(0) == 0 and cache is None
    assert form(f)(5) == 5 and cache == {1: 2}


class Base:
    def __init__(self, name: str) -> None:
        self.name = name

    __init__ = ag.convert(__init__)  # type: ignore[assignment]


class Derived(Base):
    def __init__(self, name: str) -> None:
        above = super(Derived, self)  # noqa: UP008
        above.__init__(name)

    __init__ = ag.convert(__init__)  # type: ignore[assignment]


class Proxy:
    """Gives the methods of another object."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)


def test_a_call_site_is_asked_whose_method_it_is() -> None:
    assert [Derived(n).name for n in "nmk"] == ["n", "m", "k"]

    class Counter:
        def __init__(self, step: int) -> None:
            self.step, self.n = step, 0

        def bump(self) -> int:
            self.n += self.step
            return self.n

    @ag.convert
    def bump(x: Any) -> Any:
        return x.bump()

    counters = [Counter(1), Counter(10)]
    assert [bump(x) for x in (Proxy(counters[0]), counters[1], Proxy(counters[1]), Proxy(counters[0]))] == [1, 10, 20, 2]


class Meter:
    __limit = 3

    def __init__(self) -> None:
        self.__ticks = 0
        self.__seen = [0, 0]

    def spin(self, n: Any) -> Any:
        __turns = 0
        while n > 0:
            self.__ticks += n
            self.__seen[0] += 1
            n = n - 1
            __turns += 1
        if self.__ticks > self.__limit:
            self.__last = self.__ticks
        else:
            self.__last = 0
        return self.__ticks, self.__seen[0], self.__last, __turns

    class Inner:
        def go(self, n: Any) -> Any:
            if n > 0:
                self.__z = n
            else:
                self.__z = -n
            return self.__z


@pytest.mark.parametrize("form", [ag.convert, ag.function, lambda f: ag.convert(f, form="staged")], ids=["plain", "function", "static"])
def test_private_names(form: Any) -> None:
    for n in (4, 1):
        assert tuple(map(int, form(lambda n: Meter().spin(n))(n))) == Meter().spin(n)
    assert form(lambda n: Meter.Inner().go(n))(-3) == 3
    assert "'_Meter__ticks'" in ag.to_code(Meter.spin) and "self.__ticks" in ag.to_code(Meter.spin)


def body(k: Any, x: Any) -> Any:
    while x > k:
        x = x - k
    return x


class Ramp:
    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, x: Any) -> Any:
        return x * self.k if x > 0 else -x

    def up(self, x: Any) -> Any:
        return x + self.k if x > 0 else x


def test_whatever_can_be_called_is_a_function() -> None:
    ramp = Ramp(2.0)
    for f, args in (
        (functools.partial(body, 4), (11,)), (functools.partial(body, x=11), (4,)), (ramp, (3.0,)), (ramp.up, (3.0,)), (functools.partial(ramp.up), (3.0,))
    ):  # fmt: skip
        assert ag.function(f)(*args) == f(*args) == jax.jit(ag.convert(f))(*args)
    slope = jax.grad(lambda x: ramp(x) * x)
    assert ag.function(slope)(3.0) == 12.0 and ag.function(lambda x: slope(x))(3.0) == 12.0
    assert ag.function(functools.partial(jax.vmap(ramp)))(jnp.array([1.0, -2.0])).tolist() == [2.0, 2.0]
    staged = ag.function(body)
    assert ag.function(staged) is staged and ag.function(staged, static_argnums=0)(4, 11) == 3


class Short(Exception):
    def __init__(self, need: Any, code: int = 7) -> None:
        super().__init__(f"short by {need}")
        self.need = need
        self.code = code


class Shorter(Short):
    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        super().__init__(a + b)


def test_errors_have_fields() -> None:
    @ag.function
    def pay(balance: Any, amount: Any) -> Any:
        if amount < 0:
            raise ValueError("negative")
        if amount > balance:
            raise Short(amount - balance)
        for k in range(amount):
            if k > 5:
                raise Shorter(k, 3)
        return balance - amount

    with pytest.raises(Short, match="short by 2") as caught:
        pay(3, 5)
    assert (int(caught.value.need), caught.value.code) == (2, 7)
    with pytest.raises(Shorter) as caught:
        pay(9, 8)
    assert (int(caught.value.a), int(caught.value.need)) == (6, 9)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="negative"):
        pay(3, -1)
    assert pay(4, 2) == 2


def averages() -> Any:
    total, n, mean = 0.0, 0, None
    while True:
        x = yield mean
        total, n = total + x, n + 1
        mean = total / n


def test_generators_are_sent_what_is_computed() -> None:
    def in_turn(x: Any) -> Any:
        g = averages()
        next(g)
        return [g.send(x * k) for k in range(3)]

    def of_rows(rows: Any) -> Any:
        g = averages()
        next(g)
        for x in rows:
            last = g.send(x)
        return last

    def local(x: Any) -> Any:
        def running() -> Any:
            total = 0.0
            while True:
                total = total + (yield total)

        g = running()
        next(g)
        return g.send(x) + g.send(2 * x)

    assert [*map(float, ag.function(in_turn)(2.0))] == in_turn(2.0)
    assert float(ag.function(of_rows)(jnp.arange(4.0))) == 1.5
    assert float(ag.function(local)(2.0)) == 8.0
    outside = averages()
    next(outside)
    with pytest.raises(ag.AutographError, match="AG405 a generator from outside of the compiled function receives a traced value"):
        ag.function(lambda x: outside.send(x))(1.0)


def test_lists_that_a_dict_holds_under_the_key_of_a_loop() -> None:
    def f(x: Any, limit: Any) -> Any:
        hist: dict[str, list[Any]] = {"s": [], "i": []}
        s, i = x, 1.0
        for _ in range(6):
            s, i = s * 0.9, i * 1.2
            now = {"s": s, "i": i}
            for k in hist:
                hist[k].append(now[k])
            if i > limit:
                break
        return sum(hist["s"]), len(hist["i"])

    for limit in (1.0, 1.5, 9.0):
        np.testing.assert_allclose(ag.function(f)(2.0, limit), f(2.0, limit), rtol=1e-6)


def test_only_lanes_that_are_there_print() -> None:
    @ag.function
    def f(x: Any) -> Any:
        if x > 0:
            if x > 5:
                print("big", x)
        elif x == 0:
            print("zero")
        else:
            print("negative", x)
        return x

    assert sorted(lines_of(lambda: jax.vmap(f)(jnp.array([1.0, -2.0, 0.0, 9.0])))) == ["big 9.0", "negative -2.0", "zero"]
    assert lines_of(lambda: f(9.0)) == ["big 9.0"]


def test_standard_output_is_what_it_is_when_the_program_runs() -> None:
    @ag.function
    def f(x: Any) -> Any:
        print("to", x, file=sys.stdout)
        return x

    assert [lines_of(lambda x=x: f(x)) for x in (1.0, 2.0)] == [["to 1.0"], ["to 2.0"]]


def test_places_of_what_is_not_zero() -> None:
    def f(v: Any, m: Any) -> Any:
        s = 0.0
        for i in np.nonzero(v > 1)[0]:
            s += v[i] * i
            if s > 12:
                break
        for i, j in zip(*np.where(m)):
            s += m[i, j] * (i + 10 * j)
        for i, j in np.argwhere(m > 2):
            s -= i * j
        return s, len(np.where(m)[0]), np.flatnonzero(m).sum(), np.bincount(v.astype(int), minlength=7), v[np.where(v > 1)[0]].sum()

    v, m = np.array([3.0, 1.0, 2.0, 5.0, 0.0], np.float32), np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0]], np.float32)
    for got, want in zip(ag.function(f)(jnp.asarray(v), jnp.asarray(m)), f(v, m), strict=True):
        np.testing.assert_allclose(got, want)
    with pytest.raises(ValueError, match="larger number"):
        ag.function(lambda v: np.bincount(v, minlength=3))(jnp.array([1, 9]))


class Mode(enum.IntEnum):
    IDLE = 0
    CHARGING = 1


def test_members_are_compared_by_value() -> None:
    def f(x: Any, by_identity: bool) -> Any:
        mode = Mode.IDLE
        if x > 0.2:
            mode = Mode.CHARGING
        if by_identity:
            return 1 if mode is Mode.CHARGING else 0
        return 1 if mode == Mode.CHARGING else 0

    assert [int(ag.function(f, static_argnums=1)(x, False)) for x in (1.0, 0.0)] == [1, 0]
    with pytest.raises(ag.AutographError, match="AG501 `is Mode.CHARGING` of a traced number"):
        ag.function(f, static_argnums=1)(1.0, True)
    assert ag.convert(f, form="staged")(1.0, True) == 1


def test_a_list_of_what_may_be_none() -> None:
    def ends(x: Any) -> Any:
        found: list[Any] = []
        last, inside = None, False
        for i in range(len(x)):
            if x[i] > 1:
                last, inside = i, True
            elif inside:
                found.append(last)
                inside = False
        return found

    assert [*map(int, ag.function(ends)(jnp.array([2.0, 0.0, 3.0, 0.0])))] == [0, 2]


def test_an_object_in_a_list_is_replaced_at_a_traced_place() -> None:
    def fill(orders: Any, i: Any, n: Any) -> Any:
        orders[i] = dataclasses.replace(orders[i], size=orders[i].size - n)
        return [o.size for o in orders]

    assert [*map(int, ag.function(fill)([Order(5), Order(7)], 1, 2))] == [5, 5]


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Order:
    size: Any


def test_an_error_of_one_side_is_not_suppressed_on_both() -> None:
    def suppressed(x: Any) -> Any:
        y = 0.0
        with contextlib.suppress(LookupError):
            if x > 0:
                {}["k"]  # type: ignore[index]
            y += 10
        return y + x

    def caught(x: Any) -> Any:
        try:
            if x > 0:
                x = 1 // 0
            x = x + 10
        except ZeroDivisionError:
            x = -1.0
        return x

    for f in (suppressed, caught):
        with pytest.raises(ag.AutographError, match="AG404"):
            ag.function(f)(-1.0)


def test_iterators_side_by_side_stand_where_they_were_left() -> None:
    class Numbers:
        def __init__(self) -> None:
            self.i = 0

        def __iter__(self) -> Any:
            return self

        def __next__(self) -> int:
            self.i += 1
            if self.i > 4:
                raise StopIteration
            return self.i

    def f(x: Any) -> Any:
        a, b, t = Numbers(), Numbers(), 0
        for p, q in zip(a, b):
            t += p * q
            if t > x:
                break
        return t, a.i, b.i

    for x in (0, 1, 20, 100):
        assert [*map(int, ag.function(f)(x))] == [*f(x)]
