"""`print`, logging and progress from compiled code."""
