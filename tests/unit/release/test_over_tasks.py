"""Several tasks in one release: raw scores of different tasks are never averaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.cli import main
from firstbreak.release.building import gather
from firstbreak.release.evidence import Evidence, Looks, Run, Score
from firstbreak.release.gate import judge
from firstbreak.release.over_tasks import ONE_A_TASK, pool, rewards_alike
from firstbreak.release.ruling import Ruled
from firstbreak.release.scores import gather_scores
from tests.unit.release.conftest import make_protocol, make_run, make_scores, some_run

SCALE = {"CartPole-v1": (20.0, 120.0), "Acrobot-v1": (-500.0, -100.0)}


def acrobot(seed: int, **more: Any) -> Run:
    found = some_run(seed, task="Acrobot-v1", score=np.array([-500.0, -300.0 + seed]), reward=(-500.0, -300.0), **more)
    return replace(found, name=f"acrobot{seed}")


MANY = (*(some_run(i) for i in range(3)), *(acrobot(i) for i in range(3)))
ROWS = [Score("fresh", "best", run.name, run.best - 5, run.protocol) for run in MANY]


def test_one_task_is_left_as_it_is() -> None:
    found = pool(MANY[:3], ROWS[:3], {})
    assert (found.runs, found.rows, found.apart, found.scaled) == (MANY[:3], tuple(ROWS[:3]), "", "")


def test_several_tasks_without_a_scale_are_refused() -> None:
    assert "Acrobot-v1 have a unit of their own: not pooled over 2 tasks" in pool(MANY, ROWS, {}).apart
    assert "CartPole-v1 have" in pool(MANY, ROWS, {"Acrobot-v1": SCALE["Acrobot-v1"]}).apart


def test_on_a_scale_each_task_counts_from_its_0_to_its_1() -> None:
    found = pool(MANY, ROWS, SCALE)
    assert found.apart == ""
    assert found.runs[0].best == pytest.approx(0.7)
    assert found.runs[3].best == pytest.approx(0.5)
    assert found.rows[3].score == pytest.approx(0.4875)


def test_shares_of_one_need_no_scale_but_errors_always_do() -> None:
    shares = [replace(run, score=np.array([0.1, 0.5])) for run in MANY]
    assert pool(shares, [], {}).apart == ""
    turned = [replace(run, lower=True) for run in shares]
    assert pool(turned, [], {}).apart != ""
    errors = pool(turned, [], {"CartPole-v1": (1.0, 0.0), "Acrobot-v1": (1.0, 0.0)})
    assert not errors.lower, "on the scale more is better"
    assert errors.runs[0].best == pytest.approx(0.9)


def test_protocols_that_differ_in_the_task_alone_are_taken_for_one() -> None:
    own = [replace(run, protocol=run.task, protocol_settings={"control.environment": run.task}) for run in MANY]
    rows = [replace(row, protocol=run.task) for row, run in zip(ROWS, own, strict=True)]
    assert {row.protocol for row in pool(own, rows, SCALE).rows} == {ONE_A_TASK}
    other = [replace(own[0], protocol_settings={"control.action_mode": "sampled"}), *own[1:]]
    assert {row.protocol for row in pool(other, rows, SCALE).rows} == {"CartPole-v1", "Acrobot-v1"}


def test_rewards_of_tasks_count_as_shares_of_what_each_task_has_seen() -> None:
    mine, _ = rewards_alike(MANY, ())
    assert mine[0].reward == pytest.approx((0.0, 60 / 62))
    assert mine[3].reward == pytest.approx((0.0, 1.0))
    alone, _ = rewards_alike(MANY[:3], ())
    assert alone[0].reward == MANY[0].reward


@pytest.fixture
def two_tasks(tmp_path: Path) -> tuple[list[Path], list[str]]:
    """Five seeds on each of two tasks, scored under protocols that differ in the task alone."""
    folders: list[Path] = []
    hashes: list[str] = []
    for task in SCALE:
        place = tmp_path / task
        hashes.append(
            make_protocol(_made(place) / "protocol.toml", **{'environment = "mine"': f'environment = "{task}"'})
        )
        for seed in range(5):
            folders.append(make_run(place / f"{task}-{seed}", seed + 10 * len(hashes), config={"env_id": task}))
            rows = [("fresh", "best", 95.0), ("private", "best", 90.0 + seed), ("private", "baseline", 20.0 + seed)]
            if task == "Acrobot-v1":  # here the private set falls
                rows = [("fresh", "best", -300.0), ("private", "best", -500.0), ("private", "baseline", -100.0 - seed)]
            make_scores(folders[-1], seed, rows, hashes[-1])
    return folders, hashes


def _made(place: Path) -> Path:
    place.mkdir(parents=True)
    return place


def ruled(evidence: Evidence, name: str) -> tuple[Ruled, str]:
    return next((ruling.ruled, ruling.text) for rule, ruling in judge(evidence) if rule.name == name)


def test_a_release_of_two_tasks_asks_for_scales_and_does_not_average(two_tasks: tuple[list[Path], list[str]]) -> None:
    evidence = gather(two_tasks[0]).evidence
    assert (evidence.private, evidence.selection.gain, evidence.selection.corrected) == (None, None, None)
    for rule in ("reward-and-private-set", "selection-corrected"):
        found, answer = ruled(evidence, rule)
        assert found is Ruled.MISSING
        assert "unit of their own" in answer


def test_with_scales_every_task_weighs_alike(two_tasks: tuple[list[Path], list[str]]) -> None:
    evidence = gather(two_tasks[0], scale=SCALE).evidence
    assert evidence.private is not None
    assert evidence.private.before == pytest.approx((0.02 + 0.995) / 2, abs=0.01)
    assert evidence.private.after == pytest.approx((0.72 + 0.0) / 2, abs=0.01)
    assert "each task on its scale" in evidence.private.against
    assert evidence.reward is not None
    assert "each task from its least to its most" in evidence.reward.against
    assert evidence.selection.corrected is not None
    assert evidence.selection.corrected.value == pytest.approx((0.75 + 0.5) / 2, abs=0.01)
    assert set(evidence.selection.fresh) == {95.0, -300.0}, "run by run they are shown as they are"
    assert ruled(evidence, "one-protocol")[0] is Ruled.GOOD


def test_page_and_terminal_say_that_tasks_are_scaled_and_of_what_there_are_five(
    two_tasks: tuple[list[Path], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scales = [word for task, (lo, hi) in SCALE.items() for word in ("--scale", f"{task}={lo:g}:{hi:g}")]
    out = tmp_path / "release"
    main(["release", *map(str, two_tasks[0]), *scales, "--out", str(out)])
    told = " ".join(capsys.readouterr().out.split())
    assert "over all, each on its scale" in told
    assert "5 runs a task" in told
    assert "pooled with each task on its scale" in told
    assert "5 runs a task" in (out / "index.html").read_text("utf-8")


def test_a_look_at_one_task_is_no_look_at_the_other(two_tasks: tuple[list[Path], list[str]]) -> None:
    folders, hashes = two_tasks
    evidence = gather(folders, scale=SCALE).evidence
    one = replace(evidence, looks=Looks(1, 3, protocols=(hashes[0],)))
    assert ruled(one, "private-set-unspoiled")[0] is Ruled.MISSING
    both = replace(evidence, looks=Looks(2, 3, protocols=tuple(hashes)))
    assert ruled(both, "private-set-unspoiled")[0] is Ruled.GOOD


def test_a_seed_of_two_tasks_does_not_say_whose_a_score_is(tmp_path: Path) -> None:
    path = tmp_path / "more.csv"
    path.write_text("split,checkpoint,seed,score\nfresh,best,0,1.0\nfresh,best,7,2.0\n")
    runs = [some_run(0), replace(acrobot(0), seed="0"), replace(acrobot(1), seed="7")]
    assert [row.run for row in gather_scores(runs, [path])] == ["0", "acrobot1"]
