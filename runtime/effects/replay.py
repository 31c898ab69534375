"""Host effects of a function that is traced again: each is made once, and the later trace receives what it gave.

A whole function is traced again when its trace has found that it lacks something: state that has to be an input (`NeedsState`), which array is
which (`NeedsTags`), NumPy arrays (`NeedsArrays`).  What tracing has changed in Python's objects is undone; an item that an iterator has given, a
line in a file, a number that a generator has drawn cannot be.  So what such a call gave is kept until a trace of the function stands, by the
object that it was made of: a call of the same object takes it, in the same order, and the effect is not made twice.  This is sound because the
trace that is made again sees the same state and takes the same way; where it takes another one, calls of which nothing is kept are made.

Bytes and numbers in buffers (`array.array`, `memoryview`) are put back.  An iterator from which items were taken by other ways than `next` cannot be
put back, and what took them is not known: that is an error.

What a trace has made itself (a generator, a `StringIO`) is another object in the next trace, and keeps nothing from before.
"""

from __future__ import annotations

import array
import threading
from collections.abc import Callable
from typing import Any

from autograph.runtime.state.iterators import Positions
from autograph.runtime.tracing.trace_context import Retrace
from autograph.runtime.values.values import traced


class _Log(threading.local):
    def __init__(self) -> None:
        self.depth = 0  # of functions that are being traced
        self.again = False  # is the function traced again whose trace was the last?
        self.kept: dict[Any, list[tuple[Any, Any, Exception | None]]] = {}  # by object and name: the object, and what calls gave or raised
        self.taken: dict[Any, int] = {}  # how many of them this trace has had
        self.buffers: list[tuple[Any, Any]] = []  # that this trace changes, and what they held


_log = _Log()


class EffectsOnce:
    """Around the traces of a function in one call; `rewind` where one begins again.  After a `Retrace` the caller traces it again.

    `reached` are the function and its arguments: what iterators they hold is looked at.
    """

    def __init__(self, *reached: Any) -> None:
        self._reached = reached

    def __enter__(self) -> EffectsOnce:
        if _log.depth == 0:
            if not _log.again:
                _log.kept = {}
            _log.again, _log.taken = False, {}
        _log.depth += 1
        self._mark, self._buffers = dict(_log.taken), len(_log.buffers)
        self._positions = Positions(self._reached)
        return self

    def any_made(self) -> bool:
        """Whether anything was made that the same code would make once more in another function's trace."""
        return bool(_log.kept) or len(_log.buffers) > self._buffers or self._positions.moved()

    def rewind(self) -> None:
        """Undo what can be undone.

        Raises:
          EffectError: (AG405) an iterator has given items to other code than `next`.
        """
        _log.taken = dict(self._mark)
        for buffer, held in reversed(_log.buffers[self._buffers :]):
            _put_back(buffer, held)
        del _log.buffers[self._buffers :]
        self._positions.check_again({key[0] for key in _log.kept})

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        _log.depth -= 1
        again = False
        try:
            if kind is not None and issubclass(kind, Retrace):
                self.rewind()
                again = True
        finally:
            if _log.depth == 0:
                _log.again = again
                if not again:
                    _log.kept, _log.taken, _log.buffers = {}, {}, []


def will_change(buffer: Any) -> None:
    """Called before an `array.array` or a `memoryview` changes, while a function is traced."""
    if _log.depth:
        _log.buffers.append((buffer, buffer[:] if isinstance(buffer, array.array) else bytes(buffer)))


def _put_back(buffer: Any, held: Any) -> None:
    if isinstance(buffer, array.array):
        del buffer[:]
        buffer.extend(held)
    else:
        buffer[:] = memoryview(held).cast("B").cast(buffer.format)


def forget() -> None:
    """A call begins, no trace of which has been made."""
    if _log.depth == 0:
        _log.again = False


def once(owner: Any, name: str, effect: Callable[..., Any]) -> Callable[..., Any]:
    """`effect`, a call of something of `owner`; where the function is traced again, what it gave the first time."""
    if _log.depth == 0:
        return effect

    def replayed(*args: Any, **kwargs: Any) -> Any:
        key = id(owner), name
        kept, count = _log.kept.setdefault(key, []), _log.taken.get(key, 0)
        if count < len(kept):
            _log.taken[key] = count + 1
            _, out, error = kept[count]
            if error is not None:
                raise error.with_traceback(None)
            return out
        out, error = None, None
        try:
            out = effect(*args, **kwargs)
            return out
        except Exception as raised:
            error = raised
            raise
        finally:
            if not traced(out):  # a tracer does not outlive its trace: the effect was one on values of this trace
                kept.append((owner, out, error))
                _log.taken[key] = count + 1
            error = None

    return replayed
