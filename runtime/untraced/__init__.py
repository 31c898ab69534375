"""What traces nothing, inside a trace: calls and loops that reach nothing traced run as the user wrote them.

`native.py` is asked by `calls.py` (a call), `iteration.py` and `loops.py` (a loop).  `code.py` says what one code object names, `reach.py` what it
can come to by these names, `held.py` what values hold; `operators.py` has the operators of generated code as Python has them.
"""
