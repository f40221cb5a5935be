"""Sphinx configuration of irmeta's site; .ci/site builds it."""

import irmeta

project = "irmeta"
author = "The irmeta developers"
copyright = "The irmeta developers"  # noqa: A001 (Sphinx's name for it)
release = version = irmeta.__version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb"]
include_patterns = [
    "index.md", "notebooks/**", "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/README.md",
    "data_fixtures/README.md",
]  # fmt: skip
exclude_patterns = ["notebooks/site/contents.md"]  # part of the index

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebooks have outputs; .ci/site --execute makes new ones
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_typehints = "none"
default_role = "code"

html_theme = "pydata_sphinx_theme"
html_title = f"irmeta {version}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "navbar_center": [],  # the sidebar has all pages, by section
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "default",
}
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["."]
html_sidebars = {"**": ["sidebar"]}
suppress_warnings = ["myst.header"]
