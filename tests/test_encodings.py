"""The sinusoid against the paper's loop and against a library that others wrote."""

import numpy as np
import pytest

from posembed import sinusoidal


def paper_loop(n_positions, d_model, base=10_000.0):
    """Vaswani et al. (2017), section 3.5, one entry at a time."""
    P = np.empty((n_positions, d_model))
    for t in range(n_positions):
        for j in range(d_model):
            two_i = j - j % 2
            angle = t / base ** (two_i / d_model)
            P[t, j] = np.sin(angle) if j % 2 == 0 else np.cos(angle)
    return P


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (5, 7), (40, 16), (33, 33)])
@pytest.mark.parametrize("base", [10_000, 100.0, 2])
def test_matches_the_loop(shape, base):
    P = sinusoidal(*shape, base=base)
    assert P.shape == shape and P.dtype == np.float64
    np.testing.assert_allclose(P, paper_loop(*shape, base), rtol=0, atol=1e-12)


def test_matches_distilbert():
    """DistilBERT interleaves sine and cosine, as the paper does."""
    torch = pytest.importorskip("torch")
    modeling = pytest.importorskip("transformers.models.distilbert.modeling_distilbert")
    out = torch.nn.Parameter(torch.empty(128, 64))
    modeling.create_sinusoidal_embeddings(n_pos=128, dim=64, out=out)
    np.testing.assert_allclose(sinusoidal(128, 64), out.detach().numpy(), atol=1e-6)


def test_matches_marian_up_to_the_order_of_columns():
    """Marian puts all sines first: the same columns in another order."""
    torch = pytest.importorskip("torch")
    modeling = pytest.importorskip("transformers.models.marian.modeling_marian")
    layer = modeling.MarianSinusoidalPositionalEmbedding(128, 64)
    table = layer.create_weight() if hasattr(layer, "create_weight") else layer.weight
    table = (layer.weight if table is None else table).detach().to(torch.float64).numpy()
    P = sinusoidal(128, 64)
    np.testing.assert_allclose(np.hstack([P[:, 0::2], P[:, 1::2]]), table, atol=1e-6)


@pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, "4", None, True, np.nan])
@pytest.mark.parametrize("name", ["n_positions", "d_model"])
def test_bad_sizes_are_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be a positive integer"):
        sinusoidal(**({"n_positions": 4, "d_model": 4} | {name: value}))


@pytest.mark.parametrize("base", [0, -1.0, np.nan, np.inf, "10000", None, 1j])
def test_bad_base_is_named(base):
    with pytest.raises(ValueError, match="^base must be"):
        sinusoidal(4, 4, base=base)


def test_numpy_integers_are_integers():
    assert sinusoidal(np.int64(3), np.int32(4)).shape == (3, 4)


def test_gpt2_lookup_is_row_indexing():
    """What `transformers` adds for positions 0 to n - 1 is the first n rows of its table."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        vocab_size=11, n_positions=16, n_embd=8, n_layer=1, n_head=2, embd_pdrop=0.0
    )
    model = transformers.GPT2Model(config).eval()
    seen = {}
    model.drop.register_forward_hook(lambda module, args, out: seen.update(sum=args[0]))
    tokens = torch.tensor([[3, 3, 7, 1, 3]])
    with torch.no_grad():
        model(tokens)
        expected = model.wte.weight[tokens] + model.wpe.weight[:5]
    torch.testing.assert_close(seen["sum"], expected)
