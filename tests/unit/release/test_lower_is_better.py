"""Metrics of which less is better: every judgement is that of the mirrored scores, and nothing shown is turned."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from firstbreak.cli import main
from firstbreak.errors import InputError
from firstbreak.release.evidence import Evidence
from firstbreak.release.gate import judge
from firstbreak.release.results import many_seeds, private_change, selection
from firstbreak.release.ruling import Ruled
from firstbreak.release.stored import stored_of
from tests.unit.release.conftest import make_run, make_scores, some_run
from tests.unit.release.test_release_results import table

RANDOM = np.random.default_rng(3)
CURVES = [50 + RANDOM.normal(0, 10, 20) for _ in range(6)]
PLAIN = [some_run(i, score=curve, step=np.arange(20.0)) for i, curve in enumerate(CURVES)]
TURNED = [replace(run, score=-run.score, lower=True) for run in PLAIN]
BEFORE = [some_run(i, score=curve - 8, step=np.arange(20.0)) for i, curve in enumerate(CURVES)]
BEFORE_TURNED = [replace(run, score=-run.score, lower=True) for run in BEFORE]


def test_the_best_is_the_least_and_the_improvement_the_same() -> None:
    (plain,), (turned,) = many_seeds(PLAIN, BEFORE).groups, many_seeds(TURNED, BEFORE_TURNED).groups
    assert turned.best == tuple(-v for v in plain.best)
    assert plain.improvement is not None
    assert turned.improvement is not None
    assert turned.improvement.value == pytest.approx(plain.improvement.value)
    assert turned.improvement.value > 0.5
    assert turned.iqm is not None
    assert turned.iqm.value < 0, "what is shown is the metric as it was measured"
    assert any("less is better" in remark for remark in turned.remarks)


def test_the_luck_of_the_choice_has_the_same_size() -> None:
    names = [run.name for run in PLAIN]
    plain = selection(PLAIN, table("fresh", "best", {name: [50.0 + i] for i, name in enumerate(names)}))
    turned = selection(TURNED, table("fresh", "best", {name: [-50.0 - i] for i, name in enumerate(names)}))
    assert plain.gain is not None
    assert turned.gain is not None
    assert turned.gain.value == pytest.approx(plain.gain.value)
    assert turned.gain.value > 0


@pytest.mark.parametrize(("lower", "ruled"), [(True, Ruled.GOOD), (False, Ruled.BAD)])
def test_a_private_set_that_falls_is_good_where_less_is_better(lower: bool, ruled: Ruled, complete: Evidence) -> None:
    rows = [*table("private", "best", {str(i): [1.0 + 0.1 * i] for i in range(6)}),
            *table("private", "baseline", {str(i): [9.0 + 0.2 * i] for i in range(6)})]  # fmt: skip
    moved, _ = private_change(rows, lower=lower)
    assert moved is not None
    assert moved.direction == "down"
    rulings = judge(replace(complete, private=moved))
    found = next(ruling for rule, ruling in rulings if rule.name == "reward-and-private-set")
    assert found.ruled is ruled


def test_a_range_runs_from_the_worst_to_the_best() -> None:
    task = PLAIN[0].task
    many_seeds(TURNED, scale={task: (0.0, -100.0)})
    with pytest.raises(InputError, match="no range"):
        many_seeds(TURNED, scale={task: (-100.0, 0.0)})


def test_the_command_keeps_the_checkpoint_with_the_least(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [make_run(tmp_path / str(i), i, level=60) for i in range(5)]
    for i, folder in enumerate(folders):
        make_scores(folder, i, [("private", "best", 2.0 + i), ("private", "baseline", 40.0 + 2 * i)])
    found: dict[bool, str] = {}
    for lower in (True, False):
        main(["release", *map(str, folders), *(["--lower-is-better"] if lower else []), "--format", "json"])
        gate = json.loads(capsys.readouterr().out)["gate"]
        found[lower] = next(row["ruled"] for row in gate if row["rule"] == "reward-and-private-set")
    assert found == {True: "good", False: "bad"}


def test_the_checkpoint_nearest_to_the_least_is_the_best(tmp_path: Path) -> None:
    for step in (100, 200, 300):
        (tmp_path / f"rl_model_{step}_steps.zip").write_bytes(str(step).encode())
    run = some_run(0, path=str(tmp_path), step=np.array([100.0, 200.0, 300.0]), score=np.array([5.0, 1.0, 9.0]))
    best = {low: next(s for s in stored_of(replace(run, lower=low)) if s.role == "best") for low in (True, False)}
    assert (best[True].step, best[True].score) == (200.0, 1.0)
    assert (best[False].step, best[False].score) == (300.0, 9.0)
