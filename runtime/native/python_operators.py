"""The operators of generated code as Python has them, for code that reaches nothing traced: `known_code` puts them in the place of the others.

An operator that is not here is of arrays, or tells the blocks around of something: code with it is run as it is.
"""

from __future__ import annotations

import builtins
import functools
import operator
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import CellType, CodeType, FunctionType, GeneratorType, ModuleType
from typing import Any

from autograph.runtime.effects.optional_values import read, read_free, some, some_free
from autograph.runtime.errors.source_spans import mark_of, parameter_names
from autograph.runtime.native.code_facts import facts_of
from autograph.runtime.tracing import hooks
from autograph.runtime.values.values import Unset, blank

Block = Callable[..., Any]
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv, "%=": operator.imod,
    "**=": operator.ipow, "@=": operator.imatmul, "<<=": operator.ilshift, ">>=": operator.irshift, "&=": operator.iand, "|=": operator.ior,
    "^=": operator.ixor,
}  # fmt: skip
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "is": operator.is_,
    "is not": operator.is_not, "in": lambda x, items: x in items, "not in": lambda x, items: x not in items,
}  # fmt: skip


def cond(p: Any, then: Block, orelse: Block, *state: Any) -> Any:
    return then(*state) if p else orelse(*state)


def keep(*state: Any) -> Any:
    return state[0] if len(state) == 1 else state or None


def switch(subject: Any, cases: dict[Any, Block], default: Block, *state: Any) -> Any:
    for keys, case in cases.items():
        if any(subject == key for key in (keys if type(keys) is tuple else (keys,))):
            return case(*state)
    return default(*state)


def while_loop(test: Block, body: Block, *state: Any) -> Any:
    if len(state) == 1:
        (x,) = state
        while test(x):
            x = body(x)
        return x
    while test(*state):
        state = body(*state) or ()
    return state or None


def for_loop(items: Any, body: Block, *state: Any, until: str | None = None, **_: Any) -> Any:
    if until is not None:
        return _until(items, body, state, parameter_names(body, len(state)).index(until))
    if len(state) == 1:
        (x,) = state
        for item in items:
            x = body(item, x)
        return x
    for item in items:
        state = body(item, *state) or ()
    return state or None


def _until(items: Any, body: Block, state: tuple[Any, ...], flag: int) -> Any:
    several = len(state) > 1
    for item in items:
        out = body(item, *state)
        state = out if several else (out,)
        if state[flag]:
            break
    return state if several else state[0]


def set_item(x: Any, i: Any, value: Any) -> Any:
    x[i] = value
    return x


def set_path(x: Any, path: tuple[Any, ...], value: Any) -> Any:
    _at(x, path)[path[-1]] = value
    return x


def set_attr_path(obj: Any, name: str, path: tuple[Any, ...], value: Any) -> Any:
    return set_path(getattr(obj, name), path, value)


def set_attr_item(obj: Any, name: str, i: Any, value: Any) -> Any:
    return set_item(getattr(obj, name), i, value)


def update_attr(obj: Any, name: str, symbol: str, value: Any, *old: Any) -> None:
    (x,) = old or (getattr(obj, name),)
    setattr(obj, name, IN_PLACE[symbol](x, value))


def update_item(x: Any, i: Any, symbol: str, value: Any, *old: Any) -> Any:
    (before,) = old or (x[i],)
    x[i] = IN_PLACE[symbol](before, value)
    return x


def update_path(x: Any, path: tuple[Any, ...], symbol: str, value: Any, *old: Any) -> Any:
    update_item(_at(x, path), path[-1], symbol, value, *old)
    return x


def update_attr_item(obj: Any, name: str, i: Any, symbol: str, value: Any, *old: Any) -> Any:
    return update_item(getattr(obj, name), i, symbol, value, *old)


def update_attr_path(obj: Any, name: str, path: tuple[Any, ...], symbol: str, value: Any, *old: Any) -> Any:
    return update_path(getattr(obj, name), path, symbol, value, *old)


def in_place(x: Any, symbol: str, value: Any, *_: Any) -> Any:
    return IN_PLACE[symbol](x, value)


def del_attr_item(obj: Any, name: str, i: Any) -> None:
    del getattr(obj, name)[i]


def append(x: Any, value: Any, count: int = 0) -> Any:
    x.append(value)
    return x


def extend(x: Any, values: Any) -> Any:
    x.extend(values)
    return x


def pop(x: Any, *at: Any) -> tuple[Any, Any]:
    return x.pop(*at), x


def insert(x: Any, i: Any, value: Any) -> Any:
    x.insert(i, value)
    return x


def delete(x: Any, i: Any) -> Any:
    del x[i]
    return x


def remove(x: Any, value: Any) -> Any:
    x.remove(value)
    return x


def reverse_list(x: Any) -> Any:
    x.reverse()
    return x


def clear(x: Any) -> Any:
    x.clear()
    return x


def sort(x: Any, **options: Any) -> Any:
    x.sort(**options)
    return x


def renewed(x: Any, items: Any) -> Any:
    return items


def call_in(obj: Any, name: str, method: str) -> Any:
    return getattr(getattr(obj, name), method)


def call_at(holder: Any, key: Any, method: str) -> Any:
    return getattr(holder[key], method)


def call_of(variable: Block, method: str) -> Any:
    return getattr(variable(), method)


def and_(a: Any, b: Block) -> bool:
    return builtins.bool(a and b())


def or_(a: Any, b: Block) -> bool:
    return builtins.bool(a or b())


def and_then(a: Any, b: Block) -> Any:
    return a and b()


def or_else(a: Any, b: Block) -> Any:
    return a or b()


def compare(left: Any, symbol: str, right: Any, *rest: Any) -> Any:
    first = _COMPARE[symbol](left, right)
    if not rest:
        return first
    following, operand, *others = rest
    return first and compare(right, following, operand(), *others)


def is_bool(a: Any, symbol: str, b: Any) -> bool:
    return (a is b) == (symbol == "is")


def each(items: Any, value: Block, test: Block | None = None, *, unpack: int = 0, inner: bool = False) -> Iterator[Any]:
    return _each(iter(items), value, test, unpack, inner)


def _each(items: Iterator[Any], value: Block, test: Block | None, unpack: int, inner: bool) -> Iterator[Any]:
    for item in items:
        parts = (item,)
        if unpack:
            parts = tuple(item)
            if len(parts) != unpack:
                raise ValueError(_unpacking(len(parts), unpack))
        if test is None or test(*parts):
            found = value(*parts)
            if inner:
                yield from found
            else:
                yield found


def _unpacking(count: int, wanted: int) -> str:
    return f"not enough values to unpack (expected {wanted}, got {count})" if count < wanted else f"too many values to unpack (expected {wanted})"


def length(x: Any) -> int:
    folded = type(x) is GeneratorType and x.gi_code is _each.__code__
    return builtins.sum(1 for _ in x) if folded else builtins.len(x)


def first(values: Iterator[Any], *default: Any) -> Any:
    return builtins.next(values, *default)


def text(template: str, /, *args: Any, **kwargs: Any) -> str:
    return template.format(*args, **kwargs)


def renew(old: Any, new: Any, *others: Any) -> Any:
    names = [x for x in others if x is not _PLACE]
    return (new, *names) if names else new


def storing(f: Block, *wanted: int | str) -> Block:
    def run(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        given = [args[k] if isinstance(k, int) else kwargs[k] for k in wanted]
        return (f(*args, **kwargs), *given)

    return run


def nothing(*_: Any) -> None:
    return None


def _at(x: Any, path: tuple[Any, ...]) -> Any:
    for i in path[:-1]:
        x = x[i]
    return x


def _same(x: Any, *_: Any) -> Any:
    return x


_PLACE = object()  # a place that may hold an array: none does


class _Operators:
    """What stands in code for the module of the operators: a constant, which is compared and hashed by identity."""

    def __init__(self, **operators: Any) -> None:
        self.__dict__.update(operators)


KNOWN = _Operators(
    cond=cond, continued=lambda before, rest: rest() if before[0] else before[1], going_on=lambda before, rest: rest() if before[0] else before,
    keep=keep, switch=switch, while_loop=while_loop, for_loop=for_loop, get_item=operator.getitem, set_item=set_item, set_path=set_path,
    set_attr=setattr, set_attr_path=set_attr_path, set_attr_item=set_attr_item, update_attr=update_attr, update_item=update_item,
    update_path=update_path, update_attr_item=update_attr_item, update_attr_path=update_attr_path, in_place=in_place, del_item=operator.delitem,
    del_attr=delattr, del_attr_item=del_attr_item, append=append, extend=extend, pop=pop, insert=insert, delete=delete, remove=remove,
    reverse_list=reverse_list, clear=clear, sort=sort, renewed=renewed, call=_same,
    call_in=call_in, call_at=call_at, call_of=call_of, and_=and_, or_=or_, not_=operator.not_,
    and_then=and_then, or_else=or_else, compare=compare, in_=_COMPARE["in"], not_in=_COMPARE["not in"], equal=operator.eq, not_equal=operator.ne,
    ordered=lambda a, symbol, b: _COMPARE[symbol](a, b), is_none=lambda x: x is None, is_not_none=lambda x: x is not None,
    is_=operator.is_, is_not=operator.is_not,
    is_bool=is_bool, each=each, collected=list, len=length, next=first, min=min, max=max, sum=sum, any=any, all=all, int=int, float=float,
    bool=bool, complex=complex, sorted=sorted, list=list, isinstance=isinstance, callable=callable, type_of=type, range=range, static_range=range,
    enumerate=enumerate, zip=zip, reversed=reversed, indices=_same, row=lambda items, item: item, over=_same, live_rows=_same, part=_same,
    matched=_same, is_array=lambda x: False, slice=slice, span=lambda start, stop, length: slice(start, stop), text=text, percent=operator.mod,
    str_=str, repr_=repr, format_=format, renew=renew, storing=storing, place=lambda obj, name: _PLACE, fixed=lambda name, value: _PLACE,
    any_array=lambda *values: False, last=lambda *values: values[-1], Held=CellType, borrowed=nothing, caught=nothing,
    bound=lambda variable, value: value, stores_into=nothing, stores_into_own=nothing, stores_into_attr=nothing,
)  # fmt: skip
for _own in (read, read_free, some, some_free, Unset):  # of variables that may be unset
    setattr(KNOWN, _own.__name__, _own)
KNOWN.blank = blank  # type: ignore[attr-defined]

_staged: dict[int, tuple[weakref.ref[CodeType], CodeType]] = {}  # by identity of code with these operators: the code that it was
_codes: dict[int, tuple[weakref.ref[CodeType], CodeType | None]] = {}


def known_code(code: CodeType) -> CodeType | None:
    """Staged code with these operators; None if it has one that is not here."""
    found = _codes.get(id(code))
    if found is not None and found[0]() is code:
        return found[1]
    key = id(code)
    others = (facts_of(code).attributes & hooks.face.public_names()) - vars(KNOWN).keys()
    new = None if others else _replaced(code)
    _codes[key] = weakref.ref(code, functools.partial(_codes.pop, key)), new
    return new


def _replaced(code: CodeType) -> CodeType:
    constants: list[Any] = []
    for c in code.co_consts:
        if isinstance(c, CodeType):
            c = _replaced(c)
        elif isinstance(c, ModuleType) and c is hooks.face:
            c = KNOWN
        constants.append(c)
    new = code.replace(co_consts=tuple(constants))
    key = id(new)
    _staged[key] = weakref.ref(new, functools.partial(_staged.pop, key)), code
    return new


def known_functions(running: Iterable[Any]) -> list[tuple[FunctionType, CodeType]]:
    """The functions of staged code among some, with the code that has these operators."""
    found = []
    for f in running:
        if type(f) is FunctionType and mark_of(f.__code__) == "Staged" and (code := known_code(f.__code__)) is not None:
            found.append((f, code))
    return found


def put_back(functions: Iterable[Any]) -> None:
    """Give functions that were made meanwhile the code that they have in a trace."""
    for f in functions:
        if type(f) is FunctionType and (found := _staged.get(id(f.__code__))) is not None and found[0]() is f.__code__:
            f.__code__ = found[1]
