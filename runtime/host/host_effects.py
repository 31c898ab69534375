"""Calls of the standard library and of NumPy that do something outside the program, or give another value each time.

In a block they would happen once, while it is traced, and for the side that is not taken too: such calls are refused.
What a block has made itself (`random.Random(0)`, a generator, a `StringIO`) is its own.
"""

from __future__ import annotations

import array
import builtins
import contextlib
import contextvars
import copy
import datetime
import functools
import inspect
import io
import pathlib
import queue
import random
import sched
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograph.runtime.effects.replay import once, will_change
from autograph.runtime.errors.errors import ConcreteValueError, EffectError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.traces import recording
from autograph.runtime.state.iterators import parts_of
from autograph.runtime.tracing.trace_context import TraceContext, frames, in_block, of_block, touched
from autograph.runtime.values.values import ITERATORS, traced

GENERATORS = (random.Random, np.random.RandomState, np.random.Generator)
_OWNED = (*GENERATORS, io.IOBase)
_KEEPING = (
    contextlib.ExitStack, contextvars.ContextVar, queue.Queue, queue.SimpleQueue, threading.Event, threading.Condition, threading.Semaphore,
    sched.scheduler,
)  # fmt: skip
_ASKED = frozenset("qsize empty full is_set".split())
_CHANGED = (array.array, memoryview)
_CHANGES = frozenset(
    "append extend insert pop remove reverse fromlist frombytes fromfile fromunicode byteswap __setitem__ __delitem__ release".split()
)
_MAKERS = (array.array, memoryview, *GENERATORS, io.StringIO, io.BytesIO, *_KEEPING)
_DRAW = (
    "use `jax.random` with a key that the function is given, and a new one each time (`key, k = jax.random.split(key)`), "
    "or draw the numbers outside and pass them in"
)
_READ = (
    "read it outside of the compiled function, and pass it in; what is to be written, return and write outside, "
    "print to an open file (`print(x, file=f)`), or give to `jax.debug.callback(save, x)`"
)
_ADVICE = {
    "time": "measure and wait outside of the compiled function",
    "datetime": "take the time outside of the compiled function, and pass it in",
    "builtins": _READ,
    "secrets": _DRAW,
    "posix": "do it outside of the compiled function, and pass in what it gives",
    "nt": "do it outside of the compiled function, and pass in what it gives",
    "io": _READ,
}
_PURE = frozenset("struct_time strftime gmtime fspath getpid cpu_count fsencode fsdecode getenv".split())
_FILES = frozenset(
    "chmod exists glob is_dir is_file iterdir mkdir open read_bytes read_text rename replace rglob rmdir stat symlink_to touch unlink write_bytes "
    "write_text".split()
)


def effect_of(f: Any) -> Callable[..., Any] | None:
    """What to call in the place of a function that may have such an effect, in a trace; None for any other function.

    Raises:
      EffectError: (AG405) it must not be called here.
    """
    if f is builtins.next:
        return _next
    if isinstance(f, functools.partial):
        inner = effect_of(f.func)
        return inner and functools.partial(inner, *f.args, **f.keywords)
    owner = getattr(f, "__self__", None)
    if isinstance(f, types.MethodWrapperType) and f.__name__ == "__next__":
        return functools.partial(_next, owner)
    if isinstance(f, types.BuiltinMethodType) and isinstance(owner, _CHANGED) and f.__name__ in _CHANGES:
        if in_block() and not _is_made_here(owner):
            raise _refused(f"{type(owner).__name__}.{f.__name__}", "_io")
        touched()
        will_change(owner)
        return None
    if isinstance(owner, types.GeneratorType) and f.__name__ in ("send", "throw"):
        return functools.partial(_sent, f)
    if isinstance(owner, _KEEPING) and (name := f.__name__) not in _ASKED:
        if _is_made_here(owner):
            touched()
            return None
        if isinstance(owner, contextvars.ContextVar) and name == "get":
            return None
        if in_block():
            raise _refused(f"{type(owner).__name__}.{name}", "posix")
        return _once_per_call(owner, name, f if any(_is_made_by(frame, owner) for frame in frames()) else functools.partial(_kept_by, f))
    if isinstance(owner, _OWNED):
        if _is_made_here(owner):
            touched()
            return functools.partial(_known_to, f) if isinstance(owner, io.IOBase) else None
        if isinstance(owner, GENERATORS):
            return _drawing(f, _name(f, owner))
        if in_block():
            raise _refused(f"{type(owner).__name__}.{f.__name__}", "_io")
        return _once_per_call(owner, f.__name__, functools.partial(_known_to, f))
    if (getattr(f, "__module__", None) or "").startswith("numpy.random") and not isinstance(f, type) and not makes(f):
        return _drawing(f, f"np.random.{f.__name__}")
    if (name := _host_call(f, owner)) is not None:
        if in_block():
            raise _refused(*name)
        if makes(f):  # a file that is opened belongs to the trace: the next one opens its own
            touched()
            return None
        return _once_per_call(f if owner is None or isinstance(owner, types.ModuleType) else owner, name[0], f)
    return None


def _host_call(f: Any, owner: Any) -> tuple[str, str] | None:
    """The name and module of a function that asks or changes the machine; none of any other."""
    module = getattr(f, "__module__", None) or getattr(owner, "__module__", None) or ""
    if module in ("os", "shutil", "subprocess", "tempfile") and f.__name__ not in _PURE:
        return f"{module}.{f.__name__}", "posix"
    if isinstance(owner, pathlib.Path) and f.__name__ in _FILES:
        return f"Path.{f.__name__}", "posix"
    if f is builtins.input or f is builtins.open or module in ("time", "secrets", "posix", "nt") and f.__name__ not in _PURE:
        return f.__name__ if module in ("builtins", "io", "_io") else f"{module}.{f.__name__}".replace("posix", "os").replace("nt.", "os."), module
    if isinstance(owner, type) and issubclass(owner, datetime.date) and f.__name__ in ("now", "today", "utcnow"):
        return f"{owner.__name__}.{f.__name__}", "datetime"
    return None


def check_entered(manager: Any) -> None:
    """Called before the context manager of a `with` statement is entered.

    Raises:
      EffectError: (AG405) a lock, a file or a socket in a staged block: it would be entered once, while the block is traced.
    """
    if isinstance(manager, (contextlib.redirect_stdout, contextlib.redirect_stderr)) and recording():
        raise EffectError(
            f"`{type(manager).__name__}` would redirect nothing: `print` writes when the compiled program runs", here(),
            "enter it around the call of the compiled function, or give `print` the file",
        )  # fmt: skip
    if in_block() and not _is_made_here(manager):
        kind = type(manager)
        if kind.__module__ in _ENTERED or isinstance(manager, (io.IOBase, *_LOCKS)):
            raise EffectError(
                f"a `{kind.__module__.lstrip('_')}.{kind.__name__}` would be entered {_once()}",
                here(), "enter it around the call of the compiled function",
            )  # fmt: skip


def check_stored(x: Any, *values: Any) -> None:
    """Called before an object is given values that is no container of ours.

    Raises:
      EffectError: (AG405) it is of a class of the standard library (`UserList`, `array.array`), in a staged block, or a value is traced.
    """
    if not hasattr(type(x), "__setitem__") or type(x).__module__.split(".")[0] not in sys.stdlib_module_names:
        return
    if not in_block():
        touched()
        if isinstance(x, _CHANGED):
            will_change(x)
    if in_block() or traced(*values):
        why = "is stored into in a data-dependent branch or loop" if in_block() else "is given a traced value"
        why += ": its code would run while it is traced"
        raise EffectError(f"a `{type(x).__name__}` {why}", here(), "use a `list`, a `dict` or a `jnp` array")


_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_ENTERED = ("threading", "multiprocessing.synchronize", "tempfile", "socket", "subprocess", "zipfile", "tarfile", "sqlite3", "asyncio.locks")


def makes(f: Any) -> bool:
    """Whether calling it makes an iterator, a generator of random numbers or a file, which belongs to the block that made it."""
    if isinstance(f, type):
        return f in _MAKERS or issubclass(f, Iterator) and f.__module__ in ("builtins", "itertools")
    if f is builtins.open or isinstance(getattr(f, "__self__", None), pathlib.Path) and f.__name__ == "open":
        return True
    if isinstance(f, (types.FunctionType, types.MethodType)):
        return inspect.isgeneratorfunction(f)
    return f is builtins.iter or f is np.random.default_rng


def draws(f: Any) -> bool:
    """Whether it is a function of `numpy.random`, or a method of one of NumPy's generators."""
    if isinstance(owner := getattr(f, "__self__", None), (np.random.RandomState, np.random.Generator)):
        return True
    return owner is None and (getattr(f, "__module__", None) or "").startswith("numpy.random") and not isinstance(f, type) and not makes(f)


def keeping(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, of whose results it is remembered that this block made them."""

    def maker(*args: Any, **kwargs: Any) -> Any:
        x = f(*args, **kwargs)
        if (frame := of_block()) is not None:
            frame.made[id(x)] = weakref.ref(x) if isinstance(x, (io.IOBase, types.GeneratorType)) else x  # closed when nobody holds them any more
        return x

    return maker


def _known_to(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call of a file's method."""
    if traced(*args, *kwargs.values()):
        raise ConcreteValueError(
            f"`{f.__name__}` of a file is given a value that exists only when the compiled program runs", here(),
            "use `print(..., file=...)`, or return the value",
        )  # fmt: skip
    return f(*args, **kwargs)


def _sent(send: Callable[..., Any], value: Any) -> Any:
    """A call of `send` of a generator: one from before a block would go on once, while that is traced, and one from outside would keep values."""
    generator = send.__self__  # type: ignore[attr-defined]
    if in_block() and not _is_made_here(generator):
        raise EffectError(
            f"`{send.__name__}` would resume a generator {_once()}", here(), "make the generator in the block, or send it what the block gives"
        )
    if traced(value) and not any(_is_made_by(frame, generator) for frame in frames()):
        raise EffectError(
            "a generator from outside of the compiled function receives a traced value, which it would keep", here(),
            "make the generator in the function, or keep what it computes in an attribute of an object",
        )  # fmt: skip
    return _once_per_call(generator, "send", send)(value)


def _kept_by(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call of a method of an object that keeps what it is given after the call of the compiled function."""
    if traced(*args, *kwargs.values()):
        raise EffectError(
            f"`{type(f.__self__).__name__}.{f.__name__}` receives a traced value, which it would keep", here(),  # type: ignore[attr-defined]
            "return the value, and do it outside of the compiled function",
        )  # fmt: skip
    return f(*args, **kwargs)


def _drawing(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`f`, which draws random numbers: outside of blocks it does while the function is traced, as in JAX."""
    if in_block():
        raise EffectError(f"`{name}` would run {_once()}", here(), _DRAW)

    def draw(*args: Any, **kwargs: Any) -> Any:
        if traced(*args, *kwargs.values()) and not (f.__name__ == "shuffle" and type(args[0]) is list):
            raise EffectError(f"`{name}` draws while the function is traced, and is given a traced value", here(), _DRAW)
        return shuffled(f, *args, **kwargs) if f.__name__ == "shuffle" else f(*args, **kwargs)

    owner = getattr(f, "__self__", None)
    return _once_per_call(f if owner is None else owner, name, draw)


def shuffled(f: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    """A shuffled copy of what is to be shuffled, or the order of a list's items: a trace that is made again is given it as the first was."""
    held = [*range(len(x))] if type(x) is list else copy.copy(x)
    f(held, *args, **kwargs)
    return held


def _refused(name: str, module: str) -> EffectError:
    return EffectError(f"`{name}` would run {_once()}", here(), _ADVICE[module.lstrip("_")])


def _once() -> str:
    block = next(f for f in reversed(frames()) if f.staged)
    return f"once, at trace time, and {'not in each iteration' if block.chosen is None else 'whichever branch is taken'}"


def _name(f: Any, owner: Any) -> str:
    module = {"random.Random": "random", "numpy.random.mtrand.RandomState": "np.random"}.get(f"{type(owner).__module__}.{type(owner).__name__}")
    return f"{module or type(owner).__name__}.{f.__name__}"


def printing_to(file: Any, values: Sequence[Any]) -> bool:
    """Whether what is printed goes to a file at once, because it is one that the block has made.

    Raises:
      EffectError: (AG405) a file that the function has made while it is traced, and the values are only known, or the block only runs, later.
    """
    if not any(_is_made_by(f, file) for f in frames()):
        return False
    if traced(*values) or not _is_made_here(file):
        raise EffectError(
            f"`print` writes when the compiled program runs, and this `{type(file).__name__}` is made while the function is traced", here(),
            "open the file outside of the compiled function, or return the values and print them there",
        )  # fmt: skip
    return True


def _is_made_here(x: Any) -> bool:
    return any(_is_made_by(f, x) for f in _of_this_block())


def _is_made_by(frame: TraceContext, x: Any) -> bool:
    made = frame.made.get(id(x))
    return made is not None and (made is x or isinstance(made, weakref.ref) and made() is x)


def _of_this_block() -> Iterator[TraceContext]:
    for frame in reversed(frames()):
        yield frame
        if frame.staged or frame.root:
            return


def check_taken(x: Any) -> None:
    """Called before items are taken of something in other ways than by `next`.

    What the function has made before the block is known (`keeping`), and refused before it moves: the block may be tried another way.  Of any other
    the position is compared when the block ends (`iterators.Positions`).

    Raises:
      EffectError: (AG405) it is an iterator, or goes over one, that has been made before the block that is being traced.
    """
    if not isinstance(x, ITERATORS) or not in_block():
        return
    if not _is_made_here(x) and any(_is_made_by(frame, x) for frame in frames()):
        raise EffectError(
            f"a `{type(x).__name__}` from outside of the block would be advanced {_once()}", here(),
            "take the values before, as a list, or count an index in the block",
        )  # fmt: skip
    for part in parts_of(x):
        check_taken(part)


def taking(called: Callable[..., Any]) -> Callable[..., Any]:
    """What is called in a block in place of a function that is not converted: it may take items of the iterators among its arguments."""

    def taker(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            check_taken(x)
        return called(*args, **kwargs)

    return taker


def _next(iterator: Any, *default: Any) -> Any:
    if in_block() and not _is_made_here(iterator):
        raise EffectError(
            f"`next` would advance an iterator {_once()}", here(),
            "take the values before, or use an index that the block counts",
        )  # fmt: skip
    if not isinstance(iterator, ITERATORS):  # one of the user's classes: its state is undone when the function is traced again
        touched()
        return next(iterator, *default)
    return _once_per_call(iterator, "next", next)(iterator, *default)


def _once_per_call(owner: Any, name: str, effect: Callable[..., Any]) -> Callable[..., Any]:
    """An effect that is made now; once, though the function is traced again, if its object was not made by the trace."""
    touched()
    return effect if any(_is_made_by(frame, owner) for frame in frames()) else once(owner, name, effect)
