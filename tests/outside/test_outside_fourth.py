"""The fourth list of ordinary logs: as drawn, complete, and what is planted in its tasks does what it says."""

from __future__ import annotations

import csv
import json
import tarfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.faults.scoring.catalogue import LINKS
from benchmarks.outside.asking import settings_of
from benchmarks.outside.fourth import between
from benchmarks.outside.fourth.clear import clear
from benchmarks.outside.fourth.draw import draw, pool
from benchmarks.outside.fourth.exports import Records, Sheet
from benchmarks.outside.fourth.tasks import Arm, Catch, Courier, Glide
from benchmarks.outside.plans import FOURTH, bases, faults, healthy, plans
from benchmarks.outside.record import NEVER, loop_of, read_manifest, record, row_of
from benchmarks.outside.score import PARTS, read_first
from benchmarks.outside.switches import Planted, Truth
from benchmarks.outside.worlds import Kept


def planted(name: str = "", at: int = 0) -> Planted:
    return Planted(name, at if name else NEVER, Truth())


# ---- the list ---------------------------------------------------------------------------------------------------


def test_the_list_is_what_the_seed_draws_with_the_links_of_the_pool() -> None:
    known = {str(entry["id"]): entry for entry in pool()}
    listed = {(fault.id, fault.bases[0], fault.starts == ("midway",)): fault for fault in faults(FOURTH).values()}
    assert set(listed) == {(one.id, one.base, one.midway) for one in draw(pool())}
    for fault in listed.values():
        entry = known[fault.id]
        assert (fault.link, fault.source) == (entry["link"], entry["source"])
        assert fault.also_right == tuple(entry.get("also_right", ()))
        assert fault.protocol == bool(entry.get("protocol"))
        assert len(fault.bases) == 1


def test_there_are_as_many_runs_as_were_asked_for() -> None:
    found = plans(FOURTH)
    assert sum(bool(plan.fault) for plan in found) >= 40
    assert sum(bool(plan.at) for plan in found) == sum(bool(plan.fault) for plan in found) // 2
    assert sum(bool(plan.healthy) for plan in found) >= 50
    assert 2 * sum(bool(plan.healthy) and plan.name != "plain" for plan in found) >= 50
    assert {plan.base.algorithm for plan in found} == {"PPO", "DQN", "C51", "SAC", "TD3", "DDPG"}
    assert len({plan.id for plan in found}) == len(found)
    assert [plan.name == "plain" for plan in found] == sorted((plan.name == "plain" for plan in found), reverse=True)
    for one in (*faults(FOURTH).values(), *healthy(FOURTH).values()):
        assert set(one.bases) <= set(bases(FOURTH)), one.id
    for fault in faults(FOURTH).values():
        assert {fault.link, *fault.also_right} <= LINKS, fault.id
        assert bool(fault.also_right) == bool(fault.why_also), fault.id
        assert fault.planted or fault.settings, fault.id
    assert "fourth" in PARTS


def test_every_change_of_the_code_that_is_listed_is_tried_here() -> None:
    here = Path(__file__)
    files = here, *(here.with_name(f"test_outside_fourth_{part}.py") for part in ("buffered", "ppo"))
    text = "".join(file.read_text("utf-8") for file in files)
    for fault in faults(FOURTH).values():
        assert not fault.planted or f'"{fault.planted}"' in text, fault.planted


def test_settings_are_arguments_of_the_scripts_that_they_are_given_to() -> None:
    aside = {"sink", "resume_at", "stop_at", "target_kl"}
    for plan in plans(FOURTH):
        if plan.base.trainer != "sb3":
            assert set(plan.settings) - aside <= set(loop_of(plan.base.trainer).DEFAULTS), plan.id
    known = {plan.id: plan for plan in plans(FOURTH)}
    assert settings_of(known["sb3_dqn_catch-discount-wrong-81"])["gamma"] == 0.45
    assert "sink" not in settings_of(known["export_td3_arm-plain-91"])
    assert "stop_at" not in settings_of(known["board_ppoc_arm-stopped-early-81"])


SHORT = {"board_ppo_catch": 2500, "export_ppo_acrobot": 9000, "board_ppoc_arm": 1300}


@pytest.mark.parametrize("base", [name for name in bases(FOURTH) if not name.startswith("sb3")])
def test_each_script_writes_its_log_and_the_manifest_has_the_true_return(base: str, tmp_path: Path) -> None:
    plan = next(plan for plan in plans(FOURTH) if plan.base.name == base and plan.name == "plain")
    short = {**plan.base.settings, "total_timesteps": SHORT.get(base, 700)}
    row = record(replace(plan, base=replace(plan.base, settings=short)), tmp_path)
    assert row["episodes"] > 2
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) > 200


def test_exports_have_a_row_a_step_and_gaps_where_nothing_was_written(tmp_path: Path) -> None:
    for kind in (Sheet, Records):
        history = kind(tmp_path)
        history.add_scalar("charts/episodic_return", 1.5, 7)
        history.add_scalar("losses/td_loss", float("nan"), 8)
        history.add_scalar("charts/SPS", 900, 8)
        history.close()
    with (tmp_path / "wandb_export.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["global_step"] for row in rows] == ["7", "8"]
    assert (rows[0]["losses/td_loss"], rows[1]["losses/td_loss"]) == ("", "NaN")
    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text("utf-8").splitlines()]
    assert lines[0]["charts/episodic_return"] == 1.5
    assert lines[1]["charts/episodic_return"] is None


# ---- tasks ------------------------------------------------------------------------------------------------------


def walk(name: str, task: str = "Arm", steps: int = 12) -> tuple[list[Any], Truth]:
    """Return what a trainer gets of a walk, and the truth."""
    switch = planted(name)
    env = between.maker(task, {}, switch, 5)()
    env.reset(seed=3)
    action = np.array([0.5, -1.0], np.float32) if task in ("Arm", "Glide") else 1
    return [env.step(action) for _ in range(steps)], switch.truth


def test_observations_are_changed_as_listed() -> None:
    plain, _ = walk("")
    still, _ = walk("velocities-zero")
    assert (still[3][0][4:6] == 0).all()
    np.testing.assert_allclose(still[3][0][:4], plain[3][0][:4])
    board, _ = walk("velocities-zero", "Courier", 2)
    assert (board[0][0][[2, 3, 6]] == 0).all()
    large, _ = walk("one-feature-x1000")
    np.testing.assert_allclose(large[3][0][0], 1000 * plain[3][0][0], rtol=1e-6)
    again, _ = walk("step-repeated", steps=39)
    same = [np.array_equal(a[0], b[0]) and a[1] == b[1] for a, b in pairwise(again)]
    assert 0.5 < np.mean(same) < 0.9
    fast, truth = walk("frame-skip", steps=5)
    assert truth.steps == 5 * between.SKIP
    assert fast[0][1] == pytest.approx(sum(row[1] for row in plain[: between.SKIP]))


def test_rewards_are_changed_as_listed_and_the_truth_is_not() -> None:
    steps = Arm.STEPS
    plain, truth = walk("", steps=steps)
    paid = np.array([row[1] for row in plain])
    late = np.array([row[1] for row in walk("reward-one-late", steps=steps)[0]])
    np.testing.assert_allclose(late, [0.0, *paid[:-1]])
    end = np.array([row[1] for row in walk("paid-at-the-end", steps=steps)[0]])
    assert (end[:-1] == 0).all()
    assert end[-1] == pytest.approx(paid.sum())
    np.testing.assert_allclose([row[1] for row in walk("reward-x100", steps=steps)[0]], 100 * paid)
    effort = Arm.EFFORT * 1.25
    flipped, kept = walk("one-term-flipped", steps=steps)
    np.testing.assert_allclose([row[1] for row in flipped], paid + 2 * effort)
    assert kept.episodes[0][1] == pytest.approx(truth.episodes[0][1])


def test_ends_are_changed_as_listed() -> None:
    rows, _ = walk("limit-as-end", steps=Arm.STEPS)
    assert rows[-1][2:4] == (True, False)
    for name, second in (("", Courier.LIMIT), ("clock-not-reset", 1)):
        env = between.maker("Courier", {}, planted(name), 5)()
        lengths: list[int] = []
        for seed in (3, 4):
            env.reset(seed=seed)
            inner: Any = env.unwrapped
            inner.parcel = np.array([9, 9])  # out of reach
            lengths.append(next(n for n in range(1, 99) if env.step(0)[3]))
        assert lengths == [Courier.LIMIT, second]


def test_tasks_pay_for_what_they_say() -> None:
    ball = Catch({}, Truth())
    ball.reset(seed=0)
    ball.ball, ball.drift, ball.height = ball.paddle, 0.0, 1
    assert ball.step(1)[1] == 1.0
    ball.ball, ball.drift, ball.height = ball.paddle + 0.5, 0.0, 1
    assert ball.step(1)[1] == -1.0
    board = Courier({}, Truth())
    board.reset(seed=0)
    board.place, board.parcel, board.goal = np.array([0, 0]), np.array([0, 1]), np.array([0, 2])
    assert board.step(0)[1:3] == (pytest.approx(0.98), False)
    assert board.step(0)[1:3] == (pytest.approx(1.98), True)
    glider = Glide({}, Truth())
    glider.reset(seed=0)
    glider.beacon = glider.place.copy()
    assert glider.step(np.array([0.0, 0.0]))[2]
    hard = Catch({"harder_at": 0}, Truth())
    hard.reset(seed=1)
    drifts = [abs(hard.drift) for _ in range(50) if hard.drop() is None]
    assert max(drifts) > 0.03
    assert isinstance(between.maker("Arm", {}, planted(), 1)().unwrapped, Arm)
    assert isinstance(between.maker("Catch", {}, planted(), 1)().env, Kept)  # type: ignore[attr-defined]


# ---- what is recorded -------------------------------------------------------------------------------------------


def test_what_is_recorded_is_of_the_list_and_holds_nothing_but_logs() -> None:
    known = {plan.id: plan for plan in plans(FOURTH)}
    rows = read_manifest(FOURTH)
    assert set(read_first(listing=FOURTH)["log"]) == {row["id"] for row in rows} == set(known)
    for row in rows:
        assert row_of(known[row["id"]]).items() <= row.items()
    paths = [FOURTH.runs / f"{row['id']}.tar.xz" for row in rows]
    assert sum(path.stat().st_size for path in paths) < 4 * 2**20
    logs = ("events.out.tfevents.", "progress.", "wandb_export.", "history.")
    for path in paths[::10]:
        with tarfile.open(path, "r:xz") as packed:
            for entry in packed.getmembers():
                assert entry.name.startswith(logs) or entry.name.endswith(".monitor.csv")
                assert (entry.uname, entry.mtime) == ("", 0)


def test_what_costs_more_than_a_tenth_is_clear() -> None:
    plan = next(plan for plan in plans(FOURTH) if plan.name == "discount-wrong")
    base = plan.base.name
    plain = [{"id": f"p{end}", "base": base, "name": "plain", "end": end, "early": [0.0, 1.0, 9]} for end in (10, 12)]
    for end, lost in ((9.5, False), (8.5, True), (float("nan"), True)):
        row = {"id": plan.id, "base": base, "name": plan.name, "end": end, "died": "", "early": [0.0, 1.0, 9]}
        assert clear(plan, [*plain, row]) is lost
