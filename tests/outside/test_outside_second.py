"""The second list of ordinary logs: complete, and what is planted in its tasks and scripts does what it says."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.faults.scoring.catalogue import LINKS
from benchmarks.outside import contrib, places, script_ddqn, script_dsac, script_ppo, script_reinforce, script_td3
from benchmarks.outside.asking import settings_of
from benchmarks.outside.plans import SECOND, bases, faults, healthy, plans
from benchmarks.outside.record import NEVER, read_manifest, row_of
from benchmarks.outside.score import read_first
from benchmarks.outside.switches import Planted, Truth
from benchmarks.outside.worlds import Kept

NOW = 0


def planted(name: str, at: int = NOW) -> Planted:
    return Planted(name, at, Truth())


def weights(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def test_there_are_as_many_kinds_as_were_asked_for_and_all_links_are_there() -> None:
    assert len(faults(SECOND)) >= 24
    assert len(healthy(SECOND)) - 1 + len(bases(SECOND)) >= 16  # a plain run of each trainer is a way of its own
    assert {fault.link for fault in faults(SECOND).values()} == LINKS - {"reproducibility"}
    ids = [plan.id for plan in plans(SECOND)]
    assert len(ids) == len(set(ids))
    for one in (*faults(SECOND).values(), *healthy(SECOND).values()):
        assert set(one.bases) <= set(bases(SECOND)), one.id
    for fault in faults(SECOND).values():
        assert {fault.link, *fault.also_right} <= LINKS, fault.id
        assert bool(fault.also_right) == bool(fault.why_also), fault.id
        assert fault.planted or fault.settings, fault.id


def test_every_change_of_the_code_that_is_listed_is_tried_here() -> None:
    text = Path(__file__).read_text("utf-8")
    for fault in faults(SECOND).values():
        assert not fault.planted or f'"{fault.planted}"' in text, fault.planted


def test_the_users_settings_are_those_of_the_script() -> None:
    known = {plan.id: plan for plan in plans(SECOND)}
    told = settings_of(known["contrib_rppo_recall-rate-fades-too-soon-31"])
    assert (told["algo"], told["learning_rate"], told["n_envs"]) == ("RecurrentPPO", 1e-3, 8)
    assert "eval_limit" not in settings_of(known["contrib_trpo_doublependulum-evaluation-cut-short-31"])
    assert settings_of(known["own_td3_reacher-target-as-matrix-midway-31"])["tau"] == 0.01


def test_the_manifest_matches_the_list_and_runs_hold_nothing_but_logs() -> None:
    known = {plan.id: plan for plan in plans(SECOND)}
    rows = read_manifest(SECOND)
    assert {row["id"] for row in rows} == set(known)
    assert set(read_first(listing=SECOND)["log"]) == set(known)
    for row in rows:
        assert row_of(known[row["id"]]).items() <= row.items()
    paths = [SECOND.runs / f"{name}.tar.xz" for name in known]
    assert sum(path.stat().st_size for path in paths) < 3 * 2**20
    for path in paths[::10]:
        with tarfile.open(path, "r:xz") as packed:
            for entry in packed.getmembers():
                assert entry.name.startswith(("events.out.tfevents.", "progress.", "log.", "train", "output.")) or (
                    entry.name.endswith(".monitor.csv")
                )
                assert (entry.uname, entry.mtime) == ("", 0)


# ---- tasks ------------------------------------------------------------------------------------------------------


class Counting(gym.Env[Any, Any]):
    """Shows and costs the number of the step; the craft goes away on odd steps and comes back on even ones."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = gym.spaces.Discrete(3)
        self.count = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.count += 1
        info = {"lost_cost": 3.0, "sold": 1.0, "distance": 1.0 + self.count % 2}
        return np.full(2, self.count, np.float32), -float(self.count), False, self.count >= 40, info


def play(name: str, at: int = NOW, steps: int = 100) -> tuple[list[Any], Truth]:
    switch = planted(name, at)
    env = places.Middle(Kept(Counting(), switch.truth), switch)
    env.reset()
    rows: list[Any] = []
    for _ in range(steps):
        rows.append(env.step(0))
        if rows[-1][3]:
            env.reset()
    return rows, switch.truth


@pytest.mark.parametrize(
    "name", ["action-repeated", "observations-late", "reading-overflows", "reward-floored", "sales-not-read"]
)
def test_nothing_is_changed_before_its_time_and_the_true_return_never(name: str) -> None:
    clean, _ = play("")
    early, truth = play(name, NEVER)
    assert all(np.array_equal(a[0], b[0]) and a[1:4] == b[1:4] for a, b in zip(clean, early, strict=True))
    late, kept = play(name, 20)
    assert {score for _, score in (*truth.episodes, *kept.episodes)} == {-40 * 41 / 2}
    assert not all(np.array_equal(a[0], b[0]) and a[1:4] == b[1:4] for a, b in zip(clean, late, strict=True))


def test_rewards_observations_and_actions_are_changed_as_told() -> None:
    assert {row[1] for row in play("reward-floored")[0]} == {0.0}
    assert play("sales-not-read")[0][0][1] == -1.0 + 3.0 - 1.0
    assert [row[1] for row in play("retreat-is-free")[0][:4]] == [0.0, 10.0, 0.0, 10.0]
    assert [row[0][0] for row in play("observations-late")[0][:8]] == [0.0] * 6 + [1.0, 2.0]
    assert sum(np.isinf(row[0]).any() for row in play("reading-overflows")[0]) == 0  # the first view is a reset's
    assert sum(np.isinf(row[0]).any() for row in play("reading-overflows", 20)[0]) == 1
    assert play("action-repeated")[0][0][1] == -sum(range(1, 9))


def test_tasks_pay_what_they_say() -> None:
    catch = places.Catch(planted(""), {})
    catch.reset(seed=1)
    catch.ball = catch.paddle
    assert [catch.step(1)[1] for _ in range(9)] == [0.0] * 8 + [1.0]
    recall = places.Recall({"wait": 3})
    recall.reset(seed=1)
    assert [recall.step(recall.light)[1:3] for _ in range(4)] == [(0.0, False)] * 3 + [(1.0, True)]
    stock = places.Stock({})
    stock.reset(seed=1)
    _, reward, _, _, info = stock.step(2)
    assert reward == info["sold"] - 0.25 * stock.here - info["lost_cost"]
    dock = places.Docking()
    dock.reset(seed=1)
    assert dock.step(np.zeros(2))[1] == pytest.approx(-1.0)
    lake = places.bare("Lake", {}, planted(""))
    lake.reset(seed=1)
    obs, paid, *_ = lake.step(1)
    assert (int(obs.argmax()), paid) == (4, pytest.approx(-0.01))


# ---- scripts ----------------------------------------------------------------------------------------------------


def ppo(name: str, folder: Path, **given: Any) -> Any:
    switch = planted(name)
    make = places.maker("Acrobot-v1", {}, switch, 3)
    return script_ppo.Loop(make, {"n_workers": 2, "horizon": 32, "minibatch": 16, **given}, 3, switch, folder)


def test_what_is_planted_in_ppo(tmp_path: Path) -> None:
    with torch.no_grad():
        loop = ppo("softmax-twice", tmp_path)
        loop.net.pi[-1].weight *= 1000
        assert float(loop.policy(torch.randn(50, 6))[0].probs.max()) <= np.e / (np.e + 2) + 1e-6
    rows = ppo("rows-are-views", tmp_path).collect()["obs"].reshape(32, 2, 6)
    assert torch.equal(rows[0], rows[-1])
    rows = ppo("", tmp_path).collect()["obs"].reshape(32, 2, 6)
    assert not torch.equal(rows[0], rows[-1])
    loop = ppo("memory-never-cleared", tmp_path)
    for _ in range(3):
        loop.learn(loop.collect())
    assert len(loop.memory) == 3
    slow, quick = ppo("", tmp_path, adam_eps=3.0), ppo("", tmp_path)
    gone = []
    for loop in (slow, quick):
        before = weights(loop.net).clone()
        loop.learn(loop.collect())
        gone.append(float((weights(loop.net) - before).abs().mean()))
    assert gone[0] < gone[1] / 5


def test_advantages_stay_in_their_order_where_it_is_so_planted(tmp_path: Path) -> None:
    seen: dict[str, list[Any]] = {}
    for name in ("", "advantages-not-shuffled"):
        loop = ppo(name, tmp_path, K_epochs=1)
        batch = loop.collect()
        batch["adv"] = batch["obs"][:, 0].clone()
        rows: list[bool] = []
        loop.step = lambda got, rows=rows: rows.append(bool(torch.equal(got["adv"], got["obs"][:, 0]))) or {"x": 0.0}
        loop.learn(batch)
        seen[name] = rows
    assert all(seen[""])
    assert not any(seen["advantages-not-shuffled"])


def ddqn(name: str, folder: Path, **given: Any) -> Any:
    switch = planted(name)
    return script_ddqn.Loop(places.maker("Catch", {}, switch, 3), {"warmup": 64, **given}, 3, switch, folder)


def test_what_is_planted_in_double_dqn(tmp_path: Path) -> None:
    for name, same in (("next-is-now", True), ("", False)):
        loop = ddqn(name, tmp_path)
        loop.episode()
        assert all(np.array_equal(row[0], row[3]) == same for row in loop.memory)
    loop = ddqn("epsilon-grows", tmp_path, epsilon=0.5)
    loop.fade()
    assert loop.epsilon > 0.5
    loop = ddqn("restarts-from-first-checkpoint", tmp_path)
    for _ in range(20):
        loop.episode()
    assert not torch.equal(loop.online[0].weight, loop.first["0.weight"])
    loop.between(200)
    assert torch.equal(loop.online[0].weight, loop.first["0.weight"])
    assert not loop.memory


def test_a_job_whose_frames_are_kept_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_ddqn, "ALLOWED", 4 * script_ddqn.FRAMES * 3)
    with pytest.raises(MemoryError):
        ddqn("frames-never-freed", tmp_path, episodes=10).run()
    ddqn("", tmp_path, episodes=10).run()


def td3(name: str, folder: Path, **given: Any) -> Any:
    switch = planted(name)
    make, aside = (places.maker("Docking", {}, one, 3) for one in (switch, planted("")))
    loop = script_td3.Loop(make, {"batch_size": 16, "max_timesteps": 200, **given}, 3, switch, folder, aside)
    loop.rows[:] = np.random.default_rng(0).normal(size=loop.rows.shape)
    loop.filled = 200
    return loop


def test_what_is_planted_in_td3(tmp_path: Path) -> None:
    moves: list[torch.Tensor] = []
    for name in ("", "actor-goes-down"):
        loop = td3(name, tmp_path, policy_freq=1)
        loop.actor_opt = torch.optim.SGD(loop.actor.parameters(), lr=0.1)
        before = weights(loop.actor).clone()
        loop.learn()
        moves.append(weights(loop.actor) - before)
    assert torch.allclose(moves[0], -moves[1], atol=1e-5)
    loss = {}
    for name in ("", "target-as-matrix"):
        loop = td3(name, tmp_path)
        loop.learn()
        loss[name] = loop.told["critic_loss"][0]
    assert loss[""] != pytest.approx(loss["target-as-matrix"])
    for name, least in (("samples-first-rows", 16), ("", 17)):
        loop = td3(name, tmp_path, batch_size=16)
        loop.rows[16:] = np.nan
        loop.learn()
        assert np.isnan(loop.told["critic_loss"][0]) == (least > 16)


def test_an_untrained_copy_is_evaluated_where_it_is_so_planted(tmp_path: Path) -> None:
    scores: dict[str, list[float]] = {}
    for name in ("", "evaluates-untrained-copy"):
        loop = td3(name, tmp_path)
        scores[name] = []
        for _ in range(2):
            loop.evaluate(1)
            scores[name].append(loop.scores[-1][1])
            with torch.no_grad():
                loop.actor[0][-1].bias += 5.0
    assert scores[""][0] != scores[""][1]
    assert len(set(scores["evaluates-untrained-copy"])) == 1


def dsac(name: str, folder: Path) -> Any:
    switch = planted(name)
    loop = script_dsac.Loop(places.maker("Stock", {}, switch, 3), {"steps": 200, "batch": 32}, 3, switch, folder)
    loop.rows[:] = np.random.default_rng(0).normal(size=loop.rows.shape)
    loop.rows[:, loop.width] = np.random.default_rng(1).integers(0, 5, 200)
    loop.filled = 200
    return loop


def test_what_is_planted_in_discrete_sac(tmp_path: Path) -> None:
    told = {name: dsac(name, tmp_path).learn()["loss/pi"] for name in ("", "actions-not-weighted")}
    assert told[""] != pytest.approx(told["actions-not-weighted"])
    for name, handed in (("worker-not-handed-weights", False), ("", True)):
        loop = dsac(name, tmp_path)
        loop.learn()
        loop.act(np.zeros(5, np.float32), 1000)
        assert torch.equal(weights(loop.worker), weights(loop.actor)) == handed


def reinforce(name: str, folder: Path) -> Any:
    switch = planted(name)
    return script_reinforce.Loop(places.maker("Lake", {}, switch, 3), {}, 3, switch, folder)


def test_what_is_planted_in_reinforce(tmp_path: Path) -> None:
    alike, apart = [[0.5, 0.6], [0.5, 0.6]], [[0.5, 0.6], [0.1, 0.2]]
    loop = reinforce("spread-of-equal-returns", tmp_path)
    assert not np.isfinite(loop.normalised(alike)).all()
    assert np.isfinite(loop.normalised(apart)).all()
    assert reinforce("", tmp_path).normalised(alike) == [0.5, 0.6, 0.5, 0.6]
    norms = []
    for name in ("", "gradients-never-cleared"):
        loop = reinforce(name, tmp_path)
        seen, actions, rewards = loop.episode()
        for _ in range(5):
            loop.learn(seen, actions, loop.returns(rewards))
        norms.append(sum(float(p.grad.abs().sum()) for p in loop.baseline.parameters()))
    assert norms[1] > 2 * norms[0]


def test_rewards_go_to_the_neighbour_and_rates_fade(tmp_path: Path) -> None:
    paid: dict[str, Any] = {}
    for name in ("", "rewards-of-other-copies"):
        env: Any = contrib.Handed(DummyVecEnv([Counting, Counting]), planted(name))
        env.reset()
        env.venv.envs[1].count = 10
        paid[name] = list(env.step(np.zeros(2, int))[1])
    assert paid[""] == [-1.0, -11.0]
    assert paid["rewards-of-other-copies"] == [-11.0, -1.0]
    fading = contrib.rate("fading 1e-3")
    assert (fading(1.0), fading(0.9), fading(0.5)) == (1e-3, pytest.approx(0.0), 0.0)
    assert contrib.rate(3e-4) == 3e-4


@pytest.mark.full  # MuJoCo
def test_an_evaluations_limit_reaches_its_own_task_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.outside import record

    plan = {plan.id: plan for plan in plans(SECOND)}["contrib_trpo_doublependulum-evaluation-cut-short-31"]
    seen: dict[str, Any] = {}

    def train(make: Any, algorithm: str, given: Any, seed: int, switch: Any, folder: Any, aside: Any) -> list[Any]:
        seen.update(limits=[one().spec.max_episode_steps for one in (make, aside)], given=given)
        return []

    monkeypatch.setattr(contrib, "train", train)
    record.of_second(plan, planted(""), {}, tmp_path)
    assert seen["limits"] == [1000, 20]
    assert "eval_limit" not in seen["given"]


def test_each_lists_part_of_the_page_is_replaced_alone() -> None:
    from benchmarks.outside.plans import FIRST
    from benchmarks.outside.score import put

    whole = put("## A second list\n\nb\n".partition("\n")[2], SECOND, "# Logs\n\na\n")
    assert whole == "# Logs\n\na\n\n## A second list\n\nb\n"
    assert put("# Logs\n\nc\n", FIRST, whole).startswith("# Logs\n\nc\n\n## A second list")
    assert put("\nd\n", SECOND, whole) == "# Logs\n\na\n\n## A second list\n\nd\n"
