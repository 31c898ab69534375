"""AutoGraph for JAX: plain Python control flow, compiled by XLA.

    import autograph as ag

    @ag.function
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

Names are loaded when they are first used: `import autograph` alone imports nothing.  What generated code calls (`ag.cond`, ...) is here too.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograph.api import convert as convert
    from autograph.api import do_not_convert as do_not_convert
    from autograph.api import function as function
    from autograph.api import to_code as to_code
    from autograph.forms.signatures import StagedFunction as StagedFunction
    from autograph.report.explaining import explain as explain
    from autograph.report.report import Report as Report
    from autograph.runtime.calls.input_signature import TensorSpec as TensorSpec
    from autograph.runtime.eager import losses as losses
    from autograph.runtime.eager import metrics as metrics
    from autograph.runtime.eager import optimizers as optimizers
    from autograph.runtime.eager import random as random
    from autograph.runtime.eager import summary as summary
    from autograph.runtime.eager.checkpoint_manager import CheckpointManager as CheckpointManager
    from autograph.runtime.eager.checkpoints import Checkpoint as Checkpoint
    from autograph.runtime.eager.checkpoints import latest_checkpoint as latest_checkpoint
    from autograph.runtime.eager.checkpoints import list_variables as list_variables
    from autograph.runtime.eager.checkpoints import load_checkpoint as load_checkpoint
    from autograph.runtime.eager.data import dataset as data  # noqa: F401
    from autograph.runtime.eager.devices import copy_to as copy_to
    from autograph.runtime.eager.devices import device as device
    from autograph.runtime.eager.devices import executing_eagerly as executing_eagerly
    from autograph.runtime.eager.devices import num_gpus as num_gpus
    from autograph.runtime.eager.exporting import export as export
    from autograph.runtime.eager.gradients import custom_gradient as custom_gradient
    from autograph.runtime.eager.gradients import gradients_function as gradients_function
    from autograph.runtime.eager.gradients import implicit_gradients as implicit_gradients
    from autograph.runtime.eager.gradients import implicit_value_and_gradients as implicit_value_and_gradients
    from autograph.runtime.eager.gradients import value_and_grad as value_and_grad
    from autograph.runtime.eager.gradients import value_and_gradients_function as value_and_gradients_function
    from autograph.runtime.eager.graph import graph as graph
    from autograph.runtime.eager.host import py_func as py_func
    from autograph.runtime.eager.layers import callbacks as callbacks
    from autograph.runtime.eager.layers import layers as layers
    from autograph.runtime.eager.layers.initial import set_seed as set_seed
    from autograph.runtime.eager.layers.module import Module as Module
    from autograph.runtime.eager.server import parameter_server as parameter_server
    from autograph.runtime.eager.switch import run_eagerly as run_eagerly
    from autograph.runtime.eager.tape import GradientTape as GradientTape
    from autograph.runtime.eager.variables import Variable as Variable
    from autograph.runtime.effects.async_checks import check as check
    from autograph.runtime.errors.errors import AutographError as AutographError
    from autograph.runtime.errors.errors import ConversionError as ConversionError
    from autograph.runtime.errors.errors import LargeUnrollWarning as LargeUnrollWarning
    from autograph.runtime.errors.errors import RetraceWarning as RetraceWarning
    from autograph.runtime.errors.errors import StagingError as StagingError
    from autograph.runtime.host.progress import progress as progress
    from autograph.runtime.operators.list_methods import padded as padded
    from autograph.runtime.sequences.rows import range as range
    from autograph.runtime.sequences.rows import static_range as static_range
    from autograph.runtime.values.loop_options import loop as loop
    from autograph.runtime.values.loop_options import loops as loops
    from autograph.source.policy import exclude as exclude
    from autograph.source.policy import include as include

__version__ = "0.2.0.dev0"

_HOME = {
    "convert": "autograph.api", "do_not_convert": "autograph.api", "function": "autograph.api", "to_code": "autograph.api",
    "include": "autograph.source.policy", "exclude": "autograph.source.policy",
    "explain": "autograph.report.explaining", "Report": "autograph.report.report", "StagedFunction": "autograph.forms.signatures",
    "AutographError": "autograph.runtime.errors.errors", "ConversionError": "autograph.runtime.errors.errors",
    "StagingError": "autograph.runtime.errors.errors",
    "LargeUnrollWarning": "autograph.runtime.errors.errors", "RetraceWarning": "autograph.runtime.errors.errors",
    "run_eagerly": "autograph.runtime.eager.switch",
    "loop": "autograph.runtime.values.loop_options", "loops": "autograph.runtime.values.loop_options", "range": "autograph.runtime.sequences.rows",
    "static_range": "autograph.runtime.sequences.rows", "padded": "autograph.runtime.operators.list_methods",
    "progress": "autograph.runtime.host.progress", "check": "autograph.runtime.effects.async_checks",
}  # fmt: skip
_EAGER = (
    "Variable TensorSpec Module GradientTape Checkpoint CheckpointManager callbacks latest_checkpoint list_variables load_checkpoint copy_to "
    "custom_gradient device "
    "executing_eagerly export get_or_create_global_step data gradients_function graph implicit_gradients implicit_value_and_gradients "
    "layers losses metrics num_gpus optimizers parameter_server py_func random set_seed summary value_and_grad "
    "value_and_gradients_function"
)  # of the runtime
__all__ = [*_HOME, *_EAGER.split()]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif not name.startswith("_") and name in importlib.import_module("autograph.runtime").public_names():
        value = getattr(importlib.import_module("autograph.runtime"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
