"""What rsl_rl stores is what the innermost environment gave; a wrapper that errs half-way is named, others are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters.rsl_rl import watch_runner
from firstbreak.monitor.core import Monitor

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]
LENGTH, ITERATIONS, BROKEN = 16, 26, 14
NET = {"class_name": "MLPModel", "hidden_dims": [8]}
ACTOR = {**NET, "distribution_cfg": {"class_name": "GaussianDistribution"}}


def reach() -> Any:
    from rsl_rl.env import VecEnv
    from tensordict import TensorDict

    class Reach(VecEnv):
        """Eight points in the plane that are to reach 0; some are lost on the way, the others end after 20 steps."""

        num_envs, num_actions, max_episode_length, device, cfg = 8, 2, 20, "cpu", {}

        def __init__(self) -> None:
            self.episode_length_buf = torch.arange(8)
            self.at = torch.randn(8, 2) * torch.tensor([1.0, 3.0])

        def get_observations(self) -> Any:
            return TensorDict({"policy": self.at.clone()}, batch_size=[8])

        def step(self, actions: torch.Tensor) -> Any:
            self.episode_length_buf = (self.episode_length_buf + 1) % self.max_episode_length
            limit, lost = self.episode_length_buf == 0, torch.rand(8) < 0.05
            fresh = torch.randn(8, 2) * torch.tensor([1.0, 3.0])
            self.at = torch.where((limit | lost)[:, None], fresh, self.at + 0.3 * actions.clamp(-1, 1))
            ends = {"time_outs": (limit & ~lost).float()}
            return self.get_observations(), -self.at.norm(dim=1), (limit | lost).long(), ends

    return Reach()


class Wrapped:
    """Passes everything on; from `after` steps on it changes what is given to the environment, or comes of it."""

    def __init__(self, env: Any, after: int, acts: Callable[[Any], Any], gives: Callable[..., Any]) -> None:
        self.env, self.after, self.acts, self.gives, self.count = env, after, acts, gives, 0

    def step(self, actions: Any) -> Any:
        self.count += 1
        if self.count <= self.after:
            return self.env.step(actions)
        obs, reward, done, extras = self.env.step(self.acts(actions))
        return (*self.gives(obs, reward, done), extras)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)


def same(*parts: Any) -> Any:
    return parts[0] if len(parts) == 1 else parts


def swapped(obs: Any, reward: Any, done: Any) -> Any:
    obs["policy"] = obs["policy"].flip(-1)
    return obs, reward, done


FAULTS: dict[str, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    "rewards of the copy beside": (same, lambda o, r, d: (o, r.roll(1), d), "rewards-not-as-paid"),
    "rewards a tenth": (same, lambda o, r, d: (o, 0.1 * r, d), "rewards-resized-on-the-way"),
    "ends dropped": (same, lambda o, r, d: (o, r, torch.zeros_like(d)), "ends-not-stored"),
    "entries of observations swapped": (same, swapped, "observations-not-as-given"),
    "actions of the copy beside": (lambda a: a.roll(1, 0), same, "actions-not-as-stored"),
}


def train(
    folder: Path, wrap: Callable[[Any], Any], halfway: Callable[[Any], None] | None = None, length: int = LENGTH
) -> Any:
    from rsl_rl.runners import OnPolicyRunner

    torch.manual_seed(0)
    torch.set_num_threads(1)
    settings = {"num_steps_per_env": length, "save_interval": 500, "obs_groups": {}, "actor": ACTOR, "critic": NET}
    monitor = Monitor()
    runner = OnPolicyRunner(wrap(reach()), {**settings, "algorithm": {"class_name": "PPO"}}, str(folder))
    watch_runner(runner, monitor)
    runner.learn(BROKEN)
    if halfway is not None:
        halfway(runner.alg)
    runner.learn(ITERATIONS - BROKEN)
    monitor.flush()
    assert not monitor.faults
    return monitor


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_wrapper_that_errs_is_named(tmp_path: Path, fault: Any) -> None:
    acts, gives, name = fault
    monitor = train(tmp_path, lambda env: Wrapped(env, BROKEN * LENGTH, acts, gives))
    assert name in {alarm.finding.name for alarm in monitor.alarms}
    # The second `learn` counts its first iteration as the first's last.
    assert min(alarm.at for alarm in monitor.alarms if alarm.finding.name == name) >= BROKEN - 1


def test_a_discount_that_moves_is_named(tmp_path: Path) -> None:
    monitor = train(tmp_path, lambda env: env, lambda alg: setattr(alg, "gamma", 0.5))
    assert "discount-moved" in {alarm.finding.name for alarm in monitor.alarms}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: env,
        lambda env: Wrapped(env, 0, lambda a: a.clamp(-0.5, 0.5), lambda o, r, d: (o, 0.1 * r + 1, d)),
        lambda env: Wrapped(Wrapped(env, 0, same, same), 0, lambda a: 2 * a, same),
    ],
    ids=["plain", "clipped and scaled from the start", "two wrappers"],
)
def test_a_sound_training_is_told_nothing(tmp_path: Path, wrap: Any) -> None:
    monitor = train(tmp_path, wrap)
    assert monitor.latest["advantage/gae_residual"] < 1e-4
    assert monitor.latest["data/end_kept_frac"] == 1
    for name in ("data/obs_fit", "data/reward_fit"):
        assert monitor.latest[name] == pytest.approx(1, abs=1e-4)
    assert not [a for a in monitor.alarms if a.finding.name in {fault[2] for fault in FAULTS.values()}]


@pytest.mark.parametrize("mixed", [False, True])
def test_copies_with_a_scale_each_are_held_against_maps_of_their_own(tmp_path: Path, mixed: bool) -> None:
    """No one map explains eight scales; maps of their own do, but for a copy that is given what another saw."""

    def scaled(obs: Any, reward: Any, done: Any) -> Any:
        seen = obs["policy"]
        if mixed:
            seen = torch.cat([seen[1:2], seen[1:]])
        obs["policy"] = seen * torch.arange(1.0, 9.0)[:, None]
        return obs, reward, done

    monitor = train(tmp_path, lambda env: Wrapped(env, 0, same, scaled), length=48)
    assert monitor.latest["data/obs_fit"] < 0.95
    assert (monitor.latest["data/obs_copy_fit"] > 0.999) is not mixed
    assert monitor.latest["data/reward_copy_fit"] == pytest.approx(1, abs=1e-4)


def test_training_is_the_same_and_the_environment_is_left_as_it_was(tmp_path: Path) -> None:
    from rsl_rl.runners import OnPolicyRunner

    def trained(folder: Path, watched: bool) -> tuple[Any, list[torch.Tensor]]:
        torch.manual_seed(0)
        settings = {"num_steps_per_env": LENGTH, "save_interval": 500, "obs_groups": {}, "actor": ACTOR, "critic": NET}
        env = reach()
        runner = OnPolicyRunner(env, {**settings, "algorithm": {"class_name": "PPO"}}, str(folder))
        writer = watch_runner(runner, Monitor()) if watched else None
        runner.learn(3)
        if writer is not None:
            writer.close()
        return env, [w.detach() for part in (runner.alg.actor, runner.alg.critic) for w in part.parameters()]

    env, plain = trained(tmp_path / "plain", watched=False)
    same_env, watched = trained(tmp_path / "watched", watched=True)
    assert all(map(torch.equal, plain, watched))
    assert "step" not in vars(env)
    assert "step" not in vars(same_env)
