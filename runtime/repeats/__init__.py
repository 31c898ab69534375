"""Iterations of a loop that Python has re-rolled, and that are the same operations but for numbers, become one compiled iteration.

`repeats.py` is asked by the loops; `alike.py` tells which iterations are the same operations, `openings.py` finds the numbers inside of one;
`loop.py` is the loop that stands in their place, and `registers.py` what its iterations hand on.
"""
