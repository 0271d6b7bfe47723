"""Classic mistakes, put into a copy of the package: the tests must notice each of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = {"encodings.py": "tests/test_encodings.py", "similarity.py": "tests/test_similarity.py"}
SLOW = "not distilbert and not marian and not gpt2 and not torch"  # they import large libraries

# `python -P` keeps this repository's own posembed off the path.
# name: (file, what stands there once, what the mutant has instead)
MUTANTS = {
    "none, encodings": ("encodings.py", "t = np.arange(", "t = np.arange("),
    "none, similarity": ("similarity.py", "unit @ unit.T if", "unit @ unit.T if"),
    "wrong exponent": ("encodings.py", "(j - j % 2) / d_model", "2 * (j - j % 2) / d_model"),
    "product for power": ("encodings.py", "float(base) **", "float(base) *"),
    "halves": ("encodings.py", "np.where(j % 2 == 0,", "np.where(j < d_model / 2,"),
    "positions from 1": (
        "encodings.py",
        "np.arange(n_positions)[:, np.newaxis]",
        "np.arange(1, n_positions + 1)[:, np.newaxis]",
    ),
    "swapped axis": ("similarity.py", "norm(x, axis=_axis(axis)", "norm(x, axis=1 - axis"),
    "swapped product": ("similarity.py", "unit @ unit.T if axis == 1", "unit @ unit.T if axis == 0"),
    "one factor not normalised": ("similarity.py", "unit @ unit.T if", "unit @ x.T if"),
    "off-by-one lag": ("similarity.py", "similarity.diagonal(k)", "similarity.diagonal(k + 1)"),
    "missing centring": (
        "similarity.py",
        "x - x.mean(axis=_axis(axis), keepdims=True)",
        "x",
    ),
    "centred on the wrong axis": (
        "similarity.py",
        "x.mean(axis=_axis(axis)",
        "x.mean(axis=1 - axis",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_noticed(name, tmp_path):
    file, old, new = MUTANTS[name]
    shutil.copytree(ROOT / "posembed", tmp_path / "posembed", ignore=lambda *_: ["course"])
    source = (tmp_path / "posembed" / file).read_text(encoding="utf-8")
    assert source.count(old) == 1, f"{old!r} is not there once"
    (tmp_path / "posembed" / file).write_text(source.replace(old, new, 1), encoding="utf-8")

    run = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
         "--noconftest", "-c", os.devnull, "--rootdir", ROOT, "-k", SLOW, TESTS[file]],
        cwd=ROOT,
        # Plugins would be imported anew each time, and none is needed.
        env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )  # fmt: skip
    # 1 says that tests ran and failed; anything above, that pytest itself could not run.
    assert run.returncode == (0 if old == new else 1), run.stdout + run.stderr
