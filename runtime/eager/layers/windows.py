"""Sizes of windows, and shapes of images and sequences: what convolutions and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here

_TAKEN = {
    1: ("sequences of shape (batch, steps, channels)", "`x[..., None]`"),
    2: ("images of shape (batch, height, width, channels)", "`x[..., None]`"),
}


def sizes(given: Any, rank: int, what: str = "size") -> tuple[int, ...]:
    """One number for each axis, of one for all or of as many.

    Raises:
      LayerError: (AG708) there are others.
    """
    found = (int(given),) * rank if isinstance(given, int) else tuple(int(x) for x in given) if isinstance(given, (tuple, list)) else ()
    if len(found) != rank:
        raise LayerError(f"the {what} is {given!r}", here(), f"give one number{f', or {rank}' if rank > 1 else ''}")
    return found


def checked_padding(padding: str, known: Sequence[str] = ("valid", "same")) -> str:
    """Raises LayerError (AG708) unless it is "valid" or "same"."""
    if not isinstance(padding, str) or padding.lower() not in known:
        raise LayerError(f"there is no padding {padding!r}", here(), f"write {' or '.join(map(repr, known))}")
    return padding.lower()


def check_rank(layer: Layer, shape: Sequence[int], rank: int) -> None:
    """Raises LayerError (AG708) unless this is a shape of sequences (1) or images (2)."""
    if len(shape) != rank + 2:
        taken, advice = _TAKEN[rank]
        raise LayerError(f"`{layer.name}` is given shape {tuple(shape)}, and takes {taken}", here(), f"add the axes that are missing: {advice}")
