"""Configuration of the site that `cargo xtask docs` builds. Its sources are made by xtask, from the repository's files."""

import tomllib
from pathlib import Path

project = "maxmargin"
author = "The maxmargin developers"
with (Path(__file__).parents[2] / "Cargo.toml").open("rb") as manifest:
    release = tomllib.load(manifest)["workspace"]["package"]["version"]
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

# Anchors of headings are those of GitHub, which the repository's files use.
myst_heading_anchors = 6
# Names of the repository, such as README.md, are no addresses.
myst_enable_extensions = []

autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "maxmargin"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = True
html_theme_options = {
    "logo": {"text": "maxmargin"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "use_edit_page_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": [],
    "footer_end": [],
}


def skip_inherited(app, what, name, member, skip, options):
    """Leave out members that are scikit-learn's or numpy's: their pages are there, and refer to places that are not here."""
    of = getattr(member, "fget", member)
    module = getattr(of, "__module__", None)
    return True if isinstance(module, str) and not module.startswith("maxmargin") else None


def setup(app):
    """Connect what Sphinx has no option for."""
    app.connect("autodoc-skip-member", skip_inherited)
