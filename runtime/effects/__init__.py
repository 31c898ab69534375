"""What is not a value: errors that only traced values know (deferred, handled, optional results), and effects on the host."""
