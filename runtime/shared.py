"""Which array a value is: what stands for an array of the blocks around, and what a place holds for one unless an error has occurred."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from autograph.runtime import _jax, trees
from autograph.runtime.frames import Frame, frames, lifting
from autograph.runtime.heap import HeapLocation, Items
from autograph.runtime.replaced import log
from autograph.runtime.specs import Type, array_spec, is_container
from autograph.runtime.values import is_value


def origin(x: Any, level: Frame | None = None) -> Any:
    """The array of the outermost trace that an array of a block stands for; itself, if it stands for none; with a frame, the array of its block."""
    for frame in reversed(frames()):
        while (found := frame.guarded.get(id(x)) or (frame.stands.get(id(x)) if frame is not level else None)) is not None:
            x = found[1]
        if frame is level:
            break
    return x


def stood_for(x: Any) -> Any:
    """The same, but what an error guards is not what it would be without one."""
    for frame in reversed(frames()):
        while (found := frame.stands.get(id(x))) is not None:
            x = found[1]
    return x


def guard(x: Any, guarded: Any, code: Any, before: Any) -> bool:
    """A place holds `guarded` for an array, which is what it held `before` if an error has occurred: it counts as the same array, if it is one."""
    if not (aliasable(x) and (around := lifting())):
        return False
    frame = around[-1]
    unexplained = code is not None and x is not guarded and id(guarded) in frame.guarded and frame.guarded[id(guarded)][2] is None
    if origin(x) is origin(guarded) and not unexplained:
        return False
    frame.guarded[id(guarded)] = guarded, x, code, before
    frame.guards.setdefault(id(x), (x, guarded))
    return True


def guarded_as(x: Any, code: Any, before: Any) -> Any:
    """What a place that holds `before` is given for an array, if that is known already: itself, if this error code guards it; or None."""
    for frame in reversed(frames()):
        for out in (x, frame.guards.get(id(x), (x, x))[1]):
            found = frame.guarded.get(id(out))
            if found is not None and (out is before or (found[2] is code and stood_for(found[3]) is stood_for(before))):  # an error stays
                return out
    return None


def unguarded(x: Any, stop: Collection[int] = ()) -> Any:
    """The array that a place would hold if no error could have occurred; one of those at which to stop, by identity, stays."""
    for frame in reversed(frames()):
        while id(x) not in stop and (found := frame.guarded.get(id(x))) is not None:
            x = found[1]
    return x


def with_guards(out: Any, guards: dict[int, tuple[Any, Any]]) -> Any:
    """A result in which arrays are what places hold for them: they stay one array behind the block."""
    if not guards:
        return out
    leaves, tree = trees.flatten(out, is_leaf=lambda x: is_value(x) or is_container(x))  # a list or dict is such a place itself
    new = [guards[id(x)][1] if id(x) in guards else x for x in leaves]
    return out if all(a is b for a, b in zip(leaves, new, strict=True)) else tree.unflatten(new)


def aliasable(x: Any) -> bool:
    """Whether a store into a value can be seen through another name for it."""
    return isinstance(x, (jax.Array, np.ndarray)) and x.ndim > 0


def replaced_outside(frame: Frame) -> list[Any]:
    """The arrays of the blocks around that the block which ends has stored into, so that nothing may hold them any more.

    One that is no traced value is not known to be state yet: what holds it is found when the trace ends, and another trace follows.
    """
    found = (frame.stands.get(k, (x, x))[1] for k, x in frame.gone.items())
    return [x for x in found if isinstance(x, jax.core.Tracer) and not _jax.made_here(x)]


def renewed_in(frame: Frame) -> dict[HeapLocation, set[Any]]:
    """At the end of a block: the places of objects (and the keys of containers) that hold the array that was there, or what stores made of it."""
    found: dict[HeapLocation, set[Any]] = {}
    for place, outer in frame.saved.items() if frame.log is not None else ():
        for key, old, new in _pairs(frame.begun.get(place, outer), place.get()):
            if origin(old) is origin(new) or frame.log.became(old, new) or frame.log.became(origin(old), new):
                found.setdefault(place, set()).add(key)
    return found


def _pairs(before: Any, after: Any) -> Iterator[tuple[Any, Any, Any]]:
    """What a place, or each key of a container, held and holds."""
    if not isinstance(before, Items):
        yield None, before, after
    elif isinstance(after, Items):
        now = dict(zip(range(len(after.values)) if after.keys is None else after.keys, after.values, strict=False))
        for key, old in zip(range(len(before.values)) if before.keys is None else before.keys, before.values, strict=False):
            if key in now:
                yield key, old, now[key]


def replaced_in(blocks: Sequence[Any], before: dict[Any, Any]) -> None:
    """Called when a staged branch or loop is complete; `before` is what the places held that it has changed."""
    for frame in lifting()[-1:]:
        replaced = {id(x): x for block in blocks for x in block.replaced}
        frame.gone.update(replaced)
        became: dict[int, Any] = {}
        for place, held in before.items() if replaced else ():
            if isinstance(place, HeapLocation):
                for key, old, new in _pairs(held, place.get()):
                    wrote = [block for block in blocks if place in block.wrote and not block.left]
                    if id(old) in replaced and all(key in block.renewed.get(place, ()) for block in wrote):
                        became.setdefault(id(old), new)
        for k, old in replaced.items():
            log().note(old, became.get(k))


def known_again(x: Any) -> Any:
    """What a block gives, as a constant of the block around that is still known to be this array, if it is one of NumPy's."""
    around = lifting()[:-1]
    if not around or not isinstance(x, np.ndarray) or not x.ndim or not isinstance(array_spec(x), Type):
        return x
    frame = around[-1]
    if id(x) not in frame.constants:
        with jax.ensure_compile_time_eval():
            constant = jax.numpy.asarray(x)
        frame.constants[id(x)] = x, constant
        frame.stands[id(constant)] = constant, x
    return frame.constants[id(x)][1]


def numpy_of(x: Any) -> Any:
    """The NumPy array that a constant stands for; any other value, inputs of the function among them, itself."""
    for frame in reversed(frames()):
        found = frame.stands.get(id(x))
        if found is not None and (known := frame.constants.get(id(found[1]))) is not None and known[1] is x:
            return found[1]
    return x
