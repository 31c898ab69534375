"""Pages and messages are in plain sentences, and in words that JAX's documentation, CPython's or a compiler textbook uses."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autograph as ag

ROOT = Path(__file__).parents[2]
SOURCES = sorted({p.resolve() for folder in ("autograph", "runtime") for p in (ROOT / folder).rglob("*.py")})
_spec = importlib.util.spec_from_file_location("prose", ROOT / "docs" / "prose.py")
assert _spec is not None and _spec.loader is not None
prose = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(prose)
PAGES = prose.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_pages(page: Any) -> None:
    assert page.mean <= prose.MEAN, f"a sentence has {page.mean:.1f} words"
    assert [s for s in page.sentences if prose.length(s) > prose.LONGEST] == []
    assert page.private == []


def test_the_pages_together_are_short() -> None:
    assert sum(p.words for p in PAGES) <= prose.ALL


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """What a file may say to its users: texts of some words that are no documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {
        n.body[0].value
        for n in ast.walk(tree)
        if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef)) and n.body and isinstance(n.body[0], ast.Expr)
    }
    names = {n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "split"}  # a list of names
    for node in ast.walk(tree):
        if (
            node not in names
            and isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in documented
            and len(node.value.split()) > 3
        ):
            yield node.lineno, node.value


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_messages(path: Path) -> None:
    found = [(line, text) for line, text in texts(path) if any(re.search(p, text, re.IGNORECASE) for p in prose.PRIVATE)]
    assert not found


def documented() -> Iterator[tuple[str, str]]:
    """The documentation of public names, of their methods and properties."""
    modules = [ag, *(getattr(ag, n) for n in ag.__all__ if isinstance(getattr(ag, n), types.ModuleType))]
    for module in modules:
        for name in getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]:
            found = getattr(module, name)
            members = vars(found).items() if isinstance(found, type) else ()
            for part, x in (("", found), *((f".{k}", v) for k, v in members if not k.startswith("_"))):
                if inspect.isclass(x) or inspect.isroutine(x) or isinstance(x, property):
                    yield f"{module.__name__}.{name}{part}", inspect.getdoc(x) or ""


def test_documentation_of_public_names() -> None:
    bare = {name: re.sub(r"`[^`]*`", "x", text.split(">>>")[0]) for name, text in documented()}
    assert len(bare) > 300
    assert {name: text for name, text in bare.items() if any(re.search(p, text, re.IGNORECASE) for p in prose.PRIVATE)} == {}
    modules = {"autograph", *(m.__name__ for m in vars(ag).values() if isinstance(m, types.ModuleType))}
    assert [name for name, text in bare.items() if not text and name.rpartition(".")[0] in modules] == []


def test_a_private_word_is_found(tmp_path: Path) -> None:
    assert any(re.search(p, "it has one value on each side of the branch") for p in prose.PRIVATE)
    assert list(prose.sentences("A turn of phrase; `x` is it. It\nends here.\n\n| a b | c d |\n")) == [
        "A turn of phrase;",
        "x is it.",
        "It ends here.",
        "a b",
        "c d",
    ]
