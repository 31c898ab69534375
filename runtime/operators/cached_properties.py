"""`functools.cached_property` of a class whose objects converted code uses: what it keeps is a change of the object."""

from __future__ import annotations

import functools
from typing import Any

from autograph.runtime.operators.attributes import set_attr
from autograph.runtime.tracing.trace_context import watched


class Cached(functools.cached_property):  # type: ignore[type-arg]
    """A `cached_property` that tells what it stores.

    Raises:
      AttributeStateError: (AG401) it is read for the first time in a staged block that does not make the object.
    """

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None or self.attrname is None or not watched():
            return super().__get__(instance, owner)
        value = self.func(instance)
        set_attr(instance, self.attrname, value)
        return value
