"""What nbval can't see in a chapter: its skeleton, its figures' words, the numbers in its prose."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAX_BYTES = 1_500_000
MAX_LINES = 25

SKELETON = [
    "Objectives",
    "Before you start",
    "What goes wrong",
    "Summary",
    "Exercises",
    "What's next",
    "Sources",
]

# Numbers in the prose that no cell of the chapter prints, each with its reason.
EXCEPTIONS = {}


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def chapter(request):
    notebook = nbformat.read(request.param, as_version=4)
    notebook.path = request.param
    return notebook


def code_cells(chapter):
    return [cell for cell in chapter.cells if cell.cell_type == "code"]


def prose(chapter):
    """Return all that a reader reads: text cells, captions and alternative texts."""
    texts = []
    for cell in code_cells(chapter):
        words = cell.metadata.get("mystnb", {})
        texts.append(words.get("image", {}).get("alt", ""))
        texts.append(words.get("figure", {}).get("caption", ""))
    texts += [cell.source for cell in chapter.cells if cell.cell_type == "markdown"]
    return "\n\n".join(texts)  # the sources stand last, where `quoted` cuts them off


def outputs(cell):
    """Return the text that a cell's stored outputs show."""
    texts = [out.text for out in cell.outputs if out.output_type == "stream"]
    for out in cell.outputs:
        data = out.get("data", {})
        if "image/svg+xml" not in data:
            texts.append(data.get("text/plain", ""))
    return "\n".join(texts)


def headings(chapter):
    text = "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.findall(r"^(#{1,6}) (.+)$", text, flags=re.M)


def has_figure(cell):
    return any("image/svg+xml" in out.get("data", {}) for out in cell.outputs)


# --- numbers ----------------------------------------------------------------------------------

SIGNED = r"(?<![\w.,−–-])([-−+±]?)"
NUMBER = r"(\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:[eE]([-+]?\d+))?"
WHOLE = re.compile(SIGNED + NUMBER + r"(?![\w]|\.\d)")


def numbers(text):
    """Return the (sign, digits) of all numbers in a text: thousands separators dropped."""
    found = set()
    for sign, digits, exponent in WHOLE.findall(text):
        digits = re.sub(r"[,_]", "", digits) + (f"e{int(exponent)}" if exponent else "")
        found.add(("-" if sign in ("-", "−") else "", digits))
    return found


def quoted(text):
    """Return a chapter's prose without the parts whose digits are no statements."""
    text = re.sub(r"^```.*?^```", " ", text, flags=re.M | re.S)  # code
    text = text.split("## Sources")[0]
    text = re.sub(r"\[[^\]]*\]\([^)]*\)", " ", text)  # links: years, arXiv numbers, chapters
    return re.sub(r"^#+ \d+\. ", "", text, flags=re.M)  # the number of the chapter


def missing_numbers(text, printed, code):
    """Return the numbers of a text that no output shows.

    A decimal number must stand in an output, with its sign if it is negative. A whole number of
    three or more digits must stand in an output or in the code.
    """
    shown, coded = numbers(printed), numbers(code)
    unsigned = {digits for _, digits in shown}
    missing = set()
    for sign, digits in numbers(quoted(text)):
        if "." in digits:
            fine = (sign, digits) in shown if sign else digits in unsigned
        else:
            fine = len(digits) < 3 or digits in unsigned | {digits for _, digits in coded}
        if not fine:
            missing.add(sign + digits)
    return missing


def test_the_prose_states_only_printed_numbers(chapter):
    printed = "\n".join(outputs(cell) for cell in code_cells(chapter))
    code = "\n".join(cell.source for cell in code_cells(chapter))
    exceptions = EXCEPTIONS.get(chapter.path.stem, {})
    missing = missing_numbers(prose(chapter), printed, code)
    assert missing == set(exceptions), "stated in the prose, printed by no cell (or not excepted)"


@pytest.mark.parametrize(
    "text, missing",
    [
        ("It is 0.974 here, and −0.48 there; 1,024 rows, 591 of 768.", set()),
        ("$r = -0.48$ (a drop of 0.48), 0.974.", set()),
        ("It is 0.973.", {"0.973"}),
        ("It is −0.974.", {"-0.974"}),
        ("It is 0.97.", {"0.97"}),
        ("All 592 columns.", {"592"}),
        ("between 0.48–0.974 and 0.5", {"0.5"}),
        ("[Vaswani 2017](https://arxiv.org/abs/1706.03762), 2017", {"2017"}),
    ],
)
def test_the_number_check_itself(text, missing):
    printed = "mean 0.974, lowest -0.48, 591 flat columns of 768"
    assert missing_numbers(text, printed, "n_positions = 1_024") == missing


# --- skeleton and cells -----------------------------------------------------------------------


def test_skeleton(chapter):
    titles = [title for level, title in headings(chapter) if level == "##"]
    assert [title for title in titles if title in SKELETON] == SKELETON
    number = int(chapter.path.stem[:2])
    (title,) = [title for level, title in headings(chapter) if level == "#"]
    assert title.startswith(f"{number}. ")
    assert chapter.cells[0].source.startswith("# ")
    text = prose(chapter)
    assert re.search(r"^Time: about \d+ minutes\.$", text, flags=re.M)
    objectives = re.search(r"^## Objectives$(.*?)^## ", text, flags=re.M | re.S)[1]
    assert 3 <= len(re.findall(r"^- ", objectives, flags=re.M)) <= 5


def test_headings_are_unique_and_in_order(chapter):
    levels = [len(level) for level, _ in headings(chapter)]
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))
    titles = [title for _, title in headings(chapter)]
    assert len(titles) == len(set(titles))


def test_cells_ran_once_from_top_to_bottom_without_noise(chapter):
    cells = code_cells(chapter)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        kinds = {out.output_type for out in cell.outputs}
        streams = {out.name for out in cell.outputs if out.output_type == "stream"}
        assert kinds <= {"stream", "display_data", "execute_result"}, cell.source
        assert streams <= {"stdout"}, cell.source
        assert not re.search(r"\bat 0x[0-9a-f]+|Warning|Traceback", outputs(cell)), cell.source


def test_cells_are_short_and_hold_no_magic(chapter):
    for cell in code_cells(chapter):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        assert len(lines) <= MAX_LINES, cell.source
        assert not re.search(r"^\s*[!%](?!pip install -q \"posembed @)", cell.source, flags=re.M)
        assert "use_style()" in cell.source or cell is not cells_with_code(chapter)[0]


def cells_with_code(chapter):
    return [cell for cell in code_cells(chapter) if cell.source.strip()]


def test_no_path_of_a_machine(chapter):
    text = chapter.path.read_text(encoding="utf-8")
    assert not re.search(r"[\"' (=](/(work|root|home|tmp|Users|mnt)/|[A-Z]:\\\\)", text)


def test_size(chapter):
    assert chapter.path.stat().st_size <= MAX_BYTES


def test_figures_have_words(chapter):
    figures = [cell for cell in code_cells(chapter) if has_figure(cell)]
    assert figures
    names = []
    for cell in figures:
        assert len([o for o in cell.outputs if "image/svg+xml" in o.get("data", {})]) == 1
        words = cell.metadata.get("mystnb", {})
        assert len(words.get("image", {}).get("alt", "")) >= 60, cell.source
        assert len(words.get("figure", {}).get("caption", "")) >= 30, cell.source
        names.append(words["figure"]["name"])
    assert len(names) == len(set(names))
    assert all(name.startswith(f"fig-{int(chapter.path.stem[:2])}-") for name in names)


def test_exercises_are_checked_and_solved(chapter):
    titles = [title for level, title in headings(chapter) if level == "###"]
    exercises = [title for title in titles if title.startswith("Exercise ")]
    assert len(exercises) >= 3
    kinds = {re.search(r"\((\w+)\)", title)[1] for title in exercises}
    assert {"compute", "predict", "open"} <= kinds
    checks = [cell for cell in code_cells(chapter) if re.search(r"^check_\w+\(", cell.source, re.M)]
    solutions = [cell for cell in checks if "solution" in cell.metadata.get("tags", [])]
    attempts = [cell for cell in checks if cell not in solutions]
    assert len(solutions) >= len(exercises) and len(attempts) >= len(exercises)
    for cell in attempts:
        assert "No answer yet" in outputs(cell), cell.source
    for cell in solutions:
        assert "Correct." in outputs(cell) and "Not yet" not in outputs(cell), cell.source
        assert "hide-cell" in cell.metadata.tags
        assert cell.metadata.jupyter.source_hidden


def test_links_lead_somewhere(chapter):
    text = prose(chapter)
    for target in re.findall(r"\]\(((?!https?:)[^)#\s]+)", text):
        assert (chapter.path.parent / target).exists(), target
    # Directives and roles are for the book's pages: JupyterLab would show them raw.
    assert not re.search(r"^(:::|```)\{|\{\w+(:\w+)?\}`", text, flags=re.M)
