"""What the README says is true: its programs and output, its error, its numbers; and it is short."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

import autograph as ag
from tests.corpora.builtins import rows
from tests.corpora.language import constructs
from tests.corpora.language.__main__ import README
from tests.sourced import define

pytestmark = pytest.mark.always

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


def test_the_loop_by_hand_is_the_same(first: Any) -> None:
    by_hand = define("import jax.numpy as jnp\nfrom jax import lax\n" + blocks("python")[1], "newton_lax")
    for x in (1.0, 3.0, 100.0, -2.0):
        assert [*map(float, by_hand(x))] == pytest.approx([*map(float, first[0](x))])


def test_the_numbers_are_those_of_the_tables() -> None:
    assert f"lists {len(constructs())} constructs" in TEXT and f"lists {len(rows()):,} uses" in TEXT


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 130


def test_the_error_is_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["", "", "", "", "@ag.function", "def f(x):", "    x = x + 1", "    x = x - 1", "    if x > 0:", "        y = jnp.ones(3)"]
    (tmp_path / "heat.py").write_text(
        "\n".join(["import jax.numpy as jnp, autograph as ag", *lines[1:], "    else:", "        y = jnp.ones(4)", "    return y\n"])
    )
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    exec(compile(Path("heat.py").read_text(), "heat.py", "exec"), space)
    with pytest.raises(ag.AutographError) as caught:
        space["f"](1.0)
    assert f"{caught.value}\n" == blocks("text")[1]
