"""The command line: what it prints and writes, its exit codes, and that it leaves no half-written file and no traceback."""

from __future__ import annotations

import ast
import errno
import inspect
import io
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

import pytest

import autograph as ag
from autograph.commands.cli import main
from autograph.passes import PASSES
from tests.sourced import define

SIGN = "def sign(x):\n    if x > 0:\n        return 1\n    return -1\n"
SIGN_NEW = "def sign(x):\n    return ag.cond(x > 0, lambda: 1, lambda: -1)\n"
BOX = "class Box:\n    def low(self, x):\n        return 1 if x > 0 else 0\n"
LAST = 'raise RuntimeError("executed")\n'
PROGRAM = f"import autograph as ag\n\n\n@ag.convert\n{SIGN}\n\n{BOX}\n\n{LAST}"
CONVERTED = f"import autograph.runtime as ag\n\n\n@ag.converted\n{SIGN_NEW}\n\n{BOX}\n\n{LAST}"


def command(*args: str, cwd: Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "autograph", *args], capture_output=True, text=True, cwd=cwd, input=text)


def refused(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """The message of a command that fails: one line on standard error, and nothing on standard output."""
    assert main(args) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.match(r"autograph: |[^:\n]+:\d+:\d+: AG\d+ ", err) and err.endswith("\n") and err.count("\n") == 1, err
    return err


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Standard input with these bytes, decoded as Python does by default."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="surrogateescape", newline="\n"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with one program in it, which fails when it is executed."""
    (tmp_path / "train.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


# As a process


def test_version(tmp_path: Path) -> None:
    done = command("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"autograph {ag.__version__}\n", "")


def test_transpile_as_a_process(folder: Path) -> None:
    done = command("transpile", "train.py", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, CONVERTED, "")
    assert (folder / "train.py").read_text() == PROGRAM and names(folder) == ["train.py"]


def test_standard_input_as_a_process(folder: Path) -> None:
    done = command("transpile", "-", cwd=folder, text=PROGRAM)
    assert (done.returncode, done.stdout, done.stderr) == (0, CONVERTED, "")


def test_failure_as_a_process(folder: Path) -> None:
    done = command("transpile", "missing.py", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "autograph: missing.py: No such file or directory\n")


def test_wrong_use_as_a_process(folder: Path) -> None:
    done = command("transpile", "--nothing", "train.py", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: autograph") and "Traceback" not in done.stderr


@pytest.mark.parametrize("lines", [0, 20_000])
def test_a_reader_that_has_gone(folder: Path, lines: int) -> None:
    (folder / "train.py").write_text(PROGRAM + "# filler\n" * lines)
    reader, writer = os.pipe()
    os.close(reader)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-m", "autograph", "transpile", "train.py"], stdout=writer, stderr=subprocess.PIPE, text=True, env=environment
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


# Wrong use


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["transpile"],
        ["show"],
        ["build"],
        ["explain"],
        ["run"],
        ["check"],
        ["show", "a.py:f", "--after"],
        ["transpile", "a.py", "-o"],
        ["--nothing"],
    ],
    ids=lambda args: " ".join(args) or "nothing",
)
def test_wrong_use(args: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(args)
    out, err = capsys.readouterr()
    assert caught.value.code == 2 and out == "" and err.startswith("usage: autograph")


# transpile


def test_a_dash_is_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transpile", "train.py"]) == 0
    printed = capsys.readouterr().out
    assert main(["transpile", "train.py", "-o", "-"]) == 0
    assert capsys.readouterr().out == printed and not (folder / "-").exists()
    assert "standard output takes one" in refused(capsys, "transpile", "train.py", "train.py", "-o", "-")


def test_transpile_to_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transpile", "train.py"]) == 0
    assert capsys.readouterr() == (CONVERTED, "")


def test_transpile_every_function(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transpile", "--all", "train.py"]) == 0
    out = capsys.readouterr().out
    new = CONVERTED.replace("return 1 if x > 0 else 0", "return ag.cond(x > 0, lambda: 1, lambda: 0)")
    assert out == new.replace("    def low", "    @ag.converted\n    def low")


def test_transpile_to_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transpile", "train.py", "-o", "new.py"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (folder / "new.py").read_text() == CONVERTED and (folder / "train.py").read_text() == PROGRAM
    assert names(folder) == ["new.py", "train.py"]


def test_transpile_in_place(folder: Path) -> None:
    assert main(["transpile", "train.py", "--output", "train.py"]) == 0
    assert (folder / "train.py").read_text() == CONVERTED and names(folder) == ["train.py"]
    assert main(["transpile", "train.py", "-o", "train.py"]) == 0
    assert (folder / "train.py").read_text() == CONVERTED


def test_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    feed(monkeypatch, PROGRAM.encode())
    assert main(["transpile", "-", "-o", "new.py"]) == 0
    assert (folder / "new.py").read_text() == CONVERTED and capsys.readouterr() == ("", "")


def test_diff(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transpile", "--diff", "train.py"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["--- train.py", "+++ train.py (converted)"]
    changed = [line for line in lines[2:] if line[0] in "+-"]
    assert changed == [
        "-import autograph as ag", "+import autograph.runtime as ag", "-@ag.convert", "+@ag.converted",
        "-    if x > 0:", "-        return 1", "-    return -1", "+    return ag.cond(x > 0, lambda: 1, lambda: -1)",
    ]  # fmt: skip
    assert (folder / "train.py").read_text() == PROGRAM and names(folder) == ["train.py"]


def test_diff_of_what_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(CONVERTED)
    assert main(["transpile", "--diff", "--check", "train.py"]) == 0
    assert capsys.readouterr() == ("", "")


def test_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transpile", "--check", "train.py"]) == 1
    assert capsys.readouterr() == ("", "")
    (folder / "done.py").write_text(CONVERTED)
    assert main(["transpile", "--check", "done.py"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["transpile", "--check", "--diff", "train.py"]) == 1
    assert "+import autograph.runtime as ag" in capsys.readouterr().out
    assert (folder / "train.py").read_text() == PROGRAM and names(folder) == ["done.py", "train.py"]


def test_an_empty_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty.py").write_text("")
    assert main(["transpile", "--all", "empty.py"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["transpile", "--check", "empty.py"]) == 0
    assert main(["transpile", "empty.py", "-o", "new.py"]) == 0
    assert (folder / "new.py").read_bytes() == b""


# Input that is at fault


BROKEN = {
    "syntax": b"import autograph as ag\n\n\n@ag.convert\ndef f(x:\n    return x\n",
    "indentation": b"def f(x):\nreturn x\n",
    "null byte": b"x = 1\0\n",
    "bytes": b"x = '\xff'\n",
    "bytes after two lines": b"\n\n\nx = '\xff'\n",
    "unknown encoding": b"# coding: nothing\nx = 1\n",
    "two encodings": b"\xef\xbb\xbf# coding: latin-1\nx = 1\n",
}


@pytest.mark.parametrize("to_file", [False, True], ids=["printed", "written"])
@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_file_at_fault(data: bytes, to_file: bool, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.py").write_bytes(data)
    (folder / "new.py").write_text("old")
    message = refused(capsys, "transpile", "bad.py", *(["-o", "new.py"] if to_file else []))
    assert "bad.py" in message
    assert (folder / "new.py").read_text() == "old" and names(folder) == ["bad.py", "new.py", "train.py"]


def test_a_syntax_error_names_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.py").write_text("x = 1\ny = 2\ndef f(:\n")
    assert refused(capsys, "transpile", "bad.py") == "bad.py:3:7: AG101 the source does not parse: invalid syntax\n"
    assert refused(capsys, "show", "bad.py:f") == "bad.py:3:7: AG101 the source does not parse: invalid syntax\n"


@pytest.mark.parametrize("statement", ["nonlocal missing", "continue", "x: int; global x"])
def test_what_parses_and_is_no_python(statement: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.py").write_text(f"import autograph as ag\n\n\n@ag.function\ndef f(x):\n    {statement}\n    return x\n")
    for command in ("transpile", "check"):
        assert re.match(r"bad\.py:6:\d+: AG101 the source does not parse: ", refused(capsys, command, "bad.py"))


def test_functions_that_stay_python_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = "`f` looks at its own frame (`locals`, `eval`, ...), and stays Python: traced values cannot decide in it"
    text = "import autograph as ag\n\n\n@ag.function\ndef f(x):\n    if x > 0:\n        x = len(locals())\n    return x\n"
    (folder / "looks.py").write_text(text + "\n\n@ag.function\nasync def g(x):\n    return x\n")
    assert main(["transpile", "looks.py"]) == 0
    out, err = capsys.readouterr()
    assert out == (folder / "looks.py").read_text()
    assert err.splitlines()[0] == f"looks.py:5:1: AG501 {told}" and err.splitlines()[1].startswith("looks.py:12:1: AG501 `g` is a coroutine, ")
    assert main(["show", "looks.py:f"]) == 0
    assert capsys.readouterr().out == f"# {told}\ndef f(x):\n    if x > 0:\n        x = len(locals())\n    return x\n"
    assert main(["show", "looks.py:g"]) == 0
    assert capsys.readouterr().out.endswith("\nasync def g(x):\n    return x\n")
    assert main(["explain", "looks.py:f"]) == 0
    assert capsys.readouterr().out == f"f  looks.py:5\n  {told.replace('`f`', 'it')}\n"


def test_a_missing_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "transpile", "missing.py", "-o", "new.py") == "autograph: missing.py: No such file or directory\n"
    assert refused(capsys, "show", "missing.py:f") == "autograph: missing.py: No such file or directory\n"
    assert names(folder) == ["train.py"]


def test_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "package.py").mkdir()
    assert "several files need -o FOLDER" in refused(capsys, "transpile", ".")
    assert refused(capsys, "transpile", "package.py", "--check") == "autograph: package.py: there is no Python file in this folder\n"
    assert "a folder" in refused(capsys, "show", "package.py:f")


@pytest.mark.parametrize("data", [b"def f(:\n", b"x = '\xff'\n"])
def test_standard_input_at_fault(data: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    feed(monkeypatch, data)
    assert "<stdin>" in refused(capsys, "transpile", "-")


@pytest.mark.parametrize("start", [b"# coding: latin-1\n", b"\xef\xbb\xbf"], ids=["cookie", "mark"])
def test_the_encoding_of_standard_input(start: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "é".encode("latin-1" if b"latin" in start else "utf-8")
    data = start + b"import autograph as ag\n\n\n@ag.convert\n" + SIGN.encode() + b"\n\nname = '" + name + b"'\n"
    feed(monkeypatch, data)
    assert main(["transpile", "-", "-o", "new.py"]) == 0
    assert (
        folder / "new.py"
    ).read_bytes() == start + b"import autograph.runtime as ag\n\n\n@ag.converted\n" + SIGN_NEW.encode() + b"\n\nname = '" + name + b"'\n"


def test_an_expression_too_deep(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "deep.py").write_text(f"import autograph as ag\n\n\n@ag.convert\ndef f(x):\n    return {' + '.join(['x'] * 20_000)}\n")
    refused(capsys, "transpile", "deep.py")


# The file that is written


def test_a_target_that_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "inner").mkdir()
    for target in ("nowhere/new.py", "train.py/new.py"):
        assert refused(capsys, "transpile", "train.py", "-o", target).startswith(f"autograph: {target}: ")
    assert names(folder) == ["inner", "train.py"] and names(folder / "inner") == []
    assert (folder / "train.py").read_text() == PROGRAM


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may write everywhere")
def test_a_folder_without_permission(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "closed").mkdir(mode=0o500)
    assert refused(capsys, "transpile", "train.py", "-o", "closed/new.py") == "autograph: closed/new.py: Permission denied\n"
    assert names(folder / "closed") == []


def failing(code: int) -> Any:
    def fail(*args: Any, **options: Any) -> NoReturn:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize(
    ("where", "name", "code"),
    [(tempfile, "mkstemp", errno.EACCES), (os, "fsync", errno.ENOSPC), (os, "chmod", errno.EPERM), (os, "replace", errno.EIO)],
    ids=["mkstemp", "fsync", "chmod", "replace"],
)
def test_a_file_is_replaced_whole_or_not_at_all(
    where: Any, name: str, code: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "new.py").write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(where, name, failing(code))
        message = refused(capsys, "transpile", "train.py", "-o", "new.py")
    assert message == f"autograph: new.py: {os.strerror(code)}\n"
    assert (folder / "new.py").read_text() == "old" and names(folder) == ["new.py", "train.py"]


def test_a_kill_during_the_write_leaves_old_or_new(folder: Path) -> None:
    """The process is killed as soon as its temporary file is seen, and at other moments of the write."""
    (folder / "many.py").write_text("import autograph as ag\n" + "".join(f"\n\n@ag.convert\n{SIGN.replace('sign', f'sign_{k}')}" for k in range(300)))
    assert main(["transpile", "many.py", "-o", "whole.py"]) == 0
    new, old = (folder / "whole.py").read_text(), "old = 1\n" * 20000
    outcomes = []
    for wait in (0.0, 0.0, 0.001, 0.003):
        target = folder / f"target_{wait}.py"
        target.write_text(old)
        process = subprocess.Popen([sys.executable, "-m", "autograph", "transpile", "many.py", "-o", target.name], cwd=folder)
        while process.poll() is None and not list(folder.glob(f".{target.name}.*")):
            pass
        time.sleep(wait)
        process.kill()
        process.wait()
        outcomes.append("old" if target.read_text() == old else "new" if target.read_text() == new else "a mixture")
        assert main(["transpile", "many.py", "-o", target.name]) == 0 and target.read_text() == new
    assert "a mixture" not in outcomes


def test_readers_of_the_old_file_keep_it(folder: Path) -> None:
    """The new content is another file that takes the name, so a program that is reading sees no mixture."""
    (folder / "new.py").write_text("old")
    with open(folder / "new.py") as reader:
        assert main(["transpile", "train.py", "-o", "new.py"]) == 0
        assert reader.read() == "old"
    assert (folder / "new.py").read_text() == CONVERTED


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_the_mode_of_a_file_is_kept(mode: int, folder: Path) -> None:
    (folder / "new.py").write_text("old")
    (folder / "new.py").chmod(mode)
    assert main(["transpile", "train.py", "-o", "new.py"]) == 0
    assert stat.S_IMODE((folder / "new.py").stat().st_mode) == mode


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_usual_mode(mask: int, folder: Path) -> None:
    before = os.umask(mask)
    try:
        assert main(["transpile", "train.py", "-o", "new.py"]) == 0
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "new.py").stat().st_mode) == 0o666 & ~mask


def test_a_pipe_is_written_to_and_not_replaced(folder: Path) -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main(["transpile", "train.py", "-o", "pipe"]) == 0
        assert stat.S_ISFIFO(os.stat("pipe").st_mode)
        assert os.read(reader, 10_000).decode() == CONVERTED
    finally:
        os.close(reader)


def test_a_link_stays_a_link(folder: Path) -> None:
    (folder / "new.py").write_text("old")
    (folder / "link.py").symlink_to("new.py")
    assert main(["transpile", "train.py", "-o", "link.py"]) == 0
    assert (folder / "link.py").is_symlink() and (folder / "new.py").read_text() == CONVERTED


# Bytes


@pytest.mark.parametrize("printed", [True, False], ids=["printed", "written"])
def test_line_endings_of_what_stays(printed: bool, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "dos.py").write_bytes(PROGRAM.replace("\n", "\r\n").encode())
    if printed:
        assert main(["transpile", "dos.py"]) == 0
        new = capsys.readouterr().out
    else:
        assert main(["transpile", "dos.py", "-o", "new.py"]) == 0
        new = (folder / "new.py").read_bytes().decode()
    kept = [line for line in new.splitlines(keepends=True) if "ag.cond" not in line]
    assert kept == [line for line in CONVERTED.replace("\n", "\r\n").splitlines(keepends=True) if "ag.cond" not in line]


def test_line_endings_of_what_is_generated(folder: Path) -> None:
    (folder / "dos.py").write_bytes(PROGRAM.replace("\n", "\r\n").encode())
    assert main(["transpile", "dos.py", "-o", "new.py"]) == 0
    assert (folder / "new.py").read_bytes() == CONVERTED.replace("\n", "\r\n").encode()


@pytest.mark.parametrize("start", [b"# -*- coding: latin-1 -*-\n", b"#!/usr/bin/env python\n# coding: utf-8\n", b"\xef\xbb\xbf", b""])
def test_the_encoding_is_kept(start: bytes, folder: Path) -> None:
    word = "é".encode("latin-1" if b"latin" in start else "utf-8")

    def text(header: bytes, body: bytes) -> bytes:
        return start + header + b'def f(x):\n    """' + word + b'"""\n' + body + b"\n\nname = '" + word + b"'  # " + word + b"\n"

    (folder / "name.py").write_bytes(text(b"import autograph as ag\n\n\n@ag.convert\n", b"    return '" + word + b"' if x > 0 else ''\n"))
    assert main(["transpile", "name.py", "-o", "new.py"]) == 0
    new = text(b"import autograph.runtime as ag\n\n\n@ag.converted\n", b"    return ag.cond(x > 0, lambda: '" + word + b"', lambda: '')\n")
    assert (folder / "new.py").read_bytes() == new


def test_a_character_that_the_encoding_lacks(folder: Path) -> None:
    (folder / "name.py").write_text(
        f"# coding: ascii\nimport autograph as ag\n\n\n@ag.convert\n{SIGN.replace('return 1', 'return chr(0) < chr(8364)')}"
    )
    text = (folder / "name.py").read_text().replace("chr(8364)", '"\\u20ac"')
    (folder / "name.py").write_text(text)
    assert main(["transpile", "name.py", "-o", "new.py"]) == 0
    space: dict[str, Any] = {}
    exec(compile((folder / "new.py").read_bytes(), "new.py", "exec"), space)
    assert space["sign"](1) is True


# show


@pytest.mark.parametrize("target", ["train.py:sign", "./train.py:sign", "train:sign"])
def test_show(target: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", target]) == 0
    assert capsys.readouterr() == (SIGN_NEW, "")


def test_show_a_method(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "train.py:Box.low"]) == 0
    assert capsys.readouterr().out == "def low(self, x):\n    return ag.cond(x > 0, lambda: 1, lambda: 0)\n"


def test_show_of_an_absolute_path(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{folder / 'train.py'}:sign"]) == 0
    assert capsys.readouterr().out == SIGN_NEW


def test_show_of_a_module_in_a_package(folder: Path) -> None:
    (folder / "inside").mkdir()
    (folder / "inside" / "__init__.py").write_text("")
    (folder / "inside" / "part.py").write_text(PROGRAM)
    done = command("show", "inside.part:sign", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, SIGN_NEW, "")


def test_show_executes_nothing(folder: Path) -> None:
    (folder / "inside").mkdir()
    (folder / "inside" / "__init__.py").write_text(LAST)
    (folder / "inside" / "part.py").write_text(PROGRAM)
    done = command("show", "inside.part:sign", cwd=folder)
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (0, SIGN_NEW)


LOOP = """\
def f(x, n):
    for i in range(n):
        if i < 2 < x:
            continue
        if x[i] > 3:
            return g(x)
        x[i] = 0
    return x
"""


@pytest.mark.parametrize("name", [p.name for p in PASSES])
def test_show_after_a_pass(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "loop.py").write_text(LOOP)
    assert main(["show", "loop.py:f", "--after", name]) == 0
    out = capsys.readouterr().out
    assert isinstance(ast.parse(out).body[0], ast.FunctionDef)
    assert out == ag.to_code(define(LOOP), after=name)
    names = [p.name for p in PASSES]
    assert out.count("continue") == (names.index(name) < names.index("jumps"))
    assert ("ag.for_loop" in out) == (names.index(name) >= names.index("control_flow"))
    assert ("ag.call(g)" in out) == (names.index(name) >= names.index("calls"))


def test_show_after_the_last_pass_is_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "loop.py").write_text(LOOP)
    assert main(["show", "loop.py:f", "--after", PASSES[-1].name]) == 0
    last = capsys.readouterr().out
    assert main(["show", "loop.py:f"]) == 0
    assert capsys.readouterr().out == last


def test_an_unknown_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(capsys, "show", "train.py:sign", "--after", "nothing")
    assert "'nothing'" in message and all(p.name in message for p in PASSES)


@pytest.mark.parametrize("wanted", ["nothing", "", "low", "Box", "Box.nothing"])
def test_an_unknown_function(wanted: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "show", f"train.py:{wanted}") == f"autograph: train.py: no function `{wanted}`; there are: sign, Box.low\n"


def test_a_file_without_functions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty.py").write_text("")
    assert refused(capsys, "show", "empty.py:f") == "autograph: empty.py: no function `f`; there are: none\n"


@pytest.mark.parametrize("target", ["sign", "no_such_module:f", "no.such.module:f", "sys:exit", ":f", ".:f", "..train:sign", "inside:"])
def test_a_target_that_is_none(target: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(capsys, "show", target)
    assert message.startswith(f"autograph: {target.rpartition(':')[0] or target.strip(':f')}")


# Nothing of the input is executed


@pytest.mark.parametrize(
    "args",
    [
        ["transpile", "train.py"],
        ["transpile", "--all", "train.py"],
        ["transpile", "--check", "train.py"],
        ["show", "train.py:sign"],
        ["show", "train:sign"],
    ],
    ids=" ".join,
)
def test_the_input_is_never_executed(args: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = "import pathlib\npathlib.Path('executed').touch()\n"
    (folder / "train.py").write_text(trace + PROGRAM)
    assert main(args) == int("--check" in args)
    assert not (folder / "executed").exists() and "train" not in sys.modules
    assert capsys.readouterr().err == ""


# Several files


@pytest.fixture
def package(folder: Path) -> Path:
    """A folder with a file that is converted, one that stays, one in a folder below, and one that does not parse."""
    root = folder / "package"
    (root / "inside").mkdir(parents=True)
    (root / ".hidden").mkdir()
    (root / "a.py").write_text(PROGRAM)
    (root / "b.py").write_text("x = 1\n")
    (root / "inside" / "c.py").write_text(PROGRAM)
    (root / ".hidden" / "d.py").write_text(PROGRAM)
    return root


def test_a_folder_to_a_folder(package: Path, folder: Path) -> None:
    assert main(["transpile", "package", "-o", "out"]) == 0
    assert (folder / "out" / "a.py").read_text() == CONVERTED == (folder / "out" / "inside" / "c.py").read_text()
    assert (folder / "out" / "b.py").read_text() == "x = 1\n"
    assert names(folder / "out") == ["a.py", "b.py", "inside"]


def test_a_file_that_does_not_parse_stops_no_other(package: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (package / "broken.py").write_text("def f(:\n")
    assert main(["transpile", "package", "train.py", "-o", "out"]) == 1
    assert "broken.py:1:7: AG101" in capsys.readouterr().err
    assert names(folder / "out") == ["a.py", "b.py", "inside", "train.py"]


def test_check_of_a_folder(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transpile", "package", "--check"]) == 1
    assert main(["transpile", "package/b.py", "--check"]) == 0
    assert main(["transpile", "package", "--diff"]) == 0
    assert capsys.readouterr().out.count("+++ ") == 2


def test_progress_over_many_files_on_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in range(6):
        (folder / f"m{k}.py").write_text(PROGRAM)
    shown = io.StringIO()
    shown.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", shown)
    assert main(["transpile", ".", "--check"]) == 1
    assert "\r3/7 " in shown.getvalue() and shown.getvalue().endswith("7/7 7 would change\x1b[K\n")


# explain


def test_explain(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "loop.py").write_text("def f(x, n):\n    for k in range(n):\n        t = x * k\n        x = x + t\n    return x\n")
    assert main(["explain", "loop.py:f"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("f  loop.py:1\n     2  for k in range(n):")
    assert "x  loop variable  written in line 4; read by the next iteration in line 3; read after it in line 5" in out
    assert "t  local" in out


def test_explain_as_json_and_as_a_picture(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "train.py:sign", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["name"] == "sign" and report["statements"][0]["kind"] == "if"
    assert main(["explain", "train.py:sign", "--svg", "sign.svg"]) == 0
    assert ElementTree.parse(folder / "sign.svg").getroot().tag.endswith("svg")
    assert "No such file" in refused(capsys, "explain", "train.py:sign", "--svg", "nowhere/sign.svg")


def test_explain_with_arguments(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (folder / "powers.py").write_text("def f(n, x, by=2):\n    while n > 0:\n        n -= 1\n        x = x * by\n    return x\n")
    assert main(["explain", "powers.py:f", "-3", "float32[2,3]", "by=0.5"]) == 0
    out = capsys.readouterr().out
    assert "while_loop: the trip count is data-dependent" in out and "x  loop variable  float32[2,3]" in out
    for args, message in [
        (["x"], "x: neither a Python literal"),
        (["flat32[2]"], "no such dtype"),
        (["by=1", "2"], "an argument without a name follows one with a name"),
    ]:
        assert message in refused(capsys, "explain", "powers.py:f", *args)
    assert "no function `g`" in refused(capsys, "explain", "powers.py:g", "1")
    del sys.modules["powers"]


def test_explain_a_program_that_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report is printed, and says so by the exit code."""
    (folder / "fails.py").write_text("def f(x):\n    if x > 0:\n        return x.nothing\n    return x\n")
    for options in ([], ["--json"]):
        assert main(["explain", "fails.py:f", "float32[]", *options]) == 1
        assert "nothing" in capsys.readouterr().out


def test_explain_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("AG201", "ag201"):
        assert main(["explain", name]) == 0
        assert capsys.readouterr().out.startswith("# AG201: ")
    assert "there is no error AG999: the ids are AG101, " in refused(capsys, "explain", "AG999")


# check


def test_check_lists_what_would_be_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import time\nimport autograph as ag\n\n@ag.function\ndef f(x):\n    for k in range(3):\n        t = time.time()\n    return g(x)\n"
    (folder / "bad.py").write_text(text + "\ndef g(x):\n    y = 1 + (yield x)\n")
    assert main(["check", "bad.py"]) == 1
    first, *out = capsys.readouterr().out.splitlines()
    assert "nothing runs" in first and "types and shapes" in first
    assert [line.split(" ")[:2] for line in out] == [["bad.py:7:13:", "AG405"], ["bad.py:10:1:", "AG501"]]
    assert main(["check", "train.py"]) == 0
    assert capsys.readouterr().out.splitlines() == [first]
    (folder / "broken.py").write_text("def f(:\n")
    assert main(["check", "broken.py"]) == 1
    assert "broken.py:1:7: AG101" in capsys.readouterr().err


CHECKED = """import autograph as ag


@ag.function
def f(x, n):
    found = []
    while n > 0:
        found.append(n)
        n -= 1
    with ag.loop(max_steps=3):
        while n > -3:
            found.append(n)
            n -= 1
    for k in range(n):
        found.append(k)
    try:
        if x > 0:
            raise KeyError(x)
        while x < 0:
            assert n > 3
            x += 1
    except LookupError:
        x = 0
    return g(x) + sum(h(x))


def g(n):
    if n > 1:
        return n * g(n - 1)
    return 1


def h(x):
    if x > 0:
        yield 1
    yield 2
"""


def test_check_finds_what_the_text_tells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "told.py").write_text(CHECKED)
    assert main(["check", "told.py"]) == 1
    _, *out = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[:2] for line in out] == [
        ["told.py:8:9:", "AG405"], ["told.py:18:13:", "AG404"], ["told.py:29:20:", "AG501"], ["told.py:35:9:", "AG501"]
    ]  # fmt: skip
    assert "`found` becomes longer in a `while`" in out[0] and "the `except` of line 22 may catch this `raise`" in out[1]
    assert "`g` calls itself in a branch" in out[2] and "a `yield` in a branch" in out[3]


BOUNDED = """from collections import deque

def bounded(queue, n):
    while queue and len(queue) < 20:
        queue.append(queue.pop(0) + n)
    return queue


def search(n):
    waiting = deque([n])
    while waiting:
        waiting.append(waiting.popleft() - 1)
"""


def test_check_sees_a_bound_and_a_deque(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bounded.py").write_text(BOUNDED)
    assert main(["check", "--all", "bounded.py"]) == 1
    _, *out = capsys.readouterr().out.splitlines()
    assert len(out) == 1 and out[0].startswith("bounded.py:12:9: AG405 `waiting` is a deque") and out[0].endswith("use a list")


# run

SCRIPT = """import sys
import jax

def sign(x):
    if x > 0:
        return 1
    return -1

if __name__ == "__main__":
    print(jax.jit(sign)(-2.0), sys.argv[1:])
"""


def test_run_a_script_without_decorators(folder: Path) -> None:
    (folder / "script.py").write_text(SCRIPT)
    done = command("run", "--all", "script.py", "a", "-b", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "-1 ['a', '-b']\n"), done.stderr
    failed = command("run", "script.py", cwd=folder)
    assert failed.returncode == 1 and "TracerBoolConversionError" in failed.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["trasnpile", "x.py"], 2, "did you mean transpile?"),
        (["transpile", "--outptu", "y.py", "x.py"], 2, "autograph transpile: error: unrecognized arguments: --outptu; did you mean --output?"),
        (["run", "-all", "x.py"], 2, "did you mean --all?"),
        (["show", "broken.py:f"], 1, "broken.py:2:5: AG101"),
        (["transpile", "empty"], 1, "there is no Python file in this folder"),
        (["transpile", ".", "-o", "broken.py"], 1, "broken.py: a file; several files need a folder"),
    ],
)
def test_what_may_have_been_meant(folder: Path, words: list[str], code: int, says: str) -> None:
    (folder / "empty").mkdir()
    (folder / "broken.py").write_text("def f(x):\n    break\n")
    done = command(*words, cwd=folder)
    assert done.returncode == code and says in done.stderr, done.stderr


def test_one_file_into_a_folder(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "one.py").write_text(PROGRAM)
    assert command("transpile", "one.py", "-o", "out", cwd=folder).returncode == 0
    assert (folder / "out" / "one.py").read_text() == CONVERTED


WRONG = """\
import autograph as ag
import jax.numpy as jnp


@ag.function
def shrink(rod, tol):
    # a comment that moves nothing
    while jnp.sum(rod) > tol:
        rod = 0.5 * rod[1:-1]
    return rod


@ag.function
def late(v, limit):
    for x in v:
        if x > limit:
            found = x
    return found


if __name__ == "__main__":
    import sys

    shrink(jnp.ones(9), 0.1) if sys.argv[1:] else late(jnp.ones(3), 5.0)
"""


def test_run_shows_the_lines_of_the_script(folder: Path) -> None:
    (folder / "wrong.py").write_text(WRONG)
    done = command("run", "wrong.py", "shape", cwd=folder)
    lines = WRONG.splitlines()
    loop, store = lines.index("    while jnp.sum(rod) > tol:") + 1, lines.index("        rod = 0.5 * rod[1:-1]") + 1
    assert done.returncode == 1 and f"wrong.py:{loop}: AG201 loop variable `rod` is float32[9] before the loop" in done.stderr
    assert f"(line {store})" in done.stderr and "help: " in done.stderr and f'wrong.py", line {loop}, in shrink' in done.stderr
    assert "cli.py" not in done.stderr and "converted" not in done.stderr
    done = command("run", "wrong.py", cwd=folder)
    assert f'wrong.py", line {lines.index("    return found") + 1}, in late' in done.stderr and "cli.py" not in done.stderr
    assert "UnboundLocalError: cannot access local variable 'found'" in done.stderr and done.returncode == 1


def test_run_shows_no_frames_of_ours(folder: Path) -> None:
    (folder / "no.py").write_text("def f(x):\n    if x > 0:\n        raise ValueError(x)\n    return x\n\n\nf(3)\n")
    done = command("run", "--all", "no.py", cwd=folder)
    assert done.returncode == 1 and done.stderr.endswith("ValueError: 3\n")
    files = re.findall(r'File ".*?([^/]+)", line (\d+)', done.stderr)
    assert files[0] == ("no.py", "7") and files[-1] == ("no.py", "3") and {name for name, _ in files} == {"no.py"}


IMPORTED = """\
import jax

import autograph as ag

@ag.convert
def sign(x):
    return 1 if x > 0 else -1

def other(x):
    return 2 if x > 0 else -2

if __name__ == "__main__":
    import imported
    assert imported.sign is not sign
    print(jax.jit(sign)(2.0), jax.jit(imported.sign)(-2.0), jax.jit(ag.convert(imported.other))(2.0))
"""


def test_a_script_that_runs_converted_is_imported_as_it_is(folder: Path) -> None:
    """What is decorated is the script, and no other module of its file."""
    (folder / "imported.py").write_text(IMPORTED)
    done = command("run", "imported.py", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "1 -1 2\n"), done.stderr


def _functions_of(code: Any) -> list[Any]:
    """The functions in code, with the places of their instructions."""
    inner = [c for c in code.co_consts if isinstance(c, type(code))]
    mine = [(code.co_qualname, code.co_firstlineno, [*code.co_positions()])] if code.co_flags & inspect.CO_OPTIMIZED else []
    return mine + [found for c in inner for found in _functions_of(c)]


def test_every_function_is_decorated_where_it_stands() -> None:
    """What `run --all` compiles is the text of the script: its functions are found by their lines."""
    from autograph.commands.running import script_code

    for file in sorted((Path(__file__).parents[2] / "examples").glob("*.py")):
        text = file.read_text()
        plain, decorated = compile(text, str(file), "exec"), script_code(text, str(file), True)
        first, second = (_functions_of(code) for code in (plain, decorated))
        assert first and first == second, file


def test_run_every_function_at_native_speed_of_python(folder: Path) -> None:
    """With nothing traced the very statements of the script run."""
    text = "import sys\n\ndef f(n):\n    while n > 0:\n        n -= 1\n        seen.append(sys._getframe().f_code.co_name)\n    return n\n\nseen = []\nf(2)\nprint(seen)\n"
    (folder / "plain.py").write_text(text)
    done = command("run", "--all", "plain.py", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "['f', 'f']\n"), done.stderr


def test_run_passes_errors_and_exit_codes_on(folder: Path) -> None:
    (folder / "fails.py").write_text("import sys\nsys.exit(3)\n")
    assert command("run", "fails.py", cwd=folder).returncode == 3
    done = command("run", "missing.py", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "autograph: missing.py: No such file or directory\n")
