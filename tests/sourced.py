"""Functions made from text, as a notebook makes them: compiled, run, and registered so that their source is found."""

from __future__ import annotations

import itertools
import linecache
import textwrap
from typing import Any

_numbers = itertools.count()


def define(text: str, name: str = "f", **names: Any) -> Any:
    """The function `name` that a program defines."""
    text = textwrap.dedent(text)
    file = f"<program {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "program", **names}
    exec(compile(text, file, "exec"), space)
    return space[name]
