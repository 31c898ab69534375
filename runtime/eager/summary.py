"""`ag.summary`: numbers, images and histograms for TensorBoard, eagerly and from compiled programs; the files are tensorboardX's."""

from __future__ import annotations

import operator
import os
import time
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any

import jax
import numpy as np

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.errors.errors import SummaryError
from autograph.runtime.errors.extras import needed
from autograph.runtime.errors.source_spans import here
from autograph.runtime.host.output import afterwards
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.state.formatting import as_shown

__all__ = [
    "Writer", "create_file_writer", "histogram", "image", "scalar", "text",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


_writers: list[tuple[Writer, bool]] = []  # those whose blocks the program is in, the innermost last; is the block compiled?


def _library(part: str) -> Any:
    return needed(f"tensorboardX.{part}", "summary", "tensorboard")


class Writer:
    """A file of events in a folder that TensorBoard is told (`tensorboard --logdir FOLDER`); `create_file_writer` makes one.

    In its `with` block, or that of `as_default()`, summaries are written to it.
    """

    def __init__(self, logdir: str | os.PathLike[str]) -> None:
        writer = _library("event_file_writer").EventsWriter  # without the queue of `SummaryWriter`: what has been told can be read
        self.logdir, self._open = os.fspath(logdir), True
        try:
            os.makedirs(self.logdir, exist_ok=True)
            self._file = writer(os.path.join(self.logdir, "events"))
        except OSError as error:
            raise SummaryError(f"{self.logdir} cannot be written to: {error.strerror or error}", here(), "choose a folder") from None

    def as_default(self) -> Writer:
        return self

    def __enter__(self) -> Writer:
        if not self._open:
            raise SummaryError(f"the writer of {self.logdir} has been closed", here(), "make another one")
        _writers.append((self, _jax.compiling()))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        last = max(k for k, (writer, _) in enumerate(_writers) if writer is self)
        if _writers.pop(last)[1]:
            afterwards(self.flush, (), {})
        else:
            jax.effects_barrier()  # what compiled programs that run still have to write
            self.flush()

    def add(self, summary: Any, step: int) -> None:
        """Write a summary as tensorboardX makes it."""
        if self._open:
            self._file.write_event(_library("proto.event_pb2").Event(wall_time=time.time(), step=step, summary=summary))

    def flush(self) -> None:
        """Write what has been told so far."""
        if self._open:
            self._file.flush()

    def close(self) -> None:
        """Write what has been told, and close the file."""
        jax.effects_barrier()
        self._file.close()
        self._open = False

    def __del__(self) -> None:
        if hasattr(self, "_file") and self._open:
            self._file.close()


def create_file_writer(logdir: str | os.PathLike[str]) -> Writer:
    """A writer of events into a folder, which is made where it does not exist.

    Raises:
      SummaryError: (AG709) the folder cannot be written to.
      ImportError: the extra `tensorboard` is not installed.

    As `tf.summary.create_file_writer` (https://www.tensorflow.org/api_docs/python/tf/summary).

    >>> import tempfile, jax.numpy as jnp, autograph as ag
    >>> with tempfile.TemporaryDirectory() as folder, ag.summary.create_file_writer(folder) as writer:
    ...     for step in range(3):
    ...         ag.summary.scalar("loss", 1.0 / (step + 1), step)
    """
    return Writer(logdir)


def scalar(name: str, data: Any, step: Any) -> None:
    """A number, at a step; in a compiled loop or branch whenever the program comes there.

    Without a writer's block around nothing is written.

    Raises:
      SummaryError: (AG709) it is no number.
    """
    data = _checked("scalar", data, lambda shape: shape == (), "one number")
    _write(lambda make, x: [make.scalar(name, float(x))], data, step)


def image(name: str, data: Any, step: Any, max_outputs: int = 3) -> None:
    """Images of shape (k, height, width, channels), floats from 0 to 1 or uint8; the first `max_outputs` are written.

    Raises:
      SummaryError: (AG709) it is of another shape.
    """
    data = _checked("image", data, lambda s: len(s) == 4 and s[3] in (1, 3, 4), "shape (k, height, width, channels) with 1, 3 or 4 channels")

    def made(make: Any, images: Any) -> list[Any]:
        names = [name] if len(images) == 1 else [f"{name}/{k}" for k in range(len(images))]
        return [make.image(tag, np.asarray(one), dataformats="HWC") for tag, one in zip(names, images, strict=True)]

    _write(made, data[:max_outputs], step)


def histogram(name: str, data: Any, step: Any) -> None:
    """How the numbers of an array are distributed, at a step; those that are nan or infinite are left out, with a RuntimeWarning."""
    data = _checked("histogram", data, lambda shape: True, "numbers")

    def made(make: Any, x: Any) -> list[Any]:
        numbers = np.asarray(x).ravel()
        kept = numbers[np.isfinite(numbers)]
        if len(kept) < len(numbers):
            warnings.warn(
                f"{len(numbers) - len(kept)} of the {len(numbers)} numbers of histogram {name!r} are not finite", RuntimeWarning, stacklevel=2
            )
        return [make.histogram(name, kept, "auto") if len(kept) else make.histogram_raw(name, 0.0, 0.0, 0, 0.0, 0.0, [0.0], [0])]

    _write(made, data, step)


def text(name: str, data: str, step: Any) -> None:
    """A text in Markdown, at a step."""
    _write(lambda make, x: [make.text(name, x)], as_shown(data), step)


def _checked(kind: str, data: Any, fits: Callable[[tuple[int, ...]], bool], wanted: str) -> Any:
    x = value_of(data)
    x = x if isinstance(x, jax.Array) else np.asarray(x)
    if not fits(x.shape) or x.dtype == object or x.dtype.kind in "US":
        raise SummaryError(f"`summary.{kind}` is given {x.dtype}{list(x.shape)}", here(), f"give it {wanted}")
    return x


def _write(made: Callable[[Any, Any], list[Any]], data: Any, step: Any) -> None:
    """Let the writer that is there when the program comes here have what is made of a value; that of a block which is compiled with it is there."""
    own = _writers[-1][0] if _writers and _writers[-1][1] else None
    try:
        step = value_of(step) if isinstance(value_of(step), jax.Array) else operator.index(step)
    except TypeError:
        raise SummaryError(f"the step is {step!r}", here(), "give an integer") from None

    def told(data: Any, step: Any) -> None:
        if own is not None or _writers:
            for summary in made(_library("summary"), data):
                (own or _writers[-1][0]).add(summary, int(step))

    afterwards(told, (data, step), {})
