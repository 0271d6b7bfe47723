"""Draw the figure of the landing page and the README; `make execute` runs this."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from posembed import cosine_similarity, load_wpe, sinusoidal  # noqa: E402
from posembed.plotting import WIDTH, heatmap, use_style  # noqa: E402

FILE = Path(__file__).parent / "_static" / "learned-and-fixed.svg"


def draw():
    """Return the figure: who resembles whom among GPT-2's positions, and in the sinusoid."""
    use_style()
    W = load_wpe(fallback=False)
    matrices = {"learned: GPT-2's table": W, "fixed: the sinusoid": sinusoidal(*W.shape)}
    fig, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.1), sharey=True)
    for ax, (title, matrix) in zip(axes, matrices.items()):
        image = heatmap(ax, cosine_similarity(matrix), limit=1, aspect="equal")
        ax.set(title=title, xlabel="position t (tokens)", xticks=[0, 500, 1000])
    axes[0].set(ylabel="position t (tokens)", yticks=[0, 500, 1000])
    fig.colorbar(image, ax=axes, label="cosine similarity", ticks=[-1, 0, 1], shrink=0.8)
    return fig


if __name__ == "__main__":
    draw().savefig(FILE, metadata={"Date": None})
