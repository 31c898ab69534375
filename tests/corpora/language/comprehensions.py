"""Comprehensions, and `sum`, `any`, `all`, `min`, `max` of generator expressions."""

from functools import partial

import jax.numpy as jnp

from tests.corpora.language import construct, each, traced, vectors

comprehension = partial(construct, section="Comprehensions")

COUNTS = each(0, 1, 4, 7)
SOME = each(1, 4, 7)
REALS = each(-2.5, 0.5, 2.25, 5.5)
ROWS = vectors([1.0, 3.0, 2.0, 0.5], [0.25, -1.0, -2.0, 0.75], [5.0, -1.0, 2.5, 2.0], [-5.0, -1.0, -2.5, -2.0])
TWO = [(a, a[::-1] * 2) for (a,) in ROWS]
MATRICES = [(jnp.array(m),) for m in ([[1.0, 2.0], [3.0, -4.0], [0.5, 6.0]], [[-1.0, 0.5], [0.25, 2.0], [4.0, 1.0]])]
INTEGERS = vectors([1, 3, 2, 5], [0, -1, -2, 7], [4, 0, 0, 1], dtype=jnp.int32)


def g(x):
    return x * x if x > 0 else -x


# --- sum, any, all, min, max -------------------------------------------------------------------------------------------------------------------


@comprehension("`sum(f(x) for x in v)`", ROWS)
def sum_(v):
    return sum(g(x) for x in v)


@comprehension("`sum(x for x in v if x > 0)`", ROWS)
def sum_if(v):
    return sum(x * 2 for x in v if x > 0)


@comprehension("`sum(1 for x in v if x > 0)`", ROWS)
def count(v):
    return sum(1 for x in v if x > 0) * v[0]


@comprehension("`sum(..., start)`, several `if`", ROWS)
def sum_start(v):
    return sum((x for x in v if x > 0 if x < 4), 10.0)


@comprehension("`sum([...])`, of a list", ROWS)
def sum_list(v):
    return sum([g(x) for x in v]) + sum([x for x in v if x > 0])


@comprehension("`sum(v)`, `sum(matrix)`", MATRICES)
def sum_array(m):
    return sum(m) + sum(m[0])


@comprehension("`sum` over `range(n)`, with and without `if`", COUNTS)
def sum_range(n):
    return sum(i * i for i in range(n)) * 100 + sum(i for i in range(1, n) if i % 3)


@comprehension("`sum` over a static `range`, a traced `if`", REALS)
def sum_static_range(x):
    return sum(i * x for i in range(4) if i < x)


@comprehension("`sum(x * y for x, y in zip(v, w))`", TWO)
def sum_zip(v, w):
    return sum(x * y for x, y in zip(v, w) if x > y)


@comprehension("`sum(i * x for i, x in enumerate(v))`", ROWS)
def sum_enumerate(v):
    return sum(i * x for i, x in enumerate(v) if i > 0 and x > 0)


@comprehension("`sum(x if x > 0 else 1 for x in v)`", ROWS)
def sum_ternary(v):
    return sum(x if x > 0 else 1 for x in v)


@comprehension("`sum(x for row in m for x in row if x > 0)`", MATRICES)
def sum_nested(m):
    return sum(x for row in m if row[0] > 0 for x in row if x > 0)


@comprehension("`sum(sum(row) for row in m)`, a generator in a generator", MATRICES)
def sum_of_sums(m):
    return sum(sum(x for x in row if x > 0) * row[0] for row in m)


@comprehension("`sum` over two traced ranges, the second depends on the first", COUNTS)
def sum_ranges(n):
    return sum(i * j for i in range(n) for j in range(i) if (i + j) % 2)


@comprehension("`any(x > 2 for x in v)`", ROWS)
def any_(v):
    return v[0] if any(x > 2 for x in v) else v[1]


@comprehension("`all(x > 0 for x in v)`", ROWS)
def all_(v):
    if all(x > 0 for x in v):
        return v.sum()
    return v.min()


@comprehension("`any`, `all` with `if`", ROWS)
def any_all_if(v):
    return (1 if any(x > 2 for x in v if x < 4) else 0) + (2 if all(x > 1 for x in v if x > 0) else 0) + v[0]


@comprehension("`any`, `all` over `range(n)`", COUNTS)
def any_range(n):
    prime = n > 1 and all(n % k for k in range(2, n))
    return prime, any(k * k == n for k in range(n))


@comprehension("`any`, `all` of nothing", COUNTS)
def any_of_nothing(n):
    return (1 if any(k < 0 for k in range(n)) else 0) + (2 if all(k > 0 for k in range(n)) else 0)


@comprehension("`any(all(...) for row in m)`", MATRICES)
def any_all_nested(m):
    return m[0] if any(all(x > 0.3 for x in row) for row in m) else m[1]


@comprehension("`any(x == k for k in (1, 2))`, static values", REALS)
def any_static(x):
    return x * 2 if any(x == k for k in (0.5, 2.25)) else x


@comprehension("`min`, `max` of a generator expression", ROWS)
def min_max(v):
    return max(g(x) for x in v) - min(x * x for x in v)


@comprehension("`max(..., default=)` with `if`", ROWS)
def max_if(v):
    return max((x for x in v if x < 2.5), default=-1.0) + min((x for x in v if x > 0), default=100.0)


@comprehension("`max` with `if`: of nothing it is Python's `ValueError`", ROWS)
def max_of_nothing(v):
    return max(x for x in v if x > 0)


@comprehension("`max` over `range(n)`", SOME)
def max_range(n):
    return max(i * (5 - i) for i in range(n)) + min((7 - i for i in range(1, n)), default=50)


@comprehension("`max(v)`, `min(v)`, `max(matrix[i])`", MATRICES)
def max_array(m):
    return max(m[0]) - min(m[1])


@comprehension("`max(v, key=)`, `min(v, key=)`", ROWS)
def max_key(v):
    return max(v, key=lambda x: x * x) + 10 * min(v, key=abs)


@comprehension("`max(... for x in v for y in w if ...)`", TWO)
def max_nested(v, w):
    return max(abs(x - y) for x in v for y in w if x > -2)


@comprehension("`sum(map(f, v))`, `any(map(f, v))`", ROWS)
def sum_map(v):
    return sum(map(g, v)) * (2 if any(map(lambda x: x > 2, v)) else 1)


@comprehension("`sum(filter(f, v))`", ROWS)
def sum_filter(v):
    return sum(filter(lambda x: x > 0, v))


@comprehension(
    "a generator expression with a traced `if`, kept in a variable",
    ROWS,
    refused=traced("AG501"),
    why="a generator that is not used up on the spot stays Python",
)
def kept_generator(v):
    squares = (x * x for x in v if x > 0)
    return sum(squares)


@comprehension("`sum` of a generator expression in a staged loop", INTEGERS)
def sum_in_loop(v):
    total = 0
    for x in v:
        total += sum(k for k in range(x) if k % 2 == 0)
    return total


@comprehension("a generator expression that reads loop variables and closures", ROWS)
def sum_closure(v):
    total = 0.0
    for i in range(3):
        w = v * i

        def above(limit):
            return sum(x for x in w if x > limit)

        total = total + above(i)
    return total


@comprehension("`sum` in a branch and in the test of a `while`", ROWS)
def sum_in_tests(v):
    turns = 0
    while sum(x for x in v if x > 0) > 2:
        v = v / 2
        turns += 1
    if sum(x < 0 for x in v) > 1:
        return v, turns
    return v * 2, -turns


@comprehension("a walrus in a generator expression", ROWS)
def walrus(v):
    return sum(y * 2 for x in v if (y := x - 1) > 0)


@comprehension("`next(..., default)` of a generator expression", ROWS)
def next_(v):
    return next((x for x in v if x < 2.5), -1.0)


@comprehension("`sorted(v)`, `sorted(f(x) for x in v)`", ROWS)
def sorted_(v):
    low, *_, high = sorted(g(x) for x in v)
    return low + 10 * high + 100 * sorted(v)[1]


# --- lists, dicts, sets ------------------------------------------------------------------------------------------------------------------------


@comprehension("`[f(x) for x in v]`", ROWS)
def list_(v):
    return [g(x) for x in v]


@comprehension("`jnp.array([f(x) for x in v])`, `jnp.stack`", MATRICES)
def stacked(m):
    return jnp.array([g(x) for x in m[0]]), jnp.stack([row * 2 if row[0] > 0 else row for row in m])


@comprehension("`[f(i) for i in range(3)]`", REALS)
def list_range(x):
    return [x if i < x else i for i in range(3)]


@comprehension("`[... for row in m for x in row]`, `[[...] for row in m]`", MATRICES)
def list_nested(m):
    flat = [g(x) for row in m for x in row]
    deep = [[x + 1 if x > 0 else x for x in row] for row in m]
    return flat[3] + deep[1][1]


@comprehension("`[... for x, y in zip(v, w)]`, `enumerate`, `reversed`", TWO)
def list_zip(v, w):
    a = [x if x > y else y for x, y in zip(v, w)]
    b = [i * x for i, x in enumerate(reversed(v)) if i > 1]
    return a, b


@comprehension("a static `if` in a list comprehension", REALS)
def list_static_if(x):
    return [k * x for k in range(5) if k % 2]


@comprehension("a comprehension over a list of traced values", REALS)
def list_of_traced(x):
    return [y * 2 if y > 1 else y for y in [x, x * x, 1.5]]


@comprehension("`tuple(...)`, `list(...)`, `[*...]` of generator expressions", ROWS)
def tuples(v):
    a, b, *rest = tuple(g(x) for x in v)
    return [*(x for x in (a, b)), *list(x * 2 for x in rest)]


@comprehension("a dict comprehension over static keys", REALS)
def dict_(x):
    return {name: x * i if x > i else x for i, name in enumerate(("a", "b", "c"))}


@comprehension("a dict comprehension over `d.items()`", REALS)
def dict_items(x):
    params = {"w": x, "b": x * x}
    return {name: (p if p > 1 else 0.0) for name, p in params.items() if name != "c"}


@comprehension("a set comprehension over static values", REALS)
def set_(x):
    return x * len({k % 2 for k in range(4)}) if x > 1 else x


@comprehension("a comprehension in a branch", ROWS)
def in_branch(v):
    if v[0] > 0.5:
        w = [x * 2 for x in v]
    else:
        w = [x if x > -2 else 0.0 for x in v]
    return w


@comprehension("a comprehension in a loop", ROWS)
def in_loop(v):
    w = [1.0, 2.0, 3.0, 4.0]
    for x in v:
        w = [y + x if y > x else y for y in w]
    return w


@comprehension("functions made in a comprehension", REALS)
def functions(x):
    scales = [lambda y, k=k: y * k if y > 1 else y for k in (1, 2)]
    return sum(f(x) for f in scales)


@comprehension("`[x for x in v if x > 0]` as a list", ROWS)
def list_if(v):
    kept = [x for x in v if x > 0]
    return len(kept) * v


@comprehension("`[... for i in range(n)]` as a list", COUNTS, refused=traced("AG502"), why="the list would have a data-dependent length")
def list_traced_range(n):
    kept = [i * i for i in range(n)]
    return len(kept)


@comprehension("`{... for x in v}` is Python's `TypeError`: arrays have no hash", ROWS)
def set_of_traced(v):
    return len({x for x in v})


@comprehension("`{name: x for ... if x > 0}`", REALS, refused=traced("AG501"), why="the dict would have data-dependent keys")
def dict_if(x):
    kept = {name: y for name, y in (("a", x), ("b", 2 * x)) if y > 1}
    return len(kept) * x


class Holder:
    held = None


@comprehension("a comprehension that stores into an attribute and an item on its way", REALS)
def stores_into_places(x):
    holder, items = Holder(), [0.0, 0.0]
    total = 0.0
    while x < 8:
        marks = [holder.held * items[1] + z for holder.held, (items[1], *y) in [(x, (2.0, 1.0)), (x + 1, (3.0, x))] for z in y if len(y) == 1]
        total += marks[0] - marks[1]
        x = x * x + 1
    return x, items[1], total


@comprehension("`[... for holder.held in pair]`, read after a traced branch", REALS)
def attribute_as_a_target(x):
    holder = Holder()
    doubled = [holder.held * 2 for holder.held in (x, x + 1)]
    if x > 1:
        doubled = [holder.held + y for y in doubled for holder.held in (y,)]
    return holder.held, sum(doubled)
