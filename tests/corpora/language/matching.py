"""`match` on traced values, and on static structure with traced leaves."""

import enum
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from tests.corpora.language import construct, each, traced

matching = partial(construct, section="`match`")

INTS = each(-1, 0, 2, 7)
REALS = each(-2.5, 0.5, 2.25, 5.5)
PAIRS = [(0, 1.5), (1, 0.25), (2, -1.0), (7, 3.0)]


class Op:
    PUSH = 0
    ADD = 1
    HALT = 7


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Point:
    x: jax.Array
    y: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Circle:
    center: Point
    radius: jax.Array


class Span(NamedTuple):
    low: jax.Array
    high: jax.Array


@matching("`case` int constants, `case _`", INTS)
def constants(n):
    match n:
        case 0:
            y = 10
        case 2:
            y = n * 20
        case _:
            y = -n
    return y


@matching("`case` on one constant only", INTS)
def one_case(n):
    y = 3
    match n:
        case 2:
            y = n * 5
    return y + n


@matching("twenty cases", each(0, 3, 19, 25))
def twenty_cases(n):
    match n:
        case 0:
            return 1
        case 1:
            return 4
        case 2:
            return 9
        case 3:
            return 16
        case 4:
            return 25
        case 5:
            return 36
        case 6:
            return 49
        case 7:
            return 64
        case 8:
            return 81
        case 9:
            return 100
        case 10:
            return 121
        case 11:
            return 144
        case 12:
            return 169
        case 13:
            return 196
        case 14:
            return 225
        case 15:
            return 256
        case 16:
            return 289
        case 17:
            return 324
        case 18:
            return 361
        case 19:
            return 400
        case _:
            return n


@matching("negative constants", INTS)
def negative_constants(n):
    match n:
        case -1:
            return 5
        case -2 | 0:
            return 6
    return n


@matching("float constants", each(-0.5, 0.5, 2.25, 1e3))
def float_constants(x):
    match x:
        case 0.5:
            y = x * 2
        case -0.5 | 1e3:
            y = x / 2
        case _:
            y = x * x
    return y


@matching("or-patterns `case 0 | 2`", INTS)
def or_patterns(n):
    match n:
        case 0 | 2 | 4:
            return n // 2
        case 1 | 3 | 7:
            return 3 * n + 1
        case _:
            return 100


@matching("a capture `case y`", INTS)
def capture(n):
    match n:
        case 0:
            y = 5
        case y:
            y = y * 2
    return y


@matching("`case (0 | 2) as y`", INTS)
def as_pattern(n):
    match n:
        case (0 | 2) as y:
            return y + 10
        case _ as rest:
            return rest * 2


@matching("guards `case y if y > 1`", REALS)
def guards(x):
    match x:
        case y if y < 0:
            z = -y
        case y if y > 5:
            z = y / 2
        case _ if x > 1:
            z = x * x
        case _:
            z = x
    return z


@matching("a guard on a constant case", PAIRS)
def guarded_constant(n, x):
    match n:
        case 0 if x > 2:
            return x
        case 0 | 1 if x > 1:
            return x * 2
        case 0:
            return x * 3
        case 2:
            return -x
    return x - 1


@matching("a capture whose guard fails is bound", INTS)
def bound_by_a_failing_guard(n):
    match n + 1:
        case y if y > 5:
            z = 1
        case 1:
            z = 2
        case _:
            z = 3
    return 10 * y + z


@matching("dotted names `case Op.ADD`", PAIRS)
def dotted_names(n, x):
    match n:
        case Op.PUSH:
            return x
        case Op.ADD:
            return x + x
        case Op.HALT:
            return 0.0
        case _:
            return -x


class Kind(enum.IntEnum):
    IDLE = 0
    BUSY = 2


@matching("members of an `IntEnum`, as cases and as values", INTS)
def int_enum(n):
    match n:
        case Kind.IDLE:
            kind = Kind.BUSY
        case Kind.BUSY:
            kind = Kind.IDLE
        case _:
            return n
    return 10 + kind if kind == Kind.BUSY else 20 + kind


@matching("a capture in a pattern that fails binds nothing", PAIRS)
def fails_and_binds_nothing(n, x):
    k = 100
    match (n, x):
        case (k, 0.25):
            y = 1
        case (2, k):
            y = 2
        case _:
            y = 3
    return k * 10 + y


@matching("no case matches", INTS)
def no_case(n):
    y = n
    match n:
        case 100:
            y = 1
        case 200 | 300:
            y = 2
        case z if z > 400:
            y = z
    return y


@matching("each case sets other variables", PAIRS)
def other_variables(n, x):
    a, b = 1.0, 2.0
    match n:
        case 0:
            a = x
        case 1:
            b = x
        case 2:
            a, b = b, a
    return a + 10 * b


@matching("`return` in some cases", PAIRS)
def return_in_cases(n, x):
    match n:
        case 0:
            return x
        case 1:
            y = x * 2
        case _:
            if x < 0:
                return -1.0
            y = x
    return y + 1


@matching("a `match` in a case", PAIRS)
def nested_match(n, x):
    match n % 2:
        case 0:
            match n:
                case 0:
                    return x
                case _:
                    return x * 2
        case _:
            match n // 2:
                case 0:
                    y = -x
                case 3:
                    y = x / 2
                case _:
                    y = 0.0
    return y


@matching("the subject is an expression, with a walrus", INTS)
def subject_expression(n):
    match m := n % 3:
        case 0:
            return 7
        case 1:
            return m + n
    return m * 10


@matching("sequence patterns on a tuple of traced values", PAIRS)
def sequence(n, x):
    match (n, x):
        case (0, _):
            return 1.0
        case (1 | 2, y) if y > 0:
            return y * 2
        case (2, y):
            return -y
        case (m, y):
            return m + y


@matching("nested sequence patterns", PAIRS)
def nested_sequence(n, x):
    match ((n, x), [n + 1, 2]):
        case ((0, y), _):
            return y
        case ((_, y), (2, k)):
            return y * k
        case ((m, _), [_, 2]):
            return m * 1.0
        case _:
            return 0.0


@matching("the length of a sequence decides", REALS)
def sequence_length(x):
    def area(sides):
        match sides:
            case []:
                return 0.0
            case [side]:
                return side * side
            case [a, b]:
                return a * b if a > 0 else -a * b
            case _:
                return -1.0

    return area([]) + area([x]) + area([x, 2.0]) + area((x, x, x))


@matching("star patterns `[first, *rest]`", REALS)
def star(x):
    match [x, x * 2, x * 3]:
        case [0.5, *rest]:
            return rest[0] + rest[1]
        case [first, *_, last] if first > 3:
            return last
        case [first, *middle, _]:
            return first + middle[0] + len(middle)


@matching("recursion over a static list by star patterns", REALS)
def star_recursion(x):
    def total(items):
        match items:
            case []:
                return 0.0
            case [head, *tail]:
                return (head if head > 1 else 1.0) + total(tail)

    return total([x, 2 * x, -x])


@matching("mapping patterns with traced values", PAIRS)
def mapping(n, x):
    match {"kind": n, "value": x}:
        case {"kind": 0, "value": y}:
            return y
        case {"kind": 1 | 2, "value": y} if y > 0:
            return y * 2
        case {"missing": y}:
            return y
        case {"value": y}:
            return -y


@matching("mapping patterns with `**rest`", REALS)
def mapping_rest(x):
    match {"a": x, "b": x * 2, "c": 1.0}:
        case {"a": 0.5, **rest}:
            return rest["b"] + rest["c"]
        case {"b": y, **rest}:
            return y * len(rest)


@matching("class patterns on a registered dataclass, by position and by name", PAIRS)
def class_pattern(n, x):
    match Point(n, x):
        case Point(0, y):
            return y
        case Point(1, y=0.25):
            return 100.0
        case Point(x=2 | 3 as k, y=y) if y < 0:
            return k * y
        case Point(a, b):
            return a - b


@matching("class patterns that the static structure decides", PAIRS)
def class_decides(a, b):
    def size(shape):
        match shape:
            case Circle(Point(0, _), r) if r > 1:
                return r
            case Circle(radius=r):
                return r * r
            case Point(x, y):
                return x + y
            case (low, high):
                return high - low

    return size(Circle(Point(a, b), b)) + size(Point(a, b)) + size((a, b))


@matching("patterns on a namedtuple", PAIRS)
def named_tuple(n, x):
    match Span(n, x):
        case Span(low=0, high=h):
            return h
        case Span(l, h) if l < h:
            return h - l
        case (l, _):
            return l * 1.0


@matching("a dataclass as argument", [(Point(0, 1.5),), (Point(1, 0.25),), (Point(2, -1.0),)])
def class_argument(p):
    match p:
        case Point(0, y):
            return y
        case Point(1, _):
            return 100.0
    return p.x * p.y


@matching("`case None` on a value that may be None", REALS)
def none_pattern(x):
    y = x * 2 if x > 1 else None
    match y:
        case None:
            return 0.0
        case z:
            return z + 1


@matching("`case None` on a static value", REALS)
def static_none(x):
    def scaled(y, factor=None):
        match factor:
            case None:
                return y
            case 0.5:
                return -y
            case _:
                return y * factor

    return scaled(x) + scaled(x, x) + scaled(x, 2.0)


@matching("strings as cases, a static subject", REALS)
def strings(x):
    y = 0.0
    for mode in ("up", "down", "both"):
        match mode:
            case "up" | "both" if x > 1:
                y = y + x
            case "down":
                y = y - x / 2
            case str():
                y = y * 3
    return y


@matching("a string and traced values in one pattern", PAIRS)
def string_and_value(n, x):
    y = 0.0
    for command in (("add", n), ("scale", n + 1), ("add", 2)):
        match command:
            case ("add", 0):
                y = y + 100
            case ("add", k):
                y = y + k * x
            case ("scale", k) if k > 1:
                y = y * k
    return y


@matching("a `jax.Array` is no sequence", [(jnp.array([1.0, 2.0]),), (jnp.array([3.0, -1.0]),)])
def array_is_no_sequence(v):
    match v:
        case [a, b]:
            return a + b
        case _:
            return v.sum() if v[0] > 2 else v[1]


@matching("`match` in a `while` loop with `break`, `continue`, `return`", each(0, 3, 6, 11))
def match_in_while(n):
    turns, total = 0, 0
    while turns < 8:
        turns += 1
        match (n + turns) % 5:
            case 0 if n == 11:
                return -total
            case 0:
                break
            case 1:
                continue
            case 2 | 3 as k:
                total += k
            case _:
                total += 10
        total += 100
    return total


PROGRAMS = [(jnp.array(p),) for p in ([0, 5, 0, 2, 1, 0, 7, 0], [0, 3, 2, 0, 0, 4, 1, 0], [7, 0, 0, 0, 0, 0, 0, 0])]


@matching("an interpreter: `match` in a loop over the rows of an array", PROGRAMS)
def interpreter(program):
    accumulator, push = 0, False
    for word in program:
        if push:
            accumulator += word
            push = False
            continue
        match word:
            case Op.PUSH:
                push = True
            case Op.ADD:
                accumulator = accumulator + accumulator
            case Op.HALT:
                break
            case _:
                accumulator = -accumulator
    else:
        return accumulator + 1000
    return accumulator


@matching("a state machine: `match` on a state and a symbol", [(jnp.array(p),) for p in ([1, 1, 0, 2, 1], [0, 0, 1, 1, 1], [2, 2, 2, 0, 1])])
def state_machine(symbols):
    state, words, length = 0, 0, 0
    for s in symbols:
        match (state, s):
            case (0, 0):
                pass
            case (0, _):
                state, words, length = 1, words + 1, 1
            case (1, 0):
                state = 0
            case (1, c) if c == 2:
                return -words
            case (1, _):
                length += 1
    return words * 10 + length


@matching("`match` on a static loop index", REALS)
def static_subject(x):
    total = 0.0
    for i in range(4):
        match i:
            case 0:
                total = total + x
            case 1 | 2:
                if total > 2:
                    total = total - i
            case k:
                total = total * k
    return total


@matching(
    "`case True`, `case False` on a traced truth value",
    REALS,
    refused=traced("AG501"),
    why="the pattern is `is True`: of a Python bool true, of an array never",
)
def bool_pattern(x):
    match x > 1:
        case True:
            return x
        case False:
            return -x
    return 0.0


@matching(
    "`case (True, False)` on traced comparisons",
    PAIRS,
    refused=traced("AG501"),
    why="the pattern is `is True`: of a Python bool true, of an array never",
)
def bool_patterns(n, x):
    match (n > 0, x > 1):
        case (True, True):
            return x
        case (False, _):
            return 1.0
    return 2.0


@matching("`case int()` on a traced value", INTS, refused=traced("AG501"), why="the class of a number is `int` in Python and `jax.Array` when traced")
def type_pattern(n):
    match n:
        case int(k):
            return k + 1
        case _:
            return 0
