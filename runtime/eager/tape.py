"""`ag.GradientTape`: what happens in its block is recorded, and gives gradients afterwards, with the meaning it has in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.handles import is_variable, value_of
from autograph.runtime.calls.loading import adapt
from autograph.runtime.eager.values import fresh
from autograph.runtime.exchanged import put_in_all, take_out
from autograph.runtime.jaxapi import _jax, trees
from autograph.runtime.jaxapi.passing import Passing
from autograph.runtime.jaxapi.tracers import content
from autograph.runtime.messages.errors import TapeError
from autograph.runtime.messages.places import here
from autograph.runtime.state.reading import recorders
from autograph.runtime.state.recording import CALLS, CONSTANT, HEAVY, UNSEEN, WRITES, Again, Operation, constants, done, is_inexact


class GradientTape:
    """Records the operations of a `with` block on Variables that are read in it and on arrays that it `watch`es.

    The values in the block are ordinary arrays.  A tape works eagerly, in `ag.function` (where it costs nothing at run time), in `jax.jit` and under
    `jax.vmap`, in other tapes, and over functions that are jitted; loops and branches of converted functions are recorded as one operation each.

    Args:
      persistent: whether `gradient` may be called more than once.
      watch_accessed_variables: whether trainable Variables are watched when they are read.

    Raises:
      TapeError: (AG703) the tape is entered while it records.

    The semantics are those of `tf.GradientTape` (https://www.tensorflow.org/api_docs/python/tf/GradientTape).

    >>> import autograph as ag
    >>> w = ag.Variable([[1.0]])
    >>> with ag.GradientTape() as tape:
    ...     loss = w * w
    >>> print(tape.gradient(loss, w))
    [[2.]]
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._automatic = persistent, watch_accessed_variables
        self._recording, self._used = False, False
        self._trace: Any = None
        self._exchanged: dict[Any, bool] = {}
        self._context = ExitStack()
        self.reset()

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise TapeError("this tape is recording already", here(), "use another `ag.GradientTape()` for the block inside")
        adapt()
        put_in_all(self._exchanged)
        self._trace = Passing.over(_jax.innermost_trace(), self._seen)
        self._context.enter_context(_jax.set_current_trace(self._trace))
        self._recording = True
        recorders.active = (*recorders.active, self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._recording or self in recorders.active:
            self._recording = False
            take_out(self._exchanged)
            recorders.active = tuple(t for t in recorders.active if t is not self)
            self._context.close()
            self._trace.end()

    def watch(self, values: Any) -> None:
        """Record what is done with arrays or Variables, or a pytree of them.

        Raises:
          TypeError: one of them is no array.
        """
        for x in map(content, trees.leaves(values, is_leaf=is_variable)):
            if is_variable(x):
                self._reads.setdefault(id(x), (x, []))
                self.note_read(x, x.value)
            elif not isinstance(x, jax.Array):
                raise TypeError(f"GradientTape.watch takes arrays and Variables, and is given a `{type(x).__name__}`: make it one with `jnp.asarray`")
            elif is_inexact(x):
                self._live[id(x)] = x

    def watched_variables(self) -> tuple[Any, ...]:
        """The Variables that are watched, in the order of their first reading."""
        return tuple(v for v, _ in self._reads.values())

    def reset(self) -> None:
        """Forget what has been recorded."""
        self._live: dict[int, Any] = {}
        self._inner: dict[int, Any] = {}  # what turns of a loop that is one operation have computed
        self._operations: list[Operation] = []
        self._reads: dict[int, tuple[Any, list[Any]]] = {}

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A block in which nothing is recorded."""
        before, self._recording = self._recording, False
        try:
            yield
        finally:
            self._recording = before

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str | None = None) -> Any:
        """The gradients of the sum of what is in `target`, in the structure of `sources`: arrays, Variables, or pytrees of them.

        Args:
          target: an array, or a pytree of arrays; of integers there is no gradient.
          sources: what it is differentiated by.
          output_gradients: what each part of the target is weighted with, in its structure and shapes; by default ones.
          unconnected_gradients: "zero" gives zeros for what the target does not depend on; by default it is None.

        Raises:
          TapeError: (AG703) a tape that is not persistent is used for the second time.

        >>> import jax.numpy as jnp, autograph as ag
        >>> x = jnp.array(3.0)
        >>> with ag.GradientTape(persistent=True) as tape:
        ...     tape.watch(x)
        ...     y = x * x
        ...     z = y * y
        >>> float(tape.gradient(z, x)), float(tape.gradient(y, x)), tape.gradient(y, jnp.array(1.0))
        (108.0, 6.0, None)
        """
        if self._used and not self._persistent:
            raise TapeError(
                "a tape that is not persistent gives gradients once, and this is the second time", here(),
                "ask for all gradients in one call (`tape.gradient(y, [a, b])`), or make the tape with `persistent=True`",
            )  # fmt: skip
        self._used = True
        if self._recording and not self._persistent:  # it has recorded all that it will
            self.__exit__(None, None, None)
        with self.stop_recording():
            found = self._gradient(target, sources, output_gradients, unconnected_gradients)
        if not self._persistent:
            self.reset()
        return found

    def _gradient(self, target: Any, sources: Any, weights: Any, unconnected: str | None) -> Any:
        cotangents: dict[int, Any] = {}

        def add(x: Any, cotangent: Any) -> None:
            cotangents[id(x)] = cotangent if (before := cotangents.get(id(x))) is None else before + cotangent

        targets = list(map(content, trees.leaves(target)))
        for t, weight in zip(targets, [None] * len(targets) if weights is None else trees.leaves(weights), strict=True):
            values = [t] if not is_variable(t) else self._reads.get(id(t), (t, []))[1][-1:]
            for value in values:
                if id(value) in self._live:
                    add(value, jnp.ones_like(value) if weight is None else jnp.asarray(value_of(weight), value.dtype))
        for operation in reversed(self._operations):
            if any(id(y) in cotangents for y in operation.outputs):
                for x, cotangent in zip(operation.inputs, operation.pullback(tuple(_given(y, cotangents) for y in operation.outputs)), strict=True):
                    if cotangent is not None and getattr(cotangent, "dtype", None) != jax.dtypes.float0:
                        add(x, cotangent)

        def of(source: Any) -> Any:
            reads = self._reads.get(id(source), (source, []))[1] if is_variable(source) else [content(source)]
            if any(id(x) in self._inner for x in reads):
                raise TapeError(
                    "a gradient is asked by what a turn of a loop has computed, and the loop is one operation of the tape", here(),
                    "make its turns one by one (`with ag.loops(roll='never'):`)",
                )  # fmt: skip
            found = [cotangents[id(x)] for x in reads if id(x) in cotangents]
            if not found:
                return jnp.zeros_like(value_of(source)) if unconnected == "zero" else None
            total = found[0]
            for cotangent in found[1:]:
                total = total + cotangent
            return total

        return trees.map(of, sources, is_leaf=is_variable)

    def watches(self, variable: Any) -> bool:
        """Whether a Variable has been read in the block, or is watched."""
        return id(variable) in self._reads

    def note_read(self, variable: Any, value: Any) -> Any:
        """A Variable is read, which holds `value`; gives what it holds from now on: an assignment before has cut what was recorded."""
        held, value, watched = value, content(value), id(variable) in self._reads
        if not self._recording or not (watched or self._automatic and variable.trainable) or not is_inexact(value):
            return held
        reads = self._reads.setdefault(id(variable), (variable, []))[1]
        if not any(value is x for x in reads):
            if id(value) in self._live:
                with _jax.set_current_trace(self._trace.below):
                    held = value = fresh(value)
            reads.append(value)
            self._live[id(value)] = value
        return held

    def sees(self, value: Any) -> bool:
        """Whether it records what is done with a value."""
        return id(content(value)) in self._live

    def hide(self, values: Iterable[Any]) -> None:
        """Turns of a compiled loop have computed these, and may have taken them: no gradient by them is known."""
        self._inner |= {id(x): x for x in map(content, values) if id(x) in self._live}

    def count(self) -> int:
        """How many operations it has recorded."""
        return len(self._operations)

    def take(self, first: int, last: int, made: Container[Any], given: Container[Any]) -> Taken | None:
        """Forget the operations of turns of a loop, which one operation shall stand for.

        `made` and `given`: the variables of what the turns give, and of what they take from outside.  None if these are not all that the derivatives
        are made of, or a Variable has got its value in a turn.
        """
        of_turns = self._operations[first:last]
        outputs = {id(y) for operation in of_turns for y in operation.outputs}
        inside = [x for x in self._live.values() if _variable(x) in made]
        taken = {_variable(x) for operation in of_turns for x in operation.inputs}
        if not self._recording or any(not isinstance(x.pullback, Again) for x in of_turns) or any(id(x) not in outputs for x in inside):
            return None
        if any(v not in made and v not in given for v in taken):
            return None
        live = [x.val for x in inside]
        del self._operations[first:last]
        self._live = {k: x for k, x in self._live.items() if _variable(x) not in made}
        return Taken(first, [operation.of(lambda x: v if (v := _variable(x)) in made else x) for operation in of_turns], live)

    def put_back(self, taken: Taken, standing: Callable[[Any], Any]) -> None:
        """Remember what has been taken; `standing` gives the tracer of a variable."""
        self._operations[taken.first : taken.first] = [x.of(lambda v: standing(v) if isinstance(v, _jax.Var) else v) for x in taken.operations]
        self._live |= {id(x): x for x in map(standing, taken.live)}

    def record_loop(self, taken: Taken, loop: Any) -> list[Any]:
        """Record one compiled loop in the place of the operations of its turns; gives what its stand-ins stand for."""
        outside = loop.outside()
        live = {v: x for x in self._live.values() if (v := _variable(x)) in outside}
        if not live:
            return loop.bind()  # type: ignore[no-any-return]

        def bound(*values: Any) -> list[Any]:
            out = loop.bind(dict(zip(live, values, strict=True)))
            return [content(x) for x in (*out, *loop.stacked)]

        out, pull = jax.vjp(bound, *live.values())
        known, used, count = set(taken.live), loop.used(), len(loop.stand_ins)
        self._live |= {id(t): t for t in loop.stand_ins if t.val in known} | {id(x): x for x in out[count:] if is_inexact(x)}
        self.hide(t for t in loop.stand_ins if t.val in used)
        self._operations.insert(taken.first, Operation([*live.values()], [*loop.stand_ins, *out[count:]], lambda cotangents: pull(list(cotangents))))
        return list(out[:count])

    def _seen(
        self, name: str, do: Callable[..., Any], args: Sequence[Any], params: dict[str, Any] | None, several: bool, primitive: Any = None
    ) -> Any:
        """An operation of the block: does it, and records it where it has a derivative."""
        with _jax.set_current_trace(self._trace.below):
            live = [k for k, a in enumerate(args) if id(a) in self._live] if self._recording else []
            if live and name in WRITES:
                raise TapeError("a value that a tape records is written to a `jax.Ref`", here(), "use an `ag.Variable`, or return the value")
            if live and name == "shard_map":
                raise TapeError("`jax.shard_map` is called eagerly under a tape, which cannot see into it", here(), "wrap it in `jax.jit`")
            if self._recording and name in HEAVY and (hidden := [c for c in constants(params) if id(c) in self._live]):
                args, do, live = self._with_constants(name, do, args, params, hidden)
                params, primitive = None, None
            if not live or name in UNSEEN:
                return do(*args)
            if name in CONSTANT:
                out = do(*args)
                return out if several or id(out) not in self._live else fresh(out)
            found = done(name, do, args, params, several, live, primitive)
            outputs = [self._output(x, depends) for x, depends in zip(found.outputs, found.depends, strict=True)]
            if any(id(y) in self._live for y in outputs):
                self._operations.append(Operation([args[k] for k in live], outputs, found.pullback))
            return outputs if several else outputs[0]

    def _output(self, x: Any, depends: bool) -> Any:
        """A result of a recorded operation, as an array that is no other value's."""
        if not depends or not is_inexact(x):
            return x
        if id(x) in self._live:
            x = fresh(x)
        self._live[id(x)] = x
        return x

    def _with_constants(
        self, name: str, do: Callable[..., Any], args: Sequence[Any], params: dict[str, Any] | None, hidden: list[Any]
    ) -> tuple[list[Any], Callable[..., Any], list[int]]:
        """A call of a jaxpr with what it closes over as operands."""
        closed: Any = (params or {}).get("jaxpr")
        own = list(getattr(closed, "consts", ()))
        places = [k for k, c in enumerate(own) if id(c) in self._live]
        if len({id(c) for c in hidden}) > len({id(own[k]) for k in places}) or name not in CALLS:
            raise TapeError(f"`{name}` closes over a value that the tape records", here(), "hand the value over as an argument")
        count = len(args)

        def call(*given: Any) -> Any:
            consts = list(own)
            for k, value in zip(places, given[count:], strict=True):
                consts[k] = value
            return jax.jit(lambda c, xs: _jax.jaxpr_as_fun(closed.replace(consts=c))(*xs))(consts, list(given[:count]))

        operands = [*args, *(own[k] for k in places)]
        return operands, call, [k for k, a in enumerate(operands) if id(a) in self._live]


class Taken(NamedTuple):
    """Operations of turns of a loop that a tape has forgotten, with variables for the tracers that the turns have made."""

    first: int
    operations: list[Operation]
    live: list[Any]


def _variable(x: Any) -> Any:
    """The variable of the jaxpr that a tracer stands for, if it does."""
    return getattr(x, "val", None) if isinstance(x, _jax.Tracer) else None


def _given(y: Any, cotangents: dict[int, Any]) -> Any:
    if not is_inexact(y):
        return np.zeros(np.shape(y), jax.dtypes.float0)
    found = cotangents.get(id(y))
    return jnp.zeros_like(y) if found is None else found
