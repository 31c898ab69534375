"""What generated code calls for operators, builtins and methods, and the functions of NumPy, SciPy and `math` for traced values."""
