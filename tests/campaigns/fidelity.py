"""CPython's own tests of modules of the standard library, all of whose functions are converted: nothing is traced, so nothing may change.

    python tests/campaigns/fidelity.py                # argparse, dataclasses, ipaddress, urllib.parse
    python tests/campaigns/fidelity.py json.decoder   # any other module, and its tests `test.test_json`

Prints for each module how many functions were converted, which were refused, and which tests fail that pass without the conversion.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import io
import sys
import types
import unittest
from collections.abc import Iterator
from typing import Any

import autograph as ag

MODULES = {
    "argparse": "test.test_argparse",
    "dataclasses": "test.test_dataclasses",
    "ipaddress": "test.test_ipaddress",
    "urllib.parse": "test.test_urlparse",
}


def members(module: Any) -> Iterator[tuple[Any, str, Any]]:
    """The functions of a module and of its classes: what holds each, its name there, and what stands there."""
    stack, seen = [module], set()
    while stack:
        holder = stack.pop()
        for name, value in list(vars(holder).items()):
            if isinstance(value, type) and value.__module__ == module.__name__ and value not in seen:
                seen.add(value)
                stack.append(value)
            elif isinstance(value, (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)):
                function = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
                if getattr(function, "__module__", None) == module.__name__:
                    yield holder, name, value


def convert(module: Any) -> tuple[int, list[str]]:
    """Convert all functions of a module in place; how many were, and which were refused and why."""
    done, refused = 0, []

    def twin(f: Any) -> Any:
        nonlocal done
        if not isinstance(f, types.FunctionType) or f.__code__.co_filename != module.__file__:  # a wrapper of another module; `dataclass` wrote it
            return f
        try:
            new = ag.convert(f)
        except ag.AutographError as error:
            refused.append(f"{f.__qualname__}: {error.id} {error.message}")
            return f
        done += 1
        return new

    for holder, name, value in members(module):
        if isinstance(value, (staticmethod, classmethod)):
            new: Any = type(value)(twin(value.__func__))
        elif isinstance(value, property):
            new = property(twin(value.fget), twin(value.fset), twin(value.fdel), value.__doc__)
        elif isinstance(value, functools.cached_property):
            new = functools.cached_property(twin(value.func))
            new.__set_name__(holder, name)
        else:
            new = twin(value)
        type.__setattr__(holder, name, new) if isinstance(holder, type) else setattr(holder, name, new)
    return done, refused


def failures(tests: str) -> tuple[int, set[str]]:
    """How many tests a module of tests has, and which of them fail."""
    sys.modules.pop(tests, None)  # it has bound names of the module
    module = importlib.import_module(tests)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(io.StringIO(), verbosity=0).run(suite)
    return result.testsRun, {str(test) for test, _ in [*result.failures, *result.errors]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", default=list(MODULES))
    options = parser.parse_args()
    bad = 0
    for name in options.modules:
        tests = MODULES.get(name, f"test.test_{name.partition('.')[0]}")
        count, before = failures(tests)
        module = importlib.import_module(name)
        ag.include(name)
        done, refused = convert(module)
        _, after = failures(tests)
        new = sorted(after - before)
        bad += len(new) + len(refused)
        print(f"{name}: {done} functions converted, {len(refused)} refused, {count} tests, {len(before)} fail before, {len(new)} more fail after")
        for line in (*refused, *new):
            print(f"  {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
