"""`autograph.data` is `autograph.runtime.datasets.data`: `from autograph.data import ...` as people write it."""

import sys

from autograph.runtime.datasets.data import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.datasets.data"]
