"""What is known of a tree: names and scopes, what is stored into, definite assignment and liveness."""
