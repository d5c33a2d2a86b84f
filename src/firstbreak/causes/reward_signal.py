"""Causes in the reward signal."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

READ_SAMPLES = Experiment(
    "read samples",
    "Read twenty raw samples each of highest, lowest and random reward, with the scorer's output and stop reason.",
    "samples",
    command="firstbreak audit SAMPLES --show 20",
)

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="reward-hacking",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The policy raises the reward without doing the task: the reward pays for something else.",
        explains={
            "proxy-divergence": 3.0,
            "false-success-rising": 2.5,
            "refusal-drift": 2.0,
            "tool-calls-repeated": 2.0,
            "judge-bias": 1.0,
            "reward-pays-length": 2.5,
            "reward-is-length": 3.0,
            "length-collapse": 2.0,
            "length-lost": 2.0,
            "format-reward-dominates": 2.0,
            "tool-call-inflation": 2.0,
            "rm-overoptimisation": 2.0,
            "shaped-diverges-from-raw": 2.0,
            "return-below-start": 0.7,
            "component-dominates": 1.0,
            "heldout-regression": 0.7,
            "truncation-growing": 0.7,
            "all-truncated": 0.3,
            "repetition-rising": 0.5,
            "no-kl-anchor": 0.2,
            "kl-ref-runaway": 0.5,
            "token-entropy-collapse": 0.3,
        },
        experiments=(
            READ_SAMPLES,
            Experiment(
                "length penalty",
                "A short run with a length penalty (or with the suspected component removed), private set as judge.",
            ),
        ),
        fixes=(
            Fix("Check that the benchmark's temperature and max_tokens equal the baseline's.", ()),
            Fix("Read the highest-reward samples before touching any hyper-parameter.", ()),
            Fix("Log every reward component; cap or gate the one that grew.", (Link.EVALUATION_PROTOCOL,)),
            Fix(
                "Roll back; if reward then falls and the private set rises, the old reward was wrong.", needs_past=True
            ),
        ),
        separate_with=("reward/true_objective", "reward/eval_mean", "reward/component"),
    ),
    Cause(
        name="reward-scale",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The reward that the learner receives is on another scale than critic and temperature are made for.",
        explains={
            "reward-scale-mismatch": 3.0,
            "reward-scale-jumps": 3.0,
            "reward-beyond-task": 2.5,
            "return-scale-unnormalised": 2.0,
            "reward-outliers": 1.0,
            "alpha-runaway": 0.7,
            "value-loss-explosion": 0.5,
            "q-divergence": 0.5,
            "q-exceeds-return": 0.7,
            "q-over-bound": 0.5,
            "critic-not-learning": 0.5,
            "value-scale-mismatch": 0.7,
            "grad-norm-explosion": 0.3,
            "critic-gradient-explosion": 0.5,
            "advantage-outliers": 0.3,
            "entropy-stuck-high": 0.3,
            "reward-flat": 0.3,
        },
        experiments=(
            Experiment(
                "divide the reward",
                "Divide the training reward by its running standard deviation and rerun 10 % of the steps.",
            ),
        ),
        fixes=(
            Fix("Compare the reward inside the learner with the environment's: look for a scaling wrapper."),
            Fix(
                "Scale rewards by the running standard deviation of the discounted return, without subtracting a mean."
            ),
        ),
        separate_with=("reward/step_mean", "critic/q_mean", "reward/raw_episode_return"),
    ),
    Cause(
        name="reward-outliers",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="Rewards that luck or error makes large dominate targets and gradients: outliers, or noise on all.",
        explains={
            "reward-outliers": 2.0,
            "reward-is-noise": 3.0,
            "scores-not-repeatable": 3.0,
            "reward-nonfinite": 2.5,
            "value-loss-explosion": 0.7,
            "critic-gradient-explosion": 0.5,
            "grad-norm-explosion": 0.5,
            "advantage-outliers": 0.7,
            "loss-explosion": 0.5,
            "nonfinite-metric": 0.5,
        },
        experiments=(
            Experiment(
                "finite check per term",
                "Log isfinite, minimum and maximum of every reward term before summing, and clip the worst term.",
                "finite_check",
            ),
        ),
        fixes=(Fix("Bound the term that produces the outlier at its source, then clip or normalise."),),
        separate_with=("reward/component", "reward/step_max"),
    ),
    Cause(
        name="reward-silent",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The reward never differs between behaviours, so there is nothing to learn from.",
        explains={
            "reward-constant": 3.0,
            "return-goes-silent": 3.0,
            "return-turns-constant": 3.0,
            "reward-flat": 1.0,
            "default-reward-stuck": 1.0,
            "task-too-hard": 0.7,
            "grad-norm-zero": 0.5,
            "zero-std-groups": 0.5,
        },
        experiments=(
            Experiment(
                "random against expert",
                "Score 100 episodes of a random and of a hand-written expert policy: their rewards must differ.",
                "baseline_score",
                command="firstbreak preflight env ENV --expert MODULE:POLICY",
            ),
            READ_SAMPLES,
        ),
        fixes=(
            Fix("Check the scorer on known right and wrong answers.", ()),
            Fix("Add potential-based shaping, a curriculum, or demonstrations.", (Link.ENVIRONMENT_DATA,)),
        ),
        separate_with=("reward/train_std", "group/zero_std_fraction"),
    ),
    Cause(
        name="task-too-hard",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The task is beyond this starting policy: it almost never succeeds, so nothing is reinforced.",
        explains={"task-too-hard": 3.0, "zero-std-groups": 0.7, "reward-flat": 0.7, "reward-constant": 0.5},
        experiments=(
            Experiment(
                "baseline evaluation",
                "Evaluate the untrained model with the training path; then train on an easier subset for some steps.",
                "baseline_score",
            ),
            Experiment("group size x4", "Sample four times as many responses on the silent prompts: do any succeed?"),
        ),
        fixes=(
            Fix("Evaluate the starting model first: no success in 3/p samples means nothing to reinforce."),
            Fix("Warm-start with supervised fine-tuning, or use a stronger base model.", (Link.ENVIRONMENT_DATA,)),
            Fix("Filter prompts by difficulty, or build a curriculum.", (Link.ENVIRONMENT_DATA,)),
        ),
        separate_with=("group/none_solved_fraction", "reward/train_max"),
    ),
    Cause(
        name="reward-sign",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The optimiser follows the reward downhill: a sign is wrong (reward against cost).",
        explains={
            "reward-negated": 3.0,
            "reward-sign-turned": 3.0,
            "values-turned-round": 3.0,
            "reference-paid-less": 3.0,
            "smooth-decline": 3.0,
            "learns-to-fail": 2.8,
            "return-below-start": 2.0,
            "return-collapse": 0.5,
        },
        experiments=(
            Experiment(
                "reversed reward", "Train briefly with the reward negated: if the return rises, the sign was it."
            ),
        ),
        fixes=(Fix("Unit-test the reward with an expert and a random policy."),),
        separate_with=("reward/component",),
    ),
    Cause(
        name="reward-function-bug",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="One reward component never pays, cancels another, or drowns the rest; weights are not as set.",
        explains={
            "reward-sum-off": 3.0,
            "training-pays-otherwise": 3.0,
            "success-unpaid": 3.0,
            "component-dead": 2.0,
            "components-cancel": 2.0,
            "component-dominates": 1.5,
            "reward-constant": 0.5,
        },
        experiments=(
            READ_SAMPLES,
            Experiment("component alone", "Score known good and bad samples with each component alone.", "samples"),
        ),
        fixes=(Fix("Test each component on hand-made samples: formats, newlines, edge cases."),),
        separate_with=("reward/component",),
    ),
    Cause(
        name="reward-service-failure",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The scorer fails or times out and a default value is trained on.",
        explains={
            "default-reward-stuck": 3.0,
            "timeouts-scored": 3.0,
            "reward-latency-growth": 1.0,
            "reward-constant": 0.5,
        },
        experiments=(
            Experiment("golden set", "Rescore a fixed golden set now: its scores must be what they were.", "samples"),
        ),
        fixes=(Fix("Mask failed scores instead of training on a default; retry with a time-out."),),
        separate_with=("reward/latency_s",),
    ),
    Cause(
        name="reward-too-easy",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="Nearly everything earns the full reward from the start.",
        explains={"reward-saturated-from-start": 3.0, "zero-std-groups": 0.3},
        experiments=(READ_SAMPLES,),
        fixes=(Fix("Raise the difficulty, or split the score into dimensions."),),
    ),
    Cause(
        name="safety-worn-away",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="Training for another aim undid the refusal of harmful prompts.",
        explains={"safety-regression": 3.0, "kl-ref-runaway": 0.5, "no-kl-anchor": 0.3},
        experiments=(
            Experiment("paired prompts", "Answer 50 harmful prompts and 50 harmless look-alikes now and at the start."),
        ),
        fixes=(
            Fix("Mix in harmful prompts with a safety score."),
            Fix("Raise the KL coefficient, or go back to the last checkpoint that refused.", patch="kl-anchor"),
        ),
        separate_with=("seq/unsafe_refusal_fraction", "seq/refusal_fraction"),
    ),
)
