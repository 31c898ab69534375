"""NumPy arrays among the arguments of a compiled function that stores into them: they have the new values when the call ends.

Other arrays are values, which the caller keeps.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import jax
import numpy as np

from autograph.runtime import _jax, trees
from autograph.runtime._jax import recording
from autograph.runtime.aliasing import variant_of
from autograph.runtime.arrays.objects import Array
from autograph.runtime.calls import call
from autograph.runtime.errors import ArrayStoreError, Place
from autograph.runtime.frames import Frame
from autograph.runtime.options import name_of
from autograph.runtime.parameters import changed_in_place
from autograph.runtime.places import here
from autograph.runtime.raw_errors import mark_of, named
from autograph.runtime.unwound import became, parameters_at
from autograph.runtime.values import NUMBERS

_STORES = frozenset({"set_item", "update_item", "set_path", "update_path"})


def without_numpys(jitted: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """`jitted` for calls with arrays of JAX's and numbers, `otherwise` for others."""

    def call(*args: Any, **kwargs: Any) -> Any:
        for a in args:
            if type(a) is not _jax.ArrayImpl and type(a) not in NUMBERS:
                return otherwise(*args, **kwargs)
        return otherwise(*args, **kwargs) if kwargs else jitted(*args)

    return call


class Stored:
    """Which parameters a function stores into."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        variant = variant_of(fn)
        self.fn, self.names = fn, variant.names if variant is not None else ()
        code: Any = getattr(fn, "__code__", None)
        # A transpiled function has no variant: a store into an argument is refused when it is traced.
        self.transpiled = isinstance(code, CodeType) and variant is None and mark_of(code) not in ("Form", "Staged") and _mentions_stores(code)
        self.augmented = changed_in_place(code, self.names) if isinstance(code, CodeType) else {}
        self.possible = bool(self.names or self.augmented) or self.transpiled
        self.place = Place(code.co_filename, code.co_firstlineno) if code is not None else None

    def concerns(self, args: Any, kwargs: Any) -> bool:
        """Whether calls with such arguments, or traces of them, have to be looked at."""
        if not self.possible or self.names or self.transpiled:
            return self.possible
        try:
            given = inspect.signature(self.fn).bind(*args, **kwargs).arguments
        except TypeError:
            return True
        return any(getattr(given.get(name), "ndim", 0) for name in self.augmented)

    def arrays(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """The NumPy arrays among the arguments that may be stored into, by the names of their parameters.

        Raises:
          ArrayStoreError: (AG403) one could not be given the new values.
          ValueError: one is read-only.
        """
        if not any(isinstance(x, np.ndarray) for x in (*args, *kwargs.values())):
            return {}
        try:
            given = inspect.signature(self.fn).bind(*args, **kwargs).arguments
        except TypeError:  # the call itself will say so
            return {}
        for name, place in self.augmented.items():
            if isinstance(x := given.get(name), np.ndarray) and x.ndim:
                raise ArrayStoreError(
                    f"`{name}` is a NumPy array that this call changes in place, and the caller's would not change", place,
                    f"store into it (`{name}[:] += ...`, `{name}[:] = jnp.sort({name})`), or bind a new one (`{name} = {name} + ...`)",
                )  # fmt: skip
        if not (self.names or self.transpiled):
            return {}
        found = {n: x for n, x in given.items() if isinstance(x, np.ndarray) and (n in self.names or not self.names)}
        if self.names:
            for name, x in found.items():
                self._check(name, x, [(n, y) for n, y in given.items() if n != name and isinstance(y, np.ndarray)])
        return found

    def _check(self, name: str, x: Any, others: list[tuple[str, Any]]) -> None:
        advice = f"pass `jnp.asarray({name})`, and return the array"
        if x.dtype.kind not in "biufc":
            return  # JAX says so
        if recording():
            raise ArrayStoreError(
                f"`{name}` is a NumPy array that this call stores into, inside of another trace: it would not change", here(), advice
            )
        if not x.flags.writeable:
            raise ValueError("assignment destination is read-only")
        for other, y in others:
            if np.may_share_memory(x, y) and (x is y or np.shares_memory(x, y)):
                raise ArrayStoreError(f"`{name}`, which is stored into, and `{other}` are NumPy arrays that share memory", here(), "pass copies")
        if jax.config.jax_enable_x64:  # type: ignore[attr-defined]
            return
        wide = x.dtype.kind in "fc" and x.dtype.itemsize > (4 if x.dtype.kind == "f" else 8)
        if wide or (x.dtype.itemsize > 4 and x.dtype.kind in "iu" and not _fits(x)):
            raise ArrayStoreError(
                f"`{name}` is a NumPy array of {x.dtype} that this call stores into, and JAX computes with 32 bits: what is stored back would be "
                "rounded", here(),
                f"make it 32 bits before the call (`{name} = {name}.astype(np.{_NARROW.get(x.dtype.name, 'float32')})`), or set `jax_enable_x64`",
            )  # fmt: skip

    def call(self, args: Any, kwargs: Any, frame: Frame) -> tuple[Any, dict[str, Any]]:
        """The function in a trace: its result, and what the parameters hold in the end."""
        frame.exact = True
        for x in trees.leaves((args, kwargs)):
            if isinstance(x, Array):
                x.lasts = True
        variant = variant_of(self.fn)
        if variant is None:
            frame.lent = {id(x): x for x in trees.leaves((args, kwargs)) if isinstance(x, jax.Array)}
            return named(call(self.fn))(*args, **kwargs), {}
        value, *finals = named(variant.function)(*args, **kwargs)
        return value, dict(zip(self.names, finals, strict=True))

    def at_error(self, error: BaseException) -> dict[str, Any]:
        """What the parameters held when an error left the function."""
        held = parameters_at(error.__traceback__, name_of(self.fn))
        finals = {n: became(error, held[n]) for n in self.names if n in held}
        return {n: x for n, x in finals.items() if isinstance(x, jax.Array)}


_NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}


def _fits(x: Any) -> bool:
    """Whether all integers of an array have 32 bits."""
    narrow = np.iinfo(_NARROW[x.dtype.name])
    return bool(x.size == 0 or (x.min() >= narrow.min and x.max() <= narrow.max))


def _mentions_stores(code: CodeType) -> bool:
    return any(not _STORES.isdisjoint(c.co_names) for c in _codes(code))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def put_back(arrays: dict[str, Any], finals: dict[str, Any] | None) -> None:
    """Give the callers' arrays the values that a call has computed."""
    for name, final in (finals or {}).items():
        if name in arrays:
            np.copyto(arrays[name], np.asarray(final), casting="unsafe")
