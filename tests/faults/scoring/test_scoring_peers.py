"""What other tools are given: names that exist, numbers that are the log's, and a child that survives a tool."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.faults.peers.run import concerns, fed, kept, rows_of, shown
from benchmarks.faults.scoring.catalogue import LINKS
from benchmarks.faults.scoring.logs import load_log
from firstbreak.vocabulary import metrics

from .recorded import recorded

PEERS = Path(__file__).parents[3] / "benchmarks" / "faults" / "peers"
SETTINGS = tomllib.loads((PEERS / "settings.toml").read_text("utf-8"))
TOOLS = sorted(name for name in SETTINGS if name != "not_run")


@pytest.mark.parametrize("tool", TOOLS)
def test_settings_name_metrics_and_links_that_exist(tool: str):
    settings = SETTINGS[tool]
    assert (PEERS / "adapters" / f"{tool.replace('-', '_')}.py").exists()
    assert set(settings.get("fields", {})) <= set(metrics())
    assert {link for links in settings["links"].values() for link in links} <= LINKS
    assert settings["gives"] in ("rows", "keys")


def test_rows_are_the_numbers_of_the_log_and_the_first_metric_of_a_field_counts():
    log = load_log(recorded("clean/0"))
    found = rows_of(log, {"policy/kl_ref": "kl", "policy/kl_old": "kl", "policy/entropy": "kl"})
    series = log.get("policy/kl_old")
    assert series is not None
    assert [row["kl"] for row in found] == series.value.tolist()


def test_a_tool_gets_the_runs_it_is_for():
    run = recorded("clean/0")
    log = load_log(run)
    assert concerns(run, log, SETTINGS["zen-rl"])
    assert not concerns(run, log, SETTINGS["rldoctor"])
    given = fed(run, log, SETTINGS["zen-rl"])
    assert given["keys"]["train/approx_kl"] == list(map(list, run.keys["train/approx_kl"]))
    assert "truth" not in given
    assert "seed" not in given
    assert "fault" not in json.dumps(sorted(given))


def test_asynchronous_grpo_is_grpo_to_other_tools():
    run = recorded("clean/0")
    log = replace(load_log(run), algorithm="AsyncGRPO")
    assert concerns(run, log, SETTINGS["rldoctor"])
    assert fed(run, log, SETTINGS["rldoctor"])["algorithm"] == "GRPO"


def test_a_tool_is_shown_the_record_that_firstbreak_is_scored_on():
    clock = (1000.0, 2000.0)
    run = replace(recorded("clean/0"), guarded={"optim/grad_norm": (clock, (0.5, 0.25))})
    seen = shown(run, SETTINGS["rlwatch"])
    rows = fed(seen, load_log(seen), SETTINGS["rlwatch"])["rows"]
    assert rows == [{"step": step, "grad_norm": value} for step, value in zip(clock, (0.5, 0.25), strict=True)]
    assert shown(run, SETTINGS["zen-rl"]) is run, "its tags are those of the framework"


def test_a_tool_that_cannot_be_loaded_or_fails_is_told():
    code = "raise RuntimeError('out of order')"
    adapter = PEERS / "adapters" / "rlwatch.py"
    ended = subprocess.run(
        [sys.executable, str(PEERS / "child.py"), adapter.stem], input="{}", capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0
    assert "rlwatch" in ended.stderr
    said = kept({"id": "x", "error": f"RuntimeError: {code}"}, SETTINGS["rlwatch"])
    assert said["alarms"] == []
    assert "RuntimeError" in said["refused"]


def test_alarms_carry_the_links_of_their_kind():
    said = kept({"id": "x", "alarms": [["kl_explosion", 5.0, "high"], ["unheard-of", 6.0, ""]]}, SETTINGS["rlwatch"])
    assert [alarm["links"] for alarm in said["alarms"]] == [["policy_update"], []]
