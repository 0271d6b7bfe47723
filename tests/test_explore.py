"""The explorables: their stored data, and what they answer in a real browser.

Each is driven as a reader would, by pointer and by keyboard, wide and narrow. What it then says is
checked against numbers worked out here with the package, not against the figure's own code.
"""

import functools
import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from posembed import (
    WeightsError,
    correlation,
    cosine_similarity,
    load_wpe,
    mean_by_lag,
    sinusoidal,
)
from posembed.explore import KINDS, MAX_BYTES, explorable
from tests.built import ROOT
from tests.explorables import compare, data_of, explorables

CHAPTERS = {
    "waves": "03-wavy-vectors",
    "similarity": "04-cosine-similarity",
    "clock": "05-sinusoids",
    "mistakes": "05-sinusoids",
    "spindle": "06-learned-against-fixed",
}
WIDTHS = (1280, 390)


@functools.cache
def stored(kind):
    """Return the text of an explorable as its notebook stores it."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{CHAPTERS[kind]}.ipynb", as_version=4)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    (text,) = [t for t in explorables(outputs) if f'data-kind="{kind}"' in t]
    return text


@functools.cache
def data(kind):
    """Return the stored data of an explorable, lists as arrays."""
    found = {key: value for key, value in data_of(stored(kind)).items()}
    return {k: np.array(v, dtype=float) if isinstance(v, list) else v for k, v in found.items()}


# --- what a notebook stores -------------------------------------------------------------------


def test_each_kind_stands_in_a_chapter_right_below_a_still_figure():
    assert set(CHAPTERS) == set(KINDS)
    for kind, chapter in CHAPTERS.items():
        cells = nbformat.read(ROOT / "notebooks" / f"{chapter}.ipynb", as_version=4).cells
        at = next(n for n, c in enumerate(cells) if f'explorable("{kind}"' in c.source)
        assert any("image/svg+xml" in o.get("data", {}) for o in cells[at - 1].outputs)
        assert len(stored(kind)) <= MAX_BYTES
        assert (ROOT / "book" / "_static" / f"explore-{kind}.js").is_file()


@pytest.fixture(scope="module")
def wpe():
    try:
        return load_wpe(fallback=False).astype(np.float64)
    except WeightsError as error:
        pytest.skip(f"needs GPT-2: {error}")


def close(found, expected, places):
    """Say whether stored numbers are `expected`, rounded; the last place may be off by one."""
    return np.allclose(found, expected, rtol=0, atol=1.01 * 10.0**-places)


def test_the_waves_are_columns_of_gpt2(wpe):
    stored = data("waves")
    t, j = stored["positions"].astype(int), stored["dimensions"].astype(int)
    active = j[: stored["active"]]
    assert list(active) == list(np.argsort(-wpe.std(axis=0))[: len(active)])
    assert close(stored["values"], wpe[np.ix_(t, j)].T, 4)
    both = np.hstack([wpe[1:-1, j], sinusoidal(*wpe.shape)[1:-1]])
    r = correlation(both, axis=0)[: len(j), len(j) :]
    assert list(stored["match"]) == list(np.abs(r).argmax(axis=1))


def test_the_similarities_are_those_of_gpt2(wpe):
    stored = data("similarity")
    t, lags = stored["positions"].astype(int), stored["lags"].astype(int)
    cosines = cosine_similarity(wpe)
    assert close(stored["gpt2"], cosines[np.ix_(t, t)], 3)
    assert close(stored["gpt2_by_lag"], mean_by_lag(cosines)[lags], 3)
    assert close(stored["gpt2_rows"], wpe[np.ix_(t, stored["dimensions"].astype(int))], 3)
    # The permuted rows are GPT-2's rows in another order: each is found, and its cosines with it.
    dimensions = stored["dimensions"].astype(int)
    order = [
        np.abs(wpe[:, dimensions] - row).sum(axis=1).argmin() for row in stored["shuffled_rows"]
    ]
    assert len(set(order)) == len(order) and sorted(order) != order
    assert close(stored["shuffled"], cosines[np.ix_(order, order)], 3)


def test_the_spindle_is_that_of_gpt2(wpe):
    stored = data("spindle")
    rows = wpe[1:-1] / wpe[1:-1].std()
    centred = rows - rows.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)  # the largest come last
    path = centred @ directions[:, :-4:-1]
    path *= np.sign([np.corrcoef(np.arange(len(path)), column)[0, 1] for column in path.T])
    assert close(stored["path"], path[::4], 3)
    at = stored["positions"].astype(int) - 1
    assert close(stored["cosines"], cosine_similarity(rows)[np.ix_(at, at)], 3)
    assert list(at) == list(range(0, len(rows), 4 * stored["every"]))


# --- posembed.explore, and the comparison of its outputs --------------------------------------


def test_the_output_holds_a_sentence_and_rounded_data():
    made = explorable("waves", {"x": np.array([0.12345, -0.00001]), "n": 3, "s": "</script>"})
    html = made._repr_html_()
    assert KINDS["waves"] in repr(made) and repr(made) in html
    assert html.count("</script>") == 1
    assert json.loads(re.search(r"\{.*\}", html)[0]) == {"x": [0.123, 0], "n": 3, "s": "</script>"}
    assert "-0.0" not in html


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("wave",), "kind must be one of"),
        (("waves", {"x": [0.5, float("nan")]}), "JSON"),
        (("waves", {"x": np.full(100_000, 0.123)}), "at most 300,000"),
    ],
)
def test_what_cannot_be_stored_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        explorable(*arguments)


STORED = {"x": [[0.5, 0.123], [-0.2, 0.0]], "n": [3, 4]}


@pytest.mark.parametrize(
    "change, message",
    [
        ({}, None),
        ({"x": [[0.501, 0.122], [-0.199, -0.001]]}, None),
        ({"x": [[0.502, 0.123], [-0.2, 0.0]]}, "data.x[0][0] was 0.5, now it is 0.502"),
        ({"x": [[0.5, 0.123]]}, "data.x had 2 entries, now it has 1"),
        ({"n": [3, 5]}, "data.n[1] was 4, now it is 5"),
        ({"m": 1}, "data had the keys x, n; now it has x, n, m"),
    ],
)
def test_the_last_digit_may_differ_and_nothing_else(change, message):
    old, new = (explorable("clock", d)._repr_html_() for d in (STORED, STORED | change))
    assert compare([old], [new]) == ([message] if message else [])


def test_other_html_must_be_the_same():
    old = explorable("clock", STORED)._repr_html_()
    assert compare([old], [old.replace("clock", "waves")]) == ["the HTML around the data differs"]
    assert compare([old], []) == ["1 explorables are stored, 0 were made"]


# --- in the browser ---------------------------------------------------------------------------


def shown(number):
    """Return a number as the page writes it: three decimals, a true minus, and no minus zero."""
    text = f"{number:.3f}"
    return f"{0:.3f}" if float(text) == 0 else text.replace("-", "−")


class Figure:
    """One explorable on an open page."""

    def __init__(self, page, kind):
        self.page, self.kind = page, kind
        self.root = page.locator(f'.explorable[data-kind="{kind}"]')
        page.wait_for_selector(f'.explorable[data-kind="{kind}"][data-ready]')
        self.touch = page.viewport_size["width"] < 600

    def __getitem__(self, name):
        """Return a number or word from the container's data- attributes."""
        kebab = re.sub("([A-Z])", r"-\1", name).lower()
        text = self.root.get_attribute(f"data-{kebab}")
        try:
            return float(text)
        except ValueError:
            return text

    def control(self, name):
        return self.root.locator(f"#explorable-{self.kind}-{name}")

    def button(self, name):
        return self.root.get_by_role("button", name=name, exact=True)

    def plot(self, name):
        return self.root.locator(f'.ex-plot[data-name="{name}"] > svg')

    def settle(self):
        self.page.evaluate("() => new Promise(r => requestAnimationFrame(() => setTimeout(r)))")

    def press(self, target, *keys):
        target.focus()
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def click(self, target, x=0.5, y=0.5):
        """Click (wide) or tap (narrow) at a share of the width and height of an element."""
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        at = box["x"] + x * box["width"], box["y"] + y * box["height"]
        (self.page.touchscreen.tap if self.touch else self.page.mouse.click)(*at)
        self.settle()

    def click_cell(self, name, x, y, count):
        """Click the middle of a cell of a square heatmap."""
        frame = self.plot(name).locator(".ex-frame").first
        self.click(frame, (x + 0.5) / count, (y + 0.5) / count)

    def choose(self, name, value):
        self.control(name).select_option(value)
        self.settle()

    def says(self, *numbers):
        """Assert that the sentence holds these numbers, with three decimals."""
        words = self.root.locator(".ex-words").inner_text()
        for number in numbers:
            assert shown(number) in words, words

    def has(self, **expected):
        for name, value in expected.items():
            assert self[name] == pytest.approx(float(value), abs=1e-9, nan_ok=True), name


# To run in each page: keeps the height that each explorable has before it starts.
RESERVED = """document.addEventListener("readystatechange", () => {
  window.reserved ??= Object.fromEntries([...document.querySelectorAll(".explorable:not([data-ready])")]
    .map((root) => [root.dataset.kind, root.getBoundingClientRect().height]));
});"""


@pytest.fixture(scope="module")
def figure(browser, site, book):
    """Return a function that gives an explorable: wide from a server, narrow from disk."""
    homes = {1280: site, 390: (book / "_build" / "html").as_uri() + "/"}
    pages, complaints = {}, []

    def get(kind, width):
        chapter = CHAPTERS[kind]
        if (chapter, width) not in pages:
            view = {"viewport": {"width": width, "height": 900}, "has_touch": width < 600}
            page = pages[chapter, width] = browser.new_context(**view).new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on(
                "console",
                lambda m: "_static/explore" in m.location["url"] and complaints.append(m.text),
            )
            page.add_init_script(RESERVED)
            page.goto(f"{homes[width]}notebooks/{chapter}.html")
        return Figure(pages[chapter, width], kind)

    yield get
    assert complaints == []


each_width = pytest.mark.parametrize("width", WIDTHS)
each_kind = pytest.mark.parametrize("kind", CHAPTERS)


# --- waves


def check_waves(figure):
    stored = data("waves")
    positions = list(stored["positions"])
    column, at, other = int(figure["column"]), positions.index(figure["t"]), int(figure["other"])
    own = stored["values"][column]
    table = sinusoidal(1024, stored["d_model"])[stored["positions"].astype(int)]
    period = 2 * np.pi * 10_000 ** ((other - other % 2) / stored["d_model"])
    r = np.corrcoef(own[1:-1], table[1:-1, other])[0, 1]
    limit = np.abs(own if figure["scale"] == "own" else stored["values"]).max()
    match = stored["match"][column]
    assert other == (match if figure["beside"] == "match" else stored["dimensions"][column])
    figure.has(dimension=stored["dimensions"][column], value=own[at], wave=table[at, other])
    figure.has(period=period, r=r, limit=limit)
    figure.says(own[at], table[at, other], r)


@each_width
def test_waves_by_pointer(figure, width):
    f = figure("waves", width)
    stored = data("waves")
    active, columns = stored["active"], len(stored["dimensions"])
    f.choose("column", "5")
    assert f["column"] == 5
    f.click(f.plot("curve").locator(".ex-frame"), x=0.25)
    assert f["t"] == pytest.approx(0.25 * 1023, abs=12)
    check_waves(f)
    f.click(f.plot("picture").locator(".ex-frame"), x=0.75, y=10.5 / columns)
    assert f["column"] == 10 and f["t"] == pytest.approx(0.75 * 1023, abs=12)
    check_waves(f)
    f.click(f.button("One at random"))
    assert f["column"] >= active
    f.click(f.root.get_by_label("shared by all columns"))
    assert f["scale"] == "shared"
    f.click(f.control("t"), x=0.4)
    f.choose("beside", "same")
    check_waves(f)


@each_width
def test_waves_by_keyboard(figure, width):
    f = figure("waves", width)
    f.press(f.control("t"), "Home", "ArrowRight", "ArrowRight")
    assert f["t"] == 8
    f.press(f.control("column"), "Home", "ArrowDown", "ArrowDown")
    assert f["column"] == 2
    check_waves(f)
    f.press(f.plot("picture"), "ArrowDown", "ArrowRight", "Shift+ArrowRight")
    assert (f["column"], f["t"]) == (3, 52)
    f.press(f.plot("curve"), "ArrowLeft")
    assert f["t"] == 48
    f.press(f.root.get_by_label("shared by all columns"), "ArrowLeft")
    f.press(f.control("beside"), "End" if f["beside"] == "match" else "Home")
    check_waves(f)
    f.press(f.control("t"), "End")
    assert f["t"] == 1023
    check_waves(f)


# --- similarity


def check_similarity(figure):
    stored = data("similarity")
    positions = list(stored["positions"])
    i, j = (positions.index(figure[name]) for name in "ij")
    lag = int(abs(figure["i"] - figure["j"]))
    table = sinusoidal(1024, stored["d_model"])[[int(figure["i"]), int(figure["j"])]]
    formula = cosine_similarity(table)[0, 1]
    mean = stored["gpt2_by_lag"][list(stored["lags"]).index(lag)]
    figure.has(lag=lag, gpt2=stored["gpt2"][j, i], shuffled=stored["shuffled"][j, i], mean=mean)
    figure.has(sinusoid=formula)
    figure.says(stored["gpt2"][j, i], formula, stored["shuffled"][j, i], mean)
    for name, value in [("gpt2", stored["gpt2"][j, i]), ("sinusoid", formula)]:
        assert shown(value) in figure.plot(name).text_content()


@each_width
def test_similarity_by_pointer(figure, width):
    f = figure("similarity", width)
    positions = data("similarity")["positions"]
    near = 0 if width > 600 else 1  # a cell is little more than a pixel on a phone
    f.click_cell("sinusoid", 40, 10, len(positions))
    assert list(positions).index(f["i"]) == pytest.approx(40, abs=near)
    assert list(positions).index(f["j"]) == pytest.approx(10, abs=near)
    check_similarity(f)
    f.click(f.root.get_by_label("keep the distance"))
    before = f["i"] - f["j"]
    f.click(f.control("i"), x=0.6)
    assert f["i"] - f["j"] == before and f["i"] == pytest.approx(0.6 * 1023, abs=50)
    f.click_cell("gpt2", 45, 3, len(positions))
    assert f["i"] - f["j"] == before
    check_similarity(f)
    f.click(f.root.get_by_label("keep the distance"))
    f.choose("rows", "sinusoid")
    assert "every 24th of 768" in f.plot("rows").text_content()


@each_width
def test_similarity_by_keyboard(figure, width):
    f = figure("similarity", width)
    f.press(f.control("i"), "Home", "ArrowRight")
    f.press(f.control("j"), "End")
    assert (f["i"], f["j"]) == (16, 1023)
    check_similarity(f)
    f.press(f.plot("shuffled"), "ArrowRight", "ArrowUp", "ArrowUp")
    assert (f["i"], f["j"]) == (32, 992)
    f.press(f.root.get_by_label("keep the distance"), "Space")
    f.press(f.control("i"), "ArrowRight")
    assert (f["i"], f["j"]) == (48, 1008)
    f.press(f.control("i"), "End")  # as far as the table reaches
    assert f["j"] == 1023
    check_similarity(f)
    f.press(f.root.get_by_label("keep the distance"), "Space")
    f.press(f.control("rows"), "End")
    assert f["rows"] == "shuffled"


# --- clock


def check_clock(figure):
    t, k, d, i = (int(figure[name]) for name in ("t", "k", "d", "pair"))
    table = sinusoidal(t + k + 1, d, figure["base"])
    omega = figure["base"] ** (-2 * np.arange(d // 2) / d)
    seen = np.angle(np.exp(1j * omega * k))  # the shorter way round
    figure.has(sine=table[t, 2 * i], cosineValue=table[t, 2 * i + 1])
    figure.has(cosine=cosine_similarity(table)[t, t + k], wavelength=2 * np.pi / omega[i])
    figure.has(turn=omega[i] * k, seen=seen[i], misread=np.sum(omega * k > np.pi))
    figure.says(cosine_similarity(table)[t, t + k])
    dials = figure.plot("dials").locator(".ex-dial text").all_text_contents()
    assert [float(re.search(r"[−+]\d\.\d\d$", x)[0].replace("−", "-")) for x in dials] == (
        pytest.approx(seen, abs=0.0051)
    )
    assert figure.plot("dials").locator(".misread").count() == figure["misread"]


@each_width
def test_clock_by_pointer(figure, width):
    f = figure("clock", width)
    f.choose("d", "8")
    f.click(f.control("t"), x=0.3)
    assert f["t"] == pytest.approx(0.3 * 1023, abs=40)
    f.click(f.control("k"), x=0.7)
    assert f["k"] == pytest.approx(0.7 * 60, abs=4) and f["misread"] > 0
    check_clock(f)
    before = f["t"]
    f.click(f.button("k on"))
    f.click(f.button("k on"))
    f.click(f.button("k back"))
    assert f["t"] == before + f["k"]
    f.click(f.plot("dials").locator(".ex-dial circle").nth(2))
    assert f["pair"] == 2
    f.click(f.control("base"), x=0.1)
    assert f["base"] < 10
    check_clock(f)


@each_width
def test_clock_by_keyboard(figure, width):
    f = figure("clock", width)
    f.press(f.control("d"), "End")
    f.press(f.control("base"), "End", "ArrowLeft", "ArrowLeft")
    f.press(f.control("k"), "Home", *["ArrowRight"] * 5)
    f.press(f.control("t"), "Home", "ArrowRight", "ArrowRight")
    assert (f["d"], f["base"], f["k"], f["t"]) == (32, 100_000, 6, 2)
    check_clock(f)
    f.press(f.button("k on"), "Enter", "Space")
    f.press(f.button("k back"), "Enter")
    assert f["t"] == 8
    f.press(f.control("pair"), "Home")
    f.press(f.plot("dials"), "ArrowRight", "ArrowRight", "ArrowLeft")
    assert f["pair"] == 1
    check_clock(f)
    f.press(f.control("d"), "Home")  # four dimensions have two pairs
    f.press(f.control("pair"), "End")
    assert (f["d"], f["pair"]) == (4, 1)
    check_clock(f)


def test_clock_plays_in_whole_steps_until_it_is_paused(figure):
    f = figure("clock", 1280)
    f.press(f.control("t"), "Home")
    f.click(f.button("Play"))
    f.page.wait_for_function("() => document.querySelector('[data-kind=clock]').dataset.t > 0")
    f.click(f.button("Pause"))
    stopped = f["t"]
    assert stopped > 0 and stopped % f["k"] == 0
    f.page.wait_for_timeout(500)
    assert f["t"] == stopped
    f.press(f.control("t"), "End")
    f.click(f.button("Play"))  # starts over
    assert f["t"] < 100
    f.click(f.button("Pause"))
    f.page.emulate_media(reduced_motion="reduce")
    assert not f.button("Play").is_visible() and f.button("k on").is_visible()
    f.page.emulate_media(reduced_motion="no-preference")


# --- mistakes


def version(name, n, d, base):
    """Return a table that somebody meant to be the sinusoidal one."""
    t, j = np.arange(n)[:, np.newaxis], np.arange(d)
    two_i = j - j % 2

    def wave(angle):
        return np.where(j % 2 == 0, np.sin(angle), np.cos(angle))

    right = sinusoidal(n, d, base)
    with np.errstate(all="ignore"):
        return {
            "right": right,
            "product": wave(t / (base * two_i / d)),
            "doubled": wave(t / base ** (2 * two_i / d)),
            "swapped": sinusoidal(d, n, base).T,
            "halves": np.hstack([right[:, 0::2], right[:, 1::2]]),
        }[name]


VERDICTS = {
    "right": "right",
    "product": "missing",
    "doubled": "square",
    "swapped": "lengths",
    "halves": "layout",
}


def check_mistakes(figure):
    name, n, d = figure["version"], int(figure["n"]), int(figure["d"])
    right = sinusoidal(n, d, figure["base"])
    table = version(name, n, d, figure["base"])
    if figure["zeros"] == "true":
        table = np.nan_to_num(table)
    bad = np.isnan(table).any(axis=0)
    lengths = np.linalg.norm(table, axis=1)
    figure.has(nan=bad.sum(), flat=np.sum(table.std(axis=0) < 0.01))
    figure.has(rightFlat=np.sum(right.std(axis=0) < 0.01))
    figure.has(shortest=lengths.min(), longest=lengths.max())
    figure.has(difference=np.abs(table - right).max())
    cells = figure.root.locator("tbody tr").all_inner_texts()
    assert cells[0].split("\t")[1:] == [str(bad.sum()), "0"]
    if bad.any():
        figure.has(lowest=np.nan)
        assert "NaN" in figure.plot("curve").text_content()
        return
    cosines = cosine_similarity(table)
    curve = [float(number) for number in figure.root.get_attribute("data-curve").split()]
    assert curve == pytest.approx(mean_by_lag(cosines), abs=1e-9)
    figure.has(lowest=cosines.min())
    figure.has(spread=max(cosines.diagonal(k).std() for k in range(n)))
    lowest = [cosines.min(), cosine_similarity(right).min()]
    assert cells[3].split("\t")[1:] == [shown(x) for x in lowest]


@each_width
def test_mistakes_by_pointer(figure, width):
    f = figure("mistakes", width)
    for label, name in [
        ("axes swapped", "swapped"),
        ("product, no power", "product"),
        ("halves", "halves"),
        ("2 counted twice", "doubled"),
        ("right", "right"),
    ]:
        f.click(f.root.get_by_label(label, exact=True))
        assert (f["version"], f["verdict"]) == (name, VERDICTS[name])
        check_mistakes(f)
    f.click(f.root.get_by_label("product, no power"))
    f.click(f.root.get_by_label("replace NaN by 0"))
    f.choose("n", "64")
    f.click(f.control("base"), x=0.3)
    assert f["verdict"] == "lengths" and f["base"] < 10_000
    check_mistakes(f)
    f.click(f.root.get_by_label("replace NaN by 0"))


@each_width
def test_mistakes_by_keyboard(figure, width):
    f = figure("mistakes", width)
    f.click(f.root.get_by_label("right", exact=True))
    f.press(f.control("base"), "Home", "ArrowRight")
    f.press(f.control("d"), "Home")
    f.press(f.control("n"), "End")
    seen = {}
    for name in ("right", "product", "doubled", "swapped", "halves"):
        assert f["version"] == name
        seen[name] = f["verdict"]
        check_mistakes(f)
        f.press(f.root.locator("input[type=radio]:checked"), "ArrowDown")
    assert seen == VERDICTS and (f["base"], f["d"], f["n"]) == (100, 32, 128)
    # After the last comes the first; its base decides what the third would have been right for.
    assert f["version"] == "right"
    f.press(f.control("base"), "End")
    check_mistakes(f)


# --- spindle


def check_spindle(figure):
    stored = data("spindle")
    positions = list(stored["positions"])
    i, j = (positions.index(figure[name]) for name in "ij")
    a, b = (stored["path"][place * stored["every"]] for place in (i, j))
    cosine, distance = stored["cosines"][j, i], np.linalg.norm(a - b)
    figure.has(cosine=cosine, distance=distance)
    figure.has(centreI=np.linalg.norm(a), centreJ=np.linalg.norm(b))
    figure.says(cosine)
    assert f"{distance:.1f} apart" in figure.root.locator(".ex-words").inner_text()
    # Two turns, about the third axis and about the one that points up, leave lengths alone.
    turn, tilt = np.radians([figure["turn"], figure["tilt"]])
    x, y, z = stored["path"][:: stored["every"]].T
    up = x * np.cos(turn) - y * np.sin(turn)
    away = x * np.sin(turn) + y * np.cos(turn)
    right = z * np.cos(tilt) + away * np.sin(tilt)
    near = away * np.cos(tilt) - z * np.sin(tilt)
    figure.has(apparent=np.hypot(right[i] - right[j], up[i] - up[j]))
    # The dots stand there, in one scale, and those in front are larger.
    dots = (
        figure.plot("space")
        .locator(".ex-dot.gpt2")
        .evaluate_all(
            "dots => dots.map(dot => ['cx', 'cy', 'r'].map(name => Number(dot.getAttribute(name))))"
        )
    )
    seen_x, seen_y, radius = np.array(dots).T[:, : len(positions)]
    scale = np.ptp(seen_x) / np.ptp(right)
    assert seen_x - seen_x.mean() == pytest.approx(scale * (right - right.mean()), abs=0.01)
    assert seen_y - seen_y.mean() == pytest.approx(-scale * (up - up.mean()), abs=0.01)
    assert list(radius == radius.max()) == list(near >= 0)


@each_width
def test_spindle_by_pointer(figure, width):
    f = figure("spindle", width)
    positions = data("spindle")["positions"]
    f.click_cell("matrix", 50, 12, len(positions))
    assert (f["i"], f["j"]) == (positions[50], positions[12])
    check_spindle(f)
    dots = f.plot("space").locator(".ex-dot.gpt2")
    f.click(dots.nth(40))
    assert (f["i"], f["j"]) == (positions[50], positions[40])
    f.click(f.root.get_by_label("i", exact=True))
    f.click(dots.nth(20))
    assert (f["i"], f["j"]) == (positions[20], positions[40])
    check_spindle(f)

    f.plot("space").scroll_into_view_if_needed()
    box = f.plot("space").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = f["tilt"], f["turn"]
    f.page.mouse.move(x, y)
    f.page.mouse.down()
    f.page.mouse.move(x + 60, y, steps=6)
    f.page.mouse.move(x + 60, y - 30, steps=3)
    f.page.mouse.up()
    f.settle()
    assert (f["tilt"], f["turn"]) == (before[0] + 60, before[1] + 30)
    assert (f["i"], f["j"]) == (positions[20], positions[40])
    check_spindle(f)
    f.click(f.root.get_by_label("outline of a sphere"))
    assert f["sphere"] == "true" and f.plot("space").locator("circle.ex-plain").count() == 1
    f.click(f.root.get_by_label("j", exact=True))


@each_width
def test_spindle_by_keyboard(figure, width):
    f = figure("spindle", width)
    positions = data("spindle")["positions"]
    f.press(f.control("i"), "Home", "ArrowRight")
    f.press(f.control("j"), "End")
    f.press(f.plot("matrix"), "ArrowRight", "ArrowUp")
    assert (f["i"], f["j"]) == (positions[2], positions[-2])
    f.press(f.control("turn"), "End", "ArrowLeft")
    f.press(f.control("tilt"), "Home", *["ArrowRight"] * 52)
    f.press(f.plot("space"), "ArrowRight", "ArrowRight", "ArrowUp")
    assert (f["tilt"], f["turn"]) == (90, 180)
    check_spindle(f)
    a, b = (data("spindle")["path"][4 * n] for n in (2, len(positions) - 2))
    assert f["apparent"] == pytest.approx(np.hypot(*(a - b)[:2]))  # along the third component


# --- all of them


def test_a_finger_that_scrolls_past_changes_nothing(figure):
    for kind, plot in [("waves", "picture"), ("similarity", "gpt2"), ("spindle", "space"),
                       ("spindle", "matrix"), ("clock", "dials")]:  # fmt: skip
        f = figure(kind, 390)
        f.plot(plot).scroll_into_view_if_needed()
        box = f.plot(plot).bounding_box()
        before = f.root.evaluate("root => JSON.stringify(root.dataset)")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        was = f.page.evaluate("scrollY")
        finger = f.page.context.new_cdp_session(f.page)
        for step in range(12):
            points = [{"x": x, "y": y + 15 * step}]
            event = "touchMove" if step else "touchStart"
            finger.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": points})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        f.page.wait_for_function("y => scrollY < y - 50", arg=was)
        f.settle()
        assert f.root.evaluate("root => JSON.stringify(root.dataset)") == before, (kind, plot)


@each_kind
@each_width
def test_everything_is_reached_by_tab_and_large_enough_to_touch(figure, kind, width):
    f = figure(kind, width)
    wanted = f.root.locator(
        "select, button:enabled, input:not([type=radio]), input:checked, svg[tabindex], a"
    )
    wanted.first.focus()
    for element in wanted.element_handles():
        state = element.evaluate(
            "e => [e === document.activeElement, getComputedStyle(e).outlineStyle]"
        )
        assert state == [True, "solid"], element.evaluate("e => e.outerHTML.slice(0, 120)")
        box = element.bounding_box()
        if element.get_attribute("type") in ("radio", "checkbox"):
            box = element.evaluate("e => e.closest('label').getBoundingClientRect().toJSON()")
        assert min(box["width"], box["height"]) >= 24
        f.page.keyboard.press("Tab")
    assert not f.root.evaluate("e => e.contains(document.activeElement)")
    assert f.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_screen_reader_is_told_once_when_nothing_moves_any_more(figure):
    f = figure("clock", 1280)
    f.press(f.control("k"), "End")
    f.page.wait_for_timeout(800)
    f.root.evaluate("""root => {
      window.told = [];
      const voice = root.querySelector('[role=status]');
      new MutationObserver(() => told.push(voice.textContent)).observe(voice, {childList: true});
    }""")
    f.press(f.control("k"), "Home", *["ArrowRight"] * 4)
    assert f.page.evaluate("told") == []
    f.page.wait_for_timeout(900)
    assert f.page.evaluate("told") == [f.root.locator(".ex-words").inner_text()]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_and_letters_stand_out_in_both_themes(figure, theme):
    f = figure("clock", 1280)
    f.page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
    colours = f.root.evaluate("""root => {
      const style = getComputedStyle(root);
      return Object.fromEntries(['ink', 'soft', 'grid', 'gpt2', 'sinusoid', 'shuffled', 'paper']
        .map(name => [name, style.getPropertyValue(`--ex-${name}`)]));
    }""")
    paper = luminance(colours.pop("paper"))
    for name, colour in colours.items():
        bright, dim = sorted([luminance(colour), paper], reverse=True)
        wanted = 4.5 if name in ("ink", "soft") else 3
        assert (bright + 0.05) / (dim + 0.05) >= wanted, name
    assert (paper > 0.5) == (theme == "light")


def luminance(colour):
    """Return the relative luminance of a colour such as ``#0072b2`` or ``#fff``, as WCAG has it."""
    digits = colour.strip().lstrip("#")
    digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    parts = np.array([int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@each_kind
def test_on_paper_the_still_figure_stands_alone(figure, kind):
    f = figure(kind, 1280)
    f.page.emulate_media(media="print")
    assert not f.root.is_visible()
    assert still(f).is_visible()
    f.page.emulate_media(media="screen")


def still(figure):
    """Return the image of the cell above the explorable."""
    above = figure.root.locator("xpath=ancestor::div[contains(@class, 'cell ')]").locator(
        "xpath=preceding-sibling::div[contains(@class, 'cell ')][1]"
    )
    return above.locator("img")


@pytest.fixture(scope="module")
def bare(browser, book):
    """Return a function that gives a chapter where no script runs."""
    context = browser.new_context(java_script_enabled=False)

    @functools.cache
    def open_page(chapter):
        page = context.new_page()
        page.goto((book / "_build" / "html" / "notebooks" / f"{chapter}.html").as_uri())
        return page

    return open_page


@each_kind
def test_without_scripts_there_are_the_still_figure_and_a_sentence(bare, kind):
    page = bare(CHAPTERS[kind])
    root = page.locator(f'.explorable[data-kind="{kind}"]')
    assert KINDS[kind] in root.locator("p").inner_text()
    assert root.bounding_box()["height"] < 150  # no room is kept for what can't come
    figure = type("", (), {"root": root})
    box = still(figure).bounding_box()
    assert box["width"] > 300 and box["height"] > 100


@each_kind
@each_width
def test_nothing_moves_when_it_starts_or_answers(figure, kind, width):
    f = figure(kind, width)
    reserved = f.page.evaluate("kind => reserved[kind]", kind)
    assert f.root.bounding_box()["height"] == pytest.approx(reserved, abs=1)


def test_only_pages_with_an_explorable_load_what_it_needs(book):
    pages = (book / "_build" / "html").rglob("*.html")
    for path in pages:
        text = path.read_text(encoding="utf-8")
        kinds = {kind for kind, chapter in CHAPTERS.items() if chapter == path.stem}
        scripts = re.findall(r'<script[^>]*src="[^"]*_static/(d3|explore[\w-]*)\.js[^"]*"', text)
        wanted = ["d3", "explore", *(f"explore-{kind}" for kind in CHAPTERS if kind in kinds)]
        assert scripts == (wanted if kinds else []), path.name
        assert ("explore.css" in text) == bool(kinds)


@each_width
@pytest.mark.parametrize("kind", ["waves", "similarity", "spindle"])
def test_the_data_can_be_taken_away(kind, width, figure):
    f = figure(kind, width)
    with f.page.expect_download() as caught:
        f.root.get_by_role("link", name="Download the data").click()
    assert caught.value.suggested_filename == f"{kind}.json"
    text = re.search(r'data-decimals="\d+">(.*?)</script>', stored(kind))[1]
    assert Path(caught.value.path()).read_text(encoding="utf-8") == text


def test_on_paper_the_explorable_is_left_out_without_a_complaint(figure):
    """Drawing at no width at all would make d3 complain; the fixture looks at the console."""
    f = figure("spindle", 1280)
    f.page.emulate_media(media="print")
    f.page.wait_for_timeout(100)
    assert not f.root.is_visible()
    f.page.emulate_media(media="screen")
    f.page.wait_for_timeout(100)
    assert f.root.is_visible()
