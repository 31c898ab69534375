"""State outside the parameter list of a block: its first read leaves a marker in the block's jaxpr, and the markers become inputs.

So one trace of a block finds what it reads and writes outside: the error code of deferred errors.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from autograph.runtime import _jax
from autograph.runtime._jax import Primitive
from autograph.runtime.frames import Frame, lifting
from autograph.runtime.packing import unpack
from autograph.runtime.specs import Spec, Static, Type, spec_of, types

marker_p = Primitive("marker")
marker_p.def_abstract_eval(lambda *, slot, type: type.aval())
_slots = itertools.count()


class Location:
    """A place outside the parameter list whose value a block may read and write.

    `base` is its value outside every trace; `leave` takes what a staged block leaves where no trace of a function of ours is around it.
    """

    leave: Callable[[Any], None]

    def __init__(self, name: str, base: Any) -> None:
        self.name, self.base = name, base


ERROR = Location("the error code", 0)  # `deferred` says how it is left
CODE = Type((), _jax.INT32, False)


def outer_spec(location: Location, frames: Sequence[Frame]) -> Spec:
    """The spec of a location as the innermost of these frames sees it."""
    for frame in reversed(frames):
        if location in frame.values:
            return spec_of(frame.values[location])
        if location in frame.preset:
            return frame.preset[location]
    return spec_of(location.base)


def load(location: Location) -> Any:
    """The value of a location in the block that is being traced."""
    frames = lifting()
    if not frames:
        return location.base
    frame = frames[-1]
    if location not in frame.values:
        spec = frame.preset.get(location) or outer_spec(location, frames[:-1])
        slots = [next(_slots) for _ in types([spec])]
        frame.reads[location] = spec, slots
        markers = [_jax.bind_in(frame.trace, marker_p, slot=k, type=t) for k, t in zip(slots, types([spec]), strict=True)]
        frame.values[location] = unpack(spec, iter(markers))
    return frame.values[location]


def store(location: Location, value: Any) -> None:
    """Set a location in the block that is being traced."""
    frames = lifting()
    if not frames:
        location.leave(value)
        return
    frames[-1].values[location] = value
    frames[-1].written[location] = None


def reachable() -> bool:
    """Whether what is stored now reaches the innermost block: no transformation that is not ours stands between."""
    frames = lifting()
    return bool(frames) and frames[-1].trace is _jax.current_trace()


def may_have_failed() -> bool:
    """Whether a statement before this one may have raised a deferred error."""
    frames = lifting()
    return bool(frames) and outer_spec(ERROR, frames) != Static(0)
