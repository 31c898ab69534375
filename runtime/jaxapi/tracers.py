"""Arrays that can change: inside of our traces every array is an object, which holds the value that it has now.

JAX keeps only values: it asks each operand for its canonical value, which for an `Array` is what it holds at that time, so equations, constants
and residuals never hold the object.  What the user's names, attributes, lists and closures hold is the object, so all of them see a store.
"""

from __future__ import annotations

import operator
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from autograph.runtime.errors.errors import ConcreteValueError
from autograph.runtime.errors.source_spans import HIDDEN, here
from autograph.runtime.jaxapi.arithmetic import Arithmetic
from autograph.runtime.jaxapi.private import ArrayImpl, PRNGKeyArray, ad, batching, config, core, dtypes
from autograph.runtime.jaxapi.private import partial_eval as pe


class ArrayTracer(Arithmetic):
    """An array as an object: `now` is the value of JAX's that it holds, `home` (weakly) the trace in which it was made.

    `who` says which array it may be, where that is data-dependent (`array_aliasing.py`); one that `lasts` is seen after an error.  `scalar` is the
    type of the number that it stands for, `OF_NUMPY` of a result, `GIVEN` of an argument that may be one, or False of an array (`is_number`).
    """

    __slots__ = ("home", "lasts", "now", "scalar", "who")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, now: Any, home: Any) -> None:
        self.now, self.home, self.lasts = now, home, False
        self.who: Any = None
        self.scalar: Any = None
        self._line_info: Any = None  # type: ignore[misc]

    @property
    def __class__(self) -> Any:
        """What `isinstance` asks beside the type: code of libraries that looks for one of JAX's tracers, or NumPy's arrays, finds it.

        Code of ours and of JAX's takes it for no array of NumPy's: that would hold its memory, which a store changes.
        """
        now = self.now
        if isinstance(now, core.Tracer) or isinstance(now, np.ndarray) and not sys._getframe(1).f_code.co_filename.startswith(HIDDEN):
            return type(now)
        return type(self)

    @__class__.setter
    def __class__(self, cls: Any) -> None:
        object.__dict__["__class__"].__set__(self, cls)

    @property
    def _trace(self) -> Any:
        return self.now._trace if isinstance(self.now, core.Tracer) else core.eval_trace

    @property
    def aval(self) -> Any:
        now = self.now
        return now.aval if isinstance(now, core.Tracer) else core.typeof(now)

    def constant(self) -> Any:
        """What stands for an array of NumPy's that is known: JAX keeps constants by reference, so it is given a copy."""
        with np.errstate(over="ignore", invalid="ignore"):  # what `np.empty` gives may be any number
            return dtypes.canonicalize_value(np.array(self.now, dtypes.canonicalize_dtype(self.now.dtype)))

    def full_lower(self) -> Any:
        return core.full_lower(self.now)

    def to_concrete_value(self) -> Any:
        return core.to_concrete_value(self.now)

    def get_referent(self) -> Any:
        return core.get_referent(self.now)

    def _short_repr(self) -> str:
        return self.now._short_repr() if isinstance(self.now, core.Tracer) else repr(self.now)

    def _origin_msg(self) -> str:
        return self.now._origin_msg() if isinstance(self.now, core.Tracer) else ""

    def __float__(self) -> float:
        return float(core.to_concrete_value(self.now)) if core.is_concrete(self) else super().__float__()

    def __int__(self) -> int:
        return int(core.to_concrete_value(self.now)) if core.is_concrete(self) else super().__int__()

    def __complex__(self) -> complex:
        return complex(core.to_concrete_value(self.now)) if core.is_concrete(self) else super().__complex__()

    def __index__(self) -> int:
        return operator.index(core.to_concrete_value(self.now)) if core.is_concrete(self) else super().__index__()

    def __str__(self) -> str:
        return str(core.to_concrete_value(self.now)) if core.is_concrete(self) else super().__str__()

    def __format__(self, spec: str) -> str:
        return format(core.to_concrete_value(self.now), spec) if core.is_concrete(self) else super().__format__(spec)

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(tuple(map(content, index)) if type(index) is tuple else content(index))

    def __reversed__(self) -> Iterator[Any]:
        return (self[k] for k in range(self.shape[0] - 1, -1, -1))

    def __getattr__(self, name: str) -> Any:
        if name == "__jax_array__":
            raise AttributeError(name)
        return getattr(self.now, name)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.now.__array__(*args, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self._rows() if self.ndim else iter(self.now)

    def _rows(self) -> Iterator[Any]:
        """The rows, each as it is when it is reached."""
        before, k = self.now, 0
        for row in iter(before):  # JAX takes many at once
            if self.now is not before:
                break
            yield row
            k += 1
        for j in range(k, self.shape[0]):
            yield self[j]


GIVEN = object()  # an argument without axes may be a number of NumPy's, or an array of JAX's
OF_NUMPY = object()  # a number of NumPy's, of the type that the array has
NUMBERS = frozenset({bool, int, float, complex})


def is_number(x: Any) -> bool:
    """Whether it is a number, or an array without axes that stands for one: Python's have weak types, of NumPy's it is noted.

    It matters beside an array of NumPy's: with a number that gives one of NumPy's, and with an array of JAX's one of JAX's.
    """
    if not isinstance(x, ArrayTracer):
        return type(x) in NUMBERS or isinstance(x, np.generic)
    return not x.aval.shape and (bool(x.scalar) or x.scalar is None and _is_weak(x))


def _is_weak(x: Any) -> bool:
    return bool(getattr(x.aval, "weak_type", False))


def numpys_type(x: Any) -> Any:
    """The type of NumPy's number that an array without axes stands for: NumPy's floats have 64 bits where JAX has 32."""
    return np.float64 if x.dtype == np.float32 and not config.enable_x64.value else x.dtype.type


def _of_one(name: str) -> Any:
    """An operator of one operand, of which it is noted that it gives a number."""
    operate = getattr(ArrayTracer, name)

    def of_one(self: ArrayTracer, *rest: Any) -> Any:
        out = operate(self, *rest)
        if self.scalar and type(out) is ArrayTracer:
            out.scalar = _mark(out, self.scalar, None)
        return out

    return _called(of_one, name)


def _of_two(name: str) -> Any:
    """An operator of two; a list is an array beside a number of NumPy's, but for `*`."""
    operate, of_lists = getattr(ArrayTracer, name), name not in ("__mul__", "__rmul__")

    def of_two(self: ArrayTracer, other: Any) -> Any:
        mine, kind = self.scalar, type(other)
        theirs = other.scalar if kind is ArrayTracer else None
        if not mine and not theirs:
            return operate(self, other)
        if mine and of_lists and kind in (list, tuple) and mine not in NUMBERS:
            return LISTS.operator(name, self, other)
        out = operate(self, other)
        if type(out) is ArrayTracer and (mine or is_number(self)) and (theirs or kind in NUMBERS or is_number(other)):
            out.scalar = _mark(out, mine, theirs)
        return out

    def repeated(self: ArrayTracer, other: Any) -> Any:
        try:
            out = of_two(self, other)
        except TypeError:
            _refuse_repeated(self, other)
            raise
        if out is NotImplemented:
            _refuse_repeated(self, other)
        return out

    return _called(of_two if of_lists else repeated, name)


def _mark(out: ArrayTracer, mine: Any, theirs: Any) -> Any:
    """What is noted of a result of numbers: nothing of a Python number, which its type tells."""
    if mine is GIVEN or theirs is GIVEN:
        return GIVEN
    return None if _is_weak(out) else OF_NUMPY


def _called(operate: Any, name: str) -> Any:
    operate.__name__ = operate.__qualname__ = name
    return operate


def as_number(x: Any, kind: type) -> Any:
    """An array without axes as a number of a type: another object, for its own may be one of another type."""
    if not isinstance(x, ArrayTracer) or x.ndim:
        return x
    new = ArrayTracer(x.now, x.home)
    new.scalar = kind
    return new


def _refuse_repeated(x: ArrayTracer, items: Any) -> None:
    """`[0] * n`: how long it is has to be known.

    Raises:
      ConcreteValueError: (AG502)
    """
    if isinstance(items, (list, tuple, str)) and not x.aval.shape and x.dtype.kind in "iu":
        kind = type(items).__name__
        instead = "" if kind == "str" else ", or use an array of the greatest size (`jnp.zeros(most)`) and a count"
        raise ConcreteValueError(
            f"a `{kind}` is repeated as often as a traced value says, and its length must be static", here(),
            f"make the number static (`static_argnames`){instead}",
        ) from None  # fmt: skip


class _Lists:
    """What a number of NumPy's gives beside a list, which the package for NumPy's arrays knows."""

    operator: Any = None


LISTS = _Lists()
_BINARY = "add sub mul truediv floordiv mod pow divmod and or xor lshift rshift".split()
for _name in [*_BINARY, *(f"r{n}" for n in _BINARY), *"lt le gt ge eq ne".split()]:
    setattr(ArrayTracer, f"__{_name}__", _of_two(f"__{_name}__"))
for _name in "neg pos abs invert round".split():
    setattr(ArrayTracer, f"__{_name}__", _of_one(f"__{_name}__"))


def _augmented(name: str) -> Any:
    """`x += v`: a new array; it is noted that NumPy's would have changed."""
    operate = getattr(ArrayTracer, f"__{name}__")

    def augmented(self: Any, other: Any) -> Any:
        note_change(self)
        return operate(self, other)

    augmented.__name__ = augmented.__qualname__ = f"__i{name}__"
    return augmented


for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    setattr(ArrayTracer, f"__i{_name}__", _augmented(_name))

Array = ArrayTracer


def is_traced(x: Any) -> bool:
    """Whether a value is a tracer of JAX's.  Its number may be known, as under eager `jax.grad`; Python's number would lose the derivative."""
    return isinstance(content(x), core.Tracer)


def content(x: Any) -> Any:
    """The value of JAX's that an array holds now; anything else as it is."""
    if not isinstance(x, Array):
        return x
    now = x.now
    return x.constant() if type(now) is np.ndarray else now


def home_trace() -> Any:
    """The trace in which arrays are made now: that of a tape only hands on."""
    found = core.trace_ctx.trace
    while (below := getattr(found, "below", None)) is not None:
        found = below
    return found


def as_object(x: Any, home: Any = None) -> Any:
    """A value that comes into a trace (the current one): an object of its own."""
    home = home or home_trace()
    if isinstance(x, Array):
        return x if x.home() is home else Array(x.now, weakref.ref(home))
    if type(home) in _CHANGED:
        of_objects(home)
    if isinstance(x, (core.Tracer, ArrayImpl)) and isinstance(x.aval, core.ShapedArray):
        return Array(x, weakref.ref(home))
    return x


def taken_by_jax(cls: type) -> None:
    """Let JAX take objects of a class as the values that they hold."""
    dtypes.register_canonicalize_value_handler(cls, content)
    core.pytype_aval_mappings[cls] = lambda x: x.aval


taken_by_jax(Array)


def results(out: Any, home: Any) -> Any:
    """What an operation gives, as objects of a trace."""
    return [as_object(x, home) for x in out] if isinstance(out, (list, tuple)) else as_object(out, home)


def _of_results(name: str, cls: type) -> Any:
    whole = getattr(cls, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return results(whole(self, *args, **kwargs), self)

    method.__name__ = method.__qualname__ = name
    return method


def _of_operands(name: str, cls: type) -> Any:
    whole = getattr(cls, name)

    def method(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        return whole(self, content(x), *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


_RESULTS = ("process_primitive", "process_call", "process_custom_jvp_call", "process_custom_vjp_call", "process_shard_map", "stage_value")
_OPERANDS = ("to_jaxpr_tracer", "to_primal_tangent_pair", "to_batch_info")
_ours: dict[type, type] = {}


def _our(cls: type) -> type:
    own: dict[str, Any] = {"__slots__": (), "__module__": __name__}
    own |= {name: _of_results(name, cls) for name in _RESULTS if hasattr(cls, name)}
    own |= {name: _of_operands(name, cls) for name in _OPERANDS if hasattr(cls, name)}
    return type(cls.__name__, (cls,), own)


_CHANGED = (pe.DynamicJaxprTrace, ad.JVPTrace, ad.LinearizeTrace, batching.BatchTrace)


OBJECTS = _our(core.EvalTrace)()  # operations are evaluated, and what they give are objects
_ours[core.EvalTrace] = type(OBJECTS)


class Changed(threading.local):
    """What has been changed in place in the present trace, or asked for its class: it matters for whether the arguments are NumPy's, or numbers."""

    numpys = False  # an array of NumPy's
    other = False  # one that would be NumPy's, if the arguments were
    scalars = False  # an array without axes, which stands for a number if one was given
    guessed = False  # one of these beside an array of NumPy's: taken for a number, which shows where the result changes in place

    def begin(self) -> dict[str, bool]:
        """A trace begins, in which nothing has changed yet; gives what it was around."""
        around = {name: getattr(self, name) for name in ("numpys", "other", "scalars", "guessed")}
        for name in around:
            setattr(self, name, False)
        return around

    def end(self, around: dict[str, bool]) -> None:
        """It has ended: what has changed in it has changed around it."""
        for name, value in around.items():
            setattr(self, name, value or getattr(self, name))

    def needs_numbers(self) -> bool:
        """Whether what the trace gives depends on which arguments are numbers."""
        return self.scalars or self.guessed and self.numpys


CHANGED = Changed()


def note_change(x: Array) -> None:
    """A store changes an array, or an operator (`x += v`), which changes one of NumPy's."""
    if x.ndim:
        if type(x) is ArrayTracer:
            CHANGED.other = True
        else:
            CHANGED.numpys = True


def is_ours(trace: Any) -> bool:
    """Whether what a trace gives are objects."""
    return type(trace) in _ours.values()


def counts_as_ours(cls: type) -> None:
    """A class of traces derived of one of ours."""
    _ours[cls] = cls


def of_objects(trace: Any) -> None:
    """Let what a trace of JAX's gives be objects, from now on."""
    cls = type(trace)
    if cls in _CHANGED:
        if cls not in _ours:
            _ours[cls] = _our(cls)
        trace.__class__ = _ours[cls]


@contextmanager
def objects_of(trace: Any) -> Iterator[None]:
    """What a trace of JAX's gives are objects in here; afterwards it is what it was, for the code that goes on in it."""
    before = type(trace)
    of_objects(trace)
    try:
        yield
    finally:
        trace.__class__ = before


def _takes_values(cls: type) -> None:
    """A tracer of a transformation, or an array of keys, is made of values."""
    make = cls.__init__  # type: ignore[misc]

    def __init__(self: Any, first: Any, *args: Any, **kwargs: Any) -> None:
        make(self, first, *[content(x) for x in args], **kwargs)

    cls.__init__ = __init__  # type: ignore[misc]


for _cls in (ad.JVPTracer, ad.LinearizeTracer, batching.BatchTracer, PRNGKeyArray):
    _takes_values(_cls)


def objects_in(values: Any) -> Any:
    """The same, with an object for each array of a trace."""
    return jax.tree.map(as_object, values)


def contents_in(values: Any) -> Any:
    """The same, with the value for each array."""
    return jax.tree.map(content, values)


def given(x: Any) -> Any:
    """An argument that code gives which is not converted: arrays as objects, also in tuples, lists and dicts."""
    return _each(_new, x)


def _new(x: Any) -> Any:
    if isinstance(x, Array):
        return x
    new = as_object(x)
    if isinstance(new, Array) and not new.ndim and not _is_weak(new):
        new.scalar = GIVEN
    return new


def taken(x: Any) -> Any:
    """A result for such code: arrays as values."""
    return _each(content, x)


def _each(of: Any, x: Any) -> Any:
    if type(x) is tuple:
        found = [_each(of, v) for v in x]
        return x if all(a is b for a, b in zip(found, x, strict=True)) else tuple(found)
    for k in range(len(x)) if type(x) is list else [*x] if type(x) is dict else ():
        if (new := _each(of, x[k])) is not x[k]:
            x[k] = new
    return of(x)


def arrays_among(x: Any) -> Iterator[Array]:
    """The arrays that are objects in tuples, lists and dicts."""
    if isinstance(x, Array):
        yield x
    for v in x.values() if type(x) is dict else x if type(x) in (tuple, list) else ():
        yield from arrays_among(v)
