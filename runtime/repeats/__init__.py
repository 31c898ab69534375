"""Turns of a loop that Python has made one by one, and that are the same operations but for numbers, become one compiled turn.

`repeats.py` is asked by the loops; `alike.py` tells which turns are the same operations, `registers.py` what each hands on to later ones.
"""
