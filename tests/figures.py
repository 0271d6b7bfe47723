"""Compare two SVG figures by what a reader sees.

Both are drawn at the same size. Two kinds of difference count: pixels whose like is nowhere within
one pixel in the other picture (a moved curve, another letter, a missing panel), and areas whose
mean colour has shifted (another colour scale). Dates, ids and rounding leave neither.
"""

import io

import numpy as np
import resvg_py
from PIL import Image

DPI = 144
CONTRAST = 48  # of 255: how much a pixel must differ from all its neighbours to count
MAX_PIXELS = 8  # stray pixels that a rounding may leave at the edge of a line
BLOCK = 16  # pixels, side of an area
MAX_SHIFT = 2.0  # of 255: how far the mean colour of an area may move


def render(svg):
    """Return an SVG as an RGB picture, shape (height, width, 3), uint8, on white."""
    png = resvg_py.svg_to_bytes(
        svg_string=svg, dpi=DPI, background="#ffffff", skip_system_fonts=True
    )
    return np.asarray(Image.open(io.BytesIO(bytes(png))).convert("RGB"))


def _unmatched(picture, other):
    """Return where `picture` has a pixel that is nowhere within one pixel in `other`."""
    height, width, _ = picture.shape
    padded = np.pad(other.astype(np.int16), ((1, 1), (1, 1), (0, 0)), mode="edge")
    best = np.full((height, width), 255, dtype=np.int16)
    for dy in range(3):
        for dx in range(3):
            shifted = padded[dy : dy + height, dx : dx + width]
            np.minimum(best, np.abs(picture - shifted).max(axis=2), out=best)
    return best > CONTRAST


def _block_means(picture):
    height, width = (size // BLOCK * BLOCK for size in picture.shape[:2])
    blocks = picture[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3)
    return blocks.mean(axis=(1, 3))


def difference(stored, fresh):
    """Say how two pictures differ.

    Parameters
    ----------
    stored, fresh : ndarray, shape (height, width, 3), uint8

    Returns
    -------
    str or None
        None where a reader would see the same.
    """
    if stored.shape != fresh.shape:
        return f"the size changed from {stored.shape[1::-1]} to {fresh.shape[1::-1]} pixels"
    if np.array_equal(stored, fresh):
        return None
    pixels = int((_unmatched(stored, fresh) | _unmatched(fresh, stored)).sum())
    if pixels > MAX_PIXELS:
        return f"{pixels} pixels changed (at most {MAX_PIXELS} may)"
    shift = np.abs(_block_means(stored) - _block_means(fresh)).max()
    if shift > MAX_SHIFT:
        return f"the colour of an area moved by {shift:.1f} of 255 (at most {MAX_SHIFT} may)"
    return None


def compare(stored, fresh, folder):
    """Compare two lists of SVG texts, and leave pictures of what differs in `folder`.

    Returns
    -------
    list of str
        One message for each difference; empty where all figures look the same.
    """
    if len(stored) != len(fresh):
        return [f"{len(stored)} figures are stored, {len(fresh)} were drawn"]
    messages = []
    for number, (old, new) in enumerate(zip(stored, fresh)):
        if old == new:
            continue
        pictures = {"stored": render(old), "fresh": render(new)}
        message = difference(pictures["stored"], pictures["fresh"])
        if message is None:
            continue
        if pictures["stored"].shape == pictures["fresh"].shape:
            gap = np.abs(pictures["stored"].astype(np.int16) - pictures["fresh"]).max(axis=2)
            pictures["difference"] = 255 - gap.astype(np.uint8)
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.items():
            Image.fromarray(picture).save(folder / f"figure{number}-{name}.png")
        messages.append(f"figure {number}: {message}; see {folder}")
    return messages
