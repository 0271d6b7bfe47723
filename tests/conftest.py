"""Fixtures that tests in several files may use."""

import os

import pytest


@pytest.fixture(scope="module")
def direct_client():
    """Let the hub's client, which all tests of a module share, ignore the user's proxies."""
    from huggingface_hub import close_session
    from huggingface_hub.utils import get_session

    with pytest.MonkeyPatch.context() as patch:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        close_session()
        get_session()  # reads the variables once, now
        yield
        close_session()


@pytest.fixture
def own_caches(direct_client, tmp_path, monkeypatch):
    """Keep a test, and every process it starts, away from the user's caches, token and proxies.

    Returns the folder of the course's cache, which does not exist yet. Whatever the test does,
    in the end that folder holds nothing but whole files with the published bytes.
    """
    from huggingface_hub import constants

    from posembed import weights

    home, cache = tmp_path / "hf", tmp_path / "cache"
    for name in ("HF_TOKEN", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", weights.SOURCE_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(weights.CACHE_VARIABLE, str(cache))
    monkeypatch.setenv("POSEMBED_MODEL", "gpt2")  # a fault is an error, no reason to fall back
    monkeypatch.setenv("HF_HOME", str(home))  # for child processes; this one has read it already
    monkeypatch.setenv("HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(home / "token"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(weights._warn_unwritable, "done", False)
    yield cache
    good = {weights._cache_file(name).name: name for name in weights.TENSORS}
    for file in cache.iterdir() if cache.is_dir() else ():
        assert file.name in good, f"{file.name} was left in the cache"
        assert weights._is_published(good[file.name], file.read_bytes()), f"{file.name} is bad"


@pytest.fixture
def serve(own_caches, monkeypatch):
    """Return a function that makes a `hub_server.Hub` with a given file the hub of this test."""
    from contextlib import ExitStack

    from huggingface_hub import constants

    from tests.hub_server import Hub

    with ExitStack() as stack:

        def start(file):
            hub = stack.enter_context(Hub(file))
            point_at(hub.url)
            return hub

        def point_at(url):
            template = url + "/{repo_id}/resolve/{revision}/{filename}"
            monkeypatch.setenv("HF_ENDPOINT", url)
            monkeypatch.setattr(constants, "ENDPOINT", url)
            monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)

        start.point_at = point_at
        yield start


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    """Return a copy of the book's sources in a git repository whose origin is public, built.

    The first worker that asks builds it, for all; so no test may change it.
    """
    from filelock import FileLock

    from tests import built

    parallel = "PYTEST_XDIST_WORKER" in os.environ
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if parallel else base) / "book"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            draft = built.copy(tmp_path_factory.mktemp("draft") / "book")
            built.publish(draft)
            built.build(draft)
            draft.rename(folder)
    return folder


@pytest.fixture(scope="module")
def site(book):
    """Serve the built book on this machine; return its address."""
    from tests.browser import serve_folder

    with serve_folder(book / "_build" / "html") as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    """Return a running Chromium."""
    from tests.browser import chromium

    with chromium() as running:
        if running is None:
            pytest.skip("needs Chromium: on the path, or $CHROMIUM names it")
        yield running


@pytest.fixture(scope="module")
def tab(browser, site):
    """Return a function that gives the tab for a theme and a width, always the same one."""
    from tests.browser import Tab

    tabs = {}

    def get(theme="light", width=1280):
        if (theme, width) not in tabs:
            context = browser.new_context(
                color_scheme=theme,
                viewport={"width": width, "height": 800},
                permissions=["clipboard-read", "clipboard-write"],
            )
            tabs[theme, width] = Tab(context, site)
        return tabs[theme, width]

    return get


@pytest.fixture(scope="module")
def disk(browser, book):
    """Return a tab that reads the book from disk."""
    from tests.browser import Tab

    return Tab(browser.new_context(color_scheme="dark"), (book / "_build/html").as_uri() + "/")


@pytest.fixture(scope="session")
def W():
    """The table that the chapters load: GPT-2's, or the course's where that can't be had."""
    import numpy as np

    from posembed import load_wpe

    return load_wpe().astype(np.float64)
