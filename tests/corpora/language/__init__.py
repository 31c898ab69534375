"""The constructs of Python that converted code may use, as data: one module for each section, one small function for each construct.

    @construct("`if`, `else`", [(1.0,), (-1.0,)], section="Branches")
    def if_else(x):
        ...

`tests/tables/test_language.py` runs every construct in every form and compares it with the function as it is written.
`python -m tests.corpora.language --update` makes `docs/language.md` of the same data. A cell of that table is what a test has verified: the value or
the exception of plain Python, or the error that the construct states.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

MODULES = ("branches", "matching", "membership", "loops", "generators", "blocks", "objects", "types", "optional", "comprehensions")
FORMS = {"static": "not traced", "jit": "`jit`", "vmap": "`vmap`", "jvp": "`jvp`", "vjp": "`grad`"}

F = TypeVar("F", bound=Callable[..., Any])
Args = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Construct:
    """A construct, its inputs, and what each form makes of it."""

    label: str  # as a reader would look for it, in markdown
    section: str
    function: Callable[..., Any]
    inputs: list[Args]
    refused: Mapping[str, str] = field(default_factory=dict)  # form -> id of the error; every other cell is a `yes`
    why: str = ""  # the reason of the refusal
    oracle: Callable[..., Any] | None = None  # for the one extension of Python, `x[i] = v` on an array; otherwise the function itself
    jvp: Callable[..., Any] | None = None  # `(scale, *args)`, for results that cannot be multiplied by a number
    broadcast: bool = False  # a scalar may be broadcast to the shape of the joint type

    @property
    def name(self) -> str:
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"

    def cell(self, form: str) -> str:
        return self.refused.get(form, "yes")


REGISTRY: list[Construct] = []


def construct(
    label: str,
    inputs: Iterable[Args],
    *,
    section: str,
    refused: Mapping[str, str] | None = None,
    why: str = "",
    oracle: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    broadcast: bool = False,
) -> Callable[[F], F]:
    """Register the function below as a construct; the function stays what it is."""
    refused = dict(refused or {})
    if "jvp" in refused:
        refused.setdefault("vjp", refused["jvp"])
    assert refused.keys() <= FORMS.keys() - {"static"}, f"{label}: what is not traced is never refused"
    assert bool(refused) == bool(why), f"{label}: a refusal has a reason"

    def register(f: F) -> F:
        REGISTRY.append(Construct(label, section, f, list(inputs), refused, why, oracle, jvp, broadcast))
        return f

    return register


def traced(error: str) -> dict[str, str]:
    """Refused wherever values are traced."""
    return {"jit": error, "vmap": error, "jvp": error, "vjp": error}


@cache
def constructs() -> list[Construct]:
    """All constructs, in the order of the sections and of the files."""
    for module in MODULES:
        importlib.import_module(f"{__name__}.{module}")
    order = {f"{__name__}.{module}": k for k, module in enumerate(MODULES)}
    found = sorted(REGISTRY, key=lambda c: order[c.function.__module__])
    for key in ("label", "name"):
        values = [getattr(c, key) for c in found]
        assert len(set(values)) == len(values), f"twice: {sorted(v for v in values if values.count(v) > 1)}"
    return found


# --- inputs ------------------------------------------------------------------------------------------------------------------------------------


def each(*values: Any) -> list[Args]:
    """Inputs of functions of one argument."""
    return [(value,) for value in values]


def vectors(*rows: Any, dtype: Any = jnp.float32) -> list[Args]:
    return [(jnp.array(row, dtype),) for row in rows]


def as_array(leaf: Any) -> Any:
    """A number as the array that tracing makes of it, weakly typed; whatever else is no number as it is."""
    return jnp.asarray(leaf) if isinstance(leaf, (bool, int, float, complex, np.generic, np.ndarray)) else leaf


def arrays(args: Args) -> Args:
    return tuple(jax.tree.map(as_array, list(args)))


# --- the tables --------------------------------------------------------------------------------------------------------------------------------


def link(error: str) -> str:
    return error if error == "yes" else f"[{error}](errors/{error}.md)"


def document() -> str:
    """The text of `docs/language.md`."""
    found = constructs()
    everywhere = sum(not c.refused for c in found)
    lines = [
        "# The language",
        "",
        "For everybody who asks whether a construct of Python works in compiled code. Made by `python -m tests.corpora.language --update`",
        "from `tests/corpora/language`; `tests/tables/test_language.py` runs every construct in every form and compares it with plain Python.",
        "",
        f"There are {len(found)} constructs. {everywhere} of them give Python's value, or Python's exception, in every form.",
        "The others stand in tables. There `yes` is the same, and an id is the error that is raised; no form gives another number.",
        "*Not traced* is the converted function on numbers and on arrays, in both of its variants. `jit` is `@ag.function`,",
        "`vmap` is `jax.vmap` of `@ag.convert`, `jvp` is `jax.jvp` and `grad` is `jax.vjp` of `@ag.function`.",
    ]
    for section in dict.fromkeys(c.section for c in found):
        here = [c for c in found if c.section == section]
        lines += ["", f"## {section}", ""]
        if fine := [c.label for c in here if not c.refused]:
            lines += ["Works in every form:", "", *(f"- {label}" for label in fine), ""]
        cells = {c: tuple(link(c.cell(form)) for form in FORMS) for c in here if c.refused}
        if cells:
            lines += [f"| {' | '.join(FORMS.values())} | construct | reason |", "|---" * (len(FORMS) + 2) + "|"]
        for c, row in sorted(cells.items(), key=lambda item: item[1]):
            lines.append(f"| {' | '.join(row)} | {escaped(c.label)} | {escaped(c.why)} |")
    while not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    return text.replace("|", chr(92) + "|")
