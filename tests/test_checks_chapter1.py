"""The checks of chapter 1: right answers pass, each classic mistake gets its own hint."""

import numpy as np
import pytest

from posembed import sinusoidal
from posembed.checks import UNANSWERED
from posembed.checks import chapter1 as checks

WE = np.arange(20.0).reshape(5, 4)
PE = np.arange(32.0).reshape(8, 4) ** 2 / 10
IDS = np.array([0, 3, 2, 0, 1, 4])
N = len(IDS)

ODD = ["text", [], {}, [[1], [1, 2]], np.nan, 1j, object(), {"a", 1}, 3, [[..., ...]]]


@pytest.fixture
def said(capsys):
    """Return a function that runs a check and returns the one line it prints."""

    def run(check, *arguments):
        check(*arguments)
        line = capsys.readouterr().out
        assert line.count("\n") == 1
        return line.strip()

    return run


def addition(answer):
    checks.check_addition(answer, WE, PE, IDS)


def twins(answer):
    checks.check_twins(answer, "dog man")


ONE_ANSWER = [addition, checks.check_distinct_rows, checks.check_encoding, twins]


@pytest.mark.parametrize("check", ONE_ANSWER)
def test_untouched(check, said):
    assert said(check, ...) == UNANSWERED


def test_half_touched(said):
    assert said(checks.check_twins, "dog man", ...) == UNANSWERED
    assert said(checks.check_encoding, lambda n_positions, d_model: ...) == UNANSWERED


@pytest.mark.parametrize("check", ONE_ANSWER)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_odd_input_never_raises(check, odd, said):
    assert said(check, odd).startswith("Not yet.")


# --- exercise 1 -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist])
def test_addition_right(kind, said):
    assert said(addition, kind(WE[IDS] + PE[:N])).startswith("Correct.")


@pytest.mark.parametrize(
    "answer, hint",
    [
        (WE[IDS], "token rows alone"),
        (PE[:N], "position rows alone"),
        (WE[IDS] + PE[IDS], "positions up by token id"),
        (WE[IDS] + PE[1 : N + 1], "start at 0"),
        (WE[IDS] + PE[0], "same position row"),
        ((WE[IDS] + PE[:N]).T, "swapped"),
        (WE[IDS] + PE[:N] + 0.1, "then add the two arrays"),
        ((WE[IDS] + PE[:N])[:-1], "shape (5, 4), not (6, 4)"),
    ],
)
def test_addition_hints(answer, hint, said):
    line = said(addition, answer)
    assert line.startswith("Not yet.") and hint in line


def test_addition_hint_for_tokens_looked_up_by_position(said):
    ids = IDS[:5]
    line = said(checks.check_addition, WE[:5] + PE[:5], WE, PE, ids)
    assert line.startswith("Not yet.") and "tokens up by position" in line


# --- exercise 2 -------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [[5, 8, 8], (5, 8, 8), np.array([5, 8, 8])])
def test_distinct_rows_right(answer, said):
    line = said(checks.check_distinct_rows, answer)
    assert line.startswith("Correct.") and "8 tokens give 5 different rows" in line


@pytest.mark.parametrize(
    "answer, hint",
    [
        ([8, 8, 8], "First count: equal tokens"),
        ([1, 8, 8], "First count: attention mixes"),
        ([5, 5, 5], "once positions are added"),
        ([5, 8, 5], "Third count"),
        ([5, 5, 8], "Second count"),
        ([6, 8, 8], "count the distinct tokens"),
        ([2, 3, 4], "same set of keys"),
        ([5, 8], "shape (2,), not (3,)"),
    ],
)
def test_distinct_rows_hints(answer, hint, said):
    line = said(checks.check_distinct_rows, answer)
    assert line.startswith("Not yet.") and hint in line


def test_the_attention_of_the_checks_is_attention():
    """Row 0 behind the mask sees itself alone; the last row sees what it sees without a mask."""
    x = np.random.default_rng(0).normal(size=(5, 8))
    masked, free = checks._attention(x, causal=True), checks._attention(x)
    assert np.allclose(masked[0], checks._attention(x[:1])[0])
    assert np.allclose(masked[-1], free[-1])
    assert np.allclose(checks._attention(x[::-1]), free[::-1])
    assert not np.allclose(masked[1:4], free[1:4])


# --- exercise 3 -------------------------------------------------------------------------------


def saturating(n_positions, d_model):
    t = np.arange(n_positions)[:, np.newaxis]
    return np.repeat(t / (1 + t), d_model, axis=1)


@pytest.mark.parametrize("encoding", [saturating, sinusoidal])
def test_encoding_right(encoding, said):
    assert said(checks.check_encoding, encoding).startswith("Correct.")


def ramp(n_positions, d_model):
    return np.repeat(np.arange(n_positions)[:, np.newaxis], d_model, axis=1)


def one_period(n_positions, d_model):
    return np.sin(ramp(n_positions, d_model) * 2 * np.pi / 100)


def unseeded(n_positions, d_model):
    return np.random.default_rng().uniform(-1, 1, size=(n_positions, d_model))


@pytest.mark.parametrize(
    "encoding, hint",
    [
        (ramp, "largest entry has size 999"),
        (lambda n, d: ramp(n, d) / (n - 1), "changes with n_positions"),
        (one_period, "share one row"),
        (lambda n, d: np.zeros((n, d)), "Positions 0 and 1 share one row"),
        (unseeded, "Two calls"),
        (lambda n, d: saturating(n, d).T, "swapped"),
        (lambda n, d: saturating(n, d)[1:], "Expected shape (1000, 8), got (999, 8)"),
        (lambda n, d: np.full((n, d), np.nan), "NaN"),
        (lambda n, d: 1 / 0, "ZeroDivisionError"),
        (lambda n: n, "TypeError"),
        (saturating(1000, 8), "function itself"),
        (lambda n, d: "text", "ValueError"),
    ],
)
def test_encoding_hints(encoding, hint, said):
    line = said(checks.check_encoding, encoding)
    assert line.startswith("Not yet.") and hint in line


# --- exercise 4 -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first, second",
    [("dog man", "man dog dog man"), ("a", "a a a"), ("a b b", " b b b a\nb a ")],
)
def test_twins_right(first, second, said):
    assert said(checks.check_twins, first, second).startswith("Correct.")


@pytest.mark.parametrize(
    "first, second, hint",
    [
        ("dog man", "man dog", "lengths must differ"),
        ("dog man", "man dog man", "what share"),
        ("dog man", "dog man bird", "in one text alone"),
        ("dog man", " ", "empty"),
        ("dog man", ["dog", "man"], "strings"),
    ],
)
def test_twins_hints(first, second, hint, said):
    line = said(checks.check_twins, first, second)
    assert line.startswith("Not yet.") and hint in line
