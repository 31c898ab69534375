"""What is live and what is surely bound before a statement, by hand, and as CPython's bytecode has it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

from autograph.analysis.facts import Bound, Liveness
from autograph.trees import syntax


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("facts_" + Path(path).stem, Path(__file__).parents[1] / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


oracle = load("oracle.py")
on_311 = pytest.mark.skipif(not oracle.AVAILABLE, reason=oracle.REASON)

# Of each function the statement marked with `# here`: what is live and what is surely bound before it.  None: it is never reached.
ROWS: dict[str, tuple[str, str, str | None]] = {
    "assignment kills": ("def fn(a, b):\n  a = b  # here\n  return a", "b", "a b"),
    "augmented assignment reads": ("def fn(a, b):\n  a += b  # here\n  return a", "a b", "a b"),
    "annotation of a local is not read": ("def fn(a, b):\n  a: b = 1  # here\n  return a", "", "a b"),
    "bare annotation binds nothing": ("def fn(a):\n  x: a\n  return x  # here", "x", "a"),
    "all kinds of parameters": ("def fn(a, /, b, *c, d=1, **e):\n  return d  # here", "d", "a b c d e"),
    "tuple target": ("def fn(a):\n  x, (y, *z) = a\n  return x, z  # here", "x z", "a x y z"),
    "item target reads": ("def fn(a, i):\n  a[i] = 1  # here\n  return a", "a i", "a i"),
    "one branch": ("def fn(a):\n  if a:\n    x = 1\n  return x  # here", "x", "a"),
    "both branches": ("def fn(a):\n  if a:\n    x = 1\n  else:\n    x = 2\n  return x  # here", "x", "a x"),
    "branch that leaves": ("def fn(a):\n  if a:\n    return\n  else:\n    x = 2\n  return x  # here", "x", "a x"),
    "after return": ("def fn(a):\n  return a\n  a = 1  # here", "", None),
    "constant condition": ("def fn(a):\n  if False:\n    a = 1  # here\n  return a", "a", None),
    "loop carries": ("def fn(a, n):\n  while n:  # here\n    a = a + 1\n  return 0", "a n", "a n"),
    "loop overwrites": ("def fn(a, n):\n  while n:  # here\n    a = 1\n    n = a\n  return 0", "n", "a n"),
    "loop may not run": ("def fn(n):\n  for x in n:\n    pass\n  return x  # here", "x", "n"),
    "for target is bound in the body": ("def fn(n):\n  for x, y in n:\n    x  # here", "x", "n x y"),
    "else of a loop without break": ("def fn(n):\n  for _ in n:\n    pass\n  else:\n    x = 1\n  return x  # here", "x", "n x"),
    "else of a loop with break": ("def fn(n):\n  for _ in n:\n    break\n  else:\n    x = 1\n  return x  # here", "x", "n"),
    "del in a loop": ("def fn(a, n):\n  for _ in n:\n    n  # here\n    del a", "a n", "n _"),
    "while True binds before break": ("def fn(a):\n  while True:\n    x = a()\n    if x:\n      break\n  return x  # here", "x", "a x"),
    "while True never ends": ("def fn(a, b):\n  while True:  # here\n    a()\n  return b", "a", "a b"),
    "after while True": ("def fn(a, b):\n  while True:\n    a()\n  return b  # here", "b", None),
    "break takes what is live after": ("def fn(a, n):\n  x = 1\n  while n:\n    if a:\n      break  # here\n    x = 2\n  return x", "x", "a n x"),
    "continue takes what is live at the head": ("def fn(a, n):\n  while n:\n    if a:\n      continue  # here\n    a = 2\n  return 1", "a n", "a n"),
    "del reads and unbinds": ("def fn(a):\n  del a  # here\n  return a", "a", "a"),
    "del unbinds": ("def fn(a):\n  del a\n  return a  # here", "a", ""),
    "with suppresses: not bound": ("def fn(a):\n  with a:\n    x = a()\n  return x  # here", "x", "a"),
    "with suppresses: live": ("def fn(a, x):\n  with a:\n    x = a()  # here\n  return x", "a x", "a x"),
    "with suppresses a return": ("def fn(a):\n  with a:\n    return a()\n  return 1  # here", "", "a"),
    "with binds before the body": ("def fn(a):\n  with a as (x, y):\n    x = y  # here\n  return a", "a y", "a x y"),
    "second with item is inside the first": ("def fn(a, x):\n  with a, a() as x:  # here\n    pass\n  return x", "a x", "a x"),
    "try: the handler sees what was bound before": ("def fn(a):\n  try:\n    x = a()\n  except E:\n    a = x  # here", "x", "a"),
    "try: live in the handler": ("def fn(a, x):\n  try:\n    x = a()  # here\n  except E:\n    return x", "a x", "a x"),
    "try: bound before the first statement that may raise": ("def fn(a):\n  try:\n    x = 1\n    a()\n  except E:\n    return x  # here", "x", "a x"),
    "try: a handler that leaves": ("def fn(a):\n  try:\n    x = a()\n  except E:\n    return\n  return x  # here", "x", "a x"),
    "try: nothing raises": ("def fn(a):\n  try:\n    pass\n  except E:\n    a = 1  # here", "", None),
    "except as binds": ("def fn(a):\n  try:\n    a()\n  except E as x:\n    a = x  # here", "x", "a x"),
    "except as unbinds": ("def fn(a, x):\n  try:\n    a()\n  except E as x:\n    pass\n  return x  # here", "x", "a"),
    "except as kills": ("def fn(a, x):\n  try:\n    a()\n  except E as x:\n    a = 1  # here\n  return x", "", "a x"),
    "bare except catches all": (
        "def fn(a, b):\n  try:\n    try:\n      a()  # here\n    except:\n      return 1\n  except E:\n    return b\n  return 2", "a", "a b",
    ),
    "except star goes on": ("def fn(a):\n  try:\n    a()\n  except* E:\n    x = 1\n  except* F:\n    a = x  # here", "x", "a"),
    "finally after a return": ("def fn(a, b):\n  try:\n    return a()  # here\n  finally:\n    b()", "a b", "a b"),
    "finally runs before anything is bound": ("def fn(a):\n  try:\n    x = a()\n  finally:\n    a()  # here\n  return x", "a x", "a"),
    "finally keeps what falls through": ("def fn(a):\n  try:\n    x = a()\n  finally:\n    y = 1\n  return x, y  # here", "x y", "a x y"),
    "finally that returns": ("def fn(a, b):\n  try:\n    a()  # here\n  finally:\n    return 1\n  return b", "a", "a b"),
    "finally only on the way of a return": ("def fn(a, b):\n  try:\n    return a\n  finally:\n    a = 1  # here\n  return b", "", "a b"),
    "finally on the way of a break": (
        "def fn(a, x):\n  for _ in a:\n    try:\n      break\n    finally:\n      x = 1\n  else:\n    x = 2\n  return x  # here", "x", "a x",
    ),
    "match: captured on success only": ("def fn(a):\n  match a:\n    case [x, *y]:\n      pass\n  return x  # here", "x", "a"),
    "match: captured in the case": ("def fn(a):\n  match a:\n    case {'k': x, **y}:\n      a = y  # here\n  return a", "y", "a x y"),
    "match: or-pattern": ("def fn(a):\n  match a:\n    case [x] | (1 as x):\n      return x  # here", "x", "a x"),
    "match: wildcard last": ("def fn(a):\n  match a:\n    case 1:\n      x = 1\n    case _:\n      x = 2\n  return x  # here", "x", "a x"),
    "match: wildcard with a guard": ("def fn(a):\n  match a:\n    case _ if a():\n      x = 2\n  return x  # here", "x", "a"),
    "match: a guard sees the capture": ("def fn(a, x):\n  match a:  # here\n    case [x] if x:\n      return x", "a", "a x"),
    "match: a failed guard keeps the capture": ("def fn(a):\n  match a:\n    case x if a():\n      return 1\n  return x  # here", "x", "a x"),
    "match: value pattern reads": ("def fn(a, b):\n  match a:  # here\n    case b.x:\n      return 1", "a b", "a b"),
    "walrus": ("def fn(a):\n  a((x := a()), x)  # here\n  return x", "a", "a"),
    "walrus in a condition": ("def fn(a, x):\n  while (x := a()) and x > 1:  # here\n    pass", "a", "a x"),
    "walrus in a right operand, holds": ("def fn(a):\n  if a and (x := a()):\n    return x  # here", "x", "a x"),
    "walrus in a right operand, fails": ("def fn(a):\n  if a and (x := a()):\n    return 1\n  return x  # here", "x", "a"),
    "walrus in a negated condition": ("def fn(a):\n  if not (a and (x := a())):\n    return 1\n  return x  # here", "x", "a x"),
    "walrus in a right operand, live": ("def fn(a, x):\n  y = a or (x := a())  # here\n  return x, y", "a x", "a x"),
    "walrus in a ternary": ("def fn(a):\n  y = (x := 1) if a else (x := 2)\n  return x, y  # here", "x y", "a x y"),
    "walrus in one arm": ("def fn(a):\n  y = (x := 1) if a else 2\n  return x, y  # here", "x y", "a y"),
    "walrus in a chained comparison": ("def fn(a):\n  y = a < (x := 1) < (z := 2)\n  return x, y, z  # here", "x y z", "a x y"),
    "walrus in a comprehension": ("def fn(a):\n  y = [x for i in a if (x := i)]\n  return x, y  # here", "x y", "a y"),
    "walrus in a default": ("def fn(a):\n  y = lambda p=a and (x := 1): p\n  return x, y  # here", "x y", "a y"),
    "walrus before a key": ("def fn(a, x):\n  return {a: x, (x := a()): x}  # here", "a x", "a x"),
    "comprehension target is its own": ("def fn(a, i):\n  y = [i for i in a]  # here\n  return y", "a", "a i"),
    "comprehension reads its condition": ("def fn(a, b):\n  return {i: j for i in a for j in i if b}  # here", "a b", "a b"),
    "a closure reads where it is made": ("def fn(a, b):\n  return lambda c: lambda: b + c  # here", "b", "a b"),
    "a nested function reads its defaults and annotations": ("def fn(a, b):\n  def g(c: a = b): pass  # here\n  return g", "a b", "a b"),
    "import binds": ("def fn(a):\n  import x.y, z as w\n  return x, w  # here", "w x", "a w x"),
    "assert binds": ("def fn(a):\n  assert a and (x := a()), a\n  return x  # here", "x", "a x"),
    "assert of a constant": ("def fn(a, b):\n  assert False, a  # here\n  return b", "a", "a b"),
}  # fmt: skip


def names(text: str | None) -> frozenset[str] | None:
    return None if text is None else frozenset(text.split())


def tree(source: str) -> tuple[ast.FunctionDef, int]:
    """The function and the line of the statement in question."""
    fn = ast.parse(dedent(source)).body[0]
    assert isinstance(fn, ast.FunctionDef)
    return fn, next(k for k, line in enumerate(source.splitlines(), 1) if line.endswith("# here"))


def facts(fn: Any) -> tuple[Liveness, Bound]:
    return Liveness(fn.body), Bound(fn.body, frozenset(syntax.parameter_names(fn.args)))


@pytest.mark.parametrize("row", ROWS)
def test_by_hand(row: str) -> None:
    source, live, bound = ROWS[row]
    fn, line = tree(source)
    liveness, binding = facts(syntax.read(fn))
    stmt = next(stmt for stmt in binding.before if stmt.lineno == line)
    local = {n.id for n in ast.walk(fn) if isinstance(n, ast.Name)} - {"E", "F"}
    assert binding.before[stmt] == names(bound)
    if bound is not None:
        assert liveness.before[stmt] & local == names(live)


@on_311
@pytest.mark.parametrize("row", ROWS)
def test_by_bytecode(row: str) -> None:
    source, live, bound = ROWS[row]
    fn, line = tree(source)
    fact = next(fact for (at, _), fact in oracle.facts(fn).items() if at == line)
    assert (fact and fact.bound) == names(bound)
    if fact is not None:
        assert fact.live == names(live)


def test_around_a_statement() -> None:
    fn, line = tree("def fn(a, x):\n  try:\n    x = a()  # here\n    return 1\n  except:\n    return x")
    liveness, _ = facts(syntax.read(fn))
    stmt = next(stmt for stmt in liveness.before if stmt.lineno == line)
    assert liveness.before[stmt] == {"a", "x"}
    assert liveness.after[stmt] == set()  # `return 1` cannot raise
    assert liveness.raising[stmt] == {"x"}


def test_what_a_cell_may_read_is_live_everywhere() -> None:
    fn, _ = tree("def fn(a):\n  a = 1\n  return 2  # here")
    liveness = Liveness(syntax.read(fn).body, frozenset("a"))
    assert all(live == {"a"} for live in liveness.after.values())
    assert all(live == {"a"} for live in liveness.raising.values())


def test_the_end_of_a_function() -> None:
    for source, end in [("def fn(a):\n  x = a  # here", "a x"), ("def fn(a):\n  return a  # here", None)]:
        assert facts(syntax.read(tree(source)[0]))[1].end == names(end)


@on_311
def test_random_functions() -> None:
    campaign = load("campaigns/facts.py")
    statements, counts, live, bound = campaign.campaign(300, seed=7)
    assert statements > 3000 and len(counts) > 60
    for tally in (live, bound):
        assert not tally.wrong, tally.examples[0]
        assert tally.share <= campaign.IMPRECISE
