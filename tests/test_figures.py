"""The comparison of figures: what must pass, what must fail, and what is left on disk."""

import io

import matplotlib
import numpy as np
import pytest

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from posembed.plotting import heatmap, use_style  # noqa: E402
from tests.figures import compare  # noqa: E402

T = np.arange(200)
MATRIX = np.sin(np.outer(np.arange(40), np.arange(60)) / 90) * 0.3


def draw(wiggle=0.0, label="position t (tokens)", limit=0.4, panels=2, date=None, salt="a"):
    """Draw a curve and a heatmap, as a chapter does."""
    with matplotlib.rc_context():
        use_style()
        plt.rcParams["svg.hashsalt"] = salt
        fig, axes = plt.subplots(panels, 1, squeeze=False)
        axes[0, 0].plot(T, np.sin(T / 10 * (1 + wiggle)) * (1 + wiggle))
        axes[0, 0].set(xlabel=label, ylabel="value")
        if panels == 2:
            heatmap(axes[1, 0], MATRIX * (1 + wiggle), limit)
        buffer = io.StringIO()
        fig.savefig(buffer, format="svg", metadata={"Date": date})
        plt.close(fig)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def stored():
    return draw()


@pytest.mark.parametrize(
    "change",
    [{}, {"date": "2020-01-01"}, {"salt": "b"}, {"wiggle": 1e-9}, {"wiggle": 1e-6}],
    ids=["nothing", "date", "ids", "rounding", "coarse rounding"],
)
def test_same_picture_passes(stored, change, tmp_path):
    assert compare([stored], [draw(**change)], tmp_path / "out") == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"wiggle": 0.01},
        {"label": "position j (tokens)"},
        {"label": "position t (token)"},
        {"limit": 0.42},
        {"panels": 1},
    ],
    ids=["curve", "one letter", "label shorter", "colour scale", "missing panel"],
)
def test_changed_picture_fails_and_leaves_pictures(stored, change, tmp_path):
    (message,) = compare([stored], [draw(**change)], tmp_path)
    assert "figure 0" in message and str(tmp_path) in message
    assert {"figure0-stored.png", "figure0-fresh.png", "figure0-difference.png"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_missing_figure_fails(stored, tmp_path):
    assert compare([stored], [], tmp_path) == ["1 figures are stored, 0 were drawn"]
