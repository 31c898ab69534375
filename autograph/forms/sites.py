"""Call sites of the plain form: each remembers its first lasting callee."""

from __future__ import annotations

import builtins
import collections
import math
import sys
import types
from types import MethodType
from typing import Any

from autograph.forms.callees import dressed, form_in, resolve
from autograph.forms.forms import Form
from autograph.forms.lowering import LOCK
from autograph.runtime.calls.callees import call
from autograph.runtime.jaxapi.traces import eval_trace, trace_state
from autograph.runtime.tracing.trace_context import watched
from autograph.source import notebooks


class Site:
    """Remembers the first lasting callee of one call site.  Written once: a reader sees all of it or nothing."""

    __slots__ = ("__weakref__", "code", "function", "seen", "use")

    def __init__(self) -> None:
        self.forget()
        notebooks.sites.add(self)

    def forget(self) -> None:
        self.seen: Any = Site
        self.use: Any = Site
        self.function: Any = Site
        self.code: Any = None

    def miss(self, f: Any) -> Any:
        if type(f) is types.FunctionType and f.__closure__ and form_in(f) is not None:
            return f
        new = resolve(f)
        if self.seen is Site and _is_lasting(f):
            form = form_in(new) if type(new) is types.FunctionType else None
            with LOCK:
                if self.seen is Site:
                    self.use = dressed(form.function(form.direct(), new), new) if type(form) is Form else new
                    self.seen = f
        return new

    def method(self, method: Any) -> Any:
        """What is called for a method: its own object is asked, which `super()` and a proxy are not."""
        if type(method) is MethodType and method.__func__ is self.function:
            return MethodType(self.use, method.__self__)
        new = resolve(method)
        if self.seen is Site and self.function is Site:
            if new is method and type(method) is types.BuiltinFunctionType and type(method.__self__) in _BUILTIN_TYPES:
                self.seen = type(method.__self__)
            elif type(new) is MethodType and type(method) is MethodType and _is_lasting(method.__func__) and _is_plain_method(method):
                function: Any = new.__func__
                form = form_in(function)
                if type(form) is Form:
                    with LOCK:
                        if self.function is Site:
                            self.use = form.function(form.direct(), function)
                            self.code, self.function = method.__func__.__code__, method.__func__
        return new

    def bound(self, f: Any) -> Any:
        """What is called for an attribute of what an expression gives."""
        if type(f) is types.BuiltinFunctionType and type(f.__self__) is self.seen:
            return f
        if self.code is not None and self.function.__code__ is not self.code:  # it was given other code, as tools do that load modules again
            self.forget()
        return self.method(f)

    def callee(self, f: Any) -> Any:
        """What is called for what an expression gives."""
        return self.use if f is self.seen and self.use is not Site else self.miss(f)

    def anywhere(self, f: Any) -> Any:
        """What a function calls that stays Python: it also runs while others are traced."""
        if trace_state.value is not eval_trace or watched():
            return call(f)
        return self.bound(f) if type(f) in _METHODS else self.callee(f)


_METHODS = (types.BuiltinFunctionType, MethodType)
_BUILTIN_TYPES = {list, dict, set, str, tuple, bytes, bytearray, frozenset, int, float, complex, collections.deque}


def _is_plain_method(method: MethodType) -> bool:
    """Not a class method, which is bound to another object."""
    return any(v is method.__func__ for k in type(method.__self__).__mro__ for v in vars(k).values())


def _is_lasting(f: Any) -> bool:
    """Whether remembering `f` keeps nothing alive: a function or class of a live module, without a closure."""
    if type(f) is types.BuiltinFunctionType:
        return f.__self__ is builtins or f.__self__ is math
    if type(f) is type:
        return getattr(sys.modules.get(f.__module__), f.__qualname__, None) is f
    if type(f) is not types.FunctionType:
        return False
    return not set(f.__code__.co_freevars) - {"__class__"} and getattr(sys.modules.get(f.__module__), "__dict__", None) is f.__globals__


Form.new_site = staticmethod(Site)
