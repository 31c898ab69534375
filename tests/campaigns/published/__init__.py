"""What an entry of the campaign `published.py` is, and how one is run and compared.

Each file beside this one holds the entries of one project, in a list `ENTRIES`.
"""

from __future__ import annotations

import importlib
import math
import numbers
import time
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SEEDS = (0, 1)
RTOL, ATOL = 1e-6, 1e-9


@dataclass(frozen=True)
class Entry:
    """One function of a project, with two inputs: `make` is called with a generator of random numbers for each."""

    name: str
    call: Callable[..., Any]
    make: Callable[[np.random.Generator], tuple[Any, ...]]
    static: tuple[int, ...] = ()  # the arguments that are settings or sizes
    rtol: float = RTOL


@dataclass
class Outcome:
    """What became of an entry."""

    name: str
    status: str  # same, different, refused, JAX error, crashed, slow, broken
    told: str = ""
    id: str = ""
    first: float = math.nan  # seconds of the first call
    second: float = math.nan
    plain: float = math.nan
    more: list[str] = field(default_factory=list)


def entry(
    name: str, call: Callable[..., Any], make: Callable[[np.random.Generator], tuple[Any, ...]], static: tuple[int, ...] = (), rtol: float = RTOL
) -> Entry:
    """An entry: `call` is the function itself, a method of a class, or a function that calls them."""
    return Entry(name, call, make, static, rtol)


def entries(project: str) -> tuple[str, list[Entry]]:
    """The package that a project's entries convert, and the entries."""
    module = importlib.import_module(f"tests.campaigns.published.{project}")
    return module.PACKAGE, module.ENTRIES


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number | np.generic) or (hasattr(value, "dtype") and hasattr(value, "shape"))


def _state(value: Any) -> dict[str, Any] | None:
    """The attributes of an object of a class of the project's; None of anything else."""
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType | types.MethodType | types.ModuleType | np.random.Generator):
        return None
    found = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__") and hasattr(value, slot):
                found[slot] = getattr(value, slot)
    return found


def differences(wanted: Any, got: Any, place: str, rtol: float, seen: set[tuple[int, int]]) -> Iterator[str]:
    """Where two values differ: in structure, shape, kind or value."""
    if (id(wanted), id(got)) in seen or wanted is got:
        return
    seen.add((id(wanted), id(got)))
    if _is_number(wanted):
        if not _is_number(got):
            yield f"{place}: {type(got).__name__} in the place of a number: {got!r:.60}"
            return
        a, b = np.asarray(wanted), np.asarray(got)
        if a.dtype.kind in "OUSM" or b.dtype.kind in "OUSM":
            if a.dtype.kind == "O" and a.shape == b.shape:
                for index in np.ndindex(a.shape):
                    yield from differences(a[index], b[index], f"{place}{list(index)}", rtol, seen)
            elif a.shape != b.shape or not np.array_equal(a, b):
                yield f"{place}: {wanted!r:.60} became {got!r:.60}"
        elif a.shape != b.shape:
            yield f"{place}: shape {a.shape} became {b.shape}"
        elif ("b" in (a.dtype.kind, b.dtype.kind) or "c" in (a.dtype.kind, b.dtype.kind)) and a.dtype.kind != b.dtype.kind:
            yield f"{place}: {a.dtype} became {b.dtype}"
        else:
            with np.errstate(all="ignore"):
                wide = np.complex128 if a.dtype.kind == "c" else np.float64
                scale = np.max(np.abs(a[np.isfinite(a)]), initial=0.0) if a.dtype.kind not in "b" else 1.0
                near = np.isclose(b.astype(wide), a.astype(wide), rtol=rtol, atol=ATOL + rtol * 1e-3 * float(scale), equal_nan=True)
            if not near.all():
                where: tuple[int, ...] = tuple(int(i) for i in np.argwhere(~near)[0]) if a.ndim else ()
                yield f"{place}{list(where) if where else ''}: {a[where]!r:.60} became {b[where]!r:.60} ({int((~near).sum())} of {a.size} differ)"
    elif isinstance(wanted, dict):
        if not isinstance(got, dict) or set(map(str, wanted)) != set(map(str, got)):
            yield f"{place}: keys {sorted(map(str, wanted))[:8]} became {sorted(map(str, got))[:8] if isinstance(got, dict) else repr(got)}"
            return
        other = {str(key): value for key, value in got.items()}
        for key, value in wanted.items():
            yield from differences(value, other[str(key)], f"{place}[{key!r}]", rtol, seen)
    elif isinstance(wanted, list | tuple):
        kind = list if isinstance(wanted, list) else tuple
        if not isinstance(got, kind) or len(wanted) != len(got):
            what = f"{type(got).__name__} of {len(got)}" if isinstance(got, list | tuple) else f"{type(got).__name__} {got!r:.60}"
            yield f"{place}: {type(wanted).__name__} of {len(wanted)} became {what}"
            return
        for number, (a, b) in enumerate(zip(wanted, got, strict=True)):
            yield from differences(a, b, f"{place}[{number}]", rtol, seen)
    elif isinstance(wanted, str | bytes | range | set | frozenset) or wanted is None:
        if wanted != got or type(wanted) is not type(got):
            yield f"{place}: {wanted!r:.60} became {got!r:.60}"
    elif type(wanted) is not type(got):
        yield f"{place}: {type(wanted).__name__} became {type(got).__name__}"
    elif (before := _state(wanted)) is not None:
        after = _state(got) or {}
        if set(before) != set(after):
            yield f"{place}: attributes {sorted(set(before) ^ set(after))} are on one side only"
        for name in before:
            if name in after:
                yield from differences(before[name], after[name], f"{place}.{name}", rtol, seen)


def run(one: Entry) -> Outcome:
    """Run an entry on both of its inputs: in Python, and as an `ag.function`."""
    import jax

    import autograph as ag

    outcome = Outcome(one.name, "same")
    call: Callable[..., Any] | None = None
    for turn, seed in enumerate(SEEDS):
        plainly = tuple(one.make(np.random.default_rng(seed)))
        began = time.perf_counter()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                wanted = one.call(*plainly)
        except BaseException as error:
            outcome.status, outcome.told = "broken", f"plain Python: {type(error).__name__}: {_text(error)[0]}"
            return outcome
        outcome.plain = time.perf_counter() - began
        converted = tuple(one.make(np.random.default_rng(seed)))  # after the plain run, which may have changed what the project itself keeps
        began = time.perf_counter()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                if call is None:
                    call = ag.function(one.call, static_argnums=one.static) if one.static else ag.function(one.call)
                got = jax.block_until_ready(call(*converted))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            refused = isinstance(error, ag.AutographError)
            of_jax = any(cls.__module__.split(".")[0] in ("jax", "jaxlib") for cls in type(error).__mro__)
            outcome.status = "refused" if refused else "JAX error" if of_jax else "crashed"
            outcome.id = getattr(error, "id", "") if refused else type(error).__name__
            outcome.told, *more = _text(error)
            outcome.more = more[:11] + _place(error)
            return outcome
        finally:
            took = time.perf_counter() - began
            if turn:
                outcome.second = took
            else:
                outcome.first = took
        seen: set[tuple[int, int]] = set()
        found = list(differences(wanted, got, "result", one.rtol, seen)) + list(differences(plainly, converted, "arguments", one.rtol, seen))
        if found:
            outcome.status, outcome.told, outcome.more = "different", f"input {turn}: {found[0]}", found[1:8]
            return outcome
    return outcome


def _text(error: BaseException) -> list[str]:
    """The lines of an error's message."""
    try:
        return str(error).strip().splitlines() or [""]
    except Exception:  # the error of a class of the project's, which needs what it does not have
        return [f"a {type(error).__name__} without a message"]


def _place(error: BaseException) -> list[str]:
    """The last lines of a traceback."""
    lines, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        lines.append(f"at {'/'.join(code.co_filename.split('/')[-3:])}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return lines[-6:]
