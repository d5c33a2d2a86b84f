"""Causes in the loss of language models: how it weighs tokens, groups and clipping, and what it refers to."""

from __future__ import annotations

from ..cause import OUTER, Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="loss-mask-lost",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS_MASK,
        summary="The loss holds tokens that the policy did not write, or lacks some that it wrote.",
        explains={
            "loss-mask-changed": 3.0,
            "unsampled-tokens-trained": 3.0,
            "response-end-untrained": 3.0,
            "truncation-growing": 0.3,
        },
        experiments=(
            Experiment(
                "tokens under the mask",
                "Print one sequence token by token with its mask: all that the policy wrote, its end, nothing else.",
                "tokens",
            ),
        ),
        fixes=(Fix("Build the mask from the sampler's token ids, and keep the end token in it."),),
        separate_with=("seq/len_mean", "seq/prompt_loss_frac", "seq/end_untrained_frac"),
    ),
    Cause(
        name="groups-mixed",
        link=Link.POLICY_UPDATE,
        component=Component.ADVANTAGE,
        summary="Groups hold responses to several prompts: the baseline compares what cannot be compared.",
        explains={"prompts-mixed-in-groups": 3.0, "reward-flat": 0.3},
        experiments=(
            Experiment(
                "one group by hand",
                "Print prompt, response, reward and advantage of one group: one prompt, advantages that sum to 0.",
                "tokens",
            ),
        ),
        fixes=(Fix("Repeat each prompt in a row, shuffle before repeating, and keep groups on one process."),),
        separate_with=("group/mixed_prompt_fraction",),
    ),
    Cause(
        name="length-biased-loss",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The loss is averaged over each response, so long wrong answers are hardly punished.",
        explains={
            "incorrect-length-grows": 3.0,
            "reward-pays-length": 0.5,
            "truncation-growing": 0.5,
            "step-time-tail": 0.2,
        },
        experiments=(
            Experiment(
                "constant divisor",
                "Divide by a constant for 200 steps: wrong responses must stop growing if this is it.",
            ),
        ),
        fixes=(Fix("Divide by a constant or by the tokens of the batch.", patch="length-neutral-loss"),),
        separate_with=("seq/len_correct_mean", "reward/true_objective"),
    ),
    Cause(
        name="group-spread-scaling",
        link=Link.POLICY_UPDATE,
        component=Component.ADVANTAGE,
        summary="Advantages are divided by a spread that is only noise, which is then learned.",
        explains={"difficulty-bias": 3.0, "reward-noisy": 0.5, "grad-norm-explosion": 0.2},
        experiments=(
            Experiment(
                "score twice",
                "Score one batch twice: is the spread within groups larger than between the two scorings?",
            ),
        ),
        fixes=(
            Fix("Do not divide by the group's spread.", patch="no-std-scaling"),
            Fix("Drop groups below a least spread.", patch="dynamic-filter"),
        ),
        separate_with=("group/reward_std_mean", "reward/train_std"),
    ),
    Cause(
        name="one-sided-clipping",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The clip range holds one direction back, and entropy runs the other way.",
        explains={
            "clip-open-above": 3.0,
            "clip-asymmetry": 3.0,
            "kl-overshoot": 0.5,
            "ratio-tail": 0.5,
            "entropy-growing": 0.5,
            "token-entropy-collapse": 0.7,
        },
        experiments=(
            Experiment("other range", "A short run with the upper range at 0.28 (or back at 0.2): entropy must turn."),
        ),
        fixes=(Fix("Set the upper clip range apart from the lower.", OUTER, patch="clip-higher"),),
        separate_with=("policy/clip_fraction_low", "policy/clip_fraction_high"),
    ),
    Cause(
        name="wrong-reference",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The reference is not the fixed model that the run began with: KL starts above 0 or never leaves it.",
        explains={
            "kl-ref-nonzero-at-start": 3.0,
            "reference-moves": 3.0,
            "reference-weights-change": 3.0,
            "reference-is-policy": 3.0,
            "kl-ref-negative": 1.5,
        },
        experiments=(
            Experiment(
                "reference log-probs",
                "On one fixed batch compare log-probs of policy and reference before any update: they must be equal.",
                "fixed_batch",
            ),
        ),
        fixes=(Fix("Pin the reference to the initial weights; disable adapters and dropout when scoring it."),),
    ),
    Cause(
        name="anchor-not-in-loss",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The KL coefficient of the settings does not reach the loss: nothing holds the policy.",
        explains={
            "kl-term-missing": 3.0,
            "no-kl-anchor": 0.3,
            "policy-jumps": 0.3,
        },
        experiments=(
            Experiment(
                "coefficient in force",
                "Print the trainer's own coefficient beside the settings' at the first update.",
                "code",
            ),
        ),
        fixes=(Fix("Hand the coefficient on to the trainer, and fail where it is not taken."),),
        separate_with=("policy/kl_coef", "policy/kl_ref"),
    ),
    Cause(
        name="advantage-miscomputed",
        link=Link.POLICY_UPDATE,
        component=Component.ADVANTAGE,
        summary="Advantages are not those of their responses: without baseline, or in another order.",
        explains={
            "groups-not-centred": 3.0,
            "advantages-misplaced": 3.0,
            "reward-flat": 0.3,
        },
        experiments=(
            Experiment(
                "one group by hand",
                "Print reward and advantage of a group where the loss reads them: sum 0, in the same order.",
                "tokens",
            ),
        ),
        fixes=(Fix("Take the group's mean over its own responses; keep rewards and responses in one order."),),
        separate_with=("advantage/group_offset", "advantage/order_agreement"),
    ),
    Cause(
        name="loss-summed",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The loss is summed over the batch where it should be averaged.",
        explains={
            "loss-is-sum": 3.0,
            "grad-norm-explosion": 0.3,
        },
        experiments=(
            Experiment(
                "twice the batch",
                "Double the batch: the gradient norm before clipping must stay as it is.",
                "fixed_batch",
            ),
        ),
        fixes=(Fix("Divide by the number of responses or tokens of the whole update."),),
        separate_with=("policy/loss_weight", "optim/grad_norm"),
    ),
    Cause(
        name="old-policy-forgotten",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="Responses are reused without the log-probabilities that drew them, so the clip never binds.",
        explains={
            "old-logprobs-missing": 3.0,
            "clip-not-binding": 3.0,
            "kl-overshoot": 0.3,
        },
        experiments=(
            Experiment(
                "second update",
                "Print the mean ratio at the second update on a batch: it must have left 1.",
                "fixed_batch",
            ),
        ),
        fixes=(Fix("Keep the log-probabilities with the responses until their last use."),),
        separate_with=("policy/ratio_var",),
    ),
)
