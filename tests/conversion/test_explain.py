"""`ag.explain`: what each statement became, which variables it carries and why (docs/explain.md)."""

from __future__ import annotations

import json
import math
from typing import Any
from xml.etree import ElementTree

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


def helper(v: Any) -> Any:
    return v * 2 if v.sum() > 3 else v


def several(x: Any, n: Any) -> Any:
    best = 0
    for k in range(n):
        twice = x[k % 3] * 2
        if twice > best:
            best = twice
    for _ in range(3):
        x = x + 1
    while x.sum() > 1:
        x = helper(x) / 4
        if n > 3:
            n = n - 1
    for row in x:
        best = best + row
    y = 1 if len(x) == 3 else 2
    return best, math.sqrt(best), y


def statement(report: ag.Report, text: str) -> Any:
    return next(s for s in report.statements if s.text.startswith(text))


def variables(report: ag.Report, text: str) -> dict[str, Any]:
    return {v.name: v for v in statement(report, text).variables}


@pytest.fixture(scope="module")
def report() -> ag.Report:
    return ag.explain(several, jnp.ones(3), 3)


@pytest.mark.parametrize(
    ("text", "became"),
    [
        ("for k in range(n)", "while_loop"), ("if twice > best", "select"), ("for _ in range(3)", "unrolled, 3 iterations"),
        ("while x.sum() > 1", "while_loop"), ("if n > 3", "select"), ("for row in x", "scan of 3 iterations"), ("y = 1 if", "Python"),
    ],
)  # fmt: skip
def test_what_a_statement_became(report: ag.Report, text: str, became: str) -> None:
    assert statement(report, text).became == became and statement(report, text).why


def of_a_callee(x: Any) -> Any:
    for i in range(300):
        x = x + jnp.sin(x) * i
    return x


def test_loops_of_callees_are_told() -> None:
    report = ag.explain(lambda x: of_a_callee(x) * 2, 1.0)
    ((loop),) = report.loops
    assert (loop.text, loop.became) == ("for i in range(300):", "scan of 300 iterations")
    assert "loops of what is called" in str(report) and loop.text in report._repr_html_()


def test_why_variables_are_carried(report: ag.Report) -> None:
    first = several.__code__.co_firstlineno
    loop = variables(report, "for k in range(n)")
    assert loop["best"].role == "loop variable" and loop["twice"].role == loop["k"].role == "local"
    assert loop["best"].why == f"written in line {first + 5}; read by the next iteration in line {first + 4}; read after it in line {first + 13}"
    assert "set in every iteration, and not read after" in loop["twice"].why
    assert (loop["best"].before, loop["best"].after) == ("0", "float32[]")
    assert variables(report, "if twice > best")["best"].role == "result"


def test_callees(report: ag.Report) -> None:
    assert [(c.name, c.became) for c in report.calls] == [("helper", "converted"), ("sqrt", "replaced")]

    @ag.do_not_convert
    def left(x: Any) -> Any:
        return x

    def caller(x: Any) -> Any:
        return left(x)

    (call,) = ag.explain(caller, 1.0).calls
    assert call.became == "as it is" and "do_not_convert" in call.why


def test_the_forms_of_a_report(report: ag.Report) -> None:
    text = str(report)
    assert text.startswith("several  ") and "while_loop: the trip count is data-dependent" in text
    assert "\x1b[" not in text and "\x1b[" in report.text(colour=True)
    assert json.loads(report.to_json())["statements"][0]["variables"][0]["name"] == "best"
    assert "<table>" in report._repr_html_() and "if twice &gt; best" in report._repr_html_().replace("&nbsp;", " ")
    svg = ElementTree.fromstring(report.svg())
    texts = {"".join(t.itertext()) for t in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {"best: 0 → float32[]", "while_loop", "select"} <= texts
    boxes = [{k: float(r.get(k, 0)) for k in ("x", "y", "width", "height")} for r in svg.iter("{http://www.w3.org/2000/svg}rect") if r.get("rx")]
    assert len(boxes) == 7
    for a in boxes:  # they lie inside each other, or apart
        for b in boxes:
            apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"] or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]
            inside = any(p["x"] <= q["x"] and q["x"] + q["width"] <= p["x"] + p["width"] and p["y"] <= q["y"] for p, q in ((a, b), (b, a)))
            assert a is b or apart or inside


def test_without_arguments_only_the_text_is_explained() -> None:
    report = ag.explain(several)
    assert not report.traced and not any(s.became for s in report.statements)
    assert variables(report, "for k in range(n)")["best"].role == "loop variable"
    assert "give example arguments" in str(report)


def test_an_error_of_the_trace_is_part_of_the_report() -> None:
    def grows(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = jnp.concatenate([x, x])
        return x

    report = ag.explain(grows, jnp.ones(2), 3)
    assert "AG201" in report.error and "error: " in str(report)


def test_what_is_not_reached() -> None:
    def early(x: Any, flag: bool = False) -> Any:
        if flag:
            while x > 1:
                x = x / 2
        return x

    report = ag.explain(early, 3.0)
    assert statement(report, "if flag").became == "Python" and statement(report, "while x > 1").became == "not reached"


def test_a_function_a_method_and_a_lambda() -> None:
    class Model:
        @ag.function
        def step(self, x: Any) -> Any:
            if x > 0:
                x = x * 2
            return x

    assert statement(ag.explain(Model().step, 1.0), "if x > 0").became == "select"
    staged = ag.function(helper)
    assert ag.explain(staged, jnp.ones(3)).statements[0].became == "select"
    assert ag.explain(lambda x: x if x > 0 else -x, 1.0).statements[0].became == "select"


def test_explaining_leaves_no_trace() -> None:
    from autograph.runtime.state.decisions import watching

    ag.explain(helper, jnp.ones(3))
    assert not watching()


class Counts:
    def __init__(self) -> None:
        self.n, self.h = 0, np.zeros(3, np.float32)

    def run(self, x: Any) -> Any:
        while x > 1:
            x /= 2
            self.n += 1
            self.h[0] += x
        if x > 0.7:
            self.n = self.n * 2
        return x


def test_places_that_loops_and_branches_change() -> None:
    loop, branch = ag.explain(Counts().run, 20.0).statements
    assert [(v.name, v.role, v.after, v.why) for v in loop.variables[1:]] == [
        ("self.n", "place", "int32[]", "changed in its iterations"),
        ("self.h", "place", "float32[3]", "changed in its iterations"),
    ]
    assert [(v.name, v.role, v.after, v.why) for v in branch.variables] == [("self.n", "place", "int32[]", "changed in a branch")]
