"""Cases of the checks on optimisers, log-probs, advantages and on-policy losses."""

from __future__ import annotations

from typing import Any

import torch

from firstbreak.preflight.invariants.pieces import Pieces

from .case import Case, Make, changed
from .odd_ppo import GaussianPPO, OddPPO, SharedPPO, long_gae
from .odd_replay import OddSAC
from .small_trainers import SmallPPO, SmallSAC


def small(bug: str = "", **settings: Any) -> Make:
    return lambda: SmallPPO(bug, **settings).pieces()


def odd(name: str, **settings: Any) -> Make:
    return lambda: OddPPO(name, **settings).pieces()


def shared(way: str, value_coef: float = 0.5) -> Make:
    return lambda: SharedPPO(way, value_coef).pieces()


def sac(name: str = "", *, bug: str = "") -> Make:
    def build() -> Pieces:
        return (SmallSAC(bug) if bug else OddSAC(name)).pieces()

    return build


def predicting(flag_counts: bool, dropout: float = 0.0) -> Make:
    def build() -> Pieces:
        trainer = SmallPPO()
        drop = torch.nn.Dropout(dropout)

        def predict(obs: Any, deterministic: bool) -> Any:
            drop.train(not deterministic)
            likeliest = drop(trainer.actor(obs)).argmax(-1)
            return likeliest if flag_counts and deterministic else trainer.act(obs)[0]

        found = trainer.pieces()
        found.predict = predict
        return found

    return build


def resting(pieces: Make, name: str, *, trains: bool) -> Make:
    """`name` is said to stay."""

    def build() -> Pieces:
        found = pieces()
        module: Any = found.actor
        module.get_parameter(name.removeprefix("actor.")).requires_grad_(trains)
        found.settings = {**found.settings, "frozen": (name,)}
        return found

    return build


HEALTHY = small()
CLIPPED = changed(small(), settings={"max_grad_norm": 0.5})
WELL_CLIPPED = changed(odd("clips_apart"), settings={"max_grad_norm": 0.5})
LONG_GAE = changed(HEALTHY, advantages=long_gae)
MASKED = small(mask=True)

CASES: dict[str, Case] = {
    "parameter-not-in-optimiser": Case(small("no_actor"), HEALTHY, odd("frozen_bias"), "a frozen bias is left out"),
    "parameter-optimised-twice": Case(small("twice"), HEALTHY, odd("two_optimisers"), "each network has its own"),
    "no-gradient-step-taken": Case(small("no_steps"), HEALTHY, odd("one_step"), "one step only"),
    "parameters-not-finite": Case(
        odd("normalised_badly"), HEALTHY, odd("normalised_guarded"), "a minibatch of one row, left unnormalised"
    ),
    "parameter-never-moves": Case(odd("still_critic"), HEALTHY, odd("slow_critic"), "a learning rate of 1e-6"),
    "frozen-parameter-moves": Case(
        resting(HEALTHY, "actor.0.bias", trains=True),
        resting(odd("frozen_bias"), "actor.0.bias", trains=False),
        resting(HEALTHY, "actor.0.bias", trains=False),
        "frozen, and still in the optimiser",
    ),
    "gradients-not-cleared": Case(small("no_zero_grad"), HEALTHY, odd("clears_afterwards"), "zeroed after the step"),
    "gradient-clip-vanishing": Case(small("tiny_clip"), WELL_CLIPPED, odd("clips_apart"), "the limit is not told"),
    "gradient-clip-unused": Case(CLIPPED, changed(small("tiny_clip"), settings={"max_grad_norm": 1e-7}), WELL_CLIPPED,
                                 "each network is clipped apart"),
    "learning-rate-exhausted": Case(odd("fast_decay"), HEALTHY, odd("slow_decay"), "a tenth of a linear schedule"),
    "log-prob-shape-wrong": Case(
        small("column"), HEALTHY, lambda: GaussianPPO().pieces(), "actions are [B, 1], log-probs [B]"
    ),
    "log-prob-not-a-density": Case(small("half_log_prob"), sac(), odd("shifted_logits"), "logits far from normalised"),
    "log-prob-differs-from-sampling": Case(
        odd("tempered_scoring"), HEALTHY, odd("scored_in_double"), "scored in float64"
    ),
    "policy-without-spread": Case(sac("no_spread"), sac(), sac("narrow"), "a deviation of about a fifth"),
    "deterministic-action-random": Case(
        predicting(False), predicting(True), predicting(True, dropout=0.5), "dropout that is off here"
    ),
    "gae-terminated-keeps-bootstrap": Case(small("gae_never"), HEALTHY, LONG_GAE, "sums in place of a recursion"),
    "gae-truncated-loses-bootstrap": Case(small("gae_cut"), HEALTHY, LONG_GAE, "sums in place of a recursion"),
    "gae-trace-crosses-episodes": Case(small("gae_trace"), HEALTHY, LONG_GAE, "sums in place of a recursion"),
    "gae-last-row-not-bootstrapped": Case(small("gae_last"), HEALTHY, LONG_GAE, "sums in place of a recursion"),
    "gae-crosses-environments": Case(small("gae_flat"), HEALTHY, LONG_GAE, "sums in place of a recursion"),
    "gae-discount-wrong": Case(small("gae_swapped"), HEALTHY, LONG_GAE, "sums in place of a recursion"),
    "gae-differs-from-reference": Case(small("gae_cut"), HEALTHY, LONG_GAE, "sums in place of a recursion"),
    "value-target-not-advantage-plus-value": Case(
        small("target_only_advantage"), HEALTHY, LONG_GAE, "sums in place of a recursion"
    ),
    "zero-advantage-not-finite": Case(odd("normalised_badly"), HEALTHY, odd("normalised"), "divided by a guarded std"),
    "zero-advantage-moves-policy": Case(
        odd("logits_pulled"), HEALTHY, small(entropy=0.02), "an entropy bonus that is known"
    ),
    "policy-loss-without-gradient": Case(small("detached"), HEALTHY, odd("faint_policy"), "a hundredth of the weight"),
    "policy-loss-broadcasts": Case(small("broadcast"), HEALTHY, odd("columns"), "[B, 1] meets [B, 1]"),
    "policy-loss-scores-other-action": Case(small("resampled"), HEALTHY, odd("gathered"), "log-softmax and gather"),
    "policy-loss-sign-flipped": Case(small("flipped"), HEALTHY, odd("costs"), "written for costs"),
    "advantage-weights-distorted": Case(small("pairs"), HEALTHY, odd("normalised"), "normalised over the whole batch"),
    "stored-log-prob-ignored": Case(small("old_recomputed"), HEALTHY, odd("quotient"), "a quotient of probabilities"),
    "clip-keeps-gradient-beyond-bound": Case(small("clip_max"), HEALTHY, odd("dual_clip"), "dual clip"),
    "clip-stops-corrective-gradient": Case(small("clip_only"), HEALTHY, odd("dual_clip"), "dual clip, not reached"),
    "entropy-bonus-lowers-entropy": Case(
        small("entropy_up"), HEALTHY, changed(small(entropy=0.02), configure=None), "cannot be switched off"
    ),
    "padding-changes-update": Case(
        small("mask_mean", mask=True), MASKED, odd("selected", mask=True), "padded rows are cut out"
    ),
    "batch-order-changes-update": Case(odd("neighbour"), HEALTHY, odd("normalised"), "rows share mean and deviation"),
    "loss-summed-over-batch": Case(small("summed"), HEALTHY, odd("sum_over_count"), "a sum over the number of rows"),
    "value-loss-without-gradient": Case(small("value_zero"), HEALTHY, odd("faint_value"), "a coefficient of 0.01"),
    "value-loss-broadcasts": Case(small("value_broadcast"), HEALTHY, odd("columns"), "[B, 1] meets [B, 1]"),
    "value-loss-rows-distorted": Case(small("value_clip_zero"), HEALTHY, odd("value_clip"), "clipped around the old V"),
    "value-loss-moves-actor": Case(shared("leaks"), HEALTHY, shared("detached"), "the actor's features, detached"),
    "policy-loss-moves-critic": Case(odd("advantage_leaks"), HEALTHY, odd("advantage_detached"), "the same, detached"),
    "critic-does-not-fit-batch": Case(odd("forgets_critic"), HEALTHY, odd("faint_value"), "a coefficient of 0.01"),
    "policy-does-not-fit-batch": Case(odd("climbs_the_loss"), HEALTHY, odd("plain_sgd"), "SGD in place of Adam"),
    "value-gradient-dominates": Case(shared("shared", 200.0), shared("shared"), shared("shared", 2.0), "twice as much"),
}  # fmt: skip
torch.set_num_threads(1)
