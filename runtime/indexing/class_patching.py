"""Stores into arrays that are no objects: those of variables around a traced function, and those that a call outside has not found.

A store binds the name that holds such an array anew, which is right only where nothing else holds it: how many do is counted, who they are is not
asked.
"""

from __future__ import annotations

import sys
import weakref
from types import CodeType, ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.numpy_array import KINDS, MutableArray, numpys
from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.errors.errors import AliasError, ArrayStoreError
from autograph.runtime.errors.source_spans import caller, here, variable_of
from autograph.runtime.indexing.stores import store, stored_at
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.tracers import Array, as_object
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.state.object_graph import is_state, own_attributes
from autograph.runtime.state.retrace import NeedsState
from autograph.runtime.state.snapshot_diff import is_librarys, makes_keys
from autograph.runtime.state.state_refs import AttributeRef, CellRef, ContentsRef, EntryRef, NameRef, StateRef
from autograph.runtime.tracing.trace_context import frames, in_block, touched, watched
from autograph.runtime.values.values import ATOMS, traced


def adopt_arrays(fn: Any) -> None:
    """Let the arrays that a function names, in variables around it and in what these hold, be objects for as long as the trace is made.

    One that is stored into has to be state of the function: `changed_outside` tells of it when the trace ends.
    """
    frame = frames()[0] if frames() else None
    code = getattr(fn, "__code__", None)
    if frame is None or not frame.root or code is None or code in frame.codes or not _jax.recording():
        return
    frame.codes.add(code)
    names = named_in(code)
    cells = zip(code.co_freevars, fn.__closure__ or (), strict=True)
    places: list[StateRef] = [NameRef(fn.__globals__, name) for name in names if name in fn.__globals__]
    places += [CellRef(cell, name) for name, cell in cells]
    seen: set[int] = set()
    while places:
        place = places.pop()
        x = place.get()
        if type(x) in ATOMS and not isinstance(x, type) or id(x) in seen:
            continue
        seen.add(id(x))
        if _is_raw(x):
            _adopt(x, place, frame)
        elif makes_keys(type(x)):
            frame.defaults.append(ContentsRef(x))
        elif type(x) is list or type(x) is dict:
            places += [EntryRef(x, k) for k in (range(len(x)) if type(x) is list else x)][:_MOST]
        elif type(x) is ModuleType:
            places += [NameRef(vars(x), name) for name in names if name in vars(x)]
        elif isinstance(x, type):
            places += _of_class(x)
        elif is_state(x) and not isinstance(x, VariableRef) and not is_librarys(type(x)):
            places += [AttributeRef(x, name) for name in own_attributes(x)] + _of_class(type(x))


def _of_class(cls: type) -> list[StateRef]:
    """The arrays, lists and dicts that a class of the user's holds, and those that it is derived from."""
    held = [(k, name, x) for k in cls.__mro__ if k is not object and not is_librarys(k) for name, x in vars(k).items()]
    return [
        AttributeRef(k, name) for k, name, x in held if _is_raw(x) or (type(x) in (list, dict) or makes_keys(type(x))) and not name.startswith("__")
    ]


_MOST = 100  # items of a list that are looked at


def taken_in(x: Any) -> Any:
    """What a loop or branch is given: an array that is no object yet is one in it."""
    if not _is_raw(x) or not frames() or not frames()[0].root or not _jax.recording():
        return x
    return _adopt(x, None, frames()[0])


def _is_raw(x: Any) -> bool:
    return type(x) is np.ndarray and x.ndim > 0 and x.dtype.kind in KINDS or type(x) is _jax.ArrayImpl and x.ndim > 0


def _adopt(x: Any, place: StateRef | None, frame: Any) -> Any:
    known = next((new for _, old, new in frame.adopted if old is x), None)
    if known is None:
        home = weakref.ref(frame.trace)
        known = MutableArray(x, home) if isinstance(x, np.ndarray) else Array(x, home)
        known.lasts = True
        if isinstance(known, MutableArray):
            known.raw = x
    frame.adopted.append((place, x, known))
    if place is not None:
        place.put(known)
    return known


def changed_outside(frame: Any) -> list[StateRef]:
    """The places of arrays from outside that a trace has stored into, none of which is state of its function.

    Raises:
      AliasError: (AG407) of one no place is known.
    """
    found = [(place, old) for place, old, new in frame.adopted if new.now is not old]
    placed = {id(old) for place, old in found if place is not None}
    if any(id(old) not in placed for _, old in found):
        raise AliasError(
            "an array that converted code has not made is stored into in a compiled loop or branch, and others may hold it", here(),
            "make it an array of this function before (`x = np.array(x)`, `x = jnp.array(x)`), or an argument",
        )  # fmt: skip
    return [place for place, _ in found if place is not None]


def _unknown(x: Any) -> bool:
    return traced(x) or isinstance(x, PaddedSlice) or type(x) is tuple and any(isinstance(p, PaddedSlice) for p in x)


def stored_outside(x: Any, i: Any, value: Any, shared: bool) -> Any:
    """`x[i] = value` of an array that is no object: what the name, or place, that holds it is bound to afterwards; `shared`: others hold it.

    Raises:
      AliasError: (AG407) others hold the array.
      ArrayStoreError: (AG403) a view of a NumPy array, in a trace.
    """
    inside = watched() and _jax.recording()
    if inside and (places := _places_of(x)):
        _refuse_or_lift(places)
    if isinstance(x, np.ndarray) and not (inside and (in_block() or _unknown(value) or _unknown(i)) and x.dtype.kind in KINDS):
        if inside:
            touched()  # no object stands for the array, so that nothing can undo it
        x[i] = value
        return x
    if isinstance(x, np.ndarray) and x.base is not None:
        raise ArrayStoreError(
            "a traced value is stored into a view of a NumPy array that this function did not make, which the array would not show", here(),
            "store into the array itself: `a[i, j] = v` instead of `row = a[i]; row[j] = v`, or into a copy",
        )  # fmt: skip
    if shared:
        name = variable_of(x)
        what = f"`{name}`" if name else "an array"
        if inside:
            why, advice = "this function did not make it", "give it a copy (`b = a.copy()`), or make it an argument"
        else:
            why, advice = "JAX does not change it", "decorate the function with `@ag.function`, or store into a copy (`b = a.copy()`)"
        raise AliasError(f"{what} is stored into, others hold the same array, and {why}: they would keep what it was", here(), advice)
    if not inside:
        return stored_at(x, i, value)
    new = numpys(x.copy()) if isinstance(x, np.ndarray) else as_object(x)
    if not isinstance(new, Array):
        return stored_at(jnp.asarray(x), i, value)
    store(new, i, value)
    return new


def _places_of(x: Any) -> list[StateRef]:
    """The variables of modules and of functions around, and what these hold, that are an array."""
    function = frames()[0].function
    frame = caller()
    spaces = [(getattr(function, "__globals__", {}), getattr(function, "__code__", None))]
    spaces += [(frame.f_globals, frame.f_code)] if frame is not None else []
    variables: list[StateRef] = [NameRef(space, name) for space, code in spaces for name in named_in(code) if name in space]
    cells = zip(getattr(getattr(function, "__code__", None), "co_freevars", ()), getattr(function, "__closure__", None) or (), strict=False)
    variables += [CellRef(cell, name) for name, cell in cells]
    found: list[StateRef] = []
    for place in variables:
        held = place.get()
        if held is x:
            found.append(place)
        elif type(held) in (list, dict) and any(v is x for v in (held if type(held) is list else held.values())):
            found.append(ContentsRef(held))
        elif is_state(held) or isinstance(held, type):
            own = [] if isinstance(held, type) else [AttributeRef(held, name) for name in own_attributes(held)]
            of_class = _of_class(held if isinstance(held, type) else type(held))
            found += [place for place in (*own, *of_class) if place.get() is x]
    return list(dict.fromkeys(found))


def named_in(code: CodeType | None) -> set[str]:
    """The global names in code, and in functions in it."""
    inner = [named_in(c) for c in code.co_consts if isinstance(c, CodeType)] if code is not None else []
    return set(code.co_names if code is not None else ()).union(*inner)


def _refuse_or_lift(places: list[StateRef]) -> None:
    """An array that was there before is stored into: it has to be state of the function.

    Raises:
      NeedsState: it will be.
      ArrayStoreError: (AG403) nobody would give it the values.
    """
    if frames()[0].checked:
        raise NeedsState(places)
    raise ArrayStoreError(
        f"a traced value is stored into {places[0].name}, an array that this function did not make", here(), "use `@ag.function`, or return the array"
    )


def is_held_elsewhere(x: Any) -> bool:
    """Whether something holds an array beside a variable or place, a variable of ours, and the question itself."""
    if not isinstance(x, (_jax.ArrayImpl, np.ndarray)):
        return False
    refused = _is_refused(x)  # first: the frame keeps what it is asked for
    return sys.getrefcount(x) > _ALONE + (_REFUSED if refused else 0)


def _is_refused(x: Any) -> bool:
    """Whether the error that is handled is JAX's, which has refused to store into an array, as the plain form tries."""
    error = sys.exception()
    tb = error.__traceback__.tb_next if type(error) is TypeError and error.__traceback__ is not None else None
    return tb is not None and tb.tb_next is None and tb.tb_frame.f_locals.get("self") is x


class _Refusing:
    """What refuses a store as an array of JAX's does."""

    def __setitem__(self, i: Any, value: Any) -> None:
        raise TypeError


def _counts() -> tuple[int, int]:
    """How many references there are to an array that nothing else holds; and how many more in the error of JAX that refuses to store into it."""

    def asked(x: Any) -> int:
        return sys.getrefcount(x)

    def given(x: Any) -> Any:
        return x

    def stored(x: Any) -> int:
        x = given(x)  # as those who ask have it: what a call gave, which Python 3.14 counts, where it lends what is passed on
        return asked(x)

    x = _Refusing()
    alone = stored(x)
    try:
        x[0] = 0
    except TypeError:
        assert _is_refused(x)
        return alone, stored(x) - alone
    raise AssertionError


_ALONE, _REFUSED = _counts()
