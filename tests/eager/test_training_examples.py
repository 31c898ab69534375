"""The examples that train on data, run as scripts in a short setting: they end well, print what they should, and learn."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

EXAMPLES = Path(__file__).parents[2] / "examples"

pytest.importorskip("sklearn", reason="the data are scikit-learn's: they need the extra `examples`")
pytest.importorskip("optax", reason="optimizers need the extra `train`")


def run(name: str, *options: str, folder: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *options], capture_output=True, text=True, cwd=folder, env=environment, timeout=400
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def numbers(pattern: str, text: str) -> list[float]:
    return [float(x) for x in re.findall(pattern, text)]


def test_digits(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the picture needs the extra `examples`")
    out = run("digits", "--epochs", "5", "--plot", "digits.png", folder=tmp_path)
    assert re.search(r"epoch 0 loss .* accuracy .*\nepoch 2 loss .*\nepoch 4 loss ", out)
    [best] = numbers(r"the best accuracy is ([\d.]+) %", out)
    assert best >= 97 and (tmp_path / "digits.png").read_bytes()[:4] == b"\x89PNG"


def test_characters(tmp_path: Path) -> None:
    out = run("characters", "--epochs", "2", folder=tmp_path)
    assert "85 different ones" in out
    first, second, last = numbers(r"perplexity(?: has come down to)? ([\d.]+)", out)[-3:]
    assert first > second > last - 0.06 and second < 30 and "The data " in out.splitlines()[4]


def test_residual(tmp_path: Path) -> None:
    out = run("residual", "--epochs", "2", folder=tmp_path)
    right = numbers(r"([\d.]+) % of the held-out", out)
    assert len(right) == 2 and right[-1] > 94 and out.rstrip().endswith("a model from the checkpoint gives the same: True")


def test_deep_mnist(tmp_path: Path) -> None:
    out = run("deep_mnist", "--steps", "250", folder=tmp_path)
    [right] = numbers(r"([\d.]+) % of the held-out", out)
    assert right > 92 and "step 200, training accuracy" in out


def test_parameter_server(tmp_path: Path) -> None:
    out = run("parameter_server", "--steps", "40", folder=tmp_path)
    assert "a worker is killed after" in out
    with_server, in_one_program = numbers(r"([\d.]+)% right", out)
    assert with_server > 90 and in_one_program > 85
