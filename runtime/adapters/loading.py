"""Which adapters are needed: those of the libraries that the program has imported."""

from __future__ import annotations

import importlib
import sys

_WAITING = {"flax.nnx": "flax_nnx", "keras": "keras_variables"}


def adapt() -> None:
    """Before a function is traced, or its arguments are looked at."""
    for library in _WAITING.keys() & sys.modules.keys() if _WAITING else ():
        if getattr(getattr(sys.modules[library], "__spec__", None), "_initializing", False):
            continue  # it is being imported
        importlib.import_module(f"autograph.runtime.adapters.{_WAITING.pop(library)}")
