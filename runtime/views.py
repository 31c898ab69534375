"""Rows, slices and other parts of arrays: NumPy's are views, so a store into one changes the array in Python, and no array here is part of another.

Where the array is one of NumPy's that is refused.  A compiled function does not know what of its arguments is NumPy's: it remembers, and calls with
arrays of NumPy's are refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

from autograph.runtime import trees
from autograph.runtime._jax import recording
from autograph.runtime.arrays.numpys import Numpys
from autograph.runtime.errors import AliasError, ArrayStoreError, Place
from autograph.runtime.frames import frames, innermost
from autograph.runtime.holders import held_as
from autograph.runtime.places import here, read_after_statement, shown_name
from autograph.runtime.points_to import is_numpys
from autograph.runtime.raw_errors import is_generated
from autograph.runtime.replaced import loops, now
from autograph.runtime.shared import aliasable, origin
from autograph.runtime.variables import users_variables


class Change(NamedTuple):
    """What would change in place if it were an array of NumPy's, or part of one."""

    place: Place | None
    text: str
    advice: str


Noted = dict[str, Change]  # the first by parameter; "" for arrays that the function has made


def part(value: Any, x: Any) -> Any:
    """`value`, which is part of `x` if both are arrays: as NumPy has it, a view."""
    if (frame := innermost()) is not None and recording() and aliasable(x):
        for v in value if isinstance(value, (list, tuple)) else (value,):
            if aliasable(v) and v is not x:
                frame.views[id(v)] = v, x
    return value


def parts(x: Any) -> Any:
    """What is unpacked: of an array its rows, which are parts of it."""
    return part([x[k] for k in range(len(x))], x) if recording() and aliasable(x) else x


def whole(x: Any) -> Any:
    """The array that a value is part of; itself, if it is of none."""
    while True:
        x = origin(x)
        found = next((f.views[id(x)] for f in reversed(frames()) if id(x) in f.views), None)
        if found is None:
            return x
        x = found[1]


def note_change(x: Any, place: Place | None = None) -> None:
    """Called where a value would change in place if it were an array of NumPy's, and with it the array that it is part of.

    Raises:
      AliasError: (AG407) it is part of an array of NumPy's.
    """
    if not aliasable(x) or not recording():
        return
    base, place = whole(x), place or here()
    if base is origin(x):
        if (name := _parameter(base)) is not None:
            text = f"`{name}` is or has a NumPy array that is changed in place under another name, and would not change"
            _note(name, place, text, f"store into it (`{name}[...] += ...`), or bind a new array")
        return
    name = _parameter(base)
    shown = name or _name_of(base)
    text = f"{f'`{shown}` is or has a NumPy array, and part of it' if shown else 'part of a NumPy array'} is changed, a row, slice or other view: "
    text, advice = (
        f"{text}the array itself would not change",
        "store through the array itself (`m[i, j] = v`), or take a copy of the part (`m[i].copy()`)",
    )
    if is_numpys(base):
        raise AliasError(text, place, advice)
    if name is not None or _is_read_later(base):
        _note(name or "", place, text, advice)


def note_parts(x: Any) -> None:
    """Called where an array is about to be stored into: NumPy's would change where it is part of another, and where parts of it are.

    Raises:
      AliasError: (AG407) it is one of NumPy's, or part of one.
    """
    if not recording():
        return
    known = origin(x)
    for f in frames():
        if f.root and f.parameters.get(id(known), ("", "", False))[2]:
            name = f.parameters[id(known)][1]
            text = f"an array in `{name}` is stored into, which is or has a NumPy array, and the caller's would not change"
            _note(name, here(), text, "pass it as an argument of its own, or in a list")
    if not any(f.views for f in frames()):
        return
    if whole(x) is not known:
        note_change(x)
    for v, base in [found for f in frames() for found in f.views.values()]:
        held = next((place.name for place, _ in held_as(v)), "") if v is not x and origin(base) is known else ""
        taken = any(origin(a) is origin(v) for arrays, _ in loops() for a in arrays)
        if v is not x and origin(base) is known and (held or taken or _is_read_later(v)):
            shown = held or (f"`{name}`" if (name := _name_of(v)) else "what a loop goes over" if taken else "a value that is read later")
            text = f"{shown} is part of a NumPy array that is stored into, a row, slice or other view: it would not change with it"
            advice = "take a copy of the part before the store (`m[i].copy()`), or take it again afterwards"
            if is_numpys(x):
                raise AliasError(text, here(), advice)
            _note(_parameter(whole(x)) or "", here(), text, advice)


def note_old_part(x: Any) -> None:
    """Called where rows of an array are read, which would have changed if NumPy's array that it is part of has been stored into.

    Raises:
      AliasError: (AG407) it has.
    """
    if not recording() or not any(f.views for f in frames()):
        return
    base = whole(x)
    if base is origin(x) or now(base) is base:
        return
    text = "what a loop goes over is part of a NumPy array that is stored into, a row, slice or other view: it would not change with it"
    advice = "take a copy of the part before the loop (`m[i].copy()`), or go over its places (`for k in range(len(m[i]))`)"
    if is_numpys(base):
        raise AliasError(text, here(), advice)
    _note(_parameter(base) or "", here(), text, advice)


def _parameter(x: Any) -> str | None:
    return next((f.parameters[id(x)][1] for f in frames() if f.root and id(x) in f.parameters), None)


def _note(name: str, place: Place | None, text: str, advice: str) -> None:
    """Remember what would change if calls were given arrays of NumPy's."""
    root = next((f for f in frames() if f.root), None)
    if root is not None and root.changing is not None:
        root.changing.setdefault(name, Change(place, text, advice))


def attribute_of(obj: Any, name: str) -> Any:
    """`obj.name`, which is about to be stored into.

    Raises:
      ArrayStoreError: (AG403) it is part of an array: `m.T`.
    """
    if isinstance(obj, jax.Array) and not isinstance(obj, Numpys) and recording():
        raise ArrayStoreError(
            f"`.{name}` of an array is stored into, which changes NumPy's", here(), f"name it, `part = x.{name}`, and store it back"
        )
    return getattr(obj, name)


def parameters(fn: Callable[..., Any], args: Any, kwargs: Any) -> dict[int, tuple[Any, str, bool]]:
    """The arrays among the arguments of a compiled function, the names of their parameters, and whether they are in a tuple or behind `*` or `**`."""
    found: dict[int, tuple[Any, str, bool]] = {}
    for name, given in _bound(fn, args, kwargs):
        several = name in _several(fn)
        loose = {id(x) for x in _in_tuples(tuple(given.values()) if several and isinstance(given, dict) else given)}
        found |= {id(x): (x, name, id(x) in loose) for x in trees.leaves(given) if isinstance(x, jax.Array) and x.ndim}
    return found


def _several(fn: Callable[..., Any]) -> set[str]:
    """The parameters that take several arguments."""
    return {n for n, p in inspect.signature(fn).parameters.items() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def _in_tuples(x: Any) -> Iterator[Any]:
    for v in x if isinstance(x, tuple) else ():
        yield v
        yield from _in_tuples(v)


def refuse_numpys(fn: Callable[..., Any], noted: Noted, args: Any, kwargs: Any) -> None:
    """Called when a function has been given arguments of which some would change in place if they were arrays of NumPy's.

    Raises:
      AliasError: (AG407) they are.
    """
    for name, given in _bound(fn, args, kwargs):
        if (change := noted.get(name) or noted.get("")) is None:
            continue
        for x in trees.leaves(given):
            if isinstance(x, np.ndarray) and x.ndim:
                raise AliasError(change.text, change.place, f"{change.advice}; or pass `jnp` arrays")
            if name in noted:
                note_change(x, change.place)


def _bound(fn: Callable[..., Any], args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
    try:
        yield from inspect.signature(fn).bind(*args, **kwargs).arguments.items()
    except TypeError:  # the call itself will say so
        return


def _is_read_later(x: Any) -> bool:
    return any(origin(v) is x and read_after_statement(f, name) for f, name, v in users_variables() if aliasable(v))


def _name_of(x: Any) -> str:
    shown = ((f, shown_name(f.f_code, name)) for f, name, v in users_variables() if aliasable(v) and origin(v) is x)
    return next((name for f, name in shown if name.isidentifier() and not is_generated(f.f_code, name)), "")
