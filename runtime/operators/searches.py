"""`items.count(x)` and `items.index(x)` of lists and tuples where traced values are among what is compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from autograph.runtime.effects.error_codes import fail
from autograph.runtime.operators.comparisons import same
from autograph.runtime.sequences.rows import weak_integers


def count(items: Sequence[Any], x: Any, /) -> Any:
    """How many items are equal to x."""
    return weak_integers(jnp.sum(_equal(items, x)))


def index(items: Sequence[Any], x: Any, /, start: int = 0, stop: int | None = None) -> Any:
    """Where the first item is that is equal to x; ValueError if none is."""
    begin, end, _ = slice(start, stop).indices(len(items))
    equal = _equal(items[begin:end], x)
    fail(~equal.any(), ValueError, "list.index(x): x not in list" if isinstance(items, list) else "tuple.index(x): x not in tuple")
    return weak_integers(jnp.argmax(equal) + begin) if begin < end else begin


def _equal(items: Sequence[Any], x: Any) -> Any:
    return jnp.array([same(x, item) for item in items], bool)


SEARCHES = {"count": count, "index": index}
