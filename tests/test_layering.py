"""The layers of docs/design.md: imports only point upward in `LAYERS`, and the core stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import firstbreak

ROOT = Path(firstbreak.__file__).parent

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "blame"),
    ("isolation", "target", "trainers"),
    ("series",),
    ("finding",),
    ("runlog", "cause", "check"),
    ("vocabulary",),
    ("view", "window", "checkpoints"),
    ("stats",),
    ("at_once", "departure", "lasting", "reread", "setting_moved"),
    ("leaving",),
    ("synth",),
    ("rule",),
    ("rules", "causes", "symptoms"),
    (
        "engine",
        "registry",
        "diagnosis",
        "inspection",
        "coverage",
        "worth_logging",
        "exclusion",
        "advice",
        "limits",
        "patches",
        "patch_text",
        "reasoning",
        "quieting",
        "unlocated",
        "roots",
        "config",
        "baseline",
        "comparison",
        "custom",
    ),
    ("readers", "ingest", "loading"),
    ("probes",),
    ("preflight",),
    ("audit",),
    ("api",),
    ("context", "evaluation"),
    ("monitor",),
    ("experiments",),
    ("release",),
    ("report",),
    ("cli", "__main__"),
)
"""Lowest first. A module imports from its own layer and from lower ones."""

ONLY: dict[str, set[str]] = {
    "vocabulary": {"vocabulary", "errors"},
    "stats": {"stats", "series"},
    "rules": {
        "rules",
        "at_once",
        "departure",
        "lasting",
        "leaving",
        "reread",
        "runlog",
        "stats",
        "synth",
        "rule",
        "view",
        "finding",
        "series",
        "setting_moved",
        "vocabulary",
    },
    "causes": {"causes", "cause", "finding", "errors"},
    "isolation": {"isolation", "errors"},
    "target": {"errors"},
    "trainers": {"trainers", "errors"},
}
"""Rooms with a shorter list still."""

ALLOWED: dict[tuple[str, str], str] = {
    ("diagnosis", "report"): "a Diagnosis knows how to show itself (to_dict, a notebook); imported when asked",
    ("api", "experiments"): "a diagnosis weighs the experiments recorded beside its run; imported when one is made",
}
"""Imports against the order, each with its reason; they must be inside a function."""


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def layer(name: str) -> int:
    found = [i for i, names in enumerate(LAYERS) if name in names]
    assert found, f"{name} has no layer yet: add it to LAYERS and to docs/design.md, section 4"
    return found[0]


def imports_of(path: Path) -> list[tuple[str, bool]]:
    """The rooms of firstbreak that a file imports, and whether the import is inside a function."""
    tree = ast.parse(path.read_text("utf-8"))
    inner = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    package = ["firstbreak", *path.relative_to(ROOT).parts[:-1]]
    found: list[tuple[str, bool]] = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "firstbreak" else [module]
        rooms = [n.split(".")[1] for n in names if n.startswith("firstbreak.") and not n.endswith("__version__")]
        found += [(name, id(node) in inner) for name in rooms]
    return found


FILES = sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_upward(path: Path) -> None:
    mine = room(path)
    for name, inside in imports_of(path):
        if (mine, name) in ALLOWED:
            assert inside, f"the import of {name} must stay inside a function"
            continue
        assert layer(name) <= layer(mine), f"{mine} may not import {name}"
        assert name in ONLY.get(mine, {name}), f"{mine} imports only {sorted(ONLY[mine])}, not {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_stay_small_and_rooms_have_names_that_mean_something(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 300
    assert path.stem.lstrip("_") not in {"utils", "helpers", "base", "common", "misc"}


DESIGN = ROOT.parents[1] / "docs/design.md"


def laid_out() -> str:
    """Section 4 of the design, where everything has its place."""
    return DESIGN.read_text("utf-8").partition("\n## 4.")[2].partition("\n## 5.")[0]


def test_the_design_gives_every_module_its_place() -> None:
    page = laid_out()
    missing = [
        name
        for names in LAYERS
        for name in names
        if not name.startswith("__") and not re.search(rf"\b{name}(\.py|/)", page)
    ]
    assert missing == []


@pytest.mark.parametrize("folder", ["tests", "benchmarks"])
def test_the_design_names_every_folder_beside_the_package(folder: str) -> None:
    line = re.search(rf"^{folder}/ .*$", laid_out(), re.MULTILINE)
    assert line is not None
    there = {p.name for p in (ROOT.parents[1] / folder).iterdir() if any(p.glob("**/*.py"))}
    assert there - set(re.findall(r"(\w+)/", line[0])) == set()


GUARDING = re.findall(
    r"\w+", laid_out().partition("rows to a verdict:")[2].partition("what environment and trainer")[0]
)
"""Words of the design on the part of the monitor that takes rows and answers, its modules among them."""


def test_what_answers_to_rows_knows_nothing_of_environments() -> None:
    monitor = ROOT / "monitor"
    modules = {p.stem for p in monitor.glob("*.py")} | {"exchange"}
    guarding = modules & set(GUARDING)
    assert {"core", "history", "looks", "judge", "guard", "outlets"} <= guarding
    for name in sorted(guarding):
        for node in ast.walk(ast.parse((monitor / f"{name}.py").read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                used = {(node.module or alias.name).split(".")[0] for alias in node.names}
                assert used & modules <= guarding, f"monitor/{name}.py takes rows and answers: it may not use {used}"


HEAVY = ("torch", "rich", "jinja2", "pyarrow", "pandas", "wandb", "tensorboard", "yaml", "scipy", "matplotlib")


def loaded_by(statement: str, names: tuple[str, ...]) -> list[str]:
    code = f"import sys\n{statement}\nprint(*[n for n in {names!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_the_package_loads_not_even_numpy() -> None:
    assert loaded_by("import firstbreak", ("numpy", *HEAVY)) == []


@pytest.mark.parametrize(
    "module", ["engine", "registry", "diagnosis", "reasoning", "synth", "api", "readers.protocol", "cli"]
)
def test_the_core_needs_numpy_and_the_standard_library_only(module: str) -> None:
    assert loaded_by(f"import firstbreak.{module}", HEAVY) == []


def test_finding_every_rule_and_cause_loads_nothing_heavy() -> None:
    statement = (
        "from firstbreak.registry import all_rules; from firstbreak.causes import all_causes; all_rules(); all_causes()"
    )
    assert loaded_by(statement, HEAVY) == []
