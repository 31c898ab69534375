"""What type checkers say of a client, in their strict modes: nothing of its right lines, and an error in each wrong one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parent.parent
CLIENT = ROOT / "tests" / "typed" / "client.py"
WRONG = {k for k, line in enumerate(CLIENT.read_text().splitlines(), 1) if "# error" in line}


def test_pyright(tmp_path: Path) -> None:
    pytest.importorskip("pyright", reason="pyright is not installed: `pip install -e '.[dev]'`")
    config = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)], "pythonVersion": "3.11"}
    shutil.copy(CLIENT, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert {d["range"]["start"]["line"] + 1 for d in found} == WRONG, [(d["range"]["start"]["line"] + 1, d["message"]) for d in found]


def test_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed: `pip install -e '.[dev]'`")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "/dev/null", "--cache-dir", str(tmp_path), str(CLIENT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    own = [line for line in done.stdout.splitlines() if line.startswith("tests") or str(CLIENT) in line]
    assert {int(line.split(":")[1]) for line in own if ": error:" in line} == WRONG, done.stdout
