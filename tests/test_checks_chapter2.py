"""The checks of chapter 2: right answers pass, each classic mistake gets its own hint."""

import numpy as np
import pytest

from posembed import cosine_similarity, load_config
from posembed.checks import UNANSWERED
from posembed.checks import chapter2 as checks

FUNCTIONS = [
    checks.check_odd_rows,
    checks.check_row0_share,
    checks.check_scaled_row,
    checks.check_score,
    checks.check_share_xl,
]


@pytest.fixture
def said(W, capsys):
    """Return a function that runs a check and returns the one line it prints."""

    def run(check, answer):
        check(answer)
        line = capsys.readouterr().out
        assert line.count("\n") == 1
        return line

    return run


@pytest.mark.parametrize("check", FUNCTIONS)
def test_untouched(check, capsys):
    check(...)
    assert capsys.readouterr().out.strip() == UNANSWERED


@pytest.mark.parametrize("check", FUNCTIONS)
@pytest.mark.parametrize("odd", ["text", [], {}, [[1], [1, 2]], np.nan, 1j, object(), {"a", 1}])
def test_odd_input_never_raises(check, odd, said):
    assert said(check, odd).startswith("Not yet.")


@pytest.fixture(scope="module")
def odd(W):
    """The odd rows, found one by one as the text says."""
    norms = np.linalg.norm(W, axis=1)

    def is_odd(t):
        around = [norms[s] for s in (t - 1, t + 1) if 0 <= s < len(norms)]
        return all(max(norms[t] / x, x / norms[t]) > 1.5 for x in around)

    return [t for t in range(len(norms)) if is_odd(t)]


def test_odd_rows_right(odd, said):
    for answer in (odd, tuple(odd[::-1]), set(odd), np.array(odd)):
        assert said(checks.check_odd_rows, answer).startswith("Correct. Row ")


def test_odd_rows_mistakes(W, odd, said):
    order = np.argsort(np.linalg.norm(W, axis=1)).tolist()
    for answer, hint in [
        ([odd[0], -1], "from the start"),
        ([odd[0], len(W)], "0-based"),
        (order[-2:], "two longest"),
        (order[:2], "two shortest"),
        ([*odd, 1], "row 1 is within"),
        (odd[:1], "is right. Which"),
        ([3, 5], "with its neighbours"),
        ([float(t) for t in odd], "whole numbers"),
    ]:
        assert hint in said(checks.check_odd_rows, answer), answer


@pytest.mark.parametrize(
    "t, words",
    [
        (0, "row 0 (norm 9.000) is far longer than its neighbour"),
        (2, "row 2 (norm 9.000) is far longer than its neighbours"),
        (3, "row 3 (norm 3.000) lies between its neighbours, far from both"),
        (4, "row 4 (norm 1.000) is the shortest by far"),
        (6, "row 6 (norm 2.000) is far shorter than its neighbours"),
    ],
)
def test_how_a_row_is_odd(t, words):
    assert checks._how_odd(np.array([9.0, 4, 9, 3, 1, 5, 2, 5]), t) == words


def test_odd_rows_of_the_wrong_axis(W, said):
    order = np.argsort(np.linalg.norm(W, axis=0))
    assert "axis=1" in said(checks.check_odd_rows, [int(order[0]), int(order[-1])])


def test_row0_share(W, said):
    row = W[0]
    squares = np.sort(row**2)[::-1]
    right = squares[:2].sum() / squares.sum()
    sizes = np.sort(np.abs(row))[::-1]
    by_value = np.sort(row)[::-1][:2] ** 2

    def column(x):
        return np.sort(x**2)[::-1][:2].sum() / np.sum(x**2)

    assert said(checks.check_row0_share, right).startswith("Correct.")
    for wrong, hint in [
        (100 * right, "per cent"),
        (sizes[:2].sum() / sizes.sum(), "Square the entries first"),
        (by_value.sum() / squares.sum(), "absolute value"),
        (column(W[:, 0]), "column 0"),
        (column(W[1]), "0-based"),
        (np.sqrt(right), "square root"),
        (squares[0] / squares.sum(), "one entry"),
        (squares[-2:].sum() / squares.sum(), "two smallest"),
        (squares[:2].sum(), "Divide it by"),
        (round(right, 2), "at least three"),
        (0.5, "Square the entries of W[0]"),
    ]:
        assert hint in said(checks.check_row0_share, wrong)


@pytest.mark.parametrize(
    "check, right, wrong",
    [
        (checks.check_share_xl, "smaller", {"larger": "everything else", "equal": "every part"}),
        (checks.check_scaled_row, "stays", {"rises": "dot product", "falls": "divides by"}),
    ],
)
def test_predictions(check, right, wrong, said):
    assert said(check, right).startswith("Correct.")
    assert said(check, right.upper() + " ").startswith("Correct.")
    for answer, hint in wrong.items():
        assert hint in said(check, answer)


def test_parameter_count():
    """The published totals of GPT-2 small and XL, output layer tied."""
    assert checks._n_parameters(768, 12, 1024) == 124_439_808
    assert checks._n_parameters(1600, 48, 1024) == 1_557_611_200


def _largest_cosine(W):
    cosines = np.abs(cosine_similarity(W))
    np.fill_diagonal(cosines, 0)
    return cosines.max(axis=1)


def _unit(W):
    return W / np.linalg.norm(W, axis=1, keepdims=True)


def _kurtosis(W):
    z = W - W.mean(axis=1, keepdims=True)
    return (z**4).mean(axis=1) / (z**2).mean(axis=1) ** 2


def _pair(W):
    """Score of the pair (t, t + 1): marks the row before the odd one as well."""
    unit = _unit(W)
    return np.append(1 - (unit[1:] * unit[:-1]).sum(axis=1), 0)


def test_score_right(said):
    assert said(checks.check_score, lambda x: -_largest_cosine(x)).startswith("Correct.")


def test_score_by_the_shape_of_the_entries(said):
    if load_config()["model"] != "GPT-2":
        pytest.skip("only in GPT-2's table all other rows have heavy tails")
    assert said(checks.check_score, lambda x: -_kurtosis(x)).startswith("Correct.")


@pytest.mark.parametrize(
    "answer, hint",
    [
        (lambda x: ..., UNANSWERED),
        (lambda x: _largest_cosine(x), "Turn the sign"),
        (lambda x: -np.linalg.norm(x, axis=1), "Divide each row by its norm"),
        (lambda x: np.linalg.norm(x, axis=1), "Divide each row by its norm"),
        (lambda x: 1 - np.abs(cosine_similarity(x)).max(axis=1), "with itself"),
        (lambda x: -cosine_similarity(x).mean(axis=1), "average their sizes"),
        (lambda x: 1 - (_unit(x) * _unit(np.roll(x, 1, axis=0))).sum(axis=1), "row 0 has none"),
        (lambda x: -_kurtosis(x.T), "one per column"),
        (lambda x: 1.0, "one score per row"),
        (lambda x: np.full(len(x), np.nan), "NaN"),
        (lambda x: np.arange(len(x)), "not its place"),
        (lambda x: -np.arange(len(x)), "Turn the sign"),
        (_pair, "one too early"),
        (lambda x: x[:, 0], "Divide each row by its norm"),
        (lambda x: cosine_similarity(x)[40], "Compare each row"),
        (lambda x: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_score_mistakes(answer, hint, said):
    assert hint in said(checks.check_score, answer)


def test_score_called_instead_of_passed(W, said):
    assert "function itself" in said(checks.check_score, _kurtosis(W))
