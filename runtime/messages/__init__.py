"""What users are told: the exceptions, places in their source, advice, and errors raised at those places.  It knows nothing of traces."""
