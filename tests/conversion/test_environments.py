"""Where functions come from: notebooks, consoles, doctests, pytest's own rewriting, zipped and frozen packages, text."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

HALVE = """
import autograph as ag

@ag.function
def halve(x):
    while x > 1:
        x = x / 2
    return x
"""

MODULE = """import autograph as ag

def helper(x):
    return x / 2 if x > 0 else x

@ag.convert
def g(x):
    if x > 1:
        x = helper(x)
    return x

@ag.function
def h(x):
    if x > 1:
        x = helper(x)
    return x
"""

SHELL = """
import re, sys, time
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

sys.path.insert(0, ".")
shell = InteractiveShell.instance(colors="nocolor")

def cell(text):
    done = shell.run_cell(text)
    done.raise_error()
    return done.result

cell("import autograph as ag, jax, jax.numpy as jnp")
"""


def run(folder: Path, program: str, *options: str, given: str | None = None) -> str:
    """What a program prints in a process of its own."""
    (folder / "main.py").write_text(program)
    command = [sys.executable, *options] if given is not None else [sys.executable, *options, "main.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, input=given)
    return done.stdout + done.stderr


def in_shell(folder: Path, program: str) -> str:
    pytest.importorskip("IPython", reason="IPython is not installed: `pip install -e '.[dev]'`")
    return run(folder, SHELL + textwrap.dedent(program))


def test_cells_of_a_notebook(tmp_path: Path) -> None:
    out = in_shell(tmp_path, '''
        cell("def helper(x):\\n    return x / 2 if x > 2 else x / 4")
        cell("@ag.function\\ndef f(x):\\n    while x > 1:\\n        x = helper(x)\\n    return x")
        print(float(cell("f(10.0)")))
        cell("def helper(x):\\n    return x / 2 if x > 2 else x - 1")          # defined again: seen by functions that are
        cell("@ag.function\\ndef f(x):\\n    while x > 1:\\n        x = helper(x)\\n    return -x")
        print(float(cell("f(10.0)")))
        print(cell("ag.to_code(f)"))
    ''')  # fmt: skip
    assert [line for line in out.splitlines() if line in ("0.3125", "-0.25")] == ["0.3125", "-0.25"], out
    assert "x = ag.while_loop(" in out


def test_an_error_in_a_cell_names_the_cell_and_ends_at_its_line(tmp_path: Path) -> None:
    out = in_shell(tmp_path, '''
        done = shell.run_cell("@ag.function\\ndef g(x):\\n    if x > 0:\\n        y = jnp.ones(2)\\n    else:\\n        y = jnp.ones(3)\\n    return y\\ng(1.0)")
        print("name:", str(done.error_in_exec).splitlines()[0])
    ''')  # fmt: skip
    assert "name: Cell In[1]:3: AG202 `y` is float32[2] (line 4)" in out
    shown = out.split("Traceback (most recent call last)")[1]
    assert "----> 3     if x > 0:" in shown and "conditional.py" not in shown


def test_a_report_in_a_notebook(tmp_path: Path) -> None:
    out = in_shell(tmp_path, '''
        cell("@ag.function\\ndef f(x):\\n    while x > 1:\\n        x = x / 2\\n    return x")
        data, _ = shell.display_formatter.format(cell("ag.explain(f, 3.0)"))
        print(sorted(data), data["text/plain"].splitlines()[0], "<table>" in data["text/html"])
    ''')  # fmt: skip
    assert out.endswith("['text/html', 'text/plain'] f  Cell In[1]:2 True\n"), out


def test_autoreload(tmp_path: Path) -> None:
    """A helper that is edited while the functions that call it are not: `%autoreload` gives the old function new code."""
    (tmp_path / "reloaded.py").write_text(MODULE)
    out = in_shell(tmp_path, '''
        module = Path("reloaded.py")
        text = module.read_text()
        cell("%load_ext autoreload")
        cell("%autoreload 2")
        cell("from reloaded import g, h")
        print(cell("[float(v) for v in (g(10.0), jax.jit(g)(10.0), h(10.0))]"))
        for divisor in (4, 5):
            module.write_text(text.replace("x / 2", f"x / {divisor}" + " " * divisor))
            print(cell("[float(v) for v in (g(10.0), jax.jit(g)(10.0), h(10.0))]"))
    ''')  # fmt: skip
    numbers = [line for line in out.splitlines() if line.startswith("[") and line.endswith("]")]
    assert numbers == ["[5.0, 5.0, 5.0]", "[2.5, 2.5, 2.5]", "[2.0, 2.0, 2.0]"], out


def test_a_console(tmp_path: Path) -> None:
    """`python -i`: from 3.13 on the console keeps the source of what is typed, before it is a clear error."""
    out = run(tmp_path, "", "-i", given=HALVE.strip() + "\n\nprint('the result is', halve(10.0))\n")
    if sys.version_info >= (3, 13):
        assert "the result is 0.625" in out
    else:
        assert "AG101 there is no source text for <stdin>" in out and "define the function in a file or a notebook cell" in out


def test_text_without_source(tmp_path: Path) -> None:
    out = run(tmp_path, f"try:\n    exec({HALVE!r})\nexcept Exception as error:\n    print(error)\n")
    assert out.startswith("AG101 there is no source text for <string>"), out


def test_a_zipped_package(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as bundle:
        bundle.writestr("zipped/__init__.py", HALVE + "\n@ag.function\ndef bad(x):\n    return 'a' if x > 0 else 1\n")
    out = run(tmp_path, """
import sys
sys.path.insert(0, "bundle.zip")
from zipped import bad, halve
print(halve(10.0))
try:
    bad(1.0)
except Exception as error:
    print(error)
""")  # fmt: skip
    assert out.startswith("0.625\n") and "zipped/__init__.py:12: AG202" in out and "return 'a' if x > 0 else 1" in out, out


def test_frozen_code(tmp_path: Path) -> None:
    (tmp_path / "frozen.py").write_text(HALVE)
    out = run(tmp_path, """
import os, py_compile
py_compile.compile("frozen.py", cfile="frozen.pyc")
os.remove("frozen.py")
try:
    import frozen
except Exception as error:
    print(error)
""")  # fmt: skip
    assert out.startswith("AG101 there is no source text for frozen.py") and "autograph transpile" in out, out


def test_doctest(tmp_path: Path) -> None:
    program = '''
def halve(x):
    """
    >>> import autograph as ag
    >>> @ag.function
    ... def positive(x):
    ...     if x > 0:
    ...         return x
    ...     return 0.0
    >>> float(positive(-1.0)), float(ag.function(halve)(10.0))
    (0.0, 0.625)
    """
    while x > 1:
        x = x / 2
    return x

import doctest
print(doctest.testmod())
'''
    assert run(tmp_path, program) == "TestResults(failed=0, attempted=3)\n"


def test_assertions_that_pytest_rewrites(tmp_path: Path) -> None:
    (tmp_path / "test_client.py").write_text(HALVE + """
@ag.function
def checked(x):
    assert x > 0, f"not positive: {x}"
    return halve(x)

def test_right():
    assert checked(10.0) == 0.625

def test_wrong():
    assert checked(-1.0) == 1
""")  # fmt: skip
    out = run(tmp_path, "", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_client.py", given="")
    assert "1 failed, 1 passed" in out and "AssertionError: not positive: -1.0" in out and "test_client.py:" in out, out
