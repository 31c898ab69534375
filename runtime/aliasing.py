"""Several names or places that hold one array: a store into it through one of them is seen through the others, as in NumPy.

The transpiler says which names and places may hold the array; here it is known which do.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from types import CellType, CodeType, FrameType, FunctionType, MethodType
from typing import Any, NamedTuple

import jax

from autograph.runtime.attributes import is_property, renew_attr, set_attr, unless_failed_now
from autograph.runtime.calls import call
from autograph.runtime.contents import is_array
from autograph.runtime.errors import AliasError
from autograph.runtime.frames import frames, watched
from autograph.runtime.heap import Contents, Entry
from autograph.runtime.items import put_at
from autograph.runtime.lifted import touch
from autograph.runtime.numpy_places import note_store, within_call
from autograph.runtime.places import assigned_names, caller, here, is_block, kept_after, place_of, variable_of, visible
from autograph.runtime.points_to import doubtful, note_comparison
from autograph.runtime.raw_errors import mark_of
from autograph.runtime.replaced import log, replaced_meanwhile
from autograph.runtime.shared import aliasable, origin
from autograph.runtime.stale import callers_spots, is_told, note_other_names, refuse_other_names, taken, telling
from autograph.runtime.unwound import is_exact, leave, told_exactly
from autograph.runtime.values import Maybe


class Place(NamedTuple):
    """An attribute that may hold an array."""

    obj: Any
    name: str


class Fixed(NamedTuple):
    """A variable from outside the function that may hold an array, and keeps what it holds."""

    name: str
    value: Any


def fixed(name: str, value: Any) -> Fixed:
    return Fixed(name, value)


def place(obj: Any, name: str) -> Place:
    return Place(obj, name)


Held = CellType  # what a variable held before a call, for `renew`: not another name for it


def renew(old: Any, new: Any, *others: Any) -> Any:
    """`new`, and what the other names hold that may have held `old` or a container of it: there it is `new` as well.

    Places among the others are changed; without other names it is `new` alone.
    """
    names = [x for x in others if type(x) not in (Place, Fixed)]
    exact = type(old) is Held and is_exact()  # the call has ended, but what it gives is what was stored before an error
    old = old.cell_contents if type(old) is Held else old
    if isinstance(new, (list, dict, tuple)):  # an item of it has become a new array
        for old, fresh in log().last():
            if fresh is None:
                _refuse_lost(old, names)
            else:
                new, names = _renewed(new, old, fresh, exact), _others(old, fresh, others, names, exact)
    elif old is not new:
        names = _others(old, new, others, names, exact)
    return (new, *names) if names else new


def _refuse_lost(old: Any, names: Sequence[Any]) -> None:
    """Raise AliasError (AG407) if a name holds an array that has been stored into, and nobody knows what it has become."""
    for x in names:
        inside = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else (x,)
        if any(aliasable(v) and same(v, old) for v in inside):
            raise AliasError(
                f"an array is stored into in a branch or loop of a function that is called, and `{variable_of(x) or 'a variable'}` "
                "here would keep the old one", here(), "read it again after the call, or give it a copy before (`.copy()`)",
            )  # fmt: skip


def _others(old: Any, new: Any, others: Sequence[Any], names: list[Any], exact: bool) -> list[Any]:
    """What the names hold that may have held `old`; places are changed."""
    for x in others:
        if type(x) is Fixed and _renewed(x.value, old, new, exact) is not x.value:
            raise AliasError(
                f"`{x.name}` holds the array that is stored into, and belongs to the code around this function", here(),
                f"declare `global {x.name}` or `nonlocal {x.name}`, or store into a copy",
            )  # fmt: skip
        if type(x) is Place:
            held = getattr(x.obj, x.name, None)
            after = _renewed(held, old, new, exact)
            if after is not held:
                note_other_names(old, f"`{variable_of(x.obj) or type(x.obj).__name__}.{x.name}`", (x.obj, x.name))
                spots = taken(old)  # of functions around, which know nothing of this store
                (renew_attr if exact or is_property(x.obj, x.name) else set_attr)(x.obj, x.name, after)
                for spot in spots:
                    put_at(spot, new)
    return [_renewed(x, old, new, exact) for x in names]


def _renewed(x: Any, old: Any, new: Any, exact: bool) -> Any:
    if isinstance(x, Maybe):  # where there is an array, it may be the one
        inner = _renewed(x.value, old, new, exact)
        return x if inner is x.value else Maybe(inner, x.tag, x.bits, x.name)
    if _is_new(x, new):
        return x
    if same(x, old):
        return new
    if type(x) is tuple:
        parts = [_renewed(p, old, new, exact) if not isinstance(p, (tuple, list, dict)) else p for p in x]
        return tuple(parts) if any(p is not q for p, q in zip(parts, x, strict=True)) else x
    for k in _keys(x):
        after = x[k] if isinstance(x[k], (tuple, list, dict)) else _renewed(x[k], old, new, exact)
        if after is not x[k]:
            if watched():
                if not is_told(x, caller()):
                    for spot in callers_spots(old, f"an item of a `{type(x).__name__}`", (x, k)):
                        put_at(spot, new)
                note_store(Entry(x, k))
                touch(Contents(x), late=False)
                x[k] = after if exact else unless_failed_now(after, functools.partial(x.__getitem__, k))
            else:
                x[k] = after
    return x


def _keys(x: Any) -> Iterable[Any]:
    return range(len(x)) if type(x) is list else list(x) if type(x) is dict else ()


def _is_new(x: Any, new: Any) -> bool:
    return x is new or isinstance(x, jax.Array) and isinstance(new, jax.Array) and origin(x) is origin(new)


def same(a: Any, b: Any) -> bool:
    """Whether two variables hold one array: one object, or what stands for one in a block.

    Raises:
      AliasError: (AG407) only traced values decide.
    """
    if a is b:
        return True
    if not (aliasable(a) and aliasable(b)):
        return False
    one = origin(a) is origin(b)
    if not one and doubtful(a, b):
        names = [f"`{n}`" for n in dict.fromkeys(map(variable_of, (a, b))) if n]
        holds = f"{names[0]} and {names[1]} are one array" if len(names) == 2 else "another name holds the same array"
        raise AliasError(
            f"an array is stored into, and only traced values decide whether {holds}", here(),
            "give one of the names a copy (`b = a.copy()`) before the branch or loop",
        )  # fmt: skip
    note_comparison([a], [b], one, frames())
    return one


class Variant(NamedTuple):
    """A function that gives, beside its result, what the names of its parameters hold at its end that it stores into."""

    function: Callable[..., Any]
    names: tuple[str, ...]
    positions: dict[str, int]
    given: frozenset[frozenset[str]]  # pairs of a parameter and a name from outside that it looks after itself


_find: list[Callable[[Any], Variant | None]] = [lambda f: None]


def install(find: Callable[[Any], Variant | None]) -> None:
    """Hand in what finds the variant of a function."""
    _find[0] = find


def variant_of(f: Any) -> Variant | None:
    """The variant of a function; None if it stores into no parameter, or has no source."""
    return _find[0](f)


def storing(f: Any, *wanted: int | str) -> Callable[..., tuple[Any, ...]]:
    """`f`, giving also what the arguments `wanted` (positions or keywords) are after it has stored into them."""

    def run(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        given = [args[k] if isinstance(k, int) else kwargs[k] for k in wanted]
        variant = variant_of(f) if watched() or any(map(_is_or_holds_array, given)) else None
        if variant is None:
            return (call(f)(*args, **kwargs), *given)
        for k, x in zip(wanted, given, strict=True):
            if is_array(x):
                _refuse_other_reader(f, k, x, variant.given)
        skipped = isinstance(f, MethodType)
        positions = {p - skipped: n for n, p in variant.positions.items()}
        names = [positions.get(k, "") if isinstance(k, int) else k for k in wanted]
        known = log()
        begin = known.count
        try:
            with within_call(), told_exactly(given), telling(variant.function, given):
                result, *finals = variant.function(*args, **kwargs)
        except Exception as error:
            leave(error, f.__name__, zip(given, names, strict=True))
            raise
        after = dict(zip(variant.names, finals, strict=True))
        for n, g in zip(names, given, strict=True):
            if aliasable(g) and aliasable(after.get(n)):
                known.note(g, after[n])
        known.since = begin
        return (result, *(after.get(n, g) for n, g in zip(names, given, strict=True)))

    return run


_LOOKED_AT = 100  # items: a long list of numbers is not to cost each call a walk through it


def _is_or_holds_array(x: Any) -> bool:
    items = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ()
    return is_array(x) or any(map(is_array, itertools.islice(items, _LOOKED_AT)))


def _refuse_other_reader(f: Any, argument: int | str, x: Any, given: frozenset[frozenset[str]]) -> None:
    """Raise AliasError if a function that stores into an argument also names a variable from outside that holds the same array."""
    function = getattr(f, "__func__", f)
    if not isinstance(function, FunctionType):
        return
    code, around = function.__code__, function.__globals__
    if not (function.__closure__ or any(_holds(v, x) for n, v in around.items() if not n.startswith("__"))):
        return  # mostly: what the function and its callees name need not be looked up
    parameter = argument if isinstance(argument, str) else code.co_varnames[argument + isinstance(f, MethodType)]
    for name, held in named_outside(function).items():
        if _holds(held, x) and {parameter, name} not in given:
            raise AliasError(
                f"`{code.co_name}` stores into its parameter `{parameter}`, and reads the same array as `{name}`", here(),
                f"let it use only one of them, or give it a copy (`{name}.copy()`)",
            )  # fmt: skip


def named_outside(function: Any) -> dict[str, Any]:
    """The global and free variables that a function names, and those that functions of its file name which it calls."""
    found: dict[str, Any] = {}
    todo, seen = [function], set()
    while todo:
        x = todo.pop()
        f = inspect.unwrap(x) if callable(x) else x  # another may answer anything when it is asked for an attribute
        if not isinstance(f, FunctionType) or id(f) in seen or f.__globals__ is not function.__globals__:
            continue
        seen.add(id(f))
        codes = [f.__code__]
        while codes:
            code = codes.pop()
            codes += [c for c in code.co_consts if isinstance(c, CodeType)]
            held = {n: f.__globals__[n] for n in code.co_names if n in f.__globals__}
            found |= held
            todo += held.values()
        cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
        inside = {n: c.cell_contents for n, c in cells if c != _EMPTY}
        found |= inside
        todo += inside.values()
    return found


_EMPTY = CellType()


def any_array(*values: Any) -> bool:
    """Whether one of them is, or holds, a `jax.Array`, into which a callee cannot store."""
    return any(map(_is_or_holds_array, values))


def last(*values: Any) -> Any:
    """The last of some values."""
    return values[-1]


def guarded(f: Callable[..., Any], name: str, positions: dict[str, int]) -> Callable[..., Any]:
    """`f`, which stores into some of its parameters, for a caller that cannot be told of the new arrays: refused if it would notice."""

    def checked(*args: Any, **kwargs: Any) -> Any:
        given = {n: args[k] if k < len(args) else kwargs.get(n) for n, k in positions.items()}
        frame = caller()
        with replaced_meanwhile() as replaced, telling(f, [x for x in given.values() if is_array(x)]):
            out = f(*args, **kwargs)
        for parameter, x in given.items():
            if any(x is old or origin(x) is old for old in replaced):
                _refuse_reader(name, parameter, x, frame)
        told = frame is None or mark_of(frame.f_code) not in ("Form", "Staged") and not is_block(frame.f_code)  # the user's own code
        inside = next((n for n, x in given.items() if not told and isinstance(x, (list, dict, tuple))), None)
        for old in replaced if inside is not None else ():
            refuse_other_names(old, f"an array in the argument `{inside}` of `{name}`")
        return out

    return checked


def keeping_arrays(f: Callable[..., Any], stored: frozenset[str], code: CodeType) -> Callable[..., Any]:
    """A generator function that stores into some of its parameters: refused where they are arrays, of which nothing can come back."""

    def checked(*args: Any, **kwargs: Any) -> Any:
        for n, x in {**dict(zip(code.co_varnames, args)), **kwargs}.items():
            if n in stored and aliasable(x):
                raise AliasError(
                    f"`{code.co_name}` is a generator that stores into its parameter `{n}`, an array: its caller would keep the old one", here(),
                    "keep the array in an attribute of an object, or write a function that returns it",
                )  # fmt: skip
        return f(*args, **kwargs)

    return checked


def borrowed(name: str, parameter: str, x: Any, array: Any) -> None:
    """Called by a function before it stores into an array that it was given, or that is in `x`, which it was given.

    Refused if its caller would notice that nothing comes back: what is in a list or dict does.
    """
    if isinstance(x, (list, dict)):
        note_other_names(array, parameter)
        return
    own = caller()
    frame = visible(own.f_back) if own is not None else None
    if frame is not None and mark_of(frame.f_code) in ("Form", "Staged"):  # for the user's own code the arguments are values
        _refuse_reader(name, parameter, x, frame)


def _refuse_reader(name: str, parameter: str, x: Any, frame: FrameType | None) -> None:
    """Raise AliasError if the caller has a variable that holds an array and is read later."""
    if frame is None:
        return
    gone = assigned_names(frame)
    around = {n: frame.f_globals[n] for n in frame.f_code.co_names if n in frame.f_globals}
    for variable, held in (frame.f_locals | around).items():
        lasting = variable in around or variable in frame.f_code.co_freevars
        if variable.isidentifier() and variable not in gone and _holds(held, x) and (lasting or kept_after(frame, variable)):
            raise AliasError(
                f"`{name}` stores into its parameter `{parameter}`, and `{variable}` here would keep the old array", place_of(frame),
                f"let `{name}` return the array, and write `{variable} = {name}(...)`",
            )  # fmt: skip


def _holds(v: Any, x: Any) -> bool:
    inside = v.values() if type(v) is dict else v if type(v) in (list, tuple) else ()
    return v is x or any(e is x for e in inside)
