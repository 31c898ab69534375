"""The examples in the documentation of public functions run and print what is written."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = ["autograph.api", *(f"autograph.runtime.{m}" for m in ("branches", "function", "iteration", "loops"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0
