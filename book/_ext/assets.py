"""What the built book holds beside its pages: less than the theme ships, and a font for formulas.

Everything here is made from installed packages when a build has finished, from what the pages use.
"""

import base64
import html
import io
import logging
import re
import shutil
from importlib.resources import files
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

BOOK = Path(__file__).parents[1]
INDEX = """\
<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url={page}">
<title>{title}</title>
</head>
<body><main><h1><a href="{page}">{title}</a></h1></main></body>
</html>
"""
RULE = re.compile(r"([^{};]+)\{([^{}]*)\}")
# What formulas draw without naming it: the root, and the italic form of a letter on its own.
UNNAMED = {0x221A, 0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)}


def used_css(css, words):
    """Leave out the rules for classes and ids that are not among `words`."""

    def applies(selector):
        while (outer := re.sub(r"\([^()]*\)", "", selector)) != selector:
            selector = outer  # :not(.x) and the like ask for nothing
        names = re.findall(r"[.#]((?:[\w-]|\\.)+)", selector)
        return all(name.replace("\\", "") in words for name in names)

    def shorten(rule):
        selectors = re.split(r",(?![^(]*\))", rule[1])
        kept = ",".join(filter(applies, selectors))
        return f"{kept}{{{rule[2]}}}" if kept else ""

    css = RULE.sub(shorten, re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL))
    fonts = re.compile(r"@font-face\s*\{[^{}]*\}")  # those of the icons, which pages.py draws
    css = re.sub(r"content:\s*var\(--pst-icon-[\w-]+\)", "content:none", fonts.sub("", css))
    return re.sub(r"@(?:media|supports)[^{}]*\{\s*\}", "", css)


def math_font(characters):
    """Return the part of STIX Two Math that draws `characters`, as bytes of a WOFF file."""
    font = TTFont(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf")
    options = subset.Options(hinting=False, layout_features=[], name_IDs=[0, 1, 2, 13, 14])
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes={*map(ord, characters), *range(0x20, 0x7F), *UNNAMED})
    subsetter.subset(font)  # keeps the MATH table and the larger forms of brackets, sums, roots
    font.flavor = "woff"
    buffer = io.BytesIO()
    font.save(buffer)
    return buffer.getvalue()


def math_css(pages):
    """Return a style sheet that holds the font itself: a browser may refuse one from disk."""
    formulas = "".join(re.findall(r"<math.*?</math>", pages, re.DOTALL))
    characters = set(html.unescape(re.sub(r"<[^>]*>", "", formulas)))
    data = base64.b64encode(math_font(characters)).decode()
    source = f'url("data:font/woff;base64,{data}") format("woff")'
    return f'@font-face {{ font-family: "Book Math"; src: {source}; }}\n'


def smaller_svg(svg):
    """Leave out what isn't drawn, and digits below a thousandth of a point."""

    def short(number):
        return f"{float(number[0]):.3f}".rstrip("0").rstrip(".")

    def attribute(match):
        return " ".join(re.sub(r"-?\d+\.\d+", short, match[0]).split())

    hidden = r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>"
    svg = re.sub(hidden, "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(?:d|x|y)="[^"]*"', attribute, svg)
    return svg if "<text" in svg else re.sub(r">\s+<", "><", svg).strip()


def outdated(app, env, added, changed, removed):
    """Name all pages when a script, a style sheet or an extension is newer than the last build.

    Sphinx looks at the pages' own sources only.
    """
    last = Path(app.doctreedir) / "environment.pickle"
    parts = [file for folder in ("_static", "_ext") for file in (BOOK / folder).glob("*.*")]
    newest = max(file.stat().st_mtime for file in parts)
    return env.found_docs if last.exists() and last.stat().st_mtime < newest else []


def finish(app, exception):
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    static = folder / "_static"
    shutil.rmtree(static / "vendor", ignore_errors=True)
    shutil.rmtree(static / "locales", ignore_errors=True)
    for file in {*static.rglob("*.map"), *static.rglob("fontawesome.js*")}:
        file.unlink()

    def texts(pattern):
        return "\n".join(file.read_text(encoding="utf-8") for file in sorted(folder.rglob(pattern)))

    pages = texts("*.html")
    words = set(re.findall(r"[\w-]+", pages + texts("_static/**/*.js")))
    own = {file.name for file in (BOOK / "_static").glob("*.css")}
    for file in static.rglob("*.css"):
        if file.name not in own:
            file.write_text(used_css(file.read_text(encoding="utf-8"), words), encoding="utf-8")
    (static / "math.css").write_text(math_css(pages), encoding="utf-8")
    for file in (folder / "_images").glob("*.svg"):
        file.write_text(smaller_svg(file.read_text(encoding="utf-8")), encoding="utf-8")
    if (root := app.config.root_doc) != "index":
        page = {"page": f"{root}.html", "title": app.config.html_title}
        index = INDEX.format(language=app.config.language, **page)
        (folder / "index.html").write_text(index, encoding="utf-8")


def setup(app):
    app.add_css_file("math.css")
    app.connect("env-get-outdated", outdated)
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
