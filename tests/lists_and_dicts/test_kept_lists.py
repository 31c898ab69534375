"""Lists of data-dependent length: every ordinary way to get one by every ordinary way to use it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import autograph as ag

ORIGINS = {  # how a function gets the list
    "a filter": "kept = [x for x in v if x > 0]",
    "a loop": "kept = []\nfor x in v:\n    if x > 0:\n        kept.append(x)",
    "a test that counts": "kept, i = [], 0\nwhile i < len(v) and v[i] != 99:\n    if v[i] > 0:\n        kept.append(v[i])\n    i += 1",
    "a function": "kept = positive(v)",
    "an attribute": "box = Box()\nfor x in v:\n    box.take(x)\nkept = box.items",
    "sorted": "kept = sorted([x for x in v if x > 0])",
    "a comprehension of one": "first = [x for x in v if x > 0]\nkept = [x * 1 for x in first]",
}

RIGHT = [  # what gives Python's value
    "len(kept)", "kept", "kept[1:]", "kept[:-1]", "kept[::-1]", "kept[:]", "kept[-2:]", "kept.copy()", "list(kept)", "kept + [1]", "[0] + kept",
    "kept + kept", "sorted(kept)", "sorted(kept, reverse=True)", "list(reversed(kept))", "list(enumerate(kept))", "list(zip(kept, kept))",
    "list(zip(kept, kept[1:]))", "list(map(abs, kept))", "list(map(lambda x: x + 1, kept))", "list(filter(lambda x: x > 2, kept))",
    "[x * 2 for x in kept]", "[x for x in kept if x > 2]", "[i * x for i, x in enumerate(kept)]", "[a + b for a, b in zip(kept, kept[1:])]",
    "[kept[i] for i in range(len(kept))]", "[kept[i] + kept[i - 1] for i in range(1, len(kept))]", "[double(x) for x in kept]",
    "[x if x > 2 else -x for x in kept]", "[x for x in reversed(kept)]", "[x * 2 for x in kept[1:]]", "[(x, x * x) for x in kept]",
    "sum(kept)", "sum(x * x for x in kept)", "sum(kept) / max(len(kept), 1)", "max(kept, default=0)", "min(kept, default=7)",
    "max((x for x in kept if x < 5), default=0)", "any(x > 3 for x in kept)", "all(x > 0 for x in kept)", "any(kept)", "all(kept)",
    "2 in kept", "9 not in kept", "kept.count(1)", "kept == [1, 2]", "kept != []", "not kept", "bool(kept)", "kept[0] if kept else 0",
    "kept[-1] if kept else 0", "kept if kept else [0]", "kept or [0]", "(kept, len(kept))", "{'items': kept}", "mean(kept)", "double_all(kept)",
    "np.array(kept)", "np.array(kept) * 2", "np.sum(kept)", "np.sort(np.array(kept))",
    "jnp.array(kept)", "jnp.asarray(kept) * 2", "jnp.sum(jnp.array(kept))", "jnp.exp(np.array(kept))", "jnp.array(kept, dtype=float)",
]  # fmt: skip

STATEMENTS = {  # the same, as statements that give `out`
    "for": "out = 0\nfor x in kept:\n    out += x",
    "for with else": "out = 0\nfor x in kept:\n    if x > 4:\n        break\n    out += 1\nelse:\n    out = -1",
    "enumerate": "out = 0\nfor i, x in enumerate(kept):\n    out += i * x",
    "pairs": "out = 0\nfor a, b in zip(kept, kept[1:]):\n    out += a * b",
    "places": "out = 0\nfor i in range(len(kept)):\n    out += i * kept[i]",
    "every pair": "out = 0\nfor i in range(len(kept)):\n    for j in range(i + 1, len(kept)):\n        out += kept[i] * kept[j]",
    "while": "out, i = 0, 0\nwhile i < len(kept):\n    out += kept[i]\n    i += 1",
    "emptied": "out = 0\nwhile kept:\n    out = out * 3 + kept.pop()",
    "emptied from the front": "out = 0\nwhile kept:\n    out = out * 3 + kept.pop(0)",
    "append": "kept.append(5)\nout = kept",
    "extend": "kept.extend([5, 6])\nout = kept",
    "add in place": "kept += [5]\nout = kept",
    "insert": "kept.insert(0, 5)\nout = kept",
    "sort": "kept.sort()\nout = kept",
    "sort by a key": "kept.sort(key=lambda x: -x)\nout = kept",
    "reverse": "kept.reverse()\nout = kept",
    "clear": "kept.clear()\nout = kept",
    "set an item": "if kept:\n    kept[0] = 8\nout = kept",
    "delete an item": "if kept:\n    del kept[0]\nout = kept",
    "set all": "for i in range(len(kept)):\n    kept[i] = kept[i] * 2\nout = kept",
    "another list": "out = []\nfor x in kept:\n    out.append(x * 2)",
    "another filtered": "out = []\nfor x in kept:\n    if x > 1:\n        out.append(x)",
    "a branch": "out = 0\nif len(kept) > 2:\n    out = kept[2]\nelif kept:\n    out = kept[0]",
    "a search": "out = -1\nfor i, x in enumerate(kept):\n    if x == 2:\n        out = i\n        break",
    "the best": "out = -9\nfor x in kept:\n    if x > out:\n        out = x",
}

REFUSED = {  # what needs the length as a number
    "kept * 2": "AG405",
    "kept < [1]": "AG405",
    "tuple(kept)": "AG405",
    "(*kept,)": "AG405",
    "set(kept)": "AG405",
    "dict(enumerate(kept))": "AG502",
    "{x: 1 for x in kept}": "AG405",
    "', '.join(str(x) for x in kept)": "AG405",
    "jnp.stack(kept)": "AG405",
    "np.array(kept).shape": "AG502",
    "np.zeros(len(kept))": "AG502",
}

THERE = {  # what changes a list that something else holds, or that another function has made
    "an attribute": {
        **dict.fromkeys(["emptied", "emptied from the front", "append", "extend", "insert", "sort", "sort by a key"], "AG405"),
        **dict.fromkeys(["reverse", "clear", "delete an item"], "AG405"),
        **dict.fromkeys(["kept if kept else [0]", "kept or [0]"], "AG202"),
    },
    "a function": dict.fromkeys(["emptied", "emptied from the front", "delete an item"], "AG405"),
}

INPUTS = {"some": [3, -2, 1, 7, 2], "none": [-1, -2, -3, -1, -1], "all": [2, 9, 8, 2, 5]}

HEAD = """import jax.numpy as jnp
import numpy as np


class Box:
    def __init__(self):
        self.items = []

    def take(self, x):
        if x > 0:
            self.items.append(x)


def positive(v):
    found = []
    for x in v:
        if x > 0:
            found.append(x)
    return found


def double(x):
    return x * 2


def mean(values):
    return sum(values) / len(values) if values else 0.0


def double_all(values):
    out = []
    for x in values:
        out.append(x * 2)
    return out
"""

USES = [*((u, f"out = {u}") for u in RIGHT), *STATEMENTS.items(), *((u, f"out = {u}") for u in REFUSED)]
CELLS = [(origin, use) for origin in ORIGINS for use in range(len(USES))]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A module with a function for each cell: origin, use, result."""
    text = [HEAD]
    for number, (origin, use) in enumerate(CELLS):
        body = f"{ORIGINS[origin]}\n{USES[use][1]}\nreturn out".splitlines()
        text.append(f"\n\ndef cell_{number}(v):\n" + "".join(f"    {line}\n" for line in body))
    path = Path(tmp_path_factory.mktemp("kept")) / "kept_lists_cells.py"
    path.write_text("".join(text))
    spec = importlib.util.spec_from_file_location("kept_lists_cells", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def plain(value: Any) -> Any:
    return jax.tree.map(lambda x: np.asarray(x).tolist(), value)


@pytest.mark.parametrize("number", range(len(CELLS)), ids=["-".join((o, USES[u][0])) for o, u in CELLS])
def test_a_use(module: Any, number: int) -> None:
    program = getattr(module, f"cell_{number}")
    compiled = ag.function(program)
    origin, use = CELLS[number][0], USES[CELLS[number][1]][0]
    refusal = REFUSED.get(use) or THERE.get(origin, {}).get(use)
    if refusal is not None:
        with pytest.raises(ag.AutographError) as caught:
            compiled(np.array(INPUTS["some"]))
        assert caught.value.id == refusal and "kept_lists_cells.py" in str(caught.value)
        return
    for v in INPUTS.values():
        got, want = plain(compiled(np.array(v))), plain(program(np.array(v)))
        assert got == want or np.allclose(got, want)  # the second for quotients
