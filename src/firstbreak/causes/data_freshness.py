"""Causes in the freshness of the data."""

from __future__ import annotations

from ..cause import OUTER, Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="nothing-is-trained",
        link=Link.DATA_FRESHNESS,
        component=Component.ROLLOUT,
        summary="The configuration never lets learning start (warm-up longer than the run or than the buffer).",
        explains={"learning-never-starts": 3.0, "updates-begin-late": 3.0, "policy-frozen": 0.5, "reward-flat": 0.5},
        experiments=(Experiment("count updates", "Log the number of gradient steps: it must rise.", "metric"),),
        fixes=(Fix("Lower learning_starts below the total steps and below the buffer size."),),
    ),
    Cause(
        name="stale-rollouts",
        link=Link.DATA_FRESHNESS,
        component=Component.SAMPLER,
        summary="The learner trains on samples of policies that are too old.",
        explains={
            "staleness-high": 3.0,
            "rollout-repeated": 3.0,
            "rows-of-other-steps": 3.0,
            "ratio-off-at-first-minibatch": 0.7,
            "mismatch-follows-lag": 3.0,
            "behaviour-weight-off-one": 1.5,
            "behaviour-ess-low": 2.0,
            "behaviour-cap-saturated": 2.0,
            "version-mixing": 1.5,
            "samples-dropped": 1.0,
            "ratio-tail": 0.5,
            "clip-fraction-high": 0.3,
            "logprob-mismatch": 0.5,
        },
        experiments=(
            Experiment(
                "synchronous run",
                "Switch to synchronous training (AReaL: max_head_offpolicyness 0) for a short run and compare.",
            ),
        ),
        fixes=(
            Fix("Lower the allowed staleness before raising any cap; 0 is synchronous.", patch="synchronous"),
            Fix("Use the decoupled loss with a cap on the behaviour weight (5 is usual).", patch="behaviour-cap"),
            Fix("Make updates smaller.", OUTER, patch="fewer-minibatches"),
        ),
        separate_with=("async/staleness_mean", "async/logprob_mismatch"),
    ),
    Cause(
        name="weights-not-synchronised",
        link=Link.DATA_FRESHNESS,
        component=Component.SAMPLER,
        summary="The sampler does not hold the learner's weights: a failed or partial weight sync, or a stale cache.",
        explains={
            "sampler-left-behind": 3.0,
            "weight-sync-fault": 3.0,
            "stale-cache": 1.2,
            "logprob-mismatch": 1.2,
            "behaviour-weight-off-one": 1.0,
            "policy-frozen": 0.5,
            "reward-flat": 0.3,
            "return-collapse": 0.5,
            "grad-norm-explosion": 0.3,
        },
        experiments=(
            Experiment(
                "zero learning rate",
                "Run with learning rate 0: if log-prob gap and reward still move, the sync corrupts the sampler.",
                "zero_lr_run",
            ),
            Experiment("fingerprint", "Compare a checksum of the weights on both sides after every sync.", "metric"),
        ),
        fixes=(
            Fix("Verify one prompt's log-probs on both sides after every sync."),
            Fix("Reset the engine's prefix and encoder caches after each update.", patch="clear-caches"),
        ),
        separate_with=("async/logprob_mismatch", "async/staleness_mean"),
    ),
    Cause(
        name="replay-stale",
        link=Link.DATA_FRESHNESS,
        component=Component.SAMPLER,
        summary="What is replayed is too old or too little: no new data enter, or there are too many updates a step.",
        explains={
            "replay-stale": 3.0,
            "replay-not-filling": 3.0,
            "replay-buffer-tiny": 3.0,
            "update-ratio-off": 2.0,
            "batch-repeated": 2.5,
            "priority-blow-up": 2.0,
            "ratio-off-at-first-minibatch": 0.5,
        },
        experiments=(
            Experiment("newest data", "Compare the TD error on the newest 1 % of the buffer with the whole.", "metric"),
        ),
        fixes=(
            Fix("Check that every collected transition is added, and that the buffer has the configured capacity."),
            Fix("Set the gradient steps per environment step as intended (mind parallel environments)."),
            Fix("Smaller buffer, recency weighting, or fewer updates per step.", OUTER),
        ),
    ),
    Cause(
        name="replay-corrupted",
        link=Link.DATA_FRESHNESS,
        component=Component.ROLLOUT,
        summary="The replay buffer keeps other transitions than happened: rows overwritten, shifted or paired wrongly.",
        explains={"replay-chain-broken": 3.0, "critic-not-learning": 0.5, "return-collapse": 0.3},
        experiments=(
            Experiment("three rows", "Print three stored transitions in a row: each begins where the last ended."),
        ),
        fixes=(Fix("Store copies of both observations, at their own step, one column for each copy of the world."),),
        separate_with=("replay/chain_broken_frac",),
    ),
    Cause(
        name="engine-cache-stale",
        link=Link.DATA_FRESHNESS,
        component=Component.SAMPLER,
        summary="Cached prefixes or encoder outputs of the inference engine outlive the weights they belong to.",
        explains={"stale-cache": 3.0, "logprob-mismatch": 0.5, "behaviour-weight-off-one": 0.3},
        experiments=(
            Experiment("prefix cache off", "Switch prefix caching off for some steps: the gap must stay low."),
        ),
        fixes=(Fix("Clear prefix and encoder caches after each finished update.", patch="clear-caches"),),
        separate_with=("async/staleness_mean",),
    ),
    Cause(
        name="behaviour-policy-ignored",
        link=Link.DATA_FRESHNESS,
        component=Component.LOSS,
        summary="Old log-probs are recomputed, so the loss never sees that the samples come from another policy.",
        explains={"behaviour-uncorrected": 3.0, "staleness-high": 0.5, "logprob-mismatch": 0.3},
        experiments=(
            Experiment("synchronous run", "Train some steps at lag 0: what gets better was off-policy error."),
        ),
        fixes=(
            Fix("Use the decoupled loss with a capped behaviour weight.", patch="behaviour-cap"),
            Fix("Or train synchronously.", patch="synchronous"),
        ),
        separate_with=("async/behave_ratio_mean", "async/staleness_mean"),
    ),
    Cause(
        name="selection-by-length",
        link=Link.DATA_FRESHNESS,
        component=Component.SAMPLER,
        summary="Samples reach the learner in the order in which they finish, so long ones are lost.",
        explains={"survivors-are-short": 3.0, "responses-dropped": 3.0, "samples-dropped": 1.0, "length-collapse": 0.5},
        experiments=(
            Experiment("launch cohorts", "Compare length and reward by the step at which a trajectory was started."),
        ),
        fixes=(
            Fix("Train on groups in the order in which they were started; count drops by length."),
            Fix("Lower the lag so that less is dropped.", patch="synchronous"),
        ),
        separate_with=("seq/len_sampled_mean", "async/stale_dropped"),
    ),
    Cause(
        name="batch-handed-out-again",
        link=Link.DATA_FRESHNESS,
        component=Component.SAMPLER,
        summary="The learner is given the same prompts or the same responses again and again.",
        explains={
            "rewards-repeat": 3.0,
            "rollout-repeated": 2.6,
            "batch-repeated": 2.6,
            "prompts-repeat": 3.0,
            "zero-std-groups": 0.3,
        },
        experiments=(
            Experiment(
                "hash the batches",
                "Log a hash of each batch's token ids, prompts and responses apart: none may return.",
                "metric",
            ),
        ),
        fixes=(
            Fix("Take an entry out of the queue when it is read; make iterators once; fail where generation does."),
        ),
        separate_with=("data/repeat_fraction", "data/prompt_repeat_frac"),
    ),
)
