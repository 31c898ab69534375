"""`Layer`: Variables that are made when it is first called, and what it does with its input."""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import Deferred, is_variable, value_of
from autograph.runtime.calls.callees import call
from autograph.runtime.eager.graph_of_objects import variables_in
from autograph.runtime.eager.layers import weights
from autograph.runtime.eager.layers.activations import activation as activation
from autograph.runtime.eager.layers.initial import initial
from autograph.runtime.eager.variables import Variable
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.object_graph import Unseen, kept
from autograph.runtime.values.values import NUMBERS


class _Modes(threading.local):
    training: bool | Any = False  # of the layer that is called around


modes = _Modes()


class _MadeWith(Unseen):
    """What a layer was made with, for `save`: none of it is a part of the layer."""


class Layer:
    """Something that is called with arrays, and has Variables.

    A layer of one's own makes its Variables in `build(input_shape)`, which is called with the shape of the first input, and computes in
    `call(inputs)`; a `call` that takes `training` is told whether the model is being trained.  Layers in attributes, lists and dicts are part of it.

    Args:
      trainable: whether its Variables are among the trainable ones.
      name: shown by `summary` and in errors.

    The semantics are those of `tf.keras.layers.Layer` (https://keras.io/api/layers/base_layer).

    >>> import jax.numpy as jnp, autograph as ag
    >>> class Scale(ag.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.scale = self.add_variable("scale", [input_shape[-1]], initializer="ones")
    ...     def call(self, inputs):
    ...         return inputs * self.scale
    >>> layer = Scale()
    >>> print(layer(jnp.arange(3.0)), [v.shape for v in layer.variables])
    [0. 1. 2.] [(3,)]
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        vars(made)["_given"] = _MadeWith(args=args, kwargs=kwargs)
        return made

    def __init__(self, trainable: bool = True, name: str | None = None) -> None:
        self.trainable, self.name = trainable, name or type(self).__name__.lower()
        self._made: Any = Unseen(built=False)

    @property
    def built(self) -> bool:
        """Whether its Variables have been made."""
        return self._made.built  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        made = self.__dict__.get("_made")
        if made is None or name not in made.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return made.__dict__[name]

    def build(self, input_shape: Any) -> None:
        """Make the Variables.

        Args:
          input_shape: of the first input, with the axis of the batch; of several inputs, their shapes in the structure of the inputs.
        """

    def call(self, inputs: Any) -> Any:
        """What the layer makes of its inputs.

        Raises:
          LayerError: (AG708) the class does not say.
        """
        cls = type(self)
        other = next((name for name in ("forward", "apply", "__forward__") if callable(getattr(cls, name, None))), "")
        raise LayerError(
            f"`{cls.__name__}` has no `call`, which says what it makes of its inputs", here(),
            f"name its method `{other}` `call`" if other else "give the class a method `call(self, inputs)`",
        )  # fmt: skip

    def __call__(self, inputs: Any, *args: Any, training: Any = None, **kwargs: Any) -> Any:
        """Compute, after the Variables have been made.

        Args:
          training: whether the layers in it are in training mode; by default as in the call around, and not in training.
        """
        _check_made(self)
        if isinstance(inputs, Deferred):
            return inputs.deferred(self, inputs, *args, training=training, **kwargs)
        if isinstance(inputs, (list, tuple)) and inputs and all(type(x) in NUMBERS for x in trees.leaves(inputs)):
            inputs = jnp.asarray(inputs)  # as TensorFlow does; a list of arrays is several inputs
        inputs = trees.map(_array, inputs, is_leaf=is_variable)
        self.build_for(_shape_of(inputs))
        if "input_types" not in self._made.__dict__:
            self._made.input_types = trees.map(lambda x: jax.ShapeDtypeStruct(jnp.shape(x), x.dtype) if hasattr(x, "dtype") else None, inputs)
        before = modes.training
        modes.training = before if training is None else training
        try:
            if _takes_training(type(self)):
                kwargs["training"] = modes.training
            compute = call(self.call) if _jax.recording() else self.call
            return compute(inputs, *args, **kwargs)
        finally:
            modes.training = before

    def build_for(self, input_shape: Any) -> None:
        """Build it, unless it is built."""
        if not self.built:
            before = dict(vars(self))
            self.build(input_shape)
            kept(self, self._made, {name: value for name, value in vars(self).items() if name not in before or before[name] is not value})
            self._made.built = True

    def add_variable(
        self, name: str, shape: Sequence[int] = (), initializer: Any = "glorot_uniform", trainable: bool = True, dtype: Any = None
    ) -> Variable:
        """A Variable of this layer, to be kept in an attribute.

        Args:
          initializer: a name of Keras's, a function of key, shape and dtype, or one without arguments.
        """
        return Variable(lambda: initial(initializer, shape, dtype or jnp.float32), trainable, f"{self.name}/{name}")

    add_weight = add_variable

    @property
    def variables(self) -> list[Variable]:
        """The Variables of this layer and of those in it, each once."""
        return list(variables_in({"": self}).values())

    weights = variables

    @property
    def trainable_variables(self) -> list[Variable]:
        """Those that are trained: the trainable ones of trainable layers."""
        frozen = {id(v) for layer in self.layers_inside() if not layer.trainable for v in layer.variables}
        return [v for v in self.variables if v.trainable and id(v) not in frozen]

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """The others: averages, random keys, and what is frozen."""
        trained = {id(v) for v in self.trainable_variables}
        return [v for v in self.variables if id(v) not in trained]

    def get_weights(self) -> list[Any]:
        """What its Variables hold, as NumPy's arrays, in their order, but for random keys."""
        return weights.get_weights(self)

    def set_weights(self, arrays: Sequence[Any]) -> None:
        """Let its Variables hold arrays, in the order of `get_weights`.  Raises CheckpointError (AG705) if there are more or fewer."""
        weights.set_weights(self, arrays)

    def save_weights(self, path: Any) -> None:
        """Write its Variables into one file of safetensors.  Raises CheckpointError (AG705) if that cannot be done."""
        weights.save_weights(self, path)

    def load_weights(self, path: Any) -> None:
        """Let its Variables hold what such a file says.  Raises CheckpointError (AG705) if it does not go with them; then none has changed."""
        weights.load_weights(self, path)

    def layers_inside(self) -> list[Layer]:
        """This layer, and all in its attributes, each once."""
        found: dict[int, Layer] = {}
        todo: list[Any] = [self]
        while todo:
            x = todo.pop()
            if isinstance(x, Layer):
                if id(x) not in found:
                    found[id(x)] = x
                    todo += reversed([*vars(x).values(), *vars(x._made).values()])
            elif isinstance(x, (list, tuple)):
                todo += reversed(x)
            elif isinstance(x, dict):
                todo += reversed(list(x.values()))
        return list(found.values())

    @property
    def submodules(self) -> tuple[Layer, ...]:
        """The layers in it, each once."""
        return tuple(self.layers_inside()[1:])

    def count_params(self) -> int:
        """How many numbers its Variables hold, random keys left out."""
        return sum(v.size for v in self.variables if not jnp.issubdtype(v.dtype, jax.dtypes.prng_key))

    def __repr__(self) -> str:
        return f"<ag.layers.{type(self).__name__} {self.name!r}{'' if self.built else ', not built'}>"


def _check_made(layer: Layer) -> None:
    if "_made" not in vars(layer):
        raise LayerError(f"`{type(layer).__name__}.__init__` has not called that of its base class", here(), "write `super().__init__()` first in it")


def _takes_training(cls: type[Layer]) -> bool:
    found = _TAKES.get(cls)
    if found is None:
        found = _TAKES[cls] = "training" in inspect.signature(cls.call).parameters
    return found


_TAKES: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def _array(x: Any) -> Any:
    x = value_of(x)
    return x if isinstance(x, jax.Array) or callable(x) or isinstance(x, str) else jnp.asarray(x)


def _shape_of(inputs: Any) -> Any:
    return trees.map(jnp.shape, inputs)
