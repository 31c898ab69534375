"""Values in a trace: what may be missing, abstract values, flattening into arrays, their join."""
