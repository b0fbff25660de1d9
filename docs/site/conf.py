# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx for the site of the documents. `warpfold docs-site` gives it the pages."""

project = "Warpfold"
html_title = "Warpfold"
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
highlight_language = "none"
# GitHub's anchors of headings, which the links between the pages use.
myst_heading_anchors = 4
# Console blocks hold cut output, and YAML-like fragments: a lexer that gives up is no fault of the page.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
pygments_style = "friendly"
pygments_dark_style = "monokai"
