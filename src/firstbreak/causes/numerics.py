"""Causes in the numerics."""

from __future__ import annotations

from ..cause import OUTER, Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="nonfinite-computation",
        link=Link.NUMERICS,
        component=Component.LOSS,
        summary="A NaN or infinity is produced in the computation and spreads.",
        explains={
            "nonfinite-metric": 2.5,
            "crashed-on-nonfinite": 2.0,
            "steps-skipped": 1.5,
            "metrics-frozen": 1.0,
            "loss-explosion": 0.7,
            "logits-extreme": 1.0,
            "minibatch-of-one": 1.5,
            "loss-scale-collapse": 1.0,
            "grad-norm-explosion": 0.5,
        },
        experiments=(
            Experiment(
                "replay the failed batch",
                "Replay the failed batch from the last good checkpoint with finite checks on every tensor.",
                "finite_check",
            ),
        ),
        fixes=(
            Fix("Find the first tensor that is not finite: observations, log-probs, ratio, loss, gradient."),
            Fix("Mend the producer (log of 0, division by an empty count, fp16 range); do not mask the result."),
        ),
        separate_with=("optim/grad_norm", "policy/logit_abs_max", "reward/component"),
    ),
    Cause(
        name="gradient-explosion",
        link=Link.NUMERICS,
        component=Component.OPTIMISER,
        summary="Gradients grow by orders of magnitude and clipping hides it.",
        explains={
            "grad-norm-explosion": 2.5,
            "loss-explosion": 1.5,
            "weight-norm-growth": 0.7,
            "policy-loss-spike": 0.5,
        },
        experiments=(
            Experiment(
                "gradient per loss term",
                "On one saved batch measure the gradient norm of every loss term: the largest convicts.",
                "fixed_batch",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(
            Fix("Remove the source first: reward outlier, ratio tail, wrong mask.", (Link.REWARD_SIGNAL,)),
            Fix("Clip by global norm; then lower the learning rate.", OUTER),
        ),
        separate_with=("reward/step_max", "policy/ratio_max"),
    ),
    Cause(
        name="log-probs-in-half-precision",
        link=Link.NUMERICS,
        component=Component.LOSS,
        summary="The loss computes log-probabilities in half precision, or by way of a probability that is in it.",
        explains={"log-probs-rounded": 3.0, "ratio-tail": 0.3, "grad-norm-explosion": 0.3, "nonfinite-metric": 0.5},
        experiments=(
            Experiment("zero learning rate", "Run with learning rate 0: a constant gap is numerics.", "zero_lr_run"),
        ),
        fixes=(Fix("Take the logarithm in single precision, from logits or from the density's own logarithm."),),
        separate_with=("policy/player_gap_nats",),
    ),
    Cause(
        name="trainer-sampler-mismatch",
        link=Link.NUMERICS,
        component=Component.SAMPLER,
        summary="Trainer and inference engine give different probabilities to the same tokens at the same weights.",
        explains={
            "logprob-mismatch": 2.5,
            "moe-ratio-off": 2.0,
            "router-disagrees": 2.5,
            "ratio-beyond-clip": 2.0,
            "behaviour-weight-off-one": 0.7,
            "behaviour-ess-low": 0.5,
            "grad-norm-explosion": 0.3,
            "ratio-tail": 0.3,
        },
        experiments=(
            Experiment(
                "score the same tokens",
                "Score sampled tokens in the trainer at the same weight version, temperature 1 and top_p 1.",
                "fixed_batch",
            ),
            Experiment("zero learning rate", "Run with learning rate 0: a constant gap is numerics.", "zero_lr_run"),
        ),
        fixes=(
            Fix(
                "Report processed log-probs; align precision (fp32 head); truncate importance weights per token.",
                patch="behaviour-cap",
            ),
            Fix("MoE: replay routing or use deterministic kernels.", patch="deterministic-moe"),
            Fix("MoE where routing cannot be replayed: one importance ratio a sequence.", patch="sequence-ratio"),
        ),
        separate_with=("async/staleness_mean", "async/mismatch_kl"),
    ),
    Cause(
        name="sampling-transform-unscored",
        link=Link.NUMERICS,
        component=Component.SAMPLER,
        summary="The sampler's temperature or truncation (top-p, top-k, min-p) is not in the trainer's log-probs.",
        explains={
            "sampler-transform-unscored": 3.0,
            "kl-ref-negative": 1.0,
            "ratio-beyond-clip": 2.2,
            "behaviour-weight-off-one": 0.5,
            "ratio-off-one": 0.5,
            "ratio-off-at-first-minibatch": 0.7,
            "logprob-mismatch": 0.5,
        },
        experiments=(
            Experiment(
                "plain sampling",
                "Sample one batch at temperature 1, top_p 1, no top_k: the ratio must return to 1.",
                "fixed_batch",
            ),
        ),
        fixes=(Fix("Ask the engine for processed log-probs, or sample untruncated at temperature 1."),),
    ),
    Cause(
        name="no-gradient",
        link=Link.NUMERICS,
        component=Component.OPTIMISER,
        summary="Gradients vanish: saturated or dead units, or nothing reaches the parameters.",
        explains={
            "grad-norm-zero": 2.0,
            "weights-hardly-move": 1.5,
            "dormant-units": 1.5,
            "feature-rank-collapse": 1.0,
            "policy-frozen": 0.7,
        },
        experiments=(
            Experiment(
                "overfit one batch",
                "Overfit one fixed batch; the loss must fall.",
                "fixed_batch",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(Fix("Reconnect graph and optimiser first; then initialisation and normalisation."),),
        separate_with=("group/zero_std_fraction", "optim/weight_delta"),
    ),
    Cause(
        name="epsilon-too-large",
        link=Link.NUMERICS,
        component=Component.OPTIMISER,
        summary="Adam's epsilon exceeds the gradients: steps shrink with them, and the rate means something else.",
        explains={"epsilon-outweighs-gradient": 3.0, "weights-hardly-move": 0.7, "reward-flat": 0.3},
        experiments=(
            Experiment(
                "epsilon 1e-8",
                "Take one step on a saved batch with the run's epsilon and with 1e-8; compare how weights change.",
                "fixed_batch",
            ),
        ),
        fixes=(Fix("Set epsilon to 1e-8, and look for a loss that is divided too often."),),
        separate_with=("optim/epsilon_dominated_frac", "optim/weight_delta"),
    ),
    Cause(
        name="plasticity-loss",
        link=Link.NUMERICS,
        component=Component.OPTIMISER,
        summary="The network has lost the ability to fit new targets: dormant units, falling rank, growing norms.",
        explains={
            "dormant-units": 2.5,
            "feature-rank-collapse": 2.5,
            "weight-norm-growth": 1.5,
            "return-collapse": 0.5,
        },
        experiments=(
            Experiment("random targets", "Fit random targets with this network and with a fresh one.", "fixed_batch"),
        ),
        fixes=(Fix("Fewer epochs or updates per step; layer normalisation; weight decay; resets.", OUTER),),
    ),
    Cause(
        name="mixed-precision-overflow",
        link=Link.NUMERICS,
        component=Component.OPTIMISER,
        summary="Low precision overflows or underflows; steps are skipped.",
        explains={"loss-scale-collapse": 3.0, "steps-skipped": 2.0, "metrics-frozen": 0.7},
        experiments=(Experiment("fp32", "Evaluate one saved batch in fp32 and in low precision.", "fixed_batch"),),
        fixes=(Fix("Use bf16, or keep log-probs, ratios and losses in fp32."),),
    ),
    Cause(
        name="ranks-out-of-step",
        link=Link.NUMERICS,
        component=Component.OPTIMISER,
        summary="The ranks no longer train one and the same model.",
        explains={"ranks-diverge": 3.0, "rank-skips-optimiser": 2.5, "weight-sync-fault": 0.3, "logprob-mismatch": 0.3},
        experiments=(
            Experiment(
                "hash after every step",
                "Log a hash of the weights of every rank after each optimiser step; the first to differ is it.",
                "metric",
            ),
        ),
        fixes=(
            Fix("Let all ranks decide together whether a step is skipped: reduce the finite check over all of them."),
            Fix("Broadcast weights and optimiser state from rank 0 at the start and after each restart."),
        ),
        separate_with=("net/weight_hash", "optim/n_updates"),
    ),
    Cause(
        name="weights-too-coarse",
        link=Link.NUMERICS,
        component=Component.OPTIMISER,
        summary="The weights are kept in a format that is too coarse for the steps that they are given.",
        explains={
            "steps-lost-in-rounding": 3.0,
            "weights-rounded": 3.0,
            "weights-hardly-move": 0.5,
        },
        experiments=(
            Experiment(
                "float32 weights",
                "The same updates with weights in float32: they must move by about the learning rate.",
                "controlled_run",
            ),
        ),
        fixes=(Fix("Keep the weights that the optimiser holds in float32, or round stochastically."),),
        separate_with=("optim/still_frac", "optim/weight_delta"),
    ),
)
