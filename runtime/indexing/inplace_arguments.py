"""NumPy arrays among the arguments of a compiled function: what it stores into them they hold when the call ends.

Other arrays are values, which the caller keeps.  A trace in which an array is changed in place is made again for calls with arrays of NumPy's there:
what is made of an argument has views and names as that has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from autograph.runtime.arrays.numpy_array import KINDS, MutableArray, View, view
from autograph.runtime.errors.errors import ArrayStoreError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.indexing.array_methods import part
from autograph.runtime.indexing.stores import replace_whole
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import GIVEN, Array, content
from autograph.runtime.tracing.trace_context import Retrace
from autograph.runtime.values.values import NUMBERS

Path = tuple[Any, ...]  # to an argument, or into tuples: numbers of positions, and a name first


class NeedsArrays(Retrace):
    """Not an error: arrays of NumPy's among the arguments change, or it is asked which arguments are NumPy's, or numbers."""


class PlainArguments(threading.local):
    """The arrays of NumPy's that the present call is given."""

    paths: tuple[Any, ...] = ()
    decides = False  # may the program compute a condition only, so that the call can choose another program?
    seen = False  # are the arguments of the call known, of which a trace is made? not if it goes to JAX directly


given = PlainArguments()


def without_numpys(jitted: Callable[..., Any], otherwise: Callable[..., Any], numbers: bool) -> Callable[..., Any]:
    """`jitted` for calls with arrays of JAX's, and `numbers`; `otherwise` for others."""
    known = {_jax.ArrayImpl, *(NUMBERS if numbers else ())}

    def call(*args: Any, **kwargs: Any) -> Any:
        for a in args:
            if type(a) not in known:
                return otherwise(*args, **kwargs)
        return otherwise(*args, **kwargs) if kwargs else jitted(*args)

    return call


def among(args: Sequence[Any], kwargs: dict[str, Any], scalars: bool = False) -> dict[Path, Any]:
    """The arrays of NumPy's among some arguments, also in tuples, lists and dicts; with `scalars` also the numbers."""
    return {path: x for path, x in _each(args, kwargs, _NOTHING - _NUMBERS if scalars else _NOTHING) if _is_numpys(x) or scalars and _is_number(x)}


class Within(NamedTuple):
    """Where in the memory of another argument one lies: in items, not bytes."""

    path: Path
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def of(self, x: Any) -> Any:
        """The same part of an array of that layout."""
        flat, size = x.reshape(-1), x.itemsize
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, tuple(s * size for s in self.strides))


def places(arrays: dict[Path, Any]) -> tuple[tuple[Path, Within | type | None], ...]:
    """Where the arrays of NumPy's are, and which lie in the memory of which; of a number its type."""
    found: dict[Path, Within | type | None] = {path: type(x) for path, x in arrays.items() if _is_number(x)}
    for path, x in sorted(((p, x) for p, x in arrays.items() if p not in found), key=lambda item: -item[1].size):
        found[path] = next((w for base, b in found.items() if b is None and (w := _within(x, base, arrays[base])) is not None), None)
    return tuple(found.items())


def _is_number(x: Any) -> bool:
    return type(x) in _NUMBERS or isinstance(x, np.generic) and x.dtype.kind in KINDS


def _within(x: Any, path: Path, y: Any) -> Within | None:
    if x is y:
        return Within(path, 0, y.shape, tuple(s // y.itemsize for s in np.empty(y.shape, np.int8).strides))
    if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and x.dtype == y.dtype and y.flags.c_contiguous and np.may_share_memory(x, y)):
        return None
    low, high = (np.lib.array_utils.byte_bounds(a) for a in (x, y))
    offset = x.__array_interface__["data"][0] - y.__array_interface__["data"][0]
    if low[0] < high[0] or low[1] > high[1] or offset % y.itemsize or any(s % y.itemsize for s in x.strides):
        return None
    return Within(path, offset // y.itemsize, x.shape, tuple(s // y.itemsize for s in x.strides))


def _is_numpys(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in KINDS and x.ndim > 0 or isinstance(x, MutableArray) and x.ndim > 0


_NOTHING = frozenset({_jax.ArrayImpl, bool, int, float, complex, str, type(None)})  # neither an array that can change, nor what holds one


_NUMBERS = frozenset({bool, int, float, complex})


def _each(args: Sequence[Any], kwargs: dict[str, Any], nothing: frozenset[Any] = _NOTHING) -> Iterator[tuple[Path, Any]]:
    """The parts of arguments that may be arrays which can change, each with the way to it."""
    todo: list[tuple[Path, Any]] = [((k,), a) for k, a in (*enumerate(args), *kwargs.items()) if type(a) not in nothing]
    while todo:
        path, x = todo.pop()
        if type(x) is list or isinstance(x, tuple):
            todo += [((*path, k), v) for k, v in enumerate(x) if type(v) not in nothing]
        elif type(x) is dict:
            todo += [((*path, k), v) for k, v in x.items() if type(v) not in nothing]
        elif _is_node(x):
            todo += [((*path, k), v) for k, v in vars(x).items() if type(v) not in nothing]
        else:
            yield path, x


def _is_node(x: Any) -> bool:
    """Whether it is an object of a class that is a pytree, whose attributes are looked at."""
    return type(x).__dictoffset__ != 0 and trees.is_own_node(x) and not isinstance(x, Array)


def _like(x: Any, parts: list[Any]) -> Any:
    if all(a is b for a, b in zip(parts, x, strict=True)):
        return x
    return type(x)._make(parts) if hasattr(x, "_make") else tuple(parts)


class Arguments:
    """The arrays among the arguments of one trace; those at some `paths` are NumPy's, or numbers, if `scalars` are known."""

    def __init__(self, args: Sequence[Any], kwargs: dict[str, Any], paths: Sequence[tuple[Path, Within | type | None]], scalars: bool) -> None:
        within = dict(paths)
        made: dict[Path, Any] = {}

        def numpys(path: Path, x: Any) -> Any:
            if isinstance(x, tuple):
                return _like(x, [numpys((*path, k), v) for k, v in enumerate(x)])
            for name, v in list(vars(x).items()) if _is_node(x) else ():
                if (new := numpys((*path, name), v)) is not v:
                    object.__setattr__(x, name, new)
            for k in range(len(x)) if type(x) is list else [*x] if type(x) is dict else ():
                if (new := numpys((*path, k), x[k])) is not x[k]:
                    x[k] = new
            if type(x) is Array and not x.ndim:
                x.scalar = within.get(path, False) if scalars else None if x.aval.weak_type else GIVEN
            if path not in within or type(x) is not Array or not x.ndim:
                return x
            made[path] = MutableArray(x.now, x.home)
            return made[path]

        def placed(path: Path, x: Any) -> Any:
            if isinstance(x, tuple):
                return _like(x, [placed((*path, k), v) for k, v in enumerate(x)])
            if not isinstance(w := within.get(path), Within) or w.path not in made:
                return x
            base = made[w.path]
            return base if w.shape == base.shape and w.offset == 0 else view(base, part(base, w.of, w.of(base.shadow)))

        self.args = [numpys((k,), a) for k, a in enumerate(args)]
        self.kwargs = {k: numpys((k,), a) for k, a in kwargs.items()}
        self.args = [placed((k,), a) for k, a in enumerate(self.args)]
        self.kwargs = {k: placed((k,), a) for k, a in self.kwargs.items()}
        arrays = [(path, x) for path, x in _each(self.args, self.kwargs) if isinstance(x, Array) and x.ndim and not isinstance(x, View)]
        one: dict[int, Path] = {}
        self.arrays = {path: (x, x.now) for path, x in arrays if one.setdefault(id(x), path) == path}

    def lasting(self) -> None:
        """What is stored into them is seen after an error."""
        for x, _ in self.arrays.values():
            x.lasts = isinstance(x, MutableArray)

    def stored(self) -> dict[Path, Any]:
        """What those of NumPy's hold that have changed."""
        return {path: content(x) for path, (x, before) in self.arrays.items() if isinstance(x, MutableArray) and x.now is not before}


def refuse(args: Sequence[Any], kwargs: dict[str, Any], arrays: dict[Path, Any], stored: Sequence[Path], name_of: Callable[[Path], str]) -> None:
    """Called before the arrays at some places are given new values.

    Raises:
      ArrayStoreError: (AG403) one could not be given them.
      ValueError: one is read-only.
    """
    for path in stored:
        x, name = arrays[path], name_of(path)
        if isinstance(x, MutableArray):
            continue
        if _jax.recording():
            raise ArrayStoreError(
                f"`{name}` is a NumPy array that this call stores into, inside of another trace: it would not change", here(),
                f"pass `jnp.asarray({name})`, and return the array",
            )  # fmt: skip
        known = dict(places(arrays))
        for other, y in arrays.items():
            if (
                other != path
                and isinstance(y, np.ndarray)
                and (not isinstance(inside := known[other], Within) or inside.path != path)
                and np.may_share_memory(x, y)
                and (x is y or np.shares_memory(x, y))
            ):
                raise ArrayStoreError(
                    f"`{name}`, which is stored into, and `{name_of(other)}` are NumPy arrays that share memory", here(), "pass copies"
                )
        check_stored_back(x, f"`{name}`")


def check_stored_back(x: Any, name: str) -> None:
    """Called before an array is given the values that a call has stored into it.

    Raises:
      ArrayStoreError: (AG403) they would be rounded.
      ValueError: it is read-only.
    """
    if not x.flags.writeable:
        raise ValueError("assignment destination is read-only")
    if jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        return
    wide = x.dtype.kind in "fc" and x.dtype.itemsize > (4 if x.dtype.kind == "f" else 8)
    own = name.strip("`")
    if wide or (x.dtype.itemsize > 4 and x.dtype.kind in "iu" and not _fits(x)):
        raise ArrayStoreError(
            f"{name} is a NumPy array of {x.dtype} that this call stores into, and JAX computes with 32 bits: what is stored back would be "
            "rounded", here(),
            f"make it 32 bits before the call (`{own} = {own}.astype(np.{_NARROW.get(x.dtype.name, 'float32')})`), or set `jax_enable_x64`",
        )  # fmt: skip


_NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}


def _fits(x: Any) -> bool:
    """Whether all integers of an array have 32 bits."""
    narrow = np.iinfo(_NARROW[x.dtype.name])
    return bool(x.size == 0 or (x.min() >= narrow.min and x.max() <= narrow.max))


def put_back(arrays: dict[Path, Any], finals: dict[Path, Any] | None) -> None:
    """Give the callers' arrays the values that a call has computed."""
    for path, final in (finals or {}).items():
        x = arrays[path]
        if isinstance(x, MutableArray):
            replace_whole(x, final)
        else:
            np.copyto(x, np.asarray(final), casting="unsafe")
