"""Similarities against implementations that others wrote."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from posembed import correlation, cosine_similarity, mean_by_lag, sinusoidal


@pytest.fixture
def x():
    return np.random.default_rng(3).normal(size=(9, 5)) + 0.4


@pytest.mark.parametrize("axis", [0, 1])
def test_cosine_matches_scipy(x, axis):
    vectors = x if axis == 1 else x.T
    expected = 1 - cdist(vectors, vectors, "cosine")
    np.testing.assert_allclose(cosine_similarity(x, axis=axis), expected, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
def test_cosine_matches_torch(x, axis):
    torch = pytest.importorskip("torch")
    vectors = x if axis == 1 else x.T
    ours = cosine_similarity(x, axis=axis)
    v = torch.from_numpy(np.ascontiguousarray(vectors))
    theirs = torch.nn.functional.cosine_similarity(v[:, None], v[None], dim=-1)
    np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
def test_correlation_matches_numpy(x, axis):
    np.testing.assert_allclose(correlation(x, axis), np.corrcoef(x, rowvar=axis == 1), atol=1e-12)


def test_correlation_is_not_cosine(x):
    assert np.abs(correlation(x) - cosine_similarity(x)).max() > 0.1


def test_single_precision_is_computed_in_double(x):
    assert cosine_similarity(x.astype(np.float32)).dtype == np.float64


def test_mean_by_lag_matches_an_explicit_mean(x):
    similarity = cosine_similarity(x)
    expected = [np.mean([similarity[t, t + k] for t in range(len(x) - k)]) for k in range(len(x))]
    np.testing.assert_allclose(mean_by_lag(similarity), expected, atol=1e-12)


def test_the_sinusoid_depends_on_lag_alone():
    similarity = cosine_similarity(sinusoidal(50, 8))
    by_lag = mean_by_lag(similarity)
    t = np.arange(50)
    np.testing.assert_allclose(similarity, by_lag[np.abs(t[:, None] - t)], atol=1e-12)


@pytest.mark.parametrize("axis, kind", [(1, "row 2"), (0, "column 3")])
def test_zero_vectors_are_named(x, axis, kind):
    if axis == 1:
        x[2] = 0
    else:
        x[:, 3] = 0
    with pytest.raises(ValueError, match=f"x has 1 .* the first is {kind}.*Drop"):
        cosine_similarity(x, axis=axis)


def test_constant_row_has_no_correlation(x):
    x[2] = 0.5
    with pytest.raises(ValueError, match="row 2"):
        correlation(x, axis=1)


@pytest.mark.parametrize("function", [cosine_similarity, correlation])
@pytest.mark.parametrize(
    "bad, message",
    [
        (np.ones(3), "x must be a matrix"),
        (np.ones((0, 3)), "x must be a matrix"),
        (np.ones((2, 2, 2)), "x must be a matrix"),
        (np.array([[1.0, np.nan]]), "x has entries"),
        (np.array([[1.0, np.inf]]), "x has entries"),
    ],
)
def test_bad_matrices(function, bad, message):
    with pytest.raises(ValueError, match=message):
        function(bad)


@pytest.mark.parametrize("axis", [2, -1, None, "rows"])
def test_bad_axis(x, axis):
    with pytest.raises(ValueError, match="^axis must be"):
        cosine_similarity(x, axis=axis)


def test_mean_by_lag_wants_a_square(x):
    with pytest.raises(ValueError, match="^similarity must be a square"):
        mean_by_lag(x)
