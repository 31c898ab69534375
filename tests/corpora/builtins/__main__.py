"""`docs/builtins.md`, printed.

python -m tests.corpora.builtins --update       writes it
python -m tests.corpora.builtins --failing      runs every cell and prints those that are not what the list says
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.corpora.builtins import COLUMNS, Wrong, check, document, rows

PAGE = Path(__file__).parents[3] / "docs" / "builtins.md"


def failing(module: str) -> None:
    for row in rows():
        for column in COLUMNS:
            if row.cell(column) is None or module not in row.module:
                continue
            try:
                check(row, column)
            except Wrong as error:
                print(f"{row.name} | {column} | {' '.join(str(error).split())}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora.builtins", description="Print the table of builtins.")
    parser.add_argument("--update", action="store_true", help="write docs/builtins.md instead")
    parser.add_argument("--failing", nargs="?", const="", metavar="MODULE", help="run the cells, and print those that are wrong")
    options = parser.parse_args()
    if options.failing is not None:
        failing(options.failing)
    elif options.update:
        PAGE.write_text(document(), encoding="utf-8")
    else:
        print(document(), end="")


if __name__ == "__main__":
    main()
