"""NumPy's functions on traced values: those of `jax.numpy`, with NumPy's meaning.

With nothing traced among the arguments each is NumPy's own, so that shapes and tables made of constants stay constants.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.numpy_array import OPERATIONS, numpys, plain
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.effects.optional_values import present
from autograph.runtime.errors.errors import ArrayStoreError, AutographError, ConcreteValueError, EffectError, NumpyError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.indexing.array_functions import of_numpys
from autograph.runtime.indexing.slice_functions import function_of
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.jaxapi.traces import recording
from autograph.runtime.operators.getitem import inside
from autograph.runtime.operators.linear_algebra import OF_NUMPY, real_if_all_are
from autograph.runtime.operators.type_queries import isscalar
from autograph.runtime.sequences.bounded_list import BoundedList
from autograph.runtime.sequences.derived_lists import as_section
from autograph.runtime.sequences.dynamic_length import COUNTED
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.sequences.stacked_lists import MAKERS, made_of_column, rows_in_column
from autograph.runtime.tracing.trace_context import in_block
from autograph.runtime.values.values import Maybe, map_maybe, traced

_TEXT = frozenset("array2string array_str array_repr format_float_positional format_float_scientific base_repr binary_repr str_ bytes_".split())
_FILES = frozenset("save savez savez_compressed savetxt".split())
_IN_PLACE = frozenset("put place putmask copyto fill_diagonal put_along_axis".split())
_OTHER = frozenset("frompyfunc fromiter from_dlpack longdouble nditer ndenumerate".split())
_PLAIN = frozenset("isscalar iterable isrealobj iscomplexobj issubdtype".split())  # they look at the type only
_SMALL = frozenset("cumsum cumprod nancumsum nancumprod trace".split())  # they add small integers as Python's `int`
_ROWS = frozenset("concatenate concat stack hstack vstack dstack column_stack block lexsort multi_dot select piecewise choose".split())
_STATIC = frozenset(
    "shape axis axes newshape reps repeats pad_width indices_or_sections dtype ord mode indexing optimize subscripts source destination order "
    "out_shape new_shape dims stat_length decimals".split()
)
_TUPLES = frozenset("gradient meshgrid broadcast_arrays".split())  # they give tuples, and lists in `jax.numpy`
METHODS_IN_PLACE = frozenset("fill put sort partition resize itemset setfield byteswap setflags".split())


def numpy_call(f: Any, converted: Callable[[Any], Any]) -> Callable[..., Any] | None:
    """What to call in the place of a function, type or method of NumPy; None if `f` is none of NumPy's.

    `converted` converts the functions of the user's among its arguments.
    """
    if isinstance(f, np.vectorize):
        return functools.partial(_elementwise, f, converted)
    if isinstance(f, type) and issubclass(f, np.ndarray) and f.__module__.split(".")[0] != "numpy":
        return functools.partial(_derived_array, f)
    owner = getattr(f, "__self__", None)
    if isinstance(owner, Array):
        return None
    if isinstance(owner, np.ufunc):
        return _redirected(f"{owner.__name__}.{f.__name__}", f, owner, converted)
    if isinstance(owner, np.ndarray):
        own = isinstance(f, MethodType) and (f.__func__.__module__ or "").split(".")[0] != "numpy"  # of a class derived from `ndarray`
        return None if own else functools.partial(_method, f, owner, f.__name__)
    if isinstance(f, np.ufunc):
        name = str(f.__name__)
        return _redirected(name, f, f, converted) if getattr(np, name, None) is f else functools.partial(_foreign_ufunc, f)
    module = getattr(f, "__module__", None) or ""
    if module.split(".")[0] != "numpy" or module.startswith("numpy.random") or owner is not None and not inspect.ismodule(owner):
        return None
    inner = module.partition("._")[0].partition(".")[2]  # `testing` of `numpy.testing._private.utils`
    return _redirected(f"{inner}.{f.__name__}" if inner else f.__name__, f, None, converted)


def _derived_array(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """An object of a class of the user's that is derived from `np.ndarray`."""
    if traced(*args, *kwargs.values()):
        raise NumpyError(
            f"`{cls.__name__}` is derived from `np.ndarray`, whose memory holds concrete values, and receives a traced one", here(),
            "let the class hold the array in an attribute, or write functions of arrays",
        )  # fmt: skip
    return cls(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()})


def _foreign_ufunc(f: np.ufunc, *args: Any, **kwargs: Any) -> Any:
    """A ufunc that is none of NumPy's own: one of `scipy.special`, say."""
    if not traced(*args, *kwargs.values()):
        return f(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
    own = getattr(jax.scipy.special, {"psi": "digamma"}.get(f.__name__, f.__name__), None)
    if own is None:
        raise NumpyError(
            f"`{f.__name__}` is a NumPy ufunc of another library, and is given a traced value", here(), "write it with functions of `jax.numpy`"
        )
    return numpys(_ufunc(f.__name__, own, args, kwargs))


def _redirected(path: str, f: Any, ufunc: Any, converted: Callable[[Any], Any]) -> Callable[..., Any]:
    name = path.rpartition(".")[2]

    def function(*args: Any, **kwargs: Any) -> Any:
        return numpys(computed(*args, **kwargs)) if recording() and name not in _FILES else computed(*args, **kwargs)

    def computed(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, BoundedList) for x in (*args, *kwargs.values())):
            args, kwargs = tuple(map(as_section, args)), {k: as_section(v) for k, v in kwargs.items()}
        if name == "fromiter" and args:
            args = (list(args[0]), *args[1:])
        if isinstance(f, np.ufunc) and len(args) > f.nin:  # `out`, by its position
            args, kwargs["out"] = args[: f.nin], args[f.nin] if len(args) == f.nin + 1 else args[f.nin :]
        if any(isinstance(x, Array) for x in (*args, *kwargs.values())) and (found := of_numpys(path, f, args, kwargs)) is not NotImplemented:
            return found
        if not traced(*args, *kwargs.values()):
            if in_block():
                _refuse_stores(path, name, args, kwargs)
            return f(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
        if any(isinstance(x, PaddedSlice) for x in (*args, *kwargs.values())):
            return function_of(name, args, kwargs)
        args = tuple(_given(a, converted) for a in args)
        kwargs = {k: _given(v, converted) for k, v in kwargs.items()}
        if name in _PLAIN:
            return isscalar(*args) if name == "isscalar" and not kwargs else f(*args, **kwargs)
        if isinstance(f, type) and issubclass(f, (np.number, np.bool_)) and name not in _OTHER:
            return _asarray(args[0] if args else 0, f)
        _refuse(path, name, args, kwargs)
        try:
            return _call(path, f, ufunc, args, kwargs)
        except TypeError as error:
            raise _of_shape(path, error) from None

    return function


def _of_shape(path: str, error: TypeError) -> Exception:
    """JAX's TypeErrors about shapes as what they are in NumPy."""
    text = str(error).splitlines()[0]
    if "concrete values" in text:
        return ConcreteValueError(
            f"a shape given to `np.{path}` is traced, and shapes are static", here(), "take it from a `.shape`, or make it static"
        )
    return ValueError(text) if text.startswith("cannot reshape") else error


def _given(x: Any, converted: Callable[[Any], Any]) -> Any:
    if isinstance(x, (FunctionType, MethodType)):
        return converted(x)
    if isinstance(x, (list, tuple)) and any(isinstance(v, (FunctionType, MethodType)) for v in x):
        return [_given(v, converted) for v in x]
    return map_maybe(lambda m: present(m, "a number is needed, and this is None"), x) if isinstance(x, (Maybe, list, tuple, dict)) else x


def _refuse(path: str, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    if name in _IN_PLACE or path.endswith(".at") or kwargs.get("out") is not None:
        target = kwargs.get("out") if kwargs.get("out") is not None else args[0]
        raise _store(path, target)
    if name in _TEXT:
        raise ConcreteValueError(
            f"`np.{path}` of a traced value, whose text exists only when the program runs", here(), "use `print` or an f-string in it"
        )
    if name in ("extract", "compress"):
        raise ConcreteValueError(f"the length of what `np.{path}` gives depends on traced values", here(), "use `np.where(mask, x, 0)`")
    if name in _FILES:
        raise EffectError(f"`np.{path}` of a traced value, which exists only when the program runs", here(), "return it, and write the file outside")
    if _counterpart(path) is None or name in _OTHER:
        raise NumpyError(f"`np.{path}` of a traced value has no counterpart in `jax.numpy`", here(), "write it with functions of `jax.numpy`")


def _refuse_stores(path: str, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """In a block that may not run, no NumPy array is changed."""
    if name in _IN_PLACE or path.endswith(".at") or kwargs.get("out") is not None:
        raise _store(path, args[0] if kwargs.get("out") is None else kwargs["out"])


def _store(path: str, target: Any) -> AutographError:
    advice = "write `x[i] = v`, `x = np.where(...)`, or `x = x.at[i].add(v)`"
    if isinstance(target, np.ndarray):
        return ArrayStoreError(f"`np.{path}` would change a NumPy array in place in compiled code", here(), advice)
    return NumpyError(f"`np.{path}` changes an array in place, and a traced array cannot be", here(), advice)


def _counterpart(path: str) -> Any:
    """The function of JAX that a function of NumPy's is; None if there is none."""
    if path in _OTHER_NAMES:
        return _OTHER_NAMES[path]
    found: Any = jnp
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


# Functions that `jax.numpy` has under another name only.  To add one, a line here is enough; `_SPECIAL` is for those that mean something else there.
_OTHER_NAMES = {"bool": jnp.bool_, "fix": jnp.trunc} | dict.fromkeys(("asfortranarray", "ascontiguousarray", "asanyarray", "require"), jnp.asarray)


def _call(path: str, f: Any, ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = path.rpartition(".")[2]
    if name in _SPECIAL:
        return _SPECIAL[name](*args, **kwargs)
    function = _counterpart(path)
    if name in MAKERS and (made := made_of_column(name, function, args, kwargs)) is not NotImplemented:
        return made
    if ufunc is f:
        return _ufunc(path, function, args, kwargs)
    parameters = _parameters(f)
    if parameters is None or any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        values: list[tuple[str, Any]] = [("arrays" if name in _ROWS and k == 0 else "", v) for k, v in enumerate(args)]
        args, kwargs = tuple(_argument(name, n, v) for n, v in values), {k: _argument(name, k, v) for k, v in kwargs.items()}
    else:
        args, kwargs = translated(f"np.{path}", "jax.numpy", f, function, args, kwargs, functools.partial(_argument, name))
    sums = name in _SMALL or ufunc in (np.add, np.multiply) and name in ("reduce", "accumulate")
    if sums and kwargs.get("dtype") is None and _is_small(args[0] if args else next(iter(kwargs.values()))):
        kwargs["dtype"] = int
    if "dtype" in kwargs and kwargs["dtype"] is not None:
        kwargs["dtype"] = _dtype(kwargs["dtype"])
    out = function(*args, **kwargs)
    return tuple(out) if name in _TUPLES and type(out) is list else out


@functools.cache
def _parameters(f: Any) -> dict[str, inspect.Parameter] | None:
    try:
        return dict(inspect.signature(f).parameters)
    except (ValueError, TypeError):
        return None


def translated(
    path: str, room: str, f: Any, function: Any, args: Any, kwargs: Any, argument: Callable[[str, Any], Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a function of NumPy's or SciPy's as those of JAX's, which may have other names and fewer options.

    `argument` makes of a parameter's name and value what JAX is given.

    Raises:
      NumpyError: (AG406) an option is given that JAX's has not.
    """
    theirs, ours = _parameters(f), _parameters(function)
    assert theirs is not None
    bound = inspect.signature(f).bind(*args, **kwargs).arguments
    more = [n for n, p in theirs.items() if p.kind is p.VAR_KEYWORD and n in bound]
    if ours is None:
        return args, kwargs
    names = list(ours)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for k, (n, parameter) in enumerate(theirs.items()):
        if n not in bound or n in more:
            continue
        value = argument(n, bound[n])
        own = n if n in ours else names[k] if k < len(names) and names[k] not in theirs else ""
        if not own:
            if bound[n] is not parameter.default:
                raise NumpyError(f"`{n}` of `{path}` has no counterpart in `{room}`", here(), "leave the option out, or compute it another way")
        elif ours[own].kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[own] = value
    return tuple(positional), named | {k: v for n in more for k, v in bound[n].items()}


def _argument(name: str, parameter: str, value: Any) -> Any:
    if parameter in ("repeats", "indices_or_sections") and isinstance(value, (list, tuple)):
        return np.asarray(value)
    if parameter in _STATIC:
        return tuple(value.tolist()) if isinstance(value, np.ndarray) and value.ndim == 1 and parameter in ("shape", "axes", "newshape") else value
    if not isinstance(value, (list, tuple)):
        return value
    if name in _ROWS and parameter not in ("x", "default", "axis"):
        return [_argument("", "", v) if name != "block" else v for v in value]
    return _asarray(value) if _is_numeric(value) else value


def _is_numeric(x: Any) -> bool:
    return all(map(_is_numeric, x)) if isinstance(x, (list, tuple)) else isinstance(x, (int, float, complex, np.generic, np.ndarray, jax.Array))


def _dtype(dtype: Any) -> Any:
    """The type that JAX has in the place of one of NumPy's: 64 bits are 32 without x64."""
    return jax.dtypes.canonicalize_dtype(dtype)


def _is_small(x: Any) -> bool:
    dtype = jnp.asarray(x).dtype
    return dtype.kind == "b" or dtype.kind in "iu" and dtype.itemsize < jnp.zeros((), int).dtype.itemsize


def _ufunc(path: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    left = {k for k, v in kwargs.items() if not (k == "out" and v is None or k == "where" and v is True)} - {"dtype"}
    if left:
        option = sorted(left)[0]
        raise NumpyError(f"`{option}` of `np.{path}` has no counterpart in `jax.numpy`", here(), "leave the option out, or compute it another way")
    args = tuple(_argument("", "", a) for a in args)
    if kwargs.get("dtype") is not None:
        args = tuple(jnp.asarray(a, _dtype(kwargs["dtype"])) for a in args)
    if path == "power":
        _refuse_negative_power(*args)
    return function(*args)


def _refuse_negative_power(base: Any, exponent: Any) -> None:
    kinds = [jnp.asarray(x).dtype.kind for x in (base, exponent)]
    if kinds[0] in "iu" and kinds[1] == "i":
        negative = jnp.any(jnp.asarray(exponent) < 0) if traced(exponent) else bool(np.any(np.asarray(exponent) < 0))
        fail(negative, ValueError, "Integers to negative integer powers are not allowed.")


def _asarray(x: Any = 0, dtype: Any = None, **options: Any) -> Any:
    rows = rows_in_column(x)
    if rows is None and isinstance(x, (list, tuple)):
        _regular_shape(x)
    kwargs = {k: v for k, v in options.items() if k in ("ndmin", "copy") and v is not None}
    return jnp.array(x if rows is None else rows, dtype=None if dtype is None else _dtype(dtype), **kwargs)


def as_array(x: Any) -> Any:
    """What `np.asarray` gives of traced values."""
    return _asarray(x)


def _regular_shape(x: Any) -> tuple[int, ...]:
    if not isinstance(x, (list, tuple)):
        return np.shape(x)
    shapes = {_regular_shape(e) for e in x}
    if len(shapes) > 1:
        raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
    return (len(x), *next(iter(shapes), ()))


def _array(x: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: Any = False, ndmin: int = 0, **options: Any) -> Any:
    return _asarray(x, dtype, ndmin=ndmin)


def _take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    a, indices = jnp.asarray(a), jnp.asarray(indices)
    size = a.size if axis is None else a.shape[axis]
    if mode == "raise":
        indices = inside(indices, size, f"index is out of bounds for {'size' if axis is None else f'axis {axis} with size'} {size}")
    return jnp.take(a, indices, axis=axis, mode="clip" if mode == "raise" else mode)


def _choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    a = jnp.asarray(a)
    if mode == "raise":
        fail(jnp.any((a < 0) | (a >= len(choices))), ValueError, "invalid entry in choice array")
    return jnp.choose(a, [jnp.asarray(c) for c in choices], mode="clip" if mode == "raise" else mode)


def _ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    multi_index = tuple(map(jnp.asarray, multi_index))
    if mode == "raise":
        for i, n in zip(multi_index, dims, strict=True):
            fail(jnp.any((i < 0) | (i >= n)), ValueError, "invalid entry in coordinates array")
    return jnp.ravel_multi_index(multi_index, dims, mode="clip" if mode == "raise" else mode, order=order)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    return jnp.clip(_argument("", "", a), a_min if min is None else min, a_max if max is None else max)


def _reciprocal(x: Any) -> Any:
    x = jnp.asarray(x)
    return lax.div(jnp.ones_like(x), x) if x.dtype.kind in "iu" else jnp.reciprocal(x)


def _meshgrid(*xs: Any, **options: Any) -> Any:
    return tuple(jnp.meshgrid(*(jnp.atleast_1d(_argument("", "", x)) for x in xs), **options))


def _histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    counts, edges = jnp.histogram(_argument("", "", a), _argument("", "", bins), range, weights, density)
    return counts if density or weights is not None else counts.astype(int), edges


def _histogram2d(x: Any, y: Any, **options: Any) -> Any:
    counts, *edges = jnp.histogram2d(_argument("", "", x), _argument("", "", y), **options)
    return counts.astype(float), *edges


def _sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return jnp.sort(_argument("", "", a), axis)


def _argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return jnp.argsort(_argument("", "", a), axis)


def _extreme_place(of: Any, sign: int, a: Any, axis: Any, options: dict[str, Any]) -> Any:
    """`np.argmax`, which goes by the real parts of complex numbers, and then by the others."""
    a = _asarray(a) if isinstance(a, (list, tuple)) else jnp.asarray(a)
    if not jnp.issubdtype(a.dtype, jnp.complexfloating):
        return of(a, axis, **options)
    best = of(a.real, axis, keepdims=True)
    top = jnp.take_along_axis(a.real, best, axis) if axis is not None else a.real.reshape(-1)[best.reshape(-1)[0]]
    return of(jnp.where(a.real == top, a.imag, -sign * jnp.inf), axis, **options)


def _of_arrays(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: f(*(_argument("", "", a) for a in args), **kwargs)


def _roots(p: Any) -> Any:
    """How many there are is known if the first coefficient is not 0."""
    p = _asarray(p)
    fail(p[0] == 0, ValueError, "the first coefficient of a polynomial of traced values is 0: how many roots it has is not known")
    return real_if_all_are(p, jnp.roots(p, strip_zeros=False), "np.roots", "the roots that are real are `r.real[r.imag == 0]`")


_SPECIAL: dict[str, Callable[..., Any]] = {
    "array": _array,
    "asarray": _asarray,
    "copy": lambda a, *args, **kwargs: jnp.array(a),
    "clip": _clip,
    "reciprocal": _reciprocal,
    "meshgrid": _meshgrid,
    "histogram": _histogram,
    "histogram2d": _histogram2d,
    "sort": _sort,
    "argsort": _argsort,
    "take": _take,
    "choose": _choose,
    "argmax": lambda a, axis=None, out=None, **options: _extreme_place(jnp.argmax, 1, a, axis, options),
    "argmin": lambda a, axis=None, out=None, **options: _extreme_place(jnp.argmin, -1, a, axis, options),
    **COUNTED,
    **{name: _of_arrays(f) for name, f in OF_NUMPY.items()},
    "roots": _roots,
    "require": lambda a, dtype=None, requirements=None, **options: _asarray(a, dtype),
    "asanyarray": _asarray,
    **dict.fromkeys(("ascontiguousarray", "asfortranarray"), lambda a, dtype=None, **options: jnp.atleast_1d(_asarray(a, dtype))),
    "ravel_multi_index": _ravel_multi_index,
}


def _elementwise(f: Any, converted: Callable[[Any], Any], *args: Any, **kwargs: Any) -> Any:
    """A call of an `np.vectorize` object."""
    if not traced(*args, *kwargs.values()):
        return f(*args, **kwargs)
    excluded = frozenset(f.excluded) if f.excluded else frozenset()
    return jnp.vectorize(converted(f.pyfunc), excluded=excluded, signature=f.signature)(*args, **kwargs)


def _method_in_place(name: str) -> ArrayStoreError:
    advice = "write `x = np.sort(x)`" if name == "sort" else "write `x[i] = v`, or make it a `jnp` array before"
    return ArrayStoreError(f"the method `{name}` would change a NumPy array in place in compiled code", here(), advice)


def _method(method: Any, array: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """A call of a method of a NumPy array."""
    if name in METHODS_IN_PLACE and (in_block() or traced(*args, *kwargs.values())):
        raise _method_in_place(name)
    if not traced(*args, *kwargs.values()):
        return method(*args, **kwargs)
    return getattr(jnp.asarray(array), name)(*args, **kwargs)


def _as_it_is(f: Any) -> Any:
    return f


def _called(f: Any, args: Any, kwargs: Any) -> Any:
    instead = numpy_call(f, _as_it_is)
    return (instead or f)(*args, **kwargs)


OPERATIONS["function"] = _called
