"""Small imperative programs from many fields, as a first user wrote them."""
import functools
import math
import dataclasses
from dataclasses import dataclass
import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


# --- numerics ---------------------------------------------------------------
def bisect_root(a, b, tol):
    def f(x):
        return x ** 3 - x - 2

    if f(a) * f(b) > 0:
        return jnp.nan, -1
    n = 0
    while b - a > tol:
        m = (a + b) / 2
        n += 1
        if f(m) == 0:
            return m, n
        if f(a) * f(m) < 0:
            b = m
        else:
            a = m
        if n >= 60:
            break
    return (a + b) / 2, n


def collatz(n):
    steps, peak = 0, n
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        peak = max(peak, n)
        steps += 1
    return steps, peak


def gcd_lcm(a, b):
    x, y = a, b
    while y:
        x, y = y, x % y
    return x, a * b // x


def adaptive_simpson(lo, hi, tol):
    def simpson(a, b):
        return (b - a) / 6 * (jnp.exp(-a * a) + 4 * jnp.exp(-((a + b) / 2) ** 2) + jnp.exp(-b * b))

    stack = jnp.zeros((32, 2)).at[0].set(jnp.array([lo, hi]))
    top, total, evals = 1, 0, 0
    while top > 0:
        top -= 1
        a, b = stack[top]
        m = 0.5 * (a + b)
        whole, parts = simpson(a, b), simpson(a, m) + simpson(m, b)
        evals += 1
        if abs(whole - parts) < tol * (b - a) or top > 28:
            total += parts
            continue
        stack = stack.at[top].set(jnp.array([a, m]))
        stack = stack.at[top + 1].set(jnp.array([m, b]))
        top += 2
    return total, evals


def conjugate_gradient(A, b):
    x = jnp.zeros_like(b)
    r = b - A @ x
    p = r
    rs = r @ r
    for k in range(len(b) * 2):
        if rs < 1e-10:
            break
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = r @ r
        p = r + new / rs * p
        rs = new
    else:
        k = -1
    return x, k


def gaussian_elimination(A, b):
    n = A.shape[0]
    M = jnp.concatenate([A, b[:, None]], axis=1)
    for i in range(n):
        best = i
        for j in range(i + 1, n):
            if abs(M[j, i]) > abs(M[best, i]):
                best = j
        if best != i:
            M = M.at[jnp.array([i, best])].set(M[jnp.array([best, i])])
        for j in range(n):
            if j != i and M[j, i] != 0:
                M = M.at[j].add(-M[i] * M[j, i] / M[i, i])
    return M[:, -1] / jnp.diagonal(M)


def power_iteration(A, tol=1e-6, maxiter=200):
    v = jnp.ones(A.shape[0]) / math.sqrt(A.shape[0])
    lam = 0
    it = 0
    while it < maxiter:
        w = A @ v
        new = jnp.linalg.norm(w)
        v = w / new
        it += 1
        if abs(new - lam) < tol * new:
            lam = new
            break
        lam = new
    return lam


# --- physics ----------------------------------------------------------------
class Particle(NamedTuple):
    x: jax.Array
    v: jax.Array


def bouncing_ball(h0, dt, n):
    p = Particle(h0, 0.0)
    bounces = 0
    t_rest = -1.0
    for i in range(n):
        v = p.v - 9.81 * dt
        x = p.x + v * dt
        if x < 0:
            x, v = -x, -0.7 * v
            bounces += 1
            if v < 0.5 and t_rest < 0:
                t_rest = i * dt
        p = Particle(x, v)
    return p, bounces, t_rest


@jax.tree_util.register_dataclass
@dataclass
class Pendulum:
    theta: float
    omega: float

    def energy(self):
        return 0.5 * self.omega ** 2 - jnp.cos(self.theta)

    def step(self, dt, damping=0.0):
        omega = self.omega - dt * jnp.sin(self.theta) - dt * damping * self.omega
        return Pendulum(self.theta + dt * omega, omega)


def pendulum_turns(theta, omega):
    p = Pendulum(theta, omega)
    turns = 0
    last = p.omega
    while p.energy() > -0.9:
        p = p.step(0.05, damping=0.1)
        if last * p.omega < 0:
            turns += 1
        last = p.omega
    return turns, p


def ising_sweep(spins, beta, seed):
    n = spins.shape[0]
    key = jax.random.key(seed)
    flips = 0
    for i in range(n):
        for j in range(n):
            nb = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % n] + spins[i, j - 1]
            dE = 2 * spins[i, j] * nb
            key, sub = jax.random.split(key)
            if dE <= 0 or jax.random.uniform(sub) < jnp.exp(-beta * dE):
                spins = spins.at[i, j].multiply(-1)
                flips += 1
    return spins, flips


# --- ML ---------------------------------------------------------------------
def perceptron(X, y, epochs=10):
    w, b = jnp.zeros(X.shape[1]), 0
    for epoch in range(epochs):
        errors = 0
        for xi, yi in zip(X, y):
            if yi * (xi @ w + b) <= 0:
                w += yi * xi
                b += yi
                errors += 1
        if errors == 0:
            return w, b, epoch
    return w, b, epochs


def kmeans(X, k=2):
    C = X[:k]
    for it in range(20):
        d = jnp.sum((X[:, None] - C[None]) ** 2, -1)
        lab = jnp.argmin(d, 1)
        new = []
        for c in range(k):
            m = lab == c
            new.append((X * m[:, None]).sum(0) / m.sum() if m.any() else C[c])
        new = jnp.stack(new)
        if jnp.allclose(new, C):
            break
        C = new
    return C, lab, it


def line_search_gd(x0):
    def f(x):
        return (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2

    g = jax.grad(f)
    x, n = x0, 0
    while jnp.linalg.norm(g(x)) > 1e-1:
        d = -g(x)
        t = 1.0
        while f(x + t * d) > f(x) - 1e-4 * t * (d @ d):
            t *= 0.5
            if t < 1e-6:
                break
        x = x + t * d
        n += 1
        if n == 100:
            break
    return x, n


class Adam:
    def __init__(self, lr, b1=0.9, b2=0.999):
        self.lr, self.b1, self.b2 = lr, b1, b2

    def init(self, params):
        zeros = jax.tree.map(jnp.zeros_like, params)
        return zeros, zeros

    def update(self, grads, state, t):
        m, v = state
        m = jax.tree.map(lambda m, g: self.b1 * m + (1 - self.b1) * g, m, grads)
        v = jax.tree.map(lambda v, g: self.b2 * v + (1 - self.b2) * g * g, v, grads)
        step = jax.tree.map(
            lambda m, v: self.lr * (m / (1 - self.b1 ** t)) / (jnp.sqrt(v / (1 - self.b2 ** t)) + 1e-8), m, v)
        return step, (m, v)


def early_stopping(x, y, xv, yv):
    def loss(p, x, y):
        r = p["w"] * x + p["b"] - y
        total = 0.0
        for ri in r:                       # Huber
            total += 0.5 * ri * ri if abs(ri) < 1 else abs(ri) - 0.5
        return total / len(r)

    params = {"w": 0.0, "b": 0.0}
    params = jax.tree.map(jnp.asarray, params)
    opt = Adam(0.1)
    state = opt.init(params)
    best, best_params, bad = jnp.inf, params, 0
    for t in range(1, 40):
        g = jax.grad(loss)(params, x, y)
        step, state = opt.update(g, state, t)
        params = jax.tree.map(lambda p, s: p - s, params, step)
        val = loss(params, xv, yv)
        if val < best:
            best, best_params, bad = val, params, 0
        else:
            bad += 1
            if bad > 3:
                break
    return best, best_params, t


# --- statistics -------------------------------------------------------------
def welford(xs):
    n, mean, m2 = 0, 0.0, 0.0
    lo, hi = jnp.inf, -jnp.inf
    for x in xs:
        if jnp.isnan(x):
            continue
        n += 1
        d = x - mean
        mean += d / n
        m2 += d * (x - mean)
        lo, hi = min(lo, x), max(hi, x)
    var = m2 / (n - 1) if n > 1 else 0.0
    return n, mean, var, lo, hi


def metropolis(seed, n):
    logp = lambda x: -0.5 * x ** 2 if x > -1 else -0.5 - 5 * (-1 - x)
    key = jax.random.PRNGKey(seed)
    x, acc, s = 0.0, 0, 0.0
    for _ in range(n):
        key, k1, k2 = jax.random.split(key, 3)
        prop = x + jax.random.normal(k1)
        if jnp.log(jax.random.uniform(k2)) < logp(prop) - logp(x):
            x = prop
            acc += 1
        s += x
    return s / n, acc / n


def longest_run(xs):
    best = cur = 0
    prev = xs[0]
    for x in xs:
        cur = cur + 1 if x == prev else 1
        prev = x
        if cur > best:
            best = cur
    return best


# --- games ------------------------------------------------------------------
def tic_tac_toe_winner(board):
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    for a, b, c in lines:
        if board[a] != 0 and board[a] == board[b] == board[c]:
            return board[a]
    for cell in board:
        if cell == 0:
            return 0
    return -1


def life(grid, max_steps):
    for step in range(max_steps):
        nb = sum(jnp.roll(jnp.roll(grid, dy, 0), dx, 1) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)
        new = jnp.where((nb == 3) | ((grid == 1) & (nb == 2)), 1, 0)
        if (new == grid).all():
            return grid, step
        grid = new
    return grid, max_steps


def blackjack_dealer(seed):
    key = jax.random.key(seed)
    total, aces, cards = 0, 0, 0
    while True:
        key, sub = jax.random.split(key)
        card = jax.random.randint(sub, (), 1, 14)
        cards += 1
        if card == 1:
            aces += 1
            total += 11
        elif card > 10:
            total += 10
        else:
            total += card
        while total > 21 and aces > 0:
            total -= 10
            aces -= 1
        if total >= 17:
            break
    return (total, cards) if total <= 21 else (0, cards)


def nim_mex(moves, heap=8):
    grundy = jnp.zeros(heap + 1, int)
    for h in range(1, heap + 1):
        seen = jnp.zeros(heap + 2, bool)
        for m in moves:
            if m <= h:
                seen = seen.at[grundy[h - m]].set(True)
        g = 0
        while seen[g]:
            g += 1
        grundy = grundy.at[h].set(g)
    return grundy


# --- signal processing ------------------------------------------------------
def schmitt_trigger(sig, lo, hi):
    state = False
    out = jnp.zeros(sig.shape, bool)
    edges = 0
    for i, s in enumerate(sig):
        if not state and s > hi:
            state = True
            edges += 1
        elif state and s < lo:
            state = False
        out = out.at[i].set(state)
    return out, edges


def median_filter(x, width=3):
    half = width // 2
    y = []
    for i in range(len(x)):
        w = x[max(0, i - half):i + half + 1]
        y.append(jnp.sort(w)[len(w) // 2])
    return jnp.array(y)


def zero_crossings(x):
    count, last = 0, 0
    for s in jnp.sign(x):
        if s == 0:
            continue
        if last and s != last:
            count += 1
        last = s
    return count


# --- graphs -----------------------------------------------------------------
def dijkstra(W, src):
    n = len(W)
    dist = jnp.full(n, jnp.inf).at[src].set(0.0)
    done = jnp.zeros(n, bool)
    for _ in range(n):
        u, best = -1, jnp.inf
        for v in range(n):
            if not done[v] and dist[v] < best:
                u, best = v, dist[v]
        if u == -1:
            break
        done = done.at[u].set(True)
        for v in range(n):
            alt = dist[u] + W[u, v]
            if alt < dist[v]:
                dist = dist.at[v].set(alt)
    return dist


def union_find(edges, n=6):
    parent = jnp.arange(n)

    def find(parent, i):
        while parent[i] != i:
            i = parent[i]
        return i

    comps = n
    for u, v in edges:
        ru, rv = find(parent, u), find(parent, v)
        if ru != rv:
            parent = parent.at[ru].set(rv)
            comps -= 1
    return comps


def bfs_levels(adj, start):
    n = adj.shape[0]
    queue = jnp.zeros(n, jnp.int32)
    queue = queue.at[0].set(start)
    head, tail = 0, 1
    level = jnp.full((n,), -1).at[start].set(0)
    while head < tail:
        u = queue[head]
        head += 1
        for v in range(n):
            if not adj[u, v] or level[v] >= 0:
                continue
            level = level.at[v].set(level[u] + 1)
            queue = queue.at[tail].set(v)
            tail += 1
    return level


# --- finance ----------------------------------------------------------------
def implied_vol(price, S, K, T):
    def norm_cdf(x):
        return 0.5 * (1 + jax.lax.erf(x / math.sqrt(2)))

    def call(sigma):
        d1 = (jnp.log(S / K) + 0.5 * sigma ** 2 * T) / (sigma * jnp.sqrt(T))
        return S * norm_cdf(d1) - K * norm_cdf(d1 - sigma * jnp.sqrt(T))

    sigma, ok = 0.2, False
    for _ in range(30):
        p, vega = jax.value_and_grad(call)(sigma)
        if vega < 1e-8:
            break
        new = sigma - (p - price) / vega
        if abs(new - sigma) < 1e-5:
            ok = True
            break
        sigma = min(max(new, 1e-3), 5.0)
    return sigma, ok


def american_put(S, K, r, sigma, n=8):
    dt = 1.0 / n
    u = jnp.exp(sigma * jnp.sqrt(dt))
    q = (jnp.exp(r * dt) - 1 / u) / (u - 1 / u)
    payoff = lambda s: K - s if s < K else 0.0
    v = [payoff(S * u ** (2 * j - n)) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = jnp.exp(-r * dt) * (q * v[j + 1] + (1 - q) * v[j])
            now = payoff(S * u ** (2 * j - i))
            v[j] = hold if hold > now else now
    return v[0]


def max_drawdown(prices):
    peak, worst, start, at = prices[0], 0.0, 0, (0, 0)
    for i, p in enumerate(prices):
        if p > peak:
            peak, start = p, i
        elif (dd := (peak - p) / peak) > worst:
            worst, at = dd, (start, i)
    return worst, at


def loan_payoff(balance, rate, payment):
    months = 0
    interest = 0.0
    while balance > 0:
        i = balance * rate / 12
        if i >= payment:
            return -1, jnp.inf
        interest += i
        balance += i - payment
        months += 1
    return months, interest


# --- text as arrays of codes ------------------------------------------------
def codes(s):
    return jnp.array([ord(c) for c in s])


def is_palindrome(text):
    i, j = 0, len(text) - 1
    while i < j:
        if text[i] == ord(" "):
            i += 1
            continue
        if text[j] == ord(" "):
            j -= 1
            continue
        if text[i] != text[j]:
            return False
        i, j = i + 1, j - 1
    return True


def parse_int(text):
    value, sign, started = 0, 1, False
    for c in text:
        if c == ord(" ") and not started:
            pass
        elif c == ord("-") and not started:
            sign, started = -1, True
        elif ord("0") <= c <= ord("9"):
            value = 10 * value + c - ord("0")
            started = True
        else:
            break
    return sign * value


def levenshtein(a, b):
    prev = jnp.arange(len(b) + 1)
    for i, ca in enumerate(a):
        cur = prev.at[0].set(i + 1)
        for j, cb in enumerate(b):
            cost = 0 if ca == cb else 1
            cur = cur.at[j + 1].set(min(prev[j + 1] + 1, cur[j] + 1, prev[j] + cost))
        prev = cur
    return prev[-1]


def find_substring(text, pat):
    n, m = len(text), len(pat)
    for i in range(n - m + 1):
        for j in range(m):
            if text[i + j] != pat[j]:
                break
        else:
            return i
    return -1


def caesar(text, k):
    def shift(c):
        if 97 <= c <= 122:
            return (c - 97 + k) % 26 + 97
        if 65 <= c <= 90:
            return (c - 65 + k) % 26 + 65
        return c

    return jnp.stack([shift(c) for c in text])


def brackets_balanced(text):
    depth = 0
    for c in text:
        if c == ord("("):
            depth += 1
        if c == ord(")"):
            depth -= 1
        if depth < 0:
            return False
    return depth == 0


# --- sorting, searching -----------------------------------------------------
def insertion_sort(xs):
    xs = xs.copy()
    for i in range(1, len(xs)):
        key = xs[i]
        j = i - 1
        while j >= 0 and xs[j] > key:
            xs = xs.at[j + 1].set(xs[j])
            j -= 1
        xs = xs.at[j + 1].set(key)
    return xs


def binary_search(xs, target):
    lo, hi = 0, len(xs) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if xs[mid] == target:
            return mid
        elif xs[mid] < target:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1


def sieve(limit):
    prime = jnp.ones(50, bool).at[:2].set(False)
    p = 2
    while p * p < limit:
        if prime[p]:
            m = p * p
            while m < limit:
                prime = prime.at[m].set(False)
                m += p
        p += 1
    count = 0
    for i in range(limit):
        if prime[i]:
            count += 1
    return count


def fixed_point(f, x, tol=1e-5):
    while True:
        y = f(x)
        if abs(y - x) < tol:
            return y
        x = y


def cos_fixed(x, a):
    return fixed_point(lambda t: jnp.cos(a * t), x)


def counter_closure(xs, limit):
    hits = 0

    def bump(x):
        nonlocal hits
        if x > limit:
            hits += 1
        return hits

    total = 0
    for x in xs:
        total += bump(x)
    return hits, total


def piecewise_tax(income):
    brackets = [(10000, 0.1), (40000, 0.2), (float("inf"), 0.4)]
    tax, low = 0.0, 0
    for high, rate in brackets:
        if income <= low:
            break
        tax += (min(income, high) - low) * rate
        low = high
    return tax


def grad_of_piecewise(x):
    def f(x):
        if x < 0:
            return -x
        s = 0.0
        for k in range(1, 4):
            if x > k:
                s += (x - k) ** 2
        return s + x

    return jax.grad(f)(x), jax.grad(jax.grad(f))(x)


def mandelbrot(c_re, c_im, limit=30):
    z = complex(0, 0)
    c = c_re + 1j * c_im
    n = 0
    while n < limit and abs(z) <= 2:
        z = z * z + c
        n += 1
    return n


class Stack:
    """A fixed-size stack that is no pytree."""

    def __init__(self, size):
        self.data = jnp.zeros(size)
        self.top = 0

    def push(self, x):
        self.data = self.data.at[self.top].set(x)
        self.top = self.top + 1

    def pop(self):
        self.top = self.top - 1
        return self.data[self.top]


def rpn(tokens):
    """Codes: >= 0 numbers, -1 add, -2 multiply."""
    data, top = jnp.zeros(8), 0
    for t in tokens:
        if t >= 0:
            data = data.at[top].set(t)
            top += 1
        else:
            a, b = data[top - 1], data[top - 2]
            if t == -1:
                r = a + b
            else:
                r = a * b
            top -= 1
            data = data.at[top - 1].set(r)
    return data[0]


def stack_object(xs):
    s = Stack(4)
    for i in range(3):
        s.push(xs[i])
    s.push(s.pop() * 2)
    return s.pop() + s.pop()


def recursion_static(x, depth=4):
    if depth == 0:
        return x
    if x > 1:
        return recursion_static(x / 2, depth - 1)
    return recursion_static(x * 3, depth - 1)


def ternary_chain(x):
    sign = "neg" if False else "pos"
    y = -1 if x < 0 else 0 if x == 0 else 1
    return y * (2 if sign == "pos" else 3)


def any_all(xs, t):
    if any(x > t for x in xs):
        return 1
    if all(x < 0 for x in xs):
        return 2
    return 3


def dict_state(xs):
    st = {"n": 0, "sum": 0.0, "hist": jnp.zeros(3, int)}
    for x in xs:
        k = 0 if x < 0 else (1 if x < 1 else 2)
        st = {**st, "n": st["n"] + 1, "hist": st["hist"].at[k].add(1)}
        if x > 0:
            st = {**st, "sum": st["sum"] + x}
    return st


def reduce_with_branch(xs):
    return functools.reduce(lambda a, b: a if a > b else b, xs)


def ode_adaptive(y, t_end):
    f = lambda t, y: -2 * t * y
    t, h, rejected = 0.0, 0.5, 0
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        k1 = f(t, y)
        k2 = f(t + h, y + h * k1)
        err = abs(h / 2 * (k2 - k1))
        if err > 1e-3:
            h = h / 2
            rejected += 1
            continue
        y, t = y + h / 2 * (k1 + k2), t + h
        if err < 1e-4:
            h *= 2
    return y, rejected


def lfsr_period(seed):
    s = seed
    period = 0
    while True:
        bit = (s ^ (s >> 2) ^ (s >> 3) ^ (s >> 5)) & 1
        s = (s >> 1) | (bit << 15)
        period += 1
        if s == seed or period >= 500:
            return period, s


def vmap_inside(xs, t):
    def steps(x):
        n = 0
        while x > t:
            x = x / 2
            n += 1
        return n

    return jnp.stack([steps(x) for x in xs])


def elo(games, k=32.0):
    r = jnp.full(3, 1500.0)
    for (a, b, w) in games:
        e = 1 / (1 + 10 ** ((r[b] - r[a]) / 400))
        if w == 2:
            s = 0.5
        else:
            s = 1.0 if w == 0 else 0.0
        r = r.at[a].add(k * (s - e)).at[b].add(-k * (s - e))
    return r


def bool_flags(x, y):
    ok = x > 0 and y > 0
    either = x > 0 or y > 0
    if not (ok or either):
        return 0
    return 2 if ok else 1


def try_finally(x):
    log = []
    try:
        if x > 0:
            y = x
        else:
            y = -x
    finally:
        log.append(1)
    return y + len(log)


def while_else(n, d):
    while d * d <= n:
        if n % d == 0:
            res = d
            break
        d += 1
    else:
        res = n
    return res


def trapezoid_stop(xs, ys, limit):
    area = 0
    for (x0, y0), (x1, y1) in zip(zip(xs, ys), zip(xs[1:], ys[1:])):
        area += (x1 - x0) * (y0 + y1) / 2
        if area > limit:
            break
    return area


def viterbi(obs, trans, emit):
    score = jnp.log(jnp.array([0.5, 0.5])) + jnp.log(emit[:, obs[0]])
    back = jnp.zeros((len(obs), 2), int)
    for t in range(1, len(obs)):
        new = score
        for s in range(2):
            best, arg = -jnp.inf, 0
            for p in range(2):
                c = score[p] + jnp.log(trans[p, s])
                if c > best:
                    best, arg = c, p
            new = new.at[s].set(best + jnp.log(emit[s, obs[t]]))
            back = back.at[t, s].set(arg)
        score = new
    path = [jnp.argmax(score)]
    for t in reversed(range(1, len(obs))):
        path.append(back[t, path[-1]])
    return jnp.array(path[::-1])

def bubble_sort(a):
    a = a.copy()
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


def heap_sort(a):
    a = a.copy()

    def sift(a, i, n):
        while 2 * i + 1 < n:
            c = 2 * i + 1
            if c + 1 < n and a[c + 1] > a[c]:
                c += 1
            if a[i] >= a[c]:
                break
            a[i], a[c] = a[c], a[i]
            i = c
        return a

    n = len(a)
    for s in range(n // 2 - 1, -1, -1):
        a = sift(a, s, n)
    for e in range(n - 1, 0, -1):
        a[0], a[e] = a[e], a[0]
        a = sift(a, 0, e)
    return a


def trading_if(prices, cash):
    shares, fees = 0, 0.0
    prev = prices[0]
    for p in prices[1:]:
        if p > prev and shares == 0:
            shares = cash // p
            cash -= shares * p
            fees += 1
        elif p <= prev and shares > 0:
            cash += shares * p
            shares = 0
            fees += 1
        prev = p
    return cash + shares * prev - fees


# --- small pieces of everyday Python ---------------------------------------


LIMIT = 2.0

def f_abs(v):
    if v < 0:
        return -v
    return v

def sat(v):
    if v > LIMIT:
        return LIMIT
    if v < -LIMIT:
        return -LIMIT
    return v

@dataclasses.dataclass
class Acc:
    n: int = 0
    s: float = 0.0


def zero_trip(n):
    i = -7
    for i in range(n):
        pass
    return i


def intdiv(a, b):
    if a < 0:
        return (a // b, a % b, divmod(a, b), -a // b, a / b)
    return (0, 0, (0, 0), 0, 0.0)


def rounding(x):
    if x > 0:
        y = round(x)
        z = int(x)
        w = round(x, 1)
    else:
        y = 0
        z = 0
        w = 0.0
    return (y, z, w, math.floor(3.2), abs(-x))


def sorting(x):
    a = sorted(x)
    return (a[0], max(x), min(x), sum(x), len(x))


def dictcomp(x):
    d = {i: v if v > 0 else -v for i, v in enumerate(x)}
    return (sum(d.values()), d)


def enum_start(x):
    w = 0
    for i, v in enumerate(x, start=1):
        if v < 0:
            continue
        w += i * v
    return (w, i)


def rev(x):
    last = 0.0
    for v in reversed(x):
        if v < 0:
            break
        last = v
    return (last, v)


def zips(x, y):
    s = 0
    for i, (a, b) in enumerate(zip(x, y)):
        if a > b:
            s += a - b
        elif i % 2:
            s -= 1
    return s


def early_list(x):
    out = []
    for i in range(3):
        v = x[i]
        if v < 0:
            v = 0
        out.append(v)
    return out


def nested_fn_loop(n):
    fs = []

    def mk(k):
        return lambda z: z * k if z > 1 else z - k
    for k in range(3):
        fs.append(mk(k))
    s = 0
    for f in fs:
        s += f(n)
    return s


def late_closure(n):
    fs = []
    for k in range(3):
        fs.append(lambda z: z * k if z > 1 else z - k)
    return [f(n) for f in fs]


def kwargs_fn(x, *rest, scale=2, **kw):

    def g(a, *r, b=1, **k):
        if a > b:
            return a * scale + len(r) + k.get('z', 0)
        return a
    return g(x, 1, 2, b=1, z=5) + g(*(0.5,), **{'b': 3})


def opt_none(x, w=None):
    if w is None:
        w = 1.0
    if x > w:
        return x
    return w


def inttofloat(n):
    x = n
    k = 0
    while k < 4:
        if k == 2:
            x = x / 2
        else:
            x = x * 3
        k += 1
    return x


def fib(n):
    a, b = (0, 1)
    for _ in range(n):
        a, b = (b, a + b)
    return a


def swaps(x):
    a = b = 0.0
    for v in x:
        if v > a:
            a, b = (v, a)
        elif v > b:
            b = v
    return (a, b)


def try_except(n):
    try:
        s = 0
        for i in range(n):
            if i > 3:
                break
            s += i
        return s
    except ValueError:
        return -1
    finally:
        pass


def with_ctx(x):
    with jax.named_scope('abc'):
        s = 0.0
        for v in x:
            if v > 3:
                return s
            s += v
    return s


def dynslice(x):
    i = 0
    while x[i] >= 0:
        i += 1
    return (x[i], x[i - 1], x[-1])


def at_ops(x):
    for i in range(len(x)):
        if x[i] < 0:
            x = x.at[i].set(0)
        else:
            x = x.at[i].multiply(2)
    return x


def chain(x):
    n = 0
    for v in x:
        if 0 < v <= 4:
            n += 1
    return n


def shadow(n):

    def h(n):
        while n > 2:
            n -= 2
        return n
    n = h(n)
    m = h(n + 7)
    return (n, m)


def lambda_default(x):
    f = lambda z, k=x: z if z > k else k
    x = 1.0
    return (f(x), f(9.0))


def arrays_of_bool(x):
    seen = False
    for v in x:
        seen = seen or v > 8
    allp = True
    for v in x:
        allp = allp and v > -10
    return (seen, allp)


def bitflags(x):
    m = 0
    for i, v in enumerate(x):
        if v > 0:
            m |= 1 << i
    return m


def pow_mod(e):
    r, b, m = (1, 7, 1000)
    while e > 0:
        if e & 1:
            r = r * b % m
        b = b * b % m
        e >>= 1
    return r


def forloop_lax(x):
    return jax.lax.fori_loop(0, 5, lambda i, a: a + x[i], 0.0)


def global_helpers(x):
    return sat(x[0]) + sat(x[4])


def partials(x):

    def f(a, b, c):
        if a > b:
            return c
        return b
    g = functools.partial(f, 1.0, c=3.0)
    return ([g(v) for v in x[:2]], list(map(functools.partial(f, 2.0, c=0.0), x[:2])))


def filters(x):
    return sum(map(lambda v: v if v > 0 else 0, x))


def while_cond_call(n):

    def ok(k):
        if k > 10:
            return False
        return k % 7 != 0
    while ok(n):
        n += 2
    return n


def walrus(n):
    s = 0
    while (k := (n * 2)) < 50:
        n += k
        s += 1
    return (n, k, s)


def unpack_star(x):
    a, *b = x
    if a > 0:
        a, b = (b[0], b)
    return (a, b)


def tuple_state(n):
    st = (0, (1.0, 2))
    while n > 0:
        a, (b, c) = st
        st = (a + 1, (b * 2, c + n))
        n -= 1
    return st


def list_state(n):
    st = [0, 1.0]
    while n > 0:
        st[0] += n
        st[1] *= 2
        n -= 1
    return st


def dict_state_store(n):
    st = {'a': 0, 'b': 1.0}
    while n > 0:
        st['a'] += n
        st['b'] *= 2
        n -= 1
    return st


def str_static(n, mode='sum'):
    if mode == 'sum':
        r = n + 1
    else:
        r = n - 1
    if n > 2 and mode == 'sum':
        r *= 2
    return r


def matrix_inplace(x):
    m = jnp.outer(x, x)
    s = 0.0
    for row in m:
        for v in row:
            if v < 0:
                break
            s += v
    return s


def while_array_pred(x):
    n = 0
    while (jnp.abs(x) > 1).any() and n < 10:
        x = jnp.where(jnp.abs(x) > 1, x / 2, x)
        n += 1
    return (x, n)


def ifexp_nested(x):
    return [1 if v > 3 else 2 if v > 0 else 3 for v in x]


def del_var(x):
    tmp = x.sum()
    if tmp > 0:
        y = tmp
    else:
        y = -tmp
    del tmp
    return y


def return_in_nested(n):
    for i in range(10):
        for j in range(10):
            while True:
                if i * j > n * n:
                    return (i, j)
                break
    return (-1, -1)


def boolarg(b):
    return (not b, 1 if b else 0, b + 1, b and 3)


def andor_value(x, y):
    return (x or y, x and y, x > 0 or 5.0, not x)


def small_ints(x):
    s = 0
    for v in x:
        if v > 1:
            s += v
    return s


def halfs(x):
    s = 0.0
    for v in x:
        s += v * 100
    return s


def weak_int_div(x):
    n = 0
    for v in x:
        if v > 0:
            n += 1
    return (n / len(x), n // 2, -n // 2, n % 3, 2 ** n)


def recursion_helper(n):

    def fact(k):
        return 1 if k == 0 else k * fact(k - 1)
    return fact(5) + n


def np_const(x):
    w = np.linspace(0, 1, 7)
    s = 0
    for i in range(7):
        if x[i] > w[i]:
            s += w[i]
    return s


def nonlocal_loop(x):
    tot = 0.0

    def add(v):
        nonlocal tot
        if v > 0:
            tot += v
    for v in x:
        add(v)
    return tot


def is_same(x):
    best = 0
    bi = -1
    for i in range(x.shape[0]):
        if bi == -1 or x[i] > best:
            best, bi = (x[i], i)
    return (best, bi)


def str_fmt(x):
    s = f'{x.shape}'
    if x[0] > 0:
        return len(s)
    return 0


def pass_ret_none(n):

    def side(k):
        if k > 2:
            return
        k += 1
    side(n)
    return n


def slices(x):
    s = 0.0
    for i in range(0, len(x) - 1):
        w = x[i:i + 2]
        if w[0] < w[1]:
            s += w.sum()
    return s


def traced_range_slice(x, k):
    s = 0.0
    for i in range(k):
        s += x[i]
    for i in range(k, len(x)):
        s -= x[i]
    return s


def oob(x):
    i = 0
    while i < 10:
        i += 1
        if x[i - 1] > 8:
            break
    return i


def set_state(x):
    seen = set()
    for i in range(4):
        if i % 2:
            seen.add(i)
    return len(seen) + x[0]


def zipstrict(x):
    s = 0
    for a, b in zip(x, [1, 2, 3]):
        s += a * b
    return s


def loopvar_after(x):
    for v in x:
        if v < 0:
            break
    return v


def reuse_loopvar(x):
    i = 100
    for i in range(len(x)):
        if x[i] > 8:
            break
    return i


def n_changes(n):
    c = 0
    for i in range(n):
        n = n - 1
        c += 1
    return (n, c)


def x_changes(x):
    s = 0.0
    for v in x:
        x = x * 0.5
        s += v + x[0]
    return s


def continue_while(x):
    i = 0
    s = 0.0
    while i < len(x):
        i += 1
        if x[i - 1] < 0:
            continue
        s += x[i - 1]
        if s > 100:
            return -1.0
    return s


def nan_safe(x):
    s = 0.0
    for v in x:
        if v != 0 and 1 / v > 0:
            s += 1 / v
    return s


def div_guard(x):
    if x != 0 and 1 / x > 2:
        return 1
    return 0


def argmax_manual(x):
    m = 0
    for i in range(1, len(x)):
        m = i if x[i] > x[m] else m
    return m


def two_d(x):
    dp = jnp.zeros((4, 4))
    for i in range(1, 4):
        for j in range(1, 4):
            if x[i] > x[j]:
                dp = dp.at[i, j].set(dp[i - 1, j - 1] + 1)
            elif x[i] == x[j]:
                dp = dp.at[i, j].set(max(dp[i - 1, j], dp[i, j - 1]))
            else:
                continue
    return dp


def knap(cap):
    w = [2, 3, 4]
    v = [3, 4, 5]
    best = 0
    for m in range(8):
        tw = tv = 0
        for i in range(3):
            if m >> i & 1:
                tw += w[i]
                tv += v[i]
        if tw <= cap and tv > best:
            best = tv
    return best


def knap_dyn(cap):
    w = jnp.array([2, 3, 4])
    v = jnp.array([3, 4, 5])
    dp = jnp.zeros(16, int)
    for i in range(3):
        c = cap
        while c >= w[i]:
            dp = dp.at[c].set(max(dp[c], dp[c - w[i]] + v[i]))
            c -= 1
    return dp[cap]


def compr_nested(x):
    return sum((a if a > b else b for a in x[:2] for b in x[2:4]))


def while_none(x):
    i = None
    if x[0] > 0:
        i = 1
    else:
        i = 2
    return i


def raise_static(x):
    if x.ndim != 1:
        raise ValueError('bad')
    for v in x:
        if v < 0:
            return v
    return 0.0


def assert_static(x):
    assert len(x) == 7, 'len'
    return x[0] if x[0] > 1 else 0.0


def ret_bool_expr(x):
    return x[0] > 0 and x[1] < 0 or x[2] == 0


def not_in_range(x):
    i = 3
    return 1 if 0 <= i < len(x) and (not x[i] < 0) else 0


def nest3(n):
    c = 0
    for i in range(n):
        for j in range(i):
            for k in range(j):
                if (i + j + k) % 2:
                    continue
                if k > 2:
                    break
                c += 1
    return c


def float_int_return(x, n):
    if x > 10:
        return n
    return x


def starmap_(x):
    return [a if a > b else b for a, b in zip(x, x[1:])]


def any_early(x):
    return (any((v > 8 for v in x)), all((v > -9 for v in x)))


def np_funcs(x):
    m = np.array([1.0, 2])
    if x[0] > 0:
        m = m * 2
    return m


def astype_int(x):
    k = int(x[0])
    return float(k) / 2 + bool(x[1])


def len_while(x):
    while len(x) > 1:
        x = x[::2] if len(x) % 2 else x[1:]
    return x


def pow_int(x, n):
    r = 1.0
    while n:
        if n % 2:
            r *= x
        x *= x
        n //= 2
    return r


def newton_isqrt(n):
    x = n
    while x * x > n:
        x = (x + n // x) // 2
    return x


def digits(n):
    out = jnp.zeros(6, int)
    i = 0
    while n:
        n, r = divmod(n, 10)
        out = out.at[i].set(r)
        i += 1
    return (out, i)


def mutual(n):

    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)
    return (even(4), n)


def decor_inner(x):

    def deco(f):

        @functools.wraps(f)
        def w(v):
            if v > 2:
                return f(v)
            return v
        return w

    @deco
    def sq(v):
        return v * v
    return [sq(v) for v in x]


def vg(x):

    def f(w):
        s = 0.0
        for v in x:
            e = w * v - 1
            if e > 0:
                s += e * e
            else:
                s -= e
        return s
    return (jax.value_and_grad(f)(0.3), jax.hessian(f)(0.3))


def vmap_in(x):
    return jnp.stack([f_abs(v) for v in x])


def tree(x):
    return jax.tree.map(f_abs, {'a': x[0], 'b': (x[1],)})


def list_choice(x):
    l = [x[0], x[1]] if x[0] > 5 else [x[2], x[3]]
    l.append(1.0)
    return l


def dict_newkey(x):
    d = {}
    for i in range(3):
        d[i] = x[i] if x[i] > 0 else 0
    return d


def default_late(x):
    acc = []

    def f(v, k=len(acc)):
        if v > 0:
            return k
        return -1
    acc.append(1)
    return f(x[0])


def swapcond(x):
    a, b = (x[0], x[1])
    if a > b:
        a, b = (b, a)
    return (a, b)


def gcdneg(x):
    a, b = (-48, 18)
    a = a + (x[0] * 0).astype(int)
    while b:
        a, b = (b, a % b)
    return a


def loop_else_ret(x):
    for v in x:
        if v == 100:
            break
    else:
        return -1
    return v


def nested_return_else(x):
    for v in x:
        for w in x:
            if v + w == 13:
                return (v, w)
        else:
            if v == 1:
                return (v, v)
    return (0.0, 0.0)


def cont_else(x):
    n = 0
    i = 0
    while i < 5:
        i += 1
        if x[i] < 0:
            continue
        n += i
    else:
        n += 100
    return n


def finally_flag(x):
    n = 0
    for v in x:
        try:
            if v < 0:
                continue
            n += 1
        finally:
            n += 10
    return n


def ret_finally(x):
    n = 0
    try:
        for v in x:
            if v < 0:
                return n
            n += 1
    finally:
        n += 10
    return n


def rng(x):
    k = jax.random.key(0)
    n = 0
    while True:
        k, s = jax.random.split(k)
        if jax.random.uniform(s) > 0.9:
            break
        n += 1
        if n == 50:
            return -1
    return n


def intdtype(x):
    n = 0
    for v in x:
        n += v.astype(int)
    return (n / 2, n // 2)


def promote(x):
    a = 1
    for i in range(3):
        a = a * jnp.float16(1.5) if x[i] > 0 else a
    return a


def min_mixed(x):
    return (min(x[0], 2), max(1, x[1], 0.5), min(x.tolist() if False else x))


def slicing_neg(x):
    i = 2
    out = 0.0
    while i > -3:
        out = out * 2 + x[i]
        i -= 1
    return out


def del_in(x):
    d = {'a': x[0], 'b': x[1]}
    if len(d) > 1:
        del d['b']
    return d


def multi_assign(x):
    a = b = c = 0.0
    for v in x:
        a, b, c = (b, c, v if v > 0 else a)
    return (a, b, c)


def starred(x):
    first, *mid, last = [v if v > 0 else 0.0 for v in x]
    return (first, last, sum(mid))


def lambda_rec(x):
    f = lambda n: 1 if n == 0 else n * f(n - 1)
    return f(4) + x[0]


def aug_tuple(x):
    t = (0, 1)
    for i in range(2):
        t += (i,)
    return t


def compare_chain_side(x):
    return 0 < x[0] < 5 and (not x[1] > 0)


F = np.float32
V = np.array([3., -1, 4, 1, -5, 9, 2], F)
I = np.array([3, 1, 4, 1, 5, 9, 2, 6])
A4 = np.array([[4., 1, 0, 2], [1, 5, 1, 0], [0, 1, 3, 1], [2, 0, 1, 6]], np.float32)
A3 = np.array([[0., 2, 1], [1, -2, -3], [-1, 1, 2]], np.float32)
XP = np.array([[2., 1], [1, 3], [-1, -2], [-2, 0.5], [3, -1]], np.float32)
YP = np.array([1, 1, -1, -1, 1])
INF = np.inf
WG = np.array([[INF, 7, 9, INF], [7, INF, 1, 15], [9, 1, INF, 2], [INF, 15, 2, INF]], np.float32)
ADJ = np.array([[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
SIG = np.array([0., 0.9, 0.4, -0.2, 0.6, 0.95, 0.1, -0.8, -0.1, 1.0], np.float32)
GLIDER = np.zeros((6, 6), int)
GLIDER[2, 1:4] = 1
SPINS = np.where(np.arange(16).reshape(4, 4) % 3 == 0, 1, -1)


def s(text):
    return np.array([ord(c) for c in text])


PROGRAMS = [
    ("bisect_root", bisect_root, (1.0, 2.0, 1e-5)),
    ("bisect_root_bad", bisect_root, (2.0, 3.0, 1e-5)),
    ("collatz", collatz, (27,)),
    ("gcd_lcm", gcd_lcm, (84, 30)),
    ("adaptive_simpson", adaptive_simpson, (0.0, 2.0, 1e-4)),
    ("conjugate_gradient", conjugate_gradient, (A4, np.array([1., 2, 3, 4], np.float32))),
    ("gaussian_elimination", gaussian_elimination, (A3, np.array([1., 2, 4], np.float32))),
    ("power_iteration", power_iteration, (A4,)),
    ("bouncing_ball", bouncing_ball, (1.0, 0.01, 200)),
    ("pendulum_turns", pendulum_turns, (2.0, 0.0)),
    ("ising_sweep", ising_sweep, (SPINS, 0.4, 3)),
    ("perceptron", perceptron, (XP, YP)),
    ("kmeans", kmeans, (XP,)),
    ("line_search_gd", line_search_gd, (np.array([-1., 1], np.float32),)),
    ("early_stopping", early_stopping, (SIG, 2 * SIG + 1, SIG[:4], 2 * SIG[:4] + 1.1)),
    ("welford", welford, (np.array([1., np.nan, 4, 2, 8], np.float32),)),
    ("welford_one", welford, (np.array([1., np.nan], np.float32),)),
    ("metropolis", metropolis, (0, 30)),
    ("longest_run", longest_run, (np.array([1, 1, 2, 2, 2, 3, 2]),)),
    ("tic_tac_toe_winner", tic_tac_toe_winner, (np.array([1, 2, 1, 2, 1, 2, 2, 0, 1]),)),
    ("tic_tac_toe_draw", tic_tac_toe_winner, (np.array([1, 2, 1, 1, 2, 2, 2, 1, 1]),)),
    ("life", life, (GLIDER, 5)),
    ("blackjack_dealer", blackjack_dealer, (7,)),
    ("nim_mex", nim_mex, (np.array([1, 3, 4]),)),
    ("schmitt_trigger", schmitt_trigger, (SIG, -0.1, 0.5)),
    ("median_filter", median_filter, (SIG,)),
    ("zero_crossings", zero_crossings, (SIG,)),
    ("dijkstra", dijkstra, (WG, 0)),
    ("union_find", union_find, (np.array([[0, 1], [2, 3], [1, 3], [0, 2]]),)),
    ("bfs_levels", bfs_levels, (ADJ, 0)),
    ("implied_vol", implied_vol, (10.0, 100.0, 100.0, 1.0)),
    ("american_put", american_put, (95.0, 100.0, 0.05, 0.2)),
    ("max_drawdown", max_drawdown, (np.array([1., 3, 2, 4, 1, 5], np.float32),)),
    ("loan_payoff", loan_payoff, (10000.0, 0.06, 500.0)),
    ("loan_never", loan_payoff, (10000.0, 0.6, 300.0)),
    ("is_palindrome", is_palindrome, (s("never odd or even"),)),
    ("is_palindrome_not", is_palindrome, (s("never odd oreven x"),)),
    ("parse_int", parse_int, (s("  -1234x9"),)),
    ("levenshtein", levenshtein, (s("kitten"), s("sitting"))),
    ("find_substring", find_substring, (s("hello world"), s("o w"))),
    ("find_substring_none", find_substring, (s("hello world"), s("o z"))),
    ("caesar", caesar, (s("Hello, Zebra"), 3)),
    ("brackets_balanced", brackets_balanced, (s("(a(b)c)"),)),
    ("insertion_sort", insertion_sort, (SIG,)),
    ("binary_search", binary_search, (np.array([1, 3, 5, 7, 9]), 7)),
    ("sieve", sieve, (50,)),
    ("cos_fixed", cos_fixed, (0.5, 0.9)),
    ("counter_closure", counter_closure, (SIG, 0.5)),
    ("piecewise_tax", piecewise_tax, (35000.0,)),
    ("grad_of_piecewise", grad_of_piecewise, (2.5,)),
    ("mandelbrot", mandelbrot, (-0.5, 0.6)),
    ("rpn", rpn, (np.array([3, 4, -1, 5, -2]),)),
    ("stack_object", stack_object, (np.array([3., 4, 5]),)),
    ("recursion_static", recursion_static, (5.0,)),
    ("ternary_chain", ternary_chain, (-3,)),
    ("any_all", any_all, (SIG, 2.0)),
    ("dict_state", dict_state, (SIG,)),
    ("reduce_with_branch", reduce_with_branch, (SIG,)),
    ("ode_adaptive", ode_adaptive, (1.0, 1.5)),
    ("lfsr_period", lfsr_period, (0xACE1,)),
    ("vmap_inside", vmap_inside, (np.array([8., 3, 100.], np.float32), 1.0)),
    ("elo", elo, (np.array([[0, 1, 0], [1, 2, 2], [2, 0, 1]]),)),
    ("bool_flags", bool_flags, (1.0, -1.0)),
    ("try_finally", try_finally, (-2.0,)),
    ("while_else", while_else, (91, 2)),
    ("while_else_prime", while_else, (97, 2)),
    ("trapezoid_stop", trapezoid_stop, (np.arange(5.), np.array([0., 1, 4, 9, 16]), 6.0)),
    ("viterbi", viterbi, (np.array([0, 0, 1, 1, 0]), np.array([[.7, .3], [.4, .6]], np.float32),
                          np.array([[.9, .1], [.2, .8]], np.float32))),
    ("bubble_sort", bubble_sort, (SIG,)),
    ("heap_sort", heap_sort, (SIG,)),
    ("trading_if", trading_if, (np.array([10., 11, 12, 9, 8, 10, 13], np.float32), 100.0)),
    ("zero_trip", zero_trip, (0,)),
    ("intdiv", intdiv, (-7, 3)),
    ("rounding", rounding, (7.6,)),
    ("sorting", sorting, (V,)),
    ("dictcomp", dictcomp, (V,)),
    ("enum_start", enum_start, (V,)),
    ("rev", rev, (V,)),
    ("zips", zips, (V, I)),
    ("early_list", early_list, (V,)),
    ("nested_fn_loop", nested_fn_loop, (3,)),
    ("late_closure", late_closure, (3,)),
    ("kwargs_fn", kwargs_fn, (2.0,)),
    ("opt_none", opt_none, (2.0,)),
    ("inttofloat", inttofloat, (1,)),
    ("fib", fib, (40,)),
    ("swaps", swaps, (V,)),
    ("try_except", try_except, (10,)),
    ("with_ctx", with_ctx, (V,)),
    ("dynslice", dynslice, (V,)),
    ("at_ops", at_ops, (V,)),
    ("chain", chain, (V,)),
    ("shadow", shadow, (5,)),
    ("lambda_default", lambda_default, (5.0,)),
    ("arrays_of_bool", arrays_of_bool, (V,)),
    ("bitflags", bitflags, (V,)),
    ("pow_mod", pow_mod, (9,)),
    ("forloop_lax", forloop_lax, (V,)),
    ("global_helpers", global_helpers, (V,)),
    ("partials", partials, (V,)),
    ("filters", filters, (V,)),
    ("while_cond_call", while_cond_call, (3,)),
    ("walrus", walrus, (3,)),
    ("unpack_star", unpack_star, (V,)),
    ("tuple_state", tuple_state, (4,)),
    ("str_static", str_static, (4,)),
    ("matrix_inplace", matrix_inplace, (V,)),
    ("while_array_pred", while_array_pred, (V,)),
    ("ifexp_nested", ifexp_nested, (V,)),
    ("del_var", del_var, (V,)),
    ("return_in_nested", return_in_nested, (3,)),
    ("boolarg", boolarg, (True,)),
    ("andor_value", andor_value, (0.0, 2.0)),
    ("small_ints", small_ints, (np.array([2, 1, 2], np.int8),)),
    ("halfs", halfs, (V.astype(np.float16),)),
    ("weak_int_div", weak_int_div, (V,)),
    ("recursion_helper", recursion_helper, (5,)),
    ("np_const", np_const, (V,)),
    ("nonlocal_loop", nonlocal_loop, (V,)),
    ("is_same", is_same, (V,)),
    ("str_fmt", str_fmt, (V,)),
    ("pass_ret_none", pass_ret_none, (4,)),
    ("slices", slices, (V,)),
    ("traced_range_slice", traced_range_slice, (V, 3)),
    ("oob", oob, (V,)),
    ("set_state", set_state, (V,)),
    ("zipstrict", zipstrict, (V,)),
    ("loopvar_after", loopvar_after, (V,)),
    ("reuse_loopvar", reuse_loopvar, (V,)),
    ("n_changes", n_changes, (4,)),
    ("x_changes", x_changes, (V,)),
    ("continue_while", continue_while, (V,)),
    ("nan_safe", nan_safe, (V,)),
    ("div_guard", div_guard, (0.0,)),
    ("argmax_manual", argmax_manual, (V,)),
    ("two_d", two_d, (V,)),
    ("knap", knap, (10,)),
    ("knap_dyn", knap_dyn, (6,)),
    ("compr_nested", compr_nested, (V,)),
    ("while_none", while_none, (V,)),
    ("raise_static", raise_static, (V,)),
    ("assert_static", assert_static, (V,)),
    ("ret_bool_expr", ret_bool_expr, (V,)),
    ("not_in_range", not_in_range, (V,)),
    ("nest3", nest3, (5,)),
    ("float_int_return", float_int_return, (3.0, 2)),
    ("starmap_", starmap_, (V,)),
    ("any_early", any_early, (V,)),
    ("np_funcs", np_funcs, (V,)),
    ("astype_int", astype_int, (V,)),
    ("len_while", len_while, (V,)),
    ("pow_int", pow_int, (2.0, 3)),
    ("newton_isqrt", newton_isqrt, (100,)),
    ("digits", digits, (12345,)),
    ("mutual", mutual, (5,)),
    ("decor_inner", decor_inner, (V,)),
    ("vg", vg, (V,)),
    ("vmap_in", vmap_in, (V,)),
    ("tree", tree, (V,)),
    ("list_choice", list_choice, (V,)),
    ("dict_newkey", dict_newkey, (V,)),
    ("default_late", default_late, (V,)),
    ("swapcond", swapcond, (V,)),
    ("gcdneg", gcdneg, (V,)),
    ("loop_else_ret", loop_else_ret, (V,)),
    ("nested_return_else", nested_return_else, (V,)),
    ("cont_else", cont_else, (V,)),
    ("finally_flag", finally_flag, (V,)),
    ("ret_finally", ret_finally, (V,)),
    ("rng", rng, (V,)),
    ("intdtype", intdtype, (V,)),
    ("promote", promote, (V,)),
    ("min_mixed", min_mixed, (V,)),
    ("slicing_neg", slicing_neg, (V,)),
    ("del_in", del_in, (V,)),
    ("multi_assign", multi_assign, (V,)),
    ("starred", starred, (V,)),
    ("lambda_rec", lambda_rec, (V,)),
    ("aug_tuple", aug_tuple, (V,)),
    ("compare_chain_side", compare_chain_side, (V,)),
    ("list_state", list_state, (4,)),
    ("dict_state_store", dict_state_store, (4,)),
]
