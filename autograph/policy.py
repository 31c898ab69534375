"""Which code is the user's, and is converted when it is reached, and which belongs to a library and is called as it is.

Decided by the file of a code object, never by `__module__`, which `functools.wraps` copies.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from types import CodeType

_PATHS = sysconfig.get_paths()
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_REAL = os.path.dirname(os.path.realpath(os.path.join(_HERE, "runtime", "errors.py"))) + os.sep

STDLIB = tuple({p for k in ("stdlib", "platstdlib") for p in (_PATHS[k], os.path.realpath(_PATHS[k]))})
INSTALLED = tuple(
    {p for k in ("purelib", "platlib") for p in (_PATHS[k], os.path.realpath(_PATHS[k]))} | {p for p in sys.path if "site-packages" in p}
)
OURS = (_HERE, _REAL)
LIBRARIES = (*INSTALLED, *OURS, *STDLIB, "<frozen")

# Modules of the standard library whose functions call a function they are given.
CALLERS = frozenset({"builtins", "functools", "itertools", "operator", "_functools", "_operator"})


def is_users(code: CodeType) -> bool:
    """Whether code is the user's own."""
    file = code.co_filename
    return not (file.startswith(LIBRARIES) or f"site-packages{os.sep}" in file or f"dist-packages{os.sep}" in file)


def is_stdlib(code: CodeType) -> bool:
    return code.co_filename.startswith(STDLIB) and "site-packages" not in code.co_filename


def is_library(cls: type) -> bool:
    """Whether a class belongs to an installed library, and to neither the standard library nor JAX."""
    name = (getattr(cls, "__module__", None) or "").split(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return name not in ("jax", "jaxlib", "numpy") and file.startswith(INSTALLED)
