"""Source texts: finding a function's, what may be converted, editing files, and the errors of conversion."""
