"""The checks of chapter 6's exercises accept right answers and know the classic mistakes."""

import numpy as np
import pytest

from posembed import sinusoidal
from posembed.checks import UNANSWERED, chapter6
from posembed.checks.chapter6 import (
    check_components,
    check_mixing,
    check_shifted_rows,
    check_table,
)

CHECKS = [check_components, check_mixing, check_table, check_shifted_rows]


@pytest.fixture(scope="module")
def table(W):
    """The sinusoid of the shape that the checks expect: that of the learned table."""
    return sinusoidal(*W.shape)


@pytest.fixture(scope="module")
def good_table(table):
    rows = np.random.default_rng(1).normal(size=(len(table), min(256, table.shape[1])))
    rows[:, : rows.shape[1] // 2] = np.linspace(-1.7, 1.7, len(table))[:, np.newaxis]
    return rows


@pytest.mark.parametrize("check", CHECKS)
def test_untouched(check, capsys):
    check(...)
    assert capsys.readouterr().out.strip() == UNANSWERED


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("odd", ["text", 3j, object(), [[1], [2, 3]], np.zeros((2, 2, 2)), np.nan])
def test_odd_input_is_told_not_raised(check, odd, capsys, table):
    check(odd)
    assert capsys.readouterr().out.startswith("Not yet.")


def test_components(table, capsys):
    centred = table[1:-1] - table[1:-1].mean(axis=0)
    s = np.linalg.svd(centred, compute_uv=False)
    right = int(np.searchsorted(np.cumsum(s**2) / (s**2).sum(), 0.9)) + 1
    uncentred = np.linalg.svd(table[1:-1], compute_uv=False) ** 2
    for answer, words in [
        (right, "Correct."),
        (right - 1, "Indices start at 0"),
        (int(np.argmax(np.cumsum(s) >= 0.9 * s.sum())) + 1, "square"),
        (int(np.argmax(np.cumsum(uncentred) >= 0.9 * uncentred.sum())) + 1, "mean of each column"),
        (3, "count from 1"),
    ]:
        check_components(answer)
        assert words in capsys.readouterr().out, (answer, words)


@pytest.mark.parametrize(
    "answer, words",
    [
        ({"columns"}, "Correct."),
        (["columns"], "Correct."),
        ("columns", "Correct."),
        (set(), "about 'columns'"),
        ({"columns", "cosines"}, "dot product"),
        ({"columns", "power"}, "sum of squares"),
        ({"columns", "singular values"}, "directions"),
        ({"columns", "probe"}, "penalty"),
        ({"colour"}, "'colour' is none of"),
    ],
)
def test_mixing(answer, words, capsys):
    check_mixing(answer)
    assert words in capsys.readouterr().out


def test_table(table, good_table, capsys):
    n_positions, d_model = table.shape
    ramp = np.tile(np.arange(n_positions)[:, np.newaxis], (1, d_model))
    for answer, words in [
        (good_table, "Correct."),
        (good_table * 1000, "Correct."),
        (table, "go on growing"),
        (np.random.default_rng(0).normal(size=(n_positions, 64)), "go on growing"),
        (ramp, "stand apart"),
        (good_table.T, "transpose"),
        (good_table[:100], "needs"),
        (np.ones((n_positions, 4)), "not all the same"),
        (np.full((n_positions, 4), np.nan), "finite"),
    ]:
        check_table(answer)
        assert words in capsys.readouterr().out, words


def test_shifted_rows(table, capsys):
    start = np.arange(3 * len(table) // 4, len(table) - 10)
    for answer, words in [
        (table[start + 10], "Correct."),
        (table[start], "not been shifted"),
        (table[start - 10], "rows at t - k"),
        (table[start + 10] / table[1:-1].std(), "divided by"),
        (table[start + 10] + 0.01, "2 x 2 map"),
        (table[start + 10].T, "shape"),
    ]:
        check_shifted_rows(answer)
        assert words in capsys.readouterr().out, words


def test_probe_is_the_closed_form_of_a_penalised_fit():
    rows = np.random.default_rng(2).normal(size=(40, 5))
    train = np.arange(40) < 30
    centred = rows[train] - rows[train].mean(axis=0)
    # The penalty as extra rows of an ordinary least-squares problem.
    x = np.vstack([centred, np.sqrt(2.0) * np.eye(5)])
    y = np.concatenate([np.arange(30) - 14.5, np.zeros(5)])
    a = np.linalg.lstsq(x, y, rcond=None)[0]
    read = (rows[~train] - rows[train].mean(axis=0)) @ a + 14.5
    expected = np.abs(read - np.arange(30, 40)).mean()
    assert chapter6._ridge_error(rows, train, strength=2.0) == pytest.approx(expected)
