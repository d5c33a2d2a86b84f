from __future__ import annotations

import json
import os
import shutil
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Answer

Call = Callable[..., Answer]


def test_a_broken_run_ends_with_status_1_and_names_the_link(call: Call, runs: Path) -> None:
    answer = call("diagnose", runs / "sb3_ppo_lr01")
    assert answer.status == 1
    assert answer.out.startswith("BROKEN at policy_update")
    assert "kl-overshoot" in answer.out
    assert len(answer.out.splitlines()) <= 20


def test_json_of_a_broken_run_keeps_the_contract(call: Call, runs: Path) -> None:
    answer = call("diagnose", runs / "sb3_ppo_lr01", "--format", "json")
    made = json.loads(answer.out)
    assert answer.status == 1
    assert made["schema_version"] == 1
    assert made["runs"][0]["verdict"] == "broken"
    assert made["runs"][0]["first_break"]["link"] == "policy_update"
    assert made["relations"] == []


def test_a_run_of_three_rows_is_undecided_with_status_3(call: Call, runs: Path, tmp_path: Path) -> None:
    rows = (runs / "sb3_ppo_cartpole" / "progress.csv").read_text().splitlines()
    log = tmp_path / "progress.csv"
    log.write_text("\n".join(rows[:4]) + "\n")
    answer = call("diagnose", log)
    assert (answer.status, answer.out.startswith("UNDECIDED")) == (3, True)
    assert call("diagnose", log, "--undecided-ok").status == 0


def test_a_healthy_run_ends_with_status_0(call: Call, runs: Path) -> None:
    answer = call("diagnose", runs / "sb3_ppo_cartpole")
    assert answer.status == 0, answer.out
    assert answer.out.startswith("HEALTHY in ")


def test_fail_on_moves_the_bar(call: Call, runs: Path) -> None:
    bare = ("diagnose", runs / "sb3_ppo_lr01", "--select", "kl-overshoot")
    assert call(*bare).status == 1
    assert call(*bare, "--ignore", "POL001").status in (0, 3)
    assert "ignored: --ignore on the command line" in call(*bare, "--ignore", "POL001", "--full").out


def test_many_runs_get_a_table(call: Call, runs: Path) -> None:
    answer = call("diagnose", runs)
    assert answer.status == 1
    assert answer.out.startswith("2 runs: 1 broken")
    assert max(map(len, answer.out.splitlines()[:4])) <= 80


def test_without_a_path_the_newest_run_is_read_and_named(
    call: Call, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(runs, tmp_path / "all")
    os.utime(tmp_path / "all" / "sb3_ppo_cartpole" / "progress.csv", (1e9, 1e9))
    monkeypatch.chdir(tmp_path)
    answer = call("diagnose", "--format", "json")
    assert "Newest of 2 runs here: " in answer.err
    assert "sb3_ppo_lr01" in answer.err
    assert "sb3_ppo_lr01" in json.loads(answer.out)["runs"][0]["run"]["path"]


def test_every_format_is_what_it_says(call: Call, runs: Path) -> None:
    run = runs / "sb3_ppo_lr01"
    assert call("diagnose", run, "--format", "markdown").out.startswith("### ")
    assert ET.fromstring(call("diagnose", run, "--format", "junit").out).tag == "testsuites"
    assert "::error title=" in call("diagnose", run, "--format", "github").out
    assert call("diagnose", run, "--format", "html").out.startswith("<!doctype html>")


def test_output_html_and_bundle_are_written_and_said(call: Call, runs: Path, tmp_path: Path) -> None:
    page, report, bundle = tmp_path / "p.html", tmp_path / "r.txt", tmp_path / "b.zip"
    arguments = ("diagnose", runs / "sb3_ppo_lr01", "--html", page, "--output", report, "--bundle", bundle)
    answer = call(*arguments)
    assert answer.out == ""
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert report.read_text("utf-8").startswith("BROKEN")
    assert zipfile.ZipFile(bundle).namelist() == ["README.txt", "findings.json", "series.csv", "config.json"]
    assert f"Wrote {page}" in answer.err
    assert "findings.json (" in answer.err
    assert f"Replaced {page}" in call(*arguments).err


def test_why_not_says_how_a_rule_ended(call: Call, runs: Path) -> None:
    run = runs / "sb3_ppo_lr01"
    assert "fired   KL per update" in call("diagnose", run, "--why-not", "kl-overshoot").out
    assert "skipped not logged: optim/grad_norm" in call("diagnose", run, "--why-not", "NUM002").out
    off = call("diagnose", run, "--select", "kl-overshoot", "--why-not", "NUM002").out
    assert "it was not among the selected rules" in off


def test_until_looks_only_at_the_beginning(call: Call, runs: Path) -> None:
    made = json.loads(call("diagnose", runs / "sb3_ppo_lr01", "--until", "20480", "--format", "json").out)
    assert made["runs"][0]["run"]["steps"] <= 20480


def test_map_gives_a_key_its_meaning(call: Call, tmp_path: Path) -> None:
    lines = ["step,my/thing,loss"] + [f"{i},{0.01 if i < 20 else 30.0},1.0" for i in range(40)]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    plain = json.loads(call("diagnose", tmp_path / "log.csv", "--algorithm", "ppo", "--format", "json").out)
    mapped = call(
        "diagnose", tmp_path / "log.csv", "--algorithm", "ppo", "--map", "my/thing=policy/kl_old", "--format", "json"
    )
    assert "kl-overshoot" not in [f["name"] for f in plain["runs"][0]["findings"]]
    assert "kl-overshoot" in [f["name"] for f in json.loads(mapped.out)["runs"][0]["findings"]]
    assert json.loads(mapped.out)["runs"][0]["run"]["algorithm"] == "PPO"


def test_a_baseline_of_itself_is_accepted(call: Call, runs: Path) -> None:
    answer = call("diagnose", runs / "sb3_ppo_cartpole", "--baseline", runs / "sb3_ppo_cartpole")
    assert answer.status == 0


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("diagnose", "/no/such/run"), "no such file or folder", "Check the path"),
        (("diagnose", "RUN", "--select", "kl-overshot"), "No rule named 'kl-overshot'", "'kl-overshoot'"),
        (("diagnose", "RUN", "--why-not", "kl"), "No rule named 'kl'", ""),
        (("diagnose", "RUN", "--algorithm", "PPPO"), "No algorithm named 'PPPO'", "'PPO'"),
        (("diagnose", "RUN", "--framework", "zzz"), "No framework named 'zzz'", "stable_baselines3"),
        (("diagnose", "RUN", "--map", "foo"), "is not KEY=METRIC", "--map"),
        (("diagnose", "RUN", "--map", "foo=policy/klold"), "No metric named", "policy/kl_old"),
        (("diagnose", "RUN", "--map", "foo=zzzzz"), "No metric named 'zzzzz'", "firstbreak explain metrics"),
        (("diagnose", "RUN", "--last", "0"), "is not a length", "20%"),
        (("diagnose", "RUN", "--until", "-5"), "no numbers in the part asked for", "ends at step"),
        (("diagnose", "RUN", "--fail-on", "all"), "invalid choice", "firstbreak diagnose --help"),
        (("diagnose", "RUN", "--formt", "json"), "No option named '--formt'", "--format"),
        (("diagnose", "RUN", "more"), "One argument too many", "firstbreak diagnose --help"),
        (("diagnose", "RUN", "--full", "more"), "One argument too many", "firstbreak diagnose --help"),
        (
            ("experiment", "zero-learning-rate", "--env", "CartPole-v1", "no.such:thing"),
            "No module named 'no.such'",
            "",
        ),
        (("experiment", "zero-learning-rate", "a:b", "--env", "x", "c:d"), "One argument too many: 'c:d'", ""),
        (("diagnose", "RUN", "--output", "/no/such/folder/x"), "cannot be written", "Choose a folder"),
        (("diagnos", "RUN"), "No command named 'diagnos'", "'diagnose'"),
        (("explain", "kl-overshot"), "named 'kl-overshot'", "'kl-overshoot'"),
        (("skill", "--reference", "jso"), "No reference page named 'jso'", "'json'"),
        (("compare", "/no/a", "/no/b"), "no such file or folder", ""),
    ],
)
def test_a_mistake_gets_a_message_a_hint_and_status_2(
    call: Call, runs: Path, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    answer = call(*(str(runs / "sb3_ppo_lr01") if a == "RUN" else a for a in arguments))
    assert answer.status == 2
    assert answer.err.startswith("firstbreak: ")
    assert message in answer.err
    assert hint in answer.err
    assert "Traceback" not in answer.err


def test_a_log_that_no_rule_understands_ends_with_status_2(call: Call, tmp_path: Path) -> None:
    lines = ["step,foo"] + [f"{i},{i % 3}" for i in range(40)]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    answer = call("diagnose", tmp_path / "log.csv")
    assert answer.status == 2, answer.out
    assert answer.out.startswith("UNDECIDED: no rule could look")
    assert "--map" in answer.err


def test_an_empty_folder_is_no_run(call: Call, tmp_path: Path) -> None:
    answer = call("diagnose", tmp_path)
    assert (answer.status, "the folder is empty" in answer.err) == (2, True)


def test_a_failure_in_json_is_a_document_on_stdout(call: Call) -> None:
    for style in (("--format", "json"), ("--format=json",)):
        answer = call("diagnose", "/no/such/run", *style)
        assert answer.status == 2
        assert answer.err == ""
        error = json.loads(answer.out)["error"]
        assert error.keys() == {"kind", "message", "hint"}
        assert error["kind"] == "bad_input"


def test_names_from_the_command_line_cannot_style_the_terminal(call: Call) -> None:
    answer = call("diagnose", "/no/\x1b[31mred\x07")
    assert "\x1b" not in answer.err
    assert "\x07" not in answer.err


def test_a_setting_that_the_log_lacks_can_be_given(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "progress.csv"
    rows = [f"{512 * n},{-9.4 + 0.1 * (n % 3):.1f},{9.4 - 0.1 * (n % 3):.1f}" for n in range(1, 40)]
    log.write_text("time/total_timesteps,rollout/ep_rew_mean,rollout/ep_len_mean\n" + "\n".join(rows) + "\n")
    said = json.loads(call("diagnose", log, "--algorithm", "PPO", "--format", "json").out)["runs"][0]
    assert said["first_break"] is None or said["first_break"]["rule"] != "RWD046"
    told = call("diagnose", log, "--algorithm", "PPO", "--given", "env=CartPole-v1", "--format", "json")
    assert told.status == 1
    assert json.loads(told.out)["runs"][0]["first_break"]["rule"] == "RWD046"


def test_a_task_that_only_the_folders_name_tells_convicts_nothing(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "CartPole-v1__ppo__1" / "progress.csv"
    log.parent.mkdir()
    rows = [f"{512 * n},{-9.4 + 0.1 * (n % 3):.1f},{9.4 - 0.1 * (n % 3):.1f}" for n in range(1, 40)]
    log.write_text("time/total_timesteps,rollout/ep_rew_mean,rollout/ep_len_mean\n" + "\n".join(rows) + "\n")
    answer = call("diagnose", log.parent, "--algorithm", "PPO")
    assert answer.status == 3
    assert "read off the run's name" in " ".join(answer.out.split())


@pytest.mark.parametrize(("pair", "said"), [("gamma", "is not KEY=VALUE"), ("gama=0.9", "Did you mean 'gamma'?")])
def test_a_setting_that_is_none_is_refused(call: Call, runs: Path, pair: str, said: str) -> None:
    answer = call("diagnose", runs / "sb3_ppo_cartpole", "--given", pair)
    assert answer.status == 2
    assert said in answer.err
