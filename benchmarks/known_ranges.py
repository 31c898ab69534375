"""Programs with loops over known ranges, as one writes them in Python, each with the rolled form that one writes by hand for JAX.

A program is a function that gives both and their arguments; `first_call.py` runs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import autograph as ag

Program = Callable[[], tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]]
PROGRAMS: dict[str, Program] = {}


def program(make: Program) -> Program:
    PROGRAMS[make.__name__] = make
    return make


def normal(*shape: int, seed: int = 0) -> Any:
    return jnp.array(np.random.RandomState(seed).randn(*shape), jnp.float32)


def integers(low: int, high: int, *shape: int, seed: int = 0) -> Any:
    return jnp.array(np.random.RandomState(seed).randint(low, high, shape))


@program
def optax_on_a_small_network() -> Any:
    import optax

    optimizer = optax.adam(1e-2)
    x = normal(64, 2)
    y = jnp.sin(x[:, :1])
    params = {"w1": normal(2, 16) * 0.5, "b1": jnp.zeros(16), "w2": normal(16, 1, seed=1) * 0.5, "b2": jnp.zeros(1)}

    def loss(p: Any, x: Any, y: Any) -> Any:
        return ((jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"] - y) ** 2).mean()

    def train(params: Any, x: Any, y: Any) -> Any:
        state = optimizer.init(params)
        for _ in range(200):
            gradients = jax.grad(loss)(params, x, y)
            updates, state = optimizer.update(gradients, state, params)
            params = optax.apply_updates(params, updates)
        return params

    def by_hand(params: Any, x: Any, y: Any) -> Any:
        def turn(_: Any, carry: Any) -> Any:
            params, state = carry
            updates, state = optimizer.update(jax.grad(loss)(params, x, y), state, params)
            return optax.apply_updates(params, updates), state

        return lax.fori_loop(0, 200, turn, (params, optimizer.init(params)))[0]

    return train, by_hand, (params, x, y)


@program
def gradient_descent_with_momentum_in_an_object() -> Any:
    x = normal(32, 3)
    y = x @ jnp.array([1.0, 2.0, 3.0])

    class Model:
        def __init__(self) -> None:
            self.w, self.v, self.steps = jnp.zeros(3), jnp.zeros(3), 0

        def step(self, x: Any, y: Any) -> None:
            self.v = 0.9 * self.v + 2 * x.T @ (x @ self.w - y) / len(y)
            self.w = self.w - 0.01 * self.v
            self.steps += 1

    def fit(x: Any, y: Any) -> Any:
        model = Model()
        for _ in range(300):
            model.step(x, y)
        return model.w

    def by_hand(x: Any, y: Any) -> Any:
        def turn(_: Any, carry: Any) -> Any:
            w, v = carry
            v = 0.9 * v + 2 * x.T @ (x @ w - y) / len(y)
            return w - 0.01 * v, v

        return lax.fori_loop(0, 300, turn, (jnp.zeros(3), jnp.zeros(3)))[0]

    return fit, by_hand, (x, y)


@program
def edit_distance() -> Any:
    def distance(a: Any, b: Any) -> Any:
        n, m = len(a), len(b)
        d = jnp.zeros((n + 1, m + 1), int)
        for i in range(n + 1):
            d[i, 0] = i
        for j in range(m + 1):
            d[0, j] = j
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                if a[i - 1] == b[j - 1]:
                    d[i, j] = d[i - 1, j - 1]
                else:
                    d[i, j] = 1 + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
        return d[n, m]

    def by_hand(a: Any, b: Any) -> Any:
        n, m = len(a), len(b)
        d = jnp.zeros((n + 1, m + 1), int).at[:, 0].set(jnp.arange(n + 1)).at[0].set(jnp.arange(m + 1))

        def cell(j: Any, carry: Any) -> Any:
            i, d = carry
            other = 1 + jnp.minimum(jnp.minimum(d[i - 1, j], d[i, j - 1]), d[i - 1, j - 1])
            return i, d.at[i, j].set(jnp.where(a[i - 1] == b[j - 1], d[i - 1, j - 1], other))

        d = lax.fori_loop(1, n + 1, lambda i, d: lax.fori_loop(1, m + 1, cell, (i, d))[1], d)
        return d[n, m]

    return distance, by_hand, (integers(0, 4, 100), integers(0, 4, 100, seed=1))


@program
def biquad_filter() -> Any:
    def filtered(x: Any, b0: Any, b1: Any, b2: Any, a1: Any, a2: Any) -> Any:
        s = [0.0, 0.0]
        y = jnp.zeros_like(x)
        for i in range(len(x)):
            out = b0 * x[i] + s[0]
            s[0] = b1 * x[i] - a1 * out + s[1]
            s[1] = b2 * x[i] - a2 * out
            y[i] = out
        return y

    def by_hand(x: Any, b0: Any, b1: Any, b2: Any, a1: Any, a2: Any) -> Any:
        def turn(s: Any, v: Any) -> Any:
            out = b0 * v + s[0]
            return (b1 * v - a1 * out + s[1], b2 * v - a2 * out), out

        return lax.scan(turn, (jnp.float32(0), jnp.float32(0)), x)[1]

    return filtered, by_hand, (normal(500), 0.2, 0.3, 0.2, -0.5, 0.2)


@program
def matrix_product() -> Any:
    def product(a: Any, b: Any) -> Any:
        c = jnp.zeros((a.shape[0], b.shape[1]))
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                total = 0.0
                for k in range(a.shape[1]):
                    total += a[i, k] * b[k, j]
                c[i, j] = total
        return c

    def by_hand(a: Any, b: Any) -> Any:
        def cell(i: Any, j: Any, c: Any) -> Any:
            return c.at[i, j].set(lax.fori_loop(0, a.shape[1], lambda k, total: total + a[i, k] * b[k, j], 0.0))

        rows = lambda i, c: lax.fori_loop(0, b.shape[1], lambda j, c: cell(i, j, c), c)  # noqa: E731
        return lax.fori_loop(0, a.shape[0], rows, jnp.zeros((a.shape[0], b.shape[1])))

    return product, by_hand, (normal(20, 20), normal(20, 20, seed=1))


@program
def game_of_life() -> Any:
    def life(g: Any) -> Any:
        n, m = g.shape
        new = jnp.zeros_like(g)
        for i in range(n):
            for j in range(m):
                count = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di != 0 or dj != 0:
                            count += g[(i + di) % n, (j + dj) % m]
                if g[i, j] == 1:
                    new[i, j] = 1 if count == 2 or count == 3 else 0
                else:
                    new[i, j] = 1 if count == 3 else 0
        return new

    def by_hand(g: Any) -> Any:
        n, m = g.shape

        def cell(j: Any, carry: Any) -> Any:
            i, new = carry
            count = sum(g[(i + di) % n, (j + dj) % m] for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj)
            lives = jnp.where(g[i, j] == 1, (count == 2) | (count == 3), count == 3)
            return i, new.at[i, j].set(lives.astype(g.dtype))

        return lax.fori_loop(0, n, lambda i, new: lax.fori_loop(0, m, cell, (i, new))[1], jnp.zeros_like(g))

    return life, by_hand, (integers(0, 2, 12, 12),)


@program
def largest_item() -> Any:
    def largest(x: Any) -> Any:
        best, where = x[0], 0
        for i in range(1, len(x)):
            if x[i] > best:
                best, where = x[i], i
        return best, where

    def by_hand(x: Any) -> Any:
        def turn(i: Any, carry: Any) -> Any:
            better = x[i] > carry[0]
            return jnp.where(better, x[i], carry[0]), jnp.where(better, i, carry[1])

        return lax.fori_loop(1, len(x), turn, (x[0], jnp.int32(0)))

    return largest, by_hand, (normal(400),)


@program
def sum_of_a_diagonal() -> Any:
    def total(a: Any) -> Any:
        total = 0.0
        for i in range(1000):
            total += np.tanh(a[i, i])
        return total

    return total, lambda a: lax.fori_loop(0, 1000, lambda i, t: t + jnp.tanh(a[i, i]), 0.0), (normal(1000, 1000),)


@program
def steps_under_vmap() -> Any:
    @ag.convert
    def one(x: Any) -> Any:
        for _ in range(200):
            if x > 1:
                x = x * 0.5
            else:
                x = x + 0.3
        return x

    def by_hand(x: Any) -> Any:
        return jax.vmap(lambda x: lax.fori_loop(0, 200, lambda _, x: jnp.where(x > 1, x * 0.5, x + 0.3), x))(x)

    return lambda x: jax.vmap(one)(x), by_hand, (normal(64),)


@program
def kalman_filter() -> Any:
    measured = normal(300)

    def estimates(q: Any, r: Any) -> Any:
        x, p = 0.0, 1.0
        out = []
        for t in range(300):
            p = p + q
            k = p / (p + r)
            x = x + k * (measured[t] - x)
            p = (1 - k) * p
            out.append(x)
        return jnp.array(out)

    def by_hand(q: Any, r: Any) -> Any:
        def turn(carry: Any, z: Any) -> Any:
            x, p = carry
            p = p + q
            k = p / (p + r)
            x = x + k * (z - x)
            return (x, (1 - k) * p), x

        return lax.scan(turn, (jnp.float32(0), jnp.float32(1)), measured)[1]

    return estimates, by_hand, (jnp.float32(0.01), jnp.float32(0.5))


@program
def knapsack() -> Any:
    def most(weights: Any, values: Any) -> Any:
        best = jnp.zeros(101, int)
        for k in range(len(weights)):
            for room in range(100, -1, -1):
                if weights[k] <= room:
                    best[room] = max(best[room], best[room - weights[k]] + values[k])
        return best[100]

    def by_hand(weights: Any, values: Any) -> Any:
        def cell(r: Any, carry: Any) -> Any:
            k, best = carry
            room = 100 - r
            with_it = jnp.maximum(best[room], best[room - weights[k]] + values[k])
            return k, best.at[room].set(jnp.where(weights[k] <= room, with_it, best[room]))

        return lax.fori_loop(0, len(weights), lambda k, b: lax.fori_loop(0, 101, cell, (k, b))[1], jnp.zeros(101, int))[100]

    return most, by_hand, (integers(1, 20, 40), integers(1, 30, 40, seed=1))


@program
def viterbi() -> Any:
    def path(a: Any, e: Any) -> Any:
        steps, states = e.shape
        score, back = e[0], jnp.zeros((steps, states), int)
        for t in range(1, steps):
            candidates = score[:, None] + a
            back[t] = jnp.argmax(candidates, axis=0)
            score = jnp.max(candidates, axis=0) + e[t]
        found = jnp.zeros(steps, int)
        found[steps - 1] = jnp.argmax(score)
        for t in range(steps - 2, -1, -1):
            found[t] = back[t + 1, found[t + 1]]
        return found

    def by_hand(a: Any, e: Any) -> Any:
        def forward(score: Any, row: Any) -> Any:
            candidates = score[:, None] + a
            return jnp.max(candidates, axis=0) + row, jnp.argmax(candidates, axis=0)

        score, back = lax.scan(forward, e[0], e[1:])
        last = jnp.argmax(score)
        first, rest = lax.scan(lambda s, b: (b[s], s), last, back, reverse=True)
        return jnp.concatenate([first[None], rest])

    return path, by_hand, (jax.nn.log_softmax(normal(5, 5)), normal(200, 5, seed=1))


@program
def insertion_sort() -> Any:
    def sort(x: Any) -> Any:
        for i in range(1, len(x)):
            key = x[i]
            j = i - 1
            while j >= 0 and x[j] > key:
                x[j + 1] = x[j]
                j -= 1
            x[j + 1] = key
        return x

    def by_hand(x: Any) -> Any:
        def insert(i: Any, x: Any) -> Any:
            key = x[i]
            j, x = lax.while_loop(lambda c: (c[0] >= 0) & (c[1][c[0]] > key), lambda c: (c[0] - 1, c[1].at[c[0] + 1].set(c[1][c[0]])), (i - 1, x))
            return x.at[j + 1].set(key)

        return lax.fori_loop(1, len(x), insert, x)

    return sort, by_hand, (normal(60),)


@program
def sandpile() -> Any:
    def settle(g: Any) -> Any:
        n = g.shape[0]
        moved = True
        while moved:
            moved = False
            for i in range(n):
                for j in range(n):
                    if g[i, j] >= 4:
                        moved = True
                        g[i, j] -= 4
                        if i > 0:
                            g[i - 1, j] += 1
                        if i < n - 1:
                            g[i + 1, j] += 1
                        if j > 0:
                            g[i, j - 1] += 1
                        if j < n - 1:
                            g[i, j + 1] += 1
        return g

    def by_hand(g: Any) -> Any:
        n = g.shape[0]

        def topple(i: Any, j: Any, g: Any) -> Any:
            g = g.at[i, j].add(-4)
            g = g.at[jnp.where(i > 0, i - 1, n), j].add(1, mode="drop")
            g = g.at[i + 1, j].add(1, mode="drop")
            g = g.at[i, jnp.where(j > 0, j - 1, n)].add(1, mode="drop")
            return g.at[i, j + 1].add(1, mode="drop")

        def cell(k: Any, carry: Any) -> Any:
            moved, g = carry
            i, j = k // n, k % n
            full = g[i, j] >= 4
            return moved | full, lax.cond(full, topple, lambda i, j, g: g, i, j, g)

        return lax.while_loop(lambda c: c[0], lambda c: lax.fori_loop(0, n * n, cell, (False, c[1])), (True, g))[1]

    return settle, by_hand, (integers(0, 6, 10, 10),)


@program
def metropolis() -> Any:
    def walk(key: Any, x: Any) -> Any:
        accepted = 0
        for _ in range(60):
            key, k1, k2 = jax.random.split(key, 3)
            y = x + jax.random.normal(k1)
            if jnp.log(jax.random.uniform(k2)) < (x * x - y * y) / 2:
                x = y
                accepted += 1
        return x, accepted

    def by_hand(key: Any, x: Any) -> Any:
        def turn(_: Any, carry: Any) -> Any:
            key, x, accepted = carry
            key, k1, k2 = jax.random.split(key, 3)
            y = x + jax.random.normal(k1)
            yes = jnp.log(jax.random.uniform(k2)) < (x * x - y * y) / 2
            return key, jnp.where(yes, y, x), accepted + yes

        return lax.fori_loop(0, 60, turn, (key, x, 0))[1:]

    return walk, by_hand, (jax.random.key(0), jnp.float32(0.0))


@program
def adaptive_filter() -> Any:
    def nlms(x: Any, d: Any) -> Any:
        w = jnp.zeros(4)
        errors = []
        for n in range(4, len(x)):
            u = x[n - 4 : n]
            e = d[n] - w @ u
            w = w + 0.5 * e * u / (0.01 + u @ u)
            errors.append(e)
        return w, jnp.array(errors)

    def by_hand(x: Any, d: Any) -> Any:
        def turn(w: Any, n: Any) -> Any:
            u = lax.dynamic_slice(x, (n - 4,), (4,))
            e = d[n] - w @ u
            return w + 0.5 * e * u / (0.01 + u @ u), e

        return lax.scan(turn, jnp.zeros(4), jnp.arange(4, len(x)))

    return nlms, by_hand, (normal(404), normal(404, seed=1))


@program
def union_find() -> Any:
    def groups(edges: Any) -> Any:
        parent, n = jnp.arange(30), 30
        for k in range(len(edges)):
            a, b = edges[k, 0], edges[k, 1]
            while parent[a] != a:
                a = parent[a]
            while parent[b] != b:
                b = parent[b]
            if a != b:
                parent[a] = b
                n -= 1
        return n

    def by_hand(edges: Any) -> Any:
        def root(parent: Any, a: Any) -> Any:
            return lax.while_loop(lambda a: parent[a] != a, lambda a: parent[a], a)

        def turn(k: Any, carry: Any) -> Any:
            parent, n = carry
            a, b = root(parent, edges[k, 0]), root(parent, edges[k, 1])
            return parent.at[a].set(b), n - (a != b)

        return lax.fori_loop(0, len(edges), turn, (jnp.arange(30), 30))[1]

    return groups, by_hand, (integers(0, 30, 40, 2),)


@program
def local_alignment() -> Any:
    def best_score(a: Any, b: Any) -> Any:
        h = jnp.zeros((len(a) + 1, len(b) + 1), int)
        best = 0
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                score = 3 if a[i - 1] == b[j - 1] else -3
                h[i, j] = max(0, h[i - 1, j - 1] + score, h[i - 1, j] - 2, h[i, j - 1] - 2)
                if h[i, j] > best:
                    best = h[i, j]
        return best

    def by_hand(a: Any, b: Any) -> Any:
        def cell(j: Any, carry: Any) -> Any:
            i, h, best = carry
            score = jnp.where(a[i - 1] == b[j - 1], 3, -3)
            new = jnp.maximum(jnp.maximum(0, h[i - 1, j - 1] + score), jnp.maximum(h[i - 1, j] - 2, h[i, j - 1] - 2))
            return i, h.at[i, j].set(new), jnp.maximum(best, new)

        def row(i: Any, carry: Any) -> Any:
            return lax.fori_loop(1, len(b) + 1, cell, (i, *carry))[1:]

        return lax.fori_loop(1, len(a) + 1, row, (jnp.zeros((len(a) + 1, len(b) + 1), int), 0))[1]

    return best_score, by_hand, (integers(0, 4, 40), integers(0, 4, 40, seed=1))


@program
def shortest_paths() -> Any:
    def floyd_warshall(d: Any) -> Any:
        n = d.shape[0]
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    if d[i, k] + d[k, j] < d[i, j]:
                        d[i, j] = d[i, k] + d[k, j]
        return d

    def by_hand(d: Any) -> Any:
        n = d.shape[0]

        def cell(m: Any, d: Any) -> Any:
            k, i, j = m // (n * n), m // n % n, m % n
            return d.at[i, j].min(d[i, k] + d[k, j])

        return lax.fori_loop(0, n**3, cell, d)

    return floyd_warshall, by_hand, (jnp.abs(normal(15, 15)),)


@program
def heat_with_borders() -> Any:
    def heat(u: Any) -> Any:
        n = len(u)
        for _ in range(100):
            new = jnp.zeros_like(u)
            for i in range(n):
                if i == 0 or i == n - 1:
                    new[i] = u[i]
                else:
                    new[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
            u = new
        return u

    def by_hand(u: Any) -> Any:
        n = len(u)

        def cell(u: Any, i: Any, new: Any) -> Any:
            inner = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
            return new.at[i].set(jnp.where((i == 0) | (i == n - 1), u[i], inner))

        return lax.fori_loop(0, 100, lambda _, u: lax.fori_loop(0, n, lambda i, new: cell(u, i, new), jnp.zeros_like(u)), u)

    return heat, by_hand, (normal(50),)


@program
def binomial_options_on_a_list() -> Any:
    def price(s: Any, k: Any, r: Any, sig: Any) -> Any:
        n = 50
        dt = 1 / n
        u = jnp.exp(sig * dt**0.5)
        d = 1 / u
        q = (jnp.exp(r * dt) - d) / (u - d)
        v = [jnp.maximum(k - s * u ** (2 * j - n), 0.0) for j in range(n + 1)]
        for i in range(n - 1, -1, -1):
            for j in range(i + 1):
                hold = jnp.exp(-r * dt) * (q * v[j + 1] + (1 - q) * v[j])
                now = k - s * u ** (2 * j - i)
                v[j] = hold if hold > now else now
        return v[0]

    def by_hand(s: Any, k: Any, r: Any, sig: Any) -> Any:
        n = 50
        dt = 1 / n
        u = jnp.exp(sig * dt**0.5)
        d = 1 / u
        q = (jnp.exp(r * dt) - d) / (u - d)
        j = jnp.arange(n + 1)

        def step(t: Any, v: Any) -> Any:
            i = n - 1 - t
            hold = jnp.exp(-r * dt) * (q * jnp.roll(v, -1) + (1 - q) * v)
            return jnp.where(j <= i, jnp.maximum(hold, k - s * u ** (2.0 * j - i)), v)

        return lax.fori_loop(0, n, step, jnp.maximum(k - s * u ** (2.0 * j - n), 0.0))[0]

    return price, by_hand, tuple(map(jnp.float32, (100, 100, 0.05, 0.2)))


@program
def a_loop_in_a_loop_under_vmap() -> Any:
    def costly(x: Any) -> Any:
        for k in range(10):
            x = jnp.sin(x + k)
        return x

    def descend(x: Any) -> Any:
        for _ in range(200):
            x = x - 0.1 * costly(x)
        return x

    def by_hand(x: Any) -> Any:
        return lax.fori_loop(0, 200, lambda _, x: x - 0.1 * lax.fori_loop(0, 10, lambda k, x: jnp.sin(x + k), x), x)

    return jax.vmap(ag.convert(descend)), jax.vmap(by_hand), (jnp.linspace(0, 1, 8),)


@program
def recurrent_network() -> Any:
    params = {"w": normal(16, 16) * 0.2, "u": normal(4, 16, seed=1) * 0.2}

    def states(p: Any, xs: Any) -> Any:
        h, found = jnp.zeros(16), []
        for t in range(len(xs)):
            h = jnp.tanh(h @ p["w"] + xs[t] @ p["u"])
            found.append(h)
        return jnp.stack(found)

    def by_hand(p: Any, xs: Any) -> Any:
        def turn(h: Any, x: Any) -> Any:
            h = jnp.tanh(h @ p["w"] + x @ p["u"])
            return h, h

        return lax.scan(turn, jnp.zeros(16), xs)[1]

    return states, by_hand, (params, normal(200, 4))


@program
def average_that_begins_as_none() -> Any:
    def ema(xs: Any) -> Any:
        m, out = None, jnp.zeros_like(xs)
        for i in range(len(xs)):
            m = xs[i] if m is None else 0.9 * m + 0.1 * xs[i]
            out[i] = m
        return out

    def by_hand(xs: Any) -> Any:
        def turn(m: Any, x: Any) -> Any:
            m = 0.9 * m + 0.1 * x
            return m, m

        return jnp.concatenate([xs[:1], lax.scan(turn, xs[0], xs[1:])[1]])

    return ema, by_hand, (normal(300),)


@program
def polynomial_from_its_end() -> Any:
    def value(c: Any, x: Any) -> Any:
        y = 0.0
        for i in reversed(range(len(c))):
            y = y * x + c[i]
        return y

    return value, lambda c, x: lax.fori_loop(0, len(c), lambda k, y: y * x + c[len(c) - 1 - k], 0.0), (normal(300), jnp.float32(0.9))


@program
def gradient_through_a_loop() -> Any:
    def of(loop: Callable[..., Any]) -> Callable[..., Any]:
        return lambda w: jax.grad(lambda w: loop(w).sum())(w)

    @ag.convert
    def state(w: Any) -> Any:
        h = jnp.ones(8)
        for _ in range(200):
            h = jnp.tanh(w @ h)
        return h

    return of(state), of(lambda w: lax.scan(lambda h, _: (jnp.tanh(w @ h), None), jnp.ones(8), None, 200)[0]), (normal(8, 8) * 0.3,)


@program
def planets() -> Any:
    def orbit(position: Any, velocity: Any) -> Any:
        for _ in range(100):
            a = jnp.zeros_like(position)
            for i in range(5):
                for j in range(5):
                    if i != j:
                        d = position[j] - position[i]
                        a[i] = a[i] + d / (jnp.sum(d * d) + 0.1) ** 1.5
            velocity = velocity + 0.01 * a
            position = position + 0.01 * velocity
        return position

    def by_hand(position: Any, velocity: Any) -> Any:
        def step(_: Any, carry: Any) -> Any:
            p, v = carry
            d = p[None] - p[:, None]
            v = v + 0.01 * jnp.sum(d / (jnp.sum(d * d, axis=-1, keepdims=True) + 0.1) ** 1.5, axis=1)
            return p + 0.01 * v, v

        return lax.fori_loop(0, 100, step, (position, velocity))[0]

    return orbit, by_hand, (normal(5, 3), jnp.zeros((5, 3)))


@program
def sum_of_squares_by_a_generator() -> Any:
    def total(x: Any) -> Any:
        return sum(x[i] * x[i] for i in range(len(x)))

    return total, lambda x: lax.fori_loop(0, len(x), lambda i, t: t + x[i] * x[i], 0.0), (normal(300),)


@program
def comprehension_with_an_object() -> Any:
    class Average:
        def __init__(self) -> None:
            self.m = 0.0

        def step(self, v: Any) -> Any:
            self.m = 0.9 * self.m + 0.1 * v
            return self.m

    def averages(x: Any) -> Any:
        average = Average()
        return jnp.array([average.step(v) for v in x])

    def by_hand(x: Any) -> Any:
        def turn(m: Any, v: Any) -> Any:
            m = 0.9 * m + 0.1 * v
            return m, m

        return lax.scan(turn, jnp.float32(0), x)[1]

    return averages, by_hand, (normal(200),)


@program
def power_iteration() -> Any:
    def eigenvector(a: Any) -> Any:
        v = jnp.ones(len(a))
        for _ in range(500):
            v = a @ v
            v = v / jnp.linalg.norm(v)
        return v

    def by_hand(a: Any) -> Any:
        def turn(_: Any, v: Any) -> Any:
            v = a @ v
            return v / jnp.linalg.norm(v)

        return lax.fori_loop(0, 500, turn, jnp.ones(len(a)))

    return eigenvector, by_hand, (jnp.abs(normal(20, 20)),)


@program
def a_pendulum_in_steps_of_time() -> Any:
    def pendulum(angle: Any) -> Any:
        speed, t, dt = 0.0 * angle, 0.0, 0.01
        while t < 10.0:
            speed = speed - dt * (9.81 * jnp.sin(angle) + 0.1 * speed * jnp.abs(speed))
            angle = angle + dt * speed
            t += dt
        return angle, speed

    def by_hand(angle: Any) -> Any:
        def turn(_: Any, carry: Any) -> Any:
            angle, speed = carry
            speed = speed - 0.01 * (9.81 * jnp.sin(angle) + 0.1 * speed * jnp.abs(speed))
            return angle + 0.01 * speed, speed

        return lax.fori_loop(0, 1001, turn, (angle, 0.0 * angle))

    return pendulum, by_hand, (jnp.float32(1.0),)


@program
def a_rate_that_decays() -> Any:
    def descent(x: Any) -> Any:
        rate = 0.1
        for i in range(1000):
            x = x - rate * (4 * x**3 - 6 * x + jnp.cos(x))
            rate *= 0.995
            if i % 100 == 99:
                rate *= 1.5
        return x

    rates = [0.1]
    for i in range(999):
        rates.append(rates[-1] * 0.995 * (1.5 if i % 100 == 99 else 1.0))

    def by_hand(x: Any) -> Any:
        return lax.scan(lambda x, rate: (x - rate * (4 * x**3 - 6 * x + jnp.cos(x)), None), x, jnp.array(rates, jnp.float32))[0]

    return descent, by_hand, (jnp.float32(1.0),)


@program
def counts_and_times_in_containers() -> Any:
    def walk(x: Any) -> Any:
        counts, times, t = {"steps": 0, "third": 0}, [], 0.0
        for i in range(200):
            x = x + 0.1 * jnp.tanh(jnp.sin(3 * x) + t) * jnp.cos(x) - 0.01 * x**3
            counts["steps"] += 1
            if i % 3 == 0:
                counts["third"] += 1
            t += 0.05
            times.append(t)
        return x, counts["third"], times[-1]

    times = np.cumsum(np.full(200, 0.05))

    def by_hand(x: Any) -> Any:
        before = jnp.array(times - 0.05, jnp.float32)
        x = lax.scan(lambda x, t: (x + 0.1 * jnp.tanh(jnp.sin(3 * x) + t) * jnp.cos(x) - 0.01 * x**3, None), x, before)[0]
        return x, 67, times[-1]

    return walk, jax.jit(by_hand), (jnp.float32(0.3),)


@program
def phases_with_a_log() -> Any:
    def anneal(x: Any) -> Any:
        rates, phase, log = {"warm": 0.01, "main": 0.1, "cool": 0.02}, "warm", []
        for i in range(300):
            phase = {50: "main", 200: "cool"}.get(i, phase)
            x = x - rates[phase] * (4 * x**3 - 6 * x + jnp.cos(x) + jnp.sin(5 * x))
            if i % 100 == 99:
                log.append((i, phase, x))
        return x, [x for i, phase, x in log]

    rates = np.repeat(np.array([0.01, 0.1, 0.02], np.float32), [50, 150, 100])

    def by_hand(x: Any) -> Any:
        def turn(x: Any, rate: Any) -> Any:
            x = x - rate * (4 * x**3 - 6 * x + jnp.cos(x) + jnp.sin(5 * x))
            return x, x

        x, xs = lax.scan(turn, x, jnp.array(rates))
        return x, [xs[k] for k in (99, 199, 299)]

    return anneal, jax.jit(by_hand), (jnp.float32(1.0),)
