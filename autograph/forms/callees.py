"""What converted code calls in the place of a callee: its twin, itself, or itself with the functions it is given replaced by their twins.

A function that was not decorated has one twin for as long as it lives.  The twin hangs on the function object: an entry of `__dict__` that
is nobody's in a copy (`functools.wraps`) and empty when pickled.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import itertools
import operator
import sys
import types
import weakref
from typing import Any

from autograph import runtime
from autograph.forms.adoption import adopt
from autograph.forms.forms import Form, Staged, form_of
from autograph.forms.lowering import LOCK, readers_of
from autograph.forms.wrappers import Convert, is_made, remade
from autograph.passes.callables import HIGHER
from autograph.runtime.arrays.numpy_array import with_values
from autograph.runtime.calls import reading_calls as reading
from autograph.runtime.calls.callees import install, replaced
from autograph.runtime.calls.context_managers import stacked
from autograph.runtime.calls.dispatched_methods import converted_of, own_of
from autograph.runtime.calls.function import Function, Method
from autograph.runtime.calls.referenced_globals import adopt_mentioned
from autograph.runtime.indexing.class_patching import adopt_arrays
from autograph.runtime.jaxapi.decorated import CUSTOM, JIT, JITTED, are_arrays, is_straight, jitted_again, options_of, rules_of, with_rules
from autograph.runtime.native.noticed_writes import noticing
from autograph.runtime.operators.unbound_methods import changing
from autograph.runtime.state.program_keys import TWIN, names_in
from autograph.source import notebooks, unconvertible
from autograph.source.errors import ConversionError, SourceUnavailable
from autograph.source.policy import CALLERS, CONTEXT_MANAGER, OURS, is_library, is_listed, is_of_jax, is_stdlib, is_users, is_wrapper
from autograph.source.source import file_of


class ConvertedFunction:
    """The converted functions of one function object."""

    __slots__ = ("entry", "owner", "parts", "staged", "twin")

    def __init__(self, f: Any = None, twin: Any = None, staged: Any = None, entry: bool = True) -> None:
        self.entry = entry  # does the twin enter a trace itself, if that is needed?
        self.owner = weakref.ref(f) if f is not None else None
        self.parts, self.twin, self.staged = _parts(f), twin, staged

    def __reduce__(self) -> Any:
        return ConvertedFunction, ()

    def belongs_to(self, f: Any) -> bool:
        return self.owner is not None and self.owner() is f and all(map(operator.is_, self.parts, _parts(f)))


def _parts(f: Any) -> tuple[Any, ...]:
    """What of a function object may be exchanged."""
    return (f.__code__,) if type(f) is types.FunctionType else rules_of(f) if isinstance(f, CUSTOM) else ()


def form_in(f: types.FunctionType) -> Form | Staged | None:
    """The mark of a function that is converted already."""
    constants = f.__code__.co_consts
    return constants[-1] if constants and type(constants[-1]) in (Form, Staged) else None


def _entry(f: Any) -> ConvertedFunction | None:
    entry = f.__dict__.get(TWIN)
    return entry if entry is not None and entry.belongs_to(f) else None


def leave_alone(f: types.FunctionType) -> None:
    """Mark a function as one that is never converted."""
    f.__dict__[TWIN] = ConvertedFunction(f, f, f)


def twin_of(f: types.FunctionType) -> types.FunctionType:
    """The converted function in its plain form.  Raises ConversionError where there is none."""
    if form_in(f) is not None:
        return f
    with LOCK:
        entry = _entry(f)
        if entry is not None:
            return entry.twin  # type: ignore[no-any-return]
        if file_of(f.__code__.co_filename, f.__globals__, f.__code__).transpiled:
            f.__dict__[TWIN] = ConvertedFunction(f, f, f, entry=False)
            return f
        form = form_of(f.__code__, f.__globals__)
        twin = dressed(form.function(form.plain(), f), f)
        staged = dressed(form.function(form.staged(), f), f) if form.stageable else twin
        f.__dict__[TWIN] = ConvertedFunction(f, twin, staged)
        notebooks.converted(f)
        return twin


def dressed(new: types.FunctionType, f: types.FunctionType) -> types.FunctionType:
    """The user's names, documentation and attributes on a converted function."""
    for name in ("__doc__", "__qualname__", "__module__", "__annotations__", "__type_params__"):
        if hasattr(f, name):
            setattr(new, name, getattr(f, name))
    new.__dict__.update({k: v for k, v in f.__dict__.items() if k != TWIN})
    return new


def call(f: Any) -> Any:
    """What the staged form calls in the place of `f`."""
    resolved = resolve(f)
    return _staged(resolved, f) if type(resolved) is types.FunctionType else resolved


def resolve_function(f: types.FunctionType) -> Any:
    """The converted function in the place of `f`, whatever it does to its arguments."""
    if form_in(f) is not None:
        return f
    if own_of(f) is not f:
        return converted_of(f)
    entry = _entry(f)
    return entry.twin if entry is not None else _first(f)


def _careful(new: Any, form: Form | Staged | None) -> Any:
    """A converted function; of one that stays Python it is noticed what it changes."""
    return noticing(new, form.names) if type(form) is Form and form.noticed else new


def _staged(twin: types.FunctionType, f: Any) -> Any:
    """The staged function itself: no entry, one frame less."""
    form = form_in(twin)
    if type(form) is Form:
        adopt_mentioned(form.names, twin)
        adopt_arrays(twin)
    return _careful(_staged_function(twin, f), form)


def _staged_function(twin: types.FunctionType, f: Any) -> Any:
    if type(f) is types.FunctionType and (entry := _entry(f)) is not None:
        return entry.staged
    form = form_in(twin)
    if type(form) is Form and form.stageable:
        return form.function(form.staged(), twin)
    return twin


def resolve(f: Any) -> Any:
    """What the plain form calls in the place of `f`."""
    kind = type(f)
    if kind is types.FunctionType:
        return resolve_function(f)
    if kind is types.MethodType:
        if type(f.__self__) is contextlib.ExitStack and _tracing() and (new := stacked(f)) is not None:
            return new
        if _tracing() and not isinstance(f.__self__, type):
            adopted(type(f.__self__))
        new = call(f.__func__) if _tracing() else resolve(f.__func__)
        return f if new is f.__func__ else types.MethodType(new, f.__self__)
    if kind is types.BuiltinFunctionType and f.__self__ is not builtins and f.__self__ is not _FUNCTOOLS:
        return with_values(f) if _tracing() and _takes_values(f) else f
    if isinstance(f, type) and _tracing() and getattr(f, "__module__", "").split(".")[0] not in sys.stdlib_module_names:
        adopt(f, _safe_twin, calls=True)
    if kind is types.BuiltinFunctionType or kind is type:
        return _with_twins(f) if f in _HIGHER else f
    if kind is list or kind is tuple:  # of functions that are handed on
        return _own_twin(f)
    if kind is functools.partial:
        return functools.partial(_replaced(f.func) or resolve(f.func), *map(_own_twin, f.args), **f.keywords)
    if kind is JITTED and _runs_users(f.__wrapped__):
        if _tracing():
            return _straight(f) if is_straight(f.__wrapped__) else _threaded(f)
    if kind is JITTED or kind in CUSTOM:
        return _with_twins(remade_object(f))
    method = getattr(kind, "__call__", None)
    if _runs_users(method):
        return types.MethodType(resolve(method), f)
    function = getattr(f, "__func__", None)
    if type(function) is types.FunctionType and is_users(function.__code__) and hasattr(f, "__self__"):  # a library's bound method
        return functools.partial(resolve(function), f.__self__)
    if isinstance(f, type) and _tracing() and is_library(f):  # it may keep a function that it is given, and call it later
        return _with_twins(f)
    if callable(f) and not isinstance(f, type) and getattr(kind, "__module__", "").split(".")[0] not in sys.stdlib_module_names:
        return _with_twins(f)
    return f


def adopted(cls: type) -> None:
    """A class that converted code uses in a trace."""
    adopt(cls, _safe_twin)


def _safe_twin(f: types.FunctionType) -> Any:
    try:
        return twin_of(f)
    except ConversionError:
        return f


def _tracing() -> bool:
    return runtime.trace_state.value is not runtime.eval_trace


_FUNCTOOLS = functools.reduce.__self__  # type: ignore[attr-defined]
_FIRST, _SECOND = slice(0, 1), slice(1, 2)
_GOING_OVER: dict[Any, slice] = {  # which of their arguments
    map: slice(1, None), filter: _SECOND, iter: _FIRST, functools.reduce: _SECOND, itertools.accumulate: _FIRST, itertools.takewhile: _SECOND,
    itertools.dropwhile: _SECOND, itertools.starmap: _SECOND,
}  # fmt: skip
_HIGHER = {*_GOING_OVER, sorted, min, max}


def _first(f: types.FunctionType) -> Any:
    """A function that is met for the first time."""
    code = f.__code__
    if code is CONTEXT_MANAGER:
        return _with_generator(f)
    if _runs_users(f):
        try:
            return twin_of(f)
        except ConversionError:  # it stays Python: there is no source
            return noticing(f, names_in(code)) if _tracing() else f
    if is_stdlib(code) and (f.__module__ or "").split(".")[0] not in CALLERS:
        return with_values(f) if _tracing() and _takes_values(f) else f
    if f in (functools.wraps, functools.update_wrapper) or is_of_jax(code) and f.__qualname__ == "Primitive.bind":
        return f  # they keep their argument and do not call it
    if is_made(f) and (new := dressed_again(f, _safely)) is not f:
        new = _with_twins(new)
        if is_of_jax(
            code
        ):  # which binds no such variable anew: what was made of it once stays right; of a library's function it is made at each call
            f.__dict__[TWIN] = ConvertedFunction(f, new, new)
        return new
    return _with_twins(f)


def _made_again(f: Any) -> Any:
    if isinstance(f, CUSTOM):
        return with_rules(f, _safely) if any(_safely(x) is not x for x in rules_of(f) if x is not None) else f
    inner = _safely(f.__wrapped__)
    return f if inner is f.__wrapped__ else jitted_again(f, inner)


def _threaded(jitted: Any) -> Any:
    """A jitted function of converted code: what it does beside its result comes out of it."""
    return runtime.call(JIT)(jitted.__wrapped__, **options_of(jitted))


def _straight(jitted: Any) -> Any:
    """A jitted function that only calls functions of JAX's: as it is for arrays, so that JAX finds what it has traced."""

    def jitted_call(*args: Any, **kwargs: Any) -> Any:
        return (jitted if are_arrays(args, kwargs) else _threaded(jitted))(*args, **kwargs)

    return jitted_call


def remade_object(f: Any) -> Any:
    """A jitted function, or one with rules for its derivatives, of converted functions; itself if it is a library's."""
    with LOCK:
        entry = _entry(f)
        if entry is None:
            f.__dict__[TWIN] = ConvertedFunction(f, f, f)  # its rules may hold it
            try:
                new = _made_again(f)
            finally:
                del f.__dict__[TWIN]
            entry = f.__dict__[TWIN] = ConvertedFunction(f, new, new)
    return entry.twin


def dressed_again(f: types.FunctionType, convert: Convert) -> types.FunctionType:
    """What a transformation of JAX's has made of a function of the user's, made of the converted one."""
    new = remade(f, convert)
    return new if new is f else dressed(new, f)


def _safely(f: Any) -> Any:
    """The converted form of a function or object that is called; itself where there is none."""
    try:
        return convert_object(f)
    except ConversionError:
        return f


def _with_generator(f: types.FunctionType) -> types.FunctionType:
    """What `contextlib.contextmanager` makes of a generator function, made of its twin."""
    (generator,) = (c.cell_contents for c in f.__closure__ or ())
    twin = _own_twin(generator)
    new = f if twin is generator else dressed(types.FunctionType(f.__code__, f.__globals__, f.__name__, None, (types.CellType(twin),)), f)
    f.__dict__[TWIN] = ConvertedFunction(f, new, new)
    return new


def _own_twin(x: Any) -> Any:
    if type(x) in (list, tuple) and any(type(e) in _FUNCTIONS for e in x):
        return type(x)(map(_own_twin, x))
    function = x.__func__ if type(x) is types.MethodType else x
    if type(function) not in (types.FunctionType, functools.partial, type):
        function = own_of(getattr(type(function), "__call__", None))  # before Python 3.14 a method of `singledispatchmethod` was a function
        return resolve(x) if type(function) is types.FunctionType and is_wrapper(function.__code__) else x
    return resolve(x) if type(function) is functools.partial or _runs_users(function) else x


def _runs_users(f: Any) -> bool:
    """Whether this is a function of the user's, or one that a library made to run theirs."""
    f = own_of(f)
    return type(f) is types.FunctionType and (is_users(f.__code__) or is_wrapper(f.__code__))


_OF_VALUES = frozenset(
    "base64 binascii bz2 codecs csv decimal fractions gzip hashlib hmac io json lzma marshal pickle random scipy sqlite3 statistics zlib".split()
)  # modules whose functions take arrays as values: none changes what it is given, nor looks at who calls it


def _takes_values(f: Any) -> bool:
    """Whether a function is one of these: it gets arrays of NumPy's as what they are.

    Any other gets the objects that stand for them, which tell what it stores into them.
    """
    owner = getattr(f, "__self__", None)
    return (owner is None or isinstance(owner, types.ModuleType)) and (f.__module__ or "").lstrip("_").split(".")[0] in _OF_VALUES


def _has_no_entry(f: types.FunctionType) -> bool:
    """Whether a converted function does not enter a trace itself: it was made by code that is traced, or by the transpiler."""
    return type(form_in(f)) is Staged or (entry := _entry(f)) is not None and not entry.entry


def _called_object(x: Any) -> Any:
    """The converted form of an object that a function of JAX calls, or of those in a list: elsewhere they may be what is computed with."""
    if type(x) in (list, tuple):
        return type(x)(map(_called_object, x))
    return resolve(x) if _runs_users(own_of(getattr(type(x), "__call__", None))) else x


def _entered(new: Any) -> Any:
    """A converted function, method or partial, or a list of them, that enters the trace in which JAX calls it, which may be another one."""
    kind = type(new)
    if kind is types.FunctionType:
        return runtime.converted(new, fresh=True) if _tracing() and _has_no_entry(new) else new
    if kind is types.MethodType:  # as a whole: its object is one of the code around
        return runtime.converted(new, fresh=True) if _entered(new.__func__) is not new.__func__ else new
    if kind is functools.partial:
        return new if (inside := _entered(new.func)) is new.func else functools.partial(inside, *new.args, **new.keywords)
    if kind in (list, tuple) and any(type(e) in _FUNCTIONS for e in new):
        return kind(map(_entered, new))
    return new


_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)


def _replaced(x: Any) -> Any:
    """What stands in a trace for a builtin or a function of a library that is handed on."""
    return replaced(x) or changing(x) if callable(x) and _tracing() else None


def _with_twins(f: Any) -> Any:
    """A library function that converts the functions of the user's that it is given; one that calls them also takes those of libraries."""
    calls = type(f) in (type, types.BuiltinFunctionType) and f in _HIGHER

    rows = _GOING_OVER.get(f) if calls else None
    values = type(f) is types.FunctionType and _tracing() and not is_of_jax(f.__code__) and _takes_values(f)
    called = with_values(f) if values else f
    functions = HIGHER.get(f.__name__, ()) if type(f) is types.FunctionType and is_of_jax(f.__code__) else ()
    some = _called_by_trees(f) if type(f) is types.FunctionType and f.__module__ in _TREES and is_of_jax(f.__code__) else None

    def own(x: Any) -> Any:
        new = _own_twin(x)
        if new is x:
            return _entered(x) if (instead := calls and _replaced(x) or _tracing() and changing(x) or x) is x and not calls else instead
        return new if calls else _entered(new)

    def library_call(*args: Any, **kwargs: Any) -> Any:
        if rows is not None:
            args = (*args[: rows.start], *map(runtime.over, args[rows]), *(args[rows.stop :] if rows.stop else ()))
        for k in functions:
            if k < len(args):
                args = (*args[:k], _called_object(args[k]), *args[k + 1 :])
        if some is not None:
            args = tuple(own(x) if k in some else x for k, x in enumerate(args))
            return called(*args, **{k: own(v) if k in some else v for k, v in kwargs.items()})
        return called(*map(own, args), **{k: own(v) for k, v in kwargs.items()})

    return library_call


_TREES = frozenset({"jax.tree_util", "jax._src.tree_util", "jax.tree", "jax._src.tree"})


@functools.cache
def _called_by_trees(f: types.FunctionType) -> frozenset[int | str]:
    """Which arguments of a function of JAX's for trees it calls, by position and name: functions that are leaves stay what they are."""
    named = {"f", "function", "operation", "is_leaf"}
    return frozenset(x for k, name in enumerate(inspect.signature(f).parameters) if name in named for x in (k, name))


Form.runtime = runtime


def why_left(f: Any) -> str | None:
    """Why a function is called as it is: "" where it is converted, None of functions of JAX and NumPy, and of what is no Python function."""
    function = getattr(f, "__func__", f)
    if type(function) is not types.FunctionType:
        return None
    if not is_users(function.__code__):
        if is_listed(function.__code__) is False:
            return "its module is excluded (`ag.exclude`)"
        library = (function.__module__ or "").split(".")[0]
        return None if library in ("jax", "jaxlib", "numpy") else f"it belongs to `{library}`; functions that it is given are converted"
    entry = _entry(function)
    if entry is not None and entry.twin is function:
        return "it is marked `do_not_convert`, or was written by the transpiler"
    try:
        twin_of(function)
    except ConversionError as error:
        return error.message
    return ""


def only_reads(f: Any, place: int | str) -> bool:
    """Whether a function only reads its argument at a place, a position or a name; by the text of its file, where it stands under its name."""
    if type(f) is not types.FunctionType:
        return False
    file = file_of(f.__code__.co_filename, f.__globals__, f.__code__)
    found = file.defined.get(f.__name__)
    return found is not None and found.lineno == f.__code__.co_firstlineno and readers_of(file).reads(f.__name__, place)


notebooks.watch()
install(call, adopted, why_left)
reading.install(only_reads)


def convert_object(f: Any) -> Any:
    """The converted form of anything that can be decorated.

    Raises:
      NotAFunction: (AG103) there is no Python code to convert.
      WrappedFunction: (AG104) a library's wrapper around a user function.
      SourceUnavailable: (AG101)
    """
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(convert_object(f.__func__))
    if isinstance(f, (Function, Method)):
        return f
    if isinstance(f, functools.partial):
        return functools.partial(convert_object(f.func), *f.args, **f.keywords)
    if isinstance(f, types.MethodType):
        return types.MethodType(convert_object(f.__func__), f.__self__)
    if isinstance(f, types.FunctionType):
        wrapped = getattr(f, "__wrapped__", None)
        if form_in(f) is None and not _runs_users(f) and (wrapped is not None or is_of_jax(f.__code__) or f.__code__.co_filename.startswith(OURS)):
            new = dressed_again(f, convert_object) if is_made(f) else f
            if new is f and _is_left(wrapped):
                raise unconvertible.wrapper(f)
            return new
        if f.__code__.co_filename.startswith("<") and wrapped is not None and not _has_source(f) and form_in(f) is None:
            raise unconvertible.wrapper(f)
        try:
            return twin_of(f)
        except SourceUnavailable as error:
            raise unconvertible.without_source(error, f) from None
    if type(f) is JITTED or type(f) in CUSTOM:
        return remade_object(f)
    method = own_of(getattr(type(f), "__call__", None))
    if isinstance(f, type) or not callable(f) or _is_left(getattr(f, "__wrapped__", None)):
        raise unconvertible.no_code(f)
    return types.MethodType(convert_object(method), f) if isinstance(method, types.FunctionType) and is_users(method.__code__) else f


def _is_left(wrapped: Any) -> bool:
    """Whether a wrapper that stays what it is stands around a function of the user's that is not converted."""
    return type(wrapped) is types.FunctionType and _runs_users(wrapped) and form_in(wrapped) is None


def _has_source(f: types.FunctionType) -> bool:
    try:
        return bool(file_of(f.__code__.co_filename, f.__globals__, f.__code__))
    except SourceUnavailable:
        return False
