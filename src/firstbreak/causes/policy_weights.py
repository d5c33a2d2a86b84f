"""Causes in how the weights of the policy are moved, or are not."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="frozen-policy",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="The optimiser does not move the policy that plays: detached graph, other parameters, rate or clip 0.",
        explains={
            "policy-frozen": 3.0,
            "clip-range-tiny": 3.0,
            "actor-follows-no-value": 3.0,
            "actor-at-rest": 3.0,
            "actor-unled": 3.0,
            "optimiser-holds-others": 3.0,
            "weights-hardly-move": 3.0,
            "entropy-at-rest": 3.0,
            "entropy-ignores-temperature": 3.0,
            "surrogate-at-rest": 3.0,
            "grad-norm-zero": 1.0,
            "reward-flat": 0.5,
            "entropy-stuck-high": 0.5,
        },
        experiments=(
            Experiment(
                "overfit one batch",
                "Train on one fixed batch: its surrogate must improve.",
                "fixed_batch",
                command="firstbreak preflight invariants TRAINER",
            ),
            Experiment(
                "weight delta",
                "Log the norm of the parameter change per update for learner and sampler: both must be above 0.",
                "metric",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(
            Fix("Check that every trainable parameter is in the optimiser and requires a gradient."),
            Fix("Check that the sampler receives the learner's weights."),
        ),
        separate_with=("optim/weight_delta", "optim/grad_norm"),
    ),
    Cause(
        name="learning-rate-schedule",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="The learning rate is not what the schedule says: restarted, exhausted early, negative, another one.",
        explains={
            "lr-schedule-fault": 3.0,
            "learning-rate-climbs": 3.0,
            "kl-overshoot": 0.5,
            "surrogate-rises": 0.7,
            "entropy-collapse": 0.5,
            "return-collapse": 0.5,
            "value-loss-explosion": 0.5,
            "policy-frozen": 0.5,
            "grad-norm-explosion": 0.3,
            "reward-flat": 0.3,
        },
        experiments=(
            Experiment("closed form", "Plot the logged rate against the schedule's formula in updates.", "metric"),
        ),
        fixes=(Fix("Count the schedule's horizon in updates; save and restore the scheduler with the optimiser."),),
    ),
    Cause(
        name="optimiser-state-lost",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="A resume lost the optimiser's moments (or other state), so the first updates are far too large.",
        explains={
            "optimiser-state-lost": 3.0,
            "second-moment-fell": 3.0,
            "kl-overshoot": 0.5,
            "loss-explosion": 0.5,
            "grad-norm-explosion": 0.3,
        },
        experiments=(
            Experiment(
                "resume against uninterrupted",
                "Resume from a checkpoint and compare the first update with the uninterrupted run on the same batch.",
            ),
        ),
        fixes=(Fix("Save and restore optimiser moments, scheduler, scaler, normalisers, log-alpha and RNG states."),),
    ),
    Cause(
        name="weights-overwritten",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="Something other than the optimiser writes into the weights between two updates.",
        explains={
            "weights-changed-outside": 3.0,
            "steps-lead-elsewhere": 3.0,
            "policy-jumps": 3.0,
            "kl-overshoot": 0.3,
            "return-collapse": 0.5,
            "explained-variance-collapse": 0.3,
        },
        expects={"weights-changed-outside": 1.5},
        experiments=(
            Experiment(
                "hash the weights",
                "Hash the parameters after the step and before the next forward pass; bisect where they part.",
            ),
        ),
        fixes=(
            Fix("Find who loads, copies or syncs weights between updates, and in which direction."),
            Fix("Go back to the last checkpoint from before the change; reset the optimiser's moments with it."),
        ),
        separate_with=("optim/outside_change_frac",),
    ),
    Cause(
        name="weights-decayed",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="Weight decay takes away what the model knew faster than gradients can put it back.",
        explains={
            "weight-decay-heavy": 3.0,
            "weights-shrink": 3.0,
            "reward-flat": 0.3,
            "entropy-growing": 0.3,
        },
        experiments=(
            Experiment(
                "no decay",
                "The same run without weight decay for some steps: the norm of the weights must stay.",
                "controlled_run",
            ),
        ),
        fixes=(Fix("Lower the decay until rate times decay is far below one in the number of updates."),),
        separate_with=("optim/decay_frac", "net/weight_norm"),
    ),
    Cause(
        name="gradient-clipped-away",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="Clipping leaves next to nothing of the gradient.",
        explains={
            "gradient-clipped-away": 3.0,
            "epsilon-outweighs-gradient": 0.5,
            "reward-flat": 0.3,
        },
        experiments=(
            Experiment(
                "usual norm",
                "Set the limit to the median gradient norm of the run before: the weights must move more.",
                "controlled_run",
            ),
        ),
        fixes=(Fix("Set the limit near the usual norm."),),
        separate_with=("optim/grad_norm", "optim/max_grad_norm"),
    ),
)
