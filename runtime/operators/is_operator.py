"""`is` and `is not` between arrays, lists and objects, which traced values may choose.

Arrays carry which array they are (`arrays/array_aliasing.py`), so the answer is a bool or a traced bool.  Of lists and objects only the objects that
one may be are known: where the answer depends on them, it is an error.
"""

from __future__ import annotations

import enum
from typing import Any

import jax.numpy as jnp
from jax import lax

from autograph.runtime.arrays.array_aliasing import points_to, same
from autograph.runtime.arrays.numpy_array import View
from autograph.runtime.effects.optional_values import has_value, is_none, read
from autograph.runtime.errors.errors import NotStagedError
from autograph.runtime.errors.raise_sites import in_library
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.sequences.rows import unknown
from autograph.runtime.tracing.trace_context import frames
from autograph.runtime.values.values import ARRAYS, NUMBERS, Blank, Maybe, Unset


def is_(a: Any, b: Any) -> Any:
    """`a is b`: a bool, or a traced bool where it is data-dependent which array one of them is.

    Raises:
      NotStagedError: (AG501) it is data-dependent, and nothing tells.

    >>> import jax, jax.numpy as jnp, autograph as ag
    >>> f = ag.convert(lambda x: (y := x if x[0] > 1 else x + 1) is x)
    >>> print(jax.jit(f)(jnp.array([2.0])), jax.jit(f)(jnp.array([0.0])))
    True False
    """
    if a is b and type(a) is not Unset and type(a) is not Maybe:
        return True
    if a is None or b is None:
        return is_none(b if a is None else a)
    if not _jax.recording():
        return a is b
    a, b = read(a), read(b)
    if isinstance(a, Maybe) or isinstance(b, Maybe):
        return _with_optional(a, b)
    if isinstance(a, ARRAYS) and isinstance(b, ARRAYS):
        return _one_array(a, b) if isinstance(a, Array) and isinstance(b, Array) else False
    for x, y in ((a, b), (b, a)):
        _check_number(x, y)
    if any(_may_be(x, y) for x, y in ((a, b), (b, a))):
        raise NotStagedError(
            f"`is` between two objects of type `{type(a).__name__}`, and it is data-dependent whether they are one", here(),
            "keep a flag or a number with the object, and compare that",
        )  # fmt: skip
    return a is b


def is_not(a: Any, b: Any) -> Any:
    """`a is not b`, likewise."""
    p = is_(a, b)
    return not p if isinstance(p, bool) else lax.bitwise_not(p)


def _with_optional(a: Any, b: Any) -> Any:
    """The same where one may be None: two that are None are one."""
    here_, there = (has_value(x) if isinstance(x, Maybe) else True for x in (a, b))
    values = [x.value if isinstance(x, Maybe) else x for x in (a, b)]
    one: Any = False if any(isinstance(v, Blank) for v in values) else is_(*values)
    both = here_ if there is True else there if here_ is True else lax.bitwise_and(here_, there)
    found = lax.bitwise_and(both, jnp.asarray(one)) if one is not True else both
    if isinstance(a, Maybe) and isinstance(b, Maybe):
        found = lax.bitwise_or(found, lax.bitwise_and(jnp.asarray(is_none(a)), jnp.asarray(is_none(b))))
    return found


def _one_array(a: Array, b: Array) -> Any:
    """Whether two objects are one array."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not a.ndim:
        if in_library():
            return False
        raise NotStagedError(
            "`is` between two traced numbers: nothing tells which object one is", here(), "compare the values (`==`), or keep a flag"
        )
    views = [isinstance(x, View) or (x.who is not None and any(i.part is not None for i in x.who.possible)) for x in (a, b)]
    if any(views):
        if all(isinstance(x, View) or x.who is None for x in (a, b)):  # each slice is a new object
            return False
        raise NotStagedError(
            "`is` with what may be a view of an array, which is data-dependent", here(), "compare the values, or keep a flag with the array"
        )
    mine = {i.number for i in points_to(a).possible}
    if not any(i.number in mine for i in points_to(b).possible):
        return False
    return same(a, b)


def _check_number(x: Any, member: Any) -> None:
    """A traced number is not the Python number or member of an enumeration that it may have been before."""
    if not unknown(x) or getattr(x, "shape", None) != () or in_library():
        return
    if isinstance(member, enum.Enum) and isinstance(member, int) and jnp.issubdtype(x.dtype, jnp.integer):
        raise NotStagedError(
            f"`is {type(member).__name__}.{member.name}` of a traced number: it is an array, and was perhaps a member", here(),
            f"compare the values: `== {type(member).__name__}.{member.name}`",
        )  # fmt: skip
    if type(member) in NUMBERS and type(member) is not bool:
        raise NotStagedError(f"`is` between a traced number and {member!r}: nothing tells which object it is", here(), "compare the values: `==`")


def _may_be(x: Any, other: Any) -> bool:
    """Whether a branch or loop has given an object that may be another, depending on traced values."""
    if type(x) is not type(other) or type(x) in NUMBERS:
        return False
    mine = {id(t.value) for f in frames() for t in f.twins.get(id(x), ()) if t.value is not None}
    others = {id(t.value) for f in frames() for t in f.twins.get(id(other), ()) if t.value is not None}
    sources = [c for f in frames() for c in f.choices.get(id(other), ()) if c.source is other]
    chosen = any(id(x) in f.copied and f.copied[id(x)].value is x for f in frames())
    return id(other) in mine or bool(mine & others) or any(c.value is x for c in sources) or chosen
