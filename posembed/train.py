"""Train the course's own small GPT, and run the experiments that chapter 7 tells of.

``python -m posembed.train`` trains every run on the CPU and writes what `posembed.course` ships:
a checkpoint in the hub's layout, snapshots of its position table, and the losses of all runs. The
text is the help of the running Python (`pydoc_data.topics`), one token per byte, so that nothing
has to be fetched. ``--help`` tells of the options.
"""

import argparse
import csv
import hashlib
import json
import math
import multiprocessing
import os
import platform
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from posembed.encodings import sinusoidal
from posembed.similarity import mean_by_lag
from posembed.weights import cache_folder

COURSE = Path(__file__).parent / "course"  # what is shipped

SETTINGS = {
    "n_positions": 128,  # rows of the table
    "window": 127,  # inputs of one sequence: a chunk of 128 bytes has 127, so row 127 sees no use
    "d_model": 64,
    "n_layer": 2,
    "n_head": 4,
    "steps": 1500,
    "batch": 16,  # windows per step
    "lr": 3e-3,  # peak of the schedule
    "warmup": 100,  # steps
    "beta2": 0.99,
    "clip": 1.0,
    "weight_decay": 0.1,  # on the matrices, none on biases and LayerNorms
    "wpe_decay": 1.0,  # instead, on wpe: an untrained row shrinks to a tenth
    "wpe_std": 0.01,  # of wpe's first values, as in OpenAI's code; the rest as in transformers
    "sinusoid_scale": 0.05,  # rows of norm .28; the learned ones end between .08 and .52
    "heldout": 0.1,  # share of the text, at its end
    "stride": 64,  # bytes between the windows of the final evaluation
    "evaluations": 18,
    "seeds": [0, 1, 2],
}
QUICK = SETTINGS | {
    "n_positions": 16, "window": 15, "d_model": 16, "n_layer": 1, "steps": 12, "batch": 4,
    "warmup": 2, "heldout": 0.002, "evaluations": 4, "seeds": [0],
}  # fmt: skip

# variant: (scheme, share of wpe_decay). The order is the order of training.
VARIANTS = {
    "learned": ("learned", 1.0),
    "none": ("none", 0.0),
    "sinusoid": ("sinusoid", 0.0),
    "learned-nodecay": ("learned", 0.0),
}
SHIP = "learned-0"  # the run whose model is shipped

# One run of seed 0 each, before SETTINGS stood; cosine: neighbouring rows in use, final (centred).
TRIED = [
    "d 96, 3 layers, batch 16, lr 2e-3, wpe_std .002, wpe_decay .1, 1000 steps: learned 1.539, "
    "cosine .852 (.806)",
    "the same with wpe_decay 1: learned 1.554, cosine .893 (.847); rows near the table's middle "
    "are short and stay noisy, so decay and more steps help; wpe_decay 1 kept",
    "d 64, 2 layers (less than half the time per step, kept), batch 16, lr 3e-3, wpe_std .01 as "
    "in OpenAI's code, wpe_decay 1, 700 steps: learned 1.882, cosine .809 (.779); none 2.113; "
    "sinusoid_scale .05: 1.985, .3: 2.035; .05 kept, no third scale tried",
    "the same, 2000 steps: learned 1.419, cosine .972 (.955); too long for all runs in one sitting",
    "the same, batch 8, 1700 steps: learned 1.632, cosine .931 (.889); batch 16 kept",
]


# --- text -----------------------------------------------------------------------------------


def read_text():
    """Return the training text as bytes: every help topic of this Python, in alphabetical order."""
    from pydoc_data.topics import topics

    return "".join(topics[name] for name in sorted(topics)).encode()


def split_text(text, settings):
    """Return the text's two parts, for training and held out, as int64 arrays of byte values."""
    data = np.frombuffer(text, dtype=np.uint8).astype(np.int64)
    n_train = len(data) - round(len(data) * settings["heldout"])
    return data[:n_train], data[n_train:]


def windows(data, starts, length):
    """Return inputs and targets, each (n_windows, length): the targets are one byte later."""
    chunk = torch.from_numpy(data[np.asarray(starts)[:, np.newaxis] + np.arange(length + 1)])
    return chunk[:, :-1], chunk[:, 1:]


# --- model ----------------------------------------------------------------------------------


def build_model(scheme, seed, settings):
    """Return a fresh ``GPT2LMHeadModel`` whose position table is filled as the scheme says.

    Parameters
    ----------
    scheme : {"learned", "sinusoid", "none"}
        Small Gaussian values that are trained; the scaled sinusoid, fixed; zeros, fixed.
    seed : int
        All weights but the table are the same for every scheme with this seed.
    settings : dict
        As `SETTINGS`.
    """
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(seed)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=256,
            n_positions=settings["n_positions"],
            n_embd=settings["d_model"],
            n_layer=settings["n_layer"],
            n_head=settings["n_head"],
            activation_function="gelu_pytorch_tanh",  # GPT-2's gelu_new, computed faster
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=None,
            eos_token_id=None,
        )
    )
    shape = settings["n_positions"], settings["d_model"]
    if scheme == "learned":
        table = np.random.default_rng([seed, 1]).normal(scale=settings["wpe_std"], size=shape)
    else:
        table = fixed_table(scheme, settings["n_positions"], settings)
    set_table(model, table)
    model.transformer.wpe.weight.requires_grad_(scheme == "learned")
    return model


def fixed_table(scheme, n_positions, settings):
    """Return the table of a scheme that is defined for any number of positions."""
    scale = settings["sinusoid_scale"] if scheme == "sinusoid" else 0.0
    return scale * sinusoidal(n_positions, settings["d_model"])


def set_table(model, table):
    """Give the model this position table, (n_positions, d_model), of whatever length."""
    weight = torch.tensor(np.array(table, dtype=np.float32))  # a copy, whatever the strides
    model.transformer.wpe = torch.nn.Embedding.from_pretrained(weight)


def table_of(model):
    """Return a copy of the model's position table, (n_positions, d_model), float32."""
    return model.transformer.wpe.weight.detach().numpy().copy()


def losses_by_position(model, data, length, stride):
    """Return the mean loss at each position, (length,), float64, in nats per byte.

    The windows start every `stride` bytes.
    """
    starts = np.arange(0, len(data) - length, stride)
    total = torch.zeros(length, dtype=torch.float64)
    with torch.no_grad():
        for some in np.array_split(starts, -(-len(starts) // 64)):
            inputs, targets = windows(data, some, length)
            logits = model(input_ids=inputs, use_cache=False).logits
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
            total += loss.view(inputs.shape).double().sum(0)
    return (total / len(starts)).numpy()


# --- one run --------------------------------------------------------------------------------


def learning_rate(step, settings):
    """Return the learning rate of one step (the first is 0): linear warm-up, then a cosine to 0."""
    if step < settings["warmup"]:
        return settings["lr"] * (step + 1) / settings["warmup"]
    done = (step - settings["warmup"]) / max(1, settings["steps"] - settings["warmup"])
    return settings["lr"] * 0.5 * (1 + math.cos(math.pi * done))


def decay_factor(step, wpe_decay, settings):
    """Return what decay alone leaves of an untouched row's norm after so many steps.

    AdamW multiplies a weight by ``1 - lr * decay`` and then takes Adam's step, which is exactly 0
    for an entry whose gradient has always been 0 (Loshchilov and Hutter, 2019, algorithm 2).
    """
    return math.prod(1 - learning_rate(k, settings) * wpe_decay for k in range(step))


def evaluation_steps(settings):
    """Return the steps after which a run is evaluated and its table kept: denser early."""
    n = settings["evaluations"]
    return sorted({round(settings["steps"] * (k / n) ** 2) for k in range(n + 1)})


def neighbour_cosine(table, centred=False):
    """Return the mean cosine between neighbouring rows among those in use (all but the last).

    Centred, the rows' mean is taken off first: what is left differs between positions.
    """
    rows = np.asarray(table, dtype=np.float64)[:-1]
    if centred:
        rows = rows - rows.mean(axis=0)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return float(mean_by_lag(unit @ unit.T)[1])


def make_optimizer(model, wpe_decay, settings):
    """Return AdamW with decay on matrices, `wpe_decay` on wpe, none on biases and LayerNorms."""
    wpe = model.transformer.wpe.weight
    rest = [p for p in model.parameters() if p is not wpe and p.requires_grad]
    groups = [
        {"params": [p for p in rest if p.ndim > 1], "weight_decay": settings["weight_decay"]},
        {"params": [p for p in rest if p.ndim == 1], "weight_decay": 0.0},
    ]
    if wpe.requires_grad:
        groups.append({"params": [wpe], "weight_decay": wpe_decay})
    return torch.optim.AdamW(groups, betas=(0.9, settings["beta2"]))


def train_run(name, text, settings, work, stop, report):
    """Train one run, or go on with it, and leave its state in ``work/NAME.pt``.

    Parameters
    ----------
    name : str
        ``VARIANT-SEED``, such as ``"learned-0"``.
    text : bytes
        The whole text.
    settings : dict
        As `SETTINGS`.
    work : Path
        Folder of the states. A state that is there is gone on with.
    stop : Event
        Once it is set, the run keeps its state after the step at hand and returns.
    report : callable
        Is given the number of steps done, after every step.
    """
    variant, seed = name.rsplit("-", 1)
    scheme, share = VARIANTS[variant]
    seed, wpe_decay = int(seed), share * settings["wpe_decay"]
    train, heldout = split_text(text, settings)
    window, n_steps = settings["window"], settings["steps"]
    marks = evaluation_steps(settings)

    model = build_model(scheme, seed, settings)
    optimizer = make_optimizer(model, wpe_decay, settings)
    state = load_state(work, name) or {
        "fingerprint": fingerprint(text, settings), "step": 0, "sum": 0.0, "since": 0,
        "curve": [], "tables": [], "seconds": 0.0, "done": False,
    }  # fmt: skip
    if state["step"]:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    began = time.monotonic() - state["seconds"]

    def keep():
        state["model"], state["optimizer"] = model.state_dict(), optimizer.state_dict()
        state["seconds"] = time.monotonic() - began
        store_state(state, work, name)

    def evaluate(step):
        table = table_of(model)
        norm = float(np.linalg.norm(table[-1].astype(np.float64)))
        first = state["curve"][0]["last_row_norm"] if state["curve"] else norm
        learned = scheme == "learned"
        state["curve"].append({
            "step": step,
            "bytes": step * settings["batch"] * window,
            "train_loss": state["sum"] / state["since"] if state["since"] else None,
            "heldout_loss": losses_by_position(model, heldout, window, window + 1).mean().item(),
            "neighbour_cosine": neighbour_cosine(table) if learned else None,
            "neighbour_cosine_centred": neighbour_cosine(table, True) if learned else None,
            "last_row_norm": norm if learned else None,
            "last_row_predicted":
                first * decay_factor(step, wpe_decay, settings) if learned else None,
        })  # fmt: skip
        state["sum"], state["since"] = 0.0, 0
        if scheme == "learned":
            state["tables"].append(torch.from_numpy(table))

    if not state["curve"]:
        evaluate(0)
    for step in range(state["step"], n_steps):
        if stop.is_set():
            keep()
            return
        rng = np.random.default_rng([seed, 2, step])  # nothing to remember between steps
        starts = rng.integers(0, len(train) - window, size=settings["batch"])
        inputs, targets = windows(train, starts, window)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, settings)
        logits = model(input_ids=inputs, use_cache=False).logits
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings["clip"])
        optimizer.step()
        state["sum"], state["since"] = state["sum"] + loss.item(), state["since"] + 1
        state["step"] = step + 1
        if step + 1 in marks:
            evaluate(step + 1)
            keep()
        report(step + 1)
    if not state["done"]:
        state["results"] = final_results(model, scheme, seed, heldout, settings)
        state["done"] = True
        keep()


def final_results(model, scheme, seed, heldout, settings):
    """Return the trained model's held-out losses as (experiment, position or None, loss) rows.

    ``window`` is the loss at each position of the training window, ``beyond`` the loss at each
    position of a window twice as long, where the scheme is defined there. ``damage:...`` is the
    loss over the whole window after the rows in use (the last is not) have been tampered with.
    """
    window, stride = settings["window"], settings["stride"]
    table = table_of(model)

    def loss(some_table, length=window):
        set_table(model, some_table)
        return losses_by_position(model, heldout, length, stride)

    intact = loss(table)
    rows = [("window", t, value) for t, value in enumerate(intact)]
    if scheme != "learned":
        longer = fixed_table(scheme, 2 * window, settings)
        rows += [("beyond", t, value) for t, value in enumerate(loss(longer, 2 * window))]
    else:
        used = table[:window]
        rng = np.random.default_rng([seed, 3])
        damaged = {
            "permuted": used[rng.permutation(window)],
            "reversed": used[::-1].copy(),
            "averaged": np.tile(used.mean(axis=0), (window, 1)),
            "zeroed": np.zeros_like(used),
        }
        rows.append(("damage:intact", None, intact.mean()))
        rows += [(f"damage:{key}", None, loss(rows_).mean()) for key, rows_ in damaged.items()]
    set_table(model, table)
    return [(experiment, position, float(value)) for experiment, position, value in rows]


# --- states of the runs, in the work folder ---------------------------------------------------


def fingerprint(text, settings):
    """Return what must agree before a run may be gone on with."""
    sha = hashlib.sha256(text).hexdigest()
    return json.dumps([settings, sha, torch.__version__, platform.python_version()])


def load_state(work, name):
    """Return the state of a run, or None if there is none."""
    file = work / f"{name}.pt"
    return torch.load(file, weights_only=True) if file.is_file() else None


def store_state(state, work, name):
    """Write the state of a run in one step, so that an interruption leaves the last one whole."""
    temporary = work / f"{name}.pt.part"
    torch.save(state, temporary)
    os.replace(temporary, work / f"{name}.pt")


# --- all runs ---------------------------------------------------------------------------------


class Progress:
    """One line on a terminal, or a line a minute elsewhere: share done, and the time left."""

    def __init__(self, done, total):
        self.begin, self.total, self.last = sum(done), total, -math.inf
        self.began = time.monotonic()
        self.live = sys.stderr.isatty()

    def show(self, done, n_done, n_runs):
        """Write the line, unless the last one is too recent."""
        now = time.monotonic()
        if now - self.last < (0.5 if self.live else 60):
            return
        self.last, steps = now, sum(done)
        left = "?"
        if steps > self.begin:
            seconds = (now - self.began) * (self.total - steps) / (steps - self.begin)
            left = f"{seconds // 60:.0f}:{seconds % 60:02.0f}"
        line = (
            f"{steps / self.total:4.0%}, {steps} of {self.total} steps, "
            f"{n_done} of {n_runs} runs done, {left} min left"
        )
        print(f"\r{line}\x1b[K" if self.live else line, end="" if self.live else "\n",
              file=sys.stderr, flush=True)  # fmt: skip

    def close(self):
        """Leave the line."""
        if self.live:
            print(file=sys.stderr)


def _child(name, settings, work, stop, counts, i):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop, through `stop`
    torch.set_num_threads(1)

    def report(step):
        counts[i] = step

    train_run(name, read_text(), settings, work, stop, report)


def train_all(names, text, settings, work, jobs):
    """Train the runs, `jobs` at a time. Ctrl-C keeps every state, then KeyboardInterrupt.

    Each run has one thread, so the results do not depend on `jobs`.
    """
    states = [load_state(work, name) for name in names]
    counts = [state["step"] if state else 0 for state in states]
    pending = [i for i, state in enumerate(states) if not (state and state["done"])]
    progress = Progress(counts, len(names) * settings["steps"])
    if jobs == 1:
        stop = threading.Event()
        with interrupt_sets(stop):
            for n_done, i in enumerate(pending, start=len(names) - len(pending)):

                def report(step, i=i, n_done=n_done):
                    counts[i] = step
                    progress.show(counts, n_done, len(names))

                train_run(names[i], text, settings, work, stop, report)
                if stop.is_set():
                    break
    else:
        _train_in_processes(names, pending, counts, settings, work, jobs, progress)
        return
    progress.close()
    if stop.is_set():
        raise KeyboardInterrupt


def _train_in_processes(names, pending, counts, settings, work, jobs, progress):
    context = multiprocessing.get_context("spawn")
    stop, counts = context.Event(), context.Array("i", counts)
    running, waiting, failed = [], list(pending), False
    with interrupt_sets(stop):
        while running or (waiting and not stop.is_set()):
            while waiting and len(running) < jobs and not stop.is_set():
                i = waiting.pop(0)
                arguments = (names[i], settings, work, stop, counts, i)
                child = context.Process(target=_child, args=arguments)
                handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child inherits it
                child.start()
                signal.signal(signal.SIGINT, handler)
                running.append(child)
            time.sleep(0.2)
            for child in [child for child in running if not child.is_alive()]:
                running.remove(child)
                if child.exitcode and not stop.is_set():
                    failed = True
                    stop.set()
            if not stop.is_set():
                progress.show(counts[:], len(names) - len(waiting) - len(running), len(names))
    progress.close()
    if failed:
        raise SystemExit("A run failed; its error stands above. --resume goes on with the rest.")
    if stop.is_set():
        raise KeyboardInterrupt


class interrupt_sets:
    """While it lasts, Ctrl-C sets an event instead of raising KeyboardInterrupt."""

    def __init__(self, event):
        self.event = event

    def __enter__(self):
        self.old = signal.signal(signal.SIGINT, lambda *_: self.event.set())

    def __exit__(self, *_):
        signal.signal(signal.SIGINT, self.old)


# --- what is shipped --------------------------------------------------------------------------


def write_results(names, text, settings, work, out):
    """Write the files of the folder `out` from the finished states."""
    states = {name: load_state(work, name) for name in names}
    out.mkdir(parents=True, exist_ok=True)
    loss = write_model(states[SHIP], text, settings, out)
    write_snapshots(states[SHIP], out)

    curves, results = [], []
    for name, state in states.items():
        variant, seed = name.rsplit("-", 1)
        run = {"run": name, "scheme": VARIANTS[variant][0],
               "wpe_decay": VARIANTS[variant][1] * settings["wpe_decay"], "seed": seed}  # fmt: skip
        curves += [run | point for point in state["curve"]]
        results += [
            run | {"experiment": experiment, "position": position, "heldout_loss": value}
            for experiment, position, value in state["results"]
        ]
    write_csv(curves, out / "runs.csv")
    write_csv(results, out / "experiments.csv")
    train, heldout = split_text(text, settings)
    write_json(
        {
            "text": {
                "source": "pydoc_data.topics, all topics in alphabetical order, UTF-8",
                "python": platform.python_version(),
                "sha256": hashlib.sha256(text).hexdigest(),
                "bytes": len(text),
                "train_bytes": len(train),
                "heldout_bytes": len(heldout),
            },
            "settings": settings,
            "variants": {
                variant: {"scheme": scheme, "wpe_decay": share * settings["wpe_decay"]}
                for variant, (scheme, share) in VARIANTS.items()
            },
            "runs": {name: {"seconds": round(state["seconds"])} for name, state in states.items()},
            "shipped": {
                "run": SHIP,
                "step": settings["steps"],
                "parameters": sum(p.numel() for p in build_model("none", 0, settings).parameters()),
                "model.safetensors": "float16, GPT-2's names; config.json asks for float32",
                "wpe_snapshots.safetensors": "float16",
                "heldout_loss_float16": loss,
            },
            "versions": versions(),
            "threads_per_run": 1,
            "tried": TRIED,
        },
        out / "settings.json",
    )


def write_model(state, text, settings, out):
    """Write the checkpoint, and return the held-out loss of the model that is read back."""
    from safetensors.torch import save
    from transformers import GPT2LMHeadModel
    from transformers.utils import logging

    model = build_model("none", 0, settings)
    model.load_state_dict(state["model"])
    weights = {
        name: value.to(torch.float16).contiguous()
        for name, value in model.transformer.state_dict().items()
    }
    (out / "model.safetensors").write_bytes(save(weights, metadata={"format": "pt"}))
    config = model.config.to_diff_dict()
    config = config | {"architectures": ["GPT2LMHeadModel"], "dtype": "float32"}
    write_json(config, out / "config.json")
    logging.disable_progress_bar()
    shipped = GPT2LMHeadModel.from_pretrained(out, local_files_only=True)
    _, heldout = split_text(text, settings)
    window = settings["window"]
    return losses_by_position(shipped.eval(), heldout, window, window + 1).mean().item()


def write_snapshots(state, out):
    """Write ``steps`` (n,) int64 and ``wpe`` (n, n_positions, d_model) float16."""
    from safetensors.numpy import save

    steps = np.array([point["step"] for point in state["curve"]], dtype=np.int64)
    wpe = torch.stack(state["tables"]).numpy().astype(np.float16)
    (out / "wpe_snapshots.safetensors").write_bytes(save({"steps": steps, "wpe": wpe}))


def write_csv(rows, file):
    """Write dictionaries as CSV: numbers with 7 significant digits, None as an empty field."""
    with open(file, "w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(rows[0])
        for row in rows:
            writer.writerow(f"{v:.7g}" if isinstance(v, float) else v for v in row.values())


def write_json(content, file):
    """Write readable JSON with a newline at the end."""
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def versions():
    """Return the versions that the numbers may depend on."""
    import transformers

    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "numpy": np.__version__,
    }


# --- command line -----------------------------------------------------------------------------


def check_out(out, names, text):
    """Refuse to write over results that come from another text, or that hold more runs."""
    file = out / "settings.json"
    if not file.is_file():
        return
    old = json.loads(file.read_text(encoding="utf-8"))
    if old["text"]["sha256"] != hashlib.sha256(text).hexdigest():
        raise SystemExit(
            f"The results in {out} come from the help text of Python {old['text']['python']}; "
            f"Python {platform.python_version()} has another text, so every loss would differ. "
            "Use --out FOLDER to keep both, or that version of Python."
        )
    lost = sorted(set(old["runs"]) - set(names))
    if lost:
        raise SystemExit(
            f"The results in {out} have runs that this command would not train "
            f"({', '.join(lost)}). Use --out FOLDER to keep both."
        )


def check_work(work, names, text, settings, resume):
    """Decide what becomes of states that are already there."""
    states = {name: load_state(work, name) for name in names}
    found = {name: state for name, state in states.items() if state}
    if not resume:
        if found and not all(state and state["done"] for state in states.values()):
            raise SystemExit(
                f"{work} holds an unfinished training. Add --resume to go on with it, or delete "
                "that folder to start afresh."
            )
        for name in found:
            (work / f"{name}.pt").unlink()
    elif any(state["fingerprint"] != fingerprint(text, settings) for state in found.values()):
        raise SystemExit(
            f"The states in {work} come from other settings, another text or another version of "
            "torch or Python. Delete that folder to start afresh."
        )


def main(arguments=None):
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m posembed.train", description=__doc__)
    parser.add_argument("--only", metavar="ship", choices=["ship"],
                        help="train the model that ships, none of the other runs")  # fmt: skip
    parser.add_argument("--resume", action="store_true", help="go on after an interruption")
    parser.add_argument("--quick", action="store_true", help="a tiny model, in seconds, for tests")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1),
                        help="runs at a time, one thread each")  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder of the results (default: the package's)")
    parser.add_argument("--work", type=Path, help="folder of the states (default: in the cache)")
    options = parser.parse_args(arguments)
    if options.quick and options.out is None:
        parser.error("--quick needs --out, so that it can't replace what is shipped")
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")

    settings = QUICK if options.quick else SETTINGS
    out = options.out or COURSE
    work = options.work or cache_folder() / ("train-quick" if options.quick else "train")
    names = [f"{variant}-{seed}" for seed in settings["seeds"] for variant in VARIANTS]
    if options.only:
        names = [SHIP]
    text = read_text()
    check_out(out, names, text)
    work.mkdir(parents=True, exist_ok=True)
    check_work(work, names, text, settings, options.resume)

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        train_all(names, text, settings, work, options.jobs)
        write_results(names, text, settings, work, out)
    except KeyboardInterrupt:
        print("Interrupted. The same command with --resume goes on.", file=sys.stderr)
        return 130
    finally:
        torch.set_num_threads(threads)
    print(f"Results of {len(names)} runs are in {out}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
