"""Which adapters are needed: those of the libraries that the program has imported."""

from __future__ import annotations

import importlib
import sys

WAITING: dict[str, str] = {}  # which module of ours each library needs; the package fills it


def adapt() -> None:
    """Before a function is traced, or its arguments are looked at."""
    for library in tuple(WAITING):
        if library not in sys.modules or getattr(getattr(sys.modules[library], "__spec__", None), "_initializing", False):
            continue  # or it is being imported
        importlib.import_module(WAITING.pop(library))
