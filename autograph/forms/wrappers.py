"""What libraries have made of a function of the user's, made of its twin: `jax.grad` and `jax.vmap`, an optimizer with a schedule.

Such a wrapper holds the function in its closure, perhaps inside of other wrappers.  The new one is the same code over cells that hold the twin;
nothing is known here of what a library calls its variables.  A cell that holds none is shared with the wrapper itself.  Lists are not looked into:
the library may add to one later, and a copy would not see that.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from autograph.runtime.calls.dispatched_methods import own_of
from autograph.runtime.jaxapi.decorated import CUSTOM, JITTED
from autograph.source.policy import is_stdlib, is_users

Convert = Callable[[Any], Any]
_OURS = "autograph.runtime.eager.gradients"  # of ours, what `ag.gradients_function` and its kin make


def is_made(f: types.FunctionType) -> bool:
    """Whether a function of a library may hold functions that it was given."""
    module = f.__module__ or ""
    return f.__closure__ is not None and not is_stdlib(f.__code__) and (not module.startswith("autograph.") or module == _OURS)


def remade(f: types.FunctionType, convert: Convert) -> types.FunctionType:
    """A function that a library made around one of the user's, around what `convert` makes of that one; `f` itself where there is none in it."""
    made: types.FunctionType = _remade(f, convert, set())
    return made


def _remade(x: Any, convert: Convert, seen: set[int]) -> Any:
    if isinstance(x, types.MethodType) and isinstance(x.__func__, types.FunctionType):
        new = _remade(x.__func__, convert, seen)
        return x if new is x.__func__ else types.MethodType(new, x.__self__)
    if type(x) is functools.partial:
        new = _remade(x.func, convert, seen)
        return x if new is x.func else functools.partial(new, *x.args, **x.keywords)
    if isinstance(x, tuple):
        found = [_held(v, convert, seen) for v in x]
        same = all(new is old for new, old in zip(found, x, strict=True))
        return x if same else tuple(found) if type(x) is tuple else type(x)(*found)  # of a named tuple the fields
    if isinstance(x, (JITTED, *CUSTOM)):
        return convert(x)
    if not isinstance(x, types.FunctionType):
        method = own_of(getattr(type(x), "__call__", None))
        return convert(x) if isinstance(method, types.FunctionType) and is_users(method.__code__) and not isinstance(x, type) else x
    if is_users(x.__code__):
        return convert(x)
    if id(x) in seen or not is_made(x):
        return x
    seen.add(id(x))
    cells = [_cell(cell, convert, seen) for cell in x.__closure__ or ()]
    if all(new is old for new, old in zip(cells, x.__closure__ or (), strict=True)):
        return x
    new = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, tuple(cells))
    new.__kwdefaults__ = x.__kwdefaults__
    return new


def _cell(cell: types.CellType, convert: Convert, seen: set[int]) -> types.CellType:
    try:
        held = cell.cell_contents
    except ValueError:  # a variable that is not bound yet
        return cell
    new = _held(held, convert, seen)
    return cell if new is held else types.CellType(new)


def _held(x: Any, convert: Convert, seen: set[int]) -> Any:
    group = type(x) is tuple or isinstance(x, tuple) and hasattr(x, "_fields")
    return _remade(x, convert, seen) if group or callable(x) else x
