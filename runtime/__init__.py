"""What converted code calls.  A transpiled file needs this package, JAX and NumPy, and nothing else of `autograph`.

    import autograph.runtime as ag

Names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from autograph.runtime.tracing import adapter_registry as loading
from autograph.runtime.tracing import hooks

if TYPE_CHECKING:
    from autograph.runtime.branches.conditional import cond as cond
    from autograph.runtime.branches.conditional import keep as keep
    from autograph.runtime.branches.conditional import switch as switch
    from autograph.runtime.branches.short_circuit import and_ as and_
    from autograph.runtime.branches.short_circuit import and_then as and_then
    from autograph.runtime.branches.short_circuit import asserted as asserted
    from autograph.runtime.branches.short_circuit import not_ as not_
    from autograph.runtime.branches.short_circuit import or_ as or_
    from autograph.runtime.branches.short_circuit import or_else as or_else
    from autograph.runtime.calls import callees as calls
    from autograph.runtime.calls.callees import call as call
    from autograph.runtime.calls.foreign_trace_entry import converted as converted
    from autograph.runtime.calls.foreign_trace_entry import entered as entered
    from autograph.runtime.calls.function import Function as Function
    from autograph.runtime.calls.function import jit as jit
    from autograph.runtime.effects.optional_values import is_none as is_none
    from autograph.runtime.effects.optional_values import is_not_none as is_not_none
    from autograph.runtime.effects.optional_values import read as read
    from autograph.runtime.effects.optional_values import read_free as read_free
    from autograph.runtime.effects.optional_values import some as some
    from autograph.runtime.jaxapi.traces import eval_trace as eval_trace
    from autograph.runtime.jaxapi.traces import trace_state as trace_state
    from autograph.runtime.loops.for_loop import for_loop as for_loop
    from autograph.runtime.loops.for_loop import over as over
    from autograph.runtime.loops.while_loop import while_loop as while_loop
    from autograph.runtime.operators.attributes import set_attr as set_attr
    from autograph.runtime.operators.augmented import update_attr as update_attr
    from autograph.runtime.operators.augmented import update_item as update_item
    from autograph.runtime.operators.comparisons import compare as compare
    from autograph.runtime.operators.comparisons import equal as equal
    from autograph.runtime.operators.comparisons import in_ as in_
    from autograph.runtime.operators.comparisons import not_equal as not_equal
    from autograph.runtime.operators.comparisons import not_in as not_in
    from autograph.runtime.operators.folds import collected as collected
    from autograph.runtime.operators.folds import each as each
    from autograph.runtime.operators.getitem import get_item as get_item
    from autograph.runtime.operators.items import set_attr_item as set_attr_item
    from autograph.runtime.operators.items import set_item as set_item
    from autograph.runtime.operators.items import store_item as store_item
    from autograph.runtime.state.cells import rebinds as rebinds
    from autograph.runtime.values.values import Unset as Unset
    from autograph.runtime.values.values import blank as blank

_WHERE = {
    "jaxapi.traces": "trace_state eval_trace",
    "indexing.eager_arrays": "as_objects made",
    "operators.attributes": "set_attr del_attr bound",
    "operators.augmented": "in_place update_attr update_item update_path update_attr_item update_attr_path",
    "branches.finally_override": "overriding",
    "branches.conditional": "cond continued going_on keep switch",
    "calls.callees": "call",
    "calls.reading_calls": "reading",
    "effects.excepts": "bare caught",
    "state.cells": "rebinds",
    "eager.checkpoints": "Checkpoint latest_checkpoint list_variables load_checkpoint",
    "eager.checkpoint_manager": "CheckpointManager",
    "eager.devices": "copy_to device executing_eagerly num_gpus",
    "eager.exporting": "export",
    "eager.gradients": "custom_gradient gradients_function implicit_gradients implicit_value_and_gradients value_and_grad "
    "value_and_gradients_function",
    "eager.host": "py_func",
    "eager.optimizers": "get_or_create_global_step",
    "eager.switch": "run_eagerly",
    "eager.tape": "GradientTape",
    "eager.variables": "Variable",
    "eager.layers.initial": "set_seed",
    "eager.layers.module": "Module",
    "effects.async_checks": "check",
    "errors.errors": "AutographError ConversionError LargeUnrollWarning RetraceWarning StagingError",
    "calls.function": "Function jit",
    "calls.input_signature": "TensorSpec",
    "operators.items": "del_item set_item store_item set_attr_item set_path set_attr_path is_array slice",
    "loops.for_loop": "for_loop over",
    "effects.handlers": "finishing finished trying",
    "calls.context_managers": "entering",
    "operators.owned_lists": "call_in call_at call_of del_attr_item",
    "values.loop_options": "loop loops",
    "operators.list_methods": "append extend pop insert delete remove reverse_list clear renewed padded",
    "operators.getitem": "get_item",
    "operators.comparisons": "compare in_ not_in equal not_equal ordered",
    "branches.short_circuit": "and_ or_ not_ and_then or_else asserted is_bool matched",
    "loops.while_loop": "while_loop",
    "operators.is_operator": "is_ is_not",
    "operators.folds": "each collected len next",
    "calls.foreign_trace_entry": "entered converted",
    "operators.type_queries": "isinstance hasattr callable type_of",
    "operators.numbers": "min max sum any all int float bool complex",
    "operators.sorting": "list sort sorted",
    "sequences.subscripts": "span",
    "host.output": "print",
    "host.progress": "progress",
    "sequences.rows": "range static_range enumerate zip reversed indices row",
    "effects.optional_values": "read read_free some some_free is_none is_not_none",
    "state.formatting": "text percent str_ repr_ format_",
    "values.values": "Unset blank",
}
_HOME = {name: module for module, names in _WHERE.items() for name in names.split()}
_MODULES = {
    "data": "autograph.runtime.eager.data.dataset",
    "graph": "autograph.runtime.eager.graph.graph",
    "layers": "autograph.runtime.eager.layers.layers",
    "callbacks": "autograph.runtime.eager.layers.callbacks",
    "parameter_server": "autograph.runtime.eager.server.parameter_server",
    **{name: f"autograph.runtime.eager.{name}" for name in ("losses", "metrics", "optimizers", "random", "summary")},
}
__all__ = [*_HOME, "calls"]  # pyright: ignore[reportUnsupportedDunderAll]


def public_names() -> frozenset[str]:
    """The names that generated code may use."""
    return frozenset((*_HOME, *_MODULES))


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"autograph.runtime.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    elif name in _PLAIN:
        value = _PLAIN[name]
    elif name == "calls":
        value = importlib.import_module("autograph.runtime.calls.callees")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _plain_names() -> dict[str, Any]:
    """What the plain form needs of Python under names that the user cannot have taken."""
    import types

    return {"TypeError": TypeError, "type": type, "getattr": getattr, "MethodType": types.MethodType}


_PLAIN = _plain_names()
hooks.face = sys.modules[__name__]
loading.WAITING |= {
    "flax.nnx": "autograph.runtime.eager.adapters.flax_nnx",
    "keras": "autograph.runtime.eager.adapters.keras_variables",
}
