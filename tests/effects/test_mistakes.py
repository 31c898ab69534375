"""Mistakes of users: each program fails with the error that tells what to write instead, and runs when that has been written."""

from __future__ import annotations

import linecache
import re
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograph.runtime.errors import errors
from tests.corpora.programs.mistakes import MISTAKES, Mistake

HEAD = "import jax, jax.numpy as jnp, numpy as np, autograph as ag\n"
PAGES = sorted(p.stem for p in (Path(__file__).parents[2] / "docs" / "errors").glob("AG*.md"))
NOT_REACHED: dict[str, str] = {}  # pages without a mistake: why
PLAIN = [m for m in MISTAKES if not m.id.startswith("AG")]


def text_of(program: str) -> str:
    return HEAD + program.lstrip("\n")


def run(program: str, path: Path) -> None:
    """Run a program of a file, so that its source is found, without the mark."""
    text = text_of(program).replace("  # here", "")
    path.write_text(text, encoding="utf-8")
    linecache.checkcache(str(path))
    exec(compile(text, str(path), "exec", dont_inherit=True), {"__name__": "program", "__file__": str(path)})


def line(program: str) -> int:
    """The line of the file that the message has to name."""
    (found,) = [k for k, text in enumerate(text_of(program).splitlines(), 1) if text.endswith("# here")]
    return found


def underlined(message: str) -> Iterator[str]:
    """What the carets in a message stand under."""
    lines = message.splitlines()
    for code, marks in zip(lines, lines[1:]):
        if found := re.match(r" +\| +(?P<carets>\^+)", marks):
            yield code[found.start("carets") : found.end("carets")]


def said(fragment: str, message: str) -> bool:
    if fragment.startswith("^"):
        return fragment[1:] in underlined(message)
    if fragment.startswith("!"):
        return fragment[1:] not in message
    return fragment in message


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.title)
def test_the_message(mistake: Mistake, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    with pytest.raises(Exception) as caught:
        run(mistake.fails, path)
    error = caught.value
    message = "\n".join([str(error), *getattr(error, "__notes__", ())])
    if mistake.id.startswith("AG"):
        assert getattr(error, "id", type(error).__name__) == mistake.id
        assert isinstance(error, errors.AutographError)
        assert message.startswith(f"{path}:{line(mistake.fails)}: {mistake.id} ")
        assert re.search(r"^  help: \S", message, re.MULTILINE)
    else:
        assert type(error).__name__ == mistake.id and not isinstance(error, errors.AutographError)
        assert [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)][-1] == line(mistake.fails)
    for fragment in mistake.says:
        assert said(fragment, message), fragment


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.title)
def test_the_repaired_program(mistake: Mistake, tmp_path: Path) -> None:
    run(mistake.repaired, tmp_path / "program.py")


def test_mistakes_are_distinct_and_many() -> None:
    assert not [m for m, n in Counter((m.id, m.title) for m in MISTAKES).items() if n > 1]
    assert not [m for m, n in Counter(m.title for m in MISTAKES).items() if n > 1]
    assert len(MISTAKES) >= 85 and len(PLAIN) <= 15


def test_every_page_has_a_mistake() -> None:
    assert sorted({m.id for m in MISTAKES if m not in PLAIN} | NOT_REACHED.keys()) == PAGES
