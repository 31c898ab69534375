"""Methods of lists, also of those that grow."""
