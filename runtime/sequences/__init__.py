"""Rows, ranges, slices and lists whose lengths traced values decide."""
