"""What a function costs that is large in one way: conversion, printing, tracing and compilation, at four sizes.

    python benchmarks/size.py [--largest 1000] [KIND...]

Each row prints seconds at a quarter, half and the whole of the size, and the growth from half to whole: 2 is linear.
"""

from __future__ import annotations

import argparse
import itertools
import linecache
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

import autograph as ag

_numbers = itertools.count()
Text = Callable[[int], str]


def chain(first: str, other: Callable[[int], str], last: str) -> Text:
    return lambda n: first + "".join(map(other, range(1, n))) + last


_ELSE = "    else:\n        y = -1\n    return y\n"
KINDS: dict[str, Text] = {
    "elif, equal to constants": chain("    if x == 0:\n        y = 0\n", lambda k: f"    elif x == {k}:\n        y = {k}\n", _ELSE),
    "elif, compared": chain("    if x < 0:\n        y = 0.5\n", lambda k: f"    elif x < {k}:\n        y = {k} + x\n", _ELSE),
    "elif, returning": chain("    if x < 0:\n        return 0.5\n", lambda k: f"    elif x < {k}:\n        return {k} * 1.0\n", "    return -1.0\n"),
    "guards": lambda n: "".join(f"    if x < {k}:\n        return {k}.0\n" for k in range(n)) + "    return -1.0\n",
    "and": lambda n: "    return " + " and ".join(f"x > {-k}" for k in range(n)) + "\n",
    "sum": lambda n: "    return " + " + ".join(["x"] * n) + "\n",
    "chain of methods": lambda n: "    return jnp.asarray(x)" + ".clip(0.0, 9.0)" * n + "\n",
    "conditional expressions": lambda n: "    return " + " ".join(f"{k} if x < {k} else" for k in range(n)) + " -1\n",
    "loop variables": lambda n: (
        "".join(f"    v{k} = x + {k}\n" for k in range(n))
        + "    while x < 3:\n        x = x + 1\n"
        + "".join(f"        v{k} = v{k} + 1\n" for k in range(n))
        + "    return x"
        + "".join(f" + v{k}" for k in range(n))
        + "\n"
    ),
    "statements": lambda n: "    x = x + 1\n" * n + "    return x\n",
}


def define(body: str) -> Any:
    text, file = "def f(x):\n" + body, f"<size {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"jnp": jnp}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def measured(text: Text, n: int) -> list[float]:
    f, lowered = define(text(n)), list[Any]()
    return [
        seconds(lambda: ag.convert(f, form="staged")), seconds(lambda: ag.to_code(f)),
        seconds(lambda: lowered.append(jax.jit(ag.convert(f)).lower(1.5))), seconds(lambda: lowered[-1].compile()),
    ]  # fmt: skip


def shown(name: str, found: Sequence[float]) -> str:
    return f"{name} {' '.join(f'{s:.2f}' for s in found)} ({found[2] / max(found[1], 1e-9):.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--largest", type=int, default=1000)
    options = parser.parse_args()
    measured(KINDS["statements"], 4)
    names = ["conversion", "printing", "tracing", "XLA"]
    for kind, text in KINDS.items():
        if options.kinds and not any(word in kind for word in options.kinds):
            continue
        sizes = [options.largest // 4, options.largest // 2, options.largest]
        columns = list(zip(*[measured(text, n) for n in sizes], strict=True))
        cells = [
            f"{name} {' '.join(f'{s:.2f}' for s in found)} ({found[2] / max(found[1], 1e-9):.1f})" for name, found in zip(names, columns, strict=True)
        ]
        print(f"{kind:26} {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
