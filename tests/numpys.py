"""Programs that store into arrays, run as plain Python over NumPy's arrays and converted: what they give, and what they change, is the same."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag

Form = tuple[Callable[..., Any], Any]  # a converter, and the module whose arrays the arguments hold


def staged(f: Callable[..., Any]) -> Callable[..., Any]:
    return ag.convert(f, form="staged")


def jitted(f: Callable[..., Any]) -> Callable[..., Any]:
    return jax.jit(ag.convert(f))


COMPILED: tuple[Form, ...] = ((ag.function, np), (ag.function, jnp))
EAGER: tuple[Form, ...] = ((ag.convert, np), (ag.convert, jnp), (staged, jnp))
ALL: tuple[Form, ...] = (*EAGER, *COMPILED)
JITTED: tuple[Form, ...] = (*ALL, (jitted, jnp))


def as_numpy(
    f: Callable[..., Any] | Sequence[Callable[..., Any]],
    make: Callable[[], Sequence[Any]],
    forms: Sequence[Form] = ALL,
    more: Callable[[], Any] = lambda: (),
) -> None:
    """Call a function, or some after each other, with arguments that `make` makes, NumPy's arrays in them, plain and in each form, and compare.

    What is compared: the results, the arguments after the calls, `more`, and which arrays in objects, lists, dicts and `more` are one.  A JAX array
    that is itself an argument stays what it was for the caller.
    """
    calls = [f] if callable(f) else f
    plain, args = [], make()
    for g in calls:
        plain.append(leaves(g(*args)))
    rest = leaves(more())
    held = [k for k, x in enumerate(args) if not isinstance(x, np.ndarray)]
    identities = ones([*(args[k] for k in held), more()])
    for convert, module in forms:
        given = make() if module is np else jax_arrays(make(), {})
        converted = {g: convert(g) for g in calls}
        results = [leaves(converted[g](*given)) for g in calls]
        told = f"{convert.__name__} over {module.__name__}"
        for got, want in zip(results, plain, strict=True):
            same(got, want, told)
        changed = range(len(args)) if module is np else held
        same(leaves([given[k] for k in changed]), leaves([args[k] for k in changed]), f"arguments of {told}")
        same(leaves(more()), rest, f"the rest of {told}")
        assert ones([*(given[k] for k in held), more()]) == identities, f"which arrays are one: {told}"


def leaves(value: Any) -> list[Any]:
    """What results and arguments hold, in order, as it is now."""
    return [x.copy() if isinstance(x, np.ndarray) else x for x in _held(value)]


def ones(value: Any) -> list[int]:
    """For each array the first that is the same one."""
    arrays = [x for x in _held(value) if isinstance(x, (np.ndarray, jax.Array)) and x.ndim]
    return [next(k for k, y in enumerate(arrays) if y is x) for x in arrays]


def same(got: Sequence[Any], want: Sequence[Any], told: str) -> None:
    assert len(got) == len(want), told
    for x, y in zip(got, want, strict=True):
        if y is None or isinstance(y, str) or x is None:
            assert x == y, told
        else:
            np.testing.assert_allclose(x, y, rtol=1e-6, err_msg=told)


def jax_arrays(value: Any, made: dict[int, Any]) -> Any:
    """The same with JAX's arrays for NumPy's; arrays that were one are one."""
    if isinstance(value, (np.ndarray, np.generic)):
        return made.setdefault(id(value), jnp.asarray(value))
    if isinstance(value, dict):
        return {k: jax_arrays(x, made) for k, x in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(jax_arrays(x, made) for x in value)
    if hasattr(value, "__dict__"):
        other = copy.copy(value)
        vars(other).update(jax_arrays(vars(value), made))
        return other
    return value


def _held(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [x for part in value.values() for x in _held(part)]
    if isinstance(value, (tuple, list)):
        return [x for part in value for x in _held(part)]
    if hasattr(value, "__dict__") and not isinstance(value, jax.Array):
        return _held(vars(value))
    return [value]
