"""`ag.graph`: placeholders, nodes and sessions, for programs that build a graph first and run it afterwards.

`@ag.function` is the other way to a compiled program, and mostly the better one; this one fetches any node, feeds any node, and evaluates no more
than is needed.

In the block of a graph operators, items and methods of a Variable are nodes as well, which read it when a session runs; `w.value` is its value now.
Outside of such a block what has no node in it computes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.eager.graph.nodes import Graph as Graph
from autograph.runtime.eager.graph.nodes import Node as Node
from autograph.runtime.eager.graph.nodes import Type, graphs, sessions
from autograph.runtime.eager.graph.nodes import op as op
from autograph.runtime.eager.graph.nodes import ops as ops
from autograph.runtime.eager.graph.sessions import Session as Session
from autograph.runtime.eager.layers.initial import next_key
from autograph.runtime.eager.variables import Variable
from autograph.runtime.errors.errors import GraphError
from autograph.runtime.errors.source_spans import here

__all__ = [
    "Graph", "InteractiveSession", "Session", "Variable", "assign", "dropout", "get_default_graph", "gradients", "group", "op", "ops",
    "placeholder", "placeholder_with_default",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


class InteractiveSession(Session):
    """A session that `node.eval()` uses from now on, until it is closed."""

    def __init__(self, graph: Graph | None = None) -> None:
        super().__init__(graph)
        self.__enter__()

    def close(self) -> None:
        """Use it no more, and forget what has been compiled."""
        super().close()
        if self in sessions:
            self.__exit__()


def placeholder(dtype: Any, shape: Sequence[int | None] = (), name: str | None = None) -> Node:
    """A node whose value is fed when a session runs.

    Args:
      dtype: of the value; a number or array that is fed is converted to it, if that is of the same kind.
      shape: of the value, by default one number; None for a size that may be any, as that of a batch.  The number of axes is known.

    Raises:
      GraphError: (AG710) it is float64, and JAX computes in 32 bits; or the shape is no tuple of sizes and None.

    As `tf.compat.v1.placeholder` (https://www.tensorflow.org/api_docs/python/tf/compat/v1/placeholder).
    """
    if isinstance(dtype, (list, tuple)) or not isinstance(shape, (list, tuple)) or any(n is not None and not _is_size(n) for n in shape):
        raise GraphError(
            f"a placeholder is given the dtype {dtype!r} and the shape {shape!r}",
            here(),
            'give both: `placeholder("float32", [None, 3])`, None for any size',
        )
    wanted = jnp.dtype("float32" if dtype == "float" else dtype)  # as TensorFlow's name
    if jax.dtypes.canonicalize_dtype(wanted) != wanted:
        raise GraphError(
            f"a placeholder of {wanted} is made, and JAX computes in 32 bits", here(), 'switch with `jax.config.update("jax_enable_x64", True)`'
        )
    return Node(None, name=name or "placeholder", types=Type(tuple(shape), wanted), kind="placeholder")


def _is_size(n: Any) -> bool:
    return isinstance(n, int) and n >= 0


def placeholder_with_default(value: Any, shape: Sequence[int | None], name: str | None = None) -> Node:
    """A node with a value, another of which may be fed: a share that is kept in training, and 1 else."""
    array = jnp.asarray(value)
    return Node(lambda: array, name=name or "placeholder", types=Type(tuple(shape), array.dtype), kind="default")


def gradients(of: Node, sources: Any = None) -> list[tuple[Node, Any]]:
    """Pairs of a gradient and what it is by.  All gradients of one call are computed in one evaluation, when one of them is needed.

    Args:
      of: a node; of one that is no scalar the sum is differentiated.
      sources: Variables and nodes; by default the trainable Variables that `of` depends on.

    Raises:
      GraphError: (AG710) there is none.
    """
    if not isinstance(of, Node):
        raise GraphError(f"the gradients of a `{type(of).__name__}` are asked for", here(), "give a node, made of placeholders")
    return of.gradients(sources)


def assign(variable: Variable, value: Any) -> Node:
    """A node that lets a Variable hold the value of another node, or any value; it gives that."""
    return Node(lambda x: variable.assign(x).value, (value,), kind="assign")


def group(*nodes: Node, name: str = "group") -> Node:
    """A node that needs some others, and has no value: to run them together."""
    return Node(lambda *values: None, nodes, name=name, kind="group")


def dropout(x: Any, keep_prob: Any) -> Node:
    """A share `keep_prob` of the numbers, larger by that, and zeros; others each time it is run.  Gradients see the same ones.

    >>> import numpy as np, autograph as ag
    >>> with ag.graph.Graph().as_default(), ag.graph.Session() as session:
    ...     keep = ag.graph.placeholder("float32", [])
    ...     y = ag.graph.dropout(np.ones(4, np.float32), keep)
    ...     print(session.run(y, {keep: 1.0}))
    [1. 1. 1. 1.]
    """
    random = Variable(next_key, trainable=False, name="dropout/random")

    def dropped(x: Any, keep: Any) -> Any:
        own, rest = jax.random.split(random.value)
        random.assign(rest)
        x = jnp.asarray(x)
        return jnp.where(jax.random.bernoulli(own, keep, x.shape), x / jnp.asarray(keep, x.dtype), jnp.zeros_like(x))

    return Node(dropped, (x, keep_prob), kind="dropout")


def get_default_graph() -> Graph:
    """The graph that new nodes are put into."""
    return graphs[-1]
