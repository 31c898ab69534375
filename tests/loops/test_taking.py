"""Whatever Python iterates, where a traced value ends the loop: nothing is taken twice, and what is taken shows as in Python."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.loops import iterator_consumption as taking


def refused(f: Any, *args: Any) -> ag.AutographError:
    with pytest.raises(ag.AutographError) as caught:
        f(*args)
    return caught.value


class Countdown:
    """An iterator with its position in an attribute."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> int:
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n + 1


class Squares:
    """An object whose iterator is made anew."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[int]:
        for k in range(self.n):
            yield k * k


class Sequence:
    """The old protocol."""

    def __getitem__(self, k: int) -> int:
        if k >= 4:
            raise IndexError
        return 3 * k


def squares(n: int) -> Iterator[int]:
    k = 0
    while k < n:
        yield k * k
        k += 1


def growing(x: Any, n: int) -> Iterator[Any]:
    for _ in range(n):
        x = x * 1.5
        yield x


ITERABLES: dict[str, Callable[[Any], Any]] = {
    "product": lambda x: (i + j for i, j in itertools.product(range(3), repeat=2)),
    "product itself": lambda x: itertools.product((0, 1), (2.0, 3.0)),
    "chain": lambda x: itertools.chain([1, 2], (3, 4), range(2)),
    "chain.from_iterable": lambda x: itertools.chain.from_iterable([[1], [2, 3]]),
    "islice": lambda x: itertools.islice(itertools.count(1), 5),
    "islice of a generator": lambda x: itertools.islice(squares(9), 1, 8, 2),
    "map": lambda x: map(lambda k: k * k, range(5)),
    "map of arrays": lambda x: map(lambda k: k * x, range(4)),
    "map of two": lambda x: map(lambda a, b: a * b, range(4), [3, 2, 1]),
    "filter": lambda x: filter(lambda k: k % 2, range(6)),
    "zip": lambda x: zip(range(4), "abc"),
    "enumerate": lambda x: enumerate([5, 3, 1]),
    "enumerate of a map": lambda x: enumerate(map(abs, [-2, -1])),
    "reversed": lambda x: reversed([4, 3, 2]),
    "a generator expression": lambda x: (k * 2 for k in range(5)),
    "a generator expression of arrays": lambda x: (k + x for k in range(5)),
    "a nested generator expression": lambda x: (a * b for a in range(3) for b in range(3)),
    "a generator": lambda x: squares(5),
    "a generator that computes": lambda x: growing(x, 5),
    "accumulate": lambda x: itertools.accumulate([1, 2, 3, 4]),
    "pairwise": lambda x: itertools.pairwise([1, 4, 9, 16]),
    "combinations": lambda x: itertools.combinations(range(4), 2),
    "permutations": lambda x: itertools.permutations((1, 2, 3), 2),
    "zip_longest": lambda x: itertools.zip_longest([1, 2], [3], fillvalue=0),
    "takewhile": lambda x: itertools.takewhile(lambda k: k < 3, itertools.count()),
    "starmap": lambda x: itertools.starmap(pow, [(2, 3), (3, 2)]),
    "repeat": lambda x: itertools.repeat(2, 4),
    "compress": lambda x: itertools.compress([1, 2, 3], [1, 0, 1]),
    "a dict": lambda x: {1: "a", 2: "b"},
    "dict.items": lambda x: {1: 2, 3: 4}.items(),
    "a set": lambda x: {7},
    "a string": lambda x: "abc",
    "a list of arrays": lambda x: [x, x * 2, x * 3],
    "its own __next__": lambda x: Countdown(4),
    "its own __iter__": lambda x: Squares(4),
    "its own __getitem__": lambda x: Sequence(),
    "iter of a list": lambda x: iter([1, 2, 3]),
    "iter with a sentinel": lambda x: iter(iter([3, 2, 0, 1]).__next__, 0),
}


def number(item: Any) -> Any:
    if isinstance(item, tuple):
        return sum(number(i) for i in item)
    return len(item) if isinstance(item, str) else item


def breaking(make: Any, x: Any, limit: Any) -> Any:
    s = x
    n = 0
    for item in make(x):
        s = s + number(item)
        n += 1
        if s > limit:
            break
    return s, n


def returning(make: Any, x: Any, limit: Any) -> Any:
    s = x
    for k, item in enumerate(make(x)):
        if s > limit:
            return s, k
        if k > 30:
            break
        s = s + number(item)
    return -s, -1


def with_else(make: Any, x: Any, limit: Any) -> Any:
    s = x
    for item in make(x):
        if s > limit:
            break
        s = s + number(item) + 1
    else:
        s = -s
    return s, 0


@pytest.mark.parametrize("loop", [breaking, returning, with_else], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ITERABLES)
def test_as_in_python(name: str, loop: Callable[..., Any], quick_compilation: None) -> None:
    make = ITERABLES[name]
    f = ag.function(lambda x, limit: loop(make, x, limit))
    for x, limit in ((1.0, 0.0), (1.0, 4.5), (1.0, 100.0)):
        want = loop(make, x, limit)
        got = f(x, limit)
        assert [*map(float, got)] == pytest.approx([*map(float, want)]), (x, limit)


@pytest.mark.parametrize("loop", [breaking, with_else], ids=lambda f: f.__name__)
@pytest.mark.parametrize("ends", [(), (3,), (3, 2), (0, -1)], ids=str)
def test_count_is_one_compiled_loop(ends: Any, loop: Callable[..., Any], quick_compilation: None) -> None:
    f = ag.function(lambda x, limit: loop(lambda x: itertools.count(*ends), x, limit))
    x, limit = (50.0, 49.5) if ends == (0, -1) else (1.0, 300.0)
    assert [*map(float, f(x, limit))] == [*map(float, loop(lambda x: itertools.count(*ends), x, limit))]
    assert "while" in str(f.trace(x, limit).jaxpr)


def test_the_position_of_an_iterator_shows_what_was_taken(quick_compilation: None) -> None:
    def f(it: Any, x: Any, limit: Any) -> Any:
        for k in it:
            x = x + k
            if x > limit:
                break
        return x, it.n

    compiled = ag.function(f)
    for limit in (0.0, 5.0, 8.5, 100.0):
        a, b = Countdown(4), Countdown(4)
        want, got = f(a, 0.0, limit), compiled(b, 0.0, limit)
        assert (float(got[0]), int(got[1]), int(b.n)) == (want[0], want[1], a.n)


def test_an_iterator_among_the_arguments_is_at_its_end(quick_compilation: None) -> None:
    def f(it: Any, x: Any) -> Any:
        for k in it:
            x = x + k
        return x

    compiled, it = ag.function(f), Countdown(3)
    assert float(compiled(it, 0.0)) == 6.0 and it.n == 0
    it.n = 2
    assert float(compiled(it, 0.0)) == 3.0 and it.n == 0


def test_nothing_is_taken_twice(quick_compilation: None) -> None:
    """A loop over rows that cannot be one compiled turn is made turn by turn: the iterator goes on where it was."""
    names = ["a", "b", "c"]

    def f(rows: Any) -> Any:
        it = iter(names)
        out = {}
        for v in rows:
            out[next(it)] = v
        return out

    got = ag.function(f)(jnp.arange(3.0))
    assert {k: float(v) for k, v in got.items()} == {"a": 0.0, "b": 1.0, "c": 2.0}


def forever() -> Iterator[int]:
    while True:
        yield 1


def printing(n: int) -> Iterator[int]:
    for k in range(n):
        print("made", k)
        yield k


SEEN: list[int] = []


def closing(n: int) -> Iterator[int]:
    try:
        yield from range(n)
    finally:
        SEEN.clear()


def through(n: int) -> Iterator[int]:
    yield 0
    yield from closing(n)


def managed(n: int) -> Iterator[int]:
    with contextlib.suppress(ValueError):
        yield from range(n)


def telling(n: int) -> Iterator[int]:
    for k in range(n):
        SEEN.append(k)
        yield k


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: itertools.cycle([1.0, 2.0]), "it has no end"),
        (forever, "there are still more"),
        (lambda: printing(3), "may fail or print"),
        (lambda: closing(3), "a `finally` or a `with` around its `yield` would end"),
        (lambda: through(3), "a `finally` or a `with` around its `yield` would end"),
        (lambda: map(abs, closing(3)), "a `finally` or a `with` around its `yield` would end"),
        (lambda: managed(3), "a `finally` or a `with` around its `yield` would end"),
        (lambda: telling(3), "longer or shorter"),
    ],
    ids=["cycle", "endless", "prints", "finally", "yield from", "map", "with", "a list grows"],
)
def test_refused(make: Any, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taking, "_MOST", 50)

    def f(x: Any, limit: Any) -> Any:
        for k in make():
            x = x + k
            if x > limit:
                break
        return x

    error = refused(ag.function(f), 0.0, 3.0)
    assert error.id == "AG501" and says in str(error)


def excepting(n: int) -> Iterator[int]:
    for k in range(n):
        try:
            yield k
        except (ValueError, KeyError):
            SEEN.append(k)


def test_an_except_around_a_yield() -> None:
    """It does not run where the generator is left."""

    def f(x: Any, limit: Any) -> Any:
        for k in excepting(4):
            x = x + k
            if x > limit:
                break
        return x

    assert ag.function(f)(0.0, 2.0) == f(0.0, 2.0) == 3.0


@pytest.mark.parametrize("over", [iter, lambda it: map(abs, it)], ids=["itself", "through a map"])
def test_what_is_left_can_be_seen(over: Callable[[Any], Any]) -> None:
    def f(x: Any, limit: Any) -> Any:
        it = iter([1.0, 2.0, 3.0])
        for k in over(it):
            x = x + k
            if x > limit:
                break
        return x + sum(it)

    error = refused(ag.function(f), 0.0, 3.0)
    assert error.id == "AG501" and "can be seen afterwards" in str(error)


def test_under_vmap(quick_compilation: None) -> None:
    def f(x: Any) -> Any:
        for i, j in itertools.product(range(3), repeat=2):
            x = x + i * j
            if x > 3:
                return x
        return -x

    xs = np.array([-9.0, 0.0, 2.5, 3.5], np.float32)
    assert jax.vmap(ag.function(f))(xs).tolist() == [f(x) for x in xs.tolist()]
