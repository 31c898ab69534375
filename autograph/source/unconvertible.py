"""What cannot be converted: errors that name what was given, and where."""

from __future__ import annotations

import linecache
import types
from typing import Any

from autograph.runtime.errors.source_spans import here
from autograph.source.errors import ConversionError, NotAFunction, SourceSpan, SourceUnavailable, WrappedFunction

_BELOW = "put this decorator below {}: the one that converts stands next to `def`"
_OTHERS = {"PjitFunction": "`jax.jit`", "_lru_cache_wrapper": "`functools.lru_cache`", "CustomJVPType": "`jax.custom_jvp`"}


def no_code(f: Any) -> ConversionError:
    """The error for an object without Python code that could be converted."""
    kind, name = type(f).__name__, getattr(f, "__name__", "")
    advice = "convert a function, a method or an object with `__call__`"
    if getattr(f, "__wrapped__", None) is not None:
        return wrapper(f)
    if isinstance(f, type):
        own = [n for n, v in vars(f).items() if isinstance(v, types.FunctionType) and not (n.startswith("__") and n != "__call__")]
        named = ", ".join(f"`{n}`" for n in own[:3]) or "`__call__`"
        return NotAFunction(
            f"`{f.__qualname__}` is a class, and a class is not converted", _place(), f"put the decorator above its methods ({named})"
        )
    if isinstance(f, property):
        function = getattr(f.fget, "__name__", "a property")
        return NotAFunction(f"`{function}` is a property, and no function", _place(), "put this decorator below `@property`")
    if isinstance(f, (types.BuiltinFunctionType, types.BuiltinMethodType)) or name:
        return NotAFunction(f"`{name}` has no Python code to convert", _place(), advice)
    if hasattr(f, "shape") and hasattr(f, "dtype"):
        return NotAFunction("an `Array` has no Python code to convert", _place(), "give the function itself, and not its result")
    if isinstance(f, (bool, int, str, tuple, list, dict, type(None))):
        advice = "options are given by name: `@ag.function(static_argnums=0)`"
    return NotAFunction(f"{_article(kind)} `{kind}` has no Python code to convert", _place(), advice)


def wrapper(f: Any) -> WrappedFunction:
    """The error for what a library has put around a function."""
    other = _OTHERS.get(type(f).__name__, "the library's")
    name = getattr(f, "__qualname__", type(f).__name__)
    return WrappedFunction(
        f"`{name}` is a wrapper that {_OTHERS.get(type(f).__name__, 'a library')} put around a function: converting it would convert nothing",
        _place(), _BELOW.format(other),
    )  # fmt: skip


def without_source(error: SourceUnavailable, f: types.FunctionType) -> SourceUnavailable:
    """An error about source text that names the function, and where it was to be converted."""
    if error.place is not None or (place := _place()) is None:
        return error
    name = "a lambda" if f.__name__ == "<lambda>" else f"`{f.__qualname__}`"
    if f.__code__.co_filename == "<string>":  # of `eval` or `exec`
        advice = "write it as a `def` in a file or a notebook cell; a program that makes code can register the text in `linecache`"
        return SourceUnavailable(f"{name} was made from a string, and there is no source text of it", place, advice)
    return SourceUnavailable(error.message.replace("no source text for", f"no source text of {name} in", 1), place, error.advice)


def _place() -> SourceSpan | None:
    """Where the user's code asks for a conversion, if that is a line that can be shown."""
    place = here()
    return place if place is not None and linecache.getline(place.file, place.line) else None


def _article(word: str) -> str:
    return "an" if word[:1] in "AEIOUaeiou" else "a"
