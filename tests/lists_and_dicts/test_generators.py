"""Generators in a trace, and context managers: what they change is told, what Python would have to know is refused."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Generator, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Counter:
    def __init__(self) -> None:
        self.count: Any = 0.0
        self.log: list[str] = []


def counted(values: Any, counter: Counter) -> Iterator[Any]:
    for v in values:
        if v > 1:
            counter.count += v
        yield v


def both_ways(f: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """What plain Python and the compiled function give."""
    return f(*args), ag.function(f)(*args)


# --- generators --------------------------------------------------------------------------------------------------------------------------------


def test_what_a_generator_changes_outside_is_committed() -> None:
    counter = Counter()

    @ag.function
    def total(a: Any, b: Any) -> Any:
        s = 0.0
        for v in counted((a, b), counter):
            s += v
        return s

    assert total(2.0, 0.5) == 2.5
    assert counter.count == 2.0 and not isinstance(counter.count, jax.core.Tracer)
    assert total(3.0, 2.0) == 5.0 and counter.count == 7.0


def test_a_generator_in_a_staged_branch_and_in_a_staged_loop() -> None:
    def summed(x: Any) -> Any:
        counter = Counter()
        s = 0.0
        if x > 0:
            for v in counted((x, x + 1), counter):
                s += v
        while s > 1:
            for v in counted((s / 4, s / 8), counter):
                s = s / 2 - v
        return s, counter.count

    for x in (-1.0, 0.5, 3.0, 40.0):
        want, got = both_ways(summed, x)
        assert jnp.allclose(jnp.array(got), jnp.array(want))


def test_a_generator_object_that_the_caller_takes_values_from_later_stays_python() -> None:
    """It would run on when the trace has ended."""

    @ag.function
    def lazily(x: Any) -> Any:
        return counted((x,), Counter())

    with pytest.raises(ag.AutographError, match="AG502|generator"):
        lazily(2.0)


def test_methods_of_generators() -> None:
    def talk(x: Any) -> Generator[Any, Any, Any]:
        got = yield x
        if got > 1:
            got = -got
        again = yield got
        return got + again

    def asked(x: Any) -> Any:
        g = talk(x)
        first = next(g)
        second = g.send(x * 2)
        try:
            g.send(first + second)
        except StopIteration as end:
            return first, second, end.value
        return None

    for x in (0.25, 3.0):
        want, got = both_ways(asked, x)
        assert tuple(map(float, got)) == want


def test_an_error_thrown_into_a_generator_is_caught_there() -> None:
    def careful(x: Any) -> Iterator[Any]:
        try:
            yield x
        except KeyError:
            if x > 1:
                x = x * 10
            yield -x

    def thrown(x: Any) -> Any:
        g: Any = careful(x)
        return next(g) + g.throw(KeyError("k"))

    for x in (0.5, 2.0):
        want, got = both_ways(thrown, x)
        assert got == want


def test_a_static_break_of_a_loop_that_yields_stays_python() -> None:
    def upto(n: int, x: Any) -> Iterator[Any]:
        k = 0
        while True:
            if k >= n:
                break
            if x > 3:
                x = x - 3
            yield x
            x, k = x + 1, k + 1

    def summed(x: Any) -> Any:
        return sum(upto(4, x))

    for x in (0.0, 2.5, 9.0):
        want, got = both_ways(summed, x)
        assert got == want


def halving(x: Any) -> Iterator[Any]:
    while x > 1:
        yield x
        x = x / 2


def stopping(x: Any) -> Iterator[Any]:
    for k in range(3):
        if x > k:
            return
        yield k


@pytest.mark.parametrize("f", [halving, stopping])
def test_traced_values_cannot_decide_whether_a_generator_goes_on(f: Callable[[Any], Iterator[Any]]) -> None:
    with pytest.raises(ag.AutographError) as caught:
        ag.function(lambda x: sum(f(x)))(5.0)
    assert caught.value.id == "AG501" and f"of the generator `{f.__name__}` what yields, or jumps out of a loop that yields" in caught.value.message
    assert sum(f(5.0)) == ag.convert(lambda x: sum(f(x)))(5.0), "not traced, it is Python's"


@pytest.mark.parametrize("v", [[1.0, 2.0], [1.0, -2.0]])
def test_a_generator_that_stores_into_an_array_it_was_given(v: list[float]) -> None:
    def marking(a: Any) -> Iterator[Any]:
        a[0] = 7.0
        yield a[1]
        a[1] += 1
        yield a[1]

    def marked(v: Any) -> Any:
        a = v * 2
        b, s = a, 0.0
        for e in marking(a):
            s += e
            if s > 4:
                a[0] = s
        return a, s, b

    jax.tree.map(np.testing.assert_array_equal, ag.function(marked)(jnp.array(v)), marked(np.array(v)))


def test_a_generator_that_stores_into_its_own_array() -> None:
    def prefix(v: Any) -> Iterator[Any]:
        a = jnp.zeros(3)
        for k in range(3):
            a[k] = v[k] if v[k] > 0 else -v[k]  # type: ignore[index]
            yield a

    @ag.function
    def last(v: Any) -> Any:
        s = 0.0
        for a in prefix(v):
            s = s + a.sum()
        return s

    assert last(jnp.array([1.0, -2.0, 3.0])) == 1 + 3 + 6


def test_a_raise_in_a_generator_keeps_what_was_before_it() -> None:
    counter = Counter()

    def strict(values: Any) -> Iterator[Any]:
        for v in values:
            if v < 0:
                raise ValueError("negative")
            counter.count += v
            yield v

    @ag.function
    def total(a: Any, b: Any) -> Any:
        return sum(strict((a, b)))

    assert total(1.0, 2.0) == 3.0 and counter.count == 3.0
    with pytest.raises(ValueError, match="negative"):
        total(1.0, -2.0)
    assert counter.count == 4.0


# --- context managers --------------------------------------------------------------------------------------------------------------------------


def fails_above(x: Any, limit: float) -> None:
    if x > limit:
        raise ValueError("too large")


@contextlib.contextmanager
def ending(counter: Counter) -> Iterator[Counter]:
    try:
        yield counter
    finally:
        counter.count += 100


@contextlib.contextmanager
def not_ending(counter: Counter) -> Iterator[Counter]:
    yield counter
    counter.count += 100


class Closable:
    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def close(self) -> None:
        self.counter.count += 100


class Plain:
    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def __enter__(self) -> Counter:
        return self.counter

    def __exit__(self, *error: object) -> None:
        self.counter.count += 100


def entered(counter: Counter) -> contextlib.ExitStack:
    stack = contextlib.ExitStack()
    stack.enter_context(ending(counter))
    return stack


def in_with(make: Callable[[Counter], Any]) -> Callable[[Any, Counter], Any]:
    def f(x: Any, counter: Counter) -> Any:
        with make(counter):
            counter.count += x
            fails_above(x, 2.0)
            counter.count += 10
        counter.count += 1000
        return counter.count

    return f


def with_stack(x: Any, counter: Counter) -> Any:
    def at_end(amount: Any) -> None:
        counter.count += amount

    with contextlib.ExitStack() as stack:
        stack.callback(at_end, 100)
        stack.enter_context(ending(counter))
        stack.push(Plain(counter))
        counter.count += x
        fails_above(x, 2.0)
        counter.count += 10
    return counter.count


@pytest.mark.parametrize(
    "f",
    [in_with(ending), in_with(not_ending), in_with(Plain), in_with(lambda c: contextlib.closing(Closable(c))), with_stack],
    ids=["finally", "no-finally", "class", "closing", "stack"],
)
def test_a_with_is_left_after_a_traced_error_as_after_any(f: Callable[[Any, Counter], Any]) -> None:
    compiled = ag.function(f)
    for x in (1.0, 3.0):
        theirs, ours = Counter(), Counter()
        try:
            want: Any = f(x, theirs)
        except ValueError as error:
            want = str(error)
        try:
            got: Any = compiled(x, ours)
        except ValueError as error:
            got = str(error)
        assert got == want and ours.count == theirs.count, f"at {x}"


def test_a_manager_that_would_catch_the_error_is_refused() -> None:
    @contextlib.contextmanager
    def swallowing(counter: Counter) -> Iterator[None]:
        try:
            yield
        except ValueError:
            counter.count -= 1

    f = ag.function(in_with(swallowing))
    with pytest.raises(ag.AutographError) as caught:
        f(1.0, Counter())
    assert caught.value.id == "AG404" and "`swallowing` may catch it" in caught.value.message


def test_an_exit_on_a_stack_that_looks_at_the_error_is_refused() -> None:
    def f(x: Any, counter: Counter) -> Any:
        def looking(kind: Any, error: Any, trace: Any) -> bool:
            counter.count += 1
            return kind is ValueError

        with contextlib.ExitStack() as stack:
            stack.push(looking)
            fails_above(x, 2.0)
        return counter.count

    with pytest.raises(ag.AutographError) as caught:
        ag.function(f)(1.0, Counter())
    assert caught.value.id == "AG404" and "`looking` is called at the end of a `with`" in caught.value.message
    assert f(3.0, Counter()) == 1, "Python swallows the error"


# --- what Python calls by itself ---------------------------------------------------------------------------------------------------------------


def test_a_cached_property_keeps_its_value_and_no_tracer() -> None:
    class Shape:
        def __init__(self, side: float) -> None:
            self.side = side
            self.asked = 0

        @functools.cached_property
        def area(self) -> Any:
            self.asked += 1
            return self.side * self.side if self.side > 1 else 0.0

    shape = Shape(3.0)

    @ag.function
    def twice(x: Any) -> Any:
        return x * shape.area + shape.area

    assert twice(2.0) == 27.0 and twice(1.0) == 18.0
    assert shape.__dict__ == {"side": 3.0, "asked": 1, "area": 9.0}


def test_a_cached_property_of_an_object_from_outside_first_read_in_a_branch() -> None:
    class Shape:
        side = 3.0

        @functools.cached_property
        def area(self) -> float:
            return self.side * 2

    shape = Shape()

    def f(x: Any) -> Any:
        return shape.area if x > 0 else x

    with pytest.raises(ag.AutographError) as caught:
        jax.jit(ag.convert(f))(1.0)
    assert caught.value.id == "AG401" and "area" in caught.value.message and vars(shape) == {}
    assert "read it before the branch" in str(caught.value)

    compiled = ag.function(f)
    assert compiled(-1.0) == -1.0 and vars(shape) == {}, "it is not read"
    assert compiled(1.0) == 6.0 and vars(shape) == {"area": 6.0}
    assert compiled(1.0) == 6.0 and compiled(-1.0) == -1.0, "read before, it is an attribute like any other"


def test_a_descriptor_changes_what_it_changes() -> None:
    class Clamped:
        def __set_name__(self, owner: type, name: str) -> None:
            self.name = "_" + name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return getattr(instance, self.name)

        def __set__(self, instance: Any, value: Any) -> None:
            setattr(instance, self.name, value if value > 0 else 0.0)
            instance.sets += 1

    class Tank:
        level = Clamped()

        def __init__(self, level: float) -> None:
            self.sets = 0
            self.level = level

    def drain(tank: Any, x: Any) -> Any:
        while tank.level > 1:
            tank.level = tank.level - x
        if x > 2:
            tank.level -= 5
        return tank.level

    for x in (0.75, 3.0):
        theirs, ours = Tank(7.0), Tank(7.0)
        assert ag.function(drain)(ours, x) == drain(theirs, x)
        assert vars(ours) == vars(theirs)


def test_what_singledispatch_chose_is_converted() -> None:
    @functools.singledispatch
    def size(x: Any) -> Any:
        return x if x > 0 else -x

    @size.register
    def _(x: tuple) -> Any:  # type: ignore[type-arg]
        return sum(map(size, x))

    @size.register
    def _(x: dict) -> Any:  # type: ignore[type-arg]
        return max(size(v) for v in x.values())

    want, got = both_ways(lambda x: (size(x), size((x, x - 3)), size({"a": x, "b": (x, x)})), -2.0)
    assert got == want


def test_managers_that_decorate_a_function() -> None:
    counter = Counter()

    @contextlib.contextmanager
    def ticking(by: float) -> Iterator[None]:
        counter.count += by
        yield
        counter.count += 10 * by

    @ticking(1.0)
    def work(x: Any) -> Any:
        return x if x > 0 else -x

    @ag.function
    def twice(x: Any) -> Any:
        return work(x) + work(-x)

    assert [float(twice(x)) for x in (0.5, -1.0)] == [1.0, 2.0]
    assert counter.count == 44.0


def test_what_singledispatchmethod_chose_and_methodcaller_calls_is_converted() -> None:
    class Area:
        @functools.singledispatchmethod
        def of(self, x: Any) -> Any:
            return x * x if x > 0 else 0.0

        @of.register
        def _(self, x: tuple) -> Any:  # type: ignore[type-arg]
            return sum(map(self.of, x))

    def f(x: Any) -> Any:
        area = Area()
        return area.of(x) + area.of((x, -x)), operator.methodcaller("of", x)(area)

    want, got = both_ways(f, 3.0)
    assert got == want


def test_a_handler_on_a_stack_sees_an_error_of_pythons() -> None:
    def f(x: Any, counter: Counter) -> Any:
        def handling(kind: Any, error: Any, trace: Any) -> bool:
            counter.count += 1
            return kind is ValueError

        with contextlib.ExitStack() as stack:
            stack.push(handling)
            int("z")
        return x + counter.count

    want, got = f(1.0, Counter()), ag.function(f)(1.0, Counter())
    assert got == want
