"""Control flow: one run of a block, branches, loops, rolled and unrolled, and what is chosen between."""
