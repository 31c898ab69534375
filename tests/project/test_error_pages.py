"""The pages of `docs/errors`: every error that is raised has one, its failing programs fail with it, and the repaired ones run."""

from __future__ import annotations

import ast
import linecache
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from autograph.runtime.errors import errors

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "errors"
PAGES = sorted(FOLDER.glob("AG*.md"))
_TEXT = r"(?P<text>(?:(?!#|```|Fails:)[^\n]*\n)+)"
_PROGRAMS = r"{0}Fails{1}\n\n```python\n(?P<fails>(?:(?!```).)*)```\n\n{0}Repaired{1}\n\n```python\n(?P<repaired>(?:(?!```).)*)```\n"
_HEAD = re.compile(r"# (?P<id>AG\d{3}): (?P<title>[^\n]+)\n\n" + _TEXT)
_ONE = re.compile(_PROGRAMS.format("## ", ""), re.DOTALL)
_SECTION = re.compile(r"## (?P<meaning>[^\n]+)\n\n" + _TEXT + _PROGRAMS.format("", ":"), re.DOTALL)


class Case(NamedTuple):
    """A meaning of an error: a program that fails with it, and the same program repaired.  A page of one meaning has no heading for it."""

    id: str
    meaning: str
    text: str
    fails: str
    repaired: str


class Page(NamedTuple):
    id: str
    title: str
    text: str
    cases: list[Case]


def page_of(path: Path) -> Page | None:
    """A page of one of the two shapes: one meaning, with `## Fails` and `## Repaired`; or a section for each of several meanings."""
    text = path.read_text(encoding="utf-8")
    if (head := _HEAD.match(text)) is None:
        return None
    rest = text[head.end() :]
    if one := _ONE.fullmatch(rest):
        return Page(**head.groupdict(), cases=[Case(head["id"], "", "", **one.groupdict())])
    sections = re.split(r"\n(?=## )", rest)
    cases = [Case(head["id"], **found.groupdict()) for section in sections if (found := _SECTION.fullmatch(section))]
    return Page(**head.groupdict(), cases=cases) if len(cases) == len(sections) > 1 else None


CASES = [case for path in PAGES if (page := page_of(path)) is not None for case in page.cases]
of_every_case = pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.id} {c.meaning}".rstrip())


def sentences(text: str) -> int:
    return len(re.findall(r"[\w`)\"][.?!](?=\s)", text))


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


def test_the_table_lists_every_page_in_order_with_its_title() -> None:
    rows = re.findall(r"^\| \[(AG\d{3})\]\((AG\d{3})\.md\) \| (\S.*) \|$", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [row[0] for row in rows] == [row[1] for row in rows] == [p.stem for p in PAGES]
    pages = {page.id: page.title for page in map(page_of, PAGES) if page is not None}
    assert {row[0]: row[2][0].lower() + row[2][1:] for row in rows} == {id: title[0].lower() + title[1:] for id, title in pages.items()}
    assert len(set(pages.values())) == len(rows)


def test_pages_name_no_error_that_does_not_exist() -> None:
    known = {e.id for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.AutographError)}
    for path in [*PAGES, FOLDER / "README.md"]:
        assert set(re.findall(r"AG\d{3}", path.read_text(encoding="utf-8"))) <= known, path


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_a_page_is_short_and_complete(path: Path) -> None:
    page = page_of(path)
    assert page is not None, "not a title, a text, and programs that fail and that are repaired"
    assert page.id == path.stem
    assert 2 <= sentences(page.text) <= 6
    if len(page.cases) > 1:
        assert len({case.meaning for case in page.cases}) == len(page.cases)
        for case in page.cases:
            assert 5 <= len(case.meaning.split()) <= 8, case.meaning
            assert 1 <= sentences(case.text) <= 3, case.meaning


@of_every_case
def test_the_programs_are_short_and_the_repaired_one_checks_its_result(case: Case) -> None:
    for program in (case.fails, case.repaired):
        assert "import autograph as ag\n" in program
        assert 5 <= sum(bool(line.strip()) for line in program.splitlines()) <= 20
    assert case.fails != case.repaired
    assert isinstance(ast.parse(case.repaired).body[-1], ast.Assert)


@of_every_case
def test_the_failing_program_fails_with_this_error(case: Case) -> None:
    with pytest.raises(errors.AutographError) as caught:
        run(case.fails, f"<{case.id} fails>")
    assert caught.value.id == case.id
    assert type(caught.value) is next(e for e in classes().values() if e.id == case.id)
    assert caught.value.advice
    if caught.value.place is not None:
        assert caught.value.place.file == f"<{case.id} fails>"
        assert 1 <= caught.value.place.line <= len(case.fails.splitlines())


@of_every_case
def test_the_repaired_program_runs(case: Case) -> None:
    run(case.repaired, f"<{case.id} repaired>")
