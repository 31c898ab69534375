"""The plain form of a function: the user's statements; only call sites, `x[i] = v` and the entry are ours.

    def f(x):                def f(x):
        y = g(x)                 if ag.trace_state.value is not ag.eval_trace: return FORM.enter(lambda: (FREE,))(x)
        x[0] = y        =>       y = (SITE.use if g is SITE.seen else SITE.miss(g))(x)
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

from autograph.load import KEY, Table, planted
from autograph.passes.callables import ARRAY_LIBRARIES, HIGHER
from autograph.rebuild import Rebuilder, at, replaced
from autograph.source import File

_CALL_ARGUMENTS = frozenset({"map", "filter", "iter", "sorted", "min", "max"})  # builtins that call an argument
_LOAD, _STORE = ast.Load(), ast.Store()
_YIELDS = (ast.Yield, ast.YieldFrom, ast.Await)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Plain(Rebuilder):
    """Rewrites one function into its plain form; functions inside it get theirs."""

    def __init__(self, form: Any, file: File, table: Table, entry: bool = True) -> None:
        super().__init__()
        self.form, self.file, self.table = form, file, table
        self.entry = entry and form.enters
        self.local = _names(form.code)
        self.in_class = False
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
        enter = [at(ast.If(_traced(), [at(ast.Return(self._enter(node)), where)], []), where)] if self.entry else []
        return replaced(node, body=[*node.body[:doc], *head, *enter, *rest])

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
                if type(n.ctx) is ast.Store and type(n.value) is ast.Name:
                    stored.add(n.value.id)
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

    def _mangled(self, name: str) -> str:
        cls = self.form.cls.lstrip("_")
        return f"_{cls}{name}" if cls and name.startswith("__") and not name.endswith("__") else name

    def _enter(self, node: Any) -> Any:
        witness = ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Tuple([_name(v) for v in self.form.code.co_freevars], _LOAD))
        a = node.args
        args = [_name(p.arg) for p in (*a.posonlyargs, *a.args)] + ([ast.Starred(_name(a.vararg.arg), _LOAD)] if a.vararg else [])
        keywords = [ast.keyword(p.arg, _name(p.arg)) for p in a.kwonlyargs] + ([ast.keyword(None, _name(a.kwarg.arg))] if a.kwarg else [])
        return ast.Call(_call(ast.Attribute(planted(self.table, self.form), "enter", _LOAD), witness), args, keywords)

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
            return new
        where = node
        if isinstance(func, ast.Attribute) and node.lineno != func.end_lineno:  # where CPython puts a chained method call
            end: Any = func
            where = SimpleNamespace(lineno=end.end_lineno, col_offset=end.end_col_offset - len(end.attr))
            where.end_lineno, where.end_col_offset = node.end_lineno, node.end_col_offset
        return at(ast.Call(self._callee(func), new.args, new.keywords), where)

    def _callee(self, func: Any) -> Any:
        """The callee found at this site before, or what it resolves to."""
        base = func.value if isinstance(func, ast.Attribute) else func
        if not self.form.stageable or not isinstance(base, ast.Name):
            return at(_call(_ag("call"), func), func)
        site = planted(self.table, self.form.new_site()).value

        def part(attr: str) -> Any:
            return ast.Attribute(ast.Constant(site), attr, _LOAD)

        def same(a: Any, b: Any) -> Any:
            return ast.Compare(a, [ast.Is()], [b])

        if base is func:
            return at(ast.IfExp(same(func, part("seen")), part("use"), _call(part("miss"), func)), func)
        bound = _call(_ag("MethodType"), part("use"), base)
        known = same(_call(_ag("getattr"), func, ast.Constant("__func__"), ast.Constant(None)), part("function"))
        other = at(ast.IfExp(known, bound, _call(part("miss_method"), func)), func)
        return at(ast.IfExp(same(_call(_ag("type"), base), part("seen")), func, other), func)

    def _known(self, node: Any) -> bool:
        """Whether nothing is to be resolved, by the file's text alone."""
        func, parts = node.func, []
        if isinstance(func, ast.Name) and func.id not in self.local:
            if self.file.is_builtin(func.id):
                return func.id not in _CALL_ARGUMENTS or (func.id in ("sorted", "min", "max") and not node.keywords)
        if isinstance(func, ast.Name) and func.id in self.defined:
            return True  # a function defined here: it has both forms
        while isinstance(func, ast.Attribute):
            parts.append(func.attr)
            func = func.value
        if parts and isinstance(func, ast.Name) and func.id in self.file.modules and func.id not in self.local:
            return self.file.modules[func.id].split(".")[0] in ARRAY_LIBRARIES and parts[0] not in HIGHER and parts[0] not in ("map", "piecewise")
        return False

    def visit_Assign(self, node: Any) -> Any:
        new = self.rebuilt(node)
        if len(new.targets) != 1 or self.in_class or not _stores(new.targets[0]) or _has_yield(node):
            return new
        target = new.targets[0]
        if isinstance(target, ast.Subscript):
            return self._store(target, new.value, new)
        return self._store_all(target, new)

    def visit_For(self, node: Any) -> Any:
        """`for x[i] in items`: the item is assigned first in the body."""
        new = self.rebuilt(node)
        if self.in_class or not _stores(new.target) or _has_yield(new.target):
            return new
        item = at(_name(".item"), new.target)
        first = self.visit_Assign(at(ast.Assign([new.target], item), new.target))
        gone = at(ast.Delete([ast.Name(".item", ast.Del())]), new.target)
        return replaced(new, target=at(ast.Name(".item", _STORE), new.target), body=[*first, gone, *new.body])

    def _store_all(self, target: Any, node: Any) -> list[Any]:
        """`x[i], (y[j], *z) = v`: unpack all of it, then store from left to right."""
        leaves: list[Any] = []

        def unpacked(t: Any) -> Any:
            if isinstance(t, (ast.Tuple, ast.List)):
                return at(type(t)([unpacked(e) for e in t.elts], _STORE), t)
            if isinstance(t, ast.Starred):
                return at(ast.Starred(unpacked(t.value), _STORE), t)
            leaves.append(t)
            return at(ast.Name(f".{len(leaves) - 1}", _STORE), t)

        names = unpacked(target)
        out = [at(ast.Assign([names], node.value), node)]
        for k, leaf in enumerate(leaves):
            value = at(_name(f".{k}"), leaf)
            out += self._store(leaf, value, node) if _stores(leaf) else [at(ast.Assign([leaf], value), node)]
        return [*out, at(ast.Delete([ast.Name(f".{k}", ast.Del()) for k in range(len(leaves))]), node)]

    def visit_AugAssign(self, node: Any) -> Any:
        new = self.rebuilt(node)
        if self.in_class or not _stores(new.target) or _has_yield(node):
            return new
        return self._store(new.target, new.value, new, new.op)

    def _store(self, target: Any, value: Any, where: Any, op: Any = None) -> list[Any]:
        """`x[i] = v` in a `try`; an array, which has no item assignment, is rebound to a new one."""
        before: list[Any] = []
        temporaries: list[str] = []

        def hold(id: str, held: Any) -> Any:
            before.append(at(ast.Assign([ast.Name(id, _STORE)], held), where))
            temporaries.append(id)
            return _name(id)

        base, index = target.value, target.slice
        if not op and not _simple(value):
            value = hold(".v", value)
        if not (_simple(index) and _simple(value)):
            index = hold(".i", _index(index))
            if op:  # read x[i], evaluate v, operate, store
                hold(".o", at(ast.Subscript(at(_name(base.id), base), index, _LOAD), target))
                before.append(at(ast.AugAssign(ast.Name(".o", _STORE), op, value), where))
                value, op = _name(".o"), None
        new = at(ast.Subscript(at(_name(base.id), base), index, _STORE), target)
        first = ast.AugAssign(new, op, value) if op else ast.Assign([new], value)
        got = ast.BinOp(ast.Subscript(_name(base.id), _index(index), _LOAD), op, value) if op else value
        fix = [
            at(ast.If(ast.UnaryOp(ast.Not(), _call(_ag("is_array"), _name(base.id))), [at(ast.Raise(None, None), where)], []), where),
            at(ast.Assign([ast.Name(base.id, _STORE)], _call(_ag("set_item"), _name(base.id), _index(index), got)), where),
        ]
        trial = at(ast.Try([at(first, where)], [at(ast.ExceptHandler(_ag("TypeError"), None, fix), where)], [], []), where)
        drop = [at(ast.Delete([ast.Name(t, ast.Del()) for t in temporaries]), where)] if temporaries else []
        return [*before, trial, *drop]


def _names(code: CodeType) -> frozenset[str]:
    """The names that are not global in a function."""
    return frozenset(code.co_varnames + code.co_cellvars + code.co_freevars)


def _own(body: list[Any]) -> Iterator[Any]:
    """The nodes of a scope itself."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, _SCOPES):
            continue
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                stack += [v for v in value if isinstance(v, ast.AST)]
            elif isinstance(value, ast.AST) and field != "ctx":
                stack.append(value)


def _name(id: str) -> Any:
    return ast.Name(id, _LOAD)


def _ag(attr: str) -> Any:
    return ast.Attribute(ast.Constant(KEY), attr, _LOAD)


def _call(func: Any, *args: Any) -> Any:
    return ast.Call(func, list(args), [])


def _traced() -> Any:
    return ast.Compare(ast.Attribute(_ag("trace_state"), "value", _LOAD), [ast.IsNot()], [_ag("eval_trace")])


def _start(node: Any) -> Any:
    """The place where a statement starts running, as wide as one token."""
    node = node.decorator_list[0] if getattr(node, "decorator_list", None) else node
    return SimpleNamespace(lineno=node.lineno, col_offset=node.col_offset, end_lineno=node.lineno, end_col_offset=node.col_offset)


def _stores(target: Any) -> bool:
    """Whether a target stores into a subscript of a name."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_stores(t) for t in target.elts)
    if isinstance(target, ast.Starred):
        return _stores(target.value)
    return isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)


def _has_yield(node: Any) -> bool:
    return any(isinstance(n, _YIELDS) for n in ast.walk(node))


def _simple(node: Any) -> bool:
    """Whether evaluating it twice is the same as once."""
    match node:
        case None | ast.Name() | ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Slice(lower=a, upper=b, step=c):
            return _simple(a) and _simple(b) and _simple(c)
        case ast.Tuple(elts=elts):
            return all(map(_simple, elts))
    return False


def _index(node: Any) -> Any:
    """A subscript as a value."""
    if isinstance(node, ast.Slice):
        return _call(_ag("slice"), *(p if p is not None else ast.Constant(None) for p in (node.lower, node.upper, node.step)))
    return ast.Tuple([_index(e) for e in node.elts], _LOAD) if isinstance(node, ast.Tuple) else node
