"""A word, once, on a JAX that is newer than any that this version was tested with: some names of JAX that it needs are not public."""

from __future__ import annotations

import warnings

import jax

TESTED = (0, 12)  # the newest minor version


def check(version: tuple[int, ...]) -> None:
    """Warn if a version of JAX is newer than the newest tested one."""
    if tuple(version[:2]) > TESTED:
        warnings.warn(
            f"JAX {'.'.join(map(str, version))} is newer than any that this version of autograph-jax was tested with ({TESTED[0]}.{TESTED[1]}): if "
            f"something breaks, install `jax<{TESTED[0]}.{TESTED[1] + 1}` or a newer autograph-jax",
            UserWarning, stacklevel=2,
        )  # fmt: skip


check(jax.__version_info__)
