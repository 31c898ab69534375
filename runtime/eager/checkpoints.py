"""`ag.Checkpoint`: the Variables of some objects in files: safetensors (https://huggingface.co/docs/safetensors), and an index in JSON.

Nothing is ever unpickled.  Each file is written beside its place and moved there, and named by the index only when it is whole: a process that is
killed leaves the old checkpoint or the new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autograph.runtime.eager.graph_of_objects import Named, paths_in
from autograph.runtime.eager.stored import About, loaded, stored
from autograph.runtime.eager.variables import Variable
from autograph.runtime.errors.errors import CheckpointError
from autograph.runtime.errors.extras import needed
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.traces import Tracer
from autograph.runtime.sequences.rows import Stream
from autograph.runtime.state.locking import CHANGING
from autograph.runtime.state.variable_reads import restorations

tensors = needed("safetensors.numpy", "Checkpoint")
_BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError, needed("safetensors", "Checkpoint").SafetensorError)

_STATE = "checkpoint.json"  # of a folder: its checkpoints, the latest last
_FORMAT = 1


class Checkpoint(Named):
    """The Variables that objects hold in attributes, lists, tuples and dicts, and what optimizers remember of them.

    Args:
      objects: by the names that they have in the file.  A checkpoint may be restored into other objects with the same names and attributes.

    The semantics are those of `tf.train.Checkpoint` (https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint).

    >>> import tempfile, autograph as ag
    >>> x = ag.Variable(10.0)
    >>> checkpoint = ag.Checkpoint(x=x)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = x.assign(2.0)
    ...     path = checkpoint.save(folder + "/ckpt")
    ...     _ = x.assign(11.0)
    ...     _ = checkpoint.restore(path)
    >>> print(x)
    2.0
    """

    def __init__(self, *unnamed: Any, **objects: Any) -> None:
        if unnamed:
            raise CheckpointError("an object has no name in the checkpoint", here(), "give it one: `ag.Checkpoint(model=model)`")
        self._objects: dict[str, Any] = dict(objects)
        self.save_counter = 0

    def named(self) -> dict[str, Any]:
        return self._objects

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name == "save_counter":
            super().__setattr__(name, value)
        else:
            self._objects[name] = value

    def __getattr__(self, name: str) -> Any:
        objects = self.__dict__.get("_objects", {})
        if name not in objects:
            raise AttributeError(f"this checkpoint has no `{name}`")
        return objects[name]

    def save(self, file_prefix: str | os.PathLike[str], max_to_keep: int | None = None) -> str:
        """Write a checkpoint with the next number, and give its path (`prefix-1`), which `restore` takes.

        Args:
          file_prefix: a folder, and how the files in it begin; the folder is made where it does not exist.
          max_to_keep: of the checkpoints with this prefix as many are kept, the latest; by default all.

        Raises:
          CheckpointError: (AG705) a Variable holds a traced value, or the files cannot be written; then nothing has changed.
        """
        prefix = _named_file(file_prefix)
        known = _state(prefix.parent)
        numbers = [int(n[1]) for name in known if (n := re.fullmatch(re.escape(prefix.name) + r"-(\d+)", name))]
        number = max([self.save_counter, *numbers]) + 1
        name = f"{prefix.name}-{number}"
        data, index = self._contents()
        own = [n for n in known if re.fullmatch(re.escape(prefix.name) + r"-\d+", n)]
        dropped = [*own, name][: -max_to_keep or None] if max_to_keep and len(own) + 1 > max_to_keep else []
        _write(prefix.parent / name, data, index, [n for n in (*known, name) if n not in dropped])
        self.save_counter = number
        for old in dropped:
            for file in (f"{old}.json", f"{old}.safetensors"):
                with contextlib.suppress(OSError):
                    os.remove(prefix.parent / file)
        return str(prefix.parent / name)

    def write(self, file_prefix: str | os.PathLike[str]) -> str:
        """Write a checkpoint without a number, which takes the place of another of this path; gives the path, which `restore` and `read` take.

        Raises:
          CheckpointError: (AG705) as `save`.
        """
        path = _named_file(file_prefix)
        _write(path, *self._contents(), None)
        return str(path)

    def _contents(self) -> tuple[bytes, dict[str, Any]]:
        """What is written: the arrays, and what is said of them."""
        with CHANGING:
            variables = paths_in(self._objects)
            values = {path: v._array for path, v in variables.items()}
        for name, x in self._objects.items():
            if isinstance(x, Stream) and (why := x.why_not_saved()):
                raise CheckpointError(f"`{name}` is an iterator whose place is not saved: {why}", here(), "save a step, and `dataset.skip(step)`")
            if not any(path.split("/")[0] == name for path in values) and not isinstance(x, (Stream, list, dict, Named)):
                raise CheckpointError(
                    f"`{name}` is a `{type(x).__name__}` that holds no Variable, and nothing else is saved", here(),
                    "keep what is to be saved in an `ag.Variable`; call a model once before, so that it is built",
                )  # fmt: skip
        if traced := [path for path, x in values.items() if isinstance(x, Tracer)]:
            raise CheckpointError(f"`{traced[0]}` holds a traced value", here(), "save outside of `ag.function`, after the call")
        if far := [path for path, x in values.items() if not (x.is_fully_addressable or x.is_fully_replicated)]:
            raise CheckpointError(f"`{far[0]}` is spread over several processes", here(), "save it with orbax, each process its part")
        first: dict[int, str] = {}  # a Variable with two paths is written once
        others = {path: first[id(v)] for path, v in variables.items() if first.setdefault(id(v), path) != path}
        files = {path: stored(x) for path, x in values.items() if path not in others}
        data = tensors.save({path: array for path, (array, _) in files.items()})
        index = {
            "format": _FORMAT, "sha256": hashlib.sha256(data).hexdigest(), "variables": {path: about for path, (_, about) in files.items()},
            "others": others,
        }  # fmt: skip
        return data, index

    def restore(self, path: str | os.PathLike[str] | None) -> Restored:
        """Let the Variables hold what a checkpoint says, and tell what has not matched.

        A Variable that is made later, by an object that is built when it is first called, gets its value when it is first read.

        Args:
          path: what `save` or `latest_checkpoint` has given; None, which a folder without a checkpoint gives, changes nothing.

        Raises:
          CheckpointError: (AG705) there is no such checkpoint; a file is broken or has been changed; a shape or dtype is another.  Then no
            Variable has changed.
        """
        values = {} if path is None else _read(Path(path))
        restored = Restored(self._objects, values, str(path))
        restored.apply()
        return restored

    read = restore


class Reader:
    """A checkpoint that is looked into: what it has, by the paths of Variables.

    >>> import tempfile, autograph as ag
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = ag.Checkpoint(x=ag.Variable([1.0, 2.0])).save(folder + "/ckpt")
    ...     reader = ag.load_checkpoint(path)
    >>> reader.get_variable_to_shape_map(), reader.get_tensor("x")
    ({'x': [2]}, array([1., 2.], dtype=float32))
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def get_tensor(self, path: str) -> Any:
        """The array of a path, as NumPy's.  Raises KeyError if there is none."""
        return np.asarray(self._values[path])

    def has_tensor(self, path: str) -> bool:
        """Whether there is an array of this path."""
        return path in self._values

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes by the paths."""
        return {path: list(x.shape) for path, x in self._values.items()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """The dtypes by the paths."""
        return {path: x.dtype for path, x in self._values.items()}


def load_checkpoint(path: str | os.PathLike[str]) -> Reader:
    """Look into a checkpoint, or the latest one of a folder.

    Raises:
      CheckpointError: (AG705) there is none, or it is broken.

    As `tf.train.load_checkpoint` (https://www.tensorflow.org/api_docs/python/tf/train/load_checkpoint).
    """
    found = latest_checkpoint(path) if Path(path).is_dir() else os.fspath(path)
    if found is None:
        raise CheckpointError(f"there is no checkpoint in {os.fspath(path)}", here(), "give what `save` has given, or its folder")
    return Reader(_read(Path(found)))


def list_variables(path: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """The paths in a checkpoint, or the latest one of a folder, and the shapes.

    Raises:
      CheckpointError: (AG705) there is none, or it is broken.

    As `tf.train.list_variables` (https://www.tensorflow.org/api_docs/python/tf/train/list_variables).
    """
    return sorted(load_checkpoint(path).get_variable_to_shape_map().items())


class Restored:
    """What has come of a restoration: `missing` are the Variables that the checkpoint does not have, `unused` what no Variable has taken yet."""

    def __init__(self, objects: Mapping[str, Any], values: dict[str, Any], path: str) -> None:
        self._objects, self._values, self._path = objects, values, path

    @property
    def unused(self) -> list[str]:
        return sorted(self._values)

    @property
    def missing(self) -> list[str]:
        return sorted(self._missing)

    def apply(self) -> None:
        """Hand out what Variables that are there now have not got yet."""
        found = paths_in(self._objects)
        ready = [(v, path, self._values[path]) for path, v in found.items() if path in self._values]
        restorations[:] = [r for r in restorations if r is not self]  # one that fails is over
        for v, path, value in ready:
            check_taken(v, path, value, self._path)
        with CHANGING:
            for v, path, value in ready:
                v._restore(value)
                del self._values[path]
        taken = getattr(self, "_taken", set()) | {path for _, path, _ in ready}
        self._taken, self._missing = taken, set(found) - taken
        restorations.extend([self] if self._values else [])

    def assert_consumed(self) -> Restored:
        """Raise CheckpointError (AG705) unless everything in the checkpoint has been taken, and every Variable has got a value."""
        self.assert_existing_objects_matched()
        if self._values:
            raise CheckpointError(
                f"{self._path} has values that no Variable has taken: {_some(self.unused)}", here(), "build the objects, and compare"
            )
        return self

    def expect_partial(self) -> Restored:
        """Nothing is said of values that no Variable has taken: nothing is in any case."""
        return self

    def assert_existing_objects_matched(self) -> Restored:
        """Raise CheckpointError (AG705) unless every Variable that is there has got a value."""
        if self._missing:
            raise CheckpointError(
                f"{self._path} has no value for {_some(self.missing)}", here(), "give the objects the names that they were saved with"
            )
        return self


def latest_checkpoint(folder: str | os.PathLike[str]) -> str | None:
    """The path of the latest checkpoint in a folder; None if there is none.

    Raises:
      CheckpointError: (AG705) the list of the folder is broken.
    """
    known = _state(Path(folder))
    return str(Path(folder) / known[-1]) if known else None


def checkpoints_in(prefix: Path) -> list[str]:
    """The paths of the checkpoints with a prefix, the latest last."""
    return [str(prefix.parent / name) for name in _state(prefix.parent) if re.fullmatch(re.escape(prefix.name) + r"-\d+", name)]


def _state(folder: Path) -> list[str]:
    file = folder / _STATE
    try:
        known = json.loads(file.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{file} cannot be read: {error}", here(), "restore by the path of a checkpoint") from None
    if not (isinstance(known, list) and all(isinstance(n, str) and os.path.basename(n) == n for n in known)):
        raise CheckpointError(f"{file} is no list of checkpoints", here(), "restore by the path of a checkpoint")
    return known


def _read(path: Path) -> dict[str, Any]:
    """The arrays of a checkpoint, after everything about it has been checked."""
    index_file, data_file = path.with_name(f"{path.name}.json"), path.with_name(f"{path.name}.safetensors")
    if not index_file.exists() and not data_file.exists():
        raise CheckpointError(f"there is no checkpoint {path}", here(), "give what `save` or `ag.latest_checkpoint` has returned")

    def broken(why: object) -> CheckpointError:
        return CheckpointError(f"the checkpoint {path} is broken: {why}", here(), "restore an older one")

    try:
        index = json.loads(index_file.read_text())
        data = data_file.read_bytes()
        if index["format"] != _FORMAT:
            raise broken(f"its format is {index['format']}, and this version reads {_FORMAT}")
        if hashlib.sha256(data).hexdigest() != index["sha256"]:
            raise broken("its data is not what was written")
        arrays = tensors.load(data)
        values = {name: loaded(arrays[name], About(**about)) for name, about in index["variables"].items()}
        return values | {name: values[of] for name, of in index.get("others", {}).items()}
    except CheckpointError:
        raise
    except _BROKEN as error:
        raise broken(error) from None


def check_taken(v: Variable, path: str, value: Any, file: str) -> None:
    """Raise CheckpointError (AG705) if a Variable cannot hold what a file has for it."""
    if v.shape != value.shape or v.dtype != value.dtype:
        raise CheckpointError(
            f"{file} has {value.dtype}{list(value.shape)} for `{path}`, and the Variable is {v.dtype}{list(v.shape)}", here(),
            "use the optimizer that it was saved with, with the same options" if "/slots/" in path
            else "make the objects with the sizes and types that they were saved with",
        )  # fmt: skip


def _named_file(file_prefix: str | os.PathLike[str]) -> Path:
    prefix = Path(file_prefix)
    if os.fspath(file_prefix).endswith((os.sep, "/")) or not prefix.name or prefix.is_dir():
        raise CheckpointError(f"{os.fspath(file_prefix)!r} is a folder", here(), 'add how the files in it begin: `save(folder + "/ckpt")`')
    return prefix


def _write(path: Path, data: bytes, index: dict[str, Any], known: list[str] | None) -> None:
    """Write the two files of a checkpoint, and the list of those in the folder, if it is to be in it."""
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written_whole(folder / f"{path.name}.safetensors", data)
        written_whole(folder / f"{path.name}.json", json.dumps(index, indent=1).encode())
        if known is not None:
            written_whole(folder / _STATE, json.dumps(known).encode())
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be written to: {error.strerror or error}", here(), "free space, or choose a folder") from None


def written_whole(file: Path, data: bytes) -> None:
    """Replace a file as a whole."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(name)
        raise


def _some(names: list[str]) -> str:
    return ", ".join(f"`{n}`" for n in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
