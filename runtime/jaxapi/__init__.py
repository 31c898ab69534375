"""JAX itself: every private name of it, traces and tracers of ours (arrays as objects), trees, and what is asked of the trace that is being
made.
"""
