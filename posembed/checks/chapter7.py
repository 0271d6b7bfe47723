"""Checks of the exercises of chapter 7. They need torch, as the chapter does."""

from functools import cache
from numbers import Real

import numpy as np

from posembed.checks import asks, verdict


@asks
def check_decay(answer):
    """Check exercise 1: what an unused row keeps of its norm with the other matrices' decay.

    Parameters
    ----------
    answer : float
        A fraction, or the dots of an untouched cell.
    """
    if not isinstance(answer, Real):
        print("Not yet. The answer is one number, a fraction of the norm.")
        return
    from posembed.train import SETTINGS, decay_factor, learning_rate

    decay, n_steps = SETTINGS["weight_decay"], SETTINGS["steps"]
    rate = np.array([learning_rate(step, SETTINGS) for step in range(n_steps)])
    right = decay_factor(n_steps, decay, SETTINGS)
    table_decay = decay_factor(n_steps, SETTINGS["wpe_decay"], SETTINGS)
    if 2e-4 < abs(float(answer) / right - 1) < 3e-3:
        print("Not yet, but close. Multiply over all steps, and give four digits.")
        return
    verdict(
        float(answer),
        right,
        "With so little decay the start would still be there: most of an unused row stays.",
        "Multiply (1 - rate * decay) over all steps.",
        [
            (table_decay, "That is for decay 1.0, the table's own. Use 0.1."),
            (1 - right, "That is what is lost. Asked is what stays."),
            (100 * right, "That is in per cent. Asked is a fraction."),
            (table_decay / 10, "A product is not proportional to the decay. Compute it anew."),
            (1 - decay * rate.sum(), "The factors multiply; their losses don't add up."),
            ((1 - SETTINGS["lr"] * decay) ** n_steps, "The learning rate changes: use `rate`."),
            ((1 - decay) ** n_steps, "Each step loses rate * decay, not decay."),
        ],
        rtol=2e-4,
    )


@cache
def _model():
    """Return the shipped model, its table, and held-out text."""
    from transformers import GPT2LMHeadModel
    from transformers.utils import logging

    from posembed.train import COURSE, SETTINGS, read_text, split_text, table_of

    logging.disable_progress_bar()
    model = GPT2LMHeadModel.from_pretrained(COURSE, local_files_only=True).eval()
    return model, table_of(model), split_text(read_text(), SETTINGS)[1]


def _loss(rows):
    """Return the shipped model's held-out loss with these rows as its table."""
    from posembed.train import losses_by_position, set_table

    model, _, heldout = _model()
    set_table(model, np.ascontiguousarray(rows))
    return float(losses_by_position(model, heldout, len(rows), 256).mean())


def _choice(answer, options):
    """Print what an answer that is none of the options gets; return whether it is one."""
    if not isinstance(answer, str) or answer not in options:
        print(f"Not yet. Answer with one of {', '.join(map(repr, options))}.")
        return False
    return True


@asks
def check_shift(answer, k=40, length=64):
    """Check exercise 2: the cost of giving every position the row `k` places further on.

    Parameters
    ----------
    answer : {"less than 0.1", "0.1 to 1", "more than 1"}
        The predicted cost, or the dots of an untouched cell.
    """
    if not _choice(answer, ("less than 0.1", "0.1 to 1", "more than 1")):
        return
    table = _model()[1]
    cost = _loss(table[k : k + length]) - _loss(table[:length])
    right = "less than 0.1" if cost < 0.1 else "0.1 to 1" if cost <= 1 else "more than 1"
    if answer == right:
        print(
            "Correct. The rows moved, but each pair of positions kept its distance in the table. For "
            "this model it matters little which row a position has, and much how rows are related."
        )
        return
    print(
        "Not yet. Permuting changes which rows are neighbours. Does the shift? Think of a head "
        "that looks one token back."
    )


@asks
def check_low_rank(answer, rank=2, allowed=0.05):
    """Check exercise 3: a table of low rank that the shipped model can use.

    Parameters
    ----------
    answer : array_like, shape (rows in use, d_model)
        The replacement of the rows in use, or the dots of an untouched cell.
    """
    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        print("Not yet. The answer must be a matrix of numbers, one row per position.")
        return
    used = _model()[1][:-1]
    if rows.shape != used.shape:
        hint = " Rows are positions: transpose it." if rows.shape == used.shape[::-1] else ""
        if rows.shape == (len(used) + 1, used.shape[1]):
            hint = " Leave out the last row, which is not in use."
        print(f"Not yet. The table has shape {rows.shape}, not {used.shape}.{hint}")
        return
    if not np.isfinite(rows).all():
        print("Not yet. Some entries are NaN or infinite.")
        return
    # A table kept in float32 has rounding errors in the other directions.
    found = int(np.linalg.matrix_rank(rows, rtol=1e-5))
    if found > rank:
        print(
            f"Not yet. Its rank is {found}. Keep {rank} directions only, for example of a "
            "singular value decomposition."
        )
        return
    cost = _loss(rows) - _loss(used)
    if cost < allowed:
        print(
            f"Correct. Rank {found} is enough to stay within {allowed} nats per byte. The model "
            "reads very few directions of its table, and hardly misses the rest."
        )
        return
    hint = "Which curve and which direction carry most of the table's squares?"
    if not rows.any():
        hint = "An empty table tells no positions apart."
    print(f"Not yet. The rank is fine, but the loss still rises by {cost:.3f}. {hint}")


@asks
def check_l2(answer):
    """Check exercise 4: decay inside the gradient, for a row that is never looked up.

    Parameters
    ----------
    answer : {"stay", "same factor", "same amount"}
        The predicted behaviour, or the dots of an untouched cell.
    """
    if not _choice(answer, ("stay", "same factor", "same amount")):
        return
    import torch

    start = torch.tensor([0.1, 0.2, 0.4])
    row = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([row], lr=1e-3, weight_decay=0.1)
    for _ in range(10):
        row.grad = torch.zeros(3)
        optimizer.step()
    moved = (start - row.detach()).numpy()
    if moved.max() < 1e-6:
        right = "stay"
    else:
        right = "same amount" if moved.max() / moved.min() < 1.1 else "same factor"
    if answer == right:
        print(
            "Correct. Adam divides the gradient by its own size, so each entry moves by about the "
            "learning rate per step. AdamW keeps decay out of that: it shrinks by a factor."
        )
        return
    hints = {
        "stay": "The gradient of the loss is 0, but decay adds its own part to it.",
        "same factor": "That is AdamW. Here Adam divides decay's gradient by its own size.",
        "same amount": "Does Adam change the size of a gradient?",
    }
    print("Not yet.", hints[answer])
