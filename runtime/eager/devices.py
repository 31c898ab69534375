"""Where values are: devices by TensorFlow's names, and copies between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import jax

from autograph.runtime.arrays.variable_ref import VariableRef, value_of
from autograph.runtime.errors.errors import DeviceError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax


def executing_eagerly() -> bool:
    """Whether operations run at once and give values: not while a function is traced.

    >>> import autograph as ag
    >>> ag.executing_eagerly(), ag.function(lambda x: x if ag.executing_eagerly() else -x)(1.0)
    (True, Array(-1., dtype=float32, weak_type=True))
    """
    return not _jax.recording()


def _devices(kind: str) -> list[Any]:
    try:
        return list(jax.devices(kind))
    except RuntimeError:  # JAX's answer for a kind that this machine does not have
        return []


def _device(name: Any) -> Any:
    if not isinstance(name, str):
        return name
    found = re.fullmatch(r"/?(?:device:)?(cpu|gpu|tpu)(?::(\d+))?", name.lower())
    if found is None:
        raise DeviceError(f"`{name}` names no device", here(), 'write "cpu", "gpu", "tpu", or one of several as "gpu:1"')
    there, number = _devices(found[1]), int(found[2] or 0)
    if number >= len(there):
        kind = found[1].upper()
        raise DeviceError(
            f"there is no {name}: JAX sees {len(there) or 'no'} {kind}{'s' * (len(there) != 1)}", here(), "ask `ag.num_gpus()`, or `jax.devices()`"
        )
    return there[number]


def device(name: Any) -> AbstractContextManager[Any]:
    """A block whose new arrays are made on a device: "cpu", "gpu:0" ("/gpu:0" too), or one of `jax.devices()`.

    Raises:
      DeviceError: (AG706) there is no such device.

    >>> import jax.numpy as jnp, autograph as ag
    >>> with ag.device("cpu:0"):
    ...     x = jnp.ones(2)
    >>> x.device.platform
    'cpu'
    """
    return _on(_device(name))


@contextmanager
def _on(where: Any) -> Iterator[Any]:
    with jax.default_device(where):
        yield where


def num_gpus() -> int:
    """How many GPUs JAX sees."""
    return len(_devices("gpu"))


def copy_to(values: Any, name: Any) -> Any:
    """An array, a Variable's value, or a pytree of them, on another device.

    Raises:
      DeviceError: (AG706) there is no such device.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.copy_to(jnp.ones(2), "cpu").device.platform
    'cpu'
    """
    return jax.device_put(jax.tree.map(value_of, values, is_leaf=lambda x: isinstance(x, VariableRef)), _device(name))
