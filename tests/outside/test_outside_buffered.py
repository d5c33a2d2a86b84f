"""What is planted in the scripts with a buffer of the third list of ordinary logs does what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.outside.single import dqn, grounds
from benchmarks.outside.single.actors import Sac, Script, Td3
from benchmarks.outside.single.replay import Replay
from benchmarks.outside.single.sac import DEFAULTS as SAC
from benchmarks.outside.single.td3 import DEFAULTS as TD3
from benchmarks.outside.switches import Planted, Truth

NEVER = 10**12


def weights(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def switched(name: str) -> Planted:
    return Planted(name, 0 if name else NEVER, Truth())


def made(kind: type[Script], name: str, tmp_path: Path, **given: Any) -> Any:
    """Return a script with a hundred random rows in its buffer."""
    switch = switched(name)
    task = "Tank" if kind is Sac else "Steer"
    settings = {**(SAC if kind is Sac else TD3), "sink": "screen", **given}
    script = kind(grounds.maker(task, {}, switch, 5), settings, 5, switch, tmp_path)
    obs = script.env.reset(seed=5)[0]
    for _ in range(100):
        action = script.space.sample()
        after, reward, terminated, truncated, _ = script.env.step(action)
        script.replay.add(obs, action, float(reward), after, terminated)
        obs = script.env.reset()[0] if terminated or truncated else after
    return script


def test_log_probabilities_lack_the_term_for_tanh(tmp_path: Path) -> None:
    obs = torch.zeros(1000, 4)
    plain, bare = made(Sac, "", tmp_path), made(Sac, "tanh-uncorrected", tmp_path)
    drawn: list[tuple[torch.Tensor, torch.Tensor]] = []
    for script in (plain, bare):
        torch.manual_seed(0)
        with torch.no_grad():
            drawn.append(script.draw(plain.actor, obs))
    squashed = ((drawn[0][0] - plain.bias) / plain.scale).squeeze(1)
    term = torch.log(plain.scale * (1 - squashed.square()) + 1e-6)
    torch.testing.assert_close(drawn[0][1] + term, drawn[1][1])


def test_the_temperature_goes_the_other_way(tmp_path: Path) -> None:
    ends: list[float] = []
    for name in ("", "alpha-upside-down"):
        script = made(Sac, name, tmp_path)
        for _ in range(20):
            script.learn()
        ends.append(script.alpha)
    assert (ends[0] - 1) * (ends[1] - 1) < 0


def moved(kind: type[Script], name: str, tmp_path: Path, **given: Any) -> float:
    """Return by how much the value of the actor's own actions rises in twenty steps of the actor."""
    script = made(kind, name, tmp_path, **given)
    obs, action, *_ = script.replay.sample(64)

    def worth() -> float:
        torch.manual_seed(1)
        with torch.no_grad():
            own = script.draw(script.actor, obs)[0] if kind is Sac else script.mean(script.actor, obs)
            q1, q2 = script.values(script.critics, obs, own)
            return float((torch.min(q1, q2) if kind is Sac else q1).mean())

    before = worth()
    for _ in range(20):
        script.learn_actor(obs, action)
    return worth() - before


def test_the_actor_is_stopped_or_turned_round(tmp_path: Path) -> None:
    fixed = {"autotune": False, "alpha": 0.0}
    assert moved(Sac, "", tmp_path, **fixed) > 1e-3
    assert moved(Sac, "actor-upside-down", tmp_path, **fixed) < -1e-3
    assert moved(Sac, "actor-on-stored-actions", tmp_path, **fixed) == 0
    assert moved(Td3, "", tmp_path) > 1e-3
    script = made(Td3, "action-detached", tmp_path)
    before = weights(script.actor)
    obs, action, *_ = script.replay.sample(64)
    script.learn_actor(obs, action)
    assert torch.equal(weights(script.actor), before)


def test_the_second_critic_is_not_trained(tmp_path: Path) -> None:
    script = made(Sac, "second-critic-untrained", tmp_path)
    first, second = (weights(net) for net in script.critics)
    script.learn()
    assert not torch.equal(weights(script.critics[0]), first)
    assert torch.equal(weights(script.critics[1]), second)


@pytest.mark.parametrize(("name", "share"), [("", 0.01), ("targets-swapped", 0.99), ("target-frozen", 0.0)])
def test_targets_follow_by_the_share_that_is_listed(name: str, share: float, tmp_path: Path) -> None:
    script = made(Td3, name, tmp_path)
    before = weights(script.targets)
    with torch.no_grad():
        for p in script.critics.parameters():
            p.add_(1.0)
    script.follow()
    torch.testing.assert_close(weights(script.targets) - before, torch.full_like(before, share))


def test_targets_of_actors_are_changed_as_listed(tmp_path: Path) -> None:
    one, other = torch.tensor([1.0, 4.0]), torch.tensor([2.0, 3.0])
    assert made(Td3, "", tmp_path).least(one, other).tolist() == [1.0, 3.0]
    assert made(Td3, "twins-maximised", tmp_path).least(one, other).tolist() == [2.0, 4.0]
    losses = [made(Sac, name, tmp_path).learn()["losses/qf_loss"] for name in ("", "done-inverted")]
    assert losses[0] != losses[1]


def test_gradients_add_up(tmp_path: Path) -> None:
    script = made(Td3, "gradients-add-up", tmp_path)
    sizes: list[float] = []
    for _ in range(12):
        script.learn()
        sizes.append(float(sum(p.grad.square().sum() for p in script.critics.parameters())))
    assert sizes[-1] > 5 * sizes[0]


def test_noise_is_wide_and_the_player_stays_as_it_is(tmp_path: Path) -> None:
    script, plain = made(Td3, "noise-too-wide", tmp_path), made(Td3, "", tmp_path)
    obs = torch.zeros(500, 6)
    ends = [(one.explore(obs).abs() == 2.0).float().mean() for one in (script, plain)]
    assert ends[0] > 0.8
    assert ends[1] < 0.1
    stale = made(Td3, "sampler-stale", tmp_path)
    player = stale.playing()
    for _ in range(4):
        stale.learn()
    assert stale.playing() is player
    assert not torch.equal(weights(player), weights(stale.actor))
    assert plain.playing() is plain.actor


# ---- the buffer and the script of DQN ---------------------------------------------------------------------------


def filled(name: str, size: int = 50) -> Replay:
    replay = Replay(size, 1, 1, switched(name))
    for i in range(1, 21):
        replay.add([i], [0], float(i), [i + 0.5], False)
    return replay


def test_the_buffer_hands_out_what_is_listed() -> None:
    np.random.seed(0)
    obs, _, reward, after, _ = filled("").sample(500)
    assert obs.min() == 1
    torch.testing.assert_close(after, obs + 0.5)
    torch.testing.assert_close(reward, obs.squeeze(1))
    assert (filled("samples-empty-rows").sample(500)[0] == 0).float().mean() > 0.4
    obs, _, _, after, _ = filled("next-rows-of-others").sample(500)
    assert (after != obs + 0.5).float().mean() > 0.8
    obs, _, reward, _, _ = filled("rewards-one-late").sample(500)
    torch.testing.assert_close(reward, obs.squeeze(1) - 1)


def learner(name: str, tmp_path: Path, **given: Any) -> dqn.Script:
    switch = switched(name)
    return dqn.Script(grounds.maker("Parking", {}, switch, 5), {"sink": "screen", **given}, 5, switch, tmp_path)


def loss(name: str, tmp_path: Path, done: float = 1.0) -> float:
    """Return the loss of two rows at whose end nothing but the reward counts."""
    made = learner(name, tmp_path)
    obs = torch.tensor([[0.5, 0.0, 1.0], [2.5, 3.0, 1.0]])
    action = made.q(obs).argmin(1, keepdim=True)
    row = (obs, action, torch.ones(2), obs.flip(0), torch.full((2,), done))
    return float(made.loss_of_values(*row)[0].detach())


def test_targets_of_dqn_are_changed_as_listed(tmp_path: Path) -> None:
    made = learner("", tmp_path)
    obs = torch.tensor([[0.5, 0.0, 1.0], [2.5, 3.0, 1.0]])
    q = made.q(obs).detach()
    least, most, ones = q.min(1).values, q.max(1).values, torch.ones(2)

    def square(aim: torch.Tensor, of: torch.Tensor) -> Any:
        return pytest.approx(float((aim - of).square().mean()), rel=1e-4)

    assert loss("", tmp_path) == square(ones, least)
    going = ones + 0.99 * most.flip(0)
    assert loss("done-ignored", tmp_path) == square(going, least)
    assert loss("done-inverted", tmp_path) == square(going, least)
    assert loss("done-inverted", tmp_path, done=0.0) == square(ones, least)
    assert loss("value-of-best-action", tmp_path) == square(ones, most)
    assert loss("best-of-batch", tmp_path, done=0.0) == square(ones + 0.99 * most.max(), least)
    free = learner("target-with-gradient", tmp_path)
    before = [p.clone() for p in free.target.parameters()]
    free.loss_of_values(obs, torch.zeros(2, 1).long(), ones, obs, torch.zeros(2))[0].backward()
    assert all(torch.equal(a, b) for a, b in zip(before, free.target.parameters(), strict=True))
    assert free.target[0].weight.grad is None


def test_epsilon_and_the_target_are_changed_as_listed(tmp_path: Path) -> None:
    made = learner("epsilon-by-episodes", tmp_path)
    made.steps, made.episodes = 20_000, 300
    assert made.epsilon() > 0.9
    climbing = learner("epsilon-climbs", tmp_path)
    climbing.steps = 9_600
    assert climbing.epsilon() == pytest.approx(1.0)
    climbing.steps = 0
    assert climbing.epsilon() == pytest.approx(0.05)
    for name, same in (("", False), ("target-frozen", True)):
        one = learner(name, tmp_path)
        with torch.no_grad():
            one.q[0].weight.add_(1.0)
        before = weights(one.target)
        one.follow()
        assert torch.equal(weights(one.target), before) is same


def test_atoms_are_projected_onto_the_support(tmp_path: Path) -> None:
    made = learner("", tmp_path, n_atoms=21, hidden=32)
    obs = torch.randn(16, 3)
    for _ in range(400):
        value, q = made.loss_of_atoms(obs, torch.zeros(16, 1).long(), torch.full((16,), 0.73), obs, torch.ones(16))
        made.opt.zero_grad()
        value.backward()
        made.opt.step()
    assert float(q.detach().mean()) == pytest.approx(0.73, abs=0.03)
