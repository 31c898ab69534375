"""Calls: of functions that may be converted, of `ag.function`, of transformations; what a call takes, gives and commits."""
