"""Text with traced values in it: a template and values, formatted when they are known.

f-strings, `%` and `.format` make a `Text` where a value is traced.  `print`, `raise`, `assert` and logging take it; any other use needs the
characters, which are not known yet.
"""

from __future__ import annotations

import builtins
import importlib
import string
from collections.abc import Iterable
from typing import Any

import jax

from autograph.runtime.arrays.handles import values_in
from autograph.runtime.jaxapi import _jax, trees
from autograph.runtime.jaxapi._jax import ArrayImpl
from autograph.runtime.jaxapi.tracers import content
from autograph.runtime.messages.advice import for_text
from autograph.runtime.messages.errors import ConcreteValueError
from autograph.runtime.messages.places import here
from autograph.runtime.values.printed import printable
from autograph.runtime.values.specs import Static, Type
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
        return any(isinstance(x, (Type, Static)) for x in trees.leaves(self.values))

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


def _with_objects(values: Any) -> Any:
    """What shows objects, if any are among the values, and what they show may be traced."""
    if not _jax.recording():
        return None
    module = importlib.import_module("autograph.runtime.calls.shown")
    return module if module.has_object(values) else None


def as_shown(x: Any) -> Any:
    """What is printed of a value: of an object of the user's what it shows of itself now."""
    x = printable(values_in(x))
    return module.shown(x) if (module := _with_objects(x)) is not None else x


def text(template: str, /, *args: Any, **kwargs: Any) -> Any:
    """`template.format(*args, **kwargs)`; what an f-string becomes."""
    args, kwargs = printable(values_in(args)), printable(values_in(kwargs))
    if (module := _with_objects((args, kwargs))) is not None:
        return module.asked(template, args, kwargs)
    if not _unknown((args, kwargs)):
        return template.format(*args, **kwargs)
    _check_formats(template, args, kwargs)
    return Text("format", template, (args, kwargs))


def percent(template: Any, values: Any) -> Any:
    """`template % values`."""
    values = printable(values_in(values))
    if isinstance(template, str) and (module := _with_objects(values)) is not None:
        template, values = module.asked_percent(template, values)
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
    if len(args) == 1 and (module := _with_objects(args)) is not None:
        return module.shown(args[0])
    return text("{!s}", args[0]) if len(args) == 1 and not kwargs and _unknown(args[0]) else str(*args, **kwargs)


def repr_(x: Any) -> Any:
    """`repr(x)`."""
    if (module := _with_objects(x)) is not None:
        return module.shown(x, "r")
    return text("{!r}", x) if _unknown(x) else repr(x)


def format_(x: Any, spec: str = "") -> Any:
    """`format(x, spec)`."""
    x = values_in(x)
    if (module := _with_objects(x)) is not None:
        return module.shown(x, "", spec)
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
