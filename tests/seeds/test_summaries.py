"""Item 28 of the articles: summaries, read back with TensorBoard's own reader."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import SummaryError

pytestmark = pytest.mark.libraries
pytest.importorskip("tensorboardX", reason="summaries need the extra `tensorboard`")


def events(folder: Path) -> Any:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="TensorBoard's reader is in the extra `libraries`")
    found = reading.EventAccumulator(str(folder), size_guidance={reading.IMAGES: 0, reading.HISTOGRAMS: 0})
    found.Reload()
    return found


def scalars(folder: Path, name: str) -> list[tuple[int, float]]:
    return [(e.step, round(e.value, 5)) for e in events(folder).Scalars(name)]


def test_28_scalars_every_n_steps(tmp_path: Path) -> None:
    with ag.summary.create_file_writer(tmp_path).as_default():
        for step in range(10):
            if step % 4 == 0:
                ag.summary.scalar("loss", 1.0 / (step + 1), step=step)
    assert scalars(tmp_path, "loss") == [(0, 1.0), (4, 0.2), (8, 0.11111)]


def test_28_from_a_compiled_loop(tmp_path: Path) -> None:
    @ag.function
    def train(n: Any) -> Any:
        w = 1.0
        for step in range(n):
            w *= 0.5
            if step % 2 == 0:
                ag.summary.scalar("w", w, step)
        return w

    with ag.summary.create_file_writer(tmp_path):
        train(6)
    train(3)  # without a writer nothing is written
    assert scalars(tmp_path, "w") == [(0, 0.5), (2, 0.125), (4, 0.03125)]
    with ag.summary.create_file_writer(tmp_path / "second"):  # the program is the same one, the writer is another
        train(1)
    assert scalars(tmp_path / "second", "w") == [(0, 0.5)] and len(scalars(tmp_path, "w")) == 3


def test_28_images_and_histograms(tmp_path: Path) -> None:
    images = np.linspace(0, 1, 2 * 4 * 6).reshape(2, 4, 6, 1)

    @ag.function
    def show(x: Any) -> None:
        ag.summary.image("two", x, 3)
        ag.summary.histogram("values", x, 3)

    with ag.summary.create_file_writer(tmp_path):
        show(images)
        ag.summary.text("said", "*hello*", 0)
    found = events(tmp_path)
    assert found.Tags()["images"] == ["two/0", "two/1"] and found.Tags()["tensors"] == ["said/text_summary"]
    [image] = found.Images("two/0")
    assert (image.step, image.width, image.height) == (3, 6, 4)
    pil = pytest.importorskip("PIL.Image", reason="tensorboardX writes images with Pillow")
    first = np.asarray(pil.open(io.BytesIO(image.encoded_image_string)).convert("L"))
    np.testing.assert_allclose(first, images[0, ..., 0] * 255, atol=1)
    [histogram] = found.Histograms("values")
    assert histogram.step == 3 and histogram.histogram_value.num == 48 and histogram.histogram_value.max == 1.0


def test_28_variables_and_the_global_step(tmp_path: Path) -> None:
    loss, step = ag.Variable(2.0), ag.Variable(7, trainable=False)
    with ag.summary.create_file_writer(tmp_path):
        ag.summary.scalar("loss", loss, step)
        jax.jit(lambda x: ag.summary.scalar("x", x, 1))(jnp.float32(3.0))
    assert scalars(tmp_path, "loss") == [(7, 2.0)] and scalars(tmp_path, "x") == [(1, 3.0)]


def test_28_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(SummaryError, match=r"`summary.scalar` is given float32\[3\]"):
        ag.summary.scalar("loss", jnp.ones(3), 0)
    with pytest.raises(SummaryError, match="give it shape"):
        ag.summary.image("picture", jnp.ones((4, 4)), 0)
    (tmp_path / "file").write_text("")
    with pytest.raises(SummaryError, match="cannot be written to"):
        ag.summary.create_file_writer(tmp_path / "file" / "inside")
    writer = ag.summary.create_file_writer(tmp_path / "w")
    writer.close()
    with pytest.raises(SummaryError, match="has been closed"):
        with writer:
            pass


def test_28_a_writers_block_in_a_compiled_function(tmp_path: Path) -> None:
    writers = {name: ag.summary.create_file_writer(tmp_path / name) for name in ("train", "test")}

    @ag.function
    def f(n: Any) -> Any:
        for step in range(n):
            with writers["train"].as_default():
                ag.summary.scalar("loss", step * 2.0, step)
                ag.summary.text("told", f"step {step} of {n}", step)
            with writers["test"].as_default():
                ag.summary.scalar("loss", step * 3.0, step)
        return n

    f(2)
    f(3)
    for writer in writers.values():
        writer.close()
    assert scalars(tmp_path / "train", "loss") == [(0, 0.0), (1, 2.0), (0, 0.0), (1, 2.0), (2, 4.0)]
    assert scalars(tmp_path / "test", "loss") == [(0, 0.0), (1, 3.0), (0, 0.0), (1, 3.0), (2, 6.0)]
    told = [e.tensor_proto.string_val[0] for e in events(tmp_path / "train").Tensors("told/text_summary")]
    assert told == [b"step 0 of 2", b"step 1 of 2", b"step 0 of 3", b"step 1 of 3", b"step 2 of 3"]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "ag.function"])
def test_28_a_histogram_of_what_is_not_finite(compiled: bool, tmp_path: Path) -> None:
    def f(x: Any) -> None:
        ag.summary.histogram("some", x, 0)
        ag.summary.histogram("none", x * jnp.nan, 0)
        ag.summary.histogram("empty", x[:0], 0)

    told = pytest.warns(RuntimeWarning, match="of the 3 numbers of histogram '(some|none)' are not finite")
    with ag.summary.create_file_writer(tmp_path).as_default(), told:
        (ag.function(f) if compiled else f)(jnp.array([1.0, jnp.inf, 2.0]))
        jax.effects_barrier()
    counts = {name: events(tmp_path).Histograms(name)[0].histogram_value.num for name in ("some", "none", "empty")}
    assert counts == {"some": 2, "none": 0, "empty": 0}


def test_28_a_step_that_is_none() -> None:
    with pytest.raises(SummaryError, match="AG709 the step is 'a'"):
        ag.summary.scalar("loss", 1.0, "a")
