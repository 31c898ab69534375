"""Gradients of functions: of their arguments, and of the Variables that they read; and gradients of one's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.variable_ref import is_variable, value_of
from autograph.runtime.eager.tape import GradientTape
from autograph.runtime.errors.errors import TapeError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.tape_operations import is_inexact


def value_and_gradients_function(f: Callable[..., Any], params: Sequence[int] | None = None) -> Callable[..., Any]:
    """A function that gives the value of `f` and a list of its gradients, one for each argument; None for one that it does not depend on.

    Args:
      f: gives an array; of one that is not a scalar, the sum is differentiated.
      params: the numbers of the arguments; by default all.

    As in TensorFlow's eager execution (https://www.tensorflow.org/guide/eager, of 2018).

    >>> import autograph as ag
    >>> value, gradients = ag.value_and_gradients_function(lambda x: x * x + 2 * x + 4)(2.0)
    >>> float(value), [float(g) for g in gradients]
    (12.0, [6.0])
    """

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        given = _apart(args)
        by = [given[k] for k in (range(len(given)) if params is None else params)]
        with GradientTape() as tape:
            tape.watch(by)
            value = f(*given, **kwargs)
        return value, tape.gradient(value, by)

    return function


def gradients_function(f: Callable[..., Any], params: Sequence[int] | None = None) -> Callable[..., list[Any]]:
    """A function that gives a list of the gradients of `f`, one for each argument; a decorator too.  `value_and_gradients_function` says more.

    >>> import autograph as ag
    >>> @ag.gradients_function
    ... def f(x, y):
    ...     return x**2 + y**3
    >>> [float(g) for g in f(1.0, 2.0)]
    [2.0, 12.0]
    """
    both = value_and_gradients_function(f, params)

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> list[Any]:
        return both(*args, **kwargs)[1]  # type: ignore[no-any-return]

    return function


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., tuple[Any, list[tuple[Any, Any]]]]:
    """A function that gives the value of `f`, and pairs of a gradient and the trainable Variable that it belongs to, in the order of their reading.

    Raises:
      TapeError: (AG703) when it is called, and `f` reads no trainable Variable.

    >>> import autograph as ag
    >>> x, y = ag.Variable(1.0, name="x"), ag.Variable(1.0, name="y")
    >>> value, pairs = ag.implicit_value_and_gradients(lambda a: x + 2 * a * x * y)(5.0)
    >>> float(value), [(float(g), v.name) for g, v in pairs]
    (11.0, [(11.0, 'x'), (10.0, 'y')])
    """

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
            variables = [v for v in tape.watched_variables() if v.trainable]
        if not variables:
            raise TapeError(f"`{getattr(f, '__name__', f)}` reads no trainable Variable", here(), "use `ag.gradients_function` for its arguments")
        return value, list(zip(tape.gradient(value, variables), variables, strict=True))

    return function


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., list[tuple[Any, Any]]]:
    """A function that gives pairs of a gradient and the trainable Variable of `f` that it belongs to.

    >>> import autograph as ag
    >>> w = ag.Variable(3.0)
    >>> [(gradient, variable)] = ag.implicit_gradients(lambda: w * w)()
    >>> float(gradient), variable is w
    (6.0, True)
    """
    both = implicit_value_and_gradients(f)

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return both(*args, **kwargs)[1]

    return function


def value_and_grad(f: Callable[..., Any], variables: Any = None) -> Callable[..., tuple[Any, Any]]:
    """The functional form: a function that gives the value of `f` and its gradients by some Variables, in their structure.

    Args:
      f: gives a scalar.
      variables: Variables, or a pytree of them; by default the trainable ones that `f` reads, as a list in the order of their reading.

    Raises:
      TapeError: (AG703) `f` reads no trainable Variable, and none are given.

    >>> import autograph as ag
    >>> w, b = ag.Variable(2.0), ag.Variable(1.0)
    >>> value, gradients = ag.value_and_grad(lambda x: (w * x + b) ** 2, {"w": w, "b": b})(3.0)
    >>> float(value), {k: float(g) for k, g in gradients.items()}
    (49.0, {'b': 14.0, 'w': 42.0})
    """

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        with GradientTape(watch_accessed_variables=variables is None) as tape:
            if variables is not None:
                tape.watch(variables)
            value = f(*args, **kwargs)
        by = list(tape.watched_variables()) if variables is None else variables
        if not trees.leaves(by, is_leaf=is_variable):
            raise TapeError(f"`{getattr(f, '__name__', f)}` reads no trainable Variable", here(), "use `jax.value_and_grad` for its arguments")
        return value, tape.gradient(value, by, unconnected_gradients="zero")

    return function


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a gradient of its own: `f` gives its value and a function from the gradient of the value to those of the arguments.

    What `f` has computed may be used again by that function.  Gradients of higher order go through it, as through any code; None for an argument
    stands for zeros.

    Raises:
      TapeError: (AG703) when a gradient is asked for, and there are not as many of them as arguments.

    The semantics are those of `tf.custom_gradient` (https://www.tensorflow.org/api_docs/python/tf/custom_gradient), by `jax.custom_gradient`.

    >>> import jax.numpy as jnp, autograph as ag
    >>> @ag.custom_gradient
    ... def log1pexp(x):
    ...     e = jnp.exp(x)
    ...     return jnp.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))
    >>> float(ag.gradients_function(log1pexp)(100.0)[0])
    1.0
    """

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        def value(*given: Any) -> Any:
            out, gradient = f(*given, **kwargs)

            def back(cotangent: Any) -> tuple[Any, ...]:
                found = gradient(*cotangent) if isinstance(cotangent, (tuple, list)) else gradient(cotangent)
                found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
                if len(found) != len(given):
                    raise TapeError(
                        f"the gradient function of `{getattr(f, '__name__', f)}` gives {len(found)} gradients, and there are {len(given)} arguments",
                        here(), "give one for each argument, None for one without",
                    )  # fmt: skip
                return tuple(map(_cotangent, found, given))

            return trees.map(value_of, out, is_leaf=is_variable), back

        return jax.custom_gradient(value)(*map(value_of, args))

    return function


def _cotangent(gradient: Any, x: Any) -> Any:
    if not is_inexact(x):
        return np.zeros(np.shape(x), jax.dtypes.float0)
    return jnp.zeros_like(x) if gradient is None else jnp.asarray(value_of(gradient), jnp.result_type(x))


def _apart(args: Sequence[Any]) -> list[Any]:
    """The arguments as arrays, each of which is another object."""
    found: list[Any] = []
    for x in args:
        x = value_of(x)
        array = jnp.asarray(x, jnp.result_type(float)) if isinstance(x, float) else jnp.asarray(x) if not callable(x) else x
        twice = any(array is other for other in found)
        found.append(lax.squeeze(lax.expand_dims(array, (0,)), (0,)) if twice else array)  # an operation, which tapes around record
    return found
