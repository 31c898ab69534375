"""How much longer converted functions are: lines of the converted source over lines of the source, blank lines not counted.

python benchmarks/growth.py
"""

from __future__ import annotations

import ast
import importlib
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograph.forms.lowering import listing
from autograph.forms.module import functions
from autograph.passes.stageable import stageable
from autograph.source.source import File, file_of

EXAMPLES = Path(__file__).parent.parent / "examples"
LIBRARY = [
    ("heapq", "heapify"), ("heapq", "_siftup"), ("heapq", "_siftdown_max"), ("bisect", "bisect_left"), ("fractions", "Fraction.limit_denominator"),
    ("difflib", "SequenceMatcher.find_longest_match"), ("colorsys", "rgb_to_hls"), ("colorsys", "rgb_to_hsv"), ("random", "Random.shuffle"),
    ("textwrap", "TextWrapper._wrap_chunks"), ("shlex", "shlex.read_token"), ("statistics", "_exact_ratio"), ("calendar", "Calendar.itermonthdays2"),
    ("string", "Formatter._vformat"),
]  # fmt: skip


def subjects() -> Iterator[tuple[str, Any, File]]:
    for path in sorted(EXAMPLES.glob("*.py")):
        file = File(path.name, path.read_text().splitlines(keepends=True))
        for name, node in functions(file.tree):
            if name != "main" and any(isinstance(n, (ast.If, ast.While, ast.For)) for n in ast.walk(node)):
                yield f"{path.stem}.{name}", node, file
    for module, wanted in LIBRARY:
        file = file_of(importlib.import_module(module).__file__ or "")
        node = dict(functions(file.tree)).get(wanted)
        if node is not None and stageable(node):
            yield f"{module}.{wanted}", node, file


def lines(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def main() -> None:
    ratios = []
    for name, node, file in subjects():
        bare = ast.FunctionDef(**{f: getattr(node, f) for f in node._fields if hasattr(node, f)} | {"decorator_list": []})
        before, after = lines(ast.unparse(ast.copy_location(bare, node))), lines(listing(node, file))
        ratios.append(after / before)
        print(f"{after / before:5.2f}  {before:3d} -> {after:3d}  {name}")
    print(f"{statistics.median(ratios):5.2f}  median of {len(ratios)} functions (limit 1.8)")


if __name__ == "__main__":
    main()
