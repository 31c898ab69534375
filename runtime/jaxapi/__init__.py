"""JAX itself: every private name of it, and what is done with its traces and jaxprs below the user's code."""
