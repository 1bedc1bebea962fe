"""How `sphinx-build -W docs build/docs` makes the pages; CI does so with warnings as errors."""

import pijit

project = "pijit"
copyright = author = "the pijit contributors"
version = release = pijit.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = "pijit"
html_static_path = []
