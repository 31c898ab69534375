"""The tree that passes work on: the one file that touches `gast`, which gives one syntax tree for all supported versions of Python.

`read` makes the tree of one function from `ast`, `write` makes the `ast` that is compiled or printed.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from typing import Any

import gast
from gast import (
    AST,
    Add,
    And,
    AnnAssign,
    Assert,
    Assign,
    AsyncFor,
    AsyncFunctionDef,
    AsyncWith,
    Attribute,
    AugAssign,
    Await,
    BinOp,
    BoolOp,
    Break,
    Call,
    ClassDef,
    Compare,
    Constant,
    Continue,
    Del,
    Delete,
    Dict,
    DictComp,
    Eq,
    ExceptHandler,
    Expr,
    For,
    FormattedValue,
    FunctionDef,
    GeneratorExp,
    Global,
    If,
    IfExp,
    Import,
    ImportFrom,
    In,
    Is,
    IsNot,
    JoinedStr,
    Lambda,
    List,
    ListComp,
    Load,
    Match,
    MatchAs,
    MatchClass,
    MatchMapping,
    MatchOr,
    MatchSequence,
    MatchSingleton,
    MatchStar,
    MatchValue,
    Mod,
    Mult,
    Name,
    NamedExpr,
    Nonlocal,
    Not,
    NotIn,
    Or,
    Param,
    Pass,
    Raise,
    Return,
    SetComp,
    Slice,
    Starred,
    Store,
    Sub,
    Subscript,
    Try,
    TryStar,
    Tuple,
    UnaryOp,
    USub,
    While,
    With,
    Yield,
    YieldFrom,
    alias,
    arguments,
    comprehension,
    copy_location,
    keyword,
    match_case,
    stmt,
)  # fmt: skip

from autograph.trees.translating import translator

FUNCTIONS = (FunctionDef, AsyncFunctionDef)
SCOPES = (FunctionDef, AsyncFunctionDef, Lambda, ClassDef)
COMPREHENSIONS = (ListComp, SetComp, DictComp, GeneratorExp)
LOOPS = (While, For)
YIELDS = (Yield, YieldFrom, Await)


class _Writer(gast.ast3.GAstToAst3):  # type: ignore[misc]
    def visit_arguments(self, node: Any) -> Any:
        """Those of the many functions that passes make are names without more."""
        if node.posonlyargs or node.kwonlyargs or node.vararg or node.kwarg or node.defaults:
            return super().visit_arguments(node)
        return ast.arguments([], [self._make_arg(a) for a in node.args], None, [], [], None, [])


_read, _write = translator(gast.ast3.Ast3ToGAst, gast), translator(_Writer, ast)


def read(node: ast.AST) -> Any:
    """The tree of one function, lambda or statement."""
    return _read(node)


def write(node: Any) -> Any:
    """The `ast` of a tree.  Every node class must be one that `gast` knows."""
    return _write(node)


def copy(node: Any) -> Any:
    """A second tree that shares no node with the first, but for contexts and operators."""
    return read(write(node))


_LOAD = Load()


def name(id: str, ctx: Any = None) -> Any:
    new = Name.__new__(Name)  # gast's constructors are slow
    new.__dict__.update(id=id, ctx=ctx or _LOAD, annotation=None, type_comment=None)
    return new


def constant(value: Any) -> Any:
    return Constant(value, None)


def at(node: Any, where: Any) -> Any:
    """Place a new node where another one stands."""
    have = where.__dict__
    if "end_lineno" in have:
        given = node.__dict__
        given["lineno"], given["col_offset"] = have["lineno"], have["col_offset"]
        given["end_lineno"], given["end_col_offset"] = have["end_lineno"], have["end_col_offset"]
    return node


def call(func: Any, *args: Any) -> Any:
    return Call(func, list(args), [])


def runtime(attr: str) -> Any:
    """`ag.<attr>`: the runtime under the reserved name that loading and printing replace."""
    return Attribute(name(RUNTIME), attr, Load())


RUNTIME = "ag$"  # no Python identifier: cannot clash


def no_arguments() -> Any:
    return arguments([], [], None, [], [], None, [])


def thunk(body: Any) -> Any:
    """`lambda: body`, where `body` stands."""
    return at(Lambda(no_arguments(), body), body)


def parameters(args: Any) -> list[Any]:
    """The parameter names of a function, as nodes."""
    return [a for a in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg) if a is not None]


def parameter_names(args: Any) -> list[str]:
    return [p.id for p in parameters(args)]


# Fields that hold no nodes worth visiting: contexts, operators, names, constants; and fields that hold lists, some of them with None.
_SKIPPED = frozenset(
    "ctx op ops id attr n kind type_comment lineno module level arg asname conversion simple is_async kwd_attrs cls_name rest type_ignores".split()
)
_LISTS = frozenset(
    "body orelse handlers finalbody targets elts args keywords values generators ifs comparators decorator_list bases items cases patterns defaults "
    "kw_defaults keys posonlyargs kwonlyargs names type_params kwd_patterns".split()
)
_WITH_NONE = frozenset({"keys", "kw_defaults"})
_NAMED = (FunctionDef, AsyncFunctionDef, ClassDef, alias, MatchAs, MatchStar)  # their names are texts
Fields = tuple[tuple[str, bool, bool], ...]
_fields: dict[type, Fields] = {}


def child_fields(kind: type) -> Fields:
    """The fields of a class of nodes that hold nodes, whether each is a list, and whether that may hold None."""
    found = _fields.get(kind)
    if found is None:
        names = () if kind in (Constant, Global, Nonlocal, gast.MatchSingleton) else kind._fields  # type: ignore[attr-defined]
        lists = _LISTS - {"args", "body"} if kind is Lambda else _LISTS - {"args"} if issubclass(kind, (*FUNCTIONS, Lambda)) else _LISTS
        lists = lists - {"body", "orelse"} if kind in (IfExp, Lambda) else lists
        kept = [f for f in names if f not in _SKIPPED and not (f == "name" and kind in _NAMED)]
        found = _fields[kind] = tuple((f, f in lists, f in _WITH_NONE) for f in kept)
    return found


def children(node: Any) -> list[Any]:
    """The nodes directly below a node, in the order of its fields."""
    found: list[Any] = []
    held = node.__dict__
    for field, many, with_none in _fields.get(type(node)) or child_fields(type(node)):
        value = held.get(field)
        if value is None:
            continue
        if not many:
            found.append(value)
        elif with_none:
            found += [v for v in value if v is not None]
        else:
            found += value
    return found


def walk(node: Any) -> Iterator[Any]:
    """A node and everything below it, scopes included."""
    stack = [node]
    while stack:
        n = stack.pop()
        yield n
        stack += children(n)


def statements(fn: Any) -> Iterator[Any]:
    """The statements of a function, and of the functions and classes inside it; of a lambda none."""
    stack = [] if isinstance(fn, Lambda) else list(fn.body)
    while stack:
        n = stack.pop()
        yield n
        if type(n) in _BODIES:
            stack += n.body
        else:
            for block in blocks(n):
                stack += block


def own_statements(body: Iterable[Any]) -> list[Any]:
    """The statements of a scope, those in blocks included."""
    found: list[Any] = []
    stack = list(body)
    while stack:
        stmt = stack.pop()
        found.append(stmt)
        for block in blocks(stmt):
            stack += block
    return found


def own(*nodes: Any) -> Iterator[Any]:
    """The nodes of a scope itself: of functions, lambdas and classes in it only what is evaluated here."""
    stack = list(nodes)
    while stack:
        n = stack.pop()
        yield n
        kind = type(n)
        if kind in _LEAVES:
            continue
        if kind in _FUNCTION_KINDS:
            stack += getattr(n, "decorator_list", ())
            stack += [d for d in (*n.args.defaults, *n.args.kw_defaults) if d is not None]
        elif kind is ClassDef:
            stack += [*n.decorator_list, *n.bases, *n.keywords]
        else:
            stack += children(n)


_BODIES = frozenset({FunctionDef, AsyncFunctionDef, ClassDef})
_LEAVES = frozenset({Name, Constant, Load, Store, Pass, Break, Continue})
_FUNCTION_KINDS = frozenset({FunctionDef, AsyncFunctionDef, Lambda})


class Transformer:
    """As `ast.NodeTransformer`, and visits only the fields that hold nodes worth visiting."""

    def generic_visit(self, node: Any) -> Any:
        methods = self._methods
        held = node.__dict__
        for field, many, _ in _fields.get(type(node)) or child_fields(type(node)):
            value = held.get(field)
            if value is None:
                continue
            if not many:
                method = methods[type(value)]
                if method is not None:
                    held[field] = method(value)
                continue
            new: list[Any] = []
            for item in value:
                method = methods[type(item)]
                if method is not None:
                    item = method(item)
                    if isinstance(item, list):
                        new += item
                        continue
                new.append(item)
            value[:] = new
        return node

    def visit(self, node: Any) -> Any:
        method = self._methods[type(node)]
        return node if method is None else method(node)

    @functools.cached_property
    def _methods(self) -> _Methods:
        return _Methods(self)


class _Methods(dict[type, Any]):
    """What a transformer does with nodes of a class; None: nothing."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def __missing__(self, kind: type) -> Any:
        leaf = kind in (Name, Constant, type(None))
        found = self[kind] = getattr(self.of, "visit_" + kind.__name__, None if leaf else self.of.generic_visit)
        return found


def contains(nodes: Any, *kinds: type) -> bool:
    """Whether a node of these kinds belongs to the scope of `nodes`."""
    return any(isinstance(n, kinds) for n in own(*(nodes if isinstance(nodes, list) else [nodes])))


def blocks(node: Any) -> list[list[Any]]:
    """The blocks of statements directly inside a statement that is not a scope."""
    kind = type(node)
    if kind in _TWO_BLOCKS:
        return [node.body, node.orelse]
    if kind is With or kind is AsyncWith:
        return [node.body]
    if kind is Try or kind is TryStar:
        return [node.body, *(h.body for h in node.handlers), node.orelse, node.finalbody]
    return [c.body for c in node.cases] if kind is Match else []


_TWO_BLOCKS = frozenset({If, While, For, AsyncFor})

__all__ = [
    "AST", "Add", "AnnAssign", "And", "Assert", "Assign", "AsyncFor", "AsyncFunctionDef", "AsyncWith", "Attribute", "AugAssign", "Await", "BinOp", "BoolOp", "Break",
    "COMPREHENSIONS", "Call", "ClassDef", "Compare", "Constant", "Continue", "Del", "Delete", "Dict", "DictComp", "Eq", "ExceptHandler", "Expr", "FUNCTIONS", "For",
    "FormattedValue", "FunctionDef", "GeneratorExp", "Global", "If", "IfExp", "Import", "ImportFrom", "In", "Is", "IsNot", "JoinedStr", "LOOPS", "Lambda", "List",
    "ListComp", "Load", "Match", "MatchAs", "MatchClass", "MatchMapping", "MatchOr", "MatchSequence", "MatchSingleton", "MatchStar", "Mod", "Mult",
    "MatchValue", "Name", "NamedExpr", "Nonlocal", "Not", "NotIn", "Or",
    "Param", "Pass", "RUNTIME", "Raise", "Return", "SCOPES", "SetComp", "Slice", "Starred", "Store", "Sub", "Subscript", "Try", "Transformer", "TryStar", "Tuple", "USub", "UnaryOp",
    "While", "With", "YIELDS", "Yield", "YieldFrom", "alias", "arguments", "at", "blocks", "call", "child_fields", "children", "comprehension", "constant", "contains", "copy",
    "copy_location", "keyword", "match_case", "name", "no_arguments", "own", "own_statements", "parameter_names", "parameters", "read", "runtime", "statements", "stmt", "thunk", "walk",
    "write",
]  # fmt: skip


# The in-place operators, by the names of their nodes.
AUGMENTED = {
    "Add": "+=", "Sub": "-=", "Mult": "*=", "Div": "/=", "FloorDiv": "//=", "Mod": "%=", "Pow": "**=", "MatMult": "@=",
    "LShift": "<<=", "RShift": ">>=", "BitAnd": "&=", "BitOr": "|=", "BitXor": "^=",
}  # fmt: skip
