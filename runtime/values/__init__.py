"""Values in a trace: what may be missing, specs (structure, types, statics), packing into arrays, joint types and their words, places in
objects.
"""
