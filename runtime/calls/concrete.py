"""`f.get_concrete_function(...)`: the program for some types of arguments, which is called with the arguments that have them.

As `tf.function`'s (https://www.tensorflow.org/api_docs/python/tf/types/experimental/ConcreteFunction): arrays and specs are inputs, and so are
numbers, which may be left out; everything else (objects, texts, what is static) is a part of the program.  Under a tape and in traces it is the
function itself, so that it is differentiated.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import is_variable, value_of
from autograph.runtime.calls.input_signature import TensorSpec, as_abstract
from autograph.runtime.effects.error_codes import Checked
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.variable_reads import recorders
from autograph.runtime.tracing.jit_options import static_arguments
from autograph.runtime.values.values import NUMBERS


class ConcreteFunction:
    """The program of a function for some types; its other attributes are those of `jax.stages.Compiled`.

    Raises:
      TypeError: it is called with an array of another type, or with another object or static value than it was made for.

    >>> import jax.numpy as jnp, autograph as ag
    >>> @ag.function
    ... def double(a):
    ...     return a + a
    >>> program = double.get_concrete_function(ag.TensorSpec([]))
    >>> program
    <ag.ConcreteFunction double(a: float32[]) -> float32[]>
    >>> float(program(jnp.float32(3))), float(program(a=jnp.float32(4)))
    (6.0, 8.0)
    """

    def __init__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
        static = static_arguments(dict(options), len(args))
        self._static = static[1] | {n for k, n in enumerate(signature.parameters) if k in static[0]}
        self._function = function
        self._given = dict(bound.arguments)  # by name
        self._positional, self._named = list(signature.parameters)[: len(args)], list(kwargs)
        self._inputs = {n: trees.map(_type_of, v, is_leaf=_is_spec) for n, v in bound.arguments.items() if n not in self._static and _is_input(v)}
        self._needed = [n for n in self._inputs if type(bound.arguments[n]) not in NUMBERS]
        self._program = function.lower(*map(as_abstract, args), **{k: as_abstract(v) for k, v in kwargs.items()}).compile()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._by_name(args, kwargs)
        for n, spec in self._inputs.items():
            if n in given:
                given[n] = self._taken(n, spec, given[n])
            elif n in self._needed:
                raise TypeError(f"{self._name} is called without `{n}`")
        given = self._given | given
        traced = recorders.active or _jax.recording()
        left_out = () if traced else self._static  # a program has no place for them
        positional = [given[n] for n in self._positional if n not in left_out]
        named = {n: given[n] for n in self._named if n not in left_out}
        return (self._function if traced else self._program)(*positional, **named)

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The inputs by their names; what is a part of the program may be given again."""
        names = [n for n in self._needed if n not in kwargs]
        if len(args) > len(names):
            names = list(self._given)
        if twice := [n for n in names[: len(args)] if n in kwargs]:
            raise TypeError(f"{self._name} is given `{twice[0]}` twice")
        if len(args) > len(names):
            raise TypeError(f"{self._name} takes at most {len(names)} arguments, and {len(args)} are given")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        for n in [n for n in given if n not in self._inputs]:
            if n not in self._given:
                raise TypeError(f"{self._name} has no argument `{n}`")
            before = self._given[n]
            if given[n] is not before and (_is_object(before) or type(given[n]) is not type(before) or given[n] != before):
                raise TypeError(f"`{n}` is {before!r} in {self._name}, and is given {given[n]!r}: another program is needed")
            del given[n]
        return given

    def _taken(self, name: str, spec: Any, value: Any) -> Any:
        def take(wanted: Any, x: Any) -> Any:
            x = value_of(x)
            array = x if isinstance(x, jax.Array) else jnp.asarray(x)
            weak = type(x) in NUMBERS and jnp.result_type(array, wanted.dtype) == wanted.dtype
            if array.shape != wanted.shape or array.dtype != wanted.dtype and not weak:
                is_of, want = (f"{t.dtype}[{', '.join(map(str, t.shape))}]" for t in (array, wanted))
                raise TypeError(f"`{name}` of {self._name} is {want}, and it is called with {is_of}")
            return array if array.dtype == wanted.dtype and not (weak and array.weak_type and not wanted.weak_type) else array.astype(wanted.dtype)

        if trees.structure(spec) != trees.structure(value, is_leaf=is_variable):
            raise TypeError(f"`{name}` of {self._name} has another structure than it was made for")
        taken = trees.map(take, spec, value)
        return value if isinstance(value, (list, dict)) else taken  # which the function may change

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The types of its inputs, by their names."""
        return (), dict(self._inputs)

    @property
    def structured_outputs(self) -> Any:
        """The types of what it gives."""
        out = self._program.out_info
        return out.value if type(out) is Checked else out

    @property
    def out_info(self) -> Any:
        """The same, as JAX calls it."""
        return self.structured_outputs

    @property
    def _name(self) -> str:
        return f"the program of `{getattr(self._function, '__name__', self._function)}`"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._program, name)

    def __repr__(self) -> str:
        def text(tree: Any) -> str:
            return ", ".join(f"{x.dtype}[{', '.join(map(str, x.shape))}]" for x in trees.leaves(tree)) or "None"

        inputs = ", ".join(f"{n}: {text(spec)}" for n, spec in self._inputs.items())
        return f"<ag.ConcreteFunction {getattr(self._function, '__name__', '?')}({inputs}) -> {text(self.structured_outputs)}>"


def _is_spec(x: Any) -> bool:
    return isinstance(x, (TensorSpec, jax.ShapeDtypeStruct))


def _is_input(value: Any) -> bool:
    """Whether an argument is made of arrays, numbers and specs alone."""
    leaves = trees.leaves(value, is_leaf=_is_spec)

    def fits(x: Any) -> bool:
        return _is_spec(x) or type(x) in NUMBERS or isinstance(x, jax.Array) or hasattr(x, "__array__") and not is_variable(x)

    return bool(leaves) and all(map(fits, leaves))


def _is_object(value: Any) -> bool:
    """Whether an argument is one that programs are called with again, though it is no array: an object whose state they read."""
    return not isinstance(value, (str, bytes, type(None), *NUMBERS))


def _type_of(x: Any) -> Any:
    if _is_spec(x):
        return as_abstract(x)
    array = jnp.asarray(x)
    return jax.ShapeDtypeStruct(array.shape, array.dtype, weak_type=array.weak_type)
