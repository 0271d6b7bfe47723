"""The checks of chapter 7's exercises accept right answers and know the classic mistakes."""

import numpy as np
import pytest

from posembed.checks import UNANSWERED, chapter7
from posembed.checks.chapter7 import check_decay, check_l2, check_low_rank, check_shift
from posembed.fallback import load_tensor
from posembed.train import SETTINGS, learning_rate

CHECKS = [check_decay, check_shift, check_low_rank, check_l2]
RATE = np.array([learning_rate(step, SETTINGS) for step in range(SETTINGS["steps"])])


@pytest.fixture(scope="module")
def used():
    """The rows of the course's table that are in use."""
    return load_tensor("wpe.weight").astype(np.float64)[:-1]


@pytest.mark.parametrize("check", CHECKS)
def test_untouched(check, capsys):
    check(...)
    assert capsys.readouterr().out.strip() == UNANSWERED


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("odd", ["text", 3j, object(), [[1], [2, 3]], np.zeros((2, 2, 2)), np.nan])
def test_odd_input_is_told_not_raised(check, odd, capsys):
    check(odd)
    assert capsys.readouterr().out.startswith("Not yet.")


@pytest.mark.parametrize(
    "answer, words",
    [
        (np.prod(1 - RATE * 0.1), "Correct."),
        (np.exp(np.log1p(-RATE * 0.1).sum()).round(4), "Correct."),
        (np.prod(1 - RATE * 1.0), "decay 1.0"),
        (1 - np.prod(1 - RATE * 0.1), "what is lost"),
        (np.prod(1 - RATE) / 10, "proportional"),
        (1 - 0.1 * RATE.sum(), "don't add up"),
        ((1 - 0.0003) ** 1500, "learning rate changes"),
        (0.9**1500, "Each step loses"),
        (100 * np.prod(1 - RATE * 0.1), "per cent"),
        (np.prod(1 - RATE) ** 0.1, "close"),
        (np.prod(1 - RATE * 0.1).round(3), "four digits"),
        (0.5, "over all steps"),
    ],
)
def test_decay(answer, words, capsys):
    check_decay(answer)
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    "answer, words",
    [
        ("less than 0.1", "Correct."),
        ("0.1 to 1", "which rows are neighbours"),
        ("more than 1", "which rows are neighbours"),
        (0.03, "Answer with one of"),
    ],
)
def test_shift(answer, words, capsys):
    check_shift(answer)
    assert words in capsys.readouterr().out


def test_low_rank(used, capsys):
    u, s, vt = np.linalg.svd(used, full_matrices=False)
    best = (u[:, :2] * s[:2]) @ vt[:2]
    ramp = np.linspace(-1, 1, len(used))[:, np.newaxis]
    for answer, words in [
        (best, "Correct."),
        (best.astype(np.float32), "Correct."),
        (u[:, :1] * s[:1] @ vt[:1], "Rank 1 is enough"),
        (used, "Keep 2 directions"),
        (np.zeros_like(used), "empty table"),
        (best[::-1], "carry most"),
        (ramp @ np.random.default_rng(0).normal(size=(1, used.shape[1])), "carry most"),
        (best.T, "transpose"),
        (np.vstack([best, best[:1]]), "not in use"),
        (best[:9], "shape"),
        (np.full_like(best, np.inf), "infinite"),
    ]:
        check_low_rank(answer)
        assert words in capsys.readouterr().out, words


@pytest.mark.parametrize(
    "answer, words",
    [
        ("same amount", "Correct."),
        ("stay", "adds its own part"),
        ("same factor", "That is AdamW"),
        ("grow", "Answer with one of"),
    ],
)
def test_l2(answer, words, capsys):
    check_l2(answer)
    assert words in capsys.readouterr().out


def test_the_shipped_table_is_the_one_that_is_checked(used):
    assert np.array_equal(chapter7._model()[1][:-1], used)
