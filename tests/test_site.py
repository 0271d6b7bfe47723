"""What a reader does with the built book, tried in a real browser by keyboard, also from disk."""

import io
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("playwright")
from PIL import Image

from tests.browser import violations
from tests.check_book import pages_of_toc

PAGES = [*pages_of_toc(), "search"]
CHAPTERS = [page for page in PAGES if page.startswith("notebooks/")]
CHAPTER = "notebooks/05-sinusoids"
THEMES = ("light", "dark")
WIDTHS = (1280, 390)
EMPTY = """() => {
  for (const part of document.querySelectorAll("article section > :not(h1)")) part.remove();
}"""
FOCUS = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  for (const transition of element.getAnimations()) transition.finish();
  const box = element.getBoundingClientRect();
  const drawn = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)
    || style.boxShadow !== "none" || element.matches(".bd-search input");
  return {html: element.outerHTML.slice(0, 120), tag: element.tagName,
          seen: drawn && style.opacity > 0 && box.width > 0 && box.height > 0};
}"""


# --- what a reader does, by keyboard ------------------------------------------------------------


MENUS = [
    (1280, ".dropdown-launch-buttons > button", ".dropdown-menu.show"),
    (1280, ".dropdown-download-buttons > button", ".dropdown-menu.show"),
    (1280, ".search-button-field", "#pst-search-dialog[open]"),
    (390, ".search-button", "#pst-search-dialog[open]"),
    (390, ".primary-toggle", "#pst-primary-sidebar-modal[open]"),
    (390, ".secondary-toggle", "#pst-secondary-sidebar-modal[open]"),
]


@pytest.mark.parametrize("width, button, menu", MENUS)
def test_a_menu_opens_and_closes_by_keyboard(tab, width, button, menu):
    """Open, it is looked at too; the text behind it is out of the way, test_pages.py sees to it."""
    page = tab("light", width).open(CHAPTER)
    page.evaluate(EMPTY)
    problems = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_function(
            "(theme) => document.documentElement.dataset.theme === theme", arg=theme
        )
        page.locator(button).press("Enter")
        page.locator(menu).wait_for()
        problems += [f"{theme}: {violation}" for violation in violations(page)]
        page.keyboard.press("Escape")
        page.locator(menu).wait_for(state="detached")
        assert page.evaluate("(button) => document.activeElement.matches(button)", button)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    assert problems == []


def test_the_sidebar_hides_and_comes_back(tab):
    page = tab().open(CHAPTER)
    toggle, sidebar = page.locator(".primary-toggle"), page.locator("#pst-primary-sidebar")
    toggle.press("Enter")
    sidebar.wait_for(state="hidden")
    page.wait_for_timeout(300)
    page.evaluate(EMPTY)
    assert violations(page) == []
    page.keyboard.press("Enter")  # the focus has stayed
    sidebar.wait_for(state="visible")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_focus_is_always_visible(tab, width):
    page = tab("light", width).open(CHAPTER)
    reached = set()
    for number in range(70):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if number == 0:
            assert "Skip to main content" in focus["html"]
        assert focus["seen"], focus["html"]
        reached.add(focus["tag"])
    assert {"A", "BUTTON"} <= reached


def test_the_skip_link_leads_into_the_text(tab):
    page = tab().open(CHAPTER)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('article') !== null")


@pytest.mark.parametrize("by", ["pointer", "keyboard"])
def test_the_contents_on_a_phone_lead_to_a_section_and_step_aside(tab, by):
    page = tab("light", 390).open(CHAPTER)
    page.locator(".secondary-toggle").press("Enter")
    link = page.locator("#pst-secondary-sidebar-modal a[href='#a-shift-is-a-rotation']")
    link.press("Enter") if by == "keyboard" else link.click()
    page.locator("#pst-secondary-sidebar-modal[open]").wait_for(state="detached")
    heading = page.locator("#a-shift-is-a-rotation > h2")
    page.wait_for_function("(heading) => heading === document.activeElement",
                           arg=heading.element_handle())  # fmt: skip
    page.wait_for_timeout(600)  # it may scroll smoothly
    assert 0 < heading.bounding_box()["y"] < 200


def test_solutions_fold(tab):
    page = tab().open(CHAPTER)
    summary = page.locator("details.hide > summary").first
    code = page.locator("details.hide").first.locator("pre").first
    assert not code.is_visible()
    assert "Show" in summary.inner_text() and "Hide" not in summary.inner_text()
    summary.press("Enter")
    assert code.is_visible()
    assert "Hide" in summary.inner_text() and "Show" not in summary.inner_text()
    summary.press("Enter")
    assert not code.is_visible()


def test_copy_button_copies(tab, book):
    page = tab().open(CHAPTER)
    block = page.locator(".cell_input .highlight").nth(1)
    block.locator("button.copybtn").press("Enter")
    page.locator("button.copybtn.success").wait_for()
    assert page.evaluate("document.activeElement.matches('button.copybtn.success')")
    code = block.locator("pre").inner_text()
    assert page.evaluate("navigator.clipboard.readText()").strip() == code.strip()
    cells = json.loads((book / f"{CHAPTER}.ipynb").read_text(encoding="utf-8"))["cells"]
    assert code.strip() in ["".join(cell["source"]).strip() for cell in cells]


# --- themes and paper ---------------------------------------------------------------------------


def test_the_theme_switch_goes_round_and_is_remembered(tab):
    page = tab().open(CHAPTER)
    button = page.locator(".theme-switch-button")
    for mode, name in [("dark", "dark"), ("light", "light"), ("auto", "system settings")]:
        button.press("Enter")
        assert page.evaluate("document.documentElement.dataset.mode") == mode
        icon = page.locator(".theme-switch:visible")
        assert icon.count() == 1 and icon.get_attribute("data-mode") == mode
        page.reload()
        assert page.evaluate("document.documentElement.dataset.mode") == mode
        assert page.get_by_role("button", name=f"Color mode: {name}").count() == 1


def luminance(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
              for c in (channel / 255 for channel in color[:3])]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_figures_are_legible(tab, theme):
    """White paper with dark lines, and a caption in the colours of the theme."""
    page = tab(theme).open(CHAPTER)
    figure = page.locator("article figure").first
    figure.scroll_into_view_if_needed()
    image = figure.locator("img")
    image.evaluate("(image) => image.decode()")
    pixels = Image.open(io.BytesIO(image.screenshot())).convert("RGB")
    colors = pixels.getcolors(pixels.width * pixels.height)
    paper = max(colors)[1]
    assert luminance(paper) > 0.95
    assert max(contrast(paper, color) for _, color in colors) > 7
    ink, ground = (
        tuple(map(float, re.findall(r"[\d.]+", page.evaluate(f"getComputedStyle({of}").strip())))
        for of in (
            "document.querySelector('article figcaption p')).color",
            "document.body).backgroundColor",
        )
    )
    assert contrast(ink, ground) > 7


def test_paper(browser, site):
    """Printed, a chapter is its text, unfolded; on screen it is as it was."""
    page = browser.new_page(color_scheme="dark")
    page.goto(f"{site}{CHAPTER}.html")
    folded = page.locator("details:not([open])").count()
    assert folded > 0
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    for aside in ("#pst-primary-sidebar", "#pst-secondary-sidebar", ".bd-header-article",
                  ".prev-next-footer", "button.copybtn >> nth=0", "#pst-back-to-top"):  # fmt: skip
        assert not page.locator(aside).is_visible(), aside
    assert page.evaluate("""() => [...document.querySelectorAll("pre, section.math, article img")]
      .every((element) => element.scrollWidth <= element.clientWidth + 1)""")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator("details:not([open])").count() == folded
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.close()


def test_reduced_motion(browser, site):
    page = browser.new_context(reduced_motion="reduce").new_page()
    page.goto(f"{site}{CHAPTER}.html")
    assert page.evaluate("""() => [...document.querySelectorAll("*")].every((element) => {
      const style = getComputedStyle(element);
      return parseFloat(style.transitionDuration) === 0 && style.animationName === "none";
    })""")
    page.context.close()


# --- over http and from disk --------------------------------------------------------------------


@pytest.fixture(params=["http", "disk"])
def anywhere(request):
    """Return a tab that reads the book over http, and one that reads it from disk."""
    return request.getfixturevalue("tab")() if request.param == "http" else request.getfixturevalue(
        "disk"
    )  # fmt: skip


def word_of_one_notebook(book):
    """Return a word that stands in the code of one notebook and nowhere else, and its chapter."""
    words = {}
    for path in sorted((book / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for word in re.findall(r"\b[a-z]{7,}\b", "".join(cell["source"])):
                words.setdefault(word, set()).add((path.stem, cell["cell_type"]))
    return next(
        (word, chapter)
        for word, places in sorted(words.items())
        for chapter, kind in places
        if len(places) == 1 and kind == "code" and f"notebooks/{chapter}" in CHAPTERS
    )


def test_search_finds_a_word_of_a_notebooks_code(anywhere, book):
    word, chapter = word_of_one_notebook(book)
    page = anywhere.open(PAGES[0])
    page.keyboard.press("Control+k")
    page.keyboard.type(word)
    page.keyboard.press("Enter")
    link = page.locator("#search-results a").first
    link.wait_for()
    assert f"notebooks/{chapter}.html" in link.get_attribute("href")
    page.locator("#search-results p.search-summary").wait_for()
    page.wait_for_timeout(200)
    link.press("Enter")
    page.wait_for_url(f"**/{chapter}.html*")
    page.wait_for_load_state()
    first = page.locator("article span.highlighted >> visible=true").first
    page.wait_for_timeout(600)  # it may scroll smoothly
    assert 0 < first.bounding_box()["y"] < 800
    assert anywhere.complaints == []


def press_download(tab):
    page = tab.open(CHAPTER)
    page.locator(".dropdown-download-buttons > button").press("Enter")
    page.locator(".dropdown-menu.show").wait_for()
    page.locator(".btn-download-source-button").focus()
    page.keyboard.press("Enter")


def test_download_gives_the_notebook(tab, book):
    with tab().page.expect_download() as download:
        press_download(tab())
    assert download.value.suggested_filename == f"{Path(CHAPTER).name}.ipynb"
    assert Path(download.value.path()).read_bytes() == (book / f"{CHAPTER}.ipynb").read_bytes()


def test_from_disk_the_notebook_opens(disk, book):
    """Browsers save nothing that a page from disk links to; its tab offers that."""
    with disk.page.expect_popup() as popup:
        press_download(disk)
    popup.value.wait_for_load_state()
    assert popup.value.url.endswith(f"{CHAPTER}.ipynb")
    shown = popup.value.locator("body").inner_text()
    assert json.loads(shown) == json.loads((book / f"{CHAPTER}.ipynb").read_text("utf-8"))
    popup.value.close()


def test_the_front_door_leads_to_the_first_page(anywhere):
    page = anywhere.open("index")
    page.wait_for_url(f"**/{PAGES[0]}.html")
    assert anywhere.complaints == []
