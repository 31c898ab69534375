"""What JAX's decorators make of functions: `jax.jit`, `jax.custom_jvp`, `jax.custom_vjp`, and the same around other functions."""

from __future__ import annotations

import dis
from collections.abc import Callable, Sequence
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
_PLAIN = (int, float, complex, str, type(None))
_OPERATIONS = frozenset(
    "RESUME CACHE EXTENDED_ARG NOP PUSH_NULL PRECALL CALL KW_NAMES CALL_KW COPY SWAP POP_TOP LOAD_FAST LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW "
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW STORE_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST LOAD_CONST LOAD_SMALL_INT LOAD_GLOBAL LOAD_ATTR "
    "LOAD_METHOD BINARY_OP COMPARE_OP UNARY_NEGATIVE BUILD_TUPLE RETURN_VALUE RETURN_CONST".split()
)


def is_straight(fn: Any) -> bool:
    """Whether conversion would change nothing of a function that is given arrays and numbers: one operation of JAX's after the other.

    Sound because what it may hold is listed: no decision, no store, no subscript, no other function.  `are_arrays` is asked at the call: an object or
    a function among the arguments would bring code of its own.
    """
    code = getattr(fn, "__code__", None)
    if not isinstance(code, CodeType) or code.co_freevars or code.co_cellvars:
        return False
    defaults = (*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values())
    around = [fn.__globals__[name] for name in code.co_names if name in fn.__globals__]
    modules = all(isinstance(x, _PLAIN) or isinstance(x, ModuleType) and x.__name__.startswith("jax.") for x in around)
    if not modules or not all(isinstance(x, _PLAIN) for x in defaults):
        return False
    before = ""
    for i in dis.get_instructions(code):
        if i.opname not in _OPERATIONS or i.opname == "BINARY_OP" and (i.argrepr == "[]" or i.argrepr.endswith("=")):
            return False
        if i.opname == "LOAD_GLOBAL" and i.argval not in fn.__globals__:  # a builtin
            return False
        if "FAST" in before and i.opname in ("LOAD_ATTR", "LOAD_METHOD") and i.argval not in _OF_ARRAYS:
            return False
        before = i.opname if i.opname not in ("CACHE", "EXTENDED_ARG") else before
    return True


def are_arrays(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether the arguments of a call are arrays and numbers."""
    return all(isinstance(x, (jax.Array, bool, int, float, complex)) for x in (*args, *kwargs.values()))
