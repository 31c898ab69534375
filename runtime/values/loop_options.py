"""`with ag.loop(max_steps=100):` — what the user says about the loops that stand directly in the block."""

from __future__ import annotations

import threading
from types import FrameType, TracebackType
from typing import NamedTuple

from autograph.runtime.errors.source_spans import caller
from autograph.runtime.values.values import traced


class Hints(NamedTuple):
    max_steps: int | None = None
    unroll: int = 1
    checkpoints: int | None = None
    exceeded: str = "error"


class _Active(threading.local):
    def __init__(self) -> None:
        self.stack: list[tuple[FrameType | None, Hints]] = []
        self.rolls: list[str] = []


_active = _Active()


class loop:
    """Hints for the loops that stand directly in a `with` block, in the same function.

    Args:
      max_steps: a staged `while` or `for` that would make more iterations raises StepLimitError (AG503); the iterations of a loop that runs in
      Python are not counted.
      exceeded: "error", or "nan": the loop ends after `max_steps` iterations, and the floats that it changes are nan. Such a program needs
        nobody to read errors.
      unroll: how many iterations a compiled loop over rows or a range of known length makes at once.
      checkpoints: how many states each level of reverse mode stores in a loop of unknown length, instead of what a budget of 32 MiB gives: more is
        faster and takes more memory.

    >>> import autograph as ag
    >>> @ag.function
    ... def halvings(x):
    ...     n = 0
    ...     with ag.loop(max_steps=200):
    ...         while x > 1:
    ...             x, n = x / 2, n + 1
    ...     return n
    >>> int(halvings(1000.0))
    10
    """

    def __init__(self, *, max_steps: int | None = None, unroll: int = 1, checkpoints: int | None = None, exceeded: str = "error") -> None:
        if max_steps is not None and (type(max_steps) is not int or max_steps < 0):
            if traced(max_steps):
                raise ValueError("max_steps is a static number, and a traced value is given: make it static (`static_argnames`)")
            raise ValueError(f"max_steps is a number of iterations, not {max_steps!r}")
        if type(unroll) is not int or unroll < 1:
            raise ValueError(f"unroll is a positive number of iterations, not {unroll!r}")
        if checkpoints is not None and (type(checkpoints) is not int or checkpoints < 2):
            raise ValueError(f"checkpoints is a number of stored states, at least 2, not {checkpoints!r}")
        if exceeded not in ("error", "nan"):
            raise ValueError(f"exceeded is 'error' or 'nan', not {exceeded!r}")
        self.hints = Hints(max_steps, unroll, checkpoints, exceeded)

    def __enter__(self) -> None:
        _active.stack.append((caller(), self.hints))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        _active.stack.pop()


def hints_here() -> Hints:
    """The hints for the loop operator that the user's code is calling."""
    if not _active.stack:
        return Hints()
    frame = caller()
    return next((hints for f, hints in reversed(_active.stack) if f is frame), Hints())


class loops:
    """How loops over ranges that are known when they are traced become programs, in whatever is traced in the block:
    around a call, or in the function itself.

    Args:
      roll: "auto": one compiled iteration from some 250 operations on, wherever it can be; "always": however few; "never": iteration by iteration.
        `ag.range(rolled=)` and `ag.static_range` decide for one loop.

    What has been compiled stays as it is: the setting counts when a function is traced.

    >>> import autograph as ag
    >>> def powers(x):
    ...     for _ in range(10):
    ...         x = x * 1.5
    ...     return x
    >>> with ag.loops(roll="always"):
    ...     print(ag.explain(powers, 1.0).statements[0].became)
    scan of 10 iterations

    Raises:
      ValueError: another word than these.
    """

    def __init__(self, *, roll: str) -> None:
        if roll not in ("auto", "always", "never"):
            raise ValueError(f"roll is 'auto', 'always' or 'never', not {roll!r}")
        self.roll = roll

    def __enter__(self) -> None:
        _active.rolls.append(self.roll)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        _active.rolls.pop()

    def everywhere(self) -> None:
        """From now on, in all threads: `ag.loops(roll="never").everywhere()`."""
        global _roll
        _roll = self.roll


_roll = "auto"


def rolling() -> str:
    """How loops over known ranges become programs now."""
    return _active.rolls[-1] if _active.rolls else _roll
