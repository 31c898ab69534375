"""`for`, `while`, `break`, `continue`, `return` in loops, `else` on loops, targets."""

import itertools
from dataclasses import dataclass
from functools import partial

import jax.numpy as jnp
import numpy as np

from tests.corpora.language import construct, each, vectors

loop = partial(construct, section="Loops")

COUNTS = each(0, 1, 4, 7)
ROWS = vectors([1.0, 3.0, 2.0, 0.5], [0.25, -1.0, -2.0, 0.75], [5.0, -1.0, 2.5, 2.0])
TWO = [(a, a[::-1] * 2) for (a,) in ROWS]
MATRICES = [(jnp.array(m),) for m in ([[1.0, 2.0], [3.0, -4.0], [0.5, 6.0]], [[-1.0, 0.5], [0.25, 2.0], [4.0, 1.0]])]
REALS = each(-2.5, 0.5, 2.25, 5.5)


# --- range -------------------------------------------------------------------------------------------------------------------------------------


@loop("`range(n)`", COUNTS)
def range_stop(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


@loop("`range(n, 2 * n)`", COUNTS)
def range_start_stop(n):
    total = 0
    for i in range(n, 2 * n):
        total = total * 2 + i
    return total


@loop("`range(n, 5)`, empty for some `n`", COUNTS)
def range_start(n):
    total = 100
    for i in range(n, 5):
        total = total - i
    return total


@loop("`range(0, n, 3)`, a static step", COUNTS)
def range_static_step(n):
    total = 0
    for i in range(0, n, 3):
        total = total * 10 + i + 1
    return total


@loop("`range(n, -1, -2)`, a negative step", COUNTS)
def range_negative_step(n):
    total = 0
    for i in range(n, -1, -2):
        total = total * 3 + i
    return total


@loop("`range(0, 10, n)`, a traced step", each(1, 3, 10, -2))
def range_traced_step(n):
    total = 0
    for i in range(0, 10, n):
        total = total * 2 + i + 1
    return total


@loop("`range(a, b, c)`, all traced, of both directions", [(0, 7, 2), (9, 1, -3), (3, 3, 1), (1, 5, -1)])
def range_all_traced(a, b, c):
    total, last = 0, -100
    for i in range(a, b, c):
        total = total * 2 + i
        last = i
    return total, last


@loop("a traced step of zero is Python's `ValueError`", each(1, 0))
def range_zero_step(n):
    total = 0
    for i in range(0, 5, n):
        total += i
    return total


@loop("`range(n)` of a float is Python's `TypeError`", REALS)
def range_float(x):
    total = 0
    for i in range(x):
        total += i
    return total


@loop("`range(0)`, `range(5, 2)`: no iteration", REALS)
def range_empty(x):
    for _ in range(0):
        x = x * 2
    for i in range(5, 2):
        x = x + i
    return x


@loop("`reversed(range(n))`, `reversed(range(n, 9, 2))`", COUNTS)
def range_reversed(n):
    total = 0
    for i in reversed(range(n)):
        total = total * 2 + i
    for i in reversed(range(n, 9, 2)):
        total = total + i * i
    return total


@loop("`reversed(range(a, b, c))`, all traced", [(0, 7, 2), (9, 1, -3), (3, 3, 1), (1, 5, -1)])
def range_reversed_traced(a, b, c):
    total = 0
    for i in reversed(range(a, b, c)):
        total = total * 2 + i
    return total


@loop("`break` and `else` with a traced step", each(1, 2, 3, 9))
def range_traced_step_else(n):
    total = 0
    for i in range(10, 0, -n):
        if i == 4:
            break
        total += i
    else:
        total = -total
    return total


@loop("`range(n)[1:]`, a slice of a range, static", REALS)
def range_slice(x):
    total = 0.0
    for i in range(6)[1::2]:
        if x > i:
            total += x
    return total


@loop("`enumerate(range(2, n))`, `zip(range(n), range(n, 10))`", COUNTS)
def range_enumerate(n):
    total = 0
    for k, i in enumerate(range(2, n)):
        total += k * i
    for i, j in zip(range(n), range(n, 10)):
        total += i * j
    return total


@loop("`for _ in range(n)`", COUNTS)
def range_unused(n):
    x = 1
    for _ in range(n):
        x = x * 3 - 1
    return x


@loop("a static `range` with a traced `break`", COUNTS)
def range_static_break(n):
    total = 0
    for i in range(6):
        if i * 2 > n:
            break
        total += i
    return total


@loop("a long static `range`", COUNTS)
def range_long(n):
    total = 0
    for i in range(1000):
        if i % 7 == n:
            total += i
    return total


@loop("`range(len(v))`, `v[i]`, `v[i + 1]`", ROWS)
def range_len(v):
    total = 0.0
    for i in range(len(v) - 1):
        if v[i] > v[i + 1]:
            total += v[i] - v[i + 1]
    return total


@loop("`range(m.shape[0])`, `range(m.shape[1])`, `m[i, j]`", MATRICES)
def range_shape(m):
    total = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] > 0:
                total += m[i, j] * (i + j)
    return total


# --- arrays ------------------------------------------------------------------------------------------------------------------------------------


@loop("the elements of a vector", ROWS)
def elements(v):
    total = 0.0
    for x in v:
        if x > 0:
            total = total + x * x
    return total


@loop("the rows of a matrix", MATRICES)
def rows(m):
    total = jnp.zeros(2)
    for row in m:
        if row[0] > 0:
            total = total + row
    return total


@loop("`for a, b in matrix`", MATRICES)
def rows_unpacked(m):
    total = 0.0
    for a, b in m:
        total = total * a + b
    return total


@loop("`enumerate(v)`, `enumerate(v, 1)`", ROWS)
def enumerated(v):
    total = 0.0
    for i, x in enumerate(v):
        total += i * x
    for i, x in enumerate(v, 1):
        if i > 2:
            total = total * x
    return total


@loop("`zip(v, w)`", TWO)
def zipped(v, w):
    total = 0.0
    for x, y in zip(v, w):
        total += x if x > y else 2 * y
    return total


@loop("`zip` of other lengths, with a list and a range", TWO)
def zipped_lengths(v, w):
    total = 0.0
    for x, y in zip(v, w[1:]):
        total = total * 0.5 + x * y
    for k, x, weight in zip(range(10), v, [1.0, 2.0]):
        total += k * x * weight
    return total


@loop("`enumerate(zip(v, w))`, `for i, (x, y) in`", TWO)
def enumerated_zip(v, w):
    total = 0.0
    for i, (x, y) in enumerate(zip(v, w)):
        total += i * x if x > y else y
    return total


@loop("`zip(v, v[1:])`", ROWS)
def neighbours(v):
    rises = 0
    for x, y in zip(v, v[1:]):
        if y > x:
            rises += 1
    return rises


@loop("`reversed(v)`, `v[::-1]`", ROWS)
def reversed_elements(v):
    total = 0.0
    for x in reversed(v):
        total = total * 0.5 + x
    for x in v[::-1]:
        total = total * 0.5 - x
    return total


@loop("`break` in a loop over an array", ROWS)
def elements_break(v):
    total = 0.0
    for x in v:
        if x < 0:
            break
        total += x * x
    return total


@loop("`continue` in a loop over an array", ROWS)
def elements_continue(v):
    total = 1.0
    for x in v:
        if x < 0:
            continue
        total = total * x
    return total


@loop("`return` in a loop over an array", ROWS)
def elements_return(v):
    for i, x in enumerate(v):
        if x > 2:
            return i * x
    return -1.0


@loop("arrays in nested loops", ROWS)
def elements_nested(v):
    total = 0.0
    for i, x in enumerate(v):
        for y in v[:2]:
            if x < y:
                total += i * x * y
    return total


@loop("an array with no rows", vectors([]))
def no_rows(v):
    total = 1.0
    for x in v:
        total = total * x
        break
    else:
        total = total + 1
    return total


@loop("an array of one row", vectors([2.0], [-1.0]))
def one_row(v):
    for x in v:
        if x > 0:
            return x * 3
    return x


@loop("a single number is Python's `TypeError`", REALS)
def no_iteration(x):
    total = 0.0
    for y in x:
        total += y
    return total


@loop("an array that the body changes is iterated as it was", ROWS)
def changed_in_the_body(v):
    total = 0.0
    for x in v:
        v = v * 0.5
        total += x + v[0]
    return total, v


LIMITS = jnp.array([0.0, 1.0, 4.0])


@loop("an array that is not traced, with a traced `break`", REALS)
def concrete_break(x):
    total = 0.0
    for limit in LIMITS:
        if limit > x:
            break
        total += limit + x
    return total


@loop("`enumerate`, `zip` of an array that is not traced, with a traced `return`", REALS)
def concrete_return(x):
    for i, limit in enumerate(LIMITS):
        if limit > x:
            return i
    for a, b in zip(LIMITS, [1.0, 2.0, 6.0]):
        if a + b > x:
            return a
    return -1


# --- what is static ----------------------------------------------------------------------------------------------------------------------------


@loop("a static list", REALS)
def static_list(x):
    for w in [1.0, 2.0, 3.0]:
        if x > w:
            x = x - w
        else:
            x = x * 2 + w
    return x


@loop("a static tuple with a traced `break`", REALS)
def static_list_break(x):
    total = 0.0
    for w in (1, 2, 3, 4):
        if total > x:
            break
        total += w
    return total


@loop("a static list of traced values", REALS)
def list_of_traced(x):
    best = 0.0
    for y in [x, x * x, 3.0]:
        if y > best:
            best = y
    return best


@loop("`dict.items()`", REALS)
def dict_items(x):
    weights = {"a": 1.0, "b": x, "c": 3.0}
    total = 0.0
    for name, w in weights.items():
        if w > total and name != "c":
            total = total + w
    return total


@loop("a dict, with a traced `return`", REALS)
def dict_keys(x):
    weights = {"a": 1.0, "b": 3.0}
    for name in weights:
        if weights[name] > x:
            return weights[name] * 10
    return x


@loop("a string", REALS)
def string(x):
    for c in "ud-u":
        if c == "u":
            x = x + 1
        elif c == "d" and x > 1:
            x = x / 2
    return x


@loop("a string with a traced `break`", REALS)
def string_break(x):
    turns = 0
    for c in "abab":
        if x > 6:
            break
        x = x + 2 if c == "a" else x * 1.5
        turns += 1
    return x, turns


@loop("a set, a frozenset of one", REALS)
def sets(x):
    for k in {3}:
        if x > k:
            x = x - k
    return x


@loop("a generator expression", REALS)
def generator_expression(x):
    total = 0.0
    for y in (k * x for k in range(3)):
        if y > 1:
            total += y
    return total


def halves(x, n):
    for _ in range(n):
        x = x / 2
        yield x


@loop("a generator", REALS)
def generator(x):
    total = 0.0
    for y in halves(x, 3):
        if y > 0.3:
            total += y
        else:
            total -= 1
    return total


@loop("`itertools`, `map`, `dict.values()`, static", REALS)
def iterators(x):
    total = 0.0
    for a, b in itertools.product((1, 2), (3, 4)):
        if x > a:
            total += b
    for y in map(lambda k: k * x, (1, 2)):
        total = y if y > total else total
    for w in {"a": x, "b": 2}.values():
        total += w
    return total


@loop("a generator with a traced `break`", REALS)
def generator_break(x):
    total = 0.0
    for y in halves(x, 3):
        if y < 1:
            break
        total += y
    return total


@loop("`itertools.count()` with a traced `break`", COUNTS)
def endless(n):
    for i in itertools.count():
        if i * i >= n:
            break
    return i


# --- while -------------------------------------------------------------------------------------------------------------------------------------


@loop("`while`", COUNTS)
def while_(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


@loop("`while` on floats", each(2.0, 10.0, 0.5, 1.0))
def while_floats(x):
    y = x
    while abs(y * y - x) > 1e-3:
        y = (y + x / y) / 2
    return y


@loop("`and`, `or`, `not`, chains in the test of a `while`", COUNTS)
def while_logic(n):
    i = 0
    while not i >= n and (i < 3 or i * i < 20) and 0 <= i < 6:
        i += 1
    return i


@loop("a walrus in the test of a `while`", COUNTS)
def while_walrus(n):
    i = 0
    while (square := i * i) < n:
        i += 1
    return i * 100 + square


@loop("a walrus in an operand of the test of a `while`", COUNTS)
def while_walrus_lazy(n):
    i, left = 0, -1
    while i < 5 and (left := n - i) > 1:
        i += 1
    return i * 100 + left


@loop("`while True` with a traced `break`", COUNTS)
def while_true(n):
    i = 0
    while True:
        if i * i >= n:
            break
        i += 1
    return i


@loop("`while True` with `return`s only", COUNTS)
def while_true_return(n):
    i = 0
    while True:
        i += 1
        if i * i > n:
            return i
        if i == 2 and n == 7:
            return -i


@loop("`while True` with several `break`s and `continue`", COUNTS)
def while_true_breaks(n):
    i, total = 0, 0
    while True:
        i += 1
        if i > 10:
            break
        if i % 3 == 0:
            continue
        total += i
        if total > n:
            total = -total
            break
    return total, i


@loop("a test that is static at first and becomes traced", COUNTS)
def becomes_traced(n):
    x, turns = 0, 0
    while x < 10:
        x = x + 1 if turns < 2 else x + n + 1
        turns += 1
    return x * 100 + turns


@loop("a test on a flag that the body sets", COUNTS)
def while_flag(n):
    i, running = 0, True
    while running:
        i += 1
        running = i < n
    return i


@loop("a test that stays static, with a traced branch", REALS)
def while_static(x):
    k = 0
    while k < 3:
        if x > k:
            x = x - k
        k += 1
    return x, k


@loop("a test that calls a function", COUNTS)
def while_call(n):
    def small(i):
        if i > 4:
            return False
        return i < n

    i = 0
    while small(i):
        i += 1
    return i


# --- break, continue, return, else -------------------------------------------------------------------------------------------------------------


@loop("`break` in `if`, `elif`, `else`", COUNTS)
def break_in_branches(n):
    total = 0
    for i in range(8):
        if i == n:
            total += 100
            break
        elif i % 2:
            if total > 10:
                break
            total += i
        else:
            total += 2
        total += 1
    return total


@loop("`continue`, code after it", COUNTS)
def continue_(n):
    i, total = 0, 0
    while i < n:
        i += 1
        if i % 2 == 0:
            if i == 4:
                continue
            total += 10
        total += i
    return total


@loop("`break`, `continue` and `return` in one loop", COUNTS)
def all_jumps(n):
    total = 0
    for i in range(n):
        if i == 1:
            continue
        if i == 6:
            return -total
        if total > 10:
            break
        total += i + 4
    total += 1000
    return total


@loop("`break` of the inner loop only", COUNTS)
def break_inner(n):
    total = 0
    for i in range(n):
        j = 0
        while True:
            if j > i:
                break
            j += 1
            total += j
        total += i
    return total


@loop("`return` of nested loops", each(0, 4, 6, 50))
def return_nested(n):
    for i in range(4):
        for j in range(4):
            if i * j == n:
                return 10 * i + j
    return -1


@loop("`break` and `continue` at three levels", COUNTS)
def jumps_nested(n):
    total = 0
    for i in range(3):
        for j in range(n):
            if j == i:
                continue
            k = 0
            while k < 4:
                k += 1
                if k + j == 4:
                    break
                total += 1
            if total > 12:
                break
            total += 10
        else:
            continue
        total += 100
        if i == 2:
            return -total
    return total


@loop("`else` on `for`", COUNTS)
def for_else(n):
    for i in range(5):
        if i == n:
            found = i * 10
            break
    else:
        found = -1
    return found


@loop("`else` on `while`", COUNTS)
def while_else(n):
    i = 0
    while i < 5:
        if i * i == n:
            break
        i += 1
    else:
        i = 50
    return i


@loop("`else` on a loop over an array", ROWS)
def elements_else(v):
    total = 0.0
    for x in v:
        if x < -1:
            break
        total += x
    else:
        total = total * 10
    return total


@loop("`else` with `return`, `break` of the outer loop", COUNTS)
def else_jumps(n):
    total = 0
    for i in range(2, 6):
        for j in range(2, i):
            if i % j == 0:
                break
        else:
            total += i
            if total > n:
                break
            continue
        if n == 4:
            return -i
    else:
        return 100
    return total


@loop("`else` on a loop that nothing leaves", COUNTS)
def else_always(n):
    total = 0
    for i in range(n):
        total += i
    else:
        total += 100
    while total > 110:
        total -= 3
    else:
        total = -total
    return total


@loop("`return` of a tuple from a loop, of another after it", COUNTS)
def return_tuples(n):
    for i in range(5):
        if i * i >= n:
            return i, (n, 1)
    return -1, (0, n)


@loop("code after loops that return", COUNTS)
def after_returns(n):
    for i in range(3):
        if i == n:
            return 1
    total = n
    while total > 3:
        if total == 5:
            return 2
        total -= 1
    return total * 10


# --- variables ---------------------------------------------------------------------------------------------------------------------------------


@loop("the loop variable after the loop", COUNTS)
def target_after(n):
    i = -1
    for i in range(n):
        if i == 3:
            break
    return i


@loop("the loop variable, an element, after the loop", ROWS)
def element_after(v):
    for x in v:
        if x < 0:
            break
    return x * 2


@loop("a loop variable that the body changes", COUNTS)
def target_changed(n):
    total = 0
    for i in range(n):
        i = i * 2
        total += i
    else:
        i = total
    return i + total


@loop("a variable first set in the loop, which certainly runs", REALS)
def first_set_inside(x):
    for i in range(3):
        y = x * i if x > 1 else x
        z = y + 1
    return y * z


@loop("variables that change places", COUNTS)
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@loop("a variable of the iteration before", ROWS)
def previous(v):
    before, total = 0.0, 0.0
    for x in v:
        if x > before:
            total += x - before
        before = x
    return total


@loop("nested loops whose bounds depend on outer variables", COUNTS)
def nested_bounds(n):
    total = 0
    for i in range(n):
        for j in range(i, n):
            k = 0
            while k < j - i:
                k += 1
                total += k
    return total


@loop("a bound that the body changes", COUNTS)
def bound_changed(n):
    turns = 0
    for i in range(n):
        n = n + 1
        turns += 1
    return turns * 100 + n


@loop("loops one after another that share variables", COUNTS)
def one_after_another(n):
    total = 0
    for i in range(n):
        total += i
    while total > 5:
        total -= 2
    for i in range(total):
        total = total + i
    return total * 10 + n


@loop("a loop in a branch, a branch in a loop", COUNTS)
def loop_in_branch(n):
    if n > 2:
        s = 0
        while s < n:
            s += 2 if s % 4 else 3
    else:
        s = -n
        for i in range(n):
            s += i + 7
    return s


@loop("a closure over a variable that the loop changes", COUNTS)
def captured(n):
    x = 1

    def double():
        return 2 * x

    for _ in range(n):
        x = double() - 1 + x
    return x + double()


@loop("calls of functions that loop and return early", COUNTS)
def calls(n):
    def first_multiple(k, limit):
        for i in range(1, limit):
            if i * k > n:
                return i * k
        return limit

    total = 0
    for k in range(1, 4):
        total += first_multiple(k, 5)
    return total


@loop("`del` of a variable in a loop", COUNTS)
def deleted(n):
    total = 0
    for i in range(n):
        square = i * i
        total += square
        del square
    return total


@loop("`pass` as the body", COUNTS)
def pass_body(n):
    for i in range(n):
        pass
    while n > 10:
        ...
    return n


# --- targets -----------------------------------------------------------------------------------------------------------------------------------


@loop("`for (a, b), c in`", TWO)
def nested_target(v, w):
    total = 0.0
    for (x, y), k in zip(zip(v, w), range(4)):
        total += x * k if y > x else y
    return total


@loop(
    "`for first, *rest in`, rows of a matrix", [(jnp.array(m),) for m in ([[1.0, 2.0, 3.0], [3.0, -4.0, 1.0]], [[-1.0, 0.5, 2.0], [0.25, 2.0, 1.0]])]
)
def starred_target(m):
    total = 0.0
    for first, *rest in m:
        if first > 0:
            total += first * rest[0] + rest[-1] * len(rest)
    return total


@loop("`for a, *_ in`, static tuples of traced values", REALS)
def starred_static(x):
    total = 0.0
    for first, *rest in ((x, 1.0), (2.0, x, x)):
        if first > 1:
            total += first
        total += sum(rest)
    return total


@dataclass
class Box:
    value: float = 0.0
    turns: int = 0


@loop(
    "`for box.value in`",
    ROWS,
)
def attribute_target(v):
    box = Box()
    total = 0.0
    for box.value in v:
        if box.value > 0:
            total += box.value
    return total + box.value


@loop(
    "`for d[key] in`",
    ROWS,
)
def subscript_target(v):
    d = {"x": 0.0}
    total = 0.0
    for d["x"] in v:
        if d["x"] > 0:
            total += d["x"]
    return total + d["x"]


def store_target_oracle(v):
    w = jnp.zeros(3)
    total = 0.0
    for x in v:
        w = w.at[1].set(x)
        total += w[1] if w[1] > 0 else 0.0
    return w, total


@loop("`for x[i] in`, an array", ROWS, oracle=store_target_oracle)
def store_target(v):
    w = jnp.zeros(3)
    total = 0.0
    for w[1] in v:
        if w[1] > 0:
            total += w[1]
    return w, total


@loop(
    "attributes of an object made in the function, changed by the body",
    COUNTS,
)
def attribute_state(n):
    box = Box()
    for i in range(n):
        box.value += i * 0.5
        if i > 2:
            box.turns += 1
    return box.value + box.turns


@loop(
    "entries of a list made in the function, changed by the body",
    COUNTS,
)
def list_state(n):
    counts = [0, 0]
    for i in range(n):
        counts[0] += i
        if i > 2:
            counts[1] = counts[0] + 1
    return counts[0] * 10 + counts[1]


def sorted_oracle(v):
    return jnp.sort(v)


@loop("`x[i], x[j] = x[j], x[i]`, an array", ROWS, oracle=sorted_oracle)
def bubble_sort(v):
    for i in range(len(v)):
        for j in range(len(v) - 1 - i):
            if v[j] > v[j + 1]:
                v[j], v[j + 1] = v[j + 1], v[j]
    return v


def counts_oracle(n):
    x = np.zeros(5)
    for i in range(int(n)):
        x[i % 5] += i * 2.0
        x[1:3] += 1
    return jnp.asarray(x)


@loop("`x[i] = v`, `x[a:b] += v` with a traced index, an array", COUNTS, oracle=counts_oracle)
def item_stores(n):
    x = jnp.zeros(5)
    for i in range(n):
        x[i % 5] = x[i % 5] + i * 2.0
        x[1:3] += 1
    return x
