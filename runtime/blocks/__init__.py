"""Blocks of the user's code that become one compiled operation, and what is done where they cannot.

`trial.py`: a loop that need not be compiled as one turn is made turn by turn where one turn cannot be.
`taking.py`: the items of an iterator where traced values decide how many are taken.  `overriding.py`: a `finally` that jumps.
`choices.py`: objects that a branch chooses.  `needs.py`: what the trace of a function finds that it lacks.
"""
