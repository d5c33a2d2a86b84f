"""Causes that identities of a language model's training show: what holds by construction, and does not."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

BY_HAND = Experiment(
    "one group by hand",
    "Print rewards, advantages and the loss's derivative by each token of one group, and compute them by hand.",
    "tokens",
)
ONE_BATCH = Experiment(
    "one batch, drawn and scored",
    "Score one batch of responses with a plain forward pass; compare tokens, masks and settings of generation.",
    "tokens",
)
AT_THE_STEP = Experiment(
    "one step by hand",
    "Print settings of the optimiser, the gradient after each micro-batch, and weights before and after one step.",
    "fixed_batch",
)

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="loss-miscomputed",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The loss weighs tokens or responses in another way than its settings say.",
        explains={
            "loss-not-as-set": 3.0,
            "clip-not-as-set": 3.0,
            "advantages-not-by-reward": 3.0,
            "advantages-one-sided": 3.0,
            "reward-flat": 0.3,
            "zero-std-groups": 0.2,
        },
        experiments=(BY_HAND,),
        fixes=(Fix("Give every token of a response its advantage, over the divisor of the loss type."),),
        separate_with=("policy/loss_residual_frac", "advantage/residual_frac", "policy/clip_high_off"),
    ),
    Cause(
        name="optimiser-not-as-set",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="The optimiser gets another gradient, or works with other betas, than loss and settings say.",
        explains={
            "betas-not-as-set": 3.0,
            "gradient-not-kept": 3.0,
            "grad-norm-explosion": 0.2,
            "reward-flat": 0.2,
        },
        experiments=(AT_THE_STEP,),
        fixes=(Fix("Zero gradients once a step, in one place, and take the optimiser's settings from one place."),),
        separate_with=("optim/beta1", "optim/gradient_lost_frac", "optim/gradient_altered_frac"),
    ),
    Cause(
        name="reference-asked-otherwise",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The reference scores responses to other prompts, or with another mask, than the policy answers.",
        explains={"reference-misasked": 3.0, "kl-ref-nonzero-at-start": 1.0, "kl-ref-runaway": 0.3},
        experiments=(ONE_BATCH,),
        fixes=(Fix("Score policy and reference with the same tokens, mask and temperature."),),
        separate_with=("policy/ref_logprob_recomputed_gap", "policy/kl_ref"),
    ),
    Cause(
        name="scored-otherwise",
        link=Link.NUMERICS,
        component=Component.LOSS,
        summary="The loss scores responses in another way than the model does: mask, shift, dropout or precision.",
        explains={"scores-not-the-models": 3.0, "ratio-off-at-first-minibatch": 0.5},
        experiments=(ONE_BATCH,),
        fixes=(Fix("Score with the mask and positions with which responses were drawn, without dropout."),),
        separate_with=("policy/logprob_recomputed_gap",),
    ),
    Cause(
        name="steps-lost",
        link=Link.NUMERICS,
        component=Component.OPTIMISER,
        summary="Many steps of the optimiser are called for and not taken.",
        explains={"steps-not-taken": 3.0, "reward-flat": 0.3},
        experiments=(AT_THE_STEP,),
        fixes=(Fix("Take steps in bfloat16 or float32, or start the loss scaler lower."),),
        separate_with=("optim/still_frac", "optim/step_skipped"),
    ),
    Cause(
        name="drawn-otherwise",
        link=Link.DATA_FRESHNESS,
        component=Component.SAMPLER,
        summary="Responses come from another distribution than the policy that scores them.",
        explains={"draws-unlike-policy": 3.0, "sampler-left-behind": 0.3},
        experiments=(ONE_BATCH,),
        fixes=(Fix("Hand sampler and trainer the same weights, tokens and mask."),),
        separate_with=("sample/unlike_policy_z",),
    ),
    Cause(
        name="sampler-settings-foreign",
        link=Link.EXPLORATION,
        component=Component.SAMPLER,
        summary="The sampler follows settings or seeds that nobody gave for training.",
        explains={"sampling-altered": 3.0, "draws-too-alike": 3.0, "zero-std-groups": 0.2},
        experiments=(ONE_BATCH,),
        fixes=(Fix("Name every setting of generation in the trainer's arguments; give each request its own seed."),),
        separate_with=("sample/unscored_settings", "sample/repeats_excess_frac"),
    ),
    Cause(
        name="responses-ended-otherwise",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ROLLOUT,
        summary="Something beside the policy decides where responses end.",
        explains={"responses-stop-early": 3.0, "ends-unlike-policy": 3.0, "length-collapse": 0.3},
        experiments=(ONE_BATCH,),
        fixes=(Fix("Let only the policy's end token and the cap stop a response."),),
        separate_with=("seq/ended_elsewhere_frac", "sample/end_unlike_policy_z"),
    ),
    Cause(
        name="verdict-not-of-the-answer",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The scorer's verdict follows something else than whether this answers the prompt, or moves.",
        explains={
            "altered-answers-paid": 3.0,
            "verdicts-ignore-prompt": 3.0,
            "right-answers-repriced": 3.0,
            "scorer-drift": 0.5,
            "reward-redefined": 0.2,
        },
        experiments=(
            Experiment(
                "the scorer by hand",
                "Score right, altered and other prompts' answers, twice, in both orders, in a fresh process.",
                "rescore",
            ),
        ),
        fixes=(Fix("Compare whole answers, key caches by prompt and answer, and pin the scorer's scale."),),
        separate_with=("reward/altered_reference_paid_frac", "reward/verdict_reused_frac", "reward/standing_mean"),
    ),
    Cause(
        name="rows-changed-on-the-way",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="Between data set and scorer rows change: prompts, reference answers, or the text of responses.",
        explains={
            "answers-not-of-data": 3.0,
            "prompts-not-of-data": 3.0,
            "scored-text-differs": 3.0,
            "reward-redefined": 0.2,
        },
        experiments=(
            Experiment(
                "one row all the way",
                "Print one row in the data set, where it is asked, and where it is scored.",
                "tokens",
            ),
        ),
        fixes=(Fix("Hand rows on whole, and decode responses in one place."),),
        separate_with=("data/answer_changed_frac", "data/scored_text_off_frac"),
    ),
)
