"""State outside of a region: its locations, what a run of a block has changed of them, how they are captured, attempts that are undone."""
