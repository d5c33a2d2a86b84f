"""`firstbreak preflight reward ENV --shaping module:fn`: terms right, wrong and undecided; wrong arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Answer

Call = Callable[..., Answer]
TERMS = """
def phi(s):
    return 1 - abs(float(s[2])) / 0.21

def phi_then(s, t):
    return phi(s) * (1 + 0.01 * t)

def right(s, a, n, over):
    return 0.99 * (0 if over else phi(n)) - phi(s)

def kept(s, a, n):
    return 0.99 * phi(n) - phi(s)

def clocked(s, a, n, over, cut, t):
    return 0.99 * (0 if over else phi_then(n, t + 1)) - phi_then(s, t)

def effort(s, a, n, over):
    return right(s, a, n, over) - 0.01 * a

def raises(s, a, n):
    raise ValueError("no such state")

def nowhere(s, a, n):
    return float("nan")
"""


@pytest.fixture
def terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "terms.py").write_text(TERMS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return "terms.py"


def checked(call: Call, terms: str, name: str, *more: Any) -> tuple[Answer, dict[str, Any]]:
    asked = ("preflight", "reward", "CartPole-v1", "--steps", "6000", "--shaping", f"{terms}:{name}", *more)
    seen = call(*asked, "--format", "json")
    return seen, json.loads(seen.out)["details"].get("shaping", {})


@pytest.mark.parametrize(
    ("name", "potential", "fault"),
    [
        ("right", None, None),
        ("right", "phi", None),
        ("clocked", "phi_then", None),
        ("kept", None, "terminal-potential-kept"),
        ("kept", "phi", "terminal-potential-kept"),
        ("effort", None, "depends-on-action"),
        ("nowhere", None, "not-finite"),
    ],
)
def test_a_term_is_judged(call: Call, terms: str, name: str, potential: str | None, fault: str | None) -> None:
    more = () if potential is None else ("--potential", f"{terms}:{potential}")
    seen, told = checked(call, terms, name, *more)
    assert seen.status == (0 if fault is None else 1)
    assert told["sound"] is (fault is None)
    assert [one["name"] for one in told["faults"][:1]] == ([] if fault is None else [fault])


def test_what_cannot_be_told_is_undecided_and_the_reason_is_said(call: Call, terms: str) -> None:
    seen, told = checked(call, terms, "clocked")
    assert seen.status == 3
    assert told["sound"] is None
    said = call("preflight", "reward", "CartPole-v1", "--steps", "6000", "--shaping", f"{terms}:clocked")
    assert "UNDECIDED: reward CartPole-v1; shaping-not-potential-based" in said.out
    assert "neither right nor wrong" in " ".join(said.out.split())


def test_a_term_that_raises_is_told_with_the_step(call: Call, terms: str) -> None:
    seen = call("preflight", "reward", "CartPole-v1", "--steps", "2000", "--shaping", f"{terms}:raises")
    assert seen.status == 2
    assert "raised ValueError in step 0: no such state" in seen.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["CartPole-v1", "--shaping", "terms"], "--shaping 'terms' is not module:fn"),
        (["CartPole-v1", "--shaping", "terms.py:rihgt"], "right"),
        (["CartPole-v1", "--potential", "terms.py:phi"], "no shaping term"),
        (["CartPole-v1", "--endless"], "no shaping term"),
        (["scores.csv", "--shaping", "terms.py:right"], "not on a table"),
        (["CartPole-v1", "--metric-direction", "down"], "[NAME=]higher|lower"),
        (["CartPole-v1", "--metric-direction", "lower"], "no metric"),
    ],
)
def test_wrong_arguments_are_told(call: Call, terms: str, arguments: list[str], said: str) -> None:
    Path("scores.csv").write_text("reward\n1\n2\n", "utf-8")
    seen = call("preflight", "reward", *arguments)
    assert seen.status == 2
    assert said in seen.err
