"""`python -m autograph`: the command line."""

import sys

from autograph.commands.cli import main

sys.exit(main())
