"""The book builds without a warning, is whole, and its checks notice when it isn't."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from lxml import html as lxml_html

from tests.built import ADDRESS, build, copy
from tests.check_book import check, pages_of_toc
from tests.figures import compare

ROOT = Path(__file__).parents[1]


def test_the_book_is_whole(book):
    assert check(book / "_build" / "html", book) == []


def test_each_launch_link_names_a_notebook_that_exists(book):
    """Binder and Colab on every chapter; nowhere a link to a file that is not in the repository."""
    for page in pages_of_toc(book):
        hrefs = lxml_html.parse(book / "_build" / "html" / f"{page}.html").xpath("//a/@href")
        binder = [h for h in hrefs if h.startswith("https://mybinder.org/")]
        colab = [h for h in hrefs if h.startswith("https://colab.research.google.com/")]
        if not page.startswith("notebooks/"):
            assert not binder and not colab
            continue
        owner = ADDRESS.removeprefix("https://github.com/")
        assert binder == [f"https://mybinder.org/v2/gh/{owner}/main?urlpath=lab/tree/{page}.ipynb"]
        assert colab == [f"https://colab.research.google.com/github/{owner}/blob/main/{page}.ipynb"]
        assert (ROOT / f"{page}.ipynb").is_file()


def test_the_address_is_written_where_it_is_needed(book):
    """In Colab a chapter's first code cell installs the package from the repository."""
    for path in sorted((book / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        first = "".join(next(c for c in cells if c["cell_type"] == "code")["source"])
        assert f'    %pip install -q "posembed @ git+{ADDRESS}"\n' in first
        assert first.index("find_spec") < first.index("%pip") < first.index("from posembed")
    readme = (book / "README.md").read_text(encoding="utf-8")
    assert f"mybinder.org/v2/gh/{ADDRESS.removeprefix('https://github.com/')}/main?" in readme


def test_writing_the_address_twice_or_taking_it_back_changes_nothing_else(book, tmp_path):
    folder = copy(tmp_path)
    before = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.ipynb")}
    script = [sys.executable, folder / "book/_ext/address.py"]
    config = (folder / "_config.yml").read_text(encoding="utf-8")
    with_address = config.replace('url: ""', f'url: "{ADDRESS}"')
    assert with_address != config
    for text in (with_address, with_address, config):
        (folder / "_config.yml").write_text(text, encoding="utf-8")
        subprocess.run(script, check=True)
    for path, text in before.items():
        assert json.loads(path.read_text(encoding="utf-8")) == json.loads(text)
    assert (folder / "README.md").read_text("utf-8") == (ROOT / "README.md").read_text("utf-8")


def test_this_checkout_agrees_with_its_configured_address():
    """What is committed was written by `make address`."""
    url = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["repository"]["url"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert ("mybinder.org/v2/" in readme) == bool(url)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        installs = re.findall(r"posembed @ git\+(\S+?)\\\"", path.read_text(encoding="utf-8"))
        assert installs == ([url] if url else []), path.name


@pytest.mark.parametrize(
    "written, found",
    [
        ("https://github.com/o/r", "https://github.com/o/r"),
        ("https://github.com/o/r.git", "https://github.com/o/r"),
        ("git@github.com:o/r.git", "https://github.com/o/r"),
        ("ssh://git@github.com:22/o/r.git", "https://github.com/o/r"),
        ("https://name:secret@github.com/o/r.git/", "https://github.com/o/r"),
        ("https://gitlab.com/o/r.d", "https://gitlab.com/o/r.d"),
        ("/srv/git/o/r.git", None),
        ("../r", None),
        ("http://localhost:3000/o/r", None),
        ("https://git.example.org/o/r", None),
        ("git@192.168.1.4:o/r.git", None),
        ("", None),
    ],
)
def test_public_addresses(written, found, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    import address

    assert address.public_address(written) == found


# --- the checks notice ------------------------------------------------------------------------


def without_a_figure(page):
    return re.sub(r'<img[^>]*src="[^"]*_images/[^"]*"[^>]*>', "", page, count=1)


def adding(html):
    """Return a function that adds something at the end of a page's article."""
    return lambda page: page.replace("</article>", f"{html}</article>", 1)


@pytest.fixture(scope="module")
def own_copy(book, tmp_path_factory):
    """Return a copy of the pages that may be changed."""
    return shutil.copytree(book / "_build" / "html", tmp_path_factory.mktemp("copy") / "html")


@pytest.mark.parametrize(
    "change, said",
    [
        (without_a_figure, "figures, but its notebook stores"),
        (adding("<p>{ref}`x`</p>"), "an unrendered role"),
        (adding("<p>```{note}</p>"), "a raw directive"),
        (adding("<p>[x](y.md)</p>"), "raw Markdown"),
        (adding("<pre>Traceback (most recent call last)</pre>"), "a traceback"),
        (adding("<p>This is not GPT-2: the course's own</p>"), "the course's model in place of"),
        (adding('<a href="gone.html">x</a>'), "broken link"),
        (adding('<a href="#gone">x</a>'), "no such place"),
        (None, "no such page"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_defect_is_noticed(book, own_copy, change, said):
    path = own_copy / "notebooks" / "05-sinusoids.html"
    original = path.read_text(encoding="utf-8")
    try:
        if change is None:
            path.unlink()
        else:
            changed = change(original)
            assert changed != original
            path.write_text(changed, encoding="utf-8")
        assert any(said in problem for problem in check(own_copy, book))
    finally:
        path.write_text(original, encoding="utf-8")


def test_a_changed_style_sheet_makes_all_pages_anew(tmp_path, monkeypatch):
    """Sphinx would leave the old one in the book, since no page has changed."""
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    import assets

    for folder in ("_static", "_ext"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(assets, "BOOK", tmp_path)
    sheet, last = tmp_path / "_static" / "book.css", tmp_path / "environment.pickle"
    sheet.touch()
    app = SimpleNamespace(doctreedir=tmp_path)
    env = SimpleNamespace(found_docs={"a", "b"})
    assert assets.outdated(app, env, *"123") == []  # the first build makes all pages anyway
    last.touch()
    os.utime(last, (5, 5))
    os.utime(sheet, (4, 4))
    assert assets.outdated(app, env, *"123") == []
    os.utime(sheet, (6, 6))
    assert assets.outdated(app, env, *"123") == {"a", "b"}


def test_without_an_address_there_are_no_buttons(tmp_path):
    """A book of one short chapter, whose page would have them otherwise, is enough to see it."""
    folder, chapter = copy(tmp_path), "notebooks/01-why-position-matters"
    cells = [nbformat.v4.new_markdown_cell("# Short"), nbformat.v4.new_code_cell("1")]
    metadata = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.write(notebook, folder / f"{chapter}.ipynb")
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: {chapter}\n", encoding="utf-8")
    page = (build(folder) / f"{chapter}.html").read_text(encoding="utf-8")
    assert "Short" in page
    assert "mybinder.org" not in page and "colab.research.google.com" not in page


def test_each_paper_that_a_chapter_links_is_in_the_bibliography():
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    papers = r"https://(?:arxiv\.org/abs/[\d.]+\d|doi\.org/[\w./]+|aclanthology\.org/[\w.-]+|cdn\.openai\.com/\S+?pdf)"
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for paper in re.findall(papers, path.read_text(encoding="utf-8")):
            assert paper in bibliography, f"{path.name}: {paper}"


def test_the_landing_figure_is_what_the_script_draws(tmp_path):
    """Drawn again from the real table, it looks the same as the stored file."""
    import io
    import runpy

    import matplotlib

    from posembed import WeightsError
    from posembed.plotting import STYLE

    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure = runpy.run_path(str(ROOT / "book" / "figure.py"), run_name="figure")
        try:
            figure["draw"]().savefig(buffer, format="svg", metadata={"Date": None})
        except WeightsError as error:
            pytest.skip(f"needs GPT-2: {error}")
    stored = figure["FILE"].read_text(encoding="utf-8")
    assert compare([stored], [buffer.getvalue()], tmp_path) == []


def test_the_errata_state_only_numbers_that_a_chapter_prints():
    """Each number of a row stands in the outputs (or, if whole, the code) of a chapter it links."""
    from tests.test_chapters import code_cells, missing_numbers, outputs

    shown, coded = {}, {}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = code_cells(nbformat.read(path, as_version=4))
        shown[path.name] = "\n".join(outputs(cell) for cell in cells)
        coded[path.name] = "\n".join(cell.source for cell in cells)
    rows = [
        line
        for line in (ROOT / "book" / "errata.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and not line.startswith(("| ---", "| The lesson"))
    ]
    assert len(rows) == 26, "one for each error of the source lesson"
    for row in rows:
        chapters = set(re.findall(r"notebooks/([\w-]+\.ipynb)", row))
        printed = "\n".join(shown[name] for name in chapters)
        code = "\n".join(coded[name] for name in chapters)
        assert missing_numbers(row, printed, code) == set(), row
