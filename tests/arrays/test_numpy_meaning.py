"""A store into an array means what it means in NumPy, whatever view it goes through and wherever it stands.

The programs are plain NumPy (`tests/corpora/programs/numpy_meaning.py`), so that NumPy itself says what is right: a view is the array it is taken
from, two names of one array are one array, a copy is apart, and what the caller gave is changed for the caller.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

import autograph as ag
from tests.corpora.programs.numpy_meaning import PROGRAMS, Program
from tests.harness import assert_same

CASES = [
    pytest.param(program, k, id=f"{program.function.__name__}-{k}-({', '.join(program.label)})")
    for program in PROGRAMS
    for k, _ in enumerate(program.arguments())
]


@functools.cache
def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    """One for all argument sets: what was compiled for the data of the first must be right for the others."""
    return ag.function(f)


# What is refused of them: the reason, and the id of the error.
REFUSED = {
    "nested_frames": "AG502",  # two slices at once have ends that are traced
    "caller_gives_slices_that_overlap": "AG403",  # the memory that the arguments share is itself no argument
}


def called(f: Callable[..., Any], program: Program, k: int) -> tuple[Any, Any]:
    """What `f` gives, and its arguments afterwards. They are made anew and not copied: those that share memory must go on sharing it."""
    given = list(program.arguments())[k]
    result = f(**given) if isinstance(given, dict) else f(*given)
    return result, given


same = partial(assert_same, kinds=True)


@pytest.mark.parametrize(("program", "k"), CASES)
def test_as_numpy(program: Program, k: int, quick_compilation: None) -> None:
    """Refused is failed too, but for those above: all of them are programs that people write."""
    if (error := REFUSED.get(program.function.__name__)) is not None:
        with pytest.raises(ag.AutographError, match=error):
            called(compiled(program.function), program, k)
        return
    want, left = called(program.function, program, k)
    got, ours = called(compiled(program.function), program, k)
    same(got, want, "result")
    same(ours, left, "arguments after the call")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.function.__name__)
def test_is_a_program_for_the_table(program: Program) -> None:
    """NumPy gives the same twice, all of it finite, and the argument sets differ: a table that is wrong would hide what it is for."""
    sets = list(program.arguments())
    assert len(sets) >= 2
    assert any(not np.array_equal(a, b) for a, b in zip(jax.tree.leaves(sets[0]), jax.tree.leaves(sets[1])))
    for k, _ in enumerate(sets):
        first = called(program.function, program, k)
        same(called(program.function, program, k), first, "not deterministic")
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(first))
