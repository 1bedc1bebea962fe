"""How `sphinx-build -W docs build/docs` makes the pages; CI does so with warnings as errors."""

import re

from docutils import nodes

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
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_sourcelink_suffix = ""  # llms.txt has links to the Markdown sources


def add_anchors(app, doctree):
    """Give the section of each reason its id as an anchor, so that `reasons.html#PJ201` leads there."""
    if app.env.docname == "reasons":
        for section in doctree.findall(nodes.section):
            found = re.match(r"PJ\d\d\d", section[0].astext())
            if found:
                section["ids"].insert(0, found.group())


def add_filter(app, pagename, templatename, context, doctree):
    """Load the script of the filter box on the page of reasons only."""
    if pagename == "reasons":
        app.add_js_file("reasons.js")


def setup(app):
    """Connect the functions above."""
    app.connect("doctree-read", add_anchors)
    app.connect("html-page-context", add_filter)
    return {"parallel_read_safe": True}
