"""Stores into arrays, and NumPy's functions and methods that view or change them; arrays among the arguments, and outside of traces."""
