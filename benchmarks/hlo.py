"""Operations in the optimised HLO of five programs, converted and written with `lax` by hand.

    python benchmarks/hlo.py

Equal counts are told in one line; where they differ, the differing operations are listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import autograph as ag


def gcd(a: Any, b: Any) -> Any:
    while b != 0:
        a, b = b, a % b
    return a


def gcd_by_hand(a: Any, b: Any) -> Any:
    return lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b))[0]


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def collatz_by_hand(n: Any) -> Any:
    def body(s: Any) -> Any:
        n, steps = s
        return lax.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), steps + 1

    return lax.while_loop(lambda s: s[0] != 1, body, (n, 0))[1]


def escape_time(c: Any, limit: Any) -> Any:
    z, n = c, 0
    while n < limit:
        if abs(z) > 2:
            break
        z = z * z + c
        n += 1
    return n


def escape_time_by_hand(c: Any, limit: Any) -> Any:
    def body(s: Any) -> Any:
        z, n, _ = s
        return lax.cond(abs(z) > 2, lambda: (z, n, True), lambda: (z * z + c, n + 1, False))

    return lax.while_loop(lambda s: ~s[2] & (s[1] < limit), body, (c, 0, False))[1]


def newton(x: Any) -> Any:
    step = jnp.inf
    while abs(step) > 1e-6:
        step = (x * x - 2) / (2 * x)
        x = x - step
    return x


def newton_by_hand(x: Any) -> Any:
    def body(s: Any) -> Any:
        x, _ = s
        step = (x * x - 2) / (2 * x)
        return x - step, step

    return lax.while_loop(lambda s: abs(s[1]) > 1e-6, body, (x, jnp.asarray(jnp.inf, x.dtype)))[0]


def predict(w: Any, xs: Any) -> Any:
    h = jnp.zeros(w.shape[0])
    for x in xs:
        h = jnp.tanh(w @ h + x)
    return h


def predict_by_hand(w: Any, xs: Any) -> Any:
    return lax.scan(lambda h, x: (jnp.tanh(w @ h + x), None), jnp.zeros(w.shape[0]), xs)[0]


PROGRAMS: list[tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = [
    (gcd, gcd_by_hand, (jnp.int32(1071), jnp.int32(462))),
    (collatz, collatz_by_hand, (jnp.int32(27),)),
    (escape_time, escape_time_by_hand, (jnp.complex64(-0.5 + 0.5j), jnp.int32(50))),
    (newton, newton_by_hand, (jnp.float32(1),)),
    (predict, predict_by_hand, (jnp.eye(4), jnp.ones((8, 4)))),
]


def operations(f: Callable[..., Any], args: tuple[Any, ...]) -> Counter[str]:
    text = jax.jit(f).lower(*args).compile().as_text()
    return Counter(m.group(1) for m in re.finditer(r"= \S+ ([a-z][\w-]*)\(", text))


def main() -> None:
    for f, by_hand, args in PROGRAMS:
        ours, theirs = operations(ag.convert(f), args), operations(by_hand, args)
        if ours == theirs:
            print(f"{f.__name__}: equal, {ours.total()} operations")
        else:
            more, fewer = ours - theirs, theirs - ours
            print(f"{f.__name__}: {ours.total()} operations, {theirs.total()} by hand; more: {dict(more)}; fewer: {dict(fewer)}")


if __name__ == "__main__":
    main()
