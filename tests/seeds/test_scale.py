"""The same training, unchanged, on the devices of a mesh, and in several processes; checkpoints from one mesh to another."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.one_python

pytest.importorskip("optax", reason="optimizers need the extra `train`")
pytest.importorskip("safetensors", reason="checkpoints need the extra `train`")

PROGRAM = Path(__file__).parent / "scale_programs.py"
ROOT = PROGRAM.parent.parent.parent


def start(devices: int, *arguments: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments], cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def test_a_mesh_of_8_devices(tmp_path: Path) -> None:
    program = start(8, "mesh", str(tmp_path))
    out, _ = program.communicate(timeout=400)
    assert program.returncode == 0, out
    lines = out.splitlines()
    assert [line for line in lines if "as on one device" in line or "re" in line[:2]][-2:] == ["restored on half as many devices", "resumed alike"]
    assert sum("as on one device" in line for line in lines) == 2 and sum(line.startswith("epoch 4 loss") for line in lines) == 3


def test_two_processes(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    programs = [start(2, "process", str(tmp_path), address, "2", str(k)) for k in range(2)]
    outs = [p.communicate(timeout=400)[0] for p in programs]
    assert [p.returncode for p in programs] == [0, 0], "\n".join(outs)
    one, two = (np.load(tmp_path / f"{k}.npz") for k in range(2))
    from tests.seeds import scale_programs

    model, _, loss = scale_programs.trained(None)
    np.testing.assert_allclose(one["loss"], loss, rtol=1e-5)
    for k, v in enumerate(scale_programs.values(model)):
        np.testing.assert_array_equal(one[f"arr_{k}"], two[f"arr_{k}"])
        np.testing.assert_allclose(one[f"arr_{k}"], v, rtol=1e-4, atol=1e-5)
