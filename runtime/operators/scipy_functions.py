"""SciPy's functions on traced values: those of `jax.scipy`, as NumPy's are those of `jax.numpy`.

With nothing traced among the arguments each is SciPy's own.  SciPy is never imported here: its functions are known by where they come from.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.numpy_array import numpys, with_values
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.errors.errors import NumpyError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.operators.linear_algebra import OF_SCIPY
from autograph.runtime.operators.numpy_functions import as_array, translated
from autograph.runtime.values.values import traced

_ELSEWHERE = {  # what `jax.numpy` has, and means the same
    "linalg": {name: getattr(jnp.linalg, name) for name in ("norm", "pinv", "eigvals", "eigvalsh", "svdvals")} | {"kron": jnp.kron},
    "fft": {name: getattr(jnp.fft, name) for name in (
        "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftshift ifftshift fftfreq rfftfreq".split()
    )},
}  # fmt: skip
_NO_MATTER = frozenset("check_finite overwrite_a overwrite_b overwrite_ab overwrite_x lapack_driver overwrite_input".split())  # only how it is done


def scipy_call(f: Any, converted: Callable[[Any], Any]) -> Callable[..., Any] | None:
    """What to call in the place of a function, class or method of SciPy's; None if `f` is none of these.

    `converted` converts the functions of the user's among its arguments.
    """
    owner = getattr(f, "__self__", None)
    module = getattr(f, "__module__", None) or ""
    if not module.startswith("scipy."):
        return None
    if type(f).__name__ == "interp1d" and type(f).__module__.startswith("scipy.interpolate"):
        return functools.partial(_interpolated, f)
    if isinstance(f, MethodType) and not isinstance(owner, type):
        return functools.partial(_of_object, f, owner)
    name = f.__qualname__ if isinstance(owner, type) or "." in getattr(f, "__qualname__", "") else getattr(f, "__name__", "")
    return functools.partial(_called, f, _public(module), name, converted) if name else None


def _public(module: str) -> str:
    """The public module of a private one, without `scipy`."""
    return module.partition("._")[0].partition(".")[2]


def _called(f: Any, room: str, name: str, converted: Callable[[Any], Any], *args: Any, **kwargs: Any) -> Any:
    if not traced(*args, *kwargs.values()):
        return with_values(f)(*args, **kwargs)
    args = tuple(converted(a) if isinstance(a, (FunctionType, MethodType)) else _given(a) for a in args)
    kwargs = {k: _given(v) for k, v in kwargs.items() if k not in _NO_MATTER}
    if (room, name) in _OWN:
        return numpys(_OWN[room, name](*args, **kwargs))
    own = _counterpart(room, name)
    if isinstance(f, type) or "." in name or isinstance(own, type):
        return own(*args, **kwargs)
    if _has_signature(f) and _has_signature(own):
        args, kwargs = translated(f"scipy.{room}.{name}", "jax.scipy", f, own, args, kwargs, lambda _, x: x)
    return numpys(own(*args, **kwargs))


def _has_signature(f: Any) -> bool:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.kind is not p.VAR_POSITIONAL for p in parameters)


def _given(x: Any) -> Any:
    """Lists of traced values are arrays to SciPy; a factored matrix, say, is a tuple of several things."""
    return as_array(x) if isinstance(x, (list, tuple)) and traced(x) and len({np.shape(v) for v in x}) == 1 else x


def _counterpart(room: str, name: str) -> Any:
    """What `jax.scipy` or `jax.numpy` has in the place of a function.

    Raises:
      NumpyError: (AG406) neither has it; the error names what is nearest.
    """
    found: Any = _room(room)
    near = [n for n in dir(found) if not n.startswith("_")] if found is not None else []
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        found = _ELSEWHERE.get(room, {}).get(name)
    if found is None:
        close = importlib.import_module("difflib").get_close_matches(name, near, 2, 0.5)
        advice = f"`jax.scipy.{room}` has {_listed(close or near)}" if near else "write it with functions of `jax.numpy`"
        raise NumpyError(f"`scipy.{room}.{name}` of a traced value has no counterpart in `jax.scipy`", here(), advice)
    return found


def _listed(names: Sequence[str]) -> str:
    shown = [f"`{n}`" for n in names[:8]]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")


def _room(room: str) -> Any:
    try:
        return importlib.import_module(f"jax.scipy.{room}")
    except ImportError:
        return None


def _of_object(f: Any, owner: Any, *args: Any, **kwargs: Any) -> Any:
    """A method of a distribution, frozen or not, or of another object of SciPy's."""
    held = [*getattr(owner, "args", ()), *getattr(owner, "kwds", {}).values()]
    if not traced(*args, *kwargs.values(), *held):
        return with_values(f)(*args, **kwargs)
    dist = getattr(owner, "dist", owner)
    name = getattr(dist, "name", None) or type(dist).__name__.removesuffix("_gen").removesuffix("_frozen")
    if _public(type(dist).__module__) != "stats":
        raise NumpyError(
            f"`{type(owner).__name__}.{f.__name__}` of a traced value stays SciPy's, which computes with concrete values", here(),
            "compute it before the compiled function, or with functions of `jax.scipy`",
        )  # fmt: skip
    own = _counterpart(f"stats.{name}" if _room(f"stats.{name}") is not None else "stats", f.__name__)
    given = [*args, *(held if dist is not owner else ())]
    if dist is not owner and hasattr(owner, "kwds"):
        given, kwargs = [*args, *owner.args], {**owner.kwds, **kwargs}
    if name == "multivariate_normal":
        given, kwargs = _normal(owner, dist, args, kwargs)
    out = own(*map(_given, given), **{k: _given(v) for k, v in kwargs.items()})
    return numpys(jnp.squeeze(out) if name == "multivariate_normal" else out)  # as SciPy's


def _normal(owner: Any, dist: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a normal distribution of several variables, whose mean is 0 and covariance 1 where none is given."""
    if hasattr(owner, "mean") and dist is not owner or hasattr(owner, "cov_object"):
        args, kwargs = (args[0], owner.mean, owner.cov), {}
    x, mean, cov = [*args, None, None][:3]
    mean, cov = kwargs.get("mean", mean), kwargs.get("cov", cov)
    size = next((np.shape(v)[-1] for v in (mean, cov) if v is not None and np.ndim(v)), 1)
    mean = jnp.zeros(size) if mean is None else jnp.broadcast_to(as_array(mean), (size,))
    cov = as_array(1.0 if cov is None else cov)
    spread = jnp.eye(size) * cov if cov.ndim == 0 else jnp.diag(cov) if cov.ndim == 1 else cov
    x = as_array(kwargs.get("x", x))
    return [x[..., None] if size == 1 and x.ndim < 2 else x, mean, spread], {}


def _interpolated(f: Any, new: Any) -> Any:
    """A call of an `interp1d` of known values."""
    if not traced(new):
        return with_values(f)(new)
    return _interp1d(f.x, f.y, f._kind, bounds_error=f.bounds_error, fill_value=f.fill_value, assume_sorted=True)(new)


def _interp1d(
    x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: Any = None, bounds_error: Any = None, fill_value: Any = np.nan,
    assume_sorted: bool = False,
) -> Callable[[Any], Any]:  # fmt: skip
    """`scipy.interpolate.interp1d` of one axis, linear: https://docs.scipy.org/doc/scipy/reference/generated/scipy.interpolate.interp1d.html"""
    x, y = as_array(x), as_array(y)
    if kind != "linear" or y.ndim != 1:
        raise NumpyError("`scipy.interpolate.interp1d` of traced values is linear, of one axis", here(), "use `jnp.interp` row by row")
    if not assume_sorted:
        order = jnp.argsort(x)
        x, y = x[order], y[order]
    extrapolates = isinstance(fill_value, str) and fill_value == "extrapolate"

    def interpolated(new: Any) -> Any:
        new = as_array(new)
        if extrapolates:
            low = y[0] + (new - x[0]) * (y[1] - y[0]) / (x[1] - x[0])
            high = y[-1] + (new - x[-1]) * (y[-1] - y[-2]) / (x[-1] - x[-2])
        elif bounds_error is False or bounds_error is None and not _is_nan(fill_value):
            low, high = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
        else:
            low = high = np.nan
            fail(jnp.any(new < x[0]), ValueError, "A value in x_new is below the interpolation range.")
            fail(jnp.any(new > x[-1]), ValueError, "A value in x_new is above the interpolation range.")
        return numpys(jnp.where(new < x[0], low, jnp.where(new > x[-1], high, jnp.interp(new, x, y))))

    return interpolated


def _is_nan(x: Any) -> bool:
    return isinstance(x, float) and x != x


def _minimize(fun: Any, x0: Any, args: tuple[Any, ...] = (), method: str | None = None, **options: Any) -> Any:
    """`scipy.optimize.minimize`, of which JAX has the method that SciPy takes where none is named."""
    return _counterpart("optimize", "minimize")(fun, as_array(x0), args, method=method or "BFGS", **options)


def _distances(a: Any, b: Any, metric: str = "euclidean", **options: Any) -> Any:
    """`scipy.spatial.distance.cdist` by the metrics that are a line: https://docs.scipy.org/doc/scipy/reference/generated/scipy.spatial.distance.cdist.html"""
    apart = jnp.abs(as_array(a)[:, None, :] - as_array(b)[None, :, :])
    known = {
        "euclidean": lambda: jnp.sqrt(jnp.sum(apart**2, -1)), "sqeuclidean": lambda: jnp.sum(apart**2, -1), "cityblock": lambda: jnp.sum(apart, -1),
        "chebyshev": lambda: jnp.max(apart, -1),
    }  # fmt: skip
    if metric not in known or options:
        raise NumpyError(
            f"`cdist` of traced values with {metric!r}", here(), f"use {_listed(list(known))}, or `jax.vmap` of the distance of two rows"
        )
    return known[metric]()


_OWN: dict[tuple[str, str], Callable[..., Any]] = {
    ("interpolate", "interp1d"): _interp1d, ("optimize", "minimize"): _minimize, ("spatial.distance", "cdist"): _distances,
    ("sparse", "issparse"): lambda x: False, ("sparse", "isspmatrix"): lambda x: False, **OF_SCIPY,
}  # fmt: skip
