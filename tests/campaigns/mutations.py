"""How much of what is wrong the quick suite finds: one fault is put into a core file, the suite is run until a test fails, and so on.

    python tests/campaigns/mutations.py --count 40 --seed 1 --jobs 2

A fault is a comparison that is turned round, an `and` for an `or`, a condition that is negated, an integer one larger, or a statement that is left
out.  Faults in lines that no test can see (messages, annotations, `assert`) are not made.  First the suite is run without a
fault, which has to pass.  Prints each fault and whether a test finds it; the exit code is 1 if the suite fails without one.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = """
autograph/analysis/facts.py autograph/passes/control_flow.py autograph/passes/jumps.py autograph/passes/stores.py
autograph/passes/expressions.py runtime/branches/conditional.py runtime/loops/while_loop.py runtime/loops/carry_types.py
runtime/loops/reroll/record_iterations.py runtime/loops/static_range.py runtime/values/joins.py runtime/values/abstract_values.py
runtime/state/captured_state.py runtime/state/escape_analysis.py runtime/arrays/numpy_array.py runtime/indexing/stores.py
runtime/operators/list_methods.py runtime/calls/function.py runtime/effects/error_codes.py runtime/loops/derivatives/sweeps.py
""".split()
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
Fault = tuple[str, Callable[[], None]]
_REDIRECT = """
import os, sys
home = os.environ["HOME_OF_MUTANT"]
for name, module in list(sys.modules.items()):  # an editable installation would find the packages of the original
    if name.startswith("__editable__"):
        module.MAPPING.update({"autograph": home + "/autograph", "autograph.runtime": home + "/runtime", "autograph.pages": home + "/docs/errors"})
"""


def faults(tree: ast.Module) -> Iterator[Fault]:
    """What can be wrong in a file, and the change of the tree that makes it so."""
    unseen = {id(x) for node in ast.walk(tree) if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr)) for x in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Compare(ops=[op]) if type(op) in _TURNED:
                yield f"{line}: {ast.unparse(node)} turned round", lambda n=node, o=op: setattr(n, "ops", [_TURNED[type(o)]()])  # type: ignore[misc]
            case ast.BoolOp(op=op):
                other = ast.Or() if isinstance(op, ast.And) else ast.And()
                yield f"{line}: {ast.unparse(node)} with the other operator", lambda n=node, o=other: setattr(n, "op", o)  # type: ignore[misc]
            case ast.If(test=test):
                yield f"{line}: not ({ast.unparse(test)})", lambda n=node, t=test: setattr(n, "test", ast.UnaryOp(ast.Not(), t))  # type: ignore[misc]
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                yield f"{line}: {value + 1} for {value}", lambda n=node, v=value: setattr(n, "value", v + 1)  # type: ignore[misc]
            case ast.FunctionDef(body=body):
                for k, stmt in enumerate(body):
                    if isinstance(stmt, (ast.Assign, ast.AugAssign)) or isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
                        yield f"{stmt.lineno}: without `{ast.unparse(stmt)[:80]}`", lambda b=body, k=k: b.__setitem__(k, ast.Pass())  # type: ignore[misc]


def drawn(count: int, seed: int) -> list[tuple[str, str, str]]:
    """File, fault and text of the file with the fault: the same number for each file, as far as possible."""
    rng = random.Random(seed)
    found = []
    for k in range(count):
        file = CORE[k % len(CORE)]
        tree = copy.deepcopy(ast.parse((ROOT / file).read_text(encoding="utf-8")))
        what, make = rng.choice(list(faults(tree)))
        make()
        found.append((file, what, ast.unparse(ast.fix_missing_locations(tree))))
    return found


def finds(file: str, text: str, seconds: int) -> tuple[str, float]:
    """Whether the quick suite fails with a file as given, or does not end; and how long that takes."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "project"
        shutil.copytree(ROOT, home, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", "site", "*.egg-info"))
        (home / file).write_text(text, encoding="utf-8")
        first = Path(folder) / "first"
        first.mkdir()
        (first / "sitecustomize.py").write_text(_REDIRECT, encoding="utf-8")
        began = time.perf_counter()
        env = os.environ | {"PYTHONPATH": os.pathsep.join([str(first), str(home)]), "HOME_OF_MUTANT": str(home), "JAX_PLATFORMS": "cpu"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(command, cwd=home, env=env, capture_output=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return "found: it does not end", time.perf_counter() - began
        return "found" if done.returncode else "NOT FOUND", time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=1200, help="for one run of the suite")
    args = parser.parse_args()
    chosen = drawn(args.count, args.seed)
    text = ast.unparse(ast.parse((ROOT / CORE[-1]).read_text(encoding="utf-8")))
    if finds(CORE[-1], text, args.seconds)[0] != "NOT FOUND":  # comments and line breaks are gone, nothing else
        print("the suite fails without a fault")
        return 1
    found = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        results = pool.map(lambda fault: finds(fault[0], fault[2], args.seconds), chosen)
        for (file, what, _), (outcome, took) in zip(chosen, results, strict=True):
            found += outcome != "NOT FOUND"
            print(f"{outcome:10} {took:4.0f} s  {file}:{what}", flush=True)
    print(f"{found} of {len(chosen)} faults are found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
