"""Compare the dataflow facts with what CPython 3.11's bytecode says, on random functions.

Liveness must miss no name that the bytecode may read; what counts as surely bound must be bound in the bytecode; both must nearly always be equal.
"""

from __future__ import annotations

import argparse
import ast
import platform
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import oracle

from autograph.analysis.facts import Bound, Liveness
from autograph.trees import syntax

NAMES = "abcdef"
PARAMETERS = ("a, b", "a, *b", "a, /, b=0, *, c=1", "*a, **b", "")
SHOWN = 3  # wrong programs that are printed
IMPRECISE = 0.04  # the share of statements that may be imprecise


class Generator:
    """A random function that compiles, and how often each construct occurs in it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.lines: list[str] = []
        self.left = self.random.randint(3, 40)  # statements
        self.hidden: list[str] = []  # targets of the comprehensions around
        self.walrus_allowed = True
        self.within: list[str] = []  # the blocks around that limit jumps

    def function(self) -> str:
        self.lines = [f"def fn({self.random.choice(PARAMETERS)}):"]
        while self.left > 0:
            self.block(1, 4)
            if self.random.random() < 0.5:
                break
        return "\n".join(self.lines) + "\n"

    # Expressions

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def name(self) -> str:
        return self.random.choice(NAMES)

    def count(self, construct: str, text: str) -> str:
        self.counts[construct] += 1
        return text

    def expr(self, depth: int = 2) -> str:
        """An expression to stand anywhere: in parentheses where it needs them."""
        if depth <= 0 or self.chance(0.45):
            return self.atom()
        d = depth - 1
        kinds: list[tuple[float, Callable[[], str]]] = [
            (3, lambda: f"call({', '.join(self.expr(d) for _ in range(self.random.randint(0, 2)))})"),
            (1, lambda: self.count("call with stars", f"call(*{self.expr(d)}, k={self.expr(d)}, **{self.expr(d)})")),
            (1, lambda: f"({self.expr(d)} + {self.expr(d)})"),
            (1, lambda: self.count("lazy operands", f"({self.expr(d)} {self.random.choice(['and', 'or'])} {self.expr(d)})")),
            (0.5, lambda: self.count("lazy operands", f"({self.expr(d)} and {self.expr(d)} or {self.expr(d)})")),
            (1, lambda: self.count("ternary", f"({self.expr(d)} if {self.expr(d)} else {self.expr(d)})")),
            (0.7, lambda: self.count("comparison", f"({self.expr(d)} < {self.expr(d)})")),
            (0.7, lambda: self.count("chained comparison", f"({self.expr(d)} < {self.expr(d)} <= {self.expr(d)})")),
            (0.7, lambda: self.count("not", f"(not {self.expr(d)})")),
            (0.5, lambda: self.count("dict display", f"{{{self.expr(d)}: {self.expr(d)}, {self.expr(d)}: {self.expr(d)}}}")),
            (0.3, lambda: self.count("set display", f"{{{self.expr(d)}, {self.expr(d)}}}")),
            (0.5, lambda: self.count("f-string", f"f'{{{self.name()}!r:{{{self.name()}}}}}'")),
            (0.5, lambda: f"{self.name()}[{self.expr(d)}:{self.expr(d)}].attr"),
            (2.5, lambda: self.walrus(d)),
            (1.5, lambda: self.comprehension(d)),
            (0.8, lambda: self.lambda_(d)),
        ]
        return self.random.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()

    def atom(self) -> str:
        return self.random.choices([self.name(), str(self.random.randint(2, 9)), f"call({self.name()})"], [6, 1, 3])[0]

    def walrus(self, depth: int) -> str:
        free = [n for n in NAMES if n not in self.hidden]
        if not self.walrus_allowed or not free:
            return self.atom()
        return self.count("walrus in a comprehension" if self.hidden else "walrus", f"({self.random.choice(free)} := {self.expr(depth)})")

    def comprehension(self, depth: int) -> str:
        hidden, allowed = list(self.hidden), self.walrus_allowed
        clauses = ""
        targets = []
        for _ in range(self.random.choice([1, 1, 2])):
            target = self.target(depth=self.random.choice([0, 0, 1]), simple=True)
            self.hidden += [n for n in NAMES if n in target]
            targets.append(target)
        for target in targets:
            self.walrus_allowed = False
            clauses += f" for {target} in {self.expr(depth)}"
            self.walrus_allowed = allowed
            if self.chance(0.4):
                clauses += f" if {self.expr(depth)}"
        kind = self.random.choice(["list", "set", "dict", "generator"])
        element = self.expr(depth) if kind != "dict" else f"{self.expr(depth)}: {self.expr(depth)}"
        self.count("nested comprehension" if hidden else f"{kind} comprehension", "")
        self.hidden, self.walrus_allowed = hidden, allowed
        left, right = {"list": "[]", "set": "{}", "dict": "{}", "generator": "()"}[kind]
        return left + element + clauses + right

    def lambda_(self, depth: int) -> str:
        default = f"={self.expr(depth)}" if self.chance(0.4) else ""
        return self.count("lambda", f"(lambda {self.name()}{default}: {self.expr(depth)})")

    def target(self, depth: int = 2, simple: bool = False) -> str:
        """What can be assigned; only names if `simple`."""
        kind = self.random.random()
        if depth > 0 and kind < 0.3:
            return self.count("tuple target", f"({self.target(depth - 1, simple)}, {self.target(depth - 1, simple)})")
        if depth > 0 and kind < 0.45:
            return self.count("starred target", f"[{self.target(depth - 1, simple)}, *{self.target(0, simple)}]")
        if not simple and kind > 0.9:
            return self.count("item or attribute target", self.random.choice([f"{self.name()}[{self.atom()}]", f"{self.name()}.attr"]))
        return self.name()

    def pattern(self, names: list[str], depth: int = 2) -> str:
        """A pattern that may fail and that captures exactly these names."""
        r = self.random
        if not names:
            return r.choice(["1", "None", "Kind()", f"{self.name()}.value", "[_, *_]", "(1 | 2)", f"{self.name()}()"])
        if depth > 0 and self.chance(0.25):
            return self.count("or-pattern", f"({self.pattern(names, 0)} | {self.pattern(names, 0)})")
        if depth > 0 and self.chance(0.2):
            return self.count("as-pattern", f"({self.pattern(names[1:], depth - 1)} as {names[0]})")
        *others, last = names
        inside = "1" if not others else others[0] if len(others) == 1 else self.pattern(others, depth - 1)
        kinds = {
            "sequence pattern": f"[{inside}, {last}]",
            "star pattern": f"[{inside}, *{last}]",
            "class pattern": f"Kind({inside}, k={last})",
            "mapping rest": f"{{{r.choice(['0', f'{self.name()}.key'])}: {inside}, **{last}}}",
            "mapping pattern": f"{{'k': {inside}, 'm': {last}}}",
        }
        kind = r.choice(list(kinds))
        return self.count(kind, kinds[kind])

    def condition(self) -> str:
        if self.chance(0.06):
            return self.count("constant condition", self.random.choice(["True", "1", "False", "None"]))
        return self.expr(3)

    # Statements

    def put(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int, within: str | None = None) -> None:
        if within is not None:
            self.within.append(within)
        for _ in range(self.random.randint(1, 3)):
            if self.left <= 0 and not self.lines[-1].endswith(":"):
                break
            self.left -= 1
            if depth > 0 and self.chance(0.5):
                self.compound(indent, depth - 1)
            elif not self.simple(indent) and self.chance(0.9):
                break  # a statement after a jump is seldom of interest
        if within is not None:
            self.within.pop()

    def simple(self, indent: int) -> bool:
        """Write a simple statement; whether control may fall through."""
        loops = [w for w in self.within if w in ("loop", "star")]
        jumps = bool(loops) and loops[-1] == "loop"
        kinds: list[tuple[str, float, Callable[[], str]]] = [
            ("assignment", 7, lambda: f"{self.name()} = {self.expr()}"),
            ("assignment of a constant", 1, lambda: f"{self.name()} = {self.random.randint(0, 9)}"),
            ("assignment to targets", 2, lambda: f"{self.target()} = {self.expr()}"),
            ("assignment in a chain", 0.7, lambda: f"{self.target()} = {self.target()} = {self.expr()}"),
            ("augmented assignment", 1.5, lambda: f"{self.random.choice([self.name(), f'{self.name()}[{self.expr(1)}]'])} += {self.expr()}"),
            ("annotated assignment", 0.7, lambda: f"{self.name()}: {self.name()} = {self.expr()}"),
            ("bare annotation", 0.7, lambda: f"{self.name()}: {self.name()}"),
            ("expression", 2, lambda: self.expr(3)),
            ("del", 1.2, lambda: f"del {self.name()}"),
            ("del of several", 0.5, lambda: f"del {self.name()}, {self.random.choice([self.name(), f'{self.name()}[{self.expr(1)}]'])}"),
            ("pass", 0.4, lambda: "pass"),
            ("assert", 0.6, lambda: f"assert {self.expr()}, {self.expr(1)}"),
            ("import", 0.4, lambda: f"import {self.random.choice(['a', 'b.c', f'm as {self.name()}', f'm.n as {self.name()}'])}"),
            ("from import", 0.4, lambda: f"from m import {self.name()}, x as {self.name()}"),
            ("return", 1.0 if "star" not in self.within else 0, lambda: self.random.choice(["return", f"return {self.expr()}", "return 1"])),
            ("raise", 0.9, lambda: self.random.choice(["raise", f"raise {self.expr()}", f"raise {self.expr(1)} from {self.expr(1)}"])),
            ("break", 1.5 if jumps else 0, lambda: "break"),
            ("continue", 1.2 if jumps else 0, lambda: "continue"),
            ("nested def", 0.4, lambda: f"def {self.name()}({self.name()}={self.expr(1)}, *k: {self.name()}): return {self.expr()}"),
        ]
        kind, _, make = self.random.choices(kinds, [weight for _, weight, _ in kinds])[0]
        self.put(indent, self.count(kind, make()))
        return kind not in ("return", "raise", "break", "continue")

    def compound(self, indent: int, depth: int) -> None:
        write = self.random.choices([self.if_, self.while_, self.for_, self.with_, self.try_, self.match_], [3, 2, 2, 1.5, 2.5, 1.5])[0]
        write(indent, depth)

    def else_(self, indent: int, depth: int, share: float, of: str) -> None:
        if self.chance(share):
            self.put(indent, self.count(f"else of {of}", "else:"))
            self.block(indent + 1, depth)

    def if_(self, indent: int, depth: int) -> None:
        self.put(indent, self.count("if", f"if {self.condition()}:"))
        self.block(indent + 1, depth)
        if self.chance(0.2):
            self.put(indent, self.count("elif", f"elif {self.condition()}:"))
            self.block(indent + 1, depth)
        self.else_(indent, depth, 0.5, "if")

    def while_(self, indent: int, depth: int) -> None:
        forever = self.chance(0.15)
        self.put(indent, self.count("while True" if forever else "while", f"while {'True' if forever else self.condition()}:"))
        self.block(indent + 1, depth, "loop")
        self.else_(indent, depth, 0.3, "while")

    def for_(self, indent: int, depth: int) -> None:
        target = self.target()
        self.put(indent, self.count("for" if target in NAMES else "for with targets", f"for {target} in {self.expr()}:"))
        self.block(indent + 1, depth, "loop")
        self.else_(indent, depth, 0.3, "for")

    def with_(self, indent: int, depth: int) -> None:
        items = []
        for _ in range(self.random.choice([1, 1, 2])):
            named = self.chance(0.5)
            items.append(self.count("with as" if named else "with", self.expr(1) + (f" as {self.target()}" if named else "")))
        self.put(indent, f"with {', '.join(items)}:")
        self.block(indent + 1, depth)

    def try_(self, indent: int, depth: int) -> None:
        self.put(indent, self.count("try", "try:"))
        self.block(indent + 1, depth)
        caught = self.chance(0.85)
        star = caught and self.chance(0.1)
        if caught:
            bare = not star and self.chance(0.25)
            for _ in range(self.random.choice([0, 1] if bare else [1, 1, 2])):
                name = self.count("except as", f" as {self.name()}") if self.chance(0.4) else ""
                keyword = "except*" if star else "except"
                self.put(indent, self.count(keyword, f"{keyword} {self.random.choice(['Error', self.expr(1)])}{name}:"))
                self.block(indent + 1, depth, "star" if star else None)
            if bare:
                self.put(indent, self.count("bare except", "except:"))
                self.block(indent + 1, depth)
            self.else_(indent, depth, 0.3, "try")
        if not caught or self.chance(0.35):
            self.put(indent, self.count("finally", "finally:"))
            self.block(indent + 1, depth)

    def match_(self, indent: int, depth: int) -> None:
        self.put(indent, self.count("match", f"match {self.expr()}:"))
        cases = self.random.randint(1, 3)
        for k in range(cases):
            guard = self.count("guard", f" if {self.expr()}") if self.chance(0.3) else ""
            names = self.random.sample(NAMES, self.random.randint(0, 3))
            pattern = self.pattern(names)
            if (guard or k == cases - 1) and self.chance(0.4):
                pattern = self.count("case that always matches", self.random.choice(["_", self.name()]))
            self.put(indent + 1, self.count("case", f"case {pattern}{guard}:"))
            self.block(indent + 2, depth)


@dataclass
class Tally:
    """How one fact compares over all statements."""

    equal: int = 0
    imprecise: int = 0
    wrong: int = 0
    examples: list[str] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)

    def add(self, mine: frozenset[str] | None, theirs: frozenset[str] | None, wrong: bool, where: str, source: str) -> None:
        if mine == theirs:
            self.equal += 1
            return
        text = f"{where}: {shown(mine)}, bytecode: {shown(theirs)}\n{source}"
        if wrong:
            self.wrong += 1
            self.examples.append(text)
        else:
            self.imprecise += 1
            self.loose.append(text)
        del self.examples[SHOWN:], self.loose[SHOWN:]

    @property
    def share(self) -> float:
        return self.imprecise / max(1, self.equal + self.imprecise + self.wrong)

    def __str__(self) -> str:
        return f"equal {self.equal}, imprecise {self.imprecise} ({self.share:.2%}), wrong {self.wrong}"


def shown(names: frozenset[str] | None) -> str:
    return "never reached" if names is None else "{" + ", ".join(sorted(names)) + "}"


def compare(source: str, live: Tally, bound: Tally) -> int:
    """Compare both facts before each statement of the first function in `source`; how many statements there are."""
    fn = ast.parse(source).body[0]
    assert isinstance(fn, ast.FunctionDef)
    tree = syntax.read(fn)
    given = frozenset(syntax.parameter_names(tree.args))
    liveness, binding = Liveness(tree.body), Bound(tree.body, given)
    mine = {(stmt.lineno, stmt.col_offset): stmt for stmt in binding.before}
    local = oracle.local_names(fn)
    theirs = oracle.facts(fn)
    assert mine.keys() == theirs.keys(), "the statements differ"
    for place, fact in theirs.items():
        stmt, where = mine[place], f"line {place[0]}"
        before = binding.before[stmt]
        if fact is None:  # what is live where control never comes has no meaning
            bound.add(before, None, False, f"bound at {where}", source)
        else:
            bound.add(before, fact.bound, before is None or not before <= fact.bound, f"bound at {where}", source)
            alive = liveness.before[stmt] & local
            live.add(alive, fact.live, not alive >= fact.live, f"live at {where}", source)
    return len(theirs)


def campaign(programs: int, seed: int) -> tuple[int, Counter[str], Tally, Tally]:
    """The number of statements, the constructs in them, and how liveness and definite assignment compare."""
    statements, counts, live, bound = 0, Counter[str](), Tally(), Tally()
    for k in range(programs):
        generator = Generator(seed * 1_000_003 + k)
        statements += compare(generator.function(), live, bound)
        counts += generator.counts
    return statements, counts, live, bound


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--imprecise", action="store_true", help="print programs with imprecise facts as well")
    options = parser.parse_args()
    if not oracle.AVAILABLE:
        print(f"nothing compared: {oracle.REASON}, and this is {platform.python_implementation()} {platform.python_version()}")
        return 0
    statements, counts, live, bound = campaign(options.programs, options.seed)
    print(f"seed {options.seed}: {options.programs} programs, {statements} statements")
    for construct, count in counts.most_common():
        print(f"  {count:7} {construct}")
    failed = False
    for fact, tally in (("live", live), ("surely bound", bound)):
        print(f"{fact}: {tally}")
        failed |= tally.wrong > 0 or tally.share > IMPRECISE
    for tally in (live, bound):
        for example in tally.examples + (tally.loose if options.imprecise else []):
            print("\n" + example)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
