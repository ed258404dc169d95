# SPDX-License-Identifier: GPL-2.0
"""Sphinx's configuration for ``make html``."""
import os
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "META"), encoding="utf-8") as meta:
    version = release = re.search(r"^Version: (\S+)", meta.read(), re.M).group(1)

project = "kfdprio"
author = "the kfdprio authors"
copyright = "the kfdprio authors; GPL-2.0 OR MIT"
language = "en"
exclude_patterns = ["man"]
html_theme = "alabaster"
html_theme_options = {"description": "priorities and preemption for amdkfd", "page_width": "1160px"}
html_show_sourcelink = False
html_static_path = []


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


def setup(app):
    app.add_post_transform(PageLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
