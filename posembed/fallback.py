"""The course's own small model, for where GPT-2 can't be had.

`posembed.weights` turns to it, never silently. Chapter 7 trains it and says what a small model can
tell about a large one.
"""

import html
import json
import os
import warnings
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "course"
MODEL_VARIABLE = "POSEMBED_MODEL"
MODELS = ("gpt2", "course")


def wanted():
    """Return what ``POSEMBED_MODEL`` asks for: "gpt2", "course", or None where it is not set."""
    model = os.environ.get(MODEL_VARIABLE) or None
    if model is not None and model not in MODELS:
        raise ValueError(f"{MODEL_VARIABLE} must be one of {', '.join(MODELS)}, not {model!r}")
    return model


def load_tensor(name):
    """Return one tensor of the course's model, by the name that it has in GPT-2's checkpoint.

    Parameters
    ----------
    name : str
        For example ``"wpe.weight"``.

    Returns
    -------
    ndarray, float32
        Shipped in half precision, so about three digits are meaningful.
    """
    from safetensors import safe_open

    with safe_open(FOLDER / "model.safetensors", framework="numpy") as checkpoint:
        return checkpoint.get_tensor(name).astype(np.float32)


def config():
    """Return the model's ``config.json`` as a dict."""
    return json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))


def notice(why):
    """Say where no reader can overlook it that this is not GPT-2.

    Once in each process, and again in each cell that calls ``load_wpe``: a cell that is run again
    loses its old output.
    """
    try:
        from IPython import get_ipython
        from IPython.display import HTML, display
    except ImportError:
        get_ipython = lambda: None  # noqa: E731
    shell = get_ipython()
    cell = shell.user_ns.get("In", [""])[-1] if shell else ""
    number = shell.execution_count if shell else None
    if notice.shown and ("load_wpe(" not in cell or number in notice.shown):
        return
    notice.shown.append(number)
    n_positions, d_model = config()["n_positions"], config()["n_embd"]
    title = "This is not GPT-2: the course's own small model stands in for it."
    parts = [
        why,
        f"Its table has {n_positions} positions and {d_model} dimensions. The cells run, but what "
        "the text says (numbers, positions and dimensions, headings, captions) is about GPT-2's "
        "table, not about this one.",
        "Once GPT-2 is to be had, restart Python (in a notebook: the kernel) and run all cells.",
    ]
    if wanted() is None:
        parts[-1] += f" To do without it and not wait for the network, set {MODEL_VARIABLE}=course."
    if shell is None:
        warnings.warn(" ".join([title, *parts]), stacklevel=4)
        return
    style = (
        "border:3px solid #b00020;background:#fff3f3;color:#1a1a1a;padding:0.8em 1em;"
        "overflow-wrap:anywhere"
    )
    lines = "".join(f"<p>{html.escape(part)}</p>" for part in parts)
    display(HTML(f'<div role="alert" style="{style}"><strong>{title}</strong>{lines}</div>'))


notice.shown = []  # the numbers of the cells, or None, where it was shown
