"""Every fault of the reference trainers in the seventh live list does what seventh.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import seventh_reference
from seventh_reference_plants import PLANTS
from worlds import Truth


def trained(subject: str, steps: int = 0) -> Any:
    """Return a trainer that has learned for some steps."""
    torch.set_num_threads(1)
    trainer = seventh_reference.built(subject, 0, None, Truth())
    if steps:
        trainer.learn(steps)
    return trainer


def planted(subject: str, fault: str, dose: float = 1, steps: int = 0) -> Any:
    """Return a trainer that has learned for some steps, in which `fault` is planted."""
    trainer = trained(subject, steps)
    PLANTS[fault](trainer, dose)
    return trainer


def weights(module: Any) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in module.parameters()])


def test_a_rollout_comes_back_shuffled() -> None:
    trainer, whole = planted("mmrkhs_beam", "rollout-shuffled"), trained("mmrkhs_beam")
    torch.manual_seed(0)
    found = trainer.collect()
    torch.manual_seed(0)
    expected = whole.collect()
    assert not torch.equal(found["reward"], expected["reward"])
    assert torch.allclose(found["reward"].sum(1), expected["reward"].sum(1), atol=1e-4)


def test_ends_are_looked_up_late() -> None:
    trainer, whole = planted("mmrkhs_beam", "ends-late", 3), trained("mmrkhs_beam")
    torch.manual_seed(0)
    found = trainer.collect()
    torch.manual_seed(0)
    expected = whole.collect()
    assert torch.equal(found["terminated"], expected["terminated"].roll(3, 1))
    assert expected["terminated"].any()
    assert torch.equal(found["reward"], expected["reward"])


def test_rollouts_are_kept() -> None:
    trainer = planted("ppo_beam", "rollouts-kept", 4)
    found = [trainer.collect() for _ in range(6)]
    assert [len(rollout) for rollout in found] == [4, 8, 12, 16, 16, 16]
    assert torch.equal(found[5][:4]["reward"], found[2][8:]["reward"])
    trainer.update(found[5])


def test_the_rate_is_too_high() -> None:
    before = [group["lr"] for group in trained("mmrkhs_beam").optimiser.param_groups]
    trainer = planted("mmrkhs_beam", "rate-far-too-high", 30)
    assert [group["lr"] for group in trainer.optimiser.param_groups] == pytest.approx([30 * rate for rate in before])


def test_there_are_many_epochs() -> None:
    trainer = planted("mmrkhs_beam", "epochs-many", 3)
    trainer.update(trainer.collect())
    assert trainer.gradient_steps == 3 * 10 * 4


@pytest.mark.parametrize("subject", ["ppo_beam", "mmrkhs_beam"])
def test_ratios_are_those_of_all_pairs(subject: str) -> None:
    trainer, whole = planted(subject, "ratios-of-all-pairs"), trained(subject)
    with torch.no_grad():
        trainer.actor.net[-1].bias += torch.tensor([1.0, -1.0, 0.0])
    whole.actor.load_state_dict(trainer.actor.state_dict())
    whole.critic.load_state_dict(trainer.critic.state_dict())
    rollout = trainer.advantages(trainer.collect())
    rollout = trainer.prepare(rollout) if subject == "mmrkhs_beam" else rollout
    rows = rollout.reshape(-1)[:64]
    with torch.no_grad():
        shift = torch.linspace(-1, 1, 64)
        rows["log_prob"] = trainer.log_prob(rows) + shift
    for one in (trainer, whole):
        one.eta = one.beta = 1.0
    found, expected = (float(one.loss(rows)["policy"].detach()) for one in (trainer, whole))
    assert found != pytest.approx(expected, abs=1e-4)
    new = trainer.log_prob(rows).detach()
    assert new.shape == (64,)
    if subject == "ppo_beam":
        ratio = (new.reshape(-1, 1) - rows["log_prob"]).exp()
        gain = torch.minimum(ratio * (a := trainer.normalised(rows["advantage"])), ratio.clamp(0.8, 1.2) * a)
        assert found == pytest.approx(float(-gain.mean()), abs=1e-5)


def test_who_plays_has_rounded_weights_and_who_learns_has_not() -> None:
    trainer = planted("mmrkhs_beam", "sampler-rounded", 2)
    learner, before = trainer.actor, weights(trainer.actor)
    rows = trainer.collect()
    assert trainer.actor is learner
    assert torch.equal(weights(learner), before)
    assert torch.equal(weights(trainer.old_actor), before)
    from copy import deepcopy

    from seventh_reference_plants import round_weights

    player = deepcopy(learner)
    round_weights(player, 2)
    assert all(len(w.unique()) <= 5 for w in player.parameters() if w.dim() > 1)
    said = player.distribution(rows["obs"]).log_prob(rows["action"])
    assert torch.allclose(said, rows["log_prob"], atol=1e-5)
    assert not torch.allclose(learner.distribution(rows["obs"]).log_prob(rows["action"]), rows["log_prob"], atol=1e-3)


def test_reward_and_end_are_the_next_rows() -> None:
    trainer = planted("sac_lane", "row-after-read", 1, 700)
    held = trainer.buffer[torch.arange(len(trainer.buffer))]
    sample = trainer.sample()
    places = [int((held["obs"] == obs).all(-1).nonzero()[-1]) for obs in sample["obs"]]
    following = [(place + 1) % len(held) for place in places]
    assert torch.equal(sample["reward"], held["reward"][following])
    assert torch.equal(sample["terminated"], held["terminated"][following])
    assert torch.equal(sample["next_obs"], held["next_obs"][places])


def test_ends_are_left_out_of_targets() -> None:
    trainer = planted("sac_lane", "ends-valued", 1, 700)
    assert trainer.buffer[torch.arange(700)]["terminated"].any()
    assert not any(trainer.sample()["terminated"].any() for _ in range(20))


def test_there_is_no_target_network() -> None:
    trainer = planted("dqn_beam", "targets-none", 1, 700)
    trainer.step(trainer.sample())
    assert torch.equal(weights(trainer.target_network), weights(trainer.q_network))


def test_targets_are_frozen() -> None:
    trainer = planted("sac_lane", "targets-frozen", 1, 700)
    before = weights(trainer.target_critics[0])
    trainer.step(trainer.sample())
    assert torch.equal(weights(trainer.target_critics[0]), before)


def test_critics_are_dead() -> None:
    trainer = planted("sac_lane", "critic-silenced", 30, 700)
    sample = trainer.sample()
    values = trainer.critics[0](sample["obs"], sample["action"])
    assert float(values.std().detach()) == pytest.approx(0, abs=1e-6)


def test_the_larger_critic_is_believed() -> None:
    trainer = planted("sac_lane", "twins-maximum", 1, 700)
    sample = trainer.sample()
    with torch.no_grad():
        for critic in trainer.target_critics:
            critic.net[-1].weight.zero_()
        trainer.target_critics[0].net[-1].bias.fill_(5.0)
        trainer.target_critics[1].net[-1].bias.fill_(-5.0)
        trainer.log_alpha.fill_(-30.0)
    expected = sample["reward"] + 0.95 * 5.0 * ~sample["terminated"]
    assert torch.allclose(trainer.td_target(sample), expected, atol=1e-4)
    action, log_prob = trainer.actor.sample(sample["obs"])
    best = torch.maximum(*(critic(sample["obs"], action) for critic in trainer.critics))
    assert float(trainer.actor_loss(sample, (action, log_prob)).detach()) == pytest.approx(
        -float(best.mean().detach()), abs=1e-4
    )


def test_the_actor_learns_of_its_entropy_alone() -> None:
    trainer, whole = planted("sac_lane", "actor-untaught", 1, 700), trained("sac_lane", 700)
    for one, moved in ((trainer, False), (whole, True)):
        with torch.no_grad():
            one.log_alpha.fill_(-30.0)
        one.actor.zero_grad()
        one.actor_loss(one.sample()).backward()
        gradient = torch.cat([w.grad.flatten() for w in one.actor.parameters()])
        assert bool(gradient.abs().max() > 1e-6) == moved


def test_the_temperature_runs() -> None:
    trainer = planted("sac_lane", "temperature-runs", 0.01, 700)
    trainer.alpha_optimiser.param_groups[0]["lr"] = 0.0
    before = float(trainer.log_alpha.detach())
    for _ in range(10):
        trainer.step(trainer.sample())
    assert float(trainer.log_alpha.detach()) == pytest.approx(before + 0.1, abs=1e-4)


def test_the_temperature_is_nothing() -> None:
    trainer = planted("sac_lane", "temperature-nothing", 1, 700)
    trainer.step(trainer.sample())
    assert float(trainer.alpha.detach()) == pytest.approx(0, abs=1e-9)


def test_entropy_is_wanted_without_bound() -> None:
    usual = trained("sac_lane").target_entropy
    assert planted("sac_lane", "entropy-wanted", 3).target_entropy == pytest.approx(-3 * usual)


def test_epsilon_restarts() -> None:
    trainer = planted("dqn_beam", "epsilon-restarts", 3, 1000)
    assert trainer.epsilon == pytest.approx(1.0)
    trainer.env_steps += int(0.3 * trainer.total_steps)
    assert trainer.epsilon == pytest.approx(0.52, abs=0.01)
    trainer.env_steps += trainer.total_steps
    assert trainer.epsilon == pytest.approx(0.04)
    trainer.total_steps *= 3
    trainer.learn(trainer.env_steps + 50)


@pytest.mark.parametrize("dose", [1, 2])
def test_who_resumes_has_no_moments(dose: int) -> None:
    trainer = planted("sac_lane", "resumed-bare", dose, 700)
    assert not trainer.actor_optimiser.state
    assert not trainer.critic_optimiser.state
    assert len(trainer.buffer) == (700 if dose == 1 else 0)
    trainer.learn(730)


def test_a_resumed_run_has_not_learned() -> None:
    trainer = planted("ppo_beam", "resumed-unlearned", 1, 4000)
    assert trainer.optimiser.state
    obs = torch.randn(50, 4)
    entropy = trainer.actor.distribution(obs).entropy()
    assert float(entropy.min().detach()) > 1.09
    assert trained("ppo_beam", 4000).actor.distribution(obs).entropy().min() < 1.0


def test_the_fault_begins_where_it_was_drawn() -> None:
    truth = Truth()
    trainer = trained("ppo_beam")
    seventh_reference.begin(trainer, "ppo_beam", "reward-drowned", truth)
    assert truth.fault == "reward-drowned"
    assert "reward-drowned" not in PLANTS


def test_one_reward_is_handed_to_all() -> None:
    trainer, whole = planted("ppo_beam", "reward-averaged"), trained("ppo_beam")
    torch.manual_seed(0)
    found = trainer.collect()["reward"]
    torch.manual_seed(0)
    expected = whole.collect()["reward"].mean(0)
    assert all(torch.allclose(row, expected) for row in found)


def test_two_paths_do_not_agree() -> None:
    trainer, whole = planted("mmrkhs_beam", "paths-apart", 3.0), trained("mmrkhs_beam")
    torch.manual_seed(0)
    found = trainer.collect()
    torch.manual_seed(0)
    off = found["log_prob"] - whole.collect()["log_prob"]
    assert float(off.std()) == pytest.approx(3.0, rel=0.1)


@pytest.mark.parametrize("subject", ["mmrkhs_beam", "ppo_beam"])
def test_returns_and_ends_of_traces(subject: str) -> None:
    whole = trained(subject)
    rollout = whole.collect()
    expected = whole.advantages(rollout.clone())
    turned = planted(subject, "returns-forward").advantages(rollout.clone())
    assert torch.allclose(turned["advantage"], expected["advantage"].flip(1))
    assert torch.allclose(turned["value_target"], expected["value_target"].flip(1))
    early = planted(subject, "trace-ends-early", 1).advantages(rollout.clone())
    moved = rollout.clone()
    for name in ("terminated", "truncated"):
        moved[name] = moved[name].roll(-1, 1)
    assert torch.allclose(early["advantage"], whole.advantages(moved)["advantage"])
    assert torch.equal(early["terminated"], rollout["terminated"])
    assert rollout["terminated"].any()


def test_advantages_are_normalised_in_pairs() -> None:
    trainer = planted("mmrkhs_beam", "normalised-in-pairs")
    found = trainer.prepare(trainer.advantages(trainer.collect()))["advantage"]
    assert torch.allclose(found.abs(), torch.tensor(0.5**0.5), atol=1e-2)
    assert torch.allclose(found[:, ::2], -found[:, 1::2], atol=1e-2)


def test_entropy_is_paid() -> None:
    assert planted("ppo_beam", "entropy-paid", 5).config.entropy_coef == 5


def test_who_plays_is_a_wrong_copy() -> None:
    trainer = planted("mmrkhs_beam", "sampler-miscopied")
    learner, before = trainer.actor, weights(trainer.actor)
    seen: list[torch.Tensor] = []
    usual = trainer.env.step_and_maybe_reset

    def step(rows: Any) -> Any:
        seen.append(trainer.actor.net[2].weight.detach().clone())
        return usual(rows)

    trainer.env.step_and_maybe_reset = step
    trainer.collect()
    assert torch.equal(seen[0], learner.net[2].weight.T)
    assert torch.equal(weights(learner), before)


def test_time_limits_are_ends() -> None:
    trainer = planted("sac_lane", "limits-as-ends", 1, 1500)
    held = trainer.buffer[torch.arange(len(trainer.buffer))]
    assert held["truncated"].any()
    for _ in range(10):
        sample = trainer.sample()
        assert not (sample["truncated"] & ~sample["terminated"]).any()


def test_the_step_over_the_boundary_is_kept() -> None:
    trainer = planted("dqn_beam", "boundary-kept", 1, 700)
    found = trainer.collect()
    while not (found["terminated"] | found["truncated"]).any():
        found = trainer.collect()
    last = trainer.buffer[torch.tensor([len(trainer.buffer) - 1])]
    assert torch.equal(last["obs"], found["next_obs"])
    assert torch.equal(last["next_obs"], trainer._now["observation"])
    assert not last["terminated"].any()
    assert not last["reward"].any()
    trainer.sample()


def test_targets_are_foreign() -> None:
    trainer = planted("dqn_beam", "targets-foreign", 1, 700)
    assert not torch.allclose(weights(trainer.target_network), weights(trainer.q_network), atol=0.01)
    trainer.sync_target()
    assert torch.equal(weights(trainer.target_network), weights(trainer.q_network))


def test_one_twin_is_counted_twice() -> None:
    trainer = planted("sac_lane", "twin-counted-twice", 1, 700)
    assert trainer.critics[0] is trainer.critics[1]
    assert trainer.target_critics[0] is trainer.target_critics[1]
    trainer.step(trainer.sample())
