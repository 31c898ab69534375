"""What all tests share: the forms in which a function is run, which of the tests are run, and the flag that updates golden files.

`python -m pytest` alone runs the quick suite: of tests with many cases every tenth, of the others every third, and none of those that `slow.txt`
names.  With a file, `-k`, `-m` or `--all` all tests that are meant are run.
"""

from __future__ import annotations

import gc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

import autograph as ag
from autograph.runtime.state.variable_reads import restorations

MANY = 6
gc.set_threshold(100_000, 20, 20)  # programs that are compiled hold many objects, and to look at all of them takes long


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the converted sources in tests/golden")
    parser.addoption("--all", action="store_true", help="run all tests, where nothing else is said the quick suite")
    parser.addoption("--cells", type=int, default=1, metavar="N", help=f"of tests with more than {MANY} cases run each N-th case only")
    parser.addoption("--tests", type=int, default=1, metavar="N", help=f"of the tests with up to {MANY} cases run each N-th only")
    parser.addoption("--rotation", type=int, default=0, metavar="K", help="which of the cells and tests: with K + 1 the next ones are run")
    parser.addoption("--share", default="0/1", metavar="K,L.../N", help="of each N tests run those with these numbers: one of several runs")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "always: run whatever part of the tests is asked for")
    config.addinivalue_line("markers", "libraries: needs flax, Keras, equinox or TensorBoard, which are in the extra `libraries`")
    config.addinivalue_line("markers", "one_python: hardly depends on Python's version, or needs what is installed for one alone")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cells, tests, rotation = (config.getoption(name) for name in ("--cells", "--tests", "--rotation"))
    quick = is_quick(config)
    cells, tests = (10, 3) if quick else (cells, tests)
    numbers, _, runs = config.getoption("--share").partition("/")
    mine = {int(k) for k in numbers.split(",")}
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left = set()
    for name, cases in functions.items():
        number = zlib.crc32(name.encode())  # the same in each run, whichever tests it has
        if number % int(runs) not in mine or quick and name in SLOW:
            left.update(cases)
        elif cases[0].get_closest_marker("always") is None:
            if len(cases) > MANY:  # each function begins elsewhere, so that the runs are of one length
                left.update(item for k, item in enumerate(cases) if (k + number - rotation) % cells)
            elif (number // int(runs) - rotation) % tests:
                left.update(cases)
    if left:
        config.hook.pytest_deselected(items=[*left])
        items[:] = [item for item in items if item not in left]


SLOW = frozenset((Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").split())  # tests that take more than a second


def is_quick(config: pytest.Config) -> bool:
    """Whether nothing says which tests are to be run."""
    said = config.getoption("--all") or config.getoption("keyword") or config.getoption("markexpr")
    parts = any(config.getoption(name) != 1 for name in ("--cells", "--tests")) or config.getoption("--share") != "0/1"
    return not said and not parts and config.args_source is not pytest.Config.ArgsSource.ARGS


def plain(f: Callable[..., Any]) -> Callable[..., Any]:
    return ag.convert(f)


def static(f: Callable[..., Any]) -> Callable[..., Any]:
    return ag.convert(f, form="staged")


def jitted(f: Callable[..., Any]) -> Callable[..., Any]:
    return jax.jit(ag.convert(f))


@pytest.fixture(params=[plain, static, jitted], ids=["plain", "static", "jit"])
def run(request: pytest.FixtureRequest) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A form of a function: plain, staged on static values, staged under `jit`."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def quick_compilation() -> Iterator[None]:
    """XLA's optimisations take longer than what they would save in small programs."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture(autouse=True)
def nothing_waits_for_variables() -> Iterator[None]:
    """A checkpoint that a test has restored in part waits for Variables in that test only: calls are slower while one waits."""
    yield
    restorations.clear()
