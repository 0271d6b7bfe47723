"""`make bench`: time and memory, each as a ratio of two things measured side by side in one run.

Prints a table, writes it to ``tests/bench.md`` and quotes it in the README. Nothing is asserted:
times belong to the machine they were taken on.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.browser import SCROLL, SHIFTS, chromium, serve_folder
from tests.built import build, copy

TABLE = ROOT / "tests" / "bench.md"
QUOTE = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)
REPEATS = 3

# From a cold interpreter to the first heatmap. Each prints its peak memory in MiB.
HEATMAP = """
import sys
import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt
{load}
plt.imshow(W.T, aspect="auto", vmin=-0.2, vmax=0.2, cmap="RdBu_r")
plt.savefig(sys.argv[2], format="svg")
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024)
"""
THEIRS = HEATMAP.format(
    load="from transformers import GPT2Model\n"
    "W = GPT2Model.from_pretrained(sys.argv[1]).wpe.weight.detach().numpy()"
)
# The checkpoint has random weights, so the published SHA-256 gives way to the one of its table.
OURS = HEATMAP.format(
    load="from posembed import load_wpe, weights\n"
    "weights.TENSORS['wpe.weight'] = ((1024, 768), sys.argv[3])\n"
    "W = load_wpe(sys.argv[1])"
)


def timed(command, **options):
    """Run a command; return its seconds and what it printed. It must succeed."""
    started = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True, **options)
    return time.perf_counter() - started, done.stdout


def median(command, **options):
    """Return the median seconds and the last output of a few runs, after one to warm up."""
    timed(command, **options)
    runs = [timed(command, **options) for _ in range(REPEATS)]
    return statistics.median(seconds for seconds, _ in runs), runs[-1][1]


def make_checkpoint(folder):
    """Write GPT-2 small with random weights; return the SHA-256 of its table of positions."""
    import hashlib

    import torch
    from transformers import GPT2Config, GPT2LMHeadModel
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config())
    model.save_pretrained(folder)
    table = model.transformer.wpe.weight.detach().numpy().astype("<f4")
    return hashlib.sha256(table.tobytes()).hexdigest()


def first_heatmap(folder):
    digest = make_checkpoint(folder)
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    environment.pop("POSEMBED_GPT2", None)
    picture = str(Path(folder) / "picture.svg")
    results = {}
    for name, code in {"theirs": THEIRS, "ours": OURS}.items():
        command = [sys.executable, "-c", code, folder, picture, digest]
        seconds, printed = median(command, env=environment)
        results[name] = seconds, float(printed)
    (their_time, their_memory), (our_time, our_memory) = results["theirs"], results["ours"]
    return [
        ("First heatmap, cold start", f"{their_time:.2f} s, the whole model", f"{our_time:.2f} s",
         f"{their_time / our_time:.1f} times faster"),
        ("Its peak memory", f"{their_memory:.0f} MiB", f"{our_memory:.0f} MiB",
         f"{our_memory / their_memory:.2f} of it"),
        bytes_fetched(folder, digest),
    ]  # fmt: skip


def bytes_fetched(folder, digest):
    """Fetch the table through a local server that speaks the hub's protocol; count its bytes."""
    from posembed import weights
    from tests.hub_server import Hub, gpt2_shapes, safetensors_file

    weights.TENSORS["wpe.weight"] = ((1024, 768), digest)
    table = weights.load_tensor("wpe.weight", folder).tobytes()
    with (
        Hub(safetensors_file(gpt2_shapes(), {"wpe.weight": table})) as hub,
        tempfile.TemporaryDirectory() as cache,
    ):
        code = (
            "import sys; from posembed import load_wpe, weights\n"
            "weights.TENSORS['wpe.weight'] = ((1024, 768), sys.argv[1])\nload_wpe()"
        )
        environment = os.environ | {
            "HF_ENDPOINT": hub.url, "POSEMBED_CACHE": cache, "HF_HOME": cache, "HF_HUB_OFFLINE": "0"
        }  # fmt: skip
        environment.pop("POSEMBED_GPT2", None)
        timed([sys.executable, "-c", code, digest], env=environment)
        sent, whole = hub.sent, hub.file.size
    return (
        "Bytes fetched from a hub",
        f"{whole / 1e6:.0f} MB",
        f"{sent / 1e6:.2f} MB",
        f"{sent / whole:.4f} of it",
    )


def book_build():
    """Time a build from nothing, and one after a page was touched."""
    with tempfile.TemporaryDirectory() as folder:
        copy(Path(folder))
        build = [Path(sys.executable).parent / "jupyter-book", "build", "-W", "--quiet", folder]
        full, _ = timed(build)
        page = Path(folder) / "book" / "notation.md"
        page.write_text(page.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        again, _ = timed(build)
    return [
        ("Book, after touching one page", f"{full:.1f} s, from nothing", f"{again:.1f} s",
         f"{again / full:.2f} of it"),
    ]  # fmt: skip


def untouched(folder):
    """Copy the book to `folder`, with nothing set that changes what the theme makes of it."""
    copy(folder)
    file = folder / "_config.yml"
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    for ours in ("html", "latex", "launch_buttons", "repository", "sphinx"):
        config.pop(ours, None)
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [Path(sys.executable).parent / "jupyter-book", "build", "--quiet", folder]
    timed(command)
    return folder / "_build" / "html"


def first_visit(browser, url):
    """Read a page to its end in a new window of a processor of a quarter the speed.

    Returns the bytes and requests, those to other hosts apart (they are not let through), seconds
    to the largest paint, and the layout shift.
    """
    own, foreign = {}, []
    host = url[: url.index("/", len("http://")) + 1]
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.add_init_script(SHIFTS)
    page.add_init_script("""
        new PerformanceObserver((list) => { window.paint = list.getEntries().at(-1).startTime; })
          .observe({type: "largest-contentful-paint", buffered: true});""")
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.route(
        lambda address: not address.startswith((host, "data:", "blob:")),
        lambda route: (foreign.append(route.request.url), route.abort()),
    )
    page.on("response", lambda r: own.update({r.url: r}) if r.url.startswith(host) else None)
    page.goto(url, wait_until="networkidle")
    paint = page.evaluate("window.paint") / 1000
    page.evaluate(SCROLL)
    page.wait_for_load_state("networkidle")
    size = sum(len(response.body()) for response in own.values())
    shift = page.evaluate("window.shifts")
    context.close()
    return size, len(own), len(foreign), paint, shift


def site():
    """Compare a chapter and a plain page with what the theme makes of them untouched."""
    rows = []
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        if browser is None:
            return [("Pages in a browser", "no Chromium here", "", "")]
        homes = []
        for make in (untouched, lambda folder: build(copy(folder))):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            homes.append(stack.enter_context(serve_folder(make(folder))))
        for name, page in {
            "A chapter": "notebooks/05-sinusoids",
            "A page": "book/notation",
        }.items():
            theirs, ours = (
                [statistics.median(column) for column in zip(*visits)]
                for visits in (
                    [first_visit(browser, f"{home}{page}.html") for _ in range(REPEATS)]
                    for home in homes
                )
            )
            weights = [f"{size / 1e6:.2f} MB in {own:.0f} requests, {foreign:.0f} elsewhere"
                       for size, own, foreign, *_ in (theirs, ours)]  # fmt: skip
            rows += [
                (f"{name} in Chromium", *weights, f"{ours[0] / theirs[0]:.2f} of it"),
                ("Its largest paint, processor slowed 4 times", f"{theirs[3]:.2f} s",
                 f"{ours[3]:.2f} s", f"{theirs[3] / ours[3]:.1f} times faster"),
                ("Its layout shift", f"{theirs[4]:.4f}", f"{ours[4]:.4f}", ""),
            ]  # fmt: skip
    return rows


def tests():
    """Time nbval for each notebook, all of them one by one and in parallel, and all tests."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    rows, serial = [], 0.0
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        seconds, _ = timed([*pytest, notebook], cwd=ROOT)
        serial += seconds
        cells = len(json.loads(notebook.read_text(encoding="utf-8"))["cells"])
        rows.append((f"nbval {notebook.stem}", f"{cells} cells", f"{seconds:.1f} s", ""))
    parallel, _ = timed([*pytest, "-n", "auto", "--dist", "loadscope", "notebooks"], cwd=ROOT)
    rows.append(("nbval, all notebooks", f"{serial:.1f} s, one by one", f"{parallel:.1f} s",
                 f"{serial / parallel:.1f} times faster"))  # fmt: skip
    seconds, report = timed(["make", "test"], cwd=ROOT)
    rows.append(("make test", re.search(r"\d+ passed", report)[0], f"{seconds:.0f} s", ""))
    return rows


def main():
    with tempfile.TemporaryDirectory() as folder:
        rows = first_heatmap(folder)
    rows += book_build() + site() + tests()
    header = ["What", "Compared with", "Here", "Ratio"]
    lines = ["| " + " | ".join(row) + " |" for row in [header, ["---"] * 4, *rows]]
    table = "\n".join(lines) + "\n"
    TABLE.write_text(table, encoding="utf-8")
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    readme.write_text(QUOTE.sub(lambda m: m[1] + table + m[2], text), encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
