"""The repository's public address: where it comes from, and what depends on it.

It stands in ``_config.yml`` (``repository.url``); left empty there, git's ``origin`` counts where
that is a public host. As a Sphinx extension this module gives it to the theme, which makes the
launch buttons, or leaves the buttons out. Run as a script (``make address``) it writes what has to
hold the address before Colab can use it: the install line at the top of each chapter's first code
cell, and the Binder badge of the README.
"""

import json
import re
import subprocess
from pathlib import Path
from urllib.parse import quote

import yaml

ROOT = Path(__file__).parents[2]
PUBLIC_HOSTS = ("github.com", "gitlab.com")  # those that the theme and Binder know
INSTALL = """\
import importlib.util

if importlib.util.find_spec("posembed") is None:  # in Colab there is no checkout
    %pip install -q "posembed @ git+{}"

"""
BADGE = re.compile(r"(<!-- binder -->).*?(<!-- /binder -->)", re.S)


def public_address(url):
    """Return ``https://host/owner/name`` for any way to write a public git address, else None."""
    match = re.match(
        r"(?:(?:https?|ssh|git)://)?(?:[^@/]*@)?([\w.-]+)(?::\d+)?[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?/?$",
        url.strip(),
    )
    if match is None or match[1].lower() not in PUBLIC_HOSTS:
        return None
    return f"https://{match[1].lower()}/{match[2]}/{match[3]}"


def configured():
    """Return ``repository.url`` and ``repository.branch`` of ``_config.yml``."""
    repository = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    return repository["url"], repository["branch"]


def address():
    """Return the repository's public address, or None where it isn't known."""
    url, _ = configured()
    if url:
        found = public_address(url)
        if found is None:
            raise SystemExit(f"_config.yml: repository.url is no public repository: {url}")
        return found
    git = subprocess.run(
        ["git", "-C", ROOT, "remote", "get-url", "origin"], capture_output=True, text=True
    )
    return public_address(git.stdout) if git.returncode == 0 else None


def install_lines(url):
    """Return what a chapter's first code cell starts with, so that it runs in Colab."""
    return INSTALL.format(url) if url else ""


def first_code_cell(notebook):
    return next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")


def without_install_lines(source):
    return re.sub(re.escape(INSTALL).replace(re.escape("{}"), ".*"), "", source)


def chapters():
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def chapters_install_from(url):
    """Say whether each chapter's first code cell installs the package from `url`."""
    for path in chapters():
        source = "".join(first_code_cell(json.loads(path.read_text("utf-8")))["source"])
        if not source.startswith(install_lines(url)):
            return False
    return True


def binder_badge(url, branch):
    """Return the README's Binder badge, or a remark where there is no address."""
    if not url:
        return "Binder: a badge stands here once the repository has a public address."
    host, owner, name = url.removeprefix("https://").split("/")
    kind = {"github.com": "gh", "gitlab.com": "gl"}[host]
    path = f"{owner}/{name}" if kind == "gh" else quote(f"{owner}/{name}", safe="")
    link = f"https://mybinder.org/v2/{kind}/{path}/{branch}?urlpath=lab/tree/notebooks"
    return f"[![Launch the notebooks on Binder](https://mybinder.org/badge_logo.svg)]({link})"


def write(url):
    """Write the address into the chapters' first code cells and into the README."""
    for path in chapters():
        notebook = json.loads(path.read_text("utf-8"))
        cell = first_code_cell(notebook)
        source = install_lines(url) + without_install_lines("".join(cell["source"]))
        cell["source"] = source.splitlines(keepends=True)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
    readme = ROOT / "README.md"
    badge = binder_badge(url, configured()[1])
    readme.write_text(BADGE.sub(rf"\1{badge}\2", readme.read_text("utf-8")), "utf-8")


def give_to_theme(app, config):
    url = address()
    options = config.html_theme_options
    options["repository_url"] = url or ""
    options["use_repository_button"] = url is not None
    if url is None:
        options["launch_buttons"] = {}
    elif not url.startswith("https://github.com/") or not chapters_install_from(url):
        # Colab has no checkout: without the install line its button would lead to an error.
        options["launch_buttons"].pop("colab_url", None)
        print(f"No Colab buttons: run `make address` to let the chapters install from {url}.")


def setup(app):
    app.connect("config-inited", give_to_theme, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    found = address()
    write(found)
    unknown = "not known: set repository.url in _config.yml, or git's origin, and run this again"
    print(f"public address: {found or unknown}")
