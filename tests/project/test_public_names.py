"""What `dir`, completion and `import *` show: the public names, each with one line that says what it is."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import autograph as ag

ROOMS = ["callbacks", "data", "graph", "layers", "losses", "metrics", "optimizers", "parameter_server", "random", "summary"]
NAMES = [(room, name) for room in ["", *ROOMS] for name in dir(getattr(ag, room) if room else ag) if not name.startswith("__")]


@pytest.mark.parametrize(("room", "name"), NAMES, ids=[f"{room}.{name}".lstrip(".") for room, name in NAMES])
def test_a_name(room: str, name: str) -> None:
    value = getattr(getattr(ag, room) if room else ag, name)
    if isinstance(value, ModuleType):
        assert value.__name__.startswith("autograph."), value
    elif isinstance(value, type) or callable(value):
        assert value.__module__.startswith("autograph."), value
    else:
        assert name.isupper(), f"{name} is no class, function, module or constant"
        return
    text = inspect.getdoc(value) or ""
    assert text and text.split("\n")[0].strip().endswith((".", ":", "...")), f"the first line of the docstring of {name}: {text[:60]!r}"


@pytest.mark.parametrize("room", [r for r in ROOMS if r not in ("parameter_server",)])
def test_as_people_import_it(room: str) -> None:
    names: dict[str, object] = {}
    exec(f"from autograph.{room} import *", names)
    assert {n for n in dir(getattr(ag, room)) if not n.startswith("__")} <= names.keys()
    assert "jnp" not in names and "annotations" not in names


def test_nothing_else_at_the_top() -> None:
    assert {"importlib", "Any", "TYPE_CHECKING", "annotations"}.isdisjoint(dir(ag))
