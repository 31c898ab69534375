"""Files of the command line: read with their encoding and line ends, found in folders, replaced whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import tokenize
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import NoReturn

_SKIPPED = frozenset({"__pycache__", "node_modules", "build", "dist", "venv"})


class Failure(Exception):
    """What stops a command, or the work on one file: its message is printed."""


def fail(message: str) -> NoReturn:
    raise Failure(message)


def read(name: str) -> tuple[str, str, str]:
    """The text of a file with the line ends that it has, its name, and its encoding; `-` is standard input."""
    piped, name = name == "-", "<stdin>" if name == "-" else name
    try:
        data = sys.stdin.buffer.read() if piped else Path(name).read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding), name, encoding
    except IsADirectoryError:
        fail(f"{name}: a folder, not a Python file")
    except OSError as error:
        fail(f"{name}: {error.strerror}")
    except (SyntaxError, UnicodeDecodeError) as error:
        fail(f"{name}: {error}")


def python_files(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The Python files that are named or stand in the folders that are named: each with its path below the folder, or its name.

    Raises Failure for a folder without any.
    """
    for name in names:
        if name == "-" or not os.path.isdir(name):
            yield name, os.path.basename(name)
            continue
        found = 0
        for folder, inside, files in os.walk(name):
            inside[:] = sorted(d for d in inside if not d.startswith(".") and d not in _SKIPPED)
            for file in sorted(files):
                if file.endswith(".py"):
                    found += 1
                    path = os.path.join(folder, file)
                    yield path, os.path.relpath(path, name)
        if not found:
            fail(f"{name}: there is no Python file in this folder")


def replace(path: Path, text: str, encoding: str) -> None:
    """Write a file whole or not at all; a link stays a link, and what is no file (a pipe, a device) is written to."""
    temporary = ""
    shown, path = path, Path(os.path.realpath(path))
    try:
        data = text.encode(encoding, "backslashreplace")  # what the encoding lacks stands in strings: an escape is the same
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(temporary, path)
        temporary = ""
    except OSError as error:
        fail(f"{shown}: {error.strerror}")
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write(text: str) -> None:
    """Text on standard output."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError as error:
        fail(f"standard output: {error}")


def module_file(module: str) -> str:
    """The file of a module; nothing is imported, so no package runs."""
    folders: list[str] | None = ["", *sys.path]
    spec = None
    for part in module.split("."):
        try:
            spec = PathFinder.find_spec(part, folders) if folders is not None else None
        except (ImportError, ValueError):
            spec = None
        folders = list(spec.submodule_search_locations) if spec is not None and spec.submodule_search_locations is not None else None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        fail(f"{module}: no such module with Python source")
    return spec.origin
