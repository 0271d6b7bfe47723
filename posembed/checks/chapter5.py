"""Checks of the exercises of chapter 5."""

import numpy as np

from posembed.checks import asks, verdict

N_POSITIONS, D_MODEL, BASE = 1024, 768, 10_000.0


def _numbers(answer):
    """Return the answer as a float64 array, or None if it isn't made of real numbers."""
    try:
        array = np.asarray(answer)
        return array.astype(np.float64) if array.dtype.kind in "iuf" else None
    except (TypeError, ValueError):
        return None


def _period(exponent):
    return 2 * np.pi * BASE**exponent


@asks
def check_period(answer):
    """Check the period, in tokens, of dimension 301 (exercise 1)."""
    value = _numbers(answer)
    if value is None or value.size != 1:
        print("Not yet. Give one number: how many tokens one turn takes.")
        return
    j = 301
    two_i = j - j % 2
    right = _period(two_i / D_MODEL)
    verdict(
        value.item(),
        right,
        why=f"Dimension {j} shares its hand with dimension {two_i}: pair {j // 2}.",
        hint="The period is 2 pi divided by the angular frequency of the dimension's pair.",
        mistakes=[
            (_period(j / D_MODEL), "The exponent belongs to the pair: j - j % 2, not j."),
            (_period((two_i + 2) / D_MODEL), "That is the next pair, dimensions 302 and 303."),
            (round(right), "Right to the token. Give one decimal."),
            (_period(2 * two_i / D_MODEL), "The 2 is counted twice: j - j % 2 already is 2i."),
            (_period(2 * j / D_MODEL), "The 2 is counted twice: j is no pair index."),
            (_period(j // 2 / D_MODEL), "The 2 is missing: the exponent is 2i / d_model."),
            (right / (2 * np.pi), "That is the time for one radian. A full turn has 2 pi."),
            (1 / right, "That is turns per token. You want tokens per turn."),
            (2 * np.pi / right, "That is the angular frequency, radians per token."),
            (BASE * two_i / D_MODEL * 2 * np.pi, "The exponent is a power of base, no factor."),
        ],
    )


def _share_unfinished(d_model):
    periods = _period(2 * np.arange(d_model // 2) / d_model)
    return np.mean(periods > N_POSITIONS)


@asks
def check_doubling(answer):
    """Check what happens to the share of unfinished dimensions if d_model doubles (exercise 2)."""
    choice = answer.strip().lower() if isinstance(answer, str) else answer
    if not isinstance(choice, str) or choice not in ("halves", "stays", "doubles"):
        print('Not yet. Choose one of the strings "halves", "stays" and "doubles".')
        return
    before, after = _share_unfinished(D_MODEL), _share_unfinished(2 * D_MODEL)
    if np.isclose(before, after, atol=0.01):
        right = "stays"
    else:
        right = "doubles" if after > before else "halves"
    verdict(
        choice,
        right,
        why=(
            f"The share is {before:.3f} before and {after:.3f} after: the periods cover the same "
            "range, in steps half as wide."
        ),
        hint="Write the period with x = 2i / d_model, which runs from 0 to 1 for every d_model.",
        mistakes=[
            ("doubles", "The number of such dimensions doubles; so does that of all dimensions."),
            (
                "halves",
                "Their number does not stay fixed: the new dimensions fall between the old ones, "
                "slow ones included.",
            ),
        ],
    )


@asks
def check_wheels(answer):
    """Check eight frequencies whose cosine is highest at lag 1, and at most 0.9 (exercise 3)."""
    frequencies = _numbers(answer)
    if frequencies is None or frequencies.shape != (8,):
        print("Not yet. Give eight numbers in one list or array, radians per token.")
        return
    if not np.all((frequencies > 0) & (frequencies <= np.pi)):
        print(
            "Not yet. Each frequency must be above 0 and at most pi: a hand that turns by more "
            "than half a turn per token looks like a slower one that runs backwards."
        )
        return
    cosine = np.cos(np.outer(np.arange(N_POSITIONS), frequencies)).mean(axis=1)
    if cosine[1] > 0.9:
        print(
            f"Not yet. The cosine at lag 1 is {cosine[1]:.3f}: neighbours are too alike. Some "
            "hands must turn faster."
        )
        return
    later = cosine[2:].argmax() + 2
    if cosine[later] >= cosine[1]:
        print(
            f"Not yet. Lag {later} has cosine {cosine[later]:.3f}, lag 1 only {cosine[1]:.3f}. "
            "Too many hands turn far in one token and are back where they were later; make some "
            "slower, or choose frequencies that do not share a common period."
        )
        return
    print(
        f"Correct. Lag 1 has cosine {cosine[1]:.3f}, and no later lag exceeds "
        f"{cosine[later]:.3f}: fast hands tell neighbours apart, and some hand always "
        "disagrees when the fast ones come round."
    )


@asks
def check_halves_rotation(answer):
    """Check the matrix that shifts the halves layout by 3 tokens, 8 dimensions (exercise 4)."""
    matrix = _numbers(answer)
    if matrix is None:
        print("Not yet. Give a matrix of numbers, shape (8, 8).")
        return
    d, k = 8, 3

    def halves(k):
        angle = k / BASE ** (2 * np.arange(d // 2) / d)
        cos, sin = np.diag(np.cos(angle)), np.diag(np.sin(angle))
        return np.block([[cos, sin], [-sin, cos]])

    right = halves(k)
    order = np.argsort(np.arange(d) % 2, kind="stable")  # halves take these columns of pairs
    pairs = np.empty((d, d))
    pairs[np.ix_(order, order)] = right
    verdict(
        matrix,
        right,
        why=(
            "Each rotation has the same four entries as before, spread over rows and columns "
            "i and i + 4."
        ),
        hint="Pair i now stands in columns i and i + 4, so its rotation fills those rows and columns.",
        mistakes=[
            (
                pairs,
                "That is the matrix for pairs side by side. Pair i stands in i and i + 4 here.",
            ),
            (right.T, "That one shifts back by 3 tokens. Check the sign of the sines."),
            (
                halves(1),
                "The entries stand in the right places, but this shifts by 1 token, not 3.",
            ),
            (pairs.T, "That one is for pairs side by side, and it shifts back."),
        ],
    )
