"""Traces of one function: after several, a warning says what made it be compiled again."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import jax

from autograph.runtime.errors.errors import RetraceWarning
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.call_inputs import Leaf
from autograph.runtime.state.type_text import describe
from autograph.runtime.values.abstract_values import spec_of

_HELD = "what an argument, object or global that it reads holds has changed: a list is longer, or an attribute is another static value"
MANY = 10  # different traces of one function, from which on it is told


class Traces:
    """What one function has been traced with."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = inspect.unwrap(fn)
        self.seen: list[dict[str, str]] = []
        self.told = False

    def note(self, args: Any, kwargs: Any, guards: Any) -> None:
        """Remember a trace.  Warns with `RetraceWarning`, once, when there are many."""
        new = {**self._described(args, kwargs), **({_HELD: str(hash(repr(guards)))} if guards else {})}
        if new in self.seen:
            return
        self.seen.append(new)
        if len(self.seen) >= MANY and not self.told:
            self.told = True
            code = getattr(self.fn, "__code__", None)
            text = f"`{getattr(self.fn, '__qualname__', self.fn)}` has been traced and compiled {len(self.seen)} times: {self.changes()[-1]}"
            if code is not None:
                warnings.warn_explicit(f"{text}; {_ADVICE}", RetraceWarning, code.co_filename, code.co_firstlineno)

    def changes(self) -> list[str]:
        """What was different in each trace but the first, compared with the one before."""
        found = []
        for before, after in zip(self.seen, self.seen[1:], strict=False):
            names = [n for n in dict.fromkeys([*before, *after]) if before.get(n) != after.get(n)]
            shown = [f"`{n}` was {before.get(n, 'not given')}, and is {after.get(n, 'not given')}" for n in names if n != _HELD]
            found.append("; ".join(shown) or _HELD)  # with other arguments it reads other things
        return found

    def _described(self, args: Any, kwargs: Any) -> dict[str, str]:
        try:
            bound = inspect.signature(self.fn).bind(*args, **kwargs).arguments
        except (TypeError, ValueError):
            bound = {f"argument {k + 1}": a for k, a in enumerate(args)} | kwargs
        return {name: _text(value) for name, value in bound.items()}


_ADVICE = "give it arrays of one shape and type, and as few static values as possible; `ag.explain(f, *args)` lists all traces"


def _text(value: Any) -> str:
    """A type for what is traced, the value of anything else."""
    leaves = trees.leaves(value, is_leaf=lambda x: x is None or isinstance(x, Leaf))
    texts = []
    for x in leaves[:8]:
        static = isinstance(x, Leaf) or x is None
        text = (f"static {x.key!r}" if isinstance(x, Leaf) else "None") if static else describe(spec_of(x))
        texts.append(text if len(text) < 60 else f"{text[:57]}...")
    tree = type(value).__name__
    more = f", and {len(leaves) - 8} more" if len(leaves) > 8 else ""
    return texts[0] if len(leaves) == 1 and texts else f"{tree} of {', '.join(texts)}{more}"


def forget_programs() -> None:
    """Trace everything again: what it calls has changed."""
    jax.clear_caches()
