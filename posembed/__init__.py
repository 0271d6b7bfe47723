"""The small package that the chapters share.

What a chapter derives is kept here once another chapter needs it: GPT-2's weights
(`posembed.weights`), the sinusoid (`posembed.encodings`), similarities between vectors
(`posembed.similarity`), the book's plot style (`posembed.plotting`) and the checks of the
exercises (`posembed.checks`).
"""

from posembed.encodings import sinusoidal
from posembed.similarity import correlation, cosine_similarity, mean_by_lag
from posembed.weights import WeightsError, load_config, load_tensor, load_wpe

__all__ = [
    "WeightsError",
    "correlation",
    "cosine_similarity",
    "load_config",
    "load_tensor",
    "load_wpe",
    "mean_by_lag",
    "sinusoidal",
]
