"""What `jax.grad`, `jax.vmap` and their kin have made of a function of the user's, made of its twin.

Such a wrapper holds the function in its closure, perhaps inside of other wrappers.  The new one is the same code over cells that hold the twin;
nothing is known here of what JAX calls its variables.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from autograph.source.policy import is_of_jax, is_users

Convert = Callable[[Any], Any]


def remade(f: types.FunctionType, convert: Convert) -> types.FunctionType:
    """A function that JAX made around one of the user's, around what `convert` makes of that one; `f` itself where there is none in it."""
    made: types.FunctionType = _remade(f, convert, set())
    return made


def _remade(x: Any, convert: Convert, seen: set[int]) -> Any:
    if isinstance(x, types.MethodType) and isinstance(x.__func__, types.FunctionType):
        new = _remade(x.__func__, convert, seen)
        return x if new is x.__func__ else types.MethodType(new, x.__self__)
    if type(x) is functools.partial:
        new = _remade(x.func, convert, seen)
        return x if new is x.func else functools.partial(new, *x.args, **x.keywords)
    if not isinstance(x, types.FunctionType):
        method = getattr(type(x), "__call__", None)
        return convert(x) if isinstance(method, types.FunctionType) and is_users(method.__code__) else x
    if is_users(x.__code__):
        return convert(x)
    if id(x) in seen or not (is_of_jax(x.__code__) and x.__closure__):
        return x
    seen.add(id(x))
    cells = [_cell(cell, convert, seen) for cell in x.__closure__]
    if all(new is old for new, old in zip(cells, x.__closure__, strict=True)):
        return x
    new = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, tuple(cells))
    new.__kwdefaults__ = x.__kwdefaults__
    return new


def _cell(cell: types.CellType, convert: Convert, seen: set[int]) -> types.CellType:
    try:
        held = cell.cell_contents
    except ValueError:  # a variable that is not bound yet
        return cell
    new = _remade(held, convert, seen) if callable(held) else held
    return cell if new is held else types.CellType(new)
