"""NumPy's arrays in a trace: objects that change in place, of which slices and the like are views.

    v = a[1:]; v += x         `a` is a `MutableArray`, `v` a `View` of it at an index; the store goes to `a`, and both show it

`MutableArray.now` is its value: an `ndarray` while nothing traced has come in, so what is computed from it stays static; a tracer afterwards.  A
`View` holds no value: it is an index (`ViewIndex`) into the array that it is taken from, and reads and stores there.

JAX keeps a constant by reference, so it is never given the `ndarray` itself: `constant` makes a copy, and keeps it until the next store.
"""

from __future__ import annotations

import itertools
import operator
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.indices import as_index
from autograph.runtime.arrays.view_index import Index, ViewIndex, as_tuple, composed, count_axes, is_basic, moved
from autograph.runtime.errors.source_spans import JAX
from autograph.runtime.jaxapi.private import core, dtypes
from autograph.runtime.jaxapi.tracers import CHANGED, GIVEN, LISTS, OF_NUMPY, Array, content, home_trace, is_number, taken_by_jax

KINDS = "biufc"
_moments = itertools.count(1)


def moment() -> int:
    """A number that is greater than those given before."""
    return next(_moments)


class MutableArray(Array):
    """An array of NumPy's.  `shadow` is memory of its layout that nobody touches: what NumPy makes of it tells what is a view."""

    __slots__ = ("_shadow", "before", "changed", "frozen", "perhaps", "raw", "views")

    def __init__(self, now: Any, home: Any, shadow: Any = None) -> None:
        super().__init__(now, home)
        self._shadow, self.changed = shadow, 0  # `changed`: the moment of the last store
        self.frozen: Any = None  # what it holds, and the copy of that which JAX is given
        self.views: dict[Any, Any] | None = None  # which array the view at a place is (`array_aliasing.py`)
        self.perhaps: Any = ()  # what may be a view of it, held weakly
        self.raw: Any = None  # the array of the code around that it stands for, which stays what it is while a trace is made

    @property
    def known(self) -> bool:
        """Whether what it holds is an array of NumPy's."""
        return isinstance(self.now, np.ndarray)

    @property
    def shadow(self) -> Any:
        if self._shadow is None:
            now = self.now
            if isinstance(now, np.ndarray):
                base = np.empty(now.shape, np.int8, order="F" if now.flags.f_contiguous and not now.flags.c_contiguous else "C")
            else:
                base = np.empty(now.shape, np.int8)
            self._shadow = base
        return self._shadow

    @property
    def aval(self) -> Any:
        return core.typeof(content(self))

    @property
    def _trace(self) -> Any:
        return self.now._trace if isinstance(self.now, core.Tracer) else core.eval_trace

    def constant(self) -> Any:
        """The copy is kept while it holds this `ndarray`: a store in place forgets it, and another in its place is not this one."""
        if self.frozen is None or self.frozen[0] is not self.now:
            self.frozen = self.now, super().constant()
        return self.frozen[1]

    def full_lower(self) -> Any:
        return core.full_lower(content(self))

    def to_concrete_value(self) -> Any:
        return self.now if self.known else core.to_concrete_value(self.now)

    def __jax_array__(self) -> Any:
        """What JAX makes an array of: `dtype` tells of the array in Python, which may have 64 bits."""
        return content(self)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __getitem__(self, index: Any) -> Any:
        return item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        OPERATIONS["store"](self, index, value)

    def __bool__(self) -> bool:
        return bool(self.now)

    def __int__(self) -> int:
        return int(self.now)

    def __float__(self) -> float:
        return float(self.now)

    def __complex__(self) -> complex:
        return complex(self.now)

    def __index__(self) -> int:
        return operator.index(self.now)

    def __repr__(self) -> str:
        return repr(self.now)

    def __str__(self) -> str:
        return str(self.now)

    def __format__(self, spec: str) -> str:
        return format(self.now, spec)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.now.__reduce_ex__(protocol) if self.known else super().__reduce_ex__(protocol)

    def __contains__(self, x: Any) -> Any:
        return (self == x).any()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if not self.known:
            return self.now.__array__()
        return np.array(self.now, dtype) if copy else np.asarray(self.now, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return OPERATIONS["function"](ufunc if method == "__call__" else getattr(ufunc, method), args, kwargs)

    def __array_function__(self, f: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        return OPERATIONS["function"](f, args, kwargs)

    @property
    def dtype(self) -> Any:
        """NumPy's type, of 64 bits too; to JAX's own code the type of the value that it is given, so that both are of one type to it."""
        found = self.now.dtype
        return dtypes.canonicalize_dtype(found) if sys._getframe(1).f_code.co_filename.startswith(JAX) else found

    @property
    def shape(self) -> tuple[int, ...]:
        return self.now.shape  # type: ignore[no-any-return]

    @shape.setter
    def shape(self, shape: Any) -> None:
        OPERATIONS["reshape"](self, shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return self.now.size  # type: ignore[no-any-return]

    @property
    def base(self) -> Any:
        return None

    @property
    def flags(self) -> Any:
        return self.shadow.flags

    @property
    def strides(self) -> Any:
        return tuple(s * self.dtype.itemsize for s in self.shadow.strides)

    @property
    def nbytes(self) -> int:
        return int(self.size * self.dtype.itemsize)

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)


class View(MutableArray):
    """A part of an array of NumPy's, as it is at each time."""

    __slots__ = ("part", "whole")

    def __init__(self, whole: MutableArray, part: ViewIndex, shadow: Any) -> None:
        self.whole, self.part = whole, part
        placed = whole.home if not isinstance(part, Index) or not _has_tracer(part.index) else weakref.ref(home_trace())
        self.home, self.who, self.lasts, self.scalar = placed, None, False, None
        self._shadow, self.frozen, self._line_info = shadow, None, None

    @property
    def now(self) -> Any:
        whole = self.whole
        now = whole.now
        found = self.part.get(whole.constant() if isinstance(now, np.ndarray) and self.part.traced else now)
        return found.now if isinstance(found, Array) else found

    def constant(self) -> Any:
        return Array.constant(self)

    @property
    def base(self) -> Any:
        return self.whole

    @property
    def place(self) -> Any:
        """Which part of the root it is; None where only traced values tell."""
        around = self.whole.place if isinstance(self.whole, View) else ()
        return None if around is None or self.part.place is None else (*around, self.part.place)

    @property
    def root(self) -> MutableArray:
        return self.whole.root if isinstance(self.whole, View) else self.whole


OPERATIONS: dict[str, Callable[..., Any]] = {}  # what is done to such arrays, by files above this one


def numpys(x: Any) -> Any:
    """What is computed by NumPy, or stands for that: an array is an object of NumPy's, anything else what it is."""
    if type(x) is Array:
        if x.ndim:
            return MutableArray(x.now, x.home)
        if x.scalar is None and not getattr(x.aval, "weak_type", False):  # what NumPy computes of no axis is a number
            x.scalar = OF_NUMPY
        return x
    if isinstance(x, MutableArray):  # which is an `ndarray` to `isinstance`
        return x
    if isinstance(x, np.ndarray):
        return MutableArray(x, weakref.ref(home_trace())) if x.dtype.kind in KINDS else x
    if type(x) in (tuple, list):
        return type(x)(map(numpys, x))
    return x


def as_kind(x: Any, of_numpy: bool) -> Any:
    """The object that an array is: one of NumPy's or of JAX's."""
    return numpys(x) if of_numpy else x


def is_known(x: Any) -> bool:
    """Whether it is an array of NumPy's that holds nothing traced."""
    return isinstance(x, MutableArray) and x.known


def plain(x: Any) -> Any:
    """An array of NumPy's that is known as an `ndarray`; lists and tuples likewise; anything else as it is."""
    if is_known(x):
        return x.now
    if type(x) in (tuple, list):
        found = [plain(v) for v in x]
        return x if all(a is b for a, b in zip(found, x, strict=True)) else type(x)(found)
    if type(x) is dict:
        return {k: plain(v) for k, v in x.items()}
    return x


def with_values(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is not converted: arrays of NumPy's that are known are to it what they are, as for hashes, buffers and files."""

    def values_call(*args: Any, **kwargs: Any) -> Any:
        return f(*_as_values(args), **{k: _as_value(v) for k, v in kwargs.items()})

    return values_call


def _as_value(x: Any) -> Any:
    """A list or dict stays the one that it is: the function may change it."""
    return x.now if is_known(x) else _as_values(x) if type(x) is tuple else x


def _as_values(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(_as_value, args))


def view(x: MutableArray, part: ViewIndex) -> MutableArray:
    """A view of an array; the parts of parts are one part where that can be."""
    shadow = part.of_shadow(x.shadow)
    if isinstance(x, View) and isinstance(part, Index):
        if isinstance(x.part, Index) and (index := composed(x.whole.shape, x.part.index, part.index)) is not None:
            return View(x.whole, Index(index), shadow)
        perm = getattr(x.part, "permuted", None)
        if perm is not None and (found := moved(perm, x.whole.shape, part.index)) is not None:
            index, order = found
            inner = view(x.whole, Index(index))
            return inner if order == tuple(range(len(order))) else View(inner, _transposed(order), shadow)
    return View(x, part, shadow)


def _transposed(order: tuple[int, ...]) -> ViewIndex:
    found: ViewIndex = OPERATIONS["transposed"](order)
    return found


def item(x: MutableArray, index: Any) -> Any:
    """`x[index]`: a view where NumPy takes one, a number where it is one, or else a copy."""
    index = plain(index)
    if is_basic(index):
        parts = as_tuple(index)
        if any(i is Ellipsis for i in parts) or count_axes(parts, x.ndim) > 0:
            return view(x, Index(tuple(parts)))
        return numpys(x.now[parts] if not x.known or not _has_tracer(parts) else jnp.asarray(content(x))[parts])
    if x.known and not _has_tracer(as_tuple(index)):
        return numpys(x.now[index])
    return numpys(jnp.asarray(content(x))[as_index(index)])


def _has_tracer(parts: Any) -> bool:
    """Whether part of an index is traced."""
    return any(isinstance(p, core.Tracer) or isinstance(p, (list, tuple)) and _has_tracer(p) for p in parts)


def _binary(name: str) -> Callable[..., Any]:
    by_numpy = getattr(np.ndarray, name)
    by_jax = getattr(Array, name)

    def operate(self: MutableArray, other: Any) -> Any:
        if isinstance(other, core.Tracer) and not isinstance(other, MutableArray):
            if not is_number(other):
                return by_jax(self, other)  # an array of JAX's gives one
            CHANGED.guessed = CHANGED.guessed or getattr(other, "scalar", None) is GIVEN
        if type(other) in (list, tuple):
            other = OPERATIONS["function"](np.asarray, (other,), {})
        other_value = plain(other)
        if self.known and not isinstance(other_value, core.Tracer):
            return numpys(by_numpy(self.now, other_value))
        if other_value is not other and isinstance(other_value, np.ndarray):
            other_value = content(other)
        return numpys(by_jax(self, other_value))

    operate.__name__ = operate.__qualname__ = name
    return operate


def _unary(name: str) -> Callable[..., Any]:
    by_numpy = getattr(np.ndarray, name)
    by_jax = getattr(Array, name)

    def operate(self: MutableArray) -> Any:
        return numpys(by_numpy(self.now) if self.known else by_jax(self))

    operate.__name__ = operate.__qualname__ = name
    return operate


def _in_place(name: str) -> Callable[..., Any]:
    symbol = f"__{name[3:]}"

    def operate(self: MutableArray, other: Any) -> Any:
        OPERATIONS["update"](self, symbol, other)
        return self

    operate.__name__ = operate.__qualname__ = name
    return operate


def _beside_list(name: str, number: Any, items: Any) -> Any:
    """A number of NumPy's beside a list, which is an array to it."""
    return getattr(OPERATIONS["function"](np.asarray, (number,), {}), name)(OPERATIONS["function"](np.asarray, (items,), {}))


LISTS.operator = _beside_list
_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
for _name in _BINARY.split():
    for _full in (f"__{_name}__", f"__r{_name}__"):
        setattr(MutableArray, _full, _binary(_full))
    setattr(MutableArray, f"__i{_name}__", _in_place(f"__i{_name}__"))
for _name in "divmod rdivmod lt le gt ge eq ne".split():
    setattr(MutableArray, f"__{_name}__", _binary(f"__{_name}__"))
for _name in "neg pos abs invert".split():
    setattr(MutableArray, f"__{_name}__", _unary(f"__{_name}__"))
taken_by_jax(MutableArray)
taken_by_jax(View)
MutableArray.__hash__ = None  # type: ignore[method-assign, assignment]
MutableArray.__name__, View.__name__ = "NumpyTracer", "ViewTracer"  # as messages have it
