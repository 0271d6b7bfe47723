"""The course's model stands in for GPT-2 where that can't be had: never silently, never mixed."""

from types import SimpleNamespace

import numpy as np
import pytest

from posembed import WeightsError, fallback, load_config, load_tensor, load_wpe, weights

SHAPE = tuple(fallback.config()[key] for key in ("n_positions", "n_embd"))


@pytest.fixture(autouse=True)
def fresh(own_caches, monkeypatch):
    """Each test is a new process that has no GPT-2: no file, no cache, no network."""
    monkeypatch.delenv("POSEMBED_MODEL", raising=False)
    monkeypatch.setattr(weights, "_served", [])
    monkeypatch.setattr(fallback.notice, "shown", [])
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture
def gpt2(monkeypatch):
    """Stand-in tensors under GPT-2's names: returns {name: array} and what `_find` then serves."""
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=shape).astype("<f4") for name, (shape, _) in SMALL.items()}
    monkeypatch.setattr(weights, "TENSORS", SMALL)
    monkeypatch.setattr(weights, "_find", lambda name, file: arrays[name].tobytes())
    return arrays


SMALL = {"wpe.weight": ((6, 4), ""), "h.0.ln_1.weight": ((4,), "")}


def test_it_says_so_once_and_what_to_do():
    with pytest.warns(UserWarning, match="This is not GPT-2") as caught:
        table = load_wpe()
        load_tensor("h.0.ln_1.weight")
    assert table.shape == SHAPE and table.dtype == np.float32
    (message,) = (str(warning.message) for warning in caught)
    assert "POSEMBED_GPT2" in message and "HF_HUB_OFFLINE" in message and str(SHAPE[0]) in message
    assert load_config() == {"model": "course model", "n_head": 4, "layer_norm_epsilon": 1e-5}


def test_in_a_notebook_it_is_a_banner_in_each_cell_that_asks(monkeypatch):
    """A cell that is run again loses its output; one that only runs a check needs no banner."""
    shown, shell = [], SimpleNamespace(user_ns={"In": ["", "check(1)"]}, execution_count=1)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.setattr("IPython.display.display", shown.append)
    load_wpe()
    (banner,) = shown
    assert 'role="alert"' in banner.data and "This is not GPT-2" in banner.data
    for number, cell, banners in [
        (2, "check(2)", 1),
        (3, "W = load_wpe()", 2),
        (4, "load_wpe()", 3),
    ]:
        shell.user_ns["In"].append(cell)
        shell.execution_count = number
        load_wpe()
        load_wpe()
        assert len(shown) == banners


def test_a_file_that_is_named_too_late_is_an_error(monkeypatch):
    with pytest.warns(UserWarning, match="restart Python"):
        load_wpe()
    monkeypatch.setenv("POSEMBED_GPT2", "model.safetensors")
    with pytest.raises(WeightsError, match="Restart Python"):
        load_wpe()


def test_code_that_must_have_gpt2_gets_an_error(monkeypatch):
    with pytest.raises(WeightsError, match="POSEMBED_GPT2"):
        load_wpe(fallback=False)
    monkeypatch.setenv("POSEMBED_MODEL", "gpt2")
    with pytest.raises(WeightsError, match="POSEMBED_GPT2"):
        load_wpe()


def test_a_file_that_was_named_must_do(tmp_path, monkeypatch):
    with pytest.raises(WeightsError, match="no file"):
        load_wpe(tmp_path / "missing")
    monkeypatch.setenv("POSEMBED_GPT2", str(tmp_path / "missing"))
    with pytest.raises(WeightsError, match="no file"):
        load_wpe()


def test_it_can_be_chosen(gpt2, monkeypatch):
    monkeypatch.setenv("POSEMBED_MODEL", "course")
    with pytest.warns(UserWarning, match="POSEMBED_MODEL is set to course"):
        assert load_wpe().shape == SHAPE
    np.testing.assert_array_equal(load_wpe(fallback=False), gpt2["wpe.weight"])


def test_a_wrong_choice_is_named(monkeypatch):
    monkeypatch.setenv("POSEMBED_MODEL", "gpt3")
    with pytest.raises(ValueError, match="POSEMBED_MODEL must be one of gpt2, course"):
        load_wpe()


def test_two_models_never_mix(gpt2, monkeypatch):
    """Once a tensor of one model is out, all others come from that model or not at all."""
    load_wpe()

    def unreachable(name, file):
        raise WeightsError("not to be had")

    monkeypatch.setattr(weights, "_find", unreachable)
    with pytest.raises(WeightsError, match="not to be had"):
        load_tensor("h.0.ln_1.weight")
    assert load_config()["model"] == "GPT-2"


def test_once_it_stands_in_it_stays(monkeypatch):
    with pytest.warns(UserWarning):
        load_wpe()
    monkeypatch.setattr(weights, "_find", lambda name, file: pytest.fail("GPT-2 came back"))
    assert load_tensor("h.0.attn.c_attn.weight").shape == (SHAPE[1], 3 * SHAPE[1])


@pytest.mark.parametrize("name", weights.TENSORS)
def test_it_has_every_tensor_that_the_chapters_use(name, monkeypatch):
    monkeypatch.setenv("POSEMBED_MODEL", "course")
    gpt2_shape, d_gpt2 = weights.TENSORS[name][0], 768
    expected = tuple(SHAPE[0] if size == 1024 else size * SHAPE[1] // d_gpt2 for size in gpt2_shape)
    with pytest.warns(UserWarning):
        tensor = load_tensor(name)
    assert tensor.shape == expected and np.isfinite(tensor).all()
