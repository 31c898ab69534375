"""Lists of which some items are selected by a mask of the same length."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any


def pick(mask: Sequence[bool], xs: Iterable[Any]) -> list[Any]:
    """The items that are selected."""
    return [x for m, x in zip(mask, xs, strict=True) if m]


def drop(mask: Sequence[bool], xs: Iterable[Any]) -> list[Any]:
    """The items that are not."""
    return [x for m, x in zip(mask, xs, strict=True) if not m]


def merge(mask: Sequence[bool], on: Iterable[Any], off: Iterable[Any]) -> list[Any]:
    """The list of which `on` is picked and `off` is dropped."""
    picked, dropped = iter(on), iter(off)
    return [next(picked) if m else next(dropped) for m in mask]


def split(xs: Iterable[Any], *counts: int) -> list[list[Any]]:
    """The first items, the next ones, ..., and the rest."""
    items = iter(xs)
    return [list(itertools.islice(items, n)) for n in counts] + [list(items)]
