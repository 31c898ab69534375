"""The control flow of a report as an SVG picture: nested boxes, with the variables that they carry on the arrows.

one box for each statement       a loop: its body inside, and an arrow back on the left with the loop variables
a branch: its sides side by side, and an arrow out with its results
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from autograph.report.statements import Statement

_CHARACTER, _LINE = 7.25, 17  # of the text, in pixels
_PAD, _GAP, _MARGIN = 12, 26, 24
_COLOURS = {"while": "#2f6fb3", "for": "#2f6fb3", "if": "#b06a1f", "elif": "#b06a1f", "match": "#b06a1f", "expression": "#6b7280"}
_STYLE = (
    "text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2937}.small{font-size:11px;fill:#4b5563}"
    ".carried{font-size:11px;fill:#14532d}.became{font-size:11px;font-weight:600}.label{font-size:10px;fill:#6b7280}"
)


@dataclass
class _Box:
    """A statement, the blocks inside it, and its size; `sides` are (title, boxes)."""

    statement: Statement
    sides: list[tuple[str, list[_Box]]] = field(default_factory=list)
    width: float = 0
    height: float = 0


def drawn(statements: list[Statement], name: str, file: str, line: int) -> str:
    """The picture of a report, as the text of an SVG file."""
    boxes = _nested(statements, ())
    for box in boxes:
        _measure(box)
    title = f"{name}  {file.rsplit('/', 1)[-1]}:{line}"
    width = max([b.width for b in boxes] + [len(title) * _CHARACTER]) + 2 * _MARGIN
    out = [_text(_MARGIN, _MARGIN + 4, title, weight=True)]
    y: float = _MARGIN + _LINE
    x = _MARGIN + max([b.width for b in boxes] + [60]) / 2
    gap: float = _GAP
    for box in boxes:
        out.append(_arrow(x, y, x, y + gap))
        y += gap
        _draw(box, x - box.width / 2, y, out)
        y += box.height
        _label(out, x, y, box)
        gap = _GAP + _extra(box)
    out.append(_arrow(x, y, x, y + gap))
    out.append(_text(x, y + gap + 14, "return" if boxes else "no control flow", anchor="middle"))
    height = y + gap + _LINE + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="control flow of {html.escape(name)}">'
        f"<style>{_STYLE}</style>"
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0,0.5 L8,4 L0,7.5 z" fill="#6b7280"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(out)}</svg>\n'
    )


def _nested(statements: list[Statement], path: tuple[tuple[int, str], ...]) -> list[_Box]:
    """The statements that stand directly in a block, each with what stands in its own blocks."""
    boxes = []
    for s in statements:
        if s.path != path or (s.kind == "expression" and any(o.line == s.line and o.kind != "expression" for o in statements)):
            continue
        box = _Box(s)
        inside = [x for x in statements if len(x.path) > len(path) and x.path[: len(path)] == path and x.path[len(path)][0] == s.line]
        names = list(dict.fromkeys(x.path[len(path)][1] for x in inside))
        for name in names:
            box.sides.append((name, _nested(statements, (*path, (s.line, name)))))
        boxes.append(box)
    return boxes


def _lines(s: Statement) -> list[tuple[str, str]]:
    """The text in the head of a box: the statement, and what it became."""
    text = s.text if len(s.text) <= 56 else f"{s.text[:53]}..."
    return [(f"{s.line}  {text}", ""), *([(s.became, "became")] if s.became else [])]


def _carried(box: _Box) -> list[str]:
    found = [f"{v.name}: {v.type}" if v.type else v.name for v in box.statement.carried()]
    return [t if len(t) <= 44 else f"{t[:41]}..." for t in found]


def _is_loop(box: _Box) -> bool:
    return box.statement.kind in ("while", "for")


def _measure(box: _Box) -> None:
    for _, boxes in box.sides:
        for inner in boxes:
            _measure(inner)
    head = max(len(t) for t, _ in _lines(box.statement)) * _CHARACTER
    carried = _carried(box) if _is_loop(box) else []
    sides = [_size(boxes) for _, boxes in box.sides]
    inside = sum(w for w, _ in sides) + _PAD * (len(sides) - 1) if sides else 0
    back = max([len(t) for t in carried] + [0]) * _CHARACTER * 0.92 + 26 if carried else 0
    box.width = max(head, inside + back) + 2 * _PAD
    box.height = len(_lines(box.statement)) * _LINE + 2 * _PAD - 4
    body = max([h for _, h in sides] + [0]) + (_LINE if len(sides) > 1 or not _is_loop(box) and sides else 0)
    box.height += max(body + (_PAD if sides else 0), (len(carried) + 1) * (_LINE - 2) + _PAD if carried else 0)


def _size(boxes: list[_Box]) -> tuple[float, float]:
    return max([b.width for b in boxes] + [40]), sum(b.height for b in boxes) + _GAP * (len(boxes) - 1) + sum(_extra(b) for b in boxes[:-1])


def _extra(box: _Box) -> float:
    return max(0, (len(_carried(box)) - 1) * (_LINE - 3))


def _draw(box: _Box, x: float, y: float, out: list[str]) -> None:
    s = box.statement
    colour = _COLOURS.get(s.kind, "#6b7280")
    fill = "#f3f7fc" if _is_loop(box) else "#fdf6ee" if s.kind != "expression" else "#f6f7f8"
    out.append(
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="8" fill="{fill}" stroke="{colour}" stroke-width="1.3">'
        f"<title>{html.escape(s.why or s.text)}</title></rect>"
    )
    top = y + _PAD + 6
    for text, kind in _lines(s):
        out.append(_text(x + _PAD, top, text, kind, colour if kind else ""))
        top += _LINE
    carried = _carried(box) if _is_loop(box) else []
    left = x + _PAD
    if carried:
        bottom = y + box.height - 8
        rail = x + _PAD + 4
        line = f"M{rail + 12:.1f},{bottom:.1f} H{rail:.1f} V{top - 6:.1f} H{rail + 9:.1f}"
        out.append(f'<path d="{line}" fill="none" stroke="#15803d" marker-end="url(#head)"/>')
        for k, text in enumerate(carried):
            out.append(_text(rail + 14, top + 10 + k * (_LINE - 2), text, "carried"))
        left += max(len(t) for t in carried) * _CHARACTER * 0.92 + 26
    several = len(box.sides) > 1 or (box.sides and not _is_loop(box))
    for name, boxes in box.sides:
        width, _ = _size(boxes)
        below = top
        if several:
            title = {"body": "yes", "orelse": "no"}.get(name, name) if not _is_loop(box) else {"body": "turn", "orelse": "else"}.get(name, name)
            out.append(_text(left + width / 2, below + 6, title, "label", anchor="middle"))
            below += _LINE
        for k, inner in enumerate(boxes):
            _draw(inner, left + (width - inner.width) / 2, below, out)
            below += inner.height
            if k < len(boxes) - 1:
                middle = left + width / 2
                _label(out, middle, below, inner)
                out.append(_arrow(middle, below, middle, below + _GAP + _extra(inner)))
                below += _GAP + _extra(inner)
        left += width + _PAD


def _label(out: list[str], x: float, y: float, box: _Box) -> None:
    """What a statement hands on, beside the arrow that leaves it."""
    for k, text in enumerate(_carried(box)):
        out.append(_text(x + 8, y + 15 + k * (_LINE - 3), text, "carried"))


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2 - 2:.1f}" stroke="#6b7280" marker-end="url(#head)"/>'


def _text(x: float, y: float, text: str, kind: str = "", colour: str = "", anchor: str = "start", weight: bool = False) -> str:
    extra = f' style="fill:{colour}"' if colour else ""
    bold = ' font-weight="700"' if weight else ""
    return f'<text xml:space="preserve" x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{bold}{extra}>{html.escape(text)}</text>'
