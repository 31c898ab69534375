"""`ag.GradientTape`: what happens in its block is recorded, and gives gradients afterwards, with the meaning it has in TensorFlow."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.array_aliasing import NeedsTags, are_told_apart, others, same
from autograph.runtime.arrays.variable_ref import is_variable, value_of
from autograph.runtime.eager.values import fresh
from autograph.runtime.errors.errors import TapeError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.interposing_trace import Passing
from autograph.runtime.jaxapi.tracers import Array, content, home_trace
from autograph.runtime.state.tape_operations import CALLS, CONSTANT, HEAVY, UNSEEN, WRITES, Again, Operation, constants, done, is_inexact
from autograph.runtime.state.variable_reads import note_read, recorders
from autograph.runtime.tracing.adapter_registry import adapt
from autograph.runtime.tracing.class_members import put_in_all, take_out


class GradientTape:
    """Records the operations of a `with` block on Variables that are read in it and on arrays that are watched.

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
        self._lent: list[tuple[Array, Any, Any]] = []  # arrays of the function around a block: what they held before the tape, and hold in it
        self.reset()

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise TapeError("this tape is recording already", here(), "use another `ag.GradientTape()` for the block inside")
        self._home = weakref.ref(home_trace())
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
            for y, before, other in self._lent:
                if y.now is other:
                    y.now = before
            self._lent = []

    def watch(self, values: Any) -> None:
        """Record what is done with arrays or Variables, or a pytree of them.

        Raises:
          TypeError: one of them is no array.
          TapeError: (AG703) it may be an array of the function around a compiled loop or branch, in which the tape began before, and is not watched.
        """
        for given in trees.leaves(values, is_leaf=is_variable):
            x = content(given)
            if is_variable(x):
                self._reads.setdefault(id(x), (x, []))
                note_read(x)
            elif not isinstance(x, jax.Array):
                raise TypeError(f"GradientTape.watch takes arrays and Variables, and is given a `{type(x).__name__}`: make it one with `jnp.asarray`")
            elif is_inexact(x):
                self._live[id(x)] = x
                if isinstance(given, Array):
                    self._watch_twins(given)

    def _watch_twins(self, x: Array) -> None:
        """Other names for what may be the same array, depending on traced values: what is done with those is done with it, if it is.

        Raises NeedsTags if it is not known which array is which.
        """
        if not are_told_apart():
            raise NeedsTags
        home = home_trace()
        for y in others(x):
            if y.home() is not home and home is not self._home():
                if id(content(y)) in self._live:
                    continue  # what is done with it is recorded as it is
                raise TapeError(
                    "an array is watched in a compiled branch or loop inside of the tape, and may be one of the function around", here(),
                    "watch it before the branch or loop (`tape.watch(x)`)",
                )  # fmt: skip
            one, value, before = same(x, y), content(y), y.now
            other = self.alias(value)
            live = id(value) in self._live
            self._operations.append(Operation([content(x), *([value] if live else [])], [other], functools.partial(_of_one, one, live)))
            self._live[id(other)] = other
            y.now = other
            if y.home() is not home:  # not after the tape, which the block ends before
                self._lent.append((y, before, other))

    def watched_variables(self) -> tuple[Any, ...]:
        """The Variables that are watched, in the order of their first reading."""
        return tuple(v for v, _ in self._reads.values()) or self._watched

    def reset(self) -> None:
        """Forget what has been recorded."""
        self._watched: tuple[Any, ...] = ()
        self._live: dict[int, Any] = {}
        self._inner: dict[int, Any] = {}  # what iterations of a loop that is one operation have computed
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
            watched = self.watched_variables()
            self.reset()
            self._watched = watched
        return found

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: str | None = None) -> Any:
        """The derivative of each number of `target` by each of `sources`, of shape `target.shape + source.shape`, in the structure of `sources`.

        Args:
          target: an array.
          unconnected_gradients: "zero" gives zeros for what the target does not depend on; by default it is None.

        Raises:
          TapeError: (AG703) a tape that is not persistent is used for the second time.

        As `tf.GradientTape.jacobian`: one way back for all numbers of the target, by `jax.vmap`.

        >>> import jax.numpy as jnp, autograph as ag
        >>> x = ag.Variable([1.0, 2.0])
        >>> with ag.GradientTape() as tape:
        ...     y = x * x
        >>> print(tape.jacobian(y, x))
        [[2. 0.]
         [0. 4.]]
        """
        y = value_of(target)
        basis = jnp.eye(y.size, dtype=y.dtype).reshape(y.size, *y.shape)
        rows = jax.vmap(lambda weights: self._pulled(target, sources, weights, unconnected_gradients))(basis)
        return trees.map(lambda rows: rows.reshape(*y.shape, *rows.shape[1:]), rows)

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: str | None = None) -> Any:
        """The derivative of each row of `target` by the same row of `source`, of shape `(n, *target.shape[1:], *source.shape[1:])`.

        Args:
          target, source: arrays with the same first axis, of which no row of the target depends on another row of the source.

        Raises:
          TapeError: (AG703) the first axes differ, or a tape that is not persistent is used for the second time.

        As `tf.GradientTape.batch_jacobian`.

        >>> import jax.numpy as jnp, autograph as ag
        >>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
        >>> with ag.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> print(tape.batch_jacobian(y, x)[1])
        [[6. 0.]
         [0. 8.]]
        """
        y, x = value_of(target), value_of(source)
        if not y.ndim or not x.ndim or len(y) != len(x):
            raise TapeError(
                f"`batch_jacobian` is given shapes {y.shape} and {x.shape}, whose first axes are no batch", here(),
                "give arrays with one first axis, or ask for `tape.jacobian`",
            )  # fmt: skip
        count = y.size // len(y) if len(y) else 0
        basis = jnp.broadcast_to(jnp.eye(count, dtype=y.dtype)[:, None], (count, len(y), count)).reshape(count, *y.shape)
        rows = jax.vmap(lambda weights: self._pulled(target, source, weights, unconnected_gradients))(basis)
        return None if rows is None else jnp.moveaxis(rows, 0, 1).reshape(*y.shape, *x.shape[1:])

    def _pulled(self, target: Any, sources: Any, weights: Any, unconnected: str | None) -> Any:
        return trees.map(content, self.gradient([target], sources, [weights], unconnected))

    def _gradient(self, target: Any, sources: Any, weights: Any, unconnected: str | None) -> Any:
        cotangents: dict[int, Any] = {}

        def add(x: Any, cotangent: Any) -> None:
            cotangents[id(x)] = cotangent if (before := cotangents.get(id(x))) is None else before + cotangent

        targets = list(map(content, trees.leaves(target)))
        for t, weight in zip(targets, [None] * len(targets) if weights is None else trees.leaves(weights), strict=True):
            values = [t] if not is_variable(t) else self._last_read(t)
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
                    "a gradient with respect to the result of one iteration is asked for, and the compiled loop is one operation of the tape", here(),
                    "unroll it (`with ag.loops(roll='never'):`)",
                )  # fmt: skip
            found = [cotangents[id(x)] for x in reads if id(x) in cotangents]
            if not found:
                return jnp.zeros_like(value_of(source)) if unconnected == "zero" else None
            total = found[0]
            for cotangent in found[1:]:
                total = total + cotangent
            return total

        return trees.map(of, sources, is_leaf=is_variable)

    def _last_read(self, variable: Any) -> list[Any]:
        """What a Variable that is a target held when it was read last; one that the block only names is read now."""
        value = content(variable._array)
        if id(variable) not in self._reads and self._automatic and variable.trainable and is_inexact(value):
            self.note_read(variable, value)
        return self._reads.get(id(variable), (variable, []))[1][-1:]

    def watches(self, variable: Any) -> bool:
        """Whether a Variable has been read in the block, or is watched."""
        return id(variable) in self._reads

    def records(self, variable: Any, value: Any) -> bool:
        """Whether it has to know that a Variable is read, which holds a value."""
        return self._recording and (id(variable) in self._reads or self._automatic and variable.trainable) and is_inexact(content(value))

    def knows(self, variable: Any, value: Any) -> bool:
        """Whether it has noted that a Variable is read which holds this array."""
        found = self._reads.get(id(variable))
        return found is not None and any(content(value) is x for x in found[1])

    def note_read(self, variable: Any, value: Any) -> None:
        """A Variable is read, which holds `value`."""
        value = content(value)
        self._reads.setdefault(id(variable), (variable, []))[1].append(value)
        self._live[id(value)] = value

    def alias(self, value: Any) -> Any:
        """Another array with the same values: no tape sees where it comes from."""
        with _jax.set_current_trace(self.home):
            return fresh(content(value))

    @property
    def home(self) -> Any:
        """The trace in which its block stands, below all tapes."""
        below = self._trace
        while isinstance(below, Passing):
            below = below.below
        return below

    def sees(self, value: Any) -> bool:
        """Whether it records what is done with a value."""
        return id(content(value)) in self._live

    def hide(self, values: Iterable[Any]) -> None:
        """Iterations of a compiled loop have computed these, and may have taken them: no gradient by them is known."""
        self._inner |= {id(x): x for x in map(content, values) if id(x) in self._live}

    def count(self) -> int:
        """How many operations it has recorded."""
        return len(self._operations)

    def take(self, first: int, last: int, made: Container[Any], given: Container[Any]) -> Taken | None:
        """Forget the operations of iterations of a loop, which one operation shall stand for.

        `made` and `given`: the variables of what the iterations give, and of what they take from outside.  None if these are not all that the
        derivatives are made of, or a Variable has got its value in an iteration.
        """
        of_iterations = self._operations[first:last]
        outputs = {id(y) for operation in of_iterations for y in operation.outputs}
        inside = [x for x in self._live.values() if _variable(x) in made]
        taken = {_variable(x) for operation in of_iterations for x in operation.inputs}
        if not self._recording or any(not isinstance(x.pullback, Again) for x in of_iterations) or any(id(x) not in outputs for x in inside):
            return None
        if any(v not in made and v not in given for v in taken):
            return None
        live = [x.val for x in inside]
        del self._operations[first:last]
        self._live = {k: x for k, x in self._live.items() if _variable(x) not in made}
        return Taken(first, [operation.of(lambda x: v if (v := _variable(x)) in made else x) for operation in of_iterations], live)

    def put_back(self, taken: Taken, standing: Callable[[Any], Any]) -> None:
        """Remember what has been taken; `standing` gives the tracer of a variable."""
        self._operations[taken.first : taken.first] = [x.of(lambda v: standing(v) if isinstance(v, _jax.Var) else v) for x in taken.operations]
        self._live |= {id(x): x for x in map(standing, taken.live)}

    def record_loop(self, taken: Taken, loop: Any) -> list[Any]:
        """Record one compiled loop in the place of the operations of its iterations; gives what its stand-ins stand for."""
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
            raise TapeError(f"`{name}` closes over a value that the tape records", here(), "pass the value as an argument")
        count = len(args)

        def call(*given: Any) -> Any:
            consts = list(own)
            for k, value in zip(places, given[count:], strict=True):
                consts[k] = value
            return jax.jit(lambda c, xs: _jax.jaxpr_as_fun(closed.replace(consts=c))(*xs))(consts, list(given[:count]))

        operands = [*args, *(own[k] for k in places)]
        return operands, call, [k for k, a in enumerate(operands) if id(a) in self._live]


class Taken(NamedTuple):
    """Operations of iterations of a loop that a tape has forgotten, with variables for the tracers that the iterations have made."""

    first: int
    operations: list[Operation]
    live: list[Any]


def _of_one(one: Any, live: bool, cotangents: tuple[Any, ...]) -> list[Any]:
    """The cotangent of an array belongs to the one that is watched, if it is that, and else to itself."""
    (ct,) = cotangents
    zero = jnp.zeros_like(ct)
    return [jnp.where(one, ct, zero), *([jnp.where(one, zero, ct)] if live else [])]


def _variable(x: Any) -> Any:
    """The variable of the jaxpr that a tracer stands for, if it does."""
    return getattr(x, "val", None) if isinstance(x, _jax.Tracer) else None


def _given(y: Any, cotangents: dict[int, Any]) -> Any:
    if not is_inexact(y):
        return np.zeros(np.shape(y), jax.dtypes.float0)
    found = cotangents.get(id(y))
    return jnp.zeros_like(y) if found is None else found
