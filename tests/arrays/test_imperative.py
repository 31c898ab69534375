"""The programs of `tests/corpora/programs/imperative.py`, compiled, do what NumPy does: results, changed arguments, derivatives, no Python in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests import harness
from tests.corpora.programs.imperative import PROGRAMS, Program

pytestmark = pytest.mark.usefixtures("quick_compilation")


def copies(values: Iterable[Any]) -> list[Any]:
    """Arrays that a program may change, as the next run needs the old ones."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in values]


def wide(values: Iterable[Any]) -> list[Any]:
    """With 64 bits, which differences need."""
    return [a.astype(float) if isinstance(a, np.ndarray) and a.dtype == np.float32 else a for a in values]


def changes(program: Program, k: int) -> list[int]:
    """The positions of the arguments that the program changes."""
    before = program.arguments(k)
    after = copies(before)
    with np.errstate(all="ignore"):  # a flag that another library's thread leaves is no fault of the program's
        program.function(*after)
    return [i for i, (a, b) in enumerate(zip(before, after)) if not np.array_equal(a, b)]


assert_same = partial(harness.assert_same, rtol=1e-4, atol=1e-5, kinds=True)


def weighted_sum(tree: Any) -> Any:
    """Of the floats in a result, each with its own weight: a plain sum may be one that the program conserves."""
    floats = [x for x in jax.tree.leaves(tree) if jnp.issubdtype(jnp.result_type(x), jnp.floating)]
    return sum((x * np.cos(np.arange(np.size(x)) + 2 * i).reshape(np.shape(x))).sum() for i, x in enumerate(floats))


def on_copies(program: Program, rest: list[Any], changed: list[int]) -> Callable[[Any], Any]:
    """The result and the changed arguments as a function of the first argument, which stays as it is: what can be differentiated."""
    f = program.function

    def outcome(x: Any) -> Any:
        args = [np.array(a) if isinstance(a, np.ndarray) else a for a in rest]
        args.insert(0, np.array(x))
        result = f(*args)
        return result, [args[i] for i in changed]

    return outcome


def differences(f: Callable[[Any], Any], x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central ones, an item of `x` at a time."""
    gradient = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        shift = np.zeros_like(x)
        shift[at] = step
        gradient[at] = (f(x + shift) - f(x - shift)) / (2 * step)
    return gradient


def each(programs: list[Program]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", programs, ids=lambda p: p.function.__name__)


@each(PROGRAMS)
def test_result_and_changed_arguments(program: Program) -> None:
    """The second input goes through what was compiled for the first: no value of the first may have stayed in it."""
    converted = ag.function(program.function, static_argnames=program.static)
    for k in (0, 1):
        expected, given = copies(program.arguments(k)), copies(program.arguments(k))
        assert_same(converted(*given), program.function(*expected), f"result, input {k}")
        assert_same(given, expected, f"arguments afterwards, input {k}")


@each([p for p in PROGRAMS if p.gradient])
def test_gradient(program: Program) -> None:
    """Stores, swaps and views carry derivatives, those in changed arguments too."""
    for k in (0, 1):
        x, *rest = program.arguments(k)
        changed = changes(program, k)
        converted = ag.convert(on_copies(program, rest, changed))
        plain = on_copies(program, wide(rest), changed)
        expected = differences(lambda x: weighted_sum(plain(x)), x.astype(float))
        given = jax.grad(lambda x: weighted_sum(converted(x)))(jnp.asarray(x))
        np.testing.assert_allclose(given, expected, rtol=2e-2, atol=2e-3 * np.abs(expected).max(), err_msg=f"input {k}")


@each([p for p in PROGRAMS if not changes(p, 0)])
def test_nothing_calls_back(program: Program) -> None:
    """The whole program is compiled: none of it runs in Python."""
    converted = ag.function(program.function, static_argnames=program.static)
    assert "callback" not in converted.lower(*program.arguments(0)).as_text()
