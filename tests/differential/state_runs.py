"""Runs a program with state in every form, and compares what can be seen of it: results, exceptions, printed lines, objects and globals.

The truth is the program over NumPy.  The forms: `function` (as it stands: the jaxpr, interpreted on NumPy), `xla` (compiled), `plain` and
`static` (`ag.convert`, on concrete arrays).  Each calls `f` with all the inputs, one after the other: what it has changed stays.
"""

from __future__ import annotations

import contextlib
import copy
import io
import linecache
import re
import sys
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import interpreter
import jax
import jax.numpy as jnp
import numpy as np
from outcomes import SECONDS, Failure, Late, Raised, limit
from programs import Program

import autograph as ag

FORMS = {"function": "@ag.function", "xla": "@ag.function", "plain": "@ag.convert", "static": '@ag.convert(form="staged")'}
EXPECTED = ("ValueError", "RuntimeError", "KeyError", "AssertionError")  # what a program may raise
LARGEST = 2**20

Seen = dict[str, Any]  # the result, the lines, the state and the globals after one call


def settled(value: Any, known: list[Any] | None = None) -> Any:
    """A value as nested tuples of floats; an object, list or dict that has occurred before is its number."""
    known = [] if known is None else known
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return tuple(settled(x, known) for x in value)
    if isinstance(value, (jax.Array, np.ndarray, np.generic, int, float)):
        return np.asarray(value).astype(float).tolist()
    for k, x in enumerate(known):
        if x is value:
            return f"the same as {k}"
    known.append(value)
    if isinstance(value, list):
        return [settled(x, known) for x in value]
    held = value if isinstance(value, dict) else vars(value)
    return {type(value).__name__: {name: settled(x, known) for name, x in held.items()}}


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, (tuple, list, dict)):
        for x in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(x)
    elif isinstance(value, float):
        yield value


def arrays_in(value: Any, path: str, known: set[int]) -> Iterator[tuple[str, Any]]:
    """The NumPy arrays in objects, lists, dicts and tuples, and where they are."""
    if isinstance(value, np.ndarray) and value.ndim:
        yield path, value
    elif isinstance(value, (list, tuple, dict)) or hasattr(value, "__dict__") and not isinstance(value, (type, types.FunctionType)):
        if id(value) in known:
            return
        known.add(id(value))
        inside = value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, (list, tuple)) else vars(value)
        for key, x in inside.items():
            yield from arrays_in(x, f"{path}.{key}", known)


def load(p: Program, source: str) -> types.ModuleType:
    linecache.cache[p.filename] = (len(source), None, source.splitlines(keepends=True), p.filename)
    module = sys.modules["random_program"] = types.ModuleType("random_program")  # where `dataclass` looks for it
    exec(compile(source, p.filename, "exec"), module.__dict__)
    return module


def calls(module: types.ModuleType, inputs: Sequence[Any], make: Callable[[Any], Any]) -> Iterator[Seen]:
    """What can be seen after each of the calls."""
    state = module.state()

    def held() -> list[tuple[str, Any]]:
        return list(arrays_in((state, {k: v for k, v in vars(module).items() if k.isupper()}), "", set()))

    for args in inputs:
        first = dict(held())
        with contextlib.redirect_stdout(io.StringIO()) as out:
            try:
                result = settled(module.f(*map(make, args), *state))
            except (Late, ag.AutographError, FloatingPointError):
                raise
            except Exception as error:
                result = Raised(type(error).__name__, str(error))
                result.error = error  # type: ignore[attr-defined]
            jax.effects_barrier()
        known: list[Any] = []
        yield {
            "arrays": {path: x.astype(float).tolist() for path, x in first.items()},  # of which others may know, whatever is in their places now
            "result": result, "lines": lines_of(out.getvalue()),
            "state": settled(state, known), "globals": {k: settled(v, known) for k, v in vars(module).items() if k.isupper()},
        }  # fmt: skip


def lines_of(text: str) -> list[str]:
    """Printed lines, but for the sign of zeros, which is not the same for `%` of NumPy and of JAX, and the spaces that it takes in an array."""
    return re.sub(r"-0\.(?=0*\b|\D)(?!\d*[1-9])", "0.", re.sub(r"(?<=\[) +", "", re.sub(" +", " ", text))).splitlines()


def truths(p: Program) -> list[Seen]:
    """What Python gives for each of the inputs."""
    source = p.source.replace("import jax.numpy as jnp", "import numpy as jnp").replace("@ag.function", "")
    with limit(SECONDS), np.errstate(all="raise"):
        out = list(calls(load(p, source), p.inputs, copy.copy))
    for seen in out:
        error = seen["result"]
        if isinstance(error, Raised):
            assert error.kind in EXPECTED, f"program {p.number} raises {error}"
        assert all(abs(x) < LARGEST and np.float32(x) == x for x in numbers_in(list(seen.values()))), f"program {p.number} is not exact: {seen}"
    return out


class Interpreted:
    """A jitted function whose calls interpret its jaxpr: compiling takes longer than all else."""

    def __init__(self, jitted: Any) -> None:
        self.jitted = jitted

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        traced = self.jitted.trace(*args, **kwargs)
        out = interpreter.run(traced.jaxpr, jax.tree.leaves((args, kwargs)))
        return jax.tree.unflatten(jax.tree.structure(traced.out_info), map(jnp.asarray, out))


def interpreted(module: types.ModuleType) -> None:
    """Let the `ag.function` of a program be interpreted."""
    function = module.f if "_jitted" in dir(module.f) else vars(module.Box)["step"]
    function._jitted, function._state.jitted = Interpreted(function._jitted), Interpreted(function._state.jitted)


class StateRunner:
    """Runs the forms of one program and collects what differs."""

    def __init__(self, p: Program, forms: Sequence[str]) -> None:
        self.p = p
        self.compared: Counter[str] = Counter()
        self.refused: dict[str, str] = {}  # by form
        self.failures: list[Failure] = []
        self.want = truths(p)
        for form in forms:
            self.k = 0
            try:
                with limit(SECONDS):
                    self.compare(form)
            except ag.AutographError as error:
                self.refused[form] = error.id
            except Exception as error:
                self.fail(form, Raised(type(error).__name__, str(error)), None, error)

    def fail(self, form: str, got: Any, want: Any, error: BaseException | None = None) -> None:
        trace = "".join(traceback.format_exception(error)[-6:]) if error is not None else ""
        self.failures.append(Failure(form, self.k, str(got), str(want), trace))

    def compare(self, form: str) -> None:
        module = load(self.p, self.p.source.replace("@ag.function", FORMS[form]))
        if form == "function":
            interpreted(module)
        for got, want in zip(calls(module, self.p.inputs, jnp.asarray), self.want, strict=True):
            self.compared[form] += 1
            if form in ("function", "xla"):  # only an `ag.function` puts values back
                want = want | {"arrays": {path: want["arrays"][path] for path in got["arrays"]}}  # those that are NumPy's: all are, in the truth
            else:
                del got["arrays"]
            for part in got:
                if got[part] != want[part]:
                    error = getattr(got[part], "error", None)
                    return self.fail(form, got[part] if error else f"{part} {got[part]}", want[part] if error else f"{part} {want[part]}", error)
            self.k += 1
        return None


def forms_of(p: Program) -> list[str]:
    """The forms that this program is run in; a class's own `__setitem__` and property setters are converted in traces only."""
    own = "def __setitem__" in p.source or ".setter" in p.source
    others = ["plain", "static"][p.number // 3 % 2 :][:1] if p.number % 3 == 0 and not own else []
    return ["function", *["xla"] * (p.number % 5 == 0), *others]
