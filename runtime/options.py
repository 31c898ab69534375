"""The options of `jax.jit`, in the positions of the user's arguments."""

from __future__ import annotations

from typing import Any


def static_arguments(options: dict[str, Any], count: int) -> tuple[set[int], set[str]]:
    """The positions and names of the arguments that the user calls static, of a call with `count` positional ones."""
    numbers, names = options.get("static_argnums") or (), options.get("static_argnames") or ()
    numbers = (numbers,) if isinstance(numbers, int) else numbers
    return {n if n >= 0 else n + count for n in numbers}, {names} if isinstance(names, str) else set(names)


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
