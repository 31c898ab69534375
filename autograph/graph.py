"""`autograph.graph` is `autograph.runtime.eager.graph.graph`: `from autograph.graph import ...` as people write it."""

import sys

from autograph.runtime.eager.graph.graph import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.eager.graph.graph"]
