"""`docs/language.md`, printed.

python -m tests.language --update    writes it
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.language import document

ROOT = Path(__file__).parent.parent.parent
PAGE, README = ROOT / "docs" / "language.md", ROOT / "README.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.language", description="Print the table of constructs.")
    parser.add_argument("--update", action="store_true", help="write docs/language.md instead")
    if parser.parse_args().update:
        PAGE.write_text(document(), encoding="utf-8")
    else:
        print(document(), end="")


if __name__ == "__main__":
    main()
