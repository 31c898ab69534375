"""The programs of the table: frames around a hole, a jump in the innermost hole, and what follows."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

TESTS = ("x > 1", "s + x > 3", "s < 5 + n")  # by depth: of traced values

# `HOLE` is what stands in the frame, `TEST` a traced condition, `D` the depth.
FRAMES = {
    "if": "if TEST:\n    HOLE",
    "if, else": "if TEST:\n    s += 5\nelse:\n    HOLE",
    "if, else returns": "if TEST:\n    HOLE\nelse:\n    return -s",
    "if returns, else": "if TEST:\n    return -s\nelse:\n    HOLE",
    "elif": "if x == 0:\n    s += 2\nelif TEST:\n    HOLE\nelse:\n    s -= 3",
    "static if": "if k is not None:\n    HOLE",
    "while": "cD = 0\nwhile cD < n:\n    cD += 1\n    HOLE",
    "while, else": "cD = 0\nwhile cD < n:\n    cD += 1\n    HOLE\nelse:\n    s += 100",
    "static while": "cD = 0\nwhile cD < 2:\n    cD += 1\n    HOLE",
    "static while, else": "cD = 0\nwhile cD < 2:\n    cD += 1\n    HOLE\nelse:\n    s += 100",
    "for": "for iD in range(n):\n    s += iD\n    HOLE",
    "for, else": "for iD in range(n):\n    s += iD\n    HOLE\nelse:\n    s += 100",
    "static for": "for iD in range(2):\n    s += iD\n    HOLE",
    "static for, else": "for iD in range(2):\n    s += iD\n    HOLE\nelse:\n    s += 100",
    "with": "with manager('D'):\n    HOLE",
    "try, finally": "try:\n    HOLE\nfinally:\n    s += 7",
    "finally": "try:\n    s += 7\nfinally:\n    HOLE",
    "try, except": "try:\n    HOLE\nexcept ValueError:\n    s += 50",
    "match": "match k:\n    case 0:\n        HOLE\n    case 1:\n        s += 4\n    case _:\n        HOLE",
}
LOOPS = frozenset(name for name in FRAMES if name.startswith(("while", "for", "static while", "static for")))
JUMPS = {
    "return": "return s",
    "return if": "if s > 6:\n    return s",
    "break": "break",
    "continue": "continue",
    "raise": "raise ValueError('r')",
    "none": "s += 1",
}
INPUTS = ((3, 2, 0), (-2, 2, 1), (0, 0, 2), (7, 1, 0))  # more turns of three loops would not fit int32
PRELUDE = """
import contextlib


@contextlib.contextmanager
def manager(name):
    print("enter", name)
    yield
    print("exit", name)
"""


@dataclass(frozen=True)
class Program:
    """A function `f(x, n, k)` of the table."""

    frames: tuple[str, ...]  # outermost first
    jump: str
    follows: bool  # do statements follow each frame, or does the function end there?

    @property
    def name(self) -> str:
        return f"{' > '.join(self.frames)} > {self.jump}{', then' if self.follows else ''}"

    @property
    def source(self) -> str:
        body = f"s = s * 2 + 1\nprint('in', s)\n{JUMPS[self.jump]}"
        for depth in reversed(range(len(self.frames))):
            frame = FRAMES[self.frames[depth]].replace("TEST", TESTS[depth % len(TESTS)]).replace("D", str(depth))
            hole = "\n".join(_filled(line, body) for line in frame.splitlines())
            body = hole + (f"\ns = s + {depth + 1}\nprint('after', s)" if self.follows else "")
        return "def f(x, n, k):\n" + textwrap.indent("s = x + 1\n" + body + ("\nreturn s" if self.follows else ""), "    ") + "\n"


def _filled(line: str, body: str) -> str:
    return textwrap.indent(body, line[: line.index("HOLE")]) if line.strip() == "HOLE" else line


def table(depth: int) -> Iterator[Program]:
    """All programs of a depth."""
    for frames in itertools.product(FRAMES, repeat=depth):
        for jump in JUMPS:
            if jump in ("break", "continue") and not LOOPS & set(frames):
                continue
            for follows in (False, True):
                yield Program(frames, jump, follows)


def valid(p: Program) -> bool:
    """Whether Python takes it: `break` and `continue` reach a loop in the same function."""
    try:
        compile(p.source, "<nesting>", "exec")
    except SyntaxError:
        return False
    return True
