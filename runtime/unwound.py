"""Arrays that a call had stored into when it raised: the caller's names still hold the old ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import jax

from autograph.runtime._jax import aval_of
from autograph.runtime.frames import frames
from autograph.runtime.heap import Contents, Entry, HeapLocation
from autograph.runtime.lifted import touch
from autograph.runtime.places import is_block
from autograph.runtime.raw_errors import mark_of
from autograph.runtime.shared import origin

_LEFT = "_autograph_left"  # kept with the exception: those of Python have no weak references


def leave(error: BaseException, name: str, parameters: Iterable[tuple[Any, str]]) -> None:
    """Note what the parameters of the function `name`, which an error leaves, held: pairs of what each was given and its name."""
    held = parameters_at(error.__traceback__, name)
    for given, parameter in parameters:
        after = became(error, held.get(parameter, given))
        if after is not given and isinstance(after, jax.Array):
            vars(error).setdefault(_LEFT, []).append((given, after, name))


@contextmanager
def told_exactly(given: Sequence[Any]) -> Iterator[None]:
    """A call that stores into arrays: of those that places outside hold it gives what they held when an error occurred."""
    root = next((f for f in frames() if f.root), None)
    before = root is None or root.exact
    if root is not None and not before:
        held = {id(origin(place.get())) for place in root.reached}
        root.exact = any(id(origin(x)) in held for x in given)
    exact = root is not None and root.exact
    yield
    if root is not None and not exact:
        root.exact = False


def is_exact() -> bool:
    """Whether arrays hold what was stored before an error which only traced values know."""
    return any(f.exact for f in frames())


def parameters_at(tb: TracebackType | None, name: str) -> dict[str, Any]:
    """The variables of the outermost converted function of this name that an error left."""
    while tb is not None:
        frame = tb.tb_frame
        if frame.f_code.co_name == name and mark_of(frame.f_code) in ("Form", "Staged"):
            return dict(frame.f_locals)
        tb = tb.tb_next
    return {}


def arrays_at(error: BaseException, given: Sequence[Any]) -> dict[str, Any]:
    """What the array parameters of the block that an error left held, where they are of the type that they were given."""
    tb = error.__traceback__
    while tb is not None and not is_block(tb.tb_frame.f_code):
        tb = tb.tb_next
    if tb is None:
        return {}
    frame, found = tb.tb_frame, {}
    for name, before in zip(frame.f_code.co_varnames[: frame.f_code.co_argcount], given, strict=False):
        held = became(error, frame.f_locals.get(name))
        if isinstance(held, jax.Array) and isinstance(before, jax.Array) and held.ndim and aval_of(held) == aval_of(before):
            found[name] = held
    return found


def became(error: BaseException, x: Any) -> Any:
    """The array that `x` had become when the error was raised."""
    return next((new for old, new, _ in reversed(vars(error).get(_LEFT, ())) if old is x), x)


def stored_before(error: BaseException) -> list[tuple[str, Any]]:
    """The functions that had stored into arrays when the error left them, and the arrays that they were given."""
    return [(name, given) for given, _, name in vars(error).get(_LEFT, ())]


def put_at_error(error: BaseException, places: Sequence[HeapLocation]) -> bool:
    """Whether calls that an error left had stored into arrays; the places outside hold what these had become."""
    for place in places:
        held = place.get()
        if (after := became(error, held)) is not held:
            touch(Contents(place.obj) if isinstance(place, Entry) else place)
            place.put(after)
    return vars(error).pop(_LEFT, None) is not None  # it leaves the trace
