"""The documentation site: the Markdown pages of the project, and reference pages made of the code.

The source folder is that of the project, so that links lead to the same files here and in a
checkout. ``make docs`` builds it; nothing on its pages is loaded from a network.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "docs" / "_site"))

from dlopt import __version__  # noqa: E402

project = "dlopt"
author = "the dlopt authors"
release = version = __version__
root_doc = "docs/index"

extensions = [
    "myst_parser",
    "sphinx.ext.napoleon",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "generated_pages",
]
include_patterns = [
    "docs/**",
    "benchmarks/README.md",
    "benchmarks/results/*.md",
    "instances/README.md",
    "models/README.md",
    "tests/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
]
exclude_patterns = [".*", "build", "docs/_site"]

myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4

autodoc_typehints = "none"  # the docstrings have the types
autodoc_member_order = "bysource"
autosummary_generate = False
default_role = "autolink"
napoleon_google_docstring = False

napoleon_use_ivar = True  # properties have entries of their own
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"dlopt {release}"
html_additional_pages = {"index": "start.html"}
html_show_sphinx = False
templates_path = ["_site"]
