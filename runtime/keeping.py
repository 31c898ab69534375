"""What functions and generators keep: arrays in variables of the code around that made them, defaults, arguments that are given ahead."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from types import BuiltinMethodType, FunctionType, GeneratorType, MethodType
from typing import Any

from autograph.runtime.places import HIDDEN


def kept_by(f: Any, shared: Collection[str]) -> Iterator[tuple[str, Any]]:
    """What a function, bound method or generator keeps, with its name, but for variables that it shares with who asks."""
    if isinstance(f, FunctionType):
        if f.__code__.co_filename.startswith(HIDDEN):
            return
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            if name not in shared:
                yield from _content(name, cell)
        given = f.__code__.co_varnames[: f.__code__.co_argcount]
        yield from zip(given[len(given) - len(f.__defaults__ or ()) :], f.__defaults__ or (), strict=False)
        yield from (f.__kwdefaults__ or {}).items()
    elif isinstance(f, functools.partial):
        yield "func", f.func
        yield from ((f"argument {k}", x) for k, x in enumerate(f.args, 1))
        yield from f.keywords.items()
    elif isinstance(f, (MethodType, BuiltinMethodType)):
        yield "self", f.__self__
        if isinstance(f, MethodType):
            yield "func", f.__func__
    elif isinstance(f, GeneratorType) and f.gi_frame is not None and not f.gi_code.co_filename.startswith(HIDDEN):
        yield from ((name, x) for name, x in f.gi_frame.f_locals.items() if name not in f.gi_code.co_freevars)


def _content(name: str, cell: Any) -> Iterator[tuple[str, Any]]:
    try:
        yield name, cell.cell_contents
    except ValueError:  # it is not bound yet
        return
