"""The house: which file may import which, how long files are, and what is packaged."""

from __future__ import annotations

import ast
import runpy
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import setuptools

pytestmark = pytest.mark.always

ROOT = Path(__file__).parents[2]
RUNTIME = sorted((ROOT / "runtime").rglob("*.py"))
FILES = sorted([*(ROOT / "autograph").glob("*.py"), *(p for p in (ROOT / "autograph").glob("*/*.py") if p.parent.name != "runtime"), *RUNTIME])


def module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = ("autograph", *parts) if parts[0] == "runtime" else parts
    return ".".join(parts).removesuffix(".__init__")


def imports(path: Path, lazy: bool = False) -> set[str]:
    """The modules of this project that a file imports when it is loaded (with `lazy`, also later)."""
    tree = ast.parse(path.read_text())
    known = {module(p) for p in FILES}
    found: set[str] = set()
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not lazy and isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{a.name}" for a in node.names}
        stack += ast.iter_child_nodes(node)
    return (found & known) - {module(path), "autograph"}


def test_the_runtime_imports_nothing_of_the_transpiler() -> None:
    for path in RUNTIME:
        assert all(m.startswith("autograph.runtime") for m in imports(path, lazy=True)), path


def test_only_the_runtime_knows_jax() -> None:
    for path in FILES:
        if path in RUNTIME:
            continue
        tree = ast.parse(path.read_text())
        names = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
        names += [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        assert not [n for n in names if n.split(".")[0] == "jax"], path


@pytest.mark.parametrize(
    ("library", "file"),
    [("gast", "autograph/trees/syntax.py"), ("astunparse", "autograph/printing/printed_expressions.py"), ("jax._src", "runtime/jaxapi/private.py")],
)
def test_a_library_that_may_move_is_touched_in_one_file(library: str, file: str) -> None:
    users = []
    for path in FILES:
        tree = ast.parse(path.read_text())
        names = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
        names += [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        if any(n == library or n.startswith(library + ".") for n in names):
            users.append(str(path.relative_to(ROOT)))
    assert users == [file]


def test_passes_do_not_import_each_other() -> None:
    passes = {"autograph.passes." + n for n in ("stores", "chains", "jumps", "control_flow", "expressions", "calls")}
    for path in (ROOT / "autograph" / "passes").glob("*.py"):
        if module(path) in passes:
            assert not imports(path) & passes, path


def test_facts_know_no_pass() -> None:
    for path in (p for room in ("analysis", "trees") for p in (ROOT / "autograph" / room).glob("*.py")):
        assert not [m for m in imports(path) if ".passes" in m]


def test_there_is_no_import_cycle() -> None:
    arrows = {module(p): imports(p) for p in FILES}
    packages = {module(p) for p in FILES if p.name == "__init__.py"}
    order: list[str] = []
    while arrows:
        free = [m for m, needs in arrows.items() if not needs - set(order) - packages]
        assert free, f"a cycle among {sorted(arrows)}"
        order += free
        for m in free:
            del arrows[m]


def room(module: str) -> str:
    parts = module.removeprefix("autograph.").split(".")
    return ".".join(parts[:2]) if parts[0] == "runtime" and len(parts) > 2 else parts[0] if parts[0] != "runtime" and len(parts) > 1 else ""


def test_arrows_between_rooms_go_down() -> None:
    """Rooms (packages) have an order, in which each imports those before it only; what lies on the floors of both houses is not counted."""
    arrows: dict[str, set[str]] = {}
    for path in FILES:
        own = room(module(path))
        arrows.setdefault(own, set()).update(room(m) for m in imports(path) if path.name != "__init__.py")
    arrows = {own: needs - {own, ""} for own, needs in arrows.items() if own}
    order: list[str] = []
    while arrows:
        free = sorted(own for own, needs in arrows.items() if not needs - set(order))
        assert free, f"arrows go around among {arrows}"
        order += free
        for own in free:
            del arrows[own]
    assert order[0] == "runtime.messages" or "runtime.messages" in order[:4], order


def test_rooms_say_what_they_hold() -> None:
    houses = [ROOT / "runtime", ROOT / "autograph"]
    for house in houses:
        for package in sorted(p for p in house.iterdir() if (p / "__init__.py").exists() and p.name != "runtime"):
            assert len(ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or "") > 15, package
    assert len(list((ROOT / "runtime").glob("*.py"))) <= 12


def test_files_are_read_in_one_sitting() -> None:
    length = {p: len(p.read_text().splitlines()) for p in FILES}
    passes = [n for p, n in length.items() if p.parent.name == "passes" and p.name != "__init__.py"]
    assert statistics.median(passes) <= 120, sorted(passes)
    assert max(passes) <= 250
    assert {p.name: n for p, n in length.items() if n > 600} == {}


def test_names_say_what_a_file_is_about() -> None:
    assert not [p for p in FILES if p.stem in ("utils", "helpers", "common", "misc")]


def test_every_package_is_in_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[str, Any] = {}
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(setuptools, "setup", said.update)
    runpy.run_path(str(ROOT / "setup.py"))
    assert set(said["packages"]) == {module(p.parent / "__init__.py") for p in FILES} | {"autograph.pages"}  # the pages of the errors are data
    assert said["package_dir"] == {"autograph.runtime": "runtime", "autograph.pages": "docs/errors"}


def test_a_checkout_has_no_links() -> None:
    """Not every system has them."""
    assert not [p for folder in ("autograph", "runtime", "docs", "tests") for p in (ROOT / folder).rglob("*") if p.is_symlink()]


def test_the_runtime_works_without_the_rest() -> None:
    """`autograph.runtime` loads neither gast, astunparse nor any other module of `autograph`."""
    program = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("gast", "astunparse") or (name.startswith("autograph.") and not name.startswith("autograph.runtime")):
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import autograph.runtime as ag
for name in ag.public_names():
    getattr(ag, name)
print(int(ag.jit(lambda n: ag.while_loop(lambda i: i < n, lambda i: i + ag.call(abs)(-2), 0))(5)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "6\n", done.stderr


def test_importing_the_package_imports_nothing() -> None:
    program = "import sys, autograph; print(sorted(m for m in sys.modules if m.split('.')[0] in ('jax', 'gast', 'astunparse', 'numpy')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "[]\n", done.stderr
