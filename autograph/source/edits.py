"""Replacing lines of a text."""

from __future__ import annotations

from typing import Any, NamedTuple


class Edit(NamedTuple):
    """Lines `first` to `last` (from 1, inclusive) become `text`; an insertion before `first` if `last` is less."""

    first: int
    last: int
    text: str


def apply(lines: list[str], edits: list[Edit]) -> str:
    """The text of some lines after edits that do not overlap; of insertions at one place, the first comes first."""
    out = list(lines)
    for edit in reversed(sorted(edits, key=lambda edit: edit[:2])):
        if edit.last < edit.first and edit.first > 1 and out and not out[edit.first - 2].endswith(("\n", "\r")):
            out[edit.first - 2] += "\n"  # the file ends without a line end
        out[edit.first - 1 : edit.last] = [edit.text]
    return "".join(out)


def alone(node: Any, lines: list[str]) -> bool:
    """Whether a statement shares its lines with nothing but a comment."""
    before = lines[node.lineno - 1].encode()[: node.col_offset]
    after = lines[node.end_lineno - 1].encode()[node.end_col_offset :].strip()
    return not before.strip() and (not after or after.startswith(b"#"))
