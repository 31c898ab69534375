"""Items of lists that grow in compiled loops: in Python they are objects that several names hold, in a buffer they are copies.

What is stored through the list is stored back; any other change of an item is an error, and never lost.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import autograph as ag

DATA = np.array([1, 1, 2, 3, 3, 3, 1], np.int32)


def appended_then_stored(v: Any) -> Any:
    rows = []
    for x in v:
        rows.append([x, 0])
        rows[-1][1] = x * 2
    return rows


def run_lengths(v: Any) -> Any:
    runs = []
    for x in v:
        if runs and runs[-1][0] == x:
            runs[-1][1] += 1
        else:
            runs.append([x, 1])
    return runs


def arrays(v: Any) -> Any:
    found = []
    for x in v:
        found.append(np.zeros(2, np.float32))
        found[-1][0] = x
    return found


def of_a_comprehension(v: Any) -> Any:
    m = [[x, 0] for x in v if x > 1]
    m[0][1] = 5
    return m


def deep(v: Any) -> Any:
    runs = []
    for x in v:
        if x > 1:
            runs.append((x, [1, 2]))
    runs[-1][1][0] += 1
    return runs


def popped(v: Any) -> Any:
    runs = []
    for x in v:
        if x > 1:
            runs.append([x, 3])
    top = runs.pop()
    top[1] += 1
    return top


@pytest.mark.parametrize("f", [appended_then_stored, run_lengths, arrays, of_a_comprehension, deep, popped], ids=lambda f: f.__name__)
def test_what_is_stored_through_the_list_is_stored(f: Callable[..., Any]) -> None:
    got, want = jax.tree.leaves(ag.function(f)(DATA)), jax.tree.leaves(f(DATA))
    np.testing.assert_array_equal(np.array(got), np.array(want))


def groups(v: Any) -> Any:
    found = []
    for k, x in enumerate(v):
        if k == 0 or x != v[k - 1]:
            found.append([])
        found[-1].append(x)
    return found


def by_a_name(v: Any) -> Any:
    found = []
    for x in v:
        if x > 1:
            found.append([x, 2])
    first = found[0]
    first[0] = 99
    return sum(r[0] for r in found)


def in_a_loop(v: Any) -> Any:
    found = []
    for x in v:
        if x > 1:
            found.append([x, 0])
    for r in found:
        r[1] += 5
    return found


def the_largest(v: Any) -> Any:
    found = []
    for x in v:
        if x > 1:
            found.append([x, 3])
    max(found, key=lambda r: r[0])[1] = 7
    return found


def appended_and_changed_later(v: Any) -> Any:
    cur = [v[0], 1]
    runs = [cur]
    for x in v[1:]:
        if x == cur[0]:
            cur[1] += 1
        else:
            cur = [x, 1]
            runs.append(cur)
    return runs


def read_before(v: Any) -> Any:
    runs = []
    for x in v:
        if x > 1:
            runs.append([x, 0])
    last = runs[-1]
    runs[-1][1] = 4
    return last[1]


def array_changed_in_a_branch(v: Any) -> Any:
    found, row = [], np.zeros(2, np.float32)
    for x in v:
        if x > 1:
            found.append(row)
            if x > 2:
                row[0] = x
    return found


@pytest.mark.parametrize(
    "f", [groups, by_a_name, in_a_loop, the_largest, appended_and_changed_later, read_before, array_changed_in_a_branch], ids=lambda f: f.__name__
)
def test_a_change_that_would_be_lost_is_an_error(f: Callable[..., Any]) -> None:
    with pytest.raises(ag.AutographError, match="AG40[57]"):
        ag.function(f)(DATA)


@dataclasses.dataclass(frozen=True)
class Pose:
    x: float
    turned: float = 0.0


def path(v: Any) -> Any:
    poses = [Pose(0.0)]
    for step in v:
        last = poses[-1]
        poses.append(dataclasses.replace(last, x=last.x + step, turned=last.turned + 0.5))
    return poses[-1].x, poses[-1].turned, len(poses)


def until(v: Any) -> Any:
    pose = Pose(10.0)
    while pose.x > 0:
        pose = Pose(pose.x - v[3], pose.turned + 1.0)
    return pose.x, pose.turned


def the_best(v: Any) -> Any:
    best = None
    for x in v:
        pose = Pose(x * 1.0, x + 1.0)
        if best is None or pose.x > best.x:
            best = pose
    return best.x, best.turned


@pytest.mark.parametrize("f", [path, until, the_best], ids=lambda f: f.__name__)
def test_frozen_dataclasses_are_values(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(ag.function(f)(DATA), f(DATA))
    assert jax.tree_util.tree_leaves(Pose(1.0)) == [Pose(1.0)]  # JAX has been told nothing of the class
