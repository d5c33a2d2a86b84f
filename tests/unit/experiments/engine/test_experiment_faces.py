"""`firstbreak experiment` and the faces of its answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firstbreak.cli import main
from firstbreak.cli.experiment import pairs_of, status_of
from firstbreak.errors import InputError
from firstbreak.experiments import Subject, all_experiments
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.experiment import find_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.result import Result, read_all
from firstbreak.experiments.running.here import Here
from firstbreak.experiments.saying import say
from firstbreak.report.experiment.json import document
from firstbreak.report.experiment.text import render

from .toy_experiments import HERE

TOY = f"{HERE}:toy"


def done(**given: Any) -> Result:
    subject = Subject("\x1b[31mevil\x1b[0m.py:train", given={"changed": 0.0, **given})
    return run_experiment(find_experiment(TOY), subject, Protocol(most=6), executor=Here())


CONFIRMED, REFUTED = {"changed": 20.0}, {"changed": -20.0}
OPEN = {"changed": 1.1}
ABSENT = {"changed": 20.0, "control": 3.0, "symptom": True}


def test_the_list_names_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment"]) == 0
    out = capsys.readouterr().out
    assert all(one.name in out for one in all_experiments())


def test_the_page_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "zero-learning-rate"]) == 0
    out = capsys.readouterr().out
    assert "When it cannot decide" in out
    assert "TRAINER" in out


@pytest.mark.parametrize(
    ("given", "status", "outcome"), [(CONFIRMED, 1, "confirmed"), (REFUTED, 0, "refuted"), (OPEN, 3, "inconclusive")]
)
def test_exit_status_and_outcome(given: dict[str, Any], status: int, outcome: str) -> None:
    result = done(**given)
    assert status_of(result) == status
    assert status_of(result, undecided_ok=True) == (0 if status == 3 else status)
    found = document(result)
    assert found["outcome"] == outcome
    assert found["verdict"] == ("broken" if outcome == "confirmed" else "undecided")
    assert {"schema_version", "tool_version", "verdict", "findings", "coverage", "outcome"} <= set(found)
    assert [f["link"] for f in found["findings"]] == (["reward_signal"] if outcome == "confirmed" else [])
    assert found["coverage"]["looked"] == (outcome != "inconclusive")
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("given", [CONFIRMED, REFUTED, OPEN, ABSENT], ids=["true", "false", "open", "absent"])
def test_the_text_says_verdict_plan_and_numbers_and_shows_no_escape(given: dict[str, Any]) -> None:
    result = done(**given)
    text = render(result)
    assert "\x1b" not in text
    assert result.outcome.value in text
    assert "The change raises the score." in text
    assert "what: this in the control, that in the changed arm" in text
    assert ("\nseed " in text) == bool(result.pairs)
    assert "5 to 6 pairs of seeds, 10 runs at least" in " ".join(text.split()), "what it was expected to cost"
    assert ("would most likely decide" in text) == (given is OPEN)
    assert max(len(line) for line in text.splitlines()) <= 80


def test_a_failed_trial_is_shown_without_its_escapes() -> None:
    text = render(done(changed=20.0, changed_fails=[0, 1, 2, 3], how="raise"))
    assert "RuntimeError: no such thing" in text
    assert "\x1b" not in text
    assert "and 1 more trials" in text


def test_the_command_runs_in_children_records_and_speaks_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path)
    assert main(["experiment", TOY, "--with", "changed=20", "--seeds", "2", "--run", run, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["outcome"] == "confirmed"
    (kept,) = read_all(tmp_path)
    assert kept.outcome.value == "confirmed"
    assert [p.seed for p in kept.pairs] == [0, 1]
    assert kept.trials == 4


@pytest.mark.parametrize(
    "words",
    [
        ["no-such-thing", "x:y"],
        ["reversed-reward", "x:y"],
        [TOY, "--with", "changed"],
        [TOY, "--with", "changed=1", "--with", "changed=2"],
        [TOY, "--with", "changed=1", "--seeds", "some"],
        [TOY, "--with", "changed=1", "--seeds", "1"],
        [TOY, "--with", "changed=1", "--margin", "-3"],
    ],
    ids=lambda w: " ".join(w[1:]),
)
def test_a_users_mistake_is_answered_with_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", *words]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_values_are_json_where_they_can_be() -> None:
    texts = ["a=1", "b=3e-4", "c=[1, 2]", "d=text", "e=true", "f==", 'g="1"']
    assert pairs_of(texts, "--set") == {
        "a": 1, "b": 3e-4, "c": [1, 2], "d": "text", "e": True, "f": "=", "g": "1",
    }  # fmt: skip
    with pytest.raises(InputError, match="KEY=VALUE"):
        pairs_of(["=3"], "--set")


@pytest.mark.parametrize(("needed", "advised"), [(40, True), (4007, False)])
def test_thousands_of_pairs_are_not_advised(needed: int, advised: bool) -> None:
    result = replace(done(**OPEN), seeds_needed=needed)
    near = "4,007 more pairs would be needed, the effect lies near the margin: say with --margin what would matter"
    assert (f"about {needed} more pairs would most likely decide" in say(result)) == advised
    assert (near in say(result)) != advised
    assert (f"--seeds {needed + len(result.pairs)}" in " ".join(render(result).split())) == advised
