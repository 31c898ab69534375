"""Random programs: source text of functions whose control flow depends on their arguments.

All numbers stay exact in 32 bits: ints are small, floats are multiples of 1/4, and whatever a loop could grow is reduced (`% 97`).
Every loop ends: a `while` counts its turns.  A variable is read only where it is surely set, an optional used only where a test shows that it is
not None, and an index is in range, except in the *loose* programs.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Env = dict[str, str]  # the variables that are surely set: name -> "int", "num", "flag", "pair", "opt", "array", "counter", "fn"
Lines = list[str]

NUMBERS = ("int", "num", "counter", "static")
INTS = ("int", "counter", "static")
LOOSE_SHARE = 0.1
INDENT = "    "
_MODULE = "import contextlib\n\nimport jax.numpy as jnp\n\n\n"


@dataclass
class Program:
    """One program: the module's source, whose function `f` is the program, and three inputs."""

    number: int
    source: str
    inputs: list[tuple[Any, ...]]
    loose: bool = False
    kinds: Counter[str] = field(default_factory=Counter)
    kind: str = "control"  # or "stateful"

    @property
    def filename(self) -> str:
        return f"<random {self.number}>"


@dataclass
class Frame:
    """The names that one function may bind, by kind, and what its `return` gives."""

    pools: dict[str, list[str]]
    returns: tuple[str, ...]
    helpers: list[str]
    optional_helpers: list[str] = field(default_factory=list)


def indented(lines: Lines) -> Lines:
    return [INDENT + line for line in lines]


def common(envs: list[Env]) -> Env | None:
    """What is set after paths that meet; None where no path goes on."""
    if not envs:
        return None
    return {name: kind for name, kind in envs[0].items() if all(name in e for e in envs)}


class Generator:
    """Writes one program; `kinds` counts the constructs in it."""

    def __init__(self, rng: random.Random, loose: bool, rows: int) -> None:
        self.r, self.loose, self.rows = rng, loose, rows
        self.kinds: Counter[str] = Counter()
        self.fresh = 0
        self.budget = 0
        self.loops = 0
        self.kept: list[set[str]] = []  # names that `del` must leave alone
        self.ever: set[str] = set()  # numbers that have been bound anywhere, for loose programs
        self.in_loop = self.in_lambda = self.in_finally = self.in_fold = False
        self.around: list[str] = []  # the kinds of the loops around
        self.frame = Frame({}, (), [])

    # --- names ------------------------------------------------------------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    def count(self, kind: str) -> None:
        self.kinds[kind] += 1

    def names(self, env: Env, *kinds: str) -> list[str]:
        return sorted(n for n, k in env.items() if k in kinds)

    def mine(self, env: Env, kind: str) -> list[str]:
        """Variables of this function, not of an enclosing one, that are set."""
        return [n for n in self.names(env, kind) if n in self.frame.pools.get(kind, ())]

    def target(self, kind: str) -> str:
        """A name of that kind to bind."""
        return self.r.choice(self.frame.pools[kind])

    def bind(self, env: Env, name: str, kind: str) -> None:
        env[name] = kind
        if kind in ("int", "num"):
            self.ever.add(name)

    def counter(self) -> str:
        self.fresh += 1
        return f"c{self.fresh}"

    # --- expressions ------------------------------------------------------------------------------------------------------------------------

    def constant(self, whole: bool = False) -> str:
        return str(self.r.choice([0, 1, 2, 3, 5, -1, -2] if whole or self.chance(0.5) else [0.5, 1.5, -0.25, 2.25, -3.5, 4.0]))

    def index(self, env: Env, length: int) -> str:
        return self.r.choice([str(self.r.randrange(length)), f"{self.integer(env, 0)} % {length}", "-1"])

    def integer(self, env: Env, depth: int = 1) -> str:
        """An expression whose value is an int."""
        names = self.names(env, *INTS)
        k = self.r.random()
        if depth == 0 or k < 0.4:
            return self.r.choice(names) if names and self.chance(0.75) else self.constant(whole=True)
        left, right = self.integer(env, depth - 1), self.integer(env, depth - 1)
        if k < 0.75:
            return f"({left} {self.r.choice('+-')} {right})"
        if k < 0.85:
            return f"({left} * {self.r.choice([2, 3, -1])})"
        if k < 0.92:
            self.count("ternary")
            return f"({left} if {self.test(env, 0)} else {right})"
        return f"(({left} + {right}) % 7)"

    def leaf(self, env: Env) -> str:
        """A number without an operator."""
        if self.loose and self.ever and self.chance(0.2):
            return self.r.choice(sorted(self.ever))
        k = self.r.random()
        names = self.names(env, *NUMBERS)
        if k < 0.1 and (pairs := self.names(env, "pair")):
            self.count("tuple read")
            return f"{self.r.choice(pairs)}[{self.r.choice([0, 1])}]"
        if k < 0.2 and (arrays := self.names(env, "array")):
            self.count("array read")
            return f"{self.r.choice(arrays)}[{self.index(env, 3)}]"
        if k < 0.24 and "v" in env:
            self.count("array read")
            return f"v[{self.index(env, self.rows)}]"
        if 0.24 <= k < 0.28 and (optionals := self.names(env, "opt")):
            name = self.r.choice(optionals)
            if self.loose and self.chance(0.5):
                self.count("optional, not tested")
                return name
            self.count("optional in a ternary")
            other = self.constant()
            return self.r.choice([f"({name} if {name} is not None else {other})", f"({other} if {name} is None else {name})"])
        if 0.28 <= k < 0.31:
            self.count("list read")
            i = self.integer(env, 0)
            return f"[{', '.join(self.numerals(3))}][{i if self.loose and self.chance(0.3) else f'{i} % 3'}]"
        return self.r.choice(names) if names and self.chance(0.75) else self.constant()

    def number(self, env: Env, depth: int = 2) -> str:
        """An expression whose value is an int or a float."""
        k = self.r.random()
        if depth == 0 or k < 0.3:
            return self.leaf(env)
        if k < 0.62:
            return f"({self.number(env, depth - 1)} {self.r.choice('+-')} {self.number(env, depth - 1)})"
        if k < 0.74:
            return f"({self.leaf(env)} * {self.r.choice(['2', '-1', '3', self.integer(env, 0)])})"
        if k < 0.82:
            self.count("ternary")
            return f"({self.number(env, depth - 1)} if {self.test(env, 1)} else {self.number(env, depth - 1)})"
        if k < 0.86:
            return f"({self.number(env, depth - 1)} % {self.r.choice([8, 5, 97])})"
        if k < 0.90:
            self.count("and/or of numbers")
            return f"({self.leaf(env)} {self.r.choice(['and', 'or'])} {self.leaf(env)})"
        if k < 0.92 and not self.in_fold and (names := self.mine(env, "num")):  # also where it is not always evaluated
            self.count("walrus in an expression")
            return f"({self.r.choice(names)} := {self.leaf(env)})"
        if k < 0.945 and not self.in_fold:
            return self.fold(env)
        return self.call(env) or self.leaf(env)

    def generator(self, env: Env, condition: bool) -> str:
        """A generator expression over numbers, `e` for each; it has at least one value unless it has a condition."""
        inside = {**env, "e": "num"}
        items = self.r.choice([*["v"] * ("v" in env) * 3, "range(3)", f"({', '.join(self.numerals(3))})", f"range(1 + {self.integer(env, 0)} % 3)"])
        before, self.in_fold = self.in_fold, True
        value = self.r.choice(["e", f"({self.number(inside, 1)})"])
        test = f" if {self.test(inside, 1)}" if condition else ""
        self.in_fold = before
        return f"{value} for e in {items}{test}"

    def fold(self, env: Env) -> str:
        """A generator that is folded at once."""
        kind = self.r.choice(["sum", "sum", "min", "max", "len"])
        condition = kind == "len" or self.chance(0.5)
        self.count(f"{kind} of a generator")
        inner = self.generator(env, condition)
        if kind == "len":
            return f"len([{inner}])"
        if kind == "sum" or not condition or (self.loose and self.chance(0.5)):
            return f"{kind}({inner})"
        return f"{kind}(({inner}), default={self.constant()})"

    def call(self, env: Env, bind: bool = False) -> str:
        """A call of a helper, a nested function or a lambda; empty where there is none.  With `bind` its argument may bind a name."""
        nested = self.names(env, "fn")
        if nested and self.chance(0.6):
            self.count("call of a nested function")
            return f"{self.r.choice(nested)}({self.leaf(env)})"
        if not self.frame.helpers or self.loops > 1:
            return ""
        self.count("call of a helper")
        name = self.r.choice(self.frame.helpers)
        first, second = self.integer(env, 0), self.leaf(env)
        if bind and self.chance(0.2):
            self.count("walrus")
            bound = self.target("num")
            self.bind(env, bound, "num")
            return f"{name}({first}, {bound} := {second})"
        return self.r.choice([f"{name}({first}, {second})", f"{name}(n={first}, d={second})", f"{name}({first}, d={second})"])

    def small(self, env: Env, whole: bool = False) -> str:
        """An expression whose value does not grow from turn to turn."""
        if whole:
            return self.r.choice([self.integer(env, 0), f"({self.integer(env, 2)}) % {self.r.choice([5, 7, 97])}"])
        if self.chance(0.25):
            return self.leaf(env)
        return f"({self.number(env)}) % {self.r.choice([97, 97, 8, 16])}" + self.r.choice(["", "", " - 4"])

    def test(self, env: Env, depth: int = 1, bind: bool = False) -> str:
        """A condition; with `bind` it may bind names, which are then in `env`."""
        k = self.r.random()
        flags = self.names(env, "flag")
        if flags and k < 0.12:
            return self.r.choice(flags)
        if k < 0.16:
            return self.integer(env, 0)  # the truth of a number
        if k < 0.20:
            self.count("in")
            items = self.r.choice([f"({', '.join(self.numerals(2))})", f"[{', '.join(self.numerals(3))}]", "range(3)", "range(4, 0, -2)"])
            return f"{self.leaf(env)} {self.r.choice(['in', 'not in'])} {items}"
        if k < 0.24 and not self.in_fold:
            word = self.r.choice(["any", "all"])
            self.count(f"{word} of a generator")
            inside = {**env, "e": "num"}
            self.in_fold = True
            inner = self.test(inside, 0)
            self.in_fold = False
            return f"{word}({inner} for e in {'v' if 'v' in env else 'range(3)'})"
        if k < 0.30 and (optionals := self.names(env, "opt")):
            self.count("is None")
            name, op = self.r.choice(optionals), self.r.choice("<>")
            forms = [f"{name} is None", f"{name} is not None", f"({name} is None or {name} {op} {self.leaf(env)})"]
            return self.r.choice([*forms, f"({name} is not None and {self.leaf(env)} {op} {name})", f"not {name} is None"])
        if depth and k < 0.40:
            word = self.r.choice(["and", "or"])
            self.count(word)
            left = self.test(env, depth - 1, bind)
            return f"({left} {word} {self.test(env, depth - 1)})"
        if depth and k < 0.50:
            self.count("not")
            return f"(not {self.test(env, depth - 1, bind)})"
        left = self.number(env, 1)
        if bind and self.chance(0.25):
            self.count("walrus")
            name = self.target("num")
            left = f"({name} := {self.small(env)})"
            self.bind(env, name, "num")
        op = self.r.choice(["<", ">", "<=", ">=", "==", "!="] if self.chance(0.4) else ["<", ">"])
        right = self.number(env, 1)
        if self.chance(0.15):
            self.count("chained comparison")
            return f"{left} {op} {right} {self.r.choice(['<', '<=', '>'])} {self.leaf(env)}"
        return f"{left} {op} {right}"

    # --- simple statements ------------------------------------------------------------------------------------------------------------------

    def assign(self, env: Env) -> Lines:
        self.count("assignment")
        if "x" in self.frame.pools["num"] and self.chance(0.12):
            name = self.r.choice("ab")
            return [f"{name} = ({self.integer(env)}) % 5"]
        if self.chance(0.25):
            name, value, kind = self.target("int"), self.small(env, whole=True), "int"
        else:
            name, value, kind = self.target("num"), self.small(env), "num"
        self.bind(env, name, kind)
        if self.chance(0.06):
            self.count("chained assignment")
            other = self.target("num")
            self.bind(env, other, "num")
            return [f"{name} = {other} = {value}"]
        if self.chance(0.05):
            self.count("annotated assignment")
            return [f"{name}: object = {value}"]
        return [f"{name} = {value}"]

    def clamp(self, env: Env) -> Lines:
        names = self.mine(env, "num")
        if not names:
            return self.assign(env)
        self.count("ternary")
        self.count("chained comparison")
        name = self.r.choice(names)
        return [f"{name} = {name} if -64 < {name} < 64 else {self.constant()}"]

    def augment(self, env: Env) -> Lines:
        names = self.mine(env, "num")
        if not names:
            return self.assign(env)
        self.count("augmented assignment")
        name = self.r.choice(names)
        if self.chance(0.5):
            return [f"{name} {self.r.choice(['+=', '-='])} {self.r.choice([self.constant(), *self.names(env, 'counter')])}"]
        symbol, value = self.r.choice([("+=", self.number(env, 1)), ("-=", self.number(env, 1)), ("*=", self.r.choice(["2", "-1", "3"]))])
        return [f"{name} {symbol} {value}", f"{name} %= {self.r.choice([97, 8, 32])}"]

    def swap(self, env: Env) -> Lines:
        for kind in self.r.sample(["num", "pair", "int"], 3):
            names = self.mine(env, kind)
            if len(names) >= 2:
                self.count("swap")
                one, two = self.r.sample(names, 2)
                return [f"{one}, {two} = {two}, {one}"]
        return self.pair(env)

    def pair(self, env: Env) -> Lines:
        name = self.target("pair")
        k = self.r.random()
        if name in env and k < 0.35:
            self.count("tuple swap")
            return [f"{name} = ({name}[1], {name}[0])"]
        if (pairs := self.names(env, "pair")) and k < 0.6:
            self.count("unpacking")
            one, two = self.r.sample(self.frame.pools["num"], 2)
            self.bind(env, one, "num")
            self.bind(env, two, "num")
            return [f"{one}, {two} = {self.r.choice(pairs)}"]
        self.count("tuple")
        value = f"({self.small(env)}, {self.small(env)})"
        if self.chance(0.2):
            self.count("ternary")
            value = f"{value} if {self.test(env)} else ({self.leaf(env)}, {self.leaf(env)})"
        self.bind(env, name, "pair")
        return [f"{name} = {value}"]

    def flag(self, env: Env) -> Lines:
        self.count("flag")
        name = self.target("flag")
        value = f"{self.leaf(env)} {self.r.choice('<>')} {self.leaf(env)}"
        if name in env and self.chance(0.3):
            word = self.r.choice(["and", "or"])
            self.count(word)
            value = f"{name} {word} {value}"
        elif self.chance(0.3):
            self.count("not")
            value = f"not ({value})"
        elif self.chance(0.3):
            value = self.r.choice(["True", "False"])
        self.bind(env, name, "flag")
        return [f"{name} = {value}"]

    def store(self, env: Env) -> Lines:
        arrays = self.names(env, "array")
        if not arrays or self.in_finally:  # after `return w` a store would still change NumPy's `w`
            return self.assign(env)
        name = self.r.choice(arrays)
        if self.chance(0.25):
            self.count("augmented store")
            return [f"{name}[{self.index(env, 3)}] {self.r.choice(['+=', '-='])} {self.constant()}"]
        if self.chance(0.15):
            self.count("array arithmetic")
            return [f"{name} = ({name} + {self.leaf(env)}) % 16"]
        self.count("array store")
        return [f"{name}[{self.index(env, 3)}] = {self.small(env)}"]

    def optional(self, env: Env) -> Lines:
        """Statements about a variable that may be None."""
        if not self.frame.pools.get("opt"):
            return self.assign(env)
        self.count("optional")
        name, k = self.target("opt"), self.r.random()
        if name in env and k < 0.45:
            value = self.small(env)
            held = self.target("num")
            self.bind(env, held, "num")
            op = self.r.choice("<>")
            return [f"{held} = {value}", f"if {name} is None or {held} {op} {name}:", f"{INDENT}{name} = {held}"]
        if k < 0.6 and self.frame.optional_helpers and self.loops <= 1:
            self.count("optional result of a helper")
            env[name] = "opt"
            return [f"{name} = {self.r.choice(self.frame.optional_helpers)}({self.integer(env, 0)}, {self.leaf(env)})"]
        if k < 0.8:
            env_before = dict(env)
            env[name] = "opt"
            return [f"{name} = {self.small(env_before)} if {self.test(env_before)} else None"]
        env_before = dict(env)
        env[name] = "opt"
        return [f"{name} = {'None' if self.chance(0.6) else self.small(env_before)}"]

    def tested(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        """`if o is not None:` around a block that uses `o` as a number."""
        optionals = [n for n in self.mine(env, "opt")]
        if not optionals:
            return self.optional(env), env
        self.count("optional in a branch")
        name = self.r.choice(optionals)
        sides = [{**env, name: "num"}, dict(env)]
        negated = self.chance(0.4)
        lines: Lines = []
        ends: list[Env] = []
        self.kept.append({name})
        for header, side in zip([f"if {name} is {'' if negated else 'not '}None:", "else:"], reversed(sides) if negated else sides, strict=True):
            held = self.frame.pools["opt"]
            if side[name] == "num":  # not bound anew where it is a number
                self.frame.pools["opt"] = [n for n in held if n != name]
            body, after = self.block(side, depth, 3)
            self.frame.pools["opt"] = held
            lines += [header, *indented(body)]
            if after is not None:
                ends.append({**after, name: "opt"} if name in after else after)
        self.kept.pop()
        return lines, common(ends)

    parameters = frozenset("abxyvnd") | {"mode"}

    def delete(self, env: Env) -> Lines:
        kept = set().union(*self.kept)
        names = [n for kind in self.frame.pools for n in self.mine(env, kind)]
        if not self.loose:
            names = [n for n in names if n not in kept]
        names = [n for n in names if n not in self.parameters]
        if not names:
            name = self.target("num")
            if name in kept or name in self.parameters:
                return self.assign(env)
            self.count("del")
            env.pop(name, None)
            return [f"{name} = {self.small(env)}", f"del {name}"]
        self.count("del")
        name = self.r.choice(names)
        del env[name]
        return [f"del {name}"]

    def call_statement(self, env: Env) -> Lines:
        call = self.call(env, bind=True)
        if not call:
            return self.assign(env)
        name = self.target("num")
        self.bind(env, name, "num")
        return [f"{name} = {call}"]

    # --- blocks -----------------------------------------------------------------------------------------------------------------------------

    def block(self, env: Env, depth: int, size: int) -> tuple[Lines, Env | None]:
        """Statements, and what is set after them (None: they end in a jump)."""
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
        if self.in_loop and self.chance(0.1 * len(self.around)):
            return self.leave(env, depth)
        if depth > 0 and self.budget > 0 and self.chance(0.5):
            deep = min(self.loops, 3)
            weights = {
                self.if_: 10, self.while_: (4, 7, 9, 0)[deep], self.for_: (7, 14, 18, 0)[deep], self.match: 2.4, self.tested: 1.6, self.try_: 1.6,
                self.with_: 1.6, self.nested: 1.4, self.leave: 4 if self.in_loop else 1,
            }  # fmt: skip
            return self.r.choices(list(weights), list(weights.values()))[0](env, depth - 1)
        simple: dict[Callable[[Env], Lines], float] = {
            self.assign: 6, self.augment: 4, self.swap: 1.5, self.pair: 1.5, self.flag: 1, self.store: 2, self.delete: 0.8, self.clamp: 1,
            self.call_statement: 1.5, self.optional: 2,
        }  # fmt: skip
        return self.r.choices(list(simple), list(simple.values()))[0](env), env

    def if_(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.count("if")
        env = dict(env)
        lines = [f"if {self.test(env, 1, bind=True)}:"]
        ends: list[Env] = []

        def side(env: Env) -> None:
            body, after = self.block(env, depth, 3)
            lines.extend(indented(body))
            if after is not None:
                ends.append(after)

        side(env)
        while self.chance(0.25):
            self.count("elif")
            env = dict(env)
            lines.append(f"elif {self.test(env, 1, bind=True)}:")
            side(env)
        if self.chance(0.55):
            self.count("else")
            lines.append("else:")
            side(env)
        else:
            ends.append(env)
        return lines, common(ends)

    def leave(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        """`if test: ...; break` (or `continue`, or `return`)."""
        env = dict(env)
        inner = dict(env)
        test = self.test(inner, 1)
        body, after = self.block(env, 0, 2) if self.chance(0.4) else ([], env)
        assert after is not None
        word = self.r.choice(["break", "break", "continue", "continue", "return"]) if self.in_loop else "return"
        self.count(f"{word} in a loop" if self.in_loop else "early return")
        if self.in_loop:
            self.count(f"{word} in {self.around[-1]}, depth {len(self.around)}")
        jump = self.return_(after) if word == "return" else [word]
        lines = [f"if {test}:", *indented(body + jump)]
        if self.chance(0.15):
            self.count("else")
            other, after = self.block(env, 0, 2)
            assert after is not None
            return [*lines, "else:", *indented(other)], after
        return lines, env

    def return_(self, env: Env) -> Lines:
        values: list[str] = []
        names = [n for n in self.names(env, "num", "int")]
        self.r.shuffle(names)
        for kind in self.frame.returns:
            if kind == "num":
                values.append(names.pop() if names and self.chance(0.7) else self.number(env))
            elif kind == "small":
                values.append(self.small(env))
            elif kind == "array":
                values.append("w")
            elif kind == "opt":
                optionals = self.names(env, "opt")
                values.append(self.r.choice(optionals) if optionals and self.chance(0.8) else self.r.choice(["None", self.leaf(env)]))
            elif pairs := self.names(env, "pair"):
                values.append(self.r.choice(pairs))
            else:
                values.append(f"({self.leaf(env)}, {self.leaf(env)})")
        return [f"return {', '.join(values)}"]

    @contextmanager
    def inside_loop(self, env: Env, kind: str) -> Iterator[None]:
        before = self.in_loop
        self.around.append(kind)
        self.loops += 1
        self.in_loop = True
        self.kept.append(set(env))
        yield
        self.kept.pop()
        self.around.pop()
        self.loops -= 1
        self.in_loop = before

    def while_(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.count("while")
        env = dict(env)
        c = self.counter()
        most = self.r.randint(1, 4 if self.loops == 0 else 3)
        lines = [f"{c} = 0"]
        env[c] = "counter"
        with self.inside_loop(env, "while"):
            if self.chance(0.25):
                self.count("while True")
                lines.append("while True:")
                inside = dict(env)
                jump = self.return_(env) if self.chance(0.15) else ["break"]
                body = [f"{c} += 1", f"if {c} > {most} or {self.test(env)}:", *indented(jump)]
                if self.chance(0.2):
                    body[1] = f"if {c} > {most}:"
            else:
                limit = f"{c} < {self.integer(env, 0)} % 4"
                bound = self.r.choice([f"{c} < {most}", f"{c} < {most}", f"0 <= {c} < {most}", limit, f"not {c} >= {most}"])
                test = self.test(env, 1, bind=True)
                self.kept[-1] |= set(env)
                form = self.r.choice(["{b} and {t}", "{t} and {b}", "{b}", "{t} and {b}", "{b} if {t} else {c} < 1"])
                if form[:3] == "{b}" and ":=" in test:
                    form = "{t} and {b}"
                lines.append(f"while {form.format(b=bound, t=test, c=c)}:")
                inside, body = dict(env), [f"{c} += 1"]
            more, _ = self.block(inside, depth, 4)
        lines += indented(body + more)
        return self.loop_else(lines, env, depth)

    def loop_else(self, lines: Lines, env: Env, depth: int) -> tuple[Lines, Env | None]:
        if self.chance(0.15):
            self.count("loop else")
            body, after = self.block(env, min(depth, 1), 2)
            return [*lines, "else:", *indented(body)], env if after is None else common([env, after])
        return lines, env

    def for_(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.count("for")
        env = dict(env)
        target, items, binds = self.items(env)
        lines = [f"for {target} in {items}:"]
        rows = items == "v" or "v" in items.replace("(", ",").replace(")", ",").replace(" ", "").split(",")
        kind = "rows" if rows else "a range" if items.startswith("range") or "(range" in items else "a static loop"
        with self.inside_loop(env, kind):
            inside = dict(env)
            for name, kind in binds:
                self.bind(inside, name, kind)
            body, _ = self.block(inside, depth, 4)
        return self.loop_else(lines + indented(body), env, depth)

    def bounded(self, env: Env, most: int) -> str:
        small = [n for n in ("a", "b") if n in env]
        return self.r.choice(small) if small and self.chance(0.5) else f"{self.integer(env)} % {most}"

    def numerals(self, count: int) -> list[str]:
        return [self.constant() for _ in range(count)]

    def items(self, env: Env) -> tuple[str, str, list[tuple[str, str]]]:
        """The target, the iterable and what the target binds."""
        r = self.r
        i, j = r.sample(self.frame.pools["int"], 2)
        s, t = r.sample(self.frame.pools["num"], 2)
        one = [(s, "num")]
        rows = "v" in env
        kinds = {
            "range(n)": 4, "range(n, m)": 2, "range with a step": 3, "for over rows": 3 * rows, "static range": 2, "for over a tuple": 1.2,
            "for over a list": 1.2, "for over pairs": 1, "enumerate": 2, "zip": 2 * rows, "reversed": 2,
        }  # fmt: skip
        kind = r.choices(list(kinds), list(kinds.values()))[0]
        self.count(kind)
        most = 5 if self.loops == 0 else 4
        if kind == "range(n)":
            return i, f"range({self.bounded(env, most)})", [(i, "int")]
        if kind == "range(n, m)":
            return i, f"range({r.choice(['1', '-1', self.bounded(env, 3)])}, {self.bounded(env, most)})", [(i, "int")]
        if kind == "range with a step":
            n, m = self.bounded(env, 4), self.bounded(env, 4)
            ends = [f"{n}, {m}, -1", f"{n}, -2, -1", f"0, {n}, 2", f"{n}, {m}, 2", f"5, {m}, -2"]
            return i, f"range({r.choice(ends)})", [(i, "int")]
        if kind == "for over rows":
            return s, "v", one
        if kind == "static range":
            return i, r.choice(["range(2)", "range(3)", "range(3, 0, -1)", "range(1, 6, 2)", "range(0)"]), [(i, "int")]
        if kind == "for over a tuple":
            return s, f"({', '.join(self.numerals(r.randint(2, 3)))})", one
        if kind == "for over a list":
            return s, f"[{', '.join(self.numerals(r.randint(1, 3)))}]", one
        if kind == "for over pairs":
            pairs = [f"({self.constant()}, {self.constant()})" for _ in range(2)]
            return f"{s}, {t}", f"({', '.join(pairs)})", [(s, "num"), (t, "num")]
        sequences = [f"({', '.join(self.numerals(3))})", "range(3)"] + ["v"] * 3 * rows
        if kind == "enumerate":
            start = r.choice(["", "", ", 1"])
            return f"{i}, {s}", f"enumerate({r.choice(sequences)}{start})", [(i, "int"), (s, "num")]
        if kind == "zip":
            both = ["v", r.choice(sequences)]
            r.shuffle(both)
            return f"{s}, {t}", f"zip({', '.join(both)})", [(s, "num"), (t, "num")]
        return s, f"reversed({r.choice([*sequences, f'range({self.bounded(env, 4)})'])})", one

    def match(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.count("match")
        name = self.frame.pools["int"][-1]
        subject, cases = self.traced_match(env) if self.chance(0.75) else self.r.choice([
            ("mode" if "mode" in env else "2", ["0 | 1", "2", "_"]),
            ("mode" if "mode" in env else "1", ["0", f"int({name}) if {name} > 1", "_"]),
            (f"({self.r.choice([0, 1])}, 'up')", ["(0, 'down')", "(0, _)", f"({name}, 'up')", "_"]),
            ("'up'", ["'down'", "'up' | 'left'", "_"]),
        ])  # fmt: skip
        lines, ends = [f"match {subject}:"], []
        for case in cases:
            inside = dict(env)
            for bound in re.findall(r"\b[a-z]\b", case.split(" if ")[0]):
                self.bind(inside, bound, "int" if bound in self.frame.pools["int"] else "num")
            if "GUARD" in case:
                case = case.replace("GUARD", self.test(inside, 0))
            body, after = self.block(inside, min(depth, 1), 2)
            lines += indented([f"case {case}:", *indented(body)])
            if after is not None:
                ends.append(after)
        if cases[-1] != "_":
            ends.append(env)
        return lines, common(ends)

    def traced_match(self, env: Env) -> tuple[str, list[str]]:
        """A subject whose value, and cases which of them is taken, depend on the arguments."""
        self.count("match on a traced value")
        i, s = self.target("int"), self.target("num")
        keys = self.r.sample(["0", "1", "2", "3", "-1", "1 | 2", "3 | 0 | -2"], self.r.randint(1, 4))
        last = ["_"] * self.chance(0.7)
        k = self.r.random()
        if k < 0.5:
            guarded = [f"{i} if GUARD"] * self.chance(0.4)
            return self.integer(env, 1), [*keys, *guarded, *last]
        if k < 0.65:
            return self.leaf(env), [*self.r.sample(["0.5", "1", "-2 | 1.5"], 2), f"{s} if GUARD", *last]
        pairs = [f"({key}, _)" for key in keys[:2]] + [f"({i}, 0.5 | 1)", f"({i}, {s}) if GUARD", f"(0 | 1 as {i}, {s})"]
        return f"({self.integer(env, 0)}, {self.leaf(env)})", [*self.r.sample(pairs, 3), *last]

    def try_(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.count("try/finally")
        self.kept.append(set(env))
        body, after = self.block(env, depth, 3)
        in_loop, self.in_loop, self.in_finally = self.in_loop, False, True  # no jumps in `finally`
        self.kept[-1] |= {n for pool in self.frame.pools.values() for n in pool}
        last, end = self.block(env, 0, 2)
        self.kept.pop()
        self.in_loop, self.in_finally = in_loop, False
        assert end is not None
        return ["try:", *indented(body), "finally:", *indented(last)], None if after is None else after | end

    def with_(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        self.count("with")
        env = dict(env)
        value = ""
        if self.chance(0.3):
            name = self.target("int")
            self.bind(env, name, "int")
            value = f"{self.r.choice([1, 2, 3])}) as {name}"
        body, after = self.block(env, depth, 3)
        return [f"with contextlib.nullcontext({value or ')'}:", *indented(body)], after

    # --- functions --------------------------------------------------------------------------------------------------------------------------

    def nested(self, env: Env, depth: int) -> tuple[Lines, Env | None]:
        """A nested function or a lambda that reads variables of this one."""
        if self.in_lambda:
            return self.assign(env), env
        env = dict(env)
        self.fresh += 1
        name = f"f{self.fresh}"
        reads = {n: k for n, k in env.items() if k in (*NUMBERS, "flag", "pair", "opt", "fn")}
        self.kept[0] |= set(reads)
        outer, in_loop, loops, self.in_lambda, self.in_loop = self.frame, self.in_loop, self.loops, True, False
        self.frame = Frame({"int": ["l2", "o2"], "num": ["n", "c", "r"], "flag": ["g2"], "pair": ["q2"]}, ("small",), outer.helpers)
        inside = {**reads, "n": "num"}
        if self.chance(0.4):
            self.count("lambda")
            lines = [f"{name} = lambda n: {self.small(inside)}"]
        else:
            self.count("nested function")
            self.loops = max(self.loops, 1)
            self.in_lambda = True
            body, after = self.block(inside, min(depth, 2), 3)
            lines = [f"def {name}(n):", *indented(body + (self.return_(after) if after is not None else []))]
        self.frame, self.in_loop, self.loops, self.in_lambda = outer, in_loop, loops, False
        env[name] = "fn"
        return lines, env

    def function(self, header: str, env: Env, frame: Frame, depth: int, budget: int, start: Lines) -> str:
        self.frame, self.kept, self.in_loop, self.budget = frame, [set()], False, budget
        self.ever = set()
        lines = list(start)
        now: Env | None = env
        while self.budget > 0 and now is not None:
            new, now = self.statement(now, depth)
            lines += new
        if now is not None:
            lines += self.return_(now)
        return "\n".join([header, *indented(lines)]) + "\n"


def program(number: int, seed: int = 0, writer: type[Generator] = Generator) -> Program:
    """The program of that number; the same for the same seed."""
    rng = random.Random(seed * 1_000_003 + number)
    loose, rows = rng.random() < LOOSE_SHARE, rng.choice([3, 4])
    g = writer(rng, loose, rows)
    parts: list[str] = []
    helpers: list[str] = []
    optional_helpers: list[str] = []
    for k in range(rng.choice([0, 0, 1, 1, 2])):
        gives = "opt" if rng.random() < 0.35 else "small"
        pools = {"int": ["k", "n"], "num": ["d", "c", "s"], "flag": ["g"], "pair": ["p", "q"], "opt": ["f"]}
        frame = Frame(pools, (gives,), list(helpers))
        g.loops = 1
        parts.append(g.function(f"def h{k + 1}(n, d):", {"n": "int", "d": "num"}, frame, 2, rng.randint(2, 6), []))
        (optional_helpers if gives == "opt" else helpers).append(f"h{k + 1}")
    returns = ("num",) * rng.randint(1, 4)
    env: Env = {"a": "int", "b": "int", "x": "num", "y": "num", "v": "rows", "mode": "static"}
    start: Lines = []
    if rng.random() < 0.35:
        start.append("w = jnp.zeros(3)")
        env["w"] = "array"
        returns += ("array",)
    if rng.random() < 0.3:
        returns += ("pair",)
    if rng.random() < 0.3:
        returns += ("opt",)
    for name in rng.sample("stu", rng.randint(0, 3)):
        start.append(f"{name} = {rng.choice([0, 0, 1, 0.5])}")
        env[name] = "num"
    pools = {"int": list("ijkm"), "num": ["s", "t", "u", "z", "x", "y"], "flag": ["g", "h"], "pair": ["p", "q"], "opt": ["l", "o"]}
    frame = Frame(pools, returns, helpers, optional_helpers)
    g.loops = 0
    header = f"def f(a, b, x, y, v, mode={rng.choice([0, 1, 2])}):"
    parts.append(g.function(header, env, frame, 4, rng.choice([6, 10, 16, 24]), start))
    return Program(number, _MODULE + "\n\n".join(parts), inputs(rng, rows), loose, g.kinds)


def inputs(rng: random.Random, rows: int) -> list[tuple[Any, ...]]:
    def quarter() -> np.float32:
        return np.float32(rng.randint(-16, 16) / 4)

    return [
        (np.int32(rng.randint(-1, 4)), np.int32(rng.randint(-2, 4)), quarter(), quarter(), np.array([quarter() for _ in range(rows)], np.float32))
        for _ in range(3)
    ]


COUNTER = re.compile(r"\bc\d+\b")
