"""How the pages read: words, mean and longest sentences, and words that a stranger does not know.

    python docs/prose.py            # a table of the pages; the exit code is 1 if a page is over a limit
    python docs/prose.py --long     # the longest sentences too

Counts what is read as prose: paragraphs, items of lists and cells of tables, without code blocks. In a sentence an `inline code` is one word.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MEAN, LONGEST, ALL = 16, 35, 35_000  # words: of a sentence on average, of the longest, of all pages without their programs
_CODE = re.compile(r"^(```|:::).*?^\1[^\n]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->|^\(.*\)=$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[(?P<text>[^\]]*)\]\([^)]*\)")
_INLINE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LIST = re.compile(r"\bx(, x\b)+")  # a list of code is one word
_END = re.compile(r"(?<=[.?!:;])[\"”)*]*\s+(?=[\"“(*]*[A-Z`0-9x])")
#: Words of this project's own that have a word of the field's: a pattern, and what to write.
PRIVATE = {
    r"\b(a|each|every|one|the|of|per) turns?\b|\bturns\b(?= of)": "iteration",
    r"\brefus(e|es|ed|al|als|ing)\b": "is an error; raises",
    r"\bhands? on\b|\bhanded on\b": "carries; carried; returns",
    r"\bone by one\b|\bturn by turn\b": "unrolled; in a Python loop",
    r"\banew\b": "again; created again",
    r"\btraced values (decide|know)\b|\bonly the run\b": "data-dependent",
    r"\bby hand\b(?! by)": "hand-written",
    r"\bPython's (numbers|ints|floats)\b": "Python scalars",
    r"\b(is|are) known while\b|\bPython knows\b": "static",
    r"\b(one|each|either|both|other|that|the|another|which|a) sides?\b(?! effect| of the (equation|interval|square|road))": "branch",
    r"\bmay be unset\b": "possibly undefined",
    r"\btwins?\b": "converted function",
    r"\bplanted\b|\bdressed\b": "",
    r"\bthe house\b|\bthe floor\b": "package, layer",
}  # fmt: skip


class Page(NamedTuple):
    name: str
    words: int
    sentences: list[str]
    private: list[tuple[str, str]]

    @property
    def mean(self) -> float:
        return sum(map(length, self.sentences)) / max(len(self.sentences), 1)

    @property
    def longest(self) -> int:
        return max(map(length, self.sentences), default=0)


def length(sentence: str) -> int:
    return len(sentence.split())


def paragraphs(text: str) -> Iterator[str]:
    """What is read as prose; the cells of a table are paragraphs."""
    lines: list[str] = []
    for line in [*_COMMENT.sub("", _CODE.sub("", text)).splitlines(), ""]:
        stripped = line.strip()
        begins = re.match(r"[-*] |\d+\. |#+ |>|\|", stripped)
        if (not stripped or begins) and lines:
            yield " ".join(lines)
            lines = []
        if stripped.startswith("|"):
            yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", stripped.strip("|")) if not re.fullmatch(r"[\s:-]*", cell))
        elif stripped and not stripped.startswith("#"):
            lines.append(re.sub(r"^([-*]|\d+\.|>) ", "", stripped))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page. A colon or semicolon before a capital letter or code ends one."""
    for paragraph in paragraphs(text):
        plain = _LIST.sub("x", _INLINE.sub("x", _LINK.sub(lambda m: m["text"], paragraph)))
        yield from (s for s in _END.split(plain) if s and len(s.split()) > 1)


def page(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    prose = " ".join(paragraphs(text))
    bare = _INLINE.sub("x", _LINK.sub(lambda m: m["text"], prose))
    found = [(m.group(), instead) for pattern, instead in PRIVATE.items() for m in re.finditer(pattern, bare, re.IGNORECASE)]
    words = len([w for w in re.sub(r"[|`*#]", " ", _CODE.sub("", text)).split() if re.search(r"\w", w)])
    return Page(str(path.relative_to(ROOT)), words, list(sentences(text)), found)


def pages() -> list[Page]:
    return [page(p) for p in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--long", action="store_true", help="print sentences that are too long")
    parser.add_argument("--private", action="store_true", help="print the private words")
    parser.add_argument("only", nargs="*", help="pages whose names hold one of these")
    args = parser.parse_args()
    found = [p for p in pages() if not args.only or any(x in p.name for x in args.only)]
    bad = 0
    for p in found:
        over = p.mean > MEAN or p.longest > LONGEST or bool(p.private)
        bad += over
        figures = f"{p.words:6} words, a sentence has {p.mean:4.1f} words, the longest {p.longest:3}, {len(p.private):3} private words"
        print(f"{p.name:40} {figures}{' <--' if over else ''}")
        for s in sorted(p.sentences, key=length, reverse=True):
            if args.long and length(s) > LONGEST:
                print(f"      {length(s)}: {s}")
        if args.private:
            for word, instead in p.private:
                print(f"      {word} -> {instead}")
    whole = sum(p.words for p in found)
    print(f"{whole} words in {len(found)} pages; {bad} over a limit")
    return int(bad > 0 or whole > ALL)


if __name__ == "__main__":
    sys.exit(main())
