"""Make the pictures of the README: `pip install rich`, then `python docs/make_pictures.py`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import jax.numpy as jnp
from rich.console import Console
from rich.text import Text

import autograph as ag

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "examples"))


def relax(x, tol, n):
    """Jacobi's iteration in which the step shrinks while the error grows."""
    best, steps = None, 0
    step = 1.0
    while steps < n:
        residual = jnp.roll(x, 1) + jnp.roll(x, -1) - 2 * x
        error = abs(residual).max()
        if error < tol:
            break
        if best is None or error < best:
            best = error
        else:
            step = step / 2
        x = x + 0.4 * step * residual
        steps += 1
    for _ in range(3):
        x = x - x.mean() / 3
    return x, best, steps


report = ag.explain(relax, jnp.ones(8), 1e-3, 100)
report.file = "heat.py"
(FOLDER / "pictures" / "flow.svg").write_text(report.svg(), encoding="utf-8")
console = Console(record=True, width=150, file=io.StringIO(), force_terminal=True, color_system="truecolor")
console.print(Text.from_ansi(report.text(colour=True).rstrip()))
console.save_svg(str(FOLDER / "pictures" / "explain.svg"), title="print(ag.explain(relax, x, 1e-3, 100))", unique_id="explain")
