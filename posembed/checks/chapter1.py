"""Checks of the exercises of chapter 1."""

import re

import numpy as np

from posembed.checks import UNANSWERED, asks, verdict

BIRD = "the dog and the man and the bird"


def _attention(x, causal=False):
    """Return the outputs of one head with fixed random weights; x has shape (n, d_model)."""
    n, d_model = x.shape
    rng = np.random.default_rng(0)
    q, k, v = (x @ rng.normal(size=(d_model, d_model)) / d_model**0.5 for _ in range(3))
    scores = q @ k.T / d_model**0.5
    if causal:
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


def _embed(tokens, vocabulary, d_model=8):
    """Return one fixed random row per token; equal tokens get equal rows."""
    table = np.random.default_rng(1).normal(size=(len(vocabulary), d_model))
    return table[[vocabulary.index(token) for token in tokens]]


def _is_ragged(answer):
    """Say so, and return True, if `answer` is a nested list with rows of unequal length."""
    try:
        np.shape(answer)
    except ValueError:
        print("Not yet. The rows of your answer have unequal lengths.")
        return True
    return False


def _n_distinct(rows):
    return len(np.unique(rows.round(9), axis=0))


def check_addition(answer, token_table, position_table, ids):
    """Check the input rows that token table and position table give for one text.

    Parameters
    ----------
    answer : array_like, shape (n, d_model)
        Row t should be the token's row plus the position's row.
    token_table : array_like, shape (n_tokens, d_model)
        One row per token of the vocabulary.
    position_table : array_like, shape (n_positions, d_model)
        One row per position.
    ids : sequence of int, length n
        Row numbers of the text's tokens in `token_table`.
    """
    tokens, positions = np.asarray(token_table), np.asarray(position_table)
    ids = np.asarray(ids)
    n = len(ids)
    expected = tokens[ids] + positions[:n]
    mistakes = [
        (tokens[ids], "These are the token rows alone. Add the row of each position."),
        (positions[:n], "These are the position rows alone. Add the row of each token."),
    ]
    if ids.max() < len(positions):
        hint = "You looked positions up by token id. The position of row t is t, whatever stands there."
        mistakes.append((tokens[ids] + positions[ids], hint))
    if n <= len(tokens):
        hint = "You looked tokens up by position. The token at position t has the id ids[t]."
        mistakes.append((tokens[:n] + positions[:n], hint))
    if n < len(positions):
        hint = "Your first token got row 1 of the position table. Positions start at 0."
        mistakes.append((tokens[ids] + positions[1 : n + 1], hint))
    mistakes.append(
        (tokens[ids] + positions[0], "Every token got the same position row. Use n rows.")
    )
    if _is_ragged(answer):
        return
    if answer is not ... and np.shape(answer) == expected.T.shape != expected.shape:
        print(
            "Not yet. Rows and columns are swapped: one row per position, one column per dimension."
        )
        return
    verdict(
        answer,
        expected,
        "Tokens are looked up by id, positions by index; the sum has one row per position.",
        "Look up one row per token and one row per position, then add the two arrays.",
        mistakes,
    )


def check_distinct_rows(answer):
    """Check a prediction: how many different output rows one attention layer gives.

    Parameters
    ----------
    answer : sequence of three int
        Counts for the text `BIRD`, in this order: unmasked attention without positions, unmasked
        attention with positions, causal attention without positions.
    """
    if _is_ragged(answer):
        return
    tokens = BIRD.split()
    x = _embed(tokens, sorted(set(tokens)))
    positions = np.random.default_rng(2).normal(size=x.shape)
    expected = [
        _n_distinct(_attention(x)),
        _n_distinct(_attention(x + positions)),
        _n_distinct(_attention(x, causal=True)),
    ]
    n, distinct = len(tokens), len(set(tokens))
    verdict(
        answer,
        expected,
        f"Without positions the {n} tokens give {distinct} different rows, one per distinct token; "
        "with positions, or behind a causal mask, equal tokens stop being equal.",
        "Ask of each case: do two equal tokens send the same query to the same set of keys?",
        [
            ([n, n, n], "First count: equal tokens have equal rows, hence equal queries."),
            (
                [1, n, n],
                "First count: attention mixes, but different tokens send different queries.",
            ),
            (
                [distinct, distinct, distinct],
                "Equal tokens at two positions have different input rows once positions are added.",
            ),
            (
                [distinct, n, distinct],
                "Third count: behind the mask, the first `the` sees one token, the last sees seven.",
            ),
            (
                [distinct, distinct, n],
                "Second count: adding a position makes equal tokens different before attention.",
            ),
            *(
                ([count, n, n], "First count: count the distinct tokens of the text once more.")
                for count in range(2, n)
            ),
        ],
        rtol=0,
    )


@asks
def check_encoding(encoding, n_positions=1000, d_model=8):
    """Check the properties that a usable encoding by formula needs.

    Parameters
    ----------
    encoding : callable
        ``encoding(n_positions, d_model)`` should return one row per position.
    n_positions, d_model : int
        The size at which the properties are tested.
    """
    if not callable(encoding):
        print("Not yet. Hand over the function itself: check_encoding(my_encoding).")
        return
    try:
        rows = encoding(n_positions, d_model)
        if rows is ... or rows is None:
            print(UNANSWERED)
            return
        rows = np.asarray(rows, dtype=np.float64)
        again = np.asarray(encoding(n_positions, d_model), dtype=np.float64)
        shorter = np.asarray(encoding(n_positions // 2, d_model), dtype=np.float64)
    except Exception as error:
        print(f"Not yet. Your function raised {type(error).__name__}: {error}")
        return
    if rows.shape == (d_model, n_positions):
        print("Not yet. Rows and columns are swapped: one row per position.")
    elif rows.shape != (n_positions, d_model):
        print(f"Not yet. Expected shape {(n_positions, d_model)}, got {rows.shape}.")
    elif not np.isfinite(rows).all():
        print("Not yet. Some entries are NaN or infinite.")
    elif np.abs(rows).max() > 1 + 1e-12:
        print(
            f"Not yet. The largest entry has size {np.abs(rows).max():.4g}. Large entries drown the "
            "token embeddings; keep them in [-1, 1]."
        )
    elif again.shape != rows.shape or not np.array_equal(rows, again):
        print("Not yet. Two calls gave different rows. A position must get the same row each time.")
    elif shorter.shape != (n_positions // 2, d_model) or not np.allclose(
        rows[: n_positions // 2], shorter, atol=1e-12
    ):
        print(
            "Not yet. Row t changes with n_positions, so the same position looks different in a "
            "longer text. Use t alone."
        )
    else:
        squares = sum(np.subtract.outer(column, column) ** 2 for column in rows.T)
        np.fill_diagonal(squares, np.inf)
        t, s = (int(i) for i in np.unravel_index(squares.argmin(), squares.shape))
        closest = squares[t, s] ** 0.5
        if closest < 1e-9:
            print(
                f"Not yet. Positions {t} and {s} share one row, up to differences below 1e-9, so they "
                "can't be told apart."
            )
        else:
            print(
                f"Correct. All {n_positions} rows differ, stay in [-1, 1] and depend on t alone. "
                f"Your closest two rows are {closest:.2g} apart."
            )


def check_twins(first, second):
    """Check that two texts of different lengths have the same pooled attention output.

    Parameters
    ----------
    first, second : str
        Texts, split at spaces. The attention is unmasked and has no positions.
    """
    if first is ... or second is ... or first is None or second is None:
        print(UNANSWERED)
        return
    if not (isinstance(first, str) and isinstance(second, str)):
        print("Not yet. Both answers are strings of words with spaces between them.")
        return
    texts = [re.split(r"\s+", text.strip()) for text in (first, second)]
    if [""] in texts:
        print("Not yet. One of the texts is empty.")
    elif len(texts[0]) == len(texts[1]):
        print(f"Not yet. Both texts have {len(texts[0])} tokens; their lengths must differ.")
    else:
        vocabulary = sorted(set(texts[0]) | set(texts[1]))
        pooled = [_attention(_embed(text, vocabulary)).mean(axis=0) for text in texts]
        distance = np.linalg.norm(pooled[0] - pooled[1])
        if distance < 1e-10:
            print(
                f"Correct. {len(texts[0])} and {len(texts[1])} tokens, one pooled vector: an average "
                "keeps the shares of the tokens, neither their order nor their number."
            )
        elif set(texts[0]) != set(texts[1]):
            print("Not yet. A token that stands in one text alone changes the average.")
        else:
            print(
                f"Not yet. The pooled vectors are {distance:.2g} apart. Attention averages: what share "
                "of each text does each token have?"
            )
