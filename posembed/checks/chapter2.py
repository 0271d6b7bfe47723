"""Checks of the exercises of chapter 2."""

import numpy as np

from posembed.checks import UNANSWERED, asks, verdict
from posembed.weights import TENSORS, load_wpe

VOCABULARY = 50_257  # rows of GPT-2's token table, which the course doesn't load


def _table():
    return load_wpe().astype(np.float64)


def _odd_rows(table, factor=1.5):
    """Return the positions whose norm is off by more than `factor` from every neighbour's."""
    norms = np.linalg.norm(table, axis=1)
    jump = np.abs(np.log(norms[1:] / norms[:-1])) > np.log(factor)  # between t and t + 1
    return np.flatnonzero(np.append(True, jump) & np.append(jump, True)).tolist()


def _how_odd(norms, t):
    """Say in words how the norm of an odd row differs."""
    row = f"row {t} (norm {norms[t]:.3f})"
    around = np.delete(norms[max(t - 1, 0) : t + 2], min(t, 1))
    if norms[t] == norms.min():
        return f"{row} is the shortest by far"
    if norms[t] > around.max():
        return f"{row} is far longer than its neighbour{'s' * (around.size > 1)}"
    if norms[t] < around.min():
        return f"{row} is far shorter than its neighbour{'s' * (around.size > 1)}"
    return f"{row} lies between its neighbours, far from both"


@asks
def check_odd_rows(answer):
    """Check the two positions whose norm breaks the pattern.

    Parameters
    ----------
    answer : sequence of int
        Positions, in any order.
    """
    table = _table()
    norms = np.linalg.norm(table, axis=1)
    order = np.argsort(norms)
    n = len(norms)
    try:
        given = np.asarray(sorted(answer) if isinstance(answer, set) else answer)
        if given.dtype.kind not in "iu":
            raise TypeError
        given = set(given.ravel().tolist())
    except (TypeError, ValueError):
        print("Not yet. Name the two positions as whole numbers in a list, such as [3, 5].")
        return
    expected = set(_odd_rows(table))
    if given == expected:
        found = ", and ".join(_how_odd(norms, t) for t in sorted(expected))
        print(f"Correct. {found[0].upper()}{found[1:]}.")
    elif any(t < 0 for t in given):
        print("Not yet. Count positions from the start: index -1 is a position too, which one?")
    elif any(t >= n for t in given):
        print(f"Not yet. Positions are 0-based, so the last one is {n - 1}.")
    elif given == set(order[-2:].tolist()):
        print("Not yet. These are the two longest. Look at the other end of the list too.")
    elif given == set(order[:2].tolist()):
        print("Not yet. These are the two shortest. Look at the other end of the list too.")
    elif given == set(np.argsort(np.linalg.norm(table, axis=0))[[0, -1]].tolist()):
        print("Not yet. These are columns: use axis=1 to get one norm per position.")
    elif given > expected:
        extra = min(given - expected)
        print(
            f"Not yet. Both are in your list, but row {extra} is within a factor of 1.5 of a "
            f"neighbour's norm."
        )
    elif given and given < expected:
        print(f"Not yet. Row {min(given)} is right. Which is the other?")
    elif given & expected:
        print("Not yet. One of the two is right. Compare the other with its neighbours.")
    else:
        print("Not yet. Compare each norm with its neighbours', both ends of the table included.")


@asks
def check_row0_share(answer):
    """Check the share of row 0's squared norm that its two largest entries hold.

    Parameters
    ----------
    answer : float
        Between 0 and 1.
    """
    try:
        answer = float(answer)
    except (TypeError, ValueError):
        print("Not yet. Give one number between 0 and 1.")
        return
    table = _table()

    def share(x):
        return np.sort(x)[::-1][:2].sum() / x.sum()

    row = table[0]
    right = share(row**2)
    by_value = np.argsort(-row)[:2]
    verdict(
        answer,
        right,
        f"Two of {row.size} entries hold {100 * right:.1f} % of the squared norm of row 0.",
        "Square the entries of W[0], sort them, and divide the sum of the largest two by the sum "
        "of all.",
        mistakes=[
            (100 * right, "The number is right in per cent. Give it between 0 and 1."),
            (share(np.abs(row)), "These are shares of the sum of sizes. Square the entries first."),
            (
                (row[by_value] ** 2).sum() / (row**2).sum(),
                "Largest in absolute value: a large negative entry counts too.",
            ),
            (
                np.sort(row**2)[:2].sum() / (row**2).sum(),
                "These are the two smallest: np.sort puts the largest last.",
            ),
            (
                np.sort(row**2)[-2:].sum(),
                "That is the sum of the two squares. Divide it by the squared norm of the row.",
            ),
            (share(table[:, 0] ** 2), "That is column 0, a dimension. Row 0 is W[0]."),
            (share(table[1] ** 2), "That is row 1. Positions are 0-based."),
            (round(right, 2), "Right to two digits. Give at least three."),
            (np.sqrt(right), "That is a share of the norm. Leave out the square root."),
            ((row**2).max() / (row**2).sum(), "That is one entry. The two largest are asked for."),
        ],
    )


def _n_parameters(d_model, n_layers, n_positions):
    """Count GPT-2's parameters: two tables, the blocks, the last LayerNorm; output tied."""
    block = 12 * d_model**2 + 13 * d_model
    return (VOCABULARY + n_positions) * d_model + n_layers * block + 2 * d_model


def check_share_xl(answer):
    """Check the prediction how the position table's share changes in GPT-2 XL.

    Parameters
    ----------
    answer : str
        "larger", "smaller" or "equal".
    """
    n_positions, d_model = TENSORS["wpe.weight"][0]
    small = n_positions * d_model / _n_parameters(d_model, 12, n_positions)
    xl = n_positions * 1600 / _n_parameters(1600, 48, n_positions)
    _choice(
        answer,
        ("larger", "smaller", "equal"),
        "smaller" if xl < small else "larger",
        f"WPE grows in proportion to d_model, the blocks with its square and with their number: "
        f"the share falls from {100 * small:.3f} % to {100 * xl:.3f} %.",
        {
            "larger": "WPE has more parameters, but so has everything else. A block's matrices "
            "have about d_model x d_model entries.",
            "equal": "That would hold if every part grew like d_model. A block's matrices have "
            "about d_model x d_model entries.",
        },
    )


def check_scaled_row(answer):
    """Check the prediction what scaling the last row does to its largest absolute cosine.

    Parameters
    ----------
    answer : str
        "rises", "falls" or "stays".
    """
    _choice(
        answer,
        ("rises", "falls", "stays"),
        "stays",
        "The cosine divides by both norms, so a positive factor cancels. That is also why a tiny "
        "row of noise counts as much in a cosine matrix as any other row.",
        {
            "rises": "The dot product grows by the factor 30. What else in the cosine does?",
            "falls": "The norm that the cosine divides by grows by 30. What else does?",
        },
    )


@asks
def _choice(answer, choices, right, why, hints):
    given = answer.strip().lower() if isinstance(answer, str) else None
    if given not in choices:
        print("Not yet. Answer with one of", ", ".join(f'"{c}"' for c in choices) + ".")
    elif given == right:
        print(f"Correct. {why}")
    else:
        print(f"Not yet. {hints[given]}")


NO_ROW_BEFORE = "If you compare each row with the one before: row 0 has none, only the one after."


def _score_hint(table, found):
    """Say why a score may single out the wrong row."""
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    if found == (unit @ unit.sum(axis=0)).argmin():
        return (
            "If you average cosines, average their sizes: unlike all others means cosines near 0, "
            "and in a mean those of both signs cancel."
        )
    if found == 0:
        return NO_ROW_BEFORE
    return "Compare each row with all others by the size of their cosines."


@asks
def check_score(answer):
    """Check a function that scores rows by how unusual they are, whatever their norm.

    Accepted if the last row has the highest score, if positive factors per row change nothing,
    and if the highest score follows the row when it is moved.

    Parameters
    ----------
    answer : callable
        Takes an array (n_positions, d_model), returns n_positions scores.
    """
    if not callable(answer):
        print("Not yet. Pass the function itself: check_score(score), without calling it.")
        return
    table = _table()
    n, d_model = table.shape
    last, middle = n - 1, n // 2
    factors = np.random.default_rng(0).uniform(0.1, 10, size=(n, 1))
    rescaled = table * factors
    moved = np.insert(table[:-1], middle, table[-1], axis=0)

    scores = []
    for x in (table, rescaled, moved):
        try:
            result = answer(x.copy())
            if result is ... or result is None:
                print(UNANSWERED)
                return
            result = np.asarray(result, dtype=np.float64)
        except Exception as error:
            print(f"Not yet. Your function stopped with {type(error).__name__}: {error}")
            return
        if result.shape == (d_model,):
            print(f"Not yet. You return {d_model} scores, one per column. Use the other axis.")
            return
        if result.shape != (n,):
            print(f"Not yet. Return one score per row, shape ({n},), not {result.shape}.")
            return
        if not np.isfinite(result).all():
            print("Not yet. Some scores are NaN or infinite.")
            return
        scores.append(result)

    found, found_moved = int(scores[0].argmax()), int(scores[2].argmax())
    typical = np.median(np.delete(scores[0], last))
    if not np.allclose(scores[0], scores[1], rtol=1e-6, atol=1e-8):
        print("Not yet. The scores change when rows are rescaled. Divide each row by its norm.")
    elif np.ptp(scores[0]) < 1e-6:
        print(
            "Not yet. All rows get the same score. If you use cosines: that of a row with itself is "
            "always 1, so leave it out."
        )
    elif found == last - 1:
        print(
            f"Not yet. Row {found} is highest, one too early. A score of the pair (t, t + 1) "
            f"marks both rows; give each row the better of its two neighbours."
        )
    elif found != last and scores[0].argmin() == last:
        print(f"Not yet. Row {last} gets the lowest score. Turn the sign round.")
    elif found != last:
        print(
            f"Not yet. Row {found} gets the highest score, not row {last}. {_score_hint(table, found)}"
        )
    elif found_moved != middle:
        place = "The score may use the row's values, not its place."
        print(
            f"Not yet. When row {last} is moved to position {middle}, your highest score goes to "
            f"row {found_moved}. {NO_ROW_BEFORE if found_moved == 0 else place}"
        )
    else:
        print(
            f"Correct. Row {last} is found wherever it stands, by direction alone: its score is "
            f"{scores[0][last]:.3g}, the median of the other rows {typical:.3g}."
        )
