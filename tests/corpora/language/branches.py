"""`if`, conditional expressions, `and`, `or`, `not`, comparisons, walrus."""

from functools import partial

import jax.numpy as jnp

from tests.corpora.language import construct, each, vectors

branch = partial(construct, section="Branches")

REALS = each(-2.5, 0.5, 2.25, 5.5)
INTS = each(-3, 0, 2, 5)
PAIRS = [(-2.0, 1.5), (0.5, 0.25), (3.0, -1.0), (5.0, 7.0)]


@branch("`if`, `else`, a variable set in both branches", REALS)
def if_else(x):
    if x > 1:
        y = x * x
    else:
        y = -x
    return y + 1


@branch("`if`, `elif`, `else`", REALS)
def elif_chain(x):
    if x > 4:
        y = 1.0
    elif x > 1:
        y = x * 2
    elif x > 0:
        y = x * x
    else:
        y = x - 1
    return y * x


@branch("`if`, `elif` without `else`", REALS)
def elif_without_else(x):
    y = x
    if x > 4:
        y = x / 2
    elif x < 0:
        y = -x * 3
    return y


@branch("twenty `elif`", INTS)
def twenty_elifs(n):
    if n == 0:
        y = 10
    elif n == 1:
        y = 11
    elif n == 2:
        y = 12
    elif n == 3:
        y = 13
    elif n == 4:
        y = 14
    elif n == 5:
        y = 15
    elif n == 6:
        y = 16
    elif n == 7:
        y = 17
    elif n == 8:
        y = 18
    elif n == 9:
        y = 19
    elif n == 10:
        y = 20
    elif n == 11:
        y = 21
    elif n == 12:
        y = 22
    elif n == 13:
        y = 23
    elif n == 14:
        y = 24
    elif n == 15:
        y = 25
    elif n == 16:
        y = 26
    elif n == 17:
        y = 27
    elif n == 18:
        y = 28
    elif n == 19:
        y = 29
    else:
        y = n
    return y * 2


@branch("a variable set in one branch only", REALS)
def one_side(x):
    y = 10.0
    if x > 0:
        y = x
        x = x + 1
    return x * y


@branch("several variables, each set in another branch", REALS)
def several_variables(x):
    a, b, c = 1.0, 2.0, 3.0
    if x > 1:
        a = x
        c = a * b
    else:
        b = x
    return a + 10 * b + 100 * c


@branch("two variables swapped in a branch", PAIRS)
def swapped(a, b):
    if a > b:
        a, b = b, a
    return b - 2 * a


@branch("augmented assignments in a branch", REALS)
def augmented(x):
    y = x
    if x > 0:
        y += 1
        y *= x
        y -= 3
        y /= 2
    else:
        y **= 2
    return y


@branch("`//=`, `%=`, `<<=`, `|=`, `&=`, `^=` in a branch", INTS)
def augmented_integers(n):
    m = n
    if n > 1:
        m //= 2
        m <<= 3
        m |= 1
    else:
        m %= 4
        m ^= 6
        m &= 3
    return m


@branch("nested `if`", REALS)
def nested(x):
    y = 0.0
    if x > 0:
        if x > 1:
            if x > 4:
                y = 3 * x
            else:
                y = 2 * x
        else:
            y = x
    return y


@branch("`if` in each branch of an `if`", PAIRS)
def nested_both_sides(a, b):
    if a > 0:
        if b > 0:
            q = a * b
        else:
            q = a - b
    else:
        if b > 1:
            q = b
        else:
            q = a
    return q


@branch("`if` after `if` on what the first has set", REALS)
def one_after_another(x):
    if x > 1:
        x = x - 2
    if x > 1:
        x = x * 3
    if x < 0:
        x = x * x
    return x


@branch("a branch that changes the variable of its test", REALS)
def changes_its_test(x):
    if x < 0:
        x = -x
    elif x > 2:
        x = 2 + x / 2
    return x


@branch("`return` in both branches", REALS)
def return_on_both(x):
    if x > 1:
        return x * x
    else:
        return 1 - x


@branch("`return` in one branch, code after the `if`", REALS)
def return_on_one(x):
    if x > 1:
        return x
    y = x * 2
    return y - 1


@branch("`return` in the `else` only", REALS)
def return_in_else(x):
    if x > 1:
        y = x * 2
    else:
        return -x
    return y + 1


@branch("guard clauses", REALS)
def guard_clauses(x):
    if x < 0:
        return 0.0
    if x < 1:
        return x
    if x > 5:
        return 5.0
    y = x * x
    if y > 20:
        return 20 - x
    return y


@branch("`return` in branches at several levels, code after each", PAIRS)
def return_at_levels(a, b):
    y = a
    if a > 0:
        if b > 0:
            if a > 4:
                return a * 100
            y = y + b
        elif b < -3:
            return b
        y = y * 2
        if y > 5:
            return y + 1000
    return y - b


@branch("`return` of a tuple", PAIRS)
def return_tuple(a, b):
    if a > b:
        return a, b
    return b * 2, a


@branch("`return` of a dict", PAIRS)
def return_dict(a, b):
    if a > b:
        return {"low": b, "high": a}
    return {"low": a, "high": b}


@branch("`return` of an int in one branch, a float in the other", REALS)
def return_numbers(x):
    if x > 1:
        return 1
    return x


@branch("`a if c else b`", REALS)
def ternary(x):
    return x * x if x > 1 else -x


@branch("nested conditional expressions", REALS)
def ternary_nested(x):
    return (x if x > 4 else x * 2) if x > 1 else (x * 3 if x < 0 else 0.25)


@branch("a chain of conditional expressions", REALS)
def ternary_chain(x):
    return 1.0 if x > 4 else x if x > 1 else x * x if x > 0 else -1.0


@branch("a conditional expression that yields tuples", PAIRS)
def ternary_tuples(a, b):
    p = (a, (b, 1)) if a > b else (b, (a, 2))
    return p[0] * p[1][0] + p[1][1]


@branch("a conditional expression that is unpacked", PAIRS)
def ternary_unpacked(a, b):
    low, high = (a, b) if a < b else (b, a)
    return high - 2 * low


@branch("a conditional expression that yields None, tested with `is None`", REALS)
def ternary_none(x):
    y = x * 2 if x > 1 else None
    return 0.5 if y is None else y + 1


@branch("a conditional expression as argument and operand", PAIRS)
def ternary_operand(a, b):
    return abs(a if a < b else b) * 2 + (1 if a > 0 else -1) * jnp.maximum(b if b > 0 else a, 0.5)


@branch("a conditional expression in a `lambda`", PAIRS)
def ternary_lambda(a, b):
    relu = lambda y: y if y > 0 else 0.1 * y
    return relu(a) + relu(b)


@branch("`and`, `or`, `not` in tests", INTS)
def logic(n):
    a = 1 if n > 0 and n < 3 else 0
    b = 2 if n < 0 or n > 4 else 0
    c = 4 if not n > 1 else 0
    d = 8 if not (n > 0 and not n == 2) or n == 5 else 0
    return a + b + c + d


@branch("`and`, `or` as values", REALS)
def operands(x):
    return (x > 1 and x) + (x - 0.5 or 20.0) + (x < 0 and -x or x * 3)


@branch("`not` as a value", INTS)
def not_value(n):
    return (not n) + 2 * (not n > 1)


@branch("`and` whose right operand is only evaluated when the left is true", PAIRS)
def short_circuit(a, b):
    if a > 0 and 1 / a < 1 and b / a > 0.5:
        return b / a
    return a


@branch("`and`, `or` with operands that are not numbers", REALS)
def mixed_operands(x):
    name, empty = "here", []
    if x > 1 and name:
        return x
    if empty or not name or x < -1:
        return 2.0
    return 3.0


@branch("`and` whose static left operand protects an index", REALS)
def protected_index(x):
    weights = [1.0, 2.0, 3.0]
    total = 0.0
    for i in range(5):
        if i < len(weights) and weights[i] < x:
            total += weights[i] * x
    return total


@branch("`0 <= x < n`", INTS)
def chained(n):
    return (1 if 0 <= n < 3 else 0) + (2 if -4 < n <= 2 < 4 else 0) + (4 if 0 < n + 1 < 3 < 5 else 0)


@branch("`a < b == c != d`", PAIRS)
def chained_equalities(a, b):
    if a < b == b != a:
        return a
    return b


@branch("a chained comparison whose middle is evaluated once", REALS)
def chained_walrus(x):
    if 0 < (y := x - 1) < 3:
        return y
    return -y


@branch("the truth of a number", INTS)
def truth(n):
    y = 0
    if n:
        y = 10
    if not n - 2:
        y += 5
    return y


@branch("`&`, `|`, `~` of truth values in tests", PAIRS)
def bitwise(a, b):
    if (a > 0) & (b > 0) | (a > 4):
        return a * b
    return a - b


@branch("a truth value kept in a variable", PAIRS)
def truth_variable(a, b):
    larger = a > b
    positive = larger and b > -2
    if positive:
        a = a * 2
    return a if larger else b


@branch("a parameter that is a bool", [(True, 1.5), (False, 1.5)])
def bool_parameter(flag, x):
    if flag:
        return x * 2
    return x + 1


@branch("`max`, `min`, `abs` of numbers in a test", PAIRS)
def builtins_in_tests(a, b):
    if max(a, b) > 2 * min(a, 1.0) and abs(a) < 4:
        return max(a, b, 1.0)
    return min((a, b))


@branch("a walrus in the test of an `if`", REALS)
def walrus_if(x):
    if (y := x * 2) > 3:
        return y
    return y - 1


@branch("a walrus in the test of an `elif`", REALS)
def walrus_elif(x):
    if x > 4:
        y = 1.0
    elif (y := x * 3) > 2:
        y = y + 1
    return y * x


@branch("a walrus in an operand of `and` that may not be evaluated", REALS)
def walrus_lazy(x):
    if x > 0 and (y := x * x) > 1:
        return y + 1
    return x


@branch("a walrus in an operand of `or`, over a variable that exists", REALS)
def walrus_or(x):
    y = 0.25
    if x < 0 or (y := x * x) > 5:
        x = x + 1
    return x * y


@branch("a walrus in a conditional expression", REALS)
def walrus_ternary(x):
    return (y := x * 2) + y if (z := x - 1) > 0 else z * 3


@branch("a walrus in a comprehension", REALS)
def walrus_comprehension(x):
    total = 0.0
    steps = [total := total + k * x for k in (1, 2, 3)]
    if total > 3:
        return steps[0] + total
    return steps[1]


@branch("a walrus in the condition of a comprehension over static values", REALS)
def walrus_condition(x):
    kept = [y * x for k in (1, 2, 3) if (y := k * 2) > 2]
    return kept[0] - kept[-1] if x > 1 else y * x


@branch("`pass` in both branches", REALS)
def pass_both(x):
    if x > 0:
        pass
    else:
        pass
    return x


@branch("`pass` in one branch", REALS)
def pass_one(x):
    if x > 1:
        pass
    elif x > 0:
        x = x * 2
    else:
        ...
    return x


@branch("bare annotations and annotated assignments", REALS)
def annotations(x):
    y: float
    if x > 0:
        z: float
        z = x * 2
        y: float = z
    else:
        y = -x
    return y


@branch("`del` of a variable that one branch has made", REALS)
def del_temporary(x):
    if x > 1:
        t = x * x
        y = t + 1
        del t
    else:
        y = x
    return y


@branch("`del`, then set again on every path", REALS)
def del_and_set(x):
    y = x
    del y
    if x > 1:
        y = x * 3
    else:
        y = 1.0
    return y


@branch("`a = b = value` and starred unpacking in a branch", PAIRS)
def assignments(a, b):
    if a > b:
        c = d = a * 2
        first, *rest = (b, c, d)
    else:
        first, *rest = b, a, a
        c = d = b
    return first + 10 * rest[0] + 100 * rest[1] + c - d


@branch("a closure over a variable that a branch sets", REALS)
def closure(x):
    y = 1.0

    def get():
        return y

    if x > 1:
        y = x
        z = get()
    else:
        z = get() + 1
    y = y * 2
    return get() * 10 + z


@branch("`nonlocal` in a function that a branch calls", REALS)
def nonlocal_variable(x):
    count = 0.0

    def add(amount):
        nonlocal count
        if amount > 1:
            count = count + amount

    add(x)
    add(2 * x)
    return count


@branch("a function defined and called in a branch", REALS)
def function_in_branch(x):
    if x > 1:

        def square(t):
            return t * t

        y = square(x)
    else:
        y = x
    return y


def clip(x, low, high=3.0):
    if x < low:
        return low
    if x > high:
        return high
    return x


@branch("calls of functions that branch", REALS)
def calls(x):
    if clip(x, 0.0) == x:
        return clip(x, 1.0, high=2.0) * x
    return clip(x, low=-1.0) + x


@branch("a parameter that is None or not, static", PAIRS)
def static_none(a, b):
    def scaled(x, factor=None):
        if factor is None:
            return x
        return x * factor if x > 0 else x

    return scaled(a) + scaled(b, a)


DEBUG = False


@branch("tests that are static next to tests that are traced", REALS)
def static_tests(x, mode="square"):
    if DEBUG:
        return x
    if mode == "square" and x > 1:
        x = x * x
    elif mode == "cube":
        x = x**3
    return x if True else None


@branch("a test of shape `(1,)`, `(1, 1)`", vectors([2.0], [-1.0]))
def one_element(v):
    y = 1.0
    if v > 0:
        y = 2.0
    if v[None] > 1 and not v > 5:
        y = y * 3
    return v * y


@branch("a test of shape `(2,)` is Python's `ValueError`", vectors([2.0, 1.0], [-1.0, 3.0]))
def two_elements(v):
    if v > 0:
        return v
    return -v


@branch("a test of shape `(0,)` is Python's `ValueError`", vectors([]))
def no_elements(v):
    return 1.0 if v else 2.0


@branch("arrays in both branches", vectors([2.0, 1.0], [-1.0, -3.0]))
def array_sides(v):
    if v.sum() > 0:
        w = v * 2
    else:
        w = jnp.flip(v)
    return w - v


@branch("`.any()`, `.all()` of an array as a test", vectors([2.0, 1.0], [-1.0, 3.0], [-1.0, -2.0]))
def any_all(v):
    if (v > 0).all():
        return v.sum()
    elif (v > 0).any():
        return v.max()
    return v.prod()
