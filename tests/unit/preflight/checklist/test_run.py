"""The checklist: every row ends in pass, fail or not looked at, from whatever the inspections say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firstbreak.check import Look, Symptom, checks_of
from firstbreak.diagnosis import Verdict
from firstbreak.errors import ConfigError, InputError
from firstbreak.finding import Component, Link, Severity, Skip
from firstbreak.inspection import Inspection
from firstbreak.preflight.checklist import calls
from firstbreak.preflight.checklist.calls import INSPECTORS, Settings
from firstbreak.preflight.checklist.record import read_record
from firstbreak.preflight.checklist.rows import all_rows
from firstbreak.preflight.checklist.run import Checklist, RowResult, Status, run_plan
from tests.unit.preflight.data.making import pairs, save

NAMED = sorted({name for row in all_rows() for names in row.look.values() for name in names})


def seen(
    kind: str, verdict: Verdict = Verdict.HEALTHY, fires: str = "", severity: Severity = Severity.ERROR
) -> Inspection:
    """Return an inspection in which every check that a row names is clear, but for one that fires."""
    from firstbreak.finding import Finding
    from firstbreak.inspection import START

    names = {n for row in all_rows() for n in row.look.get(kind, ())}
    findings = ()
    if fires:
        names.discard(fires)
        finding = Finding(
            "X", fires, Link.CRITIC, Component.LOSS, severity, START, "3 of 4 are wrong", "x", static=True
        )
        findings = (finding,)
    return Inspection(kind, "target", verdict, findings, clear=(*sorted(names), "some-other-check"))


def fixed(**inspections: Inspection) -> dict[str, Callable[[Settings], Inspection | None]]:
    return {kind: lambda settings, kind=kind: inspections.get(kind) for kind in INSPECTORS}


def row(checklist: Checklist, name: str) -> RowResult:
    return next(r for r in checklist.rows if r.id == name)


def test_nothing_named_is_nothing_looked_at() -> None:
    empty = run_plan({}, inspectors=fixed())
    assert {r.status for r in empty.rows} == {Status.NOT_LOOKED}
    assert all(r.add and r.why for r in empty.rows)
    assert empty.verdict is Verdict.UNDECIDED
    assert len(empty.rows) == len(all_rows())


def test_all_healthy_passes() -> None:
    every = {kind: seen(kind) for kind in INSPECTORS}
    checklist = run_plan({}, inspectors=fixed(**every))
    undone = [r.id for r in checklist.rows if r.status is not Status.PASSED]
    assert set(undone) == {r.id for r in all_rows() if r.record}
    assert checklist.verdict is Verdict.HEALTHY
    json.dumps([r.as_dict() for r in checklist.rows])


def test_a_finding_fails_the_rows_that_ask_for_it() -> None:
    bad = seen("probes", Verdict.BROKEN, fires="discount-wrong")
    checklist = run_plan({}, inspectors=fixed(probes=bad))
    assert row(checklist, "probe-discounting").status is Status.FAILED
    assert row(checklist, "probe-discounting").findings == ("discount-wrong",)
    assert row(checklist, "probe-constant-value").status is Status.PASSED
    assert checklist.verdict is Verdict.BROKEN
    small = seen("probes", fires="discount-wrong", severity=Severity.INFO)
    assert row(run_plan({}, inspectors=fixed(probes=small)), "probe-discounting").status is Status.PASSED


def test_a_row_over_two_inspections_passes_only_with_both_and_fails_with_either() -> None:
    environment, probes = seen("environment"), seen("probes")
    one = row(run_plan({"environment": "x"}, inspectors=fixed(environment=environment)), "terminal-states")
    assert one.add == 'trainer = "my_ppo.py:train"'
    assert (one.status, "probes" in one.why) == (Status.NOT_LOOKED, True)
    both = run_plan({}, inspectors=fixed(environment=environment, probes=probes))
    assert row(both, "terminal-states").status is Status.PASSED
    bad = seen("environment", Verdict.BROKEN, fires="time-limit-as-terminated")
    assert row(run_plan({}, inspectors=fixed(environment=bad)), "terminal-states").status is Status.FAILED


def test_a_check_that_could_not_look_leaves_its_row_open(tmp_path: Path) -> None:
    bare = [{k: r[k] for k in ("prompt", "chosen", "rejected")} for r in pairs()]
    checklist = run_plan({"data": str(save(tmp_path, bare))})
    open_row = row(checklist, "pairs-the-right-way-round")
    assert open_row.status is Status.NOT_LOOKED
    assert "score_chosen" in open_row.why
    assert row(checklist, "no-duplicates").status is Status.PASSED
    assert row(checklist, "loss-over-replies-only").status is Status.NOT_LOOKED


def test_real_data_and_memory_from_settings(tmp_path: Path) -> None:
    path = save(tmp_path, pairs())
    held = save(tmp_path, pairs(20, seed=5), "eval.jsonl")
    told: list[str] = []
    settings = {
        "data": {"path": str(path)},
        "eval_data": str(held),
        "memory": {"gpu_gib": 1, "models": {"actor": {"parameters": 10**9, "trained": True}}},
    }
    checklist = run_plan(settings, tell=told.append)
    assert told == ["preflight: data", "preflight: memory"]
    assert [one.kind for one in checklist.inspections] == ["data", "memory"]
    assert row(checklist, "memory-estimate").status is Status.FAILED
    assert row(checklist, "pairs-the-right-way-round").status is Status.PASSED
    assert row(checklist, "evaluation-data-unseen").status is Status.PASSED
    assert checklist.verdict is Verdict.BROKEN


def test_what_goes_wrong_is_a_problem_and_never_the_end() -> None:
    def refuses(settings: Settings) -> Inspection | None:
        raise InputError("No such environment.", "Name another.")

    def breaks(settings: Settings) -> Inspection | None:
        raise ZeroDivisionError("oh")

    inspectors = fixed(task=seen("task")) | {"environment": refuses, "reward": breaks}
    checklist = run_plan({"environment": "x"}, inspectors=inspectors)
    assert row(checklist, "environment-unit-test").why == "No such environment. Name another."
    assert row(checklist, "environment-unit-test").add == ""
    assert row(checklist, "reward-histogram").why == "ZeroDivisionError: oh"
    assert row(checklist, "weak-expert-baseline").status is Status.PASSED
    assert len(checklist.problems) == 2
    assert checklist.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"enviroment": "x"}, "environment"),
        ({"environment": 3}, "text"),
        ({"jobs": True}, "number"),
        ({"reward": {"tabel": "x"}}, "target"),
        ({"returns": {"oracle": "x"}}, "random"),
        ({"data": {"columns": {}}}, "path"),
        ({"gamma": "x"}, "It is a number[.]"),
        ({"gamma": 1.5}, "from 0 to 1"),
        ({"episodes": -1}, "at least 20"),
        ({"seed": -3}, "from 0 to"),
        ({"jobs": 0}, "at least 1"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        run_plan(settings, inspectors=fixed())


GOOD = {"seed": 3, "git_commit": "abc", "eval": {"n_episodes": 20, "deterministic": True}, "reward_components": ["a"]}


@pytest.mark.parametrize("ending", ["yaml", "json", "toml"])
def test_a_configuration_that_says_all(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"config.{ending}"
    toml = 'seed = 3\ngit_commit = "abc"\nreward_components = ["a"]\n[eval]\nn_episodes = 20\ndeterministic = true\n'
    path.write_text(toml if ending == "toml" else json.dumps(GOOD))
    checklist = run_plan({"run": str(path)}, inspectors=fixed())
    record = [r for r in checklist.rows if row_of(r.id)]
    assert [(r.id, r.status) for r in record if r.status is not Status.PASSED] == []


def row_of(name: str) -> str:
    return next(r.record for r in all_rows() if r.id == name)


@pytest.mark.parametrize(
    ("config", "name", "status"),
    [
        ({"lr": 1}, "seed-recorded", Status.FAILED),
        ({"env": {"seed": 0}}, "seed-recorded", Status.PASSED),
        ({"seed": None}, "seed-recorded", Status.FAILED),
        ({"seed_everything_hook": "x"}, "seed-recorded", Status.FAILED),
        ({"lr": 1}, "evaluation-protocol", Status.FAILED),
        ({"eval_freq": 100}, "evaluation-protocol", Status.FAILED),
        ({"eval_freq": 100, "eval_deterministic": True}, "evaluation-protocol", Status.PASSED),
        ({"model_name": "m", "eval": {"dataset": "d", "temperature": 0}}, "evaluation-protocol", Status.FAILED),
        ({"model_name": "m", "eval": {"dataset": "d", "temperature": 0, "max_tokens": 9}}, "evaluation-protocol",
         Status.PASSED),
        ({"lr": 1}, "code-version-recorded", Status.FAILED),
        ({"reward": {"weight_a": 1, "weight_b": 2}}, "reward-components-logged", Status.FAILED),
        ({"lr": 1}, "reward-components-logged", Status.NOT_LOOKED),
    ],
)  # fmt: skip
def test_what_a_configuration_lacks(config: dict[str, Any], name: str, status: Status, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert row(run_plan({"run": str(path)}, inspectors=fixed()), name).status is status


def test_a_failed_record_keeps_a_healthy_run_from_being_called_so(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"lr": 1}')
    every = {kind: seen(kind) for kind in INSPECTORS}
    assert run_plan({"run": str(path)}, inspectors=fixed(**every)).verdict is Verdict.UNDECIDED


def test_the_configuration_lies_under_version_control(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "conf").mkdir()
    path = tmp_path / "conf" / "config.json"
    path.write_text("{}")
    assert row(run_plan({"run": str(path)}, inspectors=fixed()), "code-version-recorded").status is Status.PASSED


@pytest.mark.parametrize("text", ["[1, 2", "- a\n- b", "\x00", "a: b: c"])
def test_a_configuration_that_is_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(InputError):
        read_record(path)
    checklist = run_plan({"run": str(path)}, inspectors=fixed())
    assert row(checklist, "seed-recorded").status is Status.NOT_LOOKED
    assert checklist.problems


def test_every_check_that_a_row_names_exists() -> None:
    unknown = {
        (r.id, name)
        for r in all_rows()
        for kind, names in r.look.items()
        for name in set(names) - {c.name for c in checks_of(kind)}
    }
    assert unknown == set()
    assert len({r.id for r in all_rows()}) == len(all_rows())


def test_every_row_is_decided_by_something_that_can_be_asked_for() -> None:
    for one in all_rows():
        assert bool(one.look) != bool(one.record), one.id
        assert set(one.look) <= set(INSPECTORS)
        assert one.add


def test_settings_that_name_nothing_of_a_kind_inspect_nothing() -> None:
    assert all(inspector({}) is None for inspector in INSPECTORS.values())
    assert calls.policy({"environment": "CartPole-v1"}) is None


def test_a_skip_that_is_not_its_concern_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    from firstbreak.inspection import inspection

    names = [c.name for c in checks_of("data")]
    looks = [Look(n, skip=Skip("not here")) for n in names if n != "rows-unreadable"] + [Look("rows-unreadable")]
    checklist = run_plan({}, inspectors=fixed(data=inspection("data", "x", looks)))
    assert row(checklist, "prompts-whole").status is Status.PASSED
    assert row(checklist, "no-duplicates").status is Status.NOT_LOOKED
    looks[0] = Look(looks[0].check, symptom=Symptom("1 row", "x", {}))
    assert run_plan({}, inspectors=fixed(data=inspection("data", "x", looks))).inspections[0].findings


def test_lines_to_add_are_lines_of_toml_with_keys_that_exist() -> None:
    import tomllib

    from firstbreak.preflight.checklist.settings import KEYS

    for one in all_rows():
        assert set(tomllib.loads(one.add)) <= set(KEYS), one.id


def test_a_failure_that_many_checks_share_is_said_once() -> None:
    from dataclasses import replace

    from firstbreak.report.inspection import html, text

    one = replace(seen("data"), errors=(("a", "it broke"), ("b", "it broke"), ("c", "other")))
    assert html.page([one]).count("it broke") == 1
    assert text.render([one], full=True).count("it broke") == 1
    assert "a, b failed: it broke" in html.page([one])


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("run.yaml", "eval_episodes: 10", "eval_deterministic: true in run.yaml"),
        ("run.toml", "eval_episodes = 10", "eval_deterministic = true in run.toml"),
        ("run.json", '{"lr": 1}', '"eval_episodes": 100, "eval_deterministic": true in run.json'),
    ],
)
def test_the_missing_line_and_its_file_are_named(name: str, text: str, line: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    found = row(run_plan({"run": str(tmp_path / name)}, inspectors=fixed()), "evaluation-protocol")
    assert found.status is Status.FAILED
    assert line in found.why


def test_packages_of_a_record_are_no_settings(tmp_path: Path) -> None:
    config = {"eval_episodes": 5, "eval_deterministic": True, "seed": 1}
    record = {"config": config, "seeds": {}, "code": {"commit": "a"}, "packages": {"tokenizers": "0.22"}}
    (tmp_path / "firstbreak-context.json").write_text(json.dumps(record))
    checklist = run_plan({"run": str(tmp_path / "firstbreak-context.json")}, inspectors=fixed())
    asked = ("evaluation-protocol", "seed-recorded", "code-version-recorded")
    assert [row(checklist, name).status for name in asked] == [Status.PASSED] * 3
