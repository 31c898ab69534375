"""Calls like earlier ones: a check made for one kind of call replaces the walk over what the arguments hold.

The check is Python code that is written for the objects of one call: it goes along the paths that the walk has looked at, compares what guards the
compiled program, and collects the arrays.  Where it holds, the walk would have given the same guards, so the program may be called with them.  It is
made only for what is simple, and tried on the call that it is made for; everything else goes the long way, and so does what has to be traced.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import jax

from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.calls.commit import reached
from autograph.runtime.calls.function_state import CALLS, NotPrepared, State
from autograph.runtime.calls.function_trace import result
from autograph.runtime.calls.side_effects import SideEffect
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.traces import ArrayImpl, boundary, eval_trace, number, trace_state
from autograph.runtime.state.attribute_reads import by_name
from autograph.runtime.state.call_inputs import CallInputs, Leaf, is_array, leaf_of_method, leaf_of_object
from autograph.runtime.state.object_graph import ObjectWalk, is_object, is_state, own_attributes, plain_attributes, slots_of
from autograph.runtime.state.program_keys import TWIN, Alike, IdentityKey, bound, key_of, key_of_all, names_in
from autograph.runtime.state.state_refs import is_intercepted
from autograph.runtime.state.variable_reads import recorders, restorations
from autograph.runtime.tracing.trace_context import TRACING, watched
from autograph.runtime.values.abstract_values import ArrayType, is_container
from autograph.runtime.values.values import NUMBERS

_MOST_CHECKS = 8  # of one function, for calls of different kinds
_MOST_MADE = 64  # that are made for it in all: where every call is of another kind, they are of no use
_MOST_LINES = 400  # of one check: it is compiled, which takes time
_PLAIN = (int, float, bool, complex)
_ATOMS = (str, bytes, type(None))


class _TooMuch(Exception):
    """A check for this call would not be simple."""


class _CheckWriter:
    """The text of a check, and the constants that it names."""

    def __init__(self, walk: ObjectWalk) -> None:
        self.walk = walk
        self.lines: list[str] = []
        self.space: dict[str, Any] = {"Array": ArrayImpl}
        self.arrays: list[str] = []
        self.shaped: list[str] = []  # those that are not of one number: which of them are one is a guard
        self.objects: list[str] = []
        self.objects_alike: list[str] = []  # functions: equal ones stand for each other, but not where one is another
        self._seen: dict[int, str] = {}
        self._changing = {name[0] for name in walk.dynamic}

    def constant(self, x: Any) -> str:
        name = f"k{len(self.space)}"
        self.space[name] = x
        return name

    def need(self, condition: str) -> None:
        self.lines.append(f"    if not ({condition}): return None")
        if len(self.lines) > _MOST_LINES:
            raise _TooMuch

    def let(self, value: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {value}")
        return name

    def argument(self, name: str, x: Any) -> str:
        """The check of an argument; gives the text of what JAX is given for it."""
        if type(x) is ArrayImpl:
            self.need(f"type({name}) is Array")
            return name
        if type(x) in _PLAIN:
            self.need(f"type({name}) is {self.constant(type(x))}")
            return name
        if type(x) is tuple:
            self.need(f"type({name}) is tuple and len({name}) == {len(x)}")
            parts = [self.argument(self.let(f"{name}[{k}]"), v) for k, v in enumerate(x)]
            return f"({''.join(f'{part}, ' for part in parts)})"
        if type(x) in _ATOMS:
            self.same(name, x)
            return "None" if x is None else self.constant(Leaf(key_of(x)))
        if callable(x) and bound(x) is None and type(key_of(x)) in (IdentityKey, Alike) and not is_state(x):
            self.same(name, x)
            return self.constant(Leaf(key_of(x)))
        if (method := bound(x)) is not None and is_state(method[1]) and not trees.is_node(method[1]):
            self.method(name, x, method)
            return self.constant(leaf_of_method(x, method[0]))
        if is_array(x) or method is not None or not (is_container(x) or is_state(x) and not trees.is_node(x)):
            raise _TooMuch
        self.visit(name, x, given=is_container(x))
        return self.constant(leaf_of_object(x))

    def same(self, name: str, x: Any) -> None:
        """It is a constant of the program."""
        if type(x) in (float, complex):
            self.need(f"type({name}) is {self.constant(type(x))} and repr({name}) == {self.constant(repr(x))}")
        elif type(x) in (*_PLAIN, str, bytes):
            self.need(f"type({name}) is {self.constant(type(x))} and {name} == {self.constant(x)}")
        elif x is None:
            self.need(f"{name} is None")
        elif (known := self._seen.get(id(x))) is not None:
            self.need(f"{name} is {known}")
        elif type(key := key_of(x)) is IdentityKey:
            self.need(f"{self.constant(key.ref)}() is {name}")
        elif type(key) is Alike:
            if type(x) is FunctionType and not (x.__closure__ or x.__defaults__ or x.__kwdefaults__ or x.__annotations__ or _reads(x)):
                self.function(name, x)
            else:
                self.need(f"{self.constant(key_of)}({name}) == {self.constant(key)}")
            self._seen[id(x)] = name
            self.objects_alike.append(name)
        else:
            raise _TooMuch

    def function(self, name: str, f: FunctionType) -> None:
        """A function without variables of its own: what `key_of` compares, in less time."""
        self.need(f"type({name}) is {self.constant(FunctionType)} and {name}.__code__ is {self.constant(f.__code__)}")
        self.need(f"not ({name}.__closure__ or {name}.__defaults__ or {name}.__kwdefaults__) and {name}.__dict__.keys() <= {self.constant({TWIN})}")
        self.need(f"not {name}.__annotations__ and {name}.__doc__ is {self.constant(f.__doc__)} and {name}.__name__ == {self.constant(f.__name__)}")
        self.need(f"{name}.__qualname__ == {self.constant(f.__qualname__)}")
        module = self.constant(weakref.ref(sys.modules[f.__module__]))
        self.need(f"{module}() is not None and {name}.__globals__ is {module}().__dict__")
        self.need(f"{name}.__globals__.keys().isdisjoint({self.constant(names_in(f.__code__))})")

    def visit(self, name: str, x: Any, given: bool) -> None:
        """An object or container, in the order of the walk."""
        if (known := self._seen.get(id(x))) is not None:
            self.need(f"{name} is {known}")
            return
        number = len(self.objects)
        self._seen[id(x)] = name
        self.objects.append(name)
        self.need(f"type({name}) is {self.constant(type(x))}")
        if type(x) is list:
            self.need(f"len({name}) == {len(x)}")
            if not given and number not in self._changing and (key := key_of_all(x)) is not None:
                self.need(f"{self.constant(key_of_all)}({name}) == {self.constant(key)}")
            else:
                self.several([(f"{name}[{k}]", v, (number, None, k)) for k, v in enumerate(x)], given)
        elif type(x) is dict and set(map(type, x)) <= {str}:
            self.need(f"tuple({name}) == {self.constant(tuple(x))}")
            if not given and number not in self._changing and (key := key_of_all(list(x.values()))) is not None:
                self.need(f"{self.constant(key_of_all)}(list({name}.values())) == {self.constant(key)}")
            else:
                self.several([(f"{name}[{n!r}]", v, (number, None, k)) for k, (n, v) in enumerate(x.items())], given)
        elif is_container(x) or slots_of(type(x)) or not type(x).__dictoffset__ or isinstance(x, VariableRef):
            raise _TooMuch
        else:
            own, names = self.let(f"{name}.__dict__"), own_attributes(x)
            self.need(f"tuple({own}) == {self.constant(tuple(names))}")
            for n in names:
                if self.walk.view.whole or not by_name(type(x)) or n in self.walk.view.names:
                    self.several([(f"{own}[{n!r}]", x.__dict__[n], (number, n))], given=False)

    def method(self, name: str, x: Any, method: tuple[Any, Any]) -> None:
        """A bound method, and its object."""
        self.need(f"type({name}) is {self.constant(type(x))}")
        self.need(f"{self.constant(key_of)}({name}.__func__) == {self.constant(key_of(method[0]))}")
        self.visit(self.let(f"{name}.__self__"), method[1], given=False)

    def several(self, parts: Sequence[tuple[str, Any, Any]], given: bool) -> None:
        """What one place holds; its own arrays are after those of the objects in it."""
        taken = [name for text, v, place in parts if self.value(name := self.let(text), v, place, given)]
        self.arrays += taken

    def value(self, name: str, v: Any, place: Any, given: bool) -> bool:
        """Whether it is an input."""
        if type(v) is ArrayImpl:
            self.need(f"type({name}) is Array")
            self.shaped += [name] if v.ndim else []
            return True
        if type(v) in _PLAIN:
            if given or place in self.walk.dynamic:
                self.need(f"type({name}) is {self.constant(type(v))}")
                return True
            self.same(name, v)
        elif isinstance(v, NUMBERS) or isinstance(v, jax.Array):
            raise _TooMuch
        elif (method := bound(v)) is not None and is_object(method[1]):
            self.method(name, v, method)
        elif is_container(v) or is_object(v):
            self.visit(name, v, given and is_container(v))
        elif v is None or not trees.is_node(v):
            self.same(name, v)
        else:
            raise _TooMuch
        return False


def _reads(f: FunctionType) -> bool:
    """Whether a function reads global variables."""
    return not f.__globals__.keys().isdisjoint(names_in(f.__code__))


def check_for(walk: ObjectWalk, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of a call's arguments: what JAX is given for them, the arrays, and the objects; None where the call is not like this one.

    None if it would not be simple.
    """
    if walk.places or walk.pinned or walk.made or walk.view.stores or walk.view.identical or walk.shared is not None:
        return None
    writer = _CheckWriter(walk)
    try:
        given = [writer.argument(f"a{k}", a) for k, a in enumerate(args)]
        named = {n: writer.argument(f"n{k}", v) for k, (n, v) in enumerate(kwargs.items())}
    except _TooMuch:
        return None
    for several in (writer.objects, writer.objects_alike):
        if len(several) > 1:
            writer.need(f"len({{{', '.join(f'id({o})' for o in several)}}}) == {len(several)}")
    if writer.shaped:
        names = tuple(walk.variables if walk.view.whole else walk.view.names & walk.variables.keys())
        one = writer.let(f"{{{', '.join(f'id({a})' for a in writer.shaped)}}}")
        writer.need(f"len({one}) == {len(writer.shaped)} and {one}.isdisjoint(map(id, map({writer.constant(walk.variables.get)}, {names!r})))")
    text = "\n".join([
        "def check(args, kwargs):",
        f"    if len(args) != {len(args)} or tuple(kwargs) != {tuple(kwargs)!r}: return None",
        *([f"    {''.join(f'a{k}, ' for k in range(len(args)))} = args"] if args else []),
        *(f"    n{k} = kwargs[{n!r}]" for k, n in enumerate(kwargs)),
        *writer.lines,
        f"    return [{', '.join(given)}], {{{', '.join(f'{n!r}: {v}' for n, v in named.items())}}}, [{', '.join(writer.arrays)}], "
        f"[{', '.join(writer.objects)}]",
    ])  # fmt: skip
    exec(compile(text, "<autograph check>", "exec"), writer.space)
    check = writer.space["check"]
    found = check(tuple(args), kwargs)
    agrees = found is not None and _identical(found[2], walk.arrays) and _identical(found[3], walk.objects)
    return check if agrees else None


def _identical(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


class Recalled:
    """The checks of one function; `call` is called in its place.  What none of them takes goes the long way (`instead`)."""

    def __init__(self, state: State, instead: Callable[..., Any], commit: Callable[..., Any]) -> None:
        self._state, self._instead, self._commit, self._made = state, instead, commit, 0
        self._checks: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []  # with what guards the programs
        self._simple: dict[int, Any] = {}  # by identity: what a trace has changed, if that is put back by setting attributes
        self._short = self._shortest()
        self.call = self._short

    def add(self, walk: ObjectWalk, args: Sequence[Any], kwargs: dict[str, Any], fails: bool) -> bool:
        """After a call that has not been traced: others like it are recalled, if that is simple.  `fails`: its program gives an error code."""
        if self._made == _MOST_MADE:
            return False
        self._made += 1
        if (check := check_for(walk, args, kwargs)) is None:
            return False
        self._checks.insert(0, (check, tuple(walk.guards)))
        del self._checks[_MOST_CHECKS:]
        if fails:
            self.call = boundary(self._short)
        return True

    def _shortest(self) -> Callable[..., Any]:
        checks, instead, simple, jitted = self._checks, self._instead, self._simple, self._state.jitted

        def call(*args: Any, **kwargs: Any) -> Any:
            if trace_state.value is not eval_trace or recorders.active or restorations or watched():
                return instead(*args, **kwargs)
            with TRACING:
                for check, like in checks:
                    if (found := check(args, kwargs)) is not None:
                        guards = like
                        break
                else:
                    found = None
            if found is None:
                return instead(*args, **kwargs)
            given, named, arrays, objects = found
            walks = CALLS.walks
            walks.append(None)
            try:
                out = jitted(CallInputs(arrays, guards), *given, **named)
            except NotPrepared:
                out = None
            finally:
                walks.pop()
            if out is None:
                return instead(*args, **kwargs)
            if (changes := out.changes) is not None:
                with TRACING:
                    if simple.get(id(changes.found)) is changes.found or self._is_simple(changes.found, objects):
                        for change, array in zip(changes.found, changes.arrays):
                            name = change.name
                            if change.where == "home":  # it may hold one that is there already
                                if (tag := number(array)) < 0:
                                    continue
                                name, array = name[1], arrays[tag] if tag < len(arrays) else changes.arrays[tag - len(arrays)]
                            object.__setattr__(objects[change.number], name, array)
                    else:
                        return self._commit(out, *self._state.reached(args, kwargs), args, kwargs)
            if out.code is None and type(out.value) is ArrayImpl:
                return out.value
            return reached(result(out), objects, {})

        return call

    def _is_simple(self, found: Sequence[SideEffect], objects: Sequence[Any]) -> bool:
        """Whether what a trace has changed is attributes that hold arrays from then on, and which of them hold one that is there already."""
        for change in found:
            named = type(change.name) is tuple and change.name[0] == "attribute" if change.where == "home" else type(change.name) is str
            if (
                not named
                or change.where not in ("object", "home")
                or not isinstance(change.spec, ArrayType)
                or change.late
                or change.spec.numpys
                and change.spec.shape
            ):
                return False
            obj = objects[change.number]
            if isinstance(obj, VariableRef) or is_intercepted(obj) or not plain_attributes(type(obj)):
                return False
        self._simple[id(found)] = found
        return True
