"""What JAX's decorators make of functions: `jax.jit`, `jax.custom_jvp`, `jax.custom_vjp`, and the same around other functions."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

import jax

JIT = jax.jit
JITTED: Any = type(jax.jit(lambda: None))
CUSTOM = (jax.custom_jvp, jax.custom_vjp)
_RULES = ("fun", "jvp", "fwd", "bwd")
_NAMES = "static_argnums static_argnames donate_argnums donate_argnames keep_unused inline".split()


def options_of(jitted: Any) -> dict[str, Any]:
    """The options of `jax.jit` that a jitted function was made with."""
    info = jitted._jit_info
    options = {name: value for name in _NAMES if (value := getattr(info, name)) not in (False, ())}
    if getattr(options.get("inline"), "value", None) == "auto":  # JAX's default since 0.11
        del options["inline"]
    for where in ("in", "out"):
        tree, leaves = getattr(info, f"{where}_shardings_treedef"), getattr(info, f"{where}_shardings_leaves")
        if any(type(x).__name__ != "UnspecifiedValue" for x in leaves):
            options[f"{where}_shardings"] = jax.tree.unflatten(tree, leaves)
    return options


def jitted_again(jitted: Any, fn: Callable[..., Any]) -> Any:
    """Another function, jitted with the same options."""
    return jax.jit(fn, **options_of(jitted))


def rules_of(custom: Any) -> tuple[Any, ...]:
    """A function with rules for its derivatives: it, and the rules that it has now."""
    return tuple(vars(custom).get(name) for name in _RULES)


def with_rules(custom: Any, convert: Callable[[Any], Any]) -> Any:
    """The same with converted functions."""
    new = object.__new__(type(custom))
    vars(new).update(vars(custom))
    for name, old in zip(_RULES, rules_of(custom), strict=True):
        if old is not None:
            setattr(new, name, convert(old))
    return new


_OF_ARRAYS = frozenset(dir(jax.Array))
_CHANGES = frozenset("STORE_SUBSCR STORE_ATTR STORE_GLOBAL STORE_DEREF MAKE_FUNCTION IMPORT_NAME FOR_ITER SEND YIELD_VALUE RAISE_VARARGS".split())
_CALLEE_FIRST = sys.version_info >= (3, 13)  # in the order of what is pushed for a call


def is_straight(fn: Any) -> bool:
    """Whether conversion would change nothing of a function: one operation of JAX's after the other, on its arguments and constants.

    Sound because it neither decides nor stores, and calls nothing but functions of JAX's and methods that arrays have; a call of anything else, or an
    attribute that arrays do not have, would break it, so there is none.
    """
    code = getattr(fn, "__code__", None)
    if not isinstance(code, CodeType) or code.co_freevars or code.co_cellvars:
        return False
    around = [fn.__globals__[name] for name in code.co_names if name in fn.__globals__]
    if not all(isinstance(x, (int, float, complex, str)) or isinstance(x, ModuleType) and x.__name__.startswith("jax.") for x in around):
        return False
    before = ""
    for i in dis.get_instructions(code):
        name = i.opname
        called = (before, name) if _CALLEE_FIRST else (name, before)
        if name in _CHANGES or "JUMP" in name or called[0].startswith("LOAD_FAST") and called[1] == "PUSH_NULL":
            return False
        if name == "LOAD_GLOBAL" and i.argval not in fn.__globals__:  # a builtin
            return False
        if before.startswith("LOAD_FAST") and name in ("LOAD_ATTR", "LOAD_METHOD") and i.argval not in _OF_ARRAYS:
            return False
        before = name if name not in ("CACHE", "EXTENDED_ARG") else before
    return True
