"""Reverse mode through a loop of unknown length, over a scan of known length and over other ways; ratios within one process.

    python benchmarks/gradients.py                       # times of `value_and_grad`, memory, and compilation
    python benchmarks/gradients.py --bodies rnn --turns 10,1000 --seconds 4

`value_and_grad`, not `grad`: XLA drops what the value alone needs from a while loop, but not from a scan, so that a plain gradient flatters every
while loop.  Each cell is the best of many interleaved runs.  `break`, `return` and `for` are the same loops with an
early end.  With equinox installed its `internal.while_loop` (kind="checkpointed") has a column.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import autograph as ag

Step = Callable[[Any, Any], Any]


def rnn() -> tuple[Step, Any, Any]:
    return lambda w, x: jnp.tanh(w @ x + 0.1), jax.random.normal(jax.random.key(0), (64, 64)) * 0.1, jnp.ones(64)


def matmul() -> tuple[Step, Any, Any]:
    return lambda w, x: jnp.tanh(w @ x), jax.random.normal(jax.random.key(0), (256, 256)) * 0.05, jnp.full((256, 256), 0.1)


def newton() -> tuple[Step, Any, Any]:
    return lambda w, x: 0.5 * (x + w / x), jnp.float32(2), jnp.float32(5)


BODIES = {"rnn": rnn, "matmul": matmul, "newton": newton}
MOST = {"rnn": 10**5, "matmul": 1000, "newton": 10**5}


def ours(step: Step) -> Any:
    @ag.convert
    def loss(w: Any, x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            x = step(w, x)
            i += 1
        return x.sum()

    return loss


def with_break(step: Step) -> Any:
    @ag.convert
    def loss(w: Any, x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            x = step(w, x)
            i += 1
            if jnp.max(x) > 1e6:
                break
        return x.sum()

    return loss


def with_return(step: Step) -> Any:
    @ag.convert
    def loss(w: Any, x: Any, n: Any) -> Any:
        i = 0
        while True:
            x = step(w, x)
            i += 1
            if i >= n:
                return x.sum()

    return loss


def with_for(step: Step) -> Any:
    @ag.convert
    def loss(w: Any, x: Any, n: Any) -> Any:
        for _ in range(n):
            x = step(w, x)
            if jnp.max(x) > 1e6:
                return x.sum()
        return x.sum()

    return loss


EARLY = {"break": with_break, "return": with_return, "for": with_for}  # loops that may end early


def scan(step: Step, n: int) -> Any:
    return lambda w, x, _: lax.scan(lambda c, _: (step(w, c), None), x, None, length=n)[0].sum()


def by_lax(step: Step) -> Any:
    return lambda w, x, n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, step(w, s[1])), (0, x))[1].sum()


def equinox(step: Step, n: int) -> Any:
    import equinox.internal as eqxi

    def loss(w: Any, x: Any, count: Any) -> Any:
        rows = max(2, math.isqrt(2 * n))
        return eqxi.while_loop(
            lambda s: s[0] < count, lambda s: (s[0] + 1, step(w, s[1])), (jnp.int32(0), x), kind="checkpointed", checkpoints=rows
        )[1].sum()  # fmt: skip

    return loss


def compiled(f: Any, w: Any, x: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    program = jax.jit(f).lower(w, x, jnp.int32(3)).compile()
    return program, time.perf_counter() - begin


def best(programs: dict[str, Any], args: tuple[Any, ...], seconds: float) -> dict[str, float]:
    """The best time of each, interleaved."""
    found = dict.fromkeys(programs, math.inf)
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 3 or (time.perf_counter() < end and rounds < 3000):
        for name, program in programs.items():
            begin = time.perf_counter()
            jax.block_until_ready(program(*args))
            found[name] = min(found[name], time.perf_counter() - begin)
        rounds += 1
    return found


def mebibytes(program: Any) -> float:
    return float(program.memory_analysis().temp_size_in_bytes) / 2**20


def times(body: str, turns: list[int], seconds: float) -> None:
    step, w, x = BODIES[body]()
    gradient = lambda f: jax.value_and_grad(f, (0, 1))  # noqa: E731
    mine, built = compiled(gradient(ours(step)), w, x)
    print(f"\n{body}: value and gradient over a scan's of known length (compiled in {built:.2f} s, {mebibytes(mine):.2f} MiB)")
    early = {name: compiled(gradient(f(step)), w, x)[0] for name, f in EARLY.items()}
    for n in turns:
        if n > MOST[body]:
            continue
        known, took = compiled(gradient(scan(step, n)), w, x)
        programs = {"scan": known, "ours": mine, **early}
        if importlib.util.find_spec("equinox"):
            programs["equinox"] = compiled(gradient(equinox(step, n)), w, x)[0]
        args = (w, x, jnp.int32(n))
        for name, program in programs.items():
            for a, b in zip(jax.tree.leaves(program(*args)), jax.tree.leaves(known(*args)), strict=True):
                np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-3, err_msg=name)
        found = best(programs, args, seconds)
        others = "".join(f"  {name} {t / found['scan']:.2f}" for name, t in found.items() if name != "scan")
        print(f"  {n:>6} iterations: scan {found['scan'] * 1e6:10.1f} us {mebibytes(known):7.2f} MiB compiled in {took:.2f} s {others}", flush=True)


def forwards(body: str, n: int, seconds: float) -> None:
    """A loop that is not differentiated, and forward mode, over `lax.while_loop`: the median of interleaved ratios."""
    step, w, x = BODIES[body]()
    forward = {"value": lambda f: f, "jvp": lambda f: lambda w, x, n: jax.jvp(lambda w, x: f(w, x, n), (w, x), (w, x))}
    for name, of in forward.items():
        a, b = (compiled(of(f), w, x)[0] for f in (ours(step), by_lax(step)))
        ratios = []
        for _ in range(20):
            found = best({"ours": a, "lax": b}, (w, x, jnp.int32(n)), seconds / 20)
            ratios.append(found["ours"] / found["lax"])
        print(f"  {body}, {n} iterations, {name}: median of 20 ratios over lax.while_loop {np.median(ratios):.3f}", flush=True)


def nested(seconds: float) -> None:
    """Compilation of loops in loops, and of hessians, over the same of scans."""
    w, x = jax.random.normal(jax.random.key(0), (8, 8)) * 0.3, jnp.ones(8)

    def whiles(depth: int) -> Any:
        def loss(w: Any, x: Any, n: Any) -> Any:
            if depth == 0:
                return jnp.tanh(w @ x + 0.1)
            i = 0
            while i < n:
                x = inner(w, x, n)
                i += 1
            return x

        inner = whiles(depth - 1) if depth else None
        return ag.convert(loss)

    def scans(depth: int) -> Any:
        if depth == 0:
            return lambda w, x, n: jnp.tanh(w @ x + 0.1)
        return lambda w, x, n: lax.scan(lambda c, _: (scans(depth - 1)(w, c, n), None), x, None, length=5)[0]

    kinds = {"gradient": lambda f: jax.value_and_grad(f, (0, 1)), "hessian": lambda f: jax.hessian(f, 1)}
    print("\nloops in loops of 5 iterations, 8x8: trace and compile, and time, over scan's")
    for kind, of in kinds.items():
        for depth in (1, 2, 3) if kind == "gradient" else (1, 2):
            programs, took = {}, {}
            for name, make in (("scan", scans), ("ours", whiles)):
                took[name] = math.inf
                f = make(depth)
                jax.eval_shape(f, w, x, 3)  # what is converted stays so
                for _ in range(2):
                    jax.clear_caches()
                    programs[name], seconds_ = compiled(of(lambda w, x, n, f=f: f(w, x, n).sum()), w, x)
                    took[name] = min(took[name], seconds_)
            found = best(programs, (w, x, jnp.int32(5)), seconds)
            print(f"  {kind}, depth {depth}: compile {took['ours'] / took['scan']:.1f}, run {found['ours'] / found['scan']:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", default="rnn,matmul")
    parser.add_argument("--turns", default="1,3,10,100,1000,100000")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each cell")
    parser.add_argument("--nested", action="store_true", help="only loops in loops, and hessians")
    options = parser.parse_args()
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}")
    if options.nested:
        return nested(options.seconds / 2)
    for body in options.bodies.split(","):
        forwards(body, 100, options.seconds)
    for body in options.bodies.split(","):
        times(body, [int(n) for n in options.turns.split(",")], options.seconds)
    return nested(options.seconds / 2)


if __name__ == "__main__":
    main()
