"""What code reads and stores: attributes, items, contents of containers, and what a `for` goes over."""
