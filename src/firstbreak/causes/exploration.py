"""Causes in exploration."""

from __future__ import annotations

from ..cause import OUTER, Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="premature-convergence",
        link=Link.EXPLORATION,
        component=Component.SAMPLER,
        summary="The policy has committed to one behaviour before it found a good one.",
        explains={
            "entropy-collapse": 2.0,
            "token-entropy-collapse": 2.5,
            "response-collapse": 3.0,
            "action-std-collapse": 2.0,
            "reward-std-collapse": 2.0,
            "template-collapse": 2.5,
            "pass-at-k-falls": 1.5,
            "sharpening-only": 2.5,
            "echo-trap": 2.5,
            "wrong-groups-grow": 1.5,
            "repetition-rising": 1.0,
            "zero-std-groups": 0.7,
            "grad-norm-zero": 0.7,
            "policy-frozen": 0.5,
            "reward-flat": 0.3,
            "return-collapse": 0.3,
            "advantage-collapse": 0.3,
        },
        experiments=(
            Experiment(
                "sample twice",
                "Sample 16 responses (actions) on 20 prompts (states): identical answers across them convict.",
                "samples",
            ),
            Experiment("temperature 1", "Compare pass@k of the start and of now at temperature 1."),
        ),
        fixes=(
            Fix("Roll back to before the entropy fell.", needs_past=True),
            Fix("Lower the learning rate; clip higher; raise the entropy bonus.", OUTER, patch="clip-higher"),
            Fix("Strengthen the KL penalty to the reference model.", OUTER, patch="kl-anchor"),
        ),
        separate_with=("policy/kl_old", "reward/eval_pass_at_k", "collapse/mi"),
    ),
    Cause(
        name="silent-groups",
        link=Link.EXPLORATION,
        component=Component.ADVANTAGE,
        summary="Most groups of responses earn one and the same reward, so they carry no advantage.",
        explains={
            "zero-std-groups": 3.0,
            "prompts-used-up": 2.0,
            "wrong-groups-grow": 1.0,
            "grad-norm-zero": 1.0,
            "advantage-collapse": 1.0,
            "reward-flat": 0.5,
            "task-too-hard": 0.5,
        },
        experiments=(
            Experiment(
                "pass counts",
                "Count passes per prompt with four times the group size: all 0, all 1, or in between?",
                "samples",
            ),
        ),
        fixes=(
            Fix("Use larger groups: the silent share is p^G + (1-p)^G."),
            Fix("Filter prompts by difficulty (dynamic sampling).", (Link.ENVIRONMENT_DATA,), patch="dynamic-filter"),
            Fix("Check the scorer's verdict on known right answers.", (Link.REWARD_SIGNAL,)),
        ),
        separate_with=("group/all_solved_fraction", "group/none_solved_fraction"),
    ),
    Cause(
        name="sampling-settings-changed",
        link=Link.EXPLORATION,
        component=Component.SAMPLER,
        summary="Responses are drawn otherwise than they should be: temperature, top-p or another decoding setting.",
        explains={
            "sampling-temperature-unscored": 3.0,
            "sampling-truncated": 3.0,
            "sampling-temperature-low": 3.0,
            "policy-jumps": 2.7,
            "truncation-growing": 0.3,
        },
        experiments=(
            Experiment(
                "draw at temperature 1",
                "Draw twenty answers from the newest weights at temperature 1: good ones acquit the weights.",
                "samples",
            ),
        ),
        fixes=(Fix("Fix the decoding settings, and score with the temperature that was sampled with."),),
        separate_with=("optim/outside_change_frac",),
    ),
    Cause(
        name="no-commitment",
        link=Link.EXPLORATION,
        component=Component.SAMPLER,
        summary="The policy stays as random as at the start: bonus too strong, or no usable advantage.",
        explains={
            "entropy-bonus-off": 3.0,
            "entropy-bonus-dominates": 3.0,
            "policy-turns-uniform": 3.0,
            "entropy-coefficient-jumps": 3.0,
            "entropy-climbs-back": 2.5,
            "temperature-dominates": 3.0,
            "sampling-temperature-high": 3.0,
            "entropy-stuck-high": 2.0,
            "entropy-growing": 2.0,
            "exploration-bonus-dominates": 2.5,
            "action-std-growth": 2.0,
            "reward-flat": 0.5,
        },
        experiments=(Experiment("bonus off", "Short run with the entropy coefficient at 0: does entropy fall?"),),
        fixes=(
            Fix("Check that the reward tells behaviours apart.", (Link.ENVIRONMENT_DATA, Link.REWARD_SIGNAL)),
            Fix("Lower the entropy coefficient or the upper clip range.", OUTER),
        ),
        separate_with=("advantage/std", "critic/explained_variance", "policy/ent_coef"),
    ),
    Cause(
        name="entropy-target",
        link=Link.EXPLORATION,
        component=Component.LOSS,
        summary="The entropy target cannot be met (or the temperature moves the wrong way).",
        explains={
            "target-entropy-infeasible": 3.0,
            "alpha-runaway": 2.5,
            "alpha-collapse": 2.0,
            "q-divergence": 0.5,
            "q-exceeds-return": 0.3,
            "value-loss-explosion": 0.3,
            "loss-explosion": 0.3,
            "policy-loss-spike": 0.3,
        },
        experiments=(
            Experiment("fixed temperature", "Rerun briefly with a fixed temperature: losses must stay bounded."),
        ),
        fixes=(
            Fix("For discrete actions choose a positive target below log(n); for continuous ones about -dim."),
            Fix("Check the sign and the detached log-prob in the temperature's loss."),
            Fix("Check the reward's scale: the temperature follows it.", (Link.REWARD_SIGNAL,)),
        ),
        separate_with=("policy/entropy", "sac/target_entropy", "reward/step_mean"),
    ),
    Cause(
        name="epsilon-schedule",
        link=Link.EXPLORATION,
        component=Component.SAMPLER,
        summary="Random exploration ends too early for the replay buffer, or never ends.",
        explains={
            "epsilon-zero": 3.0,
            "epsilon-floor-early": 3.0,
            "epsilon-goes-back": 3.0,
            "epsilon-stays-high": 2.0,
            "reward-flat": 0.5,
        },
        experiments=(Experiment("slower schedule", "Stretch the epsilon schedule over half the run."),),
        fixes=(Fix("Spread epsilon's decay over more of the run.", (Link.ENVIRONMENT_DATA, Link.REWARD_SIGNAL)),),
    ),
)
