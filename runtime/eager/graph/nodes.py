"""Nodes: computations that wait for the values of placeholders.  A node holds a function and what it is given; none is evaluated when it is made.

Types are found when a node is made, so that a mistake is an error at its line.  A size that is not known is tried with two numbers: where the sizes
of a result differ they are not known either.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.variable_ref import OPERATORS, Deferred, building, builds, is_variable, value_of
from autograph.runtime.calls.callees import call
from autograph.runtime.calls.function import jit
from autograph.runtime.eager.tape import GradientTape
from autograph.runtime.errors.errors import GraphError, StagingError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees

_numbers = itertools.count()
_PROBES = (2, 3)  # what stands for a size that is not known


class Type(NamedTuple):
    """Of an array that a node gives; None stands for a size that is not known."""

    shape: tuple[int | None, ...]
    dtype: Any


def _types(tree: Any) -> list[Type]:
    return trees.leaves(tree, is_leaf=lambda x: isinstance(x, Type))


def _of_types(f: Callable[..., Any], *found: Any) -> Any:
    return trees.map(f, *found, is_leaf=lambda x: isinstance(x, Type))


class Graph:
    """Nodes that belong together.  In the block of `as_default()` new ones are put into it.

    >>> import autograph as ag
    >>> with ag.graph.Graph().as_default() as graph:
    ...     x = ag.graph.placeholder("float32", [None, 2], name="x")
    ...     y = x * 2 + 1
    >>> print(graph)
    x: placeholder float32[?, 2]
    mul: mul(x, 2) float32[?, 2]
    add: add(mul, 1) float32[?, 2]
    """

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def as_default(self) -> Graph:
        return self

    def __enter__(self) -> Graph:
        graphs.append(self)
        building.makers.append(_reading)
        return self

    def __exit__(self, *error: object) -> None:
        graphs.remove(self)
        building.makers.pop()

    def take(self, node: Node, name: str) -> str:
        """Put a node into it; gives the name that it has: the one that it was given, or one like it."""
        found = next(n for n in itertools.chain([name], (f"{name}_{k}" for k in itertools.count(1))) if n not in self.nodes)
        self.nodes[found] = node
        return found

    def __str__(self) -> str:
        return "\n".join(f"{name}: {node.text()}" for name, node in self.nodes.items())


graphs: list[Graph] = [Graph()]  # the innermost last; the first is there if no other is


class Node(Deferred):
    """A computation that waits.  Operators, methods and attributes of arrays, and functions of NumPy, give other nodes; `ag.graph.op` lets functions.

    Its `shape` has None for sizes that are not known; `reads` are the trainable Variables that it reads itself.
    """

    __slots__ = ("args", "function", "graph", "kind", "kwargs", "name", "number", "reads", "types", "wanted")

    name: str
    graph: Graph

    def __init__(
        self, function: Callable[..., Any] | None, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, name: str | None = None,
        types: Any = None, kind: str = "", wanted: Gradients | None = None,
    ) -> None:  # fmt: skip
        self.function, self.args, self.kwargs, self.kind = function, tuple(args), dict(kwargs or {}), kind or name or "op"
        self.wanted = wanted  # of a gradient: what it is of
        inputs = self.inputs()
        self.number, self.graph = next(_numbers), inputs[0].graph if inputs else graphs[-1]
        self.reads: list[Any] = []
        for node in inputs:
            if node.graph is not self.graph:
                raise GraphError(f"`{inputs[0].name}` and `{node.name}` are of two graphs", here(), "build them in the block of one graph")
        self.types = types if types is not None else self._inferred()
        self.name = self.graph.take(self, name or self.kind)

    def inputs(self) -> list[Node]:
        """The nodes that it is given; of a gradient what it is of and by."""
        if self.wanted is not None:
            return [x for x in (self.wanted.of, *self.wanted.sources) if isinstance(x, Node)]
        return [x for x in trees.leaves((self.args, self.kwargs), is_leaf=_is_leaf) if isinstance(x, Node)]

    def compute(self, values: Callable[[Node], Any]) -> Any:
        """The result, given the values of its inputs."""
        assert self.function is not None
        given = trees.map(lambda x: values(x) if isinstance(x, Node) else x, (list(self.args), self.kwargs), is_leaf=_is_leaf)
        return self.function(*given[0], **given[1])

    def _inferred(self) -> Any:
        """The types of the result: a tree of `Type`s."""
        inputs = self.inputs()
        unknown = any(None in t.shape for node in inputs for t in _types(node.types))
        if not unknown:
            return self._probed(inputs, 1)
        try:
            one, other = (self._probed(inputs, size) for size in _PROBES)
        except GraphError as error:  # it may be a size that is known elsewhere, which 1 goes with
            try:
                one = self._probed(inputs, 1)
            except GraphError:
                raise error from error.__cause__
            other = _of_types(lambda t: Type(tuple(0 if n == 1 else n for n in t.shape), t.dtype), one)
        return _of_types(lambda a, b: Type(tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)), a.dtype), one, other)

    def _probed(self, inputs: list[Node], size: int) -> Any:
        order = {id(node): k for k, node in enumerate(inputs)}
        specs = [_of_types(lambda t: jax.ShapeDtypeStruct(tuple(n or size for n in t.shape), t.dtype), node.types) for node in inputs]

        def run(given: list[Any]) -> Any:
            with GradientTape() as tape:
                out = self.compute(lambda node: given[order[id(node)]])
                self.reads = list(tape.watched_variables())
            return out

        try:
            out = jit(run).eval_shape(specs)
        except StagingError:
            raise
        except (TypeError, ValueError) as error:
            told = ", ".join(f"`{node.name}` {node.text_of_type()}" for node in inputs)
            raise GraphError(f"`{self.kind}` does not take {told}: {str(error).splitlines()[0]}", here(), "give it what it takes") from error
        return trees.map(lambda t: Type(t.shape, t.dtype), out)

    def deferred(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Node:
        return Node(function, args, kwargs, kind=_name_of(function))

    def gradients(self, sources: Any = None) -> list[tuple[Node, Any]]:
        """Pairs of a gradient and what it is by; `ag.graph.gradients` says more."""
        by = self._variables() if sources is None else list(sources) if isinstance(sources, (list, tuple)) else [sources]
        if not by:
            raise GraphError(f"`{self.name}` depends on no trainable Variable", here(), "give what it is differentiated by: `gradients(loss, [w])`")
        wanted = Gradients(self, by)
        return [
            (Node(None, (k,), name=f"gradient/{x.name or 'variable'}", types=Type(x.shape, x.dtype), kind="gradient", wanted=wanted), x)
            for k, x in enumerate(by)
        ]

    def _variables(self) -> list[Any]:
        """The trainable Variables that it depends on, in the order of its building."""
        reached: set[Node] = set()
        todo = [self]
        while todo:
            if (node := todo.pop()) not in reached:
                reached.add(node)
                todo += node.inputs()
        return list({id(v): v for node in sorted(reached, key=lambda n: n.number) for v in node.reads}.values())

    @property
    def shape(self) -> tuple[int | None, ...]:
        return self.types.shape  # type: ignore[no-any-return]

    def get_shape(self) -> tuple[int | None, ...]:
        return self.shape

    @property
    def dtype(self) -> Any:
        return self.types.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> Any:
        """Its value in a session; by default in the one whose block the program is in."""
        if session is None and not sessions:
            raise GraphError(f"`{self.name}` is evaluated outside of a session", here(), "write `with ag.graph.Session() as session:` around")
        return (session or sessions[-1]).run(self, feed_dict)

    def text(self) -> str:
        """What it is, on one line."""
        parts = [*(_short(x) for x in self.args), *(f"{k}={_short(x)}" for k, x in self.kwargs.items())]
        return f"{self.kind}({', '.join(parts)}) {self.text_of_type()}" if self.function or self.wanted else f"{self.kind} {self.text_of_type()}"

    def text_of_type(self) -> str:
        return ", ".join(f"{t.dtype}[{', '.join('?' if n is None else str(n) for n in t.shape)}]" for t in _types(self.types)) or "nothing"

    def __repr__(self) -> str:
        return f"<ag.graph.Node {self.name!r}: {self.text()}>"

    def _refuse(self, what: str) -> Any:
        raise GraphError(
            f"{what} `{self.name}` is asked for, which has none while the graph is built", here(),
            "put the code into a function with `@ag.graph.op`, which converts its `if` and `while`; or ask in a session: `x.eval(...)`",
        )  # fmt: skip

    def __bool__(self) -> bool:
        return self._refuse("the truth of")  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return self._refuse("the value of")  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return self._refuse("the value of")  # type: ignore[no-any-return]

    def __index__(self) -> int:
        return self._refuse("the value of")  # type: ignore[no-any-return]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._refuse("the value of")

    def __jax_array__(self) -> Any:
        raise GraphError(
            f"`{self.name}` is given to a function of JAX's, which computes at once", here(),
            "let functions wait: `jnp = ag.graph.ops(jax.numpy)`, `@ag.graph.op` above one of your own",
        )  # fmt: skip

    def __iter__(self) -> Iterator[Node]:
        if isinstance(self.types, Type) and (not self.shape or self.shape[0] is None):
            return self._refuse("the length of")  # type: ignore[no-any-return]
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        if isinstance(self.types, Type):
            return self.shape[0] if self.shape and self.shape[0] is not None else self._refuse("the length of")
        return len(self.types)

    def __getitem__(self, index: Any) -> Node:
        return Node(operator.getitem, (self, index), kind="item")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(jax.Array, name):
            raise AttributeError(f"a node of a graph has no attribute {name!r}")
        if callable(getattr(jax.Array, name)):
            return lambda *args, **kwargs: Node(_Method(name), (self, *args), kwargs, kind=name)
        return Node(operator.attrgetter(name), (self,), kind=name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs.get("out") is not None:
            return NotImplemented
        return self._of_numpy(ufunc.__name__, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self._of_numpy(function.__name__, args, kwargs)

    def _of_numpy(self, name: str, args: Any, kwargs: Any) -> Any:
        function = getattr(jnp, name, None)
        return NotImplemented if function is None else Node(function, args, kwargs, kind=name)


def _reading(variable: Any) -> Node:
    """A node for what a Variable holds when it is run."""
    return Node(value_of, (variable,), kind=variable.name or "variable")


sessions: list[Any] = []  # those whose blocks the program is in


class Gradients(NamedTuple):
    """The gradients of a node by some sources, which are computed at once."""

    of: Node
    sources: list[Any]


class _Method:
    """A method of arrays, as a function."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, self.__name__)(*args, **kwargs)


def op(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that waits where it is given a node, and else computes; also as a decorator.

    The function is converted: it may have `if`, `while` and `for` on the values, assign Variables, and print.

    >>> import autograph as ag
    >>> @ag.graph.op
    ... def relu(x):
    ...     return x if x > 0 else 0.0
    >>> with ag.graph.Graph().as_default(), ag.graph.Session() as session:
    ...     x = ag.graph.placeholder("float32", [])
    ...     print(session.run(relu(x), {x: -2.0}), relu(3.0))
    0.0 3.0
    """
    name = _name_of(function)

    @functools.wraps(function, updated=())
    def waiting(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Node) or is_variable(x) and builds() for x in trees.leaves((args, kwargs), is_leaf=_is_leaf)):
            return Node(lambda *a, **k: call(function)(*a, **k), args, kwargs, kind=name)
        building.makers.append(value_of)  # it computes, with what Variables hold now
        try:
            return call(function)(*args, **kwargs)
        finally:
            building.makers.pop()

    return waiting


class ops:
    """The functions of a module, as ones that wait where they are given a node: `jnp = ag.graph.ops(jax.numpy)`.

    >>> import jax, autograph as ag
    >>> jnp, nn = ag.graph.ops(jax.numpy), ag.graph.ops(jax.nn)
    >>> x = ag.graph.placeholder("float32", [None, 3])
    >>> jnp.sum(nn.relu(x), axis=1).shape
    (None,)
    """

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, type) or not callable(found):
            return found
        made = op(found)
        setattr(self, name, made)
        return made


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", None) or getattr(function, "name", None) or type(function).__name__.lower()


def _short(x: Any) -> str:
    if isinstance(x, Node):
        return x.name
    if is_variable(x):
        return x.name or "a Variable"
    if isinstance(x, (list, tuple)):
        return f"[{', '.join(map(_short, x))}]"
    return f"{x.dtype}{list(x.shape)}" if isinstance(x, (np.ndarray, jax.Array)) and x.ndim else getattr(x, "__name__", None) or str(x)[:20]


def _is_leaf(x: Any) -> bool:
    return isinstance(x, Node) or is_variable(x)


def _operation(name: str) -> Callable[..., Any]:
    plain = name.removeprefix("r") if name.startswith("r") and name != "rshift" else name
    function = {"divmod": divmod, "pow": operator.pow, "and": operator.and_, "or": operator.or_}.get(plain) or getattr(operator, plain)
    swapped = plain != name

    def operate(self: Node, *others: Any) -> Node:
        args = (*others, self) if swapped else (self, *others)
        return Node(lambda *a: function(*(jnp.asarray(value_of(x)) for x in a)), args, kind=plain)

    return operate


_jax.takes_as_array(Node, Node.__jax_array__, Node.__jax_array__)
for _name in OPERATORS:
    if _name not in ("eq", "ne"):  # a node is a key of `feed_dict`: `jnp.equal` compares
        setattr(Node, f"__{_name}__", _operation(_name))
