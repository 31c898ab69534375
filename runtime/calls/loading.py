"""Which adapters are needed: those of the libraries that the program has imported."""

from __future__ import annotations

import importlib
import sys

_WAITING = {"flax.nnx": "flax_nnx", "keras": "keras_variables"}


def adapt() -> None:
    """Before a function is traced, or its arguments are looked at."""
    for library in tuple(_WAITING):
        if library not in sys.modules or getattr(getattr(sys.modules[library], "__spec__", None), "_initializing", False):
            continue  # or it is being imported
        importlib.import_module(f"autograph.runtime.adapters.{_WAITING.pop(library)}")
