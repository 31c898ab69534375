"""Programs that `jax.jit` takes as they are: loops over known ranges and rows, names and shapes by the turn, dicts filled by it, generators, formatting.

Each is `name(args)` with the arguments in `ARGS`; `tests/conversion/test_jitable.py` runs each under `jax.jit` and converted, and compares.
"""

import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import math
import operator
import string
import types
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

ARGS = {}
NAMES = ("a", "b", "c", "d", "e")
V = np.array([1.0, -2.0, 3.0, 0.5], np.float32)
M = np.arange(6.0, dtype=np.float32).reshape(3, 2)


def program(*args):
    def add(f):
        ARGS[f] = args
        return f

    return add


# --- loops over rows, where a turn needs its number ---


@program(V)
def named_by_the_turn(v):
    out = {}
    for i, x in enumerate(v):
        out[NAMES[i]] = x * 2
    return out


@program(V)
def keyed_by_a_text(v):
    out = {}
    for i, x in enumerate(v):
        out[f"layer_{i}"] = x + i
    return out


@program(V)
def shapes_by_the_turn(v):
    parts = []
    for i, x in enumerate(v):
        parts.append(jnp.full(i + 1, x))
    return jnp.concatenate(parts)


@program(V)
def grows_by_concatenation(v):
    out = None
    for x in v:
        out = x[None] if out is None else jnp.concatenate([out, x[None]])
    return out


@program(V)
def grows_by_append(v):
    out = jnp.zeros(0)
    for x in v:
        out = jnp.append(out, x * x)
    return out


@program(V)
def changes_its_type(v):
    s = ()
    for x in v:
        s = (*s, x)
    return s


@program(V)
def pairs_by_position(v):
    out = []
    for i, x in enumerate(v):
        for j in range(i):
            out.append(x - v[j])
    return jnp.stack(out)


@program(M)
def rows_of_different_use(m):
    first, *others = m
    total = first
    for k, row in enumerate(others):
        total = total + (row if k % 2 else -row)
    return total


@program(M)
def functions_by_the_turn(m):
    steps = [jnp.sin, lambda r: r * 2, functools.partial(jnp.add, 1.0)]
    out = []
    for f, row in zip(steps, m):
        out.append(f(row))
    return out


@program(V)
def a_table_of_texts(v):
    kinds = ["relu", "tanh", "none", "relu"]
    out = []
    for kind, x in zip(kinds, v):
        if kind == "relu":
            out.append(jnp.maximum(x, 0))
        elif kind == "tanh":
            out.append(jnp.tanh(x))
        else:
            out.append(x)
    return out


@program(V)
def slices_by_the_turn(v):
    out = 0.0
    for i, x in enumerate(v):
        out = out + x * v[i:].sum() - v[: i + 1].max()
    return out


@program(V)
def powers_by_the_turn(v):
    out = 0.0
    for i, x in enumerate(v):
        out = out + x ** math.factorial(i)
    return out


@program(V)
def stops_at_a_known_turn(v):
    s = 0.0
    for i, x in enumerate(v):
        if i == 2:
            break
        if i % 2:
            continue
        s = s + x
    return s


@program(V)
def reversed_rows(v):
    out = []
    for x in reversed(v):
        out.insert(0, x)
    return jnp.array(out)


@program(V)
def unpacked(v):
    a, b, *rest = v
    return a + b * sum(rest)


@program(M)
def nested_rows(m):
    out = {}
    for i, row in enumerate(m):
        for j, x in enumerate(row):
            out[i, j] = x * (i + j)
    return [out[k] for k in sorted(out)]


@program(V)
def the_last_turn(v):
    for i, x in enumerate(v):
        last = (i, x)
    return last


@program(V)
def counts_by_python(v):
    n = 0
    for _ in v:
        n += 1
    return jnp.zeros(n)


@program(V)
def lists_of_different_lengths(v):
    table = []
    for i, x in enumerate(v):
        table.append([x] * i)
    return table


@program(V)
def a_dict_of_lists(v):
    groups = {}
    for i, x in enumerate(v):
        groups.setdefault("even" if i % 2 == 0 else "odd", []).append(x)
    return groups


@program(V)
def a_defaultdict(v):
    groups = collections.defaultdict(list)
    for i, x in enumerate(v):
        groups[i // 2].append(x)
    return {k: jnp.stack(g) for k, g in groups.items()}


@program(V)
def a_counter(v):
    counts = collections.Counter()
    for name, x in zip("abab", v):
        counts[name] += x
    return dict(counts)


@program(V)
def an_ordered_dict(v):
    d = collections.OrderedDict()
    for name, x in zip(NAMES, v):
        d[name] = x
    d.move_to_end("a")
    return list(d.values())


@program(V)
def a_deque(v):
    q = collections.deque(maxlen=2)
    out = []
    for x in v:
        q.append(x)
        out.append(sum(q))
    return jnp.stack(out)


@program(V)
def a_set_of_positions(v):
    seen = set()
    out = 0.0
    for i, x in enumerate(v):
        if i // 2 in seen:
            continue
        seen.add(i // 2)
        out = out + x
    return out


# --- loops over ranges and containers ---


@program(2.0)
def a_python_counter(x):
    k = 0
    while k < 4:
        x = x * NAMES.index(NAMES[k])
        k += 1
    return x + k


@program(V)
def a_range_by_shapes(v):
    out = []
    for size in range(1, v.shape[0] + 1):
        out.append(v.reshape(2, 2)[:, : size % 2 + 1].sum())
    return jnp.array(out)


@program(2.0)
def exact_integers(x):
    f = 1
    for i in range(1, 13):
        f *= i
    return x / f


@program(M)
def pyramid(m):
    level = m
    levels = []
    while level.shape[0] > 1:
        levels.append(level.sum())
        level = level[: level.shape[0] // 2 + level.shape[0] % 2] if level.shape[0] > 2 else level[:1]
    return levels, level


@program(V)
def recursion_by_shape(v):
    def total(x):
        if x.shape[0] == 1:
            return x[0]
        half = x.shape[0] // 2
        return total(x[:half]) + 2 * total(x[half:])

    return total(v)


@program(jnp.arange(8.0))
def fft_by_hand(x):
    def fft(x):
        n = x.shape[0]
        if n == 1:
            return x.astype(jnp.complex64)
        even, odd = fft(x[::2]), fft(x[1::2])
        w = jnp.exp(-2j * jnp.pi * jnp.arange(n // 2) / n)
        return jnp.concatenate([even + w * odd, even - w * odd])

    return jnp.abs(fft(x))


@program({"b": 2.0, "a": {"c": 3.0}})
def walks_a_tree(tree):
    out = []

    def walk(t, path):
        if isinstance(t, dict):
            for k, v in sorted(t.items()):
                walk(v, (*path, k))
        else:
            out.append((len(path), t * len(path)))

    walk(tree, ())
    return out


@program(2.0)
def mutual_recursion(x):
    def even(n, x):
        return x if n == 0 else odd(n - 1, x * 2)

    def odd(n, x):
        return -x if n == 0 else even(n - 1, x + 1)

    return even(5, x)


@program(V)
def products(v):
    out = 0.0
    for i, j in itertools.product(range(2), repeat=2):
        out = out + v[i] * v[j + 1] * (-1) ** (i + j)
    return out


@program(V)
def accumulated(v):
    return jnp.stack(list(itertools.accumulate(v, lambda a, b: a * 0.5 + b)))


@program(V)
def reduced(v):
    return functools.reduce(lambda a, x: a * 2 + x, v, 0.0)


@program(V)
def mapped_and_filtered(v):
    return [x * 2 for x in map(operator.neg, v)], list(filter(None, [0, 1, 2])), [f(v) for f in (jnp.sum, jnp.max)]


@program(V)
def chained(v):
    return sum(itertools.chain(v[:2], [1.0, 2.0], (x * x for x in v[2:])))


@program(V)
def pairwise(v):
    return jnp.stack([b - a for a, b in itertools.pairwise(v)])


@program(V)
def comprehensions(v):
    squares = {i: x * x for i, x in enumerate(v)}
    shapes = [jnp.ones(i) * x for i, x in enumerate(v) if i % 2]
    nested = [[x + y for y in v] for x in v]
    return squares, shapes, jnp.array(nested)


@program(V)
def sorts_what_is_known(v):
    order = sorted(range(4), key=lambda i: (-i % 3, i))
    return jnp.stack([v[i] for i in order]), max(order, key=lambda i: i % 3)


@program(3.0)
def until_a_python_value(x):
    for width in itertools.count(1):
        if width * width > 10:
            break
        x = x + jnp.ones(width).sum()
    return x, width


# --- generators ---


@program(V)
def a_generator(v):
    def windows(n):
        for i in range(v.shape[0] - n + 1):
            yield i, v[i : i + n]

    return {i: w.sum() for i, w in windows(2)}


@program(2.0)
def sends(x):
    def running():
        total = 0.0
        while True:
            got = yield total
            total = total + got

    g = running()
    next(g)
    return g.send(x) + g.send(2 * x)


@program(V)
def delegates(v):
    def inner(part):
        for x in part:
            yield x * 2
        return part.shape[0]

    def outer():
        n = yield from inner(v[:1])
        m = yield from inner(v[1:])
        yield n + m

    return list(outer())


@program(V)
def takes_by_next(v):
    it = iter(v)
    first = next(it)
    rest = list(it)
    return first, next(iter([]), 5.0), sum(rest)


@program(V)
def a_pipeline(v):
    def read():
        yield from enumerate(v)

    def scale(items):
        for i, x in items:
            yield f"s{i}", x * i

    return dict(scale(read()))


@program(V)
def names_from_an_iterator(v):
    it = iter(string.ascii_lowercase)
    out = {}
    for x in v:
        out[next(it)] = x
    return out


@program(V)
def tee_and_zip(v):
    a, b = itertools.tee(x * 3 for x in v)
    next(b)
    return [y - x for x, y in zip(a, b)]


# --- texts ---


@program(2.0)
def formats_what_is_known(x):
    n = x.ndim
    return {f"{n:02d}_{x.dtype}": x, "%s-%d" % ("k", n): x + 1, "{}{!r}".format("z", n): x * 2}


@program(V)
def asks_for_types(v):
    text = str(v.dtype) + str(v.shape) + type(v[0].shape).__name__
    return v * len(text)


@program({"w1": 1.0, "w2": 2.0, "b1": 3.0})
def parses_names(params):
    out = {}
    for name, p in params.items():
        kind, index = name[:1], int(name[1:])
        out.setdefault(kind, {})[index] = p * index
    return out


# --- objects and classes ---


class Layer:
    def __init__(self, w, name):
        self.w, self.name, self.calls = w, name, 0

    def __call__(self, x):
        self.calls += 1
        return jnp.tanh(x * self.w)


@program(V)
def objects_made_in_a_loop(v):
    layers = []
    for i, w in enumerate(v):
        layers.append(Layer(w, NAMES[i]))
    x = 1.0
    for layer in layers:
        x = layer(x)
    return x, {layer.name: layer.w for layer in layers}, [layer.calls for layer in layers]


class Stack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)
        return self

    def pop(self):
        return self.items.pop()

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return reversed(self.items)

    def __getitem__(self, k):
        return self.items[k]

    def __contains__(self, name):
        return name in ("stack",)


@program(V)
def a_stack(v):
    s = Stack()
    for x in v:
        s.push(x).push(x + 1)
    top = s.pop()
    return top, len(s), [x for x in s], s[0], "stack" in s


@program(V)
def reverse_polish(v):
    stack = []
    for token in "0 1 + 2 * 3 -".split():
        if token.isdigit():
            stack.append(v[int(token)])
        else:
            b, a = stack.pop(), stack.pop()
            stack.append({"+": operator.add, "-": operator.sub, "*": operator.mul}[token](a, b))
    return stack[0]


class Point(NamedTuple):
    x: Any
    y: Any = 1.0

    def moved(self, by):
        return self._replace(x=self.x + by)


@program(V)
def named_tuples(v):
    p = Point(0.0)
    for x in v:
        p = p.moved(x)
    return p, p._asdict()


@dataclasses.dataclass
class Account:
    balance: Any
    log: list = dataclasses.field(default_factory=list)

    def pay(self, amount, what):
        self.balance = self.balance - amount
        self.log.append((what, amount))


@program(V)
def data_classes(v):
    account = Account(10.0)
    for i, amount in enumerate(v):
        account.pay(amount, NAMES[i])
    return account.balance, dict(account.log), "".join(what for what, _ in account.log) == "abcd"


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 2
    kind: str = "sum"


@program(M)
def a_config(m):
    config = dataclasses.replace(Config(), kind="max")
    return getattr(m, config.kind)() * config.width


class Kind(enum.Enum):
    ADD = "add"
    MUL = "mul"


@program(V)
def enums(v):
    out = v[0]
    for kind, x in zip([Kind.ADD, Kind.MUL, Kind.ADD], v[1:]):
        match kind:
            case Kind.ADD:
                out = out + x
            case Kind.MUL:
                out = out * x
    return out


class Meta(type):
    def __getitem__(cls, n):
        return type(f"{cls.__name__}{n}", (cls,), {"n": n})


class Scaled(metaclass=Meta):
    n = 1

    @classmethod
    def apply(cls, x):
        return x * cls.n

    @staticmethod
    def twice(x):
        return x * 2

    @property
    def size(self):
        return self.n + 1


@program(2.0)
def classes(x):
    return Scaled[3].apply(x) + Scaled.twice(x) + Scaled[2]().size


class Base:
    def forward(self, x):
        return x + 1


class Derived(Base):
    def forward(self, x):
        y = super().forward(x)
        return y * 2 if self.flag() else y

    def flag(self):
        return isinstance(self, Base)


@program(2.0)
def inheritance(x):
    return Derived().forward(x)


class Vector:
    def __init__(self, *parts):
        self.parts = parts

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.parts, other.parts)))

    def __mul__(self, k):
        return Vector(*(a * k for a in self.parts))

    __rmul__ = __mul__

    def __eq__(self, other):
        return len(self.parts) == len(other.parts)

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.parts, other.parts))


@program(V)
def operators(v):
    a, b = Vector(*v[:2]), Vector(*v[2:])
    c = 2 * (a + b)
    return c @ b if a == b else c @ a


class Attributes:
    def __init__(self, **kw):
        self.__dict__.update(kw)

    def __getattr__(self, name):
        if name.startswith("double_"):
            return 2 * getattr(self, name.removeprefix("double_"))
        raise AttributeError(name)


@program(3.0)
def dynamic_attributes(x):
    a = Attributes(w=x, k=2)
    for name in ("w", "k"):
        setattr(a, name + "_old", getattr(a, name))
    return a.double_w + a.w_old, hasattr(a, "zzz"), len(vars(a))


# --- functions ---


@program(2.0)
def closures(x):
    adders = [lambda y, k=k: y + k for k in range(3)]
    for f in adders:
        x = f(x) * 2
    return x


@program(2.0)
def late_closures(x):
    fs = []
    for k in range(3):
        fs.append(lambda y: y + k)
    return sum(f(x) for f in fs)


@program(2.0)
def counters(x):
    n = 0

    def bump(by):
        nonlocal n
        n += by
        return n

    for k in range(4):
        x = x + bump(k)
    return x, n


def traced_calls(f):
    @functools.wraps(f)
    def inside(*args, **kwargs):
        inside.calls += 1
        return f(*args, **kwargs)

    inside.calls = 0
    return inside


@program(2.0)
def decorators(x):
    @traced_calls
    def f(y, *, k=1):
        return y * k

    for k in range(3):
        x = f(x, k=k + 1)
    return x, f.calls


@program(1.0, 2.0)
def stars(x, y):
    def f(a, /, b, *rest, c=0.0, **more):
        return a + 2 * b + sum(rest) + c + sum(more.values())

    args, options = [x, y, 1.0], {"c": x, "z": y}
    return f(*args, *[2.0], **options, **{"w": 1.0})


@functools.lru_cache
def table_of(n):
    return np.arange(n) ** 2


@program(V)
def cached_tables(v):
    return v @ table_of(4) + table_of(4)[-1]


@functools.singledispatch
def norm(x):
    return jnp.abs(x).sum()


@norm.register
def _(x: tuple):
    return sum(norm(part) for part in x)


@norm.register(dict)
def _(x):
    return max(map(norm, x.values()), key=lambda n: 0)


@program((V, {"a": V}))
def dispatches(x):
    return norm(x)


@program(2.0)
def curried(x):
    def compose(*fs):
        return functools.reduce(lambda f, g: lambda y: g(f(y)), fs)

    return compose(jnp.sin, lambda y: y * 2, operator.methodcaller("astype", "float32"), functools.partial(pow, 2))(x)


@program(V)
def default_arguments(v):
    def push(x, into=[]):
        into.append(x)
        return len(into)

    sizes = [push(x) for x in v]
    return jnp.array(sizes) + v


# --- control flow that is known ---


@program(V)
def tries(v):
    out = []
    for name in ("sum", "nothing", "max"):
        try:
            out.append(getattr(v, name)())
        except AttributeError:
            out.append(-1.0)
        else:
            out.append(1.0)
        finally:
            out.append(0.0)
    return out


@program(V)
def lookups_that_fail(v):
    cache = {}
    total = 0.0
    for i in (0, 1, 0, 3):
        try:
            y = cache[i]
        except KeyError:
            y = cache[i] = v[i] * 2
        total = total + y
    return total, len(cache)


class Skip(Exception):
    def __init__(self, value):
        super().__init__("skip")
        self.value = value


@program(V)
def own_exceptions(v):
    def check(i):
        if i % 2:
            raise Skip(i)
        return v[i]

    out = []
    for i in range(4):
        try:
            out.append(check(i))
        except Skip as skip:
            out.append(skip.value * 10.0)
    return out


@contextlib.contextmanager
def scope(name, stack):
    stack.append(name)
    try:
        yield "/".join(stack)
    finally:
        stack.pop()


@program(2.0)
def scopes(x):
    stack, out = [], {}
    with scope("a", stack) as path:
        out[path] = x
        with scope("b", stack) as inner, contextlib.suppress(KeyError):
            out[inner] = x * 2
            out["missing"]
    return out, stack


@program({"w": V, "bias": 1.0})
def matches(config):
    match {**config, "kind": "dense"}:
        case {"kind": "dense", "w": w, **rest} if rest:
            return w * rest["bias"]
        case {"kind": str()}:
            return 0.0


@program((1.0, (2.0, (3.0, None))))
def linked_lists(cell):
    total = 0.0
    while cell is not None:
        head, cell = cell
        total = total + head
    return total


@program(V)
def walruses(v):
    out = []
    k = 0
    while (n := k * k) < 10:
        out.append(v[k % 4] * n)
        k += 1
    return out, [y for x in range(3) if (y := x * 2) > 1]


@program(V)
def chained_comparisons(v):
    return v * 2 if 0 < v.ndim <= v.shape[0] == 4 != 5 else v


@program(1.0)
def else_of_loops(x):
    for k in range(3):
        if k > 5:
            break
    else:
        x = x + 10
    while k > 0:
        k -= 1
        if k == 1:
            break
    else:
        x = x - 100
    return x


@program(V)
def deletes(v):
    parts = {i: x for i, x in enumerate(v)}
    del parts[1]
    names = list(NAMES)
    del names[::2]
    tmp = v[0]
    del tmp
    return list(parts.values()), len(names)


@program(3.0)
def asserts(x):
    assert x.ndim == 0 and x.dtype == jnp.float32, f"a number, not {x}"
    return x


@program(V)
def copies(v):
    a = {"x": [v[0], v[1]]}
    b, c = copy.copy(a), copy.deepcopy(a)
    a["x"][0] = v[2]
    return a, b, c


@program(V)
def swaps(v):
    xs = list(v)
    for i in range(len(xs) // 2):
        xs[i], xs[-1 - i] = xs[-1 - i], xs[i]
    xs[1:3] = [xs[1] + xs[2]]
    return xs


# --- JAX ---


@program(V)
def gradients(v):
    loss = lambda w, k: (w**k).sum()
    return [jax.grad(loss)(v, k) for k in range(1, 4)]


@program(M)
def maps_and_scans(m):
    total, rows = lax.scan(lambda c, r: (c + r.sum(), c), 0.0, m)
    return jax.vmap(lambda r: r[0] - r[1])(m), total, rows, lax.fori_loop(0, 3, lambda i, x: x * i + 1, total)


@program(M)
def lax_branches(m):
    return lax.cond(m.sum() > 3, lambda x: x + 1, lambda x: x, m), lax.while_loop(lambda x: x < 9, lambda x: x * 2, m[1, 0])


@program({"w": V, "b": 1.0})
def trees(params):
    leaves, structure = jax.tree.flatten(params)
    doubled = jax.tree.unflatten(structure, [x * 2 for x in leaves])
    names = jax.tree_util.tree_map_with_path(lambda path, x: x * len(jax.tree_util.keystr(path)), params)
    return doubled, names, jax.tree.reduce(lambda a, x: a + x.sum(), jax.tree.map(jnp.asarray, params), 0.0)


@program(V)
def random_numbers(v):
    key = jax.random.key(0)
    out = {}
    for name in ("w", "b"):
        key, sub = jax.random.split(key)
        out[name] = jax.random.normal(sub, v.shape) * v
    return out


@jax.custom_jvp
def clipped(x):
    return jnp.clip(x, -1, 1)


clipped.defjvp(lambda primals, tangents: (clipped(*primals), tangents[0]))


@program(2.0)
def custom_rules(x):
    return jax.value_and_grad(clipped)(x), jax.checkpoint(jnp.sin)(x), lax.stop_gradient(x)


@program(V)
def updates_in_place(v):
    for i in range(3):
        v = v.at[i].set(v[i + 1] * i).at[-1].add(1.0)
    return v


@program(M)
def numpy_beside(m):
    weights = np.linspace(0, 1, m.shape[0])
    mask = np.tril(np.ones(m.shape, bool))
    return (m * mask).T @ weights, np.prod(m.shape) * m.sum(), jnp.where(mask, m, -m)[np.argsort(weights)[::-1]]


@program(M)
def rows_where(m):
    known = np.array([True, False, True])
    out = 0.0
    for i in np.nonzero(known)[0]:
        out = out + m[i].sum()
    return out, [m[int(i)] for i in np.where(~known)[0]]


@program(jnp.array([0, 2, 2, 1]))
def counted_by_bins(v):
    return jnp.bincount(v, length=4), np.bincount(np.array([0, 2, 2]), minlength=5)


@program(0.5)
def special_functions(x):
    return [math.erf(0.5) * x, math.lgamma(3.5) + x, math.gamma(4) * x, math.erfc(0.1) - x, jax.scipy.special.erf(x)]


@program(V)
def einsum_by_text(v):
    out = []
    for a, b in itertools.combinations("ij", 2):
        out.append(jnp.einsum(f"{a},{b}->{a}{b}", v, v))
    return out


@program([V, V * 2, M])
def arguments_of_any_length(arrays):
    shapes = {x.shape for x in arrays}
    return [x.sum() for x in arrays if x.ndim == 1], len(shapes), jnp.concatenate([jnp.ravel(x) for x in arrays])


@program(V)
def nothing_is_returned_for_one(v):
    def find(name):
        for n, x in zip(NAMES, v):
            if n == name:
                return x

    return find("b"), find("zzz")


@program(V)
def simple_namespaces(v):
    state = types.SimpleNamespace(total=0.0, steps=0)
    for x in v:
        state.total = state.total + x
        state.steps += 1
    return state.total / state.steps


@program(V)
def a_small_network(v):
    sizes = [4, 3, 2]
    key = jax.random.key(1)
    params = []
    for n_in, n_out in zip(sizes, sizes[1:]):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (n_in, n_out)), "b": jnp.zeros(n_out)})
    h = v
    for i, p in enumerate(params):
        h = h @ p["w"] + p["b"]
        if i < len(params) - 1:
            h = jax.nn.relu(h)
    return h


@program(jnp.ones((2, 5)))
def a_unet(x):
    skips = []
    for depth in range(2):
        skips.append(x)
        x = jnp.concatenate([x, jnp.full((x.shape[0], 1), depth * 1.0)], axis=1)
    for skip in reversed(skips):
        x = x[:, : skip.shape[1]] + skip
    return x
