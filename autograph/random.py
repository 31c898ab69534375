"""`autograph.random` is `autograph.runtime.eager.random`: `from autograph.random import ...` as people write it."""

import sys

from autograph.runtime.eager.random import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.eager.random"]
