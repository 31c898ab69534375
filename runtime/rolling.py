"""A long loop over a static range as one compiled turn, where that provably cannot be seen.

Python's numbers are exact, and in a compiled turn the index is an int32: so what a turn computes from the index and other Python numbers alone
must stay integers within int32, by `+ - * // %`, or become an operand beside an array; and a Python number may change from turn to turn
only by adding a constant.  Calls must be free of host effects.  The first turn is always made as it is written.
"""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograph.runtime import _jax
from autograph.runtime._jax import Literal
from autograph.runtime.calls import probing
from autograph.runtime.decisions import decided, watching
from autograph.runtime.errors import AutographError, LargeUnrollWarning
from autograph.runtime.frames import Place, attempt
from autograph.runtime.growing import Grow
from autograph.runtime.lengths import marks, reset
from autograph.runtime.places import here, parameter_names
from autograph.runtime.purity import impure_global
from autograph.runtime.rows import Rows
from autograph.runtime.specs import Type, spec_of, types, widen
from autograph.runtime.stage import Stage
from autograph.runtime.values import NUMBERS, parts

LONG = 2_000  # equations, of all turns together, from which on a loop is rolled
WARNED = 20_000
INT32 = np.iinfo(np.int32)

Interval = tuple[int, int]


class Seen(Exception):
    """Rolling the loop could be seen: the reason."""


def rest_rolled(
    items: builtins.range, body: Callable[..., Any], state: list[Any], index_rows: Callable[[builtins.range], Rows],
    turn: Callable[[Any, list[Any]], list[Any]],
) -> list[Any]:  # fmt: skip
    """The state after a static loop: its first turn as it is written, the others as one compiled turn if they are many and it cannot be seen."""
    count = len(items)
    before = _jax.equations()
    rest = iter(items)
    for item in rest:
        state = turn(item, state)
        break
    size = cost(count, before)
    why = "the range is known, and its turns are few operations"
    if size > LONG:
        remaining = items[1:]
        try:
            return _rolled(index_rows(remaining), remaining, body, state)
        except Seen as reason:
            why = f"the range is known, and one compiled turn would be seen: {reason}"
            tell_cost(count, size, str(reason))
    for item in rest:
        state = turn(item, state)
    if watching():
        decided("loop", f"unrolled, {count} turn{'s' * (count != 1)}", why)
    return state


def cost(turns: int, before: int) -> int:
    """How many operations the other turns of a loop are, going by what its first turn has recorded since `before`."""
    return (turns - 1) * sum(map(_size, _jax.recorded(before)))


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
    if (name := impure_global(body)) is not None:
        raise Seen(f"`{name}` may have effects or give another value each time")
    known = marks()
    try:
        with attempt(), probing(_refuse_effects):
            stage = Stage(body, state, body, Place(getattr(body, "__code__", None)), items=[rows.spec], turns=rows.length, all_made=True)
    except Seen:
        reset(known)
        raise
    except Grow:
        reset(known)
        raise Seen("a list becomes longer or shorter") from None
    except Exception as error:  # whatever a turn raises with a traced index: it needs the number
        reset(known)
        text = error.message if isinstance(error, AutographError) else str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Seen(f"a turn needs the index as a number ({text})") from None
    names = parameter_names(body, len(state))
    try:
        if stage.specs != [widen(spec_of(x)) for x in state]:
            raise Seen("a loop variable changes its type")
        final = _checked(stage, rows, items, state, names)
    except Seen:
        reset(known)
        raise
    out = stage.run_scan(rows.arrays, rows.length, 1)
    return [final.get(k, x) for k, x in enumerate(out)]


def _refuse_effects(f: Any) -> None:
    if (name := impure_global(f)) is not None:
        raise Seen(f"`{name}` may have effects or give another value each time")


def _checked(stage: Stage, rows: Rows, items: builtins.range, state: list[Any], names: list[str]) -> dict[int, Any]:
    """Check the numbers of the compiled turn; the values after the loop of the variables that stay Python numbers."""
    block = stage.block
    turns = rows.length
    numbers: dict[Any, Interval | None] = {}
    flat = iter(block.invars)
    index = next(flat)
    numbers[index] = min(items[0], items[-1]), max(items[0], items[-1])
    final: dict[int, Any] = {}
    outs = iter(block.outvars)
    for k, (x, spec) in enumerate(zip(state, stage.specs, strict=True)):
        mine = [(next(flat), next(outs)) for _ in types([spec])]
        if isinstance(spec, Type) and type(x) in NUMBERS:
            (v, out) = mine[0]
            if out is v:
                numbers[v] = (int(x), int(x)) if isinstance(x, int) else None
            elif out is index:
                numbers[v], final[k] = numbers[index], items[-1]
            else:
                step = _constant_step(block.eqns, v, out)
                if step is None or type(x) is not int:
                    raise Seen(f"the Python number `{names[k]}` changes in another way than by adding a constant integer")
                final[k] = x + turns * step
                numbers[v] = min(x, final[k]), max(x, final[k])
                _within(numbers[v], names[k])
        elif any(isinstance(leaf, NUMBERS) for leaf in parts(x)):
            raise Seen(f"`{names[k]}` holds Python numbers")
        elif any(out is index for _, out in mine):
            raise Seen(f"`{names[k]}` becomes a Python number")
    tainted = _numbers_in(block.eqns, numbers)
    outs = iter(block.outvars)
    for k, spec in enumerate(stage.specs):
        given = [next(outs) for _ in types([spec])]
        if k not in final and type(state[k]) not in NUMBERS and any(not isinstance(o, Literal) and o in tainted for o in given):
            raise Seen(f"`{names[k]}` becomes a Python number")
    return final


def counted(stage: Stage, turns: int, state: list[Any]) -> dict[int, int]:
    """The Python integers that each turn of a compiled loop changes by a constant: what they are after it."""
    if stage.guarded:  # turns after an error change nothing
        return {}
    block = stage.block
    mine, outs = iter(block.invars[len(types(stage.items)) :]), iter(block.outvars)
    final: dict[int, int] = {}
    for k, (x, spec) in enumerate(zip(state, stage.specs, strict=True)):
        pairs = [(next(mine), next(outs)) for _ in types([spec])]
        if type(x) is int and isinstance(spec, Type) and (step := _constant_step(block.eqns, *pairs[0])) is not None:
            after = x + turns * step
            if INT32.min <= min(x, after) and max(x, after) <= INT32.max:
                final[k] = after
    return final


def _constant_step(eqns: Sequence[Any], v: Any, out: Any) -> int | None:
    for e in eqns:
        if out in e.outvars and e.primitive.name in ("add", "sub") and e.invars[0] is v and isinstance(e.invars[1], Literal):
            step = int(e.invars[1].val) if np.issubdtype(e.invars[1].aval.dtype, np.integer) else None
            return step if step is None or e.primitive.name == "add" else -step
    return None


def _within(interval: Interval | None, what: str) -> Interval:
    if interval is None or interval[0] < INT32.min or interval[1] > INT32.max:
        raise Seen(f"{what} may not fit int32")
    return interval


_EXACT = {"add", "sub", "mul", "neg", "max", "min", "abs", "sign", "copy"}
_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
_POWERS = {"pow", "integer_pow", "shift_left", "shift_right_logical", "shift_right_arithmetic", "exp2"}
_DIVISIONS = {"floor_divide", "remainder", "_remainder", "mod"}


def _numbers_in(eqns: Sequence[Any], numbers: dict[Any, Interval | None]) -> dict[Any, Interval | None]:
    """Follow Python numbers through the equations of a turn.  `numbers` maps variables that stand for them to their bounds (None: not an integer).

    Raises Seen where the compiled value could differ from Python's.
    """
    known = dict(numbers)
    widened: dict[Any, Interval | None] = {}  # numbers on their way to meet an array
    decided: set[Any] = set()  # truth values that Python would know: what they choose may be a Python number
    for e in eqns:
        name = e.primitive.name
        operands = [v for v in e.invars if not isinstance(v, Literal)]
        mine = [v for v in operands if v in known or v in widened]
        if any(v in decided for v in operands):
            _decides(e, name, operands, known, decided)
        if not mine:
            continue
        alone = len(mine) == len(operands)
        if name in _POWERS:
            raise Seen(f"a Python number is used in `{name}`")
        if name == "convert_element_type" and mine[0] in known:
            integer = np.issubdtype(e.outvars[0].aval.dtype, np.integer)
            (known if integer else widened)[e.outvars[0]] = _within(known[mine[0]], "the index") if integer else known[mine[0]]
        elif name == "broadcast_in_dim":
            widened[e.outvars[0]] = (known | widened)[mine[0]]
        elif name == "select_n" and e.invars[0] not in known and all(isinstance(v, Literal) or v in known for v in e.invars[1:]):
            known[e.outvars[0]] = _union([_bounds(v, known) for v in e.invars[1:]])
        elif not alone:
            _meets(e, name, known, widened)
        elif name in _COMPARISONS and all(v in known for v in mine):
            decided.add(e.outvars[0])
        elif name in _EXACT and all(v in known for v in mine):
            known[e.outvars[0]] = _within(_apply(name, [_bounds(v, known) for v in e.invars]), "what is computed from the index")
        elif name in ("jit", "pjit") and e.params["name"] in _DIVISIONS and all(v in known for v in mine):
            known[e.outvars[0]] = _divided(e.params["name"], [_bounds(v, known) for v in e.invars])
        else:
            raise Seen(f"a Python number is used in `{e.params.get('name', name) if name in ('jit', 'pjit') else name}`")
    return known | dict.fromkeys(decided)


def _decides(e: Any, name: str, operands: list[Any], known: dict[Any, Interval | None], decided: set[Any]) -> None:
    """An equation with truth values that Python would know: a constant that they choose would be a Python number."""
    if all(v in decided for v in operands) and name in ("and", "or", "not", "xor", "convert_element_type"):
        decided.add(e.outvars[0])
    elif name == "cond" and e.invars[0] in decided and not any(v in decided for v in operands[1:]):
        for k, out in enumerate(e.outvars):
            if any(isinstance(b.jaxpr.outvars[k], Literal) for b in e.params["branches"]):
                known[out] = None
    elif name == "select_n" and e.invars[0] in decided and not any(v in decided for v in operands[1:]):
        if any(isinstance(v, Literal) for v in e.invars[1:]):
            known[e.outvars[0]] = _union([_bounds(v, known) if isinstance(v, Literal) or v in known else None for v in e.invars[1:]])
    elif name not in ("and", "or", "select_n") or all(v in decided or v in known for v in operands):
        raise Seen(f"a truth value of the index is used in `{name}`")
    else:
        known[e.outvars[0]] = None


def _meets(e: Any, name: str, known: dict[Any, Interval | None], widened: dict[Any, Interval | None]) -> None:
    """An equation of numbers and arrays: its results are arrays, unless it hands numbers on to an inner program."""
    inner = [(k, j) for k, j in _programs(e)]
    if not inner:
        return
    if name in ("while", "scan"):
        raise Seen("an inner loop uses a Python number")
    for start, jaxpr in inner:
        pairs = [(u, v) for u, v in zip(e.invars[start:], jaxpr.invars, strict=False) if not isinstance(u, Literal)]
        given = {v: known.get(u, widened.get(u)) for u, v in pairs if u in known or u in widened}
        after = _numbers_in(jaxpr.eqns, given)
        if any(not isinstance(o, Literal) and o in after for o in jaxpr.outvars):
            raise Seen("a Python number is chosen by a branch")


def _programs(e: Any) -> Iterator[tuple[int, Any]]:
    """The programs inside an equation, and at which operand their inputs start."""
    if "branches" in e.params:
        for branch in e.params["branches"]:
            yield 1, branch.jaxpr
        return
    for value in e.params.values():
        if hasattr(value, "jaxpr"):
            yield 0, value.jaxpr
        elif hasattr(value, "eqns"):
            yield 0, value


def _bounds(v: Any, known: dict[Any, Interval | None]) -> Interval | None:
    if not isinstance(v, Literal):
        return known[v]
    return (int(v.val), int(v.val)) if np.issubdtype(v.aval.dtype, np.integer) or v.aval.dtype == bool else None


def _apply(name: str, bounds: list[Interval | None]) -> Interval | None:
    if any(b is None for b in bounds):
        return None
    given: list[Interval] = [b for b in bounds if b is not None]
    match name:
        case "copy":
            return given[0]
        case "neg":
            return -given[0][1], -given[0][0]
        case "abs":
            return 0, max(map(abs, given[0]))
        case "sign":
            return -1, 1
    (a, b), (c, d) = given
    match name:
        case "add":
            return a + c, b + d
        case "sub":
            return a - d, b - c
        case "max":
            return max(a, c), max(b, d)
        case "min":
            return min(a, c), min(b, d)
    products = [a * c, a * d, b * c, b * d]
    return min(products), max(products)


def _union(bounds: list[Interval | None]) -> Interval | None:
    found = [b for b in bounds if b is not None]
    return (min(a for a, _ in found), max(b for _, b in found)) if len(found) == len(bounds) else None


def _divided(name: str, bounds: list[Interval | None]) -> Interval:
    a, b = bounds
    if a is None or b is None or b[0] <= 0 <= b[1]:
        raise Seen("a Python number is divided by what may be zero")
    if name == "floor_divide":
        ends = [math.floor(x / y) for x in a for y in b]
        return min(ends) - 1, max(ends) + 1
    return (0, b[1] - 1) if b[0] > 0 else (b[0] + 1, 0)
