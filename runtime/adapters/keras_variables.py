"""Keras on JAX: the Variables of layers, optimizers and metrics hold their arrays in `_value`, which Keras's own code changes.

https://keras.io/api/ops/core/#variable-class
"""

from __future__ import annotations

import keras  # type: ignore[import-not-found,import-untyped]

from autograph.runtime.adapters.intercepted import Intercepted
from autograph.runtime.arrays.handles import also_variables
from autograph.runtime.messages.places import hide
from autograph.runtime.state.reading import Held

if keras.backend.backend() == "jax":
    hide(keras)
    also_variables(keras.Variable)
    Intercepted(keras.Variable, "_value", Held)
