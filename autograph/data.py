"""`autograph.data` is `autograph.runtime.eager.data.dataset`: `from autograph.data import ...` as people write it."""

import sys

from autograph.runtime.eager.data.dataset import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.eager.data.dataset"]
