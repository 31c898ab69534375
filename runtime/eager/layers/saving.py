"""Whole models in one file: what each layer was made with, as JSON, and the weights, as safetensors (https://huggingface.co/docs/safetensors).

The JSON stands in the metadata of the file, so that `load_weights` takes it too.  A layer's class is found among those of `ag.layers`, and those that
the caller gives: a file makes nothing else, and runs no code of its own.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.eager.layers import weights
from autograph.runtime.eager.layers.activations import NAMED
from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.errors.errors import CheckpointError, LayerError
from autograph.runtime.errors.extras import needed
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees

_MODEL = "model"
_ACTIVATIONS = {id(f): name for name, f in NAMED.items()}


def save_model(model: Layer, path: str | os.PathLike[str]) -> None:
    """Write a layer or model into one file: what it is made of, and its weights; `load_model` makes it again.

    How it is trained (`compile`) is not in the file.

    Raises:
      LayerError: (AG708) an argument of a layer cannot be written, as a function of one's own that is no activation by name.
      CheckpointError: (AG705) there is no Variable, or the file cannot be written.
    """
    types = model._made.__dict__.get("input_types")
    about = {"layer": _described(model), "inputs": None if types is None else _plain(types, "the inputs", model)}
    weights.save_weights(model, path, {_MODEL: json.dumps(about)})


def load_model(path: str | os.PathLike[str], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The model that a file of `model.save` holds, with its weights.

    Args:
      custom_objects: classes of layers, and functions, that are not of `ag.layers`, by their names.

    Raises:
      CheckpointError: (AG705) there is no such file, it is no file of `model.save`, or it names a class that is not known.

    As `tf.keras.models.load_model` (https://keras.io/api/models/model_saving_apis/model_saving_and_loading).

    >>> import tempfile, jax.numpy as jnp, autograph as ag
    >>> model = ag.layers.Sequential([ag.layers.Dense(4, "relu"), ag.layers.Dense(2)])
    >>> y = model(jnp.ones((1, 3)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.safetensors")
    ...     again = ag.layers.load_model(f"{folder}/model.safetensors")
    >>> bool((again(jnp.ones((1, 3))) == y).all())
    True
    """
    file = os.fspath(path)
    safetensors = needed("safetensors", "load_model")
    try:
        with safetensors.safe_open(file, "numpy") as opened:
            about = json.loads((opened.metadata() or {})[_MODEL])
        described, inputs = about["layer"], about["inputs"]
    except FileNotFoundError:
        raise CheckpointError(f"there is no file {file}", here(), "give what `model.save` was given") from None
    except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{file} is no file of `model.save`: {error}", here(), "weights alone are read by `model.load_weights`") from None
    made = _Maker(file, dict(custom_objects or {}))
    model = made.layer(described)
    if inputs is not None and not all(layer.built for layer in model.layers_inside()):
        with jax.ensure_compile_time_eval():
            model(trees.map(lambda t: jnp.zeros(t.shape, t.dtype), made.value(inputs)))
    model.load_weights(path)
    return model


def _described(layer: Layer) -> dict[str, Any]:
    """A layer's class, and what it was made with."""
    given = vars(layer).get("_given")
    if given is None:
        raise LayerError(f"`{type(layer).__name__}` was not made by a call of its class", here(), "make it by one")
    bound = inspect.signature(type(layer).__init__).bind(layer, *given.args, **given.kwargs)
    arguments = {n: v for n, v in list(bound.arguments.items())[1:]}
    parameters = inspect.signature(type(layer).__init__).parameters
    named: dict[str, Any] = {}
    rest: list[Any] = []
    for n, v in arguments.items():
        if parameters[n].kind is inspect.Parameter.VAR_KEYWORD:
            named |= v
        elif parameters[n].kind is inspect.Parameter.VAR_POSITIONAL:
            rest = list(v)
        else:
            named[n] = v
    if isinstance(parts := getattr(layer, "parts", None), list) and "layers" in parameters:
        named["layers"] = parts  # `add` may have been called since
    kept = {n: _plain(v, n, layer) for n, v in named.items() if not (n.endswith("initializer") and callable(v))}  # the values are in the file
    more: dict[str, Any] = {"rest": [_plain(v, "an argument", layer) for v in rest]} if rest else {}
    if not layer.trainable and named.get("trainable", True):
        more["trainable"] = False  # set since it was made
    return {"class": type(layer).__name__, "with": kept, **more}


def _plain(x: Any, name: str, layer: Layer) -> Any:
    """A value as JSON has it; `{"kind": ...}` for what it has not."""
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    if isinstance(x, Layer):
        return {"layer": _described(x)}
    if isinstance(x, tuple):
        return {"tuple": [_plain(v, name, layer) for v in x]}
    if isinstance(x, list):
        return [_plain(v, name, layer) for v in x]
    if isinstance(x, dict) and all(isinstance(k, str) for k in x):
        return {"dict": {k: _plain(v, name, layer) for k, v in x.items()}}
    if isinstance(x, jax.ShapeDtypeStruct):
        return {"array": [list(x.shape), str(x.dtype)]}
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, (np.dtype, type)) and _dtype(x) is not None:
        return {"dtype": str(_dtype(x))}
    if id(x) in _ACTIVATIONS:
        return _ACTIVATIONS[id(x)]
    if callable(x) and getattr(jax.nn, getattr(x, "__name__", ""), None) is x:
        return {"jax.nn": getattr(x, "__name__", "")}
    if callable(x) and not isinstance(x, type) and "<" not in getattr(x, "__qualname__", "<"):
        return {"function": x.__qualname__}
    raise LayerError(
        f"`{name}` of `{layer.name}` is a `{type(x).__name__}`, which no file holds", here(),
        "give numbers, texts, layers, or functions that have names; or write the weights alone: `save_weights`",
    )  # fmt: skip


def _dtype(x: Any) -> Any:
    try:
        return jnp.dtype(x)
    except TypeError:
        return None


def _classes(cls: type[Layer]) -> Iterator[type[Layer]]:
    """A class and those under it, as far as they are of this package."""
    yield cls
    for under in cls.__subclasses__():
        if under.__module__.startswith(__package__ or ""):
            yield from _classes(under)


class _Maker:
    """Makes layers of what a file says."""

    def __init__(self, file: str, custom: dict[str, Any]) -> None:
        self.file, self.custom = file, custom

    def layer(self, described: Any) -> Any:
        cls = self._found(described["class"], "class")
        named = {n: self.value(v) for n, v in described["with"].items()}
        made = cls(*[self.value(v) for v in described.get("rest", ())], **named)
        if "trainable" in described:
            made.trainable = described["trainable"]
        return made

    def value(self, x: Any) -> Any:
        if isinstance(x, list):
            return [*map(self.value, x)]
        if not isinstance(x, dict):
            return x
        ((kind, held),) = x.items()
        match kind:
            case "layer":
                return self.layer(held)
            case "tuple":
                return tuple(map(self.value, held))
            case "dict":
                return {k: self.value(v) for k, v in held.items()}
            case "array":
                return jax.ShapeDtypeStruct(*held)
            case "dtype":
                return jnp.dtype(held)
            case "jax.nn":
                return getattr(jax.nn, held)
        return self._found(held, "function")

    def _found(self, name: str, what: str) -> Any:
        found = self.custom.get(name)
        if found is None and what == "class":
            found = next((c for c in _classes(Layer) if c.__name__ == name), None)
        if found is None:
            raise CheckpointError(
                f"{self.file} names the {what} `{name}`", here(), f'give it: `load_model(path, custom_objects={{"{name}": {name}}})`'
            )
        return found
