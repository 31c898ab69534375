"""What is not a value: data-dependent errors (deferred, handled, optional results), and effects on the host."""
