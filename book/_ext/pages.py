"""What the theme's pages lack: they become lighter, and usable by everyone.

Sphinx renders each page through `Pages` (``template_bridge`` in ``_config.yml``), which hands the
theme's HTML to a few functions. Each changes one thing, and says why.
"""

import re
from pathlib import Path

from bs4 import BeautifulSoup
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


def fragment(html):
    return BeautifulSoup(html, "html.parser").contents[0]


def load(frame, article):
    """Load what the page uses, once, and run it after the page has been read."""
    frame.html["data-theme"] = "light"  # for readers without scripts
    frame.find("script", attrs={"data-cfasync": True}).string = THEME
    for tag in frame.select("link[rel=preload], meta[name=viewport] ~ meta[name=viewport]"):
        tag.decompose()
    unneeded = [
        pattern
        for pattern, selector in NEEDED_BY.items()
        if not (selector and (frame.select_one(selector) or article.select_one(selector)))
    ]
    for tag in [*frame.select("script, link[rel=stylesheet]"), *article.find_all("script")]:
        if re.search("|".join(unneeded), tag.get("src") or tag.get("href") or tag.string or ""):
            tag.decompose()
        elif tag.get("src"):
            tag["defer"] = ""


def icons(frame, article):
    """Draw each icon in the page: no font, no script."""
    for tag in frame.select("i[class*='fa-'], span[class*='fa-']"):
        names = [c.removeprefix("fa-") for c in tag["class"] if c.startswith("fa-")]
        name = next((name for name in names if name in ICONS), None)
        if name is None:
            logger.warning("no drawing for the theme's icon %s", " ".join(tag["class"]))
            continue
        icon = fragment(get_octicon(ICONS[name]))
        icon["class"] = ["octicon"]
        if "theme-switch" in tag["class"]:  # shown and hidden by the theme's CSS, so it is a name
            icon["class"] += ["theme-switch"]
            icon["data-mode"] = tag["data-mode"]
            icon["role"], icon["aria-label"] = "img", tag["title"].lower()
            del icon["aria-hidden"]
        tag.replace_with(icon)


def names(frame, article):
    """Give each control a name that agrees with what is seen, and each dialog one at all."""
    for tag in frame.select("button[title], a[title]"):
        if not tag.get_text(strip=True):
            tag["aria-label"] = tag["title"]
    for tag in frame.select("main [data-bs-toggle=tooltip]"):
        tag["data-bs-container"] = "main"  # else tooltips stand outside all landmarks
    for tag in frame.select(".search-button-field"):  # it says "Search" itself, and its keys
        for attribute in ("title", "aria-label", "data-bs-toggle"):
            del tag[attribute]
    for tag in frame.select(".theme-switch-button"):
        label = tag.attrs.pop("aria-label")
        tag.insert(0, fragment(f'<span class="visually-hidden">{label}: </span>'))
    for tag in frame.select(".btn__icon-container img"):
        tag["alt"] = ""  # the button's text says it
    for name, label in {
        "pst-search-dialog": "Search",
        "pst-primary-sidebar-modal": "Book",
        "pst-secondary-sidebar-modal": "Contents of this page",
    }.items():
        for tag in frame.select(f"#{name}"):
            tag["aria-label"] = label


def landmarks(frame, article):
    """Put everything into a landmark, and leave no empty one."""
    frame.select_one("#pst-header")["hidden"] = ""  # empty, but the theme's script measures it
    frame.select_one("footer.bd-footer").decompose()
    sidebar = frame.select_one("#pst-primary-sidebar")
    sidebar["role"], sidebar["aria-label"] = "complementary", "Book"
    frame.main.append(frame.select_one("#pst-back-to-top"))
    # Places for advertisements and for versions, and a title page that only print shows.
    for tag in frame.select("#ethical-ad-placement, .pst-async-banner-revealer, .onlyprint"):
        tag.decompose()
    for tag in frame.select(".prev-next-area"):
        tag.name, tag["aria-label"] = "nav", "Previous and next page"
    for tag in frame.select("nav p.caption[role=heading]"):  # headings begin with the page's title
        del tag["role"], tag["aria-level"]
    for tag in frame.select(".toctree-l1 > a.current"):
        tag["aria-current"] = "page"


def structure(frame, article):
    """Say what the parts of an article are."""
    for tag in article.find_all("th"):
        tag["scope"] = "col"
    for tag in article.find_all("summary", attrs={"aria-label": True}):
        del tag["aria-label"]  # its text says it better
    for tag in article.find_all(class_="pst-scrollable-table-container"):
        tag.name = "section"  # a div may not take the focus, which scrolling needs
    for tag in article.find_all(role="doc-biblioentry"):
        tag["role"] = "listitem"


def downloads(frame, article):
    """Save the notebook; from disk, where no browser does that, it opens in a tab of its own."""
    for tag in frame.select(".btn-download-source-button"):
        tag["download"] = ""


def images(article, sources):
    """Reserve each figure's place, and load those further down when they are needed."""
    for number, tag in enumerate(article.find_all("img", src=re.compile("_images/"))):
        source = sources[Path(tag["src"]).name]
        if source.suffix == ".svg":
            svg = source.read_text(encoding="utf-8")
            for side in ("width", "height"):
                points = re.search(rf'<svg[^>]*? {side}="([\d.]+)pt"', svg)[1]
                tag[side] = round(float(points) * 4 / 3)
        if number:  # the first may stand above the fold
            tag["loading"], tag["decoding"] = "lazy", "async"


class Pages(BuiltinTemplateLoader):
    """Render pages as Sphinx does, then improve them."""

    def init(self, builder, *args, **options):
        super().init(builder, *args, **options)
        self.builder = builder

    def render(self, template, context):
        html = super().render(template, context)
        if "</html>" not in html:  # the theme also renders parts of pages
            return html
        frame = BeautifulSoup(html, "html.parser")
        place = frame.article or frame.new_tag("article")  # the search page has none
        article = BeautifulSoup("", "html.parser")
        article.extend(list(place.contents))  # taken out, so that a look at the frame is short
        for improve in (load, icons, names, landmarks, structure, downloads):
            improve(frame, article)
        folder = Path(self.builder.srcdir)
        images(article, {name: folder / path for path, name in self.builder.images.items()})
        place.extend(list(article.contents))
        return str(frame)


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
