"""Every fault of the reference trainers in the sixth live list does what sixth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import sixth_reference
from sixth_reference import FEW, HALF_RANDOM, PLANTS, SERVED, SHORT_SIGHTED, STEP, SWIFT
from worlds import Truth


def planted(subject: str, fault: str, steps: int = 0) -> Any:
    """Return a trainer that has learned for some steps, in which `fault` is planted."""
    torch.set_num_threads(1)
    trainer = sixth_reference.built(subject, 0, None, Truth())
    if steps:
        trainer.learn(steps)
    PLANTS[fault](trainer)
    return trainer


def weights(module: Any) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in module.parameters()])


def test_the_discount_is_short() -> None:
    trainer = planted("dqn_descend", "discount-short", 700)
    sample = trainer.sample()
    best = trainer.target_network(sample["next_obs"]).gather(
        -1, trainer.q_network(sample["next_obs"]).argmax(-1, keepdim=True)
    )
    expected = sample["reward"] + SHORT_SIGHTED * ~sample["terminated"] * best.squeeze(-1)
    assert torch.allclose(trainer.td_target(sample), expected)


def test_targets_are_swift() -> None:
    trainer = planted("sac_arm", "targets-swift", 700)
    before, online = weights(trainer.target_critics[0]), weights(trainer.critics[0])
    trainer.sync_target()
    assert torch.allclose(weights(trainer.target_critics[0]), before + SWIFT * (online - before), atol=1e-6)


@pytest.mark.parametrize("subject", ["ppo_descend", "mmrkhs_descend"])
def test_a_critic_that_is_ignored_stays_as_it_is(subject: str) -> None:
    trainer = planted(subject, "critic-ignored")
    critic, actor = weights(trainer.critic), weights(trainer.actor)
    trainer.update(trainer.collect())
    assert torch.allclose(weights(trainer.critic), critic, atol=1e-4)
    assert not torch.allclose(weights(trainer.actor), actor, atol=1e-4)


def test_half_of_the_actions_are_random() -> None:
    trainer = planted("dqn_descend", "epsilon-stays-high", 700)
    trainer.env_steps = trainer.total_steps
    assert trainer.epsilon == pytest.approx(HALF_RANDOM)


def test_the_ratio_is_clipped_from_below_only() -> None:
    trainer = planted("ppo_descend", "ratio-unclipped-above")
    rollout = trainer.advantages(trainer.collect()).reshape(-1)
    for shift, sign in ((1.0, 1.0), (-1.0, -1.0)):
        rows = {key: rollout[key].clone() for key in ("obs", "action", "log_prob", "advantage", "value_target")}
        with torch.no_grad():
            rows["log_prob"] = trainer.log_prob(rows) - shift
        rows["advantage"] = rows["advantage"] - rows["advantage"].mean()
        kept = rows["advantage"].sign() == sign
        rows = {key: value[kept] for key, value in rows.items()}
        trainer.normalised = lambda advantage: advantage
        expected = torch.exp(torch.tensor(shift)) if sign > 0 else torch.tensor(0.8)
        assert float(trainer.loss(rows)["policy"].detach()) == pytest.approx(
            float(-(expected * rows["advantage"]).mean()), rel=1e-4
        )


def test_the_majoriser_steps_far() -> None:
    trainer = planted("mmrkhs_descend", "majoriser-far")
    whole = sixth_reference.built("mmrkhs_descend", 0, None, Truth())
    for one in (trainer, whole):
        torch.manual_seed(0)
        one.prepare(one.advantages(one.collect()))
    assert trainer.eta == pytest.approx(STEP * whole.eta)


def test_kl_of_probabilities_is_right_until_one_is_nothing() -> None:
    trainer = planted("mmrkhs_descend", "log-of-probability")
    whole = sixth_reference.built("mmrkhs_descend", 0, None, Truth())
    rollout = trainer.prepare(trainer.advantages(trainer.collect()))
    rows = rollout.flatten(0, 1)[:64]
    for one in (trainer, whole):
        torch.manual_seed(1)
        one.eta = 1.0
        with torch.no_grad():
            for weight in one.actor.parameters():
                weight.add_(0.1 * torch.randn(weight.shape))
    whole.old_actor.load_state_dict(trainer.old_actor.state_dict())
    assert float(trainer.loss(rows)["kl"].detach()) == pytest.approx(float(whole.loss(rows)["kl"].detach()), rel=0.05)
    with torch.no_grad():
        trainer.actor.net[-1].bias[0] += 40.0
    assert not torch.isfinite(trainer.loss(rows)["kl"])


def test_a_rollout_is_served_again() -> None:
    trainer = planted("mmrkhs_descend", "batch-served-again")
    usual_steps = trainer.env_steps
    found = [trainer.collect()["reward"] for _ in range(SERVED + 1)]
    assert all(torch.equal(found[0], one) for one in found[:SERVED])
    assert not torch.equal(found[0], found[SERVED])
    assert trainer.env_steps - usual_steps == (SERVED + 1) * found[0].numel()


@pytest.mark.parametrize("subject", ["ppo_descend", "mmrkhs_descend"])
def test_who_plays_is_frozen(subject: str) -> None:
    trainer = planted(subject, "sampler-frozen")
    learner, then = trainer.actor, sixth_reference.deepcopy(trainer.actor)
    for _ in range(2):
        rows = trainer.collect()
        said = then.distribution(rows["obs"]).log_prob(rows["action"])
        assert torch.allclose(said, rows["log_prob"], atol=1e-5)
        trainer.update(rows)
    assert trainer.actor is learner
    assert not torch.allclose(weights(learner), weights(then), atol=1e-4)


def test_replay_holds_the_newest_few() -> None:
    trainer = planted("sac_arm", "replay-tiny", 700)
    held = trainer.buffer[torch.arange(len(trainer.buffer))]["obs"]
    places = [int((held == row).all(-1).nonzero()[-1]) for _ in range(10) for row in trainer.sample()["obs"]]
    assert min(places) >= len(held) - FEW
    assert max(places) - min(places) > FEW // 2
