"""Small programs with state, in every form, against Python: results, exceptions, printed lines, objects and globals after each call."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE / "differential"))

import state_runs  # noqa: E402
import stateful  # noqa: E402
from programs import Program  # noqa: E402


def _load() -> list[tuple[str, str, list[tuple[Any, ...]]]]:
    spec = importlib.util.spec_from_file_location("state_programs", HERE / "corpora" / "programs" / "state.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAMS


# What is refused, and where: loops and branches in which only traced values tell whose list it is.
REFUSED = {
    "E5 an item of a list at a traced index is a copy": {"function": "AG405"},
    "E14 a loop that may put a global list into an attribute": {"function": "AG401"},
}
PLAIN = "the plain form on concrete arrays: "
WRONG = {
    ("X12 item store through __setitem__, object", "plain"): PLAIN + "special methods are converted in traces only",
    ("X12 item store through __setitem__, object", "static"): PLAIN + "special methods are converted in traces only",
    ("X13 property setter storing array", "plain"): PLAIN + "special methods are converted in traces only",
    ("X13 property setter storing array", "static"): PLAIN + "special methods are converted in traces only",
}
CASES = [
    pytest.param(title, text, inputs, form, id=f"{title}-{form}", marks=[pytest.mark.xfail(reason=why, strict=True)] if why else [])
    for title, text, inputs in _load()
    for form in state_runs.FORMS
    if form != "xla"
    for why in [WRONG.get((title, form), "")]
]


@pytest.mark.parametrize(("title", "text", "inputs", "form"), CASES)
def test_program(title: str, text: str, inputs: list[Any], form: str) -> None:
    source = stateful.MODULE + text + ("" if "def state" in text else "\ndef state():\n    return ()\n")
    made = [
        tuple(np.arange(4, dtype=np.int32) if x == "V" else np.int32(x) if isinstance(x, int) else np.float32(x) for x in args) for args in inputs
    ]
    number = next(k for k, (t, _, _) in enumerate(_load()) if t == title)
    runner = state_runs.StateRunner(Program(number, source, made, kind="stateful"), [form])
    expected = REFUSED.get(title, {}).get(form)
    assert runner.refused == ({form: expected} if expected else {})
    assert not runner.failures, runner.failures[0]
