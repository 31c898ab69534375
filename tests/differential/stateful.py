"""Random programs with state: stores into arrays that several names hold, lists, dicts, objects, globals and closures, in traced control flow.

A program is a module whose `f` is called with each of the inputs in turn, and with the objects that `state()` has made once.  Over NumPy, with
`jnp` being `np`, it says what is right: arrays are int32 or float32, numbers stay small and exact, indices are in range, loops end.
"""

from __future__ import annotations

import ast
import random
from contextlib import contextmanager
from typing import Any

import numpy as np
from programs import INDENT, Env, Lines, Program, common, indented
from state_places import ARRAYS, POOLS
from state_statements import Statements

MODULE = "from dataclasses import dataclass\n\nimport jax.numpy as jnp\nimport numpy as np\n\nimport autograph as ag\n\n"
ARGUMENTS = {"x": "num", "v": "ints", "w": "nums", "z": "grid", "r": "rows"}
HELD = {"o": "Box", "q": "Node", "l": "list", "d": "dict", "m": "lists"}
GLOBALS = {"G": ("int", "1"), "T": ("ints", "np.zeros(4, np.int32)"), "L": ("list", "[1, 2, 3]")}
NODE = "@dataclass\nclass Node:\n    box: object\n    n: int\n    a: object\n"
ITEMS = "\ndef __getitem__(self, i):\n    return self.a[i]\n\ndef __setitem__(self, i, e):\n    self.a[i] = e\n"
INIT = "    def __init__(self, a, n, t, l):\n        self.a, self.n, self.t, self.l = a, n, t, l\n"


class Writer(Statements):
    """Writes one program."""

    def block(self, env: Env, depth: int, size: int) -> tuple[Lines, Env | None]:
        env, lines = dict(env), []
        for _ in range(self.r.randint(1, size)):
            new, after = self.statement(env, depth)
            lines += new
            if after is None:
                return lines, None
            env = after
        return lines, env

    def statement(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.budget -= 1
        if depth > 0 and self.budget > 0 and self.chance(0.4):
            deep = self.loops < 2
            kinds = {self.if_: 5, self.while_: 2.5 * deep, self.for_: 4 * deep, self.leave: 4 if self.loops else 1}
            return self.r.choices(list(kinds), list(kinds.values()))[0](env, depth - 1)
        simple = {
            self.assign: 3, self.store: 8, self.sliced: 2, self.swap: 2, self.alias: 2.5, self.put: 1, self.rebind: 1, self.local: 0.7,
            self.of_list: 1.2, self.of_dict: 0.8, self.effect: 4, self.show: 1, self.fail: 0.9,
        }  # fmt: skip
        return self.r.choices(list(simple), list(simple.values()))[0](env), env

    @contextmanager
    def inside(self, loop: bool) -> Any:
        self.staged += 1
        self.loops += loop
        yield
        self.staged -= 1
        self.loops -= loop

    def if_(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.kinds["if"] += 1
        lines: Lines = []
        ends: list[Env] = []
        words = ["if", *["elif"] * self.chance(0.2), *["else"] * self.chance(0.5)]
        cases: list[str] = []
        if self.chance(0.15):  # a switch over one value
            self.kinds["switch"] += 1
            name = self.name("s")
            lines, words = [f"{name} = {self.leaf(env)} % 4"], ["if", "elif", *["elif"] * self.chance(0.5), *["else"] * self.chance(0.5)]
            cases = [f"{name} == {k}" for k in range(len(words))]
        for k, word in enumerate(words):
            with self.inside(loop=False):
                body, after = self.block(env, depth, 3)
            test = "" if word == "else" else cases[k] if cases else self.test(env)
            lines += [f"{word} {test}:" if test else "else:", *indented(body)]
            ends += [after] if after is not None else []
        return lines, common([*ends, env] if words[-1] != "else" else ends)

    def leave(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        word = self.r.choice(["break", "continue", "return"]) if self.loops else "return"
        self.kinds[word] += 1
        with self.inside(loop=False):
            body, after = self.block(env, 0, 2)
        return [f"if {self.test(env)}:", *indented([*body, *(self.return_(after or env) if word == "return" else [word])])], env

    def return_(self, env: Env) -> Lines:
        values = [k if k in env else self.test(env) if k == "flag" else self.leaf(env, k) for k in self.returns]
        return [f"return {', '.join(values)}".rstrip()]

    def while_(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.kinds["while"] += 1
        c = self.name("c")
        bound = f"{c} < {self.r.choice([2, 3, f'{self.leaf(env)} % 4'])}"
        env = {**env, c: "count"}
        with self.inside(loop=True):
            body, _ = self.block(env, depth, 4)
        lines = [f"{c} = 0", f"while {self.r.choice([bound, f'{bound} and {self.test(env)}', f'{self.test(env)} and {bound}'])}:"]
        return self.loop_else([*lines, *indented([f"{c} += 1", *body])], env)

    def for_(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.kinds["for"] += 1
        i = self.r.choice(POOLS["int"])
        items = [f"range({self.leaf(env)} % 4)"] * 4 + ["range(3)", f"range({self.leaf(env)} % 3, 4)", f"({self.leaf(env)}, {self.leaf(env)})"]
        place = self.place(env, "list")
        items += ["r"] * 2 * ("r" in env) + [place] * bool(place)
        array = self.place(env, "ints")
        items += [f"({array} * 1)[{self.part(env, 'ints')}]"] * bool(array)  # a copy: in NumPy it would show what the body stores
        target, binds = self.r.choice([(i, [i]), (i, [i]), (i, [i]), ("i, j", ["i", "j"])])
        item = self.r.choice(items)
        with self.inside(loop=True):
            body, _ = self.block({**env, **dict.fromkeys(binds, "int")}, depth, 4)
        return self.loop_else([f"for {target} in {item if len(binds) == 1 else f'enumerate({item})'}:", *indented(body)], env)

    def loop_else(self, lines: Lines, env: Env) -> tuple[Lines, Env | None]:
        if not self.chance(0.15):
            return lines, env
        self.kinds["loop else"] += 1
        with self.inside(loop=False):
            body, _ = self.block(env, 0, 2)
        return [*lines, "else:", *indented(body)], env

    def function(self, header: str, env: Env, returns: tuple[str, ...], depth: int, budget: int) -> Lines:
        before = self.budget, self.loops, self.staged, self.returns, self.shared
        self.budget, self.loops, self.staged, self.returns, self.shared = budget, 0, 0, returns, set()
        lines: Lines = []
        now: Env | None = dict(env)
        while self.budget > 0 and now is not None:
            nested = depth > 2 and self.chance(0.12)
            new, now = self.nested(now) if nested else self.statement(now, depth)
            lines += new
        lines += self.return_(now) if now is not None else []
        self.budget, self.loops, self.staged, self.returns, self.shared = before
        lines = [header, *indented(lines or ["pass"])]
        return [header, f"{INDENT}global G", *lines[1:]] if "G" in _stored(lines) else lines

    def nested(self, env: Env) -> tuple[Lines, Env]:
        """A nested function that changes variables of the function around it."""
        self.kinds["nested function"] += 1
        name, gives = self.name("f"), self.r.choice(["int", "none"])
        reads = {n: kind for n, kind in env.items() if not kind.startswith("fn")}
        self.in_function = True
        lines = self.function(f"def {name}(e):", {**reads, "e": "int"}, ("int",) * (gives == "int"), 1, self.r.randint(1, 3))
        self.in_function = False
        stored = _stored(lines) & {n for n in reads if reads[n] in ("int", "num", "flag", *ARRAYS, "grid") and n not in ("G", "T")}
        outer = [f"{INDENT}nonlocal {', '.join(sorted(stored))}"] if stored else []
        self.shared |= stored
        return [lines[0], *outer, *lines[1:]], {**env, name: f"fn {gives}"}

    def helper(self) -> Lines:
        """A function that stores into its first parameter."""
        name, kind = self.name("h"), self.r.choice(["ints", "ints", "nums", "grid", "list", "Box", "dict"])
        gives = self.r.choice(["int", "none", "none", "own"])
        returns = {"int": ("int",), "none": (), "own": ("p",)}[gives]
        self.in_function = True
        lines = self.function(f"def {name}(p, e):", {"p": kind, "e": "int", **self.globals}, returns, 2, self.r.randint(1, 4))
        self.in_function = False
        self.helpers.append((name, kind, gives))
        return [*lines, "", ""]

    def box(self) -> Lines:
        """The class `Box`, some of whose members are random."""
        lines = ["class Box:", *INIT.splitlines()]
        me: Env = {"self": "Box", "e": "int", **self.globals}
        self.in_function = True
        if self.chance(0.5):
            self.members.append("[]")
            more = self.r.choice([[], [f"{INDENT}self.n += 1"]])
            lines += indented([*ITEMS.splitlines(), *more])
        if self.chance(0.5):
            reader = f"{INDENT}return {self.value({'self': 'Box'})}"
            lines += indented(["", "@property", "def size(self):", reader, "", "@size.setter"])
            lines += indented(self.function("def size(self, e):", me, (), 1, self.r.randint(1, 2)))
            self.members.append(".size")
        for method in self.r.sample([("__call__", ""), ("put", ".put"), ("change", ".change")], self.r.randint(0, 2)):
            lines += ["", *indented(self.function(f"def {method[0]}(self, e):", me, ("int",), 2, self.r.randint(1, 4)))]
            self.methods.append(method[1])
        self.in_function = False
        if "[]" in self.members:
            self.parts["Box"]["[<4>]"] = "int"
        if ".size" in self.members:
            self.parts["Box"][".size"] = "int"
        return [*lines, "", ""]

    def program(self) -> tuple[str, list[str], list[str]]:
        """The text of the module, the types of the inputs, and the names of the globals."""
        r = self.r
        self.globals = {n: kind for n, (kind, _) in GLOBALS.items() if self.chance(0.3)}
        lines = [f"{n} = {GLOBALS[n][1]}" for n in self.globals] + [""] * 2
        held: Env = {n: kind for n, kind in HELD.items() if self.chance(0.4)}
        boxes = bool({"o", "q"} & held.keys())
        lines += self.box() if boxes or self.chance(0.2) else []
        lines += [*NODE.splitlines(), "", ""] if "q" in held else []
        for _ in range(r.choice([0, 1, 1, 2])):
            lines += self.helper()
        given: Env = {"a": "int", "b": "int", **{n: kind for n, kind in ARGUMENTS.items() if self.chance(0.55)}}
        returns = tuple(r.choice(["int", "num", "flag"]) for _ in range(r.randint(1, 2))) + tuple(n for n in ("v", "w", "z") if n in given)
        method = "o" in held and not self.globals.get("G") and self.chance(0.3)
        names = [*given, *(n for n in held if not (method and n == "o"))]
        env: Env = {**given, **held, **self.globals}
        if method:
            self.kinds["method"] += 1
            env["self"] = env.pop("o")
            body = self.function(f"def step({', '.join(['self', *names])}):", env, returns, 3, r.randint(5, 12))
            at = next(k for k, line in enumerate(lines) if line == INIT.splitlines()[-1]) + 1
            lines[at:at] = ["", *indented(["@ag.function", *body])]
            lines += [f"def f({', '.join([*given, *held])}):", f"{INDENT}return o.step({', '.join(names)})"]
        else:
            lines += ["@ag.function", *self.function(f"def f({', '.join(names)}):", env, returns, 3, r.randint(5, 12))]
        lines += ["", "", "def state():"]
        for n, kind in held.items():
            value = self.made(kind)
            if n == "q" and "o" in held and self.chance(0.5):
                value = f"Node(o, 3, {self.made('nums')})"
            elif n == "l" and "o" in held and self.chance(0.3):
                value = "o.l"
            elif n == "m" and "l" in held and self.chance(0.3):
                value = "[l, [4, 5, 6]]"
            lines.append(f"{INDENT}{n} = {value}")
        lines.append(f"{INDENT}return ({''.join(f'{n}, ' for n in held)})")
        return MODULE + "\n".join(lines) + "\n", list(given.values()), list(self.globals)


def _stored(lines: Lines) -> set[str]:
    """The variables that a function assigns or stores into."""
    targets = [n for n in ast.walk(ast.parse("\n".join(lines))) if isinstance(n, (ast.Name, ast.Subscript)) and isinstance(n.ctx, ast.Store)]
    return {name.id for target in targets for name in [_base(target)] if isinstance(name, ast.Name)}


def _base(node: Any) -> Any:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def program(number: int, seed: int = 0) -> Program:
    """The program of that number; the same for the same seed."""
    rng = random.Random(seed * 1_000_003 + number)
    writer = Writer(rng)
    source, kinds, _ = writer.program()
    return Program(number, source, [tuple(argument(rng, kind) for kind in kinds) for _ in range(3)], kinds=writer.kinds, kind="stateful")


def argument(rng: random.Random, kind: str) -> Any:
    def ints(count: int) -> Any:
        return [rng.randint(-3, 6) for _ in range(count)]

    match kind:
        case "int":
            return np.int32(rng.randint(-1, 5))
        case "num":
            return np.float32(rng.randint(-16, 16) / 4)
        case "nums":
            return np.array(ints(3), np.float32) / 4
        case "grid":
            return np.array([ints(3), ints(3)], np.int32)
    return np.array(ints(3 if kind == "rows" else 4), np.int32)
