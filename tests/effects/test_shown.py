"""Objects in printed text: what they show of themselves when they are printed, also where that is traced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import pytest

import autograph as ag


class Temperature:
    def __init__(self, celsius: Any) -> None:
        self.celsius = celsius

    def __repr__(self) -> str:
        return f"Temperature({self.celsius:.1f})"


class Price:
    def __init__(self, amount: Any) -> None:
        self.amount = amount

    def __format__(self, spec: str) -> str:
        return "EUR " + format(self.amount, spec or ".2f")

    def __str__(self) -> str:
        return f"{self.amount:.3f} euros"


@dataclass
class Reading:
    name: str
    at: Temperature
    hidden: int = field(default=0, repr=False)


def test_objects_show_what_they_are_when_they_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        t = Temperature(x)
        print(t, Price(x), Reading("r", t), [t, 1], (t,), {"k": t}, sep=" | ")
        print(f"{t} {t!r} {Price(x):.1f} {Price(x)} {Price(x)!s:>14} {{}}", "%s and %r at %d%%" % (t, t, 3), "%s" % Price(x))  # noqa: UP031
        print(str(t), repr(Reading("q", t)), format(Price(x), ".4f"), "{0} {1.celsius:.2f} {k}".format(t, t, k=Price(x)))  # noqa: UP032
        if x > 0:
            t.celsius = t.celsius + 1
            print("changed", t)
        t.celsius = t.celsius * 2
        print(t)
        return x

    for x in (1.0, -2.0):
        f(x)
        want = capsys.readouterr().out
        ag.function(f)(x)
        jax.effects_barrier()
        assert capsys.readouterr().out == want
