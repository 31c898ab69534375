"""Trees as text: statements, expressions and f-strings as a person would write them."""
