"""The comparison that the tests share: whether a result is the one that Python gives."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


def assert_same(got: Any, want: Any, what: str = "", *, rtol: float = 1e-5, atol: float = 1e-6, kinds: bool = False) -> None:
    """The same tree, with the same texts, shapes and whole numbers, and the same floats up to rounding; with `kinds` also the same kinds of dtypes.

    Of the bits of a dtype NumPy and JAX have their own rules.
    """
    told = what or f"{got!r}, not {want!r}"
    assert jax.tree.structure(got) == jax.tree.structure(want), told
    for a, b in zip(map(_plain, jax.tree.leaves(got)), map(_plain, jax.tree.leaves(want)), strict=True):
        if isinstance(b, str):
            assert a == b, told
            continue
        x, y = np.asarray(a), np.asarray(b)
        assert x.shape == y.shape, told
        assert not kinds or x.dtype.kind == y.dtype.kind, told
        if y.dtype.kind in "iub" and x.dtype.kind in "iub":
            np.testing.assert_array_equal(x, y, err_msg=told)
        else:
            np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg=told)


def _plain(leaf: Any) -> Any:
    """A leaf whose values can be read: of a random key its data."""
    is_key = isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(leaf) if is_key else leaf
