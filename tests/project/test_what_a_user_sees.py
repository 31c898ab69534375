"""What a user sees while working: tracebacks, notes, running eagerly, and being told of retraces."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


def third(v: Any) -> Any:
    return v @ jnp.ones((4, 2))  # the deliberate error


def second(v: Any) -> Any:
    return third(v * 2)


def first(v: Any) -> Any:
    return second(v) + 1


def wrong(x: Any, n: Any) -> Any:
    if n > 0:
        for _ in range(n):
            x = first(x)
    return x


@pytest.mark.parametrize("form", [ag.function, lambda f: jax.jit(ag.convert(f))], ids=["function", "jit of convert"])
def test_an_error_three_calls_deep_ends_at_its_line(form: Any) -> None:
    with pytest.raises(TypeError, match="dot_general") as caught:
        form(wrong)(jnp.ones(3), 2)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].line == "return v @ jnp.ones((4, 2))  # the deliberate error"
    assert [f.name for f in frames[-3:]] == ["first", "second", "third"]
    assert not [f for f in frames if "/jax/_src/" in f.filename and f.name != "wrapper" and f is not frames[0] and form is ag.function]
    (note,) = [n for n in caught.value.__notes__ if n.startswith("this happened")]
    start = wrong.__code__.co_firstlineno
    assert note.splitlines() == [
        f"this happened at {__file__}:{third.__code__.co_firstlineno + 1}: `return v @ jnp.ones((4, 2))  # the deliberate error`",
        f"  in the compiled loop of line {start + 2}: `for _ in range(n):`",
        f"  in the compiled branch of line {start + 1}: `if n > 0:`",
    ]


def test_the_programs_own_errors_get_no_note() -> None:
    @ag.function
    def f(x: Any, n: Any) -> Any:
        for _ in range(n):
            raise KeyError("own")
        return x

    with pytest.raises(KeyError) as caught:
        f(1.0, 3)
    assert not [n for n in getattr(caught.value, "__notes__", []) if n.startswith("this happened")]


def test_the_whole_traceback_on_request(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import jax.numpy as jnp, autograph as ag\n@ag.function\ndef f(x, n):\n    for k in range(n):\n        x = x @ jnp.ones((4, 2))\n    return x\nf(jnp.ones(3), 2)\n"
    )

    def run(**env: str) -> str:
        return subprocess.run([sys.executable, str(program)], env={**os.environ, **env}, capture_output=True, text=True).stderr

    short, full = run(), run(AUTOGRAPH_TRACEBACK="full")
    assert "runtime/" not in short and "jax/_src" not in short and "x = x @ jnp.ones((4, 2))" in short
    assert "runtime/loops/carry_types.py" in full and "jax/_src" in full


def test_the_message_shows_the_lines_with_carets() -> None:
    def sides(x: Any) -> Any:
        if x > 0:
            y = jnp.ones(3)
        else:
            y = jnp.ones(4)
        return y

    with pytest.raises(ag.AutographError) as caught:
        ag.function(sides)(1.0)
    at = sides.__code__.co_firstlineno
    assert str(caught.value).splitlines()[1:] == [
        f"{at + 1:>6} |         if x > 0:",
        "       |         ^^^^^^^^^",
        f"{at + 2:>6} |             y = jnp.ones(3)",
        "       |                 ^^^^^^^^^^^ float32[3]",
        f"{at + 4:>6} |             y = jnp.ones(4)",
        "       |                 ^^^^^^^^^^^ float32[4]",
        "  help: give both branches the same type and shape",
    ]


def test_carets_count_characters() -> None:
    def f(x: Any) -> Any:
        größe = [1, "ä"]
        ü = 1 + größe[x]
        return ü

    with pytest.raises(ag.AutographError, match="AG502") as caught:
        ag.function(f)(1)
    line, marks = str(caught.value).splitlines()[1:3]
    assert line[marks.index("^") : marks.rindex("^") + 1] == "größe[x]"


def test_running_eagerly() -> None:
    seen: list[Any] = []

    @ag.function
    def f(x: Any) -> Any:
        while x > 1:
            x = x / 2
            seen.append(type(x))
        return x

    with ag.run_eagerly():
        assert f(8.0) == 1.0
    assert seen == [float, float, float]
    ag.run_eagerly(True)
    try:
        assert f(2.0) == 1.0 and seen[-1] is float
    finally:
        ag.run_eagerly(False)
    assert not jax.config.jax_disable_jit  # type: ignore[attr-defined]


def test_many_traces_are_told_with_what_has_changed() -> None:
    @ag.function
    def total(x: Any, mode: str = "a") -> Any:
        return x.sum()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(1, 9):
            total(jnp.ones(n))
            total(jnp.ones(n))
        assert not [w for w in caught if w.category is ag.RetraceWarning]
        for k in range(4):
            total(jnp.ones(8), mode=str(k))
    (told,) = [w for w in caught if w.category is ag.RetraceWarning]
    assert "`total` has been traced" not in str(told.message) and ".total` has been traced and compiled 10 times: " in str(told.message)
    assert "`mode` was static" in str(told.message) and told.filename == __file__
    report = ag.explain(total, jnp.ones(3))
    assert report.retraces[0] == "`x` was float32[1], and is float32[2]" and "traced again" in str(report)


def test_lists_of_modules(tmp_path: Path) -> None:
    """A library that is included, a module and a package of one's own that are excluded; a decorator counts more."""
    helper = "def half(x):\n    return x / 2 if x > 1 else x\n"
    marked = "import autograph as ag\n\n@ag.convert\ndef marked(x):\n    return x / 2 if x > 1 else x\n"
    library = tmp_path / "site-packages" / "somelib"
    for folder, text in ((library, helper), (tmp_path / "legacy", ""), (tmp_path / "legacy" / "kept", helper)):
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(text)
    (tmp_path / "legacy" / "old.py").write_text(helper + marked)
    (tmp_path / "main.py").write_text("""
import sys
sys.path[:0] = [".", "site-packages"]
import autograph as ag
import legacy.kept, legacy.old, somelib

def kind(f):
    try:
        return float(ag.function(lambda x: f(x))(3.0))
    except Exception as error:
        return error.id

if sys.argv[1:]:
    ag.include("somelib", "legacy.kept")
    ag.exclude("legacy")
print(kind(somelib.half), kind(legacy.old.half), kind(legacy.kept.half), kind(legacy.old.marked))
try:
    ag.include("no_such_module")
except ModuleNotFoundError as error:
    print(error)
""")
    outs = [
        subprocess.run([sys.executable, "main.py", *given], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for given in ([], ["listed"])
    ]
    assert outs[0].splitlines() == ["AG501 1.5 1.5 1.5", "there is no module `no_such_module`"]
    assert outs[1].splitlines() == ["1.5 AG501 1.5 1.5", "there is no module `no_such_module`"]


def keeps(n: Any) -> Any:
    while n < 9:
        n = doubled(n) + 1
    return n


def doubled(n: Any) -> Any:
    if n > 3:
        return n * 2
    return n


class Total:
    def __init__(self) -> None:
        self.sums = jnp.zeros(2)

    def add(self, x: Any) -> Any:
        if x > 0:
            self.sums[0] += x
        return self.sums.sum()


def test_disable_jit_computes_on_values() -> None:
    seen: list[Any] = []

    @ag.function
    def looks(x: Any) -> Any:
        for i in range(x):
            if i == 2:
                seen.append(float(i + x))
        return x

    with jax.disable_jit():
        for f in (ag.function(keeps), jax.jit(ag.convert(keeps)), ag.convert(keeps)):
            assert f(jnp.float32(2.0)) == 9.0
        total = Total()
        add = ag.function(Total.add)
        assert (add(total, jnp.float32(2.0)), add(total, jnp.float32(-1.0)), add(total, jnp.float32(2.0))) == (2.0, 2.0, 4.0)
        assert looks(jnp.int32(3)) == 3 and seen == [5.0]
        assert jax.grad(ag.function(keeps))(2.0) == 2.0
        np.testing.assert_array_equal(jax.vmap(ag.convert(doubled))(jnp.arange(6.0)), [0, 1, 2, 3, 8, 10])
        np.testing.assert_array_equal(jax.lax.cond(True, ag.convert(keeps), doubled, jnp.float32(2.0)), 9.0)


@pytest.mark.parametrize("decorator", [ag.function, lambda f: jax.jit(ag.convert(f)), ag.convert], ids=["function", "jit", "convert"])
def test_debug_nans_names_the_users_line(decorator: Any) -> None:
    def f(x: Any) -> Any:
        y = x
        while y > -2:
            y = y - 1
            if y < 1:
                x = jnp.log(y)  # here
        return x

    with jax.debug_nans(True), pytest.raises(FloatingPointError, match=r"invalid value \(nan\) encountered in log") as caught:
        decorator(f)(jnp.float32(2.0))
    mine = [s.line for s in traceback.extract_tb(caught.value.__traceback__) if s.filename == __file__]
    assert mine[-1] == "x = jnp.log(y)  # here"


def test_debug_nans_and_state() -> None:
    total = Total()
    add = ag.function(Total.add)
    with jax.debug_nans(True):
        assert (add(total, jnp.float32(2.0)), add(total, jnp.float32(2.0))) == (2.0, 4.0)
        with pytest.raises(FloatingPointError):
            add(total, jnp.float32(jnp.inf))
            add(total, jnp.float32(-jnp.inf) * 0 + 1)
            ag.function(lambda t: t.sums * 0)(total)
    assert total.sums[1] == 0.0


@pytest.mark.parametrize("decorator", [ag.function, lambda f: jax.jit(ag.convert(f)), ag.convert], ids=["function", "jit", "convert"])
def test_checkify_sees_into_loops_and_branches(decorator: Any) -> None:
    from jax.experimental import checkify

    def f(x: Any, n: Any) -> Any:
        for _ in range(n):
            checkify.check(x < 20, "x is too large: {}", x)
            x = x * 2 if x > 5 else x + 1
        return x

    def g(x: Any) -> Any:
        if x > 0:
            checkify.check(x < 2, "large")
            x = jnp.log(x - 1)
        return x

    checked = checkify.checkify(decorator(f))
    error, out = checked(jnp.float32(1.0), jnp.int32(3))
    assert error.get() is None and out == 4.0
    error, _ = checked(jnp.float32(1.0), jnp.int32(9))
    assert error.get().startswith("x is too large: 24.0")
    for x, errors, message in (
        (5.0, checkify.user_checks, "large"),
        (0.5, checkify.float_checks, "nan generated by primitive: log"),
        (-1.0, checkify.all_checks, None),
    ):
        error, _ = checkify.checkify(decorator(g), errors=errors)(jnp.float32(x))
        assert (error.get() or "").startswith(message or "") and bool(error.get()) == (message is not None)


def test_a_breakpoint_of_jax_stops_when_the_program_runs(tmp_path: Path) -> None:
    path = tmp_path / "stops.py"
    path.write_text(
        "import autograph as ag, jax, jax.numpy as jnp\n\n\n@ag.function\ndef work(x, n):\n    total = x * 0\n    for i in range(n):\n"
        "        if total > 2:\n            y = total * i\n            jax.debug.breakpoint()\n            total -= y\n        else:\n"
        "            total += x\n    return total\n\n\nprint(work(jnp.float32(2.0), jnp.int32(4)))\n"
    )
    out = subprocess.run([sys.executable, str(path)], input="p i, float(total)\np float(y)\nl\nc\n", capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, out.stderr
    assert "(Array(2, dtype=int32), 4.0)" in out.stdout and "(jdb) 8.0\n" in out.stdout and out.stdout.endswith("-2.0\n")
    if "def work(" in out.stdout:  # newer JAX shows no lines, of no program
        assert "->              jax.debug.breakpoint()" in out.stdout
