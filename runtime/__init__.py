"""What converted code calls.  A transpiled file needs this package, JAX and NumPy, and nothing else of `autograph`.

    import autograph.runtime as ag

Names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograph.runtime import calls as calls
    from autograph.runtime._jax import eval_trace as eval_trace
    from autograph.runtime._jax import trace_state as trace_state
    from autograph.runtime.attributes import set_attr as set_attr
    from autograph.runtime.augmented import update_attr as update_attr
    from autograph.runtime.augmented import update_item as update_item
    from autograph.runtime.branches import cond as cond
    from autograph.runtime.branches import keep as keep
    from autograph.runtime.branches import switch as switch
    from autograph.runtime.calls import call as call
    from autograph.runtime.cells import rebinds as rebinds
    from autograph.runtime.comparisons import compare as compare
    from autograph.runtime.comparisons import equal as equal
    from autograph.runtime.comparisons import in_ as in_
    from autograph.runtime.comparisons import not_equal as not_equal
    from autograph.runtime.comparisons import not_in as not_in
    from autograph.runtime.entry import entered as entered
    from autograph.runtime.folds import collected as collected
    from autograph.runtime.folds import each as each
    from autograph.runtime.function import Function as Function
    from autograph.runtime.function import jit as jit
    from autograph.runtime.items import set_attr_item as set_attr_item
    from autograph.runtime.items import set_item as set_item
    from autograph.runtime.items import store_item as store_item
    from autograph.runtime.iteration import for_loop as for_loop
    from autograph.runtime.iteration import over as over
    from autograph.runtime.loads import get_item as get_item
    from autograph.runtime.logical import and_ as and_
    from autograph.runtime.logical import and_then as and_then
    from autograph.runtime.logical import asserted as asserted
    from autograph.runtime.logical import not_ as not_
    from autograph.runtime.logical import or_ as or_
    from autograph.runtime.logical import or_else as or_else
    from autograph.runtime.loops import while_loop as while_loop
    from autograph.runtime.optional import is_none as is_none
    from autograph.runtime.optional import is_not_none as is_not_none
    from autograph.runtime.optional import read as read
    from autograph.runtime.optional import read_free as read_free
    from autograph.runtime.optional import some as some
    from autograph.runtime.values import Unset as Unset
    from autograph.runtime.values import blank as blank

_WHERE = {
    "_jax": "trace_state eval_trace",
    "arrays.outside": "as_objects",
    "attributes": "set_attr del_attr bound",
    "augmented": "in_place update_attr update_item update_path update_attr_item update_attr_path",
    "blocks.overriding": "overriding",
    "branches": "cond keep switch",
    "calls": "call",
    "excepts": "bare caught",
    "cells": "rebinds",
    "eager.checkpoints": "Checkpoint latest_checkpoint",
    "eager.devices": "copy_to device executing_eagerly num_gpus",
    "eager.exporting": "export",
    "eager.gradients": "custom_gradient gradients_function implicit_gradients implicit_value_and_gradients value_and_grad "
    "value_and_gradients_function",
    "eager.host": "py_func",
    "eager.optimizers": "get_or_create_global_step",
    "eager.switch": "run_eagerly",
    "eager.tape": "GradientTape",
    "eager.variables": "Variable",
    "later": "check",
    "errors": "AutographError ConversionError LargeUnrollWarning RetraceWarning StagingError",
    "function": "Function jit",
    "items": "del_item set_item store_item set_attr_item set_path set_attr_path is_array slice",
    "iteration": "for_loop over",
    "handlers": "finishing finished trying",
    "managers": "entering",
    "homes": "call_in call_at call_of del_attr_item",
    "hints": "loop loops",
    "lists": "append extend pop insert delete remove reverse_list clear padded",
    "loads": "get_item",
    "comparisons": "compare in_ not_in equal not_equal ordered",
    "logical": "and_ or_ not_ and_then or_else asserted is_bool is_same matched",
    "loops": "while_loop",
    "folds": "each collected len next",
    "entry": "entered",
    "kinds": "isinstance hasattr callable type_of",
    "numbers": "min max sum any all int float bool complex",
    "sorting": "sorted",
    "subscripts": "span",
    "output": "print",
    "reporting": "progress",
    "rows": "range static_range enumerate zip reversed indices row",
    "optional": "read read_free some some_free is_none is_not_none",
    "formatting": "text percent str_ repr_ format_",
    "values": "Unset blank",
    "views": "part parts",
}
_HOME = {name: module for module, names in _WHERE.items() for name in names.split()}
_MODULES = {name: f"autograph.runtime.eager.{name}" for name in ("losses", "metrics", "optimizers")}
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
        value = importlib.import_module("autograph.runtime.calls")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _plain_names() -> dict[str, Any]:
    """What the plain form needs of Python under names that the user cannot have taken."""
    import types

    return {"TypeError": TypeError, "type": type, "getattr": getattr, "MethodType": types.MethodType}


_PLAIN = _plain_names()
