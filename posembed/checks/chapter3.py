"""Checks of the exercises of chapter 3."""

from numbers import Integral

import numpy as np

from posembed.checks import asks, verdict
from posembed.weights import load_config, load_wpe

FLAT, ACTIVE, RAMP = 0.01, 0.02, 0.95  # thresholds that the chapter sets


def _r_with_position(columns):
    """Return Pearson's r of each column with its row index."""
    t = np.arange(len(columns)) - (len(columns) - 1) / 2
    centred = columns - columns.mean(axis=0)
    return t @ centred / np.sqrt((t @ t) * (centred**2).sum(axis=0))


def check_flat_share(answer):
    """Check the share of the table's variance that the flat columns hold (exercise 1).

    Parameters
    ----------
    answer : float
        Sum of the flat columns' variances over the sum of all columns' variances.
    """
    W = load_wpe().astype(np.float64)
    spread = W.std(axis=0)
    flat = spread < FLAT
    variance = spread**2
    share = variance[flat].sum() / variance.sum()
    rows = W.var(axis=1)
    squares = (W**2).sum(axis=0)
    ratio = spread[flat].sum() / spread.sum()
    inner = W[1:-1].var(axis=0)
    verdict(
        answer,
        share,
        why=f"{flat.sum()} of {flat.size} columns hold about one part in {1 / share:.0f} of the "
        "variance.",
        hint="Take W.var(axis=0), add it up over the flat columns (W.std(axis=0) < 0.01), and "
        "divide by the sum over all columns.",
        mistakes=[
            (1 - share, "That is the share of the columns that are NOT flat."),
            (100 * share, "That is in percent; give it as a number between 0 and 1."),
            (flat.mean(), "That is the share of columns, not of variance."),
            (flat.sum(), "That is how many columns are flat; what do they hold of the variance?"),
            (ratio, "That adds up standard deviations. Variances add up: square them first."),
            (
                squares[flat].sum() / squares.sum(),
                "That uses squares of the values themselves. Variance is about the mean of the "
                "column: centre each column first.",
            ),
            (
                variance[flat].mean() / variance.mean(),
                "That divides two means. Divide the sums: the groups differ in size.",
            ),
            (
                inner[flat].sum() / inner.sum(),
                "That leaves out the first and the last row. Use all rows.",
            ),
            (variance[flat].sum(), "That is the flat columns' variance; divide by the total."),
            (
                rows[rows < FLAT**2].sum() / rows.sum(),
                "With axis=1 you get one number per ROW, that is per position. Use axis=0.",
            ),
        ]
        + [(round(share, n), "Rounded too far: give at least 3 digits.") for n in (3, 4)],
        atol=0,
        rtol=5e-3,
    )


def check_shuffled_rows(answer):
    """Check how many columns are active and how many are ramps in shuffled rows (exercise 2).

    Parameters
    ----------
    answer : pair of int
        Number of active columns, number of ramps.
    """
    W = load_wpe().astype(np.float64)
    shuffled = np.random.default_rng(1).permutation(W, axis=0)
    active = W.std(axis=0) >= ACTIVE
    n_active = int((shuffled.std(axis=0) >= ACTIVE).sum())
    n_ramps = int((np.abs(_r_with_position(shuffled[1:-1])) > RAMP).sum())
    n_ramps_before = int((np.abs(_r_with_position(W[1:-1])[active]) > RAMP).sum())
    verdict(
        tuple(answer) if isinstance(answer, list) else answer,
        (n_active, n_ramps),
        why="The spread of a column doesn't depend on the order of its values; a ramp is nothing "
        "but order.",
        hint="Give a pair (active columns, ramps). Which of the two depends on the order of the "
        "rows, and which on their values only?",
        mistakes=[
            (
                (n_active, n_ramps_before),
                "The first number is right. But can a column still follow t when its values stand "
                "at random positions?",
            ),
            (
                (0, n_ramps),
                "The second number is right. But a standard deviation doesn't know in which order "
                "the values come.",
            ),
            (
                (W.shape[1], n_ramps),
                "The second number is right. But a standard deviation doesn't know in which order "
                "the values come, so flat columns stay flat.",
            ),
            ((n_ramps, n_active), "You have swapped the two: first the active columns."),
        ],
        rtol=0,
    )


@asks
def check_ramp_seed(answer):
    """Check that a seed gives a random walk that passes as a ramp (exercise 3).

    Parameters
    ----------
    answer : int
        Seed of ``numpy.random.default_rng``.
    """
    if not isinstance(answer, Integral) or isinstance(answer, bool) or answer < 0:
        print("Not yet. A seed is an integer of at least 0, for example 7.")
        return
    n_inner = len(load_wpe()) - 2
    walk = np.random.default_rng(int(answer)).standard_normal(n_inner).cumsum()
    r = _r_with_position(walk[:, np.newaxis])[0]
    if abs(r) > RAMP:
        print(f"Correct. r = {r:.3f}, and nothing but chance made it.")
    else:
        print(
            f"Not yet. Seed {answer} gives r = {r:.3f}; a ramp needs |r| above {RAMP}. "
            "Try more seeds, in a loop."
        )


@asks
def check_unseen_shift(answer):
    """Check that a vector, added to a row, leaves the output of LayerNorm as it is (exercise 4).

    Parameters
    ----------
    answer : array_like, shape (d_model,)
        The vector; not all entries may be zero.
    """
    W = load_wpe().astype(np.float64)
    try:
        shift = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        shift = np.array(np.nan)
    if shift.shape != W.shape[1:] or not np.isfinite(shift).all():
        print(f"Not yet. The answer has to be {W.shape[1]} finite numbers, one per dimension.")
        return
    if np.abs(shift).max() < 1e-3:
        print("Not yet. That vector is zero, or too small to tell. Make it larger.")
        return

    eps = load_config()["layer_norm_epsilon"]

    def normalise(rows):
        centred = rows - rows.mean(axis=1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)

    rows = W[1:-1]
    change = np.abs(normalise(rows + shift) - normalise(rows)).max(axis=1)
    if change.max() < 1e-6:
        print(
            "Correct. Every entry and the mean of the row move by the same amount, so the "
            "difference between them stays."
        )
    elif change.min() < 1e-2:
        print(
            "Not yet. That works, nearly or exactly, for one row of the table, but not for all. "
            "What does LayerNorm subtract from every row?"
        )
    else:
        print("Not yet. LayerNorm subtracts the mean of the row. Which change does that cancel?")
