"""A script whose functions are all decorated: what runs is its own text, so its files, lines and columns are those of tracebacks and errors."""

from __future__ import annotations

import ast
from types import CodeType

from autograph.forms.module import functions, is_left, parsed


def script_code(text: str, name: str, everything: bool) -> CodeType:
    """The code of a script, with `everything` under `ag.convert`: each function of a module or class that nobody says to leave.

    Raises:
      SourceUnavailable: (AG101) it does not parse.
    """
    file = parsed(text, name)
    for _, node in functions(file.tree) if everything else ():
        if is_left(node, file):
            continue
        convert = ast.parse("__import__('autograph').convert", mode="eval").body
        for part in ast.walk(convert):
            ast.copy_location(part, node)
        node.decorator_list.append(convert)
    return compile(file.tree, name, "exec", dont_inherit=True)
