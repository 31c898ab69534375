"""The plain form of a function: the user's statements; only call sites, `x[i] = v` and the entry are ours.

    def f(x):                def f(x):
        y = g(x)                 if ag.trace_state.value is not ag.eval_trace: return FORM.enter(lambda: (FREE,))(x)
        x[0] = y        =>       .given = ag.as_objects(x)
                                 if .given is not None: x, = .given.values
                                 y = (SITE.use if g is SITE.seen else SITE.miss(g))(x)
                                 try: x[0] = y
                                 except TypeError:
                                     if not ag.is_array(x): raise
                                     x = ag.set_item(x, 0, y)

`FORM`, `SITE` and `ag` stand in co_consts.  The lambda is never called: it hands this function's cells to the staged form, by name.
The trees here are those of `ast`, shared with the file's.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from types import CodeType, SimpleNamespace
from typing import Any

from autograph.analysis.names import mangled
from autograph.analysis.targets import chain
from autograph.forms.load import Table, planted
from autograph.forms.plain_stores import Stores, ag, call, name
from autograph.passes.callables import ARRAY_LIBRARIES, HIGHER
from autograph.source.source import File
from autograph.trees.fields import children
from autograph.trees.rebuild import at, replaced

_CALL_ARGUMENTS = frozenset({"map", "filter", "iter", "sorted", "min", "max"})  # builtins that call an argument
_LOAD, _STORE = ast.Load(), ast.Store()
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Plain(Stores):
    """Rewrites one function into its plain form; functions inside it get theirs."""

    def __init__(self, form: Any, file: File, table: Table, entry: bool = True) -> None:
        super().__init__()
        self.form, self.file, self.table, self.cls = form, file, table, form.cls
        self.entry = entry and form.enters
        self.local = _names(form.code)
        self.takes = self.entry and file.stores and not form.generator and type(form.node) is ast.FunctionDef  # are arrays given to it objects in it?
        self.defined: frozenset[str] = frozenset()

    def rewrite(self, node: Any) -> Any:
        if isinstance(node, ast.Lambda):
            body = self.visit(node.body)
            if self.entry:
                body = at(ast.IfExp(_traced(), self._enter(node), body), _start(body))
            return replaced(node, body=body)
        doc = 1 if ast.get_docstring(node, clean=False) is not None else 0
        head = self._declarations(node)
        runs = [b for b in node.body[doc:] if not isinstance(b, (ast.Global, ast.Nonlocal))]
        where = _start((runs or node.body)[0])
        rest = self.visit_all(node.body[doc:]) or [at(ast.Pass(), where)]
        entered = ast.YieldFrom(self._enter(node)) if self.form.generator else self._enter(node)
        enter = [at(ast.If(_traced(), [at(ast.Return(entered), where)], []), where)] if self.entry else []
        given = self._objects(node.args, where) if self.takes else []
        return replaced(node, body=[*node.body[:doc], *head, *enter, *given, *rest])

    def _declarations(self, node: Any) -> list[Any]:
        """A store into a subscript of a free or global name binds it: it is declared, or it would become local."""
        stored: set[str] = set()
        declared: set[str] = set()
        bound: Counter[str] = Counter()
        made: list[str] = []
        for n in _own(node.body):
            kind = type(n)
            if kind is ast.Name:
                if type(n.ctx) is not ast.Load:
                    bound[n.id] += 1
            elif kind is ast.Subscript:
                if type(n.ctx) is ast.Store:
                    base = chain(n)[0]
                    stored |= {base.id} if type(base) is ast.Name else set()
            elif kind is ast.Global or kind is ast.Nonlocal:
                declared.update(n.names)
            elif kind is ast.FunctionDef:
                bound[n.name] += 1
                if not n.decorator_list:
                    made.append(n.name)
        self.defined = frozenset(n for n in made if bound[n] == 1) - declared - self.form.inner_nonlocals
        outside = {n for n in stored - declared - bound.keys() if self._mangled(n) not in self.form.code.co_varnames + self.form.code.co_cellvars}
        free = {n for n in outside if self._mangled(n) in self.form.code.co_freevars}
        where = _start(node.body[0])
        out: list[Any] = [at(ast.Global(sorted(outside - free)), where)] if outside - free else []
        return out + ([at(ast.Nonlocal(sorted(free)), where)] if free else [])

    def _objects(self, a: Any, where: Any) -> list[Any]:
        """Let arrays that code which is not converted gives be objects, so that what is stored into them is seen by all names for them."""
        names = [p.arg for p in (*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else ()), *a.kwonlyargs, *([a.kwarg] if a.kwarg else ()))]
        found = at(ast.Assign([ast.Name(".given", _STORE)], call(ag("as_objects"), *map(name, names))), where)
        bound = at(ast.Assign([ast.Tuple([ast.Name(n, _STORE) for n in names], _STORE)], ast.Attribute(name(".given"), "values", _LOAD)), where)
        return [found, at(ast.If(_is_given(), [bound], []), where)]

    def visit_Return(self, node: Any) -> Any:
        new = self.rebuilt(node)
        if not self.takes or node.value is None:
            return new
        back = call(ast.Attribute(name(".given"), "back", _LOAD), new.value)
        return replaced(new, value=at(ast.IfExp(_is_given(), back, new.value), new.value))

    def _mangled(self, name: str) -> str:
        return mangled(name, self.form.cls)

    def _enter(self, node: Any) -> Any:
        witness = ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Tuple([name(v) for v in self.form.code.co_freevars], _LOAD))
        a = node.args
        args = [name(p.arg) for p in (*a.posonlyargs, *a.args)] + ([ast.Starred(name(a.vararg.arg), _LOAD)] if a.vararg else [])
        keywords = [ast.keyword(p.arg, name(p.arg)) for p in a.kwonlyargs] + ([ast.keyword(None, name(a.kwarg.arg))] if a.kwarg else [])
        return ast.Call(call(ast.Attribute(planted(self.table, self.form), "enter", _LOAD), witness), args, keywords)

    def _function(self, node: Any) -> Any:
        args = node.args
        defaults, kw_defaults = self.visit_all(args.defaults), self.visit_all(args.kw_defaults)
        if defaults is not args.defaults or kw_defaults is not args.kw_defaults:
            args = ast.arguments(args.posonlyargs, args.args, args.vararg, args.kwonlyargs, kw_defaults, args.kwarg, defaults)
        form = self.form.inside.get((node.lineno, node.col_offset))
        new = replaced(node, args=args)
        if not isinstance(node, ast.Lambda):
            new.decorator_list = self.visit_all(node.decorator_list)
        return Plain(form, self.file, self.table).rewrite(new) if form is not None else new  # none: dead code, never compiled

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node: Any) -> Any:
        before, self.in_class = self.in_class, True
        new = self.rebuilt(node)
        self.in_class = before
        return new

    def visit_Call(self, node: Any) -> Any:
        new = self.rebuilt(node)
        func = new.func
        if self._known(new):
            return at(call(ag("made"), new), new) if self.file.stores and isinstance(func, ast.Attribute) else new
        where = node
        if isinstance(func, ast.Attribute) and node.lineno != func.end_lineno:  # where CPython puts a chained method call
            end: Any = func
            where = SimpleNamespace(lineno=end.end_lineno, col_offset=end.end_col_offset - len(end.attr))
            where.end_lineno, where.end_col_offset = node.end_lineno, node.end_col_offset
        return at(ast.Call(self._callee(func), new.args, new.keywords), where)

    def _callee(self, func: Any) -> Any:
        """The callee found at this site before, or what it resolves to."""
        base = func.value if isinstance(func, ast.Attribute) else func
        site = planted(self.table, self.form.new_site()).value
        if not self.form.stageable or not isinstance(base, ast.Name):
            how = "anywhere" if not self.form.stageable else "bound" if isinstance(func, ast.Attribute) else "callee"
            return at(call(ast.Attribute(ast.Constant(site), how, _LOAD), func), func)

        def part(attr: str) -> Any:
            return ast.Attribute(ast.Constant(site), attr, _LOAD)

        def same(a: Any, b: Any) -> Any:
            return ast.Compare(a, [ast.Is()], [b])

        if base is func:
            return at(ast.IfExp(same(func, part("seen")), part("use"), call(part("miss"), func)), func)
        return at(ast.IfExp(same(call(ag("type"), base), part("seen")), func, call(part("method"), func)), func)

    def is_builtin(self, name: Any) -> bool:
        return name.id not in self.local and self.file.is_builtin(name.id)

    def _known(self, node: Any) -> bool:
        """Whether nothing is to be resolved, by the file's text alone."""
        func, parts = node.func, []
        if isinstance(func, ast.Name) and self.is_builtin(func):
            return func.id not in _CALL_ARGUMENTS or (func.id in ("sorted", "min", "max") and not node.keywords)
        if isinstance(func, ast.Name) and func.id in self.defined:
            return True  # a function defined here: it has both forms
        while isinstance(func, ast.Attribute):
            parts.append(func.attr)
            func = func.value
        if parts and isinstance(func, ast.Name) and func.id in self.file.modules and func.id not in self.local:
            return self.file.modules[func.id].split(".")[0] in ARRAY_LIBRARIES and parts[0] not in HIGHER and parts[0] not in ("map", "piecewise")
        return False


def _names(code: CodeType) -> frozenset[str]:
    """The names that are not global in a function."""
    return frozenset(code.co_varnames + code.co_cellvars + code.co_freevars)


def _own(body: list[Any]) -> Iterator[Any]:
    """The nodes of a scope itself."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if node.__class__ is not ast.Name and node.__class__ is not ast.Constant and not isinstance(node, _SCOPES):
            stack += children(node)


def _is_given() -> Any:
    return ast.Compare(name(".given"), [ast.IsNot()], [ast.Constant(None)])


def _traced() -> Any:
    return ast.Compare(ast.Attribute(ag("trace_state"), "value", _LOAD), [ast.IsNot()], [ag("eval_trace")])


def _start(node: Any) -> Any:
    """The place where a statement starts running, as wide as one token."""
    node = node.decorator_list[0] if getattr(node, "decorator_list", None) else node
    return SimpleNamespace(lineno=node.lineno, col_offset=node.col_offset, end_lineno=node.lineno, end_col_offset=node.col_offset)
