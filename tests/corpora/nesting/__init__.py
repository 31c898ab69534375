"""Every statement that holds statements, in every other: what a jump out of them does, in every form, against plain Python.

`programs.py` writes the programs and `forms.py` runs them; `python -m tests.corpora.nesting --depth 3` runs a whole table.
"""
