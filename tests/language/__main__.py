"""`docs/language.md`, printed.

python -m tests.language --update    writes it, and the table in README.md
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.language import document, summary

ROOT = Path(__file__).parent.parent.parent
PAGE, README = ROOT / "docs" / "language.md", ROOT / "README.md"
BEGIN, END = "<!-- constructs: made from the tests by `python -m tests.language --update` -->\n", "<!-- end of constructs -->"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.language", description="Print the table of constructs.")
    parser.add_argument("--update", action="store_true", help="write docs/language.md and the table in README.md instead")
    if parser.parse_args().update:
        PAGE.write_text(document(), encoding="utf-8")
        before, rest = README.read_text(encoding="utf-8").split(BEGIN)
        README.write_text(f"{before}{BEGIN}\n{summary()}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    else:
        print(document(), end="")


if __name__ == "__main__":
    main()
