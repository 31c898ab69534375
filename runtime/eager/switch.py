"""`run_eagerly`: everything as plain Python, statement by statement, for debuggers."""

from __future__ import annotations

from types import TracebackType

import jax


class run_eagerly:
    """Run the user's own statements on concrete values: `ag.function` and `jax.jit` compile nothing, and breakpoints, `print` and `pdb` see numbers.

    As a context manager it holds for the block, in this thread; `run_eagerly(True)` and `run_eagerly(False)` switch for the whole process.  It is
    `jax.disable_jit`: see its page for what JAX itself does then.

    Args:
      always: switch for the process; without it, use the result in a `with` statement.

    >>> import autograph as ag
    >>> @ag.function
    ... def half(x):
    ...     return x / 2 if x > 0 else x
    >>> with ag.run_eagerly():
    ...     half(3.0)
    1.5
    """

    def __init__(self, always: bool | None = None) -> None:
        if always is not None:
            jax.config.update("jax_disable_jit", bool(always))

    def __enter__(self) -> run_eagerly:
        self._context = jax.disable_jit()
        self._context.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._context.__exit__(kind, error, traceback)
