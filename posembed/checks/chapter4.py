"""Checks of the exercises of chapter 4."""

import numpy as np

from posembed import correlation, cosine_similarity, load_wpe, mean_by_lag
from posembed.checks import asks, verdict

ACTIVE = 0.02  # standard deviation over positions from which chapter 4 calls a column active
LAG = 25  # tokens, exercise 1
WORDS = ("same", "changes")


def _one_number(answer):
    """Say whether the answer is one number, and print a hint if it isn't."""
    try:
        fine = np.asarray(answer, dtype=np.float64).shape == ()
    except (TypeError, ValueError):
        fine = False
    if not fine:
        print("Not yet. The answer is one number.")
    return fine


@asks
def check_mean_at_lag(answer):
    """Check exercise 1: the mean cosine of two rows of the table that stand 25 tokens apart.

    Parameters
    ----------
    answer : float
    """
    if not _one_number(answer):
        return
    W = load_wpe().astype(np.float64)
    cosines = cosine_similarity(W)
    means = mean_by_lag(cosines)
    dots = W @ W.T
    half = dots / np.linalg.norm(W, axis=1, keepdims=True)
    columns = cosine_similarity(W, axis=0)
    wrapped = cosines.diagonal(LAG).sum() + cosines.diagonal(len(W) - LAG).sum()
    verdict(
        answer,
        means[LAG],
        f"It averages {len(W) - LAG} pairs, and every one of them is a product of two unit rows.",
        f"Make every row a unit vector, multiply row t by row t + {LAG}, sum over the dimensions, "
        "then average over t.",
        mistakes=[
            *(
                (means[k], f"That is lag {k}. Lag 0 is a row with itself: count from there.")
                for k in (LAG - 1, LAG + 1)
            ),
            (dots.diagonal(LAG).mean(), "That is the mean dot product: divide by both norms."),
            *(
                (x.diagonal(LAG).mean(), "Only one of the two rows is a unit vector: divide both.")
                for x in (half, half.T)
            ),
            (
                columns.diagonal(LAG).mean(),
                "That compares columns (dimensions). Rows are compared with axis=1.",
            ),
            (cosines[0, LAG], f"That is the one pair of rows 0 and {LAG}: average over t."),
            (
                means[LAG] * (len(W) - LAG) / len(W),
                f"Divide the sum by the number of pairs, {len(W) - LAG}, not by {len(W)}.",
            ),
            (
                wrapped / len(W),
                f"np.roll joins the end of the table to its start: keep the {len(W) - LAG} pairs "
                f"that stand {LAG} tokens apart.",
            ),
            (
                means[LAG] / W.shape[1],
                "Over the dimensions a dot product sums; average over the positions only.",
            ),
        ],
        rtol=1e-4,
    )


@asks
def check_what_changes(answer):
    """Check exercise 2: which of five changes to a table change the cosines of its rows.

    Parameters
    ----------
    answer : sequence of five str
        Each "same" or "changes", in the order (a) to (e).
    """
    form = 'Answer with a list of five words, each "same" or "changes".'
    if not isinstance(answer, list | tuple | np.ndarray) or len(answer) != 5:
        print("Not yet.", form)
        return
    given = [word.strip().lower() if isinstance(word, str) else word for word in answer]
    if any(not isinstance(word, str) or word not in WORDS for word in given):
        print("Not yet.", form)
        return

    rng = np.random.default_rng(0)
    table = rng.normal(size=(6, 4))
    cases = [
        (-3 * table, "a factor for all entries: both norms take |−3|, and the signs cancel."),
        (
            table * rng.uniform(1, 2, size=(6, 1)),
            "a positive factor of its own changes a row's length, and the cosine divides by that.",
        ),
        (
            table * rng.uniform(1, 2, size=(1, 4)),
            "stretching one dimension turns every row that has a part in it.",
        ),
        (table + 1, "adding a constant pulls all rows towards one direction (1, 1, …, 1)."),
        (table[:, ::-1], "a dot product adds over all dimensions, in whatever order."),
    ]
    before = cosine_similarity(table)
    for letter, word, (changed, reason) in zip("abcde", given, cases, strict=True):
        same = np.allclose(cosine_similarity(changed), before)
        if word != WORDS[0 if same else 1]:
            print(f"Not yet. Think again about ({letter}): {reason}")
            return
    print(
        "Correct. The cosine of two rows ignores their lengths and the order of the dimensions; "
        "it does depend on the scale of each dimension and on where zero is."
    )


@asks
def check_lag_table(answer):
    """Check exercise 3: cosines that depend on lag alone, and are larger at lag 2 than at lag 1.

    Parameters
    ----------
    answer : array_like, shape (n, d) with n >= 8 and d >= 2
    """
    try:
        table = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        print("Not yet. The table must be an array of numbers, one row per position.")
        return
    if table.ndim != 2 or table.shape[0] < 8 or table.shape[1] < 2:
        print(f"Not yet. The table needs at least 8 rows and 2 columns; yours is {table.shape}.")
        return
    try:
        cosines = cosine_similarity(table)
    except ValueError as error:
        print(f"Not yet. {str(error)[0].upper()}{str(error)[1:]}")
        return
    spread = [float(np.ptp(cosines.diagonal(k))) for k in range(len(table))]
    uneven = [k for k, width in enumerate(spread) if not width < 1e-6]
    if uneven:
        k = uneven[0]
        print(
            f"Not yet. The cosine does not depend on lag alone: at lag {k} it runs from "
            f"{cosines.diagonal(k).min():.3f} to {cosines.diagonal(k).max():.3f}. Turn every row "
            "into the next one by the same step."
        )
        return
    one, two = mean_by_lag(cosines)[1:3]
    if not two > one + 1e-6:
        print(
            f"Not yet. The matrix is Toeplitz, but rows two apart ({two:.3f}) are not more alike "
            f"than neighbours ({one:.3f}). Try a larger step: what if it nearly reverses the row?"
        )
        return
    print(
        f"Correct. Lag 1 has a cosine of {one:.3f}, lag 2 of {two:.3f}, from wherever you count. "
        "So similarity may depend on lag alone without falling with distance."
    )


@asks
def check_redundant_pairs(answer):
    """Check exercise 4: the share of pairs of active columns with abs(r) above 0.5.

    Parameters
    ----------
    answer : float
    """
    if not _one_number(answer):
        return
    W = load_wpe().astype(np.float64)
    active = W[:, W.std(axis=0) >= ACTIVE]

    def upper(matrix):
        return matrix[np.triu_indices(len(matrix), k=1)]

    r, cosine = correlation(active, axis=0), cosine_similarity(active, axis=0)
    all_r = correlation(W, axis=0)
    share = np.mean(np.abs(upper(r)) > 0.5)
    by_cosine = np.mean(np.abs(upper(cosine)) > 0.5)
    why = f"With the cosine the share is {by_cosine:.3f}."
    if by_cosine < share < 0.5:  # as in GPT-2's table
        why = (
            "With r the share is a little larger than with the cosine; still, most pairs are below."
        )
    verdict(
        answer,
        share,
        why,
        "Take correlation(..., axis=0) of the active columns, the entries above the diagonal, and "
        "the mean of |r| > 0.5.",
        mistakes=[
            (by_cosine, "That is the cosine: centre the columns first."),
            (
                np.mean(np.abs(r) > 0.5),
                "The diagonal is in it, where every column meets itself. Take the entries above it.",
            ),
            (np.mean(upper(r) > 0.5), "Negative r counts too: take the absolute value."),
            (
                np.mean(np.abs(upper(all_r)) > 0.5),
                "Those are the pairs of all columns. Take the active ones, with std >= 0.02.",
            ),
            (
                np.mean(np.abs(upper(correlation(active, axis=1))) > 0.5),
                "That compares rows (positions). Columns are compared with axis=0.",
            ),
            (np.sum(np.abs(upper(r)) > 0.5), "That is a count: divide by the number of pairs."),
            (100 * share, "A share lies between 0 and 1: that is a percentage."),
        ],
    )
