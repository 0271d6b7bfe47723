"""The browser of this machine, and a server for it. No test: both `make test` and `make bench`."""

import functools
import os
import shutil
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Quiet: no look-ups of its own. Without a sandbox, since continuous integration runs as root.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
# To run in each page: adds up how far its layout shifts.
SHIFTS = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifts += entry.hadRecentInput ? 0 : entry.value;
}).observe({type: "layout-shift", buffered: true});
"""
# As a reader does: down to the end, so that late figures load.
SCROLL = """async () => {
  for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
    scrollTo({top: y, behavior: "instant"});
    await new Promise(requestAnimationFrame);
  }
  await Promise.all([...document.images].map((image) => image.decode().catch(() => 0)));
  scrollTo({top: 0, behavior: "instant"});
}"""


@contextmanager
def chromium():
    """Run Chromium and give playwright's browser, or None where there is no Chromium."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield running
        running.close()


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # As a kind that browsers show, not save: so it is up to the page to have it saved.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".ipynb": "application/json"}

    def log_message(self, *args):
        pass


@contextmanager
def serve_folder(folder):
    """Serve a folder on a free port of this machine and give its address, with a slash."""
    handler = functools.partial(_Quiet, directory=folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
