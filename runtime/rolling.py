"""A loop over a static range as one compiled turn, wherever a turn can be compiled and Python's numbers in it stay what they are.

The first turn is made as it is written; the others are one compiled turn if they are many operations, if a trial turn with a traced index
works, and if what the turn computes from the index and other Python numbers alone is what Python computes (`blocks/exact.py`).
"""

from __future__ import annotations

import builtins
import threading
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from autograph.runtime import _jax
from autograph.runtime._jax import Literal
from autograph.runtime.blocks.exact import INT32, Inexact, Integer, Interval, Known, Number, Numbers, constant_step, within
from autograph.runtime.blocks.trial import compiled_or_unrolled
from autograph.runtime.decisions import decided, watching
from autograph.runtime.errors import LargeUnrollWarning
from autograph.runtime.frames import Place
from autograph.runtime.growing import Growing
from autograph.runtime.places import here, parameter_names
from autograph.runtime.room import with_room
from autograph.runtime.rows import Rows
from autograph.runtime.specs import Type, types
from autograph.runtime.stage import Stage
from autograph.runtime.values import NUMBERS, parts

LONG = 400  # equations, of all turns together, from which on a loop is rolled
_LOOKED_AT = 3
WARNED = 20_000


class _Trials(threading.local):
    depth = 0

    def __init__(self) -> None:
        self.indices: dict[int, tuple[Any, Interval]] = {}


_trials = _Trials()  # the indices of the loops that are compiled in the turn that is tried, by identity of their variables


@contextmanager
def _trying() -> Any:
    _trials.depth += 1
    try:
        yield
    finally:
        _trials.depth -= 1
        if not _trials.depth:
            _trials.indices.clear()


def rest_rolled(
    items: builtins.range, body: Callable[..., Any], state: list[Any], index_rows: Callable[[builtins.range], Rows],
    turn: Callable[[Any, list[Any]], list[Any]],
) -> list[Any]:  # fmt: skip
    """The state after a static loop: its first turn as it is written, the others as one compiled turn if they are many and it cannot be seen."""
    count, made, size = len(items), 0, 0
    while made < min(count, _LOOKED_AT) and size <= LONG:  # a turn may be shorter than the others, as at a border
        before = _jax.equations()
        state = turn(items[made], state)
        made += 1
        size = cost(count - made, before)
    rest = items[made:]
    place = Place(getattr(body, "__code__", None))

    def compiled() -> list[Any]:
        with _trying():
            return with_room(lambda s: _rolled(index_rows(rest), rest, body, s), state, place, count)  # type: ignore[no-any-return]

    def unrolled(why: str) -> list[Any]:
        now = state
        for item in rest:
            now = turn(item, now)
        if watching():
            decided("loop", f"unrolled, {count} turn{'s' * (count != 1)}", why)
        return now

    if size <= LONG:
        return unrolled("the range is known, and its turns are few operations")

    def told(why: str) -> list[Any]:
        tell_cost(count, size, why)
        return unrolled(f"one compiled turn is not possible: {why}")

    return compiled_or_unrolled(getattr(body, "__code__", None), compiled, told)  # type: ignore[no-any-return]


def cost(turns: int, before: int) -> int:
    """How many operations some turns of a loop are, going by what one has recorded since `before`."""
    return turns * sum(map(_size, _jax.recorded(before)))


def tell_cost(turns: int, size: int, why: str) -> None:
    """Warn of a loop that is compiled turn by turn, if its turns are many operations."""
    if size > WARNED and (place := here()) is not None:
        text = f"this loop of {turns} turns is compiled turn by turn, about {size} operations, because {why}"
        warnings.warn_explicit(text, LargeUnrollWarning, place.file, place.line)


def _size(eqn: Any) -> int:
    """How much an equation is to compile, beside one operation."""
    if eqn.primitive.name.startswith(("random_", "threefry")):
        return 100
    inner = [j for v in eqn.params.values() for j in (v if isinstance(v, (tuple, list)) else (v,)) if hasattr(j, "eqns")]
    return 1 + sum(_size(e) for j in inner for e in j.eqns)


def _rolled(rows: Rows, items: builtins.range, body: Callable[..., Any], state: list[Any]) -> list[Any]:
    index = min(items[0], items[-1]), max(items[0], items[-1])
    if (v := _jax.variable_of(rows.arrays[0])) is not None:
        _trials.indices[id(v)] = v, index
    stage = Stage(body, state, body, Place(getattr(body, "__code__", None)), items=[rows.spec], turns=rows.length, all_made=True)
    final = _checked(stage, index, items, state, parameter_names(body, len(state)))
    out = stage.run_scan(rows.arrays, rows.length, 1)
    return [final.get(k, x) for k, x in enumerate(out)]


def _checked(stage: Stage, bounds: Interval, items: builtins.range, state: list[Any], names: list[str]) -> dict[int, Any]:
    """Check the numbers of the compiled turn; the values after the loop of the variables that stay Python numbers."""
    block = stage.block
    known: Known = {}
    final: dict[int, Any] = {}
    flat, outs = iter(block.invars), iter(block.outvars)
    index = next(flat)
    known[index] = Integer(within(bounds, "the index"))
    kept: list[tuple[str, list[Any]]] = []
    lists: dict[Any, str] = {}
    for k, (x, spec) in enumerate(zip(state, stage.specs, strict=True)):
        mine = [(next(flat), next(outs)) for _ in types([spec])]
        if isinstance(spec, Type) and type(x) in NUMBERS:
            ((v, out),) = mine
            after = _after(x, v, out, index, items, block.eqns)
            if after is None:
                raise Inexact(f"the Python number `{names[k]}` changes in another way than by adding a constant integer")
            known[v], now = after
            if out is not v:
                final[k] = now
        elif not isinstance(x, Growing) and any(isinstance(leaf, NUMBERS) for leaf in parts(x)):
            raise Inexact(f"`{names[k]}` holds Python numbers")
        else:
            kept.append((names[k], [out for _, out in mine]))
            if isinstance(x, Growing):
                lists |= {v: names[k] for v, _ in mine}
    numbers = Numbers(_trials.indices)
    found = numbers.follow(block.eqns, known)
    for name, given in kept:
        if any(not isinstance(o, Literal) and o in found for o in given):
            raise Inexact(f"`{name}` becomes a Python number")
    _refuse_items(lists, block.eqns, found)
    return final


def _refuse_items(lists: dict[Any, str], eqns: Any, found: Known) -> None:
    """Refuse Python numbers that are appended to a list: its items are arrays in the compiled loop; `lists` are the variables of lists' buffers."""
    source: dict[Any, Any] = {}
    for e in eqns if lists else ():
        if e.primitive.name in ("broadcast_in_dim", "reshape", "convert_element_type"):
            source[e.outvars[0]] = e.invars[0]
        elif e.primitive.name == "dynamic_update_slice" and e.invars[0] in lists:
            lists[e.outvars[0]] = lists[e.invars[0]]
            item = e.invars[1]
            while not isinstance(item, Literal) and item in source and item not in found:
                item = source[item]
            if isinstance(item, Literal) or item in found:
                raise Inexact(f"`{lists[e.invars[0]]}` is given Python numbers")


def _after(x: Any, v: Any, out: Any, index: Any, items: builtins.range, eqns: Any) -> tuple[Number, Any] | None:
    """What a Python number is in the turns, and what it is after them."""
    if out is v:
        return Numbers.constant(x), x
    if out is index:
        return Integer((min(x, *(items[0], items[-1])), max(x, *(items[0], items[-1])))) if type(x) is int else Numbers.constant(x), items[-1]
    step = constant_step(eqns, v, out)
    if step is None or type(x) is not int:
        return None
    after = x + len(items) * step
    return Integer(within((min(x, after), max(x, after)), "a number that the loop counts")), after


def counted(stage: Stage, turns: int, state: list[Any]) -> dict[int, int]:
    """The Python integers that each turn of a compiled loop changes by a constant: what they are after it."""
    if stage.guarded:  # turns after an error change nothing
        return {}
    block = stage.block
    mine, outs = iter(block.invars[len(types(stage.items)) :]), iter(block.outvars)
    final: dict[int, int] = {}
    for k, (x, spec) in enumerate(zip(state, stage.specs, strict=True)):
        pairs = [(next(mine), next(outs)) for _ in types([spec])]
        if type(x) is int and isinstance(spec, Type) and (step := constant_step(block.eqns, *pairs[0])) is not None:
            after = x + turns * step
            if INT32.min <= min(x, after) and max(x, after) <= INT32.max:
                final[k] = after
    return final
