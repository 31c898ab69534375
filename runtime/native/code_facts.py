"""What one code object does to what is around it, read from the names of its instructions (`dis`), once for each."""

from __future__ import annotations

import dis
import functools
import inspect
import re
import weakref
from types import CodeType
from typing import NamedTuple

_GLOBALS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD", "STORE_ATTR", "DELETE_ATTR"})
_CHANGES = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_ATTR", "DELETE_ATTR"})
_STORES = frozenset({"STORE_ATTR", "DELETE_ATTR"})
_CELLS = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_NEVER = frozenset({"LOAD_BUILD_CLASS", "IMPORT_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"})
_OTHERS = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
MUTATING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard appendleft popleft extendleft rotate move_to_end "
    "subtract difference_update intersection_update symmetric_difference_update heappush heappop heapify heapreplace heappushpop insort insort_left "
    "insort_right setitem delitem concat iconcat iadd isub imul itruediv ifloordiv imod ipow imatmul ilshift irshift iand ior ixor "
    "__setitem__ __delitem__ __setattr__ __delattr__ __iadd__ __isub__ __imul__ __iand__ __ior__ __ixor__ __setstate__".split()
)
_CHANGING_OPERATORS = frozenset(
    "set_item set_path set_attr set_attr_item set_attr_path update_attr update_item update_path update_attr_item update_attr_path del_item del_attr "
    "del_attr_item in_place append extend pop insert delete remove reverse_list clear sort call_in call_at call_of".split()
)
_BY_NAME = frozenset("set_attr set_attr_item set_attr_path update_attr update_attr_item update_attr_path del_attr del_attr_item".split())
_LOOKS_INTO = re.compile(r"\{[^{}]*[.\[]")


class CodeFacts(NamedTuple):
    """What the code of a function, and of the functions in it, names and does."""

    variables: frozenset[str]  # globals and builtins
    attributes: frozenset[str]
    changes: bool  # may it change an object that it has not made?
    binds: bool  # does it bind variables of functions around?
    stored: frozenset[str]  # attributes that it stores
    refused: str  # why it cannot be run unseen, or nothing


_facts: dict[int, tuple[weakref.ref[CodeType], CodeFacts]] = {}


def facts_of(code: CodeType) -> CodeFacts:
    """The facts of a code object, by identity: code objects of two files may compare equal."""
    found = _facts.get(id(code))
    if found is not None and found[0]() is code:
        return found[1]
    facts = _read(code)
    key = id(code)
    _facts[key] = weakref.ref(code, functools.partial(_facts.pop, key)), facts
    return facts


def _read(code: CodeType) -> CodeFacts:
    variables: set[str] = set()
    attributes: set[str] = set()
    stored: set[str] = set()
    texts: set[str] = set()
    changes = binds = False
    refused = ""
    todo = [code]
    while todo:
        one = todo.pop()
        todo += [c for c in one.co_consts if isinstance(c, CodeType)]
        texts |= {c for c in one.co_consts if isinstance(c, str)}
        if one.co_flags & _OTHERS:
            refused = "it is asynchronous"
        for step in dis.get_instructions(one):
            name = step.opname
            if name in _NEVER:
                refused = f"it has a `{name}`"
            elif name in _GLOBALS:
                variables.add(step.argval)
            elif name in _ATTRIBUTES:
                attributes.add(step.argval)
            elif step.opcode in dis.hasname and name != "STORE_NAME":
                refused = f"it has a `{name}`"
            if name in _STORES:
                stored.add(step.argval)
            if name in _CELLS:
                binds = binds or step.argval in code.co_freevars
            changes = changes or name in _CHANGES or name == "BINARY_OP" and step.argrepr.endswith("=")
    if not attributes.isdisjoint(_BY_NAME):
        stored |= texts
    if "format" in attributes and any(map(_LOOKS_INTO.search, texts)):
        refused = "a text with attributes of what it formats"
    changes = changes or not attributes.isdisjoint(MUTATING | _CHANGING_OPERATORS) or not variables.isdisjoint(MUTATING)
    return CodeFacts(frozenset(variables), frozenset(attributes), changes, binds, frozenset(stored), refused)
