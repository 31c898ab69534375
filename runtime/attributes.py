"""Stores into attributes: refused where a staged block would run them at another time, or where a traced value would outlive its trace."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from autograph.runtime.effects import Change
from autograph.runtime.errors import AttributeStateError
from autograph.runtime.frames import changed, watched
from autograph.runtime.leaks import stored
from autograph.runtime.places import here

IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv, "%=": operator.imod,
    "**=": operator.ipow, "@=": operator.imatmul, "<<=": operator.ilshift, ">>=": operator.irshift, "&=": operator.iand, "|=": operator.ior,
    "^=": operator.ixor,
}  # fmt: skip


_MISSING = object()


def set_attr(obj: Any, name: str, value: Any) -> None:
    """`obj.name = value`.

    Raises:
      AttributeStateError: (AG401) in a staged block, of an object that the block did not make.
    """
    if watched():
        _log_store(obj, name)
    stored(obj, name, value)
    setattr(obj, name, value)


def _log_store(obj: Any, name: str) -> None:
    place, old = here(), getattr(obj, "__dict__", {}).get(name, _MISSING)

    def undo(obj: Any) -> None:
        if old is not _MISSING:
            setattr(obj, name, old)
        elif hasattr(obj, "__dict__"):
            obj.__dict__.pop(name, None)

    what, advice = f"`{type(obj).__name__}.{name}` is set", f"keep the value in a local variable, and set `.{name}` after the loop or branch"
    changed(lambda: Change(obj, what, place, undo, AttributeStateError, advice))


def update_attr(obj: Any, name: str, symbol: str, value: Any) -> None:
    """`obj.name += value` (or another operator)."""
    set_attr(obj, name, IN_PLACE[symbol](getattr(obj, name), value))
