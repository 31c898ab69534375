"""The runs of blocks that this thread is in, and the places of operator calls in the trace."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NoReturn

from autograph.runtime.errors.errors import StagingError
from autograph.runtime.tracing.class_members import put_in_all, take_out

TRACING = threading.RLock()  # held while a trace has tracers in the user's variables and objects: other threads would see them


class Retrace(BaseException):
    """Not an error: what is traced has found a reason to be traced again, which the caller knows how to meet."""


class Peel(Retrace):
    """The first iteration of a loop sets a variable that the others read, and it is certainly made: it is traced apart by the owner of `token`."""

    def __init__(self, token: object) -> None:
        self.token = token


class Decide(Retrace):
    """The branches of a condition leave what no joint type covers: its value is computed first, and the function is traced for that value alone.

    `number` counts the traced conditions of the function; `error` is raised where that cannot be done.
    """

    def __init__(self, number: int, error: StagingError) -> None:
        self.number, self.error = number, error


class Condition(BaseException):
    """Not an error: the trace ends here, as only the value of this condition is wanted."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Decisions:
    """The traced conditions of a function outside of its loops and branches, in their order: `made` are those whose values are known.

    The trace ends at the condition number `wanted`, if there is one.
    """

    def __init__(self, made: dict[int, bool], wanted: int | None) -> None:
        self.made, self.wanted, self.count = made, wanted, 0
        self.used: list[tuple[Any, bool]] = []  # the conditions that were known, and what they are known to be
        self.around: int | None = None  # the condition whose branches are being traced

    def asked(self, value: Any) -> tuple[int, bool | None]:
        """The number of the next condition, and what it is known to be.

        Raises Condition, if its value is wanted.
        """
        number = self.count
        self.count += 1
        if number == self.wanted:
            raise Condition(value)
        known = self.made.get(number)
        if known is not None:
            self.used.append((value, known))
        return number, known


class TraceContext:
    """A run of a block, traced or not: its place, how many operators it has called, and what it has seen of the state outside it."""

    __slots__ = tuple(
        (
            "adopted around arrived begun beneath born bounds changed checked choices chosen codes columns copied count created "
            "decisions defaults discarded exchanged excluded fresh function given grows handed identities intervals joins key late "
            "lifting made marked memory outside own passed places preset printed protected reads rebound refusal rehearsal root saved "
            "selectors spoiled staged tagging told trace twins values variables written"
        ).split()
    )

    def __init__(self, key: tuple[Any, ...], memory: dict[Any, Any], staged: bool, root: bool = False, checked: bool = False) -> None:
        self.key, self.memory, self.staged, self.count, self.discarded = key, memory, staged, 0, False
        self.around: Any = None  # the trace in which the block, or the call of an `ag.function`, stands
        self.printed = False  # does the program print, or write to a log?
        self.changed = False  # has a run that may be thrown away had an effect that cannot be undone?
        self.saved: dict[Any, Any] = {}  # what places in objects held before this run changed them
        self.protected: Any = frozenset()  # the shared variables that the block carries itself
        self.rebound = False  # has one of them been bound, beside by the block's own text?
        self.chosen: Any = None  # of the side of a branch: the traced truth value or index that chooses, and which side it is
        self.choices: dict[int, list[Any]] = {}  # by identity of an object: what branches have given that may stand for it
        self.joins: list[Any] = []  # of the outermost run: the branches that have been traced, and the types that their sides gave
        self.told: set[int] = set()  # identities of containers: `state/recorded_writes.py`
        self.twins: dict[int, list[Any]] = {}  # by identity: containers that may be the same object, depending on traced values
        self.fresh: set[int] = set()  # identities of those that this block has made
        self.spoiled: list[tuple[Any, Any]] = []  # a container that has changed, and one that may be the same
        self.columns: dict[int, Any] = {}  # by identity: lists that a compiled loop has filled; `sequences/stacked_lists.py`
        self.born: set[int] = set()  # identities of objects that had no attributes before it set one: those that it makes
        self.places: dict[Any, Any] = {}  # where it changed them first
        self.late: dict[Any, list[tuple[Any, Any]]] = {}  # what places held before changes, and the error code at that time
        self.beneath: dict[Any, tuple[str, Any]] = {}  # places changed in a trace of JAX's inside of this one: of which transformation, and where
        self.handed = False  # has a function that JAX may know by now changed something?
        self.copied: dict[int, Any] = {}  # by identity: containers that a list has taken a copy of
        self.grows: dict[int, Any] = {}  # lists that the code makes longer or shorter, and what holds them: an object, or (none) a variable
        self.adopted: list[tuple[Any, Any, Any]] = []  # of the outermost run: places, arrays from outside, and the objects that stand for them
        self.exchanged: dict[Any, bool] = {}  # of the outermost run: members that it has put into classes
        self.codes: set[Any] = set()  # of the outermost run: the functions whose names have been looked at
        self.function: Any = None  # of the outermost run: what is traced
        self.selectors: list[Any] = []  # variables that tell which array a branch in it has chosen
        self.tagging = False  # of the outermost run: do loops and branches carry which array is which?
        self.identities = itertools.count(1)  # of the outermost run: the numbers of arrays
        self.made: dict[int, Any] = {}  # by identity: iterators, generators and files that this run has made
        self.own: dict[int, int] = {}  # by identity, at the end: containers and objects that only the places hold which it changes, and how often
        self.defaults: list[Any] = []  # of a whole function: what the dicts hold that make a key when it is read
        self.outside: set[int] = set()  # of a whole function: identities of the containers that are there before the call
        self.passed: set[int] = set()  # of all containers and objects among its arguments
        self.given: set[int] = set()  # identities of the containers and objects that the block was given as state
        self.intervals: dict[int, Any] = {}  # of the outermost run: by identity of a variable, between which integers it lies
        self.bounds: Any = None  # of the outermost trace: what is known of the lengths of lists
        self.root, self.checked = root, checked  # the trace of a whole function; does who called it read the error code?
        self.lifting = staged or root
        self.refusal: Exception | None = None  # what the trace of this function is refused for
        self.rehearsal: Any = None  # of a whole function whose trace may end early: the places that are known to be its inputs
        self.trace: Any = None  # JAX's trace that the block is recorded in
        self.preset: dict[Any, Any] = {}  # types of state outside, found in an earlier run
        self.values: dict[Any, Any] = {}  # state outside the parameter list, as this block sees it now
        self.reads: dict[Any, tuple[Any, list[int]]] = {}  # its spec when it was first read, and the slots of its markers
        self.marked: dict[Any, Any] = {}  # what they were when the block began, if it asked
        self.arrived: list[tuple[Any, Any, Any]] = []  # when an iteration of the loop began: places, the arrays in them, and what these held
        self.begun: dict[Any, Any] = {}  # what places in objects held when an iteration of the loop began
        self.written: dict[Any, None] = {}
        self.created: Any = None  # of a whole function: the Variables that this trace and earlier ones of the same call have made
        self.variables: dict[Any, None] = {}  # of a whole function: the places of the Variables that it has read
        self.decisions: Decisions | None = None  # of a whole function whose caller can compute conditions first
        self.excluded: dict[int, tuple[Any, int]] = {}  # by identity of a tag: the tag, and which bits it is known not to have here

    def forget(self) -> None:
        """No tracer outlives its trace."""
        self.given, self.trace, self.around = set(), None, None
        self.made.clear()
        self.defaults.clear()
        self.copied.clear()
        self.values.clear()
        self.marked.clear()
        self.begun.clear()
        self.arrived.clear()
        self.saved.clear()
        self.late.clear()
        self.beneath.clear()
        self.chosen = None
        self.choices.clear()
        self.joins.clear()
        self.columns.clear()
        self.selectors.clear()
        self.twins.clear()
        self.told.clear()
        self.spoiled.clear()
        self.excluded.clear()
        self.intervals.clear()


class _Stack(threading.local):
    def __init__(self) -> None:
        self.frames: list[TraceContext] = []
        self.attempts = 0
        self.contexts = ExitStack()  # of JAX's, that end with the outermost trace
        self.again: Callable[[], AbstractContextManager[Any]] | None = None
        self.peeling: list[tuple[object, set[int]]] = []  # loops that can trace their first iteration apart: their tokens, and their unset variables


_stack = _Stack()


def in_block() -> bool:
    """Whether a staged block is being traced in this thread."""
    return any(f.staged for f in _stack.frames)


@contextmanager
def condition(value: Any) -> Iterator[bool | None]:
    """Around the branches of a traced condition; gives what it is known to be.

    In loops, in branches and where nobody could compute it first that is None.
    """
    decisions = _stack.frames[0].decisions if len(_stack.frames) == 1 else None
    if decisions is None:
        yield None
        return
    number, known = decisions.asked(value)
    if known is None:
        decisions.around = number
    try:
        yield known
    finally:
        decisions.around = None


def refuse_or_decide(error: StagingError) -> NoReturn:
    """Raise the error of a branch that leaves other keys or attributes, or Decide, if a condition around it can be computed first."""
    decisions = _stack.frames[0].decisions if _stack.frames else None
    if decisions is not None and decisions.around is not None:
        raise Decide(decisions.around, error) from None
    raise error from None


def touched() -> None:
    """A host effect happens: a run of a loop's iteration in which it does is not thrown away."""
    for frame in reversed(_stack.frames):
        if frame.staged:
            return
        frame.changed = True


def with_defaults() -> list[Any]:
    """The dicts in reach that make a key when it is read, which no code tells."""
    return [x.obj for frame in _stack.frames for x in frame.defaults]


def watched() -> bool:
    """Whether a change of a Python object has to be noticed."""
    return bool(_stack.frames)


@contextmanager
def unwatched() -> Iterator[None]:
    """What happens in here is no change that the user's code makes: an object is put together, or taken apart."""
    before, _stack.frames = _stack.frames, []
    try:
        yield
    finally:
        _stack.frames = before


def innermost() -> TraceContext | None:
    return _stack.frames[-1] if _stack.frames else None


def trace_again(context: Callable[[], AbstractContextManager[Any]]) -> None:
    """From now on JAX traces again what it has traced before: in a new context, until this thread's outermost trace ends, and in its next one.

    The next one may be that of the same function: the trace is given up as a whole, too.
    """
    _stack.contexts.enter_context(context())
    _stack.again = context


def stands() -> None:
    """An outermost trace is kept: what comes next is no attempt to make it again."""
    if not _stack.frames:
        _stack.again = None


def of_block() -> TraceContext | None:
    """The innermost frame of a block or function, not of an iteration in it that is re-rolled."""
    return next((f for f in reversed(_stack.frames) if f.lifting), innermost())


def lifting() -> list[TraceContext]:
    """The frames that see state outside their parameters, outermost first."""
    return [f for f in _stack.frames if f.lifting]


def frames() -> list[TraceContext]:
    return _stack.frames


def changed_outside() -> bool:
    """Whether the `ag.function` that is being traced has changed state outside, or printed: an error now must leave what has changed."""
    roots = [f for f in _stack.frames if f.root]
    return bool(roots) and roots[-1].checked and (roots[-1].printed or bool(roots[-1].written))


_DEEP, _DEEPEST, _EACH = 24, 160, 40  # blocks that nest without more room, and at most; how many of Python's frames the trace of one takes


def _make_room(depth: int) -> None:
    """Blocks nest as deep as the user's text does, and each is traced inside of the one around: the recursion limit follows, until the trace ends.

    A function that calls itself in a branch nests without end: beyond what any text holds the limit stays, and ends it.
    """
    if _DEEP < depth <= _DEEPEST and depth % 8 == 0:
        frame, used = sys._getframe(), 0
        while frame is not None:
            frame, used = frame.f_back, used + 1  # type: ignore[assignment]
        sys.setrecursionlimit(max(sys.getrecursionlimit(), used + 16 * _EACH + 500))


@contextmanager
def root(trace: Any, values: dict[Any, Any], checked: bool) -> Iterator[TraceContext]:
    """The trace of a whole function; if it is `checked`, its caller reads the error code."""
    frame = TraceContext((), {}, staged=False, root=True, checked=checked)
    frame.trace, frame.values = trace, values
    if not _stack.frames:
        put_in_all(frame.exchanged)
        if _stack.again is not None:
            _stack.contexts.enter_context(_stack.again())
            _stack.again = None
    _stack.frames.append(frame)
    limit = sys.getrecursionlimit()
    try:
        yield frame
        if frame.refusal is not None:  # an `except` of the user's has swallowed it
            raise frame.refusal
    finally:
        if sys.getrecursionlimit() != limit:
            sys.setrecursionlimit(limit)
        _stack.frames.pop()
        frame.excluded.clear()
        take_out(frame.exchanged)
        for place, old, new in frame.adopted:
            if place is not None and place.get() is new:
                place.put(old)
        frame.adopted.clear()
        if not _stack.frames:
            _stack.contexts.close()


def _noticed(error: Exception) -> None:
    for frame in reversed(_stack.frames):
        if frame.root:
            frame.refusal = frame.refusal or error
            return


StagingError.noticed = staticmethod(_noticed)


@contextmanager
def peeling(token: object, unset: set[int]) -> Iterator[None]:
    """The body of a loop is traced of which the first iteration can be traced apart; `unset`: identities of what stands for unset variables."""
    if token is None:
        yield
        return
    _stack.peeling.append((token, unset))
    try:
        yield
    finally:
        _stack.peeling.pop()


def refuse_first(unset: object) -> None:
    """Called where an unset variable is read.

    Raises:
      Peel: it is a variable of a loop of which the first iteration can be traced apart.
    """
    for token, mine in reversed(_stack.peeling):
        if id(unset) in mine:
            raise Peel(token)


def in_attempt() -> bool:
    """Whether what is traced now may be refused, and is made another way then."""
    return _stack.attempts > 0


@contextmanager
def attempt() -> Iterator[None]:
    """Errors in here are caught by us, and refuse nothing."""
    roots = [f for f in _stack.frames if f.root]
    before = roots[-1].refusal if roots else None
    _stack.attempts += 1
    try:
        yield
    finally:
        _stack.attempts -= 1
        if roots:
            roots[-1].refusal = before


class CallSite:
    """The place of one operator call in the trace, and what is remembered there."""

    __slots__ = ("key", "memory")

    def __init__(self, code: Any) -> None:
        if _stack.frames:
            frame = _stack.frames[-1]
            frame.count += 1
            self.key: tuple[Any, ...] = (*frame.key, frame.count, id(code))
            self.memory = frame.memory
        else:
            self.key, self.memory = (), {}

    @property
    def remembers(self) -> bool:
        return bool(self.key) and self.key in self.memory

    @property
    def remembered(self) -> Any:
        return self.memory.get(self.key) if self.key else None

    def remember(self, what: Any) -> None:
        if self.key:
            self.memory[self.key] = what

    @contextmanager
    def scope(self, part: Any, staged: bool = False, again: TraceContext | None = None) -> Iterator[TraceContext]:
        """A run of `part` of the operator; or one that goes on (`again`), whose operators are at the places of those before."""
        frame = again or TraceContext((*self.key, part), self.memory, staged)
        frame.count = 0
        if staged and len(_stack.frames) > _DEEP:
            _make_room(sum(f.staged for f in _stack.frames))
        _stack.frames.append(frame)
        try:
            yield frame
        finally:
            _stack.frames.pop()
