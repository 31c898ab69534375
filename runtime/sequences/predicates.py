"""The truth of a value: a Python bool when it is known now, else a traced bool of shape ().

A predicate has exactly one element (shapes (), (1,), (1, 1) ...); another size is Python's own ValueError, traced or not.
"""

from __future__ import annotations

import importlib
from types import FunctionType
from typing import Any

from jax import lax

from autograph.runtime.arrays.handles import value_of
from autograph.runtime.effects.optional import has_value, read
from autograph.runtime.jaxapi import _jax
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.messages.advice import for_truth
from autograph.runtime.messages.errors import PredicateError
from autograph.runtime.messages.places import here
from autograph.runtime.sequences.growing import Growing, refuse_hidden
from autograph.runtime.values.knowledge import facts_of, note
from autograph.runtime.values.values import Blank, Maybe, Unset


def truth(p: Any) -> Any:
    """`bool(p)`, or a traced bool array of shape () if that cannot be known now."""
    if p is True or p is False:
        return p
    p = value_of(p)
    if type(p) is not Array and isinstance(p, (Maybe, Unset)):
        p = read(p)
        if isinstance(p, Maybe):  # None is false
            there, inside = has_value(p), p.value if not isinstance(p.value, Blank) else False
            inside = truth(inside)
            return there if inside is True else False if inside is False else note(lax.bitwise_and(there, inside), facts_of(there))
    if type(p) is not Array and isinstance(p, Growing):
        return truth(p.length > 0)
    if not _jax.concrete(p):
        if p.size != 1:
            kind = "an empty array" if p.size == 0 else "an array with more than one element"
            place = here()
            raise PredicateError(f"the truth value of {kind} is ambiguous: this one has shape {p.shape}", place, for_truth(place, p.size))
        p = lax.reshape(p, ()) if p.shape else p
        return p if p.dtype == bool else lax.ne(p, lax.full((), 0, p.dtype))
    refuse_hidden(p)
    if isinstance(getattr(type(p), "__bool__", None) or getattr(type(p), "__len__", None), FunctionType):
        return importlib.import_module("autograph.runtime.access.sized").truth_of(p)
    return bool(p)
