"""Sequences that are gone over from both ends."""

from __future__ import annotations

import copy
from typing import Any

import jax.numpy as jnp

from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.eager.layers.recurrent import RNN
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here

_MODES: dict[Any, Any] = {
    "concat": lambda a, b: jnp.concatenate([a, b], -1),
    "sum": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "ave": lambda a, b: (a + b) / 2,
    None: lambda a, b: (a, b),
}


class Bidirectional(Layer):
    """A recurrent layer, and another like it that begins at the last step (Schuster and Paliwal, 1997).

    Args:
      layer: a recurrent layer that has not been called yet.
      merge_mode: how their outputs are put together: "concat", "sum", "mul" or "ave"; or None for both of them.
      backward_layer: the other one; by default the same with Variables of its own.

    Where `layer` returns sequences, the outputs of the other are put in the order of the steps.  Where it returns states, those of both follow.

    Raises:
      LayerError: (AG708) there is no such mode, or the layer is no recurrent one.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.Bidirectional(ag.layers.GRU(5, return_sequences=True))(jnp.zeros((2, 7, 3))).shape
    (2, 7, 10)
    """

    def __init__(self, layer: Any, merge_mode: str | None = "concat", backward_layer: Any = None, **options: Any) -> None:
        super().__init__(**options)
        if merge_mode not in _MODES:
            raise LayerError(f"there is no mode {merge_mode!r}", here(), "write 'concat', 'sum', 'mul', 'ave' or None")
        if not isinstance(layer, RNN) or layer.built:
            what = "a layer that has Variables already" if isinstance(layer, RNN) else f"a `{type(layer).__name__}`"
            raise LayerError(f"`Bidirectional` is given {what}", here(), "give a new recurrent layer: `ag.layers.LSTM(4)`")
        self.forward_layer, self.merge_mode = layer, merge_mode
        if backward_layer is None:
            backward_layer = copy.deepcopy(layer)
            backward_layer.go_backwards = not layer.go_backwards
        if layer.go_backwards or not backward_layer.go_backwards:
            which = "`layer` goes backwards" if layer.go_backwards else "`backward_layer` goes forwards"
            raise LayerError(which, here(), "give one that goes forwards, and as `backward_layer` one with `go_backwards=True`")
        self.backward_layer = backward_layer

    def build(self, input_shape: Any) -> None:
        self.forward_layer.build_for(input_shape)
        self.backward_layer.build_for(input_shape)

    def call(self, inputs: Any, initial_state: Any = None) -> Any:  # type: ignore[override]
        """`initial_state`: the states of the one, and then those of the other."""
        count = 0 if initial_state is None else len(initial_state) // 2
        given = (initial_state[:count], initial_state[count:]) if count else (None, None)
        layers = (self.forward_layer, self.backward_layer)
        found = [layer(inputs, initial_state=state) for layer, state in zip(layers, given, strict=True)]
        (a, *states), (b, *others) = (x if layer.return_state else (x,) for x, layer in zip(found, layers, strict=True))
        out = _MODES[self.merge_mode](a, b[:, ::-1] if self.backward_layer.return_sequences else b)
        if not self.forward_layer.return_state:
            return out
        return (*out, *states, *others) if self.merge_mode is None else (out, *states, *others)
