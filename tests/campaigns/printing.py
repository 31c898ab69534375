"""Print and reparse every file of the standard library, and carry each through gast and back.

Printing must keep the tree and the bytecode; gast must keep the code positions as well.
"""

from __future__ import annotations

import argparse
import ast
import gc
import platform
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from gast import ast_to_gast, gast_to_ast  # type: ignore[import-untyped]

from autograph.printing import printing

SHOWN = 5  # differences of a kind that are listed by name
ROOT = Path(ast.__file__).parent


def standard_library() -> list[Path]:
    """Every source file of the running Python's standard library."""
    paths = (path for path in ROOT.rglob("*.py") if "site-packages" not in path.parts)
    return sorted(path for path in paths if path.is_file())


def parse(path: Path) -> ast.Module | None:
    """The file's tree, or None where it is not meant to compile."""
    try:
        tree = ast.parse(path.read_bytes())
        code(tree)
    except (SyntaxError, ValueError):
        return None
    return tree


def code(tree: ast.Module) -> CodeType:
    """The module's code, with no flags taken from this file."""
    return compile(tree, "<file>", "exec", dont_inherit=True)


def without_positions(tree: ast.Module) -> ast.Module:
    """The same tree, changed in place so that no two of its nodes differ in position."""
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    return tree


def facts(of: CodeType, positions: bool = False) -> Iterator[object]:
    """What two equal code objects have in common, nested code objects included."""
    yield of.co_code, of.co_names, of.co_varnames, of.co_exceptiontable
    if positions:
        yield list(of.co_positions())
    for constant in of.co_consts:
        if isinstance(constant, CodeType):
            yield from facts(constant, positions)
        else:
            yield repr_of(constant)


def repr_of(constant: object) -> object:
    """A constant with its type; a set in an order of its own."""
    if isinstance(constant, frozenset):
        return "frozenset", sorted(map(repr, constant))
    if isinstance(constant, tuple):
        return "tuple", [repr_of(item) for item in constant]
    return type(constant), repr(constant)


def printing_difference(tree: ast.Module) -> str | None:
    """How the printed text differs from `tree`, whose positions are lost."""
    text = printing.source(tree)
    try:
        again = ast.parse(text)
    except SyntaxError as error:
        return f"does not parse: {error}: {error.text!r}"
    if ast.dump(again) != ast.dump(tree):
        return "another tree"
    if [*facts(code(without_positions(again)))] != [*facts(code(without_positions(tree)))]:
        return "another bytecode"
    return None


def gast_difference(tree: ast.Module) -> str | None:
    """How the tree that comes back from gast differs."""
    back = gast_to_ast(ast_to_gast(tree))
    if ast.dump(back) != ast.dump(tree):
        return "another tree"
    if [*facts(code(back))] != [*facts(code(tree))]:
        return "another bytecode"
    if [*facts(code(back), True)] != [*facts(code(tree), True)]:
        return "other positions"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, help="how many files to take, evenly spread (all)")
    wanted = parser.parse_args().files
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20_000)
    paths = standard_library()
    if wanted:
        paths = paths[:: max(1, len(paths) // wanted)][:wanted]
    unparsed: list[str] = []
    differences: dict[str, list[str]] = {"printing": [], "gast round trip": []}
    for path in paths:
        name = str(path.relative_to(ROOT))
        # gast works on the nodes it is given, so that each of the two has a tree of its own.
        for kind, compare in (("gast round trip", gast_difference), ("printing", printing_difference)):
            tree = parse(path)
            if tree is None:
                unparsed.append(name)
                break
            try:
                difference = compare(tree)
            except Exception as error:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                difference = f"{type(error).__name__}: {error} ({frame.name}, line {frame.lineno})"
            if difference:
                differences[kind].append(f"{name}: {difference}")
        gc.collect()
    print(f"Python {platform.python_version()} ({sysconfig.get_platform()})")
    print(f"files: {len(paths)}")
    print(f"do not parse or compile: {len(unparsed)}")
    for name in unparsed:
        print(f"  {name}")
    for kind, found in differences.items():
        print(f"{kind}, differences: {len(found)}")
        for line in found[:SHOWN]:
            print(f"  {line}")
    return 1 if any(differences.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
