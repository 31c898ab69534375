"""Run random programs in every form and compare with Python.

    python tests/differential/campaign.py --programs 10000 --seed 0

The truth is the unconverted function on NumPy numbers.  The forms: `plain` and `static` (the two forms of `convert` on concrete values),
`jit` and `vmap` (the jaxpr, interpreted on NumPy), `jvp` (against dual numbers), and `xla` (compiled).
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import linecache
import random
import sys
import time
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import interpreter
import programs
import state_runs
import stateful
from duals import Dual
from outcomes import SECONDS, Failure, Late, Raised, in_processes, limit
from programs import COUNTER, Program

import autograph as ag
from autograph.runtime.calls.function_trace import result
from autograph.runtime.effects.error_codes import Checked
from autograph.runtime.effects.output_values import Packed as _Packed

CHUNK = 250  # programs that one process runs: its caches end with it
SHOWN = 5
MOST_REFUSED = 0.02
PROGRAMS: dict[str, Callable[[int, int], Program]] = {"control": programs.program, "stateful": stateful.program}
FORMS = ("plain", "static", "jit", "vmap", "jvp", "xla")


@dataclass
class Tally:
    """The sums of a run."""

    programs: int = 0
    loose: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # per error id, of the programs that read only set variables
    refusals: list[tuple[int, str]] = field(default_factory=list)
    refused_loose: Counter[str] = field(default_factory=Counter)
    different: int = 0
    crashed: int = 0
    reports: list[tuple[Program, list[Failure]]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.programs += other.programs
        self.loose += other.loose
        self.different += other.different
        self.crashed += other.crashed
        self.reports += other.reports
        self.refusals += other.refusals
        for mine, more in (
            (self.compared, other.compared), (self.kinds, other.kinds), (self.refused, other.refused), (self.refused_loose, other.refused_loose),
        ):  # fmt: skip
            mine.update(more)


# --- running a program ----------------------------------------------------------------------------------------------------------------------


def load(p: Program, **names: Any) -> Callable[..., Any]:
    """The program's function; its source is found through `linecache`."""
    linecache.cache[p.filename] = (len(p.source), None, p.source.splitlines(keepends=True), p.filename)
    module = types.ModuleType(f"random_{p.number}")
    exec(compile(p.source, p.filename, "exec"), module.__dict__)
    module.__dict__.update(names)
    function: Callable[..., Any] = module.f
    return function


def zeros_of_numbers(count: int) -> Any:
    return np.zeros(count, np.float32)


def zeros_of_duals(count: int) -> Any:
    return np.array([0.0] * count, object)


NUMBERS = types.SimpleNamespace(zeros=zeros_of_numbers)
DUALS = types.SimpleNamespace(zeros=zeros_of_duals)


def settled(out: Any) -> Any:
    """A result as nested tuples of floats: 3 equals 3.0, True equals 1."""
    if isinstance(out, (tuple, list)):
        return tuple(settled(x) for x in out)
    if isinstance(out, Dual):
        return settled(out.x)
    if out is None or isinstance(out, str):
        return out
    array = np.asarray(out)
    return settled(list(array)) if array.ndim else float(array)


def tangents(out: Any) -> Any:
    """The tangents of a result of dual numbers."""
    if isinstance(out, (tuple, list)) or (isinstance(out, np.ndarray) and out.ndim):
        return tuple(tangents(x) for x in out)
    return out.t if isinstance(out, Dual) else 0.0


def numbers_in(out: Any) -> Iterator[float]:
    if isinstance(out, tuple):
        for x in out:
            yield from numbers_in(x)
    elif isinstance(out, float):
        yield out


def outcome(call: Callable[[], Any]) -> Any:
    """The result, settled, or what was raised."""
    try:
        return settled(call())
    except (Late, interpreter.Endless):
        raise
    except ag.AutographError:
        raise
    except (NameError, ZeroDivisionError, IndexError, ValueError, TypeError) as error:
        return Raised(type(error).__name__, str(error))


def truths(p: Program) -> list[Any]:
    """What Python gives for each of the inputs."""
    f = load(p, jnp=NUMBERS)
    with limit(SECONDS), np.errstate(all="raise"):
        out = [outcome(lambda: f(*map(copy.copy, args))) for args in p.inputs]
    for got in out:
        if isinstance(got, Raised):
            assert p.loose or got.kind in ("UnboundLocalError", "NameError"), f"program {p.number} raises {got}"
            p.loose = True  # a jump has skipped what the generator took for set
        else:
            assert all(np.float32(x) == x for x in numbers_in(got)), f"program {p.number} is not exact: {got}"
    return out


TANGENTS = (np.float32(1), np.float32(-2), np.array([0.5, 3, -1, 2], np.float32))


def dual_truth(p: Program, args: Sequence[Any]) -> tuple[Any, Any]:
    """The value of a program and its tangent in the direction of `TANGENTS`."""
    a, b, x, y, v = args
    f = load(p, jnp=DUALS)
    tx, ty, tv = (np.asarray(t, float) for t in TANGENTS)
    rows = [Dual(float(e), float(t)) for e, t in zip(v, tv)]
    with limit(SECONDS):
        out = f(int(a), int(b), Dual(float(x), float(tx)), Dual(float(y), float(ty)), rows)
    return settled(out), tangents(out)


def shapes(args: Sequence[Any], batch: tuple[int, ...] = ()) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct((*batch, *np.shape(x)), x.dtype) for x in args]


def traced(f: Callable[..., Any], args: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
    """A function on NumPy: its jaxpr, interpreted."""
    closed, shape = jax.make_jaxpr(f, return_shape=True)(*args)
    tree = jax.tree.structure(shape)
    return lambda values: jax.tree.unflatten(tree, interpreter.run(closed, values))


def with_tangents(f: Callable[..., Any]) -> Callable[..., Any]:
    def g(a: Any, b: Any, x: Any, y: Any, v: Any, *t: Any) -> Any:
        out, change = jax.jvp(lambda x, y, v: f(a, b, x, y, v), (x, y, v), t)
        return out, jax.tree.map(lambda t: jnp.zeros(t.shape) if t.dtype == jax.dtypes.float0 else t, change)

    return g


def given(out: Any) -> Any:
    """What a call of an `ag.function` gives for the raw results of its program: the value, or its error."""
    return result(out) if isinstance(out, Checked) else out


def change_of(out: Any, change: Any) -> Any:
    """The tangent of what a call gives: that of the value of an optional, or nothing."""
    if isinstance(out, Checked):
        return change_of(out.value, change.value)
    if isinstance(out, _Packed):
        return None if int(out.tag) else change.value
    if isinstance(out, tuple):
        return tuple(map(change_of, out, change))
    return change


def close(got: Any, want: Any) -> bool:
    """Whether two tangents are equal up to rounding; None has none."""
    if got is None:
        return want in (None, 0.0)
    if isinstance(want, tuple):
        return isinstance(got, tuple) and len(got) == len(want) and all(map(close, got, want))
    return isinstance(got, float) and abs(got - want) <= 1e-4 * max(1.0, abs(want))


class Runner:
    """Runs the forms of one program and collects what differs."""

    def __init__(self, p: Program, forms: Sequence[str], which: Sequence[int] = (0, 1, 2)) -> None:
        self.p, self.which = p, which
        self.compared: Counter[str] = Counter()
        self.refused: dict[str, str] = {}  # by form
        self.failures: list[Failure] = []
        self.want = truths(p)
        self.f = load(p)
        for form in forms:
            try:
                with limit(SECONDS):
                    getattr(self, form)()
            except ag.AutographError as error:
                self.refuse(form, error)
            except Exception as error:
                if p.loose and form not in ("plain", "static") and all(w == Raised(type(error).__name__, str(error)) for w in self.want):
                    continue  # raised while tracing: every call raises it
                self.crash(form, -1, error)

    def refuse(self, form: str, error: ag.AutographError) -> None:
        self.refused[form] = error.id
        if form in ("plain", "static"):
            self.crash(form, -1, error)

    def crash(self, form: str, k: int, error: Exception) -> None:
        end = "".join(traceback.format_exception(error)[-6:])
        want = str(self.want if k < 0 else self.want[k])
        self.failures.append(Failure(form, k, f"{type(error).__name__}: {error}", want, end))

    def compare(self, form: str, k: int, got: Any) -> None:
        want = self.want[k]
        self.compared[form] += 1
        if got != want:
            self.failures.append(Failure(form, k, str(got), str(want)))

    def concrete(self, form: str, f: Callable[..., Any]) -> None:
        for k in self.which:
            args = self.p.inputs[k]
            values = map(jnp.asarray, args) if k == 0 else [*map(copy.copy, args)]
            self.compare(form, k, outcome(lambda: f(*values)))

    def plain(self) -> None:
        self.concrete("plain", ag.convert(self.f))

    def static(self) -> None:
        self.concrete("static", ag.convert(self.f, form="staged"))

    def program(self) -> Callable[..., Any]:
        """The compiled program of the function as an `ag.function`, with its error code."""
        jitted: Callable[..., Any] = ag.function(self.f)._jitted
        return jitted

    def jit(self) -> None:
        run = traced(self.program(), shapes(self.p.inputs[0]))
        for k in self.which:
            self.compare("jit", k, outcome(lambda: given(run(self.p.inputs[k]))))

    def stacked(self) -> list[Any]:
        return [np.stack(column) for column in zip(*self.p.inputs)]

    def vmap(self) -> None:
        run = traced(jax.vmap(self.program()), shapes(self.p.inputs[0], (3,)))
        out = run(self.stacked())
        for k in range(3):
            self.compare("vmap", k, outcome(lambda: given(jax.tree.map(lambda x: x[k], out))))

    def xla(self) -> None:
        f = ag.function(self.f)
        for k in self.which:
            self.compare("xla", k, outcome(lambda: f(*self.p.inputs[k])))

    def jvp(self) -> None:
        inputs = [*self.p.inputs[0], TANGENTS[0], TANGENTS[1], TANGENTS[2][: len(self.p.inputs[0][4])]]
        run = traced(with_tangents(self.program()), shapes(inputs))
        for k in self.which:
            if isinstance(self.want[k], Raised):
                continue
            value, tangent = dual_truth(self.p, self.p.inputs[k])
            assert value == self.want[k], f"dual numbers give {value}, numbers {self.want[k]}"
            if any(abs(t) > 2**20 for t in numbers_in(tangent)):
                continue
            got, change = run([*self.p.inputs[k], *inputs[5:]])
            self.compare("jvp", k, outcome(lambda: given(got)))
            if not close(settled(change_of(got, change)), tangent):
                self.failures.append(Failure("jvp", k, f"tangent {settled(change_of(got, change))}", f"tangent {tangent}"))


def runner(p: Program, forms: Sequence[str], which: Sequence[int]) -> Runner | state_runs.StateRunner:
    return state_runs.StateRunner(p, forms) if p.kind == "stateful" else Runner(p, forms, which)


def forms_of(p: Program) -> list[str]:
    """The forms that this program is run in: compiling is slow."""
    number = p.number
    if p.kind == "stateful":
        return state_runs.forms_of(p)
    return [form for form in FORMS if form not in ("jvp", "xla") or number % {"jvp": 5, "xla": 10}[form] == 0]


# --- reducing a program ---------------------------------------------------------------------------------------------------------------------


def reductions(tree: ast.Module) -> Iterator[ast.Module]:
    """The program with one thing less, largest first.  What counts the turns of a loop stays."""
    blocks = ("body", "orelse", "finalbody")
    places = [(i, name) for i, node in enumerate(ast.walk(tree)) for name in blocks if isinstance(getattr(node, name, None), list)]
    for i, name in places:
        block = getattr(_node(tree, i), name)
        for k, stmt in enumerate(block):
            if isinstance(stmt, (ast.Import, ast.Return)) and not (i and len(block) > k + 1):
                continue
            if not _counts(stmt):
                yield _edited(tree, i, name, k, [])
            for inner in ("body", "orelse"):
                part = getattr(stmt, inner, None)
                if isinstance(part, list) and part and not isinstance(stmt, (ast.FunctionDef, ast.Match)) and not _counts(stmt):
                    yield _edited(tree, i, name, k, part)
            if isinstance(stmt, ast.Match):
                for case in stmt.cases:
                    yield _edited(tree, i, name, k, case.body)
            if isinstance(stmt, ast.If) and stmt.orelse and not _counts(stmt):
                short = copy.deepcopy(stmt)
                short.orelse = []
                yield _edited(tree, i, name, k, [short])
    for i, node in enumerate(ast.walk(tree)):
        for name, value in ast.iter_fields(node):
            for k, part in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(part, ast.expr) and not COUNTER.search(ast.unparse(part)):
                    for simpler in _simpler(part):
                        new = copy.deepcopy(tree)
                        if k is None:
                            setattr(_node(new, i), name, simpler)
                        else:
                            getattr(_node(new, i), name)[k] = simpler
                        yield new


def _node(tree: ast.Module, index: int) -> Any:
    return next(node for i, node in enumerate(ast.walk(tree)) if i == index)


def _counts(stmt: ast.stmt) -> bool:
    """Whether the statement is part of the counting of a loop around it."""
    if isinstance(stmt, (ast.While, ast.For, ast.FunctionDef)):
        return False
    head = stmt.test if isinstance(stmt, ast.If) else stmt
    return bool(COUNTER.search(ast.unparse(head))) and isinstance(stmt, (ast.If, ast.AugAssign, ast.Assign))


def _edited(tree: ast.Module, index: int, name: str, k: int, new: list[ast.stmt]) -> ast.Module:
    out = copy.deepcopy(tree)
    node = _node(out, index)
    block = getattr(node, name)
    block[k : k + 1] = copy.deepcopy(new)
    if not block and name in ("body", "finalbody"):
        block.append(ast.Pass())
    return out


def _simpler(e: ast.expr) -> list[ast.expr]:
    match e:
        case ast.BinOp(left, _, right):
            return [left, right]
        case ast.IfExp(_, body, orelse):
            return [body, orelse]
        case ast.BoolOp(_, values):
            return list(values)
        case ast.UnaryOp(ast.Not(), operand):
            return [operand]
        case ast.NamedExpr(_, value):
            return [value]
        case ast.Compare(left, [op, _, *_], [right, _, *_]):
            return [ast.Compare(left, [op], [right])]
        case ast.Call(ast.Name(name), [*_, last]) if name not in ("range", "zip", "enumerate", "reversed"):
            return [last]
        case ast.Constant(float()):
            return [ast.Constant(1)]
    return []


def reduced(p: Program, failure: Failure, seconds: float) -> Program:
    """A smaller program whose same form differs in the same way."""
    end = time.monotonic() + seconds
    which = [failure.inputs] if failure.inputs >= 0 else [0]
    tree, best, number, going = ast.parse(p.source), p, 0, True
    while going and time.monotonic() < end:
        going = False
        for candidate in reductions(tree):
            if time.monotonic() > end:
                break
            number += 1
            trial = replace(p, source=ast.unparse(ast.fix_missing_locations(candidate)) + "\n", number=p.number * 10_000 + number)
            if len(trial.source) >= len(best.source):
                continue
            if _fails(trial, failure, which):
                tree, best, going = ast.parse(trial.source), trial, True
                break
    return replace(best, number=p.number)


class _Coins(ast.NodeTransformer):
    """Tests that are not constants come out by chance."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, (ast.If, ast.IfExp, ast.While)) and not isinstance(node.test, ast.Constant):
            node.test = ast.Call(ast.Name("_coin", ast.Load()), [node.test], [])
        return node


def _reads(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)


def _surely_set(p: Program) -> bool:
    """Whether no path through the program seems to read an unset variable: a reduced program must not be wrong itself."""
    names = [n for n in ast.walk(ast.parse(p.source)) if isinstance(n, (ast.Name, ast.arg, ast.FunctionDef, ast.alias, ast.MatchAs))]
    bound = {n.id if isinstance(n, ast.Name) else n.arg if isinstance(n, ast.arg) else n.name for n in names if not _reads(n)}
    if any(_reads(n) and n.id not in bound and not hasattr(builtins, n.id) and n.id != "jnp" for n in names if isinstance(n, ast.Name)):
        return False
    rng = random.Random(0)
    tree = ast.fix_missing_locations(_Coins().visit(ast.parse(p.source)))
    f = load(replace(p, source=ast.unparse(tree)), jnp=NUMBERS, _coin=lambda _: rng.random() < 0.5)
    for k in range(60):
        try:
            f(*map(copy.copy, p.inputs[k % 3]))
        except NameError:
            return False
    return True


def _fails(p: Program, failure: Failure, which: Sequence[int]) -> bool:
    try:
        with limit(2 * SECONDS):
            r = runner(p, [failure.form], which)
            fails = any(f.signature == failure.signature for f in r.failures) or r.refused.get(failure.form) == failure.got
            return fails and (p.loose or p.kind == "stateful" or not failure.of_unset or _surely_set(p))
    except Exception:  # the candidate is not a program: a name is unset, a loop has no end
        return False
    finally:
        linecache.cache.pop(p.filename, None)


# --- the campaign ---------------------------------------------------------------------------------------------------------------------------


def run(numbers: Sequence[int], seed: int, reduce_for: float = 0.0, kind: str = "control") -> Tally:
    """Run some programs."""
    tally = Tally()
    for number in numbers:
        p = PROGRAMS[kind](number, seed)
        r = runner(p, forms_of(p), range(3))
        tally.programs += 1
        tally.loose += p.loose
        tally.kinds += p.kinds
        tally.compared += r.compared
        if r.failures:
            tally.different += 1
            tally.crashed += any(f.trace for f in r.failures)
            small = reduced(p, r.failures[0], reduce_for) if reduce_for and len(tally.reports) < SHOWN else p
            again = [] if small is p else runner(small, [r.failures[0].form], range(3)).failures
            tally.reports.append((small, (again or r.failures)[:1]))
        elif r.refused and p.loose:
            tally.refused_loose[next(iter(r.refused.values()))] += 1
        elif r.refused:
            error = next(iter(r.refused.values()))
            tally.refused[error] += 1
            tally.refusals.append((number, error))
        linecache.cache.pop(p.filename, None)
    return tally


def campaign(count: int, seed: int = 0, jobs: int = 1, first: int = 0, reduce_for: float = 5.0, kind: str = "control") -> Tally:
    """Run the programs `first` to `first + count`, in processes that end after some of them."""
    tally = Tally()
    for part in in_processes(run, range(first, first + count), CHUNK, jobs, seed, reduce_for, kind):
        tally.add(part)
        for p, failures in part.reports:  # a long run tells at once
            print(f"\rdifferent: program {p.number}, {failures[0].form}: {failures[0].got[:100]}", file=sys.stderr)
        print(f"\r{tally.programs} programs, {tally.different} different", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return tally


def show(tally: Tally, seed: int, seconds: float) -> None:
    def line(title: str, counts: Counter[str]) -> None:
        print(f"{title}: " + (", ".join(f"{name} {n}" for name, n in counts.most_common()) or "none"))

    for p, failures in tally.reports[:SHOWN]:
        print(f"--- program {p.number} ---\n{p.source}")
        for f in failures:
            inputs = p.inputs if f.inputs < 0 else [p.inputs[f.inputs]]
            print(f"form   {f.form}\ninputs {inputs}\ngot    {f.got}\nwant   {f.want}\n{f.trace}")
    strict = tally.programs - tally.loose
    refused = tally.refused.total()
    print(f"seed {seed}, {tally.programs} programs ({tally.loose} may read an unset variable), {seconds:.0f} s")
    line("comparisons", tally.compared)
    line("constructs", tally.kinds)
    line("refused", tally.refused)
    if tally.refusals:
        print("  for example: " + ", ".join(f"program {n} {error}" for n, error in tally.refusals[:8]))
    line("refused where a variable may be unset", tally.refused_loose)
    print(f"refused {refused} of {strict} ({refused / max(1, strict):.2%}), different {tally.different} (crashed {tally.crashed})")
    if tally.reports[SHOWN:]:
        print("also different: programs " + ", ".join(str(p.number) for p, _ in tally.reports[SHOWN:]))


def passed(tally: Tally) -> bool:
    return tally.different == 0 and tally.refused.total() <= MOST_REFUSED * (tally.programs - tally.loose)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=PROGRAMS, default="control", help="what the programs are about")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--show", action="store_true", help="print the source of the programs, run nothing")
    options = parser.parse_args()
    if options.show:
        for number in range(options.first, options.first + options.programs):
            p = PROGRAMS[options.kind](number, options.seed)
            print(f"# program {number}, inputs {p.inputs}\n{p.source}")
        return 0
    start = time.monotonic()
    tally = campaign(options.programs, options.seed, options.jobs, options.first, kind=options.kind)
    show(tally, options.seed, time.monotonic() - start)
    return 0 if passed(tally) else 1


if __name__ == "__main__":
    sys.exit(main())
