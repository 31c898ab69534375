"""Functions of `np.linalg` and `scipy.linalg` that mean something else in JAX: which triangle of a matrix is read, and what is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.effects.error_codes import checked, fail
from autograph.runtime.errors.errors import ConcreteValueError


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


def real_if_all_are(given: Any, out: Any, name: str, real: str) -> Any:
    """Eigenvalues or roots, and vectors behind them: real if `given` is, as NumPy's are where all of them are real; an error (AG502) if one is not.

    Complex numbers give complex ones in each case.
    """
    if jnp.iscomplexobj(given):
        return out
    values = out[0] if isinstance(out, tuple) else out
    text = f"`{name}` gives a complex number here, and its dtype must be static"
    fail(
        jnp.any((values.imag != 0) & jnp.isfinite(values)),
        ConcreteValueError,
        text,
        advice=f"give it complex numbers (`a + 0j`): then it is complex in each case; {real}",
    )
    return jax.tree.map(jnp.real, out)


def _eig(a: Any) -> Any:
    return real_if_all_are(a, jnp.linalg.eig(a), "np.linalg.eig", "a symmetric matrix has `np.linalg.eigh`")


def _eigvals(a: Any) -> Any:
    return real_if_all_are(a, jnp.linalg.eigvals(a), "np.linalg.eigvals", "a symmetric matrix has `np.linalg.eigvalsh`")


OF_NUMPY: dict[str, Callable[..., Any]] = {
    "inv": _inverse,
    "solve": _solve,
    "cholesky": _cholesky,
    "eigh": _eigh,
    "eigvalsh": _eigvalsh,
    "eig": _eig,
    "eigvals": _eigvals,
}


def _eigh_of_scipy(a: Any, *, lower: bool = True, eigvals_only: bool = False) -> Any:
    v, w = lax.linalg.eigh(jnp.asarray(a), lower=lower, symmetrize_input=False)
    return w if eigvals_only else (w, v)


def _eigvalsh_of_scipy(a: Any, *, lower: bool = True) -> Any:
    return _eigh_of_scipy(a, lower=lower, eigvals_only=True)


OF_SCIPY: dict[tuple[str, str], Callable[..., Any]] = {("linalg", "eigh"): _eigh_of_scipy, ("linalg", "eigvalsh"): _eigvalsh_of_scipy}
