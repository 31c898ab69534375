"""The primitives of a loop and their rules: reverse sweeps, pullbacks, batching."""
