"""Lists, dicts and other containers of which it is data-dependent whether two are one object.

A branch or loop that chooses between lists gives a new one, and so does an index that is traced.  A change of one of the two cannot show in the
other: what the other holds is `Poison` from then on, and reading it is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

from autograph.runtime.errors.errors import EffectError
from autograph.runtime.errors.source_spans import here, variable_of
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.state.state_refs import ContainerItems, ContentsRef, StateRef
from autograph.runtime.tracing.trace_context import TraceContext, frames, lifting
from autograph.runtime.values.abstract_values import AbstractValue, ByReference, Option, Static, children, generalize, is_container, is_leaf, spec_of
from autograph.runtime.values.joins import is_blank
from autograph.runtime.values.values import ARRAYS, ATOMS, Maybe, Poison, Record, is_value

Path = tuple[Any, ...]
_ADVICE = "change it in each branch (`a.append(x)`, `b.append(x)`), where it is known which one it is, or use arrays"


class MayAlias(Record):
    """A container that may be another one; of one that goes away with its block only the identity.  `then`: what that other one held at that time."""

    __slots__ = ("key", "order", "then", "value")

    def __init__(self, value: Any, lasts: bool = True, then: ContainerItems | None = None) -> None:
        self.key, self.value, self.then = id(value), value if lasts else None, then
        self.order = tuple(value) if type(value) is dict else ()
        self.holds(self.value)


def containers_of(value: Any, path: Path = (), also: Callable[[Any], Any] = lambda value: None) -> Iterator[tuple[Path, Any]]:
    """The containers in a value, each with the numbers of the parts that lead to it; and what `also` makes of other values, if not None."""
    if type(value) is not Array and isinstance(value, Maybe):
        value = value.value
    if (found := also(value)) is not None:
        yield path, found
        return
    if type(value) in ATOMS or isinstance(value, ARRAYS):
        return
    if is_container(value):
        yield path, value
    parts = children(value)[0]
    if len(parts) != 1 or parts[0] is not value:
        for k, part in enumerate(parts):
            yield from containers_of(part, (*path, k), also)


def twins(named: dict[Any, Any], goes: Callable[[Any], bool] = lambda container: False) -> dict[Path, list[MayAlias]]:
    """For each container in some values the objects that it may be, as is known now; some go away with the block."""
    return {
        path: [MayAlias(c, not goes(c)), *(t for f in frames() for t in f.twins.get(id(c), ()))]
        for name, value in named.items() for path, c in containers_of(value, (name,))
    }  # fmt: skip


def mark_may_alias(a: Any, b: Any) -> None:
    """It is data-dependent whether two containers are one; the first has been made by this block."""
    around = lifting()
    if a is b or b is None or not around:
        return
    frame = around[-1]
    for f in frames():
        f.told.clear()  # a change of one of them is one of the other, perhaps
    frame.fresh.add(id(a))
    frame.twins.setdefault(id(a), []).append(MayAlias(b, then=ContentsRef(a).get()))
    frame.twins.setdefault(id(b), []).append(MayAlias(a, then=ContentsRef(b).get()))


def _reorder(new: Any, order: tuple[Any, ...]) -> None:
    """The keys of a dict in the order that they had: JAX sorts them."""
    if type(new) is dict and tuple(new) != order and new.keys() == set(order):
        items = {k: new[k] for k in order}
        new.clear()
        new.update(items)


def doubt_all(new: Any, old: Any) -> None:
    """Containers in a new value may be the ones at the same place in another."""
    if type(new) in ATOMS or isinstance(new, ARRAYS):
        return
    there = dict(containers_of(old))
    for path, c in containers_of(new):
        if path in there:
            mark_may_alias(c, there[path])
            _reorder(c, tuple(there[path]))


def unlike(sides: Sequence[dict[Path, list[MayAlias]]]) -> set[int]:
    """The containers in the place of which another side gives another one."""
    at: dict[Path, set[int]] = {}
    for side in sides:
        for path, given in side.items():
            at.setdefault(path, set()).add(given[0].key)
    return {key for keys in at.values() if len(keys) > 1 for key in keys}


def replaced(a: AbstractValue, b: AbstractValue) -> set[int]:
    """The containers of one spec in the place of which another has something else."""
    if isinstance(a, ByReference):
        return set() if is_blank(b) or a == b else {id(a.value)}
    if is_leaf(a) or is_leaf(b):
        return set()
    if isinstance(a, Option) or isinstance(b, Option):
        return replaced(a.value if isinstance(a, Option) else a, b.value if isinstance(b, Option) else b)
    return {x for p, q in zip(children(a)[0], children(b)[0], strict=False) for x in replaced(p, q)}


def reopened(kept: AbstractValue, opened: AbstractValue, differ: set[int]) -> AbstractValue:
    """The first spec, with the second in the place of some containers, or what they hold where the second is that of a variable without a value."""
    if isinstance(kept, ByReference):
        return kept if id(kept.value) not in differ else generalize(spec_of(kept.value)) if isinstance(opened, Static) else opened
    if is_leaf(kept):
        return kept
    if isinstance(opened, Option):
        opened = opened.value
    if isinstance(kept, Option):
        return replace(kept, value=reopened(kept.value, opened, differ))
    parts, tree = children(kept)
    others = [opened] * len(parts) if isinstance(opened, Static) else children(opened)[0]
    return tree.unflatten([reopened(a, b, differ) for a, b in zip(parts, others, strict=True)])


def looked_into(spec: AbstractValue, which: Container[int], contents: Callable[[Any], ContainerItems]) -> AbstractValue:
    """A spec in which some containers are what `contents` says that they hold, and so are all in them."""
    if isinstance(spec, ByReference):
        return _opened(spec.value, contents) if is_container(spec.value) and id(spec.value) in which else spec
    if is_leaf(spec):
        return spec
    parts, tree = children(spec)
    return tree.unflatten([looked_into(part, which, contents) for part in parts])


def _opened(container: Any, contents: Callable[[Any], ContainerItems]) -> AbstractValue:
    """The spec of a container that holds what `contents` says."""
    place, held = ContentsRef(container), contents(container)
    before = place.get()
    try:
        place.put(held)  # any container knows its own structure
        parts, tree = children(container)
    finally:
        place.put(before)
    return tree.unflatten([looked_into(part, _All(), contents) for part in parts])


class _All:
    """What holds everything."""

    def __contains__(self, x: object) -> bool:
        return True


def chosen(new: dict[Any, Any], sides: Sequence[dict[Path, list[MayAlias]]]) -> None:
    """Containers in what a branch has given may be those that one of its sides gave, and each other."""
    if any(sides):
        found = [(path, c) for name, value in new.items() for path, c in containers_of(value, (name,))]
        for side in reversed(sides):  # a dict has the order of the first
            _related(found, side, {path: [t.value for t in given] for path, given in side.items()})


def after_iterations(new: dict[Any, Any], before: dict[Any, Any], iteration: dict[int, Path], end: dict[Path, list[MayAlias]]) -> None:
    """Containers in what a loop has given may be those before it, and those that its last iteration gave.

    `turn` says where what an iteration begins with is, by identity, `end` what it ends with: what an iteration moves to another variable may come
    from there.
    """
    found = [(path, c) for name, value in new.items() for path, c in containers_of(value, (name,))]
    if not found:
        return
    first = twins(before)
    sources: dict[Path, list[Any]] = {}
    for path, _ in found:
        seen, todo = set(), [path]
        while todo:
            if (p := todo.pop()) not in seen:
                seen.add(p)
                sources.setdefault(path, []).extend(t.value for t in first.get(p, ()))
                todo += [iteration[t.key] for t in end.get(p, ()) if t.key in iteration]
                sources[path] += [t.value for t in end.get(p, ()) if t.key not in iteration]
    _related(found, first, sources)
    _related(found, end, {})


def _related(found: Sequence[tuple[Path, Any]], given: dict[Path, list[MayAlias]], sources: dict[Path, list[Any]]) -> None:
    """Doubt containers and their sources; and those that were given as one object."""
    one: dict[int, list[Any]] = {}
    for path, c in found:
        if path not in given or given[path][0].value is c:
            continue
        _reorder(c, given[path][0].order)
        for source in sources.get(path, ()):
            mark_may_alias(c, source)
        for other in one.setdefault(given[path][0].key, []):
            mark_may_alias(c, other)
        one[given[path][0].key].append(c)


def spoil_twins(x: Any) -> None:
    """Called before a container changes: what may be the same object cannot be read any more."""
    others = [t.value for f in frames() for t in f.twins.get(id(x), ())]
    if others:
        place = here()
        kind = type(x).__name__  # the object itself would be held
        line = f" (line {place.line})" if place else ""

        def error(read: bool) -> EffectError:
            one, another = ("is read", f"that has changed{line}") if read else ("changes", "that is read later")
            return EffectError(
                f"a `{kind}` {one}, and it is data-dependent whether it is the same object as one {another}",
                here() if read else place, _ADVICE,
            )  # fmt: skip

        for other in {id(o): o for o in others}.values():
            now = ContentsRef(other).get()
            invalidate(other, ContainerItems(now.keys, [Poison(error) for _ in now.values]))
        lifting()[-1].spoiled.extend((MayAlias(x), MayAlias(o)) for o in others)


def is_told(x: Any, now: ContainerItems) -> bool:
    """Whether the block has told of the changes that led to what a container holds now: none has been made since it may be another."""
    frame = lifting()[-1]
    return ContentsRef(x) in frame.saved and all(t.then is None or now.same(t.then) for t in frame.twins.get(id(x), ()))


def invalidate(x: Any, after: ContainerItems) -> None:
    """Let a container hold what cannot be read, in the block that is being traced."""
    place = ContentsRef(x)
    for frame in reversed(frames()):
        if frame.lifting and (id(x) in frame.fresh or id(x) in frame.given):
            break
        frame.saved.setdefault(place, place.get())
        if frame.lifting:
            frame.written[place] = None
            frame.places.setdefault(place, here())
            break
    place.put(after)


def is_spoiled(value: Any) -> bool:
    """Whether this is what a container holds that cannot be read."""
    return isinstance(value, ContainerItems) and any(type(v) is Poison for v in value.values)


def refuse_stale(*values: Any) -> None:
    """Raise EffectError (AG405) if something that cannot be read is part of some values."""
    for x in trees.leaves(values, is_leaf=is_value):
        if type(x) is Poison:
            raise x.make(False) from None


def settle(frame: TraceContext, out: Any) -> None:
    """At the end of the trace of a function: what it gives can be read."""
    check_lengths(frame)
    refuse_stale(out)


def keep_twins(frame: TraceContext, lasts: Callable[[Any], bool]) -> None:
    """At the end of the trace of a function: remember only which containers may be ones that are there before the call."""
    frame.twins = {key: [t for t in found if t.value is not None and lasts(t.value)] for key, found in frame.twins.items()}


def refuse_chosen(
    frame: TraceContext, value: Any, place: StateRef, lasts: Callable[[Any], bool], shared: Callable[[Any], bool] = lambda x: True
) -> None:
    """Refuse a place that outlives the call one of several containers that do, and that only traced values choose: it would hold a copy.

    What the place itself held there when the call began, and no other place did, is replaced by an equal one.
    """
    if not frame.twins:
        return
    before = _before(place, frame)
    held = value.values if isinstance(value, ContainerItems) else [value]
    first = (
        before.values if isinstance(before, ContainerItems) and isinstance(value, ContainerItems) and before.alike(value) else [before] * len(held)
    )
    for x, was in zip(held, first, strict=True):
        own = {path: id(c) for path, c in containers_of(was)}
        for path, c in containers_of(x):
            twins = [t.value for t in frame.twins.get(id(c), ()) if t.value is not None and lasts(t.value)]
            if not lasts(c) and any(id(t) != own.get(path) or shared(t) for t in twins):
                kind, name = type(c).__name__, variable_of(place.obj) if isinstance(place, ContentsRef) else place.bare
                raise place.error(
                    f"it is data-dependent which `{kind}` `{name or place.name}` holds, and others hold it too",
                    frame.places.get(place) or here(), f"store a copy of it (`{kind}(...)`)",
                )  # fmt: skip


def _before(place: StateRef, frame: TraceContext) -> Any:
    return frame.saved.get(place)


def check_lengths(frame: TraceContext) -> None:
    """At the end of a block: what may be one object has one length, which nobody has to read to see it.

    Raises EffectError (AG405) otherwise.
    """
    for changed, other in frame.spoiled:
        if not ContentsRef(changed.value).get().alike(ContentsRef(other.value).get()):
            raise EffectError(
                f"a `{type(changed.value).__name__}` becomes longer or shorter, and it is data-dependent whether another is the same object",
                frame.places.get(ContentsRef(changed.value)) or here(), _ADVICE,
            )  # fmt: skip
