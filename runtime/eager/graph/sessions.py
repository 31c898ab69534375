"""Sessions: what some nodes need is evaluated, each node once, as one compiled function for the same nodes and feeds."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.variable_ref import is_variable, value_of
from autograph.runtime.calls.function import jit
from autograph.runtime.eager.graph.nodes import Graph, Node, graphs, sessions
from autograph.runtime.eager.tape import GradientTape
from autograph.runtime.errors.errors import GraphError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees


class Session:
    """Evaluates nodes.  In its block `node.eval()` does it in this session.

    Args:
      graph: whose nodes are evaluated; by default the one whose block the program is in.

    >>> import autograph as ag
    >>> w = ag.Variable(3.0)
    >>> with ag.graph.Graph().as_default(), ag.graph.Session() as session:
    ...     x = ag.graph.placeholder("float32", [None])
    ...     loss = (w * x).sum()
    ...     [(gradient, _)] = ag.graph.gradients(loss, [w])
    ...     print(session.run([loss, gradient], {x: [1.0, 2.0]}))
    [np.float32(9.0), np.float32(3.0)]
    """

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = graphs[-1] if graph is None else graph
        self._functions: dict[Any, Any] = {}

    def __enter__(self) -> Session:
        sessions.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        sessions.remove(self)

    def close(self) -> None:
        """Forget what has been compiled."""
        self._functions.clear()

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """The values of nodes and Variables, as NumPy's, in the structure that they are given in.

        Only what they need is evaluated, each node once, in the order in which the nodes were made; what a node assigns is seen by those after it.

        Args:
          fetches: a node or Variable, or lists, tuples and dicts of them.  A node that has no value, as a training step, gives None.
          feed_dict: values of placeholders; of other nodes too, which are not computed then.

        Raises:
          GraphError: (AG710) a placeholder that is needed is not fed; a value has another shape or type; or a node is of another graph.
        """
        if feed_dict is not None and not isinstance(feed_dict, Mapping):
            raise GraphError(f"`feed_dict` is a `{type(feed_dict).__name__}`", here(), "give a dict: `session.run(y, {x: value})`")
        leaves = trees.leaves(fetches, is_leaf=_is_fetch)
        for x in leaves:
            if not _is_fetch(x):
                raise GraphError(f"a `{type(x).__name__}` is fetched", here(), "fetch nodes and Variables")
            if isinstance(x, Node) and x.graph is not self.graph:
                raise GraphError(f"`{x.name}` is of another graph than the session", here(), "make the session in the block of its graph")
        fed = {node: _fed(node, value) for node, value in (feed_dict or {}).items()}
        needed = _needed([x for x in leaves if isinstance(x, Node)], fed)
        for node in needed:
            if node.function is None and not node.wanted and node not in fed:
                raise GraphError(f"the placeholder `{node.name}` is needed and not fed", here(), f"give `feed_dict={{{node.name}: ...}}`")
        key = (tuple(map(id, leaves)), tuple(map(id, fed)))
        if key not in self._functions:
            self._functions[key] = jit(_program(leaves, needed, list(fed))), leaves, list(fed)
        values = self._functions[key][0](list(fed.values()))
        return trees.structure(fetches, is_leaf=_is_fetch).unflatten([_as_numpy(x) for x in values])


def _program(leaves: list[Any], needed: list[Node], fed: list[Node]) -> Any:
    """What a session compiles for some fetches and feeds."""
    groups = list({id(node.wanted): node.wanted for node in reversed(needed) if node.wanted}.values())  # those that others depend on last: inside

    def run(feeds: list[Any]) -> list[Any]:
        values: dict[Node, Any] = {}
        found: dict[int, Any] = {}
        with ExitStack() as stack:
            tapes = {id(group): stack.enter_context(GradientTape(persistent=True, watch_accessed_variables=False)) for group in groups}
            for group in groups:
                tapes[id(group)].watch([v for v in group.sources if is_variable(v)])

            def hold(node: Node, value: Any) -> None:
                for group in groups:
                    if any(node is source for source in group.sources):
                        tapes[id(group)].watch(value)
                values[node] = value

            for node, value in zip(fed, feeds, strict=True):
                hold(node, value)
            for node in needed:
                if node in values:
                    continue
                if not node.wanted:
                    hold(node, node.compute(values.__getitem__))
                    continue
                group = node.wanted
                if id(group) not in found:
                    sources = [values[s] if isinstance(s, Node) else s for s in group.sources]
                    found[id(group)] = tapes[id(group)].gradient(values[group.of], sources, unconnected_gradients="zero")
                hold(node, found[id(group)][node.args[0]])
        return [values[x] if isinstance(x, Node) else value_of(x) for x in leaves]

    return run


def _needed(fetched: list[Node], fed: Mapping[Node, Any]) -> list[Node]:
    """The nodes that have to be there, in the order in which they were made."""
    found: set[Node] = set()
    todo = list(fetched)
    while todo:
        node = todo.pop()
        if node in found:
            continue
        found.add(node)
        if node not in fed:
            todo += node.inputs()
    return sorted(found, key=lambda node: node.number)


def _fed(node: Any, value: Any) -> Any:
    """A value that stands for a node."""
    if not isinstance(node, Node):
        raise GraphError(f"a `{type(node).__name__}` is fed", here(), "the keys of `feed_dict` are placeholders and other nodes")
    if not hasattr(node.types, "shape"):
        return value
    if isinstance(value, Node):
        raise GraphError(f"`{node.name}` is fed the node `{value.name}`", here(), "feed its value: `session.run(...)` gives it")
    try:
        array = np.asarray(value_of(value)) if not isinstance(value, jax.Array) else value
        kept = jnp.asarray(array, node.dtype) if np.can_cast(array.dtype, node.dtype, "same_kind") else None
    except (TypeError, ValueError) as error:
        raise GraphError(f"`{node.name}` is fed what is no array: {error}", here(), "feed arrays and numbers") from None
    if array.dtype.kind in "USO":
        raise GraphError(f"`{node.name}` is fed a `{type(value).__name__}`", here(), "feed arrays and numbers")
    if kept is not None and array.dtype.kind in "iu" and kept.dtype.kind in "iu" and not np.array_equal(array, kept):
        raise GraphError(f"`{node.name}` is {node.text_of_type()}, and is fed integers beyond it", here(), "feed smaller ones, or make it wider")
    if kept is None:
        raise GraphError(
            f"`{node.name}` is {node.text_of_type()}, and is fed {array.dtype}{list(array.shape)}", here(), "convert it: `x.astype(...)`"
        )
    if len(kept.shape) != len(node.shape) or any(n is not None and n != m for n, m in zip(node.shape, kept.shape, strict=True)):
        raise GraphError(
            f"`{node.name}` is {node.text_of_type()}, and is fed {kept.dtype}{list(kept.shape)}",
            here(),
            "feed its shape; `?` is any size",
        )
    return kept


def _is_fetch(x: Any) -> bool:
    return isinstance(x, Node) or is_variable(x)


def _as_numpy(x: Any) -> Any:
    return trees.map(lambda v: v if jnp.issubdtype(v.dtype, jax.dtypes.prng_key) else np.asarray(v)[()], x)
