"""Each page of the built book in a real browser, in both themes, wide and narrow, and from disk.

It is looked at for all that can be measured without touching it.
"""

import re
from urllib.parse import unquote

import pytest

pytest.importorskip("playwright")

from tests.browser import SCROLL, colour_violations, violations
from tests.check_book import pages_of_toc

PAGES = [*pages_of_toc(), "search"]
# What stands outside the window and can't be scrolled to.
CUT = """() => [...document.querySelectorAll("article *")].filter((element) => {
  const box = element.getBoundingClientRect();
  if (box.right <= innerWidth + 1 || !box.height) return false;
  for (let e = element; e.tagName !== "ARTICLE"; e = e.parentElement) {
    const {overflowX, clip, position} = getComputedStyle(e);
    if (overflowX !== "visible" || (position === "absolute" && clip !== "auto")) return false;
  }
  return true;
}).map((element) => element.outerHTML.slice(0, 80))"""
MATH = """() => [...document.querySelectorAll("math")].filter((math) => {
  const box = math.getBoundingClientRect();
  return math.checkVisibility() && !(box.width && box.height);
}).map((math) => math.getAttribute("alttext"))"""
IMAGES = """() => [...document.querySelectorAll("article img")].filter((image) =>
  !image.naturalWidth || !image.hasAttribute("width") || !image.hasAttribute("height")
).map((image) => image.src)"""
PROSE = """() => {
  const article = (document.querySelector("article") || document.body).cloneNode(true);
  for (const code of article.querySelectorAll("pre, code, script")) code.remove();
  return article.textContent;
}"""
# What is wider than its place and scrolls, but not by keyboard.
UNREACHED = """() => [...document.querySelectorAll("article *")].filter((element) =>
  element.scrollWidth > element.clientWidth + 1 && element.checkVisibility()
  && /auto|scroll/.test(getComputedStyle(element).overflowX) && element.tabIndex < 0
).map((element) => element.outerHTML.slice(0, 80))"""
# What a style sheet draws from the theme's icon font, which the book leaves out.
NO_FONT = r"""() => [...document.querySelectorAll("body *")].filter((element) =>
  ["::before", "::after"].some((part) =>
    /[\ue000-\uf8ff]/.test(getComputedStyle(element, part).content))
).map((element) => element.outerHTML.slice(0, 80))"""
# All that axe looks at but for colours: what a page is made of, and where it stands.
LAYOUT = """() => document.body.outerHTML + [...document.querySelectorAll("body *")].map((element) =>
  [element.checkVisibility(), ...Object.values(element.getBoundingClientRect().toJSON())])"""
# Whether the page is dark by now, and all colours have changed to the end.
DARK = """() => {
  const changes = document.getAnimations();
  for (const change of changes) change.finish();
  return document.documentElement.dataset.theme === "dark" && !changes.length;
}"""
EAGER = "() => { for (const image of document.images) image.loading = 'eager'; }"


def weights(reader, folder):
    """Return how many bytes of files a page has asked for: {URL: size on the disk}."""
    files = {url: url.removeprefix(reader.home).split("?")[0] for url in reader.requested}
    return {
        url: (folder / unquote(file)).stat().st_size
        for url, file in files.items()
        if not url.startswith(("data:", "blob:"))
    }


@pytest.mark.parametrize("width", (1280, 390))
@pytest.mark.parametrize("name", PAGES)
def test_a_page(tab, book, name, width):
    """No message, no foreign or failed request, no sideways scroll, no violation, no shift.

    At most 1 MB beyond its own figures and 2 MB in all, read to the end. It is opened in the light
    theme and follows the system into the dark one, which changes its colours and nothing else.
    """
    reader = tab("light", width)
    page = reader.open(name)
    page.evaluate(SCROLL)
    problems = [f"cut off: {element}" for element in page.evaluate(CUT)]
    problems += [f"scrolls without keyboard: {element}" for element in page.evaluate(UNREACHED)]
    problems += [f"an icon without its font: {element}" for element in page.evaluate(NO_FONT)]
    problems += [f"without size: {formula}" for formula in page.evaluate(MATH)]
    problems += [f"no picture or no size: {image}" for image in page.evaluate(IMAGES)]
    problems += [f"raw TeX: {tex}" for tex in re.findall(r"\\\(|\\\[|\$\$|\\[a-z]{2,}\b",
                                                         page.evaluate(PROSE))]  # fmt: skip
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        problems.append("scrolls sideways")
    if (shift := page.evaluate("window.shifts")) >= 0.02:
        problems.append(f"its layout shifts by {shift:.3f}")
    sizes = weights(reader, book / "_build" / "html")
    figures = sum(size for url, size in sizes.items() if "/_images/" in url)
    total = sum(sizes.values())
    assert total - figures > 1e5 and (figures > 0 or not name.startswith("notebooks/"))
    if total > 2e6 or total - figures > 1e6:
        problems.append(f"is heavy: {total:,} bytes, {figures:,} of them figures")
    problems += reader.complaints  # axe itself then asks for style sheets that are not there
    problems += [f"light: {violation}" for violation in violations(page)]
    layout = page.evaluate(LAYOUT)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(DARK)
    if page.evaluate(LAYOUT) != layout:
        problems.append("dark, it is not the same page in other colours")
    problems += [f"dark: {violation}" for violation in colour_violations(page)]
    page.emulate_media(color_scheme="light")
    assert problems == []


def test_a_dim_word_and_a_picture_without_words_are_noticed(tab):
    """That is, axe runs, and sees a dark page's colours too."""
    page = tab().open("book/glossary")
    page.evaluate("document.querySelector('article').append(new Image())")
    page.add_style_tag(content="html[data-theme=dark] article em { color: #444; }")
    assert [line.split(":")[0] for line in violations(page)] == ["image-alt"]
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(DARK)
    found = colour_violations(page)
    page.emulate_media(color_scheme="light")
    assert [line[:18] for line in found] == ["color-contrast: <e"]


def test_chapters_have_formulas(tab):
    """So that the look at their size above looks at something; and in the book's own font."""
    page = tab().open("notebooks/05-sinusoids")
    assert page.locator("math").count() > 20
    fonts = "document.fonts.ready.then((fonts) => [...fonts].map((f) => [f.family, f.status]))"
    assert page.evaluate(fonts) == [["Book Math", "loaded"]]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_from_disk(disk, name):
    """It is opened in the dark theme."""
    page = disk.open(name)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.evaluate(EAGER)
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    assert disk.complaints == []
