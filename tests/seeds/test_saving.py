"""Item 27 of the articles: checkpoints; and what can go wrong with files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
import autograph.runtime
from autograph.runtime.errors.errors import CheckpointError

pytest.importorskip("safetensors", reason="checkpoints need the extra `train`")
pytest.importorskip("optax", reason="optimizers need the extra `train`")


def test_27_save_and_restore(tmp_path: Path) -> None:
    x = ag.Variable(10.0)
    checkpoint = ag.Checkpoint(x=x)
    x.assign(2.0)
    path = checkpoint.save(tmp_path / "ckpt")
    x.assign(11.0)
    checkpoint.restore(path).assert_consumed()
    assert x == 2.0 and path == str(tmp_path / "ckpt-1") == ag.latest_checkpoint(tmp_path)


class Model:
    def __init__(self) -> None:
        self.layers = [{"w": ag.Variable([[0.5, -0.5]]), "b": ag.Variable([0.0, 0.0])}, {"w": ag.Variable([[1.0], [2.0]])}]

    def __call__(self, x: Any) -> Any:
        return jnp.tanh(x @ self.layers[0]["w"] + self.layers[0]["b"]) @ self.layers[1]["w"]


def training() -> tuple[Any, Any, Any, Any]:
    model, optimizer, step = Model(), ag.optimizers.Adam(0.05), ag.Variable(0, trainable=False)
    x = jnp.linspace(-1.0, 1.0, 8)[:, None]

    @ag.function
    def train() -> None:
        optimizer.minimize(lambda: jnp.mean((model(x) - x**2) ** 2), global_step=step)

    return model, optimizer, step, train


def test_27_a_run_that_goes_on_is_the_run_that_was_not_interrupted(tmp_path: Path) -> None:
    model, optimizer, step, train = training()
    for _ in range(3):
        train()
    ag.Checkpoint(optimizer=optimizer, model=model, step=step).save(tmp_path / "ckpt")
    for _ in range(2):
        train()
    again, optimizer2, step2, train2 = training()
    restored = ag.Checkpoint(optimizer=optimizer2, model=again, step=step2).restore(ag.latest_checkpoint(tmp_path))
    assert step2 == 3 and all(name.startswith("optimizer/slots/") for name in restored.unused) and restored.unused
    for _ in range(2):
        train2()
    restored.assert_consumed()
    for a, b in zip(model.layers, again.layers, strict=True):
        for key in a:
            assert np.array_equal(a[key].value, b[key].value)
    assert optimizer2.iterations == 5


class Lazy:
    def __init__(self) -> None:
        self.w: Any = None

    def __call__(self, x: Any) -> Any:
        if self.w is None:
            self.w = ag.Variable(lambda: jnp.zeros(2))
        return x * self.w


@pytest.mark.parametrize("staged", [False, True], ids=["eager", "function"])
def test_27_restored_when_it_is_made(tmp_path: Path, staged: bool) -> None:
    saved = Lazy()
    saved(1.0)
    saved.w.assign([3.0, 4.0])
    path = ag.Checkpoint(model=saved).save(tmp_path / "c")
    model = Lazy()
    restored = ag.Checkpoint(model=model).restore(path)
    assert restored.unused == ["model/w"]
    with pytest.raises(CheckpointError, match="no Variable has taken: `model/w`"):
        restored.assert_consumed()
    run = ag.function(lambda model, x: model(x)) if staged else lambda model, x: model(x)
    assert np.array_equal(run(model, 1.0), [3.0, 4.0])
    restored.assert_consumed()


def test_27_restored_when_it_is_first_read_in_a_compiled_function(tmp_path: Path) -> None:
    saved = Lazy()
    saved(1.0)
    saved.w.assign([3.0, 4.0])
    path = ag.Checkpoint(model=saved).save(tmp_path / "c")
    model = Lazy()
    restored = ag.Checkpoint(model=model).restore(path)
    model.w = ag.Variable(jnp.zeros(2))  # made, and not yet read
    run = ag.function(lambda model, x: model(x))
    assert np.array_equal(run(model, 1.0), [3.0, 4.0]) and np.array_equal(model.w.numpy(), [3.0, 4.0])
    restored.assert_consumed()


def test_27_numbers_and_a_limit(tmp_path: Path) -> None:
    x = ag.Variable(0)
    checkpoint = ag.Checkpoint(x=x)
    for k in range(5):
        x.assign(k)
        checkpoint.save(tmp_path / "c", max_to_keep=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c-4.json", "c-4.safetensors", "c-5.json", "c-5.safetensors", "checkpoint.json"]
    assert ag.latest_checkpoint(tmp_path) == str(tmp_path / "c-5")
    checkpoint.restore(tmp_path / "c-4")
    assert x == 3
    assert ag.Checkpoint(x=x).save(tmp_path / "c").endswith("c-6")
    assert ag.latest_checkpoint(tmp_path / "nowhere") is None
    assert checkpoint.restore(ag.latest_checkpoint(tmp_path / "nowhere")).unused == []


def test_27_every_dtype(tmp_path: Path) -> None:
    held = {
        "bf16": jnp.arange(3, dtype=jnp.bfloat16), "f8": jnp.arange(3, dtype=jnp.float8_e4m3fn), "bool": jnp.array([True, False]),
        "complex": jnp.array([1 + 2j]),
        "key": jax.random.key(7), "empty": jnp.zeros((0, 3)), "u8": jnp.uint8(200),
    }  # fmt: skip
    variables = {name: ag.Variable(x) for name, x in held.items()}
    path = ag.Checkpoint(v=variables).save(tmp_path / "c")
    others = {name: ag.Variable(jax.random.key(0) if name == "key" else jnp.zeros_like(x)) for name, x in held.items()}
    ag.Checkpoint(v=others).restore(path).assert_consumed()
    for name, x in held.items():
        a, b = (jax.random.key_data(k) if name == "key" else k for k in (x, others[name].value))
        assert a.dtype == b.dtype and np.array_equal(np.asarray(a), np.asarray(b)), name


def test_27_what_does_not_match(tmp_path: Path) -> None:
    a, b = ag.Variable([1.0, 2.0]), ag.Variable(3)
    path = ag.Checkpoint(a=a, b=b).save(tmp_path / "c")
    wide, c = ag.Variable([0.0, 0.0, 0.0]), ag.Variable(9)
    with pytest.raises(CheckpointError, match=r"has float32\[2\] for `a`, and the Variable is float32\[3\]"):
        ag.Checkpoint(a=wide, b=c).restore(path)
    with pytest.raises(CheckpointError, match="has int32"):
        ag.Checkpoint(b=ag.Variable(1.0)).restore(path)
    assert c == 9 and np.array_equal(wide, [0.0, 0.0, 0.0])
    restored = ag.Checkpoint(a=a, other=c).restore(path)
    assert restored.missing == ["other"] and restored.unused == ["b"]
    with pytest.raises(CheckpointError, match="has no value for `other`"):
        restored.assert_existing_objects_matched()


def test_27_broken_files(tmp_path: Path) -> None:
    x = ag.Variable(jnp.arange(100.0))
    checkpoint = ag.Checkpoint(x=x)
    path = Path(checkpoint.save(tmp_path / "c"))
    data, index = path.with_name("c-1.safetensors"), path.with_name("c-1.json")
    whole, described = data.read_bytes(), index.read_bytes()
    x.assign(x * 0)
    rng = np.random.default_rng(0)

    def refused(match: str = "is broken") -> None:
        with pytest.raises(CheckpointError, match=match) as caught:
            checkpoint.restore(path)
        assert caught.value.id == "AG705" and not np.any(np.asarray(x))

    for broken in (whole[:-1], whole[: len(whole) // 2], b"", whole[:-8] + bytes(8), rng.bytes(300), b"\x80\x04K\x01."):
        data.write_bytes(broken)
        refused()
    data.write_bytes(whole)
    for broken in (
        described[:-4],
        b"",
        b"[]",
        b"{}",
        rng.bytes(50),
        described.replace(b'"format": 1', b'"format": 2'),
        described.replace(b"[\n    100", b"[\n    101"),
    ):
        index.write_bytes(broken)
        refused()
    index.write_bytes(described)
    checkpoint.restore(path)
    assert x[99] == 99.0
    data.unlink()
    x.assign(x * 0)
    refused()
    index.unlink()
    refused("there is no checkpoint")
    (tmp_path / "checkpoint.json").write_text('["../elsewhere"]')
    with pytest.raises(CheckpointError, match="is no list of checkpoints"):
        ag.latest_checkpoint(tmp_path)


def test_27_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = ag.Variable(1.0)
    checkpoint = ag.Checkpoint(x=x)
    path = checkpoint.save(tmp_path / "c")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="No space left on device"):
        checkpoint.save(tmp_path / "c")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before and ag.latest_checkpoint(tmp_path) == path
    monkeypatch.undo()
    file = tmp_path / "a file"
    file.write_text("")
    with pytest.raises(CheckpointError, match="cannot be written to"):
        checkpoint.save(file / "c")


@pytest.mark.parametrize("after", [0.05 + 0.017 * k for k in range(50)])
def test_27_a_process_that_is_killed_while_it_saves(tmp_path: Path, after: float) -> None:
    program = textwrap.dedent(
        """
        import sys, jax.numpy as jnp, autograph as ag
        x = ag.Variable(jnp.zeros(200_000))
        checkpoint = ag.Checkpoint(x=x)
        checkpoint.save(sys.argv[1] + "/c", max_to_keep=2)
        print("ready", flush=True)
        while True:
            x.assign_add(1)
            checkpoint.save(sys.argv[1] + "/c", max_to_keep=2)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, cwd=Path(__file__).parent.parent.parent) as child:
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        time.sleep(after)
        child.send_signal(signal.SIGKILL)
    x = ag.Variable(jnp.ones(200_000))
    path = ag.latest_checkpoint(tmp_path)
    assert path is not None
    ag.Checkpoint(x=x).restore(path).assert_consumed()
    assert np.all(np.asarray(x) == int(path.rpartition("-")[2]) - 1)


def test_27_nothing_is_unpickled(tmp_path: Path) -> None:
    path = Path(ag.Checkpoint(x=ag.Variable(1.0)).save(tmp_path / "c"))
    assert json.loads(path.with_name("c-1.json").read_text())["variables"] == {"x": {"dtype": "float32", "shape": [], "key": ""}}
    sources = [p.read_text() for p in Path(autograph.runtime.__file__).parent.joinpath("eager").glob("*.py")]
    assert sources and not any("import pickle" in s for s in sources)


def test_27_what_cannot_be_saved_is_told(tmp_path: Path) -> None:
    class Plain:
        def __init__(self) -> None:
            self.w = jnp.zeros(3)

    w = ag.Variable(1.0)
    for x in (Plain(), 3.0, jnp.ones(2), ag.layers.Dense(3)):
        with pytest.raises(CheckpointError, match="`x` is an? `.*` that holds no Variable"):
            ag.Checkpoint(x=x, w=w).save(tmp_path / "ckpt")
    for place in (tmp_path, f"{tmp_path}/", ""):
        with pytest.raises(CheckpointError, match="is a folder"):
            ag.Checkpoint(w=w).save(place)
    with pytest.raises(CheckpointError, match="has no name"):
        ag.Checkpoint(w)
    assert list(tmp_path.iterdir()) == []


def test_27_two_places_with_one_path(tmp_path: Path) -> None:
    held = {"a/b": ag.Variable(1.0), "a": {"b": ag.Variable(2.0)}, 1: ag.Variable(3.0), "1": ag.Variable(4.0)}
    variables = [held["a/b"], held["a"]["b"], held[1], held["1"]]
    checkpoint = ag.Checkpoint(held=held)
    path = checkpoint.save(tmp_path / "ckpt")
    for v in variables:
        v.assign(0.0)
    checkpoint.restore(path).assert_consumed()
    assert [float(v) for v in variables] == [1.0, 2.0, 3.0, 4.0]


def test_27_a_later_variable_of_another_shape_fails_once(tmp_path: Path) -> None:
    x = jnp.ones((1, 3))
    small, large = ag.layers.Dense(4), ag.layers.Dense(8)
    small(x)
    path = ag.Checkpoint(layer=small).save(tmp_path / "ckpt")
    ag.Checkpoint(layer=large).restore(path)
    with pytest.raises(CheckpointError, match=r"float32\[3, 4\] for `layer/kernel`, and the Variable is float32\[3, 8\]"):
        large(x)
    assert float(ag.Variable(1.0) + 1) == 2.0 and small(x).shape == (1, 4)


def test_27_the_state_of_another_optimizer(tmp_path: Path) -> None:
    w = ag.Variable(jnp.ones((3, 4)))
    adam, momentum = ag.optimizers.Adam(0.1), ag.optimizers.SGD(0.1, momentum=0.9)
    adam.minimize(lambda: (w * w).sum(), [w])
    path = ag.Checkpoint(optimizer=adam, w=w).save(tmp_path / "ckpt")
    ag.Checkpoint(optimizer=momentum, w=w).restore(path)
    with pytest.raises(CheckpointError, match="use the optimizer that it was saved with"):
        momentum.minimize(lambda: (w * w).sum(), [w])
    momentum.minimize(lambda: (w * w).sum(), [w])
