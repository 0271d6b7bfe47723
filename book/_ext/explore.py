"""Give the pages that have an explorable the scripts it needs, and no other page.

The parts of d3 come from ``book/node_modules`` (``package.json`` lists them) and go into the site
as one classic script: modules don't load from disk.
"""

import json
import re
from pathlib import Path

NODE = Path(__file__).parents[1]
KIND = re.compile(r'<div class="explorable" data-kind="([a-z]+)">')


def d3():
    """Return the parts of d3 that ``package.json`` lists as one script, with their licences."""
    listed = json.loads((NODE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    folders = [NODE / "node_modules" / name for name in listed]
    licences = {(folder / "LICENSE").read_text(encoding="utf-8"): None for folder in folders}
    scripts = [folder / "dist" / f"{folder.name}.min.js" for folder in folders]
    return "\n".join(
        [f"/*\n{text}*/" for text in licences] + [s.read_text(encoding="utf-8") for s in scripts]
    )


def write_d3(app):
    if app.builder.format == "html":
        folder = Path(app.outdir) / "_static"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "d3.js").write_text(d3(), encoding="utf-8")


def add_scripts(app, page, template, context, doctree):
    kinds = dict.fromkeys(KIND.findall(context.get("body", "")))
    if kinds:
        app.add_css_file("explore.css")
        for script in ("d3.js", "explore.js", *(f"explore-{kind}.js" for kind in kinds)):
            app.add_js_file(script, loading_method="defer")


def setup(app):
    app.connect("builder-inited", write_d3)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
