"""Euclid's algorithm: `while b` and tuple assignment, for one pair or mapped over arrays of pairs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

import autograph as ag


@ag.function
def gcd(a: ArrayLike, b: ArrayLike) -> ArrayLike:
    """The greatest common divisor, never negative."""
    while b:
        a, b = b, a % b
    return abs(a)


@ag.function
def lcm(a: ArrayLike, b: ArrayLike) -> ArrayLike:
    """The least common multiple, never negative."""
    if a == 0 or b == 0:
        return 0
    return abs(a) // gcd(a, b) * abs(b)


@ag.function
def bezout(a: ArrayLike, b: ArrayLike) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
    """`(g, x, y)` with `a * x + b * y == g`, the greatest common divisor."""
    x, next_x = 1, 0
    y, next_y = 0, 1
    while b != 0:
        quotient = a // b
        a, b = b, a - quotient * b
        x, next_x = next_x, x - quotient * next_x
        y, next_y = next_y, y - quotient * next_y
    if a < 0:
        return -a, -x, -y
    return a, x, y


def main() -> None:
    print(f"gcd(1071, 462) = {gcd(1071, 462)}, lcm(21, 6) = {lcm(21, 6)}")
    g, x, y = bezout(240, 46)
    print(f"240 * {x} + 46 * {y} = {g}")

    pairs = jnp.array([[12, 18], [17, 5], [0, 7], [-48, 36]])
    print("gcd of pairs:", *jax.vmap(gcd)(pairs[:, 0], pairs[:, 1]))

    numbers = jnp.arange(1, 301)
    coprime = jax.vmap(jax.vmap(gcd, in_axes=(0, None)), in_axes=(None, 0))(numbers, numbers) == 1
    print(f"coprime pairs up to 300: {coprime.mean():.4f}, and 6/π² = {6 / jnp.pi**2:.4f}")


if __name__ == "__main__":
    main()
