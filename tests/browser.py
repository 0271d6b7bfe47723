"""The browser of this machine, a server for it, and how pages are looked at in it. No test."""

import functools
import json
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
    # Each window would have a process for suggestions below its address bar, which nobody sees.
    # Only the last such list counts: the others stand in playwright's own, and matter here too.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,AimEnabled,HttpsUpgrades,MediaRouter,"
    "NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,PreconnectToSearch",
]  # fmt: skip
# To run in each page: adds up how far its layout shifts.
SHIFTS = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifts += entry.hadRecentInput ? 0 : entry.value;
}).observe({type: "layout-shift", buffered: true});
"""
# Down to the end, four screens at a time, so that late figures load (they begin one before).
SCROLL = """async () => {
  for (let y = 0; y < document.body.scrollHeight; y += 4 * innerHeight) {
    scrollTo({top: y, behavior: "instant"});
    await new Promise(requestAnimationFrame);
  }
  await Promise.all([...document.images].map((image) => image.decode().catch(() => 0)));
  scrollTo({top: 0, behavior: "instant"});
}"""
# All of WCAG 2.2 AA, best practice, and what axe calls experimental.
RULES = "wcag2a wcag2aa wcag21a wcag21aa wcag22aa best-practice experimental".split()
# Of each page's thousands of coloured code tokens one of each kind is enough, of its formulas one
# letter each, of its blocks of code and their copy buttons one of each kind: axe takes seconds for
# all, and they differ in nothing that it looks at.
THIN = """() => {
  const seen = new Set();
  const first = (kind) => !seen.has(kind) && seen.add(kind);
  for (const pre of document.querySelectorAll(".highlight pre")) {
    const place = pre.closest("[class*=cell_]")?.className;
    for (const token of pre.querySelectorAll("span:not(:has(*))")) {
      if (!first(token.className + place)) token.replaceWith(token.textContent);
    }
    pre.normalize();
    if (!pre.childElementCount && !first(place)) pre.replaceChildren();
  }
  for (const button of document.querySelectorAll("button.copybtn")) {
    if (!first(button.className + button.parentElement.className)) button.remove();
  }
  for (const math of document.querySelectorAll("math")) {
    math.replaceChildren(math.querySelector("mi, mn, mo"));
  }
}"""
# Marks the first of all texts that have the same letters and colours on the same grounds, and
# counts them.
FIRST_OF_A_LOOK = """() => {
  const seen = new Set();
  for (const element of document.querySelectorAll("body *")) {
    if (![...element.childNodes].some((node) => node instanceof Text && node.data.trim())) continue;
    const {color, fontSize, fontWeight, textShadow} = getComputedStyle(element);
    const look = [color, fontSize, fontWeight, textShadow];
    for (let e = element; e; e = e.parentElement) {
      const {backgroundColor, backgroundImage, opacity} = getComputedStyle(e);
      if (backgroundColor !== "rgba(0, 0, 0, 0)" || backgroundImage !== "none" || opacity < 1) {
        look.push(backgroundColor, backgroundImage, opacity);
      }
    }
    element.toggleAttribute("data-look", !seen.has(look.join()) && seen.add(look.join()));
  }
  return seen.size;
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


class Tab:
    """A page of the browser that writes down what a reader must never meet."""

    def __init__(self, context, home):
        self.home, self.complaints, self.requested = home, [], set()
        self.page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.add_init_script(SHIFTS)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("requestfailed", self._failed)
        self.page.on("request", self._request)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _failed(self, request):
        if request.failure != "net::ERR_ABORTED":  # by going on to another page
            self.complaints.append(f"failed: {request.url}: {request.failure}")

    def _request(self, request):
        self.requested.add(request.url)
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.complaints.append(f"another host: {request.url}")

    def open(self, page):
        self.complaints.clear()
        self.requested.clear()
        self.page.goto(f"{self.home}{page}.html", wait_until="load")
        return self.page


def violations(page):
    """Return what axe-core finds in a page, one line for each element; the page changes, see `THIN`."""
    page.evaluate(THIN)
    return _axe(page, RULES)


def colour_violations(page):
    """Return what axe-core finds in the colours of a page whose all else it has looked at.

    Of the texts that look alike, in colours and letters and in what lies behind, it sees the first:
    it takes a millisecond for each, and pages have hundreds.
    """
    assert page.evaluate(FIRST_OF_A_LOOK) > 5, "the page has texts"
    first = {"id": "color-contrast", "selector": "[data-look], input, select, textarea"}
    only = f"axe.configure({json.dumps({'rules': [first]})});"
    return _axe(page, {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}, only)


def _axe(page, rules, configure=""):
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    axe.axe_script += configure
    found = axe.run(page, options={"runOnly": rules, "resultTypes": ["violations"]})
    return [
        f"{rule['id']}: {node['html'][:150]}"
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]
