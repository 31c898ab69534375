"""Rows, ranges, truth values, dynamic slices, and lists of data-dependent length."""
