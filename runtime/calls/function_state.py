"""What a compiled function takes and gives besides its arguments and its result: the state of objects, in and out.

The first trace finds which places outside the function changes; they become inputs and outputs, and are committed when a call ends.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import threading
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import jax
import numpy as np

from autograph.runtime.arrays.numpy_array import MutableArray
from autograph.runtime.arrays.numpy_array import numpys as numpys_of
from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.calls import callees as calls
from autograph.runtime.calls.side_effects import EntryState
from autograph.runtime.errors.errors import AttributeStateError
from autograph.runtime.errors.large_integers import argument_too_large
from autograph.runtime.errors.source_spans import here
from autograph.runtime.state.attribute_reads import Reads
from autograph.runtime.state.call_inputs import CallInputs, Roots, is_array, mutable_parts, unwrapped, wrapped
from autograph.runtime.state.cells import stores
from autograph.runtime.state.object_graph import ObjectWalk
from autograph.runtime.state.retrace import NeedsState
from autograph.runtime.state.snapshot_diff import makes_keys
from autograph.runtime.state.state_refs import ContentsRef, NameRef, StateRef
from autograph.runtime.state.variable_reads import note_read, recorders, restore_what_is_there
from autograph.runtime.tracing.jit_options import shifted, static_arguments
from autograph.runtime.tracing.trace_context import TRACING, Retrace, TraceContext
from autograph.runtime.values.flatten import unflatten
from autograph.runtime.values.values import ARRAYS, arrays_in

_MOST_TRACES = 8  # for one call: each finds more of what the function changes


class _CallCount(threading.local):
    """The walks of the calls that this thread is in."""

    def __init__(self) -> None:
        self.walks: list[Any] = []  # with the objects among the arguments; none of a call that only runs what is compiled


CALLS = _CallCount()


class NotPrepared(Retrace):
    """A call that was to run a compiled program would have to be traced."""


class Once:
    """The guard of a program for one call."""


class State:
    """The stateful calls of one function."""

    def __init__(self, fn: Callable[..., Any], options: dict[str, Any], make: Callable[[State], Any]) -> None:
        self.fn, self.options = fn, options
        self.places: list[StateRef] = []
        self.dynamic: set[Any] = set()
        self.pinned: set[Any] = set()
        self.makers: set[Any] = set()  # the guards of programs that make Variables: another call of the kind makes others, and is traced
        self.made: set[Any] = set()  # the codes of functions that the function makes anew, and whose attributes it changes
        self.reads = Reads(fn)
        self.variables: dict[str, Any] = getattr(inspect.unwrap(fn), "__globals__", {})
        self.needed = _assigns_outside(fn)
        self.first = True  # is a trace the first one of a call?
        self.direct = not self.needed and _always_arrays(fn) and "out_shardings" not in options
        self.traced = make(self)
        self.jitted = jax.jit(self.traced, **shifted(options))

    def note(self, need: NeedsState, walk: ObjectWalk | None = None) -> None:
        """What a trace has found; raises the error that it is refused with, if nothing can be done about it.

        The sets are made anew: the walk of another thread's call has the present ones.
        """
        if need.refusal is not None:
            numbers = {(walk.number(p.obj), getattr(p, "attribute", None)) for p in need.pinned} if walk is not None else set()
            names = numbers & self.dynamic - self.pinned
            if not names:
                raise need.refusal from None
            self.pinned = self.pinned | names
        self.needed = True
        if self.reads.add(need.names, stores=need.stores, identical=need.identical):
            self.dynamic, self.pinned = set(), set()  # the objects are counted anew
        known = {_code_of(p): p.obj for p in self.places}
        self.made = self.made | {code for p in need.places if (code := _code_of(p)) is not None and known.get(code, p.obj) is not p.obj}
        self.places = list(dict.fromkeys([*self.places, *need.places]))
        self.dynamic = self.dynamic | need.dynamic

    def run(self, get: Callable[[Any], Any], args: Any, kwargs: Any, abstract: bool = False) -> tuple[Any, ObjectWalk, list[Any]]:
        """Give the arguments and the state to the jitted function, or to a method of it, whose arguments may be abstract."""
        restore_what_is_there()  # before what the objects hold becomes inputs
        positional, named, roots = self._wrapped(args, kwargs, abstract)
        for number in range(_MOST_TRACES):
            self.first = number == 0
            with TRACING:
                walk = self._walk(roots)
                if recorders.active and (variables := [place.obj for place, _ in walk.slots if isinstance(place.obj, VariableRef)]):
                    for variable in variables:
                        note_read(variable)
                    walk = self._walk(roots)
            CALLS.walks.append((walk, roots))
            guards = tuple(walk.guards)
            if self.makers and guards in self.makers:
                guards = (*guards, Once())
            try:
                out = get(self.jitted)(CallInputs(walk.arrays, guards), *positional, **named)
            except NeedsState as need:
                self.note(need, walk)
                if need.identical:
                    positional, named, roots = self._wrapped(args, kwargs, abstract)
                continue
            except OverflowError as error:
                raise argument_too_large(error, walk.name_of) from None
            finally:
                CALLS.walks.pop()
            return out, walk, mutable_parts(args, kwargs)
        raise AttributeStateError(
            f"{self.places[-1].name if self.places else 'an object'} is changed, and what holds it is created again in each call", here(),
            "use a local variable, or an object of a class that is registered as a pytree",
        )  # fmt: skip

    def _wrapped(self, args: Any, kwargs: Any, abstract: bool = False) -> tuple[list[Any], dict[str, Any], list[Any]]:
        """The arguments as JAX takes them, and the objects among them."""
        roots = Roots(self.reads.view.identical)
        static, names = static_arguments(self.options, len(args))
        positional = [a if k in static else wrapped(a, roots, abstract) for k, a in enumerate(args)]
        return positional, {k: v if k in names else wrapped(v, roots, abstract) for k, v in kwargs.items()}, roots

    def reached(self, args: Any, kwargs: Any) -> tuple[ObjectWalk, list[Any]]:
        """What a call reaches, and the registered objects among its arguments."""
        return self._walk(self._wrapped(args, kwargs)[2]), mutable_parts(args, kwargs)

    @functools.cached_property
    def mixed(self) -> bool:
        """Whether the text of the function looks as if an object or a function could be given where a call has given an array or a number."""
        return _may_take_objects(self.fn)

    def prepared(self) -> None:
        """Called when a trace begins.

        Raises:
          NotPrepared: the call only runs what is compiled.
        """
        if CALLS.walks and CALLS.walks[-1] is None:
            raise NotPrepared

    def _walk(self, roots: Sequence[Any]) -> ObjectWalk:
        """What the function reaches from the arguments, as far as it reads it."""
        while True:
            walk = ObjectWalk(roots, self.places, self.dynamic, self.variables, self.pinned, self.made, self.reads.view)
            if not self.reads.look(walk.objects, walk.functions):
                return walk
            self.dynamic, self.pinned = set(), set()

    def traced_with(self, walk: ObjectWalk, held: CallInputs, args: Sequence[Any]) -> Any:
        """What the function gives in a trace, of arguments that are arrays."""
        CALLS.walks.append((walk, []))
        try:
            return self.traced(held, *args)
        finally:
            CALLS.walks.pop()

    def begin(self, held: CallInputs, args: Any, kwargs: Any, frame: TraceContext) -> EntryState:
        """The beginning of a trace: the objects hold the function's inputs."""
        walk = CALLS.walks[-1][0]
        for cls in {type(x) for x in walk.objects}:
            calls.adopt(cls)
        given: list[tuple[StateRef, Any]] = []
        one: dict[int, Any] = {}  # by identity: what is one array outside is one here
        found = [numpys_of(x) if isinstance(a, (np.ndarray, MutableArray)) else x for x, a in zip(held.arrays, walk.arrays, strict=True)]
        inputs = [one.setdefault(id(a), x) if isinstance(a, ARRAYS) and a.ndim else x for x, a in zip(found, walk.arrays, strict=True)]
        frame.defaults += [ContentsRef(x) for x in walk.objects if makes_keys(type(x))]
        arrays = iter(inputs)
        for place, spec in walk.slots:
            frame.saved[place] = before = place.get()
            place.put(unflatten(spec, arrays))
            given.append((place, before))
        named = arrays_in(self.variables)
        for name, value in named.items():
            if id(value) in one:  # a global variable that holds one of them as well
                frame.saved.setdefault(NameRef(self.variables, name), value)
                self.variables[name] = one[id(value)]
        return EntryState(args, kwargs, walk, inputs, given)

    def arguments(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The user's arguments of the call that is being traced."""
        given: tuple[Any, Any] = unwrapped((list(args), kwargs), CALLS.walks[-1][1])
        return given


def _code_of(place: StateRef) -> Any:
    """The code of the function of which it is an attribute."""
    return place.obj.__code__ if isinstance(place.obj, FunctionType) else None


def _always_arrays(fn: Any) -> bool:
    """Whether no parameter has a default that is no array: a later call will not pass anything static."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and (p.default is p.empty or is_array(p.default)) for p in parameters)


_OF_ARRAYS = frozenset(dir(jax.Array))
_ASKING = frozenset({"isinstance", "issubclass", "hasattr", "getattr", "callable", "type"})


def _may_take_objects(fn: Any) -> bool:
    code = getattr(inspect.unwrap(fn), "__code__", None)
    if code is None:
        return False
    if _ASKING & set(code.co_names):
        return True
    found = list(dis.get_instructions(code))
    for before, after in itertools.pairwise(found):
        if before.opname.startswith("LOAD_FAST"):
            if after.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR") and after.argval not in _OF_ARRAYS or after.opname == "PUSH_NULL":
                return True  # an attribute that arrays do not have; a call
        elif before.opname == "PUSH_NULL" and after.opname.startswith("LOAD_FAST"):
            return True
    return False


def _assigns_outside(fn: Any) -> bool:
    code = getattr(fn, "__code__", None)
    return code is not None and any(stores(code))
