"""Explorables: figures of the built book that answer back, without a kernel or a server.

A notebook stores a container with a small derived set of data; the page's scripts
(``book/_static/explore*.js``) turn it into controls and plots. The still figure right above it says
what can be said without them.
"""

import json
from html import escape

import numpy as np

# What the reader can do with each kind; ``book/_static/explore-<kind>.js`` makes it happen.
KINDS = {
    "waves": "choose a dimension, its scale and a position, and compare it with a sinusoid",
    "similarity": "move two positions over three cosine matrices and see both rows",
    "clock": "turn the hands: choose the position, the step, the base and the number of dimensions",
    "mistakes": "switch between the formula and four other versions, and read the verdict",
    "spindle": "turn the curve by hand and pick pairs of positions on it or in the cosine matrix",
}
MAX_BYTES = 300_000


class Explorable:
    """What a cell displays: HTML for the book, a sentence for everything else."""

    def __init__(self, sentence, html):
        self._sentence, self._html = sentence, html

    def __repr__(self):
        return self._sentence

    def _repr_html_(self):
        return self._html


def explorable(kind, data=None, decimals=3):
    """Return a figure that answers back in the built book.

    Let a cell with a still figure stand right above: it is what JupyterLab, print, and readers
    without scripts see.

    Parameters
    ----------
    kind : str
        One of the names in `KINDS`.
    data : dict of str to number, str, list or ndarray, optional
        A small derived set, such as every fourth position of a few dimensions, never a whole
        table. What a formula gives is computed in the page instead.
    decimals : int, default 3
        Places that numbers with a fraction are rounded to. When the notebook is tested, they may
        differ by one unit of the last place, since another machine may round the other way.

    Returns
    -------
    Explorable
        Let it be the last expression of the cell.

    Raises
    ------
    ValueError
        If the kind is not known, a number is NaN or infinite, or the data exceed `MAX_BYTES`.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    text = json.dumps(
        {name: _plain(value, decimals) for name, value in (data or {}).items()},
        separators=(",", ":"),
        allow_nan=False,
    ).replace("<", "\\u003c")  # so that no text in the data can end the script element
    if len(text) > MAX_BYTES:
        raise ValueError(f"the data have {len(text):,} bytes, at most {MAX_BYTES:,} are allowed")
    sentence = f"In the built book, with scripts on, this figure answers back: {KINDS[kind]}."
    html = (
        f'<div class="explorable" data-kind="{kind}">\n'
        f"<p>{escape(sentence, quote=False)}</p>\n"
        f'<script type="application/json" data-decimals="{decimals}">{text}</script>\n'
        "</div>"
    )
    return Explorable(sentence, html)


def _plain(value, decimals):
    """Return a number, text or array as JSON knows it, rounded."""
    array = np.asarray(value)
    if array.dtype.kind == "f":
        array = np.round(array.astype(np.float64), decimals) + 0.0  # no minus zero
    return array.tolist()
