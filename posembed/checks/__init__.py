"""Checks of the exercises, one module per chapter; what they share stands here.

A check prints one line: whether the answer is right and why, or a hint that fits the mistake.
It never raises on a wrong answer, and it computes what it expects instead of storing it.
"""

import functools

import numpy as np

UNANSWERED = "No answer yet. Replace the dots, run again."


def asks(check):
    """Decorate a check: a cell that still holds its dots (``...``) is told so, and no more."""

    @functools.wraps(check)
    def asking(answer, *others, **options):
        if answer is ... or answer is None:
            print(UNANSWERED)
        else:
            check(answer, *others, **options)

    return asking


@asks
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
    mistakes : sequence of (array_like, str)
        Known wrong answers, each with the hint that fits it.
    atol, rtol : float
        Absolute and relative tolerance, as in ``numpy.isclose``.
    """
    try:
        given = np.asarray(answer)
    except ValueError:  # rows of different lengths
        given = np.asarray(answer, dtype=object)

    def equals(other, atol=atol, rtol=rtol):
        other = np.asarray(other)
        if given.shape != other.shape:
            return False
        if given.dtype.kind not in "biuf" or other.dtype.kind not in "biuf":
            return bool(np.all(given == other))
        return bool(np.allclose(given, other, atol=atol, rtol=rtol))

    def exactly(other):
        return equals(other, atol=0, rtol=1e-12)

    # A mistake may come within the tolerance of the right answer. All the digits then tell which of
    # the two it is, unless they were rounded away.
    numeric = np.asarray(expected).dtype.kind in "biuf"
    rounded = numeric and any(exactly(np.round(expected, digits)) for digits in range(16))
    sure = exactly(expected) or rounded or not any(exactly(wrong) for wrong, _ in mistakes)
    if equals(expected) and sure:
        print(f"Correct. {why}")
        return
    if given.shape != np.shape(expected):
        print(f"Not yet. Your answer has shape {given.shape}, not {np.shape(expected)}. {hint}")
        return
    hints = [text for wrong, text in mistakes if exactly(wrong)]
    hints += [text for wrong, text in mistakes if equals(wrong)]
    print("Not yet.", hints[0] if hints else hint)
