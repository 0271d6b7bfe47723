"""Checks of the exercises of chapter 6."""

from functools import cache
from numbers import Real

import numpy as np

from posembed.checks import asks, verdict
from posembed.encodings import sinusoidal
from posembed.similarity import cosine_similarity
from posembed.weights import load_wpe

MEASURES = ("columns", "cosines", "power", "singular values", "probe")


@cache
def _components(n_positions, d_model):
    """Return how many components hold 90 % of the sinusoid's energy: right, and wrong twice."""
    rows = sinusoidal(n_positions, d_model)[1:-1]
    s = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    uncentred = np.linalg.svd(rows, compute_uv=False)

    def count(energy):
        share = np.cumsum(energy) / energy.sum()
        return int(np.argmax(share >= 0.9)) + 1

    return count(s**2), count(s), count(uncentred**2)


@asks
def check_components(answer):
    """Check exercise 1: the components that hold 90 % of the sinusoid's centred energy.

    Parameters
    ----------
    answer : int
        A number of components, or the dots of an untouched cell.
    """
    if not isinstance(answer, Real):
        print("Not yet. The answer is one number, a count of components.")
        return
    n_positions, d_model = load_wpe().shape
    right, not_squared, not_centred = _components(n_positions, d_model)
    verdict(
        answer,
        right,
        f"The sinusoid needs {right} of {d_model}: its waves point in many directions, because "
        "no two pairs share a frequency.",
        "Remove each column's mean, take the singular values, square them, and count from 1.",
        [
            (right - 1, "That is the index of the last one needed. Indices start at 0: add 1."),
            (not_squared, "Energy is the square of the singular value."),
            (not_centred, "Remove the mean of each column (axis=0) first."),
        ],
        rtol=0,
    )


def _ridge_error(rows, train, strength=1.0):
    """Return the mean absolute error of the chapter's probe on the rows not in `train`."""
    t = np.arange(len(rows), dtype=np.float64)
    x_mean, t_mean = rows[train].mean(axis=0), t[train].mean()
    x = rows[train] - x_mean
    a = np.linalg.solve(
        x.T @ x + strength * np.eye(rows.shape[1]), x.T @ (t[train] - t_mean)
    )  # fmt: skip
    return np.abs((rows[~train] - x_mean) @ a + t_mean - t[~train]).mean()


def _measures(rows):
    """Return the chapter's five measures of a table, by name."""
    centred = rows - rows.mean(axis=0)
    power = (np.abs(np.fft.rfft(centred, axis=0)) ** 2).sum(axis=1)
    values = (
        rows,
        cosine_similarity(rows),
        power / power.sum(),
        np.linalg.svd(centred, compute_uv=False),
        _ridge_error(rows, np.arange(len(rows)) % 2 == 1),
    )
    return dict(zip(MEASURES, values))


@asks
def check_mixing(answer):
    """Check exercise 2: what changes when a rotation mixes the columns of a table.

    Parameters
    ----------
    answer : set of str
        Names out of `MEASURES`, or the dots of an untouched cell.
    """
    try:
        given = {answer} if isinstance(answer, str) else set(answer)
        unknown = sorted(str(name) for name in given if name not in MEASURES)
    except TypeError:
        print(f"Not yet. Give a set of names, such as {{'power', 'probe'}}, out of {MEASURES}.")
        return
    if unknown:
        print(f"Not yet. {unknown[0]!r} is none of {', '.join(MEASURES)}.")
        return
    rows = sinusoidal(96, 24)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(24, 24)))[0]
    before, after = _measures(rows), _measures(rows @ rotation)
    changed = {name for name in MEASURES if not np.allclose(before[name], after[name], atol=1e-6)}
    if given == changed:
        print(
            f"Correct. Only this changes: {', '.join(sorted(changed))}. All other measures are "
            "made of dot products between rows, or of squares summed over all columns, and a "
            "rotation keeps both. Even the probe turns with the rows."
        )
        return
    hints = {
        "columns": "Each new column is a weighted sum of all old ones: does it look the same?",
        "cosines": "A rotation keeps every dot product between rows. What is a cosine made of?",
        "power": "Power is summed over all columns, and a rotation keeps the sum of squares.",
        "singular values": "A rotation turns all directions together. Do the rows spread less?",
        "probe": "The probe may turn its weights as the rows turn, and its penalty sees length only.",
    }
    first = next(name for name in MEASURES if (name in given) != (name in changed))
    print(f"Not yet. Think again about {first!r}. {hints[first]}")


def _rows_of_floats(answer):
    """Return `answer` as a float matrix, or None where it is no such thing."""
    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return rows if rows.ndim == 2 else None


@asks
def check_table(answer):
    """Check exercise 3: a table that both readers can use.

    It is scaled to standard deviation 1. A probe trained on the first three quarters must read the
    last quarter to within 10 tokens on average, and the nearest template must be within 1 token of
    the truth on average under noise of standard deviation 1.

    Parameters
    ----------
    answer : array_like, shape (n_positions, any number of dimensions up to d_model)
        The reader's table, or the dots of an untouched cell.
    """
    rows = _rows_of_floats(answer)
    if rows is None:
        print("Not yet. The answer must be a matrix of numbers, one row per position.")
        return
    n_positions, d_model = load_wpe().shape
    if rows.shape[0] != n_positions or not 1 <= rows.shape[1] <= d_model:
        swapped = rows.shape[1] == n_positions and rows.shape[0] <= d_model
        extra = " Rows are positions: transpose it." if swapped else ""
        print(
            f"Not yet. The table has shape {rows.shape}; it needs {n_positions} rows and at most "
            f"{d_model} columns.{extra}"
        )
        return
    if not np.isfinite(rows).all() or rows.std() == 0:
        print("Not yet. The entries must be finite numbers that are not all the same.")
        return
    rows = rows / rows.std()
    t = np.arange(n_positions)
    line = _ridge_error(rows, t < 3 * n_positions // 4)
    noisy = rows + np.random.default_rng(0).normal(size=rows.shape)
    nearest = np.argmin((rows**2).sum(axis=1) - 2 * noisy @ rows.T, axis=1)
    template = np.abs(nearest - t).mean()
    score = f"Extrapolation {line:.2f} tokens, template {template:.2f} tokens."
    if line < 10 and template < 1:
        print(
            f"Correct. {score} A table can serve both readers: a direction that grows with t for "
            "the one, rows that stand apart for the other."
        )
        return
    hint = "The template reader needs rows that stand apart: give some columns fast change."
    if line >= 10:
        hint = "The linear reader needs columns that go on growing with t beyond its training rows."
    print(f"Not yet. {score} {hint} (Wanted: below 10 and below 1.)")


@asks
def check_shifted_rows(answer, k=10):
    """Check exercise 4: the last quarter of the sinusoid, shifted by `k` with one map per pair.

    Parameters
    ----------
    answer : array_like, shape (number of start rows, d_model)
        The predicted rows at t + k, for t from three quarters of the table to its last row minus
        k; or the dots of an untouched cell.
    k : int, default 10
        The shift in tokens.
    """
    n_positions, d_model = load_wpe().shape
    start = np.arange(3 * n_positions // 4, n_positions - k)
    table = sinusoidal(n_positions, d_model)
    given = _rows_of_floats(answer)
    if given is None:
        print("Not yet. The answer must be a matrix of numbers, one row per start position.")
        return
    verdict(
        given,
        table[start + k],
        "Four numbers per pair, fitted to the first three quarters, hold on the last quarter too: "
        "the map has the form that the rows obey.",
        "Fit one 2 x 2 map per pair of columns (2i, 2i + 1) on the training rows, without "
        "a constant, and apply it to the rows at `start`.",
        [
            (table[start], "These are the rows at t: they have not been shifted."),
            (
                table[start - k],
                "These are the rows at t - k: fit from t to t + k, and don't transpose the map.",
            ),
            (
                table[start + k] / table[1:-1].std(),
                "These rows are divided by the table's std: use P as it is.",
            ),
        ],
        atol=1e-6,
        rtol=0,
    )
