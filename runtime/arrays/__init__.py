"""What an array is: objects that hold a value which may change, NumPy's arrays and their views, and which array an object may be."""
