"""Rows, ranges, slices and lists of data-dependent length."""
