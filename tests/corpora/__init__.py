"""Tables of programs: what people write, each with the value that Python gives."""
