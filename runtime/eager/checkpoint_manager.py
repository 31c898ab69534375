"""`ag.CheckpointManager`: the checkpoints of one training, in one folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from autograph.runtime.eager.checkpoints import Checkpoint, checkpoints_in
from autograph.runtime.errors.errors import CheckpointError
from autograph.runtime.errors.source_spans import here


class CheckpointManager:
    """Saves checkpoints in a folder, keeps the latest of them, and restores the last.

    Args:
      checkpoint: what is saved.
      directory: the folder, which is made where it does not exist.
      max_to_keep: how many checkpoints are kept; None keeps all.
      checkpoint_name: how the files in the folder begin.
      init_fn: called by `restore_or_initialize` where there is no checkpoint.

    Raises:
      CheckpointError: (AG705) `max_to_keep` is no positive number.

    The semantics are those of `tf.train.CheckpointManager` (https://www.tensorflow.org/api_docs/python/tf/train/CheckpointManager).

    >>> import tempfile, autograph as ag
    >>> step = ag.Variable(0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manager = ag.CheckpointManager(ag.Checkpoint(step=step), folder, max_to_keep=2)
    ...     for _ in range(3):
    ...         _ = step.assign_add(1)
    ...         _ = manager.save()
    ...     _ = step.assign(0)
    ...     _ = manager.restore_or_initialize()
    ...     print([path[-6:] for path in manager.checkpoints], step)
    ['ckpt-2', 'ckpt-3'] 3
    """

    def __init__(
        self, checkpoint: Checkpoint, directory: str | os.PathLike[str], max_to_keep: int | None = 5, checkpoint_name: str = "ckpt",
        init_fn: Callable[[], object] | None = None,
    ) -> None:  # fmt: skip
        if max_to_keep is not None and max_to_keep < 1:
            raise CheckpointError(f"`max_to_keep` is {max_to_keep}", here(), "keep at least one checkpoint, or all: `max_to_keep=None`")
        self._checkpoint, self._directory, self._max_to_keep = checkpoint, Path(directory), max_to_keep
        self._prefix, self._init_fn = self._directory / checkpoint_name, init_fn

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def directory(self) -> str:
        """The folder."""
        return str(self._directory)

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints that are kept, the latest last."""
        return checkpoints_in(self._prefix)

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint; None if there is none."""
        return self.checkpoints[-1] if self.checkpoints else None

    def save(self) -> str:
        """Write a checkpoint with the next number, remove the oldest beyond `max_to_keep`, and give its path.

        Raises:
          CheckpointError: (AG705) as `Checkpoint.save`.
        """
        return self._checkpoint.save(self._prefix, self._max_to_keep)

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint, and give its path; where there is none, call `init_fn` and give None.

        Raises:
          CheckpointError: (AG705) as `Checkpoint.restore`.
        """
        if (path := self.latest_checkpoint) is not None:
            self._checkpoint.restore(path)
        elif self._init_fn is not None:
            self._init_fn()
        return path
