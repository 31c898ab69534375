"""Mistakes that users of JAX make in converted functions, each as a program that fails, and the same program repaired.

`import jax, jax.numpy as jnp, numpy as np, autograph as ag` stands before each.  The line that the error has to name ends with `# here`.
"""

from typing import NamedTuple


class Mistake(NamedTuple):
    """`says`: what the message contains; behind `^` what it underlines in the program, behind `!` what it must not contain."""

    id: str
    title: str
    fails: str
    says: tuple[str, ...]
    repaired: str


MISTAKES = [
    # AG101, AG103, AG104: what can be converted
    Mistake(
        "AG101", "a function that exec has made",
        '''
space = {}
exec("def half(n):\\n    return n // 2 if n > 1 else n\\n", space)
half = ag.function(space["half"])  # here
''',
        ("`half`", "linecache"),
        '''
import linecache
text = "def half(n):\\n    return n // 2 if n > 1 else n\\n"
linecache.cache["<half>"] = (len(text), None, text.splitlines(keepends=True), "<half>")
space = {}
exec(compile(text, "<half>", "exec"), space)
half = ag.function(space["half"])
assert half(9) == 4
''',
    ),
    Mistake(
        "AG101", "a lambda from a string, by eval",
        '''
rules = {"relu": "lambda x: x if x > 0 else 0.0", "flip": "lambda x: -x"}
rule = ag.function(eval(rules["relu"]))  # here
''',
        ("a lambda was made from a string", "write it as a `def` in a file"),
        '''
rules = {"relu": lambda x: x if x > 0 else 0.0, "flip": lambda x: -x}
rule = ag.function(rules["relu"])
assert rule(-2.0) == 0.0
''',
    ),
    Mistake(
        "AG101", "a file that was edited after the import",
        '''
import pathlib

def half(n):  # here
    return n // 2 if n > 1 else n

path = pathlib.Path(__file__)
path.write_text(path.read_text().replace("def half", "def third"))  # in an editor
half = ag.function(half)
''',
        ("`half`", "the file has changed", "restart Python, or reload the module"),
        '''
def third(n):
    return n // 2 if n > 1 else n

third = ag.function(third)
assert third(9) == 4
''',
    ),
    Mistake(
        "AG103", "the result of a call in place of the function",
        '''
def clipped(x):
    return x if x > 0 else 0.0

compiled = ag.function(clipped(jnp.float32(-1.0)) + jnp.float32(0))  # here
''',
        ("`Array`", "not its result"),
        '''
def clipped(x):
    return x if x > 0 else 0.0

compiled = ag.function(clipped)
assert compiled(-1.0) == 0.0
''',
    ),
    Mistake(
        "AG103", "a decorated class",
        '''
@ag.function  # here
class Rectifier:
    def __init__(self, slope):
        self.slope = slope

    def __call__(self, x):
        return x if x > 0 else self.slope * x
''',
        ("`Rectifier`", "`__call__`"),
        '''
class Rectifier:
    def __init__(self, slope):
        self.slope = slope

    @ag.function
    def __call__(self, x):
        return x if x > 0 else self.slope * x

assert Rectifier(0.5)(-2.0) == -1.0
''',
    ),
    Mistake(
        "AG103", "a decorator above @property",
        '''
class Account:
    def __init__(self, money):
        self.money = jnp.float32(money)

    @ag.function  # here
    @property
    def fee(self):
        return 0.0 if self.money > 100 else 5.0
''',
        ("`fee`", "below `@property`"),
        '''
class Account:
    def __init__(self, money):
        self.money = jnp.float32(money)

    @property
    @ag.function
    def fee(self):
        return 0.0 if self.money > 100 else 5.0

assert Account(7).fee == 5.0
''',
    ),
    Mistake(
        "AG103", "an object without __call__",
        '''
class Model:
    def step(self, x):
        return x if x > 0 else -x

step = ag.function(Model())  # here
''',
        ("`Model`", "a method"),
        '''
class Model:
    def step(self, x):
        return x if x > 0 else -x

step = ag.function(Model().step)
assert step(-2.0) == 2.0
''',
    ),
    Mistake(
        "AG104", "@ag.function above @functools.lru_cache",
        '''
import functools

@ag.function  # here
@functools.lru_cache
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
''',
        ("`collatz`", "lru_cache", "below"),
        '''
@ag.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

assert collatz(6) == 8
''',
    ),
    # AG201: loop variables
    Mistake(
        "AG201", "for: jnp.concatenate makes the history longer",
        '''
@ag.function
def history(x, n):
    trace = jnp.zeros(0)
    for _ in range(n):  # here
        trace = jnp.concatenate([trace, x[None]])
        x = x / 2
    return trace

history(jnp.float32(8.0), 3)
''',
        ("`trace`", "float32[0]", "float32[1]", "(line 6)", "^trace", "fixed-size buffer"),
        '''
@ag.function
def history(x, n):
    trace = jnp.zeros(4)
    for i in range(n):
        trace[i] = x
        x = x / 2
    return trace

assert history(jnp.float32(8.0), 3).tolist() == [8.0, 4.0, 2.0, 0.0]
''',
    ),
    Mistake(
        "AG201", "while: no shape to start with would do",
        '''
@ag.function
def powers(x, n):
    row = jnp.ones(1)
    while n > 0:  # here
        row = jnp.append(row, row[-1] * x)
        n -= 1
    return row

powers(2.0, 3)
''',
        ("`row`", "float32[1]", "float32[2]", "fixed-size buffer", "!start `row` with shape (2,)"),
        '''
@ag.function
def powers(x, n):
    row = jnp.ones(4)
    k = 0
    while n > 0:
        row[k + 1] = row[k] * x
        n, k = n - 1, k + 1
    return row

assert powers(2.0, 3).tolist() == [1.0, 2.0, 4.0, 8.0]
''',
    ),
    Mistake(
        "AG201", "subscript: a slice makes the array shorter",
        '''
@ag.function
def drop(x, n):
    for _ in range(n):  # here
        x = x[1:]
    return x.sum()

drop(jnp.arange(4.0), 2)
''',
        ("`x`", "float32[4]", "float32[3]", "^x"),
        '''
@ag.function
def drop(x, n):
    for i in range(n):
        x[i] = 0
    return x.sum()

assert drop(jnp.arange(4.0), 2) == 5.0
''',
    ),
    Mistake(
        "AG201", "method: self's method makes the array longer",
        '''
class Solver:
    def __init__(self, x):
        self.x = jnp.full(2, x)

    @ag.function
    def run(self, n):
        xs = self.x
        while n > 0:  # here
            xs = jnp.hstack([xs, n])
            n -= 1
        return xs

Solver(1.0).run(3)
''',
        ("`xs`", "float32[2]", "float32[3]", "^xs", "buffer"),
        '''
class Solver:
    def __init__(self, x):
        self.x = jnp.full(2, x)

    @ag.function
    def run(self, n):
        xs = jnp.zeros(8)
        xs[:2] = self.x
        k = 2
        while n > 0:
            xs[k] = n
            n, k = n - 1, k + 1
        return xs

assert Solver(1.0).run(3).tolist() == [1, 1, 3, 2, 1, 0, 0, 0]
''',
    ),
    Mistake(
        "AG201", "operator: a matrix product changes the shape",
        '''
@ag.function
def push(m, v, n):
    for _ in range(n):  # here
        v = m @ v
    return v

push(jnp.ones((2, 3)), jnp.ones(3), 2)
''',
        ("`v`", "float32[3]", "float32[2]", "^v", "keeps its shape"),
        '''
@ag.function
def push(m, v, n):
    for _ in range(n):
        v = m @ v
    return v

assert push(jnp.ones((2, 2)), jnp.ones(2), 2).tolist() == [4.0, 4.0]
''',
    ),
    Mistake(
        "AG201", "tuple: a path that grows",
        '''
@ag.function
def halvings(n):
    path = ()
    while n > 1:  # here
        path = path + (n,)
        n = n // 2
    return path

halvings(10)
''',
        ("`path`", "()", "(int32[] (weak),)", "list", "`ag.loop(max_steps="),
        '''
@ag.function
def halvings(n):
    path = []
    with ag.loop(max_steps=32):
        while n > 1:
            path.append(n)
            n = n // 2
    return path

assert halvings(10) == [10, 5, 2]
''',
    ),
    Mistake(
        "AG201", "dict: a new one has more keys",
        '''
@ag.function
def simulate(n):
    state = {"t": 0.0}
    while n > 0:  # here
        state = {"t": state["t"] + 0.5, "left": n}
        n -= 1
    return state

simulate(3)
''',
        ("`state`", "{'t': float32[] (weak)}", "'left'", "^state", "start `state` with the type and shape that an iteration gives it"),
        '''
@ag.function
def simulate(n):
    state = {"t": 0.0, "left": 0}
    while n > 0:
        state = {"t": state["t"] + 0.5, "left": n}
        n -= 1
    return state

assert simulate(3) == {"t": 1.5, "left": 1}
''',
    ),
    Mistake(
        "AG201", "string: a status that the loop changes",
        '''
@ag.function
def solve(x):
    status = "running"
    while x > 1e-3:  # here
        x = x / 2
        status = "converged"
    return x, status

solve(1.0)
''',
        ("`status`", "'running'", "'converged'", "number"),
        '''
RUNNING, CONVERGED = 0, 1

@ag.function
def solve(x):
    status = RUNNING
    while x > 1e-3:
        x = x / 2
        status = CONVERGED
    return x, status

assert solve(1.0)[1] == CONVERGED
''',
    ),
    Mistake(
        "AG201", "augmented assignment: a string that grows",
        '''
@ag.function
def bar(n):
    text = ""
    while n > 0:  # here
        text += "*"
        n -= 1
    return text

bar(3)
''',
        ("`text`", "''", "'*'", "^text", "number"),
        '''
@ag.function
def stars(n):
    count = 0
    while n > 0:
        count += 1
        n -= 1
    return count

assert "*" * int(stars(3)) == "***"
''',
    ),
    Mistake(
        "AG201", "attribute: a linked list is followed",
        '''
class Node:
    def __init__(self, value, after=None):
        self.value, self.after = value, after

@ag.function
def found(node, x):
    while node is not None and node.value != x:  # here
        node = node.after
    return node is not None

found(Node(1.0, Node(2.0)), 2.0)
''',
        ("`node`", "a `Node`", "!0x"),
        '''
@ag.function
def found(values, x):
    return x in values

assert found(jnp.array([1.0, 2.0]), 2.0)
''',
    ),
    Mistake(
        "AG201", "nested function: what it returns is longer",
        '''
@ag.function
def grow(n):
    def longer(x):
        return jnp.append(x, 1.0)

    x = jnp.zeros(1)
    while n > 0:  # here
        x = longer(x)
        n -= 1
    return x

grow(3)
''',
        ("`x`", "float32[1]", "float32[2]", "(line 9)", "buffer"),
        '''
@ag.function
def grow(n):
    def longer(x, k):
        return x.at[k].set(1.0)

    x, k = jnp.zeros(8), 1
    while n > 0:
        x = longer(x, k)
        n, k = n - 1, k + 1
    return x

assert grow(3).sum() == 3
''',
    ),
    Mistake(
        "AG201", "for: a function that is exchanged",
        '''
def slow(x):
    return x / 2

def fast(x):
    return x / 10

@ag.function
def decay(x, n):
    step = slow
    for _ in range(n):  # here
        x = step(x)
        step = fast
    return x

decay(8.0, 3)
''',
        ("`step`", "`slow`", "`fast`", "!0x"),
        '''
def slow(x):
    return x / 2

def fast(x):
    return x / 10

@ag.function
def decay(x, n):
    quick = False
    for _ in range(n):
        x = fast(x) if quick else slow(x)
        quick = True
    return x

assert abs(decay(8.0, 3) - 0.04) < 1e-6
''',
    ),
    # AG202: the sides of a branch
    Mistake(
        "AG202", "if: arrays of two shapes",
        '''
@ag.function
def window(x, wide):
    if wide:  # here
        w = jnp.ones(4)
    else:
        w = jnp.ones(3)
    return x * w.sum()

window(2.0, True)
''',
        ("`w`", "float32[4]", "float32[3]", "(line 5)", "(line 7)", "same type and shape"),
        '''
@ag.function
def window(x, wide):
    if wide:
        w = jnp.ones(4)
    else:
        w = jnp.array([1.0, 1.0, 1.0, 0.0])
    return x * w.sum()

assert window(2.0, False) == 6.0
''',
    ),
    Mistake(
        "AG202", "return: a tuple of two and one of three",
        '''
@ag.function
def roots(p, q):
    d = p * p / 4 - q
    if d < 0:  # here
        return p, q, "complex"
    return -p / 2 - d**0.5, -p / 2 + d**0.5

roots(3.0, 2.0)
''',
        ("(line 6)", "(line 7)", "'complex'", "^p, q, \"complex\"", "same"),
        '''
@ag.function
def roots(p, q):
    d = p * p / 4 - q
    if d < 0:
        return p, q, False
    return -p / 2 - d**0.5, -p / 2 + d**0.5, True

assert roots(3.0, 2.0) == (-2, -1, True)
''',
    ),
    Mistake(
        "AG202", "return: a number or a text",
        '''
@ag.function
def root(x):
    if x >= 0:  # here
        return x**0.5
    return "negative"

root(4.0)
''',
        ("float32[]", "'negative'", "^x**0.5", "^\"negative\"", "keep a number"),
        '''
@ag.function
def root(x):
    if x >= 0:
        return x**0.5
    return jnp.nan

assert root(4.0) == 2.0 and np.isnan(root(-4.0))
''',
    ),
    Mistake(
        "AG202", "if: a string is chosen",
        '''
@ag.function
def grade(points):
    if points > 90:  # here
        letter = "A"
    else:
        letter = "B"
    return letter

grade(95)
''',
        ("`letter`", "'A'", "'B'", "number"),
        '''
@ag.function
def grade(points):
    if points > 90:
        letter = 0
    else:
        letter = 1
    return letter

assert "AB"[int(grade(95))] == "A"
''',
    ),
    Mistake(
        "AG202", "conditional expression: the name of an attribute is chosen",
        '''
class Rates:
    low, high = 0.1, 0.4

@ag.function
def tax(income):
    name = "high" if income > 1000 else "low"  # here
    return income * getattr(Rates, name)

tax(500.0)
''',
        ("`name`", "'high'", "'low'", "number"),
        '''
class Rates:
    low, high = 0.1, 0.4

@ag.function
def tax(income):
    rate = Rates.high if income > 1000 else Rates.low
    return income * rate

assert tax(500.0) == 50.0
''',
    ),
    Mistake(
        "AG202", "conditional expression: a function is chosen",
        '''
@ag.function
def activate(x, smooth):
    f = jnp.tanh if smooth else jnp.abs  # here
    return f(x)

activate(1.0, True)
''',
        ("`f`", "tanh", "abs", "call", "!0x", "!Pjit"),
        '''
@ag.function
def activate(x, smooth):
    return jnp.tanh(x) if smooth else jnp.abs(x)

assert activate(-1.0, False) == 1.0
''',
    ),
    Mistake(
        "AG202", "if: a list or a tuple",
        '''
@ag.function
def ordered(a, b):
    if a < b:  # here
        pair = [a, b]
    else:
        pair = (b, a)
    return pair[0]

ordered(1.0, 2.0)
''',
        ("`pair`", "[float32[] (weak), float32[] (weak)]", "(float32[] (weak), float32[] (weak))", "same type"),
        '''
@ag.function
def ordered(a, b):
    if a < b:
        pair = (a, b)
    else:
        pair = (b, a)
    return pair[0]

assert ordered(2.0, 1.0) == 1.0
''',
    ),
    Mistake(
        "AG202", "dict: one side has another key",
        '''
@ag.function
def report(x):
    if x >= 0:  # here
        out = {"value": x, "root": x**0.5}
    else:
        out = {"value": x}
    return out

report(4.0)
''',
        ("`out`", "'root'", "(line 5)", "(line 7)", "same keys"),
        '''
@ag.function
def report(x):
    if x >= 0:
        out = {"value": x, "root": x**0.5}
    else:
        out = {"value": x, "root": 0.0}
    return out

assert report(4.0)["root"] == 2.0
''',
    ),
    Mistake(
        "AG202", "match: the cases give arrays of other shapes",
        '''
@ag.function
def reduced(how, x):
    match how:
        case 0:
            y = x.mean()
        case 1:  # here
            y = x.sum(keepdims=True)
        case _:
            y = x[:2]
    return y

reduced(0, jnp.ones(3))
''',
        ("`y`", "float32[1]", "float32[2]", "^x.sum(keepdims=True)", "same type and shape"),
        '''
@ag.function
def reduced(how, x):
    match how:
        case 0:
            y = x.mean()
        case 1:
            y = x.sum()
        case _:
            y = x[0]
    return y

assert reduced(1, jnp.ones(3)) == 3.0
''',
    ),
    Mistake(
        "AG202", "elif: the type of a side is the one that it gives, not the joint one",
        '''
@ag.function
def reduced(how, x):
    if how > 1:  # here
        y = x
    elif how > 0:
        y = x.sum()
    else:
        y = x[:1]
    return y.max()

reduced(0, jnp.ones(3))
''',
        ("`y`", "float32[3]", "float32[1]", "^x[:1]", "!x.sum()"),
        '''
@ag.function
def reduced(how, x):
    if how > 1:
        y = x.max()
    elif how > 0:
        y = x.sum()
    else:
        y = x[0]
    return y

assert reduced(2, jnp.ones(3)) == 1.0
''',
    ),
    Mistake(
        "AG202", "conditional expression: a part or the whole",
        '''
@ag.function
def head(x):
    y = x[:2] if x[0] > 0 else x  # here
    return y.sum()

head(jnp.ones(3))
''',
        ("`y`", "float32[2]", "float32[3]", "^x[:2]"),
        '''
@ag.function
def head(x):
    return x[:2].sum() if x[0] > 0 else x.sum()

assert head(jnp.ones(3)) == 2.0
''',
    ),
    Mistake(
        "AG202", "or: a default of another shape",
        '''
@ag.function
def weights(w, default):
    return w or default  # here

weights(0.0, jnp.ones(3))
''',
        ("`or`", "()", "(3,)", "^w or default", "same shape"),
        '''
@ag.function
def weights(w, default):
    return jnp.where(w != 0, w, default)

assert weights(0.0, jnp.ones(3)).sum() == 3
''',
    ),
    Mistake(
        "AG202", "if: an enum member is chosen",
        '''
import enum

class Mode(enum.Enum):
    IDLE = 0
    BUSY = 1

@ag.function
def work(xs):
    mode = Mode.IDLE
    for x in xs:
        if x > 0:  # here
            mode = Mode.BUSY
    return mode

work(jnp.ones(3))
''',
        ("`mode`", "Mode.IDLE", "Mode.BUSY", "IntEnum"),
        '''
import enum

class Mode(enum.IntEnum):
    IDLE = 0
    BUSY = 1

@ag.function
def work(xs):
    mode = Mode.IDLE
    for x in xs:
        if x > 0:
            mode = Mode.BUSY
    return mode

assert work(jnp.ones(3)) == Mode.BUSY
''',
    ),
    Mistake(
        "AG202", "an enum member in the branch of a branch",
        '''
import enum

class Mode(enum.Enum):
    IDLE = 0
    BUSY = 1

@ag.function
def toggled(xs):
    mode = Mode.IDLE
    for x in xs:
        if mode == Mode.IDLE:
            if x > 0:  # here
                mode = Mode.BUSY
        else:
            mode = Mode.IDLE
    return 1 if mode == Mode.BUSY else 0

toggled(jnp.ones(3))
''',
        ("`mode`", "Mode.IDLE", "Mode.BUSY"),
        '''
import enum

class Mode(enum.IntEnum):
    IDLE = 0
    BUSY = 1

@ag.function
def toggled(xs):
    mode = Mode.IDLE
    for x in xs:
        if mode == Mode.IDLE:
            if x > 0:
                mode = Mode.BUSY
        else:
            mode = Mode.IDLE
    return 1 if mode == Mode.BUSY else 0

assert toggled(jnp.ones(3)) == 1
''',
    ),
    Mistake(
        "AG202", "constructor: objects of a class that is no pytree",
        '''
class State:
    def __init__(self, x):
        self.x = x

@ag.function
def start(x):
    if x > 0:  # here
        s = State(x)
    else:
        s = State(-x)
    return s.x

start(1.0)
''',
        ("`s`", "a `State`", "pytree", "!0x"),
        '''
import dataclasses

@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    x: jax.Array

@ag.function
def start(x):
    if x > 0:
        s = State(x)
    else:
        s = State(-x)
    return s.x

assert start(-1.0) == 1.0
''',
    ),
    Mistake(
        "AG202", "constructor: objects of two classes",
        '''
from dataclasses import dataclass

@dataclass
class Circle:
    r: float

    def area(self):
        return 3 * self.r**2

@dataclass
class Square:
    a: float

    def area(self):
        return self.a**2

@ag.function
def area(x, round):
    shape = Circle(x) if round else Square(x)  # here
    return shape.area()

area(2.0, True)
''',
        ("`shape`", "Circle", "Square", "!Tracer"),
        '''
from dataclasses import dataclass

@dataclass
class Circle:
    r: float

    def area(self):
        return 3 * self.r**2

@dataclass
class Square:
    a: float

    def area(self):
        return self.a**2

@ag.function
def area(x, round):
    return Circle(x).area() if round else Square(x).area()

assert area(2.0, True) == 12.0
''',
    ),
    Mistake(
        "AG202", "return in a for: what is found, or one number",
        '''
@ag.function
def find(v, x):
    for i in range(len(v)):  # here
        if v[i] == x:
            return i, v[i]
    return -1

place = find(jnp.arange(3.0), 1.0)
''',
        ("what `find` returns is", "(int32[] (weak), float32[])", "the number -1", "^return i, v[i]", "(line 6)", "^-1"),
        '''
@ag.function
def find(v, x):
    for i in range(len(v)):
        if v[i] == x:
            return i, v[i]
    return -1, 0.0

assert find(jnp.arange(3.0), 1.0) == (1, 1.0)
''',
    ),
    Mistake(
        "AG202", "if: old and new keys for random numbers",
        '''
@ag.function
def draw(x):
    if x > 0:  # here
        key = jax.random.key(0)
    else:
        key = jax.random.PRNGKey(0)
    return jax.random.normal(key) + x

draw(1.0)
''',
        ("`key`", "key<fry>[]", "uint32[2]", "(line 7)", "same type"),
        '''
@ag.function
def draw(x):
    if x > 0:
        key = jax.random.key(0)
    else:
        key = jax.random.key(1)
    return jax.random.normal(key) + x

assert draw(1.0) != draw(-1.0)
''',
    ),
    Mistake(
        "AG202", "lambda: texts in a map",
        '''
@ag.function
def signs(v):
    return list(map(lambda x: "pos" if x > 0 else "neg", v))  # here

signs(jnp.array([1.0, -1.0]))
''',
        ("'pos'", "'neg'", "^\"pos\" if x > 0 else \"neg\"", "number"),
        '''
@ag.function
def signs(v):
    return list(map(lambda x: 1 if x > 0 else -1, v))

assert signs(jnp.array([1.0, -1.0])) == [1, -1]
''',
    ),
    Mistake(
        "AG202", "nonlocal: a function around has a text",
        '''
@ag.function
def seen(v):
    best = "none"

    def see(x):
        nonlocal best
        if x > 0:  # here
            best = "some"

    for x in v:
        see(x)
    return best

seen(jnp.ones(2))
''',
        ("`best`", "'none'", "'some'", "number"),
        '''
@ag.function
def seen(v):
    best = 0

    def see(x):
        nonlocal best
        if x > 0:
            best = 1

    for x in v:
        see(x)
    return best

assert seen(jnp.ones(2)) == 1
''',
    ),
    # AG203: integers
    Mistake(
        "AG203", "conditional expression: 2**40",
        '''
@ag.function
def limit(n):
    return 2**40 if n > 9 else n  # here

limit(3)
''',
        ("1099511627776", "int32[]", "^2**40 if n > 9 else n", "float"),
        '''
@ag.function
def limit(n):
    return 2.0**40 if n > 9 else n

assert limit(10) == 2.0**40
''',
    ),
    Mistake(
        "AG203", "for: a hash begins with 32 bits",
        '''
@ag.function
def fnv(data):
    h = 2166136261
    for b in data:  # here
        h = (h ^ b) * 16777619
    return h

fnv(jnp.array([1, 2, 3]))
''',
        ("`h`", "2166136261", "int32[]", "`jnp.uint32"),
        '''
@ag.function
def fnv(data):
    h = jnp.uint32(2166136261)
    for b in data:
        h = (h ^ b) * jnp.uint32(16777619)
    return h

assert fnv(jnp.array([1, 2, 3], jnp.uint32)).dtype == jnp.uint32
''',
    ),
    Mistake(
        "AG203", "for: a large number as the first minimum",
        '''
@ag.function
def smallest(v):
    best = 10**10
    for x in v:  # here
        if x < best:
            best = x
    return best

smallest(jnp.array([3, 1, 2]))
''',
        ("`best`", "10000000000", "int32[]"),
        '''
@ag.function
def smallest(v):
    best = 10**9
    for x in v:
        if x < best:
            best = x
    return best

assert smallest(jnp.array([3, 1, 2])) == 1
''',
    ),
    Mistake(
        "AG203", "builtin: sys.maxsize with min",
        '''
import sys

@ag.function
def smallest(v):
    best = sys.maxsize
    for x in v:  # here
        best = min(best, x)
    return best

smallest(jnp.array([3, 1, 2]))
''',
        ("`best`", "9223372036854775807", "int32[]"),
        '''
@ag.function
def smallest(v):
    best = jnp.iinfo(jnp.int32).max
    for x in v:
        best = min(best, x)
    return best

assert smallest(jnp.array([3, 1, 2])) == 1
''',
    ),
    Mistake(
        "AG203", "if: 300 in an array of bytes",
        '''
@ag.function
def brighter(pixel):
    if pixel > 200:  # here
        pixel = 300
    return pixel

brighter(jnp.uint8(7))
''',
        ("`pixel`", "300", "uint8[]"),
        '''
@ag.function
def brighter(pixel):
    if pixel > 200:
        pixel = 255
    return pixel

assert brighter(jnp.uint8(201)) == 255
''',
    ),
    Mistake(
        "AG203", "operator: a modulus of 2**32",
        '''
@ag.function
def random_number(seed, n):
    for _ in range(n):
        seed = (1664525 * seed + 1013904223) % 2**32  # here
    return seed

random_number(1, 3)
''',
        ("4294967296", "int32[]", "^(1664525 * seed + 1013904223) % 2**32"),
        '''
@ag.function
def random_number(seed, n):
    for _ in range(n):
        seed = jnp.uint32(1664525) * seed + jnp.uint32(1013904223)
    return seed

assert random_number(jnp.uint32(1), 1) == 1015568748
''',
    ),
    Mistake(
        "AG203", "comparison: with a number of more than 31 bits",
        '''
@ag.function
def wrapped(count):
    if count > 3_000_000_000:  # here
        return 0
    return count + 1

wrapped(5)
''',
        ("3000000000", "int32[]", "^count > 3_000_000_000"),
        '''
@ag.function
def wrapped(count):
    if count > 2_000_000_000:
        return 0
    return count + 1

assert wrapped(5) == 6
''',
    ),
    Mistake(
        "AG203", "argument: a number of 40 bits",
        '''
@ag.function
def parity(n):
    return 0 if n % 2 == 0 else 1

parity(2**40)  # here
''',
        ("`n`", "1099511627776", "int32"),
        '''
@ag.function
def parity(n):
    return 0 if n % 2 == 0 else 1

assert parity(2**30) == 0
''',
    ),
    # AG204: the truth of arrays
    Mistake(
        "AG204", "while: an array as the test",
        '''
@ag.function
def shrink(x):
    while x > 1:  # here
        x = x / 2
    return x

shrink(jnp.array([3.0, 5.0]))
''',
        ("shape (2,)", "^while x > 1:", "`.any()`"),
        '''
@ag.function
def shrink(x):
    while (x > 1).any():
        x = x / 2
    return x

assert shrink(jnp.array([3.0, 5.0])).max() <= 1
''',
    ),
    Mistake(
        "AG204", "if: an array as the test",
        '''
@ag.function
def relu(x):
    if x > 0:  # here
        return x
    return 0.0

relu(jnp.array([3.0, -5.0]))
''',
        ("shape (2,)", "^if x > 0:", "`jnp.where(test, a, b)`"),
        '''
@ag.function
def relu(x):
    return jnp.where(x > 0, x, 0.0)

assert relu(jnp.array([3.0, -5.0])).tolist() == [3.0, 0.0]
''',
    ),
    Mistake(
        "AG204", "and: two masks",
        '''
@ag.function
def inside(x):
    return jnp.where(x > 0 and x < 1, x, 0.0)  # here

inside(jnp.array([3.0, 0.5]))
''',
        ("shape (2,)", "^x > 0 and x < 1", "`(x > 0) & (x < 1)`"),
        '''
@ag.function
def inside(x):
    return jnp.where((x > 0) & (x < 1), x, 0.0)

assert inside(jnp.array([3.0, 0.5])).tolist() == [0.0, 0.5]
''',
    ),
    Mistake(
        "AG204", "not: a mask",
        '''
@ag.function
def outside(mask, x):
    return jnp.where(not mask, x, 0.0)  # here

outside(jnp.array([True, False]), jnp.ones(2))
''',
        ("shape (2,)", "^not mask", "`~"),
        '''
@ag.function
def outside(mask, x):
    return jnp.where(~mask, x, 0.0)

assert outside(jnp.array([True, False]), jnp.ones(2)).tolist() == [0.0, 1.0]
''',
    ),
    Mistake(
        "AG204", "chained comparison of an array",
        '''
@ag.function
def inside(x):
    return jnp.where(0 < x < 1, x, 0.0)  # here

inside(jnp.array([3.0, 0.5]))
''',
        ("shape (2,)", "^0 < x < 1", "`(0 < x) & (x < 1)`"),
        '''
@ag.function
def inside(x):
    return jnp.where((0 < x) & (x < 1), x, 0.0)

assert inside(jnp.array([3.0, 0.5])).tolist() == [0.0, 0.5]
''',
    ),
    Mistake(
        "AG204", "assert: every element is meant",
        '''
@ag.function
def root(x):
    assert x >= 0, "negative"  # here
    return x**0.5

root(jnp.array([4.0, 9.0]))
''',
        ("shape (2,)", "^x >= 0", "`.all()`"),
        '''
@ag.function
def root(x):
    assert (x >= 0).all(), "negative"
    return x**0.5

assert root(jnp.array([4.0, 9.0])).tolist() == [2.0, 3.0]
''',
    ),
    Mistake(
        "AG204", "if: an empty array, meant as whether there is a rest",
        '''
@ag.function
def total(x):
    rest, s = x[1:], x[0]
    if rest:  # here
        s += rest.sum()
    return s

total(jnp.array([3.0]))
''',
        ("empty", "shape (0,)", "`len("),
        '''
@ag.function
def total(x):
    rest, s = x[1:], x[0]
    if len(rest) > 0:
        s += rest.sum()
    return s

assert total(jnp.array([3.0])) == 3.0
''',
    ),
    Mistake(
        "AG204", "builtin: max of an array and a number",
        '''
@ag.function
def relu(x):
    return max(x, 0)  # here

relu(jnp.array([3.0, -1.0]))
''',
        ("shape (2,)", "^max(x, 0)", "`jnp.maximum"),
        '''
@ag.function
def relu(x):
    return jnp.maximum(x, 0)

assert relu(jnp.array([3.0, -1.0])).tolist() == [3.0, 0.0]
''',
    ),
    Mistake(
        "AG204", "comprehension: any over rows",
        '''
@ag.function
def touched(m):
    return any(row > 0 for row in m)  # here

touched(jnp.ones((2, 3)))
''',
        ("shape (3,)", "`.any()`"),
        '''
@ag.function
def touched(m):
    return any((row > 0).any() for row in m)

assert touched(jnp.ones((2, 3)))
''',
    ),
    # AG301: unset variables
    Mistake(
        "AG301", "if: no else",
        '''
@jax.jit
@ag.convert
def bonus(points):
    if points > 100:
        extra = 10
    return points + extra  # here

bonus(120)
''',
        ("`extra` is possibly undefined", "^extra", "give `extra` a value before", "`@ag.function`"),
        '''
@jax.jit
@ag.convert
def bonus(points):
    extra = 0
    if points > 100:
        extra = 10
    return points + extra

assert bonus(120) == 130 and bonus(50) == 50
''',
    ),
    Mistake(
        "AG301", "elif: no else, under jax.vmap",
        '''
@ag.convert
def sign(x):
    if x > 0:
        s = 1.0
    elif x < 0:
        s = -1.0
    return s  # here

jax.vmap(sign)(jnp.array([1.0, -1.0]))
''',
        ("`s` is possibly undefined", "give `s` a value before"),
        '''
@ag.convert
def sign(x):
    s = 0.0
    if x > 0:
        s = 1.0
    elif x < 0:
        s = -1.0
    return s

assert jax.vmap(sign)(jnp.array([1.0, -1.0])).tolist() == [1.0, -1.0]
''',
    ),
    Mistake(
        "AG301", "for: the loop variable after the loop",
        '''
@jax.jit
@ag.convert
def last(n):
    for i in range(n):
        pass
    return i  # here

last(3)
''',
        ("`i` is possibly undefined", "^i", "`@ag.function`"),
        '''
@ag.function
def last(n):
    for i in range(n):
        pass
    return i

assert last(3) == 2
''',
    ),
    Mistake(
        "AG301", "while: set in a loop that may not run",
        '''
@jax.jit
@ag.convert
def digit(n):
    while n > 0:
        first = n % 10
        n = n // 10
    return first  # here

digit(307)
''',
        ("`first` is possibly undefined", "give `first` a value before"),
        '''
@jax.jit
@ag.convert
def digit(n):
    first = 0
    while n > 0:
        first = n % 10
        n = n // 10
    return first

assert digit(307) == 3
''',
    ),
    Mistake(
        "AG301", "del: a variable that one side deletes",
        '''
@jax.jit
@ag.convert
def scaled(x):
    factor = x * 2
    if x > 10:
        del factor
    return x * factor  # here

scaled(3.0)
''',
        ("`factor` is possibly undefined", "^factor"),
        '''
@jax.jit
@ag.convert
def scaled(x):
    factor = x * 2
    if x > 10:
        factor = 1.0
    return x * factor

assert scaled(3.0) == 18.0
''',
    ),
    Mistake(
        "AG301", "nested function: it reads what a branch sets",
        '''
@jax.jit
@ag.convert
def apply(x):
    if x > 0:
        scale = 2.0

    def scaled(v):
        return v * scale  # here

    return scaled(x)

apply(3.0)
''',
        ("`scale` is possibly undefined", "^scale"),
        '''
@jax.jit
@ag.convert
def apply(x):
    scale = 1.0
    if x > 0:
        scale = 2.0

    def scaled(v):
        return v * scale

    return scaled(x)

assert apply(3.0) == 6.0
''',
    ),
    Mistake(
        "AG301", "match: no case for the rest",
        '''
@jax.jit
@ag.convert
def execute(op, x):
    match op:
        case 0:
            y = x + 1
        case 1:
            y = -x
    return y  # here

execute(0, 3.0)
''',
        ("`y` is possibly undefined", "give `y` a value before"),
        '''
@jax.jit
@ag.convert
def execute(op, x):
    y = x
    match op:
        case 0:
            y = x + 1
        case 1:
            y = -x
    return y

assert execute(0, 3.0) == 4.0
''',
    ),
    Mistake(
        "AG301", "with: set in a branch in a with",
        '''
import contextlib

@jax.jit
@ag.convert
def positive(x):
    with contextlib.nullcontext():
        if x > 0:
            y = x
    return y  # here

positive(3.0)
''',
        ("`y` is possibly undefined", "^y"),
        '''
import contextlib

@jax.jit
@ag.convert
def positive(x):
    y = 0.0
    with contextlib.nullcontext():
        if x > 0:
            y = x
    return y

assert positive(3.0) == 3.0
''',
    ),
    # AG302: what may be None
    Mistake(
        "AG302", "if: no return at the end",
        '''
@jax.jit
@ag.convert
def root(x):
    if x >= 0:  # here
        return x**0.5

root(4.0)
''',
        ("`root`", "None", "return an array on every path"),
        '''
@jax.jit
@ag.convert
def root(x):
    if x >= 0:
        return x**0.5
    return 0.0

assert root(4.0) == 2.0
''',
    ),
    Mistake(
        "AG302", "match: a case without return",
        '''
@jax.jit
@ag.convert
def execute(op, x):
    match op:  # here
        case 0:
            return x + 1
        case 1:
            return -x

execute(0, 3.0)
''',
        ("`execute`", "None", "return an array on every path"),
        '''
@jax.jit
@ag.convert
def execute(op, x):
    match op:
        case 0:
            return x + 1
        case 1:
            return -x
        case _:
            return x

assert execute(0, 3.0) == 4.0
''',
    ),
    Mistake(
        "AG302", "for: the first that fits, or None, under jax.vmap",
        '''
@ag.convert
def first(v):
    for k, x in enumerate(v):  # here
        if x > 0:
            return k
    return None

jax.vmap(first)(jnp.array([[-1.0, 1.0]]))
''',
        ("`first`", "None", "return an array on every path"),
        '''
@ag.convert
def first(v):
    for k, x in enumerate(v):
        if x > 0:
            return k
    return -1

assert jax.vmap(first)(jnp.array([[-1.0, 1.0]])).tolist() == [1]
''',
    ),
    Mistake(
        "AG302", "operator: the best is None at first",
        '''
@jax.jit
@ag.convert
def gain(v, cost):
    best = None
    for x in v:
        if x > 0:
            best = x
    return best - cost  # here

gain(jnp.array([1.0, -1.0]), 0.5)
''',
        ("`best`", "^best - cost", "is not None"),
        '''
@jax.jit
@ag.convert
def gain(v, cost):
    best = None
    for x in v:
        if x > 0:
            best = x
    return best - cost if best is not None else 0.0

assert gain(jnp.array([1.0, -1.0]), 0.5) == 0.5
''',
    ),
    Mistake(
        "AG302", "numpy call: an argument may be None",
        '''
@ag.function
def clipped(v, most):
    best = None
    for x in v:
        if x > 0:
            best = x
    return jnp.minimum(best, most)  # here

clipped(jnp.array([1.0, -1.0]), 0.5)
''',
        ("`best`", "^jnp.minimum(best, most)", "is not None"),
        '''
@ag.function
def clipped(v, most):
    best = None
    for x in v:
        if x > 0:
            best = x
    if best is None:
        return most
    return jnp.minimum(best, most)

assert clipped(jnp.array([1.0, -1.0]), 0.5) == 0.5
''',
    ),
    Mistake(
        "AG302", "jax.tree.map of a result or None",
        '''
@ag.function
def doubled(x):
    found = {"a": x} if x > 0 else None
    return jax.tree.map(lambda v: v * 2, found)  # here

doubled(1.0)
''',
        ("may be None", "!Maybe", "^jax.tree.map(lambda v: v * 2, found)", "is not None"),
        '''
@ag.function
def doubled(x):
    found = {"a": x} if x > 0 else None
    if found is not None:
        return jax.tree.map(lambda v: v * 2, found)
    return {"a": 0.0}

assert doubled(1.0)["a"] == 2.0
''',
    ),
    # AG401, AG402: attributes and variables of others
    Mistake(
        "AG401", "attribute: made in a branch",
        '''
class Tracker:
    pass

@ag.function
def track(tracker, xs):
    for x in xs:
        if x > 0:
            tracker.best = x  # here
    return xs

track(Tracker(), jnp.array([2.0, 1.0]))
''',
        ("`Tracker.best`", "does not exist before", "^tracker.best = x", "or before the branch"),
        '''
class Tracker:
    best = None

@ag.function
def track(tracker, x):
    if x > 0:
        tracker.best = x
    return x

tracker = Tracker()
tracker.best = 0.0
track(tracker, 2.0)
assert tracker.best == 2.0
''',
    ),
    Mistake(
        "AG401", "attribute: an array that a loop makes longer",
        '''
class Recorder:
    def __init__(self):
        self.values = jnp.zeros(2)

    @ag.function
    def record(self, n):
        for _ in range(n):
            self.values = jnp.concatenate([self.values, self.values])  # here
        return self.values.sum()

Recorder().record(3)
''',
        ("`Recorder.values`", "!Tracer", "float32[2] before the loop and float32[4] after one iteration"),
        '''
class Recorder:
    def __init__(self):
        self.values, self.k = jnp.zeros(8), 0

    @ag.function
    def record(self, n):
        for i in range(n):
            self.values[self.k] = i
            self.k += 1
        return self.values.sum()

assert Recorder().record(3) == 3.0
''',
    ),
    Mistake(
        "AG401", "attribute: a text for the state of a machine",
        '''
class Motor:
    def __init__(self):
        self.state = "off"

    @ag.function
    def step(self, load):
        if load > 0:
            self.state = "on"  # here
        return load

Motor().step(1.0)
''',
        ("`Motor.state`", "'off'", "'on'", "number"),
        '''
OFF, ON = 0, 1

class Motor:
    def __init__(self):
        self.state = OFF

    @ag.function
    def step(self, load):
        if load > 0:
            self.state = ON
        return load

motor = Motor()
motor.step(1.0)
assert motor.state == ON
''',
    ),
    Mistake(
        "AG401", "constructor: an object made in a branch and kept in an attribute",
        '''
class State:
    def __init__(self, x):
        self.x = x

class Machine:
    def __init__(self):
        self.state = State(0.0)

    @ag.function
    def step(self, x):
        if x > 0:
            self.state = State(x)  # here
        return x

Machine().step(1.0)
''',
        ("`Machine.state`", "pytree"),
        '''
class State:
    def __init__(self, x):
        self.x = x

class Machine:
    def __init__(self):
        self.state = State(0.0)

    @ag.function
    def step(self, x):
        if x > 0:
            self.state.x = x
        return x

machine = Machine()
machine.step(1.0)
assert machine.state.x == 1.0
''',
    ),
    Mistake(
        "AG401", "dataclass: a field changes its shape in a while",
        '''
from dataclasses import dataclass

@dataclass
class Search:
    front: jax.Array
    depth: int = 0

@ag.function
def widen(search, n):
    while search.depth < n:
        search.depth += 1
        search.front = jnp.stack([search.front, search.front])  # here
    return search.depth

widen(Search(jnp.zeros(2)), 3)
''',
        ("`Search.front`", "!Tracer", "float32[2] before the loop and float32[2,2] after one iteration"),
        '''
from dataclasses import dataclass

@dataclass
class Search:
    front: jax.Array
    depth: int = 0

@ag.function
def widen(search, n):
    while search.depth < n:
        search.front[search.depth] = 1.0
        search.depth += 1
    return search.depth

search = Search(jnp.zeros(8))
assert widen(search, 3) == 3 and search.front.sum() == 3.0
''',
    ),
    Mistake(
        "AG402", "global: a helper makes a history longer in a while",
        '''
history = jnp.zeros(0)

def record(x):
    global history
    history = jnp.append(history, x)  # here

@ag.function
def halve(x):
    while x > 1:
        record(x)
        x = x / 2
    return x

halve(4.0)
''',
        ("`history`", "float32[0] before the loop and float32[1] after one iteration", "buffer"),
        '''
history, count = jnp.zeros(8), 0

def record(x):
    global history, count
    history[count] = x
    count += 1

@ag.function
def halve(x):
    while x > 1:
        record(x)
        x = x / 2
    return x

halve(4.0)
assert history.tolist()[:3] == [4.0, 2.0, 0.0]
''',
    ),
    Mistake(
        "AG402", "global: a helper changes a text in a branch",
        '''
mode = "idle"

def switch():
    global mode
    mode = "busy"  # here

@ag.function
def work(x):
    if x > 1:
        switch()
    return x

work(4.0)
''',
        ("`mode`", "'idle'", "'busy'", "number"),
        '''
IDLE, BUSY = 0, 1
mode = IDLE

def switch():
    global mode
    mode = BUSY

@ag.function
def work(x):
    if x > 1:
        switch()
    return x

work(4.0)
assert mode == BUSY
''',
    ),
    Mistake(
        "AG402", "global: a variable that does not exist before",
        '''
def remember(x):
    global latest
    latest = x  # here

@ag.function
def work(xs):
    for x in xs:
        if x > 1:
            remember(x)
    return xs

work(jnp.array([4.0, 1.0]))
''',
        ("`latest`", "does not exist before", "a value before"),
        '''
latest = 0.0

def remember(x):
    global latest
    latest = x

@ag.function
def work(x):
    if x > 1:
        remember(x)
    return x

work(4.0)
assert latest == 4.0
''',
    ),
    Mistake(
        "AG402", "nonlocal: a helper in a function around gives another shape",
        '''
def make():
    best = jnp.zeros(2)

    def see(x):
        nonlocal best
        best = jnp.full(3, x)  # here

    @ag.function
    def work(x):
        if x > 1:
            see(x)
        return x

    return work

make()(4.0)
''',
        ("`best`", "float32[2] in one branch and float32[3]", "same type and shape"),
        '''
def make():
    best = jnp.zeros(3)

    def see(x):
        nonlocal best
        best = jnp.full(3, x)

    @ag.function
    def work(x):
        if x > 1:
            see(x)
        return x

    return work

assert make()(4.0) == 4.0
''',
    ),
    # AG403: NumPy arrays
    Mistake(
        "AG403", "subscript: a global table of float64",
        '''
table = np.zeros(3)

@ag.function
def enter(k, x):
    table[k] = x

enter(1, 0.5)  # here
''',
        ("`table`", "float64", "`jax_enable_x64`"),
        '''
table = np.zeros(3, np.float32)

@ag.function
def enter(k, x):
    table[k] = x

enter(1, 0.5)
assert table.tolist() == [0.0, 0.5, 0.0]
''',
    ),
    Mistake(
        "AG403", "argument: an array of float64 is stored into",
        '''
@ag.function
def normalize(a):
    total = a.sum()
    for i in range(len(a)):
        a[i] = a[i] / total

normalize(np.array([1.0, 3.0]))  # here
''',
        ("`a`", "float64", "a.astype(np.float32)"),
        '''
@ag.function
def normalize(a):
    total = a.sum()
    for i in range(len(a)):
        a[i] = a[i] / total

values = np.array([1.0, 3.0]).astype(np.float32)
normalize(values)
assert values.tolist() == [0.25, 0.75]
''',
    ),
    Mistake(
        "AG403", "subscript: a global table under plain jax.jit",
        '''
table = np.zeros(3, np.float32)

@jax.jit
@ag.convert
def enter(k, x):
    table[k] = x  # here
    return x

enter(1, 0.5)
''',
        ("`table`", "^table[k] = x", "use `@ag.function`"),
        '''
table = np.zeros(3, np.float32)

@ag.function
def enter(k, x):
    table[k] = x
    return x

enter(1, 0.5)
assert table[1] == 0.5
''',
    ),
    Mistake(
        "AG403", "call: two parts of one array for two parameters",
        '''
@ag.function
def shift(a, b):
    for i in range(len(a)):
        a[i] = b[i]

values = np.arange(4, dtype=np.float32)
shift(values[:-1], values[1:])  # here
''',
        ("`a`", "`b`", "share memory", "copies"),
        '''
@ag.function
def shift(a, b):
    for i in range(len(a)):
        a[i] = b[i]

values = np.arange(4, dtype=np.float32)
shift(values[:-1], values[1:].copy())
assert values.tolist() == [1.0, 2.0, 3.0, 3.0]
''',
    ),
    # AG404: try
    Mistake(
        "AG404", "try: raise and except in one function",
        '''
@ag.function
def inverse(x):
    try:
        if x == 0:
            raise ZeroDivisionError("no inverse")
        return 1 / x
    except ZeroDivisionError:  # here
        return 0.0

inverse(4.0)
''',
        ("ZeroDivisionError", "^except ZeroDivisionError:", "test for it before"),
        '''
@ag.function
def inverse(x):
    if x == 0:
        return 0.0
    return 1 / x

assert inverse(4.0) == 0.25 and inverse(0.0) == 0.0
''',
    ),
    Mistake(
        "AG404", "try: an index that may be too large",
        '''
@ag.function
def item(k):
    prices = [1.0, 2.0]
    try:
        return prices[k]
    except IndexError:  # here
        return -1.0

item(1)
''',
        ("IndexError", "list index out of range", "test for it before"),
        '''
@ag.function
def item(k):
    prices = [1.0, 2.0]
    if k >= len(prices):
        return -1.0
    return prices[k]

assert item(1) == 2.0 and item(5) == -1.0
''',
    ),
    Mistake(
        "AG404", "with: contextlib.suppress",
        '''
import contextlib

@ag.function
def item(k):
    prices = [1.0, 2.0]
    value = -1.0
    with contextlib.suppress(IndexError):  # here
        value = prices[k]
    return value

item(1)
''',
        ("IndexError", "^with contextlib.suppress(IndexError):", "do without the `with`"),
        '''
@ag.function
def item(k):
    prices = [1.0, 2.0]
    value = -1.0
    if k < 2:
        value = prices[k]
    return value

assert item(1) == 2.0 and item(5) == -1.0
''',
    ),
    Mistake(
        "AG404", "try: a helper raises",
        '''
def checked(x):
    if x < 0:
        raise ValueError("negative")
    return x**0.5

@ag.function
def root(x):
    try:
        return checked(x)
    except ValueError:  # here
        return 0.0

root(4.0)
''',
        ("ValueError", "^except ValueError:", "test for it before"),
        '''
def checked(x):
    if x < 0:
        raise ValueError("negative")
    return x**0.5

@ag.function
def root(x):
    return checked(x) if x >= 0 else 0.0

assert root(4.0) == 2.0 and root(-4.0) == 0.0
''',
    ),
    Mistake(
        "AG404", "assert: in a try",
        '''
@ag.function
def positive(x):
    try:
        assert x > 0
        y = x
    except AssertionError:  # here
        y = 0.0
    return y

positive(1.0)
''',
        ("AssertionError", "^except AssertionError:", "test for it before"),
        '''
@ag.function
def positive(x):
    if x > 0:
        y = x
    else:
        y = 0.0
    return y

assert positive(-1.0) == 0.0
''',
    ),
    Mistake(
        "AG404", "finally: it may fail itself",
        '''
@ag.function
def logged(x, k):
    costs = [1.0, 2.0]
    try:
        assert x > 0
    finally:
        cost = costs[k]  # here
    return x - cost

logged(3.0, 1)
''',
        ("IndexError", "^costs[k]", "out of the `finally`"),
        '''
@ag.function
def logged(x, k):
    costs = [1.0, 2.0]
    assert x > 0
    cost = costs[k]
    return x - cost

assert logged(3.0, 1) == 1.0
''',
    ),
    # AG405: effects, lists, dicts and sets
    Mistake(
        "AG405", "list: append in a while",
        '''
@ag.function
def collatz(n):
    path = []
    while n != 1:  # here
        path.append(n)
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return path

collatz(6)
''',
        ("`path`", "^path.append(n)", "`with ag.loop(max_steps=100):`"),
        '''
@ag.function
def collatz(n):
    path = []
    with ag.loop(max_steps=200):
        while n != 1:
            path.append(n)
            n = n // 2 if n % 2 == 0 else 3 * n + 1
    return path

assert collatz(6) == [6, 3, 10, 5, 16, 8, 4, 2]
''',
    ),
    Mistake(
        "AG405", "list: a stack that is worked off",
        '''
@ag.function
def reached(adjacent):
    stack = [0]
    seen = jnp.zeros(3, bool)
    while stack:  # here
        u = stack.pop()
        seen[u] = True
        for v in range(3):
            if adjacent[u, v] and not seen[v]:
                stack.append(v)
    return seen

reached(jnp.eye(3, k=1, dtype=bool))
''',
        ("`stack`", "grows", "^while stack:", "`with ag.loop(max_steps=100):`"),
        '''
@ag.function
def reached(adjacent):
    stack = [0]
    seen = jnp.zeros(3, bool)
    with ag.loop(max_steps=20):
        while stack:
            u = stack.pop()
            seen[u] = True
            for v in range(3):
                if adjacent[u, v] and not seen[v]:
                    stack.append(v)
    return seen

assert reached(jnp.eye(3, k=1, dtype=bool)).all()
''',
    ),
    Mistake(
        "AG407", "attribute: a list of an object grows and has another name",
        '''
class Log:
    def __init__(self):
        self.values = []

    @ag.function
    def see(self, xs):
        values = self.values
        for x in xs:
            if x > 0:
                self.values.append(x)  # here
        return len(values)

Log().see(jnp.ones(2))
''',
        ("`self.values`", "`values`", "another name", "use one name only"),
        '''
class Log:
    def __init__(self):
        self.values = []

    @ag.function
    def see(self, xs):
        for x in xs:
            if x > 0:
                self.values.append(x)
        return len(self.values)

log = Log()
assert log.see(jnp.ones(2)) == 2 and len(log.values) == 2
''',
    ),
    Mistake(
        "AG405", "print: to a file that the function opens",
        '''
import os

@ag.function
def report(x):
    with open(os.devnull, "w") as log:
        print("x is", x, file=log)  # here
    return x

report(1.0)
''',
        ("`print`", "TextIOWrapper", "outside of the compiled function"),
        '''
import os

@ag.function
def report(x, log):
    print("x is", x, file=log)
    return x

with open(os.devnull, "w") as log:
    report(1.0, log)
''',
    ),
    Mistake(
        "AG405", "print: into a text that the function makes",
        '''
import io

@ag.function
def report(x):
    out = io.StringIO()
    print("x is", x, file=out)  # here
    return out.getvalue()

report(1.0)
''',
        ("`print`", "StringIO", "made while the function is traced"),
        '''
@ag.function
def report(x):
    return f"x is {x}\\n"

assert report(1.0) == "x is 1.0\\n"
''',
    ),
    Mistake(
        "AG405", "global: a list of the module grows",
        '''
log = []

@ag.function
def halve(x):
    while x > 1:  # here
        log.append(x)
        x = x / 2
    return x

halve(4.0)
''',
        ("`log`", "grows", "data-dependent", "max_steps"),
        '''
log = []

@ag.function
def halve(x):
    with ag.loop(max_steps=30):
        while x > 1:
            log.append(x)
            x = x / 2
    return x

halve(4.0)
assert log == [4.0, 2.0]
''',
    ),
    Mistake(
        "AG405", "argument: a mutable default grows",
        '''
@ag.function
def seen(x, found=[]):
    if x > 0:
        found.append(x)  # here
    return x

seen(1.0)
''',
        ("`found`", "0 items", "1 item"),
        '''
@ag.function
def seen(xs):
    found = []
    for x in xs:
        if x > 0:
            found.append(x)
    return found

assert seen(jnp.array([1.0, -1.0])) == [1.0]
''',
    ),
    Mistake(
        "AG405", "list: two names for the list that grows",
        '''
@ag.function
def positive(v):
    kept = []
    out = kept
    for x in v:
        if x > 0:
            kept.append(x)  # here
    return out

positive(jnp.array([1.0, -1.0]))
''',
        ("`kept`", "no other name"),
        '''
@ag.function
def positive(v):
    kept = []
    for x in v:
        if x > 0:
            kept.append(x)
    return kept

assert positive(jnp.array([1.0, -1.0])) == [1.0]
''',
    ),
    Mistake(
        "AG405", "numpy call: jnp.stack of a list that has grown",
        '''
@ag.function
def positive(v):
    kept = []
    for x in v:
        if x > 0:
            kept.append(x)
    return jnp.stack(kept).sum()  # here

positive(jnp.array([1.0, -1.0, 3.0]))
''',
        ("^jnp.stack(kept)", "`ag.padded(items, size)`"),
        '''
@ag.function
def positive(v):
    kept = []
    for x in v:
        if x > 0:
            kept.append(x)
    return ag.padded(kept, 3).sum()

assert positive(jnp.array([1.0, -1.0, 3.0])) == 4.0
''',
    ),
    Mistake(
        "AG405", "list: append to one of two lists",
        '''
@ag.function
def sort_out(x):
    small, large = [0.0], [100.0]
    chosen = small if x < 50 else large
    chosen.append(x)  # here
    return small, large

sort_out(1.0)
''',
        ("^chosen.append(x)", "same object", "use arrays", "!list("),
        '''
@ag.function
def sort_out(x):
    both = jnp.array([[0.0, 0.0], [100.0, 0.0]])
    chosen = 0 if x < 50 else 1
    both[chosen, 1] = x
    return both

assert sort_out(1.0).tolist() == [[0.0, 1.0], [100.0, 0.0]]
''',
    ),
    Mistake(
        "AG405", "subscript: an item of a list is a copy",
        '''
@ag.function
def paint(k, color):
    grid = [[0, 0], [1, 1]]
    row = grid[k]
    row[0] = color  # here
    return grid

paint(0, 7)
''',
        ("^row[0] = color", "traced index", "items[i][j] = v"),
        '''
@ag.function
def paint(k, color):
    grid = [[0, 0], [1, 1]]
    grid[k][0] = color
    return grid

assert paint(0, 7) == [[7, 0], [1, 1]]
''',
    ),
    Mistake(
        "AG405", "subscript: a list in a list is replaced",
        '''
@ag.function
def paint(k, color):
    grid = [[0, 0], [1, 1]]
    grid[k] = [color, color]  # here
    return grid

paint(0, 7)
''',
        ("^grid[k] = [color, color]", "traced index selects which", "items[i][j] = v", "`jnp` array"),
        '''
@ag.function
def paint(k, color):
    grid = jnp.array([[0, 0], [1, 1]])
    grid[k] = jnp.array([color, color])
    return grid

assert paint(0, 7).tolist() == [[7, 7], [1, 1]]
''',
    ),
    Mistake(
        "AG405", "dict: a new key in a branch",
        '''
@ag.function
def report(xs):
    info = {"n": len(xs)}
    for x in xs:
        if x >= 0:
            info["root"] = x**0.5  # here
    return info

report(jnp.array([4.0, -1.0]))
''',
        ("`info`", "'root'", "key"),
        '''
@ag.function
def report(x):
    info = {"x": x, "root": 0.0}
    if x >= 0:
        info["root"] = x**0.5
    return info

assert report(4.0)["root"] == 2.0
''',
    ),
    Mistake(
        "AG405", "dict: a new key in a while",
        '''
@ag.function
def count(n):
    seen = {}
    while n > 0:
        seen["last"] = n  # here
        n -= 1
    return seen

count(3)
''',
        ("`seen`", "'last'", "give the dict all keys before (a missing key would then be there, with that value)"),
        '''
@ag.function
def count(n):
    seen = {"last": 0}
    while n > 0:
        seen["last"] = n
        n -= 1
    return seen

assert count(3) == {"last": 1}
''',
    ),
    Mistake(
        "AG405", "dict: del in a branch",
        '''
@ag.convert
def cleaned(x):
    info = {"x": x, "draft": 1}
    if x > 0:
        del info["draft"]  # here
    return info["x"], len(info)

jax.jit(cleaned)(1.0)
''',
        ("`info`", "^del info[\"draft\"]", "'draft'"),
        '''
@ag.function
def cleaned(x):
    info = {"x": x, "draft": 1}
    if x > 0:
        info["draft"] = 0
    return info["x"]

assert cleaned(1.0) == 1.0
''',
    ),
    Mistake(
        "AG405", "defaultdict: it makes keys in a loop",
        '''
from collections import defaultdict

@ag.function
def counted(v):
    counts = defaultdict(int)
    for x in v:
        counts["all"] += 1
        if x > 0:
            counts["positive"] += 1  # here
    return counts["positive"] / counts["all"]

counted(jnp.array([1.0, -1.0]))
''',
        ("`counts`", "'positive'", "give the dict all keys before (a missing key would then be there, with that value)"),
        '''
from collections import defaultdict

@ag.function
def counted(v):
    counts = defaultdict(int, all=0, positive=0)
    for x in v:
        counts["all"] += 1
        if x > 0:
            counts["positive"] += 1
    return counts["positive"] / counts["all"]

assert counted(jnp.array([1.0, -1.0])) == 0.5
''',
    ),
    Mistake(
        "AG405", "deque: a queue in a while",
        '''
from collections import deque

@ag.function
def countdown(n):
    queue = deque([0])
    while n > 0:
        queue.append(n)  # here
        n -= 1
    return queue

countdown(2)
''',
        ("`queue`", "a `deque`", "list"),
        '''
@ag.function
def countdown(n):
    queue = [0]
    with ag.loop(max_steps=10):
        while n > 0:
            queue.append(n)
            n -= 1
    return queue

assert countdown(2) == [0, 2, 1]
''',
    ),
    Mistake(
        "AG405", "set: add in a branch",
        '''
@ag.function
def flags(xs):
    found = set()
    for x in xs:
        if x > 0:
            found.add("positive")  # here
    return len(found)

flags(jnp.array([1.0, -1.0]))
''',
        ("`found`", "0 items", "1 item"),
        '''
@ag.function
def flags(x):
    positive = False
    if x > 0:
        positive = True
    return positive

assert flags(1.0)
''',
    ),
    Mistake(
        "AG405", "random numbers in a branch",
        '''
import random

@ag.function
def jitter(x):
    if x > 0:
        x += random.random()  # here
    return x

jitter(1.0)
''',
        ("`random.random`", "^random.random", "`jax.random` with a key"),
        '''
@ag.function
def jitter(x, key):
    if x > 0:
        x += jax.random.uniform(key)
    return x

assert 1.0 < jitter(1.0, jax.random.key(0)) < 2.0
''',
    ),
    Mistake(
        "AG405", "numpy call: np.random in a for",
        '''
@ag.function
def walk(x):
    for _ in range(10):
        if x < 5:
            x += np.random.normal()  # here
    return x

walk(1.0)
''',
        ("`np.random.normal`", "^np.random.normal", "`jax.random` with a key"),
        '''
@ag.function
def walk(x, key):
    for step in jax.random.normal(key, (10,)):
        if x < 5:
            x += step
    return x

assert walk(1.0, jax.random.key(0)) != 1.0
''',
    ),
    Mistake(
        "AG405", "method: a generator of NumPy in a while",
        '''
rng = np.random.default_rng(0)

@ag.function
def walk(x):
    while x < 5:
        x += rng.exponential()  # here
    return x

walk(1.0)
''',
        ("`Generator.exponential`", "^rng.exponential", "draw the numbers outside"),
        '''
rng = np.random.default_rng(0)

@ag.function
def walk(x, steps):
    for step in steps:
        if x < 5:
            x += step
    return x

assert walk(1.0, jnp.array(rng.exponential(size=50))) >= 5
''',
    ),
    Mistake(
        "AG405", "numpy call: the scale of np.random.normal is traced",
        '''
@ag.function
def noise(scale):
    return np.random.normal(0.0, scale)  # here

noise(2.0)
''',
        ("`np.random.normal`", "traced value", "`jax.random` with a key"),
        '''
@ag.function
def noise(scale, key):
    return scale * jax.random.normal(key)

assert noise(2.0, jax.random.key(0)) != 0
''',
    ),
    Mistake(
        "AG405", "time in a while",
        '''
import time

@ag.function
def timed(x):
    while x > 1:
        x = x / 2
        took = time.time()  # here
    return x

timed(8.0)
''',
        ("`time.time`", "^time.time", "not in each iteration", "outside of the compiled function"),
        '''
import time

@ag.function
def halved(x):
    while x > 1:
        x = x / 2
    return x

start = time.time()
x = halved(8.0)
assert time.time() >= start and x == 1.0
''',
    ),
    Mistake(
        "AG405", "input in a branch",
        '''
@ag.function
def ask(x):
    if x < 0:
        x = float(input("a positive number: "))  # here
    return x

ask(1.0)
''',
        ("`input`", "whichever branch is taken", "read it outside"),
        '''
@ag.function
def ask(x, answer):
    if x < 0:
        x = answer
    return x

assert ask(-1.0, 3.0) == 3.0
''',
    ),
    Mistake(
        "AG405", "with: open in a branch",
        '''
import os

@ag.function
def logged(x):
    if x < 0:
        with open(os.devnull, "w") as out:  # here
            out.write("negative")
    return x

logged(1.0)
''',
        ("`open`", "whichever branch is taken", "return and write outside"),
        '''
import os

@ag.function
def logged(x):
    if x < 0:
        print("negative")
    return x

assert logged(1.0) == 1.0
''',
    ),
    Mistake(
        "AG405", "a folder is made in a branch",
        '''
import os, tempfile

folder = os.path.join(tempfile.mkdtemp(), "negative")

@ag.function
def save(x):
    if x < 0:
        os.makedirs(folder)  # here
    return x

save(1.0)
''',
        ("`os.makedirs`", "whichever branch is taken"),
        '''
import os, tempfile

folder = os.path.join(tempfile.mkdtemp(), "negative")

@ag.function
def save(x):
    return x, x < 0

x, negative = save(1.0)
if negative:
    os.makedirs(folder)
assert not os.path.exists(folder)
''',
    ),
    Mistake(
        "AG405", "next of an iterator from outside",
        '''
steps = iter([1.0, 2.0, 3.0])

@ag.function
def descend(x):
    while x > 0:
        x -= next(steps)  # here
    return x

descend(2.0)
''',
        ("`next`", "^next(steps)", "an index that the block counts"),
        '''
steps = jnp.array([1.0, 2.0, 3.0])

@ag.function
def descend(x):
    k = 0
    while x > 0:
        x -= steps[k]
        k += 1
    return x

assert descend(2.0) == -1.0
''',
    ),
    Mistake(
        "AG405", "while: a walrus and next with a default",
        '''
@ag.function
def total(v):
    rows = iter(v)
    s = 0.0
    while (x := next(rows, None)) is not None:  # here
        if x < 0:
            break
        s += x
    return s

total(jnp.array([1.0, 2.0, -1.0]))
''',
        ("`next`", "^next(rows, None)"),
        '''
@ag.function
def total(v):
    s = 0.0
    for x in v:
        if x < 0:
            break
        s += x
    return s

assert total(jnp.array([1.0, 2.0, -1.0])) == 3.0
''',
    ),
    Mistake(
        "AG405", "with: a lock in a branch",
        '''
import threading

lock = threading.Lock()

@ag.function
def update(x):
    if x > 0:
        with lock:  # here
            x += 1
    return x

update(1.0)
''',
        ("lock", "^lock", "around the call"),
        '''
import threading

lock = threading.Lock()

@ag.function
def update(x):
    if x > 0:
        x += 1
    return x

with lock:
    assert update(1.0) == 2.0
''',
    ),
    Mistake(
        "AG405", "method: sys.stdout.write in a branch",
        '''
import sys

@ag.function
def logged(x):
    if x < 0:
        sys.stdout.write("negative")  # here
    return x

logged(1.0)
''',
        ("write", "whichever branch is taken", "print"),
        '''
@ag.function
def logged(x):
    if x < 0:
        print("negative", end="")
    return x

assert logged(-1.0) == -1.0
''',
    ),
    Mistake(
        "AG405", "numpy call: np.save of a traced array",
        '''
import os

@ag.function
def saved(x):
    y = x * 2
    np.save(os.devnull, y)  # here
    return y

saved(jnp.ones(2))
''',
        ("`np.save`", "^np.save(os.devnull, y)", "write the file outside"),
        '''
import io

@ag.function
def doubled(x):
    return x * 2

y = doubled(jnp.ones(2))
np.save(io.BytesIO(), y)
assert y.sum() == 4.0
''',
    ),
    # AG406: NumPy's own
    Mistake(
        "AG406", "numpy call: np.real_if_close",
        '''
@ag.function
def real(z):
    return np.real_if_close(z)  # here

real(1.5 + 0j)
''',
        ("`np.real_if_close`", "^np.real_if_close(z)", "functions of `jax.numpy`"),
        '''
@ag.function
def real(z):
    return np.real(z)

assert real(1.5 + 0j) == 1.5
''',
    ),
    Mistake(
        "AG406", "operator: np.matrix for `*`",
        '''
@ag.function
def squared(m):
    m = np.matrix(m)  # here
    return m * m

squared(jnp.eye(2))
''',
        ("`np.matrix`", "^np.matrix(m)", "functions of `jax.numpy`"),
        '''
@ag.function
def squared(m):
    return m @ m

assert squared(jnp.eye(2)).trace() == 2.0
''',
    ),
    Mistake(
        "AG406", "for: np.ndenumerate",
        '''
@ag.function
def moment(m):
    s = 0.0
    for (i, j), x in np.ndenumerate(m):  # here
        s += i * j * x
    return s

moment(jnp.ones((2, 2)))
''',
        ("`np.ndenumerate`", "^np.ndenumerate(m)", "functions of `jax.numpy`"),
        '''
@ag.function
def moment(m):
    s = 0.0
    for i, row in enumerate(m):
        for j, x in enumerate(row):
            s += i * j * x
    return s

assert moment(jnp.ones((2, 2))) == 1.0
''',
    ),
    Mistake(
        "AG406", "numpy call: the option casting",
        '''
@ag.function
def incremented(x):
    return np.add(x, 1, casting="same_kind")  # here

incremented(jnp.ones(2))
''',
        ("`casting` of `np.add`", "^np.add(x, 1, casting=\"same_kind\")", "leave the option out"),
        '''
@ag.function
def incremented(x):
    return np.add(x, 1)

assert incremented(jnp.ones(2)).sum() == 4.0
''',
    ),
    Mistake(
        "AG406", "numpy call: the windows of stride_tricks",
        '''
@ag.function
def smooth(x):
    return np.lib.stride_tricks.sliding_window_view(x, 2).mean(axis=1)  # here

smooth(jnp.arange(3.0))
''',
        ("`np.lib.stride_tricks.sliding_window_view`", "functions of `jax.numpy`"),
        '''
@ag.function
def smooth(x):
    return np.stack([x[:-1], x[1:]], axis=1).mean(axis=1)

assert smooth(jnp.arange(3.0)).tolist() == [0.5, 1.5]
''',
    ),
    Mistake(
        "AG406", "numpy call: np.testing in a compiled function",
        '''
@ag.function
def normalized(x):
    y = x / x.sum()
    np.testing.assert_allclose(y.sum(), 1.0)  # here
    return y

normalized(jnp.ones(4))
''',
        ("`np.testing.assert_allclose`",),
        '''
@ag.function
def normalized(x):
    y = x / x.sum()
    assert abs(y.sum() - 1.0) < 1e-6
    return y

assert normalized(jnp.ones(4))[0] == 0.25
''',
    ),
    Mistake(
        "AG406", "scipy call: scipy.linalg.logm",
        '''
from scipy import linalg

@ag.function
def log(a):
    return linalg.logm(a)  # here

log(jnp.eye(2))
''',
        ("`scipy.linalg.logm`", "^linalg.logm(a)", "`jax.scipy.linalg` has"),
        '''
@ag.function
def log(a):
    values, vectors = np.linalg.eigh(a)
    return vectors @ np.diag(np.log(values)) @ vectors.T

assert log(jnp.eye(2))[0, 0] == 0.0
''',
    ),
    # AG407: which array it is
    Mistake(
        "AG407", "for: the row of the last turn",
        '''
@ag.function
def mark(table, n):
    row = table[0]
    for k in range(n):
        row = table[k]
    row[0] = 1.0  # here
    return table

mark(np.zeros((3, 2), np.float32), 2)
''',
        ("^row[0] = 1.0", "a row, slice or other view", "take it again before the store"),
        '''
@ag.function
def mark(table, n):
    for k in range(n):
        pass
    row = table[n - 1]
    row[0] = 1.0
    return table

assert mark(np.zeros((3, 2), np.float32), 2)[1, 0] == 1.0
''',
    ),
    # AG501: what stays Python
    Mistake(
        "AG501", "comprehension: a dict over indices with a condition",
        '''
@ag.function
def positive_sum(v):
    positive = {k: v[k] for k in range(3) if v[k] > 0}  # here
    return sum(positive.values())

positive_sum(jnp.array([1.0, -2.0, 3.0]))
''',
        ("`positive = {k: v[k] for k in range(3) if v[k] > 0}`", "`for` loop"),
        '''
@ag.function
def positive_sum(v):
    positive = [x for x in v if x > 0]
    return sum(positive)

assert positive_sum(jnp.array([1.0, -2.0, 3.0])) == 4.0
''',
    ),
    Mistake(
        "AG405", "comprehension: names with a traced condition",
        '''
@ag.function
def large(a, b):
    return [name for name, x in (("a", a), ("b", b)) if x > 1]  # here

large(1.0, 2.0)
''',
        ("'a' and 'b'", "only numbers and arrays"),
        '''
@ag.function
def large(a, b):
    return {"a": a > 1, "b": b > 1}

assert large(1.0, 2.0) == {"a": False, "b": True}
''',
    ),
    Mistake(
        "AG501", "comprehension: a dict with a condition",
        '''
@ag.function
def named(v):
    return {k: x for k, x in zip("abc", v) if x > 0}  # here

named(jnp.array([1.0, -2.0, 3.0]))
''',
        ("{k: x for k, x in zip(\"abc\", v) if x > 0}", "`jnp.where`"),
        '''
@ag.function
def named(v):
    return {k: jnp.where(x > 0, x, 0) for k, x in zip("abc", v)}

assert named(jnp.array([1.0, -2.0, 3.0]))["b"] == 0
''',
    ),
    Mistake(
        "AG501", "for: a generator with a traced break",
        '''
def naturals():
    n = 1
    while True:
        yield n
        n += 1

@ag.function
def first_above(limit):
    s = 0
    for n in naturals():  # here
        s += n
        if s > limit:
            break
    return n

first_above(10)
''',
        ("`generator`", "data-dependent how many", "a range"),
        '''
@ag.function
def first_above(limit):
    s = 0
    for n in range(1, 1000):
        s += n
        if s > limit:
            break
    return n

assert first_above(10) == 5
''',
    ),
    Mistake(
        "AG501", "generator: an if of its own",
        '''
def positive(v):
    for x in v:
        if x > 0:  # here
            yield x

@ag.function
def total(v):
    s = 0.0
    for x in positive(v):
        s += x
    return s

total(jnp.array([1.0, -1.0]))
''',
        ("`positive`", "generator", "!use an `if` statement"),
        '''
def positive(v):
    for x in v:
        yield jnp.where(x > 0, x, 0.0)

@ag.function
def total(v):
    s = 0.0
    for x in positive(v):
        s += x
    return s

assert total(jnp.array([1.0, -1.0])) == 1.0
''',
    ),
    Mistake(
        "AG501", "decorator: on a generator",
        '''
@ag.function
def countdown(n):
    while n > 0:
        yield n
        n -= 1

list(countdown(3))  # here
''',
        ("`countdown`", "generator"),
        '''
@ag.function
def countdown(n):
    out = []
    with ag.loop(max_steps=10):
        while n > 0:
            out.append(n)
            n -= 1
    return out

assert countdown(3) == [3, 2, 1]
''',
    ),
    Mistake(
        "AG501", "for: itertools.count of floats with a traced break",
        '''
import itertools

@ag.function
def root(n):
    for k in itertools.count(0.0, 1.0):  # here
        if k * k > n:
            break
    return k - 1

root(10)
''',
        ("`count`", "data-dependent how many", "a range"),
        '''
import itertools

@ag.function
def root(n):
    for k in itertools.count():
        if k * k > n:
            break
    return k - 1

assert root(10) == 3
''',
    ),
    Mistake(
        "AG501", "with: a context manager that branches",
        '''
import contextlib

@contextlib.contextmanager
def magnitude(x):
    if x > 0:  # here
        yield x
    else:
        yield -x

@ag.function
def root(x):
    with magnitude(x) as y:
        return y**0.5

root(4.0)
''',
        ("`magnitude`", "generator", "!next to its `def`"),
        '''
import contextlib

@contextlib.contextmanager
def magnitude(x):
    yield jnp.where(x > 0, x, -x)

@ag.function
def root(x):
    with magnitude(x) as y:
        return y**0.5

assert root(-4.0) == 2.0
''',
    ),
    Mistake(
        "AG501", "builtin: filter",
        '''
@ag.function
def positives(v):
    return tuple(filter(lambda x: x > 0, v))  # here

positives(jnp.array([1.0, -2.0, 3.0]))
''',
        ("filter(lambda x: x > 0, v)", "`for` loop"),
        '''
@ag.function
def positives(v):
    return list(filter(lambda x: x > 0, v))

assert positives(jnp.array([1.0, -2.0, 3.0])) == [1.0, 3.0]
''',
    ),
    Mistake(
        "AG501", "itertools.takewhile",
        '''
import itertools

@ag.function
def head_sum(v):
    return sum(itertools.takewhile(lambda x: x > 0, v))  # here

head_sum(jnp.array([1.0, -2.0, 3.0]))
''',
        ("itertools.takewhile(lambda x: x > 0, v)", "`for` loop"),
        '''
@ag.function
def head_sum(v):
    s = 0.0
    for x in v:
        if x <= 0:
            break
        s += x
    return s

assert head_sum(jnp.array([1.0, -2.0, 3.0])) == 1.0
''',
    ),
    Mistake(
        "AG501", "comparison: is True",
        '''
@ag.function
def positive(x):
    ok = x > 0
    if ok is True:  # here
        return 1
    return 0

positive(3.0)
''',
        ("`is True`", "^ok is True", "`if x:`"),
        '''
@ag.function
def positive(x):
    ok = x > 0
    if ok:
        return 1
    return 0

assert positive(3.0) == 1
''',
    ),
    Mistake(
        "AG501", "match: case True",
        '''
@ag.function
def positive(x):
    match x > 0:
        case True:  # here
            return 1
        case False:
            return 0

positive(3.0)
''',
        ("True", "^True", "`if "),
        '''
@ag.function
def positive(x):
    if x > 0:
        return 1
    else:
        return 0

assert positive(3.0) == 1
''',
    ),
    Mistake(
        "AG501", "match: case int()",
        '''
@ag.function
def doubled(x):
    match x:  # here
        case int():
            return x * 2
        case float():
            return x * 2.0

doubled(3)
''',
        ("`match`", "class", "`if` and `elif`"),
        '''
@ag.function
def doubled(x):
    if jnp.issubdtype(x.dtype, jnp.integer):
        return x * 2
    else:
        return x * 2.0

assert doubled(3) == 6
''',
    ),
    Mistake(
        "AG501", "decorator: a helper under @ag.do_not_convert",
        '''
@ag.do_not_convert
def sign(x):
    return 1 if x > 0 else -1  # here

@ag.function
def scaled(x):
    return x * sign(x)

scaled(-2.0)
''',
        ("`sign`", "not converted", "`@ag.convert` next to its `def`"),
        '''
@ag.convert
def sign(x):
    return 1 if x > 0 else -1

@ag.function
def scaled(x):
    return x * sign(x)

assert scaled(-2.0) == 2.0
''',
    ),
    Mistake(
        "AG501", "callee: a helper that exec has made",
        '''
space = {}
exec("def half(n):\\n    return n // 2 if n > 1 else n\\n", space)
half = space["half"]

@ag.function
def quarter(n):
    return half(half(n))  # here

quarter(8)
''',
        ("`half`", "source"),
        '''
def half(n):
    return n // 2 if n > 1 else n

@ag.function
def quarter(n):
    return half(half(n))

assert quarter(8) == 2
''',
    ),
    Mistake(
        "AG501", "for: over a number",
        '''
@ag.function
def triangle(count):
    s = 0
    for i in count:  # here
        s += i
    return s

triangle(4)
''',
        ("0-d array", "^for i in count:", "`range(count)`"),
        '''
@ag.function
def triangle(count):
    s = 0
    for i in range(count):
        s += i
    return s

assert triangle(4) == 6
''',
    ),
    Mistake(
        "AG405", "deque: a queue of what is to be visited",
        '''
from collections import deque

@ag.function
def reached(next_of, start):
    todo, seen = deque([start]), jnp.zeros(4, bool)
    with ag.loop(max_steps=8):
        while todo:
            here = todo.popleft()
            if not seen[here]:
                seen[here] = True
                todo.append(next_of[here])  # here
    return seen.sum()

reached(jnp.array([1, 2, 0, 3]), 0)
''',
        ("`todo`, a `deque`,", "use a list: `append` and `pop`"),
        '''
@ag.function
def reached(next_of, start):
    todo, seen = [start], jnp.zeros(4, bool)
    with ag.loop(max_steps=8):
        while todo:
            here = todo.pop(0)
            if not seen[here]:
                seen[here] = True
                todo.append(next_of[here])
    return seen.sum()

assert reached(jnp.array([1, 2, 0, 3]), 0) == 3
''',
    ),
    Mistake(
        "AG501", "method: index of a deque",
        '''
import collections

@ag.function
def position(x):
    codes = collections.deque([10, 20, 30])
    return codes.index(x)  # here

position(20)
''',
        ("`return codes.index(x)`", "`for` loop"),
        '''
@ag.function
def position(x):
    codes = [10, 20, 30]
    return codes.index(x)

assert position(20) == 1
''',
    ),
    Mistake(
        "AG501", "library call: bisect",
        '''
import bisect

@ag.function
def bracket(income):
    limits = [10.0, 20.0, 30.0]
    return bisect.bisect(limits, income)  # here

bracket(25.0)
''',
        ("bisect.bisect(limits, income)", "`for` loop"),
        '''
@ag.function
def bracket(income):
    limits = [10.0, 20.0, 30.0]
    k = 0
    for limit in limits:
        if income >= limit:
            k += 1
    return k

assert bracket(25.0) == 2
''',
    ),
    Mistake(
        "AG501", "library call: a heap in a for",
        '''
import heapq

@ag.function
def smallest(xs):
    heap = []
    for x in xs:
        heapq.heappush(heap, x)  # here
    return heap[0]

smallest(jnp.array([3.0, 1.0]))
''',
        ("heapq.heappush(heap, x)",),
        '''
@ag.function
def smallest(xs):
    best = jnp.inf
    for x in xs:
        if x < best:
            best = x
    return best

assert smallest(jnp.array([3.0, 1.0])) == 1.0
''',
    ),
    Mistake(
        "AG501", "library call: scipy.optimize.brentq",
        '''
from scipy import optimize

@ag.function
def root(x):
    return optimize.brentq(lambda t: t * t - x, 0.0, 10.0)  # here

root(4.0)
''',
        ("`optimize.brentq`, which is not converted", "write the loop out"),
        '''
@ag.function
def root(x):
    low, high = 0.0, 10.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        if middle * middle > x:
            high = middle
        else:
            low = middle
    return low

assert abs(root(4.0) - 2.0) < 1e-4
''',
    ),
    Mistake(
        "AG501", "builtin: locals",
        '''
@ag.function
def configured(x):
    if x > 0:  # here
        rate = 0.1
    else:
        rate = 0.2
    return x * locals()["rate"]

configured(1.0)
''',
        ("`configured`", "`locals`", "!use an `if` statement"),
        '''
@ag.function
def configured(x):
    if x > 0:
        rate = 0.1
    else:
        rate = 0.2
    return x * rate

assert configured(-1.0) < 0
''',
    ),
    Mistake(
        "AG501", "builtin: eval",
        '''
@ag.function
def magnitude(x):
    return eval("x if x > 0 else -x")  # here

magnitude(1.0)
''',
        ("eval", "^eval(\"x if x > 0 else -x\")"),
        '''
@ag.function
def magnitude(x):
    return x if x > 0 else -x

assert magnitude(-1.0) == 1.0
''',
    ),
    Mistake(
        "AG501", "class body: an if in a class",
        '''
@ag.function
def trained(x):
    class Config:
        if x > 0:  # here
            rate = 0.1
        else:
            rate = 0.2

    return x * Config.rate

trained(1.0)
''',
        ("`Config`", "class body", "!`def`"),
        '''
@ag.function
def trained(x):
    class Config:
        rate = jnp.where(x > 0, 0.1, 0.2)

    return x * Config.rate

assert trained(-1.0) < 0
''',
    ),
    Mistake(
        "AG501", "builtin: sorted with a key that gives arrays",
        '''
@ag.function
def nearest(points, q):
    return sorted(points, key=lambda p: (p - q) ** 2)[0]  # here

nearest(jnp.ones((3, 2)), jnp.zeros(2))
''',
        ("`sorted`", "^sorted(points, key=lambda p: (p - q) ** 2)", "sort by a number"),
        '''
@ag.function
def nearest(points, q):
    return sorted(points, key=lambda p: ((p - q) ** 2).sum())[0]

assert nearest(jnp.ones((3, 2)), jnp.zeros(2)).tolist() == [1.0, 1.0]
''',
    ),
    Mistake(
        "AG501", "in: a set",
        '''
@ag.function
def vowel(letter):
    vowels = {97, 101, 105, 111, 117}
    return 1 if letter in vowels else 0  # here

vowel(97)
''',
        ("`set`", "^letter in vowels", "tuple"),
        '''
@ag.function
def vowel(letter):
    vowels = (97, 101, 105, 111, 117)
    return 1 if letter in vowels else 0

assert vowel(97) == 1 and vowel(98) == 0
''',
    ),
    Mistake(
        "AG501", "in: a dict of what was computed before",
        '''
memo = {0: 0, 1: 1}

@ag.function
def fib(n):
    if n in memo:  # here
        return n
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

fib(7)
''',
        ("`dict`", "^n in memo", "keys as a list"),
        '''
@ag.function
def fib(n):
    if n in (0, 1):
        return n
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

assert fib(7) == 13
''',
    ),
    Mistake(
        "AG501", "set: what a for has seen",
        '''
@ag.function
def repeated(v):
    seen = set()
    for x in v:
        if x in seen:  # here
            return True
        seen.add(x)
    return False

repeated(jnp.array([1, 2, 1]))
''',
        ("`set`", "^x in seen", "list"),
        '''
@ag.function
def repeated(v):
    seen = []
    for x in v:
        if x in seen:
            return True
        seen.append(x)
    return False

assert repeated(jnp.array([1, 2, 1]))
''',
    ),
    Mistake(
        "AG501", "recursion: a factorial",
        '''
@ag.function
def factorial(n):
    if n <= 1:  # here
        return 1
    return n * factorial(n - 1)

factorial(4)
''',
        ("`factorial` calls itself", "^if n <= 1:", "write it as a loop"),
        '''
@ag.function
def factorial(n):
    product = 1
    while n > 1:
        product *= n
        n -= 1
    return product

assert factorial(4) == 24
''',
    ),
    Mistake(
        "AG501", "recursion: nested function, both sides call it",
        '''
@ag.function
def search(v, x):
    def between(low, high):
        if low >= high:  # here
            return low
        middle = (low + high) // 2
        return between(middle + 1, high) if v[middle] < x else between(low, middle)

    return between(0, x * 0 + len(v))

search(jnp.arange(8), 5)
''',
        ("`between` calls itself", "write it as a loop"),
        '''
@ag.function
def search(v, x):
    low, high = 0, len(v)
    while low < high:
        middle = (low + high) // 2
        if v[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low

assert search(jnp.arange(8), 5) == 5
''',
    ),
    # AG502: what Python needs at once
    Mistake(
        "AG502", "subscript: x[:n]",
        '''
@ag.function
def median(x, n):
    return jnp.quantile(x[:n], 0.5)  # here

median(jnp.arange(5.0), 3)
''',
        ("`return jnp.quantile(x[:n], 0.5)`", "the end of a slice is traced", "`quantile` is given it", "mask"),
        '''
@ag.function
def median(x, n):
    return jnp.nanmedian(jnp.where(jnp.arange(len(x)) < n, x, jnp.nan))

assert median(jnp.arange(5.0), 3) == 1.0
''',
    ),
    Mistake(
        "AG502", "subscript: x[n:], with a comment behind it",
        '''
@ag.function
def rest(x, n):
    return jnp.fft.fft(x[n:])[0].real  # what is left  # here

rest(jnp.arange(5.0), 3)
''',
        ("`return jnp.fft.fft(x[n:])[0].real`", "the end of a slice is traced", "mask"),
        '''
@ag.function
def rest(x, n):
    return x.std(where=jnp.arange(len(x)) >= n)

assert rest(jnp.arange(5.0), 3) == 0.5
''',
    ),
    Mistake(
        "AG502", "subscript: a store into a block of which two ends are traced",
        '''
@ag.function
def cleared(m, n):
    m[:n, :n] = 0.0  # here
    return m

cleared(jnp.ones((3, 3)), 2)
''',
        ("`m[:n, :n] = 0.0`", "the end of a slice is traced"),
        '''
@ag.function
def cleared(m, n):
    inside = jnp.arange(len(m)) < n
    return jnp.where(inside[:, None] & inside, 0.0, m)

assert cleared(jnp.ones((3, 3)), 2).sum() == 5.0
''',
    ),
    Mistake(
        "AG502", "subscript: every n-th",
        '''
@ag.function
def thinned(x, n):
    return jnp.outer(x[::n], x).sum()  # here

thinned(jnp.zeros(4), 2)
''',
        ("`return jnp.outer(x[::n], x).sum()`", "`outer` is given it"),
        '''
@ag.function
def thinned(x, n):
    return x.sum(where=jnp.arange(len(x)) % n == 0)

assert thinned(jnp.zeros(4), 2) == 0.0
''',
    ),
    Mistake(
        "AG502", "subscript: a mask is read",
        '''
@ag.function
def positive_mean(x):
    positive = x > 0
    return jnp.sqrt(x[positive]).mean()  # here

positive_mean(jnp.array([1.0, -1.0, 9.0]))
''',
        ("a mask is traced", "`return jnp.sqrt(x[positive]).mean()`", "jnp.where(mask, x, 0)"),
        '''
@ag.function
def positive_mean(x):
    positive = x > 0
    return jnp.sqrt(jnp.where(positive, x, 0)).mean(where=positive)

assert positive_mean(jnp.array([1.0, -1.0, 9.0])) == 2.0
''',
    ),
    Mistake(
        "AG502", "subscript: the first n items of a list",
        '''
@ag.function
def price(n):
    prices = [1.0, 2.0, 3.0]
    return sum(prices[:n])  # here

price(2)
''',
        ("`prices[:n]` takes part of a list or tuple, and `n` decides how much", "`jnp.array(prices)`", "^prices[:n]", "static"),
        '''
@ag.function(static_argnames="n")
def price(n):
    prices = [1.0, 2.0, 3.0]
    return sum(prices[:n])

assert price(2) == 3.0
''',
    ),
    Mistake(
        "AG502", "builtin: int of an array",
        '''
@ag.function
def whole(x):
    return int(x)  # here

whole(jnp.array([1.5, 2.5]))
''',
        ("`int`", "shape (2,)", "^int(x)", "`.astype(int)`"),
        '''
@ag.function
def whole(x):
    return x.astype(int)

assert whole(jnp.array([1.5, 2.5])).tolist() == [1, 2]
''',
    ),
    Mistake(
        "AG502", "builtin: float of a sum over one axis",
        '''
@ag.function
def total(m):
    return float(m.sum(axis=0))  # here

total(jnp.ones((2, 2)))
''',
        ("`float`", "shape (2,)", "^float(m.sum(axis=0))"),
        '''
@ag.function
def total(m):
    return m.sum(axis=0).astype(float)

assert total(jnp.ones((2, 2))).tolist() == [2.0, 2.0]
''',
    ),
    Mistake(
        "AG502", "dict: a traced key",
        '''
@ag.function
def price(kind):
    prices = {0: 1.5, 1: 2.5}
    return prices[kind]  # here

price(1)
''',
        ("`dict`", "^prices[kind]", "list or array"),
        '''
@ag.function
def price(kind):
    prices = [1.5, 2.5]
    return prices[kind]

assert price(1) == 2.5
''',
    ),
    Mistake(
        "AG502", "dict: a store under a traced key",
        '''
@ag.function
def squares(n):
    table = {}
    for i in range(n):
        table[i] = i * i  # here
    return table

squares(3)
''',
        ("`dict`", "^table[i] = i * i", "`jnp` array"),
        '''
@ag.function
def squares(n):
    table = jnp.zeros(10, int)
    for i in range(n):
        table[i] = i * i
    return table

assert squares(3).sum() == 5
''',
    ),
    Mistake(
        "AG502", "f-string: as the key of a dict",
        '''
@ag.function
def layer(params, k):
    return params[f"layer{k}"] * 2  # here

layer({"layer0": 1.0, "layer1": 2.0}, 1)
''',
        ("^params[f\"layer{k}\"]", "static"),
        '''
@ag.function(static_argnames="k")
def layer(params, k):
    return params[f"layer{k}"] * 2

assert layer({"layer0": 1.0, "layer1": 2.0}, 1) == 4.0
''',
    ),
    Mistake(
        "AG502", "f-string: its length",
        '''
@ag.function
def width(x):
    return len(f"{x:.2f}")  # here

width(1.0)
''',
        ("characters", "^len(f\"{x:.2f}\")", "format it outside"),
        '''
@ag.function
def value(x):
    return x

assert len(f"{value(1.0):.2f}") == 4
''',
    ),
    Mistake(
        "AG502", "subscript: a list of texts",
        '''
@ag.function
def name(k):
    names = ["ann", "bob"]
    return names[k]  # here

name(1)
''',
        ("^names[k]", "'ann'", "'bob'", "!choose with `if`"),
        '''
@ag.function
def index(k):
    return k

names = ["ann", "bob"]
assert names[index(1)] == "bob"
''',
    ),
    Mistake(
        "AG502", "subscript: a list of functions",
        '''
@ag.function
def wave(kind, x):
    waves = [jnp.sin, jnp.cos]
    return waves[kind](x)  # here

wave(1, 0.0)
''',
        ("^waves[kind]", "sin", "cos", "!0x", "!Pjit", "`if` or `match`"),
        '''
@ag.function
def wave(kind, x):
    match kind:
        case 0:
            return jnp.sin(x)
        case _:
            return jnp.cos(x)

assert wave(1, 0.0) == 1.0
''',
    ),
    Mistake(
        "AG502", "subscript: a list of arrays of two shapes",
        '''
@ag.function
def mass(k):
    bodies = [jnp.ones(2), jnp.ones(3)]
    return bodies[k].sum()  # here

mass(1)
''',
        ("^bodies[k]", "float32[2], float32[3]", "one type and shape"),
        '''
@ag.function
def mass(k):
    bodies = [jnp.array([1.0, 1.0, 0.0]), jnp.ones(3)]
    return bodies[k].sum()

assert mass(1) == 3.0
''',
    ),
    Mistake(
        "AG502", "subscript: a character of a text",
        '''
@ag.function
def letter(k):
    return "abc"[k]  # here

letter(1)
''',
        ("`str`", "^\"abc\"[k]", "keep the number"),
        '''
@ag.function
def letter(k):
    return [97, 98, 99][k]

assert chr(letter(1)) == "b"
''',
    ),
    Mistake(
        "AG502", "for: a range of floats",
        '''
@ag.function
def triangle(x):
    s = 0
    for i in range(x / 2):  # here
        s += i
    return s

triangle(8)
''',
        ("`range`", "float32[]", "^range(x / 2)", "x.astype(int)"),
        '''
@ag.function
def triangle(x):
    s = 0
    for i in range((x / 2).astype(int)):
        s += i
    return s

assert triangle(8) == 6
''',
    ),
    Mistake(
        "AG502", "comprehension: over a traced range",
        '''
@ag.function
def squares(n):
    return jnp.array([i * i for i in range(n)])  # here

squares(3)
''',
        ("`range`", "static"),
        '''
@ag.function(static_argnames="n")
def squares(n):
    return jnp.array([i * i for i in range(n)])

assert squares(3).tolist() == [0, 1, 4]
''',
    ),
    Mistake(
        "AG405", "builtin: list of a traced range",
        '''
@ag.function
def indices(n):
    return list(range(n))  # here

indices(3)
''',
        ("grows", "^list(range(n))", "max_steps"),
        '''
@ag.function
def indices(n):
    out = []
    with ag.loop(max_steps=10):
        for i in range(n):
            out.append(i)
    return out

assert indices(3) == [0, 1, 2]
''',
    ),
    Mistake(
        "AG502", "numpy call: jnp.arange(n)",
        '''
@ag.function
def triangle(n):
    return jnp.arange(n).sum()  # here

triangle(4)
''',
        ("`n`", "static"),
        '''
@ag.function(static_argnames="n")
def triangle(n):
    return jnp.arange(n).sum()

assert triangle(4) == 6
''',
    ),
    Mistake(
        "AG502", "numpy call: np.zeros(n)",
        '''
@ag.function
def padded(x, n):
    return np.zeros(n) + x  # here

padded(1.0, 3)
''',
        ("`np.zeros`", "^np.zeros(n)", "static"),
        '''
@ag.function(static_argnames="n")
def padded(x, n):
    return np.zeros(n) + x

assert padded(1.0, 3).sum() == 3.0
''',
    ),
    Mistake(
        "AG502", "numpy call: jnp.zeros(n)",
        '''
@ag.function
def padded(x, n):
    return jnp.zeros(n) + x  # here

padded(1.0, 3)
''',
        ("jnp.zeros(n)", "static"),
        '''
@ag.function(static_argnames="n")
def padded(x, n):
    return jnp.zeros(n) + x

assert padded(1.0, 3).sum() == 3.0
''',
    ),
    Mistake(
        "AG502", "try: except TypeError around jnp.zeros(n)",
        '''
@ag.function
def buffer(n):
    try:
        return jnp.zeros(n)  # here
    except TypeError:
        return jnp.zeros(8)

assert len(buffer(3)) == 3
''',
        ("jnp.zeros(n)", "static"),
        '''
@ag.function(static_argnames="n")
def buffer(n):
    try:
        return jnp.zeros(n)
    except TypeError:
        return jnp.zeros(8)

assert len(buffer(3)) == 3
''',
    ),
    Mistake(
        "AG502", "method: reshape by a traced number",
        '''
@ag.function
def rows(x, n):
    return x.reshape(n, -1).sum(axis=1)  # here

rows(jnp.ones(6), 3)
''',
        ("x.reshape(n, -1)", "static"),
        '''
@ag.function(static_argnames="n")
def rows(x, n):
    return x.reshape(n, -1).sum(axis=1)

assert rows(jnp.ones(6), 3).tolist() == [2.0, 2.0, 2.0]
''',
    ),
    Mistake(
        "AG502", "library call: the shape of random numbers",
        '''
@ag.function
def noise(key, n):
    return jax.random.normal(key, (n,)).mean()  # here

noise(jax.random.key(0), 3)
''',
        ("jax.random.normal(key, (n,))", "static"),
        '''
@ag.function(static_argnames="n")
def noise(key, n):
    return jax.random.normal(key, (n,)).mean()

assert noise(jax.random.key(0), 3) != 0
''',
    ),
    Mistake(
        "AG502", "library call: how many keys for random numbers",
        '''
@ag.function
def keys(key, n):
    return jax.random.split(key, n)  # here

keys(jax.random.key(0), 3)
''',
        ("jax.random.split(key, n)", "static"),
        '''
@ag.function(static_argnames="n")
def keys(key, n):
    return jax.random.split(key, n)

assert keys(jax.random.key(0), 3).shape == (3,)
''',
    ),
    Mistake(
        "AG502", "numpy call: jnp.nonzero",
        '''
@ag.function
def first(v):
    return jnp.nonzero(v > 0)[0][0]  # here

first(jnp.array([-1.0, 2.0]))
''',
        ("jnp.nonzero(v > 0)", "size="),
        '''
@ag.function
def first(v):
    return jnp.nonzero(v > 0, size=len(v))[0][0]

assert first(jnp.array([-1.0, 2.0])) == 1
''',
    ),
    Mistake(
        "AG502", "numpy call: jnp.unique",
        '''
@ag.function
def distinct(v):
    return len(jnp.unique(v))  # here

distinct(jnp.array([1, 2, 1]))
''',
        ("jnp.unique(v)", "size="),
        '''
@ag.function
def distinct(v):
    v = jnp.sort(v)
    return 1 + (v[1:] != v[:-1]).sum()

assert distinct(jnp.array([1, 2, 1])) == 2
''',
    ),
    Mistake(
        "AG502", "jnp.where with one argument",
        '''
@ag.function
def positive(v):
    k = jnp.where(v > 0)[0]  # here
    return v[k].sum()

positive(jnp.array([-1.0, 2.0]))
''',
        ("jnp.where(v > 0)", "size="),
        '''
@ag.function
def positive(v):
    return np.where(v > 0, v, 0).sum()

assert positive(jnp.array([-1.0, 2.0])) == 2.0
''',
    ),
    Mistake(
        "AG502", "keyword: the axis is an argument",
        '''
@ag.function
def total(x, axis):
    return x.sum(axis=axis)  # here

total(jnp.ones((2, 3)), 1)
''',
        ("^x.sum(axis=axis)", "`axis` is traced", "make it static"),
        '''
@ag.function(static_argnames="axis")
def total(x, axis):
    return x.sum(axis=axis)

assert total(jnp.ones((2, 3)), 1).tolist() == [3.0, 3.0]
''',
    ),
    Mistake(
        "AG502", "library call: the number of classes in one_hot",
        '''
@ag.function
def code(k, classes):
    return jax.nn.one_hot(k, classes)  # here

code(1, 3)
''',
        ("^jax.nn.one_hot(k, classes)", "`classes`", "make it static"),
        '''
@ag.function(static_argnames="classes")
def code(k, classes):
    return jax.nn.one_hot(k, classes)

assert code(1, 3).tolist() == [0.0, 1.0, 0.0]
''',
    ),
    Mistake(
        "AG502", "library call: the length of lax.scan",
        '''
@ag.function
def total(x, n):
    return jax.lax.scan(lambda s, _: (s + x, None), 0.0, None, length=n)[0]  # here

total(1.5, 2)
''',
        ("jax.lax.scan", "static"),
        '''
@ag.function(static_argnames="n")
def total(x, n):
    return jax.lax.scan(lambda s, _: (s + x, None), 0.0, None, length=n)[0]

assert total(1.5, 2) == 3.0
''',
    ),
    Mistake(
        "AG502", "math call: a function that jax.numpy lacks",
        '''
import math

@ag.function
def binomial(n, k):
    return math.comb(n, k)  # here

binomial(4, 2)
''',
        ("`math.comb`", "^math.comb(n, k)", "`jax.scipy.special`"),
        '''
from jax.scipy import special

@ag.function
def binomial(n, k):
    return jnp.round(jnp.exp(special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)))

assert binomial(4, 2) == 6
''',
    ),
    Mistake(
        "AG502", "builtin: chr of a code",
        '''
@ag.function
def letter(k):
    print(chr(97 + k))  # here
    return k

letter(1)
''',
        ("chr(97 + k)", "static"),
        '''
@ag.function(static_argnames="k")
def letter(k):
    print(chr(97 + k))
    return k

assert letter(1) == 1
''',
    ),
    Mistake(
        "AG502", "operator: a text repeated",
        '''
@ag.function
def bar(n):
    print("*" * n)  # here
    return n

bar(3)
''',
        ("\"*\" * n",),
        '''
@ag.function
def bar(n):
    for _ in range(n):
        print("*", end="")
    return n

assert bar(3) == 3
''',
    ),
    Mistake(
        "AG502", "del: a slice of a list",
        '''
@ag.function
def rest(k):
    items = [1.0, 2.0, 3.0]
    del items[:k]  # here
    return sum(items)

rest(1)
''',
        ("^del items[:k]", "an array in the place of a list"),
        '''
@ag.function
def rest(k):
    items = jnp.array([1.0, 2.0, 3.0])
    return items[k:].sum()

assert rest(1) == 5.0
''',
    ),
    Mistake(
        "AG502", "method: pop of an item of another kind than the others",
        '''
@ag.function
def rest(k):
    items = [1.0, jnp.ones(3), 3.0]
    items.pop(k)  # here
    return items[0]

rest(2)
''',
        ("^items.pop(k)", "its items differ: the number 1.0, float32[3]", "one type and shape"),
        '''
@ag.function(static_argnames="k")
def rest(k):
    items = [1.0, jnp.ones(3), 3.0]
    items.pop(k)
    return items[0]

assert rest(2) == 1.0
''',
    ),
    Mistake(
        "AG501", "library call: json of a result",
        '''
import json

@ag.function
def answer(x):
    return json.dumps({"root": x**0.5})  # here

answer(4.0)
''',
        ("json.dumps",),
        '''
import json

@ag.function
def answer(x):
    return {"root": x**0.5}

assert json.dumps({k: float(v) for k, v in answer(4.0).items()}) == '{"root": 2.0}'
''',
    ),
    # AG503: too many turns
    Mistake(
        "AG503", "while: more turns than max_steps",
        '''
@ag.function
def halvings(x):
    n = 0
    with ag.loop(max_steps=5):
        while x > 1:  # here
            x, n = x / 2, n + 1
    return n

halvings(1000.0)
''',
        ("max_steps=5", "^while x > 1:", "allow more iterations"),
        '''
@ag.function
def halvings(x):
    n = 0
    with ag.loop(max_steps=50):
        while x > 1:
            x, n = x / 2, n + 1
    return n

assert halvings(1000.0) == 10
''',
    ),
    Mistake(
        "AG503", "for: a list that has too many items",
        '''
@ag.function
def squares(n):
    out = []
    with ag.loop(max_steps=3):
        for i in range(n):  # here
            out.append(i * i)
    return out

squares(5)
''',
        ("max_steps=3", "^for i in range(n):", "allow more iterations"),
        '''
@ag.function
def squares(n):
    out = []
    with ag.loop(max_steps=8):
        for i in range(n):
            out.append(i * i)
    return out

assert squares(5) == [0, 1, 4, 9, 16]
''',
    ),
    # AG601, AG602: derivatives
    Mistake(
        "AG601", "while: jax.grad with a jax.Ref",
        '''
@ag.convert
def grown(x):
    turns = jax.new_ref(jnp.float32(0))
    while x < 10:  # here
        turns[...] += 1
        x = x * 2
    return x * turns[...]

jax.jit(jax.grad(grown))(3.0)
''',
        ("`jax.Ref`", "^while x < 10:", "in variables", "`jax.jacfwd`"),
        '''
@ag.convert
def grown(x):
    turns = 0
    while x < 10:
        turns += 1
        x = x * 2
    return x * turns

assert jax.jit(jax.grad(grown))(3.0) == 8.0
''',
    ),
    Mistake(
        "AG601", "for: jax.jacrev with a jax.Ref",
        '''
@ag.function
def grown(x, n):
    turns = jax.new_ref(jnp.int32(0))
    for _ in range(n):  # here
        turns[...] += 1
        x = x * 2
    return x

jax.jacrev(grown)(jnp.ones(2), 3)
''',
        ("`jax.Ref`", "^for _ in range(n):", "`jax.jacfwd`"),
        '''
@ag.function
def grown(x, n):
    turns = jax.new_ref(jnp.int32(0))
    for _ in range(n):
        turns[...] += 1
        x = x * 2
    return x

assert jax.jacfwd(grown)(jnp.ones(2), 3).trace() == 16.0
''',
    ),
    Mistake(
        "AG602", "while: jax.grad through a callback",
        '''
def on_the_host(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float32), x)

@ag.function
def walk(x):
    while x < 10:  # here
        x = x + 2 + on_the_host(x)
    return x

jax.grad(walk)(3.0)
''',
        ("Pure callbacks", "^while x < 10:", "`jax.custom_jvp`"),
        '''
@jax.custom_jvp
def on_the_host(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float32), x)

@on_the_host.defjvp
def slope(x, dx):
    return on_the_host(*x), jnp.cos(*x) * dx[0]

@ag.function
def walk(x):
    while x < 10:
        x = x + 2 + on_the_host(x)
    return x

assert jax.grad(walk)(3.0) != 0
''',
    ),
    Mistake(
        "AG602", "for: jax.grad through a table on the host",
        '''
from jax.experimental import io_callback

@ag.function
def charged(x, n):
    for _ in range(n):  # here
        x = x + io_callback(np.floor, jax.ShapeDtypeStruct((), np.float32), x)
    return x

jax.grad(charged)(1.5, 3)
''',
        ("IO callbacks", "^for _ in range(n):", "`lax.stop_gradient`"),
        '''
from jax import lax
from jax.experimental import io_callback

@ag.function
def charged(x, n):
    for _ in range(n):
        x = x + io_callback(np.floor, jax.ShapeDtypeStruct((), np.float32), lax.stop_gradient(x))
    return x

assert jax.grad(charged)(1.5, 3) == 1.0
''',
    ),
    Mistake(
        "AG602", "while: jax.grad through eigenvectors",
        '''
@ag.function
def spread(m):
    while m.sum() < 10:  # here
        values, vectors = jnp.linalg.eig(m)
        m = m * 2 + vectors.real
    return m.sum()

jax.grad(spread)(jnp.eye(2))
''',
        ("eigenvectors", "^while m.sum() < 10:", "`lax.stop_gradient`"),
        '''
from jax import lax

@ag.function
def spread(m):
    while m.sum() < 10:
        values, vectors = jnp.linalg.eig(lax.stop_gradient(m))
        m = m * 2 + vectors.real
    return m.sum()

assert jax.grad(spread)(jnp.eye(2)).sum() > 0
''',
    ),
    Mistake(
        "AG602", "while: jax.grad through a lax.while_loop",
        '''
@ag.function
def grown(x):
    while x < 10:  # here
        x = x + jax.lax.while_loop(lambda y: y < 5, lambda y: y * 2, x)
    return x

jax.grad(grown)(1.0)
''',
        ("lax.while_loop", "^while x < 10:", "`while`"),
        '''
@ag.function
def grown(x):
    while x < 10:
        y = x
        while y < 5:
            y = y * 2
        x = x + y
    return x

assert jax.grad(grown)(1.0) > 1
''',
    ),
    # Python's own errors, which the compiled function raises
    Mistake(
        "UnboundLocalError", "if: no else, and the other side is taken",
        '''
@ag.function
def bonus(points):
    if points > 100:
        extra = 10
    return points + extra  # here

bonus(50)
''',
        ("'extra'",),
        '''
@ag.function
def bonus(points):
    extra = 0
    if points > 100:
        extra = 10
    return points + extra

assert bonus(50) == 50
''',
    ),
    Mistake(
        "IndexError", "subscript: an index of a list that is too large",
        '''
@ag.function
def price(k):
    prices = [1.5, 2.5]
    return prices[k]  # here

price(2)
''',
        ("list index out of range",),
        '''
@ag.function
def price(k):
    prices = [1.5, 2.5]
    return prices[k] if k < len(prices) else 0.0

assert price(2) == 0.0
''',
    ),
    Mistake(
        "TypeError", "operator: nothing was found, and None is added to",
        '''
@ag.function
def gain(v, cost):
    best = None
    for x in v:
        if x > 0:
            best = x
    return best - cost  # here

gain(jnp.array([-1.0, -2.0]), 0.5)
''',
        ("unsupported operand type(s) for -", "'NoneType'"),
        '''
@ag.function
def gain(v, cost):
    best = None
    for x in v:
        if x > 0:
            best = x
    if best is None:
        return 0.0
    return best - cost

assert gain(jnp.array([-1.0, -2.0]), 0.5) == 0.0
''',
    ),
    Mistake(
        "ValueError", "builtin: zip of arrays of unequal lengths, strict",
        '''
@ag.function
def dot(a, b):
    s = 0.0
    for x, y in zip(a, b, strict=True):  # here
        s += x * y
    return s

dot(jnp.ones(3), jnp.ones(4))
''',
        ("zip() argument 2 is longer than argument 1",),
        '''
@ag.function
def dot(a, b):
    s = 0.0
    for x, y in zip(a, b):
        s += x * y
    return s

assert dot(jnp.ones(3), jnp.ones(4)) == 3.0
''',
    ),
    Mistake(
        "TypeError", "builtin: range of half a length",
        '''
@ag.function
def front(x):
    s = 0.0
    for i in range(len(x) / 2):  # here
        s += x[i]
    return s

front(jnp.ones(4))
''',
        ("'float' object cannot be interpreted as an integer",),
        '''
@ag.function
def front(x):
    s = 0.0
    for i in range(len(x) // 2):
        s += x[i]
    return s

assert front(jnp.ones(4)) == 2.0
''',
    ),
    Mistake(
        "AssertionError", "assert: a condition on what is traced",
        '''
@ag.function
def root(x):
    assert x >= 0, f"positive, not {x:.1f}"  # here
    return x**0.5

root(-4.0)
''',
        ("positive, not -4.0",),
        '''
@ag.function
def root(x):
    assert x >= 0, f"positive, not {x:.1f}"
    return x**0.5

assert root(4.0) == 2.0
''',
    ),
    Mistake(
        "ValueError", "raise: in a while that runs too long",
        '''
@ag.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 5:
            raise ValueError(f"more than 5 steps, at {n}")  # here
    return steps

collatz(27)
''',
        ("more than 5 steps, at 94",),
        '''
@ag.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 500:
            raise ValueError(f"more than 500 steps, at {n}")
    return steps

assert collatz(27) == 111
''',
    ),
    Mistake(
        "AG502", "dict: get with a traced key",
        '''
@ag.function
def price(kind):
    prices = {0: 1.5, 1: 2.5}
    return prices.get(kind, 0.0)  # here

price(1)
''',
        ("`kind`", "cannot be hashed", "^prices.get(kind, 0.0)", "an array that it indexes"),
        '''
@ag.function
def price(kind):
    prices = [1.5, 2.5]
    return prices[kind] if kind < 2 else 0.0

assert price(1) == 2.5
''',
    ),
    Mistake(
        "ValueError", "builtin: max of a generator that gives nothing",
        '''
@ag.function
def largest_positive(v):
    return max(x for x in v if x > 0)  # here

largest_positive(jnp.array([-1.0, -2.0]))
''',
        ("max()",),
        '''
@ag.function
def largest_positive(v):
    return max((x for x in v if x > 0), default=0.0)

assert largest_positive(jnp.array([-1.0, -2.0])) == 0.0
''',
    ),
    Mistake(
        "ValueError", "builtin: a step of zero in range",
        '''
@ag.function
def count(n, step):
    s = 0
    for i in range(0, n, step):  # here
        s += 1
    return s

count(5, 0)
''',
        ("range() arg 3 must not be zero",),
        '''
@ag.function
def count(n, step):
    s = 0
    for i in range(0, n, step):
        s += 1
    return s

assert count(5, 2) == 3
''',
    ),
    # met by newcomers
    Mistake(
        "AG502", "newcomer: the size of a table in a helper",
        '''
def table(values, cap):
    t = jnp.zeros(cap + 1)  # here
    return t.at[0].set(values.sum())

@ag.function
def knapsack(values, capacity):
    return table(values, capacity)

knapsack(jnp.ones(3), 4)
''',
        ("`jnp.zeros`", "`cap` is traced", "the argument of the compiled function static (`static_argnames`) that becomes `cap` here", '!static_argnames="cap"'),
        '''
def table(values, cap):
    t = jnp.zeros(cap + 1)
    return t.at[0].set(values.sum())

@ag.function(static_argnames="capacity")
def knapsack(values, capacity):
    return table(values, capacity)

assert knapsack(jnp.ones(3), 4).shape == (5,)
''',
    ),
    Mistake(
        "AG502", "newcomer: the shape of random numbers",
        '''
@ag.function
def roll(key, n, sides):
    return jax.random.randint(key, (n,), 0, sides)  # here

roll(jax.random.key(0), 3, 6)
''',
        ("`n` is traced", 'static_argnames="n"', "!`key`", "!`sides`"),
        '''
@ag.function(static_argnames="n")
def roll(key, n, sides):
    return jax.random.randint(key, (n,), 0, sides)

assert roll(jax.random.key(0), 3, 6).shape == (3,)
''',
    ),
    Mistake(
        "AG501", "newcomer: a dict of what has been seen",
        '''
@ag.function
def distinct(v):
    seen = {}
    for x in v:
        if x not in seen:  # here
            seen[x] = True
    return len(seen)

distinct(jnp.array([1, 2, 1]))
''',
        ("looked up in a `dict`", "use an array that it indexes", "`there[x]`", "^x not in seen"),
        '''
@ag.function
def distinct(v):
    there, count = jnp.zeros(4, bool), 0
    for x in v:
        if not there[x]:
            there[x] = True
            count += 1
    return count

assert distinct(jnp.array([1, 2, 1])) == 2
''',
    ),
    Mistake(
        "AG203", "newcomer: a linear congruential generator",
        '''
@ag.function
def following(state):
    return (1664525 * state + 1013904223) % 2**32  # here

following(42)
''',
        ("4294967296", '`jax.config.update("jax_enable_x64", True)`', "!use a float"),
        '''
before = jax.config.jax_enable_x64
jax.config.update("jax_enable_x64", True)
try:
    @ag.function
    def following(state):
        return (1664525 * state + 1013904223) % 2**32

    assert following(42) == (1664525 * 42 + 1013904223) % 2**32
finally:
    jax.config.update("jax_enable_x64", before)
''',
    ),
    Mistake(
        "AG502", "newcomer: objects sorted by a number",
        '''
class Plant:
    def __init__(self, height):
        self.height = height

@ag.function
def tallest(heights):
    plants = [Plant(h) for h in heights]
    return sorted(plants, key=lambda p: p.height)[-1].height  # here

tallest(jnp.array([1.0, 3.0, 2.0]))
''',
        ("in which order the items come", "objects of `Plant`", "register_dataclass", "!differ"),
        '''
import dataclasses

@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Plant:
    height: float

@ag.function
def tallest(heights):
    plants = [Plant(h) for h in heights]
    return sorted(plants, key=lambda p: p.height)[-1].height

assert tallest(jnp.array([1.0, 3.0, 2.0])) == 3.0
''',
    ),
    Mistake(
        "AG401", "newcomer: an attribute that a branch makes",
        '''
class Controller:
    def step(self, error):
        if abs(error) > 1:
            self.saturated_at = error  # here
        return error

controller = Controller()
jax.vmap(ag.convert(controller.step))(jnp.array([2.0, 0.5]))
''',
        ("`Controller.saturated_at`", "`Controller.__init__`", "`self.saturated_at = None`"),
        '''
class Controller:
    def __init__(self):
        self.saturated_at = None

    def step(self, error):
        if abs(error) > 1:
            self.saturated_at = error
        return error

controller = Controller()
ag.function(controller.step)(2.0)
assert controller.saturated_at == 2.0
''',
    ),
    Mistake(
        "AG502", "newcomer: a list of a traced length",
        '''
@ag.function
def histogram(v, bins):
    counts = [0] * bins  # here
    for x in v:
        counts[x] += 1
    return counts

histogram(jnp.array([0, 1, 1]), 3)
''',
        ("a `list` is repeated as often as a traced value says", "`static_argnames`", "jnp.zeros(most)", "^[0] * bins"),
        '''
@ag.function(static_argnames="bins")
def histogram(v, bins):
    counts = [0] * bins
    for x in v:
        counts[x] += 1
    return counts

assert histogram(jnp.array([0, 1, 1]), 3) == [1, 2, 0]
''',
    ),
    Mistake(
        "TypeError", "newcomer: a place in the middle",
        '''
@ag.function
def search(v, x):
    lo, hi = 0, len(v)
    while hi - lo > 1:
        mid = (lo + hi) / 2
        if v[mid] <= x:  # here
            lo = mid
        else:
            hi = mid
    return lo

search(jnp.arange(8.0), 3.5)
''',
        ("a place is an integer", "`//`"),
        '''
@ag.function
def search(v, x):
    lo, hi = 0, len(v)
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if v[mid] <= x:
            lo = mid
        else:
            hi = mid
    return lo

assert search(jnp.arange(8.0), 3.5) == 3
''',
    ),
    Mistake(
        "TypeError", "newcomer: the sign as a difference",
        '''
@ag.function
def sign(x):
    return (x > 0) - (x < 0)  # here

sign(-2.5)
''',
        ("`int(a) - int(b)`",),
        '''
@ag.function
def sign(x):
    return int(x > 0) - int(x < 0)

assert sign(-2.5) == -1
''',
    ),
    Mistake(
        "ValueError", "newcomer: the name of a static argument",
        '''
def fit(x, degree):
    return sum(x**k for k in range(degree))

fit = ag.function(fit, static_argnames="deg")  # here
''',
        ("`static_argnames` names `deg`", "`fit` has no such argument", "did you mean `degree`?"),
        '''
def fit(x, degree):
    return sum(x**k for k in range(degree))

fit = ag.function(fit, static_argnames="degree")
assert fit(2.0, 3) == 7.0
''',
    ),
    Mistake(
        "FrozenInstanceError", "newcomer: a field of a frozen dataclass",
        '''
import dataclasses

@dataclasses.dataclass(frozen=True)
class Point:
    x: float

@ag.function
def moved(p, by):
    if by > 0:
        p.x = by  # here
    return p.x

moved(Point(1.0), 2.0)
''',
        ("cannot assign to field 'x'",),
        '''
import dataclasses

@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Point:
    x: float

@ag.function
def moved(p, by):
    if by > 0:
        p = dataclasses.replace(p, x=by)
    return p.x

assert moved(Point(1.0), 2.0) == 2.0
''',
    ),
    Mistake(
        "AG405", "newcomer: a checkpoint is written in a branch",
        '''
@ag.function
def train(w, path):
    best = 9.0
    for _ in range(20):
        w = w * 0.5
        if w.sum() < best:
            best = w.sum()
            with open(path, "w") as f:  # here
                f.write("better")
    return w

train(jnp.ones(2), "best.txt")
''',
        ("`open` would run once", "return and write outside", "`jax.debug.callback(save, x)`"),
        '''
saved = []

def save(w):
    saved.append(float(w.sum()))

@ag.function
def train(w):
    best = 9.0
    for _ in range(3):
        w = w * 0.5
        if w.sum() < best:
            best = w.sum()
            jax.debug.callback(save, w)
    return w

train(jnp.ones(2))
jax.effects_barrier()
assert saved == [1.0, 0.5, 0.25]
''',
    ),
    Mistake(
        "AG501", "newcomer: json.dumps of a traced value",
        '''
import json

@ag.function
def step(w):
    w = w * 0.5
    print(json.dumps({"w": [float(v) for v in w]}))  # here
    return w

step(jnp.ones(2))
''',
        ("`json.dumps`, which is not converted", "call `json.dumps` outside", "`jax.debug.callback(f, x)`"),
        '''
import json

lines = []

def report(w):
    lines.append(json.dumps({"w": [float(v) for v in w]}))

@ag.function
def step(w):
    w = w * 0.5
    jax.debug.callback(report, w)
    return w

step(jnp.ones(2))
jax.effects_barrier()
assert lines == ['{"w": [0.5, 0.5]}']
''',
    ),
    Mistake(
        "AG405", "newcomer: a list that grows is given to a helper that keeps it",
        '''
seen = []

def norms(q):
    seen.append(q)
    return sum(jnp.linalg.norm(c) for c in q)

@ag.function
def grown(b, limit):
    q = [b]
    with ag.loop(max_steps=6):
        while norms(q) < limit:
            q.append(q[-1] * 2)  # here
    return len(q)

grown(jnp.ones(3), 20.0)
''',
        ("`q`", "`norms` is given `q` and might keep it", "let an object hold the list"),
        '''
def norms(q):
    return sum(jnp.linalg.norm(c) for c in q)

@ag.function
def grown(b, limit):
    q = [b]
    with ag.loop(max_steps=6):
        while norms(q) < limit:
            q.append(q[-1] * 2)
    return len(q)

assert grown(jnp.ones(3), 20.0) == 4
''',
    ),
    Mistake(
        "AG405", "newcomer: a helper orthogonalises by a list without a bound",
        '''
def orthogonalise(q, v):
    for c in q:
        v = v - c * (c @ v)
    return v, jnp.linalg.norm(v)

@ag.function
def arnoldi(a, b, tol):
    q = [b / jnp.linalg.norm(b)]
    norm = 1.0
    while norm > tol:  # here
        v, norm = orthogonalise(q, a @ q[-1])
        q.append(v / norm)
    return q

arnoldi(jnp.diag(jnp.array([1.0, 2.0, 3.0])), jnp.ones(3), 1e-3)
''',
        ("`q`", "whose trip count is data-dependent", "ag.loop(max_steps=100)"),
        '''
def orthogonalise(q, v):
    for c in q:
        v = v - c * (c @ v)
    return v, jnp.linalg.norm(v)

@ag.function
def arnoldi(a, b, tol):
    q = [b / jnp.linalg.norm(b)]
    norm = 1.0
    with ag.loop(max_steps=6):
        while norm > tol:
            v, norm = orthogonalise(q, a @ q[-1])
            q.append(v / norm)
    return q

assert len(arnoldi(jnp.diag(jnp.array([1.0, 2.0, 3.0])), jnp.ones(3), 1e-3)) == 4
''',
    ),
    Mistake(
        "AG405", "newcomer: lanes of vmap append to a global list in a loop that returns",
        '''
log = []

def path(s):
    for _ in range(5):
        s = s * 1.5
        if s > 4:  # here
            log.append(s)
            return 0.0
    return s

@ag.function
def price(x):
    return jax.vmap(path)(x)

price(jnp.arange(4.0))
''',
        ("`log` is changed under `vmap`, differently for each batch element", "return the new value"),
        '''
def path(s):
    for _ in range(5):
        s = s * 1.5
        if s > 4:
            return 0.0, s
    return s, 0.0

@ag.function
def price(x):
    return jax.vmap(path)(x)

left, reached = price(jnp.arange(4.0))
assert left[0] == 0.0 and reached[3] == 4.5
''',
    ),
    Mistake(
        "AG202", "newcomer: the best of several objects by a key",
        '''
class Player:
    def __init__(self, name, score):
        self.name, self.score = name, score

@ag.function
def best(x):
    players = [Player("a", x), Player("b", 2.0)]
    first = max(players, key=lambda p: p.score)  # here
    return first.score

best(3.0)
''',
        ("`max` by a traced `key` would give a `Player` or another `Player`", "`k = jnp.argmax(jnp.array(keys))`", "register_dataclass", "^max(players, key=lambda p: p.score)"),
        '''
class Player:
    def __init__(self, name, score):
        self.name, self.score = name, score

@ag.function
def best(x):
    players = [Player("a", x), Player("b", 2.0)]
    scores = jnp.array([p.score for p in players])
    k = jnp.argmax(scores)
    return scores[k]

assert best(3.0) == 3.0
''',
    ),
    Mistake(
        "AG202", "newcomer: the key of the largest value",
        '''
@ag.function
def winner(a, b):
    votes = {"red": a, "blue": b}
    return max(votes, key=votes.get)  # here

winner(3.0, 4.0)
''',
        ("`max` by a traced `key` would give 'red' or 'blue'", "look it up outside", "^max(votes, key=votes.get)"),
        '''
@ag.function
def winner(a, b):
    votes = {"red": a, "blue": b}
    return jnp.argmax(jnp.array(list(votes.values())))

assert ["red", "blue"][winner(3.0, 4.0)] == "blue"
''',
    ),
    # AG701 to AG711: Variables, tapes, optimizers, checkpoints, devices, datasets, layers, summaries, graphs, servers
    Mistake(
        "AG701", "a fraction for an integer Variable",
        '''
count = ag.Variable(3, name="count")

@ag.function
def step(x):
    count.assign(x / 2)  # here

step(jnp.float32(5))
''',
        ("the Variable `count` has dtype int32, and is assigned float32", ".astype('int32')", "^count.assign(x / 2)"),
        '''
count = ag.Variable(3, name="count")

@ag.function
def step(x):
    count.assign((x / 2).astype("int32"))

step(jnp.float32(5))
assert count == 2
''',
    ),
    Mistake(
        "AG701", "a batch for a Variable of one example",
        '''
mean = ag.Variable(jnp.zeros(2), name="mean")
mean.assign(jnp.ones((8, 2)))  # here
''',
        ("the Variable `mean` has shape (2,), and is assigned shape (8, 2)",),
        '''
mean = ag.Variable(jnp.zeros(2), name="mean")
mean.assign(jnp.ones((8, 2)).mean(0))
assert mean[1] == 1.0
''',
    ),
    Mistake(
        "AG702", "a Variable in jax.jit",
        '''
steps = ag.Variable(0, name="steps")

@jax.jit
def step(x):
    steps.assign_add(x)  # here
    return x

step(1)
''',
        ("the Variable `steps` is assigned in a function under `jit`", "@ag.function"),
        '''
steps = ag.Variable(0, name="steps")

@ag.function
def step(x):
    steps.assign_add(x)
    return x

step(1)
assert steps == 1
''',
    ),
    Mistake(
        "AG703", "two gradients of one tape",
        '''
a, b = ag.Variable(2.0), ag.Variable(3.0)
with ag.GradientTape() as tape:
    y = a * b
first = tape.gradient(y, a)
second = tape.gradient(y, b)  # here
''',
        ("this is the second time", "persistent=True", "^tape.gradient(y, b)"),
        '''
a, b = ag.Variable(2.0), ag.Variable(3.0)
with ag.GradientTape(persistent=True) as tape:
    y = a * b
assert tape.gradient(y, a) == 3.0 and tape.gradient(y, b) == 2.0
''',
    ),
    Mistake(
        "AG704", "a loss that is a value",
        '''
w = ag.Variable(3.0)
ag.optimizers.SGD(0.1).minimize(w * 5.0, [w])  # here
''',
        ("the loss is a value", "minimize(lambda:"),
        '''
w = ag.Variable(3.0)
ag.optimizers.SGD(0.1).minimize(lambda: w * 5.0, [w])
assert w == 2.5
''',
    ),
    Mistake(
        "AG704", "a loss of something else",
        '''
w, copy = ag.Variable(3.0, name="w"), jnp.array(3.0)
ag.optimizers.SGD(0.1).minimize(lambda: copy * 5.0, [w])  # here
''',
        ("the gradients of `w` are None: the loss does not depend on them",),
        '''
w = ag.Variable(3.0, name="w")
ag.optimizers.SGD(0.1).minimize(lambda: w * 5.0, [w])
assert w == 2.5
''',
    ),
    Mistake(
        "AG705", "a checkpoint of another size",
        '''
import tempfile
folder = tempfile.mkdtemp()
path = ag.Checkpoint(w=ag.Variable([1.0, 2.0])).save(folder + "/c")
ag.Checkpoint(w=ag.Variable([0.0])).restore(path)  # here
''',
        ("has float32[2] for `w`, and the Variable is float32[1]",),
        '''
import tempfile
folder = tempfile.mkdtemp()
path = ag.Checkpoint(w=ag.Variable([1.0, 2.0])).save(folder + "/c")
ag.Checkpoint(w=ag.Variable([0.0, 0.0])).restore(path).assert_consumed()
''',
    ),
    Mistake(
        "AG706", "a device that is not there",
        '''
with ag.device("cpu:99"):  # here
    x = jnp.ones(3)
''',
        ("there is no cpu:99: JAX sees",),
        '''
with ag.device("cpu:0"):
    x = jnp.ones(3)
''',
    ),
    Mistake(
        "AG707", "a dataset without end",
        '''
dataset = ag.data.Dataset.from_tensor_slices(jnp.arange(4.0)).repeat().batch(2)

@ag.function
def total():
    s = 0.0
    for x in dataset:  # here
        s += x.sum()
    return s

total()
''',
        ("a compiled loop iterates over a dataset, and `repeat()` has no end", "`take(n)` after it"),
        '''
dataset = ag.data.Dataset.from_tensor_slices(jnp.arange(4.0)).repeat().batch(2).take(3)

@ag.function
def total():
    s = 0.0
    for x in dataset:
        s += x.sum()
    return s

assert total() == 7.0
''',
    ),
    Mistake(
        "AG707", "labels of other examples",
        '''
ag.data.Dataset.from_tensor_slices((jnp.zeros((4, 2)), jnp.zeros(3)))  # here
''',
        ("the arrays have 4 and 3 rows",),
        '''
assert len(ag.data.Dataset.from_tensor_slices((jnp.zeros((4, 2)), jnp.zeros(4)))) == 4
''',
    ),
    Mistake(
        "AG708", "an image without channels",
        '''
model = ag.layers.Sequential([ag.layers.Conv2D(4, 3), ag.layers.Flatten(), ag.layers.Dense(10)])

@ag.function
def predict(images):
    return model(images)  # here

predict(jnp.zeros((8, 28, 28)))
''',
        ("`conv2d` is given shape (8, 28, 28), and takes images of shape (batch, height, width, channels)", "x[..., None]", "^model(images)"),
        '''
model = ag.layers.Sequential([ag.layers.Conv2D(4, 3), ag.layers.Flatten(), ag.layers.Dense(10)])

@ag.function
def predict(images):
    return model(images[..., None])

assert predict(jnp.zeros((8, 28, 28))).shape == (8, 10)
''',
    ),
    Mistake(
        "AG708", "a model without its base class",
        '''
class Net(ag.layers.Model):
    def __init__(self):
        self.dense = ag.layers.Dense(2)

    def call(self, x):
        return self.dense(x)

net = Net()
net(jnp.ones((1, 3)))  # here
''',
        ("`Net.__init__` has not called that of its base class", "super().__init__()"),
        '''
class Net(ag.layers.Model):
    def __init__(self):
        super().__init__()
        self.dense = ag.layers.Dense(2)

    def call(self, x):
        return self.dense(x)

assert Net()(jnp.ones((1, 3))).shape == (1, 2)
''',
    ),
    Mistake(
        "AG709", "a summary of a whole batch",
        '''
@ag.function
def step(x):
    losses = x ** 2
    ag.summary.scalar("loss", losses, 0)  # here
    return losses.mean()

step(jnp.ones(4))
''',
        ("`summary.scalar` is given float32[4]", "one number"),
        '''
@ag.function
def step(x):
    loss = (x ** 2).mean()
    ag.summary.scalar("loss", loss, 0)
    return loss

assert step(jnp.ones(4)) == 1.0
''',
    ),
    Mistake(
        "AG710", "an if on a placeholder",
        '''
x = ag.graph.placeholder("float32", [], name="x")

def clipped(x):
    if x > 1:  # here
        return 1.0
    return x

ag.graph.Session().run(clipped(x), {x: 3.0})
''',
        ("the truth of `gt", "is asked for", "@ag.graph.op", "^x > 1"),
        '''
x = ag.graph.placeholder("float32", [], name="x")

@ag.graph.op
def clipped(x):
    if x > 1:
        return 1.0
    return x

assert ag.graph.Session().run(clipped(x), {x: 3.0}) == 1.0
''',
    ),
    Mistake(
        "AG710", "a placeholder that is not fed",
        '''
x, y = ag.graph.placeholder("float32", [None], name="x"), ag.graph.placeholder("float32", [None], name="y")
loss = ((x - y) ** 2).sum()
ag.graph.Session().run(loss, {x: [1.0, 2.0]})  # here
''',
        ("the placeholder `y` is needed and not fed", "feed_dict={y: ...}"),
        '''
x, y = ag.graph.placeholder("float32", [None], name="x"), ag.graph.placeholder("float32", [None], name="y")
loss = ((x - y) ** 2).sum()
assert ag.graph.Session().run(loss, {x: [1.0, 2.0], y: [0.0, 0.0]}) == 5.0
''',
    ),
    Mistake(
        "AG711", "a worker with another model",
        '''
with ag.parameter_server.Server({"w": ag.Variable(1.0)}, ag.optimizers.SGD(0.1)) as server:
    ag.parameter_server.Worker(server.address, {"v": ag.Variable(1.0)}).pull()  # here
''',
        ("the server and this worker do not both have", "make the same model in both"),
        '''
with ag.parameter_server.Server({"w": ag.Variable(1.0)}, ag.optimizers.SGD(0.1)) as server:
    with ag.parameter_server.Worker(server.address, {"w": ag.Variable(0.0)}) as worker:
        assert worker.pull() == 0
''',
    ),
]
