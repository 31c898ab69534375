"""`autograph.graph` is `autograph.runtime.graphs.graph`: `from autograph.graph import ...` as people write it."""

import sys

from autograph.runtime.graphs.graph import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.graphs.graph"]
