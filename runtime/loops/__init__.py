"""Loops: `for` and `while`, static ranges, rolled and re-rolled, trip counts, the types of the carry, and their lowering to JAX."""
