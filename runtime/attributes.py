"""Stores into attributes: refused where a staged block would run them at another time, or where a traced value would outlive its trace."""

from __future__ import annotations

from typing import Any

from autograph.runtime.block import in_block
from autograph.runtime.errors import AttributeStateError
from autograph.runtime.items import IN_PLACE
from autograph.runtime.leaks import stored
from autograph.runtime.places import here


def set_attr(obj: Any, name: str, value: Any) -> None:
    """`obj.name = value`.

    Raises:
      AttributeStateError: (AG401) in a block that only traced values decide to run.
    """
    if in_block():
        raise AttributeStateError(
            f"`{type(obj).__name__}.{name}` is set in a block that only traced values decide to run", here(),
            f"keep the value in a local variable, and set `.{name}` after the loop or branch",
        )  # fmt: skip
    stored(obj, name, value)
    setattr(obj, name, value)


def update_attr(obj: Any, name: str, symbol: str, value: Any) -> None:
    """`obj.name += value` (or another operator)."""
    set_attr(obj, name, IN_PLACE[symbol](getattr(obj, name), value))
