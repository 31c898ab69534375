"""The programs of `tests/corpora/programs/classics.py` in each form give what an independent reference, or the program itself unconverted, gives."""

from __future__ import annotations

import functools
import itertools
import re
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.corpora.programs import classics
from tests.harness import assert_same

pytestmark = pytest.mark.one_python

Function = Callable[..., Any]


# --- references: NumPy and Python, written apart from the programs ----------------------------------------------------------------
def edit_distance(a: Any, b: Any, m: int, n: int) -> Any:
    a, b = a.tolist(), b.tolist()

    @functools.cache
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

    def substitutions(i: int, j: int) -> int:
        if not i or not j:
            return 0
        if a[i - 1] == b[j - 1]:
            return substitutions(i - 1, j - 1)
        cheapest, _, move = min((distance(i - 1, j - 1), 0, (1, 1)), (distance(i - 1, j), 1, (1, 0)), (distance(i, j - 1), 2, (0, 1)))
        return (move == (1, 1)) + substitutions(i - move[0], j - move[1])

    return distance(m, n), substitutions(m, n)


def knapsack(weights: Any, values: Any, capacity: int) -> Any:
    """All subsets; the inputs have one best subset each, or the later items are left out where they change nothing."""
    best = (0.0, 0, np.zeros(len(weights), bool))
    for subset in itertools.product([False, True], repeat=len(weights)):
        chosen = np.array(subset, bool)
        weight, value = int(weights[chosen].sum()), float(values[chosen].sum())
        if weight <= capacity and value > best[0]:
            best = value, weight, chosen
    return best


def matrix_chain(sizes: Any, n: int) -> Any:
    s = sizes.tolist()
    split = np.zeros((len(s), len(s)), int)

    @functools.cache
    def cost(i: int, j: int) -> int:
        if i >= j:
            return 0
        best, split[i, j] = min((cost(i, k) + cost(k + 1, j) + s[i] * s[k + 1] * s[j + 1], k) for k in range(i, j))
        return best

    for i in range(n):
        for j in range(n):
            cost(i, j)
    return cost(0, n - 1), split


def life(board: Any, n: int) -> Any:
    most, done = board.sum(), 0
    for _ in range(n):
        around = sum(np.roll(board, (i, j), (0, 1)) for i, j in itertools.product((-1, 0, 1), repeat=2)) - board
        new = ((around == 3) | ((board == 1) & (around == 2))).astype(board.dtype)
        if np.array_equal(new, board):
            break
        board, done = new, done + 1
        most = max(most, board.sum())
    return board, done, most


def tokenize(codes: Any, n: int) -> Any:
    text = "".join(map(chr, codes[:n]))
    kinds = [
        r"[0-9]+(?:\.[0-9]*)?",
        r"[A-Za-z_][A-Za-z_0-9]*",
        r"[-+*/()]|[<=>]=?",
        r'"(?:\\(?s:.)|[^"\\\n])*"',
        r'"(?:\\(?s:.)|[^"\\\n])*\\?(?:\n|\Z)|.',
    ]
    rule = re.compile("|".join(["(?P<skip>[ \t\n]|#[^\n]*(?:\n|\\Z))", *(f"(?P<k{i}>{kind})" for i, kind in enumerate(kinds))]))
    counts, first_error, longest = [0] * 5, -1, 0
    for found in rule.finditer(text):
        if found.lastgroup == "skip":
            continue
        kind = int(str(found.lastgroup)[1])
        counts[kind] += 1
        if kind == 1:
            longest = max(longest, len(found.group()))
        if kind == 4 and first_error < 0:
            first_error = found.start()
    return np.array(counts), first_error, longest


def lu_solve(a: Any, b: Any, tiny: float) -> Any:
    a, b = a.astype(float), b.astype(float)
    if len(b) and np.linalg.matrix_rank(a) < len(b):
        return np.zeros(len(b)), 0.0, True
    return np.linalg.solve(a, b), np.linalg.det(a), False


def run_machine(program: Any, x: int, fuel: int) -> Any:
    r, stack, pc, steps = [x, 0, 0, 0], [], 0, 0
    arithmetic = {3: lambda p, q: p + q, 4: lambda p, q: p - q, 5: lambda p, q: p * q, 6: lambda p, q: p // q}
    while steps < fuel:
        op, a, b = (int(v) for v in program[pc])
        pc, steps = pc + 1, steps + 1
        if op == 0:
            return np.array(r), steps, 0
        if op > 12 or op < 0:
            return np.array(r), steps, 2
        if op == 6 and r[b] == 0:
            return np.array(r), steps, 3
        if (op in (9, 11) and len(stack) == 8) or (op in (10, 12) and not stack):
            return np.array(r), steps, 4
        if op == 1:
            r[a] = b
        elif op == 2:
            r[a] = r[b]
        elif op in arithmetic:
            r[a] = arithmetic[op](r[a], r[b])
        elif op == 7 or (op == 8 and r[a] == 0):
            pc = b
        elif op == 9:
            stack.append(r[a])
        elif op == 10:
            r[a] = stack.pop()
        elif op == 11:
            stack.append(pc)
            pc = b
        elif op == 12:
            pc = stack.pop()
    return np.array(r), steps, 1


# --- inputs -----------------------------------------------------------------------------------------------------------------------
def text(value: str, size: int | None = None) -> Any:
    codes = np.array([ord(c) for c in value], np.int32)
    return codes if size is None else np.pad(codes, (0, size - len(codes)))


def words(a: str, b: str, size: int) -> Any:
    return text(a, size), text(b, size), len(a), len(b)


def ints(*values: Any) -> Any:
    return np.array(values, np.int32)


def floats(*values: Any) -> Any:
    return np.array(values, np.float32)


def picture(*rows: str) -> Any:
    return ints(*([int(c == "#") for c in row] for row in rows))


def rows(*instructions: tuple[int, int, int], size: int = 12) -> Any:
    return ints(*instructions, *[(0, 0, 0)] * (size - len(instructions)))


def definite(seed: int, n: int) -> Any:
    root = np.random.default_rng(seed).normal(size=(n, n))
    return (root @ root.T + n * np.eye(n)).astype(np.float32)


WEIGHTS, VALUES = ints(5, 4, 6, 3, 2), floats(10, 40, 30, 50, 15)
GLIDER = picture(".#...", "..#..", "###..", ".....", ".....")
BLINKER = picture(".....", "..#..", "..#..", "..#..", ".....")
BLOCK = picture(".....", ".##..", ".##..", ".....", ".....")
LONELY = picture(".....", ".....", "..#..", ".....", ".....")
SOURCE = 'x1 = 3.14 * (y_2 >= 10) # "no"\nz == "a\\"b"'
BROKEN = 'a $ 1.2.3 "open\n b ? "end\\'
FACTORIAL = rows((1, 1, 1), (8, 0, 7), (5, 1, 0), (1, 2, 1), (4, 0, 2), (7, 0, 1), (0, 0, 0), (0, 0, 0))
DIVISION = rows((1, 1, 100), (2, 2, 1), (6, 2, 0), (2, 3, 2), (5, 3, 0), (4, 1, 3), (0, 0, 0))
CALLS = rows((11, 0, 3), (11, 0, 3), (0, 0, 0), (9, 0, 0), (3, 0, 0), (10, 1, 0), (12, 0, 0))
FOREVER = rows((1, 1, 1), (3, 2, 1), (7, 0, 1))
OVERFLOW = rows((9, 0, 0), (7, 0, 0))
UNDERFLOW = rows((1, 3, 7), (12, 0, 0))
UNKNOWN = rows((1, 3, -7), (99, 0, 0))
AHEAD, LEFT, RIGHT, DOWN, UP = floats(0, 0, 1), floats(-0.3, 0, 1), floats(0.4, 0.1, 1), floats(0.2, -0.4, 1), floats(0, 1, 0.1)
EYE, LIGHT, LOW = floats(0, 0, 0), floats(-0.5, 1, -0.7), floats(0.3, 0.1, 1)

CASES: dict[str, list[Any]] = {
    "edit_distance": [
        words("kitten", "sitting", 8),
        words("intent", "execute", 8),
        words("", "abc", 8),
        words("abc", "", 8),
        words("same", "same", 8),
        (text(""), text("ab"), 0, 2),
        (text(""), text(""), 0, 0),
    ],
    "knapsack": [
        (WEIGHTS, VALUES, 10),
        (WEIGHTS, VALUES, 0),
        (WEIGHTS, VALUES, 20),
        (WEIGHTS[::-1].copy(), VALUES, 9),
        (ints(7), floats(2.5), 6),
        (ints(), floats(), 5),
    ],
    "matrix_chain": [
        (ints(30, 35, 15, 5, 10, 20, 25), 6),
        (ints(30, 35, 15, 5, 10, 20, 25), 3),
        (ints(4, 10, 3, 12, 20, 7, 1), 5),
        (ints(4, 10, 3, 12, 20, 7, 1), 1),
        (ints(4, 10, 3, 12, 20, 7, 1), 0),
        (ints(5, 4, 3), 2),
    ],
    "life": [(GLIDER, 5), (BLINKER, 3), (BLINKER, 0), (BLOCK, 4), (LONELY, 4), (picture("#.#", "##."), 2)],
    "tokenize": [
        (text(SOURCE, 48), len(SOURCE)),
        (text(BROKEN, 48), len(BROKEN)),
        (text("long_name<1.", 48), 12),
        (text('"never closed', 48), 13),
        (text("", 48), 0),
        (text(""), 0),
    ],
    "lu_solve": [
        (floats([2, 1, -1], [-3, -1, 2], [-2, 1, 2]), floats(8, -11, -3), 1e-5),
        (floats([0, 2, 1], [1, 0, 3], [4, 1, 0]), floats(1, 2, 3), 1e-5),
        (floats([1, 2, 3], [2, 4, 6], [1, 0, 1]), floats(1, 2, 3), 1e-5),
        (floats([0, 0, 0], [0, 0, 0], [0, 0, 0]), floats(1, 2, 3), 1e-5),
        (floats([4]), floats(2), 1e-5),
        (np.zeros((0, 0), np.float32), floats(), 1e-5),
    ],
    "conjugate_gradients": [
        (definite(0, 4), floats(1, -2, 3, 0.5), 1e-3, 20),
        (definite(1, 4), floats(1, 1, 0, 0), 1e-3, 2),
        (definite(2, 4), floats(0, 0, 0, 0), 1e-3, 20),
        (definite(3, 4), floats(1, 2, 3, 4), 1e-3, 0),
        (np.diag(floats(1, -2, 1, 1)), floats(1, 1, 1, 1), 1e-3, 20),
        (floats([4]), floats(2), 1e-3, 5),
    ],
    "march": [
        (EYE, AHEAD, LIGHT, 64),
        (EYE, LEFT, LIGHT, 64),
        (EYE, RIGHT, LOW, 64),
        (EYE, DOWN, LIGHT, 64),
        (EYE, UP, LIGHT, 64),
        (EYE, AHEAD, LIGHT, 0),
        (EYE, LEFT, LIGHT, 2),
        (floats(0.3, 1.0, 0), floats(0, 0.15, 1), LIGHT, 64),
        (floats(0.2, 1.5, 3.6), AHEAD, floats(0.3, -1, -0.2), 64),
    ],
    "run_machine": [
        (FACTORIAL, 5, 100),
        (FACTORIAL, 0, 100),
        (DIVISION, 7, 100),
        (DIVISION, 0, 100),
        (CALLS, 3, 100),
        (FOREVER, 1, 21),
        (OVERFLOW, 4, 100),
        (UNDERFLOW, 4, 100),
        (UNKNOWN, 4, 100),
        (rows(), 1, 5),
        (rows(), 1, 0),
    ],
}
# `best = None` that a loop with traced ends sets, stored where nothing tests it: somebody has to read the error that this may be.
UNREAD = "matrix_chain"
STORELESS = {"conjugate_gradients", "march"}


# --- forms ------------------------------------------------------------------------------------------------------------------------
def arrays(args: Any) -> Any:
    return tuple(jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args)


def tables(f: Function) -> Function:
    """The arrays are NumPy arrays that the traced function closes over, the numbers are traced."""

    def call(*args: Any) -> Any:
        def of_numbers(numbers: Any) -> Any:
            rest = iter(numbers)
            return ag.convert(f)(*(a if isinstance(a, np.ndarray) else next(rest) for a in args))

        return jax.jit(of_numbers)([a for a in args if not isinstance(a, np.ndarray)])

    return call


def lists(f: Function) -> Function:
    """As `tables`, with lists for arrays."""
    return tables(lambda *args: ag.convert(f)(*(a.tolist() if isinstance(a, np.ndarray) else a for a in args)))


FORMS: dict[str, Callable[[Function], Function]] = {
    "plain": ag.convert,
    "staged": functools.partial(ag.convert, form="staged"),
    "function": ag.function,
    "tables": tables,
    "lists": lists,
}


@functools.cache
def converted(name: str, form: str) -> Function:
    return FORMS[form](getattr(classics, name))


def reference(name: str, args: Any) -> Any:
    return getattr(classics, name)(*arrays(args)) if name in STORELESS else globals()[name](*args)


agree = partial(assert_same, rtol=1e-4, atol=1e-5)


INPUTS = [(name, k) for name, cases in CASES.items() for k in range(len(cases))]


@pytest.mark.parametrize(("name", "k"), [(name, k) for name, k in INPUTS if name not in STORELESS])
def test_program_over_numpy(name: str, k: int) -> None:
    """The program itself is right: the same code with `numpy` for `jax.numpy`."""
    f = getattr(classics, name)
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in CASES[name][k]]
    agree(types.FunctionType(f.__code__, {**f.__globals__, "jnp": np})(*args), reference(name, CASES[name][k]), name)


@pytest.mark.parametrize("form", ["plain", "staged", "function"])
@pytest.mark.parametrize(("name", "k"), INPUTS)
def test_form(name: str, k: int, form: str) -> None:
    agree(converted(name, form)(*arrays(CASES[name][k])), reference(name, CASES[name][k]), name)


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize(
    ("name", "form"),
    [(name, "tables") for name in CASES if name != UNREAD] + [(name, "lists") for name in ("edit_distance", "knapsack", "tokenize")],
)
def test_data_that_is_not_traced(name: str, form: str, k: int) -> None:
    agree(converted(name, form)(*CASES[name][k]), reference(name, CASES[name][k]), name)


def shapes(args: Any) -> Any:
    return tuple(np.shape(a) for a in args)


STACKS = [
    (name, [k for k, args in enumerate(cases) if shapes(args) == shape])
    for name, cases in CASES.items()
    for shape in dict.fromkeys(map(shapes, cases))
    if sum(shapes(args) == shape for args in cases) > 1
]


@pytest.mark.parametrize("form", ["plain", "function"])
@pytest.mark.parametrize(("name", "ks"), STACKS, ids=[name for name, _ in STACKS])
def test_vmap(name: str, ks: list[int], form: str) -> None:
    stacked = [jnp.stack([jnp.asarray(a) for a in column]) for column in zip(*(CASES[name][k] for k in ks), strict=True)]
    if name == UNREAD and form == "plain":
        with pytest.raises(ag.AutographError, match="AG302"):
            jax.vmap(converted(name, form))(*stacked)
        return
    got = jax.vmap(converted(name, form))(*stacked)
    for lane, k in enumerate(ks):
        agree(jax.tree.map(lambda x: x[lane], got), reference(name, CASES[name][k]), f"{name} {k}")


# --- derivatives ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("k", range(len(CASES["conjugate_gradients"])))
def test_conjugate_gradients_jvp(k: int) -> None:
    a, b, tolerance, most = CASES["conjugate_gradients"][k]
    rng = np.random.default_rng(k)
    da, db = (rng.normal(size=x.shape).astype(np.float32) for x in (a, b))

    def derivative(f: Function) -> Any:
        return jax.jvp(lambda a, b: f(a, b, tolerance, most)[0], arrays((a, b)), arrays((da, db)))

    f = converted("conjugate_gradients", "plain")
    want = derivative(classics.conjugate_gradients)
    agree(derivative(f), want, "eager")
    agree(jax.jit(lambda: derivative(f))(), want, "jit")
    every = jax.jit(lambda t, m: jax.jvp(lambda a, b: f(a, b, t, m)[0], arrays((a, b)), arrays((da, db))))
    agree(every(tolerance, most), want, "jit of all")

    h = 1e-5  # in double precision, of the same code over NumPy
    twin = types.FunctionType(classics.conjugate_gradients.__code__, {"jnp": np, "range": range})
    low, high = (twin(a + s * h * da.astype(float), b + s * h * db.astype(float), tolerance, most)[0] for s in (-1, 1))
    if b.any():  # else the smallest step away from zero is above the tolerance
        np.testing.assert_allclose(want[1], (high - low) / (2 * h), rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("k", range(len(CASES["march"])))
def test_march_jvp(k: int) -> None:
    *rays, most = CASES["march"][k]
    rng = np.random.default_rng(k)
    ways = [rng.normal(size=3).astype(np.float32) for _ in rays]

    def derivative(f: Function) -> Any:
        return jax.jvp(lambda *rays: f(*rays, most), arrays(rays), arrays(ways))

    f = converted("march", "plain")
    want = derivative(classics.march)
    agree(derivative(f), want, "eager")
    agree(jax.jit(lambda: derivative(f))(), want, "jit")
    every = jax.jit(lambda m: jax.jvp(lambda *rays: f(*rays, m), arrays(rays), arrays(ways)))
    agree(every(most), want, "jit of all")


def test_march_jvp_vmap() -> None:
    cases = CASES["march"]
    rays, most = [jnp.stack([jnp.asarray(c[i]) for c in cases]) for i in range(3)], jnp.array([c[3] for c in cases])
    ways = [jnp.asarray(np.random.default_rng(i).normal(size=r.shape).astype(np.float32)) for i, r in enumerate(rays)]
    f = jax.vmap(converted("march", "plain"))
    got = jax.jvp(lambda *rays: f(*rays, most), rays, ways)
    for lane, (*ray, turns) in enumerate(cases):
        want = jax.jvp(lambda *ray: classics.march(*ray, turns), arrays(ray), tuple(w[lane] for w in ways))
        agree(jax.tree.map(lambda x: x[lane], got), want, f"march {lane}")


def test_march_meets_a_sphere() -> None:
    """Depth and its derivative against the geometry: a moved origin moves the point of contact along the tangent plane."""
    centre, radius = classics.SPHERES[0, :3], classics.SPHERES[0, 3]
    direction = (floats(-0.6, 0.2, 3) / np.linalg.norm(floats(-0.6, 0.2, 3))).astype(np.float32)
    along = direction @ centre
    depth = along - np.sqrt(along**2 - centre @ centre + radius**2)
    normal = (depth * direction - centre) / radius
    moved = floats(0.3, -0.2, 0.7)
    f = jax.jit(converted("march", "plain"))
    got, slope = jax.jvp(lambda origin: f(origin, direction, LIGHT, 64)[0], (jnp.zeros(3),), (jnp.asarray(moved),))
    np.testing.assert_allclose(got, depth, rtol=1e-3)
    np.testing.assert_allclose(slope, -(normal @ moved) / (normal @ direction), rtol=1e-2)
