"""Python numbers in a compiled iteration: Python's are exact, and in the iteration the index is an int32.

An abstract interpretation of the iteration's jaxpr follows what is computed from the index and other Python numbers alone: integers with their
bounds, fractions, and truth values.  Where such a number meets an array it is one operand among others, and the result an array, as in Python.
`NotRollable` is raised where the compiled value could be another than Python's for more than rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograph.runtime.jaxapi import scans
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import Literal
from autograph.runtime.loops import magnitudes

LOADED, STORED = "loaded_of_numbers", "stored_into_numbers"  # what marks numbers of lists of Python numbers: `sequences/number_lists.py`
LEAVES = "slice_leaves_axis"  # the name of what marks the truth value of that: `sequences/subscripts.py`
INT32 = np.iinfo(np.int32)
Interval = tuple[int, int]


class NotRollable(Exception):
    """A Python number of the iteration would not be what it is in Python: the reason."""


class Integer(NamedTuple):
    """A Python integer; its bounds are not asked for while the numbers of an inner loop are looked for."""

    bounds: Interval | None


class Leaves(NotRollable):
    """A slice is shorter in some iterations: no table tells what it is then."""


class Fraction(NamedTuple):
    """A Python float that is computed from the index; how large and how small it is, if that is known."""

    size: magnitudes.Size | None = None


class Truth(NamedTuple):
    """A truth value that Python would know; its value, if it is the same in all iterations."""

    value: bool | None = None


class Mixed(NamedTuple):
    """A number in some iterations, as Python knows, and an array in others: an array where it is an operand."""

    number: Any = None  # what it is where it is a number


Number = Integer | Fraction | Truth | Mixed
Known = dict[Any, Number]

_REAL = frozenset({
    "exp", "exp2", "expm1", "log", "log1p", "log2", "sqrt", "rsqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "logistic", "erf", "erfc", "lgamma", "square", "add", "sub", "mul", "div", "neg", "abs", "max", "min", "pow",
    "integer_pow", "sign", "copy",
})  # fmt: skip
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_LOGIC = frozenset({"and", "or", "not", "xor"})
_SHAPES = frozenset({"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "ag_active"})  # what these give is an array


def within(interval: Interval, what: str) -> Interval:
    if interval[0] < INT32.min or interval[1] > INT32.max:
        raise NotRollable(f"{what} does not fit int32")
    return interval


class Numbers:
    """The Python numbers of an iteration; `strict`: bounds are asked for.

    `ahead` takes the variables that only Python's own arithmetic tells, where they can be computed before the loop, with what they are: comparisons
    of floats, remainders, integers that may not fit.
    """

    def __init__(self, strict: bool = True, ahead: dict[Any, Number] | None = None, lists: bool = False) -> None:
        self.strict = strict
        self.ahead = ahead
        self.lists = lists
        self._depth = 0
        self._chosen = 0  # branches and loops around, of which it is data-dependent whether they are made

    @staticmethod
    def constant(x: Any) -> Number:
        """What a Python number is that no iteration changes."""
        if isinstance(x, (bool, int)):
            return Truth(x) if isinstance(x, bool) else Integer((x, x))
        return Fraction(magnitudes.of_number(x) if isinstance(x, float) else None)

    @staticmethod
    def unknown(x: Any) -> Number:
        """What a Python number is that iterations change."""
        return Truth() if isinstance(x, bool) else Integer(None) if isinstance(x, int) else Fraction()

    def follow(self, eqns: Sequence[Any], known: Known) -> Known:
        """What the variables of some equations stand for, given what those do that come from outside."""
        known = dict(known)
        for e in eqns:
            if any(not isinstance(v, Literal) and v in known for v in e.invars) or programs(e):
                for v, number in zip(e.outvars, self._looked_at(e, known), strict=True):
                    if number is not None:
                        known[v] = number
        return known

    def _looked_at(self, e: Any, known: Known) -> Sequence[Number | None]:
        """What an equation gives; one of numbers alone that the compiled iteration cannot compute as Python does is computed ahead, if it may be."""
        v = e.outvars[0] if len(e.outvars) == 1 else None
        ahead = None if self._depth else self.ahead
        if v is None or self.strict and ahead is None:
            return self._results(e, known)
        if ahead is not None and v in ahead:
            return [ahead[v]]
        given = [_of(u, known) for u in e.invars]
        try:
            if not any(isinstance(g, Integer) and g.bounds is not None and (g.bounds[0] < INT32.min or g.bounds[1] > INT32.max) for g in given):
                return self._results(e, known)
            raise NotRollable("what is computed from the index does not fit int32")
        except Leaves:
            raise
        except NotRollable:
            if any(g is None or isinstance(g, Mixed) for g in given) or getattr(v.aval, "shape", None) != ():
                raise
            kind = getattr(v.aval.dtype, "kind", "")
            found = Truth() if kind == "b" else Integer(None) if kind in "iu" else Fraction()
            if ahead is not None:
                ahead[v] = found
            return [found]

    def _results(self, e: Any, known: Known) -> Sequence[Number | None]:
        name, none, operation = e.primitive.name, [None] * len(e.outvars), _jax.operation(e)
        given = [None if isinstance(g := _of(v, known), Mixed) else g for v in e.invars]
        if name == "scan":
            return self._scan(e, given)
        if name == "while":
            return self._while(e, given)
        if name == "cond":
            return self._cond(e, given)
        if operation in _DIVISIONS and all(isinstance(g, Integer) for g in given):
            return [Integer(self._divided(operation, given[0], given[1]))]  # type: ignore[arg-type]
        if operation == LEAVES and isinstance(given[0], Truth):
            if self.strict and given[0].value is not False:
                raise Leaves("a slice is shorter at the end of what it is taken of")
            return [given[0]]
        if operation in (LOADED, STORED):
            return [self._of_list(e, given)] if self.lists else none
        if programs(e):
            return self._call(e, given)
        mine = [g for v, g in zip(e.invars, given, strict=True) if not isinstance(v, Literal)]
        if name == "select_n":
            if isinstance(given[0], Truth) and given[0].value is not None:
                return [given[1 + given[0].value]]
            return [union(given[1:])] if given[0] is not None else none
        if any(g is None for g in mine):  # it meets an array
            return none
        if name == "convert_element_type":
            return [self._converted(given[0], e.outvars[0].aval.dtype)]
        if name in _SHAPES:
            return none  # of an array, to which it is an operand
        if name in ("max", "min") and any(isinstance(g, Truth) for g in given):
            raise NotRollable("truth values are used as numbers")
        if name in _LOGIC and all(isinstance(g, Truth) for g in given):
            return [Truth(_logic(name, [g.value for g in given if isinstance(g, Truth)]))]
        if name in ("reduce_or", "reduce_and") and all(isinstance(g, Truth) for g in given):
            return [given[0]]
        if name in _COMPARISONS:
            if any(isinstance(g, Fraction) for g in given):
                raise NotRollable("Python floats are compared")
            return [Truth(_compared(name, *given))]
        if all(isinstance(g, Integer) for g in given) and (of := _INTEGERS.get(name)) is not None:
            return [Integer(self._bounds(of, name, given, e.params))]
        if name in _REAL and any(isinstance(g, Fraction) for g in given):
            return [Fraction(self._size(name, given, e))]
        raise NotRollable(f"a Python number is used in `{e.params.get('name', name)}`")

    def _of_list(self, e: Any, given: Sequence[Number | None]) -> Number | None:
        """A number that is taken out of a list of Python numbers, or stored into one: it is one of Python's, if no traced value says where."""
        if given[1] is None or self._chosen:
            return None
        kind = e.outvars[0].aval.dtype.kind
        unknown = Truth() if kind == "b" else Fraction() if kind == "f" else Integer(None)
        if e.params["name"] == LOADED:
            return unknown
        held = given[0]
        if held is None or isinstance(e.invars[0], Literal) or isinstance(held, Integer) and held.bounds is not None:
            return None
        raise NotRollable("a list of Python numbers is given numbers that Python alone computes")

    def _bounds(self, of: Callable[..., Interval], name: str, given: Sequence[Any], params: dict[str, Any]) -> Interval | None:
        bounds = [g.bounds for g in given]
        if any(b is None for b in bounds):
            self._refuse_unknown(f"a number in `{name}`")
            return None
        found = of(*bounds, params["y"]) if name == "integer_pow" else of(*bounds)
        return within(found, "what is computed from the index") if self.strict else None

    def _size(self, name: str, given: Sequence[Any], e: Any) -> magnitudes.Size | None:
        """How large a float is that an operation gives; one that may leave the type that it has in the body is no float of Python's."""
        if not self.strict:
            return None
        sizes = [size_of(g) for g in given]
        size = magnitudes.computed(name, sizes, e.params) if None not in sizes else None  # type: ignore[arg-type]
        if size is None and self._depth:  # of an inner loop nothing is computed ahead
            return None
        if size is None or not magnitudes.fits(size, e.outvars[0].aval.dtype):
            raise NotRollable(f"a Python float in `{name}` may leave the range of {e.outvars[0].aval.dtype}")
        return size

    def _refuse_unknown(self, what: str) -> None:
        if self.strict:
            raise NotRollable(f"{what} does not fit int32")

    def _converted(self, given: Number | None, dtype: Any) -> Number:
        if np.issubdtype(dtype, np.integer):
            if isinstance(given, Fraction):
                raise NotRollable("a Python float becomes an integer")
            if isinstance(given, Truth):
                return Integer((0, 1) if given.value is None else (int(given.value), int(given.value)))
            return given  # type: ignore[return-value]
        return (given if isinstance(given, Truth) else Truth()) if dtype == np.bool_ else Fraction(size_of(given))

    def _divided(self, name: str, a: Integer, b: Integer) -> Interval | None:
        if a.bounds is None or b.bounds is None:
            self._refuse_unknown("what is divided")
            return None
        if b.bounds[0] <= 0 <= b.bounds[1]:
            raise NotRollable("a Python number is divided by what may be zero")
        if name == "floor_divide":
            ends = [math.floor(x / y) for x in a.bounds for y in b.bounds]
            return min(ends) - 1, max(ends) + 1
        return (0, b.bounds[1] - 1) if b.bounds[0] > 0 else (b.bounds[0] + 1, 0)

    def _call(self, e: Any, given: Sequence[Number | None]) -> Sequence[Number | None]:
        if any(g is None and not isinstance(v, Literal) for v, g in zip(e.invars, given, strict=True)):
            return [None] * len(e.outvars)  # a compiled function that is given an array: JAX has made all that it is given arrays
        for jaxpr in programs(e):
            if len(jaxpr.invars) == len(given) and len(jaxpr.outvars) == len(e.outvars):
                return self._inside(jaxpr, given)
        return [None] * len(e.outvars)  # of JAX's own: its results are arrays

    def _inside(self, jaxpr: Any, given: Sequence[Number | None]) -> list[Number | None]:
        """What a program gives for numbers among its operands."""
        self._depth += 1
        try:
            known = self.follow(jaxpr.eqns, {v: g for v, g in zip(jaxpr.invars, given, strict=True) if g is not None})
        finally:
            self._depth -= 1
        return [None if isinstance(v, Literal) else known.get(v) for v in jaxpr.outvars]

    def _cond(self, e: Any, given: Sequence[Number | None]) -> Sequence[Number | None]:
        sides = []
        self._chosen += given[0] is None
        for branch in e.params["branches"]:
            out = self._inside(branch.jaxpr, given[1:])
            sides.append([_of(v, {}) if isinstance(v, Literal) else g for v, g in zip(branch.jaxpr.outvars, out, strict=True)])
        self._chosen -= given[0] is None
        if given[0] is None:  # what traced values choose is an array
            return [None] * len(e.outvars)
        return [union(found) for found in zip(*sides, strict=True)]

    def _scan(self, e: Any, given: Sequence[Number | None]) -> Sequence[Number | None]:
        (consts, carried), body = scans.scan_counts(e.params), e.params["jaxpr"].jaxpr
        rows = [None] * (len(e.invars) - consts - carried)
        carry = given[consts : consts + carried]
        out = self._iterations(body, given[:consts], self._settled(body, given[:consts], carry, rows), rows, e.params["length"])
        return [*out, *[None] * (len(e.outvars) - carried)]

    def _while(self, e: Any, given: Sequence[Number | None]) -> Sequence[Number | None]:
        tests, fixed = e.params["cond_nconsts"], e.params["body_nconsts"]
        test, body = e.params["cond_jaxpr"].jaxpr, e.params["body_jaxpr"].jaxpr
        carry = self._settled(body, given[tests : tests + fixed], given[tests + fixed :], [])
        found = Numbers(strict=False).follow(test.eqns, {v: g for v, g in zip(test.invars, [*given[:tests], *carry], strict=True) if g is not None})
        going = test.outvars[0]
        if not isinstance(going, Literal) and isinstance(
            found.get(going, Mixed()), Mixed
        ):  # traced values end it: what its iterations change is traced in either form
            fixed_ones = _unchanged(body, fixed, carry)
            self._chosen += 1
            self._inside(body, [*given[tests : tests + fixed], *(g if k in fixed_ones else None for k, g in enumerate(carry))])
            self._chosen -= 1
            return [g if k in fixed_ones else None for k, g in enumerate(carry)]
        limits = _limits(test, tests, [*given[:tests], *carry])
        return self._iterations(body, given[tests : tests + fixed], carry, [], None, limits)

    def _settled(self, body: Any, consts: Sequence[Any], carry: Sequence[Any], rows: Sequence[Any]) -> list[Number | None]:
        """Which of the variables of a loop are numbers in all iterations; Python's have weak types."""
        first = len(body.invars) - len(rows) - len(carry)
        carry = [g if v.aval.weak_type else None for v, g in zip(body.invars[first:], carry, strict=False)]
        loose = Numbers(strict=False, lists=self.lists)
        loose._chosen = self._chosen
        now: list[Number | None] = [*map(_changing, carry)]
        while True:
            out = loose._inside(body, [*consts, *now, *rows])[: len(now)]
            outs = [_of(v, {}) if isinstance(v, Literal) else o for v, o in zip(body.outvars, out, strict=False)]
            after = [None if g is None or o is None else g if type(g) is type(o) else Fraction() for g, o in zip(now, outs, strict=True)]
            if after == now:
                return [g if n is not None else None for g, n in zip(carry, now, strict=True)]
            now = after

    def _iterations(
        self, body: Any, consts: Sequence[Any], numbers: Sequence[Any], rows: Sequence[Any], iterations: int | None,
        limits: dict[int, Interval] | None = None,
    ) -> list[Number | None]:  # fmt: skip
        """The variables of a loop of which Python would know the iterations, after it; `numbers` are those that are settled."""
        if not self.strict:
            self._inside(body, [*consts, *map(_changing, numbers), *rows])
            return [*map(_changing, numbers)]
        first = len(body.invars) - len(rows) - len(numbers)
        same = _unchanged(body, first, numbers)
        inside: list[Number | None] = []
        for k, g in enumerate(numbers):
            if g is None or k in same:
                inside.append(g)
                continue
            step = constant_step(body.eqns, body.invars[first + k], body.outvars[k])
            if limits is not None and k in limits and isinstance(g, Integer) and step is not None:
                inside.append(Integer(within(limits[k], "the index of an inner loop")))
            elif iterations is not None and isinstance(g, Integer) and g.bounds is not None and step is not None:
                far = iterations * step
                inside.append(Integer(within((g.bounds[0] + min(far, 0), g.bounds[1] + max(far, 0)), "a number that an inner loop counts")))
            else:
                raise NotRollable("an inner loop changes a Python number")
        self._inside(body, [*consts, *inside, *rows])
        return inside


def constant_step(eqns: Sequence[Any], v: Any, out: Any) -> int | None:
    """The constant that an iteration adds to an integer variable."""
    step = added(eqns, v, out)
    return step if isinstance(step, int) else None


def added(eqns: Sequence[Any], v: Any, out: Any) -> int | float | None:
    """The constant that an iteration adds to a variable."""
    for e in eqns:
        if out in e.outvars and e.primitive.name in ("add", "sub") and e.invars[0] is v and isinstance(e.invars[1], Literal):
            step = np.asarray(e.invars[1].val)
            if step.shape == () and step.dtype.kind in "iuf":
                number: int | float = step.item()
                return number if e.primitive.name == "add" else -number
    return None


def _of(v: Any, known: Known) -> Number | None:
    """What an operand stands for: a constant beside numbers is one too."""
    if not isinstance(v, Literal):
        return known.get(v)
    if getattr(v.aval, "shape", None) != ():
        return None
    if v.aval.dtype == np.bool_:
        return Truth(bool(v.val))
    if np.issubdtype(v.aval.dtype, np.integer):
        return Integer((int(v.val), int(v.val)))
    return Fraction(magnitudes.of_number(float(v.val)) if np.issubdtype(v.aval.dtype, np.floating) else None)


def size_of(number: Number | None) -> magnitudes.Size | None:
    """How large and how small a number is."""
    if isinstance(number, Integer):
        return None if number.bounds is None else magnitudes.of_integers(number.bounds)
    return (1.0, 1.0) if isinstance(number, Truth) else number.size if isinstance(number, Fraction) else None


def union(numbers: Sequence[Number | None]) -> Number | None:
    """What a truth value that Python would know chooses."""
    if any(g is None or isinstance(g, Mixed) for g in numbers):
        known = [g.number if isinstance(g, Mixed) else g for g in numbers if g is not None]
        return Mixed(union(known)) if known else None
    if all(isinstance(g, Integer) for g in numbers):
        bounds = [g.bounds for g in numbers if isinstance(g, Integer)]
        return Integer(None if any(b is None for b in bounds) else (min(b[0] for b in bounds if b), max(b[1] for b in bounds if b)))
    if all(isinstance(g, Truth) for g in numbers):
        values = {g.value for g in numbers if isinstance(g, Truth)}
        return Truth(values.pop() if len(values) == 1 else None)
    sizes = [size_of(g) for g in numbers]
    return Fraction(None if None in sizes else magnitudes.joined(sizes))  # type: ignore[arg-type]


def _changing(number: Number | None) -> Number | None:
    """What a number is of which an iteration leaves another one."""
    if isinstance(number, Fraction):
        return Fraction()
    return Integer(None) if isinstance(number, Integer) else Truth() if isinstance(number, Truth) else number


def _logic(name: str, values: Sequence[bool | None]) -> bool | None:
    """What a logical operation gives, as far as it is the same in all iterations."""
    if name in ("and", "or"):
        decides = name == "or"
        return decides if decides in values else None if None in values else not decides
    if None in values:
        return None
    return not values[0] if name == "not" else values[0] != values[1]


def _compared(name: str, a: Any, b: Any) -> bool | None:
    """What a comparison gives, as far as the bounds tell."""
    (x, y) = (getattr(g, "bounds", None) for g in (a, b))
    if x is None or y is None:
        return None
    less = True if x[1] < y[0] else False if x[0] >= y[1] else None  # a < b
    more = True if x[0] > y[1] else False if x[1] <= y[0] else None
    same = False if less or more else True if x == y and x[0] == x[1] else None
    found = {"lt": less, "gt": more, "eq": same, "ge": less, "le": more, "ne": same}[name]
    return found if name in ("lt", "gt", "eq") or found is None else not found


def _unchanged(body: Any, first: int, carry: Sequence[Any]) -> set[int]:
    return {k for k in range(len(carry)) if body.outvars[k] is body.invars[first + k]}


def _limits(test: Any, tests: int, given: Sequence[Number | None]) -> dict[int, Interval]:
    """The bounds of a variable that the test of a loop compares with what no iteration changes."""
    found: dict[int, Interval] = {}
    numbers = {v: g for v, g in zip(test.invars, given, strict=True) if isinstance(g, Integer)}
    for e in test.eqns:
        if e.primitive.name in ("lt", "gt") and e.outvars[0] is test.outvars[0] and e.invars[0] in test.invars[tests:]:
            k = test.invars.index(e.invars[0]) - tests
            start, stop = numbers.get(e.invars[0]), _of(e.invars[1], dict(numbers))
            if isinstance(start, Integer) and isinstance(stop, Integer) and start.bounds and stop.bounds:
                ends = (*start.bounds, *stop.bounds)
                found[k] = min(ends), max(ends)
    return found


def programs(e: Any) -> list[Any]:
    """The programs that an equation holds."""
    return [getattr(j, "jaxpr", j) for p in e.params.values() for j in _jax.jaxprs_in(p)]


_DIVISIONS = frozenset({"floor_divide", "remainder", "_remainder", "mod"})


def _products(a: Interval, b: Interval) -> Interval:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _power(a: Interval, y: int) -> Interval:
    ends = [a[0] ** y, a[1] ** y, *([0] if a[0] <= 0 <= a[1] else [])]
    return min(ends), max(ends)


_INTEGERS: dict[str, Callable[..., Interval]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]), "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]), "mul": _products,
    "square": lambda a: _products(a, a),
    "neg": lambda a: (-a[1], -a[0]), "abs": lambda a: (0, max(map(abs, a))), "sign": lambda a: (-1, 1), "copy": lambda a: a, "integer_pow": _power,
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])), "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "and": lambda a, b: (0 if min(a[0], b[0]) >= 0 else INT32.min, max(a[1], b[1], 0)),
}  # fmt: skip
