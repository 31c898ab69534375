"""Programs that people who knew the README alone wrote for plain Python: converted they do what they do in Python.

In Python they run on NumPy arrays and numbers; converted on `jnp` arrays, which are traced.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

FILES = sorted((Path(__file__).parents[1] / "corpora" / "programs" / "newcomers").glob("[0-9][0-9]_*.py"))
REFUSED = {
    "27_tax": ("AG404", "an `except` around a data-dependent error"),
    "30_beam": ("AG202", "a list of beams that grows from one to three in a loop with `break`"),
}
FIRST = {"05_mcmc": 1}  # how many of the cases are run: this one compiles 120 turns with random draws
_STUB = "import types\nag = types.SimpleNamespace(function=lambda f=None, **k: f if f is not None else (lambda g: g))"


def load(path: Path, python: bool) -> Any:
    text = path.read_text()
    if python:
        assert "import autograph as ag" in text
        text = text.replace("import autograph as ag", _STUB)
    name = f"<{path.stem} {'python' if python else 'converted'}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = types.ModuleType(f"newcomer_{path.stem}")
    sys.modules[module.__name__] = module  # where `dataclass` looks for it
    exec(compile(text, name, "exec"), module.__dict__)
    if python and hasattr(module, "jnp"):
        module.jnp = np
    return module


def run(module: Any, args: Any) -> tuple[Any, list[str]]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), np.errstate(all="ignore"):
        try:
            value = plain(getattr(module, module.ENTRY)(*args))
        except ag.AutographError:
            raise
        except Exception as error:
            value = type(error).__name__, str(error)
        jax.effects_barrier()
    return value, out.getvalue().splitlines()


def plain(x: Any) -> Any:
    if x is None or isinstance(x, str):
        return x
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return [plain(v) for v in x] if isinstance(x, (list, tuple)) else np.asarray(x, np.float64)


def agree(got: Any, want: Any) -> None:
    if isinstance(want, dict):
        assert isinstance(got, dict) and got.keys() == want.keys()
        for k in want:
            agree(got[k], want[k])
    elif isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            agree(g, w)
    elif want is None or isinstance(want, str):
        assert got == want
    else:
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore::autograph.LargeUnrollWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_program(path: Path) -> None:
    cases = FIRST.get(path.stem, len(load(path, python=True).cases()))
    static = getattr(load(path, python=True), "STATIC", ())
    for k in range(cases):
        python, converted = load(path, python=True), load(path, python=False)
        want, lines = run(python, python.cases()[k])
        given = converted.cases()[k]
        args = [jnp.array(a) if isinstance(a, (int, float, np.ndarray)) and i not in static else a for i, a in enumerate(given)]
        if (refusal := REFUSED.get(path.stem)) is not None:
            try:
                got, said = run(converted, args)
            except ag.AutographError as error:
                assert error.id == refusal[0]
                return
        else:
            got, said = run(converted, args)
        agree(got, want)
        assert said == lines
    assert path.stem not in REFUSED, "it works: take it from the list"
