"""The examples: what is converted gives what plain Python gives, and each script prints what it should."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import math
import re
import types
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from examples import (
    binary_search,
    collatz,
    fizzbuzz,
    gcd,
    kmeans,
    lbfgs,
    line_search,
    linear_regression,
    mandelbrot,
    metropolis,
    newton,
    ode,
    raymarch,
    rnn,
)
from tests.harness import assert_same

Fn = Callable[..., Any]
LARGEST = 2**31 - 1


pytestmark = [pytest.mark.usefixtures("quick_compilation"), pytest.mark.one_python]


def check(fn: Fn, *cases: tuple[Any, ...], first: tuple[Any, ...] = (), tolerance: float = 1e-5, **static: Any) -> None:
    """`fn` gives what its original gives outside every trace: as it is, under `jit`, and mapped over all cases at once."""
    original = functools.partial(fn.__wrapped__, *first, **static)  # type: ignore[attr-defined]
    staged = functools.partial(fn, *first, **static)
    compiled = not isinstance(fn, types.FunctionType)  # what `ag.function` gives is under `jit` already
    arrays = [jax.tree.map(jnp.asarray, case) for case in cases]
    wanted = [original(*case) for case in arrays]
    for call in [staged] if compiled else [staged, jax.jit(staged)]:
        for case, want in zip(arrays, wanted, strict=True):
            assert_same(call(*case), want, rtol=tolerance, atol=tolerance, kinds=True)
    together = jax.tree.map(lambda *xs: jnp.stack(xs), *arrays)
    want = jax.tree.map(lambda *xs: np.stack([np.asarray(x) for x in xs]), *wanted)
    for call in [jax.vmap(staged)] if compiled else [jax.vmap(staged), jax.jit(jax.vmap(staged))]:
        assert_same(call(*together), want, rtol=tolerance, atol=tolerance, kinds=True)


def numbers(text: str) -> list[float]:
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", text)]


# Newton's method and bisection


def test_newton() -> None:
    check(newton.newton, *[(1.0, a) for a in (2.0, 1.0, 0.25, 100.0)], first=(newton.square,))
    check(newton.newton, *[(1.0, a) for a in (0.0, 0.3, 0.9)], first=(newton.kepler,))


def test_newton_without_root() -> None:
    check(newton.newton, (1.0, -1.0), (0.3, -1.0), (1.0, 2.0), first=(newton.square,), limit=20)
    root, steps = newton.newton(newton.square, 0.3, -1.0, limit=20)
    assert jnp.isnan(root) and steps == 20


def test_newton_takes_no_step() -> None:
    check(newton.newton, (1.0, 2.0), first=(newton.square,), limit=0)


def test_bisect() -> None:
    cases = [
        (0.0, 2.0, 2.0),  # a root that is met by no middle
        (0.0, 2.0, 1.0),  # one that the first middle is
        (2.0, 3.0, 1.0),  # none between
        (-2.0, 0.0, 2.0),  # a falling function
        (1.0, 2.0, 1.0),  # one at the end
        (2.0, 2.0, 4.0),  # no width
    ]
    check(newton.bisect, *cases, first=(newton.square,))
    assert newton.bisect(newton.square, 0.0, 2.0, 2.0) == pytest.approx(math.sqrt(2.0), abs=1e-5)
    assert jnp.isnan(newton.bisect(newton.square, 2.0, 3.0, 1.0))


@pytest.mark.parametrize("a", [0.1, 0.3, 0.7])
def test_derivative_of_a_root(a: float) -> None:
    root, change = jax.jvp(lambda a: newton.newton(newton.kepler, 1.0, a)[0], (a,), (1.0,))
    assert change == pytest.approx(float(jnp.sin(root) / (1 - a * jnp.cos(root))), rel=1e-4)
    assert jax.jacfwd(lambda a: newton.newton(newton.kepler, 1.0, a)[0])(a) == pytest.approx(float(change))


def test_reverse_derivative_of_a_root() -> None:
    """It agrees with the implicit function theorem."""
    root = newton.newton(newton.kepler, 1.0, 0.3)[0]
    change = jax.jit(jax.grad(lambda a: newton.newton(newton.kepler, 1.0, a)[0]))(0.3)
    assert change == pytest.approx(float(jnp.sin(root) / (1 - 0.3 * jnp.cos(root))), rel=1e-4)


def test_newton_main(capsys: pytest.CaptureFixture[str]) -> None:
    newton.main()
    lines = capsys.readouterr().out.splitlines()
    assert numbers(lines[0])[1] == pytest.approx(math.sqrt(2.0), abs=1e-5)
    assert numbers(lines[1])[1] == pytest.approx(math.sqrt(2.0), abs=1e-5)
    root, change = numbers(lines[2])
    assert root - 0.3 * math.sin(root) == pytest.approx(1.0, abs=1e-5)
    assert numbers(lines[3]) == pytest.approx([change], abs=1e-4)


# Collatz


def test_collatz() -> None:
    check(collatz.collatz, *[(n,) for n in (1, 2, 3, 7, 27, 97)])


def test_collatz_limit() -> None:
    check(collatz.collatz, (27, 111), (27, 110), (27, 0), (1, 0), (2, 0), (0, 5), (-1, 9))
    assert [int(collatz.collatz(27, limit)) for limit in (111, 110)] == [111, -1]


def test_collatz_main(capsys: pytest.CaptureFixture[str]) -> None:
    collatz.main()
    first, longest, few = capsys.readouterr().out.splitlines()
    assert numbers(first) == [0, 1, 7, 2, 5, 8, 16, 3, 19, 6]
    assert numbers(longest) == [10000, 6171, 261]
    known = {1: 0}
    for start in range(2, 10_000):
        n, path = start, []
        while n not in known:
            path.append(n)
            n = n // 2 if n % 2 == 0 else 3 * n + 1
        known.update({m: known[n] + len(path) - i for i, m in enumerate(path)})
    assert numbers(few) == [sum(known[n] > 100 for n in range(1, 10_000)), 100]


# The Mandelbrot set


def test_escape_time() -> None:
    check(mandelbrot.escape_time, *[(c,) for c in (0j, -1 + 0j, 2 + 0j, 2.1 + 0j, 0.3 + 0.5j, 0.3 + 0.6j, -0.75 + 0.2j, 10j)])


def test_escape_time_limit() -> None:
    check(mandelbrot.escape_time, *[(c, limit) for c in (0j, 3 + 0j, 0.4 + 0.4j) for limit in (0, 1, 2, 30)])


def test_picture() -> None:
    x, y = jnp.linspace(-2.0, 0.5, 6), jnp.linspace(-1.0, 1.0, 5)
    times = mandelbrot.picture(x, y)
    assert times.shape == (5, 6)
    for i, j in np.ndindex(times.shape):
        assert times[i, j] == mandelbrot.escape_time.__wrapped__(x[j] + 1j * y[i])


def test_mandelbrot_main(capsys: pytest.CaptureFixture[str]) -> None:
    mandelbrot.main()
    *rows, last = capsys.readouterr().out.splitlines()
    assert len(rows) == 24 and set("".join(rows)) <= set(mandelbrot.SHADES)
    share = sum(row.count("@") for row in rows) / (24 * 64)
    assert numbers(last)[0] == pytest.approx(100 * share, abs=0.06)
    assert share == pytest.approx(1.506 / 7.2, abs=0.02)  # the area of the set, and that of the picture


# Euclid


PAIRS = [(12, 18), (18, 12), (17, 5), (0, 0), (0, 7), (7, 0), (-48, 36), (48, -36), (-5, -5), (1, LARGEST), (LARGEST, 2), (832040, 514229)]


def test_gcd() -> None:
    check(gcd.gcd, *PAIRS)
    assert [int(gcd.gcd(*pair)) for pair in PAIRS] == [math.gcd(*pair) for pair in PAIRS]


def test_gcd_of_unsigned() -> None:
    check(gcd.gcd, (np.uint8(200), np.uint8(75)), (np.uint8(0), np.uint8(3)))


def test_lcm() -> None:
    pairs = [pair for pair in PAIRS if math.lcm(*pair) <= LARGEST]
    check(gcd.lcm, *pairs)
    assert [int(gcd.lcm(*pair)) for pair in pairs] == [math.lcm(*pair) for pair in pairs]


def test_bezout() -> None:
    check(gcd.bezout, *PAIRS)
    for a, b in PAIRS:
        g, x, y = map(int, gcd.bezout(a, b))
        assert a * x + b * y == g == math.gcd(a, b)


def test_gcd_main(capsys: pytest.CaptureFixture[str]) -> None:
    gcd.main()
    first, second, pairs, coprime = capsys.readouterr().out.splitlines()
    assert first == "gcd(1071, 462) = 21, lcm(21, 6) = 42"
    a, x, b, y, g = numbers(second)
    assert a * x + b * y == g == 2
    assert pairs.endswith(": 6 1 7 12")
    share = sum(math.gcd(a, b) == 1 for a in range(1, 301) for b in range(1, 301)) / 300**2
    assert numbers(coprime) == pytest.approx([300, share, 6, 6 / math.pi**2], abs=1e-4)


# Binary search


@pytest.mark.parametrize("xs", [[], [5], [5, 5], [1, 3, 5, 7], [-4, 0, 0, 0, 9], [1.5, 2.5, 1e9]], ids=str)
@pytest.mark.parametrize("fn", [binary_search.search, binary_search.first], ids=["search", "first"])
def test_binary_search(fn: Fn, xs: list[float]) -> None:
    array = jnp.array(xs)
    for x in [-100, *xs, *(x + 1 for x in xs), 1e12]:
        value = jnp.asarray(x, array.dtype) if abs(x) < LARGEST else jnp.float32(x)
        assert_same(fn(array, value), fn.__wrapped__(array, value))  # type: ignore[attr-defined]


def test_binary_search_of_many() -> None:
    xs, values = jnp.array([2, 3, 5, 7, 11, 13]), jnp.arange(-1, 16)
    found = jax.vmap(binary_search.search, in_axes=(None, 0))(xs, values).tolist()
    assert found == [xs.tolist().index(v) if v in xs else -1 for v in values.tolist()]
    places = jax.vmap(binary_search.first, in_axes=(None, 0))(xs, values)
    np.testing.assert_array_equal(places, np.searchsorted(xs, values))
    rows = jnp.stack([xs, xs + 1])
    assert jax.jit(jax.vmap(binary_search.search, in_axes=(0, None)))(rows, 3).tolist() == [1, 0]


def test_binary_search_main(capsys: pytest.CaptureFixture[str]) -> None:
    binary_search.main()
    one, many, less = capsys.readouterr().out.splitlines()
    assert numbers(one) == [1764, 42, 1765, -1]
    assert numbers(many) == [0, 1, -1, 9, 99, -1]
    assert numbers(less) == [43, 1765]


# The recurrent network


@pytest.fixture(scope="module")
def params() -> rnn.Params:
    return rnn.init(jax.random.key(0), 2, 4)


@pytest.fixture(scope="module")
def sequence() -> jax.Array:
    return jax.random.normal(jax.random.key(1), (6, 2))


def test_encode(params: rnn.Params, sequence: jax.Array) -> None:
    check(rnn.encode, *[(params, sequence, length) for length in (0, 1, 3, 6, 7, -1)])


def test_encode_ignores_what_is_behind(params: rnn.Params, sequence: jax.Array) -> None:
    assert_same(rnn.encode(params, sequence.at[3:].set(jnp.nan), 3), rnn.encode.__wrapped__(params, sequence[:3], 3))


def test_predict(params: rnn.Params, sequence: jax.Array) -> None:
    check(rnn.predict, (params, sequence), (params, -sequence), (params, 0 * sequence))
    for n in (0, 1):
        assert_same(jax.jit(rnn.predict)(params, sequence[:n]), rnn.predict.__wrapped__(params, sequence[:n]))


def test_gradient_of_predict(params: rnn.Params, sequence: jax.Array) -> None:
    want = jax.jit(jax.grad(rnn.predict.__wrapped__, argnums=(0, 1)))(params, sequence)  # unrolled
    assert_same(jax.grad(rnn.predict, argnums=(0, 1))(params, sequence), want)
    assert_same(jax.jit(jax.grad(rnn.predict, argnums=(0, 1)))(params, sequence), want)
    assert max(float(jnp.abs(g).max()) for g in want[0]) > 0.1


def test_forward_derivative_of_encode(params: rnn.Params, sequence: jax.Array) -> None:
    want = jax.jit(jax.jacfwd(lambda xs: rnn.encode.__wrapped__(params, xs, 4)))(sequence)  # unrolled
    assert_same(jax.jacfwd(lambda xs: rnn.encode(params, xs, jnp.int32(4)))(sequence), want)
    assert (want[:, 4:] == 0).all() and (want[:, 3] != 0).any()


def test_reverse_derivative_of_encode(params: rnn.Params, sequence: jax.Array) -> None:
    want = jax.jit(jax.grad(lambda p: rnn.encode.__wrapped__(p, sequence, 4).sum()))(params)  # unrolled
    assert_same(jax.jit(jax.grad(lambda p: rnn.encode(p, sequence, jnp.int32(4)).sum()))(params), want)


def test_loss(params: rnn.Params, sequence: jax.Array) -> None:
    sequences, targets = jnp.stack([sequence, -sequence]), jnp.array([0.5, -0.25])
    want = np.mean([(rnn.predict.__wrapped__(params, xs) - y) ** 2 for xs, y in zip(sequences, targets, strict=True)])
    assert rnn.loss(params, sequences, targets) == pytest.approx(float(want), rel=1e-5)


def test_train(params: rnn.Params, sequence: jax.Array) -> None:
    sequences, targets = jnp.stack([sequence, -sequence]), jnp.array([0.5, -0.25])
    check(rnn.train, *[(params, sequences, targets, steps) for steps in (0, 1, 3)])


def test_rnn_main(capsys: pytest.CaptureFixture[str]) -> None:
    rnn.main()
    lines = capsys.readouterr().out.splitlines()
    assert [numbers(line)[0] for line in lines[:3]] == [0, 3, 10]
    assert numbers(lines[0])[1] == 0 < numbers(lines[1])[1]
    assert numbers(lines[4])[0] < 0.1 * numbers(lines[3])[0]


# k-means


def plain_kmeans(points: Any, centres: Any) -> Any:
    """The original on NumPy arrays, where a store into a row changes the array itself."""
    return kmeans.kmeans.__wrapped__(np.array(points), np.array(centres))


CENTRES = {
    "good": [[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]],
    "bad": [[0.0, 0.0], [0.1, 0.0], [0.2, 0.0]],
    "empty": [[1.0, 1.0], [2.0, 2.0], [99.0, 99.0]],
    "equal": [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]],
    "one": [[7.0, 7.0]],
}


@pytest.mark.parametrize("centres", CENTRES.values(), ids=CENTRES)
def test_kmeans(centres: list[list[float]]) -> None:
    points, start = kmeans.blobs(jax.random.key(1), 10), jnp.array(centres)
    want = plain_kmeans(points, start)
    assert_same(kmeans.kmeans(points, start), want)
    assert_same(ag.convert(kmeans.kmeans.__wrapped__)(points, start), want)  # outside every trace a store still gives a new array
    np.testing.assert_array_equal(start, jnp.array(centres))


def test_kmeans_of_many() -> None:
    points = jnp.stack([kmeans.blobs(jax.random.key(i), 8) for i in range(4)])
    centres, labels, rounds = jax.vmap(kmeans.kmeans)(points, points[:, :3])
    for i in range(4):
        assert_same((centres[i], labels[i], rounds[i]), plain_kmeans(points[i], points[i, :3]))
    assert len(set(rounds.tolist())) > 1


def test_kmeans_leaves_an_empty_cluster() -> None:
    centres, labels, _ = kmeans.kmeans(jnp.array([[0.0, 0.0], [2.0, 0.0]]), jnp.array([[1.0, 1.0], [50.0, 50.0]]))
    assert centres.tolist() == [[1.0, 0.0], [50.0, 50.0]] and labels.tolist() == [0, 0]


def test_kmeans_main(capsys: pytest.CaptureFixture[str]) -> None:
    kmeans.main()
    first, *clusters = capsys.readouterr().out.splitlines()
    assert numbers(first)[0] >= 2
    found = sorted(tuple(numbers(line)) for line in clusters)
    assert sum(size for size, _, _ in found) == 300
    middles = sorted((x, y) for _, x, y in found)
    np.testing.assert_allclose(middles[2], (5, 0), atol=0.3)
    np.testing.assert_allclose(sorted(middles[:2], key=lambda m: m[1]), [(0, 0), (0, 5)], atol=0.3)


# L-BFGS


def bowl(x: jax.Array) -> jax.Array:
    """A quadratic with its minimum at ones."""
    return jnp.sum(jnp.arange(1, x.size + 1) * (x - 1) ** 2)


def test_minimise() -> None:
    """Few steps, in which rounding does not grow."""
    starts = [(jnp.array(x),) for x in ([-1.2, 1.0], [0.0, 0.0], [3.0, -2.0], [1.0, 1.0])]
    check(lbfgs.minimise, *starts, first=(lbfgs.rosenbrock,), limit=6)


def test_minimise_with_short_history() -> None:
    start = jnp.array([4.0, -2.0, 0.5])
    want = lbfgs.minimise.__wrapped__(bowl, start, 1)
    assert_same(lbfgs.minimise(bowl, start, 1), want, 1e-3)
    np.testing.assert_allclose(want.x, jnp.ones(3), atol=1e-3)


@pytest.mark.parametrize("fn", [lbfgs.minimise, lbfgs.minimise.__wrapped__], ids=["staged", "plain"])
def test_minimise_to_the_end(fn: Fn) -> None:
    """Rounding decides how many steps it takes, so only the minimum is compared."""
    result = fn(lbfgs.rosenbrock, jnp.array([-1.2, 1.0]))
    np.testing.assert_allclose(result.x, jnp.ones(2), atol=2e-2)
    assert jnp.linalg.norm(result.gradient) <= 1e-3 and 0 < result.steps < 200


def test_direction() -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    gradient, steps, noise = jax.random.normal(keys[0], (3,)), jax.random.normal(keys[1], (2, 3)), jax.random.normal(keys[2], (2, 3))
    direction = ag.convert(lbfgs.direction)
    changes = 2 * steps + 0.1 * noise
    check(
        direction, (gradient, steps, changes), (gradient, 0 * steps, 0 * changes), (gradient, steps, -changes),
        (gradient, steps.at[1:].set(0.0), changes.at[1:].set(0.0)),
    )  # fmt: skip


def test_lbfgs_main(capsys: pytest.CaptureFixture[str]) -> None:
    lbfgs.main()
    for line, size in zip(capsys.readouterr().out.splitlines(), (2, 6), strict=True):
        value, *x, steps = numbers(line)
        assert value < 1e-5 and 10 < steps < 100
        assert x == pytest.approx([1.0] * size, abs=0.01)


# The Metropolis sampler


@pytest.mark.parametrize("density", [metropolis.normal, metropolis.exponential])
def test_sample(density: Fn) -> None:
    check(metropolis.sample, *[(jax.random.key(3), n, 1.0, 2.0) for n in (0, 1, 2, 25)], first=(density,))


def test_sample_with_static_length() -> None:
    key = jax.random.key(5)
    got = jax.jit(lambda key: metropolis.sample(metropolis.normal, key, 10))(key)
    assert_same(got, metropolis.sample.__wrapped__(metropolis.normal, key, 10))


def test_sample_with_old_keys() -> None:
    key = jax.random.PRNGKey(3)
    assert_same(metropolis.sample(metropolis.normal, key, 20), metropolis.sample.__wrapped__(metropolis.normal, key, 20))


def test_densities() -> None:
    for density in (metropolis.normal, metropolis.exponential):
        check(ag.convert(density), (0.0,), (1.5,), (-1.0,))


def test_sample_of_many() -> None:
    keys, counts = jax.random.split(jax.random.key(7), 3), jnp.array([3, 0, 12])
    got = jax.vmap(lambda key, n: metropolis.sample(metropolis.normal, key, n))(keys, counts)
    for i in range(3):
        want = metropolis.sample.__wrapped__(metropolis.normal, keys[i], counts[i])
        assert_same(jax.tree.map(lambda x: x[i], got), want)


def test_metropolis_main(capsys: pytest.CaptureFixture[str]) -> None:
    metropolis.main()
    first, second, chains = capsys.readouterr().out.splitlines()
    mean, variance, share = numbers(first)
    assert mean == pytest.approx(3.0, abs=0.3) and variance == pytest.approx(4.0, abs=0.6) and 50 < share < 90
    mean, variance, share = numbers(second)
    assert mean == pytest.approx(1.0, abs=0.2) and variance == pytest.approx(1.0, abs=0.3) and 20 < share < 80
    mean, spread = numbers(chains)
    assert mean == pytest.approx(3.0, abs=0.3) and spread < 0.5


# All of them


@pytest.mark.parametrize("name", ["newton", "collatz", "mandelbrot", "gcd", "binary_search", "rnn", "kmeans", "lbfgs", "metropolis"])
def test_script_is_plain_python(name: str) -> None:
    module = importlib.import_module(f"examples.{name}")
    assert module.__doc__ is not None and len(module.__doc__.splitlines()) <= 6
    public = [f for f in vars(module).values() if getattr(f, "__module__", "") == module.__name__ and hasattr(f, "__wrapped__")]
    assert public and "main" in vars(module)
    for f in public:
        assert "lax." not in inspect.getsource(f.__wrapped__)


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
BY_HAND = ("while_loop", "cond", "switch", "scan", "fori_loop", "for_loop", "associative_scan", "map")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_control_flow_is_plain_python(path: Path) -> None:
    """No example calls an operator of `lax` or of ours by hand."""
    names = [ast.unparse(n.func) for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
    assert names and not [n for n in names if n.rpartition(".")[0] in ("lax", "jax.lax", "ag") and n.rpartition(".")[2] in BY_HAND]


# As TensorFlow's guide has it


def test_fizzbuzz_main(capfd: pytest.CaptureFixture[str]) -> None:
    fizzbuzz.main()
    eager, compiled = capfd.readouterr().out.split("--- compiled\n")
    assert compiled == eager + "16 numbers\n" and eager.splitlines()[:6] == ["FizzBuzz", "1", "2", "Fizz", "4", "Buzz"]


def test_line_search_main(capsys: pytest.CaptureFixture[str]) -> None:
    line_search.main()
    first, last, moved = capsys.readouterr().out.splitlines()
    assert numbers(first)[0] == pytest.approx(6.805, abs=2e-3)
    assert numbers(last)[1] < 1e-3 and numbers(moved) == [pytest.approx(-29.17, abs=0.05)]


def test_linear_regression_main(capfd: pytest.CaptureFixture[str]) -> None:
    linear_regression.main()
    lines = capfd.readouterr().out.splitlines()
    assert [numbers(line)[0] for line in lines[1:-2]] == list(range(0, 300, 20))
    assert 60 < numbers(lines[0])[0] < 80 and numbers(lines[-2])[0] < 1.1
    assert numbers(lines[-1]) == [pytest.approx(3.0, abs=0.1), pytest.approx(2.0, abs=0.1)]


# Steps of adaptive size


def test_solution_of_van_der_pol() -> None:
    def position(a: float) -> Any:
        return ode.solve(ode.oscillator, jnp.array([2.0, 0.0]), 3.0, a, 1e-4)[0][0]

    slope = jax.jit(jax.grad(position))(2.0)
    ends = [float(jax.jit(lambda a: ode.solve(ode.oscillator, jnp.array([2.0, 0.0]), 3.0, a, 1e-6)[0][0])(a)) for a in (1.95, 2.05)]
    assert slope == pytest.approx((ends[1] - ends[0]) / 0.1, rel=2e-2)
    y, steps, repeated = jax.jit(lambda: ode.solve(ode.oscillator, jnp.array([2.0, 0.0]), 3.0, 2.0, 1e-4))()
    python = ode.solve(ode.oscillator, jnp.array([2.0, 0.0]), 3.0, 2.0, 1e-4)  # nothing is traced: the statements of the text run
    assert_same(y, python[0], 1e-4)
    assert 10 < steps < 200 and abs(int(steps) - int(python[1])) <= 2 and repeated >= 1


def test_decay() -> None:
    value, slope = jax.jit(jax.value_and_grad(lambda a: ode.solve(ode.decay, jnp.ones(1), 2.0, a)[0][0]))(0.5)
    assert value == pytest.approx(math.exp(-1), rel=1e-3) and slope == pytest.approx(-2 * math.exp(-1), rel=1e-3)


# Ray marching


def test_ray_march_and_its_derivative() -> None:
    image = jax.jit(raymarch.picture, static_argnums=(1, 2))(1.0, 16, 12)
    assert image.shape == (12, 16) and float(image.min()) == 0.0 and 0.5 < float(image.max()) <= 1.0
    direction = jnp.array([0.1, 0.05, 1.0])
    slope = jax.jit(jax.grad(raymarch.shade, 1))(direction, 1.0)
    near = [float(jax.jit(raymarch.shade)(direction, 1.0 + s)) for s in (-1e-2, 1e-2)]
    assert slope == pytest.approx((near[1] - near[0]) / 2e-2, rel=0.05)


def test_radius_from_a_picture() -> None:
    radius, off = raymarch.found_radius(raymarch.picture(1.0, 12, 9), 0.9, steps=12)
    assert radius == pytest.approx(1.0, abs=0.03) and off < 5e-3


def test_picture_file(tmp_path: Path) -> None:
    data = raymarch.png(np.linspace(0, 1, 12).reshape(3, 4))
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and zlib.decompress(data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8])[:5] == b"\0\x00\x17\x2e\x45"
