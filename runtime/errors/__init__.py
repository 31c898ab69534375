"""What users are told: the exceptions, their places in the source, advice, and errors raised at those places.  It knows nothing of traces."""
