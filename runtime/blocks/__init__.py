"""Blocks of the user's code that become one compiled operation, and what is done where they cannot.

`trial.py`: a loop that need not be compiled as one turn is made turn by turn where one turn cannot be.
"""
