"""Every fault of the reference trainers in the eighth list does what eighth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import eighth_reference
from eighth_reference_plants import PLANTS, optimisers
from worlds import Truth

STEPS = 260
"""Environment steps before a fault: more than SAC and DQN wait before they learn."""


def trained(subject: str, steps: int = 0) -> Any:
    """Return a trainer that has learned for some steps."""
    torch.set_num_threads(1)
    trainer = eighth_reference.built(subject, 0, None, Truth())
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


def rollouts(fault: str, subject: str = "mmrkhs_counters") -> tuple[Any, Any]:
    """Return a rollout of a trainer with the fault, and of one without."""
    found: list[Any] = []
    for trainer in (planted(subject, fault), trained(subject)):
        torch.manual_seed(0)
        found.append(trainer.collect())
    return found[0], found[1]


def test_every_optimiser_is_found() -> None:
    assert len(optimisers(trained("sac_buoy"))) == 3
    assert len(optimisers(trained("dqn_counters"))) == 1


@pytest.mark.parametrize("fault", ["moments-swapped", "moments-in-halves", "averaged-with-a-stranger"])
def test_faults_of_optimisers_reach_the_trainer(fault: str) -> None:
    torch.manual_seed(1)
    broken, whole = planted("sac_buoy", fault, 0.01, STEPS), trained("sac_buoy", STEPS)
    for trainer in (broken, whole):
        torch.manual_seed(2)
        for _ in range(3):
            trainer.step(trainer.sample())
    assert not torch.allclose(weights(broken.actor), weights(whole.actor), atol=1e-6)


def test_the_rate_falls_below_nothing_by_the_end() -> None:
    trainer = planted("ppo_counters", "rate-below-nothing", 3, 512)
    usual = trainer.config.learning_rate
    trainer.env_steps = 512 + (trainer.total - 512) // 2
    trainer.update(trainer.collect())
    done = (trainer.env_steps - 512) / (trainer.total - 512)
    assert trainer.optimiser.param_groups[0]["lr"] == pytest.approx(usual * (1 - 4 * done))
    assert done > 0.5


def test_actions_are_of_the_row_before() -> None:
    found, expected = rollouts("action-row-before")
    assert torch.equal(found["action"], expected["action"].roll(1, 1))
    assert torch.equal(found["log_prob"], expected["log_prob"])
    trainer = planted("sac_buoy", "action-row-before", 1, STEPS)
    held, sample = trainer.buffer[torch.arange(len(trainer.buffer))], trainer.sample()
    places = [int((held["obs"] == obs).all(-1).nonzero()[-1]) for obs in sample["obs"]]
    assert torch.equal(sample["action"], held["action"][[place - 1 for place in places]])
    assert torch.equal(sample["reward"], held["reward"][places])


def test_what_follows_is_valued_as_what_was() -> None:
    found, expected = rollouts("value-row-off")
    assert torch.equal(found["next_value"], found["value"])
    assert not torch.allclose(expected["next_value"], expected["value"], atol=1e-3)


@pytest.mark.parametrize(("fault", "subject"), [("base-plays", "ppo_counters"), ("head-left-out", "mmrkhs_counters")])
def test_who_plays_has_first_weights_and_who_learns_has_not(fault: str, subject: str) -> None:
    trainer = trained(subject)
    trainer.update(trainer.collect())
    first = trainer.first_actor
    assert not torch.allclose(weights(trainer.actor.net[-1]), weights(first.net[-1]), atol=1e-4)
    PLANTS[fault](trainer, 1)
    learner, before = trainer.actor, weights(trainer.actor)
    rows = trainer.collect()
    assert trainer.actor is learner
    assert torch.equal(weights(learner), before)
    if hasattr(trainer, "old_actor"):
        assert torch.equal(weights(trainer.old_actor), before)
    body = first.net[:-1] if fault == "base-plays" else learner.net[:-1]
    logits = first.net[-1](body(rows["obs"]))
    said = torch.distributions.Categorical(logits=logits).log_prob(rows["action"])
    assert torch.allclose(said, rows["log_prob"], atol=1e-5)
    trainer.update(rows)


def test_one_row_is_left_over_and_all_is_not_a_number() -> None:
    trainer = planted("ppo_counters", "row-left-over")
    rollout = trainer.advantages(trainer.collect())
    sizes = [len(rows) for rows in trainer.minibatches(rollout)]
    assert sizes == [128, 128, 128, 127, 1]
    with pytest.warns(UserWarning, match="degrees of freedom"):
        trainer.update(rollout)
    assert weights(trainer.actor).isnan().all()


def test_the_policy_is_kept_near_itself() -> None:
    trainer = planted("mmrkhs_counters", "majoriser-of-itself")
    trainer.update(trainer.collect())
    rows = trainer.prepare(trainer.advantages(trainer.collect())).reshape(-1)
    terms = trainer.loss(rows)
    assert float(terms["kl"].detach()) == float(terms["mmd"].detach()) == 0.0


def test_samples_are_turned_and_cut() -> None:
    for fault in ("mask-turned", "kept-as-bytes"):
        found: list[Any] = []
        for trainer in (planted("dqn_counters", fault, 1, 700), trained("dqn_counters", 700)):
            torch.manual_seed(0)
            found.append(trainer.sample())
        if fault == "mask-turned":
            assert torch.equal(found[0]["terminated"], ~found[1]["terminated"])
        else:
            assert torch.equal(found[0]["obs"], found[1]["obs"].trunc())
            assert torch.equal(found[0]["next_obs"], found[1]["next_obs"].trunc())


def test_rows_are_stored_blank_or_in_other_units() -> None:
    trainer = planted("sac_buoy", "rows-blank", 1, STEPS)
    rows, last = trainer.collect(), trainer.buffer[:][-1]
    assert rows["obs"].any()
    assert not any(bool(last[name].any()) for name in ("obs", "action", "reward", "next_obs", "terminated"))
    trainer = planted("sac_buoy", "actions-in-other-units", 10, STEPS)
    rows, last = trainer.collect(), trainer.buffer[:][-1]
    assert torch.allclose(last["action"], 10 * rows["action"][0])
    assert torch.equal(last["obs"], rows["obs"][0])


@pytest.mark.parametrize("subject", ["dqn_counters", "sac_buoy"])
def test_one_value_is_taken_for_the_whole_batch(subject: str) -> None:
    trainer = planted(subject, "extreme-of-batch", 1, 700 if subject == "dqn_counters" else STEPS)
    sample = trainer.sample()
    if subject == "sac_buoy":
        with torch.no_grad():
            trainer.log_alpha.fill_(-30.0)
    valued = (trainer.td_target(sample) - sample["reward"])[~sample["terminated"]] / trainer.gamma
    assert float(valued.std()) < 0.05 * float(valued.mean().abs()) + 0.05
    if subject == "dqn_counters":
        assert float(valued[0]) == pytest.approx(float(trainer.target_network(sample["next_obs"]).max()), abs=1e-4)


def test_the_entropy_has_the_wrong_sign_in_targets() -> None:
    trainer, whole = planted("sac_buoy", "entropy-turned", 1, STEPS), trained("sac_buoy", STEPS)
    sample, found = trainer.sample(), []
    for one in (trainer, whole):
        torch.manual_seed(3)
        found.append(one.td_target(sample))
    torch.manual_seed(3)
    log_prob = trainer.actor.sample(sample["next_obs"])[1]
    gap = 2 * trainer.gamma * trainer.alpha * log_prob * ~sample["terminated"]
    assert torch.allclose(found[0] - found[1], gap.detach(), atol=1e-3)


def test_the_correction_is_dropped() -> None:
    trainer = planted("sac_buoy", "correction-dropped", 1, STEPS)
    obs = trainer.sample()["obs"]
    action, log_prob = trainer.actor.sample(obs)
    inner, squashed = action.detach().abs().max(-1).values < 0.99, (1 - action**2).log().sum(-1)
    assert torch.allclose((log_prob - squashed)[inner], trainer.actor.log_prob(obs, action)[inner], atol=1e-2)


def test_temperature_and_spread_are_taken_for_their_logarithms() -> None:
    trainer = planted("sac_buoy", "temperature-is-logarithm", 1, STEPS)
    assert float(trainer.alpha.detach()) == float(trainer.log_alpha.detach()) < 0
    trainer.step(trainer.sample())
    trainer, whole = planted("sac_buoy", "exponent-twice", 1, STEPS), trained("sac_buoy", STEPS)
    obs = trainer.sample()["obs"]
    assert torch.allclose(trainer.actor(obs)[1], whole.actor(obs)[1].exp(), atol=1e-5)


def test_the_coin_is_turned() -> None:
    trainer = planted("dqn_counters", "coin-turned", 1, 700)
    trainer.env_steps = trainer.total_steps * 10
    greedy = torch.zeros(9000, dtype=torch.int64)
    assert trainer.epsilon == pytest.approx(0.04)
    assert float((trainer.explored(greedy) > 0).float().mean()) == pytest.approx(0.96 * 2 / 3, abs=0.03)
