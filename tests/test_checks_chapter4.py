"""The checks of chapter 4: right answers, untouched cells, and the hint for each mistake."""

import numpy as np
import pytest

from posembed import correlation, cosine_similarity, mean_by_lag
from posembed.checks import UNANSWERED
from posembed.checks.chapter4 import (
    check_lag_table,
    check_mean_at_lag,
    check_redundant_pairs,
    check_what_changes,
)

RIGHT = ["same", "same", "changes", "changes", "same"]


def turning(degrees, n=10):
    angle = np.radians(degrees) * np.arange(n)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


@pytest.mark.parametrize(
    "check", [check_mean_at_lag, check_what_changes, check_lag_table, check_redundant_pairs]
)
def test_an_untouched_answer(check, capsys):
    check(...)
    check(None)
    assert capsys.readouterr().out.splitlines() == [UNANSWERED] * 2


@pytest.mark.parametrize("odd", ["text", [], [1, 2], {}, np.nan, object(), [[1], [2, 3]], 7])
@pytest.mark.parametrize(
    "check", [check_mean_at_lag, check_what_changes, check_lag_table, check_redundant_pairs]
)
def test_an_odd_answer_raises_nothing(check, odd, capsys, W):
    check(odd)
    out = capsys.readouterr().out
    assert out.startswith("Not yet.") and out.count("\n") == 1


def test_mean_at_lag(W, capsys):
    cosines, dots = cosine_similarity(W), W @ W.T
    unit = W / np.linalg.norm(W, axis=1, keepdims=True)
    check_mean_at_lag(np.sum(unit[25:] * unit[:-25], axis=1).mean())
    assert capsys.readouterr().out.startswith("Correct.")
    for wrong, hint in [
        (mean_by_lag(cosines)[24], "lag 24"),
        (mean_by_lag(cosines)[26], "lag 26"),
        (mean_by_lag(dots)[25], "dot product"),
        (mean_by_lag(unit @ W.T)[25], "Only one"),
        (mean_by_lag(W @ unit.T)[25], "Only one"),
        (mean_by_lag(cosine_similarity(W, axis=0))[25], "axis=1"),
        (cosines[0, 25], "one pair"),
        (cosines.diagonal(25).sum() / len(W), "number of pairs"),
        (np.sum(unit * np.roll(unit, 25, axis=0), axis=1).mean(), "np.roll"),
        (np.mean(unit[25:] * unit[:-25]), "dimensions a dot product sums"),
        (0.5, "Make every row a unit vector"),
    ]:
        check_mean_at_lag(wrong)
        out = capsys.readouterr().out
        assert out.startswith("Not yet.") and hint in out


def test_what_changes(capsys):
    for right in (RIGHT, tuple(RIGHT), np.array(RIGHT), [f" {word.upper()} " for word in RIGHT]):
        check_what_changes(right)
        assert capsys.readouterr().out.startswith("Correct.")
    other = {"same": "changes", "changes": "same"}
    for k, letter in enumerate("abcde"):
        wrong = [other[word] if k == i else word for i, word in enumerate(RIGHT)]
        check_what_changes(wrong)
        assert f"Think again about ({letter})" in capsys.readouterr().out
    for wrong in ("same", RIGHT[:4], ["yes"] * 5, [1, 2, 3, 4, 5]):
        check_what_changes(wrong)
        assert "five words" in capsys.readouterr().out


def test_lag_table(capsys):
    lengths = np.arange(1, 11)[:, np.newaxis]
    alternating = np.tile([[1, 2], [-1, -2]], (4, 1))
    for right in (turning(150), turning(150) * lengths, turning(180), alternating.tolist()):
        check_lag_table(right)
        assert capsys.readouterr().out.startswith("Correct.")
    rng = np.random.default_rng(0)
    broken = turning(150)
    broken[3] = np.nan
    zero = turning(150)
    zero[3] = 0
    for wrong, hint in [
        (turning(20), "not more alike than neighbours"),
        (np.ones((8, 2)), "not more alike than neighbours"),
        (rng.normal(size=(8, 2)), "at lag 1 it runs from"),
        (turning(150, n=7), "at least 8 rows"),
        (turning(150).T, "at least 8 rows"),
        (np.arange(10), "at least 8 rows"),
        (broken, "NaN"),
        (zero, "row(s) of zeros"),
        ("text", "array of numbers"),
    ]:
        check_lag_table(wrong)
        out = capsys.readouterr().out
        assert out.startswith("Not yet.") and hint in out


def test_redundant_pairs(W, capsys):
    active = W[:, W.std(axis=0) >= 0.02]
    upper = np.triu_indices(active.shape[1], k=1)
    r = correlation(active, axis=0)
    share = np.mean(np.abs(r[upper]) > 0.5)
    check_redundant_pairs(share)
    check_redundant_pairs(round(share, 3))
    assert capsys.readouterr().out.count("Correct.") == 2
    every = np.abs(correlation(W, axis=0)[np.triu_indices(W.shape[1], k=1)])
    rows = np.abs(correlation(active, axis=1)[np.triu_indices(len(W), k=1)])
    for wrong, hint in [
        (np.mean(np.abs(cosine_similarity(active, axis=0)[upper]) > 0.5), "centre"),
        (np.mean(np.abs(r) > 0.5), "diagonal is in it"),
        (np.mean(r[upper] > 0.5), "absolute value"),
        (np.mean(every > 0.5), "all columns"),
        (np.mean(rows > 0.5), "axis=0"),
        (np.sum(np.abs(r[upper]) > 0.5), "count"),
        (100 * share, "percentage"),
        (0.9, "above the diagonal"),
    ]:
        if np.isclose(wrong, share, rtol=1e-3):  # in a small table a mistake may not show
            continue
        check_redundant_pairs(wrong)
        out = capsys.readouterr().out
        assert out.startswith("Not yet.") and hint in out
