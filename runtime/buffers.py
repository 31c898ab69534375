"""Which of NumPy's arrays a place holds, where a branch or loop gives it another array and stores into the one that it holds.

Each array of NumPy's that was there before the call is a *buffer*, and has a number.  Stores make new versions of it in the trace, all with the
buffer's number as their tag; any other array has the tag -1.  What the buffers hold, and the tags of the places that hold arrays, are state of
blocks like any other, so a tag is traced where traced values decide which array a place holds:

    if full:                            tag_a = where(full, -1, tag_a)
        self.a = np.zeros(3)            a = where(full, zeros, a)
    self.a[0] = v                       a = a.at[0].set(v); buffer_0 = where(tag_a == 0, a, buffer_0)

A function is traced this way only when it has to be: `GivenAnother` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime import trees
from autograph.runtime.errors import ArrayStoreError, Place
from autograph.runtime.frames import Frame, frames, lifting
from autograph.runtime.heap import Attribute, Contents, HeapLocation, Items, entries
from autograph.runtime.lifted import ERROR, load, may_have_failed, touch
from autograph.runtime.places import here
from autograph.runtime.points_to import may_be, note_comparison
from autograph.runtime.shared import aliasable
from autograph.runtime.specs import type_of
from autograph.runtime.values import Maybe, is_value

NONE = -1  # the tag of an array that is none of NumPy's from outside
MIXED: Any = object()  # of one that is a buffer's on one side of a branch only, or another's on each


class GivenAnother(ArrayStoreError):
    """AG403: an array that is stored into, and cannot be given the new values because its place may hold another then.

    `harmless`: nothing is stored into it, but only tags tell whether its place holds it when the call ends.
    """

    harmless = False


def given_another(place: HeapLocation, at: Place | None, why: str) -> GivenAnother:
    """The refusal of a place that is stored into, and given another array."""
    return GivenAnother(
        f"{place.name} is a NumPy array that is stored into, and is given another array in the same call: {why}", at,
        "make it a `jnp` array before, or store into a copy (`.copy()`)",
    )  # fmt: skip


def check_in_place(array: np.ndarray[Any, Any], name: str, at: Place | None) -> None:
    """Raise ArrayStoreError (AG403) or ValueError if what a call stores cannot be put into an array of NumPy's when it ends."""
    if array.dtype.itemsize > 4 and array.dtype.kind in "iuf" and not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise ArrayStoreError(
            f"{name} is a NumPy array of {array.dtype}, and JAX computes with 32 bits: what is stored back would be rounded", at,
            "make it 32 bits wide or a `jnp` array, or set `jax_enable_x64`",
        )  # fmt: skip
    if not array.flags.writeable:
        raise ValueError("assignment destination is read-only")


class _Held:
    """What the buffers hold and the tags of places are its attributes."""


class Buffers:
    """The buffers of one trace; `slots` are places, what they held before the call, and what they hold in the trace."""

    def __init__(self, slots: Iterable[tuple[HeapLocation, Any, Any]], arrays: Sequence[Any], tracers: Sequence[Any]) -> None:
        self.holder = _Held()
        self.arrays: dict[int, Any] = {}
        self.first: dict[int, Any] = {}
        self.contents: dict[int, Attribute] = {}
        self.versions: dict[int, tuple[Any, Any]] = {}  # arrays of the trace whose tag is known, by identity
        self.tags: dict[HeapLocation, Attribute] = {}
        self.names: dict[int, HeapLocation] = {}
        numbers: dict[int, int] = {}
        for k, (array, tracer) in enumerate(zip(arrays, tracers, strict=True)):
            if isinstance(array, np.ndarray) and array.ndim:
                number = numbers.setdefault(id(array), k)
                self.versions[id(tracer)] = tracer, number
                if number == k:
                    self.arrays[k], self.first[k] = array, tracer
                    self.contents[k] = self._location(f"buffer_{k}", tracer)
        for slot, before, now in slots:
            inside = [(e, e.inside(before), e.inside(now)) for e in entries(slot.obj, before)] if isinstance(before, Items) else [(slot, before, now)]
            for place, array, held in inside:
                if aliasable(array) and aliasable(held):
                    number = numbers.get(id(array), NONE)
                    self.tags[place] = self._location(f"tag_{len(self.tags)}", number)
                    self.names.setdefault(number, place)

    def _location(self, name: str, value: Any) -> Attribute:
        setattr(self.holder, name, value)
        return Attribute(self.holder, name)

    def tag_of(self, x: Any) -> Any:
        """The tag of an array, or None if it is not known: it is another's, or what a block has chosen or was given."""
        for frame in _own_frames():
            if (found := frame.versions.get(id(x))) is not None:
                return found[1]
        return next((tag.get() for place, tag in self.tags.items() if place.get() is x), None)

    def stored(self, x: Any, after: Any) -> None:
        """A store makes one array of another."""
        tag = self.tag_of(x)
        if tag is None:
            self._refuse_unknown(x)
            return
        self._refuse_mixed(tag)
        self._note(after, tag)
        for k in [tag] if type(tag) is int else list(self.contents):
            if k == NONE or np.shape(after) != np.shape(self.first[k]):
                continue
            if type_of(after) != type_of(self.first[k]):
                raise given_another(self.names.get(k, Attribute(self.holder, "buffer")), here(), "the two have different types")
            check_in_place(self.arrays[k], self.name(k), here())
            old = self.contents[k].get()
            _put(self.contents[k], after if type(tag) is int else jnp.where(tag == k, after, old))

    def name(self, k: int) -> str:
        return self.names[k].name if k in self.names else "an array"

    def bound(self, place: HeapLocation, value: Any, maybe: bool) -> None:
        """A place that has a tag is given another value, or a new version of the array that it holds."""
        tag = self.tags[place]
        if maybe:
            raise given_another(place, here(), "only traced values decide which item of the list is another")
        self.remember(place)
        new = self._tag(value.value if isinstance(value, Maybe) else value)
        if isinstance(value, Maybe) and (type(new) is not int or new != NONE):
            raise given_another(place, here(), "only traced values decide whether there is an array")
        _put(tag, new)

    def _tag(self, value: Any) -> Any:
        if not aliasable(value):
            return NONE
        if (known := self.tag_of(value)) is None:
            self._refuse_unknown(value)
            return NONE
        self._refuse_mixed(known)
        return known

    def remember(self, place: HeapLocation) -> None:
        """What a place has held has its tag, wherever it is from now on."""
        if aliasable(held := place.get()) and self.tag_of(held) is not None:
            self._note(held, self.tags[place].get())

    def moved(self, container: Any, before: Items) -> None:
        """The items of a list or dict have changed, otherwise than one by one."""
        tracked = [e for e in entries(container, before) if e in self.tags]
        old = [(e, self.tags[e].get()) for e in tracked]
        for e, tag in old:
            if aliasable(held := e.inside(before)):
                self._note(held, tag)
        for e, tag in old:
            now = e.get()
            if now is not e.inside(before) and (new := self._tag(now)) is not tag:
                _put(self.tags[e], new)

    def _note(self, x: Any, tag: Any) -> None:
        lifting()[-1].versions[id(x)] = x, tag

    def _refuse_mixed(self, tag: Any) -> None:
        if tag is MIXED:
            place = next(iter(self.names.values()))
            raise given_another(place, here(), "only traced values decide which array a function gives back")

    def _refuse_unknown(self, x: Any) -> None:
        """Raise GivenAnother if an array may be a version of a buffer, and no tag tells; loops find out what their turns hand on."""
        known = [y for frame in _own_frames() for y, tag in frame.versions.values() if type(tag) is not int or tag != NONE]
        known += [held for place in self.tags if aliasable(held := place.get())]
        possible = may_be(x, errors=True)
        if not possible.keys().isdisjoint(map(id, known)):
            place = next(iter(self.names.values()))
            raise given_another(place, here(), "only traced values decide whether another name for an array is the one that it held first")
        if any(_handed_on(y) for y in possible.values()):
            note_comparison([x], known, False, frames())

    def changed(self) -> Iterator[tuple[int, Any]]:
        """At the end of the trace: the buffers that were stored into, and what they hold."""
        for k, location in self.contents.items():
            if (held := location.get()) is not self.first[k]:
                yield k, held


def _put(location: HeapLocation, value: Any) -> None:
    """Change a location of ours, unless an error has occurred before."""
    old = location.get()
    if value is old:
        return
    touch(location)
    if may_have_failed() and not (type(value) is int and type(old) is int and value == old):
        value = jnp.where(jax.lax.eq(load(ERROR), np.int32(0)), value, old)
    location.put(value)


def _handed_on(x: Any) -> bool:
    """Whether an array is what a variable holds when a turn of a loop begins."""
    around = (frame for frame in _own_frames() if frame.staged)
    return any((found := frame.stands.get(id(x))) is not None and id(found[1]) not in frame.constants for frame in around)


def _own_frames() -> Iterator[Frame]:
    """The frames of the function that is being traced, the innermost first."""
    for frame in reversed(frames()):
        yield frame
        if frame.root:
            return


def refuse_tagged(place: HeapLocation) -> None:
    """Raise GivenAnother if a tag tells which array a place holds that a compiled function changes which another one calls: it knows no tags."""
    tagged = [frame.buffers.tags for frame in frames() if frame.buffers is not None]
    for tags in tagged:  # mostly none: a call looks no further
        if any(p in tags for p in (entries(place.obj, place.get()) if isinstance(place, Contents) else [place])):
            raise given_another(place, here(), "a compiled function that is called changes it")


def tags_of(value: Any) -> list[Any]:
    """The tags of the arrays in what a side of a branch gives."""
    buffers = next((frame.buffers for frame in _own_frames() if frame.buffers is not None), None)
    if buffers is None:
        return []
    return [buffers.tag_of(x) if aliasable(x) else None for x in trees.leaves(value, is_leaf=is_value)]


def join_tags(value: Any, sides: Sequence[list[Any]]) -> None:
    """Note the tags of what a branch gives, from those that its sides gave."""
    leaves = trees.leaves(value, is_leaf=is_value) if any(sides) else []
    if any(len(side) != len(leaves) for side in sides):
        return
    for x, *tags in zip(leaves, *sides, strict=True):
        known = [NONE if tag is None else tag for tag in tags]
        if aliasable(x) and any(type(tag) is not int or tag != NONE for tag in known):
            same = all(type(tag) is int and tag == known[0] for tag in known)
            lifting()[-1].versions[id(x)] = x, known[0] if same else MIXED


def note_version(x: Any, after: Any) -> None:
    """A store makes one array of another."""
    for frame in _own_frames():
        if frame.buffers is not None and aliasable(x):
            frame.buffers.stored(x, after)
