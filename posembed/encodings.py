"""Positional encodings given by a formula. Chapter 5 derives what stands here."""

import math
from numbers import Integral, Real

import numpy as np


def _positive_integer(name, value):
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer, not {value!r}")
    return int(value)


def sinusoidal(n_positions, d_model, base=10_000.0):
    """Return the sinusoidal positional encoding, one row per position.

    Sine and cosine are interleaved, as in the paper: columns ``2i`` and ``2i + 1`` share the
    angular frequency ``base ** (-2i / d_model)`` (radians per token); the even column holds the
    sine, the odd column the cosine. Chapter 5 derives it.

    Parameters
    ----------
    n_positions : int
        Number of rows (positions 0 to ``n_positions - 1``), at least 1.
    d_model : int
        Number of columns (dimensions), at least 1. If it is odd, the last sine has no cosine.
    base : float, default 10000
        Ratio between the slowest and the fastest frequency as ``d_model`` grows; positive.

    Returns
    -------
    ndarray, shape (n_positions, d_model), float64
        Values in [-1, 1], without unit.

    Raises
    ------
    ValueError
        If an argument is not a positive integer, or `base` is not a positive finite number. The
        message names the argument.

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", section 3.5.
    """
    n_positions = _positive_integer("n_positions", n_positions)
    d_model = _positive_integer("d_model", d_model)
    if not isinstance(base, Real) or not math.isfinite(base) or base <= 0:
        raise ValueError(f"base must be a positive finite number, not {base!r}")

    t = np.arange(n_positions)[:, np.newaxis]  # (n_positions, 1)
    j = np.arange(d_model)  # (d_model,)
    angle = t / float(base) ** ((j - j % 2) / d_model)  # (n_positions, d_model), radians
    return np.where(j % 2 == 0, np.sin(angle), np.cos(angle))
