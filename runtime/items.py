"""Stores into subscripts: a `jax.Array` gives a new array, anything else is changed in place by its own `__setitem__`."""

from __future__ import annotations

import builtins
import functools
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime._jax import is_reference, recording
from autograph.runtime.arrays.objects import Array, as_object
from autograph.runtime.arrays.stores import store, stored_at
from autograph.runtime.attributes import (
    class_that_holds,
    holding,
    is_property,
    noticed,
    put_attr,
    stores_into_attr,
    unless_failed_now,
)
from autograph.runtime.branches import staged_cond
from autograph.runtime.buffers import note_version
from autograph.runtime.calls import call
from autograph.runtime.contents import delete_content, is_array, store_content, store_known
from autograph.runtime.errors import AliasError, ArrayStoreError
from autograph.runtime.frames import frames, in_block, lifting, watched
from autograph.runtime.growing import Growing
from autograph.runtime.heap import Contents, HeapLocation, Items, own_method
from autograph.runtime.holders import held_as
from autograph.runtime.host_effects import check_stored
from autograph.runtime.iterated import refuse_iterated
from autograph.runtime.lifted import touch
from autograph.runtime.loads import inside, load_item
from autograph.runtime.numpy_places import BOUND, let_go_became, note_binding
from autograph.runtime.operands import refuse_operands
from autograph.runtime.optional import present, read
from autograph.runtime.places import caller, here
from autograph.runtime.points_to import any_chosen, doubtful, is_numpys, no_doubt, note_comparison, numpys
from autograph.runtime.references import is_held_elsewhere
from autograph.runtime.replaced import log, note_replaced
from autograph.runtime.rows import unknown
from autograph.runtime.sections import Section
from autograph.runtime.shared import origin
from autograph.runtime.specs import is_container
from autograph.runtime.stale import (
    Spot,
    is_told,
    note_holder,
    note_other_names,
    note_own,
    note_untold,
    refuse_callers_names,
    refuse_other_variables,
    taken,
    unforeseen,
)
from autograph.runtime.unwound import is_exact
from autograph.runtime.values import Maybe, traced
from autograph.runtime.views import attribute_of, note_parts

slice = builtins.slice


def set_item(x: Any, i: Any, value: Any) -> Any:
    """`x[i] = value`; returns what the name `x` is bound to afterwards: an array of a trace is the same object.

    A NumPy array that receives a traced value, or any in a staged block, which may not run, becomes a traced array.
    """
    if (type(x) is list or type(x) is dict) and store_known(x, i, value):
        return x
    x = read(x)
    if isinstance(x, Array):
        store_into(x, index_of(i), value)
        return x
    if isinstance(x, (jax.Array, np.ndarray)):
        held_elsewhere = is_held_elsewhere(x)
        if held_elsewhere or watched():
            note_untold(x)
        if held_elsewhere:
            note_own(x)
    return _set_item(x, i, value)


def _set_item(x: Any, i: Any, value: Any) -> Any:
    i = index_of(i)
    if isinstance(x, Array):
        store_into(x, i, value)
        return x
    if isinstance(x, Growing):
        x.kind.bound.shrunk = True
        return x.with_row(x.inside(i, "list assignment index out of range"), value, x.length)
    if isinstance(x, Section):
        raise x.refusal("it is stored into", "store into the array that it is taken from")
    if is_array(x) or (isinstance(x, np.ndarray) and x.dtype.kind in "biufc" and (traced(value) or traced(i) or in_block() or _is_outside(x))):
        new = present(value, "a value is needed, and None is stored") if isinstance(value, Maybe) else value
        refuse_view(x)
        return becomes(x, stored_at(jnp.array(x) if isinstance(x, np.ndarray) else x, i, new))
    store_item(x, i, value)
    return x


def store_into(x: Array, i: Any, value: Any) -> None:
    """`x[i] = value` of an array of the trace."""
    store(x, i, present(value, "a value is needed, and None is stored") if isinstance(value, Maybe) else value)


def refuse_view(x: Any) -> None:
    """Raise ArrayStoreError (AG403) if another array of NumPy's would hold what is stored."""
    if isinstance(x, np.ndarray) and _is_view(x):
        raise ArrayStoreError(
            "a traced value is stored into a view of a NumPy array, which the array would not show", here(),
            "store into the array itself: `a[i, j] = v` instead of `row = a[i]; row[j] = v`",
        )  # fmt: skip


def _is_view(x: Any) -> bool:
    """Whether another array holds what is stored into this one."""
    base = x.base  # held by the view, this variable and the call
    return base is not None and (base.size > x.size or isinstance(base, np.ndarray) and sys.getrefcount(base) > 3)


def _same(x: Any) -> Any:
    return x


def _is_outside(x: Any) -> bool:
    """Whether an array is that of a variable around the function, which stores into it in every call."""
    if any(place.get() is x for f in frames() if f.root for place, how in f.stored.items() if how != BOUND):
        return True
    frame = caller() if watched() else None
    return frame is not None and any(v is x for v in frame.f_globals.values())


def index_of(i: Any) -> Any:
    """An index, of which None is Python's error."""
    if isinstance(i, Maybe):
        return present(i, "only integers, slices and arrays are valid indices, and this is None")
    return tuple(map(index_of, i)) if type(i) is tuple else i


def becomes(x: Any, after: Any) -> Any:
    """A store makes one array of another: what else holds the one is given the other, or it is refused."""
    note_parts(x)
    refuse_iterated(x)
    if after is not x:
        refuse_operands(x)
    held = list(held_as(x)) if after is not x else []
    if held:
        note_holder(x, held[0][0])
    for frame in frames():
        if id(x) in frame.lent:
            raise ArrayStoreError(
                "a NumPy array among the arguments is stored into, and this function cannot give it the new values", here(),
                "pass a `jnp` array, and return it",
            )  # fmt: skip
        if id(x) in frame.gone:
            raise AliasError(
                "an array is stored into that an earlier store has replaced, through a name which that store did not reach", here(),
                "store through one name only, or give the other a copy (`.copy()`)",
            )  # fmt: skip
        _refuse_doubtful(x, frame.reached)
        if frame.root and after is not x:
            frame.replaced[id(origin(x))] = origin(x), here()
            if not isinstance(own := origin(x, frame), jax.core.Tracer):
                frame.foreign[id(own)] = own, here()
    if is_exact():
        after = unless_failed_now(after, functools.partial(_same, x))
    if after is not x:
        note_version(x, after)
        let_go_became(x, lambda held: unless_failed_now(after, functools.partial(_same, held)))
        if is_numpys(x):
            numpys(after)
        for frame in lifting()[-1:]:
            frame.gone[id(x)] = x
        note_replaced(x, after, origin)
    for spot in taken(x):
        put_at(spot, after)
    for place, key in held:
        put_at(Spot(place.obj, place if key is None else key), after)
    for frame in frames():
        for places in frame.sharing:
            _share(x, after, places)
    return after


def _share(x: Any, after: Any, places: list[HeapLocation]) -> None:
    """Places that held one array when the call began, and hold it still, hold the new one."""
    was, x = x, origin(x)
    one = [v for place in places for v in _values(place) if origin(v) is x]
    if after is x or not one:
        return
    note_comparison([was], one, True, frames())  # they have to be one in every turn of a loop
    for spot in unforeseen(x, places[0].name):
        put_at(spot, after)
    for place in places:
        held = place.get()
        if isinstance(held, Items):
            for k, v in zip(range(len(held.values)) if held.keys is None else held.keys, held.values, strict=False):
                if origin(v) is x:
                    store_item(place.obj, k, after)
        elif origin(held) is x:
            note_binding(place, after)
            place.put(noticed(place, after))


def put_at(spot: Spot, after: Any) -> None:
    if isinstance(spot.key, HeapLocation):
        put_attr(spot.holder, spot.key.attribute, after)  # type: ignore[attr-defined]
    else:
        store_item(spot.holder, spot.key, after)


def _refuse_doubtful(x: Any, places: list[HeapLocation]) -> None:
    """Raise AliasError if only traced values decide whether a lasting place holds an array that is stored into."""
    if not any_chosen():
        return
    for place in places:
        if any(is_array(v) and origin(v) is not origin(x) and doubtful(v, x) for v in _values(place)):
            raise AliasError(
                f"an array is stored into, and only traced values decide whether {place.name} is the same array", here(),
                "give one of them a copy where they may become one (`.copy()`)",
            )  # fmt: skip


def _values(place: HeapLocation) -> list[Any]:
    values = held.values if isinstance(held := place.get(), Items) else [held]
    return [v.value if isinstance(v, Maybe) else v for v in values]


def store_item(x: Any, i: Any, value: Any, renewed: bool = False) -> None:
    """`x[i] = value`, by the object's own `__setitem__`; `renewed`: an array there has been stored into.

    Raises:
      ArrayStoreError: (AG403) a traced value into a NumPy array that has no name to bind a new array to.
      ConcreteValueError: (AG502) a traced key of a dict.
    """
    if isinstance(x, Array):
        store_into(x, index_of(i), value)
        return
    if isinstance(x, np.ndarray) and (traced(value) or traced(i) or in_block()):
        raise ArrayStoreError(
            "a NumPy array that has no name here is stored into in compiled code", here(), "make it a `jnp` array before: `x = jnp.asarray(x)`"
        )
    if is_array(x) and watched():
        raise ArrayStoreError(
            "an array that has no name here is stored into", here(), "give it one: `x = ...`, then `x[i] = v`; or store through what holds it"
        )
    if not watched() or isinstance(x, jax.Array) and is_reference(x):
        x[i] = value
    elif (own := own_method(x, "__setitem__")) is not None:
        if is_container(x):
            touch(Contents(x))  # the method may be one that stays Python
        else:
            check_stored(x, value)
        call(own)(x, i, value)
    elif not is_container(x):
        check_stored(x, value)
        x[i] = value
    else:
        store_content(x, i, value, renewed)


def _store_inside(x: list[Any], i: Any, rest: tuple[Any, ...], value: Any) -> None:
    """`x[i][j] = value` of a list of lists and a traced index: each of them is stored into, if it is the one."""
    i = inside(i, len(x), "list index out of range")

    def store_one(k: int) -> None:
        new = set_path(x[k], rest, value)
        if new is not x[k]:
            touch(Contents(x))
            x[k] = new

    for k in range(len(x)):
        staged_cond(lax.eq(i, jnp.asarray(k, i.dtype)), functools.partial(store_one, k), _nothing, ())


def _nothing() -> None:
    return None


def del_item(x: Any, i: Any) -> None:
    """`del x[i]`."""
    if watched() and (own := own_method(x, "__delitem__")) is not None:
        if is_container(x):
            touch(Contents(x))
        call(own)(x, i)
    elif watched() and is_container(x):
        delete_content(x, i)
    else:
        del x[i]


def set_path(x: Any, path: tuple[Any, ...], value: Any) -> Any:
    """`x[i][j] = value`; returns what the name `x` is bound to afterwards."""
    return _set_path(x, path, value, len(path) == 1 or is_told(x, caller()))


def _set_path(x: Any, path: tuple[Any, ...], value: Any, told: bool) -> Any:
    """The same; `told`: callers of the function know what is stored into, as it is, or is part of, what they have given."""
    i, *rest = path
    if not rest:
        return _set_item(x, i, value)
    if isinstance(x, Array):
        _store_part(x, path, value)
        return x
    if type(x) is list and unknown(i) and any(map(is_container, x)):
        _store_inside(x, i, tuple(rest), value)
        return x
    inner, begin = load_item(x, i), log().count
    if isinstance(inner, Array):
        _set_path(inner, tuple(rest), value, told)
        return x
    picked = type(x) is list and unknown(i)  # one of the items, which all are renewed: which one it is need not be known
    if picked:
        no_doubt(inner)
    elif is_container(x) and is_array(inner):
        refuse_other_variables(inner, f"an item of a `{type(x).__name__}`")
    if not told:
        for k in range(len(x)) if picked else (i,):
            item = x[k] if picked else inner
            (refuse_callers_names if picked else note_other_names)(item, f"an item of a `{type(x).__name__}`", (x, k))
    if not picked and (is_container(x) or type(x) is tuple) and is_array(inner) and is_held_elsewhere(inner):
        note_own(inner, f"an item of a `{type(x).__name__}`", (x, i))
    new = _set_path(inner, tuple(rest), value, told)
    if new is inner:
        return x
    if type(x) is tuple:
        items = list(x)
        items[i] = new
        return tuple(items)
    if not is_container(x) and not is_array(x) and not hasattr(type(x), "__setitem__"):
        raise ArrayStoreError(
            f"an array that `{type(x).__name__}.__getitem__` gives is stored into, and nothing puts the new one back", here(),
            "store through what holds it, or write a `__setitem__`",
        )  # fmt: skip
    before = list(x) if picked else []
    if picked:
        store_item(x, index_of(i), new, renewed=True)
    after = x if picked else _set_item(x, i, new)
    if is_container(x) and is_array(inner) and not picked:
        renew_items(x, inner, new)
    for a, b in zip(before, x if picked else (), strict=True):
        if is_array(b):
            log().note(a, b)
    log().since = begin
    return after


def _store_part(x: Array, path: tuple[Any, ...], value: Any) -> None:
    """`x[i][j] = value` of an array of the trace: the part has no name, and is stored back."""
    i, *rest = path
    part = as_object(load_item(x, i))
    if len(rest) == 1:
        store_into(part, index_of(rest[0]), value)
    else:
        _store_part(part, tuple(rest), value)
    store_into(x, index_of(i), part)


def renew_items(x: Any, old: Any, new: Any) -> None:
    """The other items of a list or dict that are the array which has been stored into."""
    for k in range(len(x)) if isinstance(x, list) else list(x) if isinstance(x, dict) else ():
        if x[k] is not new and is_array(x[k]) and origin(x[k]) is origin(old):
            store_item(x, k, new)


def set_attr_item(obj: Any, name: str, i: Any, value: Any) -> Any:
    """`obj.name[i] = value`; returns what the attribute holds afterwards."""
    return set_attr_path(obj, name, (i,), value)


def set_attr_path(obj: Any, name: str, path: tuple[Any, ...], value: Any) -> Any:
    """`obj.name[i][j] = value`."""
    x = attribute_of(obj, name)
    if isinstance(x, Array):
        _set_path(x, path, value, told=True)
        return x
    obj = class_that_holds(obj, name)
    if is_property(obj, name) and (is_array(x) or isinstance(x, np.ndarray) and recording()):  # Python would not ask the class to store
        if isinstance(obj, tuple):
            raise ArrayStoreError(
                f"`{type(obj).__name__}.{name}` is stored into, and a named tuple keeps the array that it was made with", here(),
                f"store into a copy, and make the tuple anew: `a = t.{name}.copy()`, `a[i] = v`, `t = t._replace({name}=a)`",
            )  # fmt: skip
        if not (held := holding(obj, x)):
            raise ArrayStoreError(
                f"`{type(obj).__name__}.{name}` is stored into, a property that gives an array which no attribute of the object holds", here(),
                f"give it a name: `x = obj.{name}`, then `x[i] = v`; or store through what holds it",
            )  # fmt: skip
        name = held[0]
    note_other_names(x, f"`{type(obj).__name__}.{name}`", (obj, name))
    if len(path) == 1 and is_array(x) and is_held_elsewhere(x):
        note_own(x, f"`{type(obj).__name__}.{name}`", (obj, name))
    new = _set_path(x, path, value, told=False)
    if new is not x:
        stores_into_attr(obj, name)
        put_attr(obj, name, new)
    return new
