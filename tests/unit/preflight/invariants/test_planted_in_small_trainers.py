"""Every bug of the small trainers is named by the check that is meant for it; without a bug nothing is."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from firstbreak.finding import Severity
from firstbreak.preflight.invariants.api import inspect_trainer

from .small_trainers import SmallDQN, SmallPPO, SmallSAC


def found(pieces: Any) -> set[str]:
    seen = inspect_trainer(pieces)
    assert seen.errors == ()
    return {f.name for f in seen.findings if f.severity is not Severity.INFO}


PPO = {
    "no_actor": "parameter-not-in-optimiser",
    "no_critic": "parameter-not-in-optimiser",
    "no_steps": "no-gradient-step-taken",
    "no_zero_grad": "gradients-not-cleared",
    "tiny_clip": "gradient-clip-vanishing",
    "twice": "parameter-optimised-twice",
    "column": "log-prob-shape-wrong",
    "half_log_prob": "log-prob-not-a-density",
    "gae_never": "gae-terminated-keeps-bootstrap",
    "gae_cut": "gae-truncated-loses-bootstrap",
    "gae_trace": "gae-trace-crosses-episodes",
    "gae_last": "gae-last-row-not-bootstrapped",
    "gae_flat": "gae-crosses-environments",
    "gae_swapped": "gae-discount-wrong",
    "target_only_advantage": "value-target-not-advantage-plus-value",
    "no_epsilon": "zero-advantage-not-finite",
    "detached": "policy-loss-without-gradient",
    "broadcast": "policy-loss-broadcasts",
    "resampled": "policy-loss-scores-other-action",
    "flipped": "policy-loss-sign-flipped",
    "pairs": "advantage-weights-distorted",
    "old_recomputed": "stored-log-prob-ignored",
    "clip_max": "clip-keeps-gradient-beyond-bound",
    "clip_only": "clip-stops-corrective-gradient",
    "entropy_up": "entropy-bonus-lowers-entropy",
    "value_zero": "value-loss-without-gradient",
    "value_broadcast": "value-loss-broadcasts",
    "value_clip_zero": "value-loss-rows-distorted",
}
DQN = {
    "aliased": "target-network-aliased",
    "holds_target": "target-network-optimised",
    "never": "td-target-terminated-bootstraps",
    "done": "td-target-truncated-cut",
    "squared": "td-target-discount-wrong",
    "batch_max": "td-target-mixes-rows",
    "online": "td-target-ignores-target-network",
    "residual": "td-target-carries-gradient",
    "gather": "td-loss-scores-other-action",
    "broadcast": "td-loss-broadcasts",
    "frozen": "target-network-never-moves",
    "tau": "target-network-moves-wrong-fraction",
}
SAC = {
    "same_twins": "twin-critics-identical",
    "actor_holds_critic": "parameter-optimised-twice",
    "no_log_det": "log-prob-not-a-density",
    "first_dimension": "log-prob-not-a-density",
    "max": "td-target-twin-minimum-missing",
    "no_entropy": "td-entropy-term-wrong",
    "entropy_unmasked": "td-entropy-after-termination",
    "action_detached": "actor-ignores-critic",
    "actor_sign": "actor-lowers-critic-value",
    "alpha_sign": "temperature-moves-wrong-way",
    "alpha_still": "temperature-without-gradient",
    "entropy_target": "target-entropy-unreachable",
}


@pytest.mark.parametrize("bug", PPO)
def test_a_bug_in_ppo_is_named(bug: str) -> None:
    assert PPO[bug] in found(SmallPPO(bug).pieces())


@pytest.mark.parametrize("bug", DQN)
def test_a_bug_in_dqn_is_named(bug: str) -> None:
    assert DQN[bug] in found(SmallDQN(bug).pieces())


@pytest.mark.parametrize("bug", SAC)
def test_a_bug_in_sac_is_named(bug: str) -> None:
    assert SAC[bug] in found(SmallSAC(bug).pieces())


@pytest.mark.parametrize(("bug", "named"), [("action_detached", True), ("actor_sign", False), ("", False)])
def test_an_act_without_gradient_still_shows_an_actor_that_ignores_its_critic(bug: str, *, named: bool) -> None:
    pieces = SmallSAC(bug).pieces()
    drawn: Any = pieces.act
    pieces.act = torch.no_grad()(drawn)
    seen = inspect_trainer(pieces)
    assert ("actor-ignores-critic" in {f.name for f in seen.findings}) is named
    reasons = {look.name: look.reason for look in seen.skipped}
    assert ("no_grad" in reasons.get("actor-lowers-critic-value", "")) is not named


@pytest.mark.parametrize("trainer", [SmallPPO, SmallDQN, SmallSAC])
def test_without_a_bug_nothing_is_found(trainer: Any) -> None:
    assert found(trainer().pieces()) == set()


@pytest.mark.parametrize(
    ("bug", "name"), [("mask_mean", "padding-changes-update"), ("mask_value", "padding-changes-update")]
)
def test_padding_that_counts_is_named(bug: str, name: str) -> None:
    assert name in found(SmallPPO(bug, mask=True).pieces())


def test_padding_that_does_not_count_is_not() -> None:
    assert found(SmallPPO(mask=True).pieces()) == set()


def test_a_sum_is_told_and_no_more() -> None:
    seen = inspect_trainer(SmallPPO("summed").pieces())
    assert [f.name for f in seen.findings] == ["loss-summed-over-batch"]


def test_near_misses_an_entropy_bonus_and_a_wide_reward_are_fine() -> None:
    assert found(SmallPPO(entropy=0.02).pieces()) == set()
