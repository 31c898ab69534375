"""What is known of where an index lies: no check where it proves one inside, and Python's IndexError wherever it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

INSIDE: dict[str, Callable[..., Any]] = {}
CHECKED: dict[str, Callable[..., Any]] = {}


def inside(f: Callable[..., Any]) -> Callable[..., Any]:
    """Loops prove every index inside."""
    INSIDE[f.__name__] = f
    return f


def checked(f: Callable[..., Any]) -> Callable[..., Any]:
    """An index may be outside for some n, and is checked."""
    CHECKED[f.__name__] = f
    return f


@inside
def triangle(v: list[Any], n: Any) -> Any:
    for i in range(39, -1, -1):
        for j in range(i + 1):
            v[j] = v[j] * 0.5 + v[j + 1] + n
    return v


@inside
def from_the_end(v: list[Any], n: Any) -> Any:
    for i in range(40):
        for j in range(i, -1, -1):
            v[j] = v[-1 - j] * 0.5 + n
    return v


@inside
def wrapped_around(v: list[Any], n: Any) -> Any:
    for i in range(200):
        v[i % 41] = v[(i * 3 + 1) % 41] + v[i // 5] * 0.1 + n
    return v


@inside
def held_between(v: list[Any], n: Any) -> Any:
    for i in range(60):
        k = min(max(i + n - 20, 0), 40)
        v[k] = v[k] + i
    return v


@inside
def of_a_clipped_bound(v: list[Any], n: Any) -> Any:
    for i in range(min(n, 40)):
        v[i] = v[i + 1] * 0.5
    return v


@inside
def one_of_two(v: list[Any], n: Any) -> Any:
    for i in range(40):
        k = i if v[i] > n else i + 1
        v[k] = v[k] + 1
    return v


@inside
def windows(v: list[Any], n: Any) -> Any:
    x = np.stack(v)
    for i in range(39):
        for j in range(i + 1):
            x[j : j + 2] = x[j : j + 2] * 0.5 + n
    return [x[k] for k in range(41)]


@checked
def to_a_traced_bound(v: list[Any], n: Any) -> Any:
    for i in range(n):
        v[i] = v[i] + 1
    return v


@checked
def one_more(v: list[Any], n: Any) -> Any:
    for i in range(40):
        for j in range(i + 1):
            v[j] = v[j + n] * 0.5
    return v


@checked
def counted_by_hand(v: list[Any], n: Any) -> Any:
    i = 0
    while i < n:
        v[i] = v[i] + 1
        i += 1
    return v


@checked
def moved(v: list[Any], n: Any) -> Any:
    for i in range(40):
        if v[i] > n:
            i += n
        v[i] = v[i] * 0.9
    return v


@checked
def after_the_loop(v: list[Any], n: Any) -> Any:
    i = 0
    for i in range(n):
        v[min(i, 40)] = v[0] + 1
    v[i] = v[i + 1]
    return v


@checked
def by_a_function_called_mod(v: list[Any], n: Any) -> Any:
    for i in range(n):
        v[i % 41] = v[mod(i, 3)]
    return v


@checked
def while_it_grows(v: list[Any], n: Any) -> Any:
    kept = [a for a in v if a > n]
    for i in range(len(kept)):
        v[i] = kept[i]
    for i in range(len(kept) + 1):
        v[i] = kept[i] if i < len(kept) else v[i + 1]
    return v


@checked
def of_a_smaller_type(v: list[Any], n: Any) -> Any:
    for i in range(min(n, 40)):
        k = jnp.int8(i) * jnp.int8(7)
        v[k] = v[k] + 1
    return v


@jax.jit
def mod(a: Any, b: Any) -> Any:
    return a * b


def of(f: Callable[..., Any], n: Any) -> Any:
    try:
        return [float(x) for x in f([jnp.float32(k) for k in range(41)], n)]
    except IndexError:
        return IndexError


@pytest.mark.parametrize("f", [*INSIDE.values(), *CHECKED.values()], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 3, 19, 40, 41, 50])
def test_as_in_python(f: Callable[..., Any], n: int) -> None:
    want, got = of(f, n), of(ag.function(f), jnp.int32(n))
    assert (want is IndexError) == (got is IndexError), (want, got)
    if want is not IndexError:
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_some_are_outside() -> None:
    """The table is one of both."""
    for f in CHECKED.values():
        assert any(of(f, n) is IndexError for n in (0, 1, 3, 19, 40, 41, 50)), f
    for f in INSIDE.values():
        assert not any(of(f, n) is IndexError for n in (0, 1, 3, 19, 40, 41, 50)), f


def checks(f: Callable[..., Any]) -> bool:
    """Whether the compiled program looks at an index."""
    return "debug_callback" in str(jax.make_jaxpr(ag.function(f))([jnp.float32(k) for k in range(41)], jnp.int32(3)))


@pytest.mark.parametrize("f", INSIDE.values(), ids=INSIDE)
def test_no_check(f: Callable[..., Any]) -> None:
    assert not checks(f)


@pytest.mark.parametrize("f", CHECKED.values(), ids=CHECKED)
def test_checks(f: Callable[..., Any]) -> None:
    assert checks(f)


def test_a_batch_of_bounds() -> None:
    """A batched loop runs as long as any of its lanes: the others change nothing then."""

    def f(n: Any) -> Any:
        v = [jnp.float32(k) for k in range(8)]
        for i in range(min(n, 7)):
            v[i] = v[i + 1] * 2
        return v

    for n, got in zip(range(9), zip(*jax.vmap(ag.convert(f))(jnp.arange(9)), strict=True), strict=True):
        assert [float(x) for x in got] == [float(x) for x in f(n)]


def test_what_a_function_of_the_users_gives_is_not_guessed_by_its_name() -> None:
    def f(x: Any) -> Any:
        total = 0
        for i in range(100):
            k = mod(i, 7)
            x = jnp.sin(x) * jnp.cos(x) + jnp.tanh(x * k) + jnp.exp(-x)
            total = total + k
        return x, total

    assert int(ag.function(f)(jnp.float32(0.3))[1]) == int(f(jnp.float32(0.3))[1]) == 7 * sum(range(100))


def test_ten_calls_of_a_slow_function_are_a_loop() -> None:
    """Written out, XLA's CPU backend makes one kernel of them, which takes three times as long."""

    def f(x: Any) -> Any:
        for k in range(10):
            x = jnp.sin(x + k)
        return x

    def loops(g: Callable[..., Any], x: Any) -> int:
        return str(jax.make_jaxpr(g)(x)).count("scan[")

    assert loops(ag.function(f), jnp.zeros(8)) == (jax.default_backend() == "cpu")
    assert loops(ag.function(f), jnp.float32(0)) == 0
    np.testing.assert_allclose(ag.function(f)(jnp.arange(8.0)), f(jnp.arange(8.0)), rtol=1e-5)


XS = [1.0, 2.0, 3.0]
BIG, SMALL = 2**31 - 1, -(2**31)


def over_the_end(x: Any, xs: Any) -> Any:
    return xs[min(max(x, 0) + 1, 2)]


def stored_over_the_end(x: Any, xs: Any) -> Any:
    xs[min(max(x, 0) + 1, 2)] = 9.0
    return xs


def turned(x: Any, xs: Any) -> Any:
    return xs[min(-min(x, 0), 2)]


def below(x: Any, xs: Any) -> Any:
    return xs[max(min(x, 0) - 1, -2)]


def of_eight_bits(x: Any, xs: Any) -> Any:
    return xs[jnp.minimum(-jnp.minimum(x, jnp.int8(0)), 2)]


def narrowed(x: Any, xs: Any) -> Any:
    s = 0.0
    for i in range(x):
        s += xs[jnp.minimum(jnp.asarray(i).astype(jnp.int8), 2)]
    return s


WRAPPED: list[tuple[Callable[..., Any], Any]] = [
    (over_the_end, jnp.int32(BIG)), (stored_over_the_end, jnp.int32(BIG)), (turned, jnp.int32(SMALL)), (below, jnp.int32(SMALL)),
    (of_eight_bits, jnp.int8(-128)), (narrowed, jnp.int32(200)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x"), WRAPPED, ids=[f.__name__ for f, _ in WRAPPED])
def test_what_wraps_around_is_checked(f: Callable[..., Any], x: Any) -> None:
    """An integer at the end of its type wraps in an addition: then nothing is known of it, though one end was."""
    with pytest.raises(IndexError):
        f(x, [*XS])
    with pytest.raises(IndexError):
        ag.function(f)(x, [*map(jnp.float32, XS)])


def test_a_list_has_room_for_what_wraps_around() -> None:
    def f(x: Any) -> Any:
        out = []
        for i in range(jnp.minimum(x, jnp.int8(0)) - jnp.int8(1)):
            out.append(i * 1.0)
        return sum(out)

    want = float(f(jnp.int8(-128)))
    try:
        got = float(ag.function(f)(jnp.int8(-128)))
    except ag.AutographError as error:  # nothing bounds it
        assert error.id == "AG405"
    else:
        assert got == want
