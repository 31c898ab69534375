"""Calls and loops inside a trace that reach nothing traced: Python runs them as the user wrote them.

The error of such a run is the program's; in a block that may not be made, what ended in one is run again by the operators, which defer it.
"""

from __future__ import annotations

import collections
import functools
import importlib
import inspect
import operator
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from types import CodeType, FunctionType, ModuleType
from typing import Any

import jax

from autograph.runtime.errors.raise_sites import is_users
from autograph.runtime.errors.source_spans import mark_of, parameter_names
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.native import python_operators as operators
from autograph.runtime.native.call_graph import Reach, Unknown
from autograph.runtime.native.reachable_objects import ATOMS, ReachableObjects, brought
from autograph.runtime.state.captured_state import may_have_failed
from autograph.runtime.state.decisions import watching
from autograph.runtime.state.recorded_writes import is_remembered
from autograph.runtime.state.snapshot_diff import Watch, makes_keys
from autograph.runtime.state.state_refs import AttributeRef, ContentsRef, NameRef
from autograph.runtime.tracing.trace_context import frames, in_block, unwatched, watched
from autograph.runtime.values.loop_options import Hints, hints_here
from autograph.runtime.values.values import ITERATORS

_OF_A_CALL = 300_000  # values that are looked at, some 20 ns each
_OF_A_LOOP = 1_000_000
_VARIANTS = 8
_ONE_TIME = frozenset({enumerate, zip, reversed})
_AGAIN = frozenset({range, list, tuple, dict, set, frozenset, str, bytes, collections.deque, type({}.keys()), type({}.values()), type({}.items())})
_COPIED = frozenset({list, dict})
_MISSING = object()
_OF_TRACED = (jax.errors.TracerBoolConversionError, jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError)
_generators = frozenset(ITERATORS)


class _Known:
    """What is known of one code object: what it can come to, with each set of functions that it was given."""

    __slots__ = ("code", "never", "reaches", "refused", "staged")

    def __init__(self, code: CodeType) -> None:
        self.code = weakref.ref(code, functools.partial(_known.pop, id(code)))
        self.never = not is_users(code.co_filename)
        self.staged = 0  # runs in a trace that are going on
        self.reaches: list[Reach] = []
        self.refused: set[frozenset[int]] = set()

    def reach(self, code: CodeType, space: dict[str, Any], running: Iterable[Any]) -> Reach | None:
        if self.never:
            return None
        running = list(running)
        for reach in self.reaches:
            if reach.admits(running) and reach.holds(space):
                return reach
        self.reaches = [reach for reach in self.reaches if reach.holds(space)]  # what has been bound anew is not coming back
        key = frozenset(id(getattr(x, "__code__", x)) for x in running)
        if key in self.refused or len(self.reaches) > _VARIANTS:
            return None
        try:
            new = Reach(code, space, running)
        except Unknown:
            self.refused.add(key)
            self.never = not running
            return None
        self.reaches.append(new)
        return new


_known: dict[int, _Known] = {}


def _of(code: CodeType) -> _Known:
    found = _known.get(id(code))
    if found is None or found.code() is not code:
        found = _known[id(code)] = _Known(code)
    return found


def may_be_known(f: Any) -> bool:
    """Whether it is a function that comes to nothing of JAX's by its own names."""
    if type(f) is not FunctionType or f.__code__.co_flags & inspect.CO_GENERATOR or watching():  # a generator runs later
        return False
    known = _of(f.__code__)
    if not known.reaches and not known.never:
        known.reach(_own(f), f.__globals__, ())
    return not known.never and not known.staged


def _own(f: FunctionType) -> CodeType:
    """The code that the user wrote, of a converted function."""
    return getattr(f.__code__.co_consts[-1], "code", f.__code__) if mark_of(f.__code__) == "Form" else f.__code__


def call_natively(f: FunctionType, otherwise: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`f(*args, **kwargs)` as the user wrote it, if it is given and comes to nothing that is traced; else a call of `otherwise(f)`."""
    values = [x for x in (*args, *kwargs.values()) if type(x) not in ATOMS]
    if f.__closure__ or f.__defaults__ or f.__kwdefaults__:
        values += brought(f)
    if (run := _admitted(f, values, _OF_A_CALL, (f,))) is not None:
        return run(lambda: f(*args, **kwargs), lambda: otherwise(f)(*args, **kwargs))
    known = _of(f.__code__)
    known.staged += 1  # if it calls itself, it does so without the question: recursion is as deep as the interpreter allows
    try:
        return otherwise(f)(*args, **kwargs)
    finally:
        known.staged -= 1


def loop_known(items: Any, body: Callable[..., Any], state: Sequence[Any], flag: int | None, held: bool) -> Any:
    """The state after a `for` loop that comes to nothing traced, as its operator gives it; NotImplemented of any other.

    `held`: the items are an iterator that something else holds, too.
    """
    if not _is_loop(body, hints_here()) or type(items) not in _AGAIN and not (type(items) in _ONE_TIME and not in_block() and not held):
        return NotImplemented
    until = None if flag is None else parameter_names(body, len(state))[flag]
    run = _admitted(body, [items, *state, *brought(body)], _OF_A_LOOP, (body,))  # type: ignore[arg-type]
    if run is None:
        return NotImplemented
    return run(lambda: operators.for_loop(items, body, *state, until=until), lambda: NotImplemented)


def while_known(test: Callable[..., Any], body: Callable[..., Any], state: Sequence[Any]) -> Any:
    """The same of a `while` loop."""
    if not _is_loop(body, hints_here()) or not _is_loop(test, Hints()):
        return NotImplemented
    run = _admitted(body, [*state, test, *brought(body)], _OF_A_LOOP, (body,))  # type: ignore[arg-type]
    if run is None:
        return NotImplemented
    return run(lambda: operators.while_loop(test, body, *state), lambda: NotImplemented)


def _is_loop(block: Any, hints: Hints) -> bool:
    """Whether it is a block of staged code that can do with the operators of what is known."""
    return (
        type(block) is FunctionType and hints == Hints() and _jax.recording() and not watching() and mark_of(block.__code__) == "Staged"
        and not _of(block.__code__).never and operators.known_code(block.__code__) is not None
    )  # fmt: skip


def _admitted(f: FunctionType, values: list[Any], budget: int, blocks: Sequence[Any] = ()) -> _Run | None:
    """How to run code that comes to nothing traced; the `blocks` are its own functions."""
    known, space = _of(f.__code__), f.__globals__
    if known.never:
        return None
    held = ReachableObjects(budget)
    if values and not held.walk(values):
        return None
    reach = known.reach(_own(f), space, held.running.values())
    if reach is None or reach.values and not (held.walk(reach.held(space)) and reach.admits(held.running.values())):
        return None
    mutable = list(held.mutable.values()) if reach.changes or held.making else []
    blocked = in_block() or may_have_failed()
    if blocked and (held.passing or not all(type(x) in _COPIED for x in mutable)):
        return None
    return _Run(reach, mutable, blocked, operators.known_functions([*held.running.values(), *blocks]))


class _Run:
    """A run of code that comes to nothing traced, but may change what is `mutable`; `blocked`: in a block that may not be made."""

    def __init__(self, reach: Reach, mutable: list[Any], blocked: bool, functions: list[tuple[FunctionType, CodeType]]) -> None:
        self.reach, self.mutable, self.blocked, self.functions = reach, mutable, blocked, functions

    def __call__(self, as_written: Callable[[], Any], instead: Callable[[], Any]) -> Any:
        """What it gives; where the operators have to do it after all, nothing has happened, and it is what they give."""
        untold = self.mutable if self.blocked else [x for x in self.mutable if _is_small(x) or not is_remembered(x)] if watched() else []
        before = [(x, x.copy()) for x in untold if type(x) in _COPIED]
        others = [x for x in untold if type(x) not in _COPIED]
        places = [(place, name, vars(place).get(name, _MISSING)) for ref, name in self.reach.stores if (place := ref()) is not None]
        codes = [f.__code__ for f, _ in self.functions]
        try:
            with ExitStack() as around:
                if not self.blocked:
                    around.callback(_tell, before, places)
                if others:
                    around.enter_context(_noticed([], others))
                if self.reach.converted:
                    around.enter_context(unwatched())
                    around.enter_context(_jax.set_current_trace(_jax.eval_trace))
                for f, code in self.functions:
                    f.__code__ = code
                try:
                    out = as_written()
                finally:
                    for (f, _), own in zip(self.functions, codes, strict=True):
                        f.__code__ = own
        except Exception as error:
            if not self.blocked and not isinstance(error, _OF_TRACED):
                raise
        else:
            same = all(_is_same(*pair) for pair in before) and all(vars(p).get(n, _MISSING) is x for p, n, x in places)
            if not (self.blocked and not same) and not (_is_lazy(out) and same and not others):
                return self._given(out)
        for pair in before:
            _put(*pair)
        for place, name, held in places:
            _set(place, name, held)
        return instead()

    def _given(self, out: Any) -> Any:
        """What the run gives to code in a trace."""
        if self.functions or self.reach.makes_keys:
            found = ReachableObjects(1 << 30, all_parts=True)
            found.walk([out, *self.mutable])
            operators.put_back(found.running.values())
            frame = next((f for f in frames() if f.root), None)
            if self.reach.makes_keys and frame is not None:
                frame.defaults += [ContentsRef(x) for x in found.mutable.values() if makes_keys(type(x))]
        return out


def _noticed(places: list[Any], objects: list[Any]) -> Any:
    return importlib.import_module("autograph.runtime.native.noticed_writes").Noticed(places, objects)


def _is_lazy(out: Any) -> bool:
    """Whether code of it runs later, when items are taken."""
    return type(out) in _generators or type(out) in (list, tuple) and any(type(x) in _generators for x in out)


def _set(place: Any, name: str, held: Any) -> None:
    """Let a class, module or function have an attribute again, or none."""
    if vars(place).get(name, _MISSING) is held:
        return
    if held is _MISSING:
        delattr(place, name)
    else:
        setattr(place, name, held)


def _is_same(x: Any, before: Any) -> bool:
    """Whether a list or dict holds the very same as a copy of it."""
    if len(x) != len(before):
        return False
    return all(map(operator.is_, x, before)) and (type(x) is list or all(map(operator.is_, x.values(), before.values())))


def _put(x: Any, held: Any) -> None:
    """Let a list or dict hold what a copy of it does."""
    if type(x) is list:
        x[:] = held
    else:
        x.clear()
        x.update(held)


def _tell(before: list[tuple[Any, Any]], places: list[tuple[Any, str, Any]]) -> None:
    """Tell the blocks around of lists, dicts and attributes that have changed."""
    for x, held in before:
        if not _is_same(x, held):
            now = x.copy()
            _put(x, held)
            watch = Watch([x])
            _put(x, now)
            watch.notice()
    for place, name, held in places:
        if (now := vars(place).get(name, _MISSING)) is not held and watched():
            _set(place, name, held)
            with _noticed([NameRef(vars(place), name) if isinstance(place, ModuleType) else AttributeRef(place, name)], []):
                _set(place, name, now)


def _is_small(x: Any) -> bool:
    """Whether a copy of it is made sooner than it is looked up."""
    return type(x) in _COPIED and len(x) < 50
