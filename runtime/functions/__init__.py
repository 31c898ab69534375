"""Functions of NumPy, `math` and lists that take traced values."""
