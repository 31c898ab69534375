"""Imperative NumPy programs, as they are published: NumPy itself, JAX as one writes it by hand, and the same text under `ag.function`.

    python benchmarks/imperative.py

The programs are those of `tests/corpora/programs/imperative.py`, on larger inputs. Times are medians of calls that wait for
the result, measured by turns.
"""

from __future__ import annotations

import functools
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import autograph as ag

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.corpora.programs import imperative as programs

ROWS: list[tuple[str, Callable[..., Any], Callable[..., Any], Callable[[], tuple[Any, ...]], tuple[str, ...]]] = []


def by_hand(program: Callable[..., Any], *static: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated function is `program` written for JAX; it is a pair with the arguments that follow it."""

    def add(f: Callable[..., Any]) -> Callable[..., Any]:
        ROWS.append((program.__name__, program, jax.jit(f, static_argnames=static), ARGUMENTS[program.__name__], static))
        return f

    return add


ARGUMENTS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "heat_2d": lambda: (programs.normal(0, 200, 200), 0.1, 100),
    "thomas": lambda: (programs.uniform(0, 1999), 3 + programs.uniform(1, 2000), programs.uniform(2, 1999), programs.normal(3, 2000)),
    "floyd_warshall": lambda: (1 + programs.integers(0, 100, 40, 40),),
    "edit_distance": lambda: (programs.integers(0, 4, 100), programs.integers(1, 4, 90)),
    "knapsack": lambda: (programs.normal(0, 40), 1 + programs.integers(1, 20, 40), 200),
    "game_of_life": lambda: (programs.integers(0, 2, 200, 200), 50),
    "mandelbrot": lambda: (np.linspace(-2.1, 0.6, 200, dtype=np.float32), np.linspace(-1, 1, 150, dtype=np.float32), 50),
    "n_body": lambda: (programs.normal(0, 12, 3), 0.1 * programs.normal(1, 12, 3), 1 + programs.uniform(2, 12), 0.01, 10),
    "power_iteration": lambda: (programs.definite(0, 100), 100),
}


@by_hand(programs.heat_2d)
def heat_2d(u: Any, alpha: Any, steps: Any) -> Any:
    def step(_: Any, u: Any) -> Any:
        inner = u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].set(inner + alpha * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner))

    return lax.fori_loop(0, steps, step, u)


@by_hand(programs.thomas)
def thomas(a: Any, b: Any, c: Any, d: Any) -> Any:
    def forwards(carry: Any, row: Any) -> Any:
        bb, dd = carry
        a, b, c, d = row
        m = a / bb
        bb, dd = b - m * c, d - m * dd
        return (bb, dd), (bb, dd)

    _, (bs, ds) = lax.scan(forwards, (b[0], d[0]), (a, b[1:], c, d[1:]))
    bs, ds = jnp.concatenate([b[:1], bs]), jnp.concatenate([d[:1], ds])

    def backwards(x: Any, row: Any) -> Any:
        b, c, d = row
        x = (d - c * x) / b
        return x, x

    last = ds[-1] / bs[-1]
    _, xs = lax.scan(backwards, last, (bs[:-1], c, ds[:-1]), reverse=True)
    return jnp.concatenate([xs, last[None]])


@by_hand(programs.floyd_warshall)
def floyd_warshall(dist: Any) -> Any:
    n = len(dist)
    dist = dist.at[jnp.arange(n), jnp.arange(n)].set(0)
    nxt = jnp.broadcast_to(jnp.arange(n, dtype=jnp.int32), (n, n))

    def via(k: Any, state: Any) -> Any:
        dist, nxt = state
        far = dist[:, k, None] + dist[k]
        return jnp.where(far < dist, far, dist), jnp.where(far < dist, nxt[:, k, None], nxt)

    return lax.fori_loop(0, n, via, (dist, nxt))[1]


@by_hand(programs.edit_distance)
def edit_distance(s: Any, t: Any) -> Any:
    first = jnp.arange(len(s) + 1)

    def column(above: Any, c: Any) -> Any:
        def row(left: Any, cells: Any) -> Any:
            here, corner, letter = cells
            value = jnp.minimum(jnp.minimum(left + 1, here + 1), corner + jnp.where(letter == c, 0, 1))
            return value, value

        _, rest = lax.scan(row, above[0] + 1, (above[1:], above[:-1], s))
        return jnp.concatenate([above[:1] + 1, rest]), None

    return lax.scan(column, first, t)[0][-1]


@by_hand(programs.knapsack, "capacity")
def knapsack(values: Any, weights: Any, capacity: int) -> Any:
    room = jnp.arange(capacity + 1)

    def item(best: Any, thing: Any) -> Any:
        value, weight = thing
        new = jnp.where(weight <= room, jnp.maximum(best, value + best[room - weight]), best)
        return new, new

    first = jnp.zeros(capacity + 1)
    last, rows = lax.scan(item, first, (values, weights))
    rows = jnp.concatenate([first[None], rows])

    def back(w: Any, i: Any) -> Any:
        took = rows[i + 1, w] != rows[i, w]
        return jnp.where(took, w - weights[i], w), took

    return last[capacity], lax.scan(back, capacity, jnp.arange(len(values)), reverse=True)[1]


@by_hand(programs.game_of_life)
def game_of_life(Z: Any, generations: Any) -> Any:
    def generation(_: Any, Z: Any) -> Any:
        N = Z[:-2, :-2] + Z[:-2, 1:-1] + Z[:-2, 2:] + Z[1:-1, :-2] + Z[1:-1, 2:] + Z[2:, :-2] + Z[2:, 1:-1] + Z[2:, 2:]
        alive = (N == 3) | ((N == 2) & (Z[1:-1, 1:-1] == 1))
        return jnp.zeros_like(Z).at[1:-1, 1:-1].set(alive.astype(Z.dtype))

    return lax.fori_loop(0, generations, generation, Z)


@by_hand(programs.mandelbrot)
def mandelbrot(x: Any, y: Any, max_iter: Any) -> Any:
    c = x[None, :] + 1j * y[:, None]

    def turn(_: Any, state: Any) -> Any:
        z, counts, mask = state
        z = jnp.where(mask, z**2 + c, z)
        mask = mask & (jnp.abs(z) <= 2)
        return z, counts + mask, mask

    return lax.fori_loop(0, max_iter, turn, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32), jnp.ones(c.shape, bool)))[1]


@by_hand(programs.n_body)
def n_body(pos: Any, vel: Any, mass: Any, dt: Any, steps: Any) -> Any:
    def accelerations(pos: Any) -> Any:
        d = pos[None, :] - pos[:, None]
        return (mass[None, :, None] * d / (jnp.sum(d**2, axis=-1, keepdims=True) + 0.3**2) ** 1.5).sum(axis=1)

    def step(_: Any, state: Any) -> Any:
        pos, vel, acc = state
        vel = vel + acc * dt / 2
        pos = pos + vel * dt
        acc = accelerations(pos)
        return pos, vel + acc * dt / 2, acc

    _, vel, _ = lax.fori_loop(0, steps, step, (pos, vel, accelerations(pos)))
    return 0.5 * jnp.sum(mass[:, None] * vel**2)


@by_hand(programs.power_iteration)
def power_iteration(A: Any, num_iterations: Any) -> Any:
    def turn(_: Any, b: Any) -> Any:
        b = A @ b
        return b / jnp.linalg.norm(b)

    b = lax.fori_loop(0, num_iterations, turn, jnp.ones(A.shape[1]))
    return b @ A @ b, b


def median_time(f: Callable[[], Any], repeat: int) -> Callable[[], float]:
    """A measure of one call, in seconds: the median of some."""

    def once() -> float:
        start = time.perf_counter()
        jax.block_until_ready(f())
        return time.perf_counter() - start

    return lambda: statistics.median(once() for _ in range(repeat))


def copies(arguments: tuple[Any, ...]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def main() -> None:
    print(f"JAX {jax.__version__} on {jax.devices()[0].platform}; milliseconds a call")
    print("| program | NumPy | JAX by hand | `ag.function` | over NumPy | over by hand | first call | by hand |")
    print("|---|---|---|---|---|---|---|---|")
    for name, program, hand, arguments, static in ROWS:
        ours = ag.function(program, static_argnames=static)
        first = []
        for f in (ours, hand):
            start = time.perf_counter()
            jax.block_until_ready(f(*copies(arguments())))
            first.append(time.perf_counter() - start)
        given = copies(arguments())
        start = time.perf_counter()
        program(*given)
        numpy_time = time.perf_counter() - start
        measures = [median_time(functools.partial(f, *given), 7) for f in (hand, ours)]
        rounds = [[m() for m in measures] for _ in range(5)]
        by, mine = (statistics.median(r[k] for r in rounds) for k in (0, 1))
        ratio = statistics.median(r[1] / r[0] for r in rounds)
        print(
            f"| {name} | {numpy_time * 1e3:.2f} | {by * 1e3:.2f} | {mine * 1e3:.2f} | {numpy_time / mine:.1f} | {ratio:.2f} "
            f"| {first[0]:.2f} s | {first[1]:.2f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main()
