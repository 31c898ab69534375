"""The idioms of Python's own syntax on arrays: subscripts, containers, truth, text; methods; functions as values."""

import bisect
import cmath
import copy
import functools
import heapq
import itertools
import math
import operator
import statistics
from functools import partial
from math import sqrt

import jax
import jax.numpy as jnp
import numpy as np
import numpy.linalg as la
from numpy import cos

from tests.corpora.builtins import INDICES, INTS, MATRICES, REALS, Inputs, entry, traced

LENGTH = "the length of the result would depend on traced values"
STATIC = "the result is no array, and which one it is depends on the traced value"
TEXT = "the text would be made at trace time, of a tracer"
HASHED = "it is looked up by hash, which only a concrete value has"
COMPARED = "a function of C compares the values and needs the truth of each comparison at once"
ORDERED = "arrays of several elements have no order"
NUMBER = "the function needs a Python number at once"

# --- subscripts --------------------------------------------------------------------------------------------------------------------------------

at = partial(entry, "Subscripts by a traced index", x=INDICES)

at(lambda x: [1.0, 2.0, 4.0][x], array=TypeError)
at(lambda x: (1, 2, 4)[x], array=TypeError)
at(lambda x: [1.0, 2.0, 4.0][-x], array=TypeError)
at(lambda x: [1.0, 2.0][x + 5], scalar=IndexError, array=TypeError)
at(lambda x: [[1, 2], [3, 4], [5, 6]][x], array=TypeError)
at(lambda x: [[1, 2], [3, 4], [5, 6]][x][x], array=TypeError)
at(lambda x: [(x, 1), (x + 1, 2)][x], array=TypeError)
at(lambda x: [{"a": 1}, {"a": 2}][x]["a"], array=TypeError)
at(lambda x: [jnp.zeros(2), jnp.ones(2)][x], array=TypeError)
at(lambda x: [[1], [2, 3]][x], scalar="AG502", array=TypeError, why="the items are of unequal shape")
at(lambda x: [1, "a"][x], scalar="AG502", array=TypeError, why=STATIC)
at(lambda x: [math.sin, math.cos][x](1.0), scalar="AG502", array=TypeError, why=STATIC)
at(lambda x: range(10, 40, 10)[x], array=TypeError)
at(lambda x: np.array([1.0, 2.0, 4.0])[x])
at(lambda x: np.array([1.0, 2.0, 4.0])[x + 5], scalar=IndexError, array=IndexError)
at(lambda x: np.eye(3)[x])
at(lambda x: np.eye(3)[x, x])
at(lambda x: np.eye(3)[:, x])
at(lambda x: np.eye(3)[x, 1:])
at(lambda x: jnp.arange(5.0)[x])
at(lambda x: jnp.arange(5.0)[x + 7])
at(lambda x: {0: 1.0, 1: 2.0, 2: 4.0}[x], **traced("AG502", HASHED))
at(lambda x: {0: 1.0, 1: 2.0}.get(x), scalar=TypeError, array=TypeError)
at(lambda x: {x: 1.0}, scalar=TypeError, array=TypeError)
at(lambda x: {x, 1}, scalar=TypeError, array=TypeError)
at(lambda x: {k: x for k in (1, 2)})
at(lambda x: "abc"[x], scalar="AG502", array=TypeError, why=STATIC)
at(lambda x: "abc"[:x], scalar="AG502", array=TypeError, why=LENGTH)
at(lambda x: [1, 2, 3][:x], scalar="AG502", array=TypeError, why=LENGTH)
at(lambda x: (1, 2, 3)[x:], scalar="AG502", array=TypeError, why=LENGTH)
at(lambda x: range(9)[:x], scalar="AG502", array=TypeError, why=LENGTH)
at(lambda x: np.arange(5)[:x], array=TypeError)
at(lambda x: jnp.arange(5)[:x], array=None)
at(lambda x: jnp.arange(5)[:x].sum(), array=None)
at(lambda x: max(jnp.arange(5)[-x:]), array=None)
at(lambda x: [v * v for v in jnp.arange(5)[:x]], scalar="AG502", array=None, why=LENGTH)
at(lambda x: len(jnp.arange(5)[x:]), array=None)
at(lambda x: jnp.arange(6).reshape(3, 2)[:x, 1].mean(), array=None)
at(lambda x: jnp.sort(jnp.arange(5)[:x]), array=None)
at(lambda x: jnp.arange(5)[x : x + 2], array=None)
at(lambda x: jnp.arange(5)[::x], array=None)
at(lambda x: "a" * x, scalar="AG502", array=TypeError, why=LENGTH)
at(lambda x: [0] * x, scalar=TypeError, array=TypeError)
at(lambda x: (1, 2) * x, scalar=TypeError, array=TypeError)

of = partial(entry, "Subscripts of `x`", x=REALS)

of(lambda x: x[0], scalar=IndexError)
of(lambda x: x[-1], scalar=IndexError)
of(lambda x: x[1:], scalar=IndexError)
of(lambda x: x[::-1], scalar=IndexError)
of(lambda x: x[...])
of(lambda x: x[None])
of(lambda x: x[..., np.newaxis])
of(lambda x: x[()])
of(lambda x: x[x.argmax()], scalar=IndexError)
of(lambda x: x[np.array([0, 2])], scalar=IndexError)
of(lambda x: x[jnp.array([0, 2])], scalar=IndexError, in_traces=False)
of(lambda x: x[[0, 2]], scalar=IndexError, numpy=True)
of(lambda x: x["a"], scalar=TypeError, array=TypeError)
of(lambda x: x[x > 1], scalar="AG502", why=LENGTH)
of(lambda x: x[x > 1].mean(), scalar="AG502", why=LENGTH)
of(lambda x: np.sum(x[x > 1] * 2), scalar="AG502", why=LENGTH)
of(lambda x: len(x[x > 1]), scalar="AG502", why=LENGTH)
of(lambda x: x[np.array([True, False, True])], scalar=IndexError)


@of(label="`x[0] = 1.0`", x=REALS, scalar=IndexError, numpy=True)
def store(x):
    x[0] = 1.0
    return x


@of(label="`x[1:] *= 2`", x=REALS, scalar=IndexError, numpy=True)
def store_slice(x):
    x[1:] *= 2
    return x


@of(label="`x[x > 1] = 0.0`", x=REALS, numpy=True)
def store_masked(x):
    x[x > 1] = 0.0
    return x


@of(label="`x[[0, 0, 1]] += 1.0`", x=REALS, scalar=IndexError, numpy=True)
def store_repeated(x):
    x[[0, 0, 1]] += 1.0
    return x


@of(label="`a = np.zeros(3); a[0] = x`", x=REALS, array=ValueError)
def store_in_numpy(x):
    a = np.zeros(3)
    a[0] = x
    return a


@of(label="`a = np.zeros(3); a += x`", x=REALS)
def add_to_numpy(x):
    a = np.zeros(3)
    a += x
    return a


# --- containers, comparisons, truth ------------------------------------------------------------------------------------------------------------

within = partial(entry, "Containers and comparisons", x=INTS)

within(lambda x: (x, 1) == (3, 1), array=ValueError)
within(lambda x: (x, 1) == (x, 1))
within(lambda x: [x, 1] != [3, 2], array=ValueError)
within(lambda x: (x, 1) < (3, 2), array=ValueError)
within(lambda x: {"a": x} == {"a": 3}, scalar="AG501", array=ValueError, why=COMPARED)
within(lambda x: x in (1, 3), array=ValueError)
within(lambda x: x not in [1, 2], array=ValueError)
within(lambda x: x in range(5), array=ValueError)
within(lambda x: x in np.array([1, 3]), array=None)
within(lambda x: x in ())
within(lambda x: 3 in x, scalar=None)
within(lambda x: x in {1, 2}, scalar=TypeError, array=TypeError)
within(lambda x: x in {1: 2}, scalar=TypeError, array=TypeError)
within(lambda x: x in "abc", scalar=TypeError, array=TypeError)
within(lambda x: int(x) in b"\x01\x03", array=None)
within(lambda x: int(x) not in bytearray(b"\x01\x03"), array=None)
within(lambda x: (x, 1) in ((1, 1), (3, 1)), array=ValueError)
within(lambda x: max((x, 2)), array=ValueError)
within(lambda x: min([x, 2.5]), array=ValueError)
within(lambda x: max((x, 2), (x, 1)))
within(lambda x: sorted([x, 2]), array="AG501", why=ORDERED)
within(lambda x: sorted((x, 2, 5), reverse=True), array="AG501", why=ORDERED)
within(lambda x: sorted([(x, 1), (2, 5)]), array="AG501", why=ORDERED)
within(lambda x: [1, 2, 3].index(x), array=ValueError)
within(lambda x: [1, 3, 3].count(x), array=ValueError)
within(lambda x: [x, 1] + [2])
within(lambda x: [x, 1] * 2)
within(lambda x: {"a": x, "b": 1}["a"])
within(lambda x: {**{"a": x}, "b": 2})
within(lambda x: [*x, 1], scalar=TypeError)
within(lambda x: (lambda a, b, c: a - b + c)(*x), scalar=TypeError)
within(lambda x: (lambda a, b: a - b)(**{"a": x, "b": 1}))
within(lambda x: [v * 2 for v in x], scalar=TypeError)
within(lambda x: [v for v in x if v > 1], scalar=TypeError)
within(lambda x: sum(v for v in x if v > 1), scalar=TypeError)
within(lambda x: {k: v for k, v in zip("abc", x)}, scalar=TypeError)
within(lambda x: any(v > 2 for v in x), scalar=TypeError)
within(lambda x: 1.0 if x > 2 else 0.0, array=ValueError)
within(lambda x: not x, array=ValueError)
within(lambda x: x and 5, array=ValueError)
within(lambda x: x or 5, array=ValueError)
within(lambda x: x > 1 and x < 5, array=ValueError)
within(lambda x: 0 < x < 5, array=ValueError)
within(lambda x: (0 < x) & (x < 5))
within(lambda x: x is None)
within(lambda x: x is not None)
within(lambda x: x is x)
within(lambda x: x == None)  # noqa: E711
within(lambda x: x == "a")
within(lambda x: x is True)


@within(label="`a, *rest = x`", x=INTS, scalar=TypeError)
def unpack(x):
    a, *rest = x
    return a, rest


@within(label="`a, b = x`, of three", x=INTS, scalar=TypeError, array=ValueError)
def unpack_too_few(x):
    a, b = x
    return a, b


operators = partial(entry, "Operators", x=INTS)

operators(lambda x: (+x, -x, ~x))
operators(lambda x: (x + 1, 1 - x, x * 2.5, 1 / x))
operators(lambda x: (x // 2, 7 // x, x % 2, 7 % x))
operators(lambda x: (x**2, 2**x, x**0.5))
operators(lambda x: x**-1, scalar=TypeError, array=TypeError)
operators(lambda x: (x << 1, x >> 1, x & 1, x | 4, x ^ 7))
operators(lambda x: (x == 3, x != 3, x < 3, x <= 3, x > 3, x >= 3))
operators(lambda x: x @ x, scalar=ValueError, numpy=True)
operators(lambda x: x + np.arange(3))
operators(lambda x: np.arange(3) - x)
operators(lambda x: np.float32(2.0) * x)
operators(lambda x: np.arange(3) @ x, scalar=ValueError, numpy=True)
operators(lambda x: np.arange(3) > x)
operators(lambda x: np.float64(2.0) ** x)
operators(lambda x: x + "a", scalar=TypeError, array=TypeError)
operators(lambda x: x + [1, 2, 3], scalar=TypeError, array=TypeError)
operators(lambda x: x + None, scalar=TypeError, array=TypeError)

# --- text --------------------------------------------------------------------------------------------------------------------------------------

text = partial(entry, "Text", x=REALS)

text(lambda x: f"{x}")
text(lambda x: len(f"{x}"), **traced("AG502", TEXT))
text(lambda x: len(f"{x!r}"), **traced("AG502", TEXT))
text(lambda x: f"{x:.2f}", array=TypeError)
text(lambda x: len("{}".format(x)), **traced("AG502", TEXT))  # noqa: UP032
text(lambda x: len("%s" % x), **traced("AG502", TEXT))  # noqa: UP031
text(lambda x: len("%d" % x), scalar="AG502", array=TypeError, why=TEXT)  # noqa: UP031
text(lambda x: len(f"{x.shape}, {x.dtype}"))
text(lambda x: print(f"x = {x}"))
text(lambda x: print("x = %s" % x))  # noqa: UP031
text(lambda x: print("x = {}".format(x)))  # noqa: UP032
text(lambda x: print(f"x = {x:.2f}"), array=TypeError)

# --- methods -----------------------------------------------------------------------------------------------------------------------------------

method = partial(entry, "Methods and attributes of arrays", x=REALS)

method(lambda x: (x.ndim, x.size, x.shape, x.itemsize, x.nbytes))
method(lambda x: x.dtype == np.float32)
method(lambda x: x.dtype.kind == "f")
method(lambda x: x.astype(np.int32))
method(lambda x: x.astype(int))
method(lambda x: x.astype("float16"))
method(lambda x: x.astype(bool))
method(lambda x: (x.sum(), x.prod(), x.mean(), x.max(), x.min(), x.std(), x.var()))
method(lambda x: x.sum(axis=0, keepdims=True), scalar=ValueError)
method(lambda x: (x.argmax(), x.argmin()))
method(lambda x: (x.any(), x.all()))
method(lambda x: x.cumsum(), numpy=True)
method(lambda x: x.cumprod(), numpy=True)
method(lambda x: x.reshape(-1))
method(lambda x: x.reshape(1, -1))
method(lambda x: (x.ravel(), x.flatten(), x.T))
method(lambda x: x.transpose())
method(lambda x: x.squeeze())
method(lambda x: x.swapaxes(0, 1), x=MATRICES, scalar=None)
method(lambda x: x.diagonal(), x=MATRICES, scalar=None)
method(lambda x: x.trace(), x=MATRICES, scalar=None)
method(lambda x: x.dot(x))
method(lambda x: x.clip(1.0, 2.0))
method(lambda x: x.round(1))
method(lambda x: x.repeat(2), numpy=True)
method(lambda x: x.take(0), numpy=True)
method(lambda x: x.argsort(), scalar=None)
method(lambda x: x.searchsorted(1.0), scalar=None, x=Inputs(1.0, [0.5, 1.5, 3.0]))
method(lambda x: x.conj() + x.real + x.imag)
method(lambda x: x.copy())
method(lambda x: x.at[...].add(1.0), oracle=lambda x: x + 1.0, static=None)
method(lambda x: x.item(), array=ValueError)
method(lambda x: x.tolist())
method(lambda x: x.tobytes(), **traced("AG502", NUMBER))
method(lambda x: x.fill(0.0), scalar=AttributeError, array=AttributeError)
method(lambda x: x.nonsense, scalar=AttributeError, array=AttributeError)
method(lambda x: x.nonzero(), scalar=None, array="AG502", why=LENGTH)
method(lambda x: x.__len__(), scalar=TypeError)
method(lambda x: x.__add__(1.0))
method(lambda x: copy.copy(x))
method(lambda x: copy.deepcopy(x))

# --- functions as values -----------------------------------------------------------------------------------------------------------------------

value = partial(entry, "Functions as values", x=REALS)

value(lambda x: sqrt(x), array=TypeError)
value(lambda x: cos(x))
value(lambda x: la.norm(x))
value(lambda x: (lambda f: f(x))(math.sqrt), array=TypeError)
value(lambda x: (lambda f: f(x))(np.sin))
value(lambda x: (lambda f, v: f(v))(abs, x))
value(lambda x: {"sin": np.sin, "cos": np.cos}["cos"](x))
value(lambda x: getattr(math, "exp")(x), array=TypeError)  # noqa: B009
value(lambda x: getattr(np, "exp")(x))  # noqa: B009
value(lambda x: [f(x) for f in (np.sin, np.cos)])
value(lambda x: list(map(math.sqrt, [x, 4.0])), array=TypeError)
value(lambda x: list(map(np.sin, [x, x])))
value(lambda x: functools.reduce(np.add, [x, x, 1.0]))
value(lambda x: functools.reduce(max, [x, 2.0, 1.0]), array=ValueError)
value(lambda x: functools.reduce(lambda a, b: a if a > b else b, [x, 2.0]), array=ValueError)
value(lambda x: functools.partial(np.power, x)(2))
value(lambda x: functools.partial(math.pow, x)(2), array=TypeError)
value(lambda x: list(itertools.accumulate([x, x, 1.0])))
value(lambda x: list(itertools.chain(x, [1.0])), scalar=TypeError)
value(lambda x: [a * b for a, b in itertools.product([x, 1.0], [2.0, 3.0])])
value(lambda x: [a * b for a, b in itertools.pairwise(x)], scalar=TypeError)
value(lambda x: list(itertools.takewhile(lambda v: v < 2, [x, 1.0])), scalar="AG501", array=ValueError, why=LENGTH)
value(lambda x: list(itertools.islice(x, 2)), scalar=TypeError)
value(lambda x: operator.add(x, 1.0) * operator.neg(x))
value(lambda x: operator.itemgetter(0)(x), scalar=IndexError)
value(lambda x: operator.index(x), scalar=TypeError, array=TypeError)
value(lambda x: [1, 2, 4, 8][operator.index(x)], x=INTS, array=TypeError, scalar="AG502", why=NUMBER)
value(lambda x: jax.vmap(np.sin)(x), scalar=ValueError, oracle=lambda x: jax.vmap(jnp.sin)(x), static=None)
value(lambda x: jax.grad(np.sin)(x), array=TypeError, oracle=lambda x: jax.grad(jnp.sin)(x), static=None)
value(lambda x: jax.grad(math.sin)(x), array=TypeError, oracle=lambda x: jax.grad(jnp.sin)(x), static=None)
value(lambda x: jax.lax.map(lambda v: math.exp(v), x), scalar=IndexError, oracle=lambda x: jax.lax.map(jnp.exp, x), static=None)

others = partial(entry, "Other modules of the standard library", x=REALS)

others(lambda x: cmath.sqrt(x), scalar="AG502", array=TypeError, why=NUMBER)
others(lambda x: bisect.bisect([1.0, 2.0, 3.0], x), scalar="AG501", array=ValueError, why=COMPARED)
others(lambda x: heapq.nlargest(1, [x, 1.0]), scalar="AG501", array=ValueError, why=COMPARED)
others(lambda x: statistics.fmean([x, 1.0]), scalar="AG501", array=TypeError, why=NUMBER)
