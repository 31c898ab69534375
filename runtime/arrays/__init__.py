"""Arrays with NumPy's meaning.

`counted.py`: NumPy's functions of which values decide how much they give.  `handles.py`: an object that JAX takes as the array that it holds.
"""
