"""Sphinx configuration of the book, used by course_utils.tools.publish.book.

The book requests nothing from the network.
"""

project = html_title = "Sentence embeddings, from the first token to a fine-tuned encoder"
language = "en"
extensions = ["myst_nb"]

nb_execution_mode = "off"  # tests compare the lessons' stored outputs with fresh ones
nb_code_prompt_show, nb_code_prompt_hide = "Show the code", "Hide the code"
# on paper, show the picture of a view that is interactive on screen
nb_mime_priority_overrides = [("singlehtml", "image/png", 0)]
myst_heading_anchors = 3  # links may lead to headings of the levels 1 to 3
# anchors must be those of JupyterLab: the lessons are read there too
myst_heading_slug_func = "course_utils.tools.publish.headings.jupyter_anchor"

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "logo": {"text": "Sentence embeddings"},
    # an empty list takes away what the theme would put there
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "primary_sidebar_end": [],
    "article_header_start": [],
    "secondary_sidebar_items": [],
    "footer_start": [],
    "footer_end": [],
    "search_bar_text": "Search the lessons",
    "back_to_top_button": False,  # it covers text
}
templates_path = ["templates"]
html_sidebars = {"**": ["lessons.html"]}
html_favicon = "static/icon.svg"
html_static_path = ["static", "../formulas.css"]
html_css_files = ["formulas.css", "book.css"]
html_js_files = [("book.js", {"defer": "defer"})]
html_copy_source = False  # no "show source": the sources were changed for the book
html_use_index = False
# a summary is fetched from its page, which browsers refuse for file: URLs
html_show_search_summary = False
