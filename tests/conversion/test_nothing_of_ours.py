"""Objects and exceptions of this package never reach the user: results, attributes, items and messages are walked."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.sourced import define

sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))
import life_cycles  # noqa: E402
import rolled_table  # noqa: E402

pytestmark = pytest.mark.always

OURS = re.compile(r"\b(Growing|Maybe|Numpys|NumpyTracer|ViewTracer|ArrayTracer|Section|Blank|Fields|Kept|Stale|Rotate|Peel|Grow|NeedsTags|Unbound)\b")


def walk(value: Any, seen: set[int]) -> Iterator[Any]:
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    if isinstance(value, dict):
        inside: list[Any] = [*value, *value.values()]
    elif isinstance(value, (list, tuple, set)):
        inside = [*value]
    else:
        inside = [*getattr(value, "__dict__", {}).values()] if type(value).__module__ in ("program", "life_cycles", __name__) else []
    for x in inside:
        yield from walk(x, seen)


def ours_in(value: Any) -> list[str]:
    found = [x for x in walk(value, set()) if type(x).__module__.startswith("autograph") or isinstance(x, jax.core.Tracer)]
    return [type(x).__name__ for x in found]


@pytest.mark.parametrize("loop", ["range", "while"])
def test_results_and_what_they_hold(loop: str, quick_compilation: None) -> None:
    for k, statement in enumerate(rolled_table.STATEMENTS[loop == "while" :: 16]):
        text = rolled_table.text_of([statement], loop).replace("return s, c,", "return o, D, s, c,").replace("range(40)", "range(5)")
        f = define(text.replace("i < 39", "i < 4"))
        try:
            out = ag.function(f)(jnp.asarray(rolled_table.VALUES), jnp.asarray(rolled_table.MATRIX), jnp.float32(1.5))
        except ag.AutographError as error:
            assert not OURS.search(error.message), (statement, error.message)
            continue
        assert not ours_in(out), (k, statement)


class Holder:
    def __init__(self) -> None:
        self.items: list[Any] = []
        self.best: Any = None
        self.table = np.zeros(3, np.float32)
        self.names = {"last": 0.0}


def filled(holder: Any, v: Any) -> Any:
    for k, x in enumerate(v):
        if x > 1:
            holder.items.append([x, k])
        if holder.best is None or x > holder.best:
            holder.best = x
        holder.table[k % 3] += x
        holder.names["last"] = x
    return holder


def test_attributes_of_arguments() -> None:
    holder = Holder()
    try:
        ag.function(filled)(holder, np.array([1.0, 3.0, 2.0, 5.0], np.float32))
    except ag.AutographError as error:
        assert not OURS.search(error.message), error.message
    assert not ours_in(holder)


def test_messages(quick_compilation: None) -> None:
    """What is refused in the table of life cycles is told in the words of the program."""
    told = 0
    for program in [p for k, p in enumerate(life_cycles.programs()) if k % 97 == 0]:
        f = define(program.text, Box=life_cycles.Box, jnp=jnp, np=np)
        try:
            out = ag.function(f)(jnp.asarray(life_cycles.DATA), 4, 0)
        except Exception as error:
            told += 1
            assert isinstance(error, ag.AutographError) and not OURS.search(str(error)), str(error)
        else:
            assert not ours_in(out), program.name
    assert told > 3
