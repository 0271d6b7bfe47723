"""The whole way: nbval with the root `conftest.py` judges the cells of a notebook."""

import nbformat
from nbclient import NotebookClient

START = """\
import matplotlib.pyplot as plt
from posembed.explore import explorable
from posembed.plotting import use_style
use_style()"""
FIGURE = """\
plt.plot([0, 1], [0, {}])
plt.xlabel("position t (tokens)")
plt.show()"""
CLOCK = 'explorable("clock", {{"x": [{}, 0.5]}})'
# What a cell's code did when its outputs were stored, what it does now, and what is said then.
CELLS = [
    ("print({})", "1", "1", None),
    ("print({})", "2", "3", "*mismatch 'stdout'*"),
    (FIGURE, "1", "1", None),
    (FIGURE, "1", "0.9", "*drawn.ipynb, code cell 4, looks different: figure 0:*"),
    (CLOCK, "0.25", "0.25", None),
    (CLOCK, "0.251", "0.25", None),
    (CLOCK, "0.252", "0.25", "*drawn.ipynb, code cell 7, *data.x?0? was 0.252, now it is 0.25"),
]


def test_what_looks_different_fails_and_is_named(pytester, request, monkeypatch):
    codes = [START, *(code.format(stored) for code, stored, *_ in CELLS)]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in codes])
    NotebookClient(notebook, kernel_name="python3").execute()
    for cell, (code, _, now, _) in zip(notebook.cells[1:], CELLS):
        cell.source = code.format(now)
    nbformat.write(notebook, pytester.path / "drawn.ipynb")
    root = request.config.rootpath
    pytester.makeconftest((root / "conftest.py").read_text())
    pytester.makepyprojecttoml((root / "pyproject.toml").read_text())
    monkeypatch.setenv("PYTHONPATH", str(root))

    result = pytester.runpytest_subprocess("drawn.ipynb", "--color=no")
    said = [message for *_, message in CELLS if message]
    result.assert_outcomes(passed=1 + len(CELLS) - len(said), failed=len(said))
    for message in said:
        result.stdout.fnmatch_lines([message])
    assert list(pytester.path.glob("_build/figures/drawn-cell-4/*difference.png"))
