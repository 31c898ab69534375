"""Formatting that traced values may take part in: the text is made when they are known.

f"x is {x:.2f}"              =>   ag.text('x is {:.2f}', x)
"%d of %d" % (i, n)          =>   ag.percent('%d of %d', (i, n))
"{} of {}".format(i, n)      =>   ag.text('{} of {}', i, n)
"""

from __future__ import annotations

from typing import Any

from autograph.passes.context import Context
from autograph.trees import syntax as s
from autograph.trees.quote import quote_expr


def lower_texts(fn: Any, context: Context) -> None:
    if not ({s.JoinedStr, s.Mod} & context.fresh.kinds or "format" in context.fresh.taken):
        return
    lower = _Texts()
    if isinstance(fn, s.Lambda):
        fn.body = lower.visit(fn.body)
    else:
        fn.body = [lower.visit(stmt) for stmt in fn.body]


class _Texts(s.Transformer):
    def visit_JoinedStr(self, node: Any) -> Any:
        self._visit_values(node)
        values: list[Any] = []
        template = _template(node, values, "")
        if not values:
            return node
        return quote_expr("ag.text($parts)", node, parts=[s.at(s.constant(template), node), *values])

    def _visit_values(self, node: Any) -> None:
        """The values in a text, and in the formats of these: `f"{x:>{width}}"`."""
        for part in node.values:
            if isinstance(part, s.FormattedValue):
                part.value = self.visit(part.value)
                if part.format_spec is not None:
                    self._visit_values(part.format_spec)

    def visit_BinOp(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, s.Mod) and isinstance(node.left, s.Constant) and isinstance(node.left.value, str):
            return quote_expr("ag.percent($left, $values)", node, left=node.left, values=node.right)
        return node

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        match node.func:
            case s.Attribute(value=s.Constant(value=str()) as template, attr="format"):
                node.func = s.at(s.runtime("text"), node.func)
                node.args = [template, *node.args]
        return node


def _template(node: Any, values: list[Any], inside: str) -> str:
    """The text of a template for `str.format`, and its values in the order of their fields."""
    out = ""
    for part in node.values:
        if isinstance(part, s.Constant):
            out += str(part.value) if inside else str(part.value).replace("{", "{{").replace("}", "}}")
            continue
        values.append(part.value)
        conversion = "!" + chr(part.conversion) if part.conversion not in (-1, None) else ""
        spec = part.format_spec
        out += "{" + conversion + (":" + _template(spec, values, ":") if spec is not None else "") + "}"
    return out
