"""The state of random programs: what holds what, the places that can be stored into, and expressions that read them."""

from __future__ import annotations

import random
import re
from collections import Counter

from programs import Env

ARRAYS = {"ints": 4, "nums": 3}
ITEM = {"ints": "int", "nums": "num", "list": "int"}
SIZE = {**ARRAYS, "list": 3}
INT, NUM = 7, 8  # bounds of the random constants' remainders
PARTS = {  # what a value of each type holds: `<4>` is an index below 4, `<2!>` one that Python knows
    "ints": {"[<4>]": "int"},
    "nums": {"[<3>]": "num"},
    "grid": {"[<2>, <3>]": "int", "[<2>][<3>]": "int"},
    "list": {"[<3>]": "int"},
    "lists": {"[<2!>]": "list"},
    "arrays": {"[<2!>]": "ints"},
    "pair": {"[<2!>]": "ints"},
    "dict": {'["k"]': "int", '["t"]': "num", '["a"]': "ints"},
    "Box": {".a": "ints", ".n": "int", ".t": "num", ".l": "list"},
    "Node": {".box": "Box", ".n": "int", ".a": "nums"},
}
INITIAL = {
    "ints": ["jnp.zeros(4, jnp.int32)", "jnp.arange(4, dtype=jnp.int32)", "np.ones(4, np.int32)"],
    "nums": ["jnp.zeros(3, jnp.float32)", "jnp.ones(3, jnp.float32)", "np.zeros(3, np.float32)"],
    "grid": ["jnp.zeros((2, 3), jnp.int32)", "jnp.ones((2, 3), jnp.int32)"],
    "list": ["[1, 2, 3]", "[0] * 3"],
    "lists": ["[[1, 2, 3], [4, 5, 6]]"],
    "arrays": ["[{ints}, {ints}]"],
    "pair": ["({ints}, {ints})"],
    "dict": ['{{"k": 1, "t": 0.5, "a": {ints}}}'],
    "Box": ["Box({ints}, 1, 0.5, {list})"],
    "Node": ["Node(Box({ints}, 2, 1.5, {list}), 3, {nums})"],
}
POOLS = {"int": ["i", "j", "k"], "num": ["s", "t"], "flag": ["g"]}


class Values:
    """Expressions over the places of a program; `kinds` counts its constructs."""

    def __init__(self, rng: random.Random) -> None:
        self.r = rng
        self.kinds: Counter[str] = Counter()
        self.globals: Env = {}
        self.parts = {kind: dict(parts) for kind, parts in PARTS.items()}
        self.helpers: list[tuple[str, str, str]] = []  # name, type of its first parameter, what it returns
        self.methods: list[str] = []
        self.members: list[str] = []
        self.fresh = self.budget = self.loops = self.staged = self.raises = 0
        self.in_function = False
        self.returns: tuple[str, ...] = ()
        self.shared: set[str] = set()  # variables whose value other names may hold

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    def name(self, letter: str) -> str:
        self.fresh += 1
        return f"{letter}{self.fresh}"

    def paths(self, env: Env, *kinds: str) -> dict[str, list[str]]:
        """Where values of these types are, by the variable they are reached from."""
        out: dict[str, list[str]] = {}
        for root in sorted(env):
            level = [(root, env[root])]
            for _ in range(4):
                for path, kind in level:
                    if kind in kinds:
                        out.setdefault(root, []).append(path)
                level = [(path + suffix, part) for path, kind in level for suffix, part in self.parts.get(kind, {}).items()]
        return out

    def place(self, env: Env, *kinds: str, whole: bool = True) -> str:
        """An expression that can be stored into; empty where there is none.  With `whole` it may be a variable."""
        found = {root: [p for p in paths if whole or p != root] for root, paths in self.paths(env, *kinds).items()}
        found = {root: paths for root, paths in found.items() if paths}
        if not found:
            return ""
        path = self.r.choice(found[self.r.choice(list(found))])
        return re.sub(r"<(\d)(!?)>", lambda m: self.index(env, int(m[1]), bool(m[2])), path)

    def index(self, env: Env, size: int, static: bool = False) -> str:
        if self.chance(0.95 if static else 0.3):
            return str(self.r.randrange(size))
        ints = [n for n, kind in env.items() if kind in ("int", "count")]
        return f"{self.r.choice(ints) if ints else 0} % {size}"

    def part(self, env: Env, kind: str) -> str:
        """A slice of an array, whose length traced values may decide."""
        ends = [self.index(env, ARRAYS[kind] + 2) for _ in range(2)]
        return self.r.choice([f":{ends[0]}", f"{ends[0]}:", f"{ends[0]}:{ends[1]}", f"-({ends[0]}):", f"{ends[0]}::-1", f"::{ends[0]} + 1"])

    def mask(self, env: Env, kind: str, place: str) -> str:
        """Which items of an array to take."""
        return f"{place} {self.r.choice('<>')} {self.leaf(env, ITEM[kind])}"

    def folded(self, env: Env, kind: str) -> str:
        """A number made of a part of an array; empty where there is none."""
        if not (place := self.place(env, {"int": "ints", "num": "nums"}[kind])):
            return ""
        of = {"int": "ints", "num": "nums"}[kind]
        taken = f"{place}[{self.part(env, of) if self.chance(0.7) else self.mask(env, of, place)}]"
        self.kinds["part of an array"] += 1
        lengths = [f"len({taken})", f"({taken} > 0).sum()"] if kind == "int" else []
        return self.r.choice([f"sum({taken})", f"{taken}.sum()", f"({taken} * 2 + 1).sum()", *lengths])

    def constant(self, kind: str) -> str:
        return str(self.r.choice([0, 1, 2, 3, 5, -1]) if kind == "int" else self.r.choice([0.5, 1.5, -0.25, 2.0, -1.0]))

    def leaf(self, env: Env, kind: str = "int") -> str:
        names = [n for n, k in env.items() if k == kind or (kind == "int" and k == "count")]
        if names and self.chance(0.45):
            return self.r.choice(names)
        return (self.chance(0.6) and self.place(env, kind)) or self.constant(kind)

    def value(self, env: Env, kind: str = "int", depth: int = 2) -> str:
        k = self.r.random()
        if depth == 0 or k < 0.35:
            return self.leaf(env, kind)
        if k < 0.7:
            return f"({self.value(env, kind, depth - 1)} {self.r.choice('+-')} {self.value(env, kind, depth - 1)})"
        if k < 0.78:
            return f"({self.leaf(env, kind)} * {self.r.choice([2, -1, 3])})"
        if k < 0.86:
            return f"({self.leaf(env, kind)} if {self.test(env, 0)} else {self.leaf(env, kind)})"
        if kind == "int" and k < 0.9 and (d := self.place(env, "dict")):
            return f'{d}.get("k")'
        if k > 0.95 and (folded := self.folded(env, kind)):
            return folded
        if kind == "int" and k < 0.92 and (items := self.place(env, "list")):
            return f"{self.r.choice(['len', 'sum'])}({items})"
        return (kind == "int" and self.call(env, "int")) or self.leaf(env, kind)

    def small(self, env: Env, kind: str = "int") -> str:
        """A value that does not grow from turn to turn."""
        return self.leaf(env, kind) if self.chance(0.3) else f"{self.value(env, kind)} % {'97' if kind == 'int' else '16.0'}"

    def test(self, env: Env, depth: int = 1) -> str:
        k = self.r.random()
        flags = [n for n, kind in env.items() if kind == "flag"]
        if flags and k < 0.15:
            return self.r.choice(flags)
        if depth and k < 0.3:
            return f"({self.test(env, 0)} {self.r.choice(['and', 'or'])} {self.test(env, 0)})"
        if depth and k < 0.36:
            return f"not {self.test(env, 0)}"
        kind = self.r.choice(["int", "int", "num"])
        return f"{self.value(env, kind, 1)} {self.r.choice(['<', '>', '<=', '>', '==', '!='])} {self.value(env, kind, 1)}"

    def call(self, env: Env, wanted: str) -> str:
        """A call that gives `wanted`; empty where there is none."""
        calls = [f"{n}({self.leaf(env)})" for n, kind in env.items() if kind == f"fn {wanted}"]
        if self.loops < 2:
            given = [(h, self.place(env, kind), kind in ARRAYS) for h, kind, gives in self.helpers if gives == wanted]
            calls += [f"{h}({p}, {self.leaf(env)})" for h, p, array in given if p and not (array and "[" in p)]  # an item of a list is AG407
        for method in self.methods:
            if wanted == "int" and (o := self.place(env, "Box")):
                calls.append(f"{o}{method}({self.leaf(env)})")
        return self.r.choice(calls) if calls else ""

    def made(self, kind: str) -> str:
        """An expression that makes a value of that type."""
        parts = {part: self.made(part) for part in ("ints", "nums", "list") if "{" + part in self.r.choice(INITIAL[kind])}
        return self.r.choice(INITIAL[kind]).format(**parts)
