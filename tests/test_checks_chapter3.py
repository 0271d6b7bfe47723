"""The checks of chapter 3's exercises: right answers, untouched answers, known mistakes."""

import numpy as np
import pytest

from posembed.checks import UNANSWERED, verdict
from posembed.checks.chapter3 import (
    check_flat_share,
    check_ramp_seed,
    check_shuffled_rows,
    check_unseen_shift,
)

CHECKS = [check_flat_share, check_shuffled_rows, check_ramp_seed, check_unseen_shift]


def said(capsys, check, answer):
    capsys.readouterr()
    check(answer)
    return capsys.readouterr().out.strip()


@pytest.mark.parametrize("check", CHECKS)
def test_untouched_answers(W, capsys, check):
    assert said(capsys, check, ...) == UNANSWERED
    assert said(capsys, check, None) == UNANSWERED


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "odd", ["x", [], {}, object(), np.nan, -1, 1e300, True, [1, "a"], np.ones((2, 2)), (1, 2, 3)]
)
def test_odd_answers_never_raise(W, capsys, check, odd):
    assert said(capsys, check, odd).startswith("Not yet.")


def test_flat_share(W, capsys):
    variance, spread = W.var(axis=0), W.std(axis=0)
    flat = spread < 0.01
    share = variance[flat].sum() / variance.sum()
    assert said(capsys, check_flat_share, share).startswith("Correct.")
    assert said(capsys, check_flat_share, round(share, 5)).startswith("Correct.")
    rows = W.var(axis=1)
    for wrong, hint in [
        (1 - share, "NOT flat"),
        (100 * share, "percent"),
        (flat.mean(), "share of columns"),
        (flat.sum(), "how many"),
        (spread[flat].sum() / spread.sum(), "standard deviations"),
        ((W[:, flat] ** 2).sum() / (W**2).sum(), "centre each column"),
        (variance[flat].mean() / variance.mean(), "two means"),
        (variance[flat].sum(), "divide by the total"),
        (rows[W.std(axis=1) < 0.01].sum() / rows.sum(), "axis=1"),
        (0.5, "W.var(axis=0)"),
        (round(share, 3), "Rounded"),
    ]:
        answer = said(capsys, check_flat_share, wrong)
        assert answer.startswith("Not yet.") and hint in answer, (wrong, answer)
    inner = W[1:-1].var(axis=0)
    without_ends = inner[flat].sum() / inner.sum()
    if abs(without_ends - share) > 0.01 * share:  # in the course's table the two nearly agree
        assert "all rows" in said(capsys, check_flat_share, without_ends)


def test_shuffled_rows(W, capsys):
    active = int((W.std(axis=0) >= 0.02).sum())
    for right in [(active, 0), [active, 0], np.array([active, 0])]:
        assert said(capsys, check_shuffled_rows, right).startswith("Correct.")
    t = np.arange(1, len(W) - 1)
    r = [np.corrcoef(t, column)[0, 1] for column in W[1:-1, W.std(axis=0) >= 0.02].T]
    ramps = int((np.abs(r) > 0.95).sum())
    for wrong, hint in [
        ((active, ramps), "first number is right"),
        ((0, 0), "standard deviation"),
        ((W.shape[1], 0), "flat columns stay flat"),
        ((0, active), "swapped"),
        ((5, 5), "depends on the order"),
        (active, "pair"),
    ]:
        answer = said(capsys, check_shuffled_rows, wrong)
        assert answer.startswith("Not yet.") and hint in answer, (wrong, answer)


def test_ramp_seed(W, capsys):
    t = np.arange(len(W) - 2)

    def r(seed):
        walk = np.random.default_rng(seed).standard_normal(t.size).cumsum()
        return abs(np.corrcoef(t, walk)[0, 1])

    good = [seed for seed in range(200) if r(seed) > 0.95]
    assert len(good) > 1
    for seed in good:
        assert said(capsys, check_ramp_seed, seed).startswith("Correct.")
    assert said(capsys, check_ramp_seed, np.int64(good[0])).startswith("Correct.")
    bad = next(seed for seed in range(200) if seed not in good)
    assert f"Seed {bad} gives" in said(capsys, check_ramp_seed, bad)
    assert "integer" in said(capsys, check_ramp_seed, float(good[0]))


def test_unseen_shift(W, capsys):
    d_model = W.shape[1]
    for right in [np.ones(d_model), -1.5 * np.ones(d_model), [2] * d_model]:
        assert said(capsys, check_unseen_shift, right).startswith("Correct.")
    e = np.zeros(d_model)
    e[d_model // 2] = 1
    longest = W[1:-1][np.linalg.norm(W[1:-1], axis=1).argmax()]
    for wrong, hint in [
        (np.zeros(d_model), "is zero"),
        (1e-9 * np.ones(d_model), "too small"),
        (np.ones(len(W)), f"{d_model} finite numbers"),
        (1.0, f"{d_model} finite numbers"),
        (np.full(d_model, np.inf), "finite numbers"),
        (longest, "for one row"),
        (e, "subtracts the mean"),
    ]:
        answer = said(capsys, check_unseen_shift, wrong)
        assert answer.startswith("Not yet.") and hint in answer, (wrong, answer)


@pytest.mark.parametrize(
    "answer, said",
    [
        (0.50006, "Correct."),
        (0.50004, "Correct."),  # another way to compute it
        (0.5001, "Correct."),  # rounded; it happens to be the mistake
        (0.50012, "Not yet. Without the last row?"),
    ],
)
def test_a_mistake_close_to_the_answer_is_told_apart(capsys, answer, said):
    mistakes = [(0.5001, "All rows?"), (0.50012, "Without the last row?")]
    verdict(answer, 0.50006, "", "", mistakes)
    assert capsys.readouterr().out.startswith(said)
