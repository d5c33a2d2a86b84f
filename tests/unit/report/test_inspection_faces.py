"""The faces of inspections, on inspections written by hand: what checks say today does not move them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from firstbreak import inspection as room
from firstbreak.check import Answer, Look, Symptom, check
from firstbreak.diagnosis import Verdict
from firstbreak.finding import Component, Link, Onset, Severity, Skip
from firstbreak.inspection import Inspection, inspection
from firstbreak.report.inspection import github, html, junit, markdown, text, words
from firstbreak.report.inspection.json import document
from firstbreak.report.json import dumps

from .conftest import HOSTILE

CHECKS = []
for number, name in enumerate(("observation-broken", "reward-odd", "start-fixed", "needs-more"), 1):

    @check(
        f"PEN90{number}",
        name,
        link=Link.REWARD_SIGNAL if name == "reward-odd" else Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        severity=Severity.ERROR,
        fix=f"Mend {name}.",
        explained_by=("observation-broken",) if name == "start-fixed" else (),
    )
    def _one(subject: Any) -> Answer:
        """Claim."""
        return None

    CHECKS.append(_one)


@pytest.fixture(autouse=True)
def _family(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (room, words, junit):
        monkeypatch.setattr(module, "checks_of", lambda family: tuple(CHECKS))


def broken(message: str = "2 of 4 dimensions are NaN from step 51") -> Inspection:
    looks = [
        Look(
            "observation-broken",
            symptom=Symptom(
                message, "observation[0]", {"first_step": 51, "share_frac": 0.5, "script": "r.py"}, at=Onset(51, 51)
            ),
        ),
        Look("reward-odd", symptom=Symptom("reward 1e12", "reward", {"largest": float("inf")}, Severity.WARNING)),
        Look("start-fixed", symptom=Symptom("starts are equal", "reset", {"starts": 1})),
        Look("needs-more", skip=Skip("no expert was given", ("--expert",))),
    ]
    table = {"title": "Episodes", "columns": ["seed", "steps"], "rows": [[0, 12.5], [1, None]]}
    return inspection("environment", "my_envs:make", looks, details={"tables": [table]}, notes=("a note",))


def clear() -> Inspection:
    return inspection("environment", "CartPole-v1", [Look(c.name) for c in CHECKS])


def test_the_first_screen_leads_with_what_broke_and_what_to_do() -> None:
    lines = text.render([broken()]).splitlines()
    assert lines[0] == "BROKEN: environment my_envs:make in environment_data (environment)"
    assert lines[1].startswith("broke   observation-broken: 2 of 4")
    assert "where   observation[0], step 51" in lines
    assert "do      Mend observation-broken." in lines
    assert "again   r.py" in lines
    assert "warn    reward-odd: reward 1e12" in lines
    assert not any("start-fixed" in line for line in lines), "a consequence stays off the first screen"
    assert "seen    3 of 4 checks looked; to look further, give --expert" in lines
    assert lines[-1] == "advice  do not train yet: mend this first"
    assert all(len(line) <= 80 for line in lines)


def test_everything_is_on_the_full_page() -> None:
    full = text.render([broken()], full=True)
    for said in ("start-fixed", "share_frac = 0.5", "largest = inf", "needs-more: no expert was given", "a note"):
        assert said in full
    assert "  0     12.5" in full.replace("seed", "    ") or "0     12.5" in full


def test_a_healthy_target_is_told_with_how_far_it_was_looked_at() -> None:
    assert text.render([clear()]).startswith("HEALTHY: environment CartPole-v1, as far as 4 checks can tell")


def test_an_undecided_target_says_why() -> None:
    looks = [Look(c.name) for c in CHECKS[:3]] + [Look("needs-more", skip=Skip("hm", ("--x",), withholds=True))]
    assert "UNDECIDED: environment x; needs-more could not look" in text.render([inspection("environment", "x", looks)])


def test_what_follows_from_another_finding_is_not_what_stands_in_the_way() -> None:
    warned = [Symptom(name, "reset", {}, Severity.WARNING) for name in ("broken", "follows")]
    looks = [Look("observation-broken", symptom=warned[0]), Look("start-fixed", symptom=warned[1])]
    first = text.render([inspection("environment", "x", looks)]).splitlines()[0]
    assert first == "UNDECIDED: environment x; see observation-broken"


def test_json_has_the_outer_shape_of_every_judging_command() -> None:
    told = json.loads(dumps(document([broken()])))
    assert {
        "schema_version",
        "tool_version",
        "kind",
        "target",
        "verdict",
        "first_break",
        "findings",
        "coverage",
    } <= set(told)
    assert told["verdict"] == "broken"
    assert told["first_break"]["name"] == "observation-broken"
    assert told["findings"][1]["evidence"]["largest"] == "inf"
    assert told["findings"][2]["consequence_of"] == "PEN901"
    assert told["coverage"]["links"] == {"environment_data": "partial", "reward_signal": "looked"}
    assert told["coverage"]["looked"] == 3
    assert told["coverage"]["skipped"][0]["unlock_with"] == ["--expert"]


def test_several_inspections_lie_side_by_side_under_the_worst_verdict() -> None:
    told = json.loads(dumps(document([clear(), broken()])))
    assert told["verdict"] == "broken"
    assert [i["verdict"] for i in told["inspections"]] == ["healthy", "broken"]
    assert len(told["findings"]) == 3


@pytest.mark.parametrize("face", ["text", "markdown", "github", "html"])
def test_nothing_a_target_says_is_markup(face: str) -> None:
    seen = broken(HOSTILE)
    shown = {
        "text": lambda: text.render([seen], full=True),
        "markdown": lambda: markdown.render([seen]),
        "github": lambda: github.render([seen]),
        "html": lambda: html.page([seen]),
    }[face]()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    if face in {"markdown", "html"}:
        assert "<script>" not in shown
    if face == "github":
        assert all(line.startswith("::") for line in shown.splitlines())


def test_junit_counts_failures_and_skips() -> None:
    (suite,) = ET.fromstring(junit.render([broken()]))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "3", "1")
    (healthy,) = ET.fromstring(junit.render([clear()]))
    assert (healthy.get("tests"), healthy.get("failures")) == ("4", "0")


def test_markdown_and_html_hold_the_tables_and_the_fix() -> None:
    for shown in (markdown.render([broken()]), html.page([broken()])):
        assert "Episodes" in shown
        assert "12.5" in shown
        assert "Mend observation" in shown


def test_a_page_of_a_checklist_begins_with_its_rows() -> None:
    rows = [{"status": "pass", "question": "Does it end?", "link": "environment_data", "answer": "yes"}]
    shown = html.page([clear()], rows)
    assert shown.index("Does it end?") < shown.rindex("HEALTHY")


def test_a_page_of_a_checklist_says_how_it_ended_and_what_went_wrong_with_it() -> None:
    rows = [{"status": "fail", "question": "Does it end?", "link": "environment_data", "answer": "<b>no</b>"}]
    shown = html.page(
        [clear()], rows, "DO NOT TRAIN YET: 1 fail", verdict=Verdict.BROKEN, problems=["reward: <i>no file</i>"]
    )
    assert shown.index('<header class="verdict broken">') < shown.index(">DO NOT TRAIN YET: 1 fail<")
    assert shown.index("reward: &lt;i&gt;no file") < shown.index("Does it end?")
    assert "<b>no" not in shown


def test_what_stands_below_comes_last_and_as_it_is() -> None:
    shown = html.page([clear()], below="<section>samples</section>")
    assert shown.index("Coverage") < shown.index("<section>samples</section>") < shown.index("<footer>")
