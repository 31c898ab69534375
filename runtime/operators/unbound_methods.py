"""Functions of `operator`, methods taken from a class, and `object.__setattr__`, which change what they are given: as the statement would.

operator.setitem(d, k, v)      =>   d[k] = v
list.append(items, x)          =>   items.append(x)
object.__setattr__(o, n, v)    =>   what o holds under n, without the class's own code
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType
from typing import Any

import jax
import numpy as np

from autograph.runtime.branches.state_writes import noticed
from autograph.runtime.operators.attributes import del_attr, place_of, set_attr
from autograph.runtime.operators.changing_methods import MUTATING, changed_by, changing_method
from autograph.runtime.operators.container_items import OF_ITEMS
from autograph.runtime.operators.items import del_item, store_item
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.tracing.hooks import call
from autograph.runtime.values.abstract_values import is_container


def instead_of(f: Any) -> Callable[..., Any] | None:
    """What is called in the place of a function that changes what it is given; None for any other."""
    if type(f) is operator.methodcaller:
        return functools.partial(_of_name, f)
    if f is operator.setitem or f is operator.delitem:
        return functools.partial(_changed_item, f)
    if getattr(f, "__module__", "") == "_operator" and f.__name__ in _IN_PLACE:
        return functools.partial(_in_place, f)
    if type(f) in (MethodDescriptorType, WrapperDescriptorType):
        if f is object.__setattr__ or f is object.__delattr__:
            return functools.partial(_set_attribute if f is object.__setattr__ else _delete_attribute, f)
        return functools.partial(_of_class, f) if f.__name__ in MUTATING or f.__name__ == "__getitem__" else None
    if type(f) is MethodWrapperType and f.__name__ in ("__setattr__", "__delattr__"):
        if f.__objclass__ is object:  # as of `super()`: no code of the class's own runs
            return functools.partial(_set_attribute if f.__name__ == "__setattr__" else _delete_attribute, getattr(object, f.__name__), f.__self__)
        return functools.partial(set_attr, f.__self__) if f.__name__ == "__setattr__" else None
    if type(f) is MethodWrapperType and f.__name__ in OF_ITEMS and (is_container(f.__self__) or isinstance(f.__self__, tuple)):
        return functools.partial(OF_ITEMS[f.__name__], f.__self__)
    return None


def changing(x: Any) -> Any:
    """What is handed on for a builtin that changes something: `setattr`, or a method of a list, dict, set or deque; None for any other."""
    if type(x) is MethodWrapperType and x.__name__ in OF_ITEMS and is_container(x.__self__):
        return functools.partial(OF_ITEMS[x.__name__], x.__self__)
    if type(x) is MethodWrapperType and x.__name__ in ("__setitem__", "__delitem__"):
        change = operator.setitem if x.__name__ == "__setitem__" else operator.delitem
        return functools.partial(_changed_item, change, x.__self__)
    if type(x) is not BuiltinFunctionType:
        return None
    if x in (setattr, delattr):
        return set_attr if x is setattr else del_attr
    return new if (new := changing_method(x)) is not x else None


_IN_PLACE = {f"i{name}": f"__i{name}__" for name in ("add", "mul", "and", "or", "sub", "xor")} | {"iconcat": "__iadd__"}


def _of_name(f: Any, x: Any) -> Any:
    """A call of an `operator.methodcaller`."""
    made, args = f.__reduce__()
    kwargs = made.keywords if isinstance(made, functools.partial) else {}
    name, *args = (*made.args, *args) if isinstance(made, functools.partial) else args
    return call(getattr(x, name))(*args, **kwargs)


def _changed_item(f: Any, x: Any, i: Any, *value: Any) -> None:
    if isinstance(x, (np.ndarray, jax.Array)):
        f(x, i, *value)
    elif value:
        store_item(x, i, *value)
    else:
        del_item(x, i)


def _in_place(f: Any, x: Any, value: Any) -> Any:
    method = getattr(x, _IN_PLACE[f.__name__], None) if is_container(x) else None
    if method is None:
        return f(x, value)
    call(method)(value)
    return x


def _of_class(f: Any, x: Any, /, *args: Any, **kwargs: Any) -> Any:
    if not is_container(x):
        return f(x, *args, **kwargs)
    if f.__name__ in OF_ITEMS and not kwargs:
        return OF_ITEMS[f.__name__](x, *args)
    if type(x) is f.__objclass__:
        return call(getattr(x, f.__name__))(*args, **kwargs)
    return changed_by(x, functools.partial(f, x), *args, **kwargs)  # of a class of the user's, without its own methods


def _set_attribute(f: Any, obj: Any, name: str, value: Any) -> None:
    place = place_of(obj, name)
    f(obj, name, noticed(place, value))


def _delete_attribute(f: Any, obj: Any, name: str) -> None:
    record_write(place_of(obj, name))
    f(obj, name)
