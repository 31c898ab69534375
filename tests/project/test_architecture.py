"""The packages: which file may import which, how long files are, and what is packaged."""

from __future__ import annotations

import ast
import re
import runpy
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

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
    for path in (p for package in ("analysis", "trees") for p in (ROOT / "autograph" / package).glob("*.py")):
        assert not [m for m in imports(path) if ".passes" in m]


LAYERS = "errors tracing jaxapi arrays values state effects sequences indexing branches host native loops operators calls eager".split()
PACKAGES = "trees analysis source passes printing forms api report commands".split()  # of the transpiler, from the ground up
FACES = {"autograph", "autograph.runtime"}  # they name what the packages hold, and import it when it is used
OUTWARDS = {("autograph.runtime.calls.callees", "autograph.forms.sites")}  # the transpiler, if it is installed: a transpiled file works without


class Arrow(NamedTuple):
    """An import of a file: inside a function, under TYPE_CHECKING and by the text of a string as well."""

    of: str
    to: str
    line: int


def arrows() -> list[Arrow]:
    known = {module(p) for p in FILES} - FACES
    found: list[Arrow] = []
    for path in FILES:
        own = module(path)
        if own in FACES:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [full if (full := f"{node.module}.{a.name}") in known else node.module for a in node.names]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and path in RUNTIME:  # the transpiler looks for imports of the user's
                names = [node.value]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "import_module":
                names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            found += [Arrow(own, name, getattr(node, "lineno", 0)) for name in names if name in known and name != own]
    return [a for a in found if (a.of, a.to) not in OUTWARDS]


def height(name: str) -> int:
    """In which layer a module is: those of the transpiler stand on the runtime."""
    parts = name.split(".")
    if parts[1] == "runtime":
        return LAYERS.index(parts[2])
    return len(LAYERS) + (PACKAGES.index(parts[1]) if parts[1] in PACKAGES else len(PACKAGES))


def test_arrows_go_down() -> None:
    """Each layer imports those below it only, whatever kind of import it is."""
    assert [f"{a.of}:{a.line} imports {a.to}" for a in arrows() if height(a.to) > height(a.of)] == []


def test_there_is_no_circle() -> None:
    packages = {module(p) for p in FILES if p.name == "__init__.py"}
    needs: dict[str, set[str]] = {module(p): set() for p in FILES}
    for a in arrows():
        needs[a.of].add(a.to)
    order: set[str] = set(packages)
    while needs:
        free = [m for m, others in needs.items() if not others - order]
        assert free, f"a circle among {sorted(needs)}"
        order |= set(free)
        for m in free:
            del needs[m]


# What a layer puts into one below when it is imported: (of, into).  `hooks.py` is the table of those that any layer may use.
SLOTS = {
    ("arrays.numpy_array", "jaxapi.tracers.LISTS"),
    ("calls.side_effects", "values.values.LASTING"),
    ("effects.error_codes", "state.captured_state.ERROR"),
    ("indexing.slice_stores", "arrays.numpy_array.OPERATIONS"),
    ("indexing.stores", "arrays.numpy_array.OPERATIONS"),
    ("operators.list_methods", "sequences.bounded_list.CHANGES"),
    ("operators.numpy_functions", "arrays.numpy_array.OPERATIONS"),
    ("tracing.trace_context", "errors.errors.StagingError"),
}


def test_slots_that_higher_layers_fill_are_listed() -> None:
    found: set[tuple[str, str]] = set()
    for path in RUNTIME:
        own = module(path)
        if own in FACES:
            continue
        tree = ast.parse(path.read_text())
        imported = {a.asname or a.name: f"{n.module}.{a.name}" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module for a in n.names}
        for stmt in tree.body:
            match stmt:
                case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                    filled: ast.expr = target
                case ast.Expr(value=ast.Call(func=ast.Attribute() as method)):
                    filled = method
                case _:
                    continue
            while isinstance(filled, (ast.Attribute, ast.Subscript)):
                filled = filled.value
            into = imported.get(filled.id, "") if isinstance(filled, ast.Name) else ""
            if into.startswith("autograph.runtime.") and into not in {module(p) for p in FILES} and height(into) < height(own):
                found.add((own.removeprefix("autograph.runtime."), into.removeprefix("autograph.runtime.")))
    assert {(of, into) for of, into in found if not into.startswith(("jaxapi.traces.", "tracing.hooks."))} == SLOTS


# Private words that the code once had, and that stand in no name of a file or class: the glossary has those of the field.
OLD_FILES = frozenset(
    "frames settling stage repeats rolling exact turn_numbers replayed known_whiles limits trial lifted ties turns identity choices told held reach "
    "native deferred later leaving kinds said reporting shown changes traced entry shortcut mentioned managers loading made forgetting needs watching "
    "opaque reading recording objects growing room regrown live sections lengths columns series fitting knowledge taking suspended overriding loads "
    "branch_binding alike openings registers spans passing lanes active quiet numpys parts handles outside listing plans tails unsure resets "
    "appends".split()
)
OLD_CLASSES = frozenset(
    "Place HeapLocation Block Frame Settling Stage MadeTurns Inexact Slot Identity Who Turns Twin Stale Exit Begin Change Enough Walk Growing Left "
    "Home Section Counted Spec Kept Turn Keys Numpys Part Handle Given Held".split()
)
OF_KERAS = frozenset(  # names that Keras has twice as well: of losses, and of metrics
    "MeanSquaredError MeanAbsoluteError BinaryCrossentropy CategoricalCrossentropy SparseCategoricalCrossentropy KLDivergence".split()
)


def classes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module(path))
    return found


def test_a_class_name_stands_for_one_class() -> None:
    assert {name: where for name, where in classes().items() if len(where) > 1 and name not in OF_KERAS} == {}


def test_names_of_files_and_classes_are_words_of_the_field() -> None:
    held_variable = {"autograph.runtime.state.variable_reads"}
    assert [p for p in FILES if p.stem in OLD_FILES and "eager" not in p.parts] == []
    assert {n: where for n, where in classes().items() if n in OLD_CLASSES and set(where) - held_variable} == {}


def test_packages_say_what_they_hold() -> None:
    for whole in (ROOT / "runtime", ROOT / "autograph"):
        for package in sorted(p for p in whole.iterdir() if (p / "__init__.py").exists() and p.name != "runtime"):
            assert len(ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or "") > 15, package
    assert [p.name for p in (ROOT / "runtime").glob("*.py")] == ["__init__.py"]


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


def test_names_in_the_docs_for_contributors_exist() -> None:
    """Files, and `module.function` or `Class.method`, as they stand in backquotes."""
    known: dict[str, set[str]] = {}
    for path in FILES:
        tree = ast.parse(path.read_text())
        own = {getattr(n, "name", "") for n in tree.body} | {
            t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
        }
        known.setdefault(path.stem, set()).update(own)
        for cls in (n for n in tree.body if isinstance(n, ast.ClassDef)):
            methods = {n.name for n in ast.walk(cls) if isinstance(n, ast.FunctionDef)}
            fields = {n.attr for n in ast.walk(cls) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self"}
            known.setdefault(cls.name, set()).update(methods | fields)
    missing: list[str] = []
    for page in (ROOT / "docs" / "design.md", ROOT / "CONTRIBUTING.md"):
        for text in re.findall(r"`([^`\n]+)`", page.read_text()):
            if re.fullmatch(r"[\w/]+\.py", text):
                places = [ROOT / text, ROOT / "runtime" / text, ROOT / "autograph" / text]
                found = any(p.exists() for p in places) or "/" not in text and any(p.name == text for p in FILES)
            elif re.fullmatch(r"(runtime|autograph)/[\w/]+", text):
                found = (ROOT / text).exists()
            elif (named := re.fullmatch(r"(?:\w+/)*(\w+)\.(\w+)(?:\.(\w+))?(?:\(.*\))?", text)) and named[1] in known.keys() | OLD_FILES:
                found = named[2] in known.get(named[1], ()) and (named[3] is None or named[3] in known.get(named[2], ()))
            else:
                continue
            missing += [] if found else [f"{page.name}: {text}"]
    assert missing == []
