"""The examples in the documentation of public functions run and print what is written."""

from __future__ import annotations

import doctest
import importlib

import pytest

EAGER = ("checkpoints", "devices", "exporting", "gradients", "host", "losses", "metrics", "optimizers", "switch", "tape", "variables")
MODULES = [
    "autograph.api",
    *(f"autograph.runtime.{m}" for m in ("blocks.branches", "calls.function", "access.iteration", "blocks.loops", "blocks.suspended")),
]
MODULES += [f"autograph.runtime.eager.{m}" for m in EAGER]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0
