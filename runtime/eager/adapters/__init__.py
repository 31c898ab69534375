"""State that objects of other libraries hold: each has a module here, which is loaded when the library already is."""
