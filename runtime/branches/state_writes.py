"""What a place of the state outside is given in a trace: where an error has occurred before, it keeps what it held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.branches.conditional import staged_cond
from autograph.runtime.branches.object_phi import refuse_changed
from autograph.runtime.effects.error_codes import fine
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.sequences.bounded_list import replaced_at_home
from autograph.runtime.state.captured_state import may_have_failed, note_late, record_write
from autograph.runtime.state.state_refs import StateRef
from autograph.runtime.values.abstract_values import is_container
from autograph.runtime.values.values import ARRAYS, ITERATORS, NUMBERS, Maybe, Unset, is_value


def noticed(location: StateRef, value: Any) -> Any:
    """What a place is given, now that it is known to change."""
    refuse_changed(location)
    if isinstance(value, Array):
        value.lasts = True  # what is stored into it is seen after an error
    old = location.get()
    replaced_at_home(old, value)
    if isinstance(old, Unset) or not (is_selectable(value) and is_selectable(old)):
        note_late(location)
        record_write(location)
        return value
    record_write(location)
    return value if old is value else unless_failed_now(value, lambda: old)


def is_selectable(value: Any) -> bool:
    """Whether traced values can choose between this value and another: not if it is an object of which the identity counts."""
    return (
        not is_container(value)
        and not isinstance(value, ITERATORS)
        and all(isinstance(x, (*ARRAYS, *NUMBERS, Maybe)) for x in trees.leaves(value, is_leaf=is_value) if x is not None)
    )


def unless_failed_now(value: Any, old: Callable[[], Any]) -> Any:
    """What is stored: the old value where an error has occurred before, which is data-dependent."""
    if not may_have_failed() or not is_selectable(value):
        return value
    return staged_cond(fine(), lambda: value, old, ())
