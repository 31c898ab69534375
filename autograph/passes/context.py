"""What the passes know of the function they rewrite, beyond its tree."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import Any

from autograph.analysis.memo import Memo
from autograph.analysis.readers import Readers
from autograph.analysis.scopes import Scope
from autograph.trees import syntax as s
from autograph.trees.fresh import Fresh

DEEPEST = 16  # branches that nest: more would not parse when printed, and XLA takes longer than for flags


TAKE_ALL = frozenset({"tuple", "list", "set", "frozenset", "dict", "sum", "min", "max", "any", "all", "sorted"})


@dataclass
class Context:
    """One conversion: fresh names, and the facts of the file that the function stands in."""

    fresh: Fresh
    modules: dict[str, str] = field(default_factory=dict)  # names bound once in the file, by an import: what they stand for
    bound: frozenset[str] = frozenset()  # names that the file binds at module level
    converted: frozenset[str] = frozenset()  # module-level functions that a decorator in the file converts
    readers: Readers | None = None  # which parameters the functions of the file only read
    cls: str = ""  # the class that the function stands in
    free: frozenset[str] = frozenset()  # names that the function takes from functions around it
    around: dict[Any, frozenset[str]] = field(default_factory=dict)  # for each function in the tree, the locals of those around it
    unsure: dict[Any, frozenset[Any]] = field(default_factory=dict)  # by function: reads that the source does not prove to be of a set variable
    suppressed: set[Any] = field(default_factory=set)  # those of them that are sure unless a `with` swallows an exception
    kept: set[Any] = field(default_factory=set)  # statements of generators that stay Python
    dropped: dict[Any, frozenset[str]] = field(default_factory=dict)  # by function: names that only code binds that never runs
    memo: Memo = field(default_factory=Memo)  # what statements do to the facts; those that a pass keeps need not be worked out again
    blocks: dict[str, str] = field(default_factory=dict)  # the names of generated functions
    locals: dict[Any, frozenset[str]] = field(default_factory=dict)  # by function: the local variables that the user wrote
    scopes: dict[Any, Scope] = field(default_factory=dict)  # of functions, until a pass changes one

    def locals_of(self, fn: Any) -> frozenset[str]:
        """The local variables of a function, but for names that passes have made."""
        return self.locals[fn] if fn in self.locals else Scope(fn).locals

    def scope(self, fn: Any) -> Scope:
        """The scope of a function, as it is now."""
        if fn not in self.scopes:
            around = self.around.get(fn, self.free)
            self.scopes[fn] = Scope(fn, lambda call: self.takes_all(call) and call.func.id not in around)
        return self.scopes[fn]

    def takes_all(self, call: Any) -> bool:
        """Whether a builtin is called that takes all items of what it is given, before it returns."""
        return isinstance(call.func, s.Name) and call.func.id in TAKE_ALL and self.is_builtin(call.func)

    def only_reads(self, call: Any, place: int | str) -> bool:
        """Whether the callee is a function of the file, by its text, that only reads its argument at a place."""
        func = call.func
        if self.readers is None or not isinstance(func, s.Name) or func.id in self.free:
            return False
        spread = isinstance(place, int) and any(isinstance(a, s.Starred) for a in call.args[:place])
        return self.readers.reads(func.id, place, spread)

    def block_name(self, stem: str) -> str:
        """`then`, `orelse`, `test`, `body`, `item`: one name each for the whole conversion."""
        if stem not in self.blocks:
            self.blocks[stem] = self.fresh(stem)
        return self.blocks[stem]

    def is_builtin(self, node: Any) -> bool:
        """Whether a global name is Python's builtin."""
        return hasattr(builtins, getattr(node, "id", "")) and node.id not in self.bound and node.id not in self.free
