"""Which code is the user's, and is converted when it is reached, and which belongs to a library and is called as it is.

Decided by the file of a code object, never by `__module__`, which `functools.wraps` copies.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable
from types import CodeType

from autograph import runtime
from autograph.runtime.errors.raise_sites import LISTED, listed

_PATHS = sysconfig.get_paths()
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_RUNTIME = os.path.dirname(os.path.abspath(str(runtime.__file__))) + os.sep  # in a checkout it stands beside the package

STDLIB = tuple({p for k in ("stdlib", "platstdlib") for p in (_PATHS[k], os.path.realpath(_PATHS[k]))})
INSTALLED = tuple(
    {p for k in ("purelib", "platlib") for p in (_PATHS[k], os.path.realpath(_PATHS[k]))} | {p for p in sys.path if "site-packages" in p}
)
OURS = (_HERE, _RUNTIME)
LIBRARIES = (*INSTALLED, *OURS, *STDLIB, "<frozen")

_ORDERS = ("lt", "le", "gt", "ge")

# Modules of the standard library whose functions call a function they are given.
CALLERS = frozenset({"builtins", "functools", "itertools", "operator", "_functools", "_operator"})


# What `contextlib.contextmanager` makes of a generator function.
CONTEXT_MANAGER = contextlib.contextmanager(lambda: iter(())).__code__

# Functions of the standard library that are made for a class or function of the user's, and run its code: they are converted like it.
_MADE = {
    functools.__file__: frozenset(
        {
            "singledispatch.<locals>.wrapper",
            "singledispatchmethod.__get__.<locals>._method",
            "_singledispatchmethod_get.__call__",
            *(f"_{a}_from_{b}" for a in _ORDERS for b in _ORDERS),
        }
    ),
    contextlib.__file__: frozenset({"ContextDecorator.__call__.<locals>.inner"}),
}


def include(*modules: str) -> None:
    """Convert functions of these modules, and of the modules in these packages, when they are reached, as if they were your own.

    Call it before they are reached for the first time.

    >>> import autograph as ag
    >>> ag.include("json.tool")

    Raises:
      ModuleNotFoundError: there is no such module.
    """
    _list(modules, True)


def exclude(*modules: str) -> None:
    """Leave functions of these modules, and of the modules in these packages, as they are, unless a decorator converts them.

    >>> import autograph as ag
    >>> ag.exclude("json.tool")

    Raises:
      ModuleNotFoundError: there is no such module.
    """
    _list(modules, False)


def _list(modules: Iterable[str], converted: bool) -> None:
    for module in modules:
        spec = importlib.util.find_spec(module)
        if spec is None:
            raise ModuleNotFoundError(f"there is no module `{module}`", name=module)
        folders = spec.submodule_search_locations
        for place in [os.path.join(f, "") for f in folders] if folders else [spec.origin or ""]:
            LISTED[place] = converted


def is_listed(code: CodeType) -> bool | None:
    """Whether the code of a module that `include` or `exclude` names is converted; None of any other.  The innermost package counts."""
    return listed(code.co_filename)


def is_users(code: CodeType) -> bool:
    """Whether code is the user's own."""
    file = code.co_filename
    if LISTED and (known := is_listed(code)) is not None:
        return known
    return not (file.startswith(LIBRARIES) or f"site-packages{os.sep}" in file or f"dist-packages{os.sep}" in file)


def is_wrapper(code: CodeType) -> bool:
    """Whether code is of `functools.singledispatch`, `functools.total_ordering` or `contextlib.ContextDecorator`, and runs what the user wrote."""
    return code.co_qualname in _MADE.get(code.co_filename, ())


def is_stdlib(code: CodeType) -> bool:
    return code.co_filename.startswith(STDLIB) and "site-packages" not in code.co_filename


def is_of_jax(code: CodeType) -> bool:
    """Whether code is JAX's own."""
    return code.co_filename.startswith(_jax_folder())


@functools.cache
def _jax_folder() -> str:
    spec = importlib.util.find_spec("jax")
    return os.path.join(os.path.dirname(spec.origin), "") if spec is not None and spec.origin else "<no jax>"


def is_library(cls: type) -> bool:
    """Whether a class belongs to an installed library, and to neither the standard library nor JAX."""
    name = (getattr(cls, "__module__", None) or "").split(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return name not in ("jax", "jaxlib", "numpy") and file.startswith(INSTALLED)
