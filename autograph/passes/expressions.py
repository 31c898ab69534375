"""Rewrite `and`, `or`, `not`, `a if c else b` and chained comparisons so that traced values may decide them.

    a and b                  =>   ag.and_then(a, lambda: b)
    if a and not b:          =>   if ag.and_(a, lambda: ag.not_(b)):      (where only the truth is wanted)
    x if c else y            =>   ag.cond(c, lambda: x, lambda: y)
    0 <= i < n               =>   ag.and_(0 <= i, lambda: i < n)
    x is not None            =>   ag.is_not_none(x)
    x in (1, 2)              =>   ag.in_(x, (1, 2))
    table[i]                 =>   ag.get_item(table, i)
    x[i:i + k]               =>   ag.get_item(x, ag.span(i, i + k, k))
    a < f(b) < c             =>   ag.compare(a, '<', f(b), '<', lambda: c)
    assert p, text           =>   assert ag.asserted(p, lambda: text)

An operand that is not always evaluated and binds a name (`a and (b := c)`) keeps the operator of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from autograph.passes.context import DEEPEST, Context
from autograph.passes.indices import index_of
from autograph.passes.numeric import may_be_rows, numeric
from autograph.trees import syntax as s
from autograph.trees.grouping import folded, in_groups, links
from autograph.trees.quote import quote_expr

_SYMBOLS = {
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip


_STRUCTURE = (s.MatchSequence, s.MatchMapping, s.MatchClass)


def lower_expressions(fn: Any, context: Context) -> None:
    kinds = context.fresh.kinds
    lower = _Expressions(context, _optional(fn, kinds), numeric(fn) if s.Compare in kinds else frozenset())
    if isinstance(fn, s.Lambda):
        fn.body = lower.visit(fn.body)
    else:
        fn.body = [lower.visit(stmt) for stmt in fn.body]


class _Expressions(s.Transformer):
    def __init__(self, context: Context, optional: frozenset[str], numbers: frozenset[str]) -> None:
        self.context, self.optional, self.numbers = context, optional, numbers  # variables that may be None; what is a number or an array
        self.test = context.blocks.get("test", "")  # the name of the functions that are tests of loops

    def truth(self, node: Any) -> Any:
        """An expression of which only the truth is wanted."""
        match node:
            case s.BoolOp():
                return self._bool(node, self.truth, "ag.and_" if isinstance(node.op, s.And) else "ag.or_")
            case s.Compare() if len(node.ops) > 1:
                return self._chain(node, "ag.and_")
            case s.IfExp():
                return self._ternary(node, self.truth)
        return self.visit(node)

    def visit_BoolOp(self, node: Any) -> Any:
        return self._bool(node, self.visit, "ag.and_then" if isinstance(node.op, s.And) else "ag.or_else")

    def visit_Compare(self, node: Any) -> Any:
        return self._chain(node, "ag.and_then") if len(node.ops) > 1 else self._compare(self.generic_visit(node))

    def visit_IfExp(self, node: Any) -> Any:
        return self._ternary(node, self.visit)

    def visit_UnaryOp(self, node: Any) -> Any:
        if isinstance(node.op, s.Not):
            return quote_expr("ag.not_($operand)", node, operand=self.truth(node.operand))
        return self.generic_visit(node)

    def visit_Subscript(self, node: Any) -> Any:
        if not isinstance(node.ctx, s.Load) or _is_static(node.slice) or _is_update(node):
            return self.generic_visit(node)
        return quote_expr("ag.get_item($x, $i)", node, x=self.visit(node.value), i=self.visit(index_of(node.slice)))

    def visit_AnnAssign(self, node: Any) -> Any:
        node.value = node.value and self.visit(node.value)
        return node

    def visit_Match(self, node: Any) -> Any:
        if any(isinstance(p, _STRUCTURE) for c in node.cases for p in s.walk(c.pattern)):
            numbers = s.constant(any(_sorts(c.pattern) for c in node.cases))
            node.subject = quote_expr("ag.matched($subject, $numbers)", node.subject, subject=node.subject, numbers=numbers)
        return self.generic_visit(node)

    def visit_If(self, node: Any) -> Any:
        node.test = self.truth(node.test)
        node.body = [self.visit(b) for b in node.body]
        node.orelse = [self.visit(b) for b in node.orelse]
        return node

    visit_While = visit_If

    def visit_Assert(self, node: Any) -> Any:
        parts = [self.truth(node.test), *([s.thunk(self.visit(node.msg))] if node.msg else [])]
        node.test, node.msg = quote_expr("ag.asserted($parts)", node.test, parts=parts), None
        return node

    def visit_ClassDef(self, node: Any) -> Any:
        """A class body stays Python: a lambda in it would not see its names."""
        for field in ("decorator_list", "bases", "keywords"):
            setattr(node, field, [self.visit(n) for n in getattr(node, field)])
        node.body = [self.visit(b) if isinstance(b, s.SCOPES) else b for b in node.body]
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        if node.name != self.test:
            return self.generic_visit(node)
        *first, last = node.body
        last.value = self.truth(last.value)
        node.body = [*map(self.visit, first), last]
        return node

    def visit_Call(self, node: Any) -> Any:
        match node.func:
            case s.Attribute(value=s.Name(id=s.RUNTIME), attr="cond" | "while_loop"):
                test, *rest = node.args
                if isinstance(test, s.Lambda):
                    test.body = self.truth(test.body)
                else:
                    test = self.truth(test)
                node.args = [test, *map(self.visit, rest)]
                return node
            case s.Attribute(value=s.Name(id=s.RUNTIME), attr="each"):
                return self._each(node)
        return self.generic_visit(node)

    def _each(self, node: Any) -> Any:
        """The elements of a comprehension, what it evaluates for each, and perhaps its condition."""
        values, condition = node.args[:2], node.args[2:]
        if len(condition) == 1 and isinstance(condition[0], s.Lambda):
            condition[0].body = self.truth(condition[0].body)
        else:
            condition = [*map(self.visit, condition)]
        node.args = [*map(self.visit, values), *condition]
        return node

    def _is_class(self, node: Any) -> bool:
        """Whether an operand of `is` is a class, by its text: no traced value chooses one of these."""
        if isinstance(node, s.Call):
            return getattr(node.func, "id", getattr(node.func, "attr", "")) in ("type", "type_of")
        return isinstance(node, s.Name) and self.context.is_builtin(node)

    def _compare(self, node: Any) -> Any:
        """One comparison, whose operands are lowered, that traced values may decide in another way than by their own operator."""
        right, kind = node.comparators[0], type(node.ops[0]).__name__
        operator = ""
        if kind in ("Is", "IsNot") and isinstance(right, s.Constant):
            if right.value is None:
                return quote_expr("ag.is_none($left)" if kind == "Is" else "ag.is_not_none($left)", node, left=node.left)
            if isinstance(right.value, bool):
                symbol = s.constant(_SYMBOLS[kind])
                return quote_expr("ag.is_bool($left, $symbol, $right)", node, left=node.left, symbol=symbol, right=right)
        elif kind in ("Is", "IsNot") and not (self._is_class(node.left) or self._is_class(right)):
            operator = "ag.is_" if kind == "Is" else "ag.is_not"
        elif kind in ("In", "NotIn") and not isinstance(getattr(node.left, "value", None), str):
            operator = "ag.in_" if kind == "In" else "ag.not_in"
        elif kind in ("Eq", "NotEq") and (may_be_rows(node.left, right, self.numbers) or getattr(right, "id", "") in self.optional):
            operator = "ag.equal" if kind == "Eq" else "ag.not_equal"
        elif kind in ("Lt", "LtE", "Gt", "GtE") and may_be_rows(node.left, right, self.numbers):
            symbol = s.constant(_SYMBOLS[kind])
            return quote_expr("ag.ordered($left, $symbol, $right)", node, left=node.left, symbol=symbol, right=right)
        return quote_expr(f"{operator}($left, $right)", node, left=node.left, right=right) if operator else node

    def _bool(self, node: Any, visit: Callable[[Any], Any], operator: str) -> Any:
        node.values = [visit(v) for v in node.values]
        return node if _binds_late(*node.values[1:]) else folded(node.values, operator, node, DEEPEST)

    def _chain(self, node: Any, operator: str) -> Any:
        self.generic_visit(node)
        if _binds_late(*node.comparators[1:]):
            return node
        operands = [node.left, *node.comparators]
        if all(isinstance(o, (s.Name, s.Constant)) for o in operands[1:-1]):
            pairs = [s.at(s.Compare(a, [op], [b]), node) for a, op, b in zip(operands, node.ops, operands[1:], strict=False)]
            for pair in pairs[1:]:  # the middle operands stand twice
                pair.left = s.copy_location(s.name(pair.left.id) if isinstance(pair.left, s.Name) else s.constant(pair.left.value), pair.left)
            return folded([self._compare(pair) for pair in pairs], operator, node, DEEPEST)
        parts: list[Any] = [operands[0]]
        for k, (op, operand) in enumerate(zip(node.ops, operands[1:], strict=True)):
            parts += [s.at(s.constant(_SYMBOLS[type(op).__name__]), node), operand if k == 0 else s.thunk(operand)]
        return quote_expr("ag.compare($parts)", node, parts=parts)

    def _ternary(self, node: Any, visit: Callable[[Any], Any]) -> Any:
        chain = links(node)
        if len(chain) > DEEPEST and not _binds_late(node.body, node.orelse):
            return in_groups(chain, self.truth, visit, DEEPEST)
        node.test, node.body, node.orelse = self.truth(node.test), visit(node.body), visit(node.orelse)
        if _binds_late(node.body, node.orelse):
            return node
        return quote_expr("ag.cond($test, lambda: $body, lambda: $orelse)", node, test=node.test, body=node.body, orelse=node.orelse)


def _sorts(pattern: Any) -> bool:
    """Whether a pattern asks for the class of a number, which no traced value has."""
    return any(isinstance(p, s.MatchClass) and isinstance(p.cls, s.Name) and p.cls.id in ("bool", "int", "float", "complex") for p in s.walk(pattern))


def _optional(fn: Any, kinds: Collection[type]) -> frozenset[str]:
    """The variables that an assignment in the function may make None."""
    nodes = s.walk(fn) if s.NamedExpr in kinds else s.statements(fn)
    found = [n for n in nodes if isinstance(n, (s.Assign, s.NamedExpr)) and _may_be_none(n.value)]
    return frozenset(t.id for n in found for t in (n.targets if isinstance(n, s.Assign) else [n.target]) if isinstance(t, s.Name))


def _may_be_none(value: Any) -> bool:
    match value:
        case s.Constant(value=None):
            return True
        case s.IfExp(body=a, orelse=b):
            return _may_be_none(a) or _may_be_none(b)
        case s.BoolOp(values=values):
            return any(map(_may_be_none, values))
        case s.Lambda(body=body):
            return _may_be_none(body)
        case s.Call(args=args):  # `ag.cond(p, lambda: x, lambda: None)`
            return any(isinstance(a, s.Lambda) and _may_be_none(a) for a in args)
    return False


def _is_static(index: Any) -> bool:
    """Whether an index is written with constants only."""
    match index:
        case None | s.Constant():
            return True
        case s.UnaryOp(operand=operand):
            return _is_static(operand)
        case s.Slice(lower=lower, upper=upper, step=step):
            return all(map(_is_static, (lower, upper, step)))
        case s.Tuple(elts=elts):
            return all(map(_is_static, elts))
    return False


def _is_update(node: Any) -> bool:
    """`x.at[i]`: JAX's own idiom."""
    return isinstance(node.value, s.Attribute) and node.value.attr == "at"


def _binds_late(*operands: Any) -> bool:
    return any(s.contains(o, s.NamedExpr, *s.YIELDS) for o in operands)
