"""The plain form of a function: the user's statements; only call sites, `x[i] = v` and the entry are ours.

    def f(x):                def f(x):
        y = g(x)                 if ag.trace_state.value is not ag.eval_trace: return FORM.enter(lambda: (FREE,))(x)
        x[0] = y        =>       y = (SITE.use if g is SITE.seen else SITE.miss(g))(x)
                                 try: x[0] = y
                                 except TypeError:
                                     if not ag.is_array(x): raise
                                     x = ag.set_item(x, 0, y)

`FORM`, `SITE` and `ag` stand in co_consts.  The lambda is never called: it hands this function's cells to the staged form, by name.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from autograph import syntax as s
from autograph.load import Table, planted
from autograph.names import binds_all
from autograph.passes.calls import ARRAY_LIBRARIES, HIGHER
from autograph.passes.context import Context

_CALL_ARGUMENTS = frozenset({"map", "filter", "iter", "sorted", "min", "max"})  # builtins that call an argument


class Plain(s.Transformer):
    """Rewrites one function into its plain form; functions inside it get theirs."""

    def __init__(self, form: Any, context: Context, table: Table, entry: bool = True) -> None:
        self.form, self.context, self.table, self.entry = form, context, table, entry
        self.in_class = False
        self.defined: frozenset[str] = frozenset()

    def rewrite(self, node: Any) -> Any:
        if isinstance(node, s.Lambda):
            node.body = self.visit(node.body)
            if self.entry and self.form.stageable:
                body = node.body
                node.body = s.at(s.IfExp(_traced(), self._enter(node), body), _start(body))
            return node
        first = node.body[0]
        doc = [first] if isinstance(first, s.Expr) and isinstance(first.value, s.Constant) and isinstance(first.value.value, str) else []
        head = self._declarations(node)
        runs = [b for b in node.body[len(doc) :] if not isinstance(b, (s.Global, s.Nonlocal))]
        where = _start((runs or node.body)[0])
        rest = self.block(node.body[len(doc) :]) or [s.at(s.Pass(), where)]
        enter = [s.at(s.If(_traced(), [s.Return(self._enter(node))], []), where)] if self.entry and self.form.stageable else []
        node.body = [*doc, *head, *enter, *rest]
        return node

    def _declarations(self, node: Any) -> list[Any]:
        """A store into a subscript of a free or global name binds it: it is declared, or it would become local."""
        parameters = frozenset(s.parameter_names(node.args))
        declared = frozenset(n for b in s.own(*node.body) if isinstance(b, (s.Global, s.Nonlocal)) for n in b.names)
        bound = binds_all(node.body)
        once = [n.name for n in s.own(*node.body) if isinstance(n, s.FunctionDef) and not n.decorator_list]
        self.defined = frozenset(n for n in once if once.count(n) == 1 and _stores(node.body, n) == 1) - declared
        stored = frozenset(
            n.value.id for n in s.own(*node.body) if isinstance(n, s.Subscript) and isinstance(n.ctx, s.Store) and isinstance(n.value, s.Name)
        )
        outside = stored - (parameters | bound) - declared
        free = frozenset(n for n in outside if self._mangled(n) in self.form.code.co_freevars)
        where = _start(node.body[0])
        out = [s.at(s.Global(sorted(outside - free)), where)] if outside - free else []
        return out + ([s.at(s.Nonlocal(sorted(free)), where)] if free else [])

    def _mangled(self, name: str) -> str:
        cls = self.form.cls.lstrip("_")
        return f"_{cls}{name}" if cls and name.startswith("__") and not name.endswith("__") else name

    def _enter(self, node: Any) -> Any:
        witness = s.Lambda(s.no_arguments(), s.Tuple([s.name(v) for v in self.form.code.co_freevars], s.Load()))
        a = node.args
        args = [s.name(p.id) for p in (*a.posonlyargs, *a.args)] + ([s.Starred(s.name(a.vararg.id), s.Load())] if a.vararg else [])
        keywords = [s.keyword(p.id, s.name(p.id)) for p in a.kwonlyargs] + ([s.keyword(None, s.name(a.kwarg.id))] if a.kwarg else [])
        return s.Call(s.call(s.Attribute(planted(self.table, self.form), "enter", s.Load()), witness), args, keywords)

    def block(self, block: list[Any]) -> list[Any]:
        out: list[Any] = []
        for stmt in block:
            new = self.visit(stmt)
            out += new if isinstance(new, list) else [new]
        return out

    def _function(self, node: Any) -> Any:
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        if not isinstance(node, s.Lambda):
            node.decorator_list = [self.visit(d) for d in node.decorator_list]
        form = self.form.inside.get((node.lineno, node.col_offset))
        return Plain(form, self.context, self.table).rewrite(node) if form is not None else node  # none: dead code, never compiled

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node: Any) -> Any:
        before, self.in_class = self.in_class, True
        for field in ("decorator_list", "bases", "keywords"):
            setattr(node, field, [self.visit(n) for n in getattr(node, field)])
        node.body = self.block(node.body)
        self.in_class = before
        return node

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        func = node.func
        if self._known(node):
            return node
        if isinstance(func, s.Attribute) and node.lineno != func.end_lineno:  # where CPython puts a chained method call
            node.lineno, node.col_offset = func.end_lineno, func.end_col_offset - len(func.attr)
        node.func = self._callee(func)
        return node

    def _callee(self, func: Any) -> Any:
        """The callee found at this site before, or what it resolves to."""
        base = func.value if isinstance(func, s.Attribute) else func
        if not self.form.stageable or not isinstance(base, s.Name):
            return s.at(s.call(s.runtime("call"), func), func)
        site = planted(self.table, self.form.new_site()).value

        def part(attr: str) -> Any:
            return s.Attribute(s.constant(site), attr, s.Load())

        def same(a: Any, b: Any) -> Any:
            return s.Compare(a, [s.Is()], [b])

        if base is func:
            return s.at(s.IfExp(same(func, part("seen")), part("use"), s.call(part("miss"), s.at(s.name(func.id), func))), func)

        def method() -> Any:
            return s.at(s.Attribute(s.at(s.name(base.id), base), func.attr, s.Load()), func)

        bound = s.call(s.runtime("MethodType"), part("use"), s.at(s.name(base.id), base))
        known = same(s.call(s.runtime("getattr"), method(), s.constant("__func__"), s.constant(None)), part("function"))
        other = s.at(s.IfExp(known, bound, s.call(part("miss_method"), method())), func)
        return s.at(s.IfExp(same(s.call(s.runtime("type"), s.at(s.name(base.id), base)), part("seen")), method(), other), func)

    def _known(self, node: Any) -> bool:
        """Whether nothing is to be resolved, by the file's text alone."""
        func, parts = node.func, []
        if isinstance(func, s.Name) and self.context.is_builtin(func):
            return func.id not in _CALL_ARGUMENTS or (func.id in ("sorted", "min", "max") and not node.keywords)
        if isinstance(func, s.Name) and func.id in self.defined:
            return True  # a function defined here: it has both forms
        while isinstance(func, s.Attribute):
            parts.append(func.attr)
            func = func.value
        if parts and isinstance(func, s.Name) and func.id in self.context.modules:
            return self.context.modules[func.id].split(".")[0] in ARRAY_LIBRARIES and parts[0] not in HIGHER and parts[0] not in ("map", "piecewise")
        return False

    def visit_Assign(self, node: Any) -> Any:
        self.generic_visit(node)
        if len(node.targets) != 1 or self.in_class or s.contains(node, *s.YIELDS):
            return node
        target = node.targets[0]
        if _storable(target):
            return self._store(target, node.value, node)
        if isinstance(target, s.Tuple) and any(_storable(t) for t in target.elts) and not any(isinstance(t, (s.Starred, s.Tuple, s.List)) for t in target.elts):
            return self._store_all(target.elts, node)
        return node

    def _store_all(self, targets: list[Any], node: Any) -> list[Any]:
        """`x[i], y[j] = v`: unpack all of it, then store from left to right."""
        temporaries = [f".{k}" for k in range(len(targets))]
        names = [s.at(s.name(t, s.Store()), target) for t, target in zip(temporaries, targets, strict=True)]
        out = [s.at(s.Assign([s.at(s.Tuple(names, s.Store()), node.targets[0])], node.value, None), node)]
        for temporary, target in zip(temporaries, targets, strict=True):
            value = s.at(s.name(temporary), target)
            out += self._store(target, value, node) if _storable(target) else [s.at(s.Assign([target], value, None), node)]
        return [*out, s.at(s.Delete([s.name(t, s.Del()) for t in temporaries]), node)]

    def visit_AugAssign(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class or not _storable(node.target) or s.contains(node, *s.YIELDS):
            return node
        return self._store(node.target, node.value, node, node.op)

    def _store(self, target: Any, value: Any, where: Any, op: Any = None) -> list[Any]:
        """`x[i] = v` in a `try`; an array, which has no item assignment, is rebound to a new one."""
        before: list[Any] = []
        temporaries: list[str] = []

        def hold(id: str, held: Any) -> Any:
            before.append(s.at(s.Assign([s.name(id, s.Store())], held, None), where))
            temporaries.append(id)
            return s.name(id)

        base, index = target.value, target.slice
        if not op and not _simple(value):
            value = hold(".v", value)
        if not (_simple(index) and _simple(value)):
            index = hold(".i", _index(index))
            if op:  # read x[i], evaluate v, operate, store
                hold(".o", s.at(s.Subscript(s.at(s.name(base.id), base), index, s.Load()), target))
                before.append(s.at(s.AugAssign(s.name(".o", s.Store()), op, value), where))
                value, op = s.name(".o"), None
        new = s.at(s.Subscript(s.at(s.name(base.id), base), index, s.Store()), target)
        first = s.AugAssign(new, op, value) if op else s.Assign([new], value, None)
        got = s.BinOp(s.Subscript(s.name(base.id), _index(index), s.Load()), op, value) if op else value
        fix = [
            s.at(s.If(s.UnaryOp(s.Not(), s.call(s.runtime("is_array"), s.name(base.id))), [s.at(s.Raise(None, None), where)], []), where),
            s.at(s.Assign([s.name(base.id, s.Store())], s.call(s.runtime("set_item"), s.name(base.id), _index(index), got), None), where),
        ]
        trial = s.at(s.Try([s.at(first, where)], [s.at(s.ExceptHandler(s.runtime("TypeError"), None, fix), where)], [], []), where)
        drop = [s.at(s.Delete([s.name(t, s.Del()) for t in temporaries]), where)] if temporaries else []
        return [*before, trial, *drop]


def _traced() -> Any:
    return s.Compare(s.Attribute(s.runtime("trace_state"), "value", s.Load()), [s.IsNot()], [s.runtime("eval_trace")])


def _start(node: Any) -> Any:
    """The place where a statement starts running, as wide as one token."""
    node = node.decorator_list[0] if getattr(node, "decorator_list", None) else node
    return SimpleNamespace(lineno=node.lineno, col_offset=node.col_offset, end_lineno=node.lineno, end_col_offset=node.col_offset)


def _stores(body: list[Any], name: str) -> int:
    return sum(
        (isinstance(n, s.Name) and n.id == name and not isinstance(n.ctx, s.Load)) or (isinstance(n, (s.FunctionDef, s.ClassDef)) and n.name == name)
        for b in body
        for n in s.walk(b)
    )


def _storable(target: Any) -> bool:
    return isinstance(target, s.Subscript) and isinstance(target.value, s.Name)


def _simple(node: Any) -> bool:
    """Whether evaluating it twice is the same as once."""
    match node:
        case None | s.Name() | s.Constant() | s.UnaryOp(operand=s.Constant()):
            return True
        case s.Slice(lower=a, upper=b, step=c):
            return _simple(a) and _simple(b) and _simple(c)
        case s.Tuple(elts=elts):
            return all(map(_simple, elts))
    return False


def _index(node: Any) -> Any:
    """A subscript as a value."""
    if isinstance(node, s.Slice):
        return s.call(s.runtime("slice"), *(p if p is not None else s.constant(None) for p in (node.lower, node.upper, node.step)))
    return s.Tuple([_index(e) for e in node.elts], s.Load()) if isinstance(node, s.Tuple) else node
