"""Every cell of `tests/corpora/builtins`: Python's value, Python's exception, or the refusal that the list states."""

from __future__ import annotations

import ast
import builtins
import math
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.corpora.builtins import COLUMNS, YES, Row, agree, check, document, mathematics, python_builtins, rows

PAGE = Path(__file__).parents[2] / "docs" / "builtins.md"
EVERY = rows()
CELLS = [pytest.param(r, column, id=f"{r.name} | {column}") for r in EVERY for column in COLUMNS if r.cell(column) is not None]
FOLDER = Path(__file__).parents[1] / "corpora" / "builtins"


@pytest.mark.parametrize(("row", "column"), CELLS)
def test_cell(row: Row, column: str) -> None:
    check(row, column)


LISTS = [r for r in EVERY if r.section.startswith("NumPy") and r.oracle is None and r.array == YES]
_SCALAR_FIRST = "a number or array of NumPy's on the left of a list asks for its numbers before we see it"
NOT_OF_LISTS = {
    "np.mgrid[0:3] * x": _SCALAR_FIRST,
    "np.fromfunction(lambda i: i * x, (3,))": _SCALAR_FIRST,
    "np.int32(2) + x": _SCALAR_FIRST,
    "np.finfo(np.float32).eps + x": _SCALAR_FIRST,
    "np.argmax(np.bincount([1, 1, 2])) + x": _SCALAR_FIRST,
    "n = np.random.default_rng(0).integers(3)`, static": _SCALAR_FIRST,
    "np.isrealobj(x)": "a question about a type, asked of an array everywhere",
    "np.iscomplexobj(x)": "a question about a type, asked of an array everywhere",
    "while np.sum(x) < 9: x = np.add(x, 1.0)": "the list becomes an array in the loop",
}


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
@pytest.mark.parametrize("row", [pytest.param(r, id=r.label) for r in LISTS])
def test_lists_of_traced_numbers(row: Row) -> None:
    """What takes a traced array takes a list of traced numbers as NumPy does."""
    numbers = np.array(row.x.array)
    numbers = numbers.astype(np.float32) if numbers.dtype.kind == "f" else numbers
    try:
        with np.errstate(all="ignore"):
            want = row.function(numbers.tolist())
    except Exception:
        return  # Python takes no list there

    def of_lists(x: Any) -> Any:
        return row.function([*x] if x.ndim == 1 else [[*y] for y in x])

    if row.label.strip("`") in NOT_OF_LISTS:
        with pytest.raises(ag.AutographError):
            ag.function(of_lists)(jnp.array(numbers))
    else:
        agree(ag.function(of_lists)(jnp.array(numbers)), want)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "run `python -m tests.corpora.builtins --update`"


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
