"""What the trace of a whole function finds that it lacks: the function is traced again with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from autograph.runtime.values.heap import HeapLocation


class NeedsState(BaseException):
    """A trace has found that the function changes places that are not among its inputs.

    `pinned` are places whose numbers have to be constants, or else the trace is refused with `refusal`.
    """

    def __init__(
        self, places: Sequence[HeapLocation] = (), dynamic: Collection[Any] = (),
        pinned: Sequence[HeapLocation] = (), refusal: Exception | None = None,
    ) -> None:  # fmt: skip
        self.places, self.dynamic, self.pinned, self.refusal = places, set(dynamic), pinned, refusal
