"""`with`, `try`, `finally` around and inside staged code, with jumps out of them."""

import contextlib
from functools import partial

import jax

from tests.corpora.language import construct, each, traced, vectors

block = partial(construct, section="`with` and `try`")

COUNTS = each(0, 2, 4, 7)
REALS = each(-2.5, 0.5, 2.25, 5.5)
ROWS = vectors([1.0, 3.0, 2.0, 0.5], [0.25, -1.0, -2.0, 0.75], [5.0, -1.0, 2.5, 2.0])


class Log:
    """A context manager that writes down what it sees."""

    def __init__(self, events):
        self.events = events

    def __enter__(self):
        self.events.append("enter")
        return self.events

    def __exit__(self, *error):
        self.events.append("leave")


@contextlib.contextmanager
def scaled(x, factor):
    yield x * factor if x > 1 else x


@block("`with` around a branch", REALS)
def with_branch(x):
    with contextlib.nullcontext():
        if x > 1:
            y = x * 2
        else:
            y = -x
    return y


@block("`with ... as` in a branch", REALS)
def with_in_branch(x):
    if x > 1:
        with contextlib.nullcontext(x * 3) as y:
            x = y + 1
    return x


@block("`with a, b`, nested `with`", REALS)
def with_several(x):
    with contextlib.nullcontext(x) as a, contextlib.nullcontext(a * 2) as b:
        with contextlib.nullcontext():
            if a > 1:
                b = b + a
    return b


@block("`with jax.named_scope`, `jax.default_matmul_precision`", REALS)
def with_jax(x):
    with jax.named_scope("outer"):
        while x > 1:
            with jax.default_matmul_precision("float32"):
                x = x / 2
    return x


@block("`return` in a `with`", REALS)
def with_return(x):
    with contextlib.nullcontext():
        if x > 1:
            return x * 2
        x = x - 1
    return x


@block("`return` on every path of a `with`", REALS)
def with_returns(x):
    with contextlib.nullcontext():
        if x > 1:
            return x, 1
        return -x, 2


@block("a `with` around a loop, left by `break`, `continue`, `return`", COUNTS)
def with_loop(n):
    total = 0
    with contextlib.nullcontext():
        for i in range(n):
            if i == 1:
                continue
            if i == 6:
                return -1
            if total > 4:
                break
            total += i
        total += 100
    return total


@block("a `with` in a loop, left by `break`, `continue`, `return`", COUNTS)
def with_in_loop(n):
    total = 0
    for i in range(n):
        with contextlib.nullcontext():
            if i == 1:
                continue
            if i == 6:
                return -total
            if total > 4:
                break
            total += i
        total += 10
    return total


@block("`with` in nested loops", COUNTS)
def with_nested(n):
    total = 0
    for i in range(3):
        with contextlib.nullcontext():
            for j in range(n):
                with contextlib.nullcontext():
                    if j > i + 1:
                        break
                    if i * j == 4:
                        return -total
                total += j + 1
        total *= 2
    return total


@block("a context manager of one's own around staged code", REALS)
def with_own(x):
    events = []
    with Log(events) as seen:
        if x > 1:
            x = x * 2
    with Log(events):
        while x > 3:
            x = x - 1
    return x, len(seen), len(events)


@block("a context manager of one's own, left by `return`", REALS)
def with_own_return(x):
    events = []

    def inner(y):
        with Log(events):
            if y > 1:
                return y * 2
            y = y + 1
        return y

    return inner(x) + inner(-x), len(events)


@block("a function with `@contextmanager` that is given traced values", each(1.5, 2.25, 5.5))
def with_contextmanager(x):
    with contextlib.nullcontext(x) as y:
        z = y * 2 if y > 2 else y
    with contextlib.ExitStack() as stack:
        w = stack.enter_context(contextlib.nullcontext(z))
        if w > 3:
            return w
    return -w


@block("a `@contextmanager` that branches on traced values", REALS)
def with_generator(x):
    with scaled(x, 2.0) as y:
        return y + 1


@block("`try`, `finally` around a branch", REALS)
def finally_branch(x):
    y = 0.0
    try:
        if x > 1:
            y = x
    finally:
        y = y + 10
    return y


@block("`finally` that reads what a branch has set", REALS)
def finally_reads(x):
    y, z = x, 0.0
    try:
        if x > 1:
            y = x * x
        elif x < 0:
            y = -x
    finally:
        z = y * 2
    return y + z


@block("`finally` that branches and loops", REALS)
def finally_branches(x):
    y = x
    try:
        y = y * 2
    finally:
        if y > 3:
            y = y - 3
        while y > 1:
            y = y / 2
    return y


@block("`return` in a `try` with `finally`", REALS)
def finally_return(x):
    seen = 0.0
    try:
        if x > 1:
            return x + seen
        seen = x
    finally:
        seen = seen + 1
    return seen


@block("nested `try`, `finally`, left by `return`", REALS)
def finally_nested(x):
    y = 1.0
    try:
        try:
            if x > 4:
                return y
            if x > 1:
                y = y * x
                return y + 100
            y = -x
        finally:
            y = y + 1
        y = y * 3
    finally:
        y = y + 0.5
    return y


@block("`try`, `finally` around a loop with jumps", COUNTS)
def finally_loop(n):
    total, left = 0, 0
    try:
        for i in range(n):
            if i == 1:
                continue
            if total > 4:
                break
            total += i
        else:
            total += 50
    finally:
        left = total + 1
    return total * 100 + left


@block("`try`, `finally` in a loop, left by `break`, `continue`, `return`", COUNTS)
def finally_in_loop(n):
    total, left = 0, 0
    for i in range(n):
        try:
            if i == 1:
                continue
            if i == 5:
                return total * 1000 + left
            if total > 6:
                break
            total += i
        finally:
            left += 1
        total += 2
    return total * 10 + left


@block("`try`, `finally` in a `while True`", COUNTS)
def finally_in_while(n):
    i, left = 0, 0
    while True:
        try:
            i += 1
            if i * i > n:
                break
        finally:
            left += i
    return i * 10 + left


@block("`try`, `finally` in nested loops", COUNTS)
def finally_in_nested_loops(n):
    total, left = 0, 0
    for i in range(3):
        try:
            for j in range(n):
                try:
                    if j > i:
                        break
                    if i + j == 3:
                        return total * 100 + left
                    total += 1
                finally:
                    left += 1
        finally:
            left += 10
    return total * 1000 + left


@block("`try`, `except` around staged code that raises nothing", REALS)
def except_unused(x):
    try:
        if x > 1:
            y = x * x
        else:
            y = x
    except ValueError:
        y = 0.0
    return y


@block("`try`, `except`, `else`, `finally`", REALS)
def except_else(x):
    y = x
    try:
        if x > 1:
            y = x * x
    except ZeroDivisionError as error:
        y = float(len(str(error)))
    else:
        y = y + 1 if y > 2 else y
    finally:
        y = y * 2
    return y


@block("an exception that is static, caught around a branch", REALS)
def static_exception(x):
    weights = {"a": 2.0}
    try:
        if x > 1:
            x = x * 2
        y = weights["b"]
    except KeyError:
        y = weights["a"]
    return x * y


@block("an exception that is static, caught in a loop", ROWS)
def static_exception_in_loop(v):
    weights, total = [1.0, 2.0], 0.0
    for i in range(4):
        try:
            w = weights[i]
        except IndexError:
            w = 0.5
        if v[i] > 0:
            total = total + v[i] * w
    return total


@block("an exception that is static, caught in a staged loop", COUNTS)
def static_exception_in_staged_loop(n):
    limits, total = {"low": 1}, 0
    for i in range(n):
        try:
            step = limits["high"]
        except KeyError as error:
            step = 2 + len(error.args)
        total += step * i
    return total


@block("a static exception that leaves the function", REALS)
def static_exception_leaves(x):
    if x > 1:
        x = x * 2
    return [x, 1.0][2]


@block("`contextlib.suppress` around a static exception", REALS)
def suppress(x):
    y = x
    with contextlib.suppress(KeyError):
        if x > 1:
            y = x * x
        {}["missing"]
        y = 100.0
    return y


@block("a loop in a `try` with `except`, left by `return`", ROWS)
def except_return(v):
    try:
        for x in v:
            if x > 2:
                return x
    except TypeError:
        return -1.0
    return v[0] * 2


@block("a static `raise` after staged code", REALS)
def static_raise(x, mode="other"):
    y = x * 2 if x > 1 else x
    if mode not in ("sum", "mean"):
        raise NotImplementedError(mode)
    return y


@block("a static `assert` next to staged code", ROWS)
def static_assert(v):
    assert v.ndim == 1 and v.shape[0] > 2, "a vector"
    return v.sum() if v[0] > 0 else v[1]


@block(
    "a traced `raise` that an `except` of the same function would catch",
    REALS,
    refused=traced("AG404"),
    why="the exception would have to stop a compiled program in the middle, and go on in Python",
)
def caught_raise(x):
    try:
        if x < 0:
            raise ValueError("negative")
        y = x * 2
    except ValueError:
        y = 0.0
    return y


CAUGHT = {"refused": traced("AG404"), "why": "whether the `except` runs is data-dependent"}


@block("a traced `assert` in a `try` with `except Exception`", REALS, **CAUGHT)
def caught_assert(x):
    try:
        assert x > 0
        y = x * 2
    except Exception:
        y = -1.0
    return y


@block("an index whose value decides that it is out of bounds, with `except IndexError`", COUNTS, **CAUGHT)
def caught_index(n):
    try:
        y = [10, 20, 40][n]
    except IndexError:
        y = -1
    return y


@block("an index whose value decides that it is out of bounds, in `contextlib.suppress`", COUNTS, **CAUGHT)
def suppressed_index(n):
    y = -1
    with contextlib.suppress(IndexError):
        y = [10, 20, 40][n]
    return y


@block("an index whose value decides that it is out of bounds, with an `except` in the caller", COUNTS, **CAUGHT)
def caught_by_the_caller(n):
    def pick(i):
        return [10, 20, 40][i]

    try:
        return pick(n)
    except IndexError:
        return -1


@block(
    "a variable that is unset depending on traced values, with `except NameError`",
    COUNTS,
    refused={"jit": "AG404", "vmap": "AG301", "jvp": "AG404"},
    why="whether the `except` runs is data-dependent",
)
def caught_unset(n):
    if n > 2:
        y = n
    try:
        return y * 2
    except NameError:
        return -1


@block(
    "a value that is None depending on traced values, with `except TypeError`",
    REALS,
    refused={"jit": "AG404", "vmap": "AG302", "jvp": "AG404"},
    why="whether the `except` runs is data-dependent",
)
def caught_none(x):
    y = x if x > 1 else None
    try:
        return y + 1
    except TypeError:
        return -1.0


@block(
    "an error of ours in a `try` with `except Exception` is not caught", REALS, refused=traced("AG202"), why="it is about the program, not its values"
)
def caught_refusal(x):
    try:
        y = (x, 1.0) if x > 1 else (x, 1.0, 2.0)
        return y[1] + y[0]
    except Exception:
        return -1.0


@block(
    "an error of JAX in a `try` with `except Exception` is not caught", COUNTS, refused=traced("AG502"), why="it is about the trace, not its values"
)
def caught_jax_error(n):
    try:
        y = sum([10, 20, 40][n:])
    except Exception:
        y = -1
    return y
