"""What type checkers say of a client, in their strict modes: nothing of its right lines, and an error in each wrong one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "tests" / "typed" / "client.py"
WRONG = {k for k, line in enumerate(CLIENT.read_text().splitlines(), 1) if "# error" in line}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the package as it is installed: `runtime/` stands in it there."""
    shutil.copytree(ROOT / "autograph", tmp_path / "installed" / "autograph")
    shutil.copytree(ROOT / "runtime", tmp_path / "installed" / "autograph" / "runtime")
    return tmp_path / "installed"


def test_pyright(tmp_path: Path, installed: Path) -> None:
    pytest.importorskip("pyright", reason="pyright is not installed: `pip install -e '.[dev]'`")
    config = {"typeCheckingMode": "strict", "extraPaths": [str(installed)], "include": [CLIENT.name], "pythonVersion": "3.11"}
    shutil.copy(CLIENT, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert {d["range"]["start"]["line"] + 1 for d in found} == WRONG, [(d["range"]["start"]["line"] + 1, d["message"]) for d in found]


def test_mypy(tmp_path: Path, installed: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed: `pip install -e '.[dev]'`")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "/dev/null", "--cache-dir", str(tmp_path), str(CLIENT)]
    environment = os.environ | {"MYPYPATH": str(installed)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    own = [line for line in done.stdout.splitlines() if line.startswith("tests") or str(CLIENT) in line]
    assert {int(line.split(":")[1]) for line in own if ": error:" in line} == WRONG, done.stdout
