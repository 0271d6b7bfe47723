"""A copy of the book, built as `make book` builds it."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ["book", "notebooks", "_config.yml", "_toc.yml", "README.md", "posembed/course"]
ADDRESS = "https://github.com/owner/where-a-token-stands"


def copy(folder):
    """Copy what a build reads to `folder`."""
    for part in PARTS:
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / part)
    return folder


def build(folder):
    """Build the book in `folder` as `make book` does; return the folder of its pages."""
    command = Path(sys.executable).parent / "jupyter-book"
    done = subprocess.run(
        [command, "build", "-W", "--keep-going", "--quiet", folder], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "_build" / "html"


def publish(folder):
    """Give the copy in `folder` a public origin, and write that address where it is needed."""
    git = ["git", "-C", folder]
    subprocess.run([*git, "init", "-q"], check=True)
    origin = ADDRESS.replace("https://github.com/", "git@github.com:") + ".git"
    subprocess.run([*git, "remote", "add", "origin", origin], check=True)
    subprocess.run([sys.executable, folder / "book/_ext/address.py"], check=True)
