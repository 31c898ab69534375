"""The weights of layers and models as lists of arrays, and in a file: safetensors (https://huggingface.co/docs/safetensors)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.eager.checkpoints import check_taken, written_whole
from autograph.runtime.eager.graph_of_objects import variables_in
from autograph.runtime.eager.stored import About, loaded, stored
from autograph.runtime.errors.errors import CheckpointError
from autograph.runtime.errors.extras import needed
from autograph.runtime.errors.source_spans import here

_NAME = "autograph"


def get_weights(layer: Any) -> list[np.ndarray]:
    """What its Variables hold, in their order, but for random keys."""
    return [v.numpy() for v in _numbers(layer)]


def _numbers(layer: Any) -> list[Any]:
    return [v for v in layer.variables if not jnp.issubdtype(v.dtype, jax.dtypes.prng_key)]


def set_weights(layer: Any, weights: Sequence[Any]) -> None:
    """Let its Variables hold arrays, in the order of `get_weights`.

    Raises:
      CheckpointError: (AG705) there are more or fewer of them.
    """
    variables = _numbers(layer)
    if len(variables) != len(weights):
        raise CheckpointError(f"{len(weights)} arrays are given for {len(variables)} Variables", here(), "give what `get_weights` has given")
    for v, x in zip(variables, weights, strict=True):
        v.assign(x)


def save_weights(layer: Any, path: str | os.PathLike[str], about_it: Mapping[str, str] = MappingProxyType({})) -> None:
    """Write its Variables into one file, which takes the place of another as a whole; `about_it` stands beside them.

    Raises:
      CheckpointError: (AG705) there is no Variable, or the file cannot be written.
    """
    files = {name: stored(v.value) for name, v in variables_in({"": layer}).items()}
    if not files:
        raise CheckpointError(f"`{layer.name}` has no Variable", here(), "call it once before, so that it is built")
    about = {**about_it, _NAME: json.dumps({name: said for name, (_, said) in files.items()})}
    data = needed("safetensors.numpy", "save_weights").save({name: array for name, (array, _) in files.items()}, about)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        written_whole(Path(path), data)
    except OSError as error:
        raise CheckpointError(f"{os.fspath(path)} cannot be written: {error.strerror or error}", here(), "free space, or choose a folder") from None


def load_weights(layer: Any, path: str | os.PathLike[str]) -> None:
    """Let its Variables hold what a file of `save_weights` says.

    Raises:
      CheckpointError: (AG705) there is no such file, it is broken, or it is of a layer with other Variables.  Then none has changed.
    """
    file = os.fspath(path)
    safetensors = needed("safetensors", "load_weights")
    try:
        with safetensors.safe_open(file, "numpy") as opened:
            about = json.loads((opened.metadata() or {})[_NAME])
            values = {name: loaded(opened.get_tensor(name), About(**said)) for name, said in about.items()}
    except FileNotFoundError:
        raise CheckpointError(f"there is no file {file}", here(), "give what `save_weights` was given") from None
    except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{file} is no file of `save_weights`: {error}", here(), "write it again") from None
    variables = variables_in({"": layer})
    if other := sorted(set(values) ^ set(variables)):
        raise CheckpointError(f"{file} and `{layer.name}` do not both have `{other[0]}`", here(), "build the model as it was; call it once before")
    for name, v in variables.items():
        check_taken(v, name, values[name], file)
    for name, v in variables.items():
        v.assign(values[name])
