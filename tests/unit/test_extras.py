"""Whatever an error tells to install can be installed."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import firstbreak

PACKAGE = Path(firstbreak.__file__).parent
ROOT = Path(__file__).parents[2]


def test_every_extra_that_an_error_names_exists() -> None:
    offered = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
    named: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "missing_extra":
                assert isinstance(node.args[1], ast.Constant), f"{path}: the extra is not written out"
                named[str(node.args[1].value)] = str(path.relative_to(PACKAGE))
    assert len(named) > 5
    assert {name: where for name, where in named.items() if name not in offered} == {}
