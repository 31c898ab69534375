"""What `jax.vmap` has added to a primitive, kept as data: the derivative of one lane is then lifted over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from autograph.runtime.jaxapi import traces as _jax


class Lanes(NamedTuple):
    """One `jax.vmap` around a primitive: which operands and results have an axis in front, its length, and the options it was given."""

    operands: tuple[int | None, ...]
    results: tuple[int | None, ...]
    size: int
    options: tuple[tuple[str, Any], ...] = ()

    def types(self, avals: Sequence[Any]) -> list[Any]:
        """The types of results with that axis."""
        mesh = dict(self.options).get("mesh")
        return [_jax.with_axis(self.size, a, mesh) if r == 0 else a for a, r in zip(avals, self.results, strict=True)]

    def over(self, f: Callable[..., Any], operands: Any, results: Any) -> Callable[..., Any]:
        """`f` for all lanes at once."""
        return vmapped(f, operands, results, self.size, self.options)


Stack = tuple[Lanes, ...]  # the innermost first


def vmapped(f: Callable[..., Any], operands: Any, results: Any, size: int, options: Sequence[tuple[str, Any]]) -> Callable[..., Any]:
    """`jax.vmap` of a function, with the options that it was given."""
    given = {k: v for k, v in options if k != "mesh"}
    out: Callable[..., Any] = jax.vmap(f, in_axes=operands, out_axes=results, axis_size=size, **given)
    return out


def all_lanes(f: Callable[..., Any], stack: Stack) -> Callable[..., Any]:
    """A function of one lane's operands, over all lanes; a result that does not differ between them is that of the first."""
    for lanes in stack:
        f = _first_of_equal(lanes.over(f, list(lanes.operands), 0), lanes.results)
    return f


def _first_of_equal(f: Callable[..., Any], results: Sequence[int | None]) -> Callable[..., Any]:
    return lambda *operands: [v[0] if r is None else v for v, r in zip(f(*operands), results, strict=True)]


def wide(avals: Sequence[Any], stack: Stack) -> list[Any]:
    """The types of one lane's results, with the axes of all lanes."""
    for lanes in stack:
        avals = lanes.types(avals)
    return list(avals)
