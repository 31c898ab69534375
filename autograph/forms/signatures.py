"""What type checkers are told of a function that `ag.function` returns: it has the signature of the user's, and what `jax.jit` adds."""

from __future__ import annotations

from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar, overload

P = ParamSpec("P")
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")


class Stages(Protocol[P]):
    """The stages of compilation, with the arguments of the function; see `jax.stages`."""

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any: ...
    def trace(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    def eval_shape(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...


class BoundFunction(Stages[P], Protocol[P, R_co]):
    """A staged function as a method of an object."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


class StagedFunction(Stages[P], Protocol[P, R_co]):
    """A staged function: called as the original."""

    __name__: str
    __qualname__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    def clear_cache(self) -> None: ...
    @overload
    def __get__(self, obj: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self: StagedFunction[Concatenate[T, Q], R_co], obj: T, owner: type | None = None) -> BoundFunction[Q, R_co]: ...
