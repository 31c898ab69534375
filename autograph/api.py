"""The decorators: `convert`, `function`, `do_not_convert`; and `to_code`."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, overload

from autograph import runtime
from autograph.forms import sites  # noqa: F401  (call sites of converted code)
from autograph.forms.callees import convert_object, dressed, form_in, leave_alone
from autograph.forms.forms import Form, form_of
from autograph.forms.lowering import listing
from autograph.forms.signatures import StagedFunction
from autograph.runtime.calls.function import Function
from autograph.runtime.calls.input_signature import Signed
from autograph.runtime.indexing.eager_arrays import evaluated
from autograph.runtime.jaxapi.decorated import JITTED, options_of
from autograph.runtime.jaxapi.traces import boundary, hide_frames
from autograph.runtime.tracing.jit_options import known_options, without_those_of_tensorflow
from autograph.source.errors import NotAFunction
from autograph.trees.depth import with_depth

hide_frames(__file__)
P = ParamSpec("P")
R = TypeVar("R")


@overload
def convert(fn: Callable[P, R], /, *, form: Literal["both", "staged"] = ...) -> Callable[P, R]: ...
@overload
def convert(*, form: Literal["both", "staged"] = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@boundary
def convert(fn: Any = None, /, *, form: Literal["both", "staged"] = "both") -> Any:
    """Convert a function: under `jax.jit`, `vmap`, `grad` ... its control flow may depend on traced values.

    Outside every trace the user's own statements run.  Functions that it calls are converted when they are reached.

    Args:
      fn: a function, lambda, method, static or class method, partial, or an object whose class defines `__call__`.
      form: "staged" runs the staged form on concrete values too, for tests.

    Returns:
      A function with the original's name, signature, defaults, attributes and closure; `__wrapped__` is the original.

    Raises:
      ConversionError: there is no source (AG101), no Python code (AG103), or a library's wrapper in between (AG104).

    >>> import jax, autograph as ag
    >>> @ag.convert
    ... def sign(x):
    ...     if x > 0:
    ...         return 1
    ...     return -1
    >>> sign(3), jax.jit(sign)(-3.0)
    (1, Array(-1, dtype=int32, weak_type=True))
    """
    if fn is None:
        return functools.partial(convert, form=form)
    if form not in ("both", "staged"):
        raise ValueError(f"form is 'both' or 'staged', not {form!r}")
    new = convert_object(fn)
    if form == "staged":
        new = evaluated(runtime.call(new))
        new.__wrapped__ = fn  # type: ignore[attr-defined]
        return new
    if isinstance(fn, types.FunctionType) and new is not fn:
        new = _own(new)
        new.__wrapped__ = fn  # type: ignore[attr-defined]
    return new


def _own(twin: types.FunctionType) -> types.FunctionType:
    """The decorator's result is a function of its own: the twin serves all call sites of the original."""
    new = types.FunctionType(twin.__code__, twin.__globals__, twin.__name__, twin.__defaults__, twin.__closure__)
    new.__kwdefaults__ = twin.__kwdefaults__
    return dressed(new, twin)


@overload
def function(fn: Callable[P, R], /, **options: Any) -> StagedFunction[P, R]: ...
@overload
def function(**options: Any) -> Callable[[Callable[P, R]], StagedFunction[P, R]]: ...
@boundary
def function(fn: Any = None, /, **options: Any) -> Any:
    """`convert` and `jax.jit` in one; takes the options of `jax.jit` (`static_argnames`, `donate_argnums`, ...).

    Args:
      fn: the function.
      input_signature: a list of `ag.TensorSpec`, one for each argument; the arguments are cast to it.
      checks: when a data-dependent error is raised (`assert`, `raise`, an index out of range): "immediate", by the call, which
        waits for the result; or "deferred", by the next call or by `ag.check()`, so that calls follow each other without waiting.

    Returns:
      An object that is called as the function, with `lower`, `trace`, `eval_shape`, `clear_cache`; in a class it is a method.

    Raises:
      ConversionError: as `convert`.

    >>> import autograph as ag
    >>> @ag.function
    ... def collatz(n):
    ...     steps = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> int(collatz(27))
    111
    """
    if fn is None:
        options = without_those_of_tensorflow(options)
        known_options({name: value for name, value in options.items() if name != "input_signature"})
        return functools.partial(function, **options)
    if (signature := options.pop("input_signature", None)) is not None:
        return Signed(function(fn, **options), signature)
    options = without_those_of_tensorflow(options)
    known_options(options)
    if isinstance(fn, Function):
        return fn.again(options)
    if type(fn) is JITTED:
        fn, options = fn.__wrapped__, options_of(fn) | options
    return runtime.jit(convert(fn), **options)


@overload
def do_not_convert(fn: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def do_not_convert() -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def do_not_convert(fn: Any = None, /) -> Any:
    """Leave a function as it is, also when converted code calls it.

    >>> import autograph as ag
    >>> @ag.do_not_convert
    ... def helper(x):
    ...     return x
    """
    if fn is None:
        return do_not_convert
    target = inspect.unwrap(fn)
    if not isinstance(target, types.FunctionType):
        raise NotAFunction(f"a `{type(fn).__name__}` is never converted", None, "`do_not_convert` is for functions")
    leave_alone(target)
    return fn


def to_code(fn: Any, /, *, after: str = "") -> str:
    """The converted source of a function, its staged form.

    Args:
      fn: what `convert` takes, or what a decorator of ours has returned.
      after: the name of a pass, to see the source after it.

    >>> import autograph as ag
    >>> def sign(x):
    ...     return 1 if x > 0 else -1
    >>> print(ag.to_code(sign))
    def sign(x):
        return ag.cond(x > 0, lambda: 1, lambda: -1)
    <BLANKLINE>
    """
    form = form_for(fn)
    known = getattr(getattr(inspect.unwrap(fn), "__globals__", {}).get("ag"), "__name__", "")
    alias = "ag" if known in ("autograph", "autograph.runtime") and "ag" not in form.file.inside else None  # imported in another cell of a notebook
    return with_depth(form.node, lambda: listing(form.node, form.file, after, frozenset(form.code.co_freevars), alias))


def form_for(fn: Any) -> Form:
    fn = getattr(fn, "__func__", fn) if not isinstance(fn, types.FunctionType) else fn
    fn = fn._fn if isinstance(fn, runtime.Function) else fn
    if isinstance(fn, functools.partial):
        return form_for(fn.func)
    if not isinstance(fn, types.FunctionType):
        fn = getattr(convert_object(fn), "__func__", fn)
    form = form_in(fn)
    if isinstance(form, Form):
        return form
    original = getattr(fn, "__wrapped__", fn)
    if not isinstance(original, types.FunctionType):
        raise NotAFunction(f"a `{type(fn).__name__}` has no Python code", None, "give a function or method")
    return form_of(original.__code__, original.__globals__)
