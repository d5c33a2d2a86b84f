"""Cases of the checks on TD targets, target networks, SAC's actor and temperature, and MM-RKHS's two distances."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributions import kl_divergence

from firstbreak.preflight.invariants.pieces import Pieces
from firstbreak.trainers.mmrkhs import MMRKHS
from tests.probes import mutants_mmrkhs as bugs
from tests.probes import unseen_on_policy as unseen
from tests.probes.planting import edited

from .case import Case, Make, made
from .odd_replay import OddDQN, OddSAC
from .small_trainers import SmallDQN, SmallSAC


def dqn(odd: str = "", *, bug: str = "", **settings: Any) -> Make:
    def build() -> Pieces:
        return (SmallDQN(bug) if bug else OddDQN(odd, **settings)).pieces()

    return build


def sac(odd: str = "", *, bug: str = "") -> Make:
    def build() -> Pieces:
        return (SmallSAC(bug) if bug else OddSAC(odd)).pieces()

    return build


class AnchorFollows(MMRKHS):
    """The old policy is refreshed before every inner step."""

    def step(self, minibatch: Any) -> Any:
        self.old_actor.load_state_dict(self.actor.state_dict())
        return super().step(minibatch)


class AnchorAtTheEnd(MMRKHS):
    """The old policy is refreshed after an update as well, where the next rollout begins anyway."""

    def update(self, rollout: Any) -> Any:
        metrics = super().update(rollout)
        self.old_actor.load_state_dict(self.actor.state_dict())
        return metrics


class WideKernel(MMRKHS):
    """Twice the median distance between actions."""

    def set_weights(self, rollout: Any) -> None:
        super().set_weights(rollout)
        self.bandwidth *= 2.0


class SummedKL(MMRKHS):
    """The KL as a sum over all actions."""

    def loss(self, minibatch: Any) -> dict[str, Any]:
        new = self.actor.distribution(minibatch["obs"])
        with torch.no_grad():
            old = self.old_actor.distribution(minibatch["obs"])
        summed = (new.probs * (new.logits - old.logits)).sum(-1)
        assert torch.allclose(summed, kl_divergence(new, old), atol=1e-5)
        return {**super().loss(minibatch), "kl": summed.mean() / self.eta}


REVERSED_KL = edited(MMRKHS, loss=("kl_divergence(new, old)", "kl_divergence(old, new)"))
OWN, OWN_CONTINUOUS = made(MMRKHS), made(MMRKHS, "continuous")
SAMPLED = made(bugs.healthy_sampled, "continuous")

CASES: dict[str, Case] = {
    "target-network-optimised": Case(dqn(bug="holds_target"), dqn(), dqn("equal_target"), "the same weights at first"),
    "twin-critics-identical": Case(sac(bug="same_twins"), sac(), sac("one_bias_apart"), "one bias apart"),
    "target-network-aliased": Case(dqn(bug="aliased"), dqn(), dqn("equal_target"), "equal weights, another place"),
    "td-target-terminated-bootstraps": Case(dqn(bug="never"), dqn(), dqn("where"), "torch.where in place of a product"),
    "td-target-truncated-cut": Case(dqn(bug="done"), dqn(), dqn("where"), "torch.where in place of a product"),
    "td-target-ignores-target-network": Case(dqn(bug="online"), dqn(), dqn("double"), "the online network chooses"),
    "td-target-discount-wrong": Case(dqn(bug="squared"), dqn(), dqn("other_gamma"), "another gamma, and said so"),
    "td-target-twin-minimum-missing": Case(sac(bug="max"), sac(), sac("stacked"), "a minimum over a stack"),
    "td-target-mixes-rows": Case(dqn(bug="batch_max"), dqn(), dqn("double"), "another action than the largest"),
    "td-target-carries-gradient": Case(
        dqn(bug="residual"), dqn(), dqn("target_attached"), "a gradient into the target network, which nobody steps"
    ),
    "td-loss-scores-other-action": Case(dqn(bug="gather"), dqn(), dqn("one_hot"), "one-hot in place of gather"),
    "td-loss-broadcasts": Case(dqn(bug="broadcast"), dqn(), dqn("columns"), "[B, 1] meets [B, 1]"),
    "td-loss-without-gradient": Case(dqn("no_loss"), dqn(), dqn("faint"), "a thousandth of the weight"),
    "td-entropy-term-wrong": Case(sac(bug="no_entropy"), sac(), sac("stacked"), "alpha is not detached, but no_grad"),
    "td-entropy-after-termination": Case(sac(bug="entropy_unmasked"), sac(), sac("stacked"), "torch.where"),
    "target-network-never-moves": Case(dqn(bug="frozen"), dqn(), dqn(tau=1e-4), "a tau of 1e-4"),
    "target-network-moves-wrong-fraction": Case(dqn(bug="tau"), dqn(), dqn(tau=0.003), "another tau, and said so"),
    "actor-ignores-critic": Case(sac(bug="action_detached"), sac(), sac("mean_critic"), "the mean of the critics"),
    "actor-lowers-critic-value": Case(sac(bug="actor_sign"), sac(), sac("costs"), "written as a cost"),
    "temperature-without-gradient": Case(sac(bug="alpha_still"), sac(), sac("alpha_loss"), "alpha, not its logarithm"),
    "temperature-moves-wrong-way": Case(sac(bug="alpha_sign"), sac(), sac("alpha_loss"), "alpha, not its logarithm"),
    "target-entropy-unreachable": Case(sac(bug="entropy_target"), sac(), sac("high_target_entropy"), "just reachable"),
    "kl-term-without-gradient": Case(made(bugs.mmrkhs_kl_detached), OWN, made(SummedKL), "summed by hand"),
    "kl-term-wrong-sign": Case(made(bugs.mmrkhs_kl_sign_flipped), OWN, made(REVERSED_KL), "the other direction"),
    "kl-weight-not-inverse-eta": Case(made(bugs.mmrkhs_eta_inverted), OWN, made(SummedKL), "summed by hand"),
    "mmd-term-without-gradient": Case(made(bugs.mmrkhs_mmd_inert), OWN, SAMPLED, "a sampled MMD"),
    "mmd-not-zero-for-equal-policies": Case(made(bugs.mmrkhs_mmd_cross_term_sign), OWN, SAMPLED, "a sampled MMD"),
    "mmd-bandwidth-mismatch": Case(
        made(bugs.mmrkhs_bandwidth_100x, "continuous"), OWN_CONTINUOUS, made(WideKernel, "continuous"), "twice as wide"
    ),
    "anchor-follows-policy": Case(made(AnchorFollows), OWN, made(AnchorAtTheEnd), "refreshed after the update"),
    "anchor-never-refreshed": Case(
        made(unseen.mmrkhs_reference_never_refreshed), OWN, made(AnchorAtTheEnd), "refreshed after the update as well"
    ),
}  # fmt: skip
