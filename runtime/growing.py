"""Lists whose length traced values decide: a buffer for each array of an item, and how many items there are.

A list stays Python's until a staged block changes its length.  Then the outermost loop or branch that has it as a variable begins again with
a `Growing` in its place (`with_room`).  Where the number of items is known after all (each of n turns appends one) it is a list again.
"""

from __future__ import annotations

import copy
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime import _jax, errors
from autograph.runtime.advice import changed_object
from autograph.runtime.deferred import fail
from autograph.runtime.errors import EffectError
from autograph.runtime.frames import Frame, Place, frames, innermost, lifting
from autograph.runtime.heap import Contents
from autograph.runtime.lifted import restore, touch
from autograph.runtime.packing import pack, unpack
from autograph.runtime.places import here
from autograph.runtime.spec_text import describe
from autograph.runtime.specs import Mismatch, Spec, covers, is_leaf, join, spec_of, types, widen
from autograph.runtime.values import Counted, Record

_ADVICE = "give the loop a bound with `with ag.loop(max_steps=...)`, or use a `jnp` array of known size and a counter"


class Grow(BaseException):
    """Not an error: a list, or a `Growing`, needs room for more items or wider ones."""

    def __init__(self, items: Any, spec: Spec | None, capacity: int = 0) -> None:
        self.items, self.spec, self.capacity, self.place = items, spec, capacity, here()

    @property
    def key(self) -> int:
        return key_of(self.items)


class Bound(Record):
    """What is known of the length of a `Growing` while tracing: how many items there are at most, and how many exactly, if that is known.

    In the turn of a loop `exact` counts from how many there were when the first turn began, so it may be negative; it is none after a `clear`.
    """

    __slots__ = ("__weakref__", "base", "exact", "peak", "place", "shrunk", "top")

    def __init__(self, base: list[Any], place: errors.Place | None = None) -> None:
        self.place = place  # of the first `append`
        self.base, self.top, self.peak = base, len(base), len(base)  # at most now, and at most so far
        self.holds(base)
        self.exact: int | None = len(base)
        self.shrunk = False  # has an item been taken away or replaced?

    def change(self, by: int) -> None:
        self.top = max(self.top + by, 0)
        self.peak = max(self.peak, self.top)
        self.exact = None if self.exact is None else self.exact + by


class _Kind:
    """What two `Growing`s have in common that may meet in one variable."""

    __slots__ = ("bound", "capacity", "spec")

    def __init__(self, spec: Spec, capacity: int, bound: Bound) -> None:
        self.spec, self.capacity, self.bound = spec, capacity, bound

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kind) and self.bound is other.bound and self.capacity == other.capacity and bool(self.spec == other.spec)

    def __hash__(self) -> int:
        return hash((id(self.bound), self.capacity))


class Growing(Counted):
    """A list of items of one spec: `buffers` have room for `kind.capacity` of them, of which there are `count`."""

    def __init__(self, kind: _Kind, count: Any, buffers: Sequence[Any]) -> None:
        self.kind, self.count, self.buffers = kind, count, list(buffers)

    def row(self, i: Any) -> Any:
        """The item at a place that is inside."""
        wanted = types([self.kind.spec])
        rows = [lax.dynamic_index_in_dim(b, jnp.asarray(i), keepdims=False) for b in self.buffers]
        return unpack(self.kind.spec, iter([_jax.convert_type(r, t.dtype, True) if t.weak else r for r, t in zip(rows, wanted, strict=True)]))

    def with_row(self, i: Any, value: Any, count: Any) -> Growing:
        if not covers(self.kind.spec, widen(spec_of(value))):
            raise Grow(self, widen(spec_of(value)))
        flat = pack(value, self.kind.spec)
        new = [lax.dynamic_update_index_in_dim(b, jnp.asarray(x, b.dtype), jnp.asarray(i), 0) for b, x in zip(self.buffers, flat, strict=True)]
        return Growing(self.kind, count, new)

    def refusal(self, why: str, advice: str = "") -> EffectError:
        return unknown_length(why, advice)

    def inside(self, i: Any, text: str = "list index out of range") -> Any:
        """An index counted from the start; IndexError where there is no item."""
        i = jnp.asarray(i)
        if i.shape != () or i.dtype.kind not in "iu":
            raise TypeError(f"list indices must be integers or slices, not {type(i).__name__}")
        fail((i < -self.count) | (i >= self.count), IndexError, text)
        return jnp.clip(jnp.where(i < 0, i + self.count, i), 0, self.kind.capacity - 1)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            raise unknown_length("it is sliced")
        return self.row(self.inside(i))

    def __iter__(self) -> Iterator[Any]:
        if _jax.concrete(self.count):
            return iter(self.known())
        raise unknown_length("its items are wanted one by one")

    def __len__(self) -> int:
        if _jax.concrete(self.count):
            return int(self.count)
        raise unknown_length("its length is needed as a number")

    def __bool__(self) -> bool:
        return len(self) > 0

    def __eq__(self, other: object) -> bool:
        if is_leaf(self.count):  # a spec
            return isinstance(other, Growing) and self.kind == other.kind and self.count == other.count and self.buffers == other.buffers
        raise unknown_length("it is compared")

    __hash__ = None  # type: ignore[assignment]

    def __jax_array__(self) -> Any:
        raise unknown_length("it is made an array")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        advice = "write `v = items.pop()`, which takes the last item, as a statement of its own" if name == "pop" else ""
        raise unknown_length(f"its `{name}` is used", advice)

    def __delitem__(self, i: Any) -> None:
        raise unknown_length("an item of it is deleted", "take the last item with `items.pop()`")

    def __repr__(self) -> str:
        return repr(self.known()) if _jax.concrete(self.count) else "<a list whose length traced values decide>"

    def known(self) -> list[Any]:
        """The list, where the length is known."""
        return [self.row(k) for k in range(int(self.count))]


jax.tree_util.register_pytree_node(
    Growing, lambda g: ((g.count, *g.buffers), g.kind), lambda kind, children: Growing(kind, children[0], children[1:])
)


def unknown_length(why: str, advice: str = "") -> EffectError:
    return EffectError(
        f"traced values decide how long this list is, and {why}", here(),
        advice or "take it item by item (`for x in items`, `items[k]`, `sum`), return it from the function, or use `ag.padded(items, size)`",
    )  # fmt: skip


def key_of(x: Any) -> int:
    return id(x.kind.bound) if isinstance(x, Growing) else id(x)


class Holder(NamedTuple):
    """A running loop or branch: the lists among its variables, and how many frames there were."""

    keys: frozenset[int]
    depth: int
    loop: bool


class _Stack(threading.local):
    def __init__(self) -> None:
        self.holders: list[Holder] = []
        self.bounds: weakref.WeakSet[Bound] = weakref.WeakSet()


_stack = _Stack()
Marks = dict[Bound, tuple[int, int | None]]


def held(x: list[Any]) -> bool:
    """Whether a staged block is traced inside of a loop that has this list as its variable."""
    return any(h.loop and id(x) in h.keys and any(f.staged for f in frames()[h.depth :]) for h in _stack.holders)


def marks() -> Marks:
    """What is known of all lengths now."""
    return {b: (b.top, b.exact) for b in _stack.bounds}


def reset(before: Marks) -> None:
    for bound, (top, exact) in before.items():
        bound.top, bound.exact, bound.peak = top, exact, top


def join_marks(before: Marks, sides: Sequence[Marks]) -> None:
    """After a branch, what is known of the lengths, from what each side knows."""
    for bound in before:
        ends = [side[bound] for side in sides if bound in side]
        bound.top = max(top for top, _ in ends)
        bound.exact = ends[0][1] if len({exact for _, exact in ends}) == 1 else None


def repeated(before: Marks, state: Sequence[Any], turns: int | None, all_made: bool) -> None:
    """After one turn of a loop has been traced, what is known after at most `turns` of them.

    Raises Grow where there is no room for so many, and EffectError (AG405) where the number of turns is not known.
    """
    for bound, (top, exact) in before.items():
        more = bound.top - top
        if more > 0 and turns is None:
            raise EffectError(
                f"{changed_object(bound.place)} grows in a compiled loop, and how many turns it makes only traced values know", here(), _ADVICE,
                [(bound.place, "")],
            )  # fmt: skip
        if more == 0 and bound.exact == exact:
            continue
        bound.peak += max(more, 0) * max((turns or 0) - 1, 0)
        bound.top = top + max(more, 0) * (turns or 0)
        known = all_made and turns is not None and exact is not None and bound.exact is not None
        bound.exact = exact + (bound.exact - exact) * turns if known else None  # type: ignore[operator]
        for x in state:
            if isinstance(x, Growing) and x.kind.bound is bound and bound.peak > x.kind.capacity:
                raise Grow(x, None, bound.peak)


def with_room(attempt: Callable[[list[Any]], Any], state: list[Any], place: Place, room: int, loop: bool = True) -> Any:
    """`attempt(state)`; where a list of the state has to grow in it, it is tried again with a `Growing` in its place that has `room` for more.

    `place` is the operator's own; what it gives is one value or several.
    """
    keys = _keys(state)
    if not keys:
        return attempt(state)
    known = marks()
    while True:
        before, recorded, around = snapshot(), _jax.equations(), len(_stack.holders)
        _stack.holders.append(Holder(keys, len(frames()), loop))
        turn: Frame | None = None
        try:
            with place.scope("grown") as turn:
                out = attempt(state)
            del _stack.holders[around:]
            several = type(out) is tuple or (loop and type(out) is list and out is not state)  # of a branch a list is one value
            return type(out)(map(_settled, out)) if several else _settled(out)
        except Grow as grow:
            del _stack.holders[around:]
            positions = [k for k, x in enumerate(state) if key_of(x) == grow.key]
            if not positions or any(grow.key in h.keys for h in _stack.holders):
                raise
            assert turn is not None
            _jax.drop_effects(recorded)
            discard(before, turn)
            reset(known)
            grown = _grown(state[positions[0]], grow, room)
            state = [grown if k in positions else x for k, x in enumerate(state)]
            keys = _keys(state)
            known = {**known, grown.kind.bound: (grown.kind.bound.top, grown.kind.bound.exact)}
        finally:
            del _stack.holders[around:]


def _keys(state: Sequence[Any]) -> frozenset[int]:
    return frozenset(key_of(x) for x in state if type(x) is list or isinstance(x, Growing))


def _grown(x: Any, grow: Grow, room: int) -> Growing:
    """A list or a `Growing` with more room, or for wider items."""
    if isinstance(x, Growing):
        spec = x.kind.spec if grow.spec is None else joint_of([x.kind.spec, grow.spec], grow.place)
        return _enlarged(x, spec, max(grow.capacity, x.kind.capacity if grow.capacity == 0 else 2 * x.kind.capacity))
    specs = [widen(spec_of(item)) for item in x] + ([] if grow.spec is None else [grow.spec])
    if not specs:
        raise IndexError("pop from empty list")
    spec = joint_of(specs, grow.place)
    bound = Bound(x, grow.place)
    _stack.bounds.add(bound)
    capacity = max(len(x) + max(room, 1), grow.capacity)
    buffers = []
    for k, t in enumerate(types([spec])):
        rows = [jnp.asarray(pack(item, spec)[k]) for item in x]
        if jnp.issubdtype(t.dtype, jax.dtypes.extended):
            raise EffectError("a list of PRNG keys grows in a compiled loop", here(), "collect `jax.random.key_data(key)`")
        empty = jnp.zeros((capacity, *t.shape), t.dtype)
        buffers.append(empty.at[: len(x)].set(jnp.stack(rows)) if x else empty)
    return Growing(_Kind(spec, capacity, bound), len(x), buffers)


def _enlarged(x: Growing, spec: Spec, capacity: int) -> Growing:
    wanted, have = types([spec]), types([x.kind.spec])
    if [t.shape for t in wanted] != [t.shape for t in have]:
        raise _no_joint(x.kind.spec, spec, x.kind.bound.place)
    buffers = [jnp.zeros((capacity, *t.shape), t.dtype).at[: x.kind.capacity].set(b.astype(t.dtype)) for b, t in zip(x.buffers, wanted, strict=True)]
    return Growing(_Kind(spec, capacity, x.kind.bound), x.count, buffers)


def joint_of(specs: Sequence[Spec], place: errors.Place | None = None) -> Spec:
    joint = specs[0]
    for spec in specs[1:]:
        try:
            if [t.shape for t in types([spec])] != [t.shape for t in types([joint])]:
                raise Mismatch("", joint, spec)
            joint = join(joint, spec)
        except Mismatch as m:
            raise _no_joint(m.a, m.b, place) from None
    return joint


def _no_joint(a: Spec, b: Spec, place: errors.Place | None) -> EffectError:
    return EffectError(
        f"{changed_object(place)} grows in compiled code, and its items differ: {describe(a)} and {describe(b)}", here(),
        "append items of one type and shape", [(place, "")],
    )  # fmt: skip


def _settled(x: Any) -> Any:
    """A list again, if it is known how many items there are."""
    if not isinstance(x, Growing) or x.kind.bound.exact is None:
        return x
    if any(id(x.kind.bound) in h.keys for h in _stack.holders):  # a loop around goes on with it
        return x
    base, length = x.kind.bound.base, max(x.kind.bound.exact, 0)  # less only after an error
    touch(Contents(base))
    base[:] = _rows(x, 0, length) if x.kind.bound.shrunk else [*base, *_rows(x, len(base), length)]
    return base


def _rows(x: Growing, start: int, stop: int) -> list[Any]:
    wanted = types([x.kind.spec])
    columns = [[b[k] for k in range(start, stop)] for b in x.buffers]
    typed = [[_jax.convert_type(r, t.dtype, True) if t.weak else r for r in c] for c, t in zip(columns, wanted, strict=True)]
    return [unpack(x.kind.spec, iter([c[k] for c in typed])) for k in range(stop - start)]


Snapshot = tuple[Frame, dict[str, Any]]
_KEPT = ("values", "written", "saved", "guards", "guarded", "points_to", "twins", "spoiled", "gone")


def snapshot() -> Snapshot | None:
    """The state outside, before a turn that may be thrown away."""
    around = lifting()
    if not around:
        return None
    late = {place: list(held) for place, held in around[-1].late.items()}
    return around[-1], {name: copy.copy(getattr(around[-1], name)) for name in _KEPT} | {"late": late}


def discard(before: Snapshot | None, turn: Frame) -> None:
    """Forget a turn that is made again."""
    restore(turn)
    if (around := innermost()) is not None:
        around.discarded = True
    if before is not None:
        frame, kept = before
        for name, value in kept.items():
            setattr(frame, name, value)
        frame.values = frame.marked | frame.values
