"""A number before a loop that is an array after an iteration: may it be carried as an array from the start?

Sound where iterations only compute with it element by element: an operation on a broadcast number is the broadcast of the operation on the number.
What is else made of it (`jnp.sum(y)`, `y @ y`) tells the two apart, as in `y = 1.0`, `for v in xs: y = jnp.sum(y) * xs`.  Python code that asks for
its shape is not seen here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from autograph.runtime.jaxapi.traces import Literal

_ELEMENTWISE: Final = frozenset(
    "abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp conj convert_element_type copy copy_p cos cosh digamma div eq erf "
    "erf_inv erfc exp exp2 expm1 floor ge gt imag integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or "
    "population_count pow real rem round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt square "
    "stop_gradient sub tan tanh xor".split()
)
_CALLS: Final = {"pjit": "jaxpr", "jit": "jaxpr", "custom_jvp_call": "call_jaxpr", "checkpoint": "jaxpr", "remat2": "jaxpr"}


def tells(eqns: Sequence[Any], given: Iterable[Any]) -> bool:
    """Whether equations do more with some variables than compute element by element.

    >>> import jax, jax.numpy as jnp
    >>> of = lambda f: jax.make_jaxpr(f)(jnp.ones(3)).jaxpr
    >>> smooth, total = of(lambda y: jnp.where(y > 0, y, 2 * y)), of(lambda y: y / jnp.sum(y))
    >>> tells(smooth.eqns, smooth.invars), tells(total.eqns, total.invars)
    (False, True)
    """
    return _follow(eqns, set(given)) is None


def _follow(eqns: Sequence[Any], numbers: set[Any]) -> set[Any] | None:
    """The variables that are broadcast numbers; None if an equation tells that they are."""
    for e in eqns:
        which = [not isinstance(v, Literal) and v in numbers for v in e.invars]
        if not any(which):
            continue
        name = e.primitive.name
        if name in _CALLS:
            inner = e.params[_CALLS[name]]
            inner = getattr(inner, "jaxpr", inner)
            found = _follow(inner.eqns, {v for v, w in zip(inner.invars, which, strict=False) if w})
            if found is None:
                return None
            numbers |= {o for o, v in zip(e.outvars, inner.outvars, strict=True) if not isinstance(v, Literal) and v in found}
        elif name in _ELEMENTWISE or name == "broadcast_in_dim" and _is_trailing(e):
            if all(w or not v.aval.shape for v, w in zip(e.invars, which, strict=True)):  # with an array it is one, also of the number
                numbers |= set(e.outvars)
        else:
            return None
    return numbers


def _is_trailing(eqn: Any) -> bool:
    """Whether it adds axes in front, as a broadcast of a number would."""
    dims, rank = eqn.params["broadcast_dimensions"], len(eqn.params["shape"])
    return tuple(dims) == tuple(range(rank - len(dims), rank))
