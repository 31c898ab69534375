"""The command line: `autograph transpile FILE`, `autograph show TARGET`."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import os
import sys
import tempfile
import tokenize
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NoReturn

from autograph import __version__
from autograph.errors import AutographError


class Failure(Exception):
    """What stops a command: its message is printed."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.  Exit codes: 0 done, 1 the input is at fault or `--check` found something to convert, 2 wrong use."""
    parser = argparse.ArgumentParser(prog="autograph", description="Plain Python control flow for JAX.")
    parser.add_argument("--version", action="version", version=f"autograph {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    transpile = commands.add_parser(
        "transpile", help="convert the decorated functions of a file", description="Convert the decorated functions of a file."
    )
    transpile.add_argument("file", metavar="FILE", help="a Python file, or - for standard input; it is not executed")
    transpile.add_argument("-o", "--output", metavar="OUT", help="the file to write; standard output without it")
    transpile.add_argument("--all", action="store_true", help="convert every function, not only the decorated ones and what they call")
    transpile.add_argument("--diff", action="store_true", help="print what would change")
    transpile.add_argument("--check", action="store_true", help="write nothing; exit with 1 if something would change")
    transpile.set_defaults(run=_transpile)

    show = commands.add_parser("show", help="print the converted source of a function", description="Print the converted source of a function.")
    show.add_argument("target", metavar="TARGET", help="module:function or file.py:function; a method is Class.method")
    show.add_argument("--after", metavar="PASS", default="", help="the source after this pass")
    show.set_defaults(run=_show)

    options = parser.parse_args(argv)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except (Failure, AutographError) as error:
        print(f"autograph: {error}", file=sys.stderr)
    except RecursionError:
        print("autograph: an expression is nested too deeply", file=sys.stderr)
    except BrokenPipeError:  # the reader has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("autograph: interrupted", file=sys.stderr)
    return 1


def _transpile(options: Any) -> int:
    from autograph.module import transpile

    if options.output and (options.check or options.diff):
        _fail("-o writes a file, --check and --diff write none: give one of them")
    text, name, encoding = _read(options.file)
    new = transpile(text, name, options.all)
    if options.check or options.diff:
        if options.diff:
            _print("".join(difflib.unified_diff(text.splitlines(keepends=True), new.splitlines(keepends=True), name, f"{name} (converted)")))
        return int(options.check and new != text)
    if options.output:
        _replace(Path(options.output), new, encoding)
    else:
        _print(new)
    return 0


def _read(name: str) -> tuple[str, str, str]:
    """The text of a file with the line ends that it has, its name, and its encoding."""
    piped, name = name == "-", "<stdin>" if name == "-" else name
    try:
        data = sys.stdin.buffer.read() if piped else Path(name).read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding), name, encoding
    except IsADirectoryError:
        _fail(f"{name}: a folder, not a Python file")
    except OSError as error:
        _fail(f"{name}: {error.strerror}")
    except (SyntaxError, UnicodeDecodeError) as error:
        _fail(f"{name}: {error}")


def _fail(message: str) -> NoReturn:
    raise Failure(message)


def _replace(path: Path, text: str, encoding: str) -> None:
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
        _fail(f"{shown}: {error.strerror}")
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _print(text: str) -> None:
    """Text on standard output."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError as error:
        _fail(f"standard output: {error}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _show(options: Any) -> int:
    from autograph.listing import listing
    from autograph.module import functions
    from autograph.passes import PASSES
    from autograph.source import File, lines_of

    place, colon, wanted = options.target.rpartition(":")
    if not colon:
        _fail(f"{options.target}: a target is module:function or file.py:function")
    if options.after and options.after not in {p.name for p in PASSES}:
        _fail(f"there is no pass {options.after!r}: the passes are {', '.join(p.name for p in PASSES)}")
    path = place if place.endswith(".py") or os.sep in place else _module_file(place)
    text, name, _ = _read(path)
    file = File(name, lines_of(text))
    found = dict(functions(file.tree))
    if wanted not in found:
        _fail(f"{path}: no function `{wanted}`; there are: {', '.join(found) or 'none'}")
    _print(listing(found[wanted], file, options.after))
    return 0


def _module_file(module: str) -> str:
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
        _fail(f"{module}: no such module with Python source")
    return spec.origin


if __name__ == "__main__":
    sys.exit(main())
