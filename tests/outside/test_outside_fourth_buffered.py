"""What is planted in the scripts with a buffer of the fourth list of ordinary logs does what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.outside.fourth import between, ddpg, sac, td3
from benchmarks.outside.fourth.actors import Common, Ddpg, Peeking, Sac, Td3
from benchmarks.outside.fourth.dqn import Script
from benchmarks.outside.fourth.faulty import kill_units
from benchmarks.outside.fourth.replay import Replay
from benchmarks.outside.fourth.tasks import Arm
from benchmarks.outside.single.nets import mlp
from benchmarks.outside.switches import Planted, Truth

NEVER = 10**12
SETTINGS: dict[type[Common], dict[str, Any]] = {Sac: sac.DEFAULTS, Td3: td3.DEFAULTS, Ddpg: ddpg.DEFAULTS}


def switched(name: str) -> Planted:
    return Planted(name, 0 if name else NEVER, Truth())


def weights(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def made(kind: type[Common], name: str, tmp_path: Path, **given: Any) -> Any:
    """Return a script with a hundred random rows in its buffer."""
    switch = switched(name)
    settings = {**SETTINGS[kind], "sink": "screen", **given}
    script = kind(between.maker("Arm", {}, switch, 5), settings, 5, switch, tmp_path)
    obs = script.env.reset(seed=5)[0]
    for _ in range(100):
        action = script.space.sample()
        after, reward, terminated, truncated, _ = script.env.step(action)
        script.replay.add(obs, action, float(reward), after, terminated)
        obs = script.env.reset()[0] if terminated or truncated else after
    return script


def buffer(name: str, size: int = 50) -> Replay:
    """Return a buffer whose row i holds i, i + 0.5 as its next observation, and i as its reward."""
    rows = Replay(size, 1, 1, switched(name))
    for i in range(80):
        rows.add(np.array([i]), np.array([0]), float(i), np.array([i + 0.5]), False)
    return rows


def test_rows_are_kept_for_ever_and_hold_one_state_twice() -> None:
    assert buffer("").obs.max() == 79
    assert buffer("buffer-never-overwritten").obs.max() == 49
    obs, _, _, after, _ = buffer("row-aliased").sample(20)
    torch.testing.assert_close(obs, after)


def test_parts_of_rows_do_not_belong_together() -> None:
    obs, _, reward, after, _ = buffer("").sample(30)
    torch.testing.assert_close(obs.squeeze(1), reward)
    torch.testing.assert_close(after, obs + 0.5)
    obs, _, reward, after, _ = buffer("outcome-of-other-row").sample(30)
    torch.testing.assert_close(after.squeeze(1), reward + 0.5)
    assert not torch.equal(after, obs + 0.5)
    obs, _, reward, after, _ = buffer("next-and-reward-of-other-rows").sample(30)
    assert not torch.equal(after.squeeze(1), reward + 0.5)
    assert not torch.equal(after, obs + 0.5)


def test_where_time_is_up_the_next_row_is_of_what_follows() -> None:
    ends: list[bool] = []
    for name in ("", "reset-row-as-next"):
        switch = switched(name)
        env = Peeking(between.maker("Arm", {}, switch, 5)(), switch)
        env.reset(seed=3)
        rows = [env.step(np.zeros(2, np.float32))[0] for _ in range(Arm.STEPS)]
        first = env.reset()[0]
        ends.append(np.array_equal(rows[-1], first))
        assert len(switch.truth.episodes) == 1
    assert ends == [False, True]


def test_first_layers_are_shut(tmp_path: Path) -> None:
    net = mlp(4, 8, 2)
    kill_units(net)
    torch.testing.assert_close(net(torch.zeros(1, 4)), net(torch.ones(1, 4)))
    switch = switched("critic-dead-units")
    script = Script(between.maker("Courier", {}, switch, 5), {"sink": "screen"}, 5, switch, tmp_path)
    for _ in range(70):
        script.replay.add(np.ones(7), 1, 0.0, np.ones(7), False)
    script.learn()
    assert script.killed


@pytest.mark.parametrize("name", ["epsilon-climbs", ""])
def test_epsilon_grows_back(name: str, tmp_path: Path) -> None:
    switch = switched(name)
    script = Script(between.maker("Courier", {}, switch, 5), {"sink": "screen"}, 5, switch, tmp_path)
    script.steps = 20_000
    assert (script.epsilon() > 0.9) is bool(name)


def test_the_target_stays(tmp_path: Path) -> None:
    switch = switched("target-frozen")
    script = Script(between.maker("Catch", {}, switch, 5), {"sink": "screen", "n_atoms": 5}, 5, switch, tmp_path)
    before = weights(script.target)
    with torch.no_grad():
        next(script.q.parameters()).add_(1.0)
    script.follow()
    assert torch.equal(weights(script.target), before)


def test_sigmoids_are_steep_and_targets_are_theirs(tmp_path: Path) -> None:
    script = made(Sac, "sigmoid-badly-begun", tmp_path)
    assert any(isinstance(layer, torch.nn.Sigmoid) for layer in script.actor)
    assert torch.equal(weights(script.actor), weights(script.actor_target))
    assert torch.equal(weights(script.critics), weights(script.targets))
    assert float(script.actor[0].weight.detach().std()) > 2
    script.learn()


def test_adams_epsilon_is_what_is_given(tmp_path: Path) -> None:
    moved: list[float] = []
    for epsilon in (1e-8, 1.0):
        script = made(Ddpg, "", tmp_path, adam_eps=epsilon)
        before = weights(script.critics)
        script.learn()
        moved.append(float((weights(script.critics) - before).abs().mean()))
    assert moved[1] < moved[0] / 20


def test_one_number_is_the_noise_of_both_actions(tmp_path: Path) -> None:
    shape = torch.Size((1, 2))
    one, two = made(Td3, "one-noise-for-all", tmp_path).noise(shape)[0]
    assert one == two
    one, two = made(Td3, "", tmp_path).noise(shape)[0]
    assert one != two


def actor_after(kind: type[Common], name: str, tmp_path: Path) -> tuple[torch.Tensor, torch.Tensor, dict[str, float]]:
    """Return the actor's weights before and after one step of it, and what was told."""
    script = made(kind, name, tmp_path)
    obs, action, *_ = script.replay.sample(64)
    before = weights(script.actor)
    told = script.learn_actor(obs, action)
    return before, weights(script.actor), told


def test_the_actor_is_taught_as_listed(tmp_path: Path) -> None:
    before, plain, told = actor_after(Td3, "", tmp_path)
    _, summed, sums = actor_after(Td3, "actor-loss-summed", tmp_path)
    assert sums["losses/actor_loss"] == pytest.approx(64 * told["losses/actor_loss"], rel=1e-3)
    assert float((summed - plain).abs().mean()) < 1e-5  # Adam hardly minds
    same, still, _ = actor_after(Td3, "actor-without-gradient", tmp_path)
    assert torch.equal(same, still)
    _, down, _ = actor_after(Ddpg, "actor-loss-sign", tmp_path)
    _, up, _ = actor_after(Ddpg, "", tmp_path)
    assert float(((down - before) * (up - before)).sum()) < 0


def test_the_larger_of_the_twins_is_taken(tmp_path: Path) -> None:
    one, other = torch.tensor([1.0, 4.0]), torch.tensor([2.0, 3.0])
    assert made(Td3, "twins-maximised", tmp_path).least(one, other).tolist() == [2.0, 4.0]
    assert made(Td3, "", tmp_path).least(one, other).tolist() == [1.0, 3.0]


def test_log_probabilities_lack_the_epsilon_and_the_loss_is_broadcast(tmp_path: Path) -> None:
    script = made(Sac, "log-without-epsilon", tmp_path)
    with torch.no_grad():
        script.actor[-1].bias[:2] = 30.0  # so far out that tanh is one
        assert torch.isinf(script.draw(script.actor, torch.zeros(4, 8))[1]).any()
        script.planted = switched("")
        assert torch.isfinite(script.draw(script.actor, torch.zeros(4, 8))[1]).all()
    _, plain, told = actor_after(Sac, "", tmp_path)
    _, broad, wide = actor_after(Sac, "actor-loss-broadcast", tmp_path)
    assert set(told) == set(wide)
    torch.testing.assert_close(broad, plain, atol=1e-4, rtol=0)  # the mean over [N, N] is that over [N]
