"""What is decided and why, for `ag.explain`; errors of JAX in our words, with the names of the user's variables."""
