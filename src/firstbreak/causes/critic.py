"""Causes in the critic."""

from __future__ import annotations

from ..cause import OUTER, Cause, Experiment, Fix
from ..finding import Component, Link

CRITIC_ONLY = Experiment(
    "critic only",
    "Fix one rollout, freeze the actor and train the critic alone: its R2 on the returns must rise.",
    "fixed_batch",
    command="firstbreak preflight invariants TRAINER",
)

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="horizon-too-short",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="The discount weighs no reward that comes more than a few steps later.",
        explains={
            "discount-short": 3.0,
            "discount-not-as-set": 3.0,
            "discount-moved": 3.0,
            "targets-shrink": 2.5,
            "values-jump": 0.5,
            "reward-flat": 0.3,
            "return-collapse": 0.3,
            "action-std-growth": 0.3,
        },
        experiments=(
            Experiment("usual discount", "A short run with gamma 0.99, all else unchanged: the return must rise."),
        ),
        fixes=(Fix("Set gamma so that 1 / (1 - gamma) covers what a decision needs to pay off; 0.99 is usual."),),
        separate_with=("critic/target_mean", "return/discounted_mean"),
    ),
    Cause(
        name="critic-not-fitting",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="The critic does not fit its targets, so advantages are noise.",
        explains={
            "explained-variance-negative": 2.0,
            "critic-not-learning": 2.5,
            "critic-ignores-state": 3.0,
            "explained-variance-collapse": 1.5,
            "value-scale-mismatch": 1.5,
            "value-clip-binding": 1.5,
            "critic-frozen": 1.0,
            "return-oscillates": 0.5,
            "entropy-stuck-high": 0.3,
            "reward-flat": 0.3,
        },
        experiments=(CRITIC_ONLY,),
        fixes=(
            Fix("Check terminal masks and bootstrap targets.", (Link.ENVIRONMENT_DATA,)),
            Fix("Normalise returns (divide by their running standard deviation).", (Link.REWARD_SIGNAL,)),
            Fix("Raise or lower the critic's learning rate; more epochs; more capacity.", OUTER),
        ),
        separate_with=("critic/grad_norm", "return/std", "critic/value_mean"),
    ),
    Cause(
        name="critic-overwritten",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="Something other than the optimiser wrote into the critic: its values changed when the weights did.",
        explains={
            "critic-ignores-state": 2.9,
            "weights-changed-outside": 1.5,
            "values-jump": 0.9,
            "critic-frozen": 0.9,
            "q-over-bound": 0.9,
            "q-divergence": 0.9,
            "explained-variance-negative": 0.7,
            "value-loss-explosion": 0.7,
        },
        expects={"weights-changed-outside": 3.0},
        experiments=(
            Experiment(
                "hash the weights",
                "Hash the critic's parameters after the step and before the next forward pass; bisect where they part.",
            ),
        ),
        fixes=(Fix("Find who loads, copies, resets or prunes the critic between updates."),),
        separate_with=("optim/outside_change_frac",),
    ),
    Cause(
        name="critic-detached",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="No gradient reaches the critic: detached values, or its parameters are not in the optimiser.",
        explains={"critic-frozen": 3.0, "critic-not-learning": 0.7, "explained-variance-negative": 0.3},
        experiments=(
            Experiment(
                "critic gradient",
                "Log the critic's gradient norm and weight change for one update: both must be above 0.",
                "metric",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(Fix("Keep the graph of the stored values; check the optimiser's parameter groups."),),
        separate_with=("critic/grad_norm", "critic/weight_delta"),
    ),
    Cause(
        name="q-divergence",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="The Q function feeds on its own overestimates and grows without bound.",
        explains={
            "q-divergence": 3.0,
            "discount-out-of-range": 3.0,
            "terminals-bootstrapped": 3.0,
            "values-ignore-ends": 3.0,
            "value-errors-compound": 3.0,
            "q-over-bound": 2.5,
            "q-exceeds-return": 2.0,
            "value-loss-explosion": 1.0,
            "twin-q-apart": 1.0,
            "critic-gradient-explosion": 0.7,
            "policy-loss-spike": 0.3,
            "alpha-runaway": 0.3,
            "return-collapse": 0.5,
            "loss-explosion": 0.5,
        },
        experiments=(
            Experiment(
                "Monte-Carlo check",
                "Roll out from 100 start states and compare Q with the discounted return actually obtained.",
                "baseline_score",
            ),
        ),
        fixes=(
            Fix("Check termination masks and the target network's update.", (Link.ENVIRONMENT_DATA,)),
            Fix("Take the smaller of two critics; slow the target; fewer gradient steps per environment step.", OUTER),
            Fix("Layer normalisation in the critic; lower its learning rate.", OUTER),
        ),
        separate_with=("reward/step_max", "critic/target_mean", "sac/alpha"),
    ),
    Cause(
        name="twin-critics-shared",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="Both critics are the same function, so taking their minimum does nothing.",
        explains={"twin-q-identical": 3.0, "q-divergence": 0.3, "q-exceeds-return": 0.3},
        experiments=(
            Experiment(
                "compare weights",
                "Compare the two critics' weights after initialisation.",
                "code",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(Fix("Initialise the critics independently and give each its own parameters."),),
    ),
    Cause(
        name="target-network-fault",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="The target network never moves, or is the online network itself.",
        explains={
            "target-network-stuck": 3.0,
            "values-jump": 2.0,
            "q-divergence": 0.5,
            "critic-not-learning": 0.5,
        },
        experiments=(
            Experiment(
                "target distance",
                "Log the norm of the difference of both networks: it must follow tau.",
                "metric",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(Fix("Check tau's convention (some libraries take 1 - tau) and that buffers are copied too."),),
    ),
    Cause(
        name="critic-unstable",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="The critic's loss or gradient blows up.",
        explains={
            "value-loss-explosion": 2.0,
            "critic-gradient-explosion": 2.5,
            "explained-variance-collapse": 1.0,
            "explained-variance-negative": 0.7,
            "grad-norm-explosion": 0.5,
        },
        experiments=(CRITIC_ONLY,),
        fixes=(
            Fix("Look at reward outliers and the return's scale first.", (Link.REWARD_SIGNAL,)),
            Fix("Check that the configured gradient clip is applied to the critic."),
            Fix("Lower the critic's learning rate.", OUTER),
        ),
        separate_with=("reward/step_max", "return/std"),
    ),
    Cause(
        name="critic-learning-rate",
        link=Link.CRITIC,
        component=Component.OPTIMISER,
        summary="The critic's learning rate is not what it was: another group's, set anew, or scheduled twice.",
        explains={
            "critic-lr-schedule-fault": 3.0,
            "value-loss-explosion": 0.7,
            "critic-gradient-explosion": 0.7,
            "values-jump": 0.5,
        },
        experiments=(
            Experiment("groups", "Print the rate and the weights of every parameter group before a step.", "metric"),
        ),
        fixes=(Fix("Let one place set the rate of each parameter group; save the scheduler with its optimiser."),),
    ),
    Cause(
        name="critic-started-wrong",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="The critic started from a reward model or at random and taught the policy before it had learned.",
        explains={"critic-misleads-at-start": 3.0, "explained-variance-negative": 1.0, "length-collapse": 0.7},
        experiments=(
            Experiment("critic first", "Train the critic alone for 20 steps, then both: length must no longer fall."),
        ),
        fixes=(
            Fix("Fit the critic on samples of the frozen policy before the policy moves.", patch="warm-critic"),
            Fix("Use lambda 1 for the critic's targets."),
        ),
        separate_with=("critic/value_mean", "return/mean"),
    ),
)
