"""The course's own model: what is shipped holds what the book says, and training reproduces."""

import csv
import hashlib
import json
import math
import platform
import signal

import numpy as np
import pytest
from safetensors.numpy import load_file

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from posembed import train

SHIPPED = ["config.json", "experiments.csv", "model.safetensors", "runs.csv", "settings.json",
           "wpe_snapshots.safetensors"]  # fmt: skip


def read_csv(name):
    """Return a shipped table as a list of dictionaries of strings."""
    with open(train.COURSE / name, newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


@pytest.fixture(scope="module")
def settings():
    return json.loads((train.COURSE / "settings.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def snapshots():
    return load_file(train.COURSE / "wpe_snapshots.safetensors")


@pytest.fixture(scope="module")
def runs():
    return read_csv("runs.csv")


def last_losses(runs, variant):
    """Return the final held-out loss of each seed of a variant."""
    final = {row["run"]: float(row["heldout_loss"]) for row in runs}
    return np.array([loss for run, loss in final.items() if run.rsplit("-", 1)[0] == variant])


# --- what is shipped --------------------------------------------------------------------------


def test_files_are_complete_and_small():
    assert sorted(f.name for f in train.COURSE.iterdir() if f.name != "__pycache__") == SHIPPED
    assert (train.COURSE / "model.safetensors").stat().st_size <= 2e6
    assert (train.COURSE / "wpe_snapshots.safetensors").stat().st_size <= 1e6


def test_no_path_of_a_machine():
    for name in SHIPPED:
        if name.endswith((".json", ".csv")):
            text = (train.COURSE / name).read_text(encoding="utf-8")
            for part in ("/home", "/root", "/tmp", "/Users", "/work", "C:\\"):
                assert part not in text, (name, part)


@pytest.mark.parametrize("kind", ["GPT2Model", "GPT2LMHeadModel"])
def test_checkpoint_loads(kind, settings, snapshots):
    """The table that transformers reads is the last snapshot, and every output is finite."""
    import transformers

    model, info = getattr(transformers, kind).from_pretrained(
        train.COURSE, local_files_only=True, output_loading_info=True
    )
    assert not info["missing_keys"] and not info["unexpected_keys"]
    assert model.dtype == torch.float32  # as settings.json says, although the file has float16
    wpe = model.get_parameter("wpe.weight" if kind == "GPT2Model" else "transformer.wpe.weight")
    assert np.array_equal(wpe.detach().numpy(), snapshots["wpe"][-1].astype(np.float32))
    tokens = torch.tensor([list(b"The position of a word in a sentence")])
    with torch.no_grad():
        assert torch.isfinite(model(input_ids=tokens)[0]).all()


def test_checkpoint_is_half_precision():
    weights = load_file(train.COURSE / "model.safetensors")
    assert {value.dtype for value in weights.values()} == {np.dtype(np.float16)}
    assert "wpe.weight" in weights and "h.0.attn.c_attn.weight" in weights  # as on the hub


def test_snapshots(settings, snapshots):
    """The positions were learned: neighbours start unrelated and end alike."""
    steps, wpe = snapshots["steps"], snapshots["wpe"]
    assert wpe.dtype == np.float16
    assert wpe.shape == (len(steps), settings["settings"]["n_positions"],
                         settings["settings"]["d_model"])  # fmt: skip
    assert steps[0] == 0 and steps[-1] == settings["settings"]["steps"]
    assert (np.diff(steps) > 0).all()
    assert abs(train.neighbour_cosine(wpe[0])) < 0.05
    assert train.neighbour_cosine(wpe[-1]) > 0.9
    assert train.neighbour_cosine(wpe[-1], centred=True) > 0.9


def test_neighbour_cosine_of_all_rows(snapshots):
    """Above .9 even with the untrained last row counted."""
    rows = snapshots["wpe"][-1].astype(np.float64)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert (unit[:-1] * unit[1:]).sum(axis=1).mean() > 0.9


def test_runs_are_complete(runs, settings):
    seeds = settings["settings"]["seeds"]
    assert len(seeds) == 3
    wanted = {f"{variant}-{seed}" for variant in train.VARIANTS for seed in seeds}
    assert {row["run"] for row in runs} == wanted == set(settings["runs"])
    steps = train.evaluation_steps(settings["settings"])
    for run in wanted:
        assert [int(row["step"]) for row in runs if row["run"] == run] == steps


def test_learned_beats_none(runs):
    """The worst seed with learned positions is better than the best without, by far."""
    learned, none = last_losses(runs, "learned"), last_losses(runs, "none")
    assert learned.max() < none.min()
    spread = max(np.ptp(learned), np.ptp(none))
    assert none.mean() - learned.mean() > 2 * spread


def test_last_row_follows_the_update_rule(runs, settings):
    """Where no gradient ever came, only decay acts; the prediction is worked out here anew."""
    s = settings["settings"]

    def rate(step):
        if step < s["warmup"]:
            return s["lr"] * (step + 1) / s["warmup"]
        done = (step - s["warmup"]) / (s["steps"] - s["warmup"])
        return s["lr"] * (1 + math.cos(math.pi * done)) / 2

    rates = np.array([rate(step) for step in range(s["steps"])])
    first = {row["run"]: float(row["last_row_norm"]) for row in runs if row["step"] == "0"
             and row["scheme"] == "learned"}  # fmt: skip
    assert len(first) == 6
    for row in runs:
        if row["scheme"] == "learned":
            factor = np.prod(1 - rates[: int(row["step"])] * float(row["wpe_decay"]))
            assert float(row["last_row_norm"]) == pytest.approx(
                first[row["run"]] * factor, rel=1e-4
            )
            assert float(row["last_row_predicted"]) == pytest.approx(
                first[row["run"]] * factor, rel=1e-5
            )
    decays = {float(row["wpe_decay"]) for row in runs if row["scheme"] == "learned"}
    assert 0.0 in decays and len(decays) == 2


def test_experiments(settings):
    rows = read_csv("experiments.csv")
    s = settings["settings"]
    count = {}
    for row in rows:
        assert math.isfinite(float(row["heldout_loss"]))
        key = row["run"].rsplit("-", 1)[0], row["experiment"]
        count[key] = count.get(key, 0) + 1
    for variant in train.VARIANTS:
        assert count[variant, "window"] == 3 * s["window"]
    assert count["sinusoid", "beyond"] == count["none", "beyond"] == 3 * 2 * s["window"]
    assert ("learned", "beyond") not in count  # a table has no row there
    damage = {
        kind: np.mean([float(r["heldout_loss"]) for r in rows if r["scheme"] == "learned"
                       and r["experiment"] == f"damage:{kind}"])
        for kind in ("intact", "permuted", "reversed", "averaged", "zeroed")
    }  # fmt: skip
    assert damage["intact"] < min(v for kind, v in damage.items() if kind != "intact")


def test_text_is_the_recorded_one(settings):
    """Another Python may bring another text; the same Python must not."""
    text = settings["text"]
    if platform.python_version() != text["python"]:
        pytest.skip(f"recorded with Python {text['python']}")
    assert hashlib.sha256(train.read_text()).hexdigest() == text["sha256"]


def test_shipped_settings_are_the_programs(settings):
    assert settings["settings"] == train.SETTINGS
    assert settings["tried"] == train.TRIED


# --- training ---------------------------------------------------------------------------------


def quick(folder, *options, jobs=1):
    """Train tiny models into a folder; return the exit code."""
    return train.main(["--quick", "--out", str(folder / "out"), "--work", str(folder / "work"),
                       "--jobs", str(jobs), *options])  # fmt: skip


def contents(folder):
    """Return what was written, without how long it took."""
    files = {f.name: f.read_bytes() for f in (folder / "out").iterdir()}
    recorded = json.loads(files.pop("settings.json"))
    recorded["runs"] = sorted(recorded["runs"])
    return files | {"settings": recorded}


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    assert quick(folder) == 0
    return contents(folder)


def test_training_is_deterministic(reference, tmp_path):
    assert set(reference) == set(SHIPPED) - {"settings.json"} | {"settings"}
    assert quick(tmp_path) == 0
    assert contents(tmp_path) == reference


@pytest.mark.parametrize("how", ["ctrl-c", "crash"])
def test_resumed_equals_uninterrupted(how, reference, tmp_path, monkeypatch, capsys):
    """Ctrl-C in the second run, or a crash between two kept states of the first."""
    if how == "ctrl-c":
        evaluate, calls = train.losses_by_position, []

        def interrupted(*arguments):
            calls.append(1)
            if len(calls) == 13:  # the first run needs 10 calls, so this is in mid-run
                signal.raise_signal(signal.SIGINT)
            return evaluate(*arguments)

        monkeypatch.setattr(train, "losses_by_position", interrupted)
        assert quick(tmp_path) == 130
        assert "--resume" in capsys.readouterr().err
    else:
        rate = train.learning_rate

        def crashing(step, settings):
            if step == 9:
                raise MemoryError
            return rate(step, settings)

        monkeypatch.setattr(train, "learning_rate", crashing)
        with pytest.raises(MemoryError):
            quick(tmp_path)
    monkeypatch.undo()
    assert not (tmp_path / "out").exists()
    with pytest.raises(SystemExit, match="--resume"):  # nothing kept is lost by forgetting it
        quick(tmp_path)
    assert quick(tmp_path, "--resume") == 0
    assert contents(tmp_path) == reference


def test_other_processes_give_the_same(reference, tmp_path):
    assert quick(tmp_path, "--only", "ship", jobs=2) == 0
    written = contents(tmp_path)
    for name in ("config.json", "model.safetensors", "wpe_snapshots.safetensors"):
        assert written[name] == reference[name]
    assert reference["runs.csv"].startswith(written["runs.csv"])


def test_results_of_another_text_are_kept(reference, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    file = tmp_path / "out" / "settings.json"
    file.write_text(json.dumps(reference["settings"]), encoding="utf-8")
    with pytest.raises(SystemExit, match="would not train"):
        quick(tmp_path, "--only", "ship")
    monkeypatch.setattr(train, "read_text", lambda: b"another text")
    with pytest.raises(SystemExit, match="another text"):
        quick(tmp_path)


def test_quick_never_writes_into_the_package():
    with pytest.raises(SystemExit):
        train.main(["--quick"])


def test_the_untouched_row_has_no_gradient():
    """The premise of the last row's story: a window one shorter than the table never uses it."""
    settings = train.QUICK
    model = train.build_model("learned", 0, settings)
    data, _ = train.split_text(train.read_text(), settings)
    inputs, _ = train.windows(data, [0, 50], settings["window"])
    model(input_ids=inputs).logits.sum().backward()
    gradient = model.transformer.wpe.weight.grad
    assert (gradient[-1] == 0).all() and (gradient[:-1] != 0).any(dim=1).all()


def test_held_out_text_is_not_trained_on():
    text = bytes(range(200)) * 5
    first, rest = train.split_text(text, train.SETTINGS)
    assert [*first, *rest] == list(text)
    assert len(rest) == 100


def test_windows_shift_by_one_byte():
    inputs, targets = train.windows(np.arange(50), [0, 7], 5)
    assert inputs.tolist() == [[0, 1, 2, 3, 4], [7, 8, 9, 10, 11]]
    assert torch.equal(targets, inputs + 1)
