"""Every program that the examples and the benchmarks' workloads compile lowers for GPUs and TPUs as well, on a machine that has neither.

JAX lowers a program for any platform (https://docs.jax.dev/en/latest/export/export.html).  What calls the host is left out: JAX does not lower that for
a platform whose runtime is not there.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import paper  # noqa: E402

pxla = importlib.import_module("jax._src.interpreters.pxla")  # a name of JAX's own, which this test alone uses
EXAMPLES = [
    "binary_search", "collatz", "fizzbuzz", "gcd", "kmeans", "lbfgs", "line_search", "linear_regression", "mandelbrot", "metropolis", "newton", "ode",
    "raymarch", "rnn",
]  # fmt: skip
LARGE = {"characters": ["--epochs", "1"], "deep_mnist": ["--steps", "20"], "digits": ["--epochs", "1"], "residual": ["--epochs", "1"]}
ELSEWHERE = {"parameter_server"}  # its programs run in processes of their own, and are those of a step of training
PLATFORMS = ("cuda", "tpu")

pytestmark = pytest.mark.one_python


@contextlib.contextmanager
def lowered_elsewhere(found: dict[str, int]) -> Iterator[None]:
    """In the block, each program that JAX lowers is lowered for the other platforms, too; `found` counts them."""
    own = pxla.lower_sharding_computation

    def lower(closed: Any, *args: Any, **kwargs: Any) -> Any:
        if any(e.effects for e in closed.jaxpr.eqns) or "callback" in str(closed.jaxpr):
            found["host"] = found.get("host", 0) + 1
        else:
            for platform in PLATFORMS:
                own(closed, *args, **{**kwargs, "lowering_platforms": (platform,)}).stablehlo()
                found[platform] = found.get(platform, 0) + 1
        return own(closed, *args, **kwargs)

    pxla.lower_sharding_computation = lower
    try:
        yield
    finally:
        pxla.lower_sharding_computation = own


def test_the_list_of_examples_is_whole() -> None:
    assert {p.stem for p in (ROOT / "examples").glob("*.py")} == {*EXAMPLES, *LARGE, *ELSEWHERE}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(ROOT / "examples" / f"{name}.py", [], monkeypatch)
    assert found["host"] if name == "fizzbuzz" else found["cuda"]  # which prints in each of its iterations


@pytest.mark.parametrize("name", LARGE)
def test_examples_that_train(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="the data are scikit-learn's: they need the extra `examples`")
    pytest.importorskip("optax", reason="optimizers need the extra `train`")
    monkeypatch.chdir(tmp_path)
    assert run(ROOT / "examples" / f"{name}.py", LARGE[name], monkeypatch)["cuda"] > 0


def run(script: Path, options: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    monkeypatch.setattr(sys, "argv", [script.name, *options])
    monkeypatch.syspath_prepend(str(script.parent))
    found: dict[str, int] = {}
    jax.clear_caches()
    with lowered_elsewhere(found), contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(script), run_name="__main__")
    assert found.get("cuda") == found.get("tpu")
    return found


@pytest.mark.parametrize("name", paper.NAMES)
def test_workloads(name: str) -> None:
    found: dict[str, int] = {}
    p = paper.program(name, "check")
    with lowered_elsewhere(found):
        p.ours(*p.args, **p.static)
    assert found["cuda"] == found["tpu"] > 0


def test_a_program_that_one_platform_does_not_have_is_found() -> None:
    """The net would hold something."""
    found: dict[str, int] = {}
    only = jax.jit(lambda x: jax.lax.platform_dependent(x, cpu=jax.numpy.sin))
    with lowered_elsewhere(found), pytest.raises(NotImplementedError):
        only(1.0)
