"""A loop of unknown length that works on references has forward-mode derivatives only: reverse mode is an error that names the loop.

JAX's own error would come from inside `while_p`'s transposition, without the user's loop.  The results of the loop pass through an
identity whose tangent is a linear identity; transposing that one raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from autograph.runtime.errors.errors import ReverseModeError, SourceSpan
from autograph.runtime.jaxapi.traces import Primitive, ad, batching, mlir

_value_p = Primitive("loop_value")
_tangent_p = Primitive("loop_tangent")

for _p in (_value_p, _tangent_p):
    _p.def_impl(lambda x, *, place: x)
    _p.def_abstract_eval(lambda x, *, place: x)
    mlir.register_lowering(_p, lambda ctx, x, *, place: [x])
    batching.primitive_batchers[_p] = lambda args, dims, *, place, p=_p: (p.bind(args[0], place=place), dims[0])


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, place: SourceSpan | None) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    return _value_p.bind(x, place=place), t if type(t) is ad.Zero else _tangent_p.bind(t, place=place)


def _tangent_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, place: SourceSpan | None) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    return _tangent_p.bind(x, place=place), t if type(t) is ad.Zero else _tangent_p.bind(t, place=place)


def _transpose(_: Any, x: Any, *, place: SourceSpan | None) -> list[Any]:
    raise ReverseModeError(
        "reverse-mode differentiation through a loop that reads or writes a `jax.Ref`, and whose trip count is data-dependent",
        place, "keep what the loop changes in variables, or use forward mode (`jax.jvp`, `jax.jacfwd`)",
    )  # fmt: skip


ad.primitive_jvps[_value_p] = _jvp
ad.primitive_jvps[_tangent_p] = _tangent_jvp
ad.primitive_transposes[_tangent_p] = _transpose


def forward_only(outs: Sequence[Any], place: SourceSpan | None) -> list[Any]:
    """The results of a loop that works on references; those that can carry a derivative refuse reverse mode."""
    return [_value_p.bind(x, place=place) if _differentiable(x) else x for x in outs]


def _differentiable(x: Any) -> bool:
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))
