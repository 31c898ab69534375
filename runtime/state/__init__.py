"""State outside of a block or function: which places there are, what a run of a block has changed of them, and how they are lifted into it."""
