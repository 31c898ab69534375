"""`jax.grad`, `jax.vmap`, `lax.scan` and their kin, called from converted code that is being traced.

What the function that they are given does beside its result goes through them as more outputs: its error code, and the state that it
changes.  Under `jax.vmap` the error is that of the first lane that fails, under `lax.scan` of the first iteration.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime.effects.error_codes import PathEnds, checked, values_of
from autograph.runtime.effects.optional_values import optional_result
from autograph.runtime.errors.errors import EffectError, NotStagedError
from autograph.runtime.errors.raise_sites import is_users, listed
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.jax_errors import named
from autograph.runtime.jaxapi.tracers import content, contents_in, objects_in, of_objects
from autograph.runtime.state.captured_state import ERROR, ErrorValues, left_spec, load, reachable, restore, store
from autograph.runtime.state.container_aliasing import settle
from autograph.runtime.state.escape_analysis import forget_born, forget_local, holds_no_array
from autograph.runtime.state.state_refs import StateRef, under_vmap
from autograph.runtime.tracing.trace_context import TraceContext, lifting, root, unwatched
from autograph.runtime.values.abstract_values import AbstractValue
from autograph.runtime.values.flatten import as_is, flatten, unflatten
from autograph.runtime.values.values import Found, counted_in, has_maybe

_AUX = {jax.grad, jax.value_and_grad, jax.jacfwd, jax.jacrev, jax.jacobian, jax.hessian}  # they give a function, and know `has_aux`
_SAME = {jax.checkpoint, jax.remat, jax.jit}  # they give a function with the same results
_AT_ONCE = {jax.jvp, jax.vjp, jax.linearize}  # they call the function, and know `has_aux`
_TURNS = {lax.scan, lax.map}
_KNOWN = {*_AUX, *_SAME, *_AT_ONCE, *_TURNS, jax.vmap}


_DIFFERENTIATE = {f.__name__ for f in (*_AUX, *_AT_ONCE)}
_ARRAY = object()


class _TransformEnds(Exception):
    """Every path of a function ends in an error, whose values are those of a trace of its own."""


class _State:
    """What a function has changed: the places with the specs of their values, and the arrays of these."""

    def __init__(self, found: Sequence[tuple[StateRef, AbstractValue]], arrays: Sequence[Any]) -> None:
        self.found, self.arrays = found, arrays


jax.tree_util.register_pytree_node(_State, lambda s: (tuple(s.arrays), Found(s.found)), lambda aux, arrays: _State(aux.found, arrays))


class _TransformRun:
    """A function for one call of a transformation; it gives its result, its error code with the values of errors, and what it changed."""

    def __init__(self, fn: Any, call: Callable[[Any], Any], name: str, has_aux: bool) -> None:
        self.fn, self.call, self.name, self.has_aux, self.checked = fn, call, name, has_aux, checked()
        places = [ERROR, *(x for frame in lifting() for x in (*frame.values, *frame.preset) if isinstance(x, ErrorValues))]
        self.before: dict[Any, Any] = {x: load(x) for x in places}
        self.failed: dict[Any, Any] = {}  # the error in which every path ends

    def given(self) -> Callable[..., Any]:
        """The function that the transformation gets: `(result, error, state)`, or `(result, (aux, error, state))` with `has_aux`."""

        @functools.wraps(self.fn)
        def inside(*args: Any, **kwargs: Any) -> Any:
            of_objects(_jax.current_trace())
            with unwatched():
                args, kwargs = objects_in((args, kwargs))
            with root(_jax.current_trace(), dict(self.before), checked=self.checked) as frame:
                try:
                    try:
                        box = [named(self.call(self.fn))(*args, **kwargs)]
                    except PathEnds:
                        self._fail(frame)
                        raise
                    if has_maybe(box):
                        raise optional_result()
                    if (counted := counted_in(box)) is not None:
                        raise counted.refusal(f"a function under `{self.name}` returns it")
                    settle(frame, box)
                    forget_local(frame, box)
                    forget_born(frame, self.fn)
                    state = self._changed(frame)
                    with unwatched():  # now: what the result holds may not be known for the function's own, and is emptied below
                        box = [contents_in(box.pop())]
                finally:
                    restore(frame)
                error = None
                if (code := frame.values[ERROR]) is not self.before[ERROR]:
                    error = jnp.asarray(code, jnp.int32), values_of(frame.values)
            with unwatched():
                error, state = contents_in((error, state))
            if self.has_aux:
                result, aux = box.pop()
                return result, (aux, error, state)
            return box.pop(), error, state

        return self._recorded(inside) if self.name in _DIFFERENTIATE and _is_users(self.fn) else inside

    def _recorded(self, inside: Callable[..., Any]) -> Callable[..., Any]:
        """The same, recorded by itself before it is differentiated: what loops do is compared then (`repeats`), and not what is made of it."""

        @functools.wraps(inside)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            leaves, tree = jax.tree.flatten((args, kwargs))
            moving = [k for k, x in enumerate(leaves) if isinstance(x, _jax.Tracer)]
            if not moving or any(_jax.concrete(leaves[k]) for k in moving):
                return inside(*args, **kwargs)  # what is known stays known
            found = SimpleNamespace()

            def flat(*values: Any) -> list[Any]:
                mine = list(leaves)
                for k, x in zip(moving, values, strict=True):
                    mine[k] = x
                args, kwargs = tree.unflatten(mine)
                out, found.tree = jax.tree.flatten(inside(*args, **kwargs))
                found.known = [_ARRAY if isinstance(x, jax.Array) else x for x in out]
                return [x for x in out if isinstance(x, jax.Array)]

            try:
                arrays = iter(jax.jit(flat, inline=True)(*[leaves[k] for k in moving]))
            except _TransformEnds:
                return inside(*args, **kwargs)
            return found.tree.unflatten([next(arrays) if x is _ARRAY else x for x in found.known])

        return recorded

    def _fail(self, frame: TraceContext) -> None:
        found = {x: v for x, v in frame.values.items() if isinstance(x, type(ERROR))}
        if any(_jax.made_here(x) for x in trees.leaves(list(found.values()))):
            if _jax.staging() and self.name in _DIFFERENTIATE:
                raise _TransformEnds
            raise NotStagedError("every path through this function ends in an error", here())
        self.failed = found

    def _changed(self, frame: TraceContext) -> _State:
        found: list[tuple[StateRef, AbstractValue]] = []
        arrays: list[Any] = []
        for place in [p for p in frame.written if isinstance(p, StateRef)]:
            value = place.get()
            plain = holds_no_array(value, frame.saved[place])
            spec = left_spec(place, value, frame)
            flat = flatten(value, spec, as_is)
            if self.name in ("scan", "map") and not plain:
                raise self._refusal(place, frame, "each iteration", "write the loop as a `for`")
            if self.name == "vmap" and any(_jax.made_here(content(x)) for x in flat):  # not what is the same in all lanes: JAX computes that around
                raise under_vmap(place, frame.places.get(place))
            if place in frame.late:
                raise self._refusal(place, frame, "after a possible error", "change it before, or return the new value")
            found.append((place, spec))
            arrays += flat
        return _State(found, arrays)

    def _refusal(self, place: StateRef, frame: TraceContext, how: str, advice: str) -> EffectError:
        return EffectError(f"{place.name} is changed under `{self.name}`, {how}", frame.places.get(place), advice)

    def leave(self, error: Any, state: _State, stacked: bool = False, backwards: bool = False) -> None:
        """Hand on what the function did; the errors are `stacked` where it has run for several lanes or iterations."""
        arrays = iter(state.arrays)
        for place, spec in state.found:
            store(place, unflatten(spec, arrays))
        if error is None or stacked and error[0].shape[0] == 0:
            return
        if stacked:
            codes = error[0][::-1] if backwards else error[0]
            first = jnp.argmax(codes != 0)
            error = trees.map(lambda x: x[codes.shape[0] - 1 - first if backwards else first], error)
        code, values = error
        for number, kept in values.items():
            store(ErrorValues(number), tuple(kept))
        store(ERROR, code)

    def run(self, transformed: Callable[[], Any]) -> Any:
        """What a transformation gives; if every path of the function ends in an error, so does this."""
        try:
            return transformed()
        except PathEnds:
            for place, value in self.failed.items():
                store(place, value)
            raise


def _is_users(f: Any) -> bool:
    """Whether a function is the user's own: one of a library's, also of one that `ag.include` names, gets the kind of tracers that JAX gives it."""
    code = getattr(inspect.unwrap(f), "__code__", None) if callable(f) else None
    return code is None or is_users(code.co_filename) and not listed(code.co_filename)


def is_transformation(f: Any) -> bool:
    return type(f) is type(is_transformation) and f in _KNOWN


def threaded(f: Any, plain: Callable[..., Any], call: Callable[[Any], Any]) -> Callable[..., Any]:
    """A transformation that hands on what its function does beside its result; it is `plain` where nothing of ours is around to take it."""
    signature = inspect.signature(f)

    def transformation(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        first = next(iter(signature.parameters))
        options = bound.arguments
        if not callable(options.get(first)):  # called for a decorator
            return plain(*args, **kwargs)
        if f in _TURNS or f in _AT_ONCE:
            return _at_once(f, bound, first, call) if reachable() else plain(*args, **kwargs)
        without = plain(*args, **kwargs)

        @functools.wraps(without)
        def transformed(*args: Any, **kwargs: Any) -> Any:
            return _later(f, bound, first, call, args, kwargs) if reachable() else without(*args, **kwargs)

        for name in _OF_JITTED if hasattr(without, "lower") else ():
            setattr(transformed, name, getattr(without, name))
        return transformed

    return transformation


_OF_JITTED = ("lower", "trace", "eval_shape", "clear_cache")  # what a jitted function has beside its call


def _later(f: Any, bound: inspect.BoundArguments, first: str, call: Any, args: Any, kwargs: Any) -> Any:
    """A call of the function that a transformation gives."""
    options = dict(bound.arguments)
    has_aux = bool(options.get("has_aux"))
    run = _TransformRun(options[first], call, f.__name__, has_aux)
    options[first] = run.given() if has_aux or f not in _AUX else _as_aux(run.given())
    if f in _AUX:
        options["has_aux"] = True
    elif f is jax.vmap:
        options["out_axes"] = (options.get("out_axes", 0), 0, None)
    elif options.get("out_shardings") is not None:
        options["out_shardings"] = (options["out_shardings"], None, None)
    new = inspect.BoundArguments(bound.signature, options)  # type: ignore[arg-type]
    out = run.run(lambda: f(*new.args, **new.kwargs)(*args, **kwargs))
    if f not in _AUX:
        value, error, state = out
        run.leave(error, state, stacked=f is jax.vmap)
        return value
    (value, (aux, error, state)), slope = out if f is jax.value_and_grad else ((None, out[1]), out[0])
    run.leave(error, state)
    if f is not jax.value_and_grad:
        return (slope, aux) if has_aux else slope
    return ((value, aux) if has_aux else value), slope


def _at_once(f: Any, bound: inspect.BoundArguments, first: str, call: Any) -> Any:
    """A call of a transformation that calls its function."""
    options = dict(bound.arguments)
    has_aux = bool(options.get("has_aux"))
    run = _TransformRun(options[first], call, f.__name__, has_aux)
    if f in _TURNS:
        options[first] = _as_iteration(run.given()) if f is lax.scan else run.given()
    else:
        options[first] = run.given() if has_aux else _as_aux(run.given())
        options["has_aux"] = True
    new = inspect.BoundArguments(bound.signature, options)  # type: ignore[arg-type]
    out = run.run(lambda: f(*new.args, **new.kwargs))
    if f in _TURNS:
        *carry, (value, error, state) = out if f is lax.scan else (out,)
        run.leave(error, state, stacked=True, backwards=bool(options.get("reverse")))
        return (*carry, value) if carry else value
    *results, (aux, error, state) = out
    run.leave(error, state)
    return (*results, aux) if has_aux else tuple(results)


def _as_aux(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def with_aux(*args: Any, **kwargs: Any) -> Any:
        result, error, state = fn(*args, **kwargs)
        return result, (None, error, state)

    return with_aux


def _as_iteration(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def iteration(carry: Any, x: Any) -> Any:
        (carry, y), error, state = fn(carry, x)
        return carry, (y, error, state)

    return iteration
