"""Items 29, 30 and 34 of the articles: devices, functions of the host, converted source and export."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import DeviceError


def test_29_devices() -> None:
    for name in ("cpu", "cpu:0", "/cpu:0", "CPU:0", "/device:CPU:0"):
        with ag.device(name):
            assert jnp.ones(2).device.platform == "cpu"
    x = ag.copy_to({"a": jnp.ones(2), "v": ag.Variable(1.0)}, "cpu:0")
    assert x["v"] == 1.0 and x["a"].devices() == {jax.devices("cpu")[0]}
    with pytest.raises(DeviceError, match="there is no cpu:9: JAX sees 1 CPU") as caught, ag.device("cpu:9"):
        pass
    assert caught.value.id == "AG706"
    with pytest.raises(DeviceError, match="`grid` names no device"):
        ag.copy_to(x, "grid")
    if ag.num_gpus() == 0:
        with pytest.raises(DeviceError, match="there is no gpu:0: JAX sees no GPUs"):
            ag.copy_to(x, "gpu:0")


def test_30_py_func(capfd: pytest.CaptureFixture[str]) -> None:
    def my_py_func(x: Any) -> Any:
        x = jnp.matmul(x, x)
        print(x)
        return x

    @ag.function
    def staged(x: Any) -> Any:
        return ag.py_func(my_py_func, [x], jnp.float32)

    assert np.array_equal(staged(jnp.array([[2.0]])), [[4.0]])
    jax.effects_barrier()
    assert capfd.readouterr().out == "[[4.]]\n"
    assert np.array_equal(ag.py_func(my_py_func, [jnp.array([[3.0]])], jnp.float32), [[9.0]])
    assert capfd.readouterr().out == "[[9.]]\n"
    slope = jax.grad(lambda x: ag.py_func(my_py_func, [x], jnp.float32).sum())
    assert np.array_equal(jax.jit(slope)(jnp.array([[2.0]])), [[4.0]])
    capfd.readouterr()


def looks(x: Any) -> float:
    return float(np.asarray(x)) + 1


def test_30_py_func_looks_at_values_and_counts() -> None:
    calls = ag.Variable(0)
    seen = []

    def on_host(x: Any, n: Any) -> Any:
        seen.append(float(x))
        calls.assign_add(1)
        return float(x) * int(n), [k for k in range(3)]

    @ag.function
    def staged(x: Any) -> Any:
        total, i = 0.0, 0
        while i < 3:
            y, z = ag.py_func(on_host, [x + i, i], [jnp.float32, jnp.int32], shape=[(), (3,)])
            total += y + z[2]
            i += 1
        return total

    assert staged(1.0) == (1 * 0 + 2) + (2 * 1 + 2) + (3 * 2 + 2) and seen == [1.0, 2.0, 3.0] and calls == 3
    with pytest.raises(ag.AutographError, match="looks at the values"):
        ag.function(lambda x: ag.py_func(looks, [x], jnp.float32))(1.0)


def test_34_source_and_decorators() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            return x
        return -x

    assert "ag.cond(" in ag.to_code(f)
    stacked = ag.function(ag.convert(f))
    assert stacked(-2.0) == 2.0


def test_34_exported_and_run_without_the_source(tmp_path: Path) -> None:
    w = ag.Variable(3.0)

    @ag.function
    def f(x: Any) -> Any:
        while x < 100:
            x = x * w
        return x

    (tmp_path / "f.bin").write_bytes(ag.export(f, jnp.float32(0)).serialize())
    program = "import jax, sys; print(float(jax.export.deserialize(bytearray(open(sys.argv[1], 'rb').read())).call(2.0)))".replace(
        "import jax,", "import jax, jax.export,"
    )
    out = subprocess.run([sys.executable, "-c", program, str(tmp_path / "f.bin")], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert out.stdout == "162.0\n"
    with pytest.raises(ag.AutographError, match="is assigned in a function under"):
        ag.export(ag.function(lambda x: w.assign(x)), jnp.float32(0))
