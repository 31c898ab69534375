"""Imperative NumPy programs in the style in which blogs, textbooks and course notes publish them: loops, stores, views, arguments that change.

Nothing here knows of JAX: each runs with NumPy alone, and what it then does is what its converted form is compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Program:
    """A function, its arguments for `k` in (0, 1), whether it is smooth in its first argument, and the names of arguments that give sizes."""

    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    gradient: bool
    static: tuple[str, ...]


PROGRAMS: list[Program] = []


def program(arguments: Callable[[int], tuple[Any, ...]], gradient: bool = False, static: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Puts a function among `PROGRAMS` and leaves it as it is."""

    def register(f: F) -> F:
        PROGRAMS.append(Program(f, arguments, gradient, static))
        return f

    return register


# --- inputs ---------------------------------------------------------------------------------------------------------------------
def normal(k: int, *shape: int) -> Array:
    return np.random.default_rng(k).standard_normal(shape, dtype=np.float32)


def uniform(k: int, *shape: int) -> Array:
    return np.random.default_rng(k).random(shape, dtype=np.float32)


def integers(k: int, high: int, *shape: int) -> Array:
    return np.random.default_rng(k).integers(0, high, shape, dtype=np.int32)


def dominant(k: int, n: int) -> Array:
    """A matrix with a heavy diagonal, which every iteration and elimination likes."""
    return uniform(k, n, n) + n * np.eye(n, dtype=np.float32)


def definite(k: int, n: int) -> Array:
    a = dominant(k, n)
    return (a + a.T) / 2


def stochastic(k: int, *shape: int) -> Array:
    """Rows that sum to one."""
    a = uniform(k, *shape) + np.float32(0.1)
    return a / a.sum(axis=-1, keepdims=True)


def solved_sudoku(k: int) -> Array:
    """A valid board for `k = 0`; two numbers of it are swapped for `k = 1`."""
    board = np.array([[(3 * i + i // 3 + j) % 9 + 1 for j in range(9)] for i in range(9)], dtype=np.int32)
    if k:
        board[7, 2], board[7, 5] = board[7, 5], board[7, 2]
    return board


# --- stencils -------------------------------------------------------------------------------------------------------------------
@program(lambda k: (normal(k, 12), 0.2 + 0.1 * k, 6), gradient=True)
def heat_1d(u: Array, r: float, steps: int) -> Array:
    for n in range(steps):
        un = u.copy()
        for i in range(1, len(u) - 1):
            u[i] = un[i] + r * (un[i + 1] - 2 * un[i] + un[i - 1])
    return u


@program(lambda k: (normal(k, 7, 6), 0.1 + 0.1 * k, 5 + k), gradient=True)
def heat_2d(u: Array, alpha: float, steps: int) -> Array:
    """Two buffers that take turns: the argument is one of them."""
    new = u.copy()
    for _ in range(steps):
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + alpha * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        u, new = new, u
    return u


@program(lambda k: (normal(k, 12), 0.3 + 0.2 * k, 7), gradient=True)
def wave_1d(u: Array, c2: float, steps: int) -> Array:
    """Three time levels, rotated."""
    previous = u.copy()
    following = np.zeros_like(u)
    for t in range(steps):
        for i in range(1, len(u) - 1):
            following[i] = 2 * u[i] - previous[i] + c2 * (u[i + 1] - 2 * u[i] + u[i - 1])
        following[0] = following[-1] = 0
        previous, u, following = u, following, previous
    return u


@program(lambda k: (dominant(k, 6), normal(k + 2, 6), 20))
def jacobi(A: Array, b: Array, iterations: int) -> Array:
    x = np.zeros_like(b)
    for it in range(iterations):
        x_new = np.zeros_like(x)
        for i in range(A.shape[0]):
            s1 = np.dot(A[i, :i], x[:i])
            s2 = np.dot(A[i, i + 1 :], x[i + 1 :])
            x_new[i] = (b[i] - s1 - s2) / A[i, i]
        if np.allclose(x, x_new, atol=1e-6):
            break
        x = x_new
    return x


@program(lambda k: (dominant(k, 6), normal(k + 2, 6), np.zeros(6, np.float32), 1e-5))
def gauss_seidel(A: Array, b: Array, x: Array, tolerance: float) -> None:
    """The solution is left in `x`."""
    n = len(b)
    change = 1.0
    while change > tolerance:
        change = 0.0
        for i in range(n):
            old = x[i]
            total = b[i]
            for j in range(n):
                if j != i:
                    total -= A[i, j] * x[j]
            x[i] = total / A[i, i]
            change = max(change, abs(x[i] - old))


@program(lambda k: (normal(k, 6, 6), normal(k + 2, 6, 6), 1.2 + 0.2 * k, 1e-2))
def sor(u: Array, f: Array, omega: float, tolerance: float) -> int:
    iterations = 0
    while True:
        worst = 0.0
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                residual = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j] - f[i, j]
                u[i, j] += omega * residual / 4
                worst = max(worst, abs(residual))
        iterations += 1
        if worst < tolerance or iterations == 50:
            break
    return iterations


@program(lambda k: (normal(k, 7, 6), normal(k + 2, 7, 6), 0.5, 3), gradient=True)
def red_black(u: Array, f: Array, h: float, sweeps: int) -> None:
    rows, columns = u.shape
    for _ in range(sweeps):
        for color in (0, 1):
            for i in range(1, rows - 1):
                for j in range(1 + (i + color) % 2, columns - 1, 2):
                    u[i, j] = 0.25 * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - h * h * f[i, j])


@program(lambda k: (normal(k, 10), 1.0 - 1.5 * k, 0.5, 0.2, 5), gradient=True)
def advection_upwind(u: Array, c: float, dx: float, dt: float, nt: int) -> Array:
    """Upwind differences with periodic ends."""
    nx = len(u)
    history = np.zeros((6, nx))
    history[0] = u
    for n in range(nt):
        for i in range(nx):
            if c > 0:
                history[n + 1, i] = history[n, i] - c * dt / dx * (history[n, i] - history[n, i - 1])
            else:
                history[n + 1, i] = history[n, i] - c * dt / dx * (history[n, (i + 1) % nx] - history[n, i])
    return history


class ShallowWater:
    """Heights in the cells, velocities on their sides, walls around."""

    def __init__(self, h: Array, dt: float) -> None:
        ny, nx = h.shape
        self.h = h
        self.u = np.zeros((ny, nx + 1))
        self.v = np.zeros((ny + 1, nx))
        self.dt = dt

    def step(self) -> None:
        self.u[:, 1:-1] -= 9.81 * self.dt * (self.h[:, 1:] - self.h[:, :-1])
        self.v[1:-1, :] -= 9.81 * self.dt * (self.h[1:, :] - self.h[:-1, :])
        self.u[:, 0] = self.u[:, -1] = 0.0
        self.v[0, :] = self.v[-1, :] = 0.0
        self.h -= self.dt * (self.u[:, 1:] - self.u[:, :-1] + self.v[1:, :] - self.v[:-1, :])


@program(lambda k: (1 + uniform(k, 6, 7), 0.05, 6), gradient=True)
def shallow_water(h: Array, dt: float, steps: int) -> tuple[Array, Array, Array]:
    water = ShallowWater(h.copy(), dt)
    for _ in range(steps):
        water.step()
    return water.h, water.u, water.v


def build_up_b(b: Array, rho: float, dt: float, u: Array, v: Array, dx: float, dy: float) -> Array:
    b[1:-1, 1:-1] = rho * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )
    return b


def pressure_poisson(p: Array, dx: float, dy: float, b: Array) -> Array:
    pn = np.empty_like(p)
    pn = p.copy()
    for q in range(4):
        pn = p.copy()
        p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
    return p


@program(lambda k: (0.1 * normal(k, 6, 6), 0.1 * normal(k + 2, 6, 6), np.zeros((6, 6), np.float32), 0.01, 0.1, 3), gradient=True)
def cavity_flow(u: Array, v: Array, p: Array, dt: float, nu: float, nt: int) -> tuple[Array, Array, Array]:
    """Navier-Stokes in a box with a moving lid."""
    rho, dx, dy = 1.0, 0.4, 0.4
    b = np.zeros((6, 6))
    for n in range(nt):
        un = u.copy()
        vn = v.copy()
        b = build_up_b(b, rho, dt, u, v, dx, dy)
        p = pressure_poisson(p, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] + un[2:, 1:-1] + un[1:-1, 0:-2] + un[0:-2, 1:-1] - 4 * un[1:-1, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] + vn[2:, 1:-1] + vn[1:-1, 0:-2] + vn[0:-2, 1:-1] - 4 * vn[1:-1, 1:-1])
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return u, v, p


@program(lambda k: (uniform(k, 8, 8), uniform(k + 2, 8, 8), 0.035 + 0.02 * k, 0.065, 5), gradient=True)
def gray_scott(U: Array, V: Array, F: float, K: float, steps: int) -> Array:
    """Reaction and diffusion: `u` and `v` are the inner parts of `U` and `V`, and change with them."""
    u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
    for i in range(steps):
        Lu = U[0:-2, 1:-1] + U[1:-1, 0:-2] - 4 * U[1:-1, 1:-1] + U[1:-1, 2:] + U[2:, 1:-1]
        Lv = V[0:-2, 1:-1] + V[1:-1, 0:-2] - 4 * V[1:-1, 1:-1] + V[1:-1, 2:] + V[2:, 1:-1]
        uvv = u * v * v
        u += 0.16 * Lu - uvv + F * (1 - u)
        v += 0.08 * Lv + uvv - (F + K) * v
    return V


# --- sweeps and tables ----------------------------------------------------------------------------------------------------------
@program(lambda k: (uniform(k, 7), 3 + uniform(k + 2, 8), uniform(k + 4, 7), normal(k + 6, 8)), gradient=True)
def thomas(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Tridiagonal systems: `xc` is `bc` by another name."""
    nf = len(d)
    ac, bc, cc, dc = map(np.array, (a, b, c, d))
    for it in range(1, nf):
        mc = ac[it - 1] / bc[it - 1]
        bc[it] = bc[it] - mc * cc[it - 1]
        dc[it] = dc[it] - mc * dc[it - 1]
    xc = bc
    xc[-1] = dc[-1] / bc[-1]
    for il in range(nf - 2, -1, -1):
        xc[il] = (dc[il] - cc[il] * xc[il + 1]) / bc[il]
    return xc


@program(lambda k: (1 + integers(k, 30, 6, 6),))
def floyd_warshall(dist: Array) -> Array:
    """The distances are left in `dist`; the result tells the way."""
    n = len(dist)
    nxt = np.zeros((n, n), dtype=np.int32)
    for i in range(n):
        dist[i, i] = 0
        for j in range(n):
            nxt[i, j] = j
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if dist[i, k] + dist[k, j] < dist[i, j]:
                    dist[i, j] = dist[i, k] + dist[k, j]
                    nxt[i, j] = nxt[i, k]
    return nxt


@program(lambda k: (integers(k, 10, 7, 8), integers(k + 2, 4, 5, 2)))
def box_sums(image: Array, corners: Array) -> Array:
    """Sums of 3x4 boxes from a summed-area table."""
    h, w = image.shape
    table = np.zeros((h + 1, w + 1), dtype=np.int32)
    for y in range(h):
        row = 0
        for x in range(w):
            row += image[y, x]
            table[y + 1, x + 1] = table[y, x + 1] + row
    sums = np.empty(len(corners), dtype=np.int32)
    for i, (y, x) in enumerate(corners):
        sums[i] = table[y + 3, x + 4] - table[y, x + 4] - table[y + 3, x] + table[y, x]
    return sums


@program(lambda k: (normal(k, 15),))
def prefix_scan(a: Array) -> None:
    """Inclusive prefix sums in place, doubling the stride."""
    stride = 1
    while stride < len(a):
        for i in range(len(a) - 1, stride - 1, -1):
            a[i] += a[i - stride]
        stride *= 2


@program(lambda k: (integers(k, 5, 7, 7) == 0,))
def transitive_closure(reach: Array) -> Array:
    n = reach.shape[0]
    for k in range(n):
        for i in range(n):
            if reach[i, k]:
                reach[i] |= reach[k]
    return reach


@program(lambda k: (1 + integers(k, 20, 7, 7), 2 * k))
def dijkstra(weights: Array, source: int) -> tuple[Array, Array]:
    n = len(weights)
    distance = np.full(n, np.inf)
    previous = np.full(n, -1)
    visited = np.zeros(n, dtype=bool)
    distance[source] = 0
    for _ in range(n):
        u = -1
        for i in range(n):
            if not visited[i] and (u == -1 or distance[i] < distance[u]):
                u = i
        visited[u] = True
        for v in range(n):
            if not visited[v] and distance[u] + weights[u, v] < distance[v]:
                distance[v] = distance[u] + weights[u, v]
                previous[v] = u
    return distance, previous


# --- linear algebra by hand -----------------------------------------------------------------------------------------------------
@program(lambda k: (normal(k, 6, 6),))
def lu_in_place(A: Array) -> Array:
    n = A.shape[0]
    perm = np.arange(n)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            perm[[k, p]] = perm[[p, k]]
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
    return perm


@program(lambda k: (dominant(k, 5)[::-1].copy(), normal(k + 2, 5)), gradient=True)
def gauss_solve(A: Array, b: Array) -> Array:
    """Elimination with swaps of rows, then substitution; `A` and `b` are used up."""
    n = len(b)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] = A[i, k:] - factor * A[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(A[i, i + 1 :], x[i + 1 :])) / A[i, i]
    return x


@program(lambda k: (definite(k, 6),), gradient=True)
def cholesky(A: Array) -> Array:
    n = A.shape[0]
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(A[i, i] - s)
            else:
                L[i, j] = (A[i, j] - s) / L[j, j]
    return L


@program(lambda k: (normal(k, 6, 4),), gradient=True)
def householder_qr(A: Array) -> tuple[Array, Array]:
    m, n = A.shape
    R = A.copy()
    Q = np.eye(m)
    for k in range(n):
        x = R[k:, k]
        v = x.copy()
        v[0] += np.copysign(np.linalg.norm(x), x[0])
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2.0 * np.outer(v, v @ R[k:, k:])
        Q[:, k:] -= 2.0 * np.outer(Q[:, k:] @ v, v)
    return Q, R


def givens_rotation(a: float, b: float) -> tuple[float, float]:
    r = np.hypot(a, b)
    return a / r, -b / r


@program(lambda k: (normal(k, 5, 4),))
def givens_qr(A: Array) -> tuple[Array, Array]:
    num_rows, num_cols = A.shape
    Q = np.identity(num_rows)
    R = np.copy(A)
    rows, cols = np.tril_indices(num_rows, -1, num_cols)
    for row, col in zip(rows, cols):
        if R[row, col] != 0:
            c, s = givens_rotation(R[col, col], R[row, col])
            G = np.identity(num_rows)
            G[[col, row], [col, row]] = c
            G[row, col] = s
            G[col, row] = -s
            R = np.dot(G, R)
            Q = np.dot(Q, G.T)
    return Q, R


@program(lambda k: (normal(k, 6, 4),), gradient=True)
def gram_schmidt(A: Array) -> None:
    """The columns become orthonormal through a view of each."""
    for j in range(A.shape[1]):
        q = A[:, j]
        for i in range(j):
            q -= np.dot(A[:, i], q) * A[:, i]
        q /= np.linalg.norm(q)


@program(lambda k: (dominant(k, 5)[::-1].copy(),))
def gauss_jordan_inverse(A: Array) -> Array:
    n = len(A)
    M = np.hstack([A, np.eye(n)])
    for i in range(n):
        pivot = np.argmax(np.abs(M[i:, i])) + i
        M[[i, pivot]] = M[[pivot, i]]
        M[i] /= M[i, i]
        for j in range(n):
            if j != i:
                M[j] -= M[j, i] * M[i]
    return M[:, n:]


@program(lambda k: (definite(k, 5), 10 + k), gradient=True)
def power_iteration(A: Array, num_iterations: int) -> tuple[float, Array]:
    b = np.ones(A.shape[1])
    for _ in range(num_iterations):
        b = A @ b
        b /= np.linalg.norm(b)
    return b @ A @ b, b


@program(lambda k: (normal(k, 6), definite(k + 2, 6), np.zeros(6, np.float32)), gradient=True)
def conjugate_gradients(b: Array, A: Array, x: Array) -> Array:
    """Three steps from `x`, which takes the solution."""
    r = b - A @ x
    p = r.copy()
    rs_old = r @ r
    for i in range(3):
        Ap = A @ p
        alpha = rs_old / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rs_new = r @ r
        if np.sqrt(rs_new) < 1e-8:
            break
        p = r + (rs_new / rs_old) * p
        rs_old = rs_new
    return x


@program(lambda k: (definite(k, 4) + np.diag(np.arange(4, dtype=np.float32)),))
def jacobi_eigenvalues(a: Array, tol: float = 1e-5) -> tuple[Array, Array]:
    """Rotations that clear the largest item beside the diagonal, until all are small."""

    def max_elem(a: Array) -> tuple[float, int, int]:
        n = len(a)
        a_max = 0.0
        for i in range(n - 1):
            for j in range(i + 1, n):
                if abs(a[i, j]) >= a_max:
                    a_max = abs(a[i, j])
                    k = i
                    l = j
        return a_max, k, l

    def rotate(a: Array, p: Array, k: int, l: int) -> None:
        n = len(a)
        a_diff = a[l, l] - a[k, k]
        if abs(a[k, l]) < abs(a_diff) * 1.0e-36:
            t = a[k, l] / a_diff
        else:
            phi = a_diff / (2.0 * a[k, l])
            t = 1.0 / (abs(phi) + np.sqrt(phi**2 + 1.0))
            if phi < 0.0:
                t = -t
        c = 1.0 / np.sqrt(t**2 + 1.0)
        s = t * c
        tau = s / (1.0 + c)
        temp = a[k, l]
        a[k, l] = 0.0
        a[k, k] = a[k, k] - t * temp
        a[l, l] = a[l, l] + t * temp
        for i in range(k):
            temp = a[i, k]
            a[i, k] = temp - s * (a[i, l] + tau * temp)
            a[i, l] = a[i, l] + s * (temp - tau * a[i, l])
        for i in range(k + 1, l):
            temp = a[k, i]
            a[k, i] = temp - s * (a[i, l] + tau * a[k, i])
            a[i, l] = a[i, l] + s * (temp - tau * a[i, l])
        for i in range(l + 1, n):
            temp = a[k, i]
            a[k, i] = temp - s * (a[l, i] + tau * temp)
            a[l, i] = a[l, i] + s * (temp - tau * a[l, i])
        for i in range(n):
            temp = p[i, k]
            p[i, k] = temp - s * (p[i, l] + tau * p[i, k])
            p[i, l] = p[i, l] + s * (temp - tau * p[i, l])

    n = len(a)
    max_rot = 5 * (n**2)
    p = np.identity(n) * 1.0
    for i in range(max_rot):
        a_max, k, l = max_elem(a)
        if a_max < tol:
            return np.diagonal(a), p
        rotate(a, p, k, l)
    raise RuntimeError("Jacobi method did not converge")


@program(
    lambda k: (normal(k, 9), np.array([0, 2, 4, 1, 3, 0, 2, 4, 5], np.int32), np.array([0, 3, 3, 5, 9, 9], np.int32), normal(k + 2, 6)), gradient=True
)
def csr_matvec(data: Array, indices: Array, indptr: Array, x: Array) -> Array:
    y = np.zeros(len(indptr) - 1)
    for i in range(len(indptr) - 1):
        for jj in range(indptr[i], indptr[i + 1]):
            y[i] += data[jj] * x[indices[jj]]
    return y


@program(lambda k: (2 + uniform(k, 6), normal(k + 2, 5)), gradient=True)
def levinson(r: Array, y: Array) -> Array:
    """Solves a symmetric Toeplitz system whose first row is `r`, without its last item."""
    n = len(y)
    a = np.zeros(n + 1)
    x = np.zeros(n)
    a[0] = 1.0
    error = r[0] + 4
    x[0] = y[0] / error
    for k in range(1, n):
        lam = 0.0
        for j in range(k):
            lam -= a[j] * r[k - j]
        lam /= error
        old = a.copy()
        for j in range(k + 1):
            a[j] = old[j] + lam * old[k - j]
        error *= 1 - lam * lam
        mu = y[k] - np.sum(x[:k] * r[k:0:-1])
        x[: k + 1] += mu / error * a[k::-1]
    return x


# --- dynamic programming --------------------------------------------------------------------------------------------------------
@program(lambda k: (integers(k, 4, 8), integers(k + 2, 4, 7)))
def edit_distance(s: Array, t: Array) -> int:
    rows, cols = len(s) + 1, len(t) + 1
    dist = np.zeros((rows, cols), dtype=int)
    for i in range(1, rows):
        dist[i, 0] = i
    for j in range(1, cols):
        dist[0, j] = j
    for col in range(1, cols):
        for row in range(1, rows):
            if s[row - 1] == t[col - 1]:
                cost = 0
            else:
                cost = 1
            dist[row, col] = min(dist[row - 1, col] + 1, dist[row, col - 1] + 1, dist[row - 1, col - 1] + cost)
    return dist[rows - 1, cols - 1]


@program(lambda k: (integers(k, 3, 9), integers(k + 2, 3, 7)))
def longest_common_subsequence(a: Array, b: Array) -> tuple[int, Array]:
    """Its length, and itself with -1 behind."""
    m, n = len(a), len(b)
    L = np.zeros((m + 1, n + 1), dtype=np.int32)
    for i in range(m):
        for j in range(n):
            L[i + 1][j + 1] = L[i][j] + 1 if a[i] == b[j] else max(L[i + 1][j], L[i][j + 1])
    result = np.full(min(m, n), -1, dtype=np.int32)
    length = index = L[m][n]
    i, j = m, n
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            index -= 1
            result[index] = a[i - 1]
            i -= 1
            j -= 1
        elif L[i - 1][j] > L[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return length, result


@program(lambda k: (normal(k, 6), 1 + integers(k + 2, 6, 6), 15), static=("capacity",))
def knapsack(values: Array, weights: Array, capacity: int) -> tuple[float, Array]:
    n = len(values)
    best = np.zeros((n + 1, capacity + 1))
    for i in range(1, n + 1):
        for w in range(capacity + 1):
            if weights[i - 1] <= w:
                best[i, w] = max(best[i - 1, w], values[i - 1] + best[i - 1, w - weights[i - 1]])
            else:
                best[i, w] = best[i - 1, w]
    taken = np.zeros(n, dtype=bool)
    w = capacity
    for i in range(n, 0, -1):
        if best[i, w] != best[i - 1, w]:
            taken[i - 1] = True
            w -= weights[i - 1]
    return best[n, capacity], taken


@program(lambda k: (np.array([[1, 2, 5], [3, 4, 7]][k], np.int32), 17), static=("amount",))
def coin_change(coins: Array, amount: int) -> tuple[int, int]:
    """The number of ways, and the fewest coins (or -1)."""
    ways = np.zeros(amount + 1, dtype=int)
    ways[0] = 1
    fewest = np.full(amount + 1, amount + 1)
    fewest[0] = 0
    for coin in coins:
        for x in range(coin, amount + 1):
            ways[x] += ways[x - coin]
            fewest[x] = min(fewest[x], fewest[x - coin] + 1)
    return ways[amount], fewest[amount] if fewest[amount] <= amount else -1


@program(lambda k: (2 + integers(k, 9, 7),))
def matrix_chain(p: Array) -> tuple[int, Array]:
    n = len(p) - 1
    m = np.zeros((n, n))
    split = np.zeros((n, n), dtype=int)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i, j] = np.inf
            for k in range(i, j):
                cost = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if cost < m[i, j]:
                    m[i, j] = cost
                    split[i, j] = k
    return m[0, n - 1], split


@program(lambda k: (integers(k, 40, 12),))
def longest_increasing_subsequence(a: Array) -> tuple[int, Array]:
    n = len(a)
    lengths = np.ones(n, dtype=int)
    for i in range(1, n):
        for j in range(i):
            if a[j] < a[i] and lengths[j] + 1 > lengths[i]:
                lengths[i] = lengths[j] + 1
    return lengths.max(), lengths


# --- simulation -----------------------------------------------------------------------------------------------------------------
def accelerations(pos: Array, mass: Array, softening: float) -> Array:
    acc = np.zeros_like(pos)
    for i in range(len(mass)):
        for j in range(len(mass)):
            if i != j:
                d = pos[j] - pos[i]
                acc[i] += mass[j] * d / (np.sum(d**2) + softening**2) ** 1.5
    return acc


@program(lambda k: (normal(k, 4, 3), 0.1 * normal(k + 2, 4, 3), 1 + uniform(k + 4, 4), 0.05, 3), gradient=True)
def n_body(pos: Array, vel: Array, mass: Array, dt: float, steps: int) -> float:
    """Leapfrog; positions and velocities are those of the caller."""
    acc = accelerations(pos, mass, 0.3)
    for _ in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = accelerations(pos, mass, 0.3)
        vel += acc * dt / 2.0
    return 0.5 * np.sum(mass[:, None] * vel**2)


@program(lambda k: (np.array([[1.0, 1.5, 0.5], [-2.0, 1.0, 9.0]][k], np.float32), 0.01), gradient=True)
def lorenz(start: Array, dt: float) -> Array:
    def derivative(xyz: Array, s: float = 10, r: float = 28, b: float = 2.667) -> Array:
        x, y, z = xyz
        return np.array([s * (y - x), r * x - y - x * z, x * y - b * z])

    num_steps = 12
    xyzs = np.empty((num_steps + 1, 3))
    xyzs[0] = start
    for i in range(num_steps):
        xyzs[i + 1] = xyzs[i] + derivative(xyzs[i]) * dt
    return xyzs


@program(lambda k: (np.array([[2.0, 0.1, -0.5, 0.2], [1.0, -0.4, 2.5, 0.0]][k], np.float32), 0.02), gradient=True)
def double_pendulum(state: Array, dt: float) -> Array:
    G, L1, L2, M1, M2 = 9.8, 1.0, 1.0, 1.0, 1.0

    def derivs(state: Array) -> Array:
        dydx = np.zeros_like(state)
        dydx[0] = state[1]
        delta = state[2] - state[0]
        den1 = (M1 + M2) * L1 - M2 * L1 * np.cos(delta) * np.cos(delta)
        dydx[1] = (
            M2 * L1 * state[1] * state[1] * np.sin(delta) * np.cos(delta)
            + M2 * G * np.sin(state[2]) * np.cos(delta)
            + M2 * L2 * state[3] * state[3] * np.sin(delta)
            - (M1 + M2) * G * np.sin(state[0])
        ) / den1
        dydx[2] = state[3]
        den2 = (L2 / L1) * den1
        dydx[3] = (
            -M2 * L2 * state[3] * state[3] * np.sin(delta) * np.cos(delta)
            + (M1 + M2) * G * np.sin(state[0]) * np.cos(delta)
            - (M1 + M2) * L1 * state[1] * state[1] * np.sin(delta)
            - (M1 + M2) * G * np.sin(state[2])
        ) / den2
        return dydx

    y = np.empty((10, 4))
    y[0] = state
    for i in range(1, len(y)):
        y[i] = y[i - 1] + derivs(y[i - 1]) * dt
    return y


@program(lambda k: (np.array([[10.0, 5.0], [4.0, 8.0]][k], np.float32), np.linspace(0, 1, 9, dtype=np.float32)), gradient=True)
def rk4_predator_prey(y0: Array, t: Array) -> Array:
    def f(y: Array, t: float) -> Array:
        dy = np.empty(2)
        dy[0] = 1.1 * y[0] - 0.4 * y[0] * y[1]
        dy[1] = 0.1 * y[0] * y[1] - 0.4 * y[1]
        return dy

    n = len(t)
    y = np.zeros((n, len(y0)))
    y[0] = y0
    for i in range(n - 1):
        h = t[i + 1] - t[i]
        k1 = f(y[i], t[i])
        k2 = f(y[i] + k1 * h / 2.0, t[i] + h / 2.0)
        k3 = f(y[i] + k2 * h / 2.0, t[i] + h / 2.0)
        k4 = f(y[i] + k3 * h, t[i] + h)
        y[i + 1] = y[i] + (h / 6.0) * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@program(lambda k: (np.array([[0.4, 0.1], [0.7, 0.3]][k], np.float32), 0.9, 20), gradient=True, static=("days",))
def sir_epidemic(rates: Array, s0: float, days: int) -> tuple[Array, Array, Array]:
    beta, gamma = rates
    S, I, R = np.zeros(days), np.zeros(days), np.zeros(days)
    S[0], I[0] = s0, 1 - s0
    for t in range(days - 1):
        infected = beta * S[t] * I[t]
        recovered = gamma * I[t]
        S[t + 1] = S[t] - infected
        I[t + 1] = I[t] + infected - recovered
        R[t + 1] = R[t] + recovered
    return S, I, R


@program(lambda k: (integers(k, 4, 24),))
def random_walk(moves: Array, size: int = 6) -> tuple[Array, tuple[int, int]]:
    visits = np.zeros((size, size), dtype=int)
    x, y = size // 2, size // 2
    for move in moves:
        if move == 0 and x > 0:
            x -= 1
        elif move == 1 and x < size - 1:
            x += 1
        elif move == 2 and y > 0:
            y -= 1
        elif move == 3 and y < size - 1:
            y += 1
        visits[x, y] += 1
    return visits, (x, y)


@program(lambda k: (0.5 + k, normal(k, 20), uniform(k + 2, 20)))
def metropolis(x: float, proposals: Array, uniforms: Array) -> tuple[Array, int]:
    def density(x: float) -> float:
        return np.exp(-(x**2) / 2) + 0.5 * np.exp(-((x - 3) ** 2))

    chain = np.zeros(len(proposals))
    accepted = 0
    for i in range(len(proposals)):
        candidate = x + proposals[i]
        if uniforms[i] < density(candidate) / density(x):
            x = candidate
            accepted += 1
        chain[i] = x
    return chain, accepted


@program(lambda k: (2 * integers(k, 2, 5, 5) - 1, integers(k + 2, 5, 20, 2), uniform(k + 4, 20), 0.4 + 0.2 * k))
def ising(spins: Array, sites: Array, uniforms: Array, beta: float) -> int:
    n = len(spins)
    for t in range(len(sites)):
        a, b = sites[t]
        s = spins[a, b]
        neighbours = spins[(a + 1) % n, b] + spins[a, (b + 1) % n] + spins[(a - 1) % n, b] + spins[a, (b - 1) % n]
        cost = 2 * s * neighbours
        if cost < 0:
            s *= -1
        elif uniforms[t] < np.exp(-cost * beta):
            s *= -1
        spins[a, b] = s
    return spins.sum()


# --- cells ----------------------------------------------------------------------------------------------------------------------
@program(lambda k: (integers(k, 2, 8, 8), 4 + k))
def game_of_life(Z: Array, generations: int) -> None:
    """Masks of the inner part, stored into through the slice."""
    for _ in range(generations):
        N = Z[0:-2, 0:-2] + Z[0:-2, 1:-1] + Z[0:-2, 2:] + Z[1:-1, 0:-2] + Z[1:-1, 2:] + Z[2:, 0:-2] + Z[2:, 1:-1] + Z[2:, 2:]
        birth = (N == 3) & (Z[1:-1, 1:-1] == 0)
        survive = ((N == 2) | (N == 3)) & (Z[1:-1, 1:-1] == 1)
        Z[...] = 0
        Z[1:-1, 1:-1][birth | survive] = 1


class Life:
    def __init__(self, grid: Array) -> None:
        self.grid = grid
        self.rows, self.cols = grid.shape
        self.generation = 0

    def neighbours(self, row: int, col: int) -> int:
        total = 0
        for i in range(-1, 2):
            for j in range(-1, 2):
                total += self.grid[(row + i) % self.rows, (col + j) % self.cols]
        return total - self.grid[row, col]

    def step(self) -> None:
        new = self.grid.copy()
        for row in range(self.rows):
            for col in range(self.cols):
                alive = self.neighbours(row, col)
                if self.grid[row, col] == 1 and (alive < 2 or alive > 3):
                    new[row, col] = 0
                elif self.grid[row, col] == 0 and alive == 3:
                    new[row, col] = 1
        self.grid[:] = new[:]
        self.generation += 1


@program(lambda k: (integers(k, 2, 6, 6), 2 + k))
def life_on_a_torus(grid: Array, generations: int) -> tuple[int, int]:
    life = Life(grid)
    for _ in range(generations):
        life.step()
    return life.generation, life.grid.sum()


@program(lambda k: (integers(k, 2, 16), 8), static=("steps",))
def rule_30(cells: Array, steps: int) -> Array:
    n = len(cells)
    history = np.zeros((steps + 1, n), dtype=np.int32)
    history[0] = cells
    for t in range(steps):
        for i in range(n):
            left, center, right = history[t, i - 1], history[t, i], history[t, (i + 1) % n]
            history[t + 1, i] = left ^ (center | right)
    return history


class Sandpile:
    def __init__(self, grid: Array) -> None:
        self.grid = grid
        self.topplings = 0

    def topple(self, i: int, j: int) -> None:
        self.grid[i, j] -= 4
        if i > 0:
            self.grid[i - 1, j] += 1
        if i < self.grid.shape[0] - 1:
            self.grid[i + 1, j] += 1
        if j > 0:
            self.grid[i, j - 1] += 1
        if j < self.grid.shape[1] - 1:
            self.grid[i, j + 1] += 1
        self.topplings += 1

    def run(self) -> None:
        while np.max(self.grid) >= 4:
            for i in range(self.grid.shape[0]):
                for j in range(self.grid.shape[1]):
                    if self.grid[i, j] >= 4:
                        self.topple(i, j)


@program(lambda k: (integers(k, 6, 5, 5),))
def sandpile(grid: Array) -> int:
    pile = Sandpile(grid)
    pile.run()
    return pile.topplings


@program(lambda k: (np.linspace(-2.1, 0.6, 9, dtype=np.float32), np.linspace(-1, 0.9 + 0.1 * k, 7, dtype=np.float32), 12))
def mandelbrot(x: Array, y: Array, max_iter: int) -> Array:
    c = x[np.newaxis, :] + 1j * y[:, np.newaxis]
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int32)
    mask = np.ones(c.shape, dtype=bool)
    for n in range(max_iter):
        z[mask] = z[mask] ** 2 + c[mask]
        mask[np.abs(z) > 2] = False
        counts[mask] += 1
    return counts


# --- layers and learning --------------------------------------------------------------------------------------------------------
@program(lambda k: (normal(k, 6, 7), normal(k + 2, 3, 3)), gradient=True)
def conv2d(image: Array, kernel: Array, padding: int = 1) -> Array:
    kh, kw = kernel.shape
    padded = np.zeros((image.shape[0] + 2 * padding, image.shape[1] + 2 * padding))
    padded[padding:-padding, padding:-padding] = image
    output = np.zeros((padded.shape[0] - kh + 1, padded.shape[1] - kw + 1))
    for y in range(output.shape[0]):
        for x in range(output.shape[1]):
            output[y, x] = np.sum(padded[y : y + kh, x : x + kw] * kernel)
    return output


@program(lambda k: (normal(k, 6, 8),), gradient=True)
def max_pool(x: Array, size: int = 2) -> tuple[Array, Array]:
    h, w = x.shape
    out = np.zeros((h // size, w // size))
    where = np.zeros((h // size, w // size), dtype=int)
    for i in range(0, h, size):
        for j in range(0, w, size):
            window = x[i : i + size, j : j + size]
            out[i // size, j // size] = np.max(window)
            where[i // size, j // size] = np.argmax(window)
    return out, where


@program(lambda k: (normal(k, 6, 4), 1 + uniform(k + 2, 4), normal(k + 4, 4), np.zeros(4, np.float32), np.ones(4, np.float32)), gradient=True)
def batch_norm(x: Array, gamma: Array, beta: Array, running_mean: Array, running_var: Array, momentum: float = 0.9) -> Array:
    """The running statistics are those of the caller."""
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        mean = np.mean(x[:, j])
        var = np.var(x[:, j])
        out[:, j] = gamma[j] * (x[:, j] - mean) / np.sqrt(var + 1e-5) + beta[j]
        running_mean[j] = momentum * running_mean[j] + (1 - momentum) * mean
        running_var[j] *= momentum
        running_var[j] += (1 - momentum) * var
    return out


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@program(lambda k: (normal(k, 5, 2, 3), 0.5 * normal(k + 2, 3, 16), 0.5 * normal(k + 4, 4, 16), normal(k + 6, 16)), gradient=True)
def lstm(x: Array, Wx: Array, Wh: Array, b: Array) -> Array:
    T, N, D = x.shape
    H = Wh.shape[0]
    h = np.zeros((T, N, H))
    prev_h = np.zeros((N, H))
    prev_c = np.zeros((N, H))
    for t in range(T):
        a = x[t] @ Wx + prev_h @ Wh + b
        i = sigmoid(a[:, :H])
        f = sigmoid(a[:, H : 2 * H])
        o = sigmoid(a[:, 2 * H : 3 * H])
        g = np.tanh(a[:, 3 * H :])
        prev_c = f * prev_c + i * g
        prev_h = o * np.tanh(prev_c)
        h[t, :, :] = prev_h
    return h


class TwoLayerNet:
    def __init__(self, W1: Array, W2: Array) -> None:
        self.W1 = W1
        self.W2 = W2

    def train_step(self, X: Array, y: Array, lr: float) -> float:
        hidden = sigmoid(X @ self.W1)
        out = sigmoid(hidden @ self.W2)
        error = y - out
        delta2 = error * out * (1 - out)
        delta1 = delta2 @ self.W2.T * hidden * (1 - hidden)
        self.W2 += lr * hidden.T @ delta2
        self.W1 += lr * X.T @ delta1
        return np.mean(np.abs(error))


@program(lambda k: (normal(k, 3, 5), normal(k + 2, 5, 1), normal(k + 4, 6, 3), uniform(k + 6, 6, 1), 0.5, 5), gradient=True)
def train_net(W1: Array, W2: Array, X: Array, y: Array, lr: float, epochs: int) -> Array:
    """The weights are those of the caller."""
    net = TwoLayerNet(W1, W2)
    losses = np.zeros(5)
    for epoch in range(epochs):
        losses[epoch] = net.train_step(X, y, lr)
    return losses


@program(lambda k: (normal(k, 10, 3), integers(k + 2, 2, 10), np.zeros(3, np.float32), 0.1))
def logistic_sgd(X: Array, y: Array, w: Array, lr: float) -> float:
    loss = 0.0
    for epoch in range(3):
        loss = 0.0
        for x_i, y_i in zip(X, y):
            p = 1 / (1 + np.exp(-np.dot(w, x_i)))
            loss -= np.log(p) if y_i == 1 else np.log(1 - p)
            w -= lr * (p - y_i) * x_i
        lr *= 0.5
    return loss / len(X)


@program(lambda k: (normal(k, 12, 2), normal(k + 2, 3, 2), 4))
def k_means(X: Array, centers: Array, iterations: int) -> Array:
    labels = np.zeros(len(X), dtype=int)
    for _ in range(iterations):
        for i in range(len(X)):
            best = np.inf
            for j in range(len(centers)):
                d = np.sum((X[i] - centers[j]) ** 2)
                if d < best:
                    best = d
                    labels[i] = j
        for j in range(len(centers)):
            members = X[labels == j]
            if len(members) > 0:
                centers[j] = members.mean(axis=0)
    return labels


@program(lambda k: (normal(k, 10, 2), integers(k + 2, 3, 10), normal(k + 4, 4, 2)))
def knn(X: Array, labels: Array, queries: Array, k: int = 3) -> Array:
    predictions = np.empty(len(queries), dtype=labels.dtype)
    for i, q in enumerate(queries):
        distances = np.sqrt(np.sum((X - q) ** 2, axis=1))
        votes = np.zeros(3, dtype=int)
        for j in np.argsort(distances)[:k]:
            votes[labels[j]] += 1
        predictions[i] = np.argmax(votes)
    return predictions


@program(lambda k: (2 * integers(k, 2, 2, 8) - 1, 2 * integers(k + 2, 2, 8) - 1))
def hopfield(patterns: Array, state: Array) -> int:
    """Recalls a pattern into `state`; the result is the number of sweeps."""
    n = patterns.shape[1]
    W = np.zeros((n, n))
    for p in patterns:
        W += np.outer(p, p)
    np.fill_diagonal(W, 0)
    sweeps = 0
    changed = True
    while changed and sweeps < 10:
        changed = False
        for i in range(n):
            new = 1 if W[i] @ state >= 0 else -1
            if new != state[i]:
                state[i] = new
                changed = True
        sweeps += 1
    return sweeps


@program(lambda k: (stochastic(k, 6, 6), 0.8 + 0.1 * k), gradient=True)
def pagerank(M: Array, d: float) -> Array:
    N = M.shape[1]
    v = np.ones(N) / N
    last = np.full(N, np.inf)
    M_hat = np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            M_hat[i, j] = d * M[j, i] + (1 - d) / N
    steps = 0
    while np.linalg.norm(v - last) > 1e-4 and steps < 50:
        last = v
        v = M_hat @ v
        steps += 1
    return v


# --- sequences ------------------------------------------------------------------------------------------------------------------
@program(lambda k: (integers(k, 3, 8), stochastic(k + 2, 4), stochastic(k + 4, 4, 4), stochastic(k + 6, 4, 3)))
def viterbi(y: Array, Pi: Array, A: Array, B: Array) -> tuple[Array, Array]:
    K = A.shape[0]
    T = len(y)
    T1 = np.empty((K, T))
    T2 = np.empty((K, T), dtype=np.int32)
    T1[:, 0] = Pi * B[:, y[0]]
    T2[:, 0] = 0
    for i in range(1, T):
        T1[:, i] = np.max(T1[:, i - 1] * A.T * B[np.newaxis, :, y[i]].T, 1)
        T2[:, i] = np.argmax(T1[:, i - 1] * A.T, 1)
    x = np.empty(T, dtype=np.int32)
    x[-1] = np.argmax(T1[:, T - 1])
    for i in reversed(range(1, T)):
        x[i - 1] = T2[x[i], i]
    return x, T1


@program(lambda k: (normal(k, 8, 1), np.zeros(2, np.float32), np.eye(2, dtype=np.float32), 0.5 + 0.5 * k), gradient=True)
def kalman_filter(zs: Array, x: Array, P: Array, dt: float) -> Array:
    """Position and velocity from positions; `x` and `P` go on from call to call."""
    F = np.array([[1.0, dt], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    Q = 0.01 * np.eye(2)
    R = np.array([[0.5]])
    estimates = np.zeros((len(zs), 2))
    for t, z in enumerate(zs):
        x[:] = F @ x
        P[:] = F @ P @ F.T + Q
        y = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x += K @ y
        P -= K @ H @ P
        estimates[t] = x
    return estimates


@program(lambda k: (normal(k, 20), -2.0, 2.0))
def histogram(data: Array, low: float, high: float, bins: int = 8) -> Array:
    counts = np.zeros(bins, dtype=int)
    width = (high - low) / bins
    for x in data:
        if x < low or x >= high:
            continue
        counts[int((x - low) / width)] += 1
    return counts


@program(lambda k: (normal(k, 16), integers(k + 2, 5, 16)), gradient=True)
def group_means(values: Array, groups: Array, n: int = 6) -> Array:
    """No value is in the last group."""
    sums = np.zeros(n)
    np.add.at(sums, groups, values)
    counts = np.zeros(n, dtype=int)
    for g in groups:
        counts[g] += 1
    means = np.full(n, -1.0)
    present = counts > 0
    means[present] = sums[present] / counts[present]
    return means


@program(lambda k: (normal(k, 16),))
def fft(signal: Array) -> Array:
    """Bit reversal, then butterflies in place."""
    n = len(signal)
    a = np.array(signal, dtype=complex)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            a[i], a[j] = a[j], a[i]
    length = 2
    while length <= n:
        w_length = np.exp(-2j * np.pi / length)
        for i in range(0, n, length):
            w = 1 + 0j
            for k in range(length // 2):
                u = a[i + k]
                v = a[i + k + length // 2] * w
                a[i + k] = u + v
                a[i + k + length // 2] = u - v
                w *= w_length
        length <<= 1
    return a


@program(lambda k: (normal(k, 10), 1.5 - k), gradient=True)
def horner(coefficients: Array, x: float) -> tuple[float, float]:
    """The value of a polynomial and of its derivative."""
    value = derivative = 0.0
    for i in range(len(coefficients) - 1, -1, -1):
        derivative = derivative * x + value
        value = value * x + coefficients[i]
    return value, derivative


@program(lambda k: (normal(k, 9), 0.25 + k), gradient=True)
def simpson(y: Array, h: float) -> float:
    total = y[0] + y[-1]
    for i in range(1, len(y) - 1):
        if i % 2 == 1:
            total += 4 * y[i]
        else:
            total += 2 * y[i]
    return total * h / 3


@program(lambda k: (normal(k, 6), np.arange(6, dtype=np.float32), 2.5 + k), gradient=True)
def newton_interpolation(y: Array, x: Array, at: float) -> float:
    """Divided differences in place of `y`."""
    n = len(y)
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            y[i] = (y[i] - y[i - 1]) / (x[i] - x[i - j])
    value = y[n - 1]
    for i in range(n - 2, -1, -1):
        value = value * (at - x[i]) + y[i]
    return value


@program(lambda k: (normal(k, 14),), gradient=True)
def maximum_subarray(a: Array) -> tuple[float, int, int]:
    best = current = a[0]
    start = best_start = best_end = 0
    for i in range(1, len(a)):
        if current < 0:
            current = a[i]
            start = i
        else:
            current += a[i]
        if current > best:
            best, best_start, best_end = current, start, i
    return best, best_start, best_end


# --- sorting and searching ------------------------------------------------------------------------------------------------------
@program(lambda k: (integers(k, 50, 8),))
def bubble_sort(a: Array) -> None:
    n = len(a)
    swapped = True
    while swapped:
        swapped = False
        for i in range(1, n):
            if a[i - 1] > a[i]:
                a[i - 1], a[i] = a[i], a[i - 1]
                swapped = True
        n -= 1


@program(lambda k: (normal(k, 10),))
def insertion_sort(a: Array) -> Array:
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@program(lambda k: (normal(k, 12),))
def shell_sort(a: Array) -> None:
    gap = len(a) // 2
    while gap > 0:
        for i in range(gap, len(a)):
            temp = a[i]
            j = i
            while j >= gap and a[j - gap] > temp:
                a[j] = a[j - gap]
                j -= gap
            a[j] = temp
        gap //= 2


def sift_down(a: Array, start: int, end: int) -> None:
    root = start
    while root * 2 + 1 <= end:
        child = root * 2 + 1
        if child + 1 <= end and a[child] < a[child + 1]:
            child += 1
        if a[root] < a[child]:
            a[root], a[child] = a[child], a[root]
            root = child
        else:
            return


@program(lambda k: (integers(k, 50, 11),))
def heap_sort(a: Array) -> None:
    for start in range((len(a) - 2) // 2, -1, -1):
        sift_down(a, start, len(a) - 1)
    for end in range(len(a) - 1, 0, -1):
        a[end], a[0] = a[0], a[end]
        sift_down(a, 0, end - 1)


@program(lambda k: (integers(k, 10, 14), 10), static=("k",))
def counting_sort(A: Array, k: int) -> Array:
    C = np.zeros(k, dtype=int)
    B = np.zeros_like(A)
    for j in range(len(A)):
        C[A[j]] += 1
    for i in range(1, k):
        C[i] += C[i - 1]
    for j in range(len(A) - 1, -1, -1):
        C[A[j]] -= 1
        B[C[A[j]]] = A[j]
    return B


def partition(arr: Array, low: int, high: int) -> int:
    i = low - 1
    pivot = arr[high]
    for j in range(low, high):
        if arr[j] <= pivot:
            i += 1
            arr[i], arr[j] = arr[j], arr[i]
    arr[i + 1], arr[high] = arr[high], arr[i + 1]
    return i + 1


@program(lambda k: (normal(k, 10),))
def quick_sort(arr: Array) -> None:
    """With a stack of the parts that are left to sort."""
    stack = np.zeros(2 * len(arr), dtype=int)
    stack[0], stack[1] = 0, len(arr) - 1
    top = 1
    while top >= 0:
        high = stack[top]
        low = stack[top - 1]
        top -= 2
        p = partition(arr, low, high)
        if p - 1 > low:
            stack[top + 1] = low
            stack[top + 2] = p - 1
            top += 2
        if p + 1 < high:
            stack[top + 1] = p + 1
            stack[top + 2] = high
            top += 2


@program(lambda k: (np.sort(integers(k, 60, 20)), integers(k + 2, 60, 6)))
def binary_search(a: Array, keys: Array) -> Array:
    found = np.full(len(keys), -1)
    for i, key in enumerate(keys):
        low, high = 0, len(a) - 1
        while low <= high:
            mid = (low + high) // 2
            if a[mid] == key:
                found[i] = mid
                break
            if a[mid] < key:
                low = mid + 1
            else:
                high = mid - 1
    return found


@program(lambda k: (24 - k,), static=("n",))
def sieve(n: int) -> Array:
    is_prime = np.ones(n, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return np.nonzero(is_prime)[0]


# --- images ---------------------------------------------------------------------------------------------------------------------
@program(lambda k: (normal(k, 7, 6),), gradient=True)
def sobel(image: Array) -> Array:
    Kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    Ky = np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]])
    h, w = image.shape
    G = np.zeros((h, w))
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            gx = gy = 0.0
            for di in range(3):
                for dj in range(3):
                    gx += Kx[di, dj] * image[i + di - 1, j + dj - 1]
                    gy += Ky[di, dj] * image[i + di - 1, j + dj - 1]
            G[i, j] = np.sqrt(gx**2 + gy**2)
    return G


@program(lambda k: (normal(k, 6, 7),), gradient=True)
def median_filter(image: Array) -> Array:
    out = image.copy()
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            window = image[i - 1 : i + 2, j - 1 : j + 2].flatten()
            window.sort()
            out[i, j] = window[4]
    return out


@program(lambda k: (uniform(k, 6, 7),))
def floyd_steinberg(img: Array) -> None:
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            old = img[y, x]
            new = np.round(old)
            img[y, x] = new
            err = old - new
            if x + 1 < w:
                img[y, x + 1] += err * 7 / 16
            if y + 1 < h:
                if x > 0:
                    img[y + 1, x - 1] += err * 3 / 16
                img[y + 1, x] += err * 5 / 16
                if x + 1 < w:
                    img[y + 1, x + 1] += err * 1 / 16


@program(lambda k: (integers(k, 2, 6, 6), 2, 3 - k, 5))
def flood_fill(image: Array, row: int, col: int, color: int) -> Array:
    h, w = image.shape
    old = image[row, col]
    if old == color:
        return image
    stack = np.zeros((4 * h * w, 2), dtype=np.int32)
    stack[0] = row, col
    size = 1
    while size > 0:
        size -= 1
        r, c = stack[size]
        if r < 0 or r >= h or c < 0 or c >= w or image[r, c] != old:
            continue
        image[r, c] = color
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            stack[size] = r + dr, c + dc
            size += 1
    return image


@program(lambda k: (integers(k, 6, 7, 8) == 0,))
def distance_transform(mask: Array) -> Array:
    """Two passes, forwards and backwards."""
    h, w = mask.shape
    dist = np.where(mask, 0, h + w)
    for i in range(h):
        for j in range(w):
            if i > 0:
                dist[i, j] = min(dist[i, j], dist[i - 1, j] + 1)
            if j > 0:
                dist[i, j] = min(dist[i, j], dist[i, j - 1] + 1)
    for i in range(h - 1, -1, -1):
        for j in range(w - 1, -1, -1):
            if i < h - 1:
                dist[i, j] = min(dist[i, j], dist[i + 1, j] + 1)
            if j < w - 1:
                dist[i, j] = min(dist[i, j], dist[i, j + 1] + 1)
    return dist


@program(lambda k: (normal(k, 5, 6), 4 * uniform(k + 2, 7), 5 * uniform(k + 4, 7)), gradient=True)
def bilinear(img: Array, ys: Array, xs: Array) -> Array:
    out = np.zeros(len(ys))
    for i in range(len(ys)):
        y0, x0 = int(ys[i]), int(xs[i])
        y1, x1 = min(y0 + 1, img.shape[0] - 1), min(x0 + 1, img.shape[1] - 1)
        dy, dx = ys[i] - y0, xs[i] - x0
        top = (1 - dx) * img[y0, x0] + dx * img[y0, x1]
        bottom = (1 - dx) * img[y1, x0] + dx * img[y1, x1]
        out[i] = (1 - dy) * top + dy * bottom
    return out


@program(lambda k: (integers(k, 100, 6, 6),))
def rotate_image(matrix: Array) -> None:
    """A quarter turn in place: transpose, then mirror every row."""
    n = len(matrix)
    for i in range(n):
        for j in range(i + 1, n):
            matrix[i][j], matrix[j][i] = matrix[j][i], matrix[i][j]
    for row in matrix:
        row[:] = row[::-1].copy()


# --- puzzles and geometry -------------------------------------------------------------------------------------------------------
@program(lambda k: (solved_sudoku(k),))
def sudoku_is_valid(board: Array) -> bool:
    rows = np.zeros((9, 9), dtype=bool)
    columns = np.zeros((9, 9), dtype=bool)
    boxes = np.zeros((3, 3, 9), dtype=bool)
    for i in range(9):
        for j in range(9):
            if board[i, j] == 0:
                continue
            d = board[i, j] - 1
            if rows[i, d] or columns[j, d] or boxes[i // 3, j // 3, d]:
                return False
            rows[i, d] = columns[j, d] = boxes[i // 3, j // 3, d] = True
    return True


@program(lambda k: (integers(k, 100, 5, 4),))
def spiral(matrix: Array) -> Array:
    out = np.empty(matrix.size, dtype=matrix.dtype)
    top, bottom, left, right = 0, matrix.shape[0] - 1, 0, matrix.shape[1] - 1
    n = 0
    while top <= bottom and left <= right:
        for j in range(left, right + 1):
            out[n] = matrix[top, j]
            n += 1
        top += 1
        for i in range(top, bottom + 1):
            out[n] = matrix[i, right]
            n += 1
        right -= 1
        if top <= bottom:
            for j in range(right, left - 1, -1):
                out[n] = matrix[bottom, j]
                n += 1
            bottom -= 1
        if left <= right:
            for i in range(bottom, top - 1, -1):
                out[n] = matrix[i, left]
                n += 1
            left += 1
    return out


class DisjointSet:
    def __init__(self, n: int) -> None:
        self.parent = np.arange(n)
        self.size = np.ones(n, dtype=int)
        self.count = n

    def find(self, x: int) -> int:
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a: int, b: int) -> bool:
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        self.count -= 1
        return True


@program(lambda k: (integers(k, 10, 8, 2), 10), static=("n",))
def connected_components(edges: Array, n: int) -> tuple[int, Array]:
    sets = DisjointSet(n)
    for a, b in edges:
        sets.union(a, b)
    labels = np.zeros(n, dtype=int)
    for i in range(n):
        labels[i] = sets.find(i)
    return sets.count, labels


def cross(o: Array, a: Array, b: Array) -> float:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


@program(lambda k: (normal(k, 9, 2),), gradient=True)
def convex_hull_area(points: Array) -> float:
    """Andrew's monotone chain, then the shoelace formula."""
    n = len(points)
    p = points[np.lexsort((points[:, 1], points[:, 0]))]
    hull = np.zeros((2 * n, 2))
    k = 0
    for i in range(n):
        while k >= 2 and cross(hull[k - 2], hull[k - 1], p[i]) <= 0:
            k -= 1
        hull[k] = p[i]
        k += 1
    t = k + 1
    for i in range(n - 2, -1, -1):
        while k >= t and cross(hull[k - 2], hull[k - 1], p[i]) <= 0:
            k -= 1
        hull[k] = p[i]
        k += 1
    area = 0.0
    for i in range(k - 1):
        area += hull[i, 0] * hull[i + 1, 1] - hull[i + 1, 0] * hull[i, 1]
    return area / 2
