"""Arrays that several variables hold: they stay one array through branches and loops, or it is known that only traced values decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import jax
import numpy as np

from autograph.runtime import _jax
from autograph.runtime._jax import Tracer, Var
from autograph.runtime.errors import AliasError
from autograph.runtime.frames import frames, lifting
from autograph.runtime.places import here
from autograph.runtime.specs import Type, array_spec, is_container
from autograph.runtime.values import is_value


def origin(x: Any) -> Any:
    """The array of the outermost trace that an array of a block stands for; itself, if it stands for none."""
    for frame in reversed(frames()):
        while (found := frame.stands.get(id(x)) or frame.guarded.get(id(x))) is not None:
            x = found[1]
    return x


def _stood_for(x: Any) -> Any:
    """The same, but what an error guards is not what it would be without one."""
    for frame in reversed(frames()):
        while (found := frame.stands.get(id(x))) is not None:
            x = found[1]
    return x


def guard(x: Any, guarded: Any, code: Any, before: Any) -> None:
    """A place holds `guarded` for an array, which is what it held `before` if an error has occurred: it counts as the same array."""
    if _is_array(x) and origin(x) is not origin(guarded) and (around := lifting()):
        frame = around[-1]
        frame.guarded[id(guarded)] = guarded, x, code, before
        frame.guards.setdefault(id(x), (x, guarded))


def guarded_as(x: Any, code: Any, before: Any) -> Any:
    """What a place that holds `before` is given for an array, if that is known already: itself, if this error code guards it; or None."""
    for frame in reversed(frames()):
        for out in (x, frame.guards.get(id(x), (x, x))[1]):
            found = frame.guarded.get(id(out))
            if found is not None and (out is before or (found[2] is code and _stood_for(found[3]) is _stood_for(before))):  # an error stays
                return out
    return None


def unguarded(x: Any) -> Any:
    """The array that a place would hold if no error could have occurred."""
    for frame in reversed(frames()):
        while (found := frame.guarded.get(id(x))) is not None:
            x = found[1]
    return x


def with_guards(out: Any, guards: dict[int, tuple[Any, Any]]) -> Any:
    """A result in which arrays are what places hold for them: they stay one array behind the block."""
    if not guards:
        return out
    leaves, tree = jax.tree.flatten(out, is_leaf=lambda x: is_value(x) or is_container(x))  # a list or dict is such a place itself
    new = [guards[id(x)][1] if id(x) in guards else x for x in leaves]
    return out if all(a is b for a, b in zip(leaves, new, strict=True)) else tree.unflatten(new)


def doubtful(a: Any, b: Any) -> bool:
    """Whether only traced values decide if two arrays are one."""
    found = [f.doubtful for f in frames() if f.doubtful]
    pairs = [(x, y) for x in _chain(a) for y in _chain(b)] if found else []
    return any((x, y) in known or (y, x) in known for known in found for x, y in pairs)


def _chain(x: Any) -> list[int]:
    """The identities of an array and of those around that it stands for."""
    ids = [id(x)]
    for frame in reversed(frames()):
        while (found := frame.stands.get(id(x))) is not None:
            x = found[1]
            ids.append(id(x))
    return ids


def doubt(a: Any, b: Any) -> None:
    """Only traced values decide whether two arrays are one."""
    if not (_is_array(a) and _is_array(b)):
        return
    if around := lifting():
        around[-1].doubtful[id(a), id(b)] = a, b


def no_doubt(x: Any) -> None:
    """An array that was chosen among others is only read: it is none of them."""
    for frame in frames():
        for pair in [pair for pair in frame.doubtful if id(x) in pair]:
            del frame.doubtful[pair]


def _is_array(x: Any) -> bool:
    return isinstance(x, (jax.Array, np.ndarray)) and x.ndim > 0


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


def _numpy(x: Any) -> Any:
    """The NumPy array that a constant stands for; any other value, inputs of the function among them, itself."""
    for frame in reversed(frames()):
        found = frame.stands.get(id(x))
        if found is not None and (known := frame.constants.get(id(found[1]))) is not None and known[1] is x:
            return found[1]
    return x


def one_for_each(results: list[Any], sides: Sequence[Sequence[Any]], outside: Sequence[Any]) -> list[Any]:
    """The results of a branch, with one array for two that are one on all its sides; `outside` maps variables of a side to arrays around."""
    for k, r in enumerate(results):
        if _is_array(r):
            results[k] = r = _numpy(r)
            for side, values in zip(sides, outside, strict=True):
                x = _numpy(values.get(side[k])) if isinstance(side[k], Var) else None
                if x is not None and x is not r and _is_array(x):
                    doubt(r, x)
    arrays = [k for k, r in enumerate(results) if _is_array(r)]
    keys = [{k: _identity(side[k], values) for k in arrays} for side, values in zip(sides, outside, strict=True)]
    for k, j in {pair: None for side in keys for pair in _alike(side)}:
        if all(side[k] == side[j] for side in keys):
            results[j] = results[k]
        else:
            doubt(results[k], results[j])
    return results


def _identity(x: Any, outside: Any) -> int:
    """What tells a side's result from another: the array that it is, where that is one from outside."""
    return id(_stood_for(outside[x])) if isinstance(x, Var) and x in outside else id(x)


def _alike(keys: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """The pairs of positions with equal keys."""
    groups: dict[Any, list[int]] = {}
    for position, key in keys.items():
        groups.setdefault(key, []).append(position)
    for group in groups.values():
        yield from combinations(group, 2)


class Pairs(NamedTuple):
    """Which of a loop's arrays are one before and after a turn, which are so only at one of these times, and which are arrays from outside.

    `before` are the arrays before the loop, and whether a turn may leave them as they are.
    """

    always: list[tuple[int, int]]
    sometimes: list[tuple[int, int]]
    outside: list[tuple[int, Any]]
    before: list[tuple[int, Any, bool]]


def shared_pairs(before: Sequence[Any], begin: Sequence[Any], after: Sequence[Any], compared: bool) -> Pairs:
    """How the arrays of a loop are shared: before it, and when a turn begins and ends.

    Raises:
      AliasError: (AG407) the turn stores into an array, and whether two names hold it changes from turn to turn.
    """
    always: list[tuple[int, int]] = []
    sometimes: list[tuple[int, int]] = []
    arrays = [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if _is_array(a) and _is_array(b)]
    first = set(_alike({k: id(_stood_for(before[k])) for k in arrays}))
    place = {id(x): k for k, x in reversed(list(enumerate(begin)))}
    here_too, last = first, set[tuple[int, int]]()
    while True:  # two that a turn hands on are one afterwards if they were one when it began
        group = {k: min([k, *(i for i, j in here_too if j == k)]) for k in arrays}
        ends = {k: ("begin", group.get(place[id(after[k])], place[id(after[k])])) if id(after[k]) in place else id(after[k]) for k in arrays}
        last = set(_alike(ends))
        if here_too <= last:
            break
        here_too = here_too & last
    for pair in sorted(first | last):
        if pair in first and pair in last:
            always.append(pair)
        else:
            sometimes.append(pair)
            if compared:
                raise AliasError(
                    "a turn of this loop stores into an array, and whether another name holds it is not the same in every turn", here(),
                    "give one of the names a copy (`b = a.copy()`)",
                )  # fmt: skip
    outside = [(k, x) for k, x in enumerate(after) if _is_array(x) and not (isinstance(x, Tracer) and _jax.made_here(x))]
    kept = [(k, before[k], after[k] is begin[k] or doubtful(after[k], begin[k])) for k in arrays]
    return Pairs(always, sometimes, outside, kept)


def after_loop(results: list[Any], pairs: Pairs, certain: bool) -> None:
    """What the loop variables hold after it; if it is `certain` that a turn is made, what they held before only where a turn may leave it."""
    for k, x, may_stay in pairs.before:
        if may_stay or not certain:
            doubt(results[k], x)
    for k, x in pairs.outside:
        doubt(results[k], x)
    for k, j in pairs.always:
        results[j] = results[k]
    for k, j in pairs.sometimes:
        doubt(results[k], results[j])
