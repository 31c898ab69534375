"""Fizzbuzz: the same function eagerly and compiled, with the same lines in the same order."""

from __future__ import annotations

import jax
from jax.typing import ArrayLike

import autograph as ag


@ag.function
def fizzbuzz(max_num: ArrayLike) -> ArrayLike:
    """Print the numbers below `max_num`, or what they are called; gives how many."""
    counter = 0
    for num in range(max_num):
        if num % 3 == 0 and num % 5 == 0:
            print("FizzBuzz")
        elif num % 3 == 0:
            print("Fizz")
        elif num % 5 == 0:
            print("Buzz")
        else:
            print(num)
        counter += 1
    return counter


def main() -> None:
    with ag.run_eagerly():
        fizzbuzz(16)  # Python
    print("--- compiled")
    count = fizzbuzz(16)  # one program for every number
    jax.effects_barrier()
    print(int(count), "numbers")


if __name__ == "__main__":
    main()
