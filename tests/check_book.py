"""Check that the built book is real; `make book` ends with it.

A build can exit 0 and still lack a page, a figure or the target of a link. This looks at the HTML
as a browser would find it, and prints where to open it.
"""

import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from lxml import html as lxml_html

ROOT = Path(__file__).parents[1]
# What MyST, Sphinx or Python leave in a page when something went wrong.
BROKEN = {
    "a traceback": re.compile(r"Traceback \(most recent call last\)"),
    "a raw directive": re.compile(r"^\s*(?::::+|```+)\s*\{[\w-]+\}|^\s*\.\. [\w-]+::", re.M),
    "an unrendered role": re.compile(r"\{[a-z][\w:-]*\}`|:[a-z]+:`"),
    "the course's model in place of GPT-2": re.compile(r"This is not GPT-2: the course's own"),
    "raw Markdown": re.compile(r"\]\(\S+\.(?:md|ipynb)[)#]|^#{1,6} \S", re.M),
}


def pages_of_toc(root=ROOT):
    """Return the pages that ``_toc.yml`` lists, without suffix, the landing page first."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"]] + [page["file"] for part in toc["parts"] for page in part["chapters"]]


def stored_figures(notebook):
    """Return how many figures a notebook stores."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return sum(
        any(kind.startswith("image/") for kind in output.get("data", {}))
        for cell in cells
        for output in cell.get("outputs", [])
    )


def check(html, root=ROOT):
    """Return what is wrong with the book in folder `html`, one sentence each."""
    pages = pages_of_toc(root)
    problems = [f"{page}: no such page" for page in pages if not (html / f"{page}.html").is_file()]
    if not (html / "index.html").is_file():
        problems.append("index.html: no such page")
    trees = {
        path: lxml_html.parse(path).getroot()
        for path in sorted(html.rglob("*.html"))
        if "_static" not in path.relative_to(html).parts
    }
    ids = {path: {*tree.xpath("//@id"), *tree.xpath("//a/@name")} for path, tree in trees.items()}

    for path, tree in trees.items():
        name = path.relative_to(html).as_posix()
        links = tree.xpath("//a/@href | //link/@href | //img/@src | //script/@src")
        body = next(tree.iter("article"), tree)
        figures = body.xpath(
            ".//*[contains(@class, 'cell_output')]//img[contains(@src, '_images')]"
        )
        for code in body.xpath(".//pre | .//script | .//style"):
            if "traceback" not in code.get("class", ""):
                if BROKEN["a traceback"].search(code.text_content()):
                    problems.append(f"{name}: a traceback")
            code.drop_tree()
        text = body.text_content()
        problems += [f"{name}: {what}" for what, mark in BROKEN.items() if mark.search(text)]

        notebook = root / name.replace(".html", ".ipynb")
        if name.startswith("notebooks/") and notebook.is_file():
            stored = stored_figures(notebook)
            if len(figures) != stored:
                problems.append(f"{name}: {len(figures)} figures, but its notebook stores {stored}")

        for target in filter(None, links):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if file.is_dir():
                file /= "index.html"
            if not file.is_file():
                problems.append(f"{name}: broken link {target}")
            elif parts.fragment and file in ids and unquote(parts.fragment) not in ids[file]:
                problems.append(f"{name}: no such place {target}")
    return problems


if __name__ == "__main__":
    html = ROOT / "_build" / "html"
    problems = check(html)
    print("\n".join(problems), file=sys.stderr)
    if problems:
        sys.exit(f"The book has {len(problems)} defects.")
    print(f"The book is whole. Open it: {(html / 'index.html').as_uri()}")
