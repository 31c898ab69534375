"""The behaviour battery: 375 small programs in 16 groups with what plain Python gives, which other systems were run on as well.

`python tests/battery/run.py --adapter ours` prints the table; `--group`, `--id` choose.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.always

HERE = Path(__file__).parents[1] / "battery"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("battery") / "out.json"
    done = subprocess.run(
        [sys.executable, str(HERE / "run.py"), "--adapter", "ours", "--path", str(HERE.parent.parent), "--json", str(out)],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert out.exists(), done.stdout + done.stderr
    return json.loads(out.read_text())


def test_every_program_gives_what_python_gives(results: Any) -> None:
    assert {case["id"]: case.get("err") for case in results["cases"] if case["status"] != "pass"} == {}
    assert len(results["cases"]) == 375
