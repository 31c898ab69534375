"""Variables that is set depending on traced values, or to be None."""

import math
from functools import partial

import jax
import jax.numpy as jnp

from tests.corpora.language import construct, each, traced, vectors

optional = partial(construct, section="Unset and None")

COUNTS = each(0, 1, 2, 5)
SET = each(2, 3, 5)
REALS = each(-2.5, 0.5, 2.25, 5.5)
ROWS = vectors([1.0, 5.0, -3.0], [-1.0, -2.0, -3.0], [-1.0, 4.0, 2.0])
UNSET = {"refused": {"vmap": "AG301"}, "why": "it is undefined in some lanes, and under `vmap` no error code is checked"}
NONE = {"refused": {"vmap": "AG302"}, "why": "it may be None in some lanes, and no array is"}


# --- None --------------------------------------------------------------------------------------------------------------------------------------


@optional("`best = None`, `if best is None or x > best`", ROWS)
def best_of(v):
    best = None
    for x in v:
        if best is None or x > best:
            best = x
    return best


@optional("`best = None` over an array with no rows", vectors([]))
def best_of_nothing(v):
    best = None
    for x in v:
        if best is None or x > best:
            best = x
    return best


def best_positive(v):
    best = None
    for x in v:
        if x > 0 and (best is None or x > best):
            best = x
    return best


@optional("a result that may be None", ROWS, **NONE)
def result_none(v):
    return best_positive(v)


@optional("no `return` on some paths", REALS, **NONE)
def falls_through(x):
    if x > 1:
        return x * 2


@optional("`return` without a value on some paths", REALS, **NONE)
def bare_return(x):
    if x < 0:
        return
    return x * 2


@optional("a tuple or None", REALS, **NONE)
def tuple_or_none(x):
    return (x, 2 * x) if x > 1 else None


@optional("a tuple one entry of which may be None", REALS, **NONE)
def entry_none(x):
    return x, (x * 2 if x > 1 else None)


@optional("an optional result of a helper, tested with `is None`", ROWS)
def tested(v):
    best = best_positive(v)
    if best is None:
        return -1.0
    return best * 2


@optional("`if best is not None`, code after it", ROWS)
def tested_not_none(v):
    best = best_positive(v)
    total = 1.0
    if best is not None and best > 1:
        total = total + best
    return total


@optional("`y if best is not None else z`", ROWS)
def tested_ternary(v):
    best = best_positive(v)
    return best * 2 if best is not None else 0.0


@optional("the truth of what may be None", ROWS)
def tested_truth(v):
    best = best_positive(v)
    return best * 2 if best else 7.0


@optional("`best or default`", ROWS)
def or_default(v):
    best = best_positive(v)
    return (best or 0.5) * 2


@optional("`best == None`, `!=`", ROWS)
def compared_none(v):
    best = best_positive(v)
    return (1 if best == 5 else 0) + (2 if best != 4 else 0)


@optional("an optional result that is used without a test is Python's `TypeError`", ROWS, **NONE)
def not_tested(v):
    return best_positive(v) + 1


@optional("an attribute of what may be None is Python's `AttributeError`", ROWS, **NONE)
def attribute(v):
    return best_positive(v).dtype.itemsize + v


@optional("a guard clause `if best is None: return`, as helper", ROWS)
def guard_clause(v):
    def normalized(w):
        best = best_positive(w)
        if best is None:
            return None
        return w / best

    w = normalized(v)
    if w is None:
        return v
    return w


@optional("the index of what is found, or None", ROWS)
def found_at(v):
    def index(x):
        for i, e in enumerate(v):
            if e == x:
                return i
        return None

    k = index(5.0)
    return -1 if k is None else k * 10


@optional("a tuple that is None at first", ROWS)
def tuple_at_first(v):
    best = None
    for i, x in enumerate(v):
        if x > 0 and (best is None or x > best[1]):
            best = (i, x)
    if best is not None:
        i, x = best
        return i + x
    return 0.0


@optional("a variable that is None again", ROWS)
def none_again(v):
    last, total = None, 0.0
    for x in v:
        if last is not None:
            total += last * x
        last = x if x > 0 else None
    return total


@optional("the element before, None at first", ROWS)
def previous(v):
    before, rises = None, 0
    for x in v:
        if before is not None and x > before:
            rises += 1
        before = x
    return rises


@optional("`while last is None or ...`", REALS)
def while_none(x):
    x, last = abs(x) + 4, None
    while last is None or abs(x - last) > 0.5:
        last = x
        x = x / 2
    return x, last


@optional("`while rest is not None`", COUNTS)
def while_not_none(n):
    rest, turns = n, 0
    while rest is not None:
        rest = rest - 1 if rest > 1 else None
        turns += 1
    return turns


@optional("a string or None, tested with `is None`", REALS)
def string_or_none(x):
    note = None
    if x > 1:
        note = "large"
    return x if note is None else 2.0 * len(note)


@optional("an optional argument of a helper", REALS)
def optional_argument(x):
    def shifted(y, by=None):
        if by is None:
            by = 10.0
        return y + by

    return shifted(x, x * 2 if x > 1 else None) + shifted(x)


@optional("two optionals, one assigned to the other", REALS)
def optional_moved(x):
    a = x if x > 1 else None
    b = None
    if x > 4:
        a, b = b, a
    return (0.0 if a is None else a) + (100.0 if b is None else b * 2)


@optional("what is tested as argument of a `jnp` function", REALS)
def argument(x):
    y = x if x > 1 else None
    if y is None:
        return -1.0
    return jnp.tanh(y) + jnp.maximum(0.5, y)


@optional("what is tested as argument by keyword, and in a list", REALS)
def argument_by_keyword(x):
    y = x if x > 1 else None
    if y is not None:
        return jnp.clip(x, max=y) + jnp.stack([x, y]).sum()
    return -1.0


@optional("what is tested in `jnp` functions of a loop, `None` at first", ROWS)
def argument_in_loop(v):
    largest = None
    for x in v:
        if largest is None or jnp.abs(x) > jnp.abs(largest):
            largest = x
    return 0.0 if largest is None else jnp.tanh(largest)


@optional("what is tested in `abs`, `max`, `min`", ROWS)
def argument_of_builtins(v):
    best = best_positive(v)
    if best is None:
        return 0.0
    return abs(best) + max(best, 2.0) + min(3.0, best)


@optional("what is tested in `math.sqrt`", ROWS, oracle=lambda v: jnp.sqrt(v.max()) if v.max() > 0 else -1.0)
def argument_of_math(v):
    best = best_positive(v)
    return math.sqrt(best) if best is not None else -1.0


@optional("what is tested as an index, in `v[k]`, `v.at[k].set(...)`, `list[k]`", ROWS)
def as_index(v):
    k = None
    for i, x in enumerate(v):
        if x > 1:
            k = i
            break
    if k is None:
        return v
    return v.at[k].set(7.0) + v[k] + [1.0, 2.0, 3.0][k]


@optional("what is tested in `range(k)`, in the test of a `while`", ROWS)
def as_bound(v):
    k, total = None, 0.0
    for i, x in enumerate(v):
        if x > 1:
            k = i + 1
    if k is not None:
        for i in range(k):
            total += v[i]
        while k < 5:
            k += 1
            total += 1
    return total


@optional("an array or None: its rows, methods and shape, tested", ROWS)
def array_or_none(v):
    w = v * 2 if v[0] > 0 else None
    if w is None:
        return 0.0
    total = w.sum() + w.shape[0]
    for x in w:
        total += x
    return total + w.at[0].get()


@optional("what is tested in `jax.grad`, `lax.fori_loop`", REALS)
def in_transformations(x):
    y = x if x > 1 else None
    if y is None:
        return -1.0
    return jax.grad(lambda t: t * t)(y) + jax.lax.fori_loop(0, 3, lambda i, c: c + y, 0.0)


@optional("`isinstance(y, ...)` of what may be None", REALS)
def is_instance(x):
    y = x * 2 if x > 1 else None
    return 1.0 if isinstance(y, type(None)) else 2.0


@optional("`jax.tree.map` of what may be None", REALS, refused=traced("AG302"), why="the structure must be static; say `is None`")
def tree_map(x):
    y = jax.tree.map(lambda leaf: leaf * 2, x if x > 1 else None)
    return -1.0 if y is None else y


@optional("`jax.tree.map` of what is tested before", REALS)
def tree_map_tested(x):
    y = x if x > 1 else None
    z = x + 1 if x > 4 else y
    return jax.tree.map(lambda leaf: leaf * 2, z) if z is not None else -1.0


@optional("one optional returned for another", COUNTS, **NONE)
def optional_for_another(n):
    a = n if n > 4 else None
    b = n + 1 if n > 1 else None
    if a is None:
        return b
    return a


# --- unset -------------------------------------------------------------------------------------------------------------------------------------


@optional("a variable set in one branch, read after the branch", COUNTS, **UNSET)
def set_on_one_side(n):
    if n > 1:
        y = n * 2
    return y + 1


@optional("a variable set in one branch, by every input", SET, **UNSET)
def always_set(n):
    if n > 1:
        y = n * 2
    return y + 1


@optional("a variable set in a loop that may not run", COUNTS, **UNSET)
def set_in_loop(n):
    for i in range(n):
        last = i * 2
    return last + 1


@optional("the loop variable of a loop that may not run", COUNTS, **UNSET)
def target(n):
    for i in range(n):
        pass
    return i


@optional("a variable set in a loop over an array that has rows", ROWS)
def set_over_rows(v):
    for x in v:
        last = x * 2
    return last + x


@optional("a variable set in a loop over an array with no rows", vectors([]))
def set_over_nothing(v):
    for x in v:
        last = x * 2
    return last


@optional("a variable that a flag guards", COUNTS, refused={"vmap": "AG301"}, why="that the flag guards it, only the values know")
def flag(n):
    found = False
    for i in range(n):
        if i * i >= 4:
            found, at = True, i
    return at if found else -1


@optional("a variable set and read under the same test", REALS, refused={"vmap": "AG301"}, why="that both tests are one, only the values know")
def same_test(x):
    if x > 1:
        y = x * 2
    x = x + 1 if x > 1 else x
    if x > 2:
        return y + x
    return x


@optional("a variable read in a later iteration", COUNTS, **UNSET)
def later_turn(n):
    total = 0
    for i in range(n):
        if i == 1:
            step = 3
        if i >= 1:
            total += step
    return total


@optional("a variable read too early in a loop", COUNTS, **UNSET)
def too_early(n):
    total = 0
    for i in range(n):
        total += step
        if i == 1:
            step = 3
    return total


@optional("a variable that is surely unset", COUNTS)
def surely_unset(n):
    y = n
    del y
    return y + 1


@optional("a variable that is surely unset, in a branch that is not taken", SET, **UNSET)
def surely_unset_not_taken(n):
    if n < 0:
        return later
    later = n
    return later


@optional("`del` in one branch", COUNTS, **UNSET)
def deleted(n):
    y = n
    if n > 1:
        del y
    return y


@optional("`del` in one branch, set again", COUNTS)
def deleted_and_set(n):
    y = n
    if n > 1:
        del y
        y = n * 3
    return y


@optional("`del` in a loop of what the iteration has set", COUNTS)
def deleted_in_loop(n):
    total = 0
    for i in range(n):
        if i > 1:
            t = i * i
            total += t
            del t
    return total


@optional("two variables, the error of the first that is read", COUNTS, **UNSET)
def two_errors(n):
    if n > 1:
        a = n
    if n > 2:
        b = n
    return a + b


@optional("an unset variable in the test of a loop", COUNTS, **UNSET)
def in_a_test(n):
    if n > 1:
        stop = n
    k = 0
    while k < stop:
        k += 1
    return k


@optional("an unset variable that a closure reads", COUNTS, **UNSET)
def in_a_closure(n):
    if n > 1:
        y = n

    def get():
        return y + 1

    return get()


@optional("None in one branch, undefined after the other", COUNTS, **UNSET)
def none_and_unset(n):
    if n > 0:
        y = None if n > 1 else n
    return jnp.ones(2) if y is None else jnp.zeros(2)


@optional("undefined after one branch and not read", COUNTS)
def not_read(n):
    if n > 1:
        y = n * 2
        n = y
    return n
