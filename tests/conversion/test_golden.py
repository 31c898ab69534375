"""Converted sources, beside the sources, read as code.  `pytest tests/conversion/test_golden.py --update-golden` rewrites them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograph.forms.module import transpile

FILES = sorted(p for p in (Path(__file__).parents[1] / "golden").glob("*.py") if not p.stem.endswith("_converted"))


def converted(path: Path) -> str:
    return transpile(path.read_text(), path.name, everything=True)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_golden(path: Path, request: pytest.FixtureRequest) -> None:
    target = path.with_name(f"{path.stem}_converted.py")
    text = converted(path)
    if request.config.getoption("--update-golden"):
        target.write_text(text)
    assert text == target.read_text(), "run with --update-golden and read the difference"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_the_converted_source_parses_and_is_stable(path: Path) -> None:
    text = converted(path)
    compile(ast.parse(text), path.name, "exec")
    assert transpile(text, path.name, everything=True) == text


def test_collatz_in_at_most_twenty_lines() -> None:
    text = (Path(__file__).parents[1] / "golden" / "collatz_converted.py").read_text()
    assert len(text.split("def collatz", 1)[1].rstrip().splitlines()) <= 20
