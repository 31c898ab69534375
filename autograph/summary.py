"""`autograph.summary` is `autograph.runtime.eager.summary`: `from autograph.summary import ...` as people write it."""

import sys

from autograph.runtime.eager.summary import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.eager.summary"]
