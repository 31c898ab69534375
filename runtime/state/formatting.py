"""Text with traced values in it: a template and values, formatted when they are known.

f-strings, `%` and `.format` make a `Text` where a value is traced.  `print`, `raise`, `assert` and logging take it; any other use needs the
characters, which are not known yet.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import re
import string
from collections.abc import Iterable
from types import FunctionType
from typing import Any

import jax

from autograph.runtime.arrays.variable_ref import values_in
from autograph.runtime.errors.advice import for_text
from autograph.runtime.errors.errors import ConcreteValueError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import content
from autograph.runtime.jaxapi.traces import ArrayImpl, recording
from autograph.runtime.state.object_graph import is_state
from autograph.runtime.tracing.hooks import call
from autograph.runtime.values.abstract_values import ArrayType, Static
from autograph.runtime.values.printed import printable
from autograph.runtime.values.values import traced

str = builtins.str


class Text:
    """`how(template, values)`, once the values are known."""

    def __init__(self, how: str, template: str, values: tuple[Any, dict[str, Any]]) -> None:
        self.how, self.template, self.values = how, template, values

    def __str__(self) -> str:
        if traced(*self.values[0], *self.values[1].values()):
            place = here()
            raise ConcreteValueError(
                "the characters of a traced value are needed, which exist only when the compiled program runs", place, for_text(place)
            )
        args, kwargs = trees.map(_shown, self.values, is_leaf=lambda x: isinstance(x, Text))
        return self.template.format(*args, **kwargs) if self.how == "format" else self.template % (args[0] if self.how == "%1" else tuple(args))

    def __add__(self, other: Any) -> Text | str:
        return text("{}{}", self, other) if isinstance(other, (str, Text)) else NotImplemented

    def __radd__(self, other: Any) -> Text | str:
        return text("{}{}", other, self) if isinstance(other, str) else NotImplemented

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(str(self), name)

    def __len__(self) -> int:
        return len(str(self))

    def __int__(self) -> int:
        return int(str(self))

    def __float__(self) -> float:
        return float(str(self))

    def __index__(self) -> int:
        raise TypeError("'str' object cannot be interpreted as an integer")

    def __getitem__(self, i: Any) -> Any:
        return str(self)[i]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Text) and (self._of_types() or other._of_types()):
            return (self.how, self.template, self.values) == (other.how, other.template, other.values)
        return str(self) == other

    def _of_types(self) -> bool:
        """Whether it is the type of a text."""
        return any(isinstance(x, (ArrayType, Static)) for x in trees.leaves(self.values))

    def __hash__(self) -> int:
        return hash(str(self))

    def __mul__(self, n: Any) -> Any:
        return str(self) * n

    def __contains__(self, x: Any) -> bool:
        return x in str(self)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return repr(str(self))


jax.tree_util.register_pytree_node(Text, lambda t: ((t.values,), (t.how, t.template)), lambda aux, children: Text(aux[0], aux[1], children[0]))


def shows_values(error: BaseException) -> bool:
    """Whether the message of an error shows values of the current trace, and of no other."""
    shown = [v for x in error.args if isinstance(x, Text) for v in trees.leaves(x.values) if traced(v)]
    return bool(shown) and all(map(_jax.made_here, shown))


def show_tracers(error: BaseException) -> None:
    """Let the message of an error that leaves a trace say of traced values what JAX says of them."""
    if any(isinstance(x, Text) for x in error.args):
        error.args = tuple(str(_with_tracers(x)) if isinstance(x, Text) else x for x in error.args)


def _with_tracers(x: Text) -> Text:
    def shown(value: Any) -> Any:
        return _with_tracers(value) if isinstance(value, Text) else _Tracer(content(value)) if traced(value) else value

    return Text(x.how, x.template, trees.map(shown, x.values, is_leaf=lambda v: isinstance(v, Text)))


class _Tracer:
    """What JAX says of a traced value, however it is formatted."""

    def __init__(self, tracer: Any) -> None:
        self.text = str(tracer)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return self.text


def _shown(x: Any) -> Any:
    return str(x) if isinstance(x, Text) else x


def _unknown(values: Any) -> bool:
    return traced(values) or any(isinstance(x, Text) for x in trees.leaves(values, is_leaf=lambda x: isinstance(x, Text)))


def _with_objects(values: Any) -> bool:
    """Whether objects are among the values, of which what they show may be traced."""
    return _jax.recording() and has_object(values)


def as_shown(x: Any) -> Any:
    """What is printed of a value: of an object of the user's what it shows of itself now."""
    x = printable(values_in(x))
    return shown(x) if _with_objects(x) else x


def text(template: str, /, *args: Any, **kwargs: Any) -> Any:
    """`template.format(*args, **kwargs)`; what an f-string becomes."""
    args, kwargs = printable(values_in(args)), printable(values_in(kwargs))
    if _with_objects((args, kwargs)):
        return asked(template, args, kwargs)
    if not _unknown((args, kwargs)):
        return template.format(*args, **kwargs)
    _check_formats(template, args, kwargs)
    return Text("format", template, (args, kwargs))


def percent(template: Any, values: Any) -> Any:
    """`template % values`."""
    values = printable(values_in(values))
    if isinstance(template, str) and _with_objects(values):
        template, values = asked_percent(template, values)
    if not isinstance(template, str) or not _unknown(values):
        return template % values
    whole = isinstance(values, tuple)
    return Text("%" if whole else "%1", template, (values if whole else (values,), {}))


def joined(separator: str, items: Iterable[Any]) -> Any:
    """`separator.join(items)`."""
    parts = list(items)
    if not any(isinstance(x, Text) for x in parts) or not all(isinstance(x, (str, Text)) for x in parts):
        return separator.join([str(x) if isinstance(x, Text) and not traced(x) else x for x in parts])
    return text(separator.replace("{", "{{").replace("}", "}}").join(["{}"] * len(parts)), *parts)


def str_(*args: Any, **kwargs: Any) -> Any:
    """`str(x)`."""
    args = values_in(args)
    if len(args) == 1 and _with_objects(args):
        return shown(args[0])
    return text("{!s}", args[0]) if len(args) == 1 and not kwargs and _unknown(args[0]) else str(*args, **kwargs)


def repr_(x: Any) -> Any:
    """`repr(x)`."""
    if _with_objects(x):
        return shown(x, "r")
    return text("{!r}", x) if _unknown(x) else repr(x)


def format_(x: Any, spec: str = "") -> Any:
    """`format(x, spec)`."""
    x = values_in(x)
    if _with_objects(x):
        return shown(x, "", spec)
    return text("{:" + spec + "}", x) if _unknown(x) else format(x, spec)


def _check_formats(template: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """What no value of a traced array could be formatted as fails at once."""
    position = 0
    for _, field, spec, conversion in string.Formatter().parse(template):
        if field is None:
            continue
        x = args[position] if field == "" and position < len(args) else kwargs.get(field)
        position += field == ""
        if spec and not conversion and isinstance(x, jax.Array) and x.ndim:
            raise TypeError(f"unsupported format string passed to {ArrayImpl.__name__}.__format__")


# Objects of the user's: what they show of themselves is made while the function is traced, for they may change before it is printed.

HAS_OPERATIONS_OF_THE_USER = True  # which may fail: see `is_fault`

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
