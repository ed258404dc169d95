# SPDX-License-Identifier: GPL-2.0
"""Sphinx's configuration for ``make html``."""
import os
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "META"), encoding="utf-8") as meta:
    version = release = re.search(r"^Version: (\S+)", meta.read(), re.M).group(1)

project = "kfdprio"
author = "the kfdprio authors"
copyright = "the kfdprio authors; GPL-2.0 OR MIT"
language = "en"
exclude_patterns = ["man"]
html_theme = "alabaster"
html_theme_options = {"description": "priorities and preemption for amdkfd", "page_width": "min(1400px, 97%)", "body_max_width": "1140px"}
# a line that begins with # is a command of root, not a comment
highlight_language = "none"
html_show_sourcelink = False
html_static_path = ["static"]
html_style = "kfdprio.css"


class PageLinks(SphinxPostTransform):
    """A page is named as ``page.rst`` in the text, which reads well without Sphinx; in HTML the name is a link to it."""
    default_priority = 5

    def run(self, **kwargs):
        for literal in list(self.document.findall(nodes.literal)):
            page, extension = os.path.splitext(literal.astext())
            if extension != ".rst" or isinstance(literal.parent, (nodes.reference, addnodes.pending_xref)):
                continue
            if page not in self.env.found_docs or page == self.env.docname:
                continue
            link = addnodes.pending_xref("", nodes.inline("", self.env.titles[page].astext()), refdomain="std",
                                         reftype="doc", reftarget="/" + page, refexplicit=True, refwarn=True,
                                         refdoc=self.env.docname)
            literal.replace_self(link)


class TableRows(SphinxPostTransform):
    """Warns of what reads well in the source of a table and is something else in HTML."""
    default_priority = 6

    def run(self, **kwargs):
        for row in self.document.findall(nodes.row):
            texts = [entry.astext().strip() for entry in row.findall(nodes.entry)]
            if len(texts) > 1 and texts[0] and not any(texts[1:]):
                self.warn(row, f"'{texts[0]}' is a row: text of the first column cannot continue in a simple table; draw a grid")
            for item in row.findall(nodes.list_item):
                if not item.astext().strip():
                    self.warn(row, f"the row of '{texts[0]}' has an empty bullet: write \\\\-, not -")

    @staticmethod
    def warn(row, text):
        # a row of a simple table has no line of its own
        place = row.next_node(nodes.paragraph)
        logging.getLogger(__name__).warning(text, location=place if place is not None else row)


def setup(app):
    app.add_post_transform(PageLinks)
    app.add_post_transform(TableRows)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
