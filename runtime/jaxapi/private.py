"""The names of JAX that are not public.  When JAX moves one, this is the file to mend, and `tests/project/test_private_names.py` says which."""

from __future__ import annotations

# isort: split
from jax._src import config as config
from jax._src import core as core
from jax._src import dtypes as dtypes
from jax._src import linear_util as linear_util
from jax._src import source_info_util as source_info_util
from jax._src import traceback_util as traceback_util
from jax._src.array import ArrayImpl as ArrayImpl
from jax._src.effects import control_flow_allowed_effects as control_flow_allowed_effects
from jax._src.interpreters import ad as ad
from jax._src.interpreters import batching as batching
from jax._src.interpreters import partial_eval as partial_eval

try:
    from jax._src.random.prng import PRNGKeyArray as PRNGKeyArray
except ImportError:
    from jax._src.prng import PRNGKeyArray as PRNGKeyArray
try:
    from jax._src import flattree as flattree
except ImportError:
    flattree = None
