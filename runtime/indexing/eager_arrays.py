"""Arrays outside of every trace, in code that stores: JAX's arrays are objects for as long as a call of the plain form runs.

A call from code that is not converted looks at its arguments: at the types of the first items or attributes of at most `_CONTAINERS` lists,
dicts and objects, whatever they hold.  Where arrays stand there they become objects, so that all names for one see a store into it:

    def f(m):               `m.rows` is `[a, b]`, with arrays of JAX's
                            at the entry the list becomes `[Evaluated(a), Evaluated(b)]`
        r = m.rows[0]
        r[0] = 1            the first of them holds another array of JAX's
        return m.rows[0]    when the call ends, the result and the list are arrays of JAX's again

Which arrays are found is no matter of being right.  Of one that is not found a store binds the name or place that holds it anew, and is an error
if others hold it (`class_patching.py`).  An object that is stored into must stand for its array everywhere: before the first store all that the
arguments hold is looked through for arrays that have become objects elsewhere, and one is an error.
"""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.arrays.variable_ref import OPERATORS, VariableRef
from autograph.runtime.errors.errors import AliasError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.indexing.stores import ASKED
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.tracers import OBJECTS, Array, as_object, content, taken_by_jax
from autograph.runtime.state.object_graph import is_state, own_attributes
from autograph.runtime.state.state_refs import AttributeRef, base_of
from autograph.runtime.values.values import ATOMS

_CONTAINERS = 6  # at whose items or attributes a call looks when it begins
_ITEMS = 16  # of each

# The methods and properties of arrays that give arrays.
METHODS = (
    "T mT real imag astype clip conj conjugate copy cumprod cumsum diagonal flatten max mean min prod ravel repeat reshape round sort squeeze "
    "std sum swapaxes take transpose var argsort"
).split()


class Evaluated(Array):
    """An array of JAX's as an object outside of every trace: so is what operators and methods make of it."""

    __slots__ = ("call",)  # the one that has found the array in its arguments

    def __init__(self, now: Any, call: EagerCall | None = None) -> None:
        super().__init__(now, _TOP)
        self.call = weakref.ref(call) if call is not None else None
        _made[0] += 1

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        return functools.partial(_made_by, self, name) if callable(found) else found


_made = [0]  # how many arrays have become objects; where another thread counts as well, a call that ends looks through more than it must


def made(x: Any) -> Any:
    """What a function of JAX's gives in the plain form of code that stores into arrays: an array is an object."""
    return Evaluated(x) if type(x) is _jax.ArrayImpl and x.ndim else x


def _made_by(x: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a method, of what an array holds then."""
    return made(getattr(x.now, name)(*args, **kwargs))


def _operator(name: str) -> Callable[..., Any]:
    whole = getattr(Array, name)

    def operate(self: Any, *others: Any) -> Any:
        return made(whole(self, *others))

    operate.__name__ = operate.__qualname__ = name
    return operate


for _name in OPERATORS:
    setattr(Evaluated, f"__{_name}__", _operator(f"__{_name}__"))


def _method(name: str) -> property:
    def get(self: Any) -> Any:
        found = getattr(self.now, name)
        return functools.partial(_made_by, self, name) if callable(found) else made(found)

    return property(get)


for _name in METHODS:
    setattr(Evaluated, _name, _method(_name))
Evaluated.__hash__ = None  # type: ignore[method-assign, assignment]
taken_by_jax(Evaluated)
_TOP = weakref.ref(_jax.eval_trace)


class EagerCall:
    """A call of the plain form from code that is not converted, until it ends; `values` are its arguments, with objects for arrays."""

    __slots__ = ("__weakref__", "_before", "_checked", "_found", "values")

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.values, self._before, self._checked = args, _made[0], False
        self._found: dict[int, tuple[Any, Evaluated]] = {}  # arrays of JAX's that have become objects, by their identity
        left = [_CONTAINERS]
        for x in args:
            if (cls := type(x)) is list and _WITHOUT.issuperset(map(type, x[:_ITEMS])):
                continue
            if cls not in _WITHOUT and _holds_arrays(x, left):
                self.values = _each_array(args, self._object_for, {}, [_CONTAINERS])
                break

    def _object_for(self, x: Any) -> Any:
        """The one object that stands for an array."""
        if type(x) is not _ARRAY or not x.ndim:
            return x
        if id(x) not in self._found:
            self._found[id(x)] = x, Evaluated(x, self)
        return self._found[id(x)][1]

    def check(self) -> None:
        """An object that was found is stored into: nothing else may hold the array for which it stood.

        Raises:
          AliasError: (AG407) the arguments hold it deeper than the call has looked.
        """
        if self._checked:
            return
        self._checked = True
        again: list[Any] = []

        def note(x: Any) -> Any:
            if id(x) in self._found:
                again.append(x)
            return x

        _each_array(self.values, note, {})
        if again:
            raise AliasError(
                "an array is stored into that the arguments of this call hold at several places, one of them deep inside", here(),
                "decorate the function with `@ag.function`, or store into a copy (`b = a.copy()`)",
            )  # fmt: skip

    def back(self, out: Any = None) -> Any:
        """What the call gives; everything holds arrays of JAX's again."""
        if (count := _made[0] - self._before) == 0:
            return out
        self._before += count
        values, found = self.values, self._found
        self.values, self._found = (), {}
        if count == len(found) and type(out) in _WITHOUT:  # perhaps all of them stand where they were found
            _each_array(values, content, {}, [_CONTAINERS])
            if all(sys.getrefcount(x) == _IN_TABLE for _, x in found.values()):
                return out
        return _each_array((values, out), content, {})[1]

    def __del__(self) -> None:  # of a call that an error has left, or that has no `return`
        if _made[0] != self._before:
            self.back()


def _in_table() -> int:
    """How many references there are to an object that only the table of a call holds."""
    (count,) = (sys.getrefcount(x) for _, x in {0: (0, object())}.values())
    return count


_IN_TABLE = _in_table()
_ARRAY = _jax.ArrayImpl
_WITHOUT = ATOMS | {np.ndarray}  # what holds no array of JAX's
_ARRAYS = frozenset({_ARRAY, Evaluated})
_SERIES = frozenset({list, dict, tuple})
_NATIVE: Any = object.__getattribute__


def _first(x: Any, cls: type) -> Any:
    """The first items or attributes of a list, dict or object."""
    if cls is list or cls is tuple:
        return x[:_ITEMS]
    if isinstance(x, dict):
        return list(itertools.islice(dict.values(x), _ITEMS))
    if isinstance(x, (list, tuple)):
        return base_of(x).__getitem__(x, slice(_ITEMS))
    if cls.__getattribute__ is _NATIVE and cls.__dictoffset__:
        return list(x.__dict__.values())[:_ITEMS]
    return [AttributeRef(x, name).get() for name in own_attributes(x)[:_ITEMS]] if is_state(x) else ()


def _holds_arrays(x: Any, left: list[int]) -> bool:
    """Whether an array is found in it; `left`: how many containers may be looked at.  Of items of one type the first tells."""
    cls = type(x)
    if cls in _ARRAYS:
        return True
    if not left[0]:
        return False
    left[0] -= 1
    held = x[:_ITEMS] if cls is list else _first(x, cls)
    if _WITHOUT.issuperset(map(type, held)):
        return False
    if not _ARRAYS.isdisjoint(map(type, held)):
        return True
    before: Any = None
    for v in held:
        if (kind := type(v)) not in _WITHOUT and (kind is not before or cls not in _SERIES) and _holds_arrays(v, left):
            return True
        before = kind
    return False


def as_objects(*args: Any) -> EagerCall | None:
    """The arguments of a function in its plain form, into which it may store; None where its caller knows them: for others arrays are values."""
    constants = sys._getframe(2).f_code.co_consts
    return None if constants and type(constants[-1]).__name__ == "Form" else EagerCall(args)  # `mark_of`, without a call


def evaluated(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The staged form of a function, for calls outside of every trace: what operations give are objects in it, as in a trace."""

    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        if _jax.trace_state.value is not _jax.eval_trace:
            return fn(*args, **kwargs)
        with _jax.set_current_trace(OBJECTS):
            one: dict[int, tuple[Any, Any]] = {}

            def as_one(x: Any) -> Any:  # what is one array outside is one here
                return one.setdefault(id(x), (x, as_object(x) if type(x) is _jax.ArrayImpl and x.ndim else x))[1]

            given = _each_array((args, kwargs), as_one, {})
            try:
                out = fn(*given[0], **given[1])
            except BaseException:
                _each_array(given, content, {})
                raise
            return _each_array((given, out), content, {})[1]

    return run


def _before_change(x: Array) -> None:
    call = x.call() if isinstance(x, Evaluated) and x.call is not None else None
    if call is not None:
        call.check()


ASKED[Evaluated] = _before_change


def _each_array(x: Any, of: Callable[[Any], Any], seen: dict[int, Any], left: list[int] | None = None) -> Any:
    """The same, with another for each array in it; lists, dicts and objects stay what they are.

    `left`: what is looked into holds arrays, going by so many containers in it.
    """
    if isinstance(x, (Array, _ARRAY)):
        return of(x)
    if type(x) in _WITHOUT or id(x) in seen:
        return x
    if isinstance(x, tuple):
        parts = [_each_array(v, of, seen, left) for v in x]
        return x if all(a is b for a, b in zip(parts, x, strict=True)) else type(x)._make(parts) if hasattr(x, "_make") else tuple(parts)
    seen[id(x)] = x
    if left is not None and not _holds_arrays(x, [*left]):
        return x
    if isinstance(x, (list, dict)):
        base = base_of(x)  # methods of the user's own may do more
        if not _WITHOUT.issuperset(map(type, list.__iter__(x) if isinstance(x, list) else base.values(x))):
            for k in range(list.__len__(x)) if isinstance(x, list) else list(base.__iter__(x)):
                if (new := _each_array(held := base.__getitem__(x, k), of, seen, left)) is not held:
                    base.__setitem__(x, k, new)
    if is_state(x) and not isinstance(x, VariableRef):
        for place in (AttributeRef(x, name) for name in own_attributes(x)):
            if (new := _each_array(held := place.get(), of, seen, left)) is not held:
                place.put(new)
    return x
