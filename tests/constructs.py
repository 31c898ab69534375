"""The README's table of constructs, made from the tests' own functions.

python -m tests.constructs --update
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag
from tests import test_branches as b
from tests import test_errors as e
from tests import test_loops as loops

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- constructs: made from the tests by `python -m tests.constructs --update` -->\n", "<!-- end of constructs -->"

Case = tuple[str, Callable[..., Any], list[Any]]
NUMBERS = [-3, 0, 1, 2, 5]
COUNTS = [0, 1, 3, 7]
ROWS = [jnp.array(v) for v in loops.VECTORS]

CASES: list[Case] = [
    ("`if`, `elif`, `else`, set on both sides", b.elif_chain, NUMBERS),
    ("`if` that sets a variable on one side", b.set_on_one_side, NUMBERS),
    ("`return` in some branches, guard clauses", b.guard_clauses, NUMBERS),
    ("`a if c else b`", b.ternaries, NUMBERS),
    ("`and`, `or`, `not`", b.and_or_not, NUMBERS),
    ("`and`, `or` as values", b.operands, NUMBERS),
    ("`0 <= x < n`", b.chained, NUMBERS),
    ("`(y := f(x)) > 0 and ...`", b.walrus, NUMBERS),
    ("tuples and dicts chosen by a branch", b.pytrees, NUMBERS),
    ("a closure over a variable that a branch sets", b.captured, NUMBERS),
    ("`while`", loops.while_, COUNTS),
    ("`while True` with `break`", loops.while_break, COUNTS),
    ("`continue`", loops.while_continue, COUNTS),
    ("`return` in a loop, nested too", loops.for_return_nested, COUNTS),
    ("`else` on loops", loops.for_else, COUNTS),
    ("`for` over `range` with traced ends, steps, `reversed`", loops.range_down, COUNTS),
    ("`for` over the rows of an array", loops.rows, ROWS),
    ("`enumerate`, `zip`, `reversed` of arrays", loops.rows_zip, ROWS),
    ("`break` in a loop over rows", loops.rows_break, ROWS),
    ("nested loops whose bounds depend on outer variables", loops.nested_bounds, COUNTS),
    ("the loop variable after the loop", loops.target_after_the_loop, COUNTS),
    ("a variable first set in the loop", loops.first_set_inside, COUNTS),
    ("int that becomes float in a loop", loops.promotion, COUNTS),
    ("tuples as loop variables", loops.tuple_state, COUNTS),
    ("a test that starts static and becomes traced", loops.starts_static_becomes_traced, COUNTS),
    ("`with` around jumps", loops.with_in_a_loop, COUNTS),
    ("`try`/`finally` around jumps", loops.try_in_a_loop, COUNTS),
    ("a comprehension's `if` on a traced value", e.comprehension, [2, 3]),
]  # fmt: skip


def outcome(run: Callable[[], None]) -> str:
    """`yes`, or the id of the error."""
    try:
        run()
    except ag.AutographError as error:
        return error.id
    return "yes"


def same(got: Any, want: Any) -> None:
    np.testing.assert_allclose(np.asarray(got, float), np.asarray(want, float), rtol=1e-5)


def row(case: Case) -> list[str]:
    label, f, inputs = case
    want = [f(x) for x in inputs]

    def static() -> None:
        for x, w in zip(inputs, want, strict=True):
            same(ag.convert(f)(x), w)
            same(ag.convert(f, form="staged")(x), w)

    def jit() -> None:
        g = jax.jit(ag.convert(f))
        for x, w in zip(inputs, want, strict=True):
            same(g(x), w)

    def vmap() -> None:
        same(jax.vmap(ag.convert(f))(jnp.stack([jnp.asarray(x) for x in inputs])), want)

    def jvp() -> None:
        for x in inputs:
            if not jnp.issubdtype(jnp.asarray(x).dtype, jnp.floating):
                x = jnp.float32(x) if f.__module__.endswith("test_branches") else x
            if jnp.issubdtype(jnp.asarray(x).dtype, jnp.integer):
                scaled = ag.convert(lambda n, s: f(n) * s)
                same(jax.jit(lambda n, s: jax.jvp(lambda s: scaled(n, s), (s,), (1.0,))[1])(x, 2.0), f(x))
            else:
                tangent = jnp.ones_like(x)
                got = jax.jit(lambda x, t: jax.jvp(ag.convert(f), (x,), (t,)))(x, tangent)
                eager = jax.jvp(f, (x,), (tangent,))
                same(got[0], eager[0])
                if getattr(eager[1], "dtype", None) != jax.dtypes.float0:
                    same(got[1], eager[1])

    return [label, *map(outcome, (static, jit, vmap, jvp))]


def table() -> str:
    lines = ["| construct | not traced | `jit` | `vmap` | `jvp` |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(row(case))} |" for case in CASES]
    return "\n".join(lines) + "\n\nWhere it says an id, the error is raised: never another number.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--update", action="store_true", help="rewrite the table in README.md")
    text = table()
    if parser.parse_args().update:
        before, rest = README.read_text().split(BEGIN)
        README.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")
    else:
        print(text)


if __name__ == "__main__":
    main()
