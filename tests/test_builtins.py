"""Every cell of `tests/builtins`: Python's value, Python's exception, or the refusal that the list states."""

from __future__ import annotations

import ast
import builtins
import math
from pathlib import Path

import pytest

from tests.builtins import COLUMNS, Row, check, document, mathematics, python_builtins, rows

PAGE = Path(__file__).parent.parent / "docs" / "builtins.md"
EVERY = rows()
CELLS = [pytest.param(r, column, id=f"{r.name} | {column}") for r in EVERY for column in COLUMNS if r.cell(column) is not None]
FOLDER = Path(__file__).parent / "builtins"


@pytest.mark.parametrize(("row", "column"), CELLS)
def test_cell(row: Row, column: str) -> None:
    check(row, column)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "run `python -m tests.builtins --update`"


def test_every_refusal_has_a_page() -> None:
    for error in {e for r in EVERY for e in r.refusals().values()}:
        assert (PAGE.parent / "errors" / f"{error}.md").exists(), error


def test_every_builtin_is_accounted_for() -> None:
    named = {n.id for path in FOLDER.glob("*.py") if path.name != "__init__.py" for n in ast.walk(_lambdas(path)) if isinstance(n, ast.Name)}
    left_out = " ".join(python_builtins.LEFT_OUT.values()).split()
    errors = {n for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException)}
    every = {n for n in dir(builtins) if not n.startswith("_")} - errors - {"True", "False", "None"}
    assert every <= named | set(left_out), sorted(every - named - set(left_out))
    assert not named & set(left_out), sorted(named & set(left_out))


def test_every_function_of_math_is_accounted_for() -> None:
    nodes = ast.walk(_lambdas(FOLDER / "mathematics.py"))
    named = {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "math"}
    left_out = " ".join(mathematics.LEFT_OUT.values()).split()
    every = {n for n in dir(math) if not n.startswith("_")}
    assert every <= named | set(left_out), sorted(every - named - set(left_out))
    assert not named & set(left_out), sorted(named & set(left_out))


def _lambdas(path: Path) -> ast.Module:
    """The functions of the rows of a file, and nothing around them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.Lambda, ast.FunctionDef))]
    return ast.Module([s for f in functions for s in (f.body if isinstance(f, ast.FunctionDef) else [ast.Expr(f.body)])], [])
