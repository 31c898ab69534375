"""IPython's `%autoreload`: it puts new code into functions that exist, and what was made of the old code is forgotten."""

from __future__ import annotations

import linecache
import sys
import weakref
from types import CodeType, FunctionType
from typing import Any

from autograph.runtime.state.trace_log import forget_programs

_codes: weakref.WeakKeyDictionary[FunctionType, CodeType] = weakref.WeakKeyDictionary()
sites: weakref.WeakSet[Any] = weakref.WeakSet()  # call sites that remember a function


def converted(f: FunctionType) -> None:
    """Note the code that a function had when it was converted."""
    _codes[f] = f.__code__


def watch() -> None:
    """Look for functions with new code before each cell, behind `%autoreload`, if this is IPython; see IPython's `events`."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        return

    def last(*_: Any) -> None:
        events = shell.events
        if forget_changed in events.callbacks["pre_run_cell"]:
            events.unregister("pre_run_cell", forget_changed)
        events.register("pre_run_cell", forget_changed)

    shell.events.register("pre_execute", last)


def forget_changed(*_: Any) -> None:
    """Forget what was made of functions that have new code: also the compiled programs, in which they are inlined."""
    changed = [f for f, code in list(_codes.items()) if f.__code__ is not code]
    if not changed:
        return
    for f in changed:
        del _codes[f]
        f.__code__ = _placed(f.__code__)
    for site in list(sites):
        site.forget()
    forget_programs()


def _placed(code: CodeType) -> CodeType:
    """The same code with its lines in the file: `%autoreload` compiles a function by itself, as if it were the first in its file."""
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)
    try:
        pending = [compile("".join(lines), code.co_filename, "exec", dont_inherit=True)]
    except SyntaxError:
        return code
    while pending:
        found = pending.pop()
        if found.co_qualname == code.co_qualname and found.co_code == code.co_code and found.co_names == code.co_names:
            return found
        pending += [c for c in found.co_consts if isinstance(c, CodeType)]
    return code
