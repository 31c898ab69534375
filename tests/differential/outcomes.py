"""What running a program can give: an exception of Python, a difference from Python, no end; and running many in processes."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

SECONDS = 20  # of the processor that one form of a program may take
WAITING = 10  # times as long it may take by the clock: others may use the machine


class Late(Exception):
    """A form did not end in time."""


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise Late in this block after so many seconds of the processor, or WAITING times as many by the clock."""
    busy, began = time.process_time(), time.monotonic()

    def late(*_: object) -> None:
        if time.process_time() - busy >= seconds or time.monotonic() - began >= WAITING * seconds:
            raise Late(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again: an exception in a finalizer is ignored
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def in_processes(run: Callable[..., Any], numbers: range, chunk: int, jobs: int, *args: Any) -> Iterator[Any]:
    """`run(part, *args)` for parts of some numbers, each in a process of its own: its caches end with it."""
    parts = [numbers[i : i + chunk] for i in range(0, len(numbers), chunk)]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        yield from pool.map(run, parts, *([a] * len(parts) for a in args))


@dataclass
class Failure:
    """A form of a program that differs from Python."""

    form: str
    inputs: int  # which of the inputs
    got: str
    want: str
    trace: str = ""

    @property
    def signature(self) -> tuple[str, str]:
        """What stays the same while the program is reduced."""
        return self.form, self.got.split(":")[0] if self.trace or "Error" in self.got else ""

    @property
    def of_unset(self) -> bool:
        """Whether a variable was said to be unset that Python finds set."""
        return self.got.startswith(("UnboundLocalError", "NameError", "AG301"))


@dataclass
class Raised:
    """An exception that Python raised."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    def __eq__(self, other: object) -> bool:
        """TypeErrors name the types of operands, which are arrays where Python has numbers."""
        return isinstance(other, Raised) and self.kind == other.kind and (self.kind == "TypeError" or self.message == other.message)
