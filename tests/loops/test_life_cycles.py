"""Variables that the first iteration sets and the others read: one in eleven of the table of `differential/life_cycles.py`, and arrays that they name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))
import life_cycles  # noqa: E402


def is_expected(name: str, form: str, text: str) -> bool:
    """Whether a refusal is one of those that remain: of which object a name is, or whether a variable is set at all, only the run decides."""
    value, known, shape, loop = name.split("-")
    if value in ("list", "dict", "object") and text.startswith(("AG405", "AG202")):
        return True
    return form == "jit" and text.startswith(("AG301", "AG302")) and (shape == "nested" or known in ("data", "input"))


@pytest.mark.parametrize("loop", life_cycles.LOOPS)
def test_one_in_eleven(loop: str, quick_compilation: None) -> None:
    chosen = [p for k, p in enumerate(life_cycles.programs()) if k % 11 == 0 and p.name.endswith(f"-{loop}")]
    assert len(chosen) > 30
    found = {(p.name, form): text for p in chosen for form, text in life_cycles.compare(p).items()}
    assert {key: text for key, text in found.items() if not is_expected(*key, text)} == {}


def taken_first(v: Any, w: Any, n: Any) -> Any:
    for i in range(n):
        if i == 0:
            a = v
        a[0] = a[0] + 1.0
    return v[0], a[0]


def taken_in_turn(v: Any, w: Any, n: Any) -> Any:
    for i in range(n):
        if i == 0:
            a = v
        else:
            a = w
        a[0] = a[0] + 1.0
    return v[0], w[0]


def stored_later(v: Any, w: Any, n: Any) -> Any:
    for i in range(n):
        if i > 0:
            b[0] = 7.0  # noqa: F821
        b = v
    return v[0], w[0]


def swapped(v: Any, w: Any, n: Any) -> Any:
    for i in range(n):
        if i > 0:
            b[0] = b[0] + 7.0  # noqa: F821
        b, v = v, w
    return v[0], w[0], b[0]


def a_view(v: Any, w: Any, n: Any) -> Any:
    for i in range(n):
        row = v[1:3]
        if i > 0:
            last[0] = last[0] + 1.0  # noqa: F821
        last = row
    return v.sum(), last[0]


def of_a_list(v: Any, w: Any, n: Any) -> Any:
    z = [v, w]
    for i in range(n):
        if i > 0:
            c[0] = 5.0 + i  # noqa: F821
        c = z[i % 2]
    return v[0], w[0]


def by_elif(v: Any, w: Any, n: Any) -> Any:
    i = 0
    while i < n:
        if i == 0:
            a = v
        elif i == 1:
            a = w
        a[i] = a[i] + 10.0
        i = i + 1
    return v.sum(), w.sum()


def was_none(v: Any, w: Any, n: Any) -> Any:
    b = None
    for i in range(n):
        if b is not None:
            b[0] = b[0] + 7.0
        b, v = v, w
    return v[0], w[0], b[0]


def arrays() -> tuple[Any, Any]:
    return np.array([1.0, 2.0, 3.0, 4.0], np.float32), np.array([5.0, 6.0, 7.0, 8.0], np.float32)


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("f", [taken_first, taken_in_turn, stored_later, swapped, a_view, of_a_list, by_elif, was_none], ids=lambda f: f.__name__)
def test_a_store_reaches_the_array_that_an_iteration_before_has_named(f: Callable[..., Any], n: int) -> None:
    """A variable that is unset before the loop is one array or another only by what iterations have done: a trace that ignores that loses stores."""
    outcomes = []
    for g in (f, ag.function(f)):
        v, w = arrays()
        outcomes.append([*jax.tree.leaves(g(v, w, n)), v, w])
    for got, want in zip(outcomes[1], outcomes[0], strict=True):
        np.testing.assert_allclose(got, want)


def total(v: Any) -> Any:
    for i, x in enumerate(v):
        if i == 0:
            acc = x
        else:
            acc = acc + x
    return acc


def test_the_first_iteration_over_rows_is_traced_apart() -> None:
    """No tag tells whether it is set, and no error code is carried: the rest of the loop is a scan of three rows."""
    jaxpr = jax.make_jaxpr(ag.convert(total))(jnp.arange(4.0))
    scans = [e for e in jaxpr.eqns if e.primitive.name == "scan"]
    assert [e.params["length"] for e in scans] == [3] and len(jaxpr.out_avals) == 1
    np.testing.assert_allclose(jax.jit(ag.convert(total))(jnp.arange(4.0)), 6.0)


def never_set(v: Any) -> Any:
    for x in v:
        y = y + x  # noqa: F821, F841
    return y


@pytest.mark.parametrize("form", [ag.function, lambda f: jax.jit(ag.convert(f))], ids=["function", "jit"])
def test_a_variable_that_nothing_sets_is_pythons_error(form: Callable[..., Any]) -> None:
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'y'"):
        form(never_set)(jnp.arange(3.0))
