"""Item 23 of the articles: datasets, in Python and in compiled loops."""

from __future__ import annotations

import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.eager.data.item_order import shuffled
from autograph.runtime.errors.errors import BranchTypeError, DatasetError
from tests.sourced import define

Dataset = ag.data.Dataset

PIPELINES: dict[str, Callable[[Any], Any]] = {
    "rows": lambda d: d,
    "batch": lambda d: d.batch(3),
    "batch, dropped": lambda d: d.batch(3, drop_remainder=True),
    "one batch": lambda d: d.batch(10),
    "smaller than a batch": lambda d: d.batch(16),
    "shuffle": lambda d: d.shuffle(10, seed=3).batch(4),
    "small buffer": lambda d: d.shuffle(3, seed=3).batch(4),
    "shuffle repeat batch": lambda d: d.shuffle(10, seed=1).repeat(2).batch(6),
    "repeat often": lambda d: d.shuffle(10, seed=1).repeat(7).batch(8),
    "repeat shuffle": lambda d: d.repeat(3).shuffle(7, seed=1).batch(4),
    "endless, taken": lambda d: d.shuffle(10, seed=1).repeat().batch(4).take(7),
    "endless, shuffled, taken": lambda d: d.repeat().shuffle(5, seed=1).batch(4).take(7),
    "endless, skipped, taken": lambda d: d.repeat().skip(3).batch(4).skip(2).take(5),
    "take skip": lambda d: d.take(8).skip(3).batch(2),
    "take of batches": lambda d: d.batch(4).take(3),
    "skip of batches": lambda d: d.batch(4).skip(1),
    "skip all": lambda d: d.skip(20),
    "batches of batches": lambda d: d.batch(2).batch(2),
    "shuffled batches": lambda d: d.batch(2).shuffle(5, seed=4),
    "map": lambda d: d.map(lambda x, y: (x * 2 if y > 0 else -x, y)).batch(3),
    "map of batches": lambda d: d.batch(3).map(lambda x, y: (x - x.mean(), y)),
    "maps": lambda d: d.map(lambda x, y: {"x": x, "y": y}).batch(4).map(lambda e: (e["x"].sum(), e["y"])),
    "prefetch": lambda d: d.batch(3).prefetch(2),
    "same order": lambda d: d.shuffle(10, seed=3, reshuffle_each_iteration=False).batch(4),
}


def made(pipeline: str) -> Any:
    x = np.arange(10, dtype=np.float32)
    return PIPELINES[pipeline](Dataset.from_tensor_slices((x, np.arange(10) % 3)))


def digest(dataset: Any) -> Any:
    n, first, total = 0, 0.0, 0.0
    for x, y in dataset:
        n += 1
        first = first * 1.5 + jnp.ravel(x)[0]
        total += jnp.sum(jnp.asarray(x)) + 10 * jnp.sum(jnp.asarray(y))
    return n, first, total


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_23_compiled_as_in_python(pipeline: str) -> None:
    one, other = made(pipeline), made(pipeline)
    compiled = ag.function(digest)
    for _ in range(3):  # each time another order
        np.testing.assert_allclose(np.asarray(compiled(one), float), np.asarray(digest(other), float), rtol=1e-5)
    assert len(one) == int(digest(other)[0])


def test_23_orders() -> None:
    batches = [y.tolist() for y in Dataset.range(10).shuffle(10, seed=0).batch(4)]
    assert sorted(sum(batches, [])) == list(range(10)) and [len(b) for b in batches] == [4, 4, 2] and batches != [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    dataset = Dataset.range(10).shuffle(10, seed=0)
    first, second = [int(x) for x in dataset], [int(x) for x in dataset]
    assert first != second and sorted(second) == list(range(10))
    fixed = Dataset.range(10).shuffle(10, seed=0, reshuffle_each_iteration=False)
    assert [int(x) for x in fixed] == [int(x) for x in fixed]
    near = [int(x) for x in Dataset.range(100).shuffle(4, seed=0)]
    assert sorted(near) == list(range(100)) and all(x <= k + 4 for k, x in enumerate(near))


def test_23_the_seed_of_each_shuffle_counts() -> None:
    def items(first: int, second: int) -> list[int]:
        dataset = Dataset.range(20).shuffle(20, seed=first).batch(2).shuffle(10, seed=second)
        return [int(x) for batch in dataset for x in batch]

    assert items(1, 2) == items(1, 2)
    assert items(1, 2) != items(1, 3)
    assert sorted(map(tuple, np.reshape(items(1, 2), (-1, 2)))) == sorted(map(tuple, np.reshape(items(1, 3), (-1, 2))))


def test_23_each_place_is_as_likely_as_in_a_buffer_of_python() -> None:
    """The first to leave a buffer is uniform among those in it, and an item that is not there yet cannot come."""
    orders = np.asarray(jax.vmap(lambda key: shuffled(key, 6, 3))(jax.random.split(jax.random.key(0), 6000)))
    share = np.stack([(orders == item).mean(0) for item in range(6)])
    rng, counts = np.random.default_rng(0), np.zeros((6, 6))
    for _ in range(6000):
        buffer, rest, out = [0, 1, 2], [3, 4, 5], []
        while buffer:
            k = rng.integers(len(buffer))
            out.append(buffer[k])
            if rest:
                buffer[k] = rest.pop(0)
            else:
                del buffer[k]
        counts[out, range(6)] += 1
    np.testing.assert_allclose(share, counts / 6000, atol=0.03)


def test_23_the_arrays_are_inputs_and_no_constants() -> None:
    dataset = Dataset.from_tensor_slices(np.ones((64, 1000), np.float32)).batch(16)

    @ag.function
    def total() -> Any:
        s = 0.0
        for x in dataset:
            s += x.sum()
        return s

    assert total() == 64000.0
    text = total.lower().as_text()
    assert "64x1000xf32" in text and len(text) < 20000 and "stablehlo.while" in text


def test_23_break_else_enumerate_zip_and_comprehensions() -> None:
    dataset = Dataset.range(10).batch(4)

    def f(limit: Any) -> Any:
        found, s = -1, 0
        for k, x in enumerate(dataset):
            if x[0] >= limit:
                found = k
                break
            s += x.sum()
        else:
            s += 1000
        pairs = 0
        for i, x in zip(range(5), dataset):
            pairs += i * x.sum()
        return found, s, pairs, [x.sum() for x in dataset], sum(x.max() for x in dataset)

    for limit in (0, 3, 7, 8, 50):
        np.testing.assert_array_equal(jnp.stack(jax.tree.leaves(ag.function(f)(jnp.int32(limit)))), jnp.stack(jax.tree.leaves(f(limit))))


def test_23_epochs_are_shuffled_anew_in_a_compiled_loop() -> None:
    dataset = Dataset.range(32).shuffle(32, seed=5).batch(8)

    @ag.function
    def firsts(n: Any) -> Any:
        found = jnp.zeros(8, jnp.int32)
        for epoch in range(n):
            for x in dataset:
                found = found.at[epoch].add(x[0])
        return found

    again = Dataset.range(32).shuffle(32, seed=5).batch(8)
    want = [sum(int(x[0]) for x in again) for _ in range(5)]
    got = firsts(5)[:5].tolist()
    assert got == want and len(set(got)) > 1


def test_23_made_of_arguments_in_the_function() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for row in Dataset.from_tensor_slices(x).batch(2):
            s = s * 2 + row.sum()
        return s

    x = jnp.arange(5.0)
    assert ag.function(f)(x) == f(x) == jax.jit(ag.convert(f))(x)
    np.testing.assert_allclose(jax.grad(ag.function(f))(x), [4, 4, 2, 2, 1])


def test_23_what_python_alone_goes_over() -> None:
    endless = iter(Dataset.range(4).shuffle(4, seed=0).repeat().batch(3))
    assert sorted(int(k) for _ in range(4) for k in next(endless)) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert [x.tolist() for x in Dataset.range(7).filter(lambda x: x % 2 == 0).batch(3)] == [[0, 2, 4], [6]]
    assert [x.tolist() for x in Dataset.from_generator(lambda: ([k, k + 1] for k in range(3))).map(lambda x: x * 2).batch(2)] == [
        [[0, 2], [2, 4]],
        [[4, 6]],
    ]
    ragged = [x.tolist() for x in Dataset.range(5).batch(2).shuffle(5, seed=0)]
    assert sorted(ragged) == [[0, 1], [2, 3], [4]]
    assert (
        Dataset.range(3).repeat().cardinality() == -1
        and Dataset.from_generator([1]).cardinality() == -2
        and len(Dataset.range(5).batch(2).shuffle(9)) == 3
    )
    with pytest.raises(TypeError, match="no end"):
        len(Dataset.range(3).repeat())


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Dataset.range(4).repeat(), r"`repeat\(\)` has no end"),
        (lambda: Dataset.range(4).filter(lambda x: x > 1), "it is filtered"),
        (lambda: Dataset.from_generator([1, 2]), "its items come from a Python iterable"),
        (lambda: Dataset.range(5).batch(2).repeat(2), "`repeat` comes after a `batch` whose last one is smaller"),
    ],
)
def test_23_what_no_compiled_loop_goes_over(make: Any, why: str) -> None:
    dataset = make()

    def f() -> Any:
        s = 0
        for x in dataset:
            s += jnp.sum(x)
        return s

    with pytest.raises(DatasetError, match=why):
        ag.function(f)()


def test_23_what_is_wrong() -> None:
    with pytest.raises(DatasetError, match="4 and 3 rows"):
        Dataset.from_tensor_slices((np.zeros(4), np.zeros(3)))
    with pytest.raises(DatasetError, match="which has no rows"):
        Dataset.from_tensor_slices(3.0)
    with pytest.raises(DatasetError, match="given no array"):
        Dataset.from_tensor_slices(())
    with pytest.raises(DatasetError, match="no array: "):
        Dataset.from_tensor_slices([None, object()])
    with pytest.raises(DatasetError, match="`batch` is given 0"):
        Dataset.range(3).batch(0)
    with pytest.raises(DatasetError, match="`shuffle` is given 2.5"):
        Dataset.range(3).shuffle(2.5)  # type: ignore[arg-type]
    with pytest.raises(DatasetError, match="can be iterated once"):
        Dataset.from_generator(iter([1]))


def test_23_prefetch_works_ahead_and_no_further() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for k in range(10):
            made.append(k)
            yield k

    it = iter(Dataset.from_generator(items).prefetch(2))
    assert int(next(it)) == 0
    deadline = time.monotonic() + 10
    while len(made) < 4 and time.monotonic() < deadline:  # one taken, two in the queue, one that waits for room in it
        time.sleep(0.01)
    time.sleep(0.2)
    assert len(made) == 4
    it.close()  # type: ignore[attr-defined]
    assert len(made) == 4 and not [t for t in threading.enumerate() if t.name == "ag.data.prefetch"]


def test_23_an_error_while_items_are_made_comes_where_the_item_would_have() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    it = iter(Dataset.from_generator(items).prefetch(3))
    assert int(next(it)) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(it)


def test_23_the_order_is_restored_from_a_checkpoint(tmp_path: Path) -> None:
    one, other = (Dataset.range(16).shuffle(16, seed=s) for s in (1, 2))
    list(one)
    path = ag.Checkpoint(data=one).save(tmp_path / "c")
    want = [int(x) for x in one]
    ag.Checkpoint(data=other).restore(path).assert_consumed()
    assert [int(x) for x in other] == want


def test_23_progress_takes_the_same_order_and_asks_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(dataset: Any) -> Any:
        s = jnp.float32(0.0)
        for x in ag.progress(dataset, every=2):
            s = s * 1.5 + x[0]
        return s

    one, other = (Dataset.range(20).shuffle(20, seed=3).batch(6) for _ in range(2))
    for _ in range(2):
        assert float(ag.function(f)(one)) == float(f(other))
    jax.effects_barrier()
    assert "4/4 (100 %)" in capsys.readouterr().err


def test_23_of_traced_arrays_where_nothing_is_compiled() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for row in Dataset.from_tensor_slices(x).batch(2):
            s = s * 2 + row.sum()
        return s

    np.testing.assert_allclose(jax.grad(ag.convert(f))(jnp.arange(5.0)), [4, 4, 2, 2, 1])
    np.testing.assert_allclose(jax.vmap(ag.convert(f))(jnp.arange(10.0).reshape(2, 5)), [f(jnp.arange(5.0)), f(jnp.arange(5.0, 10.0))])


# What a turn does with its batch, and how a loop over batches, the last of which is smaller, ends early.
USES = {
    "itself": "total += jnp.sum(x * y)",
    "a lambda": "total += (lambda: jnp.sum(x * y))()",
    "a function": "def f():\n    return jnp.sum(x * y)\ntotal += f()",
    "a function that sets": "def f():\n    nonlocal total\n    total += jnp.sum(x * y)\nf()",
    "an attribute": "self.total = self.total + (lambda: jnp.sum(x * y))()\ntotal = self.total",
    "a gradient": "total += jax.grad(lambda w: jnp.sum(w * x * y))(2.0)",
}
ENDS = {
    "all": "",
    "break": "if total > limit:\n    break",
    "continue": "if total > limit:\n    continue\ntotal += 1",
    "return": "if total > limit:\n    return total",
    "else": "if total > limit:\n    break\n@else\ntotal += 100",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("use", USES)
def test_23_a_batch_that_functions_capture(use: str, end: str) -> None:
    turn, _, orelse = f"{USES[use]}\n{ENDS[end]}".partition("\n@else\n")
    loop = f"for x, y in dataset:\n{textwrap.indent(turn, '    ')}\n" + (f"else:\n    {orelse}\n" if orelse else "")
    body = f"total = 0.0\nfor epoch in range(2):\n{textwrap.indent(loop, '    ')}return total"
    text = f"import jax\nimport jax.numpy as jnp\n\ndef program(self, dataset, limit):\n{textwrap.indent(body, '    ')}\n"
    program = define(text, "program")
    x = np.arange(1, 11, dtype=np.float32)
    dataset = Dataset.from_tensor_slices((x, x + 1)).batch(3)
    compiled = ag.function(lambda self, limit: program(self, dataset, limit))
    for limit in (1e9, 30.0):
        self, other = SimpleNamespace(total=0.0), SimpleNamespace(total=0.0)
        assert float(compiled(self, limit)) == float(program(other, dataset, limit))
        assert float(self.total) == float(other.total)
    report = str(ag.explain(program, SimpleNamespace(total=0.0), dataset, 30.0))
    loops = [line for line in report.splitlines() if "for x, y in dataset" in line]
    assert loops and not any("unrolled" in line for line in loops), report


def test_23_a_batch_that_is_read_after_the_loop_has_one_shape() -> None:
    dataset = Dataset.from_tensor_slices(jnp.arange(10.0)).batch(4)

    @ag.function
    def f(limit: Any) -> Any:
        total = 0.0
        for x in dataset:
            total += x.sum()
            if total > limit:
                break
        return x

    with pytest.raises(BranchTypeError, match="`x` is float32\\[4\\] where .* float32\\[2\\]"):
        f(3.0)


def zipped(pairs: Any) -> Any:
    total, n = 0.0, 0
    for x, y in pairs:
        total, n = total + (x.sum() * (y.sum() + 1)), n + 1
    return total, n


ZIPPED: dict[str, Callable[[Any, Any], Any]] = {
    "arrays": lambda a, b: Dataset.zip(a, b),
    "in a tuple": lambda a, b: Dataset.zip((a, b)),
    "of other lengths": lambda a, b: Dataset.zip(a, Dataset.range(7)),
    "mapped": lambda a, b: Dataset.zip(a.map(lambda x: x * 2 if x > 3 else -x), b.map(lambda y: y + 1)),
    "batched then": lambda a, b: Dataset.zip(a, b.map(lambda y: y * 3)).batch(4),
    "shuffled then": lambda a, b: Dataset.zip(a, b).shuffle(10, seed=1).repeat(2).batch(6),
    "mapped then": lambda a, b: Dataset.zip(a, b).map(lambda x, y: (x + y, y)).batch(3),
    "zipped again": lambda a, b: Dataset.zip(Dataset.zip(a, b), b).map(lambda p, y: (p[0] * p[1], y)),
}


@pytest.mark.parametrize("name", ZIPPED)
def test_datasets_beside_each_other(name: str) -> None:
    a, b = Dataset.from_tensor_slices(np.arange(10, dtype=np.float32)), Dataset.from_tensor_slices(np.arange(10) % 3)
    expected = zipped(ZIPPED[name](a, b))
    assert expected[1] == len(ZIPPED[name](a, b)) > 0
    np.testing.assert_allclose(ag.function(zipped)(ZIPPED[name](a, b)), expected)


def test_pairs_are_what_python_zips() -> None:
    a, b = Dataset.from_tensor_slices(np.arange(10.0)), Dataset.range(3, 9)
    assert [(float(x), int(y)) for x, y in Dataset.zip(a, b)] == [*zip(range(10), range(3, 9), strict=False)]


def test_datasets_with_orders_of_their_own_are_zipped_in_python_alone() -> None:
    a, b = Dataset.range(10).batch(3), Dataset.range(10).repeat().batch(3)
    pairs = Dataset.zip(a, b)
    assert [(x.tolist(), y.tolist()) for x, y in pairs] == [(x.tolist(), y.tolist()) for x, y in zip(a, b, strict=False)]
    assert pairs.cardinality() == 4 and Dataset.zip(b, b).cardinality() == -1 and Dataset.zip(a, a.filter(lambda x: True)).cardinality() == -2
    with pytest.raises(DatasetError, match="what it zips is shuffled, batched or filtered before"):
        ag.function(zipped)(pairs)
    assert zipped(pairs)[1] == 4
    with pytest.raises(DatasetError, match="`zip` is given a `list`"):
        Dataset.zip(a, [1, 2])
    with pytest.raises(DatasetError, match="`zip` is given a `NoneType`"):
        Dataset.zip()
