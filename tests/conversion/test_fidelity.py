"""CPython's own tests of modules of the standard library, all of whose functions are converted: nothing is traced, and nothing changes."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(__file__).parents[1] / "campaigns" / "fidelity.py"


@pytest.mark.skipif(importlib.util.find_spec("test.test_argparse") is None, reason="this Python was installed without CPython's own tests")
@pytest.mark.parametrize("module", ["argparse", "dataclasses", "ipaddress", "urllib.parse"])
def test_the_standard_library_is_what_it_was(module: str) -> None:
    done = subprocess.run([sys.executable, COMMAND, module], capture_output=True, text=True, cwd=COMMAND.parent.parent.parent)
    found = re.search(r"(\d+) functions converted, 0 refused, (\d+) tests, \d+ fail before, 0 more fail after", done.stdout)
    assert done.returncode == 0 and found, done.stdout + done.stderr
    assert int(found[1]) > 40 and int(found[2]) > 50
