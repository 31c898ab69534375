"""What shows where a program is, shows the user's file, lines and names: debuggers, coverage, profilers, warnings, logging, and JAX's own reports."""

from __future__ import annotations

import cProfile
import importlib.util
import inspect
import io
import linecache
import logging
import os
import pstats
import re
import subprocess
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag

PROGRAM = """\
import autograph as ag
import jax.numpy as jnp


def helper(x, k):
    if x > 3:
        y = x * 2
        x = y + k
    return x


@ag.function
def work(x, n):
    total = x * 0
    for i in range(n):
        if x > i:
            total += helper(x, 3)
        else:
            total -= jnp.sin(x)
    return total


if __name__ == "__main__":
    print(work(jnp.float32(2.0), jnp.int32(4)))
    print(ag.convert(helper)(5, 1))
"""


def line_of(text: str, number: int = 0) -> int:
    """The number of the line of the program that is this text."""
    return [k for k, line in enumerate(PROGRAM.splitlines(), 1) if line.strip() == text][number]


@pytest.fixture
def program(tmp_path: Path) -> Any:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def helper(x: Any, k: Any) -> Any:
    """A function with a name, a place and a text."""
    if x > k:
        x = x * 2
    return x


@pytest.mark.parametrize("decorator", [ag.function, ag.convert, lambda f: jax.jit(ag.convert(f))])
def test_the_source_of_a_decorated_function(decorator: Callable[..., Any]) -> None:
    f = decorator(helper)
    f(jnp.float32(4.0), 3.0)
    for own in [inspect.unwrap(f), *([f] if inspect.isfunction(f) else [])]:  # `inspect` reads functions only: no object, as `jax.jit` makes them
        assert inspect.getsourcelines(own) == inspect.getsourcelines(helper) and inspect.getsourcefile(own) == inspect.getsourcefile(helper)
    assert inspect.getdoc(f) == inspect.getdoc(helper) and inspect.signature(f) == inspect.signature(helper)
    assert (f.__name__, f.__qualname__, f.__module__) == ("helper", "helper", __name__)


@pytest.mark.parametrize("decorator", [ag.convert, ag.function], ids=["convert", "function"])
def test_a_traceback_has_the_users_lines_and_columns(decorator: Callable[..., Any]) -> None:
    def inner(x: Any, words: Any) -> Any:
        if x > 0:
            x = x + len(words) + words.missing
        return x

    def outer(x: Any, words: Any) -> Any:
        while x < 9:
            x = inner(x, words) + 1
        return x

    def alone(x: Any) -> Any:
        return outer(x, ["a"])

    last = []
    for f in (alone, decorator(alone)):
        with pytest.raises(AttributeError, match="no attribute 'missing'") as caught:
            f(1)
        shown = traceback.extract_tb(caught.value.__traceback__)[-1]
        last.append((shown.filename, shown.lineno, shown.line, shown.colno, shown.end_colno))
    assert last[0] == last[1] and last[0][2:4] == ("x = x + len(words) + words.missing", 33)


def test_an_error_in_a_block_of_jit_is_raised_only_where_the_block_is_run_and_names_the_users_lines() -> None:
    def inner(x: Any, words: Any) -> Any:
        if x > 0:
            x = x + words.missing
        return x

    def alone(x: Any) -> Any:
        return inner(x, ["a"])

    f = jax.jit(ag.convert(alone))
    assert f(-1) == -1
    with pytest.raises(jax.errors.JaxRuntimeError, match="AttributeError: 'list' object has no attribute 'missing'") as caught:  # JAX's, around ours
        f(1)
        jax.effects_barrier()
    text = str(caught.value)
    spots = [
        text.index(f'File "{__file__}", line {code.co_firstlineno + line}, in {code.co_name}')
        for code, line in ((alone.__code__, 1), (inner.__code__, 2))
    ]
    assert spots == sorted(spots)


def test_an_error_of_traced_values_has_the_calls_that_led_to_it() -> None:
    def check(x: Any, most: Any) -> Any:
        if x > most:
            raise ValueError(f"too large: {x:.0f}")
        return x

    def step(x: Any, factors: Any) -> Any:
        for factor in factors:
            if x > 1:
                x = check(x * factor, 100.0) + 1.0
        return x

    def run(x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            x = (step(x, [2.0]) +
                 step(x, [3.0, 4.0]))  # fmt: skip
            i += 1
        return x

    found = []
    for f in (run, ag.function(run)):
        with pytest.raises(ValueError, match="too large: 102") as caught:
            f(2.0, 5)
        frames = traceback.extract_tb(caught.value.__traceback__)[-3:]
        found.append([(f.name, f.lineno, f.line, f.colno, f.end_colno) for f in frames])
        assert not getattr(caught.value, "__notes__", []), "JAX says that it has hidden frames"
    assert found[0] == found[1]


def test_a_frame_inside_a_try_stands_where_the_call_is() -> None:
    def checked(x: Any) -> Any:
        if x > 1:
            raise KeyError("large")
        return x

    def run(x: Any) -> Any:
        while x < 9:
            try:
                x = 1 + checked(x)
            except KeyError:
                x = 0
        return x

    with pytest.raises(ag.AutographError) as caught:
        ag.function(run)(2)
    (frame,) = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.line == "x = 1 + checked(x)"]
    assert frame.colno is not None and linecache.getline(__file__, frame.lineno or 0)[frame.colno : frame.end_colno] == "checked(x)"


def debugged(path: Path, *commands: str) -> str:
    """What `pdb` prints when a script runs under it and is given these commands."""
    given = "\n".join([*commands, "q", ""])
    out = subprocess.run([sys.executable, "-m", "pdb", str(path)], input=given, capture_output=True, text=True, timeout=300)
    return out.stdout


def test_a_breakpoint_at_a_line_is_hit_in_both_forms(program: Any) -> None:
    line = line_of("y = x * 2")
    out = debugged(Path(program.__file__), f"b {line}", "c", "n", "p k", "n", "c", "p x, k", "n", "p y")
    stops = re.findall(r"program\.py\((\d+)\)([\w<>]+)\(\)\n-> (.*)", out)
    assert [(int(n), text) for n, _, text in stops[1:]] == [
        (line, "y = x * 2"), (line + 1, "x = y + k"), (line - 1, "if x > 3:"),  # while the function is traced
        (line, "y = x * 2"), (line + 1, "x = y + k"),  # on numbers
    ]  # fmt: skip
    assert stops[-1][1] == "helper" and "(Pdb) 3\n" in out and "(Pdb) (5, 1)\n" in out and "(Pdb) 10\n" in out


@pytest.mark.parametrize("call", ["breakpoint()", "import pdb; pdb.set_trace()"])
def test_a_breakpoint_in_the_text_stops_there_in_both_forms(call: str, tmp_path: Path) -> None:
    path = tmp_path / "stops.py"
    text = PROGRAM.replace("        x = y + k\n", f"        {call}\n        x = y + k\n")
    path.write_text(text)
    out = subprocess.run([sys.executable, str(path)], input="p k\nc\np x, y\nc\n", capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, out.stderr
    stops = re.findall(r"stops\.py\((\d+)\)\w+\(\)\n-> (.*)", out.stdout)
    stop = ("8", call) if sys.version_info >= (3, 13) else ("9", "x = y + k")  # where Python itself stops
    assert stops == [stop] * 2 and "(Pdb) 3\n" in out.stdout and "(Pdb) (5, 10)\n" in out.stdout


def test_what_runs_eagerly_is_debugged_on_values(tmp_path: Path) -> None:
    path = tmp_path / "eager.py"
    path.write_text(PROGRAM.replace("    print(work(", "    with ag.run_eagerly():\n        print(work("))
    out = debugged(path, f"b {line_of('total -= jnp.sin(x)')}", "c", "p i, float(x)", "n", "p round(float(total), 3)")
    assert "(Pdb) (2, 2.0)\n" in out and "(Pdb) 3.091\n" in out and "work()" in out


@pytest.mark.parametrize("branches", [False, True])
def test_coverage_counts_lines_under_jit(branches: bool, tmp_path: Path) -> None:
    pytest.importorskip("coverage", reason="coverage is installed for development only")
    path = tmp_path / "covered.py"
    path.write_text(PROGRAM.replace("    print(ag.convert(helper)(5, 1))\n", ""))
    run = [sys.executable, "-m", "coverage", "run", "--include=covered.py", *(["--branch"] if branches else []), "covered.py"]
    assert subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=300).returncode == 0
    out = subprocess.run([sys.executable, "-m", "coverage", "report"], cwd=tmp_path, capture_output=True, text=True, timeout=300).stdout
    assert re.search(r"covered\.py +17 +0 ", out), out


def test_a_profiler_shows_the_users_functions(program: Any) -> None:
    profile = cProfile.Profile()
    profile.enable()
    program.work(jnp.float32(2.0), jnp.int32(4))
    ag.convert(program.helper)(5, 1)
    profile.disable()
    found = {(line, name) for file, line, name in pstats.Stats(profile).stats if file == program.__file__}  # type: ignore[attr-defined]
    assert {(line_of("def helper(x, k):"), "helper"), (line_of("@ag.function"), "work")} <= found


def test_jax_source_info_shows_the_users_lines(program: Any) -> None:
    text = program.work.lower(jnp.float32(2.0), jnp.int32(4)).as_text(debug_info=True)
    assert {int(n) for n in re.findall(r'program\.py":(\d+)', text)} >= {
        line_of(t) for t in ("total = x * 0", "for i in range(n):", "if x > i:", "total -= jnp.sin(x)", "if x > 3:", "y = x * 2", "x = y + k")
    }  # fmt: skip
    assert os.path.join("autograph", "runtime") not in text and "jit(work)" in text
    jaxpr = program.work.trace(jnp.float32(2.0), jnp.int32(4)).jaxpr
    shown = jaxpr.pretty_print(source_info=True)
    assert f"program.py:{line_of('total = x * 0')}" in shown


def test_log_compiles_names_the_users_function(caplog: pytest.LogCaptureFixture) -> None:
    class Model:
        def __init__(self) -> None:
            self.h = jnp.zeros(3)

        @ag.function
        def step(self, x: Any) -> Any:
            self.h += x
            return self.h

    for f, name in ((ag.function(helper), "helper"), (jax.jit(ag.convert(helper)), "helper"), (lambda x, k: Model().step(x), "step")):
        caplog.clear()
        with jax.log_compiles(), caplog.at_level(logging.DEBUG, "jax"):
            f(jnp.float32(4.0), jnp.float32(3.0))
        assert f"Compiling jit({name}) " in caplog.text and f"Finished tracing {name} " in caplog.text


def old_interface(x: Any) -> Any:
    warnings.warn("use the new one", DeprecationWarning, stacklevel=2)
    return x + 1


def deeper(x: Any) -> Any:
    warnings.warn("two levels up", stacklevel=3)
    return old_interface(x)


def through(x: Any) -> Any:
    return deeper(x)


def warned(x: Any, many: Any) -> Any:
    warnings.warn("here", RuntimeWarning, stacklevel=1)
    x = old_interface(x)
    if x > 0:
        x = through(x)
        while x < many:
            x = old_interface(x)
            if x > 2:
                warnings.warn(f"x is large: {x > 1}")  # noqa: B028 (where it stands, without being told)
    for _ in range(2):
        x = through(x)
    return x


@pytest.mark.parametrize("convert", [ag.convert, ag.function, lambda f: jax.jit(ag.convert(f))], ids=["convert", "function", "jit"])
def test_warnings_are_of_the_line_and_the_level_that_they_say(convert: Callable[..., Any]) -> None:
    def caught(f: Any) -> set[tuple[str, str, int, str]]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            f(jnp.float32(1.0), jnp.float32(4.0))
            jax.effects_barrier()
        return {(str(w.message), w.category.__name__, w.lineno, w.filename) for w in found}

    native = caught(warned)
    assert len({line for _, _, line, _ in native}) == 7 and {file for *_, file in native} == {__file__}
    assert caught(convert(warned)) == native


def test_a_warning_is_given_once_for_a_place(tmp_path: Path) -> None:
    program = """
        import warnings
        import autograph as ag
        import jax.numpy as jnp

        @ag.function
        def f(x):
            while x < 5:
                warnings.warn("small")
                x += 1
            return x

        f(jnp.float32(1.0))
        f(jnp.float32(2.0))
    """
    path = tmp_path / "once.py"
    path.write_text(textwrap.dedent(program))
    out = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300)
    assert out.stderr == f'{path}:9: UserWarning: small\n  warnings.warn("small")\n'


def test_logging_shows_the_users_place() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(filename)s:%(lineno)d %(module)s %(funcName)s %(levelname)s %(message)s"))
    log = logging.Logger("positions")
    log.addHandler(handler)
    adapter = logging.LoggerAdapter(log, {})

    def say(x: Any) -> None:
        log.warning("for the caller", stacklevel=2)
        adapter.info("here %s", x > 0)

    def logs(x: Any) -> Any:
        say(x)
        if x > 0:
            say(x)
            log.error("in the branch")
            for _ in range(2):
                x = x + 1
                log.log(logging.INFO, "turn %d", x)
        return x

    shown = []
    for f in (logs, ag.convert(logs), ag.function(logs), jax.jit(ag.convert(logs))):
        f(jnp.int32(2))
        jax.effects_barrier()
        shown.append(stream.getvalue())
        stream.seek(0)
        stream.truncate()
    assert len(shown[0].splitlines()) == 7 and " logs WARNING for the caller" in shown[0] and " say INFO here True" in shown[0]
    assert shown[1:] == shown[:1] * 3
