"""Similarities between the rows or the columns of a matrix. Chapter 4 derives what stands here."""

import numpy as np


def _finite_matrix(name, x):
    x = np.asarray(x, dtype=np.float64)
    if x.ndim != 2 or x.size == 0:
        raise ValueError(f"{name} must be a matrix with at least one entry, not shape {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError(f"{name} has entries that are NaN or infinite")
    return x


def _axis(axis):
    if axis not in (0, 1):
        raise ValueError(f"axis must be 1 (compare rows) or 0 (compare columns), not {axis!r}")
    return axis


def cosine_similarity(x, axis=1):
    """Return the cosine similarity of each pair of rows, or of columns.

    `axis` has NumPy's meaning: it is the axis that the dot products sum over.

    Parameters
    ----------
    x : array_like, shape (n_positions, d_model)
        One row per position, one column per dimension.
    axis : {1, 0}, default 1
        1 compares rows (positions), 0 compares columns (dimensions).

    Returns
    -------
    ndarray, float64, shape (n_positions, n_positions) or (d_model, d_model)
        Values in [-1, 1], symmetric, with ones on the diagonal up to rounding.

    Raises
    ------
    ValueError
        If `x` is no matrix or has non-finite entries, if `axis` is neither 0 nor 1, or if a row
        (column) is all zeros: such a vector has no direction. The message names the first one;
        drop those vectors, or keep them out of the comparison, before you call.
    """
    x = _finite_matrix("x", x)
    norms = np.linalg.norm(x, axis=_axis(axis), keepdims=True)
    zeros = np.flatnonzero(norms == 0)
    if zeros.size:
        kind = "row" if axis == 1 else "column"
        raise ValueError(
            f"x has {zeros.size} {kind}(s) of zeros, the first is {kind} {zeros[0]}: a zero vector "
            f"has no direction, so no cosine. Drop such {kind}s before comparing."
        )
    unit = x / norms
    return unit @ unit.T if axis == 1 else unit.T @ unit


def correlation(x, axis=1):
    """Return Pearson's r of each pair of rows, or of columns: the cosine after centring.

    Parameters
    ----------
    x : array_like, shape (n_positions, d_model)
        One row per position, one column per dimension.
    axis : {1, 0}, default 1
        1 compares rows (positions), 0 compares columns (dimensions).

    Returns
    -------
    ndarray, float64, shape (n_positions, n_positions) or (d_model, d_model)
        Values in [-1, 1].

    Raises
    ------
    ValueError
        As `cosine_similarity`. A constant row (column) is all zeros once it is centred.
    """
    x = _finite_matrix("x", x)
    return cosine_similarity(x - x.mean(axis=_axis(axis), keepdims=True), axis=axis)


def mean_by_lag(similarity):
    """Return the mean of a square matrix along each of its diagonals.

    Entry ``k`` averages ``similarity[t, t + k]`` over all ``t``: how similar two positions are, on
    average, that stand ``k`` tokens apart. Chapter 4 derives it.

    Parameters
    ----------
    similarity : array_like, shape (n, n)
        A symmetric matrix over positions, such as `cosine_similarity` returns.

    Returns
    -------
    ndarray, shape (n,), float64
        Entry ``k`` belongs to lag ``k`` (tokens). It averages ``n - k`` values, so the last entries
        rest on a few pairs only.

    Raises
    ------
    ValueError
        If `similarity` is not square or has non-finite entries.
    """
    similarity = _finite_matrix("similarity", similarity)
    n, columns = similarity.shape
    if n != columns:
        raise ValueError(f"similarity must be a square matrix, not shape {similarity.shape}")
    return np.array([similarity.diagonal(k).mean() for k in range(n)])
