"""Arguments of a function as one writes them in a shell: `27`, `2.5`, `"[1, 2]"`, `float32[3,4]`, `steps=10`."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograph.runtime.calls.input_signature import TensorSpec
from autograph.source.files import fail

_TYPE = re.compile(r"(?P<dtype>[a-z]+\d*)\[(?P<shape>[\d,\s]*)\]")
_NAMED = re.compile(r"(?P<name>[^\W\d]\w*)=(?P<value>.*)", re.DOTALL)


def arguments(texts: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments: a type gives its `TensorSpec`, anything else is a Python literal.

    Raises:
      Failure: a text is neither, or a positional one follows a keyword.

    >>> arguments(["27", "[1, 2]", "tol=1e-3"])
    ([27, [1, 2]], {'tol': 0.001})
    >>> arguments(["float32[2,3]"])[0]
    [TensorSpec(shape=(2, 3), dtype=float32)]
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in texts:
        if (named := _NAMED.fullmatch(text)) is not None:
            kwargs[named["name"]] = _value(named["value"])
        elif kwargs:
            fail(f"{text}: an argument without a name follows one with a name")
        else:
            args.append(_value(text))
    return args, kwargs


def _value(text: str) -> Any:
    if (found := _TYPE.fullmatch(text)) is not None:
        try:
            return TensorSpec([int(n) for n in found["shape"].split(",") if n.strip()], found["dtype"])
        except TypeError:
            fail(f"{text}: no such dtype; an example is float32[3,4]")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        fail(f"{text}: neither a Python literal (27, '[1.0, 2.0]') nor a type (float32[3,4])")


def function_of(place: str, wanted: str) -> Any:
    """The function that a target names; its module is imported, which runs it."""
    if place.endswith(".py") or os.sep in place:
        path = Path(place).resolve()
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            fail(f"{place}: not a Python file")
        module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    found: Any = module
    for part in wanted.split("."):
        if not hasattr(found, part):
            fail(f"{place}: there is no `{wanted}` once the module is imported")
        found = getattr(found, part)
    return found
