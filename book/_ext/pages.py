"""What the theme's pages lack: they become lighter, and usable by everyone.

Sphinx renders each page through `Pages` (``template_bridge`` in ``_config.yml``), which hands the
theme's HTML to a few functions. Each changes one thing, and says why.
"""

import re
from pathlib import Path

from lxml import html
from sphinx.jinja2glue import BuiltinTemplateLoader
from sphinx.util import logging
from sphinx_design.icons import get_octicon

# What a page loads only if it has something that matches; None: never. Found by file name, or by
# what an inline script says.
NEEDED_BY = {
    r"fontawesome": None,  # icons() puts drawings into the page instead
    r"thebe|THEBE|kernelName": None,  # live code is one click away, on Binder
    r"DOCUMENTATION_OPTIONS\.": None,  # only for version switches and search while typing
    r"toggle[bB]utton|toggleHint|toggleOpen": ".toggle, .admonition.dropdown",
    r"design-tabs|sphinx-design": "article [class*='sd-']",
    r"clipboard|copybutton": "pre",
    r"mystnb": ".cell",
    r"searchtools|language_data|searchindex": "#search-results",
    r"math\.css": "math",
}
# The theme's icon font has 1.5 MB. These are its names, and GitHub's drawings of the same things.
ICONS = {
    "angle-left": "chevron-left",
    "angle-right": "chevron-right",
    "arrow-up": "arrow-up",
    "bars": "three-bars",
    "circle-half-stroke": "device-desktop",
    "download": "download",
    "expand": "screen-full",
    "file": "file-code",
    "file-pdf": "file",
    "github": "mark-github",
    "gitlab": "git-branch",
    "list": "list-unordered",
    "magnifying-glass": "search",
    "moon": "moon",
    "rocket": "rocket",
    "sun": "sun",
}
# Before the first paint, or a dark page flashes white. The theme's own line knows no "auto".
THEME = """{
  const mode = localStorage.getItem("mode") || "auto";
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.mode = mode;
  document.documentElement.dataset.theme = mode === "auto" ? system : mode;
}"""
logger = logging.getLogger(__name__)


def load(page):
    """Load what the page uses, once, and run it after the page has been read."""
    page.set("data-theme", "light")  # for readers without scripts
    page.cssselect("script[data-cfasync]")[0].text = THEME
    for tag in page.cssselect("link[rel=preload], meta[name=viewport] ~ meta[name=viewport]"):
        tag.drop_tree()
    unneeded = [
        pattern
        for pattern, selector in NEEDED_BY.items()
        if not (selector and page.cssselect(selector))
    ]
    for tag in page.cssselect("script, link[rel=stylesheet]"):
        if re.search("|".join(unneeded), tag.get("src") or tag.get("href") or tag.text or ""):
            tag.drop_tree()
        elif tag.get("src"):
            tag.set("defer", "")
    if page.cssselect("math"):  # now: a font that comes after the first paint moves what it is in
        script = html.Element("script")
        script.text = 'document.fonts.load("1em Book Math");'
        page.head.append(script)


def icons(page):
    """Draw each icon in the page: no font, no script."""
    for tag in page.cssselect("i[class*='fa-'], span[class*='fa-']"):
        names = [c.removeprefix("fa-") for c in tag.classes if c.startswith("fa-")]
        name = next((name for name in names if name in ICONS), None)
        if name is None:
            logger.warning("no drawing for the theme's icon %s", tag.get("class"))
            continue
        icon = html.fragment_fromstring(get_octicon(ICONS[name]))
        icon.set("class", "octicon")
        if "theme-switch" in tag.classes:  # shown and hidden by the theme's CSS, so it is a name
            icon.classes.add("theme-switch")
            icon.set("data-mode", tag.get("data-mode"))
            icon.set("role", "img")
            icon.set("aria-label", tag.get("title").lower())
            del icon.attrib["aria-hidden"]
        icon.tail = tag.tail
        tag.getparent().replace(tag, icon)


def names(page):
    """Give each control a name that agrees with what is seen, and each dialog one at all."""
    for tag in page.cssselect("button[title], a[title]"):
        if not tag.text_content().strip():
            tag.set("aria-label", tag.get("title"))
    for tag in page.cssselect("main [data-bs-toggle=tooltip]"):
        tag.set("data-bs-container", "main")  # else tooltips stand outside all landmarks
    for tag in page.cssselect(".search-button-field"):  # it says "Search" itself, and its keys
        for attribute in ("title", "aria-label", "data-bs-toggle"):
            tag.attrib.pop(attribute, None)
    for tag in page.cssselect(".theme-switch-button"):
        label = html.Element("span", {"class": "visually-hidden"})
        label.text = f"{tag.attrib.pop('aria-label')}: "
        tag.insert(0, label)
    for tag in page.cssselect(".btn__icon-container img"):
        tag.set("alt", "")  # the button's text says it
    for name, label in {
        "pst-search-dialog": "Search",
        "pst-primary-sidebar-modal": "Book",
        "pst-secondary-sidebar-modal": "Contents of this page",
    }.items():
        for tag in page.cssselect(f"#{name}"):
            tag.set("aria-label", label)


def landmarks(page):
    """Put everything into a landmark, and leave no empty one."""
    page.get_element_by_id("pst-header").set("hidden", "")  # the theme's script measures it
    page.cssselect("footer.bd-footer")[0].drop_tree()
    sidebar = page.get_element_by_id("pst-primary-sidebar")
    sidebar.set("role", "complementary")
    sidebar.set("aria-label", "Book")
    page.cssselect("main")[0].append(page.get_element_by_id("pst-back-to-top"))
    # Places for advertisements and for versions, and a title page that only print shows.
    for tag in page.cssselect("#ethical-ad-placement, .pst-async-banner-revealer, .onlyprint"):
        tag.drop_tree()
    for tag in page.cssselect(".prev-next-area"):
        tag.tag = "nav"
        tag.set("aria-label", "Previous and next page")
    for tag in page.cssselect("article"):  # past the buttons above it, unlike the theme's target
        tag.set("id", "text")
        page.cssselect(".skip-link a")[0].set("href", "#text")
    for tag in page.cssselect("nav p.caption[role=heading]"):  # the first heading is the title
        del tag.attrib["role"], tag.attrib["aria-level"]
    for tag in page.cssselect(".toctree-l1 > a.current"):
        tag.set("aria-current", "page")


def structure(page):
    """Say what the parts of an article are."""
    for tag in page.cssselect("article th"):
        tag.set("scope", "col")
    for tag in page.cssselect("article summary[aria-label]"):
        del tag.attrib["aria-label"]  # its text says it better
    for tag in page.cssselect("article .pst-scrollable-table-container"):
        tag.tag = "section"  # a div may not take the focus, which scrolling needs
    for tag in page.cssselect("article [role=doc-biblioentry]"):
        tag.set("role", "listitem")


def downloads(page):
    """Save the notebook; from disk, where no browser does that, it opens in a tab of its own."""
    for tag in page.cssselect(".btn-download-source-button"):
        tag.set("download", "")


def images(page, sources):
    """Reserve each figure's place, and load those further down when they are needed."""
    for number, tag in enumerate(page.cssselect("article img[src*='_images/']")):
        source = sources[Path(tag.get("src")).name]
        if source.suffix == ".svg":
            svg = source.read_text(encoding="utf-8")
            for side in ("width", "height"):
                points = re.search(rf'<svg[^>]*? {side}="([\d.]+)pt"', svg)[1]
                tag.set(side, str(round(float(points) * 4 / 3)))
        if number:  # the first may stand above the fold
            tag.set("loading", "lazy")
            tag.set("decoding", "async")


class Pages(BuiltinTemplateLoader):
    """Render pages as Sphinx does, then improve them."""

    def init(self, builder, *args, **options):
        super().init(builder, *args, **options)
        self.builder = builder

    def render(self, template, context):
        text = super().render(template, context)
        if "</html>" not in text:  # the theme also renders parts of pages
            return text
        page = html.document_fromstring(text)
        for improve in (load, icons, names, landmarks, structure, downloads):
            improve(page)
        folder = Path(self.builder.srcdir)
        images(page, {name: folder / path for path, name in self.builder.images.items()})
        return html.tostring(page, encoding="unicode", doctype="<!DOCTYPE html>")


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
