"""Real trainings with rsl_rl: who plays, draws, limits, settings and weights that are not as they should be."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from firstbreak.finding import Link
from firstbreak.monitor.adapters.rsl_rl import watch_runner
from firstbreak.monitor.core import Monitor
from tests.e2e.test_rsl_rl_handed_on import ACTOR, LENGTH, NET, reach

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]
ITERATIONS, BROKEN = 22, 13
GAP, DRAWN, CUT, MOVED = (
    "policy/player_gap_nats", "replay/drawn_unlike_frac", "episode/limit_frac", "critic/outside_change_frac",
)  # fmt: skip
OURS = {
    "played-by-another", "drawn-not-as-stored", "time-limit-shortened", "critic-changed-outside",
    "weights-changed-outside", "loss-settings-changed",
}  # fmt: skip


class Rows(Monitor):
    def __init__(self) -> None:
        super().__init__(None)
        self.given: list[tuple[float, dict[str, Any]]] = []

    def _log(self, metrics: Any, step: Any, clock: Any) -> Any:
        self.given.append((step, dict(metrics)))
        return super()._log(metrics, step, clock)

    def values(self, name: str) -> list[float]:
        return [row[name] for _, row in self.given if name in row]


class Turning:
    """Passes everything on; before step number `after` it does something to the runner."""

    def __init__(self, env: Any, after: int) -> None:
        self.env, self.after, self.count = env, after, 0
        self.turn: Callable[[], None] = lambda: None

    def step(self, actions: Any) -> Any:
        self.count += 1
        if self.count == self.after:
            self.turn()
        return self.env.step(actions)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)


def train(folder: Path, fault: Callable[[Any], None] | None = None, watched: bool = True, **more: Any) -> Any:
    """`ITERATIONS`; from number `BROKEN` on with a mistake, where `fault` of the runner makes one."""
    from rsl_rl.runners import OnPolicyRunner

    cast(Any, torch).manual_seed(0)
    torch.set_num_threads(1)
    actor, critic = more.pop("actor", ACTOR), more.pop("critic", NET)
    random_lengths = more.pop("random_lengths", False)
    settings: dict[str, Any] = {"num_steps_per_env": LENGTH, "save_interval": 500, "obs_groups": {}}
    settings |= {"actor": actor, "critic": critic, "algorithm": {"class_name": "PPO", **more}}
    env, monitor = Turning(counted(), BROKEN * LENGTH + 1), Rows()
    runner = OnPolicyRunner(cast(Any, env), settings, str(folder))
    if fault is not None:
        env.turn = lambda: fault(runner)
    if watched:
        watch_runner(runner, monitor)
    runner.learn(ITERATIONS, init_at_random_ep_len=random_lengths)
    monitor.flush()
    assert not monitor.faults
    return runner, monitor


def played_by(copy: Callable[[Any], Any]) -> Callable[[Any], None]:
    """What `copy` makes of the actor, asked once, plays from here on; the actor itself is trained."""

    def fault(runner: Any) -> None:
        alg, usual, player = runner.alg, runner.alg.act, copy(runner.alg.actor)

        def act(obs: Any) -> Any:
            learner, alg.actor = alg.actor, player
            try:
                return usual(obs)
            finally:
                alg.actor = learner

        alg.act = act

    return fault


def scaled(actor: Any) -> Any:
    copy = deepcopy(actor)
    with torch.no_grad():
        for weight in copy.mlp.parameters():
            weight.mul_(3)
    return copy


def returns_of_the_row_before(runner: Any) -> None:
    storage = runner.alg.storage
    usual = storage.mini_batch_generator

    def generator(*args: Any) -> Any:
        for batch in usual(*args):
            batch.returns = batch.returns.roll(1, 0)
            yield batch

    storage.mini_batch_generator = generator


def shorter(runner: Any) -> None:
    runner.env.env.max_episode_length = 8


def counted() -> Any:
    """Points whose episodes are cut after so many steps of their own, however the last one ended."""
    env = reach()
    usual = env.step

    def step(actions: Any) -> Any:
        env.episode_length_buf[env.episode_length_buf >= env.max_episode_length] = env.max_episode_length - 1
        obs, reward, done, extras = usual(actions)
        env.episode_length_buf[done != 0] = 0
        return obs, reward, done, extras

    env.step = step
    return env


def betas(runner: Any) -> None:
    runner.alg.optimizer.param_groups[0]["betas"] = (0.999, 0.9)


def halved(name: str) -> Callable[[Any], None]:
    def fault(runner: Any) -> None:
        with torch.no_grad():
            for weight in getattr(runner.alg, name).parameters():
                weight.mul_(0.5)

    return fault


FAULTS: dict[str, tuple[Callable[[Any], None], str, Link]] = {
    "a copy that is not brought up to date plays": (played_by(deepcopy), "played-by-another", Link.DATA_FRESHNESS),
    "a scaled copy plays": (played_by(scaled), "played-by-another", Link.DATA_FRESHNESS),
    "returns of other rows": (returns_of_the_row_before, "drawn-not-as-stored", Link.ENVIRONMENT_DATA),
    "a shorter limit": (shorter, "time-limit-shortened", Link.ENVIRONMENT_DATA),
    "betas exchanged": (betas, "loss-settings-changed", Link.POLICY_UPDATE),
    "the critic is halved": (halved("critic"), "critic-changed-outside", Link.CRITIC),
    "the actor is halved": (halved("actor"), "weights-changed-outside", Link.POLICY_UPDATE),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_mistake_in_mid_run_is_named(tmp_path: Path, fault: Any) -> None:
    plant, name, link = fault
    _, monitor = train(tmp_path, plant)
    found = {alarm.finding.name: alarm for alarm in monitor.alarms if alarm.finding.name in OURS}
    assert list(found) == [name]
    assert found[name].finding.link is link
    assert found[name].at >= BROKEN


def faithful(runner: Any) -> None:
    """Plays with a copy that is brought up to date before each step."""
    alg, usual, player = runner.alg, runner.alg.act, deepcopy(runner.alg.actor)

    def act(obs: Any) -> Any:
        player.load_state_dict(alg.actor.state_dict())
        learner, alg.actor = alg.actor, player
        try:
            return usual(obs)
        finally:
            alg.actor = learner

    alg.act = act


NORMALISED = {"actor": {**ACTOR, "obs_normalization": True}, "critic": {**NET, "obs_normalization": True}}
SPREAD = {"actor": {**NET, "distribution_cfg": {"class_name": "HeteroscedasticGaussianDistribution"}}}
RECURRENT = {"class_name": "RNNModel", "hidden_dims": [8], "rnn_type": "gru", "rnn_hidden_dim": 8, "rnn_num_layers": 1}


@pytest.mark.parametrize(
    ("turn", "more"),
    [
        (None, {}),
        (faithful, {}),
        (None, NORMALISED),
        (None, {"random_lengths": True, "schedule": "fixed"}),
    ],
    ids=["plain", "a copy that is brought up to date", "a normaliser that moves", "first episodes begin half-way"],
)
def test_a_sound_training_is_told_nothing(tmp_path: Path, turn: Any, more: dict[str, Any]) -> None:
    _, monitor = train(tmp_path, turn, **more)
    assert not {alarm.finding.name for alarm in monitor.alarms} & OURS
    assert len(monitor.values(GAP)) == len(monitor.values(DRAWN)) == ITERATIONS
    assert max(monitor.values(GAP)) < 1e-5
    assert set(monitor.values(DRAWN)) == {0.0}
    assert set(monitor.values(CUT)) == {1.0}
    assert set(monitor.values(MOVED)) == {0.0}


def test_a_network_with_a_memory_is_not_asked_about_single_rows(tmp_path: Path) -> None:
    recurrent: dict[str, Any] = {
        "actor": {**RECURRENT, "distribution_cfg": ACTOR["distribution_cfg"]},
        "critic": RECURRENT,
    }
    _, monitor = train(tmp_path, **recurrent)
    assert monitor.values(GAP) == monitor.values(DRAWN) == []
    assert set(monitor.values(MOVED)) == {0.0}
    assert not {alarm.finding.name for alarm in monitor.alarms} & OURS


def test_weights_that_are_loaded_between_two_calls_are_no_mistake(tmp_path: Path) -> None:
    runner, monitor = train(tmp_path)
    halved("critic")(runner)
    runner.learn(2)
    monitor.flush()
    assert set(monitor.values(MOVED)) == {0.0}


@pytest.mark.parametrize("more", [{}, {**SPREAD, "num_mini_batches": 1, "num_learning_epochs": 1}])
def test_training_and_what_is_logged_are_the_same(tmp_path: Path, more: dict[str, Any]) -> None:
    """With one step an update, what an actor was asked last is what the runner logs."""
    trained: list[list[torch.Tensor]] = []
    for watched in (False, True):
        runner, _ = train(tmp_path / str(watched), watched=watched, **more)
        parts = (runner.alg.actor, runner.alg.critic)
        trained.append([runner.alg.actor.output_std, *(w.detach() for part in parts for w in part.parameters())])
        trained[-1].append(torch.rand(()))
    assert all(map(torch.equal, *trained))
