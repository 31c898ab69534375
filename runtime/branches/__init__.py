"""One run of a block: its trace, and branches: predicate, cond or select, what is chosen between, `and` and `or`, stores that are sunk."""
