"""The pages of `docs/errors`: every error that is raised has one, its failing program fails with it, and the repaired one runs."""

from __future__ import annotations

import ast
import linecache
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from autograph.runtime.messages import errors

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "errors"
PAGES = sorted(FOLDER.glob("AG*.md"))
SHAPE = re.compile(
    r"# (?P<id>AG\d{3}): (?P<title>[^\n]+)\n\n"
    r"(?P<meaning>(?:(?!#|```)[^\n]*\n)+)"
    r"## Fails\n\n```python\n(?P<fails>.*?)```\n\n"
    r"## Repaired\n\n```python\n(?P<repaired>.*?)```\n",
    re.DOTALL,
)


class Page(NamedTuple):
    id: str
    title: str
    meaning: str
    fails: str
    repaired: str


def page_of(path: Path) -> Page:
    found = SHAPE.fullmatch(path.read_text(encoding="utf-8"))
    assert found, f"{path.name}: not a title, a text, a program that fails and one that is repaired"
    return Page(**found.groupdict())


def run(program: str, name: str) -> dict[str, Any]:
    """Run a program whose source text can be found."""
    linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)
    space: dict[str, Any] = {"__name__": "page"}
    try:
        exec(compile(program, name, "exec", dont_inherit=True), space)
    finally:
        del linecache.cache[name]
    return space


def classes() -> dict[str, type[errors.AutographError]]:
    """The error classes that have no subclasses, by name."""
    every = {n: e for n, e in vars(errors).items() if isinstance(e, type) and issubclass(e, errors.AutographError)}
    return {n: e for n, e in every.items() if not any(issubclass(o, e) and o is not e for o in every.values())}


def raised() -> set[str]:
    """The ids of the errors that code makes: an error class is called, or given to what calls it."""
    found: set[str] = set()
    known = classes()
    for path in [*(ROOT / "autograph").rglob("*.py"), *(ROOT / "runtime").rglob("*.py")]:
        if path.name == "errors.py":
            continue
        classes_of_places = [n.value for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, (ast.Assign, ast.AnnAssign))]
        found |= {known[v.id].id for v in classes_of_places if isinstance(v, ast.Name) and v.id in known}
        for call in (n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)):
            names = {n.id for n in (call.func, *call.args) if isinstance(n, ast.Name)}
            found |= {known[name].id for name in names & known.keys()}
    return found


def test_every_error_that_is_raised_has_a_page_and_every_page_an_error() -> None:
    assert {p.stem for p in PAGES} == raised()
    assert len(raised()) >= 16  # the search does find them


def test_the_table_lists_every_page_in_order() -> None:
    rows = re.findall(r"^\| \[(AG\d{3})\]\((AG\d{3})\.md\) \| (\S.*) \|$", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [row[0] for row in rows] == [row[1] for row in rows] == [p.stem for p in PAGES]
    assert len({row[2] for row in rows}) == len(rows)


def test_pages_name_no_error_that_does_not_exist() -> None:
    known = {e.id for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.AutographError)}
    for path in [*PAGES, FOLDER / "README.md"]:
        assert set(re.findall(r"AG\d{3}", path.read_text(encoding="utf-8"))) <= known, path


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_a_page_is_short_and_complete(path: Path) -> None:
    page = page_of(path)
    assert page.id == path.stem
    sentences = re.findall(r"\w[`)]?[.?!](?=\s)", page.meaning)
    assert 2 <= len(sentences) <= 5, sentences
    assert "import autograph as ag\n" in page.fails and "import autograph as ag\n" in page.repaired
    assert "assert " in page.repaired and page.fails != page.repaired


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_the_failing_program_fails_with_this_error(path: Path) -> None:
    page = page_of(path)
    with pytest.raises(errors.AutographError) as caught:
        run(page.fails, f"<{page.id} fails>")
    assert caught.value.id == page.id
    assert type(caught.value) is next(e for e in classes().values() if e.id == page.id)
    assert caught.value.advice or page.id == "AG203"
    if caught.value.place is not None:
        assert caught.value.place.file == f"<{page.id} fails>"
        assert 1 <= caught.value.place.line <= len(page.fails.splitlines())


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_the_repaired_program_runs(path: Path) -> None:
    page = page_of(path)
    run(page.repaired, f"<{page.id} repaired>")
