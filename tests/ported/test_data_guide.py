"""TensorFlow's guide "tf.data: Build TensorFlow input pipelines": tensorflow.org/guide/data."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.ndimage as ndimage
from jax.experimental.sparse import BCOO

import autograph as ag
from autograph.runtime.errors.errors import AutographError, ConcreteValueError, DatasetError

Dataset, TensorSpec = ag.data.Dataset, ag.TensorSpec

# in the place of the files of the page: passengers as (survived, class, fare, sex), and 628 lines in all, as many as the page's file has
PASSENGERS = [(k % 3 == 1, k % 3 + 1, 7.25 + k, ("male", "female")[k % 2]) for k in range(627)]
LINES = ["survived,class,fare,sex"] + [f"{survived:d},{kind},{fare},{sex}" for survived, kind, fare, sex in PASSENGERS]


def lists(items: Any) -> list[Any]:
    """The items as Python's lists."""
    return [jax.tree.map(lambda x: np.asarray(x).tolist(), item) for item in items]


def text(line: Any) -> str:
    return bytes(np.asarray(line)).decode()


def lines_of(path: Path) -> ag.data.Dataset:
    """The lines of a file as arrays of bytes: an array holds no strings."""

    def read() -> Iterator[Any]:
        with open(path, "rb") as file:
            for line in file:
                yield np.frombuffer(line.rstrip(b"\n"), np.uint8)

    return Dataset.from_generator(read, output_signature=TensorSpec((None,), "uint8"))


# basic mechanics


def test_items_of_a_list() -> None:
    dataset = Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
    assert dataset.element_spec == TensorSpec((), "int32")
    assert repr(dataset) == "<ag.data.Dataset of 6 items>"  # TensorFlow's shows the specification
    assert [int(elem) for elem in dataset] == [8, 3, 0, 8, 2, 1]
    it = iter(dataset)
    assert int(next(it)) == 8


def test_reduce_to_a_sum() -> None:
    dataset = Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
    assert int(dataset.reduce(0, lambda state, value: state + value)) == 22


# the structure of a dataset


def three_datasets() -> tuple[ag.data.Dataset, ag.data.Dataset, ag.data.Dataset]:
    dataset1 = Dataset.from_tensor_slices(ag.random.uniform([4, 10], minval=1, maxval=10, dtype=jnp.int32))
    dataset2 = Dataset.from_tensor_slices((ag.random.uniform([4]), ag.random.uniform([4, 100], maxval=100, dtype=jnp.int32)))
    return dataset1, dataset2, Dataset.zip((dataset1, dataset2))


def test_specifications() -> None:
    dataset1 = Dataset.from_tensor_slices(ag.random.uniform([4, 10]))
    assert dataset1.element_spec == TensorSpec((10,), "float32")
    _, dataset2, _ = three_datasets()
    assert dataset2.element_spec == (TensorSpec((), "float32"), TensorSpec((100,), "int32"))
    dataset3 = Dataset.zip((dataset1, dataset2))
    assert dataset3.element_spec == (TensorSpec((10,), "float32"), (TensorSpec((), "float32"), TensorSpec((100,), "int32")))


def test_a_sparse_array() -> None:
    # tf.SparseTensor is JAX's BCOO, a pytree of arrays; its kind is known by its type, there is no `value_type`
    sparse = BCOO((jnp.array([1, 2]), jnp.array([[0, 0], [1, 2]])), shape=(3, 4))
    dataset4 = Dataset.from_tensors(sparse)
    assert isinstance(dataset4.element_spec, BCOO) and dataset4.element_spec.shape == (3, 4)
    (item,) = dataset4
    assert item.todense().tolist() == [[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]]


def test_functions_get_the_parts() -> None:
    dataset1, _, dataset3 = three_datasets()
    for z in dataset1:
        assert z.shape == (10,) and 1 <= int(z.min()) and int(z.max()) < 10
    shapes = []
    for a, (b, c) in dataset3:
        shapes.append(f"shapes: {a.shape}, {b.shape}, {c.shape}")
    assert shapes == ["shapes: (10,), (), (100,)"] * 4
    sums = dataset3.map(lambda a, bc: a.sum() + bc[1].sum())
    assert [int(s) for s in sums] == [int(a.sum() + c.sum()) for a, (_, c) in dataset3]


# reading input data


def test_numpy_arrays() -> None:
    # in the place of the images of clothes: as many axes, and of the same dtypes
    images, labels = np.arange(4 * 28 * 28, dtype=np.uint8).reshape(4, 28, 28), np.array([9, 0, 3, 2], np.uint8)
    images = images / 255
    dataset = Dataset.from_tensor_slices((images, labels))
    # float64 in TensorFlow: arrays of JAX's are float32
    assert dataset.element_spec == (TensorSpec((28, 28), "float32"), TensorSpec((), "uint8"))
    image, label = next(iter(dataset))
    np.testing.assert_allclose(image, images[0], rtol=1e-6)
    assert int(label) == 9


def count(stop: int) -> Iterator[int]:
    i = 0
    while i < stop:
        yield i
        i += 1


def test_a_generator_with_an_argument() -> None:
    assert list(count(5)) == [0, 1, 2, 3, 4]
    ds_counter = Dataset.from_generator(count, args=[25], output_types=jnp.int32, output_shapes=())
    batches = [b.tolist() for b in ds_counter.repeat().batch(10).take(10)]
    assert batches[:3] == [[*range(10)], [*range(10, 20)], [20, 21, 22, 23, 24, 0, 1, 2, 3, 4]]
    assert batches == [[k % 25 for k in range(10 * n, 10 * n + 10)] for n in range(10)]


def gen_series() -> Iterator[Any]:
    i = 0
    while True:
        size = np.random.randint(0, 10)
        yield i, np.random.normal(size=(size,))
        i += 1


def test_series_of_several_lengths() -> None:
    np.random.seed(0)
    first = list(itertools.islice(gen_series(), 7))
    assert [i for i, _ in first] == [0, 1, 2, 3, 4, 5, 6]
    ds_series = Dataset.from_generator(gen_series, output_types=(jnp.int32, jnp.float32), output_shapes=((), (None,)))
    assert ds_series.element_spec == (TensorSpec((), "int32"), TensorSpec((None,), "float32"))
    ds_series_batch = ds_series.shuffle(20).padded_batch(10)
    ids, sequence_batch = next(iter(ds_series_batch))
    assert ids.shape == (10,) and len(set(ids.tolist())) == 10 and int(ids.max()) < 30
    assert sequence_batch.dtype == jnp.float32 and sequence_batch.shape[0] == 10 and sequence_batch.shape[1] <= 9
    # to the right of a row's own numbers there are zeros
    lengths = np.count_nonzero(np.asarray(sequence_batch), axis=1)
    assert max(lengths) == sequence_batch.shape[1]
    assert all(not np.asarray(row)[n:].any() for row, n in zip(sequence_batch, lengths))


def test_batches_of_images_of_a_generator() -> None:
    # in the place of Keras's ImageDataGenerator, which is not here: something that makes batches of images and one-hot labels
    def flow() -> Iterator[Any]:
        while True:
            yield np.random.uniform(size=(32, 64, 64, 3)), np.eye(5)[np.random.randint(0, 5, 32)]

    ds = Dataset.from_generator(flow, output_types=(jnp.float32, jnp.float32), output_shapes=([32, 64, 64, 3], [32, 5]))
    assert ds.element_spec == (TensorSpec((32, 64, 64, 3), "float32"), TensorSpec((32, 5), "float32"))
    for images, labels in ds.take(1):
        assert (images.shape, images.dtype) == ((32, 64, 64, 3), jnp.float32)
        assert labels.shape == (32, 5) and labels.sum() == 32


def test_no_readers_of_file_formats() -> None:
    # TFRecord files with tf.train.Example in them, lists of files, lines and CSV: read in Python, and handed to `from_generator`
    for name in ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "experimental"):
        assert not hasattr(ag.data, name)
    assert not hasattr(Dataset, "list_files")


def test_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "poem.txt"
    path.write_text("one\ntwo\nthree\nfour\nfive\nsix\n")
    assert [text(line) for line in lines_of(path).take(5)] == ["one", "two", "three", "four", "five"]


def test_lines_of_three_files_in_turn(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.txt" for name in ("cowper", "derby", "butler")]
    for path in paths:
        path.write_text("".join(f"{path.stem} {k}\n" for k in range(5)))
    files_ds = Dataset.range(3)  # the numbers of the paths, which are strings
    lines_ds = files_ds.interleave(lambda k: lines_of(paths[int(k)]), cycle_length=3)
    expected = [f"{path.stem} {k}" for k in range(3) for path in paths]
    assert [text(line) for line in lines_ds.take(9)] == expected


def test_lines_of_those_who_survived(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("\n".join(LINES))
    titanic_lines = lines_of(path)
    assert [text(line) for line in titanic_lines.take(10)] == LINES[:10]
    survivors = titanic_lines.skip(1).filter(lambda line: line[0] != ord("0"))
    assert [text(line) for line in survivors.take(10)] == [line for line in LINES[1:] if line[0] == "1"][:10]


def test_lines_as_strings() -> None:
    # there are no arrays of strings: lines are arrays of their bytes, as above
    with pytest.raises(AutographError, match="AG707 .*no array"):
        list(Dataset.from_generator(lambda: iter(LINES)))


# CSV


def test_columns_as_a_dict() -> None:
    df = {name: np.array([row[k] for row in PASSENGERS]) for k, name in enumerate(("survived", "class", "fare"))}
    titanic_slices = Dataset.from_tensor_slices(df)
    for feature_batch in titanic_slices.take(1):
        # the keys are in sorted order, as everywhere in JAX
        assert {key: value.tolist() for key, value in feature_batch.items()} == {"class": 1, "fare": 7.25, "survived": False}
    # batches with the label apart, as of make_csv_dataset
    titanic_batches = titanic_slices.map(lambda row: ({k: v for k, v in row.items() if k != "survived"}, row["survived"])).batch(4)
    feature_batch, label_batch = next(iter(titanic_batches))
    assert label_batch.tolist() == [False, True, False, False]
    assert lists([feature_batch]) == [{"class": [1, 2, 3, 1], "fare": [7.25, 8.25, 9.25, 10.25]}]
    # some of the columns, as with select_columns
    selected = Dataset.from_tensor_slices({k: df[k] for k in ("class", "survived")}).batch(4)
    assert sorted(next(iter(selected))) == ["class", "survived"]


def test_columns_of_strings_are_refused() -> None:
    with pytest.raises(DatasetError, match="AG707 `from_tensor_slices` is given what is no array"):
        Dataset.from_tensor_slices({"sex": np.array([row[3] for row in PASSENGERS]), "fare": np.array([row[2] for row in PASSENGERS])})


def test_missing_values_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "missing.csv"
    path.write_text("1,2,3,4\n,2,3,4\n1,,3,4\n1,2,,4\n1,2,3,\n,,,\n")

    def records(record_defaults: list[int], select_cols: tuple[int, ...] = (0, 1, 2, 3)) -> ag.data.Dataset:
        """In the place of CsvDataset: Python's own reader."""

        def read() -> Iterator[Any]:
            with open(path) as file:
                for row in csv.reader(file):
                    yield tuple(int(row[k]) if row[k] else default for k, default in zip(select_cols, record_defaults))

        return Dataset.from_generator(read, output_signature=tuple(TensorSpec((), "int32") for _ in select_cols))

    dataset = records([999, 999, 999, 999]).map(lambda *items: jnp.stack(items))
    assert dataset.element_spec == TensorSpec((4,), "int32")
    assert lists(dataset) == [[1, 2, 3, 4], [999, 2, 3, 4], [1, 999, 3, 4], [1, 2, 999, 4], [1, 2, 3, 999], [999, 999, 999, 999]]
    dataset = records([999, 999], select_cols=(1, 3)).map(lambda *items: jnp.stack(items))
    assert dataset.element_spec == TensorSpec((2,), "int32")
    assert lists(dataset) == [[2, 4], [2, 4], [999, 4], [2, 4], [2, 999], [999, 999]]


# sets of files


@pytest.fixture
def flowers_root(tmp_path: Path) -> Path:
    """A folder for each class, with images of several sizes, in NumPy's format."""
    for k, (name, size) in enumerate([("daisy", (40, 30)), ("roses", (32, 48)), ("tulips", (64, 64))]):
        (tmp_path / name).mkdir()
        for n in range(2):
            np.save(tmp_path / name / f"{n}.npy", np.full((*size, 3), 50 * k + 10 * n, np.uint8))
    return tmp_path


def labelled(flowers_root: Path) -> ag.data.Dataset:
    """The images and the numbers of their classes, as of list_files and read_file."""
    classes = sorted(item.name for item in flowers_root.glob("*"))

    def read() -> Iterator[Any]:
        for path in sorted(flowers_root.glob("*/*")):
            yield np.load(path), classes.index(path.parent.name)

    return Dataset.from_generator(read, output_signature=(TensorSpec((None, None, 3), "uint8"), TensorSpec((), "int32")))


def test_a_folder_for_each_class(flowers_root: Path) -> None:
    assert sorted(item.name for item in flowers_root.glob("*")) == ["daisy", "roses", "tulips"]
    labeled_ds = labelled(flowers_root)
    assert [(image.shape, int(label)) for image, label in labeled_ds.take(3)] == [((40, 30, 3), 0), ((40, 30, 3), 0), ((32, 48, 3), 1)]


# batches


def test_simple_batches() -> None:
    inc_dataset = Dataset.range(100)
    dec_dataset = Dataset.range(0, -100, -1)
    dataset = Dataset.zip((inc_dataset, dec_dataset))
    batched_dataset = dataset.batch(4)
    assert lists([arr.tolist() for arr in batch] for batch in batched_dataset.take(4)) == [
        [[0, 1, 2, 3], [0, -1, -2, -3]],
        [[4, 5, 6, 7], [-4, -5, -6, -7]],
        [[8, 9, 10, 11], [-8, -9, -10, -11]],
        [[12, 13, 14, 15], [-12, -13, -14, -15]],
    ]
    # int64 in TensorFlow
    assert batched_dataset.element_spec == (TensorSpec((None,), "int32"), TensorSpec((None,), "int32"))
    batched_dataset = dataset.batch(7, drop_remainder=True)
    assert batched_dataset.element_spec == (TensorSpec((7,), "int32"), TensorSpec((7,), "int32"))
    assert batched_dataset.cardinality() == 14


def test_padded_batches() -> None:
    dataset = Dataset.from_generator(lambda: (np.full([x], x) for x in range(100)), output_signature=TensorSpec((None,), "int32"))
    dataset = dataset.padded_batch(4, padded_shapes=(None,))
    assert [batch.tolist() for batch in dataset.take(2)] == [
        [[0, 0, 0], [1, 0, 0], [2, 2, 0], [3, 3, 3]],
        [[4, 4, 4, 4, 0, 0, 0], [5, 5, 5, 5, 5, 0, 0], [6, 6, 6, 6, 6, 6, 0], [7, 7, 7, 7, 7, 7, 7]],
    ]


def test_a_map_that_makes_lengths_of_values() -> None:
    # dynamic shapes do not exist: the page's `map` with tf.fill is refused, and a generator makes the arrays
    dataset = Dataset.range(100).map(lambda x: jnp.full([x], x))
    with pytest.raises(ConcreteValueError, match="AG502 `jnp.full` needs a shape that is static"):
        next(iter(dataset.padded_batch(4, padded_shapes=(None,))))


# training workflows


def batch_sizes(ds: ag.data.Dataset) -> list[int]:
    return [batch.shape[0] for batch in ds]


def test_repeat_and_batch() -> None:
    titanic_lines = Dataset.range(len(LINES))
    assert len(LINES) == 628
    assert batch_sizes(titanic_lines.repeat(3).batch(128)) == [128] * 14 + [92]
    assert batch_sizes(titanic_lines.batch(128).repeat(3)) == [128, 128, 128, 128, 116] * 3


def test_something_at_the_end_of_each_epoch() -> None:
    dataset = Dataset.range(len(LINES)).batch(128)
    said: list[Any] = []
    for epoch in range(3):
        for batch in dataset:
            said.append(batch.shape)
        said.append(f"End of epoch: {epoch}")
    shapes = [(128,), (128,), (128,), (128,), (116,)]
    assert said == [*shapes, "End of epoch: 0", *shapes, "End of epoch: 1", *shapes, "End of epoch: 2"]


def numbered_lines() -> ag.data.Dataset:
    """Pairs of a number and a line; the counter without end is a generator."""
    counter = Dataset.from_generator(itertools.count, output_signature=TensorSpec((), "int32"))
    lines = Dataset.from_tensor_slices(np.array([np.frombuffer(line.encode().ljust(40), np.uint8) for line in LINES]))
    return Dataset.zip((counter, lines))


def test_shuffled_out_of_a_buffer() -> None:
    dataset = numbered_lines().shuffle(buffer_size=100).batch(20)
    n, line_batch = next(iter(dataset))
    assert n.shape == (20,) and line_batch.shape == (20, 40)
    assert len(set(n.tolist())) == 20 and int(n.max()) < 120
    assert n.tolist() != sorted(n.tolist())
    assert all(text(line).rstrip() == LINES[k] for k, line in zip(n.tolist(), line_batch))


def test_shuffle_before_repeat() -> None:
    shuffled = numbered_lines().shuffle(buffer_size=100).batch(10).repeat(2)
    batches = [n.tolist() for n, _ in shuffled]
    assert len(batches) == 126 and [len(b) for b in batches[60:65]] == [10, 10, 8, 10, 10]
    first, second = sum(batches[:63], []), sum(batches[63:], [])
    # each epoch is whole before the next one begins, in another order
    assert sorted(first) == sorted(second) == [*range(628)] and first != second
    assert np.mean(first[-100:]) > 450 and np.mean(second[:100]) < 150


def test_repeat_before_shuffle() -> None:
    shuffled = numbered_lines().repeat(2).shuffle(buffer_size=100).batch(10)
    batches = [n.tolist() for n, _ in shuffled]
    assert sorted(sum(batches, [])) == sorted([*range(628)] * 2)
    # near the boundary the epochs are mixed
    around = sum(batches[55:70], [])
    assert min(around) < 60 and max(around) > 550
    assert any(min(b) < 100 and max(b) > 500 for b in batches[53:66])


# preprocessing


def parse_image(image: Any, label: Any) -> Any:
    image = image.astype(jnp.float32) / 255
    return jax.image.resize(image, [128, 128, 3], "linear"), label


def test_images_of_one_size(flowers_root: Path) -> None:
    images_ds = labelled(flowers_root).map(parse_image)
    image, label = next(iter(images_ds))
    assert image.shape == (128, 128, 3) and int(label) == 0
    found = [(image.shape, round(float(image[5, 5, 0]) * 255)) for image, _ in images_ds]
    assert found == [((128, 128, 3), n) for n in (0, 10, 50, 60, 100, 110)]


def rotate(image: Any) -> Any:
    return ndimage.rotate(image, np.random.uniform(-30, 30), reshape=False)


def random_rotate_image(image: Any) -> Any:
    # the shape is said here; TensorFlow's page sets it afterwards with `set_shape`
    return ag.py_func(rotate, [image], jnp.float32, shape=image.shape)


def test_python_in_a_map(flowers_root: Path) -> None:
    np.random.seed(1)
    images_ds = labelled(flowers_root).skip(5).map(parse_image)
    image, _ = next(iter(images_ds))
    rotated = random_rotate_image(image)
    assert rotated.shape == image.shape and not np.allclose(rotated, image)
    rot_ds = images_ds.repeat(2).map(lambda image, label: (random_rotate_image(image), label))
    one, two = (image for image, _ in rot_ds.take(2))
    assert one.shape == (128, 128, 3) and one.dtype == jnp.float32
    assert float(one[64, 64, 0]) == pytest.approx(110 / 255, rel=0.01)
    assert not np.allclose(one, two)  # each is rotated by another angle


def test_py_func_as_a_decorator() -> None:
    @ag.py_func(Tout=jnp.float32)
    def random_rotate_image(image: Any) -> Any:
        return ndimage.rotate(image, np.random.uniform(-30, 30), reshape=False)

    assert random_rotate_image(jnp.ones((8, 8, 3))).shape == (8, 8, 3)


def test_python_in_a_map_without_a_shape() -> None:
    # TensorFlow needs no shape; here the function would be traced to find it
    images_ds = Dataset.from_tensor_slices((jnp.ones((4, 8, 8, 3)), jnp.arange(4)))
    with pytest.raises(AutographError, match=r"AG502 .*(?s:.*)shape=\(\)"):
        list(images_ds.map(lambda image, label: (ag.py_func(rotate, [image], jnp.float32), label)))


def test_python_in_a_map_before_a_batch() -> None:
    images_ds = Dataset.from_tensor_slices((jnp.ones((4, 8, 8, 3)), jnp.arange(4)))
    rot_ds = images_ds.map(lambda image, label: (random_rotate_image(image), label)).batch(2)
    assert [image.shape for image, _ in rot_ds] == [(2, 8, 8, 3)] * 2


# windows of time series


def dense_1_step(batch: Any) -> Any:
    return batch[:-1], batch[1:]


def label_next_5_steps(batch: Any) -> Any:
    return (
        batch[:-5],  # inputs: all but the last 5 steps
        batch[-5:],  # labels: the last 5 steps
    )


def test_windows_by_batch() -> None:
    range_ds = Dataset.range(100000)
    batches = range_ds.batch(10, drop_remainder=True)
    assert lists(batches.take(5)) == [[*range(k, k + 10)] for k in (0, 10, 20, 30, 40)]
    predict_dense_1_step = batches.map(dense_1_step)
    assert lists(predict_dense_1_step.take(3)) == [([*range(k, k + 9)], [*range(k + 1, k + 10)]) for k in (0, 10, 20)]
    predict_5_steps = range_ds.batch(15, drop_remainder=True).map(label_next_5_steps)
    assert lists(predict_5_steps.take(3)) == [([*range(k, k + 10)], [*range(k + 10, k + 15)]) for k in (0, 15, 30)]


def test_labels_of_the_next_batch() -> None:
    range_ds = Dataset.range(100000)
    feature_length = 10
    label_length = 3
    features = range_ds.batch(feature_length, drop_remainder=True)
    labels = range_ds.batch(feature_length).skip(1).map(lambda labels: labels[:label_length])
    predicted_steps = Dataset.zip((features, labels))
    assert lists(predicted_steps.take(5)) == [([*range(k, k + 10)], [k + 10, k + 11, k + 12]) for k in (0, 10, 20, 30, 40)]


def test_windows_are_datasets() -> None:
    window_size = 5
    windows = Dataset.range(100000).window(window_size, shift=1)
    for sub_ds in windows.take(5):
        assert isinstance(sub_ds, Dataset) and sub_ds.element_spec == TensorSpec((), "int32")
    flat = windows.flat_map(lambda x: x).take(30)
    assert " ".join(str(x) for x in flat) == "0 1 2 3 4 1 2 3 4 5 2 3 4 5 6 3 4 5 6 7 4 5 6 7 8 5 6 7 8 9"

    def sub_to_batch(sub: Any) -> Any:
        return sub.batch(window_size, drop_remainder=True)

    assert lists(windows.flat_map(sub_to_batch).take(5)) == [[*range(k, k + 5)] for k in range(5)]


def make_window_dataset(ds: ag.data.Dataset, window_size: int = 5, shift: int = 1, stride: int = 1) -> ag.data.Dataset:
    windows = ds.window(window_size, shift=shift, stride=stride)

    def sub_to_batch(sub: Any) -> Any:
        return sub.batch(window_size, drop_remainder=True)

    windows = windows.flat_map(sub_to_batch)
    return windows


def test_windows_with_shift_and_stride() -> None:
    ds = make_window_dataset(Dataset.range(100000), window_size=10, shift=5, stride=3)
    assert lists(ds.take(10)) == [[*range(k, k + 30, 3)] for k in range(0, 50, 5)]
    dense_labels_ds = ds.map(dense_1_step)
    assert lists(dense_labels_ds.take(3)) == [([*range(k, k + 27, 3)], [*range(k + 3, k + 30, 3)]) for k in (0, 5, 10)]


# resampling


def creditcards() -> ag.data.Dataset:
    """Two features, and a class that one of 200 has."""
    rng = np.random.default_rng(0)
    labels = (np.arange(5120) % 200 == 0).astype(np.int32)
    features = {"amount": rng.normal(size=5120).astype(np.float32), "time": np.arange(5120, dtype=np.float32)}
    return Dataset.from_tensor_slices((features, labels)).batch(512)


def counted(counts: Any, batch: Any) -> Any:
    features, labels = batch
    class_1 = (labels == 1).astype(jnp.int32)
    class_0 = (labels == 0).astype(jnp.int32)
    counts["class_0"] += jnp.sum(class_0)
    counts["class_1"] += jnp.sum(class_1)
    return counts


def classes() -> tuple[ag.data.Dataset, ag.data.Dataset]:
    negative_ds = creditcards().unbatch().filter(lambda features, label: label == 0).repeat()
    positive_ds = creditcards().unbatch().filter(lambda features, label: label == 1).repeat()
    return negative_ds, positive_ds


def test_how_many_are_of_each_class() -> None:
    counts = creditcards().take(10).reduce(initial_state={"class_0": 0, "class_1": 0}, reduce_func=counted)
    counts = np.array([int(counts["class_0"]), int(counts["class_1"])]).astype(np.float32)
    assert counts.tolist() == [5094, 26]
    np.testing.assert_allclose(counts / counts.sum(), [0.9949, 0.0051], atol=1e-4)


def test_the_items_of_one_class() -> None:
    negative_ds, positive_ds = classes()
    for features, label in positive_ds.batch(10).take(1):
        assert label.tolist() == [1] * 10
        assert features["time"].tolist() == [200.0 * k for k in range(10)]
    for features, label in negative_ds.batch(10).take(1):
        assert label.tolist() == [0] * 10


def test_sampling_from_datasets() -> None:
    balanced_ds = Dataset.sample_from_datasets([*classes()], [0.5, 0.5]).batch(10)
    share = np.mean([labels for _, labels in balanced_ds.take(10)])
    assert 0.3 < share < 0.7


def test_there_is_no_rejection_resampling() -> None:
    # `sample_from_datasets` of filtered datasets does it, as above
    with pytest.raises(AttributeError):
        creditcards().unbatch().rejection_resample


# where an iterator stands


def test_a_checkpoint_of_an_iterator(tmp_path: Path) -> None:
    range_ds = Dataset.range(20)
    iterator = iter(range_ds)
    ckpt = ag.Checkpoint(step=ag.Variable(0), iterator=iterator)
    manager = ag.CheckpointManager(ckpt, tmp_path / "my_ckpt", max_to_keep=3)
    assert [int(next(iterator)) for _ in range(5)] == [0, 1, 2, 3, 4]
    manager.save()
    assert [int(next(iterator)) for _ in range(5)] == [5, 6, 7, 8, 9]
    ckpt.restore(manager.latest_checkpoint)
    assert [int(next(iterator)) for _ in range(5)] == [5, 6, 7, 8, 9]


# models


@pytest.fixture(scope="module")
def images_and_labels() -> tuple[Any, Any]:
    """In the place of the images of clothes: two rows of each are bright, which tell the label."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 640).astype(np.int32)
    images = rng.uniform(0, 0.5, size=(640, 10, 4)).astype(np.float32)
    images[np.arange(640), labels] += 1
    return images, labels


def compiled_model() -> Any:
    ag.set_seed(0)
    model = ag.layers.Sequential([ag.layers.Flatten(), ag.layers.Dense(10)])
    model.compile(optimizer="adam", loss=ag.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


def test_fit_and_evaluate(images_and_labels: tuple[Any, Any]) -> None:
    fmnist_train_ds = Dataset.from_tensor_slices(images_and_labels).shuffle(5000).batch(32)
    model = compiled_model()
    history = model.fit(fmnist_train_ds, epochs=2, verbose=0)
    assert sorted(history.history) == ["accuracy", "loss"] and history.epoch == [0, 1]
    assert history.history["loss"][1] < history.history["loss"][0]
    loss, accuracy = model.evaluate(fmnist_train_ds)
    logits = model.predict(images_and_labels[0])
    shares = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    assert loss == pytest.approx(-shares[np.arange(640), images_and_labels[1]].mean(), rel=1e-4)
    assert accuracy == pytest.approx((logits.argmax(-1) == images_and_labels[1]).mean())


def test_fit_without_end(images_and_labels: tuple[Any, Any]) -> None:
    fmnist_train_ds = Dataset.from_tensor_slices(images_and_labels).shuffle(5000).batch(32)
    history = compiled_model().fit(fmnist_train_ds.repeat(), epochs=2, steps_per_epoch=20, verbose=0)
    assert len(history.history["loss"]) == 2


def test_evaluate_some_steps(images_and_labels: tuple[Any, Any]) -> None:
    fmnist_train_ds = Dataset.from_tensor_slices(images_and_labels).shuffle(5000).batch(32)
    loss, accuracy = compiled_model().evaluate(fmnist_train_ds.repeat(), steps=10)
    assert loss > 0 and 0 <= accuracy <= 1


def test_predict_some_steps(images_and_labels: tuple[Any, Any]) -> None:
    predict_ds = Dataset.from_tensor_slices(images_and_labels[0]).batch(32)
    assert compiled_model().predict(predict_ds, steps=10).shape == (320, 10)


def test_steps_by_take(images_and_labels: tuple[Any, Any]) -> None:
    # the same numbers of steps, with `take`
    fmnist_train_ds = Dataset.from_tensor_slices(images_and_labels).shuffle(5000).batch(32)
    model = compiled_model()
    history = model.fit(fmnist_train_ds.repeat().take(20), epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2
    loss, accuracy = model.evaluate(fmnist_train_ds.repeat().take(10))
    assert loss > 0 and 0 <= accuracy <= 1
    predict_ds = Dataset.from_tensor_slices(images_and_labels[0]).batch(32)
    assert model.predict(predict_ds.take(10)).shape == (320, 10)
    # labels beside the images are left alone
    assert model.predict(fmnist_train_ds.take(10)).shape == (320, 10)
