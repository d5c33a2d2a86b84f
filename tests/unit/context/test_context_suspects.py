"""What sets a run apart from healthy ones: only what none of them has, and first what acts where the run left first."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firstbreak import synth
from firstbreak.causes import all_causes
from firstbreak.cli import main
from firstbreak.context.suspects import suspects
from firstbreak.errors import InputError
from firstbreak.report.suspects import document, next_step, render
from firstbreak.runlog import RunLog
from tests.unit.release.conftest import make_run

USUAL: dict[str, Any] = {"learning_rate": 3e-4, "gamma": 0.99, "n_epochs": 10, "run_name": "well"}
WRONG = {
    "critic/loss": synth.after(0.5, synth.flat(900, 0.1), synth.geometric(60, 20, 0.2)),
    "critic/explained_variance": synth.after(0.5, synth.flat(-0.9, 0.05), synth.ramp(0.0, 0.9, 0.05, until=0.4)),
    "reward/episode_return_mean": synth.after(0.6, synth.flat(20, 0.05), synth.ramp(20, 400, 0.03, until=0.8)),
}


def well(seed: int, **config: Any) -> RunLog:
    return replace(synth.like("PPO", seed=seed)(), path=f"well{seed}", config={**USUAL, "seed": seed, **config})


def ill(**config: Any) -> RunLog:
    return replace(synth.like("PPO")(WRONG), path="ill", config={**USUAL, "seed": 99, "run_name": "ill", **config})


HEALTHY = [well(seed) for seed in range(1, 6)]


def ranked(run: RunLog, healthy: list[RunLog]) -> list[str]:
    return [d.name for d in suspects(run, healthy).explanation.likely]


def test_what_acts_where_the_run_left_first_is_the_likeliest() -> None:
    found = suspects(ill(gamma=0.9, n_epochs=30), HEALTHY)
    assert (found.outcome, found.first and found.first.link) == ("departs", "critic")
    assert [d.name for d in found.explanation.likely] == ["gamma", "n_epochs", "seed"]
    assert "acts on critic" in found.explanation.likely[0].why
    assert next_step(found).endswith("--with setting=gamma --with value=0.99")


def test_the_run_name_explains_nothing() -> None:
    found = suspects(ill(), HEALTHY)
    assert [d.name for d in found.explanation.likely] == ["seed"]
    assert "run_name" in [d.name for d in found.explanation.differences]
    assert next_step(found) == ""


def test_what_one_healthy_run_has_as_well_is_no_suspect() -> None:
    assert "gamma" not in ranked(ill(gamma=0.9), [*HEALTHY[1:], well(6, gamma=0.9)])


def test_what_differs_among_healthy_runs_weighs_half_and_all_values_are_named() -> None:
    mixed = [*HEALTHY[1:], well(6, gamma=0.98)]
    one = next(d for d in suspects(ill(gamma=0.9), mixed).explanation.likely if d.name == "gamma")
    sure = next(d for d in suspects(ill(gamma=0.9), HEALTHY).explanation.likely if d.name == "gamma")
    assert one.a == "0.99, 0.98"
    assert one.weight < sure.weight
    assert "healthy runs differ" in one.why
    assert "one-setting" not in next_step(suspects(ill(gamma=0.9), mixed)), "which value would be given?"


def test_the_order_of_healthy_runs_does_not_matter() -> None:
    run = ill(gamma=0.9, n_epochs=30, learning_rate=1e-3)
    assert ranked(run, HEALTHY) == ranked(run, HEALTHY[::-1])


def test_a_run_like_the_healthy_ones_is_said_to_be_one() -> None:
    found = suspects(well(9), HEALTHY)
    assert found.outcome == "within"
    assert render(found).startswith("The run does what healthy ones do")
    assert next_step(found) == ""


def test_two_metrics_are_too_few_to_call_a_run_like_the_healthy_ones() -> None:
    few = [replace(log, series=tuple(s for s in log.series if s.metric == "critic/loss")) for log in HEALTHY]
    found = suspects(well(9), few)
    assert found.outcome == "not comparable"
    assert render(found).startswith("Too little can be compared")


def test_two_healthy_runs_are_too_few() -> None:
    with pytest.raises(InputError, match="spread says nothing"):
        suspects(ill(), HEALTHY[:2])


def test_runs_without_records_are_named_and_hostile_names_are_cleaned() -> None:
    found = suspects(ill(**{"ga\x1b[31mmma": 1.0}), HEALTHY)
    text = render(found)
    assert "no record" in text
    assert "\x1b" not in text
    assert json.loads(json.dumps(document(found)))["outcome"] == "departs"


def test_the_command_reads_folders_and_leaves_the_run_itself_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in range(5):
        make_run(tmp_path / "well" / str(seed), seed)
    assert (
        main(["compare", str(tmp_path / "well" / "0"), "--baseline", str(tmp_path / "well"), "--format", "json"]) == 0
    )
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 5
    assert main(["compare", str(tmp_path / "well" / "0")]) == 2
    assert main(["compare", "a", "b", "--baseline", str(tmp_path / "well")]) == 2
    assert main(["compare", str(tmp_path / "well" / "0"), "--baseline", str(tmp_path / "well" / "1")]) == 2
    capsys.readouterr()


def test_the_causes_of_departures_name_this_command() -> None:
    commands = {e.command for c in all_causes() if c.name.endswith("-differs") for e in c.experiments if e.command}
    assert commands == {"firstbreak compare RUN --baseline HEALTHY"}
