"""Keras on JAX: the Variables of layers, optimizers and metrics hold their arrays in `_value`, which Keras's own code changes.

https://keras.io/api/ops/core/#variable-class
"""

from __future__ import annotations

import keras  # type: ignore[import-not-found,import-untyped]

from autograph.runtime.arrays.variable_ref import also_variables
from autograph.runtime.eager.adapters.intercepted import Intercepted
from autograph.runtime.errors.source_spans import hide
from autograph.runtime.state.variable_reads import Held

if keras.backend.backend() == "jax":
    hide(keras)
    also_variables(keras.Variable)
    Intercepted(keras.Variable, "_value", Held)
