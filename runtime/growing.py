"""Lists whose length traced values decide: a buffer for each array of an item, and how many items there are.

A list stays Python's until a staged block changes its length.  Then a loop or branch begins again with a `Growing` in its place (`room.py`).
Where the number of items is known after all (each of n turns appends one) it is a list again.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime import _jax, errors
from autograph.runtime.advice import changed_object
from autograph.runtime.deferred import fail
from autograph.runtime.errors import EffectError
from autograph.runtime.frames import frames, in_block
from autograph.runtime.heap import Contents, HeapLocation, Items
from autograph.runtime.lifted import touch
from autograph.runtime.packing import pack, unpack
from autograph.runtime.places import here, variable_of
from autograph.runtime.spec_text import describe
from autograph.runtime.specs import Mismatch, Spec, covers, is_leaf, join, spec_of, types, widen
from autograph.runtime.values import Counted, Record, Stale

_ADVICE = "give the loop a bound with `with ag.loop(max_steps=...)`, or use a `jnp` array of known size and a counter"


class Home:
    """What holds a list that becomes longer in a staged block, where that is no variable of the block: an attribute, a variable of the code around
    (`location`), or the entry of a dict or list under `key`.
    """

    def __init__(self, location: HeapLocation, key: Any = None) -> None:
        self.location, self.key = location, key

    @property
    def name(self) -> str:
        if not isinstance(self.location, Contents):
            return self.location.name
        holder = variable_of(self.location.obj)
        return f"`{holder or '...'}[{self.key!r}]`"

    def get(self) -> Any:
        """What it holds now; None where it holds nothing."""
        held = self.location.get()
        if not isinstance(held, Items):
            return held
        found = dict(zip(range(len(held.values)) if held.keys is None else held.keys, held.values, strict=True))
        return found.get(self.key)

    def put(self, value: Any) -> None:
        """Let it hold a value; the blocks around remember what it held."""
        touch(self.location, late=False)
        if isinstance(self.location, Contents):
            self.location.obj[self.key] = value
        else:
            self.location.put(value)


class Grow(BaseException):
    """Not an error: a list, or a `Growing`, needs room for more items or wider ones."""

    def __init__(self, items: Any, spec: Spec | None, capacity: int = 0, home: Home | None = None, place: errors.Place | None = None) -> None:
        self.items, self.spec, self.capacity, self.place = items, spec, capacity, place or here()
        self.home = items.kind.bound.home if isinstance(items, Growing) else home

    @property
    def key(self) -> int:
        return key_of(self.items)


class Bound(Record):
    """What is known of the length of a `Growing` while tracing: how many items there are at most, and how many exactly, if that is known.

    In the turn of a loop `exact` counts from how many there were when the first turn began, so it may be negative; it is none after a `clear`.
    """

    __slots__ = ("__weakref__", "base", "exact", "home", "items", "left", "peak", "place", "shrunk", "spec", "top")

    def __init__(self, base: list[Any], spec: Spec, place: errors.Place | None = None, home: Home | None = None) -> None:
        self.spec = spec  # of an item
        self.left: Growing | None = None  # what its home held when it was given something else
        self.place = place  # of the first `append`
        self.home = home
        self.base, self.items = base, list(base)  # the list, and what it held
        self.holds(base, *base)
        self.top = self.peak = len(base)  # at most now, and at most so far
        self.exact: int | None = len(base)
        self.shrunk = False  # has an item been taken away or replaced?

    def change(self, by: int) -> None:
        self.top = max(self.top + by, 0)
        self.peak = max(self.peak, self.top)
        self.exact = None if self.exact is None else self.exact + by


class Kind:
    """What two `Growing`s have in common that may meet in one variable."""

    __slots__ = ("bound", "capacity", "spec")

    def __init__(self, spec: Spec, capacity: int, bound: Any) -> None:
        self.spec, self.capacity, self.bound = spec, capacity, bound

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and self.bound is other.bound and self.capacity == other.capacity and bool(self.spec == other.spec)

    def __hash__(self) -> int:
        return hash((id(self.bound), self.capacity))


class Growing(Counted):
    """A list of items of one spec: `buffers` have room for `kind.capacity` of them, of which there are `count`."""

    def __init__(self, kind: Kind, count: Any, buffers: Sequence[Any]) -> None:
        self.kind, self.count, self.buffers = kind, count, list(buffers)

    def row(self, i: Any) -> Any:
        """The item at a place that is inside."""
        wanted = types([self.kind.spec])
        rows = [lax.dynamic_index_in_dim(b, jnp.asarray(i), keepdims=False) for b in self.buffers]
        return unpack(self.kind.spec, iter([_jax.convert_type(r, t.dtype, True) if t.weak else r for r, t in zip(rows, wanted, strict=True)]))

    def with_row(self, i: Any, value: Any, count: Any) -> Growing:
        spec = widen(spec_of(value))
        if [t.shape for t in types([spec])] != [t.shape for t in types([self.kind.spec])]:
            raise no_joint(self.kind.spec, spec, self.kind.bound.place)
        if not covers(self.kind.spec, spec):
            raise Grow(self, spec)
        flat = pack(value, self.kind.spec)
        new = [lax.dynamic_update_index_in_dim(b, jnp.asarray(x, b.dtype), jnp.asarray(i), 0) for b, x in zip(self.buffers, flat, strict=True)]
        return Growing(self.kind, count, new)

    def appended(self, value: Any) -> Growing:
        """The list with one more item."""
        bound = self.kind.bound
        bound.change(1)
        if bound.top <= self.kind.capacity:
            return self.with_row(self.count, value, self.count + 1)
        if any(id(bound) in h.keys for h in stack.holders):
            raise Grow(self, None, bound.top)
        return enlarged(self, self.kind.spec, bound.top).with_row(self.count, value, self.count + 1)

    def __iadd__(self, values: Any) -> Growing:  # type: ignore[misc]
        new = self
        for value in values:
            new = new.appended(value)
        return new

    @property
    def base(self) -> Any:
        """The list that it stands for; or itself."""
        return self if self.kind.bound is None else self.kind.bound.base

    def kind_of(self) -> Any:
        return self.kind.bound, self.kind.capacity

    def refusal(self, why: str, advice: str = "") -> EffectError:
        name = "" if self.kind.bound is None else changed_object(self.kind.bound.place)
        return EffectError(
            f"traced values decide how long {name if name.startswith('`') else 'this list'} is, and {why}", here(),
            advice or "take it item by item (`for x in items`, `items[k]`, `sum`), return it from the function, or use `ag.padded(items, size)`",
        )  # fmt: skip

    def inside(self, i: Any, text: str = "list index out of range") -> Any:
        """An index counted from the start; IndexError where there is no item."""
        i = jnp.asarray(i)
        if i.shape != () or i.dtype.kind not in "iu":
            raise TypeError(f"list indices must be integers or slices, not {type(i).__name__}")
        fail((i < -self.count) | (i >= self.count), IndexError, text)
        return jnp.clip(jnp.where(i < 0, i + self.count, i), 0, self.kind.capacity - 1)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            raise self.refusal("it is sliced")
        return self.row(self.inside(i))

    def __iter__(self) -> Iterator[Any]:
        if _jax.concrete(self.count):
            return iter(self.known())
        raise self.refusal("its items are wanted one by one")

    def __len__(self) -> int:
        if _jax.concrete(self.count):
            return int(self.count)
        raise self.refusal("its length is needed as a number")

    def __bool__(self) -> bool:
        return len(self) > 0

    def __eq__(self, other: object) -> bool:
        if is_leaf(self.count):  # a spec
            return isinstance(other, Growing) and self.kind == other.kind and self.count == other.count and self.buffers == other.buffers
        raise self.refusal("it is compared")

    __hash__ = None  # type: ignore[assignment]

    def _in_operator(self, other: Any) -> Any:
        raise self.refusal("an operator takes it")

    __add__ = __radd__ = __mul__ = __rmul__ = __imul__ = __lt__ = __le__ = __gt__ = __ge__ = _in_operator

    def __jax_array__(self) -> Any:
        raise self.refusal("it is made an array")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("kind", "count", "buffers"):
            raise AttributeError(name)
        advice = "write `v = items.pop()`, which takes the last item, as a statement of its own" if name == "pop" else ""
        raise self.refusal(f"its `{name}` is used", advice)

    def __delitem__(self, i: Any) -> None:
        raise self.refusal("an item of it is deleted", "take the last item with `items.pop()`")

    def __repr__(self) -> str:
        return (
            repr(self.known())
            if isinstance(self.count, (int, jax.Array)) and _jax.concrete(self.count)
            else "a list whose length traced values decide"
        )

    def known(self) -> list[Any]:
        """The list, where the length is known."""
        return [self.row(k) for k in range(int(self.count))]


jax.tree_util.register_pytree_node(
    Growing, lambda g: ((g.count, *g.buffers), g.kind), lambda kind, children: Growing(kind, children[0], children[1:])
)


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


stack = _Stack()
Marks = dict[Bound, tuple[int, int | None]]


def held(x: list[Any]) -> bool:
    """Whether a staged block is traced inside of a loop that has this list as its variable."""
    return any(h.loop and id(x) in h.keys and any(f.staged for f in frames()[h.depth :]) for h in stack.holders)


def grown_at_home(bound: Bound) -> bool:
    """Whether the home of a list holds a `Growing` now."""
    return bound.home is not None and isinstance(x := bound.home.get(), Growing) and x.kind.bound is bound


def replaced_at_home(old: Any, new: Any) -> None:
    """The home of a list is given something else: what the list has become stays the list's own."""
    if isinstance(old, Growing) and old.kind.bound is not None and old.kind.bound.home is not None and not in_block():
        if not (isinstance(new, Growing) and new.kind.bound is old.kind.bound) and new is not old.kind.bound.base:
            old.kind.bound.left = old


def refuse_hidden(x: Any) -> None:
    """Raise EffectError (AG405) if a list is used while its home has a `Growing` in its place."""
    if type(x) is list:
        for bound in stack.bounds:
            if bound.base is x and bound.home is not None and (grown_at_home(bound) or bound.left is not None):
                raise hidden(bound.home)


def hidden(home: Home) -> EffectError:
    return EffectError(f"a list that becomes longer in compiled code is used by another name than {home.name}", here(), f"use it as {home.name}")


def hide(bound: Bound) -> None:
    """Let nobody read a list while its home has another in its place: only another name would."""
    touch(Contents(bound.base), late=False)
    bound.base[:] = [Stale(Hidden(bound))] * max(len(bound.base), 1)


class Hidden:
    """What a list holds while its home has a `Growing` in its place: the error for a read of it, which only another name would do."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound

    def __call__(self, read: bool) -> EffectError:
        assert self.bound.home is not None
        return hidden(self.bound.home)


def marks() -> Marks:
    """What is known of all lengths now."""
    return {b: (b.top, b.exact) for b in stack.bounds}


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
        for x in (*state, *([bound.home.get()] if bound.home else ())):
            if isinstance(x, Growing) and x.kind.bound is bound and bound.peak > x.kind.capacity:
                raise Grow(x, None, bound.peak)


def enlarged(x: Growing, spec: Spec, capacity: int) -> Growing:
    """A `Growing` with more room, or for wider items."""
    wanted, have = types([spec]), types([x.kind.spec])
    if [t.shape for t in wanted] != [t.shape for t in have]:
        raise no_joint(x.kind.spec, spec, x.kind.bound.place)
    buffers = [jnp.zeros((capacity, *t.shape), t.dtype).at[: x.kind.capacity].set(b.astype(t.dtype)) for b, t in zip(x.buffers, wanted, strict=True)]
    return Growing(Kind(spec, capacity, x.kind.bound), x.count, buffers)


def grown(items: list[Any], grow: Grow, capacity: int) -> Growing:
    """What takes the place of a list, with room for so many items."""
    specs = [widen(spec_of(item)) for item in items] + ([] if grow.spec is None else [grow.spec])
    if not specs:
        raise IndexError("pop from empty list")
    spec = joint_of(specs, grow.place)
    bound = Bound(items, spec, grow.place, grow.home)
    stack.bounds.add(bound)
    buffers = []
    for k, t in enumerate(types([spec])):
        rows = [jnp.asarray(pack(item, spec)[k]) for item in items]
        if jnp.issubdtype(t.dtype, jax.dtypes.extended):
            raise EffectError("a list of PRNG keys grows in a compiled loop", here(), "collect `jax.random.key_data(key)`")
        empty = jnp.zeros((capacity, *t.shape), t.dtype)
        buffers.append(empty.at[: len(items)].set(jnp.stack(rows)) if items else empty)
    return Growing(Kind(spec, capacity, bound), len(items), buffers)


def joint_of(specs: Sequence[Spec], place: errors.Place | None = None) -> Spec:
    joint = specs[0]
    for spec in specs[1:]:
        try:
            if [t.shape for t in types([spec])] != [t.shape for t in types([joint])]:
                raise Mismatch("", joint, spec)
            joint = join(joint, spec)
        except Mismatch as m:
            raise no_joint(m.a, m.b, place) from None
    return joint


def no_joint(a: Spec, b: Spec, place: errors.Place | None) -> EffectError:
    return EffectError(
        f"{changed_object(place)} grows in compiled code, and its items differ: {describe(a)} and {describe(b)}", here(),
        "append items of one type and shape", [(place, "")],
    )  # fmt: skip
