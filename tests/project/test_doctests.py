"""The examples in the documentation of the package run and print what is written."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import autograph


def _modules() -> list[str]:
    """Every module with an example in it."""
    found = []
    for name, folder in (("autograph", autograph.__file__), ("autograph.runtime", autograph.runtime.__file__)):
        for path in Path(folder).parent.rglob("*.py"):
            parts = path.relative_to(Path(folder).parent).with_suffix("").parts
            if ">>> " in path.read_text():
                found.append(".".join((name, *parts[: -1 if parts[-1] == "__init__" else None])))
    return sorted(set(found))


@pytest.mark.parametrize("name", _modules())
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0
