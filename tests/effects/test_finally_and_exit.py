"""What Python does also after an error: `finally` and `__exit__` (RULES 29), where the error is data-dependent."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag
from autograph.runtime.effects import handlers
from autograph.runtime.errors import source_spans as places


class Door:
    def __init__(self) -> None:
        self.visits, self.open = 0.0, 0.0

    def __enter__(self) -> Door:
        self.open += 1
        return self

    def __exit__(self, *error: Any) -> None:
        self.open -= 1
        self.visits += 1


class Swallow:
    def __enter__(self) -> Swallow:
        return self

    def __exit__(self, *error: Any) -> bool:
        return True


class Rollback:
    def __init__(self, d: Any) -> None:
        self.d, self.before = d, d["a"]

    def __enter__(self) -> Rollback:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self.d["a"] = self.before


def a_finally_prints_and_counts(d: Any, door: Any, x: Any) -> Any:
    try:
        if x < 0:
            raise ValueError("negative")
        d["ok"] += 1
    finally:
        d["end"] += 1
        print("closed", x)
    return x


def a_lock_of_ones_own(d: Any, door: Any, x: Any) -> Any:
    d["held"] = 1.0
    try:
        return [10, 20, 30][x]
    finally:
        d["held"] = 0.0


def in_each_turn(d: Any, door: Any, x: Any) -> Any:
    n = 0
    while n < 4:
        n += 1
        try:
            d["ok"] += 1.0
            if n == x:
                raise ValueError("n")
        finally:
            d["end"] += 1
    return n


def not_after_an_error_before_the_try(d: Any, door: Any, x: Any) -> Any:
    if x > 5:
        raise ValueError("before")
    try:
        if x > 2:
            raise ValueError("in it")
        return x
    finally:
        d["end"] += 1


def a_try_in_a_try(d: Any, door: Any, x: Any) -> Any:
    try:
        try:
            assert x > 0, "small"
            d["ok"] += 1.0
        finally:
            d["end"] += 1
        d["ok"] += 1.0
    finally:
        d["held"] += 1.0
    d["a"] += 1.0
    return x


def an_error_on_each_side(d: Any, door: Any, x: Any) -> Any:
    try:
        if x > 0:
            raise ValueError("positive")
        else:
            raise KeyError("not positive")
    finally:
        d["end"] += 1


def in_a_helper(d: Any, door: Any, x: Any) -> Any:
    def check(y: Any) -> Any:
        try:
            assert y < 3, "large"
            return y
        finally:
            d["end"] += y

    return check(x) + check(x + 1)


def a_manager(d: Any, door: Any, x: Any) -> Any:
    with door as m:
        if x < 0:
            raise ValueError("negative")
        m.visits += 10
    return x


def two_managers(d: Any, door: Any, x: Any) -> Any:
    with Door() as m, door:
        [1, 2, 3][x]
    return m.visits


def a_manager_in_a_loop(d: Any, door: Any, x: Any) -> Any:
    for i in range(x):
        with door:
            d["a"] += 1
            assert i < 2, "too long"
    return x


WORK = [
    a_finally_prints_and_counts, a_lock_of_ones_own, in_each_turn, not_after_an_error_before_the_try, a_try_in_a_try, an_error_on_each_side, in_a_helper,
    a_manager, two_managers, a_manager_in_a_loop,
]  # fmt: skip


def calls(f: Callable[..., Any], inputs: list[Any]) -> Any:
    d, door, seen = {"a": 3.0, "end": 0.0, "held": 0.0, "ok": 0.0}, Door(), []
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for x in inputs:
            try:
                seen.append(float(f(d, door, x)))
            except (ValueError, KeyError, IndexError, AssertionError) as error:
                assert not isinstance(error, ag.AutographError)
                seen.append((type(error).__name__, str(error).split("\n")[0]))  # pytest adds a line to assertions
            seen.append([*map(float, d.values()), float(door.visits), float(door.open)])
        jax.effects_barrier()
    return seen, out.getvalue()


@pytest.mark.parametrize("inputs", [[1], [-1], [3], [7, 0, 2], [4, -5, 1]])
@pytest.mark.parametrize("f", WORK, ids=lambda f: f.__name__)
def test_the_last_words_are_those_of_python(f: Callable[..., Any], inputs: list[int]) -> None:
    assert calls(ag.function(f), [jnp.int32(x) for x in inputs]) == calls(f, inputs)


def reads_what_the_try_changes(d: Any, door: Any, x: Any) -> Any:
    before, ok = d["a"], False
    try:
        d["a"] -= x
        if d["a"] < 0:
            raise ValueError("short")
        ok = True
    finally:
        if not ok:
            d["a"] = before
    return d["a"]


def stops_the_error(d: Any, door: Any, x: Any) -> Any:
    with Swallow():
        if x < 0:
            raise ValueError("negative")
    return x


def asks_for_the_error(d: Any, door: Any, x: Any) -> Any:
    with Rollback(d):
        d["a"] -= x
        if d["a"] < 0:
            raise ValueError("short")
    return x


@pytest.mark.parametrize(
    ("f", "says"),
    [
        (reads_what_the_try_changes, "this `finally` reads `ok`, and its value depends on which statement failed"),
        (stops_the_error, "may leave this `with`, and `Swallow.__exit__` may stop it"),
        (asks_for_the_error, "may leave this `with`, and `Rollback.__exit__` looks at the error"),
    ],
)
def test_what_would_differ_is_refused(f: Callable[..., Any], says: str) -> None:
    d = {"a": 3.0, "end": 0.0, "held": 0.0, "ok": 0.0}
    with pytest.raises(ag.StagingError, match=f"AG404 .*{says}"):
        ag.function(f)(d, Door(), jnp.int32(1))
    assert d["a"] == 3.0


def test_a_manager_sees_errors_that_are_there_while_tracing() -> None:
    @ag.function
    def f(x: Any) -> Any:
        with Swallow():
            raise ValueError("in every call")
        return x

    assert f(jnp.float32(2)) == 2


class Own(Exception):
    pass


def another_class(x: Any) -> Any:
    try:
        if x < 0:
            raise ValueError("negative")
        return x
    except KeyError:
        return -1.0


def several_classes(x: Any) -> Any:
    try:
        if x < 0:
            raise Own("negative")
        return x
    except (KeyError, IndexError):
        return -1.0
    except ZeroDivisionError:
        raise


def in_a_callee(x: Any) -> Any:
    def half(y: Any) -> Any:
        assert y > 0, "not positive"
        return y / 2

    try:
        return half(x)
    except TypeError:
        return 5.0


@pytest.mark.parametrize("x", [4.0, -4.0])
@pytest.mark.parametrize("f", [another_class, several_classes, in_a_callee])
def test_an_except_that_does_not_catch_the_error(f: Callable[..., Any], x: float) -> None:
    def outcome(f: Callable[..., Any], x: Any) -> Any:
        try:
            return float(f(x))
        except (ValueError, Own, AssertionError) as error:
            return type(error), str(error).split("\n")[0]

    assert outcome(ag.function(f), jnp.float32(x)) == outcome(f, x)


def one_of_its_clauses(x: Any) -> Any:
    try:
        if x < 0:
            raise ValueError("negative")
        return x
    except KeyError:
        return -1.0
    except Exception:  # here
        return 5.0


def around_a_finally(x: Any) -> Any:
    try:
        try:
            if x < 0:
                raise ValueError("negative")
            return x
        finally:
            x + 1
    except ValueError:  # here
        return 5.0


def around_another_except(x: Any) -> Any:
    try:
        try:
            if x < 0:
                raise ValueError("negative")
            return x
        except KeyError:
            pass
    except ValueError:  # here
        return 5.0


def around_a_with(x: Any) -> Any:
    try:
        with contextlib.nullcontext():
            if x < 0:
                raise ValueError("negative")
        return x
    except:  # noqa: E722  here
        return 5.0


@pytest.mark.parametrize("f", [one_of_its_clauses, around_a_finally, around_another_except, around_a_with])
def test_an_except_that_may_catch_the_error(f: Callable[..., Any]) -> None:
    with pytest.raises(ag.StagingError, match="AG404 an `except` around this may catch a data-dependent ValueError") as caught:
        ag.function(f)(jnp.float32(4))
    lines, first = inspect.getsourcelines(f)
    assert caught.value.place is not None and caught.value.place.line == first + next(
        k for k, line in enumerate(lines) if line.rstrip().endswith("here")
    )


def test_a_finally_in_code_that_errors_do_not_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The `try` of a function that stands in a library whose frames errors skip is matched with its own `finally`."""
    monkeypatch.setattr(places, "_libraries", (*places.HIDDEN, __file__))
    monkeypatch.setattr(places, "_is_hidden", {})
    entered: list[Any] = []

    @contextlib.contextmanager
    def tagged() -> Any:
        entered.append(Door())
        try:
            yield entered[-1]
        finally:
            entered.pop()

    def f(x: Any) -> Any:
        with tagged() as door:
            door.visits = x
            return door.visits + 1

    assert ag.function(f)(jnp.float32(1)) == 2
    assert handlers._finishing.tries == []
