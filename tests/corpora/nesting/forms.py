"""The forms in which a program of the table is run, and plain Python, which is right."""

from __future__ import annotations

import contextlib
import io
import linecache
import types
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import autograph as ag
from autograph.forms.module import transpile
from autograph.runtime.calls.function_trace import result
from autograph.runtime.effects.error_codes import Checked
from tests.corpora.nesting.programs import INPUTS, PRELUDE, Program
from tests.differential import interpreter

Outcome = tuple[Any, list[str]]  # the result, None, or the class of an exception; and what was printed

# Why a program may be refused: an `except` would have to catch a data-dependent error.
CATCHES = "may catch"


ANY = "<whatever was printed before the error>"


def defined(source: str, name: str) -> Callable[..., Any]:
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module = types.ModuleType("nesting")
    exec(compile(source, name, "exec"), module.__dict__)
    return module.f  # type: ignore[no-any-return]


def outcome(call: Callable[[], Any]) -> Outcome:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            value = call()
            value = None if value is None else int(value)
        except ag.AutographError:
            raise
        except ValueError as error:
            value = type(error).__name__
    return value, out.getvalue().splitlines()


def _interpreted(f: Any, given: Callable[[Any], Any], args: tuple[Any, ...]) -> Callable[[tuple[int, ...]], Outcome]:
    """A traced function on numbers: its jaxpr, interpreted."""
    traced = io.StringIO()
    with contextlib.redirect_stdout(traced):
        closed, shape = jax.make_jaxpr(f, return_shape=True)(*args)
    assert not traced.getvalue(), "printed while it was traced"
    tree = jax.tree.structure(shape)
    return lambda values: outcome(lambda: given(jax.tree.unflatten(tree, interpreter.run(closed, values))))


def given(out: Any) -> Any:
    return result(out) if isinstance(out, Checked) else out


NUMBERS = (1, 1, 1)


def function(p: Program, f: Any) -> list[Outcome]:
    run = _interpreted(ag.function(f)._jitted, given, NUMBERS)
    return [run(values) for values in INPUTS]


def static(p: Program, f: Any) -> list[Outcome]:
    staged = ag.convert(f, form="staged")
    return [outcome(lambda values=values: staged(*values)) for values in INPUTS]


def transpiled(p: Program, f: Any) -> list[Outcome]:
    text = transpile(f"import autograph as ag\n{PRELUDE}\n\n@ag.function\n{p.source}", "<transpiled>")
    run = _interpreted(defined(text, "<transpiled>")._jitted, given, NUMBERS)  # type: ignore[attr-defined]
    return [run(values) for values in INPUTS]


def vmapped(p: Program, f: Any) -> list[Outcome]:
    """All inputs as lanes: what is printed is compared as a collection, as lanes print side by side."""
    lanes = np.array(INPUTS, np.int32).T
    closed, shape = jax.make_jaxpr(jax.vmap(ag.function(f)._jitted), return_shape=True)(*lanes)
    with contextlib.redirect_stdout(io.StringIO()):
        out = jax.tree.unflatten(jax.tree.structure(shape), interpreter.run(closed, lanes))
    return [(outcome(lambda k=k: given(jax.tree.map(lambda x: x[k], out)))[0], []) for k in range(len(INPUTS))]


def jitted(p: Program, f: Any) -> list[Outcome]:
    """`jax.jit` of `ag.convert`: an error is raised by a callback, or while tracing if every path ends in it; a None is told by a flag."""

    def told(x: Any, n: Any, k: Any) -> Any:
        value = f(x, n, k)
        if value is None:
            return True, 0
        return False, value

    try:
        run = _interpreted(ag.convert(told), lambda out: None if out[0] else out[1], NUMBERS)
    except ValueError as error:
        return [(type(error).__name__, [ANY])] * len(INPUTS)
    return [run(values) for values in INPUTS]


FORMS: dict[str, Callable[[Program, Any], list[Outcome]]] = {
    "function": function, "static": static, "transpiled": transpiled, "vmap": vmapped, "jit": jitted
}  # fmt: skip


def check(p: Program, forms: tuple[str, ...] = tuple(FORMS)) -> dict[str, str]:
    """What is wrong with each form of a program, or the reason for which it is refused (`AG404: ...`)."""
    name = "<nesting>"
    f = defined(PRELUDE + p.source, name)
    want = [outcome(lambda values=values: f(*values)) for values in INPUTS]
    found: dict[str, str] = {}
    for form in forms:
        try:
            got = FORMS[form](p, f)
        except ag.AutographError as error:
            found[form] = f"{error.id}: {error.message}"
            continue
        except Exception as error:
            found[form] = f"crashed: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            continue
        for values, g, w in zip(INPUTS, got, want, strict=True):
            if g[0] != w[0] or (form != "vmap" and g[1] != w[1] and g[1] != [ANY]):
                found[form] = f"wrong: {values} gives {g} for {w}"
                break
    return found


def check_all(programs: list[Program], forms: tuple[str, ...]) -> list[tuple[Program, dict[str, str]]]:
    return [(p, check(p, forms)) for p in programs]
