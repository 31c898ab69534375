"""The names that TensorFlow code uses most, what to write in their place, and what TensorFlow gives: `docs/tensorflow-names.md` is made of it.

    python -m tests.corpora.tensorflow_names --update

Each row is TensorFlow's expression, ours, and the value that TensorFlow 2.16 gives, as its pages state it; `test_tensorflow_names.py` computes ours.
A note says how the replacement differs, or what to mind.
"""

from __future__ import annotations

import argparse
import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag

PAGE = Path(__file__).parents[2] / "docs" / "tensorflow-names.md"
NAN = math.nan
A = jnp.array([[1.0, 2.0], [3.0, 4.0]])
V = jnp.array([3.0, 1.0, 2.0])
N = jnp.array([-1.5, 0.5, 2.5])
I = jnp.array([5, -7, 9])  # noqa: E741
HALF = jnp.array([-2.5, -0.5, 0.5, 1.5, 2.5])


@dataclass(frozen=True)
class Row:
    """One name: TensorFlow's, ours, and the value of both."""

    section: str
    theirs: str
    ours: Callable[[], Any]
    value: Any
    note: str = ""

    @property
    def text(self) -> str:
        return _text(self.ours)


ROWS: list[Row] = []
_section = [""]


def section(title: str) -> None:
    _section[0] = title


def row(theirs: str, ours: Callable[[], Any], value: Any, note: str = "") -> None:
    ROWS.append(Row(_section[0], theirs, ours, value, note))


@cache
def _lambdas() -> tuple[str, dict[int, ast.Lambda]]:
    text = Path(__file__).read_text(encoding="utf-8")
    return text, {n.lineno: n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Lambda)}


def _text(function: Callable[[], Any]) -> str:
    text, found = _lambdas()
    segment = ast.get_source_segment(text, found[function.__code__.co_firstlineno].body)
    assert segment is not None
    return " ".join(segment.split())


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    """What an eager tape gives."""
    x = jnp.asarray(x, float)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


section("Arrays")
row("tf.constant([1, 2])", lambda: jnp.array([1, 2]), [1, 2], "int32 and float32 as in TensorFlow")
row("tf.zeros([2])", lambda: jnp.zeros([2]), [0.0, 0.0])
row("tf.ones([2])", lambda: jnp.ones([2]), [1.0, 1.0])
row("tf.fill([2], 7)", lambda: jnp.full([2], 7), [7, 7])
row("tf.zeros_like(V)", lambda: jnp.zeros_like(V), [0.0, 0.0, 0.0])
row("tf.ones_like(V)", lambda: jnp.ones_like(V), [1.0, 1.0, 1.0])
row("tf.eye(2)", lambda: jnp.eye(2), [[1.0, 0.0], [0.0, 1.0]])
row("tf.range(3)", lambda: jnp.arange(3), [0, 1, 2], "`for i in range(n)` needs none of the two")
row("tf.linspace(0.0, 1.0, 3)", lambda: jnp.linspace(0.0, 1.0, 3), [0.0, 0.5, 1.0])
row("tf.one_hot([0, 2], 3)", lambda: jax.nn.one_hot(jnp.array([0, 2]), 3), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
row("tf.one_hot([3], 3)", lambda: jax.nn.one_hot(jnp.array([3]), 3), [[0.0, 0.0, 0.0]])
row("tf.cast(N, tf.int32)", lambda: N.astype(jnp.int32), [-1, 0, 2])
row("tf.identity(V)", lambda: V + 0, [3.0, 1.0, 2.0])
row("tf.stop_gradient(V)", lambda: jax.lax.stop_gradient(V), [3.0, 1.0, 2.0])
row("tf.convert_to_tensor([1.0])", lambda: jnp.asarray([1.0]), [1.0])
row("x.numpy()", lambda: np.asarray(V), [3.0, 1.0, 2.0], "`float(x)`, `int(x)`, `x.tolist()` also; a Variable has `numpy()`")

section("Shapes")
row("tf.shape(A)", lambda: jnp.array(A.shape), [2, 2], "`A.shape` is a tuple of integers, also in compiled code")
row("tf.rank(A)", lambda: A.ndim, 2)
row("tf.size(A)", lambda: A.size, 4)
row("tf.reshape(A, [-1])", lambda: jnp.reshape(A, [-1]), [1.0, 2.0, 3.0, 4.0])
row("tf.transpose(A)", lambda: jnp.transpose(A), [[1.0, 3.0], [2.0, 4.0]])
row("tf.transpose(x, perm=[0, 2, 1])", lambda: jnp.transpose(A[None], [0, 2, 1]), [[[1.0, 3.0], [2.0, 4.0]]])
row("tf.expand_dims(V, 0)", lambda: jnp.expand_dims(V, 0), [[3.0, 1.0, 2.0]])
row("tf.squeeze(V[None])", lambda: jnp.squeeze(V[None]), [3.0, 1.0, 2.0])
row("tf.concat([V, V], 0)", lambda: jnp.concatenate([V, V], 0), [3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
row("tf.stack([V, V])", lambda: jnp.stack([V, V]), [[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]])
row("tf.unstack(A)", lambda: list(A), [[1.0, 2.0], [3.0, 4.0]])
row("tf.split(V, 3)", lambda: jnp.split(V, 3), [[3.0], [1.0], [2.0]])
row(
    "tf.split(V, [1, 2])",
    lambda: jnp.split(V, [1]),
    [[3.0], [1.0, 2.0]],
    "sizes there, places where it is cut here: leave the last one out and add up",
)
row("tf.tile(V, [2])", lambda: jnp.tile(V, [2]), [3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
row("tf.repeat(V, 2)", lambda: jnp.repeat(V, 2), [3.0, 3.0, 1.0, 1.0, 2.0, 2.0])
row("tf.pad(V, [[1, 0]])", lambda: jnp.pad(V, [[1, 0]]), [0.0, 3.0, 1.0, 2.0])
row("tf.reverse(V, [0])", lambda: jnp.flip(V, 0), [2.0, 1.0, 3.0])
row("tf.roll(V, 1, 0)", lambda: jnp.roll(V, 1, 0), [2.0, 3.0, 1.0])
row("tf.broadcast_to(V, [2, 3])", lambda: jnp.broadcast_to(V, [2, 3]), [[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]])
row("tf.meshgrid([1, 2], [3, 4])[0]", lambda: jnp.meshgrid(jnp.array([1, 2]), jnp.array([3, 4]))[0], [[1, 2], [1, 2]])

section("Arithmetic")
row("tf.add(V, 1)", lambda: jnp.add(V, 1), [4.0, 2.0, 3.0], "an integer array and a float array may meet: JAX promotes, TensorFlow raises")
row("tf.pow(V, 2)", lambda: jnp.power(V, 2), [9.0, 1.0, 4.0])
row("tf.square(V)", lambda: jnp.square(V), [9.0, 1.0, 4.0])
row("tf.sqrt(V)", lambda: jnp.sqrt(V), [1.7320508, 1.0, 1.4142135])
row("tf.math.rsqrt(4.0)", lambda: jax.lax.rsqrt(4.0), 0.5)
row("tf.exp(V)", lambda: jnp.exp(V), [20.085537, 2.7182817, 7.389056])
row("tf.math.log(V)", lambda: jnp.log(V), [1.0986123, 0.0, 0.6931472])
row("tf.abs(N)", lambda: jnp.abs(N), [1.5, 0.5, 2.5])
row("tf.sign(N)", lambda: jnp.sign(N), [-1.0, 1.0, 1.0])
row("tf.negative(V)", lambda: jnp.negative(V), [-3.0, -1.0, -2.0])
row("tf.round(HALF)", lambda: jnp.round(HALF), [-2.0, 0.0, 0.0, 2.0, 2.0], "halves to the even number, in both")
row("tf.floor(N)", lambda: jnp.floor(N), [-2.0, 0.0, 2.0])
row("tf.maximum(V, 2.0)", lambda: jnp.maximum(V, 2.0), [3.0, 2.0, 2.0])
row("tf.clip_by_value(V, 1.5, 2.5)", lambda: jnp.clip(V, 1.5, 2.5), [2.5, 1.5, 2.0])
row("I // 2", lambda: I // 2, [2, -4, 4], "`tf.math.floordiv`; rounds down, in both")
row("tf.truncatediv(I, 2)", lambda: jax.lax.div(I, jnp.full_like(I, 2)), [2, -3, 4])
row("I % 4", lambda: I % 4, [1, 1, 1], "`tf.math.floormod`; of the sign of the divisor, in both")
row("I / 2", lambda: I / 2, [2.5, -3.5, 4.5], "float64 there for int32 operands, float32 here")
row(
    "tf.math.divide_no_nan(V, 0.0)",
    lambda: jnp.where(True, jnp.zeros_like(V), V),
    [0.0, 0.0, 0.0],
    "`jnp.where(y == 0, 0, x / jnp.where(y == 0, 1, y))`",
)
row("tf.math.is_nan(V)", lambda: jnp.isnan(V), [False, False, False])
row("tf.math.cumsum(V)", lambda: jnp.cumsum(V), [3.0, 4.0, 6.0])
row("tf.math.cumsum(V, exclusive=True)", lambda: jnp.cumsum(V) - V, [0.0, 3.0, 4.0])
row("tf.clip_by_norm(V, 1.0)", lambda: V * jnp.minimum(1.0, 1.0 / jnp.linalg.norm(V)), [0.8017837, 0.2672612, 0.5345225])
row(
    "tf.clip_by_global_norm([V], 1.0)[0][0]", lambda: V / jnp.maximum(jnp.linalg.norm(V), 1.0), [0.8017837, 0.2672612, 0.5345225],
    "`optax.clip_by_global_norm`, or `clipnorm=` of an optimizer",
)  # fmt: skip

section("Reductions")
row("tf.reduce_sum(A)", lambda: jnp.sum(A), 10.0)
row("tf.reduce_sum(A, axis=0)", lambda: jnp.sum(A, axis=0), [4.0, 6.0])
row("tf.reduce_mean(A)", lambda: jnp.mean(A), 2.5)
row("tf.reduce_mean([1, 2])", lambda: jnp.mean(jnp.array([1, 2])) // 1, 1, "of integers an integer there, 1.5 here")
row("tf.reduce_max(A, axis=1)", lambda: jnp.max(A, axis=1), [2.0, 4.0])
row("tf.reduce_prod(V)", lambda: jnp.prod(V), 6.0)
row("tf.reduce_any([True, False])", lambda: jnp.any(jnp.array([True, False])), True)
row("tf.reduce_all([True, False])", lambda: jnp.all(jnp.array([True, False])), False)
row("tf.reduce_logsumexp(V)", lambda: jax.nn.logsumexp(V), 3.407606)
row("tf.math.reduce_std(V)", lambda: jnp.std(V), 0.8164966)
row("tf.math.reduce_variance(V)", lambda: jnp.var(V), 0.6666667)
row(
    "tf.argmax([[1, 5], [9, 2]])", lambda: jnp.argmax(jnp.array([[1, 5], [9, 2]]), axis=0), [1, 0],
    "axis 0 unless another is given; `jnp.argmax` of all items: give the axis",
)  # fmt: skip
row("tf.argsort(V)", lambda: jnp.argsort(V), [1, 2, 0])
row("tf.sort(V, direction='DESCENDING')", lambda: jnp.sort(V, descending=True), [3.0, 2.0, 1.0])
row("tf.math.top_k(V, 2).values", lambda: jax.lax.top_k(V, 2)[0], [3.0, 2.0])
row("tf.math.count_nonzero(N > 0)", lambda: jnp.count_nonzero(N > 0), 2, "int64 there")
row("tf.norm(V)", lambda: jnp.linalg.norm(V), 3.7416575)
row("tf.math.segment_sum(V, [0, 0, 1])", lambda: jax.ops.segment_sum(V, jnp.array([0, 0, 1]), 2), [4.0, 2.0], "the number of segments is given")

section("Choosing and indexing")
row(
    "tf.where(V > 1, V, 0.0)",
    lambda: jnp.where(V > 1, V, 0.0),
    [3.0, 0.0, 2.0],
    "a NaN of the alternative spoils the gradient, in both libraries; with `if` it does not",
)
row(
    "tf.where(V > 1)",
    lambda: jnp.argwhere(V > 1, size=2),
    [[0], [2]],
    "compiled code has to know the `size`; `np.nonzero(V > 1)` needs none: index with it, sum, go over",
)
row("tf.boolean_mask(V, V > 1)", lambda: V[V > 1], [3.0, 2.0], "in compiled code an array of unknown length: summed, gone over, stored, returned")
row(
    "tf.gather(V, [2, 0])",
    lambda: V[jnp.array([2, 0])],
    [2.0, 3.0],
    "out of range: an error there on a CPU; clamped here for arrays, IndexError for lists",
)
row("tf.gather_nd(A, [[0, 1]])", lambda: A[jnp.array([0]), jnp.array([1])], [2.0])
row("tf.tensor_scatter_nd_update(V, [[0]], [9.0])", lambda: V.at[0].set(9.0), [9.0, 1.0, 2.0], "or `x[0] = 9.0` in converted code")
row("tf.tensor_scatter_nd_add(V, [[0]], [9.0])", lambda: V.at[0].add(9.0), [12.0, 1.0, 2.0], "or `x[0] += 9.0`")
row("x[..., tf.newaxis]", lambda: V[..., None], [[3.0], [1.0], [2.0]])
row(
    "tf.unique([2, 1, 2]).y", lambda: jnp.array(list(dict.fromkeys([2, 1, 2]))), [2, 1],
    "in order of appearance there; `jnp.unique` sorts, and wants a `size` when traced",
)  # fmt: skip
row("tf.sequence_mask([1, 2], 3)", lambda: jnp.arange(3) < jnp.array([1, 2])[:, None], [[True, False, False], [True, True, False]])
row("tf.searchsorted([1.0, 2.0], [1.5])", lambda: jnp.searchsorted(jnp.array([1.0, 2.0]), jnp.array([1.5])), [1])
row("tf.logical_and(V > 1, V < 3)", lambda: (V > 1) & (V < 3), [False, False, True], "`and`, `or`, `not` of scalars in converted code")
row("tf.equal(V, 2.0)", lambda: V == 2.0, [False, False, True])

section("Matrices and networks")
row("tf.matmul(A, A)", lambda: A @ A, [[7.0, 10.0], [15.0, 22.0]])
row("tf.matmul(A, A, transpose_b=True)", lambda: A @ A.T, [[5.0, 11.0], [11.0, 25.0]])
row("tf.linalg.matvec(A, [1.0, 1.0])", lambda: A @ jnp.ones(2), [3.0, 7.0])
row("tf.tensordot(V, V, 1)", lambda: jnp.tensordot(V, V, 1), 14.0)
row("tf.einsum('ij->j', A)", lambda: jnp.einsum("ij->j", A), [4.0, 6.0])
row("tf.linalg.inv(A)", lambda: jnp.linalg.inv(A), [[-2.0, 1.0], [1.5, -0.5]])
row("tf.linalg.diag([1.0, 2.0])", lambda: jnp.diag(jnp.array([1.0, 2.0])), [[1.0, 0.0], [0.0, 2.0]])
row("tf.linalg.trace(A)", lambda: jnp.trace(A), 5.0)
row("tf.nn.relu(N)", lambda: jax.nn.relu(N), [0.0, 0.5, 2.5])
row(
    "tf.nn.leaky_relu(N)",
    lambda: jax.nn.leaky_relu(N, 0.2),
    [-0.3, 0.5, 2.5],
    "slope 0.2 there, 0.01 in `jax.nn`; the layer `LeakyReLU` has Keras's 0.3",
)
row("tf.nn.elu(N)", lambda: jax.nn.elu(N), [-0.7768698, 0.5, 2.5])
row("tf.nn.gelu(N)", lambda: jax.nn.gelu(N, approximate=False), [-0.1002108, 0.3457312, 2.4844761], "`jax.nn.gelu` approximates unless told not to")
row("tf.nn.sigmoid(N)", lambda: jax.nn.sigmoid(N), [0.1824255, 0.6224593, 0.9241418])
row("tf.nn.softplus(N)", lambda: jax.nn.softplus(N), [0.2014133, 0.974077, 2.5788892])
row("tf.nn.softmax(V)", lambda: jax.nn.softmax(V), [0.6652409, 0.0900306, 0.2447285])
row("tf.nn.log_softmax(V)", lambda: jax.nn.log_softmax(V), [-0.407606, -2.407606, -1.407606])
row("tf.nn.l2_loss(V)", lambda: jnp.sum(V**2) / 2, 7.0)
row("tf.math.l2_normalize(V)", lambda: V / jnp.linalg.norm(V), [0.8017837, 0.2672612, 0.5345225])
row("tf.nn.moments(V, [0])", lambda: [jnp.mean(V, 0), jnp.var(V, 0)], [2.0, 0.6666667])
row("tf.nn.embedding_lookup(A, [1])", lambda: A[jnp.array([1])], [[3.0, 4.0]])
row(
    "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[V])",
    lambda: ag.losses.sparse_categorical_crossentropy(jnp.array([0]), V[None], from_logits=True), [0.407606],
)  # fmt: skip
row(
    "tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[2.0])",
    lambda: jax.nn.softplus(jnp.array([2.0])) - jnp.array([2.0]) * 1.0, [0.126928], "`ag.losses.BinaryCrossentropy(from_logits=True)` gives the mean",
)  # fmt: skip

section("Gradients at places where they are a choice")
row("tape: tf.abs(x) at 0", lambda: gradient(lambda x: x * jnp.sign(x), 0.0), 0.0, "that of `jnp.abs` is 1 at 0")
row("tape: tf.sqrt(x) at 0", lambda: gradient(jnp.sqrt, 0.0), math.inf)
row("tape: tf.nn.relu(x) at 0", lambda: gradient(jax.nn.relu, 0.0), 0.0)
row(
    "tape: tf.maximum(x, 1.0) at 1", lambda: gradient(lambda x: jnp.where(x >= 1.0, x, 1.0), 1.0), 1.0,
    "`jnp.maximum` shares it: 0.5 each",
)  # fmt: skip
row("tape: tf.reduce_max(x) at [2, 2]", lambda: gradient(jnp.max, [2.0, 2.0]), [0.5, 0.5], "shared among equal items, in both")
row("tape: tf.norm(x) at 0", lambda: gradient(jnp.linalg.norm, [0.0, 0.0]), [NAN, NAN])
row("tape: tf.round(x) is None", lambda: gradient(jnp.round, 0.3) is None, True, "it has no gradient, in both")
row("tape: tf.clip_by_value(x, 0, 1) at 2", lambda: gradient(lambda x: jnp.clip(x, 0.0, 1.0), 2.0), 0.0)


def shown(value: Any) -> str:
    return f"`{value!r}`"


def document() -> str:
    """The page."""
    lines = [
        "# TensorFlow's names",
        "",
        "For those who move a program from TensorFlow: the names that such programs use most, what to write, and the value.",
        "Afterwards you can replace them line by line.",
        "[Coming from TensorFlow](from-tensorflow.md) has Variables, tapes, layers, optimizers, datasets and the rest.",
        "",
        "Made by `python -m tests.corpora.tensorflow_names --update`; `tests/eager/test_tensorflow_names.py` computes every value. In the table",
        "",
        "```python",
        "import jax",
        "import jax.numpy as jnp",
        "",
        "A = jnp.array([[1.0, 2.0], [3.0, 4.0]])",
        "V = jnp.array([3.0, 1.0, 2.0])",
        "N = jnp.array([-1.5, 0.5, 2.5])",
        "I = jnp.array([5, -7, 9])",
        "HALF = jnp.array([-2.5, -0.5, 0.5, 1.5, 2.5])",
        "```",
    ]
    for title in dict.fromkeys(r.section for r in ROWS):
        lines += ["", f"## {title}", "", "| TensorFlow | here | value | to mind |", "|---|---|---|---|"]
        lines += [f"| `{r.theirs}` | `{r.text}` | {shown(r.value)} | {r.note} |" for r in ROWS if r.section == title]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the table of TensorFlow's names.")
    parser.add_argument("--update", action="store_true", help=f"write docs/{PAGE.name} instead")
    if parser.parse_args().update:
        PAGE.write_text(document(), encoding="utf-8")
    else:
        print(document())


if __name__ == "__main__":
    main()
