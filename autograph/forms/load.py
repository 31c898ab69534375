"""From a rewritten tree to a code object in the place of the user's: his file name, lines, names, flags and free variables.

What the code needs of ours stands in `co_consts` (a sentinel string is compiled and then replaced), so `locals()` and `__closure__` stay
the user's.  Code objects are unknown to the cyclic collector: nothing planted may lead back to the code or to the user's globals.
"""

from __future__ import annotations
import __future__

import ast
import functools
import operator
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from autograph.trees import syntax as s
from autograph.trees.fields import children

_FUTURE = functools.reduce(operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
_NAME = ".f"  # no identifier: `make` must not bind a name that the body reads

Table = dict[str, Any]


def planted(table: Table, value: Any) -> Any:
    """A constant that stands for `value` in the finished code."""
    key = f"\0{len(table)}"
    table[key] = value
    return ast.Constant(key)


KEY = "\0ag"


def placed(tree: ast.AST, where: Any) -> list[ast.Attribute]:
    """Give new nodes that have no place that of what they stand in; the nodes `ag$.name` of the tree."""
    found: list[ast.Attribute] = []
    stack: list[tuple[Any, Any]] = [(tree, where)]
    while stack:
        n, around = stack.pop()
        kind = n.__class__
        if "lineno" in kind._attributes:
            if getattr(n, "lineno", None) is None:
                n.lineno, n.col_offset = around.lineno, around.col_offset
                n.end_lineno, n.end_col_offset = around.end_lineno, around.end_col_offset
            around = n
        if kind is ast.Name or kind is ast.Constant:
            continue
        stack += [(child, around) for child in children(n)]
        if kind is ast.Attribute and n.value.__class__ is ast.Name and n.value.id == s.RUNTIME:
            found.append(n)
    return found


def refer(references: list[ast.Attribute], to: str | None) -> None:
    """Make generated code name the runtime `to`, or find it in its constants."""
    for node in references:
        new: ast.expr = ast.Constant(KEY) if to is None else ast.Name(to, ast.Load())
        node.value = ast.copy_location(new, node.value)


def without_outside(node: Any) -> Any:
    """The function alone: what is evaluated around it (decorators, defaults, annotations) is evaluated once, by the user's own `def`."""
    old = node.args

    def none(where: ast.expr) -> ast.expr:
        return ast.copy_location(ast.Constant(None), where)

    def bare(arg: ast.arg | None) -> ast.arg | None:
        return arg and ast.copy_location(ast.arg(arg.arg), arg)

    args = ast.arguments(
        [bare(a) for a in old.posonlyargs], [bare(a) for a in old.args], bare(old.vararg), [bare(a) for a in old.kwonlyargs],  # type: ignore[misc]
        [d and none(d) for d in old.kw_defaults], bare(old.kwarg), [none(d) for d in old.defaults],
    )  # fmt: skip
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Lambda(args, node.body), node)
    first = [none(node.decorator_list[0])] if node.decorator_list else []  # keeps the first line
    return ast.copy_location(type(node)(_NAME, args, node.body, first, **_NO_TYPE_PARAMETERS), node)


_NO_TYPE_PARAMETERS: Any = {"type_params": []} if sys.version_info >= (3, 12) else {}


def compiled(node: Any, code: CodeType, cls: str, table: Table, mark: Callable[[CodeType], Any]) -> CodeType:
    """The code object of a written function, all whose nodes have places, in the place of `code`."""
    node = without_outside(node)
    statement: Any = ast.copy_location(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node
    if cls:  # a class that mangles private names like the user's and gives `__class__`, but binds another name
        statement = ast.copy_location(ast.ClassDef("_" * 9 + cls.lstrip("_"), [], [], [statement], [], **_NO_TYPE_PARAMETERS), node)
    free = [n for n in code.co_freevars if not (cls and n == "__class__")]
    module = ast.parse(f"def make({', '.join(free)}): pass")
    module.body[0].body = [statement]  # type: ignore[attr-defined]
    top = compile(module, code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True)
    found = _dig(top, code)
    assert found is not None, code.co_qualname
    return _plant(found, code, table, mark)


def _dig(top: CodeType, code: CodeType) -> CodeType | None:
    for constant in top.co_consts:
        if isinstance(constant, CodeType):
            if (
                constant.co_name in (_NAME, "<lambda>")
                and constant.co_firstlineno == code.co_firstlineno
                and constant.co_argcount == code.co_argcount
            ):
                return constant
            if found := _dig(constant, code):
                return found
    return None


def _plant(new: CodeType, user: CodeType, table: Table, mark: Callable[[CodeType], Any]) -> CodeType:
    """Put what is planted into the constants, and the user's names and flags back."""
    prefix, wanted = new.co_qualname, user.co_qualname

    def qualified(name: str) -> str:
        return wanted + name[len(prefix) :] if name.startswith(prefix) else name

    def replaced(code: CodeType) -> CodeType:
        constants: list[Any] = []
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                constant = replaced(constant)
            elif type(constant) is str:
                constant = table[constant] if constant in table else qualified(constant) if constant == code.co_qualname else constant
            constants.append(constant)
        if code.co_flags & 1 and (marker := mark(user if code is new else code)) is not None:
            constants.append(marker)
        named: Any = {"co_name": user.co_name, "co_flags": user.co_flags} if code is new else {}
        return code.replace(co_consts=tuple(constants), co_qualname=qualified(code.co_qualname), **named)

    return replaced(new)
