"""What is known of callees from their names: builtins with a meaning on arrays, array libraries, functions that call their argument."""

from __future__ import annotations

from typing import Any

from autograph.trees import syntax as s

BUILTINS = frozenset(
    "range enumerate zip reversed min max sum any all int float bool complex print sorted list isinstance hasattr callable str repr format setattr "
    "delattr".split()
)


CALLING = frozenset("map filter iter next input open ascii bytes bytearray memoryview".split())  # they call an argument, or have effects


ARRAY_LIBRARIES = ("jax", "numpy", "math", "autograph")
CALLING_LIBRARIES = ("jax.scipy.optimize", "jax.scipy.integrate")  # whose functions call an argument
MAKING = ("array", "asarray")  # functions of `jax.numpy` that take a list
OF_ROWS = frozenset("stack concatenate concat vstack hstack column_stack".split())  # functions that take a list of arrays
REPLACED = ("numpy", "math")  # their functions have others in their place for traced values


# The arguments of JAX's higher-order functions that are functions of the user.
_TRANSFORMS = dict.fromkeys(
    "grad value_and_grad vmap pmap jit jvp vjp linearize linear_transpose jacfwd jacrev jacobian hessian checkpoint remat custom_jvp custom_vjp "
    "make_jaxpr eval_shape shard_map scan map associative_scan custom_root custom_linear_solve closure_convert "
    "named_call vectorize apply_along_axis tree_map".split(),
    (0,),
)  # fmt: skip


HIGHER: dict[str, tuple[int, ...]] = {
    **_TRANSFORMS,
    "cond": (1, 2),
    "switch": (1,),
    "while_loop": (0, 1),
    "fori_loop": (2,),
    "reduce": (2,),
    "custom_root": (0, 2, 3),
}


# What the functions that these are given do beside their result comes out of them.
THREADED = frozenset(
    f"jax.{name}"
    for name in "grad value_and_grad jacfwd jacrev jacobian hessian vmap checkpoint remat jit jvp vjp linearize lax.scan lax.map".split()
)


KEYWORDS = frozenset({"f", "fun", "fn", "func", "body_fun", "cond_fun", "true_fun", "false_fun", "pyfunc"})


CHANGING = frozenset({"append", "extend", "pop", "insert", "remove", "reverse", "clear", "sort"})  # methods that change the items of a list


def is_runtime(func: Any) -> bool:
    while isinstance(func, s.Attribute):
        func = func.value
    return isinstance(func, s.Name) and func.id == s.RUNTIME


def is_runtime_call(func: Any) -> bool:
    return isinstance(func.func, s.Attribute) and is_runtime(func.func)


def is_mark(stmt: Any, name: str) -> bool:
    """Whether a statement calls the operator `name`, for what it does."""
    match stmt:
        case s.Expr(value=s.Call(func=s.Attribute(attr=attr) as func)):
            return attr == name and is_runtime(func)
    return False


def is_update(func: Any) -> bool:
    """`x.at[i].set`: JAX's own idiom."""
    return (
        isinstance(func, s.Attribute)
        and isinstance(func.value, s.Subscript)
        and isinstance(func.value.value, s.Attribute)
        and func.value.value.attr == "at"
    )
