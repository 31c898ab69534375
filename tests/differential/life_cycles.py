"""A variable that the first iteration of a loop sets and the others read: every value, way to know the first iteration, branch and loop.

    python tests/differential/life_cycles.py [--every N] [--only WORD...]

runs the whole table, about 3,000 programs, against Python on concrete arrays, and prints what differs and what is an error of ours.
`tests/loops/test_life_cycles.py` runs one in eleven.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag

sys.path.insert(0, str(Path(__file__).parent.parent))
from sourced import define  # noqa: E402


class Value(NamedTuple):
    """What the first iteration gives the variable, what the others make of it, and what is returned of it; expressions where there are some."""

    first: str
    then: str
    result: str = "acc"


VALUES = {
    "int": Value("acc = 1", "acc = acc + 2"),
    "float": Value("acc = 0.5", "acc = acc * 0.5 + 1.0"),
    "item": Value("acc = v[i]", "acc = acc + v[i]"),
    "array": Value("acc = v * 2.0", "acc = acc + v"),
    "tuple": Value("acc = (v[i], 1)", "acc = (acc[0] + v[i], acc[1] + 1)"),
    "list": Value("acc = [v[i], 2.0]", "acc[0] = acc[0] + acc[1]"),
    "dict": Value("acc = {'a': v[i]}", "acc['a'] = acc['a'] + 1.0", "acc['a']"),
    "object": Value("acc = Box(v[i])", "acc.x = acc.x + 1.0", "acc.x"),
    "bool": Value("acc = v[i] > 2.0", "acc = not acc"),
}
KNOWN = {  # before the loop, the test of the first iteration, and what comes after it
    "zero": ("", "i == 0", ""),
    "less": ("", "i < 1", ""),
    "not": ("", "not i", ""),
    "flag": ("first = True", "first", "first = False"),
    "counter": ("k = 0", "k == 0", "k = k + 1"),
    "none": ("acc = None", "acc is None", ""),
    "data": ("", "v[i] > 0.0", ""),
    "input": ("", "i == s", ""),
}
SHAPES = {
    "else": "if {p}:\n    {a}\nelse:\n    {u}\n{post}",
    "negated": "if not ({p}):\n    {u}\nelse:\n    {a}\n{post}",
    "ternary": "acc = {ax} if {p} else {ux}\n{post}",
    "two": "if {p}:\n    {a}\nif not ({q}):\n    {u}\n{post}",
    "continue": "if {p}:\n    {a}\n    {post}\n    {step}\n    continue\n{u}",
    "alone": "if {p}:\n    {a}\n{u}\n{post}",
    "nested": "if v[i] > -100.0:\n    if {p}:\n        {a}\n    else:\n        {u}\n{post}",
}
LOOPS = {
    "range": "for i in range(n):\n{body}",
    "static": "for i in range(4):\n{body}",
    "enumerate": "for i, x in enumerate(v):\n{body}",
    "while": "i = 0\nwhile i < n:\n{body}\n    {step}",
    "forever": "i = 0\nwhile True:\n    if i >= n:\n        break\n{body}\n    {step}",
    "inner": "for j in range(2):\n    for i in range(n):\n{body2}",
}


def indented(text: str, by: int) -> str:
    return textwrap.indent(text, "    " * by)


class Program(NamedTuple):
    name: str
    text: str
    known: bool  # whether the number of iterations is static


def programs() -> Iterator[Program]:
    for (value, val), (known, (before, p, post)), (shape, form), (loop, frame) in itertools.product(
        VALUES.items(), KNOWN.items(), SHAPES.items(), LOOPS.items()
    ):
        if shape == "ternary" and not val.then.startswith("acc ="):
            continue
        if shape == "two" and known == "none":  # the second test would be false at once
            continue
        step = "i = i + 1" if loop in ("while", "forever") else "pass"
        of = lambda text: text.removeprefix("acc = ")  # noqa: E731
        body = form.format(p=p, q=p, a=val.first, u=val.then, ax=of(val.first), ux=of(val.then), post=post or "pass", step=step)
        inside = frame.format(body=indented(body, 1), body2=indented(body, 2), step=step)
        lines = [before, inside, f"return {val.result}"] if before else [inside, f"return {val.result}"]
        text = "def f(v, n, s):\n" + indented("\n".join(lines), 1)
        yield Program(f"{value}-{known}-{shape}-{loop}", text, loop in ("static", "enumerate"))


class Box:
    def __init__(self, x: Any) -> None:
        self.x = x


DATA = np.array([4.0, -1.0, -2.0, -3.0], np.float32)


def outcome(f: Any, *args: Any) -> Any:
    try:
        return [np.asarray(x, np.float64) for x in jax.tree.leaves(f(*args))]
    except ag.AutographError as error:
        return f"{error.id}: {error.message}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:100]}"


def compare(program: Program) -> dict[str, str]:
    """What differs from Python, by form: of a program whose iterations are static also under plain `jax.jit`."""
    f = define(program.text, Box=Box, jnp=jnp, np=np)
    want = outcome(f, DATA.copy(), 4, 0)
    forms = {"function": ag.function(f), "staged": ag.convert(f, form="staged")}
    if program.known:
        forms["jit"] = jax.jit(ag.convert(f))
    found = {}
    for name, g in forms.items():
        got = outcome(g, jnp.asarray(DATA), 4, 0)
        same = got == want if isinstance(want, str) or isinstance(got, str) else len(got) == len(want) and all(map(np.allclose, got, want))
        if not same:
            found[name] = f"{got}, and Python gives {want}"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    jax.config.update("jax_disable_most_optimizations", True)
    chosen = [p for k, p in enumerate(programs()) if k % options.every == 0 and all(w in p.name.split("-") for w in options.only)]
    kinds: Counter[str] = Counter()
    for k, program in enumerate(chosen):
        for form, text in compare(program).items():
            refused = text.startswith("AG")
            kinds["error of ours " + text[:5] if refused else "wrong"] += 1
            print(f"{'refused' if refused else 'WRONG'} {program.name} {form}: {text[:200]}", flush=True)
        if k % 100 == 99:
            print(f"... {k + 1} of {len(chosen)}", file=sys.stderr, flush=True)
        if k % 300 == 299:
            jax.clear_caches()
    print(f"{len(chosen)} programs: {dict(kinds) or 'all as Python'}")
    return kinds["wrong"]


if __name__ == "__main__":
    sys.exit(bool(main()))
