"""`docs/language.md`, printed.

python -m tests.corpora.language --update    writes it
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.corpora.language import document

ROOT = Path(__file__).parents[3]
PAGE, README = ROOT / "docs" / "language.md", ROOT / "README.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora.language", description="Print the table of constructs.")
    parser.add_argument("--update", action="store_true", help="write docs/language.md instead")
    if parser.parse_args().update:
        PAGE.write_text(document(), encoding="utf-8")
    else:
        print(document(), end="")


if __name__ == "__main__":
    main()
