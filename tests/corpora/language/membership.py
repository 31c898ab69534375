"""`in`, `==` of containers, and containers of values indexed by traced integers."""

from functools import partial

import jax.numpy as jnp
import numpy as np

from tests.corpora.language import construct, each, traced, vectors

member = partial(construct, section="Containers of values")

INTS = each(-1, 0, 2, 5)
INDICES = each(0, 2, 1)
REALS = each(-2.5, 0.5, 2.25, 5.5)
SLICES = [(jnp.array([3.0, 1.0, -2.0, 5.0]), 2), (jnp.array([0.5, 4.0, 2.0, 1.0]), 1), (jnp.array([0.5, -4.0, 2.0, 1.0]), 3)]
PAIRS = [(2, 1.5), (0, 2.0), (1, -1.0)]


@member("`x in (1, 2)`", INTS)
def in_tuple(n):
    if n in (0, 2, 4):
        return n * 10
    return n


@member("`x not in [1, 2]`", INTS)
def not_in_list(n):
    y = n
    if n not in [2, 5]:
        y = n - 1
    return y


@member("`x in (0.5, 2.25)`, floats", REALS)
def in_floats(x):
    return x * 2 if x in (0.5, 2.25) else x / 2


@member("`x in [y, y + 1]`, traced values", REALS)
def in_traced_list(x):
    y = x * x
    if x in [y, y + 0.25, 2.25]:
        return y
    return x


@member("`x in range(3, 9, 2)`", INTS)
def in_range(n):
    return (1 if n in range(3) else 0) + (2 if n in range(5, 9, 2) else 0) + (4 if n not in range(2, -2, -1) else 0)


@member("`x in range(n)`, a traced end", INTS)
def in_traced_range(n):
    return 1 if 3 in range(n) else 2 if 0 in range(n, n + 2) else 0


@member("`x in array`", [(jnp.array([1.0, 3.0, 2.0]), 2.0), (jnp.array([1.0, 3.0, 5.0]), 4.0)])
def in_array(v, x):
    if x in v:
        return v.sum()
    return v[0]


@member("`x not in array[i]`, a row of a matrix", [(jnp.array([[1, 3], [2, 4]]), 1), (jnp.array([[1, 3], [2, 4]]), 3)])
def in_row(m, k):
    count = 0
    for i in range(2):
        if k not in m[i]:
            count += 1
    return count


@member("`x in ()`", INTS)
def in_nothing(n):
    return 1 if n in () else n


@member("`x in {1, 2}` is Python's `TypeError`: arrays have no hash", INTS)
def in_set(n):
    if n in {2, 5}:
        return 1
    return n


@member('`s in ("a", "b")`, static, in a traced branch', REALS)
def in_strings(x):
    y = x
    for mode in ("a", "b", "c"):
        if mode in ("a", "c") and x > 1:
            y = y + x
        elif mode not in "ab":
            y = y * 2
    return y


@member("`(x, y) in ((0, 1), (2, 5))`", [(0, 1), (2, 4), (2, 5)])
def in_pairs(a, b):
    if (a, b) in ((0, 1), (2, 5)):
        return a + b
    return a - b


@member("`x in d.values()`, `d.items()` with traced values", INTS)
def in_values(n):
    d = {"a": n * 2, "b": 5}
    if n in d.values() and ("a", 0) not in d.items():
        return 1
    return 0


@member("`in` as an operand of `and`, `or`, `not` and in a chain", INTS)
def in_logic(n):
    a = 1 if n > 0 and n in (2, 3) else 0
    b = 2 if not (n in (0, 5) and n != 5) else 0
    c = 4 if 0 <= n in (2, 5, -1) else 0
    return a + b + c


@member("`in` as a value", INTS)
def in_value(n):
    small = n in (-1, 0, 1)
    return small * 10 + (n not in (0, 5))


@member("`in` in the test of a `while`", INTS)
def in_while(n):
    turns = 0
    while n in (0, 1, 2, 3):
        n += 1
        turns += 1
    return n * 10 + turns


@member("`in` in a loop, with `continue` and `break`", INTS)
def in_loop(n):
    total = 0
    for i in range(8):
        if i in (n, n + 2):
            continue
        if i in (6, n + 3):
            break
        total += i
    return total


@member("`x is None` in a container that holds None", REALS)
def none_in(x):
    y = x * 2 if x > 1 else None
    found = [v is None for v in (y, None, x)]
    return x if found[0] else x + len(found)


@member("`(x, 1) == (y, 1)`", PAIRS)
def tuples_equal(n, x):
    a = 1 if (n, 1) == (2, 1) else 0
    b = 2 if (n, x) != (0, 2.0) else 0
    return a + b + (4 if [n, (x, 0)] == [1, (-1.0, 0)] else 0)


@member("`==` of tuples of other lengths", PAIRS)
def tuples_of_other_lengths(n, x):
    return x if (n, x) == (n, x, 1) else -x


@member("`(x, y) < (y, x)`, lexicographic", [(2, 1), (0, 2), (1, 1)])
def tuples_less(a, b):
    return (1 if (a, b) < (b, a) else 0) + (2 if (a, 3) >= (1, b) else 0)


@member("`max((x, y))`, `min([x, y, z])`", PAIRS)
def largest(n, x):
    return max((n, x)) * 10 + min([n, x, 1.0])


@member("`sorted([x, y, z])`", PAIRS)
def in_order(n, x):
    low, middle, high = sorted([x, n * 1.0, 1.25])
    return low + 10 * middle + 100 * high


@member("`list[i]`, a traced index", INDICES)
def list_index(i):
    return [10, 20, 40][i] + 1


@member("`tuple[i]`, a traced index, negative too", each(-1, 0, -3))
def tuple_index(i):
    weights = (1.5, 2.5, 4.0)
    return weights[i] * 2


@member("`list[i]` of traced values", PAIRS)
def list_of_traced(i, x):
    values = [x, x * x, 1]
    return values[i]


@member("`list[i]` of arrays, of tuples and of lists", INDICES)
def list_of_arrays(i):
    rows = [jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0]), jnp.array([5.0, 6.0])]
    moves = [(0, 1), (1, 0), (0, -1)]
    a, b = moves[i]
    return rows[i].sum() + 10 * a + 100 * b + [[7], [8], [9]][i][0]


@member("`table[i][j]`, two traced indices", [(0, 1), (1, 0), (1, 1)])
def nested_list(i, j):
    table = [[1, 2], [3, 5]]
    return table[i][j]


@member("`numpy_array[i]`, `numpy_array[i, j]`", INDICES)
def numpy_index(i):
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return table[i, 0] + table[i][1] * 10


@member("`range(...)[i]`", INDICES)
def range_index(i):
    return range(3, 20, 4)[i] * 2


@member("`list[i]` in a loop and in a test", INDICES)
def list_index_in_loop(n):
    jumps = [2, 2, 1, 0]
    at, turns = n, 0
    while jumps[at] > 0 and turns < 5:
        at = at + jumps[at] if at + jumps[at] < 4 else 3
        turns += 1
    return at * 10 + turns


@member("`list[i]`, an index that is out of bounds is Python's `IndexError`", each(2, 7, -4))
def list_index_error(i):
    return [10, 20, 40][i]


@member("`len`, slices and `+` of lists of traced values", PAIRS)
def lists(n, x):
    values = [n, x] + [x] * 2
    head, tail = values[:2], values[2:]
    if tail[0] > 1:
        return sum(head) * len(values)
    return sum(tail[::-1], 1.0)


@member("`x[:n].sum()`, `max(x[n:])`: slices of traced length", SLICES)
def part_folded(x, n):
    return x[:n].sum() * 10 + max(x[n:]) + len(x[:n]) + jnp.mean(x[n:] * 2)


@member("`for v in x[:n]`, `zip(x[:n], x[n:])`", SLICES)
def part_iterated(x, n):
    s = 0.0
    for k, v in enumerate(x[:n]):
        s += k * v
    for a, b in zip(x[:n], x[n:]):
        s += a * b
    return s


def stored_in_parts(x, n):
    y = (x * 0).at[:n].set(x[:n])
    y = y.at[n:].set(x[n:] * 2)
    return y.at[1:n].add(10)


@member("`y[:n] = x[:n]`, `x[n:] += v`: stores through slices of traced length", SLICES, oracle=stored_in_parts)
def part_stored(x, n):
    y = x * 0
    y[:n] = x[:n]
    y[n:] = x[n:] * 2
    y[1:n] += 10
    return y


def masked_parts(x, n):
    big = x > n
    x = jnp.where(big, x * 2, x)
    return jnp.where(x > 1, x, 0).sum() + (~big).sum(), x


@member("`x[x > 0].sum()`, `x[mask] = x[mask] * v`: what a traced mask takes", SLICES, oracle=masked_parts)
def part_masked(x, n):
    big = x > n
    x[big] = x[big] * 2
    return x[x > 1].sum() + len(x[~big]), x


@member("`jnp.outer(x[:n], x)`, a shape is needed", SLICES, refused=traced("AG502"), why="XLA compiles for fixed shapes, and the length is not known")
def part_multiplied(x, n):
    return jnp.outer(x[:n], x).sum()


@member("`d[traced]`", INDICES, refused=traced("AG502"), why="a dict finds its keys by hash, and a traced value has none")
def dict_index(i):
    return {0: 10, 1: 20, 2: 40}[i]


@member('`"abc"[traced]`', INDICES, refused=traced("AG502"), why="no array holds strings")
def string_index(i):
    return len("abc"[i])


@member("`list[i]` of values of other shapes", INDICES, refused=traced("AG502"), why="the entries have no joint type")
def ragged_index(i):
    return [jnp.ones(1), jnp.ones(2), jnp.ones(3)][i].sum()


@member("`list[:traced]`", INDICES, refused=traced("AG502"), why="the length of a list must be static")
def traced_slice(n):
    return sum([10, 20, 40][:n])


@member("`x in (array, ...)` of several elements is Python's `ValueError`", vectors([1.0, 2.0], [3.0, 3.0]))
def in_arrays(v):
    return 1.0 if 3.0 in [v, v + 1] else 2.0
