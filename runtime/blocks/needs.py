"""What the trace of a whole function finds that it lacks: the function is traced again with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from autograph.runtime.buffers import GivenAnother
from autograph.runtime.heap import HeapLocation


class NeedsState(BaseException):
    """A trace has found that the function changes places that are not among its inputs; or that a place is given `another` array.

    `pinned` are places whose numbers have to be constants, or else the trace is refused with `refusal`.
    """

    def __init__(
        self, places: Sequence[HeapLocation] = (), dynamic: Collection[Any] = (), another: GivenAnother | None = None,
        pinned: Sequence[HeapLocation] = (), refusal: Exception | None = None,
    ) -> None:  # fmt: skip
        self.places, self.dynamic, self.another, self.pinned, self.refusal = places, set(dynamic), another, pinned, refusal
