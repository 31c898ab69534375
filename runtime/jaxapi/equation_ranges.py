"""A span of the equations that a trace records, in sections, and what is put in its place afterwards."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from autograph.runtime.jaxapi import tracers as objects
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.private import control_flow_allowed_effects, core, source_info_util
from autograph.runtime.jaxapi.private import partial_eval as pe
from autograph.runtime.jaxapi.traces import Var

_open: dict[int, EquationRange] = {}  # by trace: the innermost span that it records
_classes: dict[type, type] = {}


class EquationRange:
    """The equations from its beginning on, in sections that `mark` ends, and weakly the tracers that stand for what they give."""

    def __init__(self, trace: Any) -> None:
        self.trace = trace
        self.marks = [len(trace.frame.tracing_eqns)]
        self.made: list[weakref.ref[Any]] = []

    def mark(self) -> None:
        """A section ends here."""
        self.marks.append(len(self.trace.frame.tracing_eqns))

    def sections(self) -> list[list[Any]]:
        """The equations of each section; those that nothing uses are gone."""
        eqns = [e() if isinstance(e, weakref.ReferenceType) else e for e in self.trace.frame.tracing_eqns]
        return [[e for e in eqns[a:b] if e is not None] for a, b in zip(self.marks, self.marks[1:], strict=False)]

    def constant(self, atom: Any) -> Any:
        """The value of a variable that stands for a known array, or None."""
        return self.trace.frame.constvar_to_val.get(atom)

    def cut(self, eqns: Sequence[Any]) -> Callable[[], Callable[[Any], Any]]:
        """Let equations hold no tracers, so that those are gone which only they hold.

        What it gives puts them back, and tells the tracer of a variable.
        """
        mine = {v: e for e in eqns for v in e.outvars}
        held = [[(t.val, None if isinstance(t.val, Var) and t.val in mine else t) for t in e.in_tracers] for e in eqns]
        self._forget_parents(mine)
        for e in eqns:
            e.in_tracers = []

        def back() -> Callable[[Any], Any]:
            alive = {t.val: t for t in self.alive() if isinstance(t.val, Var)}

            def standing(v: Any) -> Any:
                if v not in alive:
                    alive[v] = self.trace.var_to_tracer(v, mine[v].source_info, mine[v])
                return alive[v]

            for e, atoms in zip(eqns, held, strict=True):
                for v in e.outvars:
                    if v in alive:
                        alive[v].parent = e
                e.in_tracers = [standing(v) if t is None else t for v, t in atoms]
            return standing

        return back

    def _forget_parents(self, of: Mapping[Any, Any]) -> None:
        for t in self.alive():
            if isinstance(t.val, Var) and t.val in of:
                t.parent = None

    def alive(self) -> list[Any]:
        """The tracers that something still holds."""
        return [t for ref in self.made if (t := ref()) is not None]

    def replace(self, first: int, last: int, bind: Callable[[], list[Any]], stand_ins: Sequence[Any]) -> None:
        """Put what `bind` records in the place of some sections; `stand_ins` are tracers that stand from now on for what it gives."""
        eqns = self.trace.frame.tracing_eqns
        before = len(eqns)
        values = [objects.content(x) for x in bind()]
        for t, new in zip(stand_ins, values, strict=True):
            t.val, t.parent = new.val, new.parent
        new = eqns[before:]
        del eqns[before:]
        eqns[self.marks[first] : self.marks[last]] = new


@contextmanager
def span() -> Iterator[EquationRange | None]:
    """The equations that are recorded in the block; None if operations are not recorded as they are (there is a transformation around them)."""
    trace = _jax.current_trace()
    if not (isinstance(trace, pe.DynamicJaxprTrace) and objects.is_ours(trace)):
        yield None
        return
    outer, cls = _open.get(id(trace)), type(trace)
    mine = _open[id(trace)] = EquationRange(trace)
    if outer is None:
        trace.__class__ = _recording(cls)  # type: ignore[assignment]
    try:
        yield mine
    finally:
        if outer is None:
            _open.pop(id(trace), None)
            trace.__class__ = cls  # type: ignore[assignment]
        else:
            _open[id(trace)] = outer
            outer.made += [ref for ref in mine.made if ref() is not None]


def _recording(cls: type) -> type:
    """A class of traces that also notes the tracers which it makes."""
    found = _classes.get(cls)
    if found is None:
        whole: Callable[..., Any] = cls.var_to_tracer  # type: ignore[attr-defined]

        def var_to_tracer(self: Any, *args: Any, **kwargs: Any) -> Any:
            made = whole(self, *args, **kwargs)
            _open[id(self)].made.append(weakref.ref(made))
            return made

        found = _classes[cls] = type(cls.__name__, (cls,), {"__slots__": (), "__module__": __name__, "var_to_tracer": var_to_tracer})
        objects.counts_as_ours(found)
    return found


def may_loop(effects: Any) -> bool:
    """Whether equations with some effects may stand in a compiled loop."""
    return not effects or not control_flow_allowed_effects.filter_not_in(effects)


def equation(like: Any, invars: Sequence[Any], primitive: Any = None, params: dict[str, Any] | None = None) -> Any:
    """An equation like a recorded one, with other operands."""
    given = like.params if params is None else params
    where = source_info_util.new_source_info()
    return core.JaxprEqn(list(invars), like.outvars, primitive or like.primitive, given, like.effects, where, like.ctx)


def jaxpr_of(invars: Sequence[Any], outvars: Sequence[Any], eqns: Sequence[Any]) -> Any:
    """A closed jaxpr without constants."""
    return _jax.jaxpr_with(_empty(), invars, outvars, eqns)


@functools.cache
def _empty() -> Any:
    return _jax.trace(lambda: [], [])[0]
