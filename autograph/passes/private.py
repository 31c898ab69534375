"""Mangle private names that have become texts, as the compiler mangles those that are attributes.

ag.set_attr(self, '__n', v)   =>   ag.set_attr(self, '_Meter__n', v)          (in a method of `Meter`)
"""

from __future__ import annotations

from typing import Any

from autograph.analysis.names import mangled
from autograph.passes.callables import is_runtime
from autograph.passes.context import Context
from autograph.trees import syntax as s

# The operators that take an object and the name of an attribute.
_OF_ATTRIBUTES = frozenset({
    "call_in", "del_attr", "del_attr_item", "place", "renew_attr", "set_attr", "set_attr_item", "set_attr_path", "stores_into_attr", "update_attr",
    "update_attr_item", "update_attr_path",
})  # fmt: skip


def mangle_private(fn: Any, context: Context) -> None:
    if any(mangled(name, "C") != name for name in context.fresh.taken):
        _mangle(fn, context.cls)


def _mangle(node: Any, cls: str) -> None:
    if isinstance(node, s.ClassDef):
        cls = node.name
    elif isinstance(node, s.Call) and is_runtime(node.func) and getattr(node.func, "attr", "") in _OF_ATTRIBUTES:
        node.args[1].value = mangled(node.args[1].value, cls)
    for child in s.children(node):
        _mangle(child, cls)
