"""Calls of functions that only read the lists that they are given, so that the lists may become longer afterwards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autograph.runtime.calls.callees import call
from autograph.runtime.errors.errors import EffectError
from autograph.runtime.errors.source_spans import here

_reads: Callable[[Any, int | str], bool] = lambda f, place: True  # noqa: E731 the runtime alone: the transpiler has asked


def install(reads: Callable[[Any, int | str], bool]) -> None:
    """Hand in what says whether a function only reads its argument at a place."""
    global _reads
    _reads = reads


def reading(f: Any, *places: int | str) -> Any:
    """What to call in the place of `f`, which by the text of its file only reads the lists at these places.

    Sound, because the function that the name stands for now is looked at again: one that another module has put there may keep the list.
    """
    return functools.partial(_checked, f, call(f), places)


def _checked(f: Any, new: Callable[..., Any], places: tuple[int | str, ...], /, *args: Any, **kwargs: Any) -> Any:
    for place in places:
        if not _reads(f, place):
            name = getattr(f, "__name__", "a function")
            raise EffectError(
                f"`{name}` is given a list that becomes longer, and it is no longer the function of this file", here(),
                f"give the function that stands for `{name}` now another name, and the list to nothing that keeps it",
            )  # fmt: skip
    return new(*args, **kwargs)
