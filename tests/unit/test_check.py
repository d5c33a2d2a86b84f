from __future__ import annotations

import json
from typing import Any

import pytest

from firstbreak import inspection as room
from firstbreak.check import Answer, Check, Look, Symptom, check, look_at, pack, unpack
from firstbreak.diagnosis import Sight, Verdict
from firstbreak.finding import Component, Link, Onset, Severity, Skip
from firstbreak.inspection import Inspection, inspection


def made(code: str, name: str, answer: Answer = None, **fields: Any) -> Check:
    settings: dict[str, Any] = {
        "link": Link.ENVIRONMENT_DATA,
        "component": Component.ENVIRONMENT,
        "severity": Severity.ERROR,
        "fix": "Mend it.",
    }

    @check(code, name, **(settings | fields))
    def one(subject: Any) -> Answer:
        """Claim of the check.

        More of the page.
        """
        if subject == "raise":
            raise ZeroDivisionError("oh")
        return answer

    return one


FIRES = Symptom("3 of 4 values are NaN", "observation[3]", {"values": 3})
CHECKS = (
    made("AAA001", "first", FIRES),
    made("AAA002", "second", Symptom("also", "reward", {}), explained_by=("first",)),
    made("AAA003", "third", severity=Severity.WARNING, link=Link.REWARD_SIGNAL),
    made("AAA004", "fourth", Skip("nothing to look at", ("--expert",))),
)


@pytest.fixture(autouse=True)
def _family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "checks_of", lambda family: CHECKS)


def looks(*symptoms: Symptom | Skip | None) -> list[Look]:
    return [
        Look(c.name, symptom=s if isinstance(s, Symptom) else None, skip=s if isinstance(s, Skip) else None)
        for c, s in zip(CHECKS, symptoms, strict=True)
    ]


def inspect(*symptoms: Symptom | Skip | None) -> Inspection:
    return inspection("environment", "target", looks(*symptoms))


def test_a_check_carries_its_page() -> None:
    assert CHECKS[0].claim == "Claim of the check."
    assert "More of the page." in CHECKS[0].doc


def test_every_end_of_a_check_is_told_apart() -> None:
    assert look_at(CHECKS[0], "x").symptom == FIRES
    assert look_at(CHECKS[2], "x") == Look("third")
    assert look_at(CHECKS[3], "x").skip == Skip("nothing to look at", ("--expert",))
    assert look_at(CHECKS[0], "raise").error.endswith(": ZeroDivisionError: oh")


@pytest.mark.parametrize(
    "look",
    [
        Look(
            "a",
            symptom=Symptom("m", "w", {"n": 1.5, "s": "x"}, Severity.INFO, Component.LOSS, Link.CRITIC, Onset(1, 2)),
        ),
        Look("a", symptom=FIRES),
        Look("a", skip=Skip("r", ("u",), withholds=True)),
        Look("a", error="E: x"),
        Look("a"),
    ],
)
def test_a_look_crosses_a_process_boundary(look: Look) -> None:
    assert unpack(json.loads(json.dumps(pack(look)))) == look


def test_an_error_breaks_and_what_it_explains_is_a_consequence() -> None:
    seen = inspect(FIRES, Symptom("also", "reward"), None, None)
    assert seen.verdict is Verdict.BROKEN
    assert [f.consequence_of for f in seen.findings] == [None, "AAA001"]
    assert seen.first_break is not None
    assert seen.first_break.name == "first"
    assert seen.looked == 4


def test_an_effect_stands_alone_when_its_cause_is_clear() -> None:
    seen = inspect(None, Symptom("also", "reward"), None, None)
    assert [f.consequence_of for f in seen.findings] == [None]
    assert seen.first_break is not None
    assert seen.first_break.name == "second"


def test_clear_checks_make_it_healthy_and_a_skip_that_does_not_withhold_leaves_it_so() -> None:
    seen = inspect(None, None, None, Skip("no expert", ("--expert",)))
    assert seen.verdict is Verdict.HEALTHY
    assert seen.first_break is None
    assert seen.sights == {Link.ENVIRONMENT_DATA: Sight.PARTIAL, Link.REWARD_SIGNAL: Sight.LOOKED}


@pytest.mark.parametrize(
    "given",
    [
        looks(None, None, Symptom("hm", "reward", {}, Severity.WARNING), None),
        looks(None, None, None, Skip("saw a sign", (), withholds=True)),
        looks(None, None, None, None)[:3],
        [*looks(None, None, None, None)[:3], Look("fourth", error="x")],
    ],
    ids=["warning", "withheld", "not reached", "failed"],
)
def test_what_is_open_leaves_it_undecided(given: list[Look]) -> None:
    assert inspection("environment", "target", given).verdict is Verdict.UNDECIDED


def test_findings_come_in_the_order_of_the_checks_whatever_order_they_ended_in() -> None:
    seen = inspection("environment", "t", list(reversed(looks(FIRES, Symptom("also", "reward"), None, None))))
    assert [f.rule for f in seen.findings] == ["AAA001", "AAA002"]
