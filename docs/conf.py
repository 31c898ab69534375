"""How Sphinx builds the site: `sphinx-build -W docs site`.  The pages are Markdown; their programs are run by `tests/project/test_docs.py`."""

from importlib.metadata import version as version_of

project = "AutoGraph for JAX"
author = copyright = "the AutoGraph for JAX authors"
version = release = version_of("autograph-jax")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["pictures", "*.py"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = project
default_role = "code"  # in docstrings `x` is code
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # in the text where they say something; signatures would be full of `Any`
autodoc_default_options = {"imported-members": True}
autodoc_inherit_docstrings = False  # a method that a layer overrides has its own documentation or none
