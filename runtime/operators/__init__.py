"""Operators and builtins: comparisons, folds, `x += v`, numbers, sorting and searching."""
