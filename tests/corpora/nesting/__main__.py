"""Run the table of a depth, or a part of it.

python -m tests.corpora.nesting --depth 3 --jobs 2
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import sys
import time
from collections import Counter
from typing import Any

from tests.corpora.nesting.forms import FORMS, check_all
from tests.corpora.nesting.programs import table, valid

CHUNK = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--each", type=int, default=1, help="run each N-th program only")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--show", type=int, default=5, help="how many of the programs that go wrong are shown")
    options = parser.parse_args()
    programs = [p for p in table(options.depth) if valid(p)][options.first :: options.each]
    forms = tuple(options.forms.split(","))
    parts = [programs[i : i + CHUNK] for i in range(0, len(programs), CHUNK)]
    start, done, shown = time.monotonic(), 0, 0
    counts: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    kinds: dict[str, list[Any]] = {}
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=5) as pool:
        for part in pool.imap(functools.partial(check_all, forms=forms), parts):
            for p, found in part:
                done += 1
                counts["equal"] += len(forms) - len(found)
                for form, what in found.items():
                    kind = what.split(":")[0]
                    counts[kind] += 1
                    if kind.startswith("AG404"):
                        refused[what] += 1
                    else:
                        kinds.setdefault(what[:60], []).append((form, p.name))
                        if shown < options.show:
                            shown += 1
                            print(f"--- {p.name}\n{p.source}{form}: {what}", flush=True)
            print(f"\r{done} of {len(programs)} programs, {dict(counts)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for what, where in sorted(kinds.items(), key=lambda k: -len(k[1])):
        print(f"{len(where):6} {what}   e.g. {where[0]}")
    print(f"depth {options.depth}: {done} programs in {len(forms)} forms, {time.monotonic() - start:.0f} s: {dict(counts)}")
    for what, count in refused.most_common():
        print(f"refused {count}: {what}")
    return 0 if not kinds else 1


if __name__ == "__main__":
    sys.exit(main())
