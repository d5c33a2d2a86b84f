"""A script as a black box: run for real on the ids of the ladder, judged by what its environments saw."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from firstbreak.check import find_check
from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.finding import Component, Link, Severity
from firstbreak.inspection import Inspection
from firstbreak.isolation import Limits
from firstbreak.probes.adapters.script import Scripted
from firstbreak.probes.api import probe
from firstbreak.probes.checks.script_log import speaking
from firstbreak.probes.ladder.outcome import Outcome
from firstbreak.probes.ladder.trial import Trial
from firstbreak.probes.logs.logged import Logged, Told

LIMITS = Limits(seconds=60.0, silence_s=30.0)
STEPS = 2000

LEARNER = '''
"""Tabular Q-learning with one mistake that is named on the command line, and a log in the working folder."""
import csv, itertools, os, sys

name, steps, seed, mistake, log = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
if "hidden" in log:  # as a process that does not inherit our environment
    del os.environ["FIRSTBREAK_PROBE_RECORD"]
import gymnasium, numpy as np
env = gymnasium.make(name)
space = env.action_space
if mistake == "never_steps":
    sys.exit(0)
if not hasattr(space, "n") and not hasattr(space, "nvec"):
    sys.exit("discrete actions only")
sizes = [int(space.n)] if hasattr(space, "n") else [int(n) for n in space.nvec]
actions = list(itertools.product(*[range(n) for n in sizes]))
given = lambda i: actions[i][0] if hasattr(space, "n") else np.array(actions[i])
key = lambda obs: 0 if mistake == "blind" else np.asarray(obs).tobytes()
random, table, tries = np.random.default_rng(seed), {}, {}
row = lambda obs: table.setdefault(key(obs), np.zeros(len(actions)))
if "csv" in log:
    os.makedirs("runs/q")
    out = csv.writer(open("runs/q/progress.csv", "w"))
    out.writerow(["global_step", "charts/episodic_return", "losses/td_loss", "losses/q_values"])
if "nothing" in log:
    print("training", seed)
earned, returns, errors = 0.0, [], []
obs, _ = env.reset(seed=seed)
for t in range(steps):
    greedy = mistake != "random" and random.random() > max(0.02, 1 - 2 * t / steps)
    best = row(obs).argmax() if mistake != "upside_down" else row(obs).argmin()
    i = int(best) if greedy else int(random.integers(len(actions)))
    seen, reward, terminated, truncated, _ = env.step(given(i))
    after = 0.0 if terminated or mistake == "myopic" else row(seen).max()
    earned += reward
    errors.append((reward + 0.5 * after - row(obs)[i]) ** 2)
    tries[key(obs), i] = tries.get((key(obs), i), 0) + 1
    row(obs)[i] += max(0.02, 1 / tries[key(obs), i]) * (reward + 0.5 * after - row(obs)[i])
    if terminated or truncated:
        returns.append(100 * earned if mistake == "other_game" else earned)
        earned = 0.0
    if "csv" in log and t % 50 == 49 and returns:
        loss = float("nan") if mistake == "nan" and t > 600 else np.mean(errors[-50:])
        out.writerow([t + 1, np.mean(returns[-50:]), loss, row(obs).mean()])
    obs = env.reset()[0] if terminated or truncated else seen
if mistake == "fails":
    raise RuntimeError("no such folder")
'''


def climb(folder: Path, mistake: str, log: str = "nothing") -> Inspection:
    path = folder / "learner.py"
    path.write_text(LEARNER)
    command = f"{sys.executable} {path} {{env_id}} {{steps}} {{seed}} {mistake} {log}"
    return probe(script=command, steps=STEPS, limits=LIMITS)


def test_a_script_that_learns_is_healthy_as_far_as_its_actions_show(tmp_path: Path) -> None:
    seen = climb(tmp_path, "nothing")
    assert seen.verdict is Verdict.HEALTHY, (seen.findings, seen.details["rungs"], seen.details["failures"])
    assert {"best-action-not-found", "policy-ignores-state", "credit-not-delayed"} <= set(seen.clear)
    unlock = {name for s in seen.skipped for name in s.unlock_with}
    assert "agent.value(obs)" in unlock  # what a script cannot show is said, not called healthy


@pytest.mark.parametrize(
    ("mistake", "name"),
    [
        ("upside_down", "best-action-not-found"),
        ("blind", "policy-ignores-state"),
        ("myopic", "credit-not-delayed"),
    ],
)
def test_one_mistake_in_a_script_is_named_at_the_rung_that_adds_it(tmp_path: Path, mistake: str, name: str) -> None:
    seen = climb(tmp_path, mistake)
    assert seen.verdict is Verdict.BROKEN
    assert seen.first_break is not None
    assert seen.first_break.name == name, seen.details["rungs"]


def test_a_script_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    seen = climb(tmp_path, "fails")
    assert seen.first_break is not None
    assert seen.first_break.name == "trainer-fails"
    assert "no such folder" in str(seen.details["failures"])


@pytest.mark.parametrize(("mistake", "log"), [("never_steps", "nothing"), ("nothing", "hidden-nothing")])
def test_of_a_script_that_shows_nothing_nothing_is_said(tmp_path: Path, mistake: str, log: str) -> None:
    seen = climb(tmp_path, mistake, log)
    assert (seen.verdict, seen.findings) == (Verdict.UNDECIDED, ())
    (rung,) = [s for s in seen.skipped if s.name == "best-action-not-found"]
    assert "cannot decide" in rung.reason
    assert rung.unlock_with == ("reward/episode_return_mean",)


def test_the_log_of_a_failed_rung_is_judged_beside_it(tmp_path: Path) -> None:
    seen = climb(tmp_path, "upside_down", "csv")
    assert seen.first_break is not None
    assert seen.first_break.name == "best-action-not-found"
    assert any("were read (table)" in note for note in seen.notes), seen.notes


def test_a_healthy_log_of_passed_rungs_says_nothing(tmp_path: Path) -> None:
    seen = climb(tmp_path, "nothing", "csv")
    assert seen.verdict is Verdict.HEALTHY, (seen.findings, seen.details["rungs"])
    assert "script-log-shows-fault" in seen.clear


def test_a_loss_that_is_not_finite_counts_on_a_passed_rung_too(tmp_path: Path) -> None:
    seen = climb(tmp_path, "nan", "csv")
    assert seen.first_break is not None
    assert (seen.first_break.name, seen.first_break.link) == ("script-log-shows-fault", Link.NUMERICS)
    assert "bandit-action" in seen.first_break.metric


@pytest.mark.parametrize(
    ("rule", "failed", "speaks"),
    [
        ("nonfinite-metric", False, True),
        ("grad-norm-zero", False, False),  # what a solved task does to a gradient
        ("grad-norm-explosion", False, False),
        ("grad-norm-zero", True, True),
    ],
)
def test_on_a_passed_rung_only_what_is_not_finite_counts(rule: str, failed: bool, speaks: bool) -> None:
    told = Told(rule, Severity.ERROR, Link.NUMERICS, Component.OPTIMISER, "1 of 1")
    outcome = Outcome("bandit-action", "discrete", 0, 1, log=Logged(metrics=("policy/loss",), told=(told,)))
    trial = Trial(Scripted("true {env_id} {steps}", None, LIMITS), outcomes=[outcome])
    trial.failed += ["bandit-action"] * failed
    assert bool(speaking(outcome, trial)) is speaks
    assert find_check("script-log-shows-fault").look(trial) is None or speaks


@pytest.mark.parametrize(
    ("mistake", "name"),
    [("nothing", ""), ("upside_down", "best-action-not-found"), ("random", "best-action-not-found")],
)
def test_steps_that_nobody_saw_are_judged_by_the_logged_returns(tmp_path: Path, mistake: str, name: str) -> None:
    seen = climb(tmp_path, mistake, "hidden-csv")
    if not name:
        assert not seen.findings
        assert {"best-action-not-found", "policy-ignores-state", "credit-not-delayed"} <= set(seen.clear)
        (rare,) = [s for s in seen.skipped if s.name == "advantage-size-lost"]
        assert "scatter too much" in rare.reason  # of twenty logged means of a reward that comes once in four
        return
    assert seen.first_break is not None
    assert seen.first_break.name == name
    assert "logged return" in seen.findings[0].message


def test_returns_that_the_environment_cannot_pay_decide_nothing(tmp_path: Path) -> None:
    seen = climb(tmp_path, "other_game", "hidden-csv")
    assert (seen.verdict, seen.findings) == (Verdict.UNDECIDED, ())
    assert any("none of this environment" in s.reason for s in seen.skipped)


def test_the_script_runs_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths from here go on to work, modules from here are found, and nothing is written here."""
    (tmp_path / "helper_of_a_script.py").write_text("STEPS = 1")
    (tmp_path / "settings.yaml").write_text("rate: 1")
    script = (
        "import sys, pathlib, gymnasium, helper_of_a_script\n"
        "assert pathlib.Path(sys.argv[2]).read_text() == 'rate: 1'\n"
        "pathlib.Path('written.txt').write_text('x')\n"
        "sys.exit('it ran to its end')\n"
    )
    (tmp_path / "train.py").write_text(script)
    monkeypatch.chdir(tmp_path)
    seen = probe(script=f"{sys.executable} train.py {{env_id}} ./settings.yaml {{steps}}", steps=100, limits=LIMITS)
    assert "it ran to its end" in str(seen.details)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["helper_of_a_script.py", "settings.yaml", "train.py"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("python ppo.py", "env_id"),
        ("python 'ppo.py {env_id} {steps}", "quot"),
        ("no-such-program {env_id} {steps}", "no such program"),
        (f"{sys.executable} no_such_script.py {{env_id}} {{steps}}", "no such file"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused(command: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        probe(script=command)
