"""What traces nothing, inside a trace: calls and loops that reach nothing traced run as the user wrote them.

`run_natively.py` is asked by `callees.py` (a call), `for_loop.py` and `while_loop.py` (a loop).  `code_facts.py` says what one code object names,
`call_graph.py` what it can come to by these names, `reachable_objects.py` what values hold; `python_operators.py` has the operators of generated code
as Python has them.
"""
