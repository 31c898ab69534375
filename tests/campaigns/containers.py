"""The whole table of containers, kinds x operations x holders x places: each program gives what Python gives, or is refused with an id.

    python tests/campaigns/containers.py                 # all, more than an hour
    python tests/campaigns/containers.py --part 3/20     # the fourth of twenty parts
    python tests/campaigns/containers.py --kind deque    # one kind
    python tests/campaigns/containers.py --jit           # under plain `jax.jit` in the place of `ag.function`

Prints what is wrong, and how many programs of each kind are refused with which id; the exit code is 1 if anything is wrong or crashes.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.corpora.containers import KINDS, cells, outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--part", default="0/1", help="K/N: every N-th program, from the K-th on")
    parser.add_argument("--kind", default="", help="one of: " + ", ".join(KINDS))
    parser.add_argument("--jit", action="store_true")
    args = parser.parse_args()
    k, n = map(int, args.part.split("/"))
    chosen = [c for c in cells() if not args.kind or c.kind == args.kind][k::n]
    found: dict[str, Counter[str]] = defaultdict(Counter)
    bad = 0
    for number, cell in enumerate(chosen):
        if args.jit and cell.holder in ("argument", "global", "class"):
            continue
        what = outcome(cell, args.jit)
        word = what.split(" ")[0]
        found[cell.kind][word] += 1
        if word in ("WRONG", "crash"):
            bad += 1
            print(f"{cell.name}: {what}", flush=True)
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {len(chosen)}", end="", file=sys.stderr)
    for kind, counts in found.items():
        print(f"{kind}: " + ", ".join(f"{word} {count}" for word, count in counts.most_common()))
    total = sum(found.values(), Counter())
    print("all: " + ", ".join(f"{word} {count}" for word, count in total.most_common()))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
