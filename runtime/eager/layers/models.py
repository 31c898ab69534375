"""Layers that hold layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.eager.layers.saving import save_model
from autograph.runtime.eager.layers.training import Trained
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here


class Model(Trained):
    """A layer made of others: make them in `__init__`, and compute with them in `call`, with `if`, `while` and `for` on the values where needed.

    >>> import jax.numpy as jnp, autograph as ag
    >>> class Net(ag.layers.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.dense1, self.dense2 = ag.layers.Dense(10), ag.layers.Dense(10)
    ...     def call(self, x):
    ...         x = self.dense1(x)
    ...         return self.dense2(self.dense2(x))
    >>> model = Net()
    >>> model(jnp.zeros((1, 1, 784))).shape, len(model.variables)
    ((1, 1, 10), 4)
    """

    @property
    def layers(self) -> list[Layer]:
        """The layers in its attributes, each once."""
        inside = {id(part) for layer in self.layers_inside()[1:] for part in layer.layers_inside()[1:]}
        return [layer for layer in self.layers_inside()[1:] if id(layer) not in inside]

    def save(self, path: Any) -> None:
        """Write it into one file: what its layers were made with, and their weights; `ag.layers.load_model` makes it again.

        Args:
          path: of a file of safetensors, which takes the place of another as a whole.  How the model is trained (`compile`) is not in it.

        Raises:
          LayerError: (AG708) an argument of a layer cannot be written.
          CheckpointError: (AG705) there is no Variable, or the file cannot be written.
        """
        save_model(self, path)

    def summary(self) -> str:
        """Its layers, what they are, and how many numbers they hold; as text."""
        rows = [(layer.name, type(layer).__name__, f"{layer.count_params():,}" if layer.built else "not built") for layer in self.layers]
        total = self.count_params()
        trained = sum(v.size for v in self.trainable_variables)
        widths = [max(len(row[k]) for row in [*rows, ("layer", "class", "parameters")]) for k in range(3)]

        def line(cells: Iterable[str]) -> str:
            name, kind, count = cells
            return f"{name:<{widths[0]}}  {kind:<{widths[1]}}  {count:>{widths[2]}}"

        return "\n".join([line(("layer", "class", "parameters")), *map(line, rows), f"{total:,} parameters, {trained:,} of them trained"])


class Sequential(Model):
    """Layers, each of which is given what the one before it gives.

    Args:
      layers: layers, or functions of an array; the first may be told its `input_shape`, and then all Variables are made at once.

    >>> import jax.numpy as jnp, autograph as ag
    >>> model = ag.layers.Sequential([ag.layers.Dense(16, "relu", input_shape=(4,)), ag.layers.Dense(3)])
    >>> print(model.summary())
    layer  class  parameters
    dense  Dense          80
    dense  Dense          51
    131 parameters, 131 of them trained
    """

    def __init__(self, layers: Iterable[Any] = (), name: str | None = None, **options: Any) -> None:
        super().__init__(name=name, **options)
        self.parts: list[Any] = []
        for layer in layers:
            self.add(layer)
        self._build_from_first()

    def add(self, layer: Any) -> None:
        """Put one more at the end."""
        if not callable(layer):
            raise LayerError(f"`Sequential` is given a `{type(layer).__name__}`", here(), "give it layers, or functions of an array")
        self.parts.append(layer)

    def _build_from_first(self) -> None:
        first = self.parts[0] if self.parts else None
        if isinstance(first, Layer) and first.built and not all(layer.built for layer in self.layers):
            shape = getattr(first, "input_shape", None)
            if shape is not None:
                with jax.ensure_compile_time_eval():
                    self(jnp.zeros((1, *shape)))

    def call(self, inputs: Any) -> Any:
        for layer in self.parts:
            inputs = layer(inputs)
        return inputs

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, index: Any) -> Any:
        return self.parts[index]
