"""Trees as text."""
