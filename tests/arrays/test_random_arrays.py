"""Arrays that `np.random` and NumPy's generators make are the function's own, as those of `np.zeros`: they are stored into, and have views."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import autograph as ag

# How an array of shape (2, 3) is made; `k` are the generators of the code around, which are made anew for each run.
MADE = {
    "generator made here": "np.random.default_rng(0).uniform(size=(2, 3))",
    "generator in a variable": "rng.normal(size=(2, 3))",
    "state made here": "np.random.RandomState(0).rand(2, 3)",
    "module": "(np.random.seed(3), np.random.uniform(size=(2, 3)))[1]",
    "module, reshaped": "(np.random.seed(3), np.random.randn(6).reshape(2, 3))[1]",
    "permutation": "rng.permutation(6.0).reshape(2, 3) if False else rng.permutation(np.arange(6.0)).reshape(2, 3)",
    "choice": "rng.choice(np.arange(9.0), size=(2, 3))",
    "integers": "rng.integers(0, 9, (2, 3)) * 1.0",
    "of arrays": "rng.normal(np.zeros((2, 3)), 1.0)",
    "outside": "k['g'].normal(size=(2, 3))",
    "state outside": "k['r'].normal(size=(2, 3))",
    "several": "rng.multivariate_normal(np.zeros(3), np.eye(3), size=2)",
}
STORES = {
    "item": "m[0, 1] = x[0]",
    "row": "m[0] = x",
    "augmented": "m -= 0.1 * (m - x)",
    "augmented item": "m[1] *= x",
    "mask": "m[m > 0.3] = x[0]",
    "view": "v = m[1]; v[:] = x; v[0] += 1.0",
    "loop": "for i in range(3):\n        m[:, i] += x[i]",
    "traced place": "m[0, (x[0] > 0) * 1] = x[1]",
    "branch": "if x[0] > 0:\n        m[0] = x",
    "known": "m[0, 0] = 5.0; m[1] += x",
    "sort": "m.sort(axis=1); m[0] += x",
    "two names": "n = m; n[0, 0] = x[2]; m[1, 1] = n[0, 0] + m[0, 0]",
    "shuffled": "rng.shuffle(m); m[0] += x",
    "out": "np.add(m, x, out=m)",
    "fill": "m[0].fill(x[1])",
}


def program(made: str, store: str, tmp_path: Any) -> Callable[..., Any]:
    file = tmp_path / "program.py"
    file.write_text(
        f"import numpy as np\ndef program(x, k):\n    rng = np.random.default_rng(1)\n    m = {made}\n    {store}\n    return m, m.sum() + m[0, 1], rng.uniform()\n"
    )
    space: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    return space["program"]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("made", MADE)
def test_an_array_of_random_numbers(made: str, store: str, tmp_path: Any) -> None:
    f = program(MADE[made], STORES[store], tmp_path)
    x = np.array([1.0, 2.0, -3.0])
    with jax.enable_x64(True):
        for convert in (ag.function, ag.convert, lambda f: jax.jit(ag.convert(f), static_argnums=1)):
            expected = f(x, _generators())
            got = convert(f)(x, _Key(_generators()) if convert is not ag.convert else _generators())
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)


class _Key(dict[str, Any]):
    """A dict that `static_argnums` takes."""

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


def _generators() -> dict[str, Any]:
    return {"g": np.random.default_rng(5), "r": np.random.RandomState(5)}


def test_a_trace_that_is_made_again_has_the_same_numbers() -> None:
    generator = np.random.default_rng(7)

    def f(x: Any, o: Any) -> Any:
        m = generator.normal(size=3)
        m[0] = 4.0  # in place: the second trace must not find it in what it is given again
        o["total"] = o["total"] + x  # state that is found while tracing
        m *= x
        return m

    held = {"total": 1.0}
    got = ag.function(f)(np.float32(2.0), held)
    generator = np.random.default_rng(7)
    expected = f(np.float32(2.0), {"total": 1.0})
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_a_list_that_is_shuffled_in_a_trace_that_is_made_again() -> None:
    def f(x: Any, o: Any) -> Any:
        items = [x, x + 1, 3.0, 4.0]
        random.seed(3)
        random.shuffle(items)
        np.random.seed(1)
        np.random.shuffle(items)
        o["total"] += x
        return items

    assert [float(v) for v in ag.function(f)(1.0, {"total": 1.0})] == f(1.0, {"total": 1.0})
