"""Arrays with NumPy's meaning.

`counted.py`: NumPy's functions of which values decide how much they give.
"""
