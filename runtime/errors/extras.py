"""Libraries that only some names need: the extra that installs them is named where one is missing."""

from __future__ import annotations

import importlib
from typing import Any


def needed(module: str, what: str, extra: str = "train") -> Any:
    """A library, imported.

    Raises:
      ImportError: it is not installed; the text says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(f"`ag.{what}` needs {error.name}: pip install 'autograph-jax[{extra}]'", name=error.name) from None
