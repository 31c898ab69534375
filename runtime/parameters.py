"""Parameters that a function changes in place otherwise than by a subscript: its callers would notice, if they hold NumPy arrays."""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from autograph.runtime.errors import ArrayStoreError, Place
from autograph.runtime.frames import in_block
from autograph.runtime.numpy_calls import METHODS_IN_PLACE
from autograph.runtime.places import place_in
from autograph.runtime.points_to import is_numpys
from autograph.runtime.shared import aliasable
from autograph.runtime.values import traced
from autograph.runtime.views import note_change


def changed_in_place(code: CodeType, stored_into: Sequence[str]) -> dict[str, Place]:
    """The parameters that code changes in place otherwise than by a subscript, and where: by `a += v`, if no other assignment comes before,
    by `a.sort()`, or by one of these through another name, `b = a`.
    """
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found: dict[str, Place] = {}
    holds: dict[str, str] = {p: p for p in parameters}  # which parameter a variable holds, as far as the order of the text tells
    before: dis.Instruction | None = None
    for instruction in dis.get_instructions(code):
        name, loaded = instruction.argval, before is not None and before.opname.startswith("LOAD_FAST")
        if instruction.opname == "STORE_FAST" and before is not None:
            if before.opname == "BINARY_OP" and before.argrepr.endswith("="):
                if name in holds or name in stored_into:
                    found.setdefault(holds.get(name, name), place_in(code, before.offset, _line(before)))
            elif loaded and isinstance(before.argval, str) and before.argval in holds:
                holds[name] = holds[before.argval]
            else:
                holds.pop(name, None)
        elif before is not None and loaded and name in METHODS_IN_PLACE and isinstance(before.argval, str):
            if before.argval in holds or before.argval in stored_into:
                found.setdefault(holds.get(before.argval, before.argval), place_in(code, instruction.offset, _line(instruction)))
        if instruction.opname not in ("CACHE", "EXTENDED_ARG"):
            before = instruction
    return found


def _line(instruction: dis.Instruction) -> int:
    return (instruction.positions.lineno if instruction.positions is not None else None) or 0


@functools.lru_cache(maxsize=1024)
def _changed(code: CodeType, file: str) -> dict[str, Place]:  # code objects of two files may compare equal
    return changed_in_place(code, ())


def refusing(f: Any, new: Callable[..., Any]) -> Callable[..., Any]:
    """`new`, which is a function of the user's converted: it refuses arrays that the function would change, and its caller keep as they are."""
    code = getattr(getattr(f, "__func__", f), "__code__", None)
    if new is f or not isinstance(code, CodeType) or not (changed := _changed(code, code.co_filename)):
        return new

    def checked(*args: Any, **kwargs: Any) -> Any:
        if any(map(aliasable, (*args, *kwargs.values()))) and (in_block() or traced(args, kwargs)):
            given = inspect.signature(f).bind(*args, **kwargs).arguments
            for name, place in changed.items():
                note_change(given.get(name), place)
                if is_numpys(given.get(name)):
                    raise ArrayStoreError(
                        f"`{name}` is a NumPy array that this function changes in place, and the caller's would not change", place,
                        f"store into it (`{name}[...] += ...`), or return a new one (`{name} = {name} + ...`)",
                    )  # fmt: skip
        return new(*args, **kwargs)

    return checked
