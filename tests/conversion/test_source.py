"""Source lookup: every kind of function is found in its file, by position."""

from __future__ import annotations

import doctest
import functools
import linecache
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import NotAFunction, SourceUnavailable, WrappedFunction
from tests.sourced import define


def staged(f: Any, *args: Any) -> Any:
    return jax.jit(ag.convert(f))(*args)


def test_two_lambdas_on_a_line() -> None:
    f, g = (lambda x: x if x > 0 else -x), (lambda x: 1 if x > 0 else 2)
    assert staged(f, -3) == 3 and staged(g, -3) == 2


def test_a_lambda_in_a_lambda() -> None:
    make = lambda k: lambda x: x if x > k else k
    assert staged(make(4), 3) == 4


def test_nested_functions_with_a_closure() -> None:
    def outer(k: int) -> Any:
        def inner(x: Any) -> Any:
            if x > k:
                return x
            return k

        return inner

    assert staged(outer(5), 2) == 5 and staged(outer(1), 2) == 2


class Shapes:
    factor = 3

    @ag.convert
    def method(self, x: Any) -> Any:
        return x * self.factor if x > 0 else 0

    @staticmethod
    @ag.convert
    def static(x: Any) -> Any:
        return x if x > 0 else 0

    @ag.convert
    @staticmethod
    def static_above(x: Any) -> Any:
        return x if x > 0 else 0

    @classmethod
    @ag.convert
    def of_class(cls, x: Any) -> Any:
        return x * cls.factor if x > 0 else 0

    def __call__(self, x: Any) -> Any:
        while x < 10:
            x = x * self.factor
        return x

    def __private(self, x: Any) -> Any:
        return x + 1

    @ag.convert
    def mangled(self, x: Any) -> Any:
        if x > 0:
            return self.__private(x)
        return x


class Sub(Shapes):
    @ag.convert
    def method(self, x: Any) -> Any:
        if x > 1:
            return super().method(x) + 1
        return __class__.factor  # type: ignore[name-defined]


def test_methods() -> None:
    assert jax.jit(Shapes().method)(2) == 6
    assert jax.jit(Shapes.static)(-2) == 0 and jax.jit(Shapes.static_above)(2) == 2
    assert jax.jit(Shapes.of_class)(2) == 6
    assert jax.jit(ag.convert(Shapes()))(1) == 27
    assert jax.jit(Shapes().mangled)(1) == 2
    assert jax.jit(Sub().method)(2) == 7 and jax.jit(Sub().method)(0) == 3


def test_partials() -> None:
    f = ag.convert(functools.partial(lambda k, x: x if x > k else k, 4))
    assert jax.jit(f)(3) == 4


def test_stacked_decorators() -> None:
    def twice(f: Any) -> Any:
        @functools.wraps(f)
        def g(x: Any) -> Any:
            return f(f(x))

        return g

    @twice
    @ag.convert
    def step(x: Any) -> Any:
        return x + 1 if x > 0 else x - 1

    assert jax.jit(step)(3) == 5


def test_text_run_by_exec_with_registered_source() -> None:
    assert staged(define("def f(x):\n    return x if x > 0 else -x"), -2) == 2


def test_doctest() -> None:
    """Doctest registers the source of its examples."""
    text = """
    >>> import jax, autograph as ag
    >>> @ag.convert
    ... def f(x):
    ...     if x > 0:
    ...         return x
    ...     return -x
    >>> int(jax.jit(f)(-3))
    3
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "name", "file", 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.failures == 0


def test_no_source() -> None:
    space: dict[str, Any] = {}
    exec("def f(x):\n    return x", space)
    with pytest.raises(SourceUnavailable, match="AG101.*no source") as caught:
        ag.convert(space["f"])
    assert isinstance(caught.value, OSError)


def test_a_file_that_changed_since_it_was_imported(tmp_path: Path) -> None:
    path = tmp_path / "moving.py"
    path.write_text("def f(x):\n    return x\n")
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    path.write_text("# a line more\n\n\nx = 1\n")
    linecache.checkcache(str(path))
    with pytest.raises(SourceUnavailable, match="changed since"):
        ag.convert(space["f"])


def test_what_cannot_be_converted() -> None:
    with pytest.raises(NotAFunction, match="AG103"):
        ag.convert(3)
    with pytest.raises(NotAFunction):
        ag.convert(int)
    with pytest.raises(WrappedFunction, match="AG104.*"):
        ag.convert(functools.lru_cache(lambda x: x))


def test_what_has_nothing_to_convert_stays_what_it_is() -> None:
    for f in (len, max, np.sin, jnp.sin, jnp.add, jax.vmap(jnp.sin), jax.nn.relu, jax.nn.silu):
        assert ag.convert(f) is f
    assert ag.function(jnp.sin)(0.0) == 0 and ag.function(max)(1.0, 2.0) == 2 and ag.function(jax.nn.relu)(-1.0) == 0


def test_a_function_of_a_file_with_the_same_code_as_another(tmp_path: Path) -> None:
    """Code objects of two files compare equal; they are told apart by identity."""
    found = []
    for name, sign in (("one", "-"), ("two", "+")):
        path = tmp_path / f"{name}.py"
        path.write_text(f"def f(x):\n    return x if x > 0 else {sign}x\n")
        space: dict[str, Any] = {"__name__": name}
        exec(compile(path.read_text(), str(path), "exec"), space)
        found.append(space["f"])
    assert [int(staged(f, -2)) for f in found] == [2, -2]


def test_a_file_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import ast

    calls = []
    parse = ast.parse
    f = define("def f(x):\n    g = lambda y: y\n    return g(x)\ndef h(x):\n    return x\n", "f")
    monkeypatch.setattr(ast, "parse", lambda *a, **k: calls.append(a[1:]) or parse(*a, **k))  # type: ignore[func-returns-value]
    ag.convert(f)
    ag.convert(f.__globals__["h"])
    assert sum(f.__code__.co_filename in a for a in calls) == 1
    assert sys.modules  # the module table is untouched: no file of ours is imported
