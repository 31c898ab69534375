"""Every statement that holds statements, in every other, with every jump: as in Python in every form, or refused for a stated reason."""

from __future__ import annotations

import itertools

import pytest

from tests.corpora.nesting.forms import FORMS, check, defined
from tests.corpora.nesting.programs import FRAMES, PRELUDE, Program, table

# What an `except` or a jumping `finally` would have to do with an error that is data-dependent.
REFUSED = ("AG404: an `except` around this may catch a data-dependent ValueError", "AG404: the `finally` of this `try` may end by")


def may_be_refused(p: Program) -> bool:
    """Whether a row of the table may be refused: what raises stands in a `try` that catches it, or whose `finally` may give it up."""
    return (
        p.jump == "raise" and "try, except" in p.frames or "finally" in p.frames and p.jump in ("raise", "return", "return if", "break", "continue")
    )


def judge(programs: list[Program]) -> None:
    for p in programs:
        for form, what in check(p).items():
            assert what.startswith(REFUSED) and may_be_refused(p), f"{p.name}, {form}: {what}\n{p.source}"


@pytest.mark.parametrize("outer", FRAMES)
def test_depth_1(outer: str) -> None:
    judge([p for p in table(1) if p.frames[0] == outer])


@pytest.mark.parametrize(("outer", "inner"), [*itertools.product(FRAMES, repeat=2)], ids=lambda name: name)
def test_depth_2(outer: str, inner: str) -> None:
    judge([p for p in table(2) if p.frames == (outer, inner)])


def test_a_difference_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong = Program(("if",), "return", True), defined(PRELUDE + Program(("if",), "none", True).source, "<other>")
    monkeypatch.setitem(FORMS, "other", lambda p, f: FORMS["static"](p, wrong))
    assert check(right, ("static",)) == {}
    assert check(right, ("other",))["other"].startswith("wrong: ")
