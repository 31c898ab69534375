"""Objects of the user's in texts: what they show of themselves is made while the function is traced, for they may change before it is printed."""

from __future__ import annotations

import dataclasses
import inspect
import re
import string
from types import FunctionType
from typing import Any

from autograph.runtime.calls.calls import call
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi._jax import recording
from autograph.runtime.state.objects import is_state
from autograph.runtime.values.formatting import Text, format_, joined, text

_PERCENT = re.compile(r"(%(?:\(\w+\))?[-#0 +]*(?:\d+|\*)?(?:\.(?:\d+|\*))?)([a-zA-Z%])")


def is_object(x: Any) -> bool:
    """Whether a value is an object that has to be asked now what it shows of itself."""
    return recording() and is_state(x) and not isinstance(x, (BaseException, Text)) and not trees.is_node(x)


def has_object(x: Any) -> bool:
    """The same, or a list, tuple or dict that holds one."""
    if type(x) in (list, tuple, set):
        return any(map(has_object, x))
    return any(map(has_object, (*x, *x.values()))) if type(x) is dict else is_object(x)


def shown(x: Any, conversion: str = "s", spec: str = "") -> Any:
    """`str(x)`; `repr(x)` if the conversion is "r", and `format(x, spec)` if there is none."""
    if not has_object(x):
        return x
    cls = type(x)
    if cls in (list, tuple, set):
        ends = "[]" if cls is list else "()" if cls is tuple else "{}"
        return text("{}{}{}", ends[0], joined(", ", [_repr(v) for v in x]), f"{',' if cls is tuple and len(x) == 1 else ''}{ends[1]}")
    if cls is dict:
        return text("{{{}}}", joined(", ", [text("{}: {}", _repr(k), _repr(v)) for k, v in x.items()]))
    if not conversion and isinstance(formatting := cls.__format__, FunctionType):
        return call(formatting)(x, spec)
    own: Any = cls.__str__
    if conversion == "r" or own is getattr(object, "__str__"):  # noqa: B009
        own = cls.__repr__
    if _is_generated(cls, own):
        held = [text("{}={}", f.name, _repr(getattr(x, f.name))) for f in dataclasses.fields(x) if f.repr]
        out = text("{}({})", cls.__qualname__, joined(", ", held))
    else:
        out = call(own)(x) if isinstance(own, FunctionType) else own(x)
    return format_(out, spec) if spec else out


def _repr(x: Any) -> Any:
    return shown(x, "r") if has_object(x) else text("{!r}", x)


def _is_generated(cls: type, own: Any) -> bool:
    return dataclasses.is_dataclass(cls) and isinstance(own, FunctionType) and inspect.unwrap(own).__code__.co_filename.startswith("<")


def asked(template: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`template.format(*args, **kwargs)`, where objects are among the values."""
    formatter, position = string.Formatter(), 0
    new, values = "", []
    for literal, field, spec, conversion in formatter.parse(template):
        new += literal.replace("{", "{{").replace("}", "}}")
        if field is None:
            continue
        if field == "" or field[0] in ".[":
            field, position = f"{position}{field}", position + 1
        x = formatter.get_field(field, args, kwargs)[0]
        if has_object(x):
            new, x = new + "{}", shown(x, conversion or "", spec or "")
        else:
            new += f"{{{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}}}"
        values.append(x)
    return text(new, *values)


def asked_percent(template: str, values: Any) -> tuple[str, Any]:
    """A template of `%`, and its values, with what the objects among them show."""
    given = values if isinstance(values, tuple) else (values,)
    if not any(map(has_object, given)) or "*" in template or "%(" in template:
        return template, values
    left = iter(given)
    out: list[Any] = []

    def instead(found: re.Match[str]) -> str:
        if found[2] == "%":
            return found[0]
        x = next(left)
        out.append(shown(x, found[2]) if has_object(x) else x)
        return found[1] + ("s" if has_object(x) else found[2])

    return _PERCENT.sub(instead, template), tuple(out)
