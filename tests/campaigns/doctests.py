"""Doctests of other people's files, all of whose functions are converted: nothing is traced, so nothing may change, and it costs little.

    python tests/campaigns/doctests.py FOLDER...      # such as a checkout of github.com/TheAlgorithms/Python

Every file is run by itself, plain and converted.  Prints the examples that differ, and how many times as long the doctests take: the median and
the 90th percentile of the files whose doctests take at least a millisecond.
"""

from __future__ import annotations

import argparse
import doctest
import gc
import importlib.util
import io
import os
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
_SECONDS = 20  # for the doctests of a file, each time


def run(module: Any) -> tuple[set[str], float]:
    """The doctests that fail, and how long the doctests take: the least of several times, as the first compiles and fills caches."""
    tests = [t for t in doctest.DocTestFinder(exclude_empty=True).find(module) if t.examples]
    failed: set[str] = set()
    best = float("inf")
    started = time.monotonic()
    for _ in range(5):
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        gc.collect()
        start = time.process_time()
        for test in tests:
            out = io.StringIO()
            runner.run(test, out=out.write, clear_globs=False)
            if out.getvalue():
                failed.add(test.name)
        best = min(best, time.process_time() - start)
        if time.monotonic() - started > _SECONDS / 4:
            break
    return failed, best


def one(path: str) -> str:
    """What is to be said of one file: nothing if it cannot be imported or has no doctests."""
    signal.alarm(3 * _SECONDS)
    name = Path(path).stem
    os.chdir(Path(path).parent)
    sys.path.insert(0, str(Path(path).parent))

    def loaded() -> Any:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    try:
        module = loaded()
    except BaseException as error:  # it wants a library, or a display
        return f"left: {type(error).__name__}"
    if not any(t.examples for t in doctest.DocTestFinder(exclude_empty=True).find(module)):
        return "left: no doctests"
    before, plain = run(module)
    module = loaded()
    from fidelity import convert

    done, refused = convert(module)
    after, converted = run(module)
    lines = [
        f"ran {plain:.6f} {converted:.6f} {done} {len(refused)}",
        *(f"refused: {r}" for r in refused),
        *sorted(f"differs: {a}" for a in after - before),
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--every", type=int, default=1, help="one file of as many")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(one(options.folders[0]))
        return 0
    files = [str(f.resolve()) for folder in options.folders for f in sorted(Path(folder).rglob("*.py"))][:: options.every]

    def apart(file: str) -> str:
        done = subprocess.run([sys.executable, __file__, "--one", file], capture_output=True, text=True, check=False)
        found = [line for line in done.stdout.splitlines() if line.startswith(("ran ", "refused: ", "differs: ", "left: "))]
        return "\n".join(found) or f"differs: it ended with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"

    ratios: list[tuple[float, float, str]] = []
    bad = left = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for number, (file, said) in enumerate(zip(files, pool.map(apart, files), strict=True), 1):
            first, *more = said.splitlines()
            if first.startswith("left"):
                left += 1
            elif first.startswith("ran"):
                _, plain, converted, _, _ = first.split()
                if float(plain) >= 1e-3:
                    ratios.append((float(converted) / float(plain), float(plain), file))
            else:
                more = [first, *more]
            for line in more:
                bad += line.startswith("differs")
                print(f"{file}\n  {line}", flush=True)
            if sys.stdout.isatty():
                print(f"\r{number} of {len(files)}", end="", flush=True)
    print(f"{len(files)} files, {left} without doctests that run; {bad} differ")
    if ratios:
        ratios.sort()
        numbers = [r for r, _, _ in ratios]
        high = numbers[int(len(numbers) * 0.9)]
        print(
            f"{len(numbers)} files take a millisecond or more: {statistics.median(numbers):.2f} times as long (median), {high:.2f} (90th percentile)"
        )
        for ratio, plain, file in ratios[-8:]:
            print(f"  {ratio:6.2f} of {plain * 1e3:7.1f} ms  {file}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
