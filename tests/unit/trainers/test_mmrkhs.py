"""MM-RKHS: every known pitfall of its implementations has a test here that fails when it is planted."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from tensordict import TensorDict
from torch import Tensor

from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig, train

torch.set_num_threads(1)

SMALL = MMRKHSConfig(num_envs=3, rollout_steps=20, epochs=3, minibatch_size=16, hidden_sizes=(16,))


class Corridor(gym.Env[Any, Any]):
    """obs = (place, noise); ends after `length` steps, by truncation or termination; reward 1 for action 1 (or > 0)."""

    def __init__(self, *, length: int = 7, truncates: bool = True, continuous: bool = False) -> None:
        self.observation_space = gym.spaces.Box(-1e3, 1e3, (2,), np.float32)
        box = gym.spaces.Box(np.array([-1.0, -3.0], np.float32), np.array([1.0, 1.0], np.float32))
        self.action_space = box if continuous else gym.spaces.Discrete(3)
        self.length, self.truncates, self.continuous, self.steps = length, truncates, continuous, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.steps = 0
        return self._obs(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        if self.continuous:
            assert self.action_space.contains(action), f"{action} is outside the bounds"
        reward = float(action[0]) if self.continuous else float(action == 1)
        self.steps += 1
        end = self.steps == self.length
        return self._obs(), reward, end and not self.truncates, end and self.truncates, {}

    def _obs(self) -> np.ndarray:
        return np.array([self.steps, self.np_random.normal()], np.float32)


def continuous() -> Corridor:
    return Corridor(continuous=True)


BOTH = pytest.mark.parametrize("make", [Corridor, continuous], ids=["discrete", "continuous"])
Make = Callable[[], Corridor]


def prepared(make: Make = Corridor, *, moved: bool = True, **changes: Any) -> tuple[MMRKHS, TensorDict]:
    """A trainer and all rows of its first rollout; `moved`: the actor has left pi_k a little, in a known direction."""
    trainer = MMRKHS(make, seed=0, config=replace(SMALL, **changes))
    rows = trainer.prepare(trainer.advantages(trainer.collect())).flatten(0, 1)
    if moved:
        with torch.no_grad():
            for weight in trainer.actor.parameters():
                weight.add_(0.1 * torch.randn_like(weight))
    return trainer, rows


def gradient(trainer: MMRKHS, term: Tensor) -> Tensor:
    trainer.optimiser.zero_grad()
    term.backward()
    pieces = [torch.zeros_like(w) if w.grad is None else w.grad for w in trainer.actor.parameters()]
    return torch.cat([piece.flatten() for piece in pieces]).clone()


def weights(trainer: MMRKHS) -> Tensor:
    return torch.cat([weight.detach().flatten() for weight in trainer.actor.parameters()])


# ---- the terms -------------------------------------------------------------------------------------------------------


@BOTH
def test_the_log_prob_is_that_of_the_stored_action(make: Make) -> None:
    trainer, rows = prepared(make, moved=False)
    torch.testing.assert_close(trainer.log_prob(rows), rows["log_prob"], atol=1e-5, rtol=1e-5)
    assert torch.equal(trainer.log_prob(rows), trainer.log_prob(rows)), "nothing is drawn"


@BOTH
def test_at_pi_k_kl_and_mmd_are_zero_and_flat_and_only_the_surrogate_pulls(make: Make) -> None:
    trainer, rows = prepared(make, moved=False)
    for name in ("mmd", "kl"):
        term = trainer.loss(rows)[name]
        assert float(term.detach()) == pytest.approx(0.0, abs=1e-5)
        assert float(gradient(trainer, term).norm()) < 1e-4
    assert float(gradient(trainer, trainer.loss(rows)["policy"]).norm()) > 1e-2


@BOTH
def test_the_kl_term_has_a_gradient_that_leads_back_to_pi_k(make: Make) -> None:
    trainer, rows = prepared(make)
    before = trainer.loss(rows)["kl"]
    pull = gradient(trainer, before)
    assert float(pull.norm()) > 1e-3
    with torch.no_grad():
        for weight in trainer.actor.parameters():
            weight.sub_(0.01 * weight.grad / pull.norm())
    assert float(trainer.loss(rows)["kl"].detach()) < float(before.detach())


@BOTH
def test_the_mmd_term_has_a_gradient_that_leads_back_to_pi_k(make: Make) -> None:
    trainer, rows = prepared(make)
    before = trainer.loss(rows)["mmd"]
    pull = gradient(trainer, before)
    assert float(pull.norm()) > 1e-4
    with torch.no_grad():
        for weight in trainer.actor.parameters():
            weight.sub_(0.01 * weight.grad / pull.norm())
    assert float(trainer.loss(rows)["mmd"].detach()) < float(before.detach())


def test_the_sampled_mmd_agrees_with_the_closed_form_and_pulls_the_same_way() -> None:
    trainer, rows = prepared(continuous)
    exact = trainer.loss(rows)["mmd"]
    pull = gradient(trainer, exact)
    trainer.config = replace(trainer.config, mmd_samples=200)
    estimate = trainer.loss(rows)["mmd"]
    assert float(estimate.detach()) == pytest.approx(float(exact.detach()), rel=0.3, abs=0.01)
    assert float(torch.cosine_similarity(gradient(trainer, estimate), pull, dim=0)) > 0.9


@BOTH
def test_beta_and_eta_weigh_their_terms(make: Make) -> None:
    trainer, rows = prepared(make)
    terms = {name: float(term.detach()) for name, term in trainer.loss(rows).items()}
    trainer.beta, trainer.eta = 3.0 * trainer.beta, 3.0 * trainer.eta
    new = {name: float(term.detach()) for name, term in trainer.loss(rows).items()}
    assert new["mmd"] == pytest.approx(3.0 * terms["mmd"], rel=1e-5)
    assert new["kl"] == pytest.approx(terms["kl"] / 3.0, rel=1e-5)
    assert new["policy"] == terms["policy"]
    assert new["value"] == terms["value"]


@BOTH
def test_zero_advantages_leave_the_policy_alone_in_the_later_form_only(make: Make) -> None:
    for form, stays in (("fixed_point", True), ("draft", False)):
        trainer, rows = prepared(make, moved=False, form=form)
        rows["advantage"] = torch.zeros_like(rows["advantage"])
        terms = trainer.loss(rows)
        pull = gradient(trainer, terms["policy"] + terms["mmd"] + terms["kl"])
        assert (float(pull.norm()) < 1e-4) == stays, form


def test_the_draft_form_lowers_the_entropy_with_nothing_to_be_gained() -> None:
    for form, falls in (("fixed_point", False), ("draft", True)):
        trainer, rows = prepared(form=form)
        trainer.old_actor.load_state_dict(trainer.actor.state_dict())
        rows["advantage"] = torch.zeros_like(rows["advantage"])
        rows["log_prob"] = trainer.log_prob(rows).detach()
        before = float(trainer.actor.distribution(rows["obs"]).entropy().mean().detach())
        for _ in range(60):
            trainer.step(rows)
        change = float(trainer.actor.distribution(rows["obs"]).entropy().mean().detach()) - before
        assert (change < -1e-3) == falls, (form, change)


@BOTH
def test_rewards_are_maximised(make: Make) -> None:
    """A positive advantage raises the log-prob of its action: the paper's costs have the other sign."""
    trainer, rows = prepared(make, moved=False)
    rows["advantage"] = torch.zeros_like(rows["advantage"])
    rows["advantage"][5] = 1.0
    before = float(trainer.log_prob(rows)[5].detach())
    gradient(trainer, trainer.loss(rows)["policy"])
    with torch.no_grad():
        for weight in trainer.actor.parameters():
            weight.sub_(0.1 * weight.grad)
    assert float(trainer.log_prob(rows)[5].detach()) > before


@pytest.mark.parametrize(
    ("log_ratio", "advantage", "has_gradient"),
    [(2.0, 1.0, False), (2.0, -1.0, True), (-2.0, -1.0, False), (1.4, 1.0, True)],
)
def test_the_exponent_clip_stops_the_gradient_on_the_right_side(
    log_ratio: float, advantage: float, has_gradient: bool
) -> None:
    trainer, rows = prepared(moved=False)
    rows["log_prob"] = rows["log_prob"] - log_ratio
    rows["advantage"] = torch.full_like(rows["advantage"], advantage)
    assert (float(gradient(trainer, trainer.loss(rows)["policy"]).norm()) > 1e-6) == has_gradient


# ---- advantages ------------------------------------------------------------------------------------------------------


def slow_gae(rollout: TensorDict, gamma: float, decay: float) -> Tensor:
    """One environment after the other, from the end."""
    advantage = torch.zeros_like(rollout["reward"])
    envs, steps = advantage.shape
    for n in range(envs):
        running = 0.0
        for t in reversed(range(steps)):
            terminated, truncated = bool(rollout["terminated"][n, t]), bool(rollout["truncated"][n, t])
            after = 0.0 if terminated else gamma * float(rollout["next_value"][n, t])
            delta = float(rollout["reward"][n, t]) + after - float(rollout["value"][n, t])
            running = delta + (0.0 if terminated or truncated else gamma * decay * running)
            advantage[n, t] = running
    return advantage


@pytest.mark.parametrize("truncates", [True, False])
def test_advantages_are_those_of_single_environments(truncates: bool) -> None:
    trainer = MMRKHS(lambda: Corridor(truncates=truncates), seed=0, config=SMALL)
    rollout = trainer.advantages(trainer.collect())
    assert rollout.batch_size == (3, 20)
    assert bool((rollout["truncated"] if truncates else rollout["terminated"]).any())
    slow = slow_gae(rollout, 0.99, 0.95)
    torch.testing.assert_close(rollout["advantage"], slow, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(rollout["value_target"], slow + rollout["value"], atol=1e-4, rtol=1e-4)


def test_permuting_environments_permutes_advantages() -> None:
    trainer = MMRKHS(Corridor, seed=0, config=SMALL)
    rollout = trainer.collect()
    order = torch.tensor([2, 0, 1])
    permuted = trainer.advantages(rollout.clone()[order])["advantage"]
    torch.testing.assert_close(permuted, trainer.advantages(rollout)["advantage"][order])


def test_the_value_at_a_truncation_is_that_of_the_final_observation() -> None:
    trainer = MMRKHS(Corridor, seed=0, config=SMALL)
    rollout = trainer.collect()
    inner = ~(rollout["truncated"] | rollout["terminated"])[:, :-1]
    followed = rollout["value"][:, 1:]
    torch.testing.assert_close(rollout["next_value"][:, :-1][inner], followed[inner], atol=1e-5, rtol=1e-5)
    assert (rollout["next_value"][:, :-1][~inner] - followed[~inner]).abs().min() > 1e-4


def test_one_outlier_does_not_set_beta_and_beta_falls_with_the_iteration() -> None:
    trainer, rows = prepared()
    rows["advantage"] = torch.ones_like(rows["advantage"])
    trainer.set_weights(rows)
    assert trainer.beta == pytest.approx(1.0)
    rows["advantage"][0] = 1e6
    trainer.iteration = 3
    trainer.set_weights(rows)
    assert trainer.beta == pytest.approx(0.5)


def test_eta_grows_to_its_caps() -> None:
    trainer, rows = prepared(eta_initial=0.3, eta_growth=1.0, eta_ceiling=2.0)
    etas = []
    for iteration in (0, 1, 100):
        trainer.iteration = iteration
        trainer.set_weights({**rows, "advantage": torch.zeros(60)})
        etas.append(trainer.eta)
    assert etas == pytest.approx([0.3, 0.6, 2.0])
    trainer.iteration = 0
    trainer.set_weights({**rows, "advantage": torch.full((60,), 50.0)})
    assert trainer.eta * trainer.beta == pytest.approx(1.0), "stiffness: lambda_max(I) = 1"


def test_constant_advantages_are_no_numbers_gone_wrong() -> None:
    trainer = MMRKHS(Corridor, seed=0, config=SMALL)
    rollout = trainer.advantages(trainer.collect())
    rollout["advantage"] = torch.full_like(rollout["advantage"], 2.0)
    assert torch.equal(trainer.prepare(rollout)["advantage"], torch.zeros(3, 20))


# ---- the update ------------------------------------------------------------------------------------------------------


def after_update(make: Make, **changes: Any) -> Tensor:
    trainer = MMRKHS(make, seed=0, config=replace(SMALL, **changes))
    trainer.update(trainer.collect())
    return weights(trainer)


@BOTH
def test_beta_changes_the_trajectory_from_the_second_inner_step_on(make: Make) -> None:
    one_step = {"epochs": 1, "minibatch_size": 60}
    without, with_mmd = (after_update(make, beta_scale=scale, **one_step) for scale in (0.0, 0.5))
    torch.testing.assert_close(without, with_mmd, atol=1e-5, rtol=1e-5)
    without, with_mmd = (after_update(make, beta_scale=scale) for scale in (0.0, 0.5))
    assert float((without - with_mmd).abs().max()) > 1e-4, "with several inner steps the MMD term is not inert"


@BOTH
def test_every_weight_moves_and_pi_k_does_not(make: Make) -> None:
    trainer = MMRKHS(make, seed=0, config=SMALL)
    rollout = trainer.collect()
    networks = (trainer.actor, trainer.critic)
    before = [weight.detach().clone() for net in networks for weight in net.parameters()]
    kept = [weight.clone() for weight in trainer.old_actor.parameters()]
    trainer.update(rollout)
    after = [weight for net in networks for weight in net.parameters()]
    assert not any(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(kept, trainer.old_actor.parameters(), strict=True))
    trainer.collect()
    pairs = zip(trainer.old_actor.parameters(), trainer.actor.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs), "the next rollout is by the new policy"


def test_each_epoch_has_each_row_once_and_drops_none() -> None:
    trainer = MMRKHS(Corridor, seed=0, config=replace(SMALL, minibatch_size=25))
    rollout = trainer.prepare(trainer.advantages(trainer.collect()))
    sizes = [len(minibatch) for minibatch in trainer.minibatches(rollout)]
    assert sizes == [25, 25, 10]
    seen = torch.cat([minibatch["obs"][:, 1] for minibatch in trainer.minibatches(rollout)])
    assert torch.equal(seen.sort().values, rollout["obs"][..., 1].flatten().sort().values)


@BOTH
def test_no_term_reaches_the_other_network(make: Make) -> None:
    trainer, rows = prepared(make)
    terms = trainer.loss(rows)
    assert float(gradient(trainer, terms["value"]).abs().max()) == 0.0
    trainer.critic.zero_grad()
    terms = trainer.loss(rows)
    (terms["policy"] + terms["mmd"] + terms["kl"]).backward()
    assert all(weight.grad is None for weight in trainer.critic.parameters())


def test_metrics_of_the_rollout_are_taken_once_however_many_inner_steps() -> None:
    def measured(epochs: int) -> dict[str, float]:
        trainer = MMRKHS(Corridor, seed=0, config=replace(SMALL, epochs=epochs))
        rollout = trainer.collect()
        raw = trainer.advantages(rollout.clone())["advantage"]
        metrics = trainer.update(rollout)
        assert metrics["advantage/abs_max"] == pytest.approx(float(raw.abs().max()))
        return metrics

    few, many = measured(1), measured(4)
    for name in ("advantage/abs_max", "critic/explained_variance", "advantage/std"):
        assert few[name] == many[name]
    assert many["policy/kl_old"] > few["policy/kl_old"]


# ---- runs ------------------------------------------------------------------------------------------------------------


@BOTH
def test_the_same_seed_gives_the_same_run_bit_for_bit_and_another_does_not(make: Make) -> None:
    one, same, other = (weights(train(make, total_steps=120, seed=seed, config=SMALL)) for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@BOTH
def test_it_logs_canonical_names_that_fill_the_profile(make: Make) -> None:
    rows: list[dict[str, float]] = []
    train(make, total_steps=120, seed=0, config=SMALL, log=lambda metrics, step: rows.append(metrics))
    vocabulary = files("firstbreak") / "vocabulary"
    known = tomllib.loads((vocabulary / "metrics.toml").read_text())
    profile = tomllib.loads((vocabulary / "algorithms.toml").read_text())["MM-RKHS"]["profile"]
    assert len(rows) == 2
    for metrics in rows:
        assert set(metrics) <= set(known)
        assert all(set(metrics) & set(group) for group in profile)
        assert all(type(value) is float and math.isfinite(value) for value in metrics.values())
        assert metrics["policy/ratio_first_minibatch"] == pytest.approx(1.0, abs=1e-4)
        assert metrics["policy/mmd"] >= -1e-7
        assert metrics["policy/mmd_grad_ratio"] > 0.0


def test_gamma_of_the_call_wins() -> None:
    assert train(Corridor, total_steps=60, seed=0, gamma=0.5, config=SMALL).gamma == 0.5


@BOTH
def test_act_and_value_take_what_gymnasium_gives(make: Make) -> None:
    trainer, world = MMRKHS(make, seed=0, config=SMALL), make()
    obs, _ = world.reset(seed=0)
    assert all(world.action_space.contains(trainer.act(obs)) for _ in range(20)), "within the bounds"
    assert np.all(trainer.act(obs, deterministic=True) == trainer.act(obs, deterministic=True))
    assert trainer.value(obs) == pytest.approx(float(trainer.critic(torch.as_tensor(obs)[None]).detach()), rel=1e-5)


@pytest.mark.parametrize("form", ["fixed_point", "draft"])
@BOTH
def test_it_learns_the_better_action(make: Make, form: str) -> None:
    config = replace(SMALL, form=form, actor_lr=5e-3, critic_lr=5e-3, num_envs=4, rollout_steps=32)
    trainer = train(make, total_steps=128 * 12, seed=0, config=config)
    policy = trainer.actor.distribution(torch.tensor([[3.0, 0.0]]))
    if make is Corridor:
        assert float(policy.probs[0, 1].detach()) > 0.7
    else:
        assert float(policy.mean[0, 0].detach()) > 0.4
