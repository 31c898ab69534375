"""Slices and masked items of data-dependent length: NumPy is the oracle, for every length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.harness import assert_same
from tests.numpys import as_numpy
from tests.sourced import define

pytestmark = pytest.mark.one_python

X = np.array([3.0, 1.0, -2.0, 5.0, 0.0], np.float32)
M = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
LENGTHS = (-7, -2, 0, 1, 2, 4, 5, 7)


def stores(x: Any, n: Any) -> Any:
    x = x.copy()
    x[:n] += 1
    x[n:] = 0
    x[1:n] *= 2
    x[::-1][:0] = 3
    return x


def crossover(x: Any, n: Any) -> Any:
    child = x * 0
    child[:n] = x[:n]
    child[n:] = x[n:] * 10
    return child


def shifted(x: Any, n: Any) -> Any:
    y = x * 0
    y[n:] = x[: len(x[n:])]
    return y


def stepped(x: Any, n: Any) -> Any:
    x = x.copy()
    x[n::2] = 9
    x[::-1][n:] += 0
    x[:n:-2] = x[:n:-2] * 2
    return x


def loops(x: Any, n: Any) -> Any:
    s = 0.0
    for k, v in enumerate(x[:n]):
        s = s + k * v
    for v in x[n:]:
        if v > 2:
            break
        s += v
    for a, b in zip(x[:n], x[n:]):
        s += a * b
    for v in reversed(x[:n]):
        s = s * 0.5 + v
    return s


def emptied(x: Any, n: Any) -> Any:
    rest, turns = x[n:], 0
    while len(rest) > 1:
        rest = rest[1:]
        turns += 1
    return rest, turns


def chosen(x: Any, n: Any) -> Any:
    if n > 2:
        part = x[:n]
    else:
        part = x[n:]
    return part, part.sum()


def masked_stores(x: Any, n: Any) -> Any:
    x = x.copy()
    big = x > n - 3
    x[big] = x[big] * 2 + 1
    x[~big] -= 1
    return x


VECTORS: list[Callable[[Any, Any], Any]] = [
    lambda x, n: x[:n], lambda x, n: x[n:], lambda x, n: x[-n:], lambda x, n: x[1:n] * 2 + 1, lambda x, n: 1 - x[:n], lambda x, n: abs(-x[n:]) / 4,
    lambda x, n: x[:: abs(n) + 1], lambda x, n: x[n::-1], lambda x, n: x[:n:-2], lambda x, n: x[:n][:-1], lambda x, n: x[n:][:n], lambda x, n: x[:n][::2],
    lambda x, n: (x[:n].sum(), x[:n].prod(), x[:n].any(), x[:n].all(), len(x[:n]), x[:n].size),
    lambda x, n: (sum(x[:n]), any(x[:n] < 0), all(v > 0 for v in x[:n]), 5.0 in x[:n], sum(v * v for v in x[n:])),
    lambda x, n: (np.sum(x[:n]), np.abs(x[n:]), np.dot(x[:n], x[:n])), lambda x, n: x[:n] @ x[:n], lambda x, n: (x[:n] ** 2).sum(),
    lambda x, n: x[:n] == x[:n], lambda x, n: ~(x[:n] > 1), lambda x, n: x[:n].astype(int) // 2, lambda x, n: x[:n] % 2,
    lambda x, n: x[x > n], lambda x, n: x[(x > 0) & (x < n)].sum(), lambda x, n: len(x[x > 0]) + n, lambda x, n: x[x > 0][:n], lambda x, n: x[:n][x[:n] > 0],
    lambda x, n: 1 / (x[:n] - 7), lambda x, n: x[:n] / (x[:n] + 7), lambda x, n: abs(x[:n]) ** 0.5, lambda x, n: 2 ** x[:n] + 8 // (abs(x[:n]) + 1),
    lambda x, n: (np.exp(x[:n] / 4), np.sqrt(x[x >= 0]), np.log(x[x > 0]), np.maximum(x[:n], 1), np.minimum(1, x[n:]), np.arctan2(x[:n], x[:n])),
    stores, crossover, stepped, loops, emptied, chosen, masked_stores, shifted,
]  # fmt: skip
FULL: list[Callable[[Any, Any], Any]] = [  # what has no value for no rows, and is an error then
    lambda x, n: x[:n].max(), lambda x, n: x[:n].min(), lambda x, n: max(x[n:]), lambda x, n: min(x[:n]), lambda x, n: x[n:].argmin(), lambda x, n: x[:n].argmax(),
    lambda x, n: x[:n][0], lambda x, n: x[n:][-1], lambda x, n: x[x > n].max(), lambda x, n: x[:n] + x[-n:], lambda x, n: np.max(x[n:]),
]  # fmt: skip
MATRICES: list[Callable[[Any, Any], Any]] = [
    lambda x, n: x[:n], lambda x, n: x[:n].sum(axis=0), lambda x, n: x[1:n].sum(), lambda x, n: x[2, :n], lambda x, n: x[0, n:].sum(),
    lambda x, n: x[:n][:, 0], lambda x, n: x[x > n], lambda x, n: x[x[:, 0] > n - 2], lambda x, n: x[:n] + x[0], lambda x, n: x[:n, 1] * 2,
]  # fmt: skip


def run(f: Callable[[Any, Any], Any], x: Any, n: Any) -> Any:
    try:
        return f(x, n)
    except ag.AutographError:
        raise
    except Exception as error:
        return type(error)


def agree(f: Callable[[Any, Any], Any], x: Any, n: int) -> None:
    with np.errstate(all="ignore"):
        want = run(f, np.array(x), n)
    got = run(ag.function(f), jnp.asarray(x), n)
    if isinstance(want, type):
        assert isinstance(got, type), (want, got)
        return
    assert_same(got, want, f"{n}: {got!r}, not {want!r}")


@pytest.mark.parametrize("f", [*VECTORS, *FULL], ids=lambda f: f.__name__ if f.__name__ != "<lambda>" else f"line {f.__code__.co_firstlineno}")
def test_vectors(f: Callable[[Any, Any], Any]) -> None:
    for n in LENGTHS:
        agree(f, X, n)


@pytest.mark.parametrize("f", MATRICES)
def test_matrices(f: Callable[[Any, Any], Any]) -> None:
    for n in LENGTHS:
        agree(f, M, n)


LEFT = (
    "2", "2.0", "np.float32(2)", "SCALE", "ROW", "TABLE", "dt", "dt + 1", "n", "(n + 1)", "x[1]", "x[:1]", "x.sum()", "np.sum(x)", "TABLE[1]", "x[1:3]",
    "x[:n]", "x[x > 1]", "(x > 1).sum()",
)  # fmt: skip
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=")


@pytest.mark.parametrize("of", [np.array, jnp.asarray], ids=["numpy", "jnp"])
@pytest.mark.parametrize("left", LEFT)
def test_any_array_may_stand_before_one(left: str, of: Callable[..., Any]) -> None:
    names = {"SCALE": jnp.float32(2), "ROW": jnp.ones(1), "TABLE": np.array([1, 2], np.float32), "np": np}
    whole = ", ".join(f"{left} {op} (x[x > 1] + 1)" for op in OPERATORS)
    f = define(f"def f(x, dt, n):\n    return {whole}, divmod({left}, x[x > 1] + 1)", **names)
    got, want = ag.function(f)(of(X), 0.5, 2), f(np.array(X), 0.5, 2)
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert np.shape(g) == np.shape(w)
        np.testing.assert_allclose(g, w, rtol=1e-5)


def step_of_neurons(v: Any, current: Any, dt: Any) -> Any:
    rest = np.zeros_like(v)
    spikes = []
    for t in range(len(current)):
        active = rest <= 0
        v[active] += dt * (current[t][active] - v[active] / 10.0)
        fired = v > 1.0
        v[fired] = 0.0
        rest[fired] = 2.0
        rest[~fired] -= dt
        spikes.append(fired.sum())
    return v, rest, spikes


def test_a_step_size_stands_before_what_a_mask_takes() -> None:
    current = np.linspace(0.0, 3.0, 40, dtype=np.float32).reshape(10, 4)
    want = step_of_neurons(np.zeros(4, np.float32), current, 0.5)
    got = ag.function(step_of_neurons)(np.zeros(4, np.float32), current, 0.5)
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, rtol=1e-5), got, want)


def test_functions_that_are_not_converted_take_them_by_numpys_functions() -> None:
    @ag.do_not_convert
    def helper(v: Any) -> Any:
        return np.sqrt(v) - np.ones(1, np.float32) * v

    got = ag.function(lambda x: helper(x[x > 1]))(X.copy())
    np.testing.assert_allclose(got, helper(X[X > 1]), rtol=1e-5)


@pytest.mark.parametrize(
    "helper", [jnp.sort, jnp.abs, lambda v: jnp.ones(1) @ jnp.stack([v, v]), lambda v: np.sort(v), lambda v: f"{jax.jit(jnp.abs)(v)}"]
)
def test_functions_that_are_not_converted_are_told_why_there_is_no_array(helper: Callable[..., Any]) -> None:
    @ag.do_not_convert
    def called(v: Any) -> Any:
        return helper(v)

    with pytest.raises(ag.AutographError, match="AG502 a mask is traced"):
        ag.function(lambda x: called(x[x > 1]))(jnp.asarray(X))


def loss(x: Any, n: Any) -> Any:
    return (x[:n] ** 2).sum() + (x[n:] * x[n:]).mean() + x[:n].max() + jnp.sum(x[x > 0] * 2) / n


@pytest.mark.parametrize("n", [1, 2, 4])
def test_derivatives_are_those_of_the_rows(n: int) -> None:
    want = jax.grad(lambda x: (x[:n] ** 2).sum() + (x[n:] * x[n:]).mean() + x[:n].max() + jnp.sum(x[x > 0] * 2) / n)(jnp.asarray(X))
    np.testing.assert_allclose(jax.grad(ag.function(loss))(jnp.asarray(X), n), want, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(ag.convert(loss)))(jnp.asarray(X), n), want, rtol=1e-6)


def test_rows_behind_the_end_reach_neither_values_nor_derivatives() -> None:
    def scaled(x: Any, n: Any) -> Any:
        return (x[:n] * 3 / n).sum()

    bad = jnp.array([2.0, jnp.nan, jnp.inf])
    assert ag.function(scaled)(bad, 1) == 6.0
    assert jax.grad(ag.function(scaled))(bad, 1).tolist() == [3.0, 0.0, 0.0]
    assert jax.grad(ag.function(scaled))(bad, 0).tolist() == [0.0, 0.0, 0.0]


def test_lanes_have_lengths_of_their_own() -> None:
    ns = jnp.array([1, 2, 4])
    got = jax.vmap(ag.convert(loss), (None, 0))(jnp.asarray(X), ns)
    np.testing.assert_allclose(got, [loss(jnp.asarray(X), int(n)) for n in ns], rtol=1e-6)


def test_lengths_that_do_not_go_together_are_errors() -> None:
    def stored(x: Any, n: Any) -> Any:
        x[:n] = x[: n + 1]
        return x

    def added(x: Any, n: Any) -> Any:
        return x[:n] + x[: n + 1]

    def masked(x: Any, n: Any) -> Any:
        x[x > n] = x[:n]
        return x

    for f, n, kind in ((stored, 2, ValueError), (added, 2, TypeError), (masked, 1, ValueError)):
        with pytest.raises(kind):
            ag.function(f)(jnp.asarray(X), n)
    assert ag.function(added)(jnp.asarray(X), 5).tolist() == (X + X).tolist()


def test_they_are_printed_and_returned_as_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    @ag.function
    def told(x: Any, n: Any) -> Any:
        print("head", x[:n], f"{len(x[n:])} more")
        return {"head": x[:n]}

    assert told(jnp.asarray(X), 2)["head"].tolist() == [3.0, 1.0]
    assert told(jnp.asarray(X), 3)["head"].shape == (3,)
    jax.effects_barrier()
    assert capsys.readouterr().out == "head [3. 1.] 3 more\nhead [ 3.  1. -2.] 2 more\n"


def test_a_change_keeps_them_in_attributes() -> None:
    class Window:
        def __init__(self) -> None:
            self.total = jnp.zeros(())

        @ag.function
        def take(self, x: Any, n: Any) -> Any:
            for v in x[:n]:
                self.total += v

    window = Window()
    window.take(jnp.asarray(X), 2)
    window.take(jnp.asarray(X), 4)
    assert window.total == 11.0


def test_they_are_arrays_in_attributes_lists_and_dicts_behind_a_call() -> None:
    class Box:
        def __init__(self) -> None:
            self.part, self.items, self.table, self.grown = jnp.asarray(X), [jnp.asarray(X)], {"a": jnp.asarray(X)}, []

        @ag.function
        def take(self, x: Any, n: Any) -> Any:
            self.part = x[:n]
            self.items[0] = x[n:]
            self.table["a"] = x[x > 0]
            grown = []
            for v in x:
                if v > n:
                    grown.append(v)
            self.grown = grown

        @ag.function
        def told(self) -> Any:
            return self.part.sum() + len(self.items[0]), len(self.grown)

    box = Box()
    for n, parts, told in ((2, ([3, 1], [-2, 5, 0], [3, 1, 5], [3, 5]), (7, 2)), (4, ([3, 1, -2, 5], [0], [3, 1, 5], [5]), (8, 1))):
        box.take(jnp.asarray(X), n)
        assert isinstance(box.part, jax.Array) and type(box.grown) is list
        assert (box.part.tolist(), box.items[0].tolist(), box.table["a"].tolist(), [float(v) for v in box.grown]) == parts
        assert box.told() == told

    class Chosen(Box):
        @ag.function
        def put(self, x: Any, n: Any) -> Any:
            if n > 1:
                self.part = x[:n]

    with pytest.raises(ag.AutographError, match=r"AG401 `Chosen.part` .* float32\[5\] in one branch and a part of float32\[5\] in the other"):
        Chosen().put(jnp.asarray(X), 2)


def test_a_number_that_becomes_a_row_of_a_weak_type() -> None:
    def counted(x: Any, n: Any) -> Any:
        s = 0
        for i in range(n):
            s = s + x[i]
        return s, sum(x[:n])

    got = ag.function(counted)(jnp.asarray(M > 0), 4)
    assert [v.tolist() for v in got] == [np.sum(M > 0, axis=0).tolist()] * 2


def test_their_length_gives_way_to_other_types() -> None:
    assert ag.function(lambda x, n: len(x[:n]) * jnp.int8(2))(jnp.asarray(X), 2).dtype == jnp.int8


def test_they_are_padded_to_a_known_size() -> None:
    pad = ag.function(lambda x, n: ag.padded(x[:n], 3, fill=-1.0))
    assert [pad(jnp.asarray(X), n).tolist() for n in (1, 3)] == [[3.0, -1.0, -1.0], [3.0, 1.0, -2.0]]
    assert ag.function(lambda x, n: ag.padded(x[:n], 7))(jnp.asarray(X), 2).tolist() == [3.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    with pytest.raises(IndexError, match="do not fit 3 rows"):
        pad(jnp.asarray(X), 4)


def grown(x: Any) -> Any:
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    return jax.tree.map(lambda v: v * 2, found)


def test_what_is_of_unknown_length_is_not_taken_apart() -> None:
    with pytest.raises(ag.AutographError, match="AG405 .*`map` is given it"):
        ag.function(grown)(jnp.asarray(X))
    for f in (lambda x, n: jax.tree.map(lambda v: v * 2, {"a": x[:n]}), lambda x, n: jax.tree_util.tree_leaves([x[:n]])):
        with pytest.raises(ag.AutographError, match="AG502 .* is given it"):
            ag.function(f)(jnp.asarray(X), 2)
    with pytest.raises(ag.AutographError, match="AG502 .*`scan` is given it"):
        ag.function(lambda x, n: jax.lax.scan(lambda c, v: (c + v, None), 0.0, x[:n])[0])(jnp.asarray(X), 2)
    assert ag.function(lambda x, n: jax.lax.fori_loop(0, 2, lambda i, part: part * 2, x[:n]))(jnp.asarray(X), 2).tolist() == [12.0, 4.0]


REFUSED: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda x, n: jnp.outer(x[:n], x), "`outer` is given it"),
    (lambda x, n: x[:n].shape, "its `shape` is used"),
    (lambda x, n: jnp.concatenate([x[:n], x[n:]]), "a function that needs a shape"),
    (lambda x, n: tuple(x[:n]), "one by one"),
    (lambda x, n: 1 if x[:n] else 2, "its truth"),
    (lambda x, n: x[:n].sum(axis=1), "an axis is reduced"),
    (lambda x, n: x[:n][None], "more than an integer"),
]


@pytest.mark.parametrize(("f", "why"), REFUSED, ids=lambda v: v if isinstance(v, str) else "")
def test_what_needs_the_length_is_refused(f: Callable[[Any, Any], Any], why: str) -> None:
    with pytest.raises(ag.AutographError, match="AG502 the end of a slice is traced") as caught:
        ag.function(f)(jnp.asarray(M) if "axis" in why else jnp.asarray(X), 2)
    assert why in str(caught.value)


def test_under_jit_alone_they_are_refused_as_results() -> None:
    with pytest.raises(ag.AutographError, match="AG502 .*it is returned to code that is not converted"):
        jax.jit(ag.convert(lambda x, n: x[:n]))(jnp.asarray(X), 2)


def read_after_a_store(a: Any, n: Any) -> Any:
    part = a[n:]
    a[n] = 50
    return part.sum(), part


def stored_by_item(a: Any, n: Any) -> Any:
    part = a[n:]
    part[0] = 77
    part[-1] = 3
    return part


def stored_by_operator(a: Any, n: Any) -> Any:
    part, other = a[n:], a[:n]
    part += 1
    other /= 2
    return a.sum()


def view_of_a_view(a: Any, n: Any) -> Any:
    part = a[:n]
    rest = part[1:]
    rest[:] = 9
    part[part > 8] *= 2
    return part.sum(), rest


def masked_copy(a: Any, n: Any) -> Any:
    b = a[a > n]
    c = b
    b[:] = 50
    c[0] = 7
    b[b > 7] += 1
    c /= 2
    return a.sum(), b, c


def masks_on_both_sides(a: Any, n: Any) -> Any:
    m = a.reshape(2, 4)
    big = m > n
    m[big] = m[big] ** 2 / (m[big] + 1)
    a[a > n] += a[a > n].mean()
    part = a[a > n] * 2
    return part[0], part.max(), part.argmax(), part, m[big].sum()


def taken_in_a_loop(a: Any, n: Any) -> Any:
    for k in range(n):
        part = a[k:n]
        part[0] += 1
    return a


def stored_in_a_branch(a: Any, n: Any) -> Any:
    part = a[n:]
    if a[0] < 5:
        part[0] = 9
    else:
        a[n + 1] = 3
    return part.sum() + a.sum()


def row_of_a_matrix(a: Any, n: Any) -> Any:
    m = a.reshape(2, 4)
    row = m[1, :n]
    row *= 2
    m[1, :n] += 4
    return a, row


def stored_while_gone_over(a: Any, n: Any) -> Any:
    s = 0.0
    for x in a[n:]:
        s += x
        a[n + 1] = 5
    return s


def in_a_helper(a: Any, n: Any) -> Any:
    def fill(part: Any) -> None:
        part.fill(3)

    fill(a[n:])
    return a


def in_steps(a: Any, n: Any) -> Any:
    part = a[::n]
    part[1] = 8
    a[n] += 1
    return part


VIEWS = [
    read_after_a_store,
    stored_by_item,
    stored_by_operator,
    view_of_a_view,
    masked_copy,
    masks_on_both_sides,
    taken_in_a_loop,
    stored_in_a_branch,
    row_of_a_matrix,
]
VIEWS += [stored_while_gone_over, in_a_helper, in_steps]


@pytest.mark.parametrize("f", VIEWS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_slices_of_numpys_arrays_are_views(f: Callable[[Any, Any], Any], n: int) -> None:
    as_numpy(f, lambda: (np.arange(1, 9, dtype=np.float32), n), forms=((ag.convert, np), (ag.function, np)))


def test_views_that_come_out_of_a_loop_are_not_used_when_the_array_has_changed() -> None:
    def f(a: Any, n: Any) -> Any:
        part, k = a[n:], 0
        while k < n:
            a[n] += 1
            if k > 0:
                part = a[1:n]
            k += 1
        return part.sum()

    with pytest.raises(ag.AutographError, match="AG502 .*taken in a compiled loop or branch, and the array has changed since"):
        ag.function(f)(np.arange(1, 9, dtype=np.float32), 2)


def test_what_is_known_stays_an_array() -> None:
    @ag.function(static_argnames="n")
    def head(x: Any, n: int) -> Any:
        part = x[:n]
        return jnp.sort(part), part.shape[0]

    assert [v.tolist() for v in map(jnp.asarray, head(jnp.asarray(X), n=3))] == [[-2.0, 1.0, 3.0], 3]
