"""The book's figures: one style, and the few drawings that several chapters share."""

import matplotlib as mpl
import numpy as np
from cycler import cycler

WIDTH = 6.4  # inches, the text column; with 12-point letters still legible on a phone

# One colour per matrix throughout the book (Okabe and Ito's palette, safe for colour-blind eyes).
COLORS = {
    "GPT-2": "#0072B2",
    "course model": "#0072B2",  # where it stands in for GPT-2
    "sinusoid": "#D55E00",
    "Gaussian": "#7F7F7F",
    "shuffled": "#009E73",
}
# For marks and for curves that are no matrix of their own.
ACCENTS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"]

STYLE = {
    "figure.figsize": (WIDTH, 3.6),
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "legend.fontsize": 11,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=ACCENTS),
    "axes.unicode_minus": True,
    "lines.linewidth": 1.6,
    "path.simplify_threshold": 0.5,  # pixels; halves the size of dense curves, unseen
    "image.cmap": "RdBu_r",
    # The same drawing must give the same file: letters as outlines, ids from a fixed salt.
    "svg.fonttype": "path",
    "svg.hashsalt": "posembed",
}


def use_style():
    """Set the book's plot style; in a notebook, also make every figure a reproducible SVG."""
    mpl.rcParams.update(STYLE)
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    if get_ipython() is not None:
        # No date inside, and the size that the figure was given instead of a cropped one.
        set_matplotlib_formats("svg", metadata={"Date": None}, bbox_inches=None)


def heatmap(ax, matrix, limit, label=None, **options):
    """Draw a signed matrix on a diverging map centred on 0: blue below, white at 0, red above.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    matrix : array_like, shape (n_rows, n_columns)
        Row 0 is drawn at the top.
    limit : float
        The colours span ``[-limit, +limit]``; values beyond it take the end colours.
    label : str, optional
        The colour bar's label. Without it there is no colour bar: panels that share a scale need
        only one, ``ax.figure.colorbar(image, ax=axes, label=...)``.
    **options
        Passed on to ``Axes.imshow``.

    Returns
    -------
    matplotlib.image.AxesImage
    """
    # Where the drawing is smaller than the matrix, average values, not colours: a mean of red and
    # blue is white on this map, never purple.
    options = {"aspect": "auto", "cmap": "RdBu_r", "interpolation_stage": "data"} | options
    image = ax.imshow(matrix, vmin=-limit, vmax=limit, **options)
    ax.spines[["top", "right"]].set_visible(True)
    if label is not None:
        clipped = np.abs(matrix).max() > limit * (
            1 + 1e-9
        )  # a cosine of 1 may be off by a rounding
        ax.figure.colorbar(image, ax=ax, label=label, extend="both" if clipped else "neither")
    return image


def column_grid(matrix, dimensions, limit=None, color="black"):
    """Draw columns of a matrix over all positions, one small panel per dimension, four in a row.

    Parameters
    ----------
    matrix : array_like, shape (n_positions, d_model)
        Position embeddings or encodings.
    dimensions : sequence of int
        The columns to draw.
    limit : float, optional
        Share one y axis, ``[-limit, +limit]``, among all panels. Without it each panel has its
        own, symmetric about 0, and the number above it says where that axis ends.
    color : str
        Colour of the curves.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    matrix = np.asarray(matrix)
    n_rows = -(-len(dimensions) // 4)
    fig, axes = plt.subplots(
        n_rows,
        4,
        figsize=(WIDTH, 1.25 * n_rows + 0.6),
        sharex=True,
        sharey=limit is not None,
        squeeze=False,
    )
    for ax, j in zip(axes.flat, dimensions):
        ax.axhline(0, color="0.6", linewidth=0.8)
        ax.plot(matrix[:, j], color=color, linewidth=1)
        own = np.abs(matrix[:, j]).max() * 1.1
        ax.set(xlim=(0, len(matrix) - 1), ylim=(-(limit or own), limit or own))
        ax.set_xticks([0, len(matrix) - 1])
        ax.set_title(f"dim. {j}", fontsize=11, loc="left", x=-0.1)
        if limit is None:
            ax.set_yticks([0])
            ax.set_title(f"±{own:.2g}", fontsize=10, loc="right")
    for ax in axes.flat[len(dimensions) :]:
        ax.set_visible(False)
    for ax in axes[-1]:  # keep the two numbers within their panel
        for label, side in zip(ax.get_xticklabels(), ("left", "right")):
            label.set_horizontalalignment(side)
    fig.supxlabel("position t (tokens)", fontsize=12)
    fig.supylabel("value", fontsize=12)
    return fig
