"""What a loop variable or the result of a branch may be: joint types, containers, static leaves, keys."""

import enum
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tests.corpora.language import construct, each, traced, vectors

joint = partial(construct, section="Types")

COUNTS = each(0, 1, 3, 4)
REALS = each(-2.5, 0.5, 2.25, 5.5)
HALVES = each(*(jnp.bfloat16(x) for x in (-2.5, 0.5, 2.25)))
BYTES = each(*(jnp.int8(x) for x in (-100, 3, 100)))
ROWS = vectors([1.0, 3.0, 2.0], [0.25, -1.0, -2.0], [5.0, -1.0, 2.5])
KEYS = [(jax.random.key(k), n) for k, n in ((0, 0), (1, 2), (2, 3))]


class Interval(NamedTuple):
    low: float
    high: float


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    x: jax.Array
    steps: jax.Array


class Mode(enum.Enum):
    UP = 1
    DOWN = 2


# --- numbers -----------------------------------------------------------------------------------------------------------------------------------


@joint("bool and int", COUNTS)
def bool_int(n):
    y = n > 2 if n > 0 else 7
    z = False
    for i in range(n):
        z = z + i
    return y + z


@joint("int and float, in a branch", REALS)
def int_float(x):
    y = 1
    if x > 1:
        y = x / 2
    z = 3 if x > 4 else 0.5
    return y * z


@joint("int and float, in a loop", COUNTS)
def int_float_loop(n):
    total = 0
    for i in range(n):
        total = total + 0.5 * i
    return total


@joint("promotions at two levels of loops", COUNTS)
def promotions_nested(n):
    total, last = 0, 0
    for i in range(n):
        part = 0
        for j in range(i):
            part = part + j / 2
            last = part
        total = total + part
    return total, last


@joint("float and complex", REALS)
def float_complex(x):
    y = x + 1j if x > 1 else x
    z = 1
    k = 0
    while k < 3 and abs(z) < 10:
        z = z * y + 1j
        k += 1
    return z


@joint("int8 and a Python int, overflow wraps", BYTES)
def int8_literal(n):
    total = n
    k = 0
    while k < 3:
        total = total + 50
        k += 1
    return total * 2 if n > 0 else total - 3


@joint("uint8 and int8 join to int16", [(jnp.uint8(250), jnp.int8(-3)), (jnp.uint8(1), jnp.int8(100))])
def unsigned_signed(a, b):
    y = a if b > 0 else b
    return y * 2


@joint("bfloat16 and a Python float stay bfloat16", HALVES)
def bfloat16_literal(x):
    y = 1.0 if x > 1 else x / 3
    total = 0.0
    for k in range(3):
        total = total + y * x
    return total


@joint("bfloat16 and float32 join to float32", HALVES)
def bfloat16_float32(x):
    y = x if x > 1 else jnp.float32(1 / 3)
    return y + jnp.float32(1 / 3)


@joint("NumPy scalars", REALS)
def numpy_scalars(x):
    y = np.float32(2) if x > 1 else np.int32(3)
    total = np.float32(0)
    while total < x:
        total = total + y
    return total * y


@joint("a number that no iteration changes stays a Python number", COUNTS)
def number_stays(n):
    width, total = 3, 0
    for i in range(n):
        total, width = total + i, width
    return jnp.zeros(width) + total


@joint("a number in a branch stays a Python number", COUNTS)
def number_in_branch(n):
    width = 2
    if n > 1:
        y = width * n
        width = 2
    else:
        y = n
    return jnp.ones(width) * y


@joint(
    "an int that its joint type cannot hold",
    COUNTS,
    refused=traced("AG203"),
    why="integers of Python have no bounds, those of arrays have; wrapped around it would be another number",
)
def too_large(n):
    return 2**40 if n > 9 else n


def mathematics_oracle(x):
    y = jnp.sqrt(x) if x > 0 else jnp.exp(x)
    return y + jnp.pi if jnp.floor(y) == 1 else y * jnp.cos(x)


@joint("`math` functions of traced values", REALS, oracle=mathematics_oracle)
def mathematics(x):
    y = math.sqrt(x) if x > 0 else math.exp(x)
    return y + math.pi if math.floor(y) == 1 else y * math.cos(x)


@joint("`float`, `int`, `bool`, `abs`, `round`, `divmod` of traced values", REALS)
def conversions(x):
    whole = int(x)
    q, r = divmod(x, 2.0)
    if bool(whole) and abs(whole) > 1:
        return float(whole) + q
    return round(x) + r


# --- arrays ------------------------------------------------------------------------------------------------------------------------------------


@joint("a scalar and an array, in a branch", ROWS, broadcast=True)
def scalar_array(v):
    y = 0.0
    if v.sum() > 0:
        y = v
    return y


@joint("a scalar that a loop makes an array", [(jnp.array([[1.0, 2.0], [3.0, -4.0]]),), (jnp.array([[0.5, 2.0], [1.0, 1.0]]),)])
def scalar_to_array_loop(m):
    total = 0
    for row in m:
        total = total + row
    return total


@joint("a scalar that a loop may make an array", [(jnp.array([1.0, 2.0]), n) for n in (0, 1, 3)], broadcast=True)
def scalar_maybe_array(v, n):
    total = 1
    for i in range(n):
        total = total + i * v
    return total


@joint("shape `(1,)` and a scalar", vectors([2.0], [-1.0]), broadcast=True)
def one_and_scalar(v):
    return v * 2 if v > 0 else 1.0


@joint("a NumPy array and a `jax.Array`", ROWS)
def numpy_and_jax(v):
    w = np.array([1.0, 2.0, 3.0], np.float32)
    if v[0] > 0.5:
        w = w * v
    return w + 1


@joint("an int array that becomes a float array", COUNTS)
def array_promotion(n):
    w = jnp.arange(3)
    for i in range(n):
        w = w * 0.5 + i
    return w


@joint("empty arrays", COUNTS)
def empty_arrays(n):
    v = jnp.zeros((0, 2))
    total = 1.0
    for i in range(n):
        v = v + i
        total = total + v.sum()
    return v if n > 1 else v * 2, total


@joint("shapes that change in a loop whose length is static", REALS)
def growing_static(x):
    v = jnp.zeros(0)
    for k in range(3):
        v = jnp.append(v, x * k if x > 1 else x)
    return v


@joint("two shapes, in a branch", ROWS, refused=traced("AG202"), why="one result of a compiled branch has one shape")
def two_shapes(v):
    w = v[:2] if v[0] > 0.5 else v
    return w.sum()


@joint(
    "two shapes, in a loop",
    [(jnp.array([1.0, 2.0]), n) for n in (0, 1, 3)],
    refused=traced("AG201"),
    why="a loop is compiled once for all iterations",
)
def growing(v, n):
    for i in range(n):
        v = jnp.append(v, i)
    return v.sum()


@joint(
    "`and`, `or` as values, of shape `(1,)` and a scalar",
    vectors([2.0], [-1.0]),
    refused=traced("AG202"),
    why="either operand is returned as it is, and the two have other shapes",
)
def operand_shapes(v):
    return v and 3.0


# --- containers --------------------------------------------------------------------------------------------------------------------------------


@joint("tuples, leaf by leaf", REALS)
def tuples(x):
    p = (1, (x, 2))
    if x > 1:
        p = (x, (0, x * 2))
    for k in range(2):
        p = (p[1][0], (p[0], p[1][1] + k))
    return p


@joint("tuples as loop variables", COUNTS)
def tuple_state(n):
    p = (0, (1, 2))
    for i in range(n):
        a, (b, c) = p
        p = (a + i * 0.5, (c, b + 1))
    return p


@joint("lists of fixed length", COUNTS)
def lists(n):
    v = [0, 1, 2.0]
    for i in range(n):
        v = [v[1] + i, v[2], v[0]]
    if n > 2:
        v = [2 * x for x in v]
    return v


@joint("dicts with fixed keys", COUNTS)
def dicts(n):
    d = {"a": 0, "b": (1, 2.0)}
    for i in range(n):
        d = {"b": (d["a"], d["b"][0] + i), "a": d["a"] + 1}
    if n > 2:
        d = d | {"a": -1}
    return d


@joint("namedtuples", ROWS)
def named_tuples(v):
    span = Interval(v[0], v[0])
    for x in v:
        if x < span.low:
            span = span._replace(low=x)
        elif x > span.high:
            span = Interval(span.low, x)
    return span if span.low < 0 else Interval(0, 1)


@joint("registered dataclasses", each(1.0, 10.0, 200.0))
def dataclasses(x):
    s = State(x, 0)
    while s.x > 1.5:
        s = State(s.x / 2, s.steps + 1)
    if s.steps == 0:
        s = replace(s, steps=-1)
    return s


@joint("a registered dataclass as argument", [(State(1.5, 2),), (State(-1.0, 3),), (State(4.0, 0),)])
def dataclass_argument(s):
    if s.x > 1:
        s = replace(s, x=s.x * s.x)
    for i in range(s.steps):
        s = State(s.x + i, s.steps)
    return s


@joint("a dict as argument", [({"w": jnp.array([1.0, 2.0]), "b": 0.5},), ({"w": jnp.array([-1.0, 0.25]), "b": 2.0},)])
def dict_argument(params):
    if params["w"].sum() > 0:
        params = {name: p * 2 for name, p in params.items()}
    return {**params, "b": params["b"] + 1 if params["b"] > 1 else 0.0}


@joint("tuples of two lengths", REALS, refused=traced("AG202"), why="the structure of a result must be static")
def tuple_lengths(x):
    p = (x, 1) if x > 1 else (x, 1, 2)
    return p[0]


@joint("dicts with other keys", REALS, refused=traced("AG202"), why="the structure of a result must be static")
def dict_keys(x):
    d = {"a": x}
    if x > 1:
        d = {"a": x, "b": 1}
    return d["a"]


@joint("a number and a string", REALS, refused=traced("AG202"), why="no array holds strings")
def number_string(x):
    y = x if x > 1 else "none"
    return y


@joint("a list that a loop makes longer", COUNTS, refused=traced("AG201"), why="the structure of a loop variable is the same in every iteration")
def longer_list(n):
    v = []
    for i in range(n):
        v = v + [i]
    return sum(v)


@joint("`append` in a loop whose length is traced", COUNTS, refused=traced("AG405"), why="the list would have a data-dependent length")
def append(n):
    v = []
    for i in range(n):
        v.append(i)
    return sum(v)


@joint("a list that a branch creates again (`current = []`)", [(jnp.array([0.5, 2.0, 0.1, 3.0]),), (jnp.array([2.0, 0.1, 0.2, 0.3]),)])
def begun_anew(v):
    current, most = [], 0
    for x in v:
        if x > 1:
            current = []
        else:
            current.append(x)
        most = max(most, len(current))
    return most * v


# --- what is no array --------------------------------------------------------------------------------------------------------------------------


@joint("a string, None, a function that ride along", COUNTS)
def ride_along(n):
    name, nothing, f = "sum", None, jnp.cos
    total = 0.0
    for i in range(n):
        total = total + f(0.0) * i
        name, nothing, f = name, nothing, f
    if n > 1:
        name = "sum"
        total = total * 2
    return total + len(name) if nothing is None else f(total)


@joint("strings and enum members in containers that change", COUNTS)
def static_leaves(n):
    state = ("up", Mode.UP, 0)
    for i in range(n):
        state = (state[0], Mode.UP, state[2] + i)
    mode = Mode.DOWN if n > 1 and state[1] is Mode.DOWN else Mode.UP
    return state[2] + (1 if state[0] == "up" and mode is Mode.UP else 0)


@joint("a string that a branch changes", REALS, refused=traced("AG202"), why="no array holds strings")
def string_changes(x):
    name = "low"
    if x > 1:
        name = "high"
    return x * len(name)


@joint("a string that a loop changes", COUNTS, refused=traced("AG201"), why="no array holds strings")
def string_grows(n):
    name = ""
    for i in range(n):
        name = name + "x"
    return len(name)


@joint("a function that a branch chooses", REALS, refused=traced("AG202"), why="no array holds functions; call them in the branch")
def function_chosen(x):
    f = jnp.sin if x > 1 else jnp.cos
    return f(x)


@joint("an enum member that a branch chooses", REALS, refused=traced("AG202"), why="no array holds enum members; `IntEnum` values are numbers")
def enum_chosen(x):
    mode = Mode.UP if x > 1 else Mode.DOWN
    return x if mode is Mode.UP else -x


def draw(scale, key, n):
    return scale * keys_chosen(key, n)


@joint("a typed PRNG key that a branch changes", KEYS, jvp=draw)
def keys_chosen(key, n):
    if n > 1:
        key = jax.random.split(key)[0]
    return jax.random.normal(key)


def key_scaled(scale, key, n):
    return scale * jax.random.uniform(keys_returned(key, n))


@joint("a typed PRNG key as result", KEYS, jvp=key_scaled)
def keys_returned(key, n):
    return jax.random.fold_in(key, n) if n > 1 else key


@joint("a typed PRNG key as loop variable", KEYS)
def keys_carried(key, n):
    total = 0.0
    for _ in range(n):
        key, use = jax.random.split(key)
        total = total + jax.random.uniform(use)
    return total


@joint("a loop over PRNG keys", KEYS)
def keys_iterated(key, n):
    total = 0.0
    for k in jax.random.split(key, 3):
        x = jax.random.normal(k)
        if x > 0:
            total = total + x * n
    return total


@joint("a rejection loop with keys in a tuple", KEYS)
def keys_in_tuple(key, n):
    state = (key, 1.0)
    while state[1] > 0.25:
        a, b = jax.random.split(state[0])
        state = (a, jax.random.uniform(b))
    return state[1] + n
