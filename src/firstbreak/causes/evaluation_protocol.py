"""Causes in the evaluation protocol and in the logging."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="evaluation-differs-from-training",
        link=Link.EVALUATION_PROTOCOL,
        component=Component.EVALUATION,
        summary="The evaluation runs another policy or world than training: action mode, normaliser, version, limits.",
        explains={
            "train-eval-gap": 3.0,
            "training-pays-otherwise": 1.6,
            "evaluation-cut-short": 3.0,
            "evaluation-all-wrong": 3.0,
            "eval-step-change": 1.5,
            "heldout-regression": 0.3,
        },
        experiments=(
            Experiment(
                "both action modes",
                "Evaluate one checkpoint with sampled and with deterministic actions, normaliser loaded and frozen.",
                "baseline_score",
            ),
        ),
        fixes=(
            Fix("Load and freeze the observation normaliser for evaluation."),
            Fix("Report both action modes; fix the protocol and store its hash with every score."),
        ),
    ),
    Cause(
        name="evaluations-missing",
        link=Link.EVALUATION_PROTOCOL,
        component=Component.EVALUATION,
        summary="Planned evaluations did not run, so the curve says less than it seems.",
        explains={"evals-missing": 3.0},
        experiments=(
            Experiment(
                "step arithmetic", "Compare the evaluation interval with the step increment of the loop.", "code"
            ),
        ),
        fixes=(Fix("Trigger on crossing a multiple of the interval, not on an exact remainder."),),
    ),
    Cause(
        name="evaluation-too-small",
        link=Link.EVALUATION_PROTOCOL,
        component=Component.EVALUATION,
        summary="Each evaluation rests on so few episodes that its ups and downs are luck.",
        explains={"eval-of-one-episode": 3.0, "eval-too-few-episodes": 2.0, "best-long-past": 0.3},
        experiments=(
            Experiment(
                "more episodes", "Evaluate the best and the last checkpoint on 50 episodes each.", "baseline_score"
            ),
        ),
        fixes=(Fix("Average 20 episodes or more, each from another seed, and report the interval."),),
    ),
    Cause(
        name="overfitting-train-set",
        link=Link.EVALUATION_PROTOCOL,
        component=Component.EVALUATION,
        summary="Training prompts or levels are memorised; held-out score falls.",
        explains={"heldout-regression": 2.0, "best-long-past": 1.5},
        experiments=(
            Experiment("fresh held-out set", "Score start and current checkpoint on a fresh set.", "baseline_score"),
        ),
        fixes=(Fix("Stop at the best held-out checkpoint; more or more varied data."),),
        separate_with=("policy/kl_ref", "reward/eval_mean"),
    ),
    Cause(
        name="metrics-wrong",
        link=Link.EVALUATION_PROTOCOL,
        component=Component.LOGGING,
        summary="A logged number cannot be what its name says: wrong denominator, mask or average.",
        explains={
            "impossible-value": 2.5,
            "metrics-averaged-wrong": 3.0,
            "pass-at-k-impossible": 2.5,
            "kl-clip-inconsistent": 0.7,
        },
        experiments=(
            Experiment("one epoch, one minibatch", "Set epochs and minibatches to 1: the metric must not change size."),
        ),
        fixes=(Fix("Average over the samples that were counted, with the mask broadcast to the same shape."),),
    ),
    Cause(
        name="filtered-reward-watched",
        link=Link.EVALUATION_PROTOCOL,
        component=Component.LOGGING,
        summary="The watched reward is that of filtered groups, which stays near a half whatever the policy does.",
        explains={"filtered-reward-hides-fall": 3.0, "samples-dropped": 0.3},
        experiments=(
            Experiment(
                "before the filter", "Plot the reward of everything sampled, and a fixed held-out set.", "metric"
            ),
        ),
        fixes=(Fix("Judge the run by the unfiltered reward and by an evaluation on fixed prompts."),),
        separate_with=("reward/rollout_mean", "reward/eval_mean"),
    ),
)
