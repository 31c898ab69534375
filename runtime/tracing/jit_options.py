"""The options of `jax.jit`, in the positions of the user's arguments."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax


def static_arguments(options: dict[str, Any], count: int) -> tuple[set[int], set[str]]:
    """The positions and names of the arguments that the user calls static, of a call with `count` positional ones."""
    numbers, names = options.get("static_argnums"), options.get("static_argnames")
    numbers = (numbers,) if isinstance(numbers, int) else numbers or ()
    return {n if n >= 0 else n + count for n in numbers}, {names} if isinstance(names, str) else set(names or ())


def shifted(options: dict[str, Any]) -> dict[str, Any]:
    """The user's options for a function with one more argument in front."""
    out = dict(options)
    for name in ("static_argnums", "donate_argnums"):
        if (given := out.get(name)) is not None:
            given = (given,) if isinstance(given, int) else given
            out[name] = tuple(n + 1 if n >= 0 else n for n in given)
    if isinstance(out.get("in_shardings"), (tuple, list)):
        out["in_shardings"] = (None, *out["in_shardings"])
    return out


def without_those_of_tensorflow(options: dict[str, Any]) -> dict[str, Any]:
    """Without what says nothing here: every function is compiled by XLA, and traced for as few types as JAX allows."""
    return {name: value for name, value in options.items() if name not in ("reduce_retracing", "experimental_relax_shapes", "jit_compile")}


def known_options(options: dict[str, Any]) -> None:
    """Raise TypeError for an option that `ag.function` does not have."""
    known = [*list(inspect.signature(jax.jit).parameters)[1:], "checks"]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"its options are those of `jax.jit`, and `checks`: {', '.join(known)}"
            raise TypeError(f"`ag.function` has no option `{name}`; {hint}")


def known_names(fn: Callable[..., Any], options: dict[str, Any]) -> None:
    """Raise ValueError for the name of an argument that a function does not have."""
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    for option in ("static_argnames", "donate_argnames"):
        given = options.get(option) or ()
        for name in (given,) if isinstance(given, str) else given:
            if name not in parameters:
                near = difflib.get_close_matches(name, parameters, 1) or [p for p in parameters if p.startswith(name)]
                hint = f"did you mean `{near[0]}`?" if near else f"its arguments are {', '.join(f'`{p}`' for p in parameters) or 'none'}"
                raise ValueError(f"`{option}` names `{name}`, and `{getattr(fn, '__name__', fn)}` has no such argument; {hint}")


def name_of(fn: Callable[..., Any]) -> str:
    """What a function is called in messages; a partial is called as its function."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return str(getattr(fn, "__name__", type(fn).__name__))
