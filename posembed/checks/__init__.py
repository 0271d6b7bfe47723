"""Checks of the exercises, one module per chapter; what they share stands here.

A check prints one line: whether the answer is right and why, or a hint that fits the mistake.
It never raises on a wrong answer, and it computes what it expects instead of storing it.
"""

import numpy as np

UNANSWERED = "No answer yet. Replace the dots, then run the cell again."


def verdict(answer, expected, why, hint, mistakes=(), atol=1e-8, rtol=1e-3):
    """Print whether `answer` equals `expected`, with a hint where it doesn't.

    Parameters
    ----------
    answer : object
        The reader's answer: a number, an array, or the dots (``...``) of an untouched cell.
    expected : array_like
        The right answer.
    why : str
        Said after "Correct."
    hint : str
        Said after "Not yet." when no known mistake fits.
    mistakes : iterable of (array_like, str)
        Known wrong answers, each with the hint that fits it.
    atol, rtol : float
        Absolute and relative tolerance, as in ``numpy.isclose``.
    """
    if answer is ... or answer is None:
        print(UNANSWERED)
        return

    try:
        given = np.asarray(answer)
    except ValueError:  # rows of different lengths
        given = np.asarray(answer, dtype=object)

    def equals(other):
        other = np.asarray(other)
        if given.shape != other.shape:
            return False
        if given.dtype.kind not in "biuf" or other.dtype.kind not in "biuf":
            return bool(np.all(given == other))
        return bool(np.allclose(given, other, atol=atol, rtol=rtol))

    if equals(expected):
        print(f"Correct. {why}")
        return
    if given.shape != np.shape(expected):
        print(f"Not yet. Your answer has shape {given.shape}, not {np.shape(expected)}. {hint}")
        return
    print("Not yet.", next((text for wrong, text in mistakes if equals(wrong)), hint))
