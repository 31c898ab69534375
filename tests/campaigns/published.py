"""Functions of published NumPy programs, run as they are and as `ag.function`: results, arguments and objects are compared.

    python tests/campaigns/published.py                          # all projects
    python tests/campaigns/published.py filterpy ahrs            # some
    python tests/campaigns/published.py --python .venv/bin/python geomdl    # in an environment that has them and this project
    python tests/campaigns/published.py --list                   # what there is; runs nothing

The entries are in the folder `published`, a file for each project; nothing of the projects is kept here.  Without `--python` an environment is made
in the folder of `--work`, with the projects in the versions of the table below.  Each project runs in a process of its own: an entry that takes too
long, or ends the process, is counted, and the others go on.  Prints what does not agree, a table, the slowest first calls and what is refused; the
exit code is 1 if anything differs, crashes or takes too long.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import queue
import subprocess
import sys
import threading
import venv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
STATUSES = ("same", "different", "refused", "JAX error", "crashed", "slow", "broken")
_MARK = "@published "  # what begins a worker's own lines
#: What is installed for the entries of each file.
VERSIONS = {
    "ahrs": "AHRS==0.4.0",
    "bezier": "bezier==2024.6.20",
    "commpy": "scikit-commpy==0.8.0",
    "deap": "deap==1.4.4",
    "detecta": "detecta==0.1.0",
    "filterpy": "filterpy==2.0.0",
    "fluids": "fluids==1.3.1",
    "geographiclib": "geographiclib==2.1",
    "geomdl": "geomdl==5.4.0",
    "gymnasium": "gymnasium==1.4.0",
    "ht": "ht==1.2.0",
    "iapws": "iapws==1.5.5",
    "kneed": "kneed==0.9.0",
    "mdptoolbox": "pymdptoolbox==4.0b3",
    "micrograd": "micrograd==0.1.0",
    "miepython": "miepython==3.3.0",
    "minisom": "MiniSom==2.3.6",
    "mlxtend": "mlxtend==0.25.0",
    "munkres": "munkres==1.1.4",
    "nashpy": "nashpy==0.0.43",
    "navpy": "NavPy==1.0",
    "neat": "neat-python==2.0.0",
    "numpy_financial": "numpy-financial==1.0.0",
    "opensimplex": "opensimplex==0.4.5.1",
    "peakutils": "PeakUtils==1.3.5",
    "psychrolib": "PsychroLib==2.5.0",
    "pvlib": "pvlib==0.16.1",
    "PyAstronomy": "PyAstronomy==0.25.0",
    "PyEMD": "EMD-signal==1.10.0",
    "pygeomag": "pygeomag==1.1.0",
    "pykalman": "pykalman==0.11.2",
    "pymap3d": "pymap3d==3.2.0",
    "pyquaternion": "pyquaternion==0.9.9",
    "pyswarms": "pyswarms==1.3.0",
    "python_speech_features": "python-speech-features==0.6",
    "pyti": "pyti==0.3.0",
    "pytransform3d": "pytransform3d==3.17.0",
    "pyXSteam": "pyXSteam==0.4.10",
    "rdp": "rdp==0.8",
    "sgp4": "sgp4==2.27",
    "simdkalman": "simdkalman==1.0.4",
    "similaritymeasures": "similaritymeasures==1.5.0",
    "simple_pid": "simple-pid==2.0.1",
    "skfuzzy": "scikit-fuzzy==0.5.0",
    "skyfield": "skyfield==1.55",
    "tmm": "tmm==0.2.0",
    "transforms3d": "transforms3d==0.4.2",
    "utm": "utm==0.9.0",
    "vincenty": "vincenty==0.1.4",
}
_ALONE = {"miepython"}  # installed without what it needs: numba would compile functions before anybody can convert them


def environment(work: Path) -> str:
    """Python with the projects and this one."""
    python = str(work / "venv" / "bin" / "python")
    if not Path(python).exists():
        venv.create(work / "venv", with_pip=True)
    install = [python, "-m", "pip", "install", "-q"]
    subprocess.run([*install, *(version for project, version in VERSIONS.items() if project not in _ALONE), "scipy", "-e", str(ROOT)], check=True)
    subprocess.run([*install, "--no-deps", *(VERSIONS[project] for project in sorted(_ALONE))], check=True)
    return python


def worker(project: str, skipped: int, only: str) -> None:
    """Run the entries of a project from one on, and tell each outcome in a line."""
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the projects print is not ours
    import jax

    jax.config.update("jax_enable_x64", True)
    import autograph as ag

    entries = importlib.import_module("tests.campaigns.published")  # the folder
    package, chosen = entries.entries(project)
    ag.include(package)
    chosen = [one for one in chosen if only in one.name]
    print(_MARK + json.dumps([one.name for one in chosen]), file=told)
    for one in chosen[skipped:]:
        print(_MARK + json.dumps(vars(entries.run(one))), file=told)


def outcomes(project: str, python: str, seconds: float, only: str) -> Iterator[dict[str, Any]]:
    """The outcome of each entry of a project."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    settings = os.environ | {"PYTHONPATH": paths, "JAX_PLATFORMS": "cpu", "MIEPYTHON_USE_JIT": "0", "MPLBACKEND": "agg"}
    done, names = 0, ["?"]
    while done < len(names):
        command = [python, __file__, "--worker", project, "--skipped", str(done), "--only", only]
        process = subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        lines: queue.Queue[str | None] = queue.Queue()
        errors: list[str] = []

        def read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
            for line in process.stdout or ():
                lines.put(line)
            lines.put(None)

        def drain(process: subprocess.Popen[str], errors: list[str]) -> None:
            for line in process.stderr or ():
                errors[:] = [*errors[-20:], line.rstrip()]

        threads = [threading.Thread(target=read, args=(process, lines)), threading.Thread(target=drain, args=(process, errors))]
        for thread in threads:
            thread.start()
        failed = ""
        while done < len(names) or names == ["?"]:
            try:
                line = lines.get(timeout=seconds)
            except queue.Empty:
                failed = "slow"
                break
            if line is None:
                failed = "crashed"
                break
            if not line.startswith(_MARK):
                continue
            value = json.loads(line[len(_MARK) :])
            if isinstance(value, list):
                names = value
            else:
                yield value
                done += 1
        process.kill()
        process.wait()
        for thread in threads:
            thread.join()
        if failed:
            told = f"more than {seconds:.0f} s" if failed == "slow" else (errors or ["the process ended"])[-1]
            yield {"name": names[done], "status": failed, "told": told, "id": "", "more": errors[-6:] if failed == "crashed" else []}
            if names == ["?"]:
                return
            done += 1


def main() -> int:
    folder = Path(__file__).parent / "published"
    known = sorted(file.stem for file in folder.glob("*.py") if not file.stem.startswith("_"))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help="one of: " + ", ".join(known))
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "autograph-published", help="where the environment is kept")
    parser.add_argument("--python", help="an environment that has the projects and this one, in the place of one of the campaign's own")
    parser.add_argument("--seconds", type=float, default=120, help="for an entry, both of its inputs")
    parser.add_argument("--shown", type=int, default=15, help="so many of the slowest first calls")
    parser.add_argument("--only", default="", help="entries whose names hold this text")
    parser.add_argument("--verbose", action="store_true", help="the lines of each message and the end of its traceback, too")
    parser.add_argument("--list", action="store_true", help="tell what there is, and run nothing")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--skipped", type=int, default=0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        sys.path[0] = str(ROOT)  # in the place of this folder, where `published` is this file
        worker(args.worker, args.skipped, args.only)
        return 0
    if unknown := sorted(set(args.projects) - set(known)):
        parser.error(f"no entries of {', '.join(unknown)}")
    if args.list:
        for project in args.projects or known:
            print(f"{project}: {VERSIONS[project]}")
        return 0
    args.work.mkdir(parents=True, exist_ok=True)
    python = args.python or environment(args.work)
    rows: dict[str, Counter[str]] = {}
    found: list[tuple[str, dict[str, Any]]] = []
    for project in args.projects or known:
        counts = rows[project] = Counter()
        for one in outcomes(project, python, args.seconds, args.only):
            counts[one["status"]] += 1
            found.append((project, one))
            if one["status"] != "same":
                print(f"{project} {one['name']}: {one['status']} {one['id']}{' ' if one['id'] else ''}{one['told']}", flush=True)
                for line in one["more"] if args.verbose else ():
                    print(f"    {line}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{project}: {sum(counts.values())}", end="\r", file=sys.stderr)
    report(rows, found, args.shown)
    bad = sum(counts[status] for counts in rows.values() for status in STATUSES if status not in ("same", "refused"))
    return int(bad > 0)


def report(rows: dict[str, Counter[str]], found: list[tuple[str, dict[str, Any]]], shown: int) -> None:
    """The table, the slowest first calls, and what is refused."""
    width = max(map(len, [*rows, "project"]))
    print(f"\n{'project':{width}}{'functions':>11}" + "".join(f"{status:>11}" for status in STATUSES))
    for project, counts in [*rows.items(), ("all", sum(rows.values(), Counter()))]:
        print(f"{project:{width}}{sum(counts.values()):11}" + "".join(f"{counts[status] or '':>11}" for status in STATUSES))
    timed = [(one["first"], one["second"], one["plain"], f"{project} {one['name']}") for project, one in found if one.get("first", -1) > 0]
    print("\nthe slowest first calls (first, second, plain):")
    for first, second, plain, name in sorted(timed, reverse=True)[:shown]:
        print(f"  {first:7.1f} s {second:9.4f} s {plain:9.4f} s  {name}")
    print("\nrefused:")
    for project, one in found:
        if one["status"] == "refused":
            print(f"  {one['id']} {project} {one['name']}: {one['told']}")


if __name__ == "__main__":
    sys.exit(main())
