"""Stores into arrays: the object holds another value from then on, and the blocks around know that it has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.array_aliasing import check_bound, dependents, lost_views, others, same
from autograph.runtime.arrays.indices import as_index
from autograph.runtime.arrays.numpy_array import OPERATIONS, MutableArray, View, is_known, moment, plain
from autograph.runtime.arrays.view_index import is_all, transposed
from autograph.runtime.effects.error_codes import fine
from autograph.runtime.errors.errors import AliasError
from autograph.runtime.errors.source_spans import here, variable_of
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.private import core
from autograph.runtime.jaxapi.scattering import put_at
from autograph.runtime.jaxapi.tracers import Array, content, note_change
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.sequences.slicing import has_places, split_index, stored, stored_at_each, stored_masked
from autograph.runtime.sequences.subscripts import check_static, has_span, is_mask, store_masked, store_span
from autograph.runtime.state.captured_state import may_have_failed, record_write
from autograph.runtime.state.state_refs import StateRef
from autograph.runtime.tracing.trace_context import frames


class Value(StateRef):
    """What an array holds."""

    error = AliasError

    def __init__(self, x: Array) -> None:
        self.obj, self.key = x, (id(x), "now")

    @property
    def name(self) -> str:  # type: ignore[override]
        found = variable_of(self.obj)
        return f"`{found}`" if found else "an array"

    def get(self) -> Any:
        return self.obj.now

    def put(self, value: Any) -> None:
        self.obj.now = value.now if isinstance(value, Array) else value

    def lasts(self) -> bool:
        """Whether the trace is still made in which the array was made: nobody else can hold it."""
        return any(frame.trace is not None and frame.trace is self.obj.home() for frame in frames())

    def is_made_in(self, trace: Any) -> bool:
        return trace is not None and self.obj.home() is trace


ASKED: dict[type, Callable[[Array], None]] = {}  # by the class of an array: what is asked before it changes


def change(x: Array, update: Callable[[Any, Any], Any]) -> None:
    """Let an array hold what `update` makes of its value, and so each other that may be it.

    The second argument of `update` says whether it is made: None where it surely is.
    """
    if isinstance(x, View):
        change(x.whole, lambda now, p: x.part.put(now, update(x.part.get(now), p)))
        return
    note_change(x)
    if (asked := ASKED.get(type(x))) is not None:
        asked(x)
    if x.who is not None and x.who.lost:
        raise AliasError(
            "a row, slice or other view is stored into that was taken in a compiled loop or branch at a data-dependent index",
            here(), "take it again before the store (`row = m[k]`)",
        )  # fmt: skip
    check_bound(x)
    tied = [(y, same(x, y)) for y in others(x)]
    roots = [x, *(y for y, _ in tied if not isinstance(y, View))]
    for y in (y for root in roots for y in lost_views(root)):
        if not isinstance(y, MutableArray):
            raise unknown_array()
        if type(y) is not StaleView:
            y.before, y.__class__ = y.now, StaleView
    _put(x, update(_value(x), _unless_failed(x, None)))
    for y, p in tied:
        if isinstance(y, View):
            change(y, lambda now, q, p=p: update(now, _both(p, q)))  # type: ignore[misc]
        else:
            _put(y, update(_value(y), _unless_failed(y, p)))
    for y, part, p in (found for root in roots for found in dependents(root)):
        _put(y, jnp.where(p, content(part), content(y)))


class StaleView(MutableArray):
    """What may be a view, at a place that is not known any more, of an array that has been stored into since: nobody can tell what it holds.

    Its type is what it was `before`, which whoever comes across it may ask for.
    """

    __slots__ = ()

    @property
    def aval(self) -> Any:
        return core.typeof(self.before)

    @property  # type: ignore[misc]
    def shape(self) -> Any:
        return self.before.shape

    @property
    def dtype(self) -> Any:
        return self.before.dtype

    @property
    def _trace(self) -> Any:
        return self.before._trace if isinstance(self.before, core.Tracer) else core.eval_trace

    @property
    def now(self) -> Any:
        raise AliasError(
            "an array is read that is a row, slice or other view taken in a compiled loop or branch before, at a data-dependent place, "
            "and its array has been stored into since",
            here(), "take a copy (`row = m[k].copy()`), or take it again before it is read (`row = m[k]`)",
        )  # fmt: skip


def _value(x: Array) -> Any:
    """What an array holds, as a value of JAX's with all methods."""
    found = content(x)
    return found if hasattr(found, "at") else jnp.asarray(found)


def unknown_array() -> AliasError:
    """The error for a store of which it is data-dependent which array it reaches, and nothing tells."""
    return AliasError(
        "an array is stored into, and it is data-dependent which other names hold it", here(), "give one of the names a copy (`b = a.copy()`)"
    )


def _both(p: Any, q: Any) -> Any:
    return p if q is None else lax.bitwise_and(p, q)


def _unless_failed(x: Array, p: Any) -> Any:
    if not (x.lasts or _is_of_function(x)) or not may_have_failed():  # a place that lasts may hold it
        return p
    return fine() if p is None else lax.bitwise_and(p, fine())


def _is_of_function(x: Array) -> bool:
    """Whether an array was made by a function, and not by a block in it."""
    return any(frame.root and frame.trace is not None and frame.trace is x.home() for frame in frames())


def _put(x: Array, new: Any) -> None:
    place = Value(x)
    record_write(place, late=False)
    place.put(new)
    if isinstance(x, MutableArray):
        x.changed = moment()


def store(x: Array, i: Any, value: Any) -> None:
    """`x[i] = value`."""
    if isinstance(x, MutableArray):
        i = plain(i)
        if _by_numpy(x, i, value):
            return
        value = _of_type(value, x.dtype)

    def update(now: Any, p: Any) -> Any:
        if p is None:
            return stored_at(now, i, value)
        if is_mask(i) or isinstance(value, PaddedSlice) or has_places(i) or split_index(i) is not None or has_span(i):
            return jnp.where(p, stored_at(now, i, value), now)
        old = now[as_index(i)]
        return stored_at(now, i, jnp.where(p, _as(value, old.dtype), old))

    change(x, update)


def _by_numpy(x: MutableArray, i: Any, value: Any) -> bool:
    """Store what is known into an array that is known, where that is surely made."""
    root = x.root if isinstance(x, View) else x
    value = plain(value)
    if not root.known or root.home() is not _jax.current_trace() or _is_traced(i) or _is_traced(value) or others(root) or dependents(root):
        return False
    place = Value(root)
    record_write(place, late=False)
    if root.now is root.raw or any(frame.saved.get(place) is root.now for frame in frames()):
        root.now = root.now.copy()
    now = x.now
    if now is not root.now and not np.may_share_memory(now, root.now):
        return False
    now[i] = value
    root.frozen, root.changed = None, moment()
    return True


def _is_traced(x: Any) -> bool:
    if type(x) in (tuple, list):
        return any(map(_is_traced, x))
    if isinstance(x, slice):
        return any(map(_is_traced, (x.start, x.stop, x.step)))
    return isinstance(x, (jax.Array, PaddedSlice)) and not is_known(x)


def _as(value: Any, dtype: Any) -> Any:
    """A value of a type, as a store converts it: of a complex number its real part."""
    array = jnp.asarray(value)
    if jnp.issubdtype(array.dtype, jnp.complexfloating) and not jnp.issubdtype(dtype, jnp.complexfloating):
        array = array.real
    return array.astype(dtype)


def _of_type(value: Any, dtype: Any) -> Any:
    """What is stored into an array of NumPy's has its type."""
    if isinstance(value, PaddedSlice) or not isinstance(value, (jax.Array, np.ndarray, np.generic, list, tuple, int, float, complex)):
        return value
    dtype = jax.dtypes.canonicalize_dtype(dtype)
    return _as(value, dtype)


def stored_at(x: Any, i: Any, value: Any) -> Any:
    """The value after `x[i] = value`."""
    check_static(x, i)
    if is_mask(i):
        return stored_masked(x, i, value) if isinstance(value, PaddedSlice) else store_masked(x, i, value)
    if has_places(i):
        return stored_at_each(x, i, value)
    if (split := split_index(i)) is not None:
        whole, part = split
        return x.at[whole].set(stored(x[whole], part, value)) if whole else stored(x, part, value)
    if has_span(i):
        return store_span(x, i, value)
    if isinstance(value, PaddedSlice) and (isinstance(i, slice) or i is Ellipsis):
        return stored(x, i if isinstance(i, slice) else slice(None), value)
    if is_all(x.shape, i):
        new = jnp.asarray(value)
        if new.ndim <= x.ndim and all(n in (1, m) for n, m in zip(new.shape[::-1], x.shape[::-1], strict=False)):
            return jnp.broadcast_to(new, x.shape).astype(x.dtype)
    return put_at(x, as_index(i), _without_leading(x, i, content(value)))


def _without_leading(x: Any, i: Any, value: Any) -> Any:
    """A value without the axes of one item before those of the place, which NumPy leaves out."""
    if not isinstance(value, (jax.Array, np.ndarray)) or value.ndim < 1 or value.shape[0] != 1:
        return value
    place = jax.eval_shape(lambda x: x[as_index(i)], x).ndim
    extra = np.ndim(value) - place
    return value.reshape(np.shape(value)[extra:]) if extra > 0 and all(n == 1 for n in np.shape(value)[:extra]) else value


def replace_whole(x: Array, new: Any) -> None:
    """Let an array hold what is computed of all of it: of its shape, and converted to its type.

    Raises:
      ValueError: the shapes differ.
    """
    if np.shape(new) != x.shape and (np.ndim(new) > x.ndim or np.broadcast_shapes(np.shape(new), x.shape) != x.shape):
        raise ValueError(f"non-broadcastable output operand with shape {x.shape} doesn't match the broadcast shape {np.shape(new)}")
    if x.ndim:
        store(x, (slice(None),) * x.ndim if not isinstance(new, np.ndarray) or x.ndim else (), new)
    else:
        store(x, (), new)


_AT = {"multiply": "mul", "true_divide": "divide", "minimum": "min", "maximum": "max", "fmin": "min", "fmax": "max"}  # the methods of `x.at[i]`
_AT |= {name: name for name in ("add", "subtract", "power", "divide")}


def update_at(x: Array, where: Any, name: str, *values: Any) -> None:
    """`np.add.at` and its kin: what is computed at each place as often as it is there."""
    method = _AT.get(name)
    index = as_index(tuple(map(content, where)) if type(where) is tuple else content(where))

    def update(now: Any, p: Any) -> Any:
        at = now.at[index]
        if method is not None:
            new = getattr(at, method)(_of_type(values[0], now.dtype))
        else:
            new = at.apply(lambda v: getattr(jnp, name)(v, *map(content, values)).astype(now.dtype))
        return new if p is None else jnp.where(p, new, now)

    change(x, update)


def update_whole(x: MutableArray, name: str, value: Any) -> None:
    """`x += value`: what the operator gives is stored into the array, in its type.

    Raises:
      TypeError: the type does not take it.
    """
    new = getattr(x, name)(value)
    if new is NotImplemented:
        raise TypeError(f"unsupported operand for {name}")
    if np.shape(new) != x.shape:
        raise ValueError(f"non-broadcastable output operand with shape {x.shape} doesn't match the broadcast shape {np.shape(new)}")
    if not np.can_cast(new.dtype, x.dtype, "same_kind"):
        raise TypeError(f"Cannot cast ufunc '{name.strip('_')}' output from {new.dtype!r} to {x.dtype!r} with casting rule 'same_kind'")
    replace_whole(x, new)


def _reshape(x: MutableArray, shape: Any) -> None:
    place = Value(x)
    record_write(place, late=False)
    place.put(x.now.reshape(shape))
    x._shadow = None


OPERATIONS.update(store=store, update=update_whole, reshape=_reshape, transposed=transposed)
