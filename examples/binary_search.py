"""Binary search in a sorted array: a `return` from inside the loop, and -1 when the value is absent."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

import autograph as ag


@ag.function
def search(xs: Array, x: ArrayLike) -> ArrayLike:
    """An index `i` with `xs[i] == x`, or -1."""
    low, high = 0, len(xs) - 1
    while low <= high:
        middle = (low + high) // 2
        if xs[middle] == x:
            return middle
        if xs[middle] < x:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@ag.function
def first(xs: Array, x: ArrayLike) -> ArrayLike:
    """The number of elements less than `x`: where `x` would be inserted."""
    low, high = 0, len(xs)
    while low < high:
        middle = (low + high) // 2
        if xs[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def main() -> None:
    squares = jnp.arange(100) ** 2
    print(f"1764 is at {search(squares, 1764)}, 1765 at {search(squares, 1765)}")
    print("positions:", *jax.vmap(search, in_axes=(None, 0))(squares, jnp.array([0, 1, 2, 81, 9801, 9802])))
    print(f"{first(squares, 1765)} squares are less than 1765")


if __name__ == "__main__":
    main()
