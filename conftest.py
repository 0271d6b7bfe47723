"""How `make test` runs the chapters: nbval in strict mode, with figures compared as pictures.

nbval would compare an SVG byte by byte. Here its comparison leaves SVG out, and
`tests.figures.compare` looks at the same outputs in the same run; likewise the explorables, whose
data `tests.explorables.compare` compares number by number.

Where GPT-2 can't be had, or ``POSEMBED_MODEL=course`` asks for it, the chapters that load its
weights run on the course's own model. Then their outputs can't be those that are stored: what
counts is that no cell fails and that each solution passes its check. The summary says which
chapters were compared in full and which only ran.
"""

import functools
import json
import os
from pathlib import Path

import pytest
from nbval.plugin import IPyNbCell

from posembed import WeightsError, fallback, load_tensor
from posembed.weights import SOURCE_VARIABLE, TENSORS
from tests import explorables, figures

pytest_plugins = ["pytester"]

SVG = "image/svg+xml"
CHAPTER, COMPARED = "chapter", "compared in full"
PICTURES = Path(__file__).parent / "_build" / "figures"


@functools.cache
def needs_gpt2(notebook):
    """Say whether a notebook's code loads GPT-2's weights."""
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    code = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return "load_wpe(" in code or "load_tensor(" in code


@functools.cache
def why_no_gpt2():
    """Return None where the chapters get all of GPT-2's tensors, else the reason."""
    if fallback.wanted() == "course":
        return f"{fallback.MODEL_VARIABLE} is set to course"
    try:
        for name in TENSORS:
            load_tensor(name, fallback=False)
    except WeightsError as error:
        return str(error)
    return None


def compare_outputs(cell, nbval_compare, fresh, stored, skip_compare=None):
    """Compare a cell's outputs: figures as pictures, explorables by data, the rest as nbval does."""
    rest = [explorables.without_explorables(outputs) for outputs in (fresh, stored)]
    same = nbval_compare(*rest, skip_compare)
    pictures = [
        ["".join(out["data"][SVG]) for out in outputs if SVG in out.get("data", {})]
        for outputs in (stored, fresh)
    ]
    folder = PICTURES / f"{cell.path.stem}-cell-{cell.cell_num}"
    messages = figures.compare(*pictures, folder)
    messages += explorables.compare(*map(explorables.explorables, (stored, fresh)))
    for message in messages:
        cell.comparison_traceback.append(
            f"{cell.path.name}, code cell {cell.cell_num}, looks different: {message}"
        )
    return same and not messages


def check_solution(cell, nbval_compare, fresh, stored, skip_compare=None):
    """Where outputs can't be compared: a solution must still pass the check of its exercise."""
    if "solution" not in cell.cell.metadata.get("tags", []):
        return True
    text = "".join(output.get("text", "") for output in fresh)
    cell.comparison_traceback = [f"the solution does not pass its check: {text}"]
    return "Correct." in text and "Not yet" not in text


if "PYTEST_XDIST_WORKER" in os.environ:  # kernels side by side: one thread each, or all wait
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def pytest_configure(config):
    """Stop at once where a file was named that is not GPT-2's: nothing would be as it says."""
    if os.environ.get(SOURCE_VARIABLE) and not hasattr(config, "workerinput") and why_no_gpt2():
        if fallback.wanted() != "course":
            raise pytest.UsageError(why_no_gpt2())


def pytest_collection_modifyitems(items):
    # Side by side, what takes longest begins, so that no worker waits for it in the end.
    ranks = {"test_pages": 0, "test_explore": 2, "test_site": 2, "test_lab": 2}
    items.sort(key=lambda item: ranks.get(item.path.stem, 1 if item.path.suffix == ".ipynb" else 3))
    for item in items:
        if not isinstance(item, IPyNbCell):
            continue
        item.parent.skip_compare += (SVG,)
        only_runs = needs_gpt2(item.path) and why_no_gpt2() is not None
        check = check_solution if only_runs else compare_outputs
        item.compare_outputs = functools.partial(check, item, item.compare_outputs)
        mode = f"only run on the course's model ({why_no_gpt2()})" if only_runs else COMPARED
        item.user_properties.append((CHAPTER, (item.path.stem, mode)))


def pytest_terminal_summary(terminalreporter):
    modes = {}  # how a chapter was run: the names of these chapters
    for reports in terminalreporter.stats.values():
        for report in reports:
            for key, value in getattr(report, "user_properties", ()):
                if key == CHAPTER:
                    name, mode = value
                    modes.setdefault(mode, set()).add(name)
    if modes:
        terminalreporter.section("chapters")
    for mode, names in sorted(modes.items()):
        terminalreporter.write_line(f"{mode}: {', '.join(sorted(names))}")
