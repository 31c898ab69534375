"""Lists of data-dependent length: a buffer for each array of an item, and how many items there are.

    out = []                                   buffers: one array (capacity, *shape of the item) for each leaf of an item
    while n > 1: out.append(n); n //= 2   =>   length: int32[], length <= capacity

A list stays Python's until a staged block changes its length.  Then a loop or branch begins again with a `BoundedList` in its place, whose capacity
comes from a bound on the trip count (`list_capacity.py`: `retry_with_capacity`).  Rows from `length` on are zeros, and nothing reads them.  Where
the number of items is known after all (each of n iterations appends one) it is a list again.

Always: `length` never exceeds `capacity`; a loop of more iterations than its bound says is an error of the program (AG503).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.effects.error_codes import fail
from autograph.runtime.errors import errors
from autograph.runtime.errors.advice import changed_object
from autograph.runtime.errors.errors import EffectError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.sequences import derived_lists as derived
from autograph.runtime.sequences.rows import weak_integers
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.copies import note_copies
from autograph.runtime.state.length_bounds import ItemKind, LengthBound, ListOwner, Marks, stack
from autograph.runtime.state.state_refs import ContentsRef
from autograph.runtime.state.type_text import describe, instead, pair
from autograph.runtime.tracing.trace_context import Retrace, frames, in_block
from autograph.runtime.values.abstract_values import AbstractValue, generalize, is_leaf, spec_of, types
from autograph.runtime.values.flatten import flatten, unflatten
from autograph.runtime.values.joins import Mismatch, covers, join
from autograph.runtime.values.printed import plain_number
from autograph.runtime.values.value_objects import closed, opened
from autograph.runtime.values.values import DynamicLength, Poison

_ADVICE = (
    "give the loop a bound (`while len(items) < 100 and ...:`, or `with ag.loop(max_steps=100):`), make its trip count static (`static_argnames`), "
    "or use a `jnp` array and a counter"
)


class Grow(Retrace):
    """Not an error: a list, or a `BoundedList`, needs room for more items or wider ones."""

    def __init__(
        self, items: Any, spec: AbstractValue | None, capacity: int = 0, home: ListOwner | None = None, place: errors.SourceSpan | None = None
    ) -> None:
        self.items, self.spec, self.capacity, self.place = items, spec, capacity, place or here()
        self.home = items.kind.bound.home if isinstance(items, BoundedList) else home

    @property
    def key(self) -> int:
        return key_of(self.items)


class BoundedList(DynamicLength):
    """A list of items of one spec: `buffers` have room for `kind.capacity` of them, of which there are `length`."""

    def __init__(self, kind: ItemKind, length: Any, buffers: Iterable[Any]) -> None:
        self.kind, self.length, self.buffers = kind, length, list(buffers)

    def row(self, i: Any) -> Any:
        """The item at a place that is inside."""
        wanted = types([self.kind.spec])
        rows = [lax.dynamic_index_in_dim(b, jnp.asarray(i), keepdims=False) for b in self.buffers]
        flat = iter([_jax.convert_type(r, t.dtype, True) if t.weak else r for r, t in zip(rows, wanted, strict=True)])
        return closed(unflatten(self.kind.spec, flat))

    def with_row(self, i: Any, value: Any, length: Any) -> BoundedList:
        value = opened(value)
        spec = generalize(spec_of(value))
        if [t.shape for t in types([spec])] != [t.shape for t in types([self.kind.spec])]:
            raise no_joint(self.kind.spec, spec, self.kind.bound.place)
        if not covers(self.kind.spec, spec):
            if self.is_held():
                raise Grow(self, spec)
            return enlarged(self, joint_of([self.kind.spec, spec]), self.kind.capacity).with_row(i, value, length)
        flat = flatten(value, self.kind.spec)
        new = [lax.dynamic_update_index_in_dim(b, jnp.asarray(x, b.dtype), jnp.asarray(i), 0) for b, x in zip(self.buffers, flat, strict=True)]
        return BoundedList(self.kind, length, new)

    def appended(self, value: Any) -> BoundedList:
        """The list with one more item."""
        bound = self.kind.bound
        bound.change(1)
        if bound.top <= self.kind.capacity:
            return self.with_row(self.length, value, self.length + 1)
        if self.is_held():
            raise Grow(self, None, bound.top)
        return enlarged(self, self.kind.spec, bound.top).with_row(self.length, value, self.length + 1)

    def derived(self, length: Any, buffers: Iterable[Any], most: int, by: int | None = None) -> BoundedList:
        """A new list of such items, of which there are `most` at most, and so many more than here, if that is known."""
        bound = LengthBound([], self.kind.spec, here())
        if by is not None:
            bound.of, bound.by = (self.kind.bound.of, self.kind.bound.by + by) if self.kind.bound.of is not None else (self.kind.bound, by)
        stack.bounds.add(bound)
        bound.top = bound.peak = most
        bound.exact = None
        held = list(buffers)
        return BoundedList(ItemKind(self.kind.spec, len(held[0]) if held else most, bound), length, held)

    def copy(self) -> BoundedList:
        return self.derived(self.length, self.buffers, self.most(), 0)

    def is_held(self) -> bool:
        """Whether a loop or branch that runs has it among its variables."""
        return any(id(self.kind.bound) in h.keys for h in stack.holders)

    def __iadd__(self, values: Any) -> BoundedList:  # type: ignore[misc]
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

    def can_change(self) -> bool:
        return True

    def most(self) -> int:
        bound = self.kind.bound
        if bound is None or any(h.loop and id(bound) in h.keys for h in stack.holders):
            return int(self.kind.capacity)  # `top` is of the first iteration, and later ones may begin with more
        return int(min(bound.top, self.kind.capacity))

    def refusal(self, why: str, advice: str = "") -> EffectError:
        name = "" if self.kind.bound is None else changed_object(self.kind.bound.place)
        return EffectError(
            f"it is data-dependent how long {name if name.startswith('`') else 'this list'} is, and {why}", here(),
            advice or "take it item by item (`for x in items`, `items[k]`, `sum`), return it from the function, or use `ag.padded(items, size)`",
        )  # fmt: skip

    def inside(self, i: Any, text: str = "list index out of range") -> Any:
        """An index counted from the start; IndexError where there is no item."""
        if isinstance(i, slice):
            raise self.refusal("a slice of it is stored into", "make a new list (`items = items[:k] + new + items[n:]`), or store item by item")
        i = jnp.asarray(i)
        if i.shape != () or i.dtype.kind not in "iu":
            raise TypeError(f"list indices must be integers or slices, not {type(i).__name__}")
        fail((i < -self.length) | (i >= self.length), IndexError, text)
        return jnp.clip(jnp.where(i < 0, i + self.length, i), 0, self.kind.capacity - 1)

    def where(self, value: Any) -> Any:
        """Which rows of the buffers are items that are equal to a number, or a tuple of numbers."""
        sought = generalize(spec_of(value))
        have, wanted = types([self.kind.spec]), types([sought])
        if any(t.shape for t in (*have, *wanted)) or len(have) != len(wanted):
            raise self.refusal("something is looked for in it that is no number", "compare item by item (`for x in items`)")
        equal = [b == v for b, v in zip(self.buffers, flatten(value, sought), strict=True)]
        return functools.reduce(jnp.logical_and, equal, jnp.arange(self.kind.capacity) < self.length)

    def count(self, value: Any) -> Any:
        return weak_integers(jnp.sum(self.where(value)))

    def index(self, value: Any, start: Any = 0, stop: Any = None) -> Any:
        places = jnp.arange(self.kind.capacity)
        first, behind = (v if v is None else jnp.where(jnp.asarray(v) < 0, v + self.length, v) for v in (start, stop))
        found = self.where(value) & (places >= first)
        found = found if behind is None else found & (places < behind)
        fail(~found.any(), ValueError, "list.index(x): x not in list")
        return weak_integers(jnp.argmax(found))

    def item(self, i: Any) -> Any:
        """The item at a place that is inside, as code of the user's gets it: a copy, and known to be one."""
        row = self.row(i)
        why = "it is an item of a list of data-dependent length, and that is a copy"
        note_copies(row, why, "store through the list: `items[i][j] = v`", self.base)
        return row

    def __getitem__(self, i: Any) -> Any:
        return derived.sliced(self, i) if isinstance(i, slice) else self.item(self.inside(i))

    def __iter__(self) -> Iterator[Any]:
        if _jax.concrete(self.length):
            return iter(self.known())
        raise self.refusal(
            "its items are needed one after the other",
            "use a `for` statement, or `sum`, `max`, `any` of them; return it from the function, and make a text there; or `ag.padded(items, size)`",
        )

    def __len__(self) -> int:
        if _jax.concrete(self.length):
            return int(self.length)
        raise self.refusal("its length is needed as a number")

    def __bool__(self) -> bool:
        return len(self) > 0

    def __eq__(self, other: object) -> bool:
        if is_leaf(self.length):  # a spec
            return isinstance(other, BoundedList) and self.kind == other.kind and self.length == other.length and self.buffers == other.buffers
        return derived.equal(self, other)  # type: ignore[no-any-return]

    def __ne__(self, other: object) -> bool:
        found = self == other
        return not found if isinstance(found, bool) else jnp.logical_not(found)  # type: ignore[return-value]

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> BoundedList:
        return derived.joined([self, other]) if isinstance(other, (list, BoundedList)) else NotImplemented  # type: ignore[no-any-return]

    def __radd__(self, other: Any) -> BoundedList:
        return derived.joined([other, self]) if isinstance(other, list) else NotImplemented  # type: ignore[no-any-return]

    def _in_operator(self, other: Any) -> Any:
        raise self.refusal("an operator takes it")

    __mul__ = __rmul__ = __imul__ = __lt__ = __le__ = __gt__ = __ge__ = _in_operator

    def __jax_array__(self) -> Any:
        raise self.refusal("it is made an array")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("kind", "length", "buffers"):
            raise AttributeError(name)
        if name in CHANGES and len(frames()) <= 1 and self.kind.bound is not None and self.kind.bound.home is None:
            return functools.partial(_changed_in_place, self, name)
        advice = (
            "write `v = items.pop()` as a statement of its own, in the function that makes the list, or begin with `items = list(items)`"
            if name == "pop"
            else ""
        )
        raise self.refusal("it is made an array" if name == "aval" else f"its `{name}` is used", advice)

    def __delitem__(self, i: Any) -> None:
        raise self.refusal(
            "an item of it is deleted", "delete it in the function that makes the list, or through what holds it (`del self.items[i]`)"
        )

    def __repr__(self) -> str:
        if not hasattr(type(self.length), "__int__") or is_leaf(self.length) or isinstance(self.length, _jax.Tracer):  # a spec, or traced
            return "a list of data-dependent length"
        rows = [[plain_number(np.asarray(b)[k]) for b in self.buffers] for k in range(int(self.length))]
        return repr([unflatten(self.kind.spec, iter(row)) for row in rows])

    def known(self) -> list[Any]:
        """The list, where the length is known."""
        return [self.row(k) for k in range(int(self.length))]


jax.tree_util.register_pytree_node(
    BoundedList, lambda g: ((g.length, *g.buffers), g.kind), lambda kind, children: BoundedList(kind, children[0], children[1:])
)


def of_rows(rows: Any, length: Any) -> BoundedList:
    """A new list of the first rows of an array."""
    bound = LengthBound([], spec := spec_of(rows[0]), here())
    stack.bounds.add(bound)
    bound.top, bound.exact = len(rows), None
    bound.peak = bound.top
    return BoundedList(ItemKind(spec, len(rows), bound), length, [rows])


def in_place_of(x: BoundedList, items: BoundedList) -> BoundedList:
    """The items of another such list, as what a variable of a loop or branch holds that held `x`."""
    spec, bound, made = joint_of([x.kind.spec, items.kind.spec]), x.kind.bound, items.kind.bound
    top = max(bound.top + made.by, 0) if made.of is bound else items.most()
    if top > x.kind.capacity or spec != x.kind.spec:
        if x.is_held():
            raise Grow(x, spec, top)
        x = enlarged(x, spec, max(top, x.kind.capacity))
    size = x.kind.capacity
    bound.top, bound.exact, bound.shrunk = top, None, True
    bound.peak = max(bound.peak, top)
    wide = [b[:size] if len(b) >= size else jnp.pad(b, [(0, size - len(b)), *[(0, 0)] * (b.ndim - 1)]) for b in items.buffers]
    return BoundedList(x.kind, jnp.asarray(items.length), [w.astype(b.dtype) for w, b in zip(wide, x.buffers, strict=True)])


CHANGES: dict[str, Any] = {}  # methods that change a list: each gives its result, and the list as it is then


def _changed_in_place(x: BoundedList, name: str, *args: Any, **kwargs: Any) -> Any:
    """A method of a list that no loop or branch carries: whoever has it sees the change.

    Sound where no block is being traced: of one that is thrown away, the list would keep what was done in it.
    """
    result, new = CHANGES[name](x, *args, **kwargs)
    x.kind, x.length, x.buffers = new.kind, new.length, new.buffers
    return result


def key_of(x: Any) -> int:
    return id(x.kind.bound) if isinstance(x, BoundedList) else id(x)


def grown_at_home(bound: LengthBound) -> bool:
    """Whether the home of a list holds a `BoundedList` now."""
    return bound.home is not None and isinstance(x := bound.home.get(), BoundedList) and x.kind.bound is bound


def replaced_at_home(old: Any, new: Any) -> None:
    """The home of a list is given something else: what the list has become stays the list's own."""
    if isinstance(old, BoundedList) and old.kind.bound is not None and old.kind.bound.home is not None and not in_block():
        if not (isinstance(new, BoundedList) and new.kind.bound is old.kind.bound) and new is not old.kind.bound.base:
            old.kind.bound.left = old


def refuse_hidden(x: Any) -> None:
    """Raise EffectError (AG405) if a list is used while its home has a `BoundedList` in its place."""
    if type(x) is list:
        for bound in stack.bounds:
            if bound.base is x and bound.home is not None and (grown_at_home(bound) or bound.left is not None):
                raise hidden(bound.home)


def hidden(home: ListOwner) -> EffectError:
    return EffectError(f"a list that becomes longer in compiled code is used by another name than {home.name}", here(), f"use it as {home.name}")


def hide(bound: LengthBound) -> None:
    """Let nobody read a list while its home has another in its place: only another name would."""
    record_write(ContentsRef(bound.base), late=False)
    bound.base[:] = [Poison(Hidden(bound))] * max(len(bound.base), 1)


class Hidden:
    """What a list holds while its home has a `BoundedList` in its place: the error for a read of it, which only another name would do."""

    def __init__(self, bound: LengthBound) -> None:
        self.bound = bound

    def __call__(self, read: bool) -> EffectError:
        assert self.bound.home is not None
        return hidden(self.bound.home)


def repeated(before: Marks, state: Sequence[Any], iterations: int | None, lengths: Mapping[LengthBound, int], all_made: bool) -> None:
    """After one iteration of a loop has been traced, what is known after at most `turns` of them; an iteration begins with at most `lengths` items.

    Raises Grow where there is no room for so many, and EffectError (AG405) where nothing limits a list.
    """
    for bound, (top, exact, _) in before.items():
        more = bound.top - top
        if more > 0 and iterations is None and bound not in lengths:
            raise endless(bound)
        if more == 0 and bound.exact == exact:
            continue
        last = top if iterations is None else top + max(more, 0) * max(iterations - 1, 0)  # when the last iteration begins
        if more > 0 and bound in lengths:
            limit = max(top, lengths[bound])
            last = limit if iterations is None else min(last, limit)
        bound.peak += last - top
        bound.top = last + (max(more, 0) if iterations != 0 else 0)
        known = all_made and iterations is not None and exact is not None and bound.exact is not None
        bound.exact = exact + (bound.exact - exact) * iterations if known else None  # type: ignore[operator]
        for x in (*state, *([bound.home.get()] if bound.home else ())):
            if isinstance(x, BoundedList) and x.kind.bound is bound and bound.peak > x.kind.capacity:
                raise Grow(x, None, bound.peak)


def endless(bound: LengthBound) -> EffectError:
    return EffectError(
        f"{changed_object(bound.place)} grows in a compiled loop whose trip count is data-dependent", here(), _ADVICE,
        [(bound.place, "")],
    )  # fmt: skip


def enlarged(x: BoundedList, spec: AbstractValue, capacity: int) -> BoundedList:
    """A `BoundedList` with more room, or for wider items."""
    _check_room(capacity, x.kind.bound.place)
    wanted, have = types([spec]), types([x.kind.spec])
    if [t.shape for t in wanted] != [t.shape for t in have]:
        raise no_joint(x.kind.spec, spec, x.kind.bound.place)
    buffers = [jnp.zeros((capacity, *t.shape), t.dtype).at[: x.kind.capacity].set(b.astype(t.dtype)) for b, t in zip(x.buffers, wanted, strict=True)]
    return BoundedList(ItemKind(spec, capacity, x.kind.bound), x.length, buffers)


def grown(held: list[Any], grow: Grow, capacity: int) -> BoundedList:
    """What takes the place of a list, with room for so many items."""
    _check_room(capacity, grow.place)
    items = [*map(opened, held)]
    specs = [generalize(spec_of(item)) for item in items] + ([] if grow.spec is None else [grow.spec])
    if not specs:
        raise IndexError("pop from empty list")
    spec = joint_of(specs, grow.place)
    bound = LengthBound(held, spec, grow.place, grow.home)
    stack.bounds.add(bound)
    buffers = []
    for k, t in enumerate(types([spec])):
        rows = [jnp.asarray(flatten(item, spec)[k]) for item in items]
        if jnp.issubdtype(t.dtype, jax.dtypes.extended):
            raise EffectError("a list of PRNG keys grows in a compiled loop", here(), "collect `jax.random.key_data(key)`")
        empty = jnp.zeros((capacity, *t.shape), t.dtype)
        buffers.append(empty.at[: len(items)].set(jnp.stack(rows)) if items else empty)
    return BoundedList(ItemKind(spec, capacity, bound), len(items), buffers)


def _check_room(capacity: int, place: errors.SourceSpan | None) -> None:
    """A list whose loops go over lists that grow themselves may need room for more than any device has.

    Raises:
      EffectError: (AG405)
    """
    if capacity > _MOST_ROOM:
        raise EffectError(
            f"a list might become {capacity:,} items long, by the bounds of the loops around it", place,
            "bound each loop (`with ag.loop(max_steps=n):`), or keep one list: take items with `pop(0)`, add them with `append`",
        )  # fmt: skip


_MOST_ROOM = 2**28


def joint_of(specs: Sequence[AbstractValue], place: errors.SourceSpan | None = None) -> AbstractValue:
    try:
        return join_items(specs)
    except Mismatch as m:
        raise no_joint(m.a, m.b, place) from None


def join_items(specs: Sequence[AbstractValue]) -> AbstractValue:
    """The spec that covers items of one shape.  Raises Mismatch where none does."""
    joint = specs[0]
    for spec in specs[1:]:
        if [t.shape for t in types([spec])] != [t.shape for t in types([joint])]:
            raise Mismatch("", joint, spec)
        joint = join(joint, spec)
    return joint


def no_joint(a: AbstractValue, b: AbstractValue, place: errors.SourceSpan | None) -> EffectError:
    one, other = pair(describe(a), describe(b))
    return EffectError(
        f"{changed_object(place)} grows in compiled code, and its items differ: {one} and {other}", here(),
        instead(a, b, "append items of one type and shape"), [(place, "")] if place != here() else [],
    )  # fmt: skip
