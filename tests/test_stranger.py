"""A stranger adds a rule, a check and an experiment: the examples of CONTRIBUTING.md as they stand, one file each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import firstbreak

ROOT = Path(__file__).resolve().parent.parent
NAME = "throughput-zero"
CHECK = "observation-very-wide"
EXPERIMENT = "quarter-learning-rate"
TOYS = "tests.unit.experiments.control.toy_trainers"


def examples() -> list[tuple[str, str]]:
    """Where CONTRIBUTING.md says the files go, and the code it shows."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return re.findall(r"Save this as\s+`src/(\S+)`:\n\n```python\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with the examples added, in a folder that comes first on the path."""
    folder = tmp_path_factory.mktemp("stranger")
    source = Path(firstbreak.__file__).parent
    shutil.copytree(source, folder / "firstbreak", ignore=shutil.ignore_patterns("__pycache__"))
    assert len(examples()) == 3
    for where, code in examples():
        (folder / where).write_text(code, "utf-8")
    return folder


def python(copy: Path, *arguments: str) -> str:
    env = os.environ | {"PYTHONPATH": f"{copy}{os.pathsep}{ROOT}", "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_registry_and_the_command_line_find_it(copy: Path) -> None:
    found = "from firstbreak.registry import find_rule; r = find_rule('SYS900'); print(r.name, r.claim)"
    assert NAME in python(copy, "-c", found)
    assert NAME in python(copy, "-m", "firstbreak", "rules")
    page = python(copy, "-m", "firstbreak", "explain", NAME)
    assert "Dead environment workers" in page


def test_a_page_is_made_for_it(copy: Path) -> None:
    made = python(copy, "-c", f"from tools.build_docs import site_pages; print(site_pages()['rules/{NAME}.md'])")
    assert "Engineering default" in made
    assert "Dead environment workers" in made


def test_a_run_with_the_fault_is_found_by_the_engine(copy: Path) -> None:
    code = (
        "from firstbreak import synth\n"
        "from firstbreak.engine import run_rules\n"
        "from firstbreak.registry import all_rules\n"
        "log = synth.like('PPO')({'time/fps': synth.jump(1500, 0, at=0.5, noise=0)})\n"
        "print(*[f.message for o in run_rules(log, all_rules()) for f in o.findings], sep='\\n')"
    )
    assert "no environment steps in 3 rows on end" in python(copy, "-c", code)


def test_it_passes_the_tests_that_every_rule_must_pass(copy: Path) -> None:
    arguments = ["-m", "pytest", "tests/rules", "-k", NAME, "-p", "no:cacheprovider"]
    passed = re.search(r"(\d+) passed", python(copy, *arguments, "-o", "addopts=--import-mode=importlib"))
    assert passed is not None
    assert int(passed[1]) >= 15


def test_the_check_is_found_explained_and_gets_a_page(copy: Path) -> None:
    assert CHECK in python(copy, "-m", "firstbreak", "checks")
    assert "Full-size camera frames" in python(copy, "-m", "firstbreak", "explain", CHECK)
    made = python(copy, "-c", f"from tools.build_docs import site_pages; print(site_pages()['checks/{CHECK}.md'])")
    assert "Crop, scale down" in made


def test_the_check_passes_what_every_check_must_pass(copy: Path) -> None:
    arguments = ["-m", "pytest", "tests/checks", "-k", CHECK, "-p", "no:cacheprovider"]
    passed = re.search(r"(\d+) passed", python(copy, *arguments, "-o", "addopts=--import-mode=importlib"))
    assert passed is not None
    assert int(passed[1]) >= 5


def test_the_experiment_is_listed_and_explained(copy: Path) -> None:
    assert EXPERIMENT in python(copy, "-m", "firstbreak", "experiment")
    assert "Every learning rate of the trainer" in python(copy, "-m", "firstbreak", "experiment", EXPERIMENT)


@pytest.mark.parametrize(("trainer", "verdict"), [("good", "inconclusive"), ("frozen", "refuted")])
def test_the_experiment_settles_what_is_known(copy: Path, trainer: str, verdict: str) -> None:
    """A trainer that learns, so that there is nothing to explain, and one that learns nothing at any size of step."""
    command = ["-m", "firstbreak", "experiment", EXPERIMENT, f"{TOYS}:{trainer}", "--env", f"{TOYS}:arms"]
    said = python(copy, *command, "--steps", "320", "--with", "expect=1", "--undecided-ok")
    assert re.search(rf"^verdict\s+{verdict}", said, re.MULTILINE), said
