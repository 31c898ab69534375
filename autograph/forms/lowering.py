"""A function in its staged form: the tree, and the text that `to_code`, `autograph show` and `autograph transpile` print."""

from __future__ import annotations

import ast
import threading
import weakref
from collections import OrderedDict
from typing import Any

from autograph.analysis.memo import Memo
from autograph.analysis.readers import Readers
from autograph.forms.load import placed, refer
from autograph.passes import PASSES, run_passes
from autograph.passes.callables import ARRAY_LIBRARIES
from autograph.passes.context import Context
from autograph.passes.stageable import WHY_PYTHON, obstacle
from autograph.printing.printing import source
from autograph.source.source import File
from autograph.trees import syntax as s
from autograph.trees.fresh import Fresh

Lowered = tuple[Any, list[ast.Attribute]]

LOCK = threading.RLock()  # held while trees are rewritten and used
_recent: OrderedDict[Any, Lowered] = OrderedDict()  # a function is compiled and printed from one tree
_MOST_RECENT = 8


def forget() -> None:
    """Forget the trees of the functions converted last."""
    _recent.clear()


def readers_of(file: File) -> Readers:
    """Which parameters the functions of a file only read."""
    if file not in _readers:
        defined, modules, is_builtin = file.defined, file.modules, file.is_builtin
        _readers[file] = Readers(defined.get, is_builtin, lambda name: modules.get(name, "").split(".")[0] in ARRAY_LIBRARIES)
    return _readers[file]


_readers: weakref.WeakKeyDictionary[File, Readers] = weakref.WeakKeyDictionary()


def context_of(node: Any, tree: Any, file: File, free: frozenset[str]) -> Context:
    """What the passes know of a function besides its tree."""
    return Context(Fresh(tree), file.modules, file.bound, file.converted, readers_of(file), file.class_of(node), free, memo=Memo(file.modules))


def lowered(node: Any, file: File, free: frozenset[str], after: str = "") -> Lowered:
    """The `ast` of a function after the passes, and the nodes in it that name the runtime; to be used at once."""
    key = node, free, after
    found = _recent.pop(key, None)
    if found is None:
        tree = s.read(node)
        run_passes(tree, context_of(node, tree, file, free), after)
        new = s.write(tree)
        found = new, placed(new, new)
    _recent[key] = found
    if len(_recent) > _MOST_RECENT:
        _recent.popitem(last=False)
    return found


def converted(node: Any, file: File, free: frozenset[str] = frozenset(), after: str = "", alias: str | None = None) -> Any:
    """The `ast` of a function in its staged form, with the runtime under the name that the file leaves free, or under `alias`."""
    new, references = lowered(node, file, free, after)
    refer(references, alias or file.alias)
    return new


def listing(node: Any, file: File, after: str = "", free: frozenset[str] = frozenset(), alias: str | None = None) -> str:
    """The converted source of one function, without its decorators."""
    if after and after not in {p.name for p in PASSES}:
        raise ValueError(f"there is no pass {after!r}: the passes are {', '.join(p.name for p in PASSES)}")
    if reason := obstacle(node):
        return f"# `{node.name}` {WHY_PYTHON[reason]}\n{_text(node)}" if hasattr(node, "name") else _text(node)
    with LOCK:
        return _text(converted(node, file, free, after, alias))


def _text(new: Any) -> str:
    if isinstance(new, ast.Lambda):
        return source(new) + "\n"
    bare = type(new)(**{field: getattr(new, field) for field in new._fields if hasattr(new, field)} | {"decorator_list": []})
    return source([ast.copy_location(bare, new)])
