"""Syntax trees: the classes that passes match, building and rebuilding them."""
