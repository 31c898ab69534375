"""Whether calling a function may have host effects, or give another value each time: told from its code and where it comes from."""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Iterator
from types import CodeType
from typing import Any

_BUILTINS = frozenset(
    "abs all any bool complex divmod enumerate float getattr hasattr int isinstance len list max min pow range reversed round slice str sum tuple "
    "type zip True False None NotImplemented".split()
)
_LIBRARIES = ("jax", "jaxlib", "autograph.runtime", "math", "operator", "functools")


def impure_global(f: Any) -> str | None:
    """The name of something in a function, or of the function itself, that is not known to be free of effects; None if all is."""
    if isinstance(f, type):
        return None if issubclass(f, BaseException) or (f.__module__ or "").split(".")[0] in ("jax", "jaxlib", "numpy", "builtins") else f.__name__
    owner = getattr(f, "__self__", None)
    if isinstance(f, (types.MethodType, types.BuiltinMethodType)) and owner is not None and not isinstance(owner, types.ModuleType):
        if type(owner).__module__.split(".")[0] in ("jax", "jaxlib"):
            return None
        return _of_function(f.__func__) if isinstance(f, types.MethodType) else f.__name__
    return _of_function(f)


def _of_function(f: Any) -> str | None:
    module = getattr(f, "__module__", None) or ""
    if module.split(".")[0] in ("jax", "jaxlib", "optax") or module.startswith(_LIBRARIES):
        return None
    code = getattr(f, "__code__", None)
    if code is None:
        name = getattr(f, "__name__", type(f).__name__)
        return None if module == "builtins" and name in _BUILTINS else str(name)
    space = f.__globals__
    for name in _globals_of(code):
        value = space.get(name, getattr(builtins, name, None))
        if name in space and isinstance(value, types.ModuleType):
            if value.__name__.split(".")[0] not in ("jax", "numpy", "math", "operator", "functools", "autograph"):
                return name
            if value.__name__.split(".")[0] == "numpy" and "random" in _names_of(code):
                return "numpy.random"
        elif name not in space and isinstance(value, (type, types.BuiltinFunctionType)) and name not in _BUILTINS:
            if not (isinstance(value, type) and issubclass(value, BaseException)):
                return name
    return None


def _globals_of(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant)


def _names_of(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names_of(constant)
    return found
