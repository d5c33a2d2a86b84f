"""Causes in the policy update."""

from __future__ import annotations

from ..cause import OUTER, Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="update-too-large",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="Each update moves the policy further than its data supports: learning rate, epochs or batch size.",
        explains={
            "kl-overshoot": 3.0,
            "first-steps-outweigh-weights": 3.0,
            "clip-fraction-high": 2.0,
            "surrogate-rises": 1.5,
            "surrogate-overfitted": 2.5,
            "lr-too-high-config": 1.0,
            "ratio-tail": 1.0,
            "policy-loss-spike": 1.0,
            "entropy-collapse": 0.7,
            "action-std-collapse": 0.5,
            "token-entropy-collapse": 0.5,
            "response-collapse": 0.5,
            "grad-norm-explosion": 0.5,
            "return-collapse": 0.5,
            "return-below-start": 0.7,
            "return-oscillates": 0.5,
            "explained-variance-negative": 0.3,
            "explained-variance-collapse": 0.3,
            "grad-norm-zero": 0.3,
            "policy-frozen": 0.3,
        },
        expects={"kl-overshoot": 0.7},
        experiments=(
            Experiment(
                "learning rate / 3",
                "Replay one saved batch with a third of the learning rate: a ninefold fall of KL convicts it.",
                "fixed_batch",
            ),
            Experiment("one epoch", "Rerun briefly with one epoch per batch: KL and clip fraction must fall at once."),
        ),
        fixes=(
            Fix("Roll back to the last healthy checkpoint.", needs_past=True),
            Fix("Lower the learning rate (a third, then a tenth)."),
            Fix("Reduce the epochs per batch, or enlarge the batch.", OUTER, patch="fewer-minibatches"),
            Fix("Stop an update early at a target KL (for example 0.02 nats per action)."),
            Fix("Check advantage normalisation and the reward's scale.", (Link.REWARD_SIGNAL,)),
        ),
        separate_with=("advantage/abs_max", "optim/grad_norm"),
    ),
    Cause(
        name="wrong-old-logprob",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The log-probs that the ratio divides are not those of the stored actions under the sampling policy.",
        explains={
            "ratio-off-at-first-minibatch": 3.0,
            "loss-ratio-mismatch": 3.0,
            "weights-above-one": 2.0,
            "surrogate-rises": 2.0,
            "ratio-beyond-clip": 1.5,
            "kl-clip-inconsistent": 1.0,
            "ratio-tail": 0.7,
            "kl-overshoot": 0.3,
            "clip-fraction-high": 0.3,
        },
        expects={"ratio-off-at-first-minibatch": 1.0},
        experiments=(
            Experiment(
                "zero learning rate",
                "Run one update with learning rate 0: the ratio must be exactly 1 and KL 0, else it is this.",
                "zero_lr_run",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(
            Fix("Evaluate the log-prob of the stored action, not of a fresh sample."),
            Fix("Clear the rollout buffer after each update; keep dropout and normaliser state as at sampling."),
        ),
    ),
    Cause(
        name="ratio-drifts-within-update",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The importance weights inside one update leave 1: too many minibatches, or non-deterministic kernels.",
        explains={"ratio-off-one": 3.0, "ratio-tail": 1.0, "clip-fraction-high": 0.5, "moe-ratio-off": 0.5},
        experiments=(
            Experiment(
                "one minibatch",
                "Set the number of minibatches to 1: the mean weight must then equal 1; if not, suspect numerics.",
            ),
        ),
        fixes=(
            Fix("Use fewer minibatches per update.", patch="fewer-minibatches"),
            Fix(
                "With one minibatch and still off 1: deterministic kernels, or routing replay for MoE models.",
                patch="deterministic-moe",
            ),
        ),
        separate_with=("async/behave_ratio_mean", "async/logprob_mismatch"),
    ),
    Cause(
        name="advantages-misplaced",
        link=Link.POLICY_UPDATE,
        component=Component.ADVANTAGE,
        summary="Advantages are summed wrongly or belong to other steps: in direction, at ends of episodes, in order.",
        explains={
            "advantages-not-gae": 3.0,
            "learns-to-fail": 3.0,
            "return-below-start": 0.7,
            "entropy-collapse": 0.3,
            "return-collapse": 0.3,
        },
        experiments=(
            Experiment(
                "advantages by hand",
                "Compute the advantages of one short rollout with an end in the middle by hand, and compare.",
                "fixed_batch",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(Fix("Sum backward in time, and cut trace and bootstrap at the step that ends the episode."),),
        separate_with=("advantage/return_corr", "critic/explained_variance"),
    ),
    Cause(
        name="advantage-sign",
        link=Link.POLICY_UPDATE,
        component=Component.ADVANTAGE,
        summary="Advantages or the loss have the wrong sign: the policy learns what turned out worse than expected.",
        explains={
            "advantage-sign-wrong": 3.0,
            "actor-descends": 3.0,
            "update-against-advantage": 3.0,
            "return-below-start": 1.8,
            "return-collapse": 0.7,
            "entropy-collapse": 0.2,
        },
        experiments=(
            Experiment(
                "one positive advantage",
                "Give one action a positive advantage and all others 0: one update must raise its log-probability.",
                "fixed_batch",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(Fix("Advantage is the value target minus the value; the loss is minus ratio times advantage."),),
        separate_with=("advantage/return_corr", "policy/advantage_follow"),
    ),
    Cause(
        name="advantage-scale",
        link=Link.POLICY_UPDATE,
        component=Component.ADVANTAGE,
        summary="A few advantages dominate the gradient, or the normalisation amplifies noise.",
        explains={
            "advantage-outliers": 3.0,
            "advantage-collapse": 2.0,
            "advantage-mean-biased": 2.0,
            "grad-norm-explosion": 0.5,
            "kl-overshoot": 0.3,
            "clip-fraction-high": 0.3,
        },
        experiments=(
            Experiment(
                "clip advantages",
                "Clip normalised advantages at 5 for a short run: if KL and gradient norm calm down, the tail was it.",
            ),
        ),
        fixes=(
            Fix("Look for reward outliers first.", (Link.REWARD_SIGNAL,)),
            Fix("Normalise advantages over the whole batch, with an epsilon relative to the return's spread."),
        ),
        separate_with=("reward/step_max", "critic/explained_variance"),
    ),
    Cause(
        name="reference-drift",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The policy runs away from its reference model: KL coefficient too small, absent or of the wrong sign.",
        explains={
            "kl-ref-runaway": 3.0,
            "kl-term-reversed": 3.0,
            "kl-coef-negative": 3.0,
            "language-drift": 2.5,
            "no-kl-anchor": 1.0,
            "heldout-regression": 1.5,
            "token-entropy-collapse": 0.5,
            "repetition-rising": 0.5,
            "length-collapse": 0.3,
        },
        expects={"kl-ref-runaway": 0.3},
        experiments=(
            Experiment(
                "KL coefficient x10",
                "Short run with ten times the KL coefficient: held-out score must stop falling if drift is the cause.",
            ),
        ),
        fixes=(
            Fix("Check that the KL coefficient in force is the one requested.", (Link.REWARD_SIGNAL,)),
            Fix(
                "Raise the KL coefficient, or stop at the best held-out checkpoint.",
                (Link.EVALUATION_PROTOCOL,),
                patch="kl-anchor",
            ),
        ),
        separate_with=("policy/kl_ref", "reward/eval_mean"),
    ),
    Cause(
        name="wrong-loss-normalisation",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The loss is divided by tokens or samples of another window than the gradient accumulates over.",
        explains={"accumulation-window-mismatch": 3.0, "gradient-follows-mask": 2.5, "kl-estimator-misuse": 0.5},
        experiments=(
            Experiment(
                "accumulation 1",
                "Compare gradients of one batch with accumulation 1 and as configured: equal up to noise.",
                "fixed_batch",
            ),
        ),
        fixes=(
            Fix(
                "Make the generation window and the accumulation window the same, or update the trainer.",
                patch="one-accumulation-window",
            ),
        ),
    ),
    Cause(
        name="mmd-term-without-effect",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The MMD or KL term of MM-RKHS has no weight, no gradient or is below its own noise floor.",
        explains={
            "mmd-inert": 3.0,
            "mmd-below-noise-floor": 2.0,
            "mmrkhs-kl-inert": 3.0,
            "majoriser-weight-falls": 3.0,
        },
        experiments=(
            Experiment(
                "beta x100",
                "Change beta by a factor of 100: an identical run shows that the term is inert.",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(
            Fix(
                "Use at least two inner steps or several minibatches; take the bandwidth from median action distances."
            ),
            Fix("Set eta back to what it was before the KL of an update grew."),
        ),
    ),
    Cause(
        name="mmd-term-dominates",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The regulariser of MM-RKHS outweighs the surrogate (or its exponent saturates).",
        explains={"mmd-dominates": 3.0, "exponent-clip-saturated": 2.0, "policy-frozen": 0.5},
        experiments=(Experiment("robust beta", "Set beta from a quantile of |A| instead of its maximum."),),
        fixes=(Fix("Cap eta and beta; use a quantile of the advantages for beta."),),
    ),
)
