"""The tests that libraries for JAX ship, plain and with every `jax.jit` converting what it is given: nothing may differ.

    python tests/campaigns/libraries.py optax chex distrax flax          # what the source distributions on the package index hold
    python tests/campaigns/libraries.py equinox=~/equinox/tests          # a folder of tests, for a library whose distribution ships none

Each library gets an environment of its own, with this project and what the tests import, unless `--python` names one that has them.  Each file of
tests is run three times: plain; with conversion; and with the library's own modules included for conversion.  Prints the tests that pass plain and
not converted, and the time that both take; the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import venv
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORMS = ("plain", "converted", "included")
_NEEDED = ["pytest", "beartype", "absl-py", "chex", "optax", "dm-tree", "scipy"]
_PLUGIN = """
import functools, os
import jax
import autograph as ag

FORM, LIBRARY = os.environ["FORM"], os.environ["LIBRARY"]
whole = jax.jit
ag.function(lambda x: x)  # our own modules have what they need


@functools.wraps(whole)
def jit(fun=None, **options):
    if fun is None:
        return functools.partial(jit, **options)
    try:
        fun = ag.convert(fun)
    except ag.ConversionError:  # a class, or a wrapper around which there is nothing to convert
        pass
    return whole(fun, **options)


if FORM != "plain":
    jax.jit = jit
if FORM == "included":
    ag.include(LIBRARY)
"""


def environment(library: str, work: Path) -> str:
    """Python with a library, its tests' needs and this project."""
    home = work / library / "venv"
    python = str(home / "bin" / "python")
    if not home.exists():
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", library, *_NEEDED, "-e", str(ROOT)], check=True)
    return python


def shipped(library: str, python: str, work: Path) -> Path:
    """The folder of a library's source distribution."""
    folder = work / library / "source"
    if not folder.exists():
        command = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", library, "-d", str(folder)]
        subprocess.run(command, check=True)
        for archive in folder.glob("*.tar.gz"):
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter="data")
    return folder


def outcomes(file: Path, form: str, library: str, python: str, work: Path, seconds: int) -> dict[str, tuple[bool, float]] | None:
    """By test: whether it passes, and how long it takes; None if the file takes too long."""
    report = work / library / f"{form}-{'-'.join(file.parts[-3:])}.xml"
    report.unlink(missing_ok=True)
    (work / "plugin").mkdir(exist_ok=True)
    (work / "plugin" / "converting_jit.py").write_text(_PLUGIN)
    path = os.pathsep.join(filter(None, [str(work / "plugin"), str(ROOT), os.environ.get("PYTHONPATH")]))  # an empty part is the folder itself
    env = os.environ | {"FORM": form, "LIBRARY": library.replace("-", "_"), "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "converting_jit",
        "-p",
        "no:cacheprovider",
        f"--junitxml={report}",
        str(file),
        "--rootdir",
        str(file.parent),
    ]
    try:
        subprocess.run(command, env=env, cwd=file.parent, timeout=seconds, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return None
    if not report.exists():
        return {}
    found: dict[str, tuple[bool, float]] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        bad = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        name = f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}"
        found[name] = bad is None, float(case.get("time", 0))
        if bad is not None and bad.tag != "skipped":
            lines = [line for line in (bad.text or "").splitlines() if line.startswith("E  ")]
            MESSAGES[form, name] = (lines[0][1:].strip() if lines else bad.get("message", ""))[:200]
    return found


MESSAGES: dict[tuple[str, str], str] = {}


def one(library: str, files: list[Path], python: str, work: Path, forms: tuple[str, ...], seconds: int, jobs: int, shown: int) -> int:
    """How many tests of a library pass plain, and not in another form."""
    worse = passed = 0
    took = dict.fromkeys(forms, 0.0)

    def run(file: Path) -> list[dict[str, tuple[bool, float]] | None]:
        return [outcomes(file, form, library, python, work, seconds) for form in forms]

    with ThreadPoolExecutor(jobs) as pool:
        for file, found in zip(files, pool.map(run, files), strict=True):
            plain = found[0]
            if not plain or not any(fine for fine, _ in plain.values()):
                print(f"  {file.name}: {'no test passes plain' if plain is not None else 'takes too long'}", flush=True)
                continue
            good = {name for name, (fine, time) in plain.items() if fine and time < 60}
            passed += len(good)
            for form, other in zip(forms[1:], found[1:], strict=True):
                bad = [name for name in good if other is None or not other.get(name, (False, 0.0))[0]]
                worse += len(bad)
                for name in sorted(bad)[:shown]:
                    print(f"  {form} {file.name} {name}: {MESSAGES.get((form, name), 'takes too long' if other is None else '?')}", flush=True)
            for form, other in zip(forms, found, strict=True):
                took[form] += sum((other or {}).get(name, (False, 0.0))[1] for name in good)
    ratios = ", ".join(f"{form} {took[form] / max(took['plain'], 1e-9):.2f}" for form in forms[1:])
    print(f"{library}: {passed} tests pass plain, {worse} do not converted; plain {took['plain']:.0f} s; times as long: {ratios}", flush=True)
    return worse


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("libraries", nargs="+", metavar="NAME[=FOLDER]")
    parser.add_argument("--python", help="an environment that has the libraries, in the place of one of each library's own")
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "autograph-libraries", help="where environments and sources are kept")
    parser.add_argument("--only", default="", help="files whose names hold this text")
    parser.add_argument("--forms", default="converted,included", help="which of the forms beside the plain one")
    parser.add_argument("--seconds", type=int, default=600, help="for a file of tests, each time")
    parser.add_argument("--shown", type=int, default=10, help="of each file so many of the tests that differ")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    worse = 0
    for given in args.libraries:
        library, _, folder = given.partition("=")
        (args.work / library).mkdir(parents=True, exist_ok=True)
        python = args.python or environment(library, args.work)
        source = Path(folder).expanduser() if folder else shipped(library, python, args.work)
        files = sorted(f for f in source.rglob("*.py") if (f.name.startswith("test_") or f.name.endswith("_test.py")) and args.only in str(f))
        worse += one(library, files, python, args.work, ("plain", *args.forms.split(",")), args.seconds, args.jobs, args.shown)
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
