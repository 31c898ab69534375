# ruff: noqa: E501
"""A table of programs with containers: kinds x operations x holders x places, each compared with what Python gives.

`tests/campaigns/containers.py` runs all of them and counts; `tests/lists_and_dicts/test_containers.py` has them as tests.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag
from tests.corpora import container_kinds

_NUMBERS = ("{c}[0] = v", "{c}[1] += v", "{c}.append(v)", "{c} = {c} + [v]", "{c} += [v, v]", "{c}.pop()", "{c}.insert(0, v)", "{c}.reverse()",
            "{c}[j] = v", "{c}[:2] = [v, v]", "{c}.extend([v])", "del {c}[0]", "{c}.clear()", "{c} = [q * v for q in {c}]", "{c} = [q for q in {c} if q > v]",
            "{c}[-1], {c}[0] = {c}[0], v", "{c}.sort()", "{c} = {c}[::-1]", "{c} = {c}[1:]", "{c}.remove({c}[0])", "{c} *= 2")  # fmt: skip
_FIELDS = ("{c}.a = v", "{c}.a += v", "{c}.a, {c}.b = {c}.b, v", "{c}.b = {c}.a * v")
_ITEMS = ("{c}['a'] = v", "{c}['a'] += v", "{c}['new'] = v", "{c}.update(a=v)", "{c}.setdefault('s', v)", "{c}.pop('b')", "del {c}['b']", "{c} = {{**{c}, 'a': v}}",
          "{c}['a'], {c}['b'] = {c}['b'], v", "{c} = {{k: q * v for k, q in {c}.items()}}", "{c} |= {{'b': v}}", "{c}.clear()")  # fmt: skip
_ARRAY = (
    "{c}[0] = v",
    "{c}[1] += v",
    "{c} = {c} * v",
    "{c}[j] = v",
    "{c}[:2] = v",
    "{c}[{c} > 1.5] = v",
    "{c}[::-1][0] = v",
    "{c}[0], {c}[1] = {c}[1], v",
)
_LIST = "(sum({c}, 0.0) + 100 * len({c}) + sum([k * q for k, q in enumerate({c})], 0.0))"
_DICT = "(sum([q * (k + 1) for k, q in enumerate({c}.values())], 0.0) + 100 * len({c}))"


class Kind(NamedTuple):
    make: str
    operations: tuple[str, ...]
    read: str


KINDS = {
    "numbers": Kind("[1.0, 2.0, 3.0]", _NUMBERS, _LIST),
    "traced items": Kind("[x[0], x[1], x[2]]", _NUMBERS, _LIST),
    "list of arrays": Kind("[x * 1.0, x * 2.0]", ("{c}[0] = x * v", "{c}.append(x * v)", "{c}[1] = {c}[1] + v", "{c}.pop()", "{c}[0][1] = v", "{c} = [a + v for a in {c}]",
                            "{c}[0], {c}[1] = {c}[1], {c}[0]", "{c}[-1] += v"), "(sum([a.sum() for a in {c}]) + 100 * len({c}) + {c}[0][1] * 3)"),
    "list of lists": Kind("[[1.0, x[0]], [2.0, x[1]]]", ("{c}[0][1] = v", "{c}[1][0] += v", "{c}.append([v, v])", "{c}[0].append(v)", "{c}[0] = [v, v]", "{c} = [r[::-1] for r in {c}]",
                           "{c}[0], {c}[1] = {c}[1], {c}[0]", "{c}.pop(0)", "{c}[j][0] = v"), "(sum([sum(r) for r in {c}]) + 100 * len({c}) + {c}[0][0] * 3 + 10 * len({c}[0]))"),
    "list of objects": Kind("[Plain(x[0]), Plain(x[1])]", ("{c}[0].a = v", "{c}[1].add(v)", "{c}.append(Plain(v))", "{c}[0] = Plain(v)", "{c}[0], {c}[1] = {c}[1], {c}[0]", "{c}.pop()",
                             "{c} = [Plain(q.a * v) for q in {c}]", "for q in {c}: q.a = q.a + v"), "(sum([q.a + q.b for q in {c}]) + 100 * len({c}) + {c}[0].a * 3)"),
    "list of tuples": Kind("[(1.0, x[0]), (2.0, x[1])]", ("{c}.append((v, v))", "{c}[0] = (v, 1.0)", "{c} = [(b, a) for a, b in {c}]", "{c}.pop()", "{c}.sort()", "{c}.insert(0, (v, 0.0))"),
                            "(sum([a * 2 + b for a, b in {c}]) + 100 * len({c}) + {c}[0][1] * 3)"),
    "tuple": Kind("(1.0, x[0], x[1])", ("{c} = {c} + (v,)", "{c} = (v, *{c}[1:])", "{c} = {c}[::-1]", "{c} = tuple(q * v for q in {c})", "a, *r = {c}; {c} = (*r, a)", "{c} += (v, v)"),
                   "(sum({c}) + 100 * len({c}) + {c}[0] * 3)"),
    "nested tuple": Kind("((1.0, x[0]), (x[1], 2.0))", ("{c} = ({c}[1], (v, {c}[0][0]))", "(a, b), r = {c}; {c} = ((b, a), r)", "{c} = (({c}[0][0] * v, v), {c}[1])"),
                          "({c}[0][0] + 2 * {c}[0][1] + 3 * {c}[1][0] + 4 * {c}[1][1])"),
    "named tuple": Kind("P(x[0], 2.0)", ("{c} = {c}._replace(a=v)", "{c} = P({c}.b, v)", "{c} = P(*[q * v for q in {c}])"), "({c}.a + 3 * {c}.b + 10 * {c}[0])"),
    "dict": Kind("{{'a': x[0], 'b': 2.0}}", _ITEMS, _DICT),
    "dict by number": Kind("{{0: x[0], 1: 2.0}}", ("{c}[0] = v", "{c}[1] += v", "{c}[7] = v", "{c}.pop(1)", "{c} = {{k + 1: q for k, q in {c}.items()}}"), _DICT),
    "default dict": Kind("collections.defaultdict(float, {{'a': x[0], 'b': 2.0}})", ("{c}['a'] += v", "{c}['new'] += v", "{c}['b'] = v", "{c}.pop('b')", "{c}['a'] = {c}['q'] + v"), _DICT),
    "dict of lists": Kind("{{'a': [x[0]], 'b': [1.0, 2.0]}}", ("{c}['a'].append(v)", "{c}['b'][0] = v", "{c}['a'] = [v]", "{c}.setdefault('n', []).append(v)", "{c}['a'] += [v]"),
                           "(sum([sum(q) for q in {c}.values()]) + 100 * len({c}) + 10 * len({c}['a']))"),
    "dict of dicts": Kind("{{'a': {{'k': x[0]}}, 'b': {{'k': 1.0}}}}", ("{c}['a']['k'] = v", "{c}['b']['k'] += v", "{c}['a'] = {{'k': v}}", "{c}['a'], {c}['b'] = {c}['b'], {c}['a']"),
                           "({c}['a']['k'] + 3 * {c}['b']['k'] + 100 * len({c}))"),
    "ordered dict": Kind("collections.OrderedDict(a=x[0], b=2.0)", ("{c}['a'] = v", "{c}['n'] = v", "{c}.move_to_end('a')", "{c}.popitem()", "{c}['b'] += v"), _DICT),
    "counter": Kind("collections.Counter(a=2, b=1)", ("{c}['a'] += 1", "{c}['n'] += 2", "{c}.update(['a', 'b'])", "{c}['b'] = 5", "{c} = {c} + collections.Counter(a=1)"), _DICT),
    "deque": Kind("collections.deque([1.0, x[0], x[1]])", ("{c}.append(v)", "{c}.appendleft(v)", "{c}.popleft()", "{c}[0] = v", "{c}.rotate(1)", "{c}.pop()", "{c}[1] += v", "{c}.extend([v, v])"), _LIST),
    "bounded deque": Kind("collections.deque([1.0, x[0]], maxlen=2)", ("{c}.append(v)", "{c}.appendleft(v)", "{c}.rotate(1)", "{c}[0] = v"), _LIST),
    "set": Kind("{{1, 2}}", ("{c}.add(5)", "{c}.discard(1)", "{c} |= {{7}}", "{c} = {c} - {{2}}", "{c}.clear()"), "(sum({c}) + 100 * len({c}))"),
    "frozenset": Kind("frozenset({{1, 2}})", ("{c} = {c} | {{5}}", "{c} = {c} - {{1}}"), "(sum({c}) + 100 * len({c}))"),
    "dataclass": Kind("Data(x[0])", (*_FIELDS, "{c} = Data(v, {c}.a)", "{c} = dataclasses.replace({c}, a=v)"), "({c}.a + 3 * {c}.b)"),
    "frozen dataclass": Kind("Frozen(x[0])", ("{c} = dataclasses.replace({c}, a=v)", "{c} = Frozen({c}.b, v)"), "({c}.a + 3 * {c}.b)"),
    "registered": Kind("Node(x[0])", (*_FIELDS, "{c} = Node(v, {c}.a)", "{c} = jax.tree.map(lambda q: q * v, {c})"), "({c}.a + 3 * {c}.b)"),
    "slotted": Kind("Slotted(x[0])", (*_FIELDS, "{c} = Slotted(v, {c}.a)"), "({c}.a + 3 * {c}.b)"),
    "class": Kind("Plain(x[0])", (*_FIELDS, "{c}.add(v)", "{c} = Plain(v)", "setattr({c}, 'a', v)", "{c}.n = v", "{c}.__dict__.update(a=v)"), "({c}.a + 3 * {c}.b + 100 * hasattr({c}, 'n'))"),
    "namespace": Kind("types.SimpleNamespace(a=x[0], b=2.0)", _FIELDS, "({c}.a + 3 * {c}.b)"),
    "property": Kind("Prop(x[0])", ("{c}.a = v", "{c}.a += v", "{c}._a = v"), "({c}.a + {c}._a)"),
    "descriptor": Kind("Desc(x[0])", ("{c}.a = v", "{c}.a += v", "{c} = Desc(v)"), "({c}.a * 2)"),
    "operators": Kind("Vec(x[0], 1.0)", ("{c} = {c} + Vec(v, v)", "{c} = {c} * v", "{c} += Vec(v, 1.0)", "{c}.a = v"), "({c}.a + 3 * {c}.b)"),
    "own items": Kind("Table([1.0, x[0], 3.0])", ("{c}[0] = v", "{c}[1] += v", "{c}.items.append(v)", "{c}[2], {c}[0] = {c}[0], v"), "(sum([q * (k + 1) for k, q in enumerate({c})]) + 100 * len({c}))"),
    "list subclass": Kind("Stack([1.0, x[0]])", ("{c}.push(v)", "{c}[0] = v", "{c}.append(v)", "{c}.pop()"), _LIST),
    "dict subclass": Kind("Registry(a=x[0], b=1.0)", ("{c}.put('a', v)", "{c}['b'] += v", "{c}.put('n', v)"), _DICT),
    "ndarray": Kind("np.array([1.0, 2.0, 3.0], np.float32)", (*_ARRAY, "{c} += v", "{c} -= x", "{c}.sort()", "np.add({c}, v, out={c})", "{c}.fill(v)", "{c} = np.append({c}, v)"), "({c} * np.arange(1.0, 1.0 + len({c}))).sum()"),
    "matrix": Kind("np.arange(4.0, dtype=np.float32).reshape(2, 2) * x[0]", ("{c}[0, 1] = v", "{c}[1] = v", "{c}[:, 0] += v", "{c}[0] = {c}[1]", "{c} = {c}.T", "r = {c}[1]; r[0] = v", "{c} *= v", "{c}[j, 0] = v", "{c}[0], {c}[1] = {c}[1].copy(), {c}[0].copy()"),
                   "({c} * np.array([[1.0, 2.0], [5.0, 7.0]])).sum()"),
    "view": Kind("(x * 1.0)[1:]", ("{c}[0] = v", "{c} += v", "{c}[:] = v", "{c}[0] += {c}[1]"), "({c}[0] + 3 * {c}[1])"),
    "jnp array": Kind("jnp.array([1.0, 2.0, 3.0]) * x[0]", ("{c}[0] = v", "{c}[1] += v", "{c} = {c} * v", "{c} = {c}.at[0].set(v)", "{c} += v", "{c}[j] = v"), "({c} * jnp.arange(1.0, 4.0)).sum()"),
    "list of views": Kind("[(x * 1.0)[:2], (x * 2.0)[1:]]", ("{c}[0][0] = v", "{c}[1] += v", "{c}[0], {c}[1] = {c}[1], {c}[0]"), "({c}[0].sum() + 3 * {c}[1].sum())"),
}  # fmt: skip

# Where the container is: what comes before, its name, and the name under which it is read.
HOLDERS = {
    "local": ("c = {make}", "c", "c"),
    "two names": ("c = {make}; d = c", "c", "d"),
    "attribute": ("o = Box(); o.c = {make}", "o.c", "o.c"),
    "attribute, two names": ("o = Box(); o.c = {make}; d = o.c", "o.c", "d"),
    "in a list": ("h = [{make}, 0.0]", "h[0]", "h[0]"),
    "in a dict": ("h = {{'k': {make}}}", "h['k']", "h['k']"),
    "closure": ("c = {make}\n    def get():\n        return c", "c", "get()"),
    "global": ("", "G", "G"),
    "class": ("", "Box.c", "Box.c"),
    "argument": ("", "c", "c"),
}
# Where the operation stands.
PLACES = {
    "straight": "v = x[1]\n    {op}",
    "branch": "v = x[1]\n    if p > 0:\n        {op}",
    "other branch": "v = x[1]\n    if p > 0:\n        v = v + 1.0\n    else:\n        {op}",
    "both": "v = x[1]\n    if p > 0:\n        {op}\n    else:\n        v = v * 2.0\n        {op}",
    "rows": "for v in x[:2]:\n        {op}",
    "range": "for i in range(2):\n        v = x[i]\n        {op}",
    "while": "n = 0\n    v = x[1]\n    while n < p and n < 3:\n        {op}\n        n = n + 1",
    "branch in a loop": "for v in x:\n        if v > 0.7:\n            {op}",
    "early return": "v = x[1]\n    if p > 9:\n        return 0.0\n    {op}",
    "helper": "act({c}, x, x[1], j)",
}
X = np.array([0.5, 1.25, 3.0], np.float32)


class Cell(NamedTuple):
    kind: str
    operation: str
    holder: str
    place: str

    @property
    def name(self) -> str:
        return f"{self.kind} | {self.operation} | {self.holder} | {self.place}"


def cells() -> Iterator[Cell]:
    """The whole table; a helper cannot bind its caller's variable."""
    for kind, (_, operations, _) in KINDS.items():
        for operation in operations:
            binds = operation.startswith("{c} ") or "; {c} =" in operation or "|=" in operation or "*= 2" in operation
            for holder in HOLDERS:
                for place in PLACES:
                    value = holder == "argument" and _stores_into_jax(Cell(kind, operation, holder, place))  # JAX's arguments are values
                    if not (place == "helper" and binds or value and kind == "jnp array"):
                        yield Cell(kind, operation, holder, place)


def _stores_into_jax(cell: Cell) -> bool:
    """Whether an array of JAX's is stored into, which JAX itself refuses."""
    return (
        cell.kind in ("jnp array", "list of arrays")
        and "] =" in cell.operation.replace("+=", "=").replace("[0] = x", "")
        and ".at[" not in cell.operation
    )


def text_of(cell: Cell) -> str:
    """The module of a cell: `program(x, p, j, c)`, and `G` and `Box.c` where it is outside."""
    kind = KINDS[cell.kind]
    before, name, seen = HOLDERS[cell.holder]
    make = kind.make.replace("{{", "{").replace("}}", "}")
    operation = cell.operation.format(c=name)
    setup = before.replace("{{", "{").replace("}}", "}").replace("{make}", make)
    body = PLACES[cell.place].replace("{op}", operation).replace("{c}", name)
    lines = [
        "def act(c, x, v, j):",
        f"    {cell.operation.format(c='c')}",
        "def program(x, p, j, c):",
        "    global G",
        f"    {setup or 'pass'}",
        f"    {body}",
    ]
    lines += [f"    return {kind.read.format(c=seen)}", "def seen(c):", f"    return {kind.read.format(c=seen)}" if not before else "    return 0.0"]
    lines += ["def made(x):", f"    return {make}"]
    return "\n".join(lines) + "\n"


def run(cell: Cell, compiled: bool, p: float, plain: bool = False) -> Any:
    """What the program gives, and what is outside of it afterwards."""
    text = text_of(cell)
    stored = _stores_into_jax(cell)
    if stored and not compiled:  # JAX's arrays take stores in converted code, as NumPy's do
        text = text.replace("jnp.", "np.")
    name = f"<containers {hash(text) & 0xFFFFFFFFFFFF:x}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {**vars(container_kinds), "__name__": "containers_cell", "Box": type("Box", (), {})}
    exec(compile(text, name, "exec"), space)
    x = X if cell.kind in ("ndarray", "matrix", "view", "list of views") or stored and not compiled else jnp.asarray(X)
    outside = space["made"](x)
    space["G"] = outside
    space["Box"].c = outside
    program = space["program"]
    if compiled:
        program = jax.jit(ag.convert(program)) if plain else ag.function(program)
    given = outside if cell.holder == "argument" else 0.0
    out = [program(x, p, 1, given)]
    out.append(space["seen"](given))
    return [float(v) for v in out]


def outcome(cell: Cell, plain: bool = False) -> str:
    """`same`, an id of ours, or what is wrong; Python's own error has to be the same error."""
    refused = ""
    for p in (2.0, -1.0):
        try:
            expected: Any = run(cell, False, p)
        except Exception as error:
            expected = type(error)
        try:
            got: Any = run(cell, True, p, plain)
        except ag.AutographError as error:
            refused = error.id
            continue
        except Exception as error:
            got = type(error)
            if got is not expected:
                return f"crash at p={p}: {type(error).__name__}: {str(error).splitlines()[0][:160]}, and Python gives {expected}"
            continue
        if isinstance(expected, type) or not np.allclose(got, expected, rtol=1e-5, equal_nan=True):
            return f"WRONG at p={p}: {got}, and Python gives {expected}"
    return refused or "same"
