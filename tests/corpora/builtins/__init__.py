"""Builtins, `math`, NumPy and host effects in converted code, as data: one module for each, one lambda or small function for each row.

    row = partial(entry, "Numbers", x=REALS)
    row(lambda x: abs(x))
    row(lambda x: bin(x), x=INTS, scalar="AG502", array=TypeError, why=TEXT)

Each row has a cell for a traced scalar, a traced array and static values. A cell is `yes` (the value of the function as it is written, on concrete
values), an exception that Python raises too, or the id of the error that refuses it. `tests/tables/test_builtins.py` runs every cell;
`python -m tests.corpora.builtins --update` makes `docs/builtins.md` of the same data.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib
import io
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag

MODULES = ("idioms", "python_builtins", "mathematics", "numpy_functions", "effects")
COLUMNS = {"scalar": "traced scalar", "array": "traced array", "static": "static"}
YES = "yes"

Cell = str | type[Exception] | None  # `yes`, the id of an error, an exception that Python raises too; None: makes no sense there


@dataclass(frozen=True)
class Inputs:
    """What `x` is: a number, and rows of numbers."""

    scalar: Any
    array: Any

    def static(self) -> tuple[Any, Any]:
        return self.scalar, np.array(self.array)


REALS = Inputs(2.5, [0.5, 3.0, 1.5])
INTS = Inputs(3, [3, 1, 2])
INDICES = Inputs(1, [2, 0, 1])
UNITS = Inputs(0.25, [0.25, -0.5, 1.0])
BOOLS = Inputs(True, [True, False, True])
MATRICES = Inputs(2.5, [[4.0, 1.0], [2.0, 3.0]])
SYMMETRIC = Inputs(2.5, [[4.0, 1.0], [1.0, 3.0]])


@dataclass(frozen=True)
class Row:
    """One use of a function, and what each column makes of it."""

    label: str
    section: str
    function: Callable[[Any], Any]
    x: Inputs
    scalar: Cell = YES
    array: Cell = YES
    static: Cell = YES
    why: str = ""  # the reason of the refusals
    numpy: bool = False  # the oracle's input is a NumPy array: the function cannot take a `jax.Array`
    oracle: Callable[[Any], Any] | None = None  # where the function itself cannot be one
    in_traces: bool = True  # static values are also tried inside a trace

    @property
    def module(self) -> str:
        return self.function.__module__.rpartition(".")[2]

    @property
    def name(self) -> str:
        return f"{self.section}: {self.label}"

    def cell(self, column: str) -> Cell:
        return getattr(self, column)  # type: ignore[no-any-return]

    def refusals(self) -> dict[str, str]:
        return {c: cell for c in COLUMNS if isinstance(cell := self.cell(c), str) and cell != YES}


REGISTRY: list[Row] = []


def entry(section: str, function: Any = None, *, label: str = "", x: Inputs, why: str = "", **options: Any) -> Any:
    """Register a row: a lambda, whose text is its label, or as a decorator with a label the function below."""
    if function is None:
        assert label, "a decorated function has a label"
        return lambda f: entry(section, f, label=label, x=x, why=why, **options)
    row = Row(label or _text(function), section, function, x, why=why, **options)
    assert bool(row.refusals()) == bool(why), f"{row.name}: a refusal has a reason"
    REGISTRY.append(row)
    return function


def traced(error: str, why: str) -> dict[str, str]:
    """Refused wherever values are traced: `row(lambda x: ..., **traced("AG502", TEXT))`."""
    return {"scalar": error, "array": error, "why": why}


@cache
def _tree(file: str) -> tuple[str, dict[int, ast.Lambda]]:
    """The text of a file and the first lambda of each line."""
    text = Path(file).read_text(encoding="utf-8")
    found = sorted((n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Lambda)), key=lambda n: (n.lineno, -n.col_offset))
    return text, {n.lineno: n for n in found}


def _text(function: Any) -> str:
    text, lambdas = _tree(function.__code__.co_filename)
    segment = ast.get_source_segment(text, lambdas[function.__code__.co_firstlineno].body)
    assert segment is not None
    return f"`{' '.join(segment.split())}`"


@cache
def rows() -> list[Row]:
    """All rows, in the order of the files."""
    for module in MODULES:
        importlib.import_module(f"{__name__}.{module}")
    order = {module: k for k, module in enumerate(MODULES)}
    found = sorted(REGISTRY, key=lambda r: order[r.module])
    names = [r.name for r in found]
    assert len(set(names)) == len(names), f"twice: {sorted({n for n in names if names.count(n) > 1})}"
    return found


# --- the runner --------------------------------------------------------------------------------------------------------------------------------

RAW = (jax.errors.JAXTypeError, jax.errors.JAXIndexError)  # JAX's own words about tracers: never an answer
INPUT = "4\n2\n"  # what `input` reads


@dataclass(frozen=True)
class Outcome:
    """What a call gave or raised, and what it printed."""

    value: Any
    error: Exception | None
    printed: str

    def __str__(self) -> str:
        if self.error is None:
            return f"{self.value!r}"[:300]
        return f"{type(self.error).__name__}: {' '.join(str(self.error).split())}"[:300]


def run(f: Callable[[Any], Any], x: Any) -> Outcome:
    """Call with fixed random numbers, a fixed input and no warnings."""
    value: Any = None
    error: Exception | None = None
    random.seed(0)
    np.random.seed(0)
    out, stdin = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(INPUT)
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = jax.block_until_ready(f(x))
            except Exception as raised:
                error = raised
            jax.effects_barrier()
    finally:
        sys.stdin = stdin
    return Outcome(value, error, out.getvalue())


class Wrong(AssertionError):
    """A cell is not what the list says."""


def check(row: Row, column: str) -> None:
    """Raises Wrong where a cell is not what the list says."""
    expected = row.cell(column)
    if column == "static":
        for x in row.x.static():
            want = run(row.function, copy.deepcopy(x))
            for form, f in _static_forms(row):
                _static(run(f, copy.deepcopy(x)), want, form)
        return
    assert expected is not None
    x = jnp.asarray(getattr(row.x, column))
    got = run(ag.function(row.function), x)
    if isinstance(expected, str) and expected != YES:
        _refused(row, got, expected)
        return
    want = run(row.oracle or row.function, np.array(x) if row.numpy else x)
    if expected == YES:
        if want.error is not None:
            raise Wrong(f"listed as a value, and Python raises {want}")
        if got.error is not None:
            raise Wrong(f"not {want}, but {got}")
        agree(got.value, want.value)
    else:
        _raised(got, want, expected)
    if got.printed != want.printed:
        raise Wrong(f"prints {got.printed!r}, not {want.printed!r}")


def _refused(row: Row, got: Outcome, expected: str) -> None:
    if not isinstance(got.error, ag.AutographError) or got.error.id != expected:
        raise Wrong(f"not {expected}, but {got}")
    place, first = got.error.place, row.function.__code__.co_firstlineno
    if place is None or place.file != row.function.__code__.co_filename or not first <= place.line <= first + 12:
        raise Wrong(f"{expected} at {place}, which is not the user's line: {got}")


def _raised(got: Outcome, want: Outcome, expected: Any) -> None:
    if not isinstance(want.error, expected):
        raise Wrong(f"listed as {expected.__name__}, and Python gives {want}")
    if not isinstance(got.error, expected) or isinstance(got.error, RAW) or "not a valid JAX type" in str(got.error):
        raise Wrong(f"not {want}, but {got}")


def _static_forms(row: Row) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    staged = ag.convert(row.function, form="staged")
    yield "the plain form", ag.convert(row.function)
    yield "the staged form", staged
    if row.in_traces:
        yield "inside a trace", lambda x: _inside(staged, x)


def _inside(f: Callable[[Any], Any], x: Any) -> Any:
    """Call with static values while something is traced."""
    out: list[Any] = []
    jax.jit(lambda _: out.append(f(x)))(0)
    return out[0]


def _static(got: Outcome, want: Outcome, form: str) -> None:
    """With nothing traced: the very value, of the very type."""
    if want.error is not None:
        if not isinstance(got.error, type(want.error)) or isinstance(got.error, RAW):
            raise Wrong(f"{form}: not {want}, but {got}")
        return
    if got.error is not None:
        raise Wrong(f"{form}: not {want}, but {got}")
    try:
        agree(got.value, want.value, exact=True)
    except Wrong as error:
        raise Wrong(f"{form}: {error}") from None
    if got.printed != want.printed:
        raise Wrong(f"{form}: prints {got.printed!r}, not {want.printed!r}")


from autograph.runtime.arrays.numpy_array import plain as known_array  # noqa: E402

NUMBERS = (bool, int, float, complex, np.generic, np.ndarray, jax.Array)
KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


def agree(got: Any, want: Any, exact: bool = False) -> None:
    """The structure, the shapes, the kinds of the dtypes and the values are those of Python; with `exact` the types too."""
    got = known_array(got)
    if isinstance(got, jax.core.Tracer):  # inside of a trace
        if not isinstance(want, jax.Array):
            raise Wrong(f"{want!r} has become traced: {got}")
        if (got.shape, got.dtype) != (want.shape, want.dtype):
            raise Wrong(f"{got!r}, not {want!r}")
        return
    if exact and type(got) is not type(want):
        raise Wrong(f"a `{type(got).__name__}`, not a `{type(want).__name__}`: {got!r}, not {want!r}")
    if isinstance(want, (list, tuple)):
        if not isinstance(got, list if isinstance(want, list) else tuple) or len(got) != len(want):
            raise Wrong(f"{got!r}, not {want!r}")
        for g, w in zip(got, want, strict=True):
            agree(g, w, exact)
    elif isinstance(want, dict):
        if not isinstance(got, dict) or list(got) != list(want):
            raise Wrong(f"{got!r}, not {want!r}")
        for key in want:
            agree(got[key], want[key], exact)
    elif isinstance(want, NUMBERS):
        if not isinstance(got, NUMBERS):
            raise Wrong(f"{got!r}, not {want!r}")
        _numbers(np.asarray(got), np.asarray(want))
    elif not hasattr(want, "__next__"):
        if type(got) is not type(want) or not (got == want):
            raise Wrong(f"{got!r}, not {want!r}")


def _numbers(got: np.ndarray, want: np.ndarray) -> None:
    if got.dtype.kind not in KINDS or want.dtype.kind not in KINDS:
        if not (got.dtype == want.dtype and np.array_equal(got, want)):
            raise Wrong(f"{got!r}, not {want!r}")
        return
    if got.shape != want.shape:
        raise Wrong(f"shape {got.shape}, not {want.shape}: {got!r}, not {want!r}")
    if KINDS[got.dtype.kind] != KINDS[want.dtype.kind]:
        raise Wrong(f"{got.dtype}, not {want.dtype}: {got!r}, not {want!r}")
    if not np.allclose(got, want, rtol=2e-4, atol=1e-5, equal_nan=True):
        raise Wrong(f"{got!r}, not {want!r}")


# --- the page ----------------------------------------------------------------------------------------------------------------------------------


def shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, type):
        return f"`{cell.__name__}`"
    return cell if cell == YES else f"[{cell}](errors/{cell}.md)"


def document() -> str:
    """The text of `docs/builtins.md`."""
    found = rows()
    cells = [r.cell(c) for r in found for c in COLUMNS if r.cell(c) is not None]
    lines = [
        "# Builtins and libraries",
        "",
        "For everybody who asks whether a builtin, or a function of `math` or NumPy, works on a traced value. Made by",
        "`python -m tests.corpora.builtins --update` from `tests/corpora/builtins`; `tests/tables/test_builtins.py` runs every use in every column.",
        "",
        "The columns say what `x` is. `yes`: the use gives Python's value; for a static `x` also its type. An exception: Python raises it too.",
        "An id: the use raises this error; it never gives another number. –: the use makes no sense there.",
        "Traced columns are calls of `@ag.function`. Static columns are `@ag.convert` in both of its variants, outside and inside of a trace.",
        "",
        f"{len(found)} uses in {len(cells)} cells; {cells.count(YES)} cells are `yes`.",
    ]
    for section in dict.fromkeys(r.section for r in found):
        alike: dict[tuple[str, ...], list[str]] = {}
        for r in found:
            if r.section == section:
                alike.setdefault(tuple(shown(r.cell(c)) for c in COLUMNS), []).append(r.label.replace("|", chr(92) + "|"))
        lines += ["", f"## {section}", "", f"| {' | '.join(COLUMNS.values())} | uses |", "|---" * (len(COLUMNS) + 1) + "|"]
        lines += [f"| {' | '.join(cells)} | {', '.join(labels)} |" for cells, labels in alike.items()]
    lines += ["", "## Why a use is an error", ""]
    reasons: dict[tuple[str, str], list[str]] = {}
    for r in found:
        for error in dict.fromkeys(r.refusals().values()):
            reasons.setdefault((error, r.why), []).append(r.label)
    lines += ["| id | reason | uses |", "|---|---|---|"]
    escaped = {key: ", ".join(labels).replace("|", chr(92) + "|") for key, labels in reasons.items()}
    lines += [f"| {shown(error)} | {why} | {labels} |" for (error, why), labels in sorted(escaped.items())]
    return "\n".join([*lines, *_left_out()]) + "\n"


def _left_out() -> list[str]:
    """The names that have no row."""
    lines = ["", "## Names without a row", ""]
    for module in (importlib.import_module(f"{__name__}.python_builtins"), importlib.import_module(f"{__name__}.mathematics")):
        lines += [f"- {', '.join(f'`{n}`' for n in names.split())}: {reason}." for reason, names in module.LEFT_OUT.items()]
    return lines
