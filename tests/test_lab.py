"""JupyterLab, as `make lab` opens it, runs a chapter from top to bottom."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("playwright")

ROOT = Path(__file__).parents[1]
TOKEN = "for-this-test-only"
CELLS = """() => {
  const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
  return cells.filter((cell) => cell.type === "code").map((cell) => ({
    run: cell.executionCount !== null && cell.executionState !== "running",
    errors: cell.outputs.toJSON().filter((output) => output.output_type === "error"),
  }));
}"""
OPEN = """async (path) => {
  const widget = await jupyterapp.commands.execute("docmanager:open", {path});
  await widget.revealed;
  jupyterapp.shell.activateById(widget.id);
}"""
READY = """async () => {
  const context = jupyterapp.shell.currentWidget.sessionContext;
  await context.ready;
  await context.session.kernel.info;
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start JupyterLab on copies of the notebooks; return its address."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "notebooks").mkdir()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        (folder / "notebooks" / path.name).write_bytes(path.read_bytes())
    own = {name: str(folder / name) for name in
           ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}  # fmt: skip
    command = re.search(r"^lab:.*\n\t\$\(BIN\)/(.+)", (ROOT / "Makefile").read_text(), re.M)[1]
    program, *words = command.split()
    arguments = [
        Path(sys.executable).parent / program, *words,
        "--no-browser", "--allow-root", "--port=0", f"--IdentityProvider.token={TOKEN}",
        "--LabApp.expose_app_in_browser=True",
    ]  # fmt: skip
    environment = os.environ | own | {"POSEMBED_MODEL": "course"}
    log = folder / "log"
    with log.open("w") as file:
        process = subprocess.Popen(arguments, cwd=folder, env=environment, stderr=file)
    try:
        end = time.monotonic() + 60
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/lab", log.read_text())):
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield found[0]
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:  # a busy machine may leave it waiting for its kernels
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def desk(browser, lab):
    """Return a page with JupyterLab, where no notebook is open yet."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)  # on a busy machine
    page.goto(f"{lab}?token={TOKEN}")
    page.locator("#jp-main-dock-panel").wait_for()
    return page


@pytest.mark.parametrize("chapter", ["01-why-position-matters", "05-sinusoids"])
def test_a_chapter_runs(desk, chapter):
    desk.evaluate(OPEN, f"{chapter}.ipynb")
    notebook = desk.locator(".jp-NotebookPanel:visible")
    notebook.locator(".jp-CodeCell").first.wait_for()
    notebook.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
    desk.evaluate(READY)  # cells that run before the kernel has answered would be lost
    desk.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    assert not any(cell["run"] for cell in desk.evaluate(CELLS))
    desk.get_by_role("menuitem", name="Run", exact=True).click()
    desk.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    desk.wait_for_function(f"({CELLS})().every((cell) => cell.run)")
    cells = desk.evaluate(CELLS)
    assert len(cells) > 5
    assert [cell["errors"] for cell in cells if cell["errors"]] == []
