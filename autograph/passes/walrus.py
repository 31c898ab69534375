"""Iteration operators and loop tests into statements where they bind a name in a function of their own.

    if x > 0 and (y := f(x)) < 1:           value = x > 0
        return y                            if value:
                                    =>          y = f(x)
                                                value = y < 1
                                            if value:
                                                return y

An operand becomes a function, and a name bound there would be lost.  What the statement evaluates before goes to temporaries.
"""

from __future__ import annotations

from typing import Any

from autograph.analysis.names import binds_all
from autograph.passes.context import Context
from autograph.trees import syntax as s
from autograph.trees.quote import quote

_FIRST = {
    "Expr": "value",
    "Assign": "value",
    "AugAssign": "value",
    "AnnAssign": "value",
    "Return": "value",
    "If": "test",
    "Assert": "test",
    "For": "iter",
    "Match": "subject",
}
_HIDDEN = (s.Lambda, *s.COMPREHENSIONS)  # they evaluate when they are called, or in a scope of their own


def spill_walruses(fn: Any, context: Context) -> bool:
    if s.NamedExpr not in context.fresh.kinds or not any(isinstance(n, s.NamedExpr) for b in fn.body for n in s.walk(b)):
        return False
    fn.body = _Spill(context, context.scope(fn).locals).block(fn.body)
    return True


class _Spill:
    def __init__(self, context: Context, local: frozenset[str]) -> None:
        self.context, self.local = context, local

    def block(self, block: list[Any]) -> list[Any]:
        return [new for stmt in block for new in self.stmt(stmt)]

    def stmt(self, stmt: Any) -> list[Any]:
        if isinstance(stmt, s.SCOPES):
            return [stmt]
        for inner in s.blocks(stmt):
            inner[:] = self.block(inner)
        if isinstance(stmt, s.While) and (_late(stmt.test) or s.contains(stmt.test, s.NamedExpr)):
            return self._loop(stmt)
        field = _FIRST.get(type(stmt).__name__, "")
        value = getattr(stmt, field, None) if field else None
        if value is None or not _late(value):
            return [stmt]
        before, new = self.expr(value)
        if isinstance(stmt, s.AugAssign) and isinstance(stmt.target, s.Name) and stmt.target.id in binds_all(before):  # it is read first
            held, target = self.context.fresh("old"), stmt.target
            operation = s.at(s.AugAssign(s.at(s.name(held, s.Store()), target), stmt.op, new), stmt)
            out = [*quote("$held = $x", stmt, held=held, x=s.at(s.name(target.id), target)), *before, operation]
            return [*out, *quote("$x = $held", stmt, x=target.id, held=held)]
        setattr(stmt, field, new)
        self.context.memo.forget(stmt, value, new)
        return [*before, stmt]

    def _loop(self, loop: Any) -> list[Any]:
        """The test is evaluated in the body, where statements can stand."""
        before, test = self.expr(loop.test)
        ended = self.context.fresh("ended") if loop.orelse else ""
        leave = quote("if not $test:\n    $ended = True\n    break", loop.test, test=test, ended=ended) if ended else quote(
            "if not $test:\n    break", loop.test, test=test
        )  # fmt: skip
        orelse, loop.orelse = loop.orelse, []
        loop.test, loop.body = s.at(s.constant(True), loop.test), [*before, *leave, *loop.body]
        if not ended:
            return [loop]
        return [*quote("$ended = False", loop, ended=ended), loop, *quote("if $ended:\n    $orelse", loop, ended=ended, orelse=orelse)]

    def expr(self, node: Any) -> tuple[list[Any], Any]:
        """Statements to run before, and the expression that is left."""
        if not _late(node):
            return [], node
        match node:
            case s.BoolOp():
                value = self.context.fresh("value")
                out = self._assign(value, node.values[0])
                test = "if $value:\n    $rest" if isinstance(node.op, s.And) else "if not $value:\n    $rest"
                return out + self._rest(value, node.values[1:], test), s.at(s.name(value), node)
            case s.IfExp():
                value = self.context.fresh("value")
                before, test = self.expr(node.test)
                sides = {"body": self._assign(value, node.body), "orelse": self._assign(value, node.orelse)}
                return [*before, *quote("if $test:\n    $body\nelse:\n    $orelse", node, test=test, **sides)], s.at(s.name(value), node)
            case s.Compare():
                return self._compare(node)
            case s.NamedExpr():
                before, node.value = self.expr(node.value)
                return before, node
            case s.Call() if _folds(node) and self.context.is_builtin(node.func) and node.func.id not in self.local:
                return self._fold(node)
        return self._operands(node)

    def _fold(self, node: Any) -> tuple[list[Any], Any]:
        """A fold of a generator that binds names outside: a loop."""
        source, word = node.args[0], node.func.id
        (generator,) = source.generators
        rename = _Rename({n.id: self.context.fresh(n.id) for n in s.walk(generator.target) if isinstance(n, s.Name)})
        target, value = rename.visit(generator.target), rename.visit(source.elt)
        first = {"sum": 0, "len": 0, "any": False, "all": True}[word]
        total = self.context.fresh("value")
        template = {
            "sum": "$total = $total + $value", "len": "$value\n$total = $total + 1", "any": "if $value:\n    $total = True\n    break",
            "all": "if not $value:\n    $total = False\n    break",
        }[word]  # fmt: skip
        if isinstance(source, s.ListComp):  # all of it is evaluated
            template = template.removesuffix("\n    break")
        body = quote(template, source, total=total, value=value)
        for test in reversed(generator.ifs):
            body = quote("if $test:\n    $body", test, test=rename.visit(test), body=body)
        start = node.args[1] if len(node.args) > 1 else s.at(s.constant(first), node)
        items = self.context.fresh("items")
        before, iterable = self.expr(generator.iter)
        out = [
            *before,
            *quote("$items = $iterable", source, items=items, iterable=iterable),
            *quote("$total = $start", node, total=total, start=start),
        ]
        out += quote("for $target in $items:\n    $body", source, target=target, items=items, body=self.block(body))
        return out, s.at(s.name(total), node)

    def _assign(self, name: str, value: Any) -> list[Any]:
        before, new = self.expr(value)
        return [*before, *quote("$name = $value", value, name=name, value=new)]

    def _rest(self, value: str, operands: list[Any], test: str) -> list[Any]:
        if not operands:
            return []
        rest = self._assign(value, operands[0]) + self._rest(value, operands[1:], test)
        return quote(test, operands[0], value=value, rest=rest)

    def _compare(self, node: Any) -> tuple[list[Any], Any]:
        value, left = self.context.fresh("value"), self.context.fresh("left")
        out = self._assign(left, node.left)

        def link(k: int, left: str) -> list[Any]:
            right = self.context.fresh("right")
            compared = s.at(s.Compare(s.at(s.name(left), node), [node.ops[k]], [s.at(s.name(right), node)]), node)
            stmts = self._assign(right, node.comparators[k]) + quote("$value = $compared", node, value=value, compared=compared)
            if k + 1 < len(node.ops):
                stmts += quote("if $value:\n    $rest", node, value=value, rest=link(k + 1, right))
            return stmts

        return out + link(0, left), s.at(s.name(value), node)

    def _operands(self, node: Any) -> tuple[list[Any], Any]:
        """An expression that evaluates its operands in order: those before the last that spills go to temporaries."""
        out: list[Any] = []
        places = [(field, k) for field, many, _ in s.child_fields(type(node)) for k in (range(len(getattr(node, field))) if many else [-1])]
        parts = [getattr(node, f) if k < 0 else getattr(node, f)[k] for f, k in places]
        last = max((i for i, part in enumerate(parts) if part is not None and _late(part)), default=-1)
        for i, ((field, k), part) in enumerate(zip(places, parts, strict=True)):
            if part is None or i > last or isinstance(part, s.Constant):
                continue
            before, new = self._part(part, keep=i == last)
            out += before
            if k < 0:
                setattr(node, field, new)
            else:
                getattr(node, field)[k] = new
        return out, node

    def _part(self, part: Any, keep: bool) -> tuple[list[Any], Any]:
        if isinstance(part, (s.keyword, s.Starred)):
            before, part.value = self._part(part.value, keep)
            return before, part
        before, new = self.expr(part)
        if keep or isinstance(new, s.Constant):
            return before, new
        held = self.context.fresh("value")
        return [*before, *quote("$held = $new", part, held=held, new=new)], s.at(s.name(held), part)


def _late(node: Any) -> bool:
    """Whether an operand in it that is not always evaluated binds a name."""
    if isinstance(node, (*_HIDDEN, s.Constant, s.Name)):
        return False
    if isinstance(node, s.Call) and _folds(node):
        return True
    lazy: list[Any] = []
    match node:
        case s.BoolOp():
            lazy = node.values[1:]
        case s.IfExp():
            lazy = [node.body, node.orelse]
        case s.Compare():
            lazy = node.comparators[1:]
    if any(_names_bound(n) for n in lazy):
        return True
    return any(map(_late, s.children(node)))


def _names_bound(node: Any) -> bool:
    if isinstance(node, _HIDDEN):
        return any(isinstance(n, s.NamedExpr) for n in s.walk(node)) and not isinstance(node, s.Lambda)
    return isinstance(node, s.NamedExpr) or any(map(_names_bound, s.children(node)))


class _Rename(s.Transformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: Any) -> Any:
        node.id = self.names.get(node.id, node.id)
        return node


def _folds(node: Any) -> bool:
    """`sum`, `any`, `all` or `len` of one generator in which a walrus binds a name outside."""
    match node:
        case s.Call(func=s.Name(id="sum" | "any" | "all" | "len" as word), args=[s.GeneratorExp() | s.ListComp() as source, *rest], keywords=[]):
            plain = len(source.generators) == 1 and not source.generators[0].is_async
            fits = isinstance(source, s.ListComp) if word == "len" else not rest or word == "sum"
            return plain and fits and any(isinstance(n, s.NamedExpr) for n in s.walk(source))
    return False
