"""Iterations of a loop that Python has unrolled, and that are the same operations but for numbers, become one compiled iteration.

`record_iterations.py` is asked by the loops; `iteration_equivalence.py` tells which iterations are the same operations, and
`literal_abstraction.py` finds the numbers inside of one; `unrolled_loop.py` is the loop that stands in their place, and `carry_allocation.py` its
carry.
"""
