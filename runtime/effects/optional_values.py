"""Variables that may be unset or None where that is data-dependent: reading them, testing them, and using them as operands.

Reading a variable that is surely unset is Python's UnboundLocalError; where that is data-dependent, the error is deferred.  `is None` and
truth answer from the tag.  Any other operation on what may be None is the operation on its value, and Python's TypeError where it is None.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph.runtime.effects.error_codes import fail
from autograph.runtime.errors.errors import AutographError, OptionalError, UnsetError
from autograph.runtime.errors.source_spans import caller, function_around, here, shown_name
from autograph.runtime.tracing.trace_context import refuse_first
from autograph.runtime.values.flatten import blank_uses
from autograph.runtime.values.path_conditions import IS_SET, PathFacts, assume, known, note
from autograph.runtime.values.values import NONE, SET, UNSET, Blank, Maybe, Unset


def read(x: Any) -> Any:
    """The value of a variable that the source does not prove to be set.

    Raises UnboundLocalError where it is unset: at once, or when the compiled function ends.

    Raises:
      UnsetError: (AG301) it is data-dependent, and nothing would raise the error when the compiled program ends.
    """
    return _read(x, UnboundLocalError, "cannot access local variable '{}' where it is not associated with a value")


def read_free(x: Any) -> Any:
    """`read` for a variable of an enclosing function, whose error is Python's NameError."""
    return _read(x, NameError, "cannot access free variable '{}' where it is not associated with a value in enclosing scope")


def _read(x: Any, kind: type[Exception], text: str) -> Any:
    if type(x) is not Maybe and type(x) is not Unset:
        return x
    x = known(x)
    if isinstance(x, Unset):
        refuse_first(x)
        blank_uses.count += 1  # a trace of a loop's body that has read it does not stand once an iteration sets it
        fail(True, kind, text.format(x.name), lambda: _unset(x.name))
    if isinstance(x, Maybe) and x.bits & UNSET:
        fail(_has(x, UNSET), kind, text.format(x.name), lambda: _unset(x.name))
        assume([(x.tag, UNSET)])
        return some(x)
    return x


def _unset(name: str) -> AutographError:
    return UnsetError(
        f"`{name}` is possibly undefined here: only some paths set it, and the path is data-dependent", here(),
        f"give `{name}` a value before the branch or loop that sets it; or use `@ag.function`, which raises Python's error when the call ends",
    )  # fmt: skip


def some(x: Any) -> Any:
    """The value of a variable that the source proves to be set here, though it is unset on other paths."""
    if type(x) is Unset:
        return read(x)
    if type(x) is Maybe:
        return known(Maybe(x.value, x.tag, NONE)) if x.bits & NONE else x.value
    return x


def some_free(x: Any) -> Any:
    """`some` for a variable of an enclosing function, whose error is Python's NameError."""
    return read_free(x) if type(x) is Unset else some(x)


def _has(x: Maybe, tag: int) -> Any:
    return lax.eq(x.tag, np.int8(tag))


def is_none(x: Any) -> Any:
    """`x is None`: a bool, or a traced bool where that is data-dependent."""
    x = known(x)
    if type(x) is Unset or (type(x) is Maybe and x.bits & UNSET):
        x = read(x)
    if type(x) is not Maybe:
        return x is None
    return note(_has(x, NONE), PathFacts(true=((x.tag, UNSET | IS_SET),), false=((x.tag, NONE),)))


def is_not_none(x: Any) -> Any:
    """`x is not None`."""
    p = is_none(x)
    if isinstance(p, bool):
        return not p
    x = known(x)
    return note(lax.bitwise_not(p), PathFacts(true=((x.tag, NONE),), false=((x.tag, UNSET | IS_SET),)))


def has_value(x: Maybe) -> Any:
    """Whether there is a value, for the truth of `x`."""
    return note(_has(x, SET), PathFacts(true=((x.tag, UNSET | NONE),)))


def present(x: Any, text: str = "a value is needed, and this is None", kind: type[Exception] = TypeError) -> Any:
    """The value of an operand that may be None; Python's error where it is."""
    x = read(x)
    if type(x) is not Maybe:
        if x is None:
            raise kind(text)
        return x
    fail(True if isinstance(x.value, Blank) else _has(x, NONE), kind, text, lambda: _optional(x))
    assume([(x.tag, NONE)])
    return x.value


def _optional(x: Maybe) -> AutographError:
    return OptionalError(
        f"{_shown(x)} is optional (None or a value, data-dependent), and is used as a value", here(),
        "test it before (`if x is not None:`); or use `@ag.function`, which raises Python's error when the call ends",
    )  # fmt: skip


def optional_result(why: str = "") -> AutographError:
    """The error where an optional leaves converted code inside a trace."""
    frame = caller()
    name = f"`{function_around(frame.f_code)}`" if frame is not None else "a function"
    why = why or f"{name} returns None or a value, which is data-dependent, and is called by code that is not converted"
    return OptionalError(why, here(), "test it inside the function (`if x is not None:`), and return an array on every path")


def _flattened(x: Maybe) -> Any:
    """What JAX asks of a pytree: the value that is there, or the error where a function that is not converted takes an optional apart."""
    raise OptionalError(
        f"{_shown(x)} is optional (None or a value, data-dependent), and is passed to a function of JAX or another library", here(),
        "test it before: `if x is not None:`",
    )  # fmt: skip


def _shown(x: Maybe) -> str:
    frame = caller()
    held = frame.f_locals if frame is not None else {}
    names = [shown_name(frame.f_code, n) for n, v in held.items() if isinstance(v, Maybe) and v.tag is x.tag] if frame is not None else []
    name = x.name or next(iter(names), "")
    return f"`{name}`, which may be None," if name else "a value that may be None"


jax.tree_util.register_pytree_node(Maybe, _flattened, lambda _, children: Maybe(*children))


def _type_name(x: Any) -> str:
    return "NoneType" if x is None else "Array" if isinstance(x, (jax.Array, Maybe)) else type(x).__name__


def _operand(x: Any, text: str) -> Any:
    return present(x, text) if type(x) is Maybe else x


def _binary(apply: Callable[[Any, Any], Any], text: str, reflected: bool = False) -> Callable[[Maybe, Any], Any]:
    def method(self: Maybe, other: Any) -> Any:
        left, right = (other, self) if reflected else (self, other)
        names = ["NoneType" if side is self else _type_name(side) for side in (left, right)]
        message = text.format(*names)
        return apply(_operand(left, message), _operand(right, message))

    return method


def _unary(apply: Callable[..., Any], text: str, kind: type[Exception] = TypeError) -> Callable[..., Any]:
    return lambda self, *args: apply(present(self, text, kind), *args)


_compared: list[Callable[[Any, Any], Any]] = [operator.eq]


def compare_values(equal: Callable[[Any, Any], Any]) -> None:
    """Hand in what compares two values, tuples with traced items among them."""
    _compared[0] = equal


def _equal(self: Maybe, other: Any) -> Any:
    x, y = read(self), read(other)
    if type(x) is not Maybe:
        return _compared[0](x, y)
    if y is None:
        return is_none(x)
    here_, there = (lax.eq(v.tag, np.int8(SET)) if type(v) is Maybe else True for v in (x, y))
    values = [v.value if type(v) is Maybe else v for v in (x, y)]
    if any(isinstance(v, Blank) for v in values):
        same: Any = False
    else:
        same = _compared[0](*values)
    if np.shape(same) != ():
        return present(x) == present(y)
    both = here_ if there is True else lax.bitwise_and(here_, there)
    result = lax.bitwise_and(both, jax.numpy.asarray(same))
    if type(y) is Maybe:
        result = lax.bitwise_or(result, lax.bitwise_and(_has(x, NONE), _has(y, NONE)))
    return result


def _not_equal(self: Maybe, other: Any) -> Any:
    p = self == other
    return (not p) if isinstance(p, bool) else lax.bitwise_not(p)


def _attribute(self: Maybe, name: str) -> Any:
    if name.startswith("_") or name == "aval":  # JAX asks what it is
        raise AttributeError(name)
    return getattr(present(self, f"'NoneType' object has no attribute '{name}'", AttributeError), name)


_ARITHMETIC = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@", "lshift": "<<",
    "rshift": ">>", "and_": "&", "or_": "|", "xor": "^",
}  # fmt: skip
_ORDER = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _install() -> None:
    for name, symbol in _ARITHMETIC.items():
        apply, text = getattr(operator, name), f"unsupported operand type(s) for {symbol}: '{{}}' and '{{}}'"
        setattr(Maybe, f"__{name.rstrip('_')}__", _binary(apply, text))
        setattr(Maybe, f"__r{name.rstrip('_')}__", _binary(apply, text, reflected=True))
    for name, symbol in _ORDER.items():
        setattr(Maybe, f"__{name}__", _binary(getattr(operator, name), f"'{symbol}' not supported between instances of '{{}}' and '{{}}'"))
    for name, symbol in {"neg": "-", "pos": "+", "invert": "~"}.items():
        setattr(Maybe, f"__{name}__", _unary(getattr(operator, name), f"bad operand type for unary {symbol}: 'NoneType'"))
    others: dict[str, Any] = {
        "abs": _unary(abs, "bad operand type for abs(): 'NoneType'"),
        "len": _unary(len, "object of type 'NoneType' has no len()"),
        "iter": _unary(iter, "'NoneType' object is not iterable"),
        "getitem": _unary(operator.getitem, "'NoneType' object is not subscriptable"),
        "contains": _unary(lambda x, item: item in x, "argument of type 'NoneType' is not iterable"),
        "call": lambda self, *args, **kwargs: present(self, "'NoneType' object is not callable")(*args, **kwargs),
        "jax_array": _unary(jax.numpy.asarray, "an array is needed, and this is None"),
        "str": lambda self: str(present(self)),
        "format": lambda self, spec: format(present(self), spec),
        "bool": lambda self: bool(_has(self, SET)),
        "getattr": _attribute,
        "eq": _equal,
        "ne": _not_equal,
    }
    for name, method in others.items():
        setattr(Maybe, f"__{name}__", method)


_install()
