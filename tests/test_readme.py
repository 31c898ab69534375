"""What the README says is true: its program and output, its converted source, its table."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

import pytest

import autograph as ag
from tests.language import summary
from tests.language.__main__ import BEGIN, END, README
from tests.sourced import define

TEXT = README.read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)


@pytest.fixture
def first() -> Any:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        newton = define(blocks("python")[0], "newton")
    return newton, out.getvalue()


def test_the_program_prints_what_is_written(first: Any) -> None:
    assert first[1] == blocks("text")[0]


def test_the_converted_source_is_what_is_written(first: Any) -> None:
    assert ag.to_code(first[0]) == blocks("python")[1]


def test_the_table_is_that_of_the_tests() -> None:
    assert TEXT.split(BEGIN)[1].split(END)[0].strip() == summary().strip()
