"""The third list of ordinary logs: complete, and what is planted in its tasks and scripts does what it says."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.faults.scoring.catalogue import LINKS
from benchmarks.outside.asking import settings_of
from benchmarks.outside.plans import FIRST, SECOND, THIRD, bases, faults, healthy, plans
from benchmarks.outside.record import NEVER, loop_of, read_manifest, record, row_of
from benchmarks.outside.score import put, read_first
from benchmarks.outside.single import grounds, ppo
from benchmarks.outside.switches import Planted, Truth
from benchmarks.outside.worlds import Kept

NOW = 0
Rows = dict[str, torch.Tensor]


def planted(name: str = "", at: int = NOW) -> Planted:
    return Planted(name, at if name else NEVER, Truth())


def weights(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def test_there_are_as_many_kinds_as_were_asked_for_and_all_links_are_there() -> None:
    assert len(faults(THIRD)) >= 30
    assert sum(bool(plan.at) for plan in plans(THIRD)) >= 30
    assert sum(bool(plan.healthy) for plan in plans(THIRD)) >= 45
    assert {fault.link for fault in faults(THIRD).values()} == LINKS - {"reproducibility"}
    ids = [plan.id for plan in plans(THIRD)]
    assert len(ids) == len(set(ids))
    for one in (*faults(THIRD).values(), *healthy(THIRD).values()):
        assert set(one.bases) <= set(bases(THIRD)), one.id
    for fault in faults(THIRD).values():
        assert {fault.link, *fault.also_right} <= LINKS, fault.id
        assert bool(fault.also_right) == bool(fault.why_also), fault.id
        assert fault.planted or fault.settings, fault.id


def test_every_change_of_the_code_that_is_listed_is_tried_here() -> None:
    text = Path(__file__).read_text("utf-8") + Path(__file__).with_name("test_outside_buffered.py").read_text("utf-8")
    for fault in faults(THIRD).values():
        assert not fault.planted or f'"{fault.planted}"' in text, fault.planted


def test_settings_are_arguments_of_the_scripts_that_they_are_given_to() -> None:
    aside = {"sink", "evaluate_every", "resume_at", "stop_at", "target_kl"}
    for plan in plans(THIRD):
        if plan.base.trainer != "sb3":
            assert set(plan.settings) - aside <= set(loop_of(plan.base.trainer).DEFAULTS), plan.id
    known = {plan.id: plan for plan in plans(THIRD)}
    assert settings_of(known["odd_ppo_parking-discount-typed-61"])["gamma"] == 0.3
    assert "sink" not in settings_of(known["one_sac_tank-plain-71"])
    assert "resume_at" not in settings_of(known["one_ppo_cartpole-resumed-61"])


@pytest.mark.parametrize("base", [name for name in bases(THIRD) if not name.startswith("sb3")])
def test_each_script_writes_its_log_and_the_manifest_has_the_true_return(base: str, tmp_path: Path) -> None:
    plan = next(plan for plan in plans(THIRD) if plan.base.name == base)
    short = {**plan.base.settings, "total_timesteps": 1300}
    row = record(replace(plan, base=replace(plan.base, settings=short)), tmp_path)
    assert row["episodes"] > 5
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) > 200


# ---- tasks ------------------------------------------------------------------------------------------------------


def walk(name: str, steps: int = 12, number: int = 1) -> tuple[list[Any], Truth]:
    """Return what a trainer gets of a walk on the steering task, and the truth."""
    switch = planted(name)
    env = grounds.Between(Kept(grounds.Steer({}), switch.truth), switch, number)
    env.reset(seed=3)
    return [env.step(np.array([0.5, -1.0], np.float32)) for _ in range(steps)], switch.truth


def test_observations_are_changed_as_listed() -> None:
    plain, _ = walk("")
    late, _ = walk("one-behind")
    np.testing.assert_allclose(late[5][0], plain[4][0])
    swapped, _ = walk("columns-swapped")
    np.testing.assert_allclose(swapped[5][0], plain[5][0][::-1])
    cut, _ = walk("reading-clipped")
    np.testing.assert_allclose(cut[5][0], np.clip(plain[5][0], -0.02, 0.02))


def test_rewards_are_changed_as_listed_and_the_truth_is_not() -> None:
    paid = {
        name: np.array([row[1] for row in walk(name)[0]])
        for name in ("", "reward-sign", "reward-running-total", "reward-as-change", "reward-wrong-sign")
    }
    plain = paid[""]
    np.testing.assert_allclose(paid["reward-sign"], -1.0)
    np.testing.assert_allclose(paid["reward-running-total"], np.cumsum(plain))
    np.testing.assert_allclose(paid["reward-as-change"], np.diff(plain, prepend=0.0))
    np.testing.assert_allclose(paid["reward-wrong-sign"], -plain)
    _, truth = walk("reward-wrong-sign", steps=grounds.Steer.STEPS)
    assert truth.episodes[0][1] < 0


def test_copies_that_hang_repeat_their_last_row_and_one_goes_on() -> None:
    hung, truth = walk("copies-hang")
    assert truth.steps == 0
    assert all(np.array_equal(row[0], hung[0][0]) and row[1] == 0 for row in hung)
    assert walk("copies-hang", number=0)[1].steps == 12


def test_actions_and_lengths_are_changed_as_listed() -> None:
    levels: list[float] = []
    for name in ("", "actions-unscaled"):
        switch = planted(name)
        env = grounds.Between(Kept(grounds.Tank({}), switch.truth), switch, 0)
        env.reset(seed=1)
        for _ in range(5):
            env.step(np.array([4.0], np.float32))
        inner: Any = env.unwrapped
        levels.append(inner.level)
    assert levels[1] < levels[0] / 2
    rows, _ = walk("limit-left-from-test")
    assert next(i for i, row in enumerate(rows) if row[3]) == 7


def test_tasks_pay_for_what_they_say() -> None:
    cart = grounds.Parking({})
    cart.reset(seed=0)
    cart.place, cart.speed = 0.05, 0.0
    assert cart.step(1)[1:3] == (pytest.approx(0.98), True)
    cart.reset(seed=0)
    cart.place, cart.speed = 1.19, 0.1
    assert cart.step(1)[1:3] == (-1.0, True)
    tank = grounds.Tank({})
    tank.reset(seed=0)
    tank.level = 2.3
    assert tank.step(np.array([4.0]))[2]


# ---- the script of PPO ------------------------------------------------------------------------------------------


def script(name: str, tmp_path: Path, task: str = "Parking", **given: Any) -> ppo.Script:
    switch = planted(name)
    make = grounds.maker(task, {}, switch, 5)
    made = ppo.Script(make, {"num_steps": 32, "sink": "screen", **given}, 5, switch, tmp_path, make)
    made.writer = ppo.sink("screen", tmp_path, {}, ())
    return made


def rollout(name: str, tmp_path: Path, task: str = "Parking", **given: Any) -> tuple[ppo.Script, Rows]:
    made = script(name, tmp_path, task, **given)
    return made, made.collect()


def advantages(name: str, tmp_path: Path) -> torch.Tensor:
    """Return advantages of four rows of one copy, whose second one ends an episode."""
    made = script(name, tmp_path, gamma=0.5, gae_lambda=1.0)
    made.next_done = torch.zeros(1)
    made.next_obs = torch.zeros(1, 3)
    with torch.no_grad():
        made.agent.critic[-1].bias.zero_()  # type: ignore[union-attr]
        made.agent.critic[-1].weight.zero_()  # type: ignore[union-attr]
    value, reward = torch.tensor([[1.0], [2.0], [3.0], [4.0]]), torch.ones(4, 1)
    return made.gae(value, reward, torch.tensor([[0.0], [0.0], [1.0], [0.0]])).squeeze(1)


def test_advantages_are_changed_as_listed(tmp_path: Path) -> None:
    plain = advantages("", tmp_path)
    torch.testing.assert_close(plain, torch.tensor([0.5, -1.0, -1.5, -3.0]))
    torch.testing.assert_close(advantages("done-ignored", tmp_path)[1], torch.tensor(1 + 1.5 - 2 - 0.75))
    torch.testing.assert_close(advantages("done-one-late", tmp_path)[1], torch.tensor(1 + 1.5 - 2 + 0.5 * -2))
    torch.testing.assert_close(advantages("value-of-same-row", tmp_path)[0], torch.tensor(1 + 0.5 - 1 + 0.5 * -1))
    forwards = advantages("summed-forwards", tmp_path)
    torch.testing.assert_close(forwards[0], torch.tensor(1.0))  # nothing of what comes later is in it


def test_rows_of_the_rollout_are_changed_as_listed(tmp_path: Path) -> None:
    _, plain = rollout("", tmp_path)
    _, behind = rollout("stored-one-behind", tmp_path)
    torch.testing.assert_close(behind["obs"][1:], plain["obs"][:-1])
    made, rows = rollout("noise-not-played", tmp_path, task="Steer")
    mean = made.agent.policy(rows["obs"][0]).mean.detach()
    assert not torch.allclose(rows["action"][0], mean)
    again = grounds.maker("Steer", {}, planted(), 5)()
    again.reset(seed=5)
    torch.testing.assert_close(rows["obs"][1, 0], torch.as_tensor(again.step(mean[0].numpy())[0]))


def test_a_stale_sampler_keeps_its_weights(tmp_path: Path) -> None:
    made, rows = rollout("sampler-stale", tmp_path)
    made.learn(rows)
    assert made.sampler is not None
    assert not torch.equal(weights(made.sampler), weights(made.agent))
    assert made.actor() is made.sampler


def taught(name: str, tmp_path: Path, **given: Any) -> tuple[torch.Tensor, dict[str, float]]:
    made, rows = rollout(name, tmp_path, **given)
    told = made.learn(rows)
    return weights(made.agent), told


@pytest.mark.parametrize(
    "name",
    [
        "normalised-across-copies", "log-prob-of-new-sample", "actions-unshuffled", "entropy-penalised",
        "ratio-upside-down", "value-clipped-about-zero", "weights-in-bfloat16",
    ],
)  # fmt: skip
def test_what_is_planted_in_the_update_changes_it(name: str, tmp_path: Path) -> None:
    assert not torch.equal(taught("", tmp_path)[0], taught(name, tmp_path)[0])


def test_signs_and_roundings_are_what_they_say(tmp_path: Path) -> None:
    high, low = (taught(name, tmp_path, ent_coef=5.0)[1]["losses/entropy"] for name in ("", "entropy-penalised"))
    assert low < high - 0.01
    rounded, _ = taught("weights-in-bfloat16", tmp_path)
    assert torch.equal(rounded, rounded.bfloat16().float())
    made, rows = rollout("ratio-upside-down", tmp_path)
    flat = {key: column.flatten(0, 1) for key, column in rows.items()}
    before = made.agent.policy(flat["obs"]).log_prob(flat["action"]).detach()
    flat["adv"] = torch.where(flat["action"] == 0, 1.0, -1.0)
    made.cfg["ent_coef"] = 0.0
    made.step(flat)
    change = made.agent.policy(flat["obs"]).log_prob(flat["action"]).detach() - before
    assert change[flat["action"] == 0].mean() < 0


def test_a_value_clipped_about_zero_stops_learning_where_it_has_moved(tmp_path: Path) -> None:
    made = script("value-clipped-about-zero", tmp_path)
    value = torch.tensor([5.0, 3.05], requires_grad=True)
    rows = {"value": torch.tensor([3.0, 3.0]), "ret": torch.tensor([8.0, 8.0])}
    made.value_loss(value, rows).backward()
    assert value.grad is not None
    assert value.grad[0] == 0
    assert value.grad[1] < 0


def test_the_schedule_that_ends_early_ends_early_and_the_evaluation_gets_raw_rows(tmp_path: Path) -> None:
    early, plain = script("rate-ends-early", tmp_path), script("", tmp_path)
    assert early.rate(20, 100) == early.cfg["learning_rate"]
    assert early.rate(29, 100) == 0
    assert plain.rate(29, 100) > 0
    scores = [
        rollout(name, tmp_path, task="Steer", norm_obs=True, evaluate_every=1)[0]
        for name in ("", "evaluation-not-normalised")
    ]
    for one in scores:
        with torch.no_grad():
            one.agent.actor[-1].weight.mul_(100)  # type: ignore[operator,union-attr]
    assert scores[0].evaluate() != scores[1].evaluate()


def test_parts_of_the_page_stand_in_the_order_of_the_lists() -> None:
    whole = put("# Logs\n\nc\n", FIRST, put("\nb\n", THIRD, put("\na\n", SECOND, "")))
    assert whole == "# Logs\n\nc\n\n## A second list\n\na\n\n## A third list\n\nb\n"
    assert put("\nd\n", SECOND, whole) == whole.replace("\na\n", "\nd\n")


def test_what_is_recorded_is_of_the_list_is_scored_and_holds_nothing_but_logs() -> None:
    known = {plan.id: plan for plan in plans(THIRD)}
    rows = read_manifest(THIRD)
    assert set(read_first(listing=THIRD)["log"]) <= {row["id"] for row in rows} <= set(known)
    assert len(rows) >= 84  # the others have not been made
    for row in rows:
        assert row_of(known[row["id"]]).items() <= row.items()
    paths = [THIRD.runs / f"{row['id']}.tar.xz" for row in rows]
    assert sum(path.stat().st_size for path in paths) < 4 * 2**20
    for path in paths[::10]:
        with tarfile.open(path, "r:xz") as packed:
            for entry in packed.getmembers():
                assert entry.name.startswith(("events.out.tfevents.", "progress.", "log.", "out.", "stats.")) or (
                    entry.name.endswith(".monitor.csv")
                )
                assert (entry.uname, entry.mtime) == ("", 0)
