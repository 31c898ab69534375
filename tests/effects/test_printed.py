"""What compiled code prints of lists of unknown length, of containers that JAX does not know, and of what may be None: what Python prints."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import jax
import numpy as np
import pytest

import autograph as ag


def a_list_that_grows(v: Any) -> None:
    row = [x for x in v if x > 0]
    print(row)
    print(f"{row} has {len(row)}", "%s" % (row,))  # noqa: UP031


def tuples_that_grow(v: Any) -> None:
    row = [(x, x * 2) for x in v if x > 0]
    print("pairs", row)


def containers(v: Any) -> None:
    print(deque([int(v[0]), 2]), deque([int(v[0])], maxlen=3), Counter(a=int(v[0]), b=2), f"{deque([int(v[1])])}")


def perhaps_none(v: Any) -> None:
    best = None
    for x in v:
        if x > 2:
            best = int(x)
    print("best", best, f"{best}", [best])


@pytest.mark.parametrize("program", [a_list_that_grows, tuples_that_grow, containers, perhaps_none], ids=lambda f: f.__name__)
@pytest.mark.parametrize("v", [[1, -2, 3], [-1, -2, -3]], ids=["some", "none"])
def test_printed_as_python_prints(program: Any, v: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    program(v)
    want = capsys.readouterr().out
    ag.function(program)(np.array(v))
    jax.effects_barrier()
    assert capsys.readouterr().out == want
