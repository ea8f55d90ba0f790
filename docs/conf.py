"""Sphinx configuration: MyST pages, API pages from docstrings, the furo theme."""

from __future__ import annotations

from pathlib import Path

project = "GEM"
author = "The GEM authors"
version = release = (Path(__file__).parent.parent / "VERSION").read_text().strip()

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.intersphinx"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "README.md", ".pytest_cache"]
intersphinx_mapping: dict[str, tuple[str, None]] = {}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = True
html_theme = "furo"
html_title = f"GEM {version}"
