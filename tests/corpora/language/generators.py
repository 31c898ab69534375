"""Generators: what they do between two values is staged, whom they hand a value is Python's; and context managers made of them."""

import contextlib
import functools
from functools import partial

from tests.corpora.language import construct, each, traced, vectors

generators = partial(construct, section="Generators")

REALS = each(-2.5, 0.5, 2.25, 5.5)
ROWS = vectors([1.0, 3.0, 2.0, 0.5], [0.25, -1.0, -2.0, 0.75], [5.0, -1.0, 2.5, 2.0])


class Tally:
    def __init__(self):
        self.count = 0.0


def halved(x, n):
    for _ in range(n):
        if x > 1:
            x = x / 2
        elif x < 0:
            x = -x
        yield x


@generators("a generator that branches between its values", REALS)
def branches(x):
    total = 0.0
    for y in halved(x, 3):
        total = total + y if y > 0.6 else total - 1
    return total


def searching(x):
    for k in (1, 2, 3):
        y = x
        while y > k:
            y = y / 2
        yield y


@generators("a loop between two values, whose iterations are traced", REALS)
def loops(x):
    a, b, c = searching(x)
    return a + 10 * b + 100 * c


def counted(rows, tally):
    for row in rows:
        if row > 1:
            tally.count += 1
        yield row * 2


@generators("a generator that changes an object under a traced condition", ROWS)
def changes(v):
    tally = Tally()
    total = 0.0
    for y in counted([v[0], v[1], v[2]], tally):
        total += y * tally.count
    return total + 100 * tally.count


def accumulating(start):
    total = start
    while True:
        got = yield total
        if got is None:
            return
        if got > 1:
            total = total + got
        else:
            total = total - 1


@generators("`x = yield y` and `send`", ROWS)
def sends(v):
    running = accumulating(v[0])
    total = next(running)
    for k in range(1, 4):
        total = total * 2 + running.send(v[k])
    return total


def both(x):
    first = yield from ended(x)
    yield first + 1


def ended(x):
    if x > 1:
        x = x * 2
    yield x
    if x > 4:
        return x - 4
    return x


@generators("`yield from` a generator that returns", REALS)
def delegates(x):
    a, b = both(x)
    return a * 10 + b


def with_clean_up(x, tally):
    try:
        if x > 1:
            x = x + 1
        yield x
        yield -x
    finally:
        if x > 2:
            tally.count += 5


@generators("`finally` in a generator that is left early", REALS)
def closes(x):
    tally = Tally()
    for y in with_clean_up(x, tally):
        x = x + y
        break
    return x, tally.count


def sides(x):
    if x > 1:
        yield x
    else:
        yield -x


@generators("a `yield` in both branches of a traced `if`", REALS, refused=traced("AG501"), why="Python decides where a generator goes on")
def yields_in_a_branch(x):
    for y in sides(x):
        x = x + y
    return x


def shrinking(x):
    while x > 1:
        yield x
        x = x / 2


@generators("a generator of as many values as traced ones say", REALS, refused=traced("AG501"), why="how many values there are is Python's to know")
def traced_count(x):
    total = 0.0
    for y in shrinking(x):
        total += y
    return total


def inside(x):
    y = 1 + (yield x)
    yield y if y > 1 else -y


@generators("a `yield` inside of an expression, and a traced condition", REALS, refused=traced("AG501"), why="it stays Python; write `x = yield y`")
def yields_in_an_expression(x):
    g = inside(x)
    return next(g) + g.send(x)


@contextlib.contextmanager
def counting(x, tally):
    before = tally.count
    if x > 1:
        tally.count += x
    try:
        yield tally
    finally:
        tally.count = tally.count * 2 + before


@generators("a `@contextmanager` that changes an object, with `finally`", REALS)
def manager_with_state(x):
    tally = Tally()
    with counting(x, tally) as t:
        if t.count > 2:
            t.count += 1
    return tally.count


@generators("a `@contextmanager` that is left by `return` in a traced branch", REALS)
def manager_and_return(x):
    tally = Tally()
    with counting(x, tally):
        if x > 2:
            return tally.count + 10
    return tally.count


@generators("`ExitStack.callback` with a function that changes an object", REALS)
def callbacks(x):
    tally = Tally()

    def add(amount):
        if amount > 1:
            tally.count += amount

    with contextlib.ExitStack() as stack:
        stack.callback(add, x)
        stack.callback(add, amount=2 * x)
        if x > 2:
            return x, tally.count
        x = x + 1
    return x, tally.count


class Closing:
    def __init__(self, tally):
        self.tally = tally

    def close(self):
        if self.tally.count > 1:
            self.tally.count = -self.tally.count


@generators("`contextlib.closing`", REALS)
def closing(x):
    tally = Tally()
    with contextlib.closing(Closing(tally)):
        tally.count = x * 2
    return tally.count


@functools.cache
def primes_below(n):
    return [p for p in range(2, n) if all(p % d for d in range(2, p))]


@generators("a generator that takes another one's values", REALS)
def pipeline(x):
    def scaled(values):
        for v in values:
            w = v * x
            if w > 3:
                w = w - 3
            yield w

    return sum(scaled(p for p in primes_below(12)))


class Box:
    held = None


@generators("`with ... as` an attribute and an item", REALS)
def manager_into_places(x):
    box, items = Box(), [0.0, 0.0]
    with contextlib.nullcontext((x, x + 1)) as (box.held, items[1]), contextlib.nullcontext(box.held * 2) as items[0]:
        if x > 1:
            items[1] = items[1] + items[0]
    return box.held, items[0], items[1]
