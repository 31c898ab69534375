"""The command line: `autograph transpile FILE`, `autograph show TARGET`."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib.util
import os
import sys
import tempfile
import tokenize
from collections.abc import Sequence
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
        return int(options.run(options))
    except (Failure, AutographError) as error:
        print(f"autograph: {error}", file=sys.stderr)
    except BrokenPipeError:  # the reader has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("autograph: interrupted", file=sys.stderr)
    return 1


def _transpile(options: Any) -> int:
    from autograph.module import transpile

    text, name, encoding = _read(options.file)
    new = transpile(text, name, options.all)
    if options.check or options.diff:
        if options.diff:
            sys.stdout.writelines(difflib.unified_diff(text.splitlines(keepends=True), new.splitlines(keepends=True), name, f"{name} (converted)"))
        return int(options.check and new != text)
    if options.output:
        _replace(Path(options.output), new, encoding)
    else:
        sys.stdout.write(new)
    return 0


def _read(name: str) -> tuple[str, str, str]:
    """The text of a file, its name, and its encoding."""
    if name == "-":
        return sys.stdin.read(), "<stdin>", "utf-8"
    try:
        with tokenize.open(name) as file:
            return _with_newlines(name, file.encoding), name, file.encoding
    except IsADirectoryError:
        _fail(f"{name}: a folder, not a Python file")
    except OSError as error:
        _fail(f"{name}: {error.strerror}")
    except (SyntaxError, UnicodeDecodeError) as error:
        _fail(f"{name}: {error}")


def _with_newlines(name: str, encoding: str) -> str:
    """The text with the line endings that the file has."""
    with open(name, encoding=encoding, newline="") as file:
        return file.read()


def _fail(message: str) -> NoReturn:
    raise Failure(message)


def _replace(path: Path, text: str, encoding: str) -> None:
    """Write a file whole or not at all."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with open(handle, "w", encoding=encoding, newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(temporary, path)
        temporary = ""
    except OSError as error:
        _fail(f"{path}: {error.strerror}")
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _show(options: Any) -> int:
    from autograph.listing import listing
    from autograph.module import functions
    from autograph.passes import PASSES
    from autograph.source import File

    place, colon, wanted = options.target.rpartition(":")
    if not colon:
        _fail(f"{options.target}: a target is module:function or file.py:function")
    if options.after and options.after not in {p.name for p in PASSES}:
        _fail(f"there is no pass {options.after!r}: the passes are {', '.join(p.name for p in PASSES)}")
    path = place if place.endswith(".py") or os.sep in place else _module_file(place)
    text, name, _ = _read(path)
    file = File(name, text.splitlines(keepends=True))
    found = dict(functions(file.tree))
    if wanted not in found:
        _fail(f"{path}: no function `{wanted}`; there are: {', '.join(found) or 'none'}")
    sys.stdout.write(listing(found[wanted], file, options.after))
    return 0


def _module_file(module: str) -> str:
    sys.path.insert(0, "")
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        _fail(f"{module}: no such module with Python source")
    return spec.origin


if __name__ == "__main__":
    sys.exit(main())
