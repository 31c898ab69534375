"""Which array a traced value is a row of, and what an integer is counted from, told by the equations that have been recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from autograph.runtime.jaxapi.private import partial_eval as pe
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.jaxapi.traces import Literal


class RowOrigin:
    """Some rows of an array along an axis, in a row: from `first` on, by `step`."""

    def __init__(self, row: Any, array: Any, axis: int, first: int) -> None:
        self.row, self.array, self.axis, self.first, self.step, self.count = row, array, axis, first, 0, 1

    def takes(self, array: Any, axis: int, k: int) -> bool:
        """Add row k of an array, if it is the next."""
        step = k - (self.first + self.step * (self.count - 1))
        if array.val is not self.array.val or axis != self.axis or step == 0 or self.count > 1 and step != self.step:
            return False
        self.step, self.count = step, self.count + 1
        return True

    def value(self) -> Any:
        """The rows as one array."""
        if self.count == 1:
            return self.row[None]
        last = self.first + self.step * (self.count - 1)
        array = jnp.moveaxis(self.array, self.axis, 0) if self.axis else self.array
        if self.step == 1:
            return array[self.first : last + 1]
        return array[self.first : last + 1 : self.step] if self.step > 0 else array[last : self.first + 1 : -self.step][::-1]


def runs_of_rows(values: Sequence[Any]) -> list[Any]:
    """The values in order, with `RowOrigin` in the place of those that are rows of one array next to each other."""
    out: list[Any] = []
    places: dict[int, dict[Any, int]] = {}
    for x in values:
        found = _row(x, places)
        if found is None:
            out.append(x)
        elif not (out and isinstance(out[-1], RowOrigin) and out[-1].takes(*found)):
            out.append(RowOrigin(x, *found))
    return out


def _row(x: Any, places: dict[int, dict[Any, int]]) -> tuple[Any, int, int] | None:
    """The array that a value is a row of, along which axis, and which; `places`: of the results of equations that split one."""
    now = x.now if isinstance(x, Array) else x
    eqn = equation_of(now)
    if eqn is not None and eqn.primitive.name == "convert_element_type" and eqn.params["new_dtype"] == eqn.in_tracers[0].aval.dtype:
        eqn = equation_of(eqn.in_tracers[0])  # to a weak type
    if eqn is None or eqn.primitive.name != "squeeze" or len(eqn.params["dimensions"]) != 1:
        return None
    (part,), (axis,) = eqn.in_tracers, eqn.params["dimensions"]
    source = equation_of(part)
    if source is None:
        return None
    array = source.in_tracers[0]
    if source.primitive.name == "slice":
        begin, end, strides = (source.params[name] for name in ("start_indices", "limit_indices", "strides"))
        ends = zip(begin, end, array.aval.shape, strict=True)
        whole = all(b == 0 and e == size for k, (b, e, size) in enumerate(ends) if k != axis) and not (strides and any(s != 1 for s in strides))
        return (array, axis, int(begin[axis])) if whole and end[axis] == begin[axis] + 1 else None
    if source.primitive.name == "split" and source.params["axis"] == axis and len(source.outvars) == array.aval.shape[axis]:
        found = places.get(id(source)) or places.setdefault(id(source), {v: k for k, v in enumerate(source.outvars)})
        return array, axis, found[part.val]
    return None


def equation_of(x: Any) -> Any:
    """The equation that has given a value of a trace, or None."""
    return x.parent if isinstance(x, pe.DynamicJaxprTracer) else None


def stands_for(x: Any) -> Any:
    """What a variable of a trace stands for: a value from outside of it, a number, or (none of these) itself."""
    if not isinstance(x, pe.DynamicJaxprTracer):
        return x
    if isinstance(x.val, Literal):
        return x.val.val
    return x._trace.frame.constvar_to_val.get(x.val, x)
