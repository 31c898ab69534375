"""`jit`: `jax.jit` of a converted function, as an object that is also a method, can be copied and pickled by name.

Each function has a class of its own whose `__call__` is the jitted function, so a call costs what a call of `jax.jit` costs.
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime import _jax
from autograph.runtime._jax import concrete, eval_trace, trace_state
from autograph.runtime.calls import call
from autograph.runtime.deferred import Checked, Exit, defer, received
from autograph.runtime.frames import root
from autograph.runtime.guards import Guarded
from autograph.runtime.leaks import watching
from autograph.runtime.lifted import ERROR, may_have_failed, reachable
from autograph.runtime.optional import optional_result
from autograph.runtime.raw_errors import named
from autograph.runtime.values import NONE, Blank, Maybe, has_maybe, map_maybe


class _Checks:
    """Whether a trace of a function had an error code or an optional result, and whether its calls go to JAX directly."""

    def __init__(self) -> None:
        self.found = self.direct = False


class Function:
    """A staged function: call it as the original.  `lower`, `trace`, `eval_shape` and `clear_cache` are those of `jax.jit`."""

    _fn: Callable[..., Any]
    _jitted: Any
    _options: dict[str, Any]
    _checks: _Checks
    __wrapped__: Callable[..., Any]

    @_jax.boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The first call; the class of a function that has no checks takes the jitted function itself from then on."""
        out = self._jitted(*args, **kwargs)
        if type(out) is Checked:
            return result(out)
        if trace_state.value is eval_trace and not self._checks.found:
            self._checks.direct = True
            type(self).__call__ = staticmethod(self._jitted)  # type: ignore[assignment]
        return out

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self._jitted.lower(*args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return self._jitted.trace(*args, **kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        out = self._jitted.eval_shape(*args, **kwargs)
        return out.value if type(out) is Checked else out

    def clear_cache(self) -> None:
        self._jitted.clear_cache()

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        return self if obj is None else Method(self, obj)

    def __repr__(self) -> str:
        return f"<ag.function {getattr(self, '__qualname__', '?')}>"

    def __copy__(self) -> Function:
        return self

    def __deepcopy__(self, memo: Any) -> Function:
        return self

    def __reduce__(self) -> str:
        return str(getattr(self, "__qualname__", ""))  # by name, as functions are

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__wrapped__)


class Method:
    """A staged function bound to an object.

    An object that is a pytree is traced like any argument.  Of another, what is reached through it is constant while it does not change: a
    change is seen at the next call, which compiles again; a change made by the function itself is refused (AG401).
    """

    def __init__(self, function: Function, obj: Any) -> None:
        self.__func__, self.__self__ = function, obj
        functools.update_wrapper(self, function.__wrapped__, updated=())

    @_jax.boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = self._bound()(*args, **kwargs)
        return result(out) if type(out) is Checked else out

    def _bound(self) -> Any:
        function, obj = self.__func__, self.__self__
        if not jax.tree_util.treedef_is_leaf(jax.tree.structure(obj)):
            return functools.partial(function._jitted, obj)
        if trace_state.value is not eval_trace:  # part of a trace that is not ours to cache
            return types.MethodType(function._fn, obj)
        return _guards(function).bound(obj)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self._bound().lower(*args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return self._bound().trace(*args, **kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        out = self._bound().eval_shape(*args, **kwargs)
        return out.value if type(out) is Checked else out

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Method) and self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))


_guarded: weakref.WeakKeyDictionary[Function, Guarded] = weakref.WeakKeyDictionary()


def _guards(function: Function) -> Guarded:
    if function not in _guarded:
        _guarded[function] = Guarded(function._fn, _watched, function._options)
    return _guarded[function]


def _watched(fn: Callable[..., Any], checks: _Checks | None = None) -> Callable[..., Any]:
    """`fn` as it is traced: what it leaves behind is refused."""
    checks = checks or _Checks()

    @functools.wraps(fn)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if trace_state.value is eval_trace:  # `jax.disable_jit`
            return fn(*args, **kwargs)
        out: Any = None
        with root(_jax.current_trace(), {ERROR: 0}, checked=True) as frame:
            try:
                with watching(fn):
                    out = named(call(fn))(*args, **kwargs)  # the staged form itself
            except Exit:
                pass
            except Exception as error:
                if not (may_have_failed() and defer(error)):
                    raise
        code = frame.values.pop(ERROR)
        if type(code) is int and not has_maybe(out):
            return out
        checks.found = True
        if checks.direct:  # earlier traces had no checks, and what is returned now goes to the user as it is
            received(code)
            if has_maybe(out):
                raise optional_result("this call may return None where earlier ones could not")
            return out
        return Checked(map_maybe(_packed, out), jnp.asarray(code, np.int32))

    return traced


def result(out: Checked) -> Any:
    """What a compiled function that may fail returns; raises its error."""
    received(out.code)
    return jax.tree.map(_settled, out.value, is_leaf=_is_packed)


class _Packed:
    """An optional on its way out of a compiled function."""

    def __init__(self, value: Any, tag: Any, bits: int, name: str) -> None:
        self.value, self.tag, self.bits, self.name = value, tag, bits, name


jax.tree_util.register_pytree_node(_Packed, lambda p: ((p.value, p.tag), (p.bits, p.name)), lambda aux, children: _Packed(*children, *aux))


def _is_packed(x: Any) -> bool:
    return isinstance(x, _Packed)


def _packed(x: Maybe) -> _Packed:
    value = None if isinstance(x.value, Blank) else map_maybe(_packed, x.value)
    return _Packed(value, x.tag, x.bits, x.name)


def _settled(x: Any) -> Any:
    """A value or None, where the tag is known now; inside a trace it stays an optional."""
    if not isinstance(x, _Packed):
        return x
    value = jax.tree.map(_settled, x.value, is_leaf=_is_packed)
    if not concrete(x.tag):
        if not reachable():
            raise optional_result()
        return Maybe(value, x.tag, x.bits, x.name)
    return None if int(x.tag) == NONE else value


def jit(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """`jax.jit` of a converted function, with its options; also as a decorator with arguments.

    >>> import autograph.runtime as ag
    >>> @ag.jit
    ... def double(x):
    ...     return x + x
    >>> double(2)
    Array(4, dtype=int32, weak_type=True)
    """
    if fn is None:
        return functools.partial(jit, **options)
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(jit(fn.__func__, **options))
    checks = _Checks()
    jitted = jax.jit(_watched(fn, checks), **options)
    cls = type("Function", (Function,), {"__doc__": fn.__doc__, "__module__": __name__})
    new: Any = object.__new__(cls)
    new._checks = checks
    functools.update_wrapper(new, fn)
    new._fn, new._jitted, new._options = fn, jitted, options
    new.__wrapped__ = inspect.unwrap(fn)
    new.__defaults__, new.__kwdefaults__ = getattr(fn, "__defaults__", None), getattr(fn, "__kwdefaults__", None)
    return new
