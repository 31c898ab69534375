"""Whole programs, transpiled: they run without the transpiler, and every line outside of the converted functions is as it was."""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib
import inspect
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograph.commands.cli import main
from autograph.forms.module import transpile
from autograph.source.source import MARKS, File, lines_of, mark_of
from tests.programs_of_others.test_newcomers import agree, load, plain, run

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(p for p in (ROOT / "examples").glob("*.py") if "@ag." in p.read_text(encoding="utf-8"))  # a static graph has nothing to convert
PROGRAMS = sorted((ROOT / "tests" / "corpora" / "programs" / "newcomers").glob("[0-9][0-9]_*.py"))
ALONE = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in ("gast", "astunparse") or name in ("autograph.passes", "autograph.forms.callees"):
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)

sys.meta_path.insert(0, Absent())
"""
CALL = """
import contextlib, importlib.util, io, json
from typing import Any
import jax.numpy as jnp, numpy as np
sys.path.insert(0, {root!r})

{plain}

for path, entry in {programs!r}:
    spec = importlib.util.spec_from_file_location(path.replace("/", "_"), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    args = module.cases()[0] if hasattr(module, "cases") else ()
    static = getattr(module, "STATIC", ())
    args = [jnp.array(a) if isinstance(a, (int, float, np.ndarray)) and i not in static else a for i, a in enumerate(args)]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        value = getattr(module, entry)(*args)
    print(json.dumps(plain(value) if args else out.getvalue(), default=lambda x: x.tolist()))
"""


def transpiled(path: Path) -> str:
    return transpile(path.read_text(), str(path))


@pytest.mark.parametrize("path", [*EXAMPLES, *PROGRAMS], ids=lambda p: p.stem)
def test_lines_outside_of_converted_functions_stay(path: Path) -> None:
    old, new = path.read_text(), transpiled(path)
    assert new != old
    file = File(str(path), lines_of(old))
    inside = {k for n in ast.walk(file.tree) if isinstance(n, ast.FunctionDef) for k in range(n.lineno + 1, (n.end_lineno or 0) + 1)}
    ours = {d.lineno for n in ast.walk(file.tree) if isinstance(n, ast.FunctionDef) for d in n.decorator_list if mark_of(d, file.modules)}
    imports = {n.lineno for n in file.tree.body if isinstance(n, (ast.Import, ast.ImportFrom)) and "autograph" in ast.unparse(n)}
    rows = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False).get_opcodes()
    touched = {k + 1 for kind, a, b, _, _ in rows if kind != "equal" for k in range(a, b)}
    assert touched <= inside | ours | imports, [old.splitlines()[k - 1] for k in sorted(touched - inside - ours - imports)]
    marks = {name for name in MARKS if name.endswith(("convert", "function"))}
    left = File(str(path), lines_of(new))
    assert not [d for n in ast.walk(left.tree) if isinstance(n, ast.FunctionDef) for d in n.decorator_list if mark_of(d, left.modules) in marks]
    assert transpile(new, str(path)) == new


@pytest.mark.parametrize("path", [PROGRAMS[0], PROGRAMS[12], PROGRAMS[15]], ids=lambda p: p.stem)
def test_the_ways_to_transpile_agree(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    want = transpiled(path)
    assert main(["transpile", str(path)]) == 0 and capsys.readouterr().out == want
    out = tmp_path / "out.py"
    assert main(["transpile", str(path), "-o", str(out)]) == 0 and out.read_text() == want
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    capsys.readouterr()
    assert main(["transpile", "-"]) == 0 and capsys.readouterr().out == want
    assert main(["transpile", "--check", str(path)]) == 1 and main(["transpile", "--check", str(out)]) == 0
    capsys.readouterr()
    assert main(["transpile", "--diff", str(path)]) == 0
    diff = capsys.readouterr().out
    patched = tmp_path / "patched.py"
    patched.write_text(path.read_text())
    if shutil.which("patch") is None:
        pytest.skip("the program `patch` is not on this machine: the diff is not applied")
    assert subprocess.run(["patch", "-s", str(patched)], input=diff, text=True, check=False).returncode == 0 and patched.read_text() == want


def test_programs_run_without_the_transpiler(tmp_path: Path) -> None:
    """Five programs of newcomers and three examples, in one process that has no gast and no astunparse: they do what plain Python does."""
    programs, expected = [], []
    for number in (1, 4, 11, 15, 19):
        path = next(p for p in PROGRAMS if p.name.startswith(f"{number:02}_"))
        python = load(path, python=True)
        programs.append((str(tmp_path / path.name), python.ENTRY))
        expected.append(run(python, python.cases()[0])[0])
    for name in ("newton", "gcd", "binary_search"):
        path = ROOT / "examples" / f"{name}.py"
        programs.append((str(tmp_path / path.name), "main"))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            importlib.import_module(f"examples.{name}").main()
        expected.append(out.getvalue())
    for source in [*PROGRAMS, *EXAMPLES]:
        (tmp_path / source.name).write_text(transpiled(source))
    script = tmp_path / "run_all.py"
    script.write_text(ALONE + CALL.format(programs=programs, root=str(ROOT), plain=inspect.getsource(plain)))
    out = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=500, check=False)
    assert out.returncode == 0, out.stderr[-3000:]
    for line, want in zip(out.stdout.splitlines(), expected, strict=True):
        agree(json.loads(line), want)
