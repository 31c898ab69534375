"""`ag.data.Dataset`: its methods on each kind of source, in Python and in one compiled loop, against lists of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import DatasetError, EffectError, StagedRaiseError

Dataset = ag.data.Dataset
TensorSpec = ag.TensorSpec

SOURCES: dict[str, Any] = {
    "array": np.arange(14, dtype=np.float32).reshape(7, 2),
    "list": [3, 1, 4, 1, 5, 9, 2],
    "tuple": (np.arange(7, dtype=np.float32), np.arange(14).reshape(7, 2)),
    "dict": {"x": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5], "y": ([7, 6, 5, 4, 3, 2, 1], np.ones((7, 1), np.float32))},
}
Items = list[Any]


def rows(source: Any) -> Items:
    arrays = jax.tree.map(np.asarray, source, is_leaf=lambda x: isinstance(x, list))
    return [jax.tree.map(lambda x: x[k], arrays) for k in range(7)]


def stack(items: Items) -> Any:
    return jax.tree.map(lambda *x: np.stack(x), *items)


def batched(items: Items, n: int, drop: bool = False) -> Items:
    return [stack(items[k : k + n]) for k in range(0, len(items), n) if k + n <= len(items) or not drop]


def parts(*x: Any) -> Any:
    """An item of which a function is given the parts."""
    return x if len(x) > 1 else x[0]


def doubled(*x: Any) -> Any:
    return jax.tree.map(lambda v: v * 2, parts(*x))


def windows_of(n: int) -> Callable[..., Any]:
    def batches(*w: Any) -> Any:
        each = jax.tree.map(lambda d: d.batch(n), parts(*w))
        return each if isinstance(each, Dataset) else Dataset.zip(each)

    return batches


METHODS: dict[str, tuple[Callable[[Any], Any], Callable[[Items], Items]]] = {
    "itself": (lambda d: d, lambda x: x),
    "take": (lambda d: d.take(3), lambda x: x[:3]),
    "take all": (lambda d: d.take(-1).take(10), lambda x: x),
    "skip": (lambda d: d.skip(5), lambda x: x[5:]),
    "repeat": (lambda d: d.repeat(2), lambda x: x * 2),
    "repeat often": (lambda d: d.repeat(6).batch(4), lambda x: batched(x * 6, 4)),
    "repeat without end": (lambda d: d.repeat().skip(2).take(9), lambda x: (x * 2)[2:11]),
    "batch": (lambda d: d.batch(3), lambda x: batched(x, 3)),
    "batch, dropped": (lambda d: d.batch(3, drop_remainder=True), lambda x: batched(x, 3, True)),
    "shard": (lambda d: d.shard(3, 1), lambda x: x[1::3]),
    "shard of batches": (lambda d: d.batch(2).shard(2, 1), lambda x: batched(x, 2)[1::2]),
    "shard with the last": (lambda d: d.batch(2).shard(3, 0), lambda x: batched(x, 2)[0::3]),
    "enumerate": (lambda d: d.enumerate(), lambda x: [*enumerate(x)]),
    "enumerate, batched": (lambda d: d.enumerate(start=5).batch(2), lambda x: batched([*enumerate(x, 5)], 2)),
    "batch, enumerated": (lambda d: d.batch(2).enumerate(), lambda x: [*enumerate(batched(x, 2))]),
    "enumerate without end": (lambda d: d.repeat().enumerate().take(9), lambda x: [*enumerate((x * 2)[:9])]),
    "map": (lambda d: d.map(doubled).batch(4), lambda x: batched([doubled(v) for v in x], 4)),
    "map of pairs": (lambda d: d.enumerate().map(lambda k, x: (k * 2, x)), lambda x: [(k * 2, v) for k, v in enumerate(x)]),
    "concatenate": (lambda d: d.concatenate(d.take(2)), lambda x: x + x[:2]),
    "concatenate, batched": (lambda d: d.concatenate(d.skip(1)).batch(4), lambda x: batched(x + x[1:], 4)),
    "concatenate of mapped": (lambda d: d.map(doubled).concatenate(d).batch(4), lambda x: batched([doubled(v) for v in x] + x, 4)),
    "concatenate of batches": (lambda d: d.take(4).batch(2).concatenate(d.batch(2)), lambda x: batched(x[:4], 2) + batched(x, 2)),
    "concatenate three": (lambda d: d.concatenate(d).concatenate(d.take(1)).enumerate(), lambda x: [*enumerate(x + x + x[:1])]),
    "concatenate nothing": (lambda d: d.take(0).concatenate(d).concatenate(d.skip(9)), lambda x: x),
    "concatenate, repeated": (lambda d: d.concatenate(d.take(1)).repeat(2), lambda x: (x + x[:1]) * 2),
    "zip": (lambda d: Dataset.zip(d, d.skip(2).batch(2)), lambda x: [*zip(x, batched(x[2:], 2))]),
    "zip of a dict": (lambda d: Dataset.zip({"a": d, "b": (d.skip(1), d)}), lambda x: [{"a": v, "b": (w, v)} for v, w in zip(x, x[1:])]),
    "cache": (lambda d: d.map(doubled).cache().batch(3), lambda x: batched([doubled(v) for v in x], 3)),
    "cache of batches": (lambda d: d.batch(3).cache().skip(1), lambda x: batched(x, 3)[1:]),
    "windows that overlap": (lambda d: d.window(3, 1, drop_remainder=True).flat_map(windows_of(3)), lambda x: [stack(x[k : k + 3]) for k in range(5)]),
    "windows with a stride": (lambda d: d.window(2, 2, 3, True).flat_map(windows_of(2)).batch(2), lambda x: [stack([stack(x[0:4:3]), stack(x[2:6:3])])]),
    "flat_map": (lambda d: d.flat_map(lambda *x: Dataset.from_tensors(parts(*x)).repeat(2)), lambda x: [v for v in x for _ in range(2)]),
    "flat_map of batches": (lambda d: d.batch(2, True).flat_map(lambda *x: Dataset.from_tensor_slices(parts(*x)).map(doubled)), lambda x: [doubled(v) for v in x[:6]]),
    "unbatch": (lambda d: d.batch(3).unbatch(), lambda x: x),
    "unbatch of mapped": (lambda d: d.batch(3, True).map(doubled).unbatch().batch(4), lambda x: batched([doubled(v) for v in x[:6]], 4)),
    "padded_batch": (lambda d: d.padded_batch(3), lambda x: batched(x, 3)),
    "prefetch": (lambda d: d.batch(3).prefetch(2), lambda x: batched(x, 3)),
    "apply": (lambda d: d.apply(lambda e: e.take(2)), lambda x: x[:2]),
}  # fmt: skip


def same(found: Items, want: Items) -> None:
    assert len(found) == len(want)
    for a, b in zip(found, want):
        assert jax.tree.structure(a) == jax.tree.structure(b)
        for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
            np.testing.assert_array_equal(x, y)


def digest(items: Any) -> Any:
    n, total = 0, jnp.float32(0.0)
    for x in items:
        n += 1
        total = total * 1.25
        for k, leaf in enumerate(jax.tree.leaves(x)):
            total += (k + 1) * jnp.sum(jnp.asarray(leaf) * jnp.arange(1, 1 + jnp.size(leaf)).reshape(jnp.shape(leaf)))
    return n, total


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("method", METHODS)
def test_methods(method: str, source: str) -> None:
    make, plain = METHODS[method]
    want = plain(rows(SOURCES[source]))
    dataset = make(Dataset.from_tensor_slices(SOURCES[source]))
    assert len(dataset) == len(want)
    same([*dataset], want)
    same([*dataset.as_numpy_iterator()], want)
    report = str(ag.explain(digest, dataset))
    assert not [line for line in report.splitlines() if "for x in items" in line and "unrolled" in line], report
    np.testing.assert_allclose(np.asarray(ag.function(digest)(dataset), float), np.asarray(digest(want), float), rtol=1e-5)


RANDOM: dict[str, Callable[[], Any]] = {
    "concatenate": lambda: Dataset.range(6).shuffle(6, seed=1).concatenate(Dataset.range(10, 14).shuffle(4, seed=2)).batch(4),
    "concatenate, repeated": lambda: Dataset.range(5).shuffle(5, seed=1).concatenate(Dataset.range(10, 14).shuffle(4, seed=1)).repeat(6),
    "zip": lambda: Dataset.zip(Dataset.range(9).shuffle(9, seed=1), Dataset.range(9).shuffle(9, seed=1)),
    "enumerate": lambda: Dataset.range(9).enumerate().shuffle(9, seed=3).batch(2),
    "shuffle, enumerated": lambda: Dataset.range(9).shuffle(4, seed=3).enumerate(),
    "windows": lambda: Dataset.range(9).window(3, 1, drop_remainder=True).shuffle(9, seed=2).flat_map(lambda w: w.batch(3)),
    "flat_map": lambda: Dataset.range(4).flat_map(lambda x: Dataset.from_tensors(x).repeat(3)).shuffle(20, seed=2),
    "cache": lambda: Dataset.range(9).shuffle(9, seed=2).cache().batch(2),
    "cache, shuffled": lambda: Dataset.range(9).map(lambda x: x * x).cache().shuffle(9, seed=2).batch(2),
    "the same each time": lambda: Dataset.range(9).shuffle(9, seed=2, reshuffle_each_iteration=False).repeat(2).enumerate(),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_orders_are_those_of_python(name: str) -> None:
    one, other = RANDOM[name](), RANDOM[name]()
    compiled = ag.function(digest)
    for _ in range(3):
        np.testing.assert_allclose(np.asarray(compiled(one), float), np.asarray(digest(other), float), rtol=1e-5)


def ints(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


def test_a_repeated_concatenation_is_shuffled_anew() -> None:
    items = ints(RANDOM["concatenate, repeated"]())
    turns = [items[k : k + 9] for k in range(0, 54, 9)]
    assert all(sorted(t[:5]) == [0, 1, 2, 3, 4] and sorted(t[5:]) == [10, 11, 12, 13] for t in turns)
    assert len({*map(tuple, turns)}) > 3
    assert [k for k, _ in RANDOM["shuffle, enumerated"]()] == [*range(9)]


def test_cache_keeps_an_order_and_runs_what_is_before_once() -> None:
    dataset = Dataset.range(20).shuffle(20).cache()
    assert ints(dataset) == ints(dataset) and sorted(ints(dataset)) == [*range(20)]
    made: list[int] = []

    def items() -> Iterator[int]:
        for k in range(4):
            made.append(k)
            yield k

    generated = Dataset.from_generator(items).cache()
    assert [int(x) for x in islice(generated, 2)] == [0, 1] and made == [0, 1]  # what is not gone over to its end is not kept
    assert ints(generated) == ints(generated.repeat(2).take(4)) == ints(generated) == [0, 1, 2, 3]
    assert made == [0, 1, 0, 1, 2, 3]
    assert ints(Dataset.range(6).filter(lambda x: x % 2 == 0).cache().map(lambda x: x + 1)) == [1, 3, 5]
    weight = ag.Variable(2)
    scaled = Dataset.range(3).map(lambda x: x * weight).cache()
    weight.assign(5)
    assert ints(scaled) == [0, 2, 4]
    with pytest.raises(DatasetError, match="`cache` is given the file 'there'"):
        Dataset.range(3).cache("there")


def test_cache_in_a_compiled_function() -> None:
    def f(x: Any) -> Any:
        return digest(Dataset.from_tensor_slices(x).map(lambda v: v * v).cache().enumerate().batch(2))

    x = jnp.arange(5.0)
    np.testing.assert_allclose(np.asarray(ag.function(f)(x), float), np.asarray(f(x), float))


def test_lists_are_arrays_and_tuples_are_structure() -> None:
    assert ints(Dataset.from_tensor_slices([8, 3, 0])) == [8, 3, 0]
    assert [x.tolist() for x in Dataset.from_tensor_slices([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    assert [x.tolist() for x in Dataset.from_tensors([1.5, 2.5])] == [[1.5, 2.5]]
    ((pair, number),) = Dataset.from_tensors(([1, 2], 3))
    assert pair.tolist() == [1, 2] and int(number) == 3
    assert [{k: v.tolist() for k, v in x.items()} for x in Dataset.from_tensor_slices({"a": [1, 2], "b": [[3], [4]]})] == [
        {"a": 1, "b": [3]},
        {"a": 2, "b": [4]},
    ]

    @ag.function
    def f(a: Any, b: Any) -> Any:
        s = 0
        for x in Dataset.from_tensor_slices([a, b, 3]):
            s = s * 10 + x
        return s

    assert int(f(1, 2)) == 123
    with pytest.raises(DatasetError, match="a list is given that is no array"):
        Dataset.from_tensor_slices([[1, 2], [3]])


def test_methods_give_another_dataset() -> None:
    dataset = Dataset.range(4)
    for make, _ in METHODS.values():
        make(dataset)
    assert ints(dataset) == [0, 1, 2, 3]


def nested(dataset: Any) -> Any:
    s = 0
    for w in dataset:
        t = 0
        for x in w:
            t = t * 2 + x
        s = s * 3 + t
    return s


def test_windows_are_datasets() -> None:
    windows = Dataset.range(10).window(3)
    assert [ints(w) for w in windows] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    assert int(ag.function(nested)(windows)) == int(nested(windows)) == 480
    assert [ints(w) for w in Dataset.range(7).window(2, 3, 2)] == [[0, 2], [3, 5], [6]]
    overlapping = [[0, 1, 2], [1, 2, 3], [2, 3], [3]]
    assert [ints(w) for w in Dataset.range(4).window(3, 1)] == [ints(w) for w in Dataset.from_generator(range(4)).window(3, 1)] == overlapping
    assert [ints(w) for w in Dataset.from_generator(range(7)).window(2, 4)] == [[0, 1], [4, 5]]
    assert [(int(k), ints(w)) for k, w in Dataset.range(4).window(2).enumerate()] == [(0, [0, 1]), (1, [2, 3])]
    assert [(ints(x), ints(y)) for x, y in Dataset.from_tensor_slices(([1, 2], [3, 4])).window(2)] == [([1, 2], [3, 4])]
    assert ints(Dataset.range(6).window(2).map(lambda w: w.reduce(0, lambda s, x: s + x))) == [1, 5, 9]
    assert [ints(w) for w in Dataset.range(6).window(2).filter(lambda w: w.reduce(0, lambda s, x: s + x) > 4)] == [[2, 3], [4, 5]]
    for name, make in {"batch": lambda w: w.batch(2), "unbatch": lambda w: w.unbatch(), "window": lambda w: w.window(2)}.items():
        with pytest.raises(DatasetError, match=f"`{name}` is given windows"):
            make(windows)
    with pytest.raises(DatasetError, match="the function of `map` gives a dataset"):
        [*windows.map(lambda w: w)]


def test_flat_map_and_interleave_of_what_only_python_makes() -> None:
    assert ints(Dataset.range(4).flat_map(lambda x: Dataset.range(x))) == [0, 0, 1, 0, 1, 2]
    assert ints(Dataset.range(3).flat_map(lambda x: Dataset.from_generator(lambda: range(int(x))))) == [0, 0, 1]
    assert ints(Dataset.range(5).batch(2).flat_map(lambda x: Dataset.from_tensor_slices(x * 10))) == [0, 10, 20, 30, 40]
    assert ints(Dataset.from_generator([[1], [2, 3]]).unbatch()) == [1, 2, 3]
    repeated = Dataset.range(1, 6).interleave(lambda x: Dataset.from_tensors(x).repeat(6), cycle_length=2, block_length=4)
    assert ints(repeated) == [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5]  # as TensorFlow's page has it
    uneven = Dataset.range(4).interleave(lambda x: Dataset.from_generator(lambda: [int(x)] * int(x)), cycle_length=3)
    assert ints(uneven) == [1, 2, 3, 2, 3, 3]
    with pytest.raises(DatasetError, match="the function of `flat_map` gives an? `"):
        [*Dataset.range(4).flat_map(lambda x: x + 1)]


def test_generators() -> None:
    calls: list[int] = []

    def items(n: int = 3) -> Iterator[list[int]]:
        calls.append(n)
        yield from ([1] * k for k in range(1, n + 1))

    dataset = Dataset.from_generator(items, output_signature=TensorSpec((None,), "float32"))
    want = [[1.0], [1.0, 1.0], [1.0, 1.0, 1.0]]
    assert [x.tolist() for x in dataset] == [x.tolist() for x in dataset] == want and calls == [3, 3]
    assert [x.tolist() for x in Dataset.from_generator(items, args=(1,))] == [[1]]
    assert [x.tolist() for x in dataset.padded_batch(2)] == [[[1, 0], [1, 1]], [[1, 1, 1]]]
    assert [x.tolist() for x in dataset.padded_batch(2, [4], -1.0, drop_remainder=True)] == [[[1, -1, -1, -1], [1, 1, -1, -1]]]
    pairs = Dataset.from_generator(lambda: [([1], {"n": 5}), ([2, 3], {"n": 6})])
    ((x, y),) = pairs.padded_batch(2, ([None], {"n": ()}), (9, {"n": 0}))
    assert x.tolist() == [[1, 9], [2, 3]] and y["n"].tolist() == [5, 6]
    typed = Dataset.from_generator(lambda: [(1, 2)], output_types=(jnp.float32, jnp.int32), output_shapes=((), ()))
    assert [(x.dtype, y.dtype) for x, y in typed] == [(jnp.float32, jnp.int32)]
    assert next(iter(Dataset.from_generator(lambda: [1], output_types=jnp.float32))).dtype == jnp.float32
    for wrong, match in (
        (dataset.batch(2), r"`batch` is given items of the shapes \(1,\) and \(2,\)"),
        (dataset.padded_batch(2, [1]), r"`padded_shapes` is \(1,\), and an item has shape \(2,\)"),
        (pairs.padded_batch(2, padding_values=(1, 2, 3)), "`padding_values` is"),
        (
            Dataset.from_generator(items, output_signature=TensorSpec((2,), jnp.int32)),
            r"an item has shape \(1,\), and `output_signature` says \(2,\)",
        ),
        (Dataset.from_generator(lambda: ["a"], output_signature=TensorSpec(())), "an item is no float32"),
        (Dataset.from_generator(lambda: [1], output_signature=(TensorSpec(()),)), "an item is an `int`"),
    ):
        with pytest.raises(DatasetError, match=match):
            [*wrong]
    with pytest.raises(DatasetError, match="`output_signature` has a `str`"):
        Dataset.from_generator(items, output_signature="float32")


def test_padded_batch_of_arrays() -> None:
    dataset = Dataset.from_tensor_slices(([[1, 2], [3, 4], [5, 6]], [7, 8, 9])).padded_batch(2, ([3], ()), (-1, 0))
    want = [([[1, 2, -1], [3, 4, -1]], [7, 8]), ([[5, 6, -1]], [9])]
    assert [(x.tolist(), y.tolist()) for x, y in dataset] == want
    np.testing.assert_allclose(np.asarray(ag.function(digest)(dataset), float), np.asarray(digest(dataset), float))
    ragged = Dataset.range(5).batch(2).padded_batch(2)
    assert [x.tolist() for x in ragged] == [[[0, 1], [2, 3]], [[4]]]


def test_reduce() -> None:
    dataset = Dataset.range(5).batch(2)

    def f(k: Any) -> Any:
        scaled = dataset.map(lambda x: x * k)
        return (
            scaled.reduce(0, lambda s, x: s + x.sum()),
            scaled.reduce((0.0, [1, 2]), lambda s, x: (s[0] + x.max() * 0.5, s[1] + 1)),
            scaled.enumerate().reduce(0, lambda s, pair: s + pair[0] * pair[1].sum()),
            Dataset.range(0).reduce(7, lambda s, x: s + x),
        )

    want = [20, 8.0, 4, 5, 26, 7]
    assert np.concatenate([np.ravel(x) for x in jax.tree.leaves(f(2))]).tolist() == want
    assert np.concatenate([np.ravel(x) for x in jax.tree.leaves(ag.function(f)(2))]).tolist() == want


def test_lengths() -> None:
    dataset, endless, unknown = Dataset.range(5), Dataset.range(5).repeat(), Dataset.from_generator([1, 2])
    infinite, no = ag.data.INFINITE_CARDINALITY, ag.data.UNKNOWN_CARDINALITY
    for made, count in (
        (dataset.window(2, 1), 5), (dataset.window(2, 1, drop_remainder=True), 4), (dataset.window(2, 3, 2), 2), (dataset.shard(2, 0), 3),
        (dataset.flat_map(lambda x: Dataset.range(3)), 15), (dataset.flat_map(lambda x: Dataset.range(x)), no), (dataset.filter(lambda x: True), no),
        (endless, infinite), (endless.batch(2).enumerate(), infinite), (endless.take(7), 7), (dataset.concatenate(endless), infinite),
        (dataset.concatenate(unknown), no), (dataset.interleave(Dataset.from_tensors), no), (unknown.cache(), no), (unknown.batch(2), no),
        (dataset.batch(2).map(lambda x: x).unbatch(), no), (endless.skip(3).shard(2, 1), infinite), (endless.window(3).take(2), 2),
        (dataset.batch(2).map(lambda x: x).cache(), 3), (Dataset.zip(endless, dataset), 5), (endless.repeat(0), 0),
    ):  # fmt: skip
        assert made.cardinality() == count, made
    with pytest.raises(TypeError, match="an unknown number of items"):
        len(unknown)
    with pytest.raises(TypeError, match="no end"):
        len(endless)


def test_element_spec() -> None:
    i, f = "int32", "float32"
    dataset = Dataset.from_tensor_slices({"x": np.zeros((6, 2), np.float32), "y": [1, 2, 3, 4, 5, 6]})
    generated = Dataset.from_generator(list, output_signature=TensorSpec((None, 2), f))
    for made, spec in (
        (dataset, {"x": TensorSpec((2,), f), "y": TensorSpec((), i)}),
        (dataset.batch(2), {"x": TensorSpec((None, 2), f), "y": TensorSpec((None,), i)}),
        (dataset.batch(2, drop_remainder=True).enumerate(), (TensorSpec((), i), {"x": TensorSpec((2, 2), f), "y": TensorSpec((2,), i)})),
        (dataset.map(lambda e: e["x"] @ jnp.ones((2, 3))).batch(2).batch(4, True), TensorSpec((4, None, 3), f)),
        (dataset.map(lambda e: e["y"]).filter(lambda y: y > 1).repeat().cache(), TensorSpec((), i)),
        (Dataset.range(4).window(2), ag.data.DatasetSpec(TensorSpec((), i))),
        (Dataset.range(4).window(2).flat_map(lambda w: w.batch(2)), TensorSpec((None,), i)),
        (Dataset.range(4).interleave(lambda x: Dataset.from_tensors((x, 1.0))), (TensorSpec((), i), TensorSpec((), f))),
        (generated.padded_batch(3), TensorSpec((None, None, 2), f)),
        (generated.padded_batch(3, [5, None], drop_remainder=True), TensorSpec((3, 5, 2), f)),
        (generated.map(lambda x: x.sum(1)), TensorSpec((None,), f)),
        (Dataset.from_tensor_slices([[1, 2]]).concatenate(Dataset.from_tensor_slices([[1, 2, 3]])), TensorSpec((None,), i)),
        (Dataset.zip(dataset.map(lambda e: e["y"]), generated), (TensorSpec((), i), TensorSpec((None, 2), f))),
    ):
        assert made.element_spec == spec, (made.element_spec, spec)
    assert iter(Dataset.range(3)).element_spec == TensorSpec((), i)
    with pytest.raises(DatasetError, match="give `from_generator` an `output_signature`"):
        Dataset.from_generator([1]).element_spec


NOT_COMPILED: dict[str, tuple[Callable[[], Any], str]] = {
    "generator": (lambda: Dataset.from_generator([1, 2]), "its items come from a Python iterable"),
    "cached generator": (lambda: Dataset.from_generator([1, 2]).cache(), "its items come from a Python iterable"),
    "cached last batch": (lambda: Dataset.range(5).batch(2).map(doubled).cache(), "what `cache` keeps has a last batch that is smaller"),
    "flat_map": (lambda: Dataset.range(3).flat_map(lambda x: Dataset.range(x)), "it is not known how many items the datasets of `flat_map` have"),
    "flat_map, shuffled": (lambda: Dataset.range(3).flat_map(lambda x: Dataset.range(3).shuffle(3)), "it is not known how many items"),
    "interleave": (lambda: Dataset.range(3).interleave(Dataset.from_tensors), "it interleaves the items of datasets"),
    "windows": (lambda: Dataset.range(5).window(3, 1).map(lambda w: w.reduce(0, lambda s, x: s + x)), "the last windows are smaller, each of another size"),
    "last batch": (lambda: Dataset.range(5).batch(2).concatenate(Dataset.range(4).batch(2)), "`concatenate` comes after a `batch` whose last one"),
    "without end": (lambda: Dataset.range(5).concatenate(Dataset.range(2).repeat()).take(9), r"`repeat\(\)` has no end"),
    "padded": (lambda: Dataset.range(5).batch(2).padded_batch(2), "`padded_batch` comes after a `batch` whose last one is smaller"),
    "several shapes": (lambda: Dataset.from_tensors([1]).concatenate(Dataset.from_tensors([1, 2])), "it concatenates items of several shapes"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_COMPILED)
def test_what_python_alone_goes_over(name: str) -> None:
    make, why = NOT_COMPILED[name]
    dataset = make()
    assert len([*dataset]) > 1
    with pytest.raises(DatasetError, match=f"a compiled loop iterates over a dataset, and {why}") as caught:
        ag.function(digest)(dataset)
    assert caught.value.id == "AG707"


def test_what_is_wrong() -> None:
    dataset = Dataset.range(3)
    with pytest.raises(DatasetError, match=r"the items of one dataset are int32\[\], of the other float32\[2\]"):
        dataset.concatenate(Dataset.from_tensors([1.0, 2.0]))
    with pytest.raises(DatasetError, match="`concatenate` is given a `list`"):
        dataset.concatenate([1])  # type: ignore[arg-type]
    with pytest.raises(DatasetError, match="`shard` is given the index 3 of 3 shards"):
        dataset.shard(3, 3)
    with pytest.raises(DatasetError, match="`window` is given 0"):
        dataset.window(0)
    with pytest.raises(DatasetError, match="`interleave` is given 0"):
        dataset.interleave(Dataset.from_tensors, cycle_length=0)
    with pytest.raises(DatasetError, match="`as_numpy_iterator` is called in a compiled function"):
        ag.function(lambda: [*dataset.as_numpy_iterator()])()


# Iterators.


def two(it: Any) -> Any:
    a = next(it)
    return a.sum() * 100 + next(it).sum()


def some(it: Any, n: Any) -> Any:
    s = 0
    for _ in range(n):
        s += it.get_next().sum()
    return s


def rest(it: Any, limit: Any) -> Any:
    s = 0
    for x in it:
        s += x.sum()
        if s > limit:
            break
    return s


def shuffled() -> Any:
    return Dataset.range(24).shuffle(24, seed=3).batch(2)


@pytest.mark.parametrize("ahead", [0, 2])
def test_an_iterator_gives_each_item_once(ahead: int) -> None:
    one, other = iter(shuffled().prefetch(ahead)), iter(shuffled())
    for use in (
        two, two, lambda it: next(it).sum(), two, lambda it: some(it, 1), lambda it: some(it, jnp.int32(2)), lambda it: rest(it, 25), next, lambda it: rest(it, 999),
    ):  # fmt: skip
        want = use(other)
        got = use(one) if use is next else ag.function(use)(one)
        np.testing.assert_array_equal(got, want)
    for it in (one, other):
        with pytest.raises(StopIteration):
            next(it)
        with pytest.raises(StopIteration):
            ag.function(two)(it)
    assert int(ag.function(rest)(one, 1)) == int(rest(other, 1)) == 0


def test_one_program_takes_all_items() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.items, self.total = iter(Dataset.range(6).map(lambda x: x * 2)), jnp.int32(0)

        @ag.function
        def step(self) -> Any:
            self.total += next(self.items)
            return self.total

    trainer = Trainer()
    assert [int(trainer.step()) for _ in range(6)] == [0, 2, 6, 12, 20, 30]
    with pytest.raises(StopIteration):
        trainer.step()
    it = iter(Dataset.range(4).window(2))
    assert [ints(next(it)), int(ag.function(lambda it: next(it).reduce(0, lambda s, x: s + x))(it))] == [[0, 1], 5]


def test_an_iterator_in_branches_comprehensions_and_sums() -> None:
    @ag.function
    def f(it: Any, p: Any) -> Any:
        if p:
            x = it.get_next()
        else:
            x = jnp.int32(-1)
        return x

    it = iter(Dataset.range(9))
    assert [int(f(it, p)) for p in (True, False, True)] + [int(next(it))] == [0, -1, 1, 2]
    assert [int(x) for x in ag.function(lambda it: [next(it) for _ in range(2)])(it)] == [3, 4]

    @ag.function
    def pairs(it: Any) -> Any:
        s = 0
        for k, x in enumerate(it):
            s += k * x
        return s

    assert int(pairs(it)) == 6 + 2 * 7 + 3 * 8
    it = iter(Dataset.range(5))

    @ag.function
    def epochs(it: Any) -> Any:
        s = 0
        for _ in range(2):
            for x in it:
                s += x + 1
        return s

    assert int(epochs(it)) == 15


def test_an_iterator_that_a_compiled_function_cannot_take_from() -> None:
    for dataset, why in (
        (Dataset.range(5).batch(2), "whose last batch is smaller"),
        (Dataset.from_generator(lambda: range(5)), "its items come from a Python iterable"),
        (Dataset.range(3).repeat(), r"`repeat\(\)` has no end"),
    ):
        it = iter(dataset)
        for use in (two, lambda it: rest(it, 9)):
            with pytest.raises(DatasetError, match=why) as caught:
                ag.function(use)(it)
            assert caught.value.id == "AG707"
        assert np.ravel(next(it))[0] == 0
    it = iter(Dataset.range(5))

    @ag.function
    def by_next(it: Any, n: Any) -> Any:
        s = 0
        for _ in range(n):
            s += next(it)
        return s

    @ag.function
    def caught_(it: Any) -> Any:
        try:
            return next(it)
        except StopIteration:
            return jnp.int32(-1)

    with pytest.raises(EffectError, match="`next` would advance an iterator"):
        by_next(it, 2)
    with pytest.raises(StagedRaiseError):
        caught_(it)
    assert int(next(it)) == 0


def test_iterators_of_python() -> None:
    it = iter(Dataset.range(3))
    assert iter(it) is it and [int(next(it)), *ints(it)] == [0, 1, 2] and next(it, None) is None
    with pytest.raises(StopIteration):
        next(it)
    dataset = shuffled()
    assert [x.tolist() for x in dataset] != [x.tolist() for x in dataset]
