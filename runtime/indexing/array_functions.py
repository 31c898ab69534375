"""Functions of NumPy that give views of an array, or change one, as they are for NumPy's arrays in a trace."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.numpy_array import OPERATIONS, MutableArray, is_known, numpys, plain, view
from autograph.runtime.indexing.array_methods import part, put_items
from autograph.runtime.indexing.stores import replace_whole, update_at
from autograph.runtime.jaxapi.tracers import Array, content

_VIEWS = frozenset(
    "transpose reshape ravel squeeze expand_dims swapaxes moveaxis rollaxis diagonal split array_split hsplit vsplit dsplit unstack atleast_1d "
    "atleast_2d atleast_3d broadcast_to broadcast_arrays ascontiguousarray asfortranarray require flip fliplr flipud rot90 matrix_transpose "
    "permute_dims lib.stride_tricks.sliding_window_view linalg.matrix_transpose linalg.diagonal einsum".split()
)
_SAME = frozenset("asarray asanyarray asarray_chkfinite".split())


def of_numpys(path: str, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function of NumPy, one of whose arguments is one of NumPy's arrays; NotImplemented if it neither gives a view nor changes one."""
    first = args[0] if args else None
    target = kwargs.get("out") if path not in _IN_PLACE and not path.endswith(".at") else first
    if is_known(target) and (path in _IN_PLACE or path.endswith(".at") or kwargs.get("out") is not None) and _all_known(args, kwargs):
        return _by_numpy(f, target, args, kwargs)  # type: ignore[arg-type]
    if path in _IN_PLACE and isinstance(first, Array):
        return _IN_PLACE[path](*args, **kwargs)
    if path.endswith(".at") and isinstance(first, Array):
        return _at(f, *args)
    if kwargs.get("out") is not None:
        return _into(f, args, kwargs)
    if path in ("nditer", "ndenumerate") and isinstance(first, MutableArray):
        return _Items(first, path == "ndenumerate", kwargs)
    if path == "einsum" and len(args) == 2 and isinstance(args[1], MutableArray) and isinstance(first, str):
        return _views(f, args, kwargs)
    if not isinstance(first, MutableArray):
        return NotImplemented
    if path in _SAME:
        dtype = kwargs.get("dtype", args[1] if len(args) > 1 else None)
        return first if (dtype is None or np.dtype(dtype) == first.dtype) and not kwargs.get("copy") else NotImplemented
    if path in ("real", "imag"):
        return getattr(first, path)
    return _views(f, args, kwargs) if path in _VIEWS else NotImplemented


def _all_known(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return all(map(_known, (*args, *kwargs.values())))


def _known(x: Any) -> bool:
    return all(map(_known, x)) if isinstance(x, (list, tuple)) else not isinstance(x, jax.Array) or is_known(x)


def _by_numpy(f: Any, x: MutableArray, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy itself changes: nothing traced is among the arguments."""
    new = x.now.copy()
    found = f(*(new if a is x else plain(a) for a in args), **{k: new if a is x else plain(a) for k, a in kwargs.items()})
    replace_whole(x, new)
    return x if found is new else found


def _views(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    arrays = [x for x in args if isinstance(x, MutableArray)]
    if len(arrays) != 1:
        if f is np.broadcast_arrays:
            shape = np.broadcast_shapes(*(np.shape(x) for x in args))
            return tuple(numpys(_views(np.broadcast_to, (x, shape), {})) if isinstance(x, MutableArray) else np.broadcast_to(x, shape) for x in args)
        return NotImplemented
    (x,) = arrays

    def taken(s: Any) -> Any:
        return f(*(s if a is x else a for a in args), **kwargs)

    found = taken(x.shadow)
    several = type(found) in (list, tuple)
    parts = list(found) if several else [found]
    if not all(isinstance(p, np.ndarray) and np.may_share_memory(p, x.shadow) for p in parts):
        return NotImplemented
    made = []
    for k, p in enumerate(parts):
        if p is x.shadow:
            return x
        made.append(view(x, part(x, functools.partial(_one_of, taken, k if several else None), p)))
    return type(found)(made) if several else made[0]


def _one_of(taken: Callable[[Any], Any], k: int | None, x: Any) -> Any:
    return taken(x) if k is None else taken(x)[k]


class _Items:
    """`np.nditer` and `np.ndenumerate` of an array: its items one by one, which change with it."""

    def __init__(self, x: MutableArray, numbered: bool, options: dict[str, Any]) -> None:
        self.x, self.numbered = x, numbered
        self.multi_index: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        for place in np.ndindex(self.x.shape):
            self.multi_index = place
            yield (place, self.x[place]) if self.numbered else self.x[(*place, ...)]

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def _into(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with `out=`: what the function gives is stored there."""
    out = kwargs["out"]
    outs = out if type(out) is tuple else (out,)
    if not all(isinstance(o, Array) for o in outs if o is not None):
        return NotImplemented
    where = kwargs.get("where", True)
    rest = {k: v for k, v in kwargs.items() if k not in ("out", "where")}
    made = OPERATIONS["function"](f, args, rest)
    several = type(made) in (tuple, list)
    for o, new in zip(outs, made if several else (made,), strict=True):
        if o is not None:
            replace_whole(o, new if where is True else jnp.where(content(where), content(new), content(o)))
    return out if not several else tuple(outs)


def _at(f: Any, x: Array, where: Any, *values: Any) -> None:
    """`np.add.at(x, where, values)`: each place as often as it is there."""
    update_at(x, where, f.__self__.__name__, *values)


def _copyto(dst: Array, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    new = jnp.broadcast_to(jnp.asarray(content(src)), dst.shape)
    replace_whole(dst, new if where is True else jnp.where(content(where), new, content(dst)))


def _put(a: Array, ind: Any, v: Any, mode: str = "raise") -> None:
    put_items(a, ind, v)


def _putmask(a: Array, mask: Any, values: Any) -> None:
    replace_whole(a, jnp.where(jnp.asarray(content(mask)), jnp.resize(jnp.asarray(content(values)), a.shape), content(a)))


def _place(arr: Array, mask: Any, vals: Any) -> None:
    flat = jnp.asarray(content(mask)).reshape(-1)
    values = jnp.asarray(content(vals)).reshape(-1)
    chosen = values[(jnp.cumsum(flat) - 1) % values.size].reshape(arr.shape)
    replace_whole(arr, jnp.where(flat.reshape(arr.shape), chosen, content(arr)))


def _fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    replace_whole(
        a,
        jnp.fill_diagonal(
            jnp.asarray(content(a)), jnp.asarray(content(val)).astype(jax.dtypes.canonicalize_dtype(a.dtype)), wrap=wrap, inplace=False
        ),
    )


def _put_along_axis(arr: Array, indices: Any, values: Any, axis: int | None) -> None:
    values = jnp.asarray(content(values)).astype(jax.dtypes.canonicalize_dtype(arr.dtype))
    replace_whole(arr, jnp.put_along_axis(jnp.asarray(content(arr)), jnp.asarray(content(indices)), values, axis, inplace=False))


_IN_PLACE: dict[str, Callable[..., Any]] = {
    "copyto": _copyto, "put": _put, "putmask": _putmask, "place": _place, "fill_diagonal": _fill_diagonal, "put_along_axis": _put_along_axis,
}  # fmt: skip
