"""The attribute in which objects of a library hold a value: what reads or sets it, the library's own code too, is noticed while functions are traced.

While a block is traced the attribute holds what the block sees, as that of any object; only the code that sets it does not tell us.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.branches.state_writes import noticed
from autograph.runtime.state.state_refs import INTERCEPTED, AttributeRef, Interception
from autograph.runtime.state.variable_reads import note_place, recorders
from autograph.runtime.tracing.class_members import everywhere
from autograph.runtime.tracing.trace_context import watched
from autograph.runtime.values.values import Unset


class Intercepted(Interception):
    """Stands in a class for an attribute of its objects, while something is traced or a tape records.

    Args:
      cls: the class.
      name: the attribute, a slot or one in the objects' `__dict__`.
      place: what stands for it in an object; a `Held` if it is an array that tapes watch.
    """

    def __init__(self, cls: type, name: str, place: Callable[[Any, str], AttributeRef] = AttributeRef) -> None:
        self._slot: Any = vars(cls).get(name)
        self._name, self._place = name, place
        INTERCEPTED.setdefault(name, []).append((cls, self))
        everywhere(cls, name, self)

    def held(self, obj: Any) -> Any:
        try:
            return obj.__dict__[self._name] if self._slot is None else self._slot.__get__(obj, type(obj))
        except KeyError:
            raise AttributeError(self._name) from None

    def hold(self, obj: Any, value: Any) -> None:
        if self._slot is None:
            obj.__dict__[self._name] = value
        else:
            self._slot.__set__(obj, value)

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        if obj is None:
            return self
        if watched() or recorders.active:
            note_place(self._place(obj, self._name))
        return self.held(obj)

    def __set__(self, obj: Any, value: Any) -> None:
        if watched() and not isinstance((place := self._place(obj, self._name)).get(), Unset):
            value = noticed(place, value)
        self.hold(obj, value)

    def __delete__(self, obj: Any) -> None:
        if self._slot is None:
            del obj.__dict__[self._name]
        else:
            self._slot.__delete__(obj)
