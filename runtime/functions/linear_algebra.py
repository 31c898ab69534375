"""Functions of `np.linalg` and `scipy.linalg` that mean something else in JAX: which triangle of a matrix is read, and what is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.effects.deferred import checked, fail


def _fail(out: Any, given: Any, text: str) -> Any:
    """LinAlgError where a result of finite numbers is not finite.

    Only an `ag.function` tells: JAX's own functions give nan, and so does a function that is jitted by `jax.jit`.
    """
    if checked():
        fine = jnp.all(jnp.isfinite(out)) | ~jnp.all(jnp.isfinite(given))
        fail(~fine, np.linalg.LinAlgError, text)
    return out


def _inverse(a: Any) -> Any:
    return _fail(jnp.linalg.inv(a), a, "Singular matrix")


def _solve(a: Any, b: Any) -> Any:
    return _fail(jnp.linalg.solve(a, b), a, "Singular matrix")


def _cholesky(a: Any, /, *, upper: bool = False) -> Any:
    return _fail(jnp.linalg.cholesky(a, upper=upper, symmetrize_input=False), a, "Matrix is not positive definite")


def _eigh(a: Any, UPLO: str = "L") -> Any:
    return jnp.linalg.eigh(a, UPLO, symmetrize_input=False)


def _eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return _eigh(a, UPLO)[0]


OF_NUMPY: dict[str, Callable[..., Any]] = {"inv": _inverse, "solve": _solve, "cholesky": _cholesky, "eigh": _eigh, "eigvalsh": _eigvalsh}


def _eigh_of_scipy(a: Any, *, lower: bool = True, eigvals_only: bool = False) -> Any:
    v, w = lax.linalg.eigh(jnp.asarray(a), lower=lower, symmetrize_input=False)
    return w if eigvals_only else (w, v)


def _eigvalsh_of_scipy(a: Any, *, lower: bool = True) -> Any:
    return _eigh_of_scipy(a, lower=lower, eigvals_only=True)


OF_SCIPY: dict[tuple[str, str], Callable[..., Any]] = {("linalg", "eigh"): _eigh_of_scipy, ("linalg", "eigvalsh"): _eigvalsh_of_scipy}
