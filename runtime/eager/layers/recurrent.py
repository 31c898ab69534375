"""Layers that go over the steps of sequences: arrays of shape (batch, steps, features)."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime.eager.layers.layer import Layer, activation
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.loops.for_loop import for_loop


class Cell(Layer):
    """One step of a recurrent layer: `cell(inputs, states)` gives an output and the new states.

    A cell of one's own has `units`, `build` and `call(inputs, states)`, where `states` is a list of as many arrays of shape (batch, units) as
    `state_count` says; it may have `if` and `while` on the values.
    """

    units: int
    state_count = 1

    def initial_state(self, batch: int, dtype: Any) -> list[Any]:
        """The states before the first step: zeros."""
        return [jnp.zeros((batch, self.units), dtype) for _ in range(self.state_count)]

    def call(self, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        raise NotImplementedError


class _OfMatrices(Cell):
    """A cell whose step is a function of its weights: `kernel`, `recurrent_kernel` and `bias`, for some gates each."""

    gates = 1
    bias_shape: tuple[int, ...] = ()

    def __init__(
        self, units: int, activation: Any = "tanh", use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros", **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(**options)
        self.units, self.activation, self.use_bias = units, activation, use_bias
        self.kernel_initializer, self.recurrent_initializer, self.bias_initializer = kernel_initializer, recurrent_initializer, bias_initializer

    def build(self, input_shape: Any) -> None:
        width = self.gates * self.units
        self.kernel = self.add_variable("kernel", (input_shape[-1], width), self.kernel_initializer)
        self.recurrent_kernel = self.add_variable("recurrent_kernel", (self.units, width), self.recurrent_initializer)
        self.bias = self.add_variable("bias", (*self.bias_shape, width), self.bias_initializer) if self.use_bias else None

    def functions(self) -> tuple[Any, ...]:
        """What its step depends on beside weights, inputs and states."""
        return (self.activation,)

    def weights_now(self) -> tuple[Any, ...]:
        """The arrays of its Variables."""
        kernel = self.kernel.value
        bias = self.bias.value if self.bias is not None else jnp.zeros((*self.bias_shape, kernel.shape[1]), kernel.dtype)
        return kernel, self.recurrent_kernel.value, bias

    def step(self, weights: tuple[Any, ...], inputs: Any, states: list[Any]) -> list[Any]:
        """The new states, the first of which is the output."""
        raise NotImplementedError

    def call(self, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        new = self.step(self.weights_now(), inputs, list(states))
        return new[0], new


class SimpleRNNCell(_OfMatrices):
    """`tanh(inputs @ kernel + state @ recurrent_kernel + bias)`."""

    def step(self, weights: tuple[Any, ...], inputs: Any, states: list[Any]) -> list[Any]:
        kernel, recurrent, bias = weights
        return [activation(self.activation)(inputs @ kernel + states[0] @ recurrent + bias)]


class _Gated(_OfMatrices):
    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", use_bias: bool = True, **options: Any) -> None:
        super().__init__(units, activation, use_bias, **options)
        self.recurrent_activation = recurrent_activation

    def functions(self) -> tuple[Any, ...]:
        return self.activation, self.recurrent_activation


class GRUCell(_Gated):
    """A gated recurrent unit (Cho et al., 2014, https://arxiv.org/abs/1406.1078).

    Args:
      recurrent_activation: of the gates.
      reset_after: whether the reset gate comes after the matrix product, and there is another bias.
    """

    gates = 3

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", reset_after: bool = True, **options: Any) -> None:
        super().__init__(units, activation, recurrent_activation, **options)
        self.reset_after, self.bias_shape = reset_after, (2,) if reset_after else ()

    def functions(self) -> tuple[Any, ...]:
        return *super().functions(), self.reset_after

    def step(self, weights: tuple[Any, ...], inputs: Any, states: list[Any]) -> list[Any]:
        kernel, recurrent, bias = weights
        (h,) = states
        act, gate = activation(self.activation), activation(self.recurrent_activation)
        if self.reset_after:
            of_z, of_r, of_new = jnp.split(inputs @ kernel + bias[0], 3, axis=-1)
            h_z, h_r, h_new = jnp.split(h @ recurrent + bias[1], 3, axis=-1)
            z, r = gate(of_z + h_z), gate(of_r + h_r)
            new = act(of_new + r * h_new)
        else:
            of_z, of_r, of_new = jnp.split(inputs @ kernel + bias, 3, axis=-1)
            u_z, u_r, u_new = jnp.split(recurrent, 3, axis=-1)
            z, r = gate(of_z + h @ u_z), gate(of_r + h @ u_r)
            new = act(of_new + (r * h) @ u_new)
        return [z * h + (1 - z) * new]


class LSTMCell(_Gated):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); states are the output and the memory.

    Args:
      recurrent_activation: of the gates.
      unit_forget_bias: whether the bias of the gate that forgets is 1 at first (Jozefowicz, Zaremba and Sutskever, 2015).
    """

    gates, state_count = 4, 2

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", unit_forget_bias: bool = True, **options: Any
    ) -> None:
        super().__init__(units, activation, recurrent_activation, **options)
        self.unit_forget_bias = unit_forget_bias

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if self.unit_forget_bias and self.bias is not None:
            with jax.ensure_compile_time_eval():
                first = self.bias._array.at[self.units : 2 * self.units].set(1.0)
            self.bias = self.add_variable("bias", first.shape, lambda key, shape, dtype: first)

    def step(self, weights: tuple[Any, ...], inputs: Any, states: list[Any]) -> list[Any]:
        kernel, recurrent, bias = weights
        h, memory = states
        act, gate = activation(self.activation), activation(self.recurrent_activation)
        i, f, new, o = jnp.split(inputs @ kernel + h @ recurrent + bias, 4, axis=-1)
        memory = gate(f) * memory + gate(i) * act(new)
        return [gate(o) * act(memory), memory]


class RNN(Layer):
    """A cell, step by step over sequences.

    Args:
      cell: a `Cell`; one of one's own too.
      return_sequences: whether the outputs of all steps are given, of shape (batch, steps, units), or that of the last one.
      return_state: whether the last states are given too, after the output.
      go_backwards: whether the last step comes first.

    >>> import jax.numpy as jnp, autograph as ag
    >>> layer = ag.layers.RNN(ag.layers.GRUCell(5), return_sequences=True)
    >>> layer(jnp.zeros((2, 7, 3))).shape
    (2, 7, 5)
    """

    def __init__(self, cell: Any, return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.cell, self.return_sequences, self.return_state, self.go_backwards = cell, return_sequences, return_state, go_backwards

    def build(self, input_shape: Any) -> None:
        self.cell.build_for((input_shape[0], input_shape[-1]))

    def get_initial_state(self, batch_size: Any) -> list[Any]:
        """The states before the first step: zeros.  `batch_size` is a number, or a batch of inputs, as in older programs."""
        batch = batch_size if isinstance(batch_size, int) else int(jnp.shape(batch_size)[0])
        return list(self.cell.initial_state(batch, jnp.float32))

    def call(self, inputs: Any, initial_state: Any = None) -> Any:  # type: ignore[override]
        if inputs.ndim != 3:
            raise LayerError(
                f"`{self.name}` is given shape {inputs.shape}, and takes sequences of shape (batch, steps, features)",
                here(),
                "add the axis: `x[..., None]`",
            )
        state = self.cell.initial_state(inputs.shape[0], inputs.dtype) if initial_state is None else initial_state
        states = list(state) if isinstance(state, (list, tuple)) else [state]
        steps = jnp.swapaxes(inputs, 0, 1)
        steps = steps[::-1] if self.go_backwards else steps
        if isinstance(self.cell, _OfMatrices):
            states, outputs = _scanned(_RecurrentStep(self.cell), self.cell.weights_now(), steps, states)
            last = states[0]
        else:
            last, states, outputs = self._by_steps(steps, states)
        out = jnp.swapaxes(outputs, 0, 1) if self.return_sequences else last
        return (out, *states) if self.return_state else out

    def _by_steps(self, steps: Any, states: list[Any]) -> Any:
        """With a cell of the user's, whose Python runs for each step, or once where the loop is compiled."""
        first, states = self.cell(steps[0], states)
        rest = steps[1:]
        if not _jax.compiling():
            outputs = [first]
            for x in rest:
                out, states = self.cell(x, states)
                outputs.append(out)
            return outputs[-1], list(states), jnp.stack(outputs)

        def body(k: Any, found: Any, *states: Any) -> Any:
            out, new = self.cell(rest[k], list(states))
            return found.at[k + 1].set(out), *new

        found = jnp.zeros((steps.shape[0], *first.shape), first.dtype).at[0].set(first)
        found, *states = for_loop(jnp.arange(rest.shape[0]), body, found, *states)
        return found[-1], states, found


class _RecurrentStep:
    """The step of a cell as something that JAX finds again: equal for cells that compute the same."""

    def __init__(self, cell: _OfMatrices) -> None:
        self.cell = cell
        self._key = (type(cell), *cell.functions())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RecurrentStep) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@functools.partial(jax.jit, static_argnums=0)
def _scanned(step: _RecurrentStep, weights: tuple[Any, ...], steps: Any, states: list[Any]) -> Any:
    def iteration(states: list[Any], x: Any) -> Any:
        new = step.cell.step(weights, x, states)
        return new, new[0]

    dtype = jnp.result_type(steps, *weights)
    return lax.scan(iteration, [s.astype(dtype) for s in states], steps)


def _layer_of(cell: type[_OfMatrices], name: str, of: str) -> type[RNN]:
    class Made(RNN):
        def __init__(
            self, units: int, activation: Any = "tanh", *, return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False,
            trainable: bool = True, name: str | None = None, **options: Any,
        ) -> None:  # fmt: skip
            super().__init__(cell(units, activation, **options), return_sequences, return_state, go_backwards, trainable=trainable, name=name)

    Made.__name__ = Made.__qualname__ = name
    Made.__doc__ = f"""{of}, step by step over sequences of shape (batch, steps, features).

    Args:
      units: the size of the output and of each state.
      activation: a name, or a function.
      return_sequences: whether the outputs of all steps are given, of shape (batch, steps, units), or that of the last one.
      return_state: whether the last states are given too, after the output.
      go_backwards: whether the last step comes first.
      options: those of `{cell.__name__}`: `use_bias`, initializers, and others.
    """
    return Made


SimpleRNN = _layer_of(SimpleRNNCell, "SimpleRNN", "A fully connected recurrent layer")
GRU = _layer_of(GRUCell, "GRU", "Gated recurrent units")
LSTM = _layer_of(LSTMCell, "LSTM", "Long short-term memory")
