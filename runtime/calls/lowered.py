"""What `lower` and `trace` of a compiled function give: stages of JAX's, of which the compiled program is called as the function is.

JAX's own would take the state of the function as its first argument (https://docs.jax.dev/en/latest/aot.html).
"""

from __future__ import annotations

from typing import Any


class StagedProgram:
    """A stage of JAX's (`jax.stages`), of which everything is as it is there, but what comes after it."""

    def __init__(self, stage: Any, function: Any, stateful: bool, first: tuple[Any, ...] = ()) -> None:
        self._stage, self._function, self._stateful, self._first = stage, function, stateful, first

    def bound(self, obj: Any) -> StagedProgram:
        """That of a method: what is compiled of it is called without the object."""
        return type(self)(self._stage, self._function, self._stateful, (obj,))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stage, name)

    def __repr__(self) -> str:
        return repr(self._stage)

    def lower(self, *args: Any, **kwargs: Any) -> StagedProgram:
        """Of a trace: the program."""
        return StagedProgram(self._stage.lower(*args, **kwargs), self._function, self._stateful, self._first)

    def compile(self, *args: Any, **kwargs: Any) -> Compiled:
        """Of a program: what is called."""
        return Compiled(self._stage.compile(*args, **kwargs), self._function, self._stateful, self._first)


class Compiled(StagedProgram):
    """A compiled program: it is called with the arguments of the function that are not static, and changes what the function changes.

    Raises:
      TypeError: the arguments have other types than those it was compiled for, or the objects that it reads hold other things.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function.called_by(self._stage, self._stateful, (*self._first, *args), kwargs)
