"""The checks of chapter 5: right answers pass, untouched ones are told so, mistakes get their hint."""

import numpy as np
import pytest

from posembed import sinusoidal
from posembed.checks import UNANSWERED, chapter5

CHECKS = [
    chapter5.check_period,
    chapter5.check_doubling,
    chapter5.check_wheels,
    chapter5.check_halves_rotation,
]
ODD = ["a word", [], [[1], [1, 2]], np.nan, np.inf, {"a": 1}, object(), 1j, True, np.zeros((2, 2))]


def said(capsys, check, answer):
    """Return what a check prints: always one line."""
    check(answer)
    text = capsys.readouterr().out
    assert text.count("\n") == 1
    return text.strip()


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("untouched", [..., None])
def test_an_untouched_answer(capsys, check, untouched):
    assert said(capsys, check, untouched) == UNANSWERED


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("answer", ODD, ids=lambda odd: type(odd).__name__)
def test_odd_input_gets_a_hint_and_no_traceback(capsys, check, answer):
    assert said(capsys, check, answer).startswith("Not yet.")


# --- exercise 1: the period of dimension 301 ----------------------------------------------------


def measured_period():
    """Read the period of dimension 301 off the table: from the angle its hand has turned by."""
    table = sinusoidal(1024, 768)
    angle = np.unwrap(np.arctan2(table[:, 300], table[:, 301]))
    return 2 * np.pi * 1023 / (angle[-1] - angle[0])


def test_the_right_period_is_accepted(capsys):
    answer = measured_period()
    assert said(capsys, chapter5.check_period, answer).startswith("Correct.")
    assert said(capsys, chapter5.check_period, [round(answer, 1)]).startswith("Correct.")


@pytest.mark.parametrize(
    "answer, hint",
    [
        (2 * np.pi * 1e4 ** (301 / 768), "j - j % 2, not j"),
        (2 * np.pi * 1e4 ** (302 / 768), "next pair"),
        (229, "one decimal"),
        (2 * np.pi * 1e4 ** (600 / 768), "counted twice"),
        (2 * np.pi * 1e4 ** (602 / 768), "counted twice"),
        (2 * np.pi * 1e4 ** (150 / 768), "2 is missing"),
        (1e4 ** (300 / 768), "one radian"),
        (1e4 ** (-300 / 768) / (2 * np.pi), "turns per token"),
        (1e4 ** (-300 / 768), "angular frequency"),
        (2 * np.pi * 1e4 * 300 / 768, "power of base"),
        (1024, "2 pi divided by"),
    ],
)
def test_each_wrong_period_gets_its_hint(capsys, answer, hint):
    text = said(capsys, chapter5.check_period, answer)
    assert text.startswith("Not yet.") and hint in text


# --- exercise 2: doubling d_model ---------------------------------------------------------------


@pytest.mark.parametrize("answer", ["stays", " Stays "])
def test_the_right_prediction_is_accepted(capsys, answer):
    assert said(capsys, chapter5.check_doubling, answer).startswith("Correct.")


@pytest.mark.parametrize(
    "answer, hint", [("doubles", "so does that of all"), ("halves", "between the old ones")]
)
def test_each_wrong_prediction_gets_its_hint(capsys, answer, hint):
    text = said(capsys, chapter5.check_doubling, answer)
    assert text.startswith("Not yet.") and hint in text


# --- exercise 3: eight hands of one's own -------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        1.5 * 1000 ** (-np.arange(8) / 8),
        10 ** (-np.arange(8) / 8),
        list(1.5 * 100 ** (-np.arange(8) / 8)),
    ],
)
def test_different_clocks_are_accepted(capsys, answer):
    assert said(capsys, chapter5.check_wheels, answer).startswith("Correct.")


@pytest.mark.parametrize(
    "answer, hint",
    [
        (1e4 ** (-np.arange(8) / 8), "neighbours are too alike"),  # the formula, d_model = 16
        (np.full(8, 0.01), "neighbours are too alike"),
        (np.pi * np.arange(1, 9) / 9, "Lag 18"),  # whole fractions of one turn: all come back
        (np.geomspace(np.pi, 0.001, 8), "make some slower"),  # lag 6 beats lag 1
        (np.full(8, 3.5), "at most pi"),
        (np.zeros(8), "above 0"),
        (np.ones(7), "eight numbers"),
    ],
)
def test_each_wrong_clock_gets_its_hint(capsys, answer, hint):
    text = said(capsys, chapter5.check_wheels, answer)
    assert text.startswith("Not yet.") and hint in text


# --- exercise 4: the rotation of the halves layout ----------------------------------------------


def shift_matrices():
    """Return the matrices that shift eight dimensions by 3 tokens: (halves, pairs).

    They are found from the tables alone. Each has full column rank, so the fit is unique.
    """
    pairs = sinusoidal(4000, 8)
    halves = np.hstack([pairs[:, 0::2], pairs[:, 1::2]])
    return [np.linalg.lstsq(x[:-3], x[3:], rcond=None)[0].T for x in (halves, pairs)]


def test_the_right_rotation_is_accepted(capsys):
    halves, _ = shift_matrices()
    assert said(capsys, chapter5.check_halves_rotation, halves).startswith("Correct.")


def test_each_wrong_rotation_gets_its_hint(capsys):
    halves, pairs = shift_matrices()
    angle = 1e4 ** (-np.arange(4) / 4)
    cos, sin = np.diag(np.cos(angle)), np.diag(np.sin(angle))
    one = np.block([[cos, sin], [-sin, cos]])
    for answer, hint in [
        (pairs, "pairs side by side. Pair i"),
        (halves.T, "shifts back by 3"),
        (one, "by 1 token"),
        (pairs.T, "it shifts back"),
        (np.eye(8), "columns i and i + 4"),
        (np.eye(4), "shape (4, 4)"),
    ]:
        text = said(capsys, chapter5.check_halves_rotation, answer)
        assert text.startswith("Not yet.") and hint in text
