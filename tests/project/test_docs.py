"""The pages of `docs`: every code block runs, and prints the block of text that follows it."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

FOLDER = Path(__file__).parents[2] / "docs"
PAGES = [p for p in sorted(FOLDER.glob("*.md")) if "```python" in p.read_text(encoding="utf-8")]
LIBRARIES = {"libraries": ("equinox", "flax")}  # what the programs of a page import, and the development environment has not
_BLOCK = re.compile(r"^```(?P<language>\S*)[^\n]*\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?://)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")


class Block(NamedTuple):
    program: str
    printed: str | None  # what the page says that it prints


def blocks(text: str) -> Iterator[Block]:
    """The programs of a page, each with the block of text that stands directly behind it."""
    found = list(_BLOCK.finditer(text))
    for block, after in zip(found, [*found[1:], None], strict=True):
        if block["language"] == "python":
            follows = after is not None and after["language"] == "text" and not text[block.end() : after.start()].strip()
            yield Block(block["text"], after["text"] if after is not None and follows else None)


@pytest.mark.parametrize("page", [pytest.param(p, marks=pytest.mark.libraries if p.stem in LIBRARIES else ()) for p in PAGES], ids=lambda p: p.stem)
def test_programs_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for library in LIBRARIES.get(page.stem, ()):
        pytest.importorskip(library, reason="the page of other libraries needs them: `.ci/run` installs them")
    space: dict[str, Any] = {"__name__": "page"}
    for k, block in enumerate(blocks(page.read_text(encoding="utf-8")), 1):
        name = f"{page.name}[{k}]"
        linecache.cache[name] = (len(block.program), None, block.program.splitlines(keepends=True), name)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.program, name, "exec", dont_inherit=True), space)
        if block.printed is not None:
            assert out.getvalue() == block.printed, f"{name} prints something else"


@pytest.mark.parametrize("page", sorted(FOLDER.rglob("*.md")), ids=lambda p: p.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in _LINK.finditer(re.sub(r"`[^`\n]*`", "", _BLOCK.sub("", text))):
        if link["path"]:
            assert (page.parent / link["path"]).exists(), f"{page.name}: {link[0]}"


def test_blocks_of_other_languages_are_named() -> None:
    """Nothing is left out by a typing error in the language of a block."""
    for page in FOLDER.rglob("*.md"):
        languages = {m["language"] for m in _BLOCK.finditer(page.read_text(encoding="utf-8"))}
        assert languages <= {"python", "text", "sh", "{toctree}", "{eval-rst}"}, f"{page.name}: {languages}"
