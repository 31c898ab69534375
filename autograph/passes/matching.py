"""Lower `match` to `if`, so that traced values may decide which case runs.

    match op:                        if op == 0:
        case 0: A                        A
        case 1 | 2: B          =>    elif op == 1 or op == 2:
        case n if n > 5: C               B
        case _: D                    else:
                                         n = op
                                         if n > 5: C
                                         else: D

The structure of a pattern (sequences, mappings, classes) is left to Python's own `match`; the values in it are captured and compared after:

    case Point(x=0, y=n): A    =>    match op:
                                         case Point(x=value, y=held): matched = value == 0
                                         case _: matched = False
                                     if matched:
                                         n = held
                                         A
"""

from __future__ import annotations

from itertools import product
from typing import Any

from autograph.analysis.names import binds, binds_all
from autograph.passes.context import Context
from autograph.trees import syntax as s
from autograph.trees.quote import quote, quote_expr

_VALUES = (s.MatchValue, s.MatchSingleton)
Bound = list[tuple[str, Any]]  # names and the expressions that they are bound to when the pattern has matched


def lower_matches(fn: Any, context: Context) -> bool:
    if s.Match not in context.fresh.kinds:
        return False
    fn.body = _block(fn.body, context)
    return True


def _block(block: list[Any], context: Context) -> list[Any]:
    out: list[Any] = []
    for stmt in block:
        if not isinstance(stmt, s.SCOPES):
            for inner in s.blocks(stmt):
                inner[:] = _block(inner, context)
        out += _Matching(stmt, context).lowered() if isinstance(stmt, s.Match) and any(map(_compares, stmt.cases)) else [stmt]
    return out


def _compares(case: Any) -> bool:
    """Whether values decide if a case is taken, not structure alone."""
    return case.guard is not None or any(isinstance(p, _VALUES) for p in s.walk(case.pattern))


class _Matching:
    def __init__(self, stmt: Any, context: Context) -> None:
        self.stmt, self.context = stmt, context
        self.fresh = context.fresh
        self.flags: set[str] = set()

    def lowered(self) -> list[Any]:
        stmt = self.stmt
        first, self.subject = self._named(stmt.subject)
        return [*first, *self._from(0)] or quote("pass", stmt)

    def _named(self, subject: Any) -> tuple[list[Any], Any]:
        """The subject as an expression that may be evaluated again: names, or a tuple of them."""
        rebound = binds_all([c.pattern for c in self.stmt.cases] + [c.guard for c in self.stmt.cases if c.guard is not None])
        if isinstance(subject, s.Constant):
            return [], subject
        if isinstance(subject, s.Name) and subject.id not in rebound:
            unsure = any(subject in nodes for nodes in self.context.unsure.values())  # then it is read here, whatever the patterns look at
            return (quote("$read", subject, read=subject), s.copy(subject)) if unsure else ([], subject)
        if isinstance(subject, s.Tuple) and not any(isinstance(e, s.Starred) for e in subject.elts):
            parts = [self._named(e) if isinstance(e, s.Name) else self._held(e) for e in subject.elts]
            return [q for before, _ in parts for q in before], s.at(s.Tuple([e for _, e in parts], s.Load()), subject)
        return self._held(subject)

    def _held(self, value: Any) -> tuple[list[Any], Any]:
        name = self.fresh("subject")
        return quote("$name = $value", value, name=name, value=value), s.at(s.name(name), value)

    def _from(self, k: int) -> list[Any]:
        """The statements of the cases from the k-th on."""
        if k == len(self.stmt.cases):
            return []
        case = self.stmt.cases[k]
        found = _simple(case.pattern, self.subject)
        if found is None:
            before, test, bound = self._structured(case.pattern)
        else:
            before, (test, bound) = [], found
        if case.guard is not None:
            guarded, test = self._guarded(test, bound, case)
            before += guarded
        else:
            case.body[:0] = _assigned(bound, case.pattern)
        if test is None:
            return [*before, *case.body]
        rest = self._from(k + 1)
        template = "if $test:\n    $body\nelse:\n    $rest" if rest else "if $test:\n    $body"
        holes = {"rest": rest} if rest else {}
        return [*before, *quote(template, case.pattern, test=test, body=case.body, **holes)]

    def _guarded(self, test: Any, bound: Bound, case: Any) -> tuple[list[Any], Any]:
        """What comes before a case with a guard, and its test: names are bound when the pattern has matched, before the guard."""
        if not bound:
            return [], case.guard if test is None else s.at(s.BoolOp(s.And(), [test, case.guard]), case.pattern)
        names = _assigned(bound, case.pattern)
        if test is None:
            return names, case.guard
        if isinstance(test, s.Name) and test.id in self.flags:
            matched, before = test.id, []
        else:
            matched = self.fresh("matched")
            before = quote("$matched = $test", case.pattern, matched=matched, test=test)
        return [
            *before,
            *quote("if $matched:\n    $names\n    $matched = $guard", case.pattern, matched=matched, names=names, guard=case.guard),
        ], s.at(s.name(matched), case.pattern)

    def _structured(self, pattern: Any) -> tuple[list[Any], Any, Bound]:
        """Python's own `match` on the structure of a pattern, a flag, and what the pattern binds."""
        matched = self.fresh("matched")
        self.flags.add(matched)
        held = {name: self.fresh("held") for name in sorted(binds(pattern))}
        out: list[Any] = []
        for k, alternative in enumerate(_alternatives(pattern)):
            new = self._alternative(alternative, matched, held)
            out += new if k == 0 else quote("if not $matched:\n    $new", pattern, matched=matched, new=new)
        return out, s.at(s.name(matched), pattern), [(name, s.at(s.name(place), pattern)) for name, place in held.items()]

    def _alternative(self, pattern: Any, matched: str, held: dict[str, str]) -> list[Any]:
        if (found := _simple(pattern, self.subject)) is not None:
            test, bound = found
            names = [q for name, value in bound for q in quote("$held = $value", pattern, held=held[name], value=s.copy(value))]
            return [*names, *quote("$matched = $test", pattern, matched=matched, test=s.at(s.constant(True), pattern) if test is None else test)]
        tests: list[Any] = []
        structure = self._structure(s.copy(pattern), held, tests)
        test = s.at(s.constant(True), pattern) if not tests else tests[0] if len(tests) == 1 else s.at(s.BoolOp(s.And(), tests), pattern)
        names = list(held.values())
        blanks = [s.at(s.runtime("blank"), pattern) for _ in names]
        other = quote("$matched, $names = False, $blanks", pattern, matched=matched, names=names, blanks=blanks)
        cases = [
            s.match_case(structure, None, quote("$matched = $test", pattern, matched=matched, test=test)),
            s.match_case(s.at(s.MatchAs(None, None), pattern), None, other if names else quote("$matched = False", pattern, matched=matched)),
        ]
        return [s.at(s.Match(s.copy(self.subject), cases), pattern)]

    def _structure(self, pattern: Any, held: dict[str, str], tests: list[Any]) -> Any:
        """A pattern whose values are captured instead of compared; the comparisons are added to `tests`."""
        match pattern:
            case s.MatchValue() | s.MatchSingleton() | s.MatchOr():
                name = self.fresh("value")
                test = _test(pattern, s.at(s.name(name), pattern))
                assert test is not None
                tests.append(test)
                return s.at(s.MatchAs(None, name), pattern)
            case s.MatchStar():
                pattern.name = held.get(pattern.name)
            case s.MatchAs():
                pattern.name = held.get(pattern.name)
                pattern.pattern = pattern.pattern and self._structure(pattern.pattern, held, tests)
            case s.MatchSequence() | s.MatchMapping():
                pattern.patterns = [self._structure(p, held, tests) for p in pattern.patterns]
                if isinstance(pattern, s.MatchMapping):
                    pattern.rest = held.get(pattern.rest)
            case s.MatchClass():
                pattern.patterns = [self._structure(p, held, tests) for p in pattern.patterns]
                pattern.kwd_patterns = [self._structure(p, held, tests) for p in pattern.kwd_patterns]
        return pattern


def _assigned(bound: Bound, at: Any) -> list[Any]:
    return [q for name, value in bound for q in quote("$name = $value", at, name=name, value=s.copy(value))]


def _simple(pattern: Any, subject: Any) -> tuple[Any, Bound] | None:
    """The test of a pattern without structure (None: it always matches) and what it binds; of a tuple display, element by element."""
    match pattern:
        case s.MatchAs(pattern=None, name=None):
            return None, []
        case s.MatchAs(pattern=None, name=name):
            return None, [(name, subject)]
        case s.MatchAs(pattern=inner, name=name):
            found = _simple(inner, subject)
            return found and (found[0], [*found[1], (name, subject)])
        case s.MatchSequence(patterns=patterns) if isinstance(subject, s.Tuple) and not any(isinstance(p, s.MatchStar) for p in patterns):
            if len(patterns) != len(subject.elts):
                return s.at(s.constant(False), pattern), []
            parts = [_simple(p, e) for p, e in zip(patterns, subject.elts, strict=True)]
            known = [p for p in parts if p is not None]
            if len(known) != len(parts):
                return None
            tests = [test for test, _ in known if test is not None]
            bound = [b for _, names in known for b in names]
            return (None if not tests else tests[0] if len(tests) == 1 else s.at(s.BoolOp(s.And(), tests), pattern)), bound
    if isinstance(subject, s.Tuple) or (test := _test(pattern, subject)) is None:
        return None
    return test, []


def _test(pattern: Any, subject: Any) -> Any | None:
    """`subject == value` for a value, a singleton or alternatives of them; None for other patterns."""
    match pattern:
        case s.MatchValue(value=value):
            return quote_expr("$subject == $value", pattern, subject=s.copy(subject), value=s.copy(value))
        case s.MatchSingleton(value=value):
            return quote_expr("$subject is $value", pattern, subject=s.copy(subject), value=s.at(s.constant(value), pattern))
        case s.MatchOr(patterns=patterns):
            tests = [_test(p, subject) for p in patterns]
            return None if any(t is None for t in tests) else s.at(s.BoolOp(s.Or(), tests), pattern)
    return None


def _alternatives(pattern: Any) -> list[Any]:
    """The patterns without alternatives of structure that a pattern stands for, in the order in which Python tries them."""
    match pattern:
        case s.MatchOr(patterns=patterns) if _test(pattern, s.constant(None)) is None:
            return [a for p in patterns for a in _alternatives(p)]
        case s.MatchAs(pattern=inner, name=name) if inner is not None:
            return [s.at(s.MatchAs(a, name), pattern) for a in _alternatives(inner)]
        case s.MatchSequence(patterns=patterns):
            return [s.at(s.MatchSequence(list(ps)), pattern) for ps in product(*map(_alternatives, patterns))]
        case s.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            return [s.at(s.MatchMapping(keys, list(ps), rest), pattern) for ps in product(*map(_alternatives, patterns))]
        case s.MatchClass(cls=cls, patterns=patterns, kwd_attrs=attrs, kwd_patterns=others):
            n = len(patterns)
            return [
                s.at(s.MatchClass(cls, list(ps[:n]), attrs, list(ps[n:])), pattern) for ps in product(*map(_alternatives, [*patterns, *others]))
            ]  # fmt: skip
    return [pattern]
