"""Nothing is called healthy that was not looked at, and nothing private leaves with a report."""

from __future__ import annotations

import pickle
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.api import compare, diagnose_log
from firstbreak.cli import main
from firstbreak.config import Settings
from firstbreak.diagnosis import Diagnosis, Verdict
from firstbreak.errors import InputError, missing_extra, unknown_name
from firstbreak.loading import load
from firstbreak.runlog import RunLog
from firstbreak.series import Curve
from tests.corpus.variants import subsampled

LOGS = Path(__file__).parents[1] / "data" / "logs"


def diagnosis_of(log: RunLog, **settings: tuple[str, ...]) -> Diagnosis:
    return diagnose_log(log, Settings(**settings))  # pyright: ignore[reportArgumentType]


def first_part(log: RunLog, share: float) -> RunLog:
    """Return the log as it was when `share` of its steps had passed."""
    hi = log.last_step * share
    early = [
        replace(s, curve=Curve(s.step[: np.searchsorted(s.step, hi, side="right")], s.value[s.step <= hi]))
        for s in log.series
    ]
    return replace(log, series=tuple(s for s in early if len(s)), clocks=None)


def test_a_learner_with_three_rows_is_not_healthy_because_its_episodes_are_many() -> None:
    early = first_part(load(LOGS / "sb3_sac_pendulum_rx1000"), 0.25)
    diagnosis = diagnosis_of(early)
    assert diagnosis.verdict is Verdict.UNDECIDED
    assert any("points of critic/loss (has 3)" in item for item in diagnosis.coverage.profile_missing)


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_a_reward_that_rises_without_its_objective_is_not_healthy(share: float) -> None:
    whole = load(LOGS / "trl_grpo_hackable")
    log = replace(whole, series=tuple(s for s in whole.series if s.metric != "seq/len_mean"))  # else it is seen at once
    for part in (first_part(log, share), subsampled(log, 5)):
        diagnosis = diagnosis_of(part)
        assert diagnosis.verdict is Verdict.UNDECIDED
        assert "whether the objective follows the reward" in diagnosis.coverage.profile_missing


def test_a_zero_gradient_in_groups_waits_for_the_silent_share() -> None:
    log = load(LOGS / "trl_grpo_collapse")
    part = replace(log, series=tuple(s for s in log.series if s.metric != "group/zero_std_fraction"))
    diagnosis = diagnosis_of(part)
    assert diagnosis.verdict is Verdict.UNDECIDED
    assert "grad-norm-zero" not in {f.name for f in diagnosis.findings}


def test_rules_that_were_not_run_have_not_looked() -> None:
    log = synth.like("PPO")()
    assert diagnosis_of(log).verdict is Verdict.HEALTHY
    some = diagnosis_of(log, select=("kl-overshoot",))
    assert some.verdict is Verdict.UNDECIDED
    assert any("no rule looked" in item for item in some.coverage.profile_missing)


@pytest.mark.parametrize("every", [2, 5])
def test_an_adaptive_learning_rate_stays_one_when_logged_sparsely(every: int) -> None:
    diagnosis = diagnosis_of(subsampled(load(LOGS / "rsl_rl_ppo"), every))
    assert "lr-schedule-fault" not in {f.name for f in diagnosis.findings}


@pytest.mark.parametrize("name", ["trackio", "sb3_sac_pendulum"])
def test_a_run_never_parts_from_itself(name: str) -> None:
    comparison = compare(LOGS / name, LOGS / name)
    assert (comparison.divergences, comparison.not_comparable) == ((), ())


def test_metrics_are_known_by_the_names_that_reports_ask_for() -> None:
    names = ("reward/episode_return_mean", "group/zero_std_fraction", "reward/true_objective", "seq/truncated_fraction")
    log = load({name: [i / 50 for i in range(40)] for name in names})
    assert set(log.metrics) == set(names)


SECRETS = {
    "hf_token": "hf_abcdEFGHijklMNOPqrst",
    "note": "sk-abcdefghijklmnop1234 on 10.1.2.3",
    "db": "postgres://bob:hunter2@db.example.com/x",
    "password": 12345678,
    "user": "alice",
    "model_path": "/home/alice/secretproj/model",
}
PRIVATE = ("alice", "secretproj", "10.1.2.3", "example.com")
CREDENTIALS = ("hf_abcd", "sk-abcd", "hunter2", "12345678")


def test_no_report_shows_a_credential_and_no_bundle_a_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    header = "global_step,losses/value_loss,losses/approx_kl,charts/episodic_return"
    (run / "log.csv").write_text("\n".join([header, *(f"{i},0.5,0.01,{i}" for i in range(40))]) + "\n")
    settings = {**SECRETS, "max_response_tokens": 512}
    (run / "config.yaml").write_text("".join(f"{key}: {value!r}\n" for key, value in settings.items()))
    page, bundle = tmp_path / "page.html", tmp_path / "bundle.zip"
    main(["diagnose", str(run), "--full", "--html", str(page), "--bundle", str(bundle)])
    shown = {"terminal": capsys.readouterr().out, "page": page.read_text("utf-8")}
    with zipfile.ZipFile(bundle) as archive:
        packed = "".join(archive.read(name).decode() for name in archive.namelist())
    for place, text in {**shown, "bundle": packed}.items():
        assert "max_response_tokens" in text, place
        assert [secret for secret in CREDENTIALS if secret in text] == [], place
    assert "512" in packed
    assert [word for word in PRIVATE if word in packed] == []


def test_what_was_given_may_change_afterwards() -> None:
    values, settings = np.full(40, 0.01), {"lr": 1e-3}
    log = load({"policy/kl_old": values}, config=settings)
    values[:], settings["lr"] = 9, 5
    kept = log.get("policy/kl_old")
    assert kept is not None
    assert (kept.value[0], log.config["lr"]) == (0.01, 1e-3)


def test_a_diagnosis_and_errors_survive_pickling() -> None:
    diagnosis = diagnosis_of(load(LOGS / "sb3_ppo_lr01"))
    again = pickle.loads(pickle.dumps(diagnosis))
    assert again.to_dict() == diagnosis.to_dict()
    assert again.findings == diagnosis.findings
    for error in (InputError("what", "do"), unknown_name("rule", "x", ["y"]), missing_extra("a", "b", "c")):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), copy.message, copy.hint) == (type(error), error.message, error.hint)
