"""Markdown, JUnit, GitHub annotations, bundle and comparison."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from firstbreak import synth
from firstbreak.comparison import compare_runs
from firstbreak.diagnosis import Diagnosis
from firstbreak.report import bundle, comparison, github, junit, markdown
from firstbreak.rules.policy_update import kl_overshoot


def test_markdown_has_verdict_findings_and_advice(broken: Diagnosis) -> None:
    text = markdown.render([broken])
    assert text.startswith("### ❌ BROKEN at policy\\_update")
    assert "| error | kl-overshoot | policy_update |" in text
    assert "**Advice:**" in text


def test_markdown_shows_a_command_as_code_and_nothing_else() -> None:
    assert markdown.with_commands("x: `firstbreak settle RUN`. *y*") == "x: `firstbreak settle RUN`. \\*y\\*"
    assert markdown.with_commands("`rm -rf x` `firstbreak a") == markdown.escape("`rm -rf x` `firstbreak a")
    assert markdown.with_commands("a `rm x` b") == markdown.escape("a `rm x` b")


def test_markdown_of_many_runs_begins_with_a_table(broken: Diagnosis, healthy: Diagnosis) -> None:
    rows = markdown.render([broken, healthy]).splitlines()
    assert rows[2].startswith("| logs/ppo\\_run | ❌ broken | policy_update |")


def test_markdown_neutralises_what_a_log_says(hostile: Diagnosis) -> None:
    text = markdown.render([hostile, hostile])
    assert "<script>" not in text
    assert "@all" not in text
    assert "\x1b" not in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.replace("\\|", "").count("|") in (6,)


def test_junit_counts_and_parses(broken: Diagnosis) -> None:
    root = ET.fromstring(junit.render([broken]))
    suite = root[0]
    cases = suite.findall("testcase")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("7", "2", "3")
    assert len(cases) == 7
    assert len(suite.findall("testcase/failure")) == 2
    assert suite.find("testcase/failure[@type='error']") is not None
    assert {c.get("classname") for c in cases} >= {"firstbreak.policy_update", "firstbreak.exploration"}


def test_junit_of_hostile_names_is_still_xml(hostile: Diagnosis) -> None:
    root = ET.fromstring(junit.render([hostile]))
    failure = root.find(".//failure")
    assert failure is not None
    assert "<script>" in str(failure.get("message"))


def test_ignored_findings_do_not_fail_in_junit(broken: Diagnosis) -> None:
    quiet = replace(broken, findings=tuple(replace(f, ignored="known") for f in broken.findings))
    assert ET.fromstring(junit.render([quiet]))[0].get("failures") == "0"


def test_github_annotations_cannot_be_broken_out_of(broken: Diagnosis, hostile: Diagnosis) -> None:
    lines = github.render([broken]).splitlines()
    assert lines[0].startswith("::notice title=logs/ppo_run::BROKEN at policy_update")
    assert lines[1].startswith("::error title=logs/ppo_run%3A POL001 kl-overshoot (policy_update)::KL per update")
    assert lines[2].startswith("::warning ")
    for line in github.render([hostile]).splitlines():
        assert line.startswith(("::notice title=", "::error title="))
        head = line[2:].split("::", 1)[0]
        assert "," not in head
        assert ":" not in head
        assert "%250A" in line or "BROKEN" in line


def test_bundle_holds_series_and_findings_and_no_secret(broken: Diagnosis, tmp_path: Path) -> None:
    config = {
        "lr": 0.1,
        "WANDB_API_KEY": "0123",
        "hf": {"auth_token": "abc", "note": "see /home/jane/secret/run.py and hf_abcdefgh1234"},
        "mail": "jane@example.org",
        "data": "C:\\Users\\jane\\data\\train.csv",
        "url": "https://jane:pw@host/x",
    }
    log = replace(broken.log, path="/home/jane/runs/ppo", config=config)
    place = tmp_path / "b.zip"
    contents = bundle.write([replace(broken, log=log)], place)
    with zipfile.ZipFile(place) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert [name for name, _ in contents] == list(texts)
    everything = "\n".join(texts.values())
    for secret in ("jane", '0123"', 'abc"', "hf_abcdefgh1234", "example.org", "secret/run"):
        assert secret not in everything, secret
    assert json.loads(texts["config.json"])[0]["lr"] == 0.1
    assert json.loads(texts["findings.json"])["runs"][0]["verdict"] == "broken"
    rows = list(csv.DictReader(io.StringIO(texts["series.csv"])))
    kl = [float(r["value"]) for r in rows if r["metric"] == "policy/kl_old"]
    series = broken.log.get("policy/kl_old")
    assert series is not None
    np.testing.assert_array_equal(kl, series.value)


def test_comparison_says_where_runs_part_first() -> None:
    assert kl_overshoot is not None
    ppo = synth.like("PPO", config={"lr": 3e-4})
    other = synth.like("PPO", config={"lr": 1e-1})
    found = compare_runs(ppo({}), other({"policy/kl_old": synth.jump(0.008, 3.0, at=0.5)}))
    text = comparison.render(found)
    assert text.startswith("The runs part first in policy/kl_old")
    assert "lr: 0.0003 in a, 0.1 in b" in text
    made = comparison.document(found)
    assert made["outcome"] == "diverged"
    assert made["divergences"][0]["metric"] == "policy/kl_old"
    assert made["verdict"] is None


def test_comparison_of_equal_runs() -> None:
    run = synth.like("PPO")({})
    found = compare_runs(run, run)
    assert comparison.outcome(found) == "together"
    assert "stay together in all 11 comparable metrics" in comparison.render(found)
