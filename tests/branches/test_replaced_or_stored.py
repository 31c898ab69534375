"""Lists that one side of a branch stores into, and another puts elsewhere, swaps or replaces: every pair of actions, in every kind of holder."""

import itertools

import numpy as np
import pytest

import autograph as ag
from tests.sourced import define

ACTIONS = {
    "nothing": "pass",
    "stored": "{0}[0] = x",
    "other stored": "{1}[0] = x * 2",
    "replaced": "{0} = [x + 3.0]",
    "replaced by a literal": "{0} = [3.0]",
    "swapped": "{0}, {1} = {1}, {0}",
    "joined": "{0} = {1}",
    "placed and stored": "cur[0] = x; {0} = cur",
    "stored and moved": "{0}[0] = x * 5; {1} = {0}; {0} = [x]",
    "taken and stored": "cur = {0}; cur[0] = x * 7",
}
HOLDERS = {
    "list": ("a = [[1.0], [2.0]]", "a[0]", "a[1]"),
    "dict": ("a = {'p': [1.0], 'q': [2.0]}", "a['p']", "a['q']"),
    "object": ("a = Pair()", "a.p", "a.q"),
    "names": ("p, q = [1.0], [2.0]", "p", "q"),
}
SETUP = """
class Pair:
    def __init__(self): self.p, self.q = [1.0], [2.0]
"""


def _program(holder: str, then: str, orelse: str, nested: bool) -> str:
    make, p, q = HOLDERS[holder]
    sides = [ACTIONS[k].format(p, q) for k in (then, orelse)]
    branch = f"    if x > 1:\n        {sides[0]}\n    else:\n        {sides[1]}\n"
    if nested:
        branch = "    if x > 0:\n" + "".join(f"    {line}\n" for line in branch.splitlines())
    return f"def f(x):\n    cur = [5.0]\n    {make}\n{branch}    return {p}[0] * 100 + {q}[0] * 10 + cur[0]\n"


def _wrong(text: str, values: tuple[float, ...]) -> list[str]:
    f = define(SETUP + text)
    compiled, found = ag.function(f), []
    for x in values:
        try:
            got = float(compiled(x))
        except ag.AutographError as error:
            found.append(error.id)
            continue
        if not np.isclose(got, want := float(f(x)), rtol=1e-5):
            found.append(f"{text} of {x}: {got}, and Python gives {want}")
    return found


PAIRS = [(a, b) for a, b in itertools.product(ACTIONS, ACTIONS) if (a, b) != ("nothing", "nothing")]


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("holder", HOLDERS)
def test_pairs_of_actions(holder, nested):
    found = {(a, b): wrong for a, b in PAIRS if (wrong := _wrong(_program(holder, a, b, nested), (2.0, 0.5, -1.0)))}
    assert not found
