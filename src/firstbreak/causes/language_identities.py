"""Further causes that identities of a language model's training show: rows, draws, weights, scorer and evaluation."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link
from .by_construction import AT_THE_STEP, BY_HAND, ONE_BATCH

BY_BOTH = Experiment(
    "one set, scored twice",
    "Score the same twenty responses in training and in the evaluation, and hash the weights that both draw with.",
    "rescore",
)

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="rows-put-together-wrongly",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ROLLOUT,
        summary="What is trained is not what was asked, answered and scored: prompts of other rows, or padding.",
        explains={
            "prompts-misplaced": 3.0,
            "padding-counted": 3.0,
            "template-changed": 1.0,
            "draws-unlike-policy": 0.5,
            "ends-unlike-policy": 0.5,
            "truncation-growing": 0.3,
        },
        experiments=(ONE_BATCH,),
        fixes=(
            Fix("Keep prompt, response, mask and score of a row together, and begin each conversation anew."),
            Fix("Mask by the end tokens at which generation stops."),
        ),
        separate_with=(
            "data/prompt_swapped_frac",
            "data/prompt_tokens_vary_frac",
            "data/prompt_unlike_asked_frac",
            "seq/counted_past_end_frac",
        ),
    ),
    Cause(
        name="weights-moved-by-handover",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="Handing weights to the sampler, or mixing them with others, changes those that are trained.",
        explains={"generation-moves-weights": 3.0, "weights-changed-outside": 1.0},
        experiments=(AT_THE_STEP,),
        fixes=(Fix("Hand over a copy; scale, merge and quantise nothing in place."),),
        separate_with=("optim/generation_change_frac", "optim/outside_change_frac"),
    ),
    Cause(
        name="draws-not-free",
        link=Link.EXPLORATION,
        component=Component.SAMPLER,
        summary="Responses are chosen among several, or drawn with random numbers that were used before.",
        explains={"draws-are-chosen": 3.0, "random-numbers-repeat": 3.0, "token-entropy-collapse": 0.2},
        experiments=(ONE_BATCH,),
        fixes=(Fix("Ask the server for plain draws, and set seeds once, at the start of the run."),),
        separate_with=("sample/engine_choice_nats", "sample/random_state_repeated"),
    ),
    Cause(
        name="optimiser-state-underflows",
        link=Link.NUMERICS,
        component=Component.OPTIMISER,
        summary="Adam's second moments are lost or rounded to zero, so that steps are divided by next to nothing.",
        explains={
            "second-moment-lost": 3.0,
            "steps-outgrow-rate": 2.0,
            "policy-jumps": 0.5,
            "crashed-on-nonfinite": 0.5,
        },
        experiments=(AT_THE_STEP,),
        fixes=(Fix("Keep the optimiser's state in float32 or bfloat16, and load it whole."),),
        separate_with=("optim/moment_bound_broken_frac",),
    ),
    Cause(
        name="layers-left-out",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="Most layers of the model are frozen, or cut off from the loss.",
        explains={"layers-not-trained": 3.0, "reward-flat": 0.2},
        experiments=(AT_THE_STEP,),
        fixes=(Fix("Open the layers that are to be trained, by the names that this model gives them."),),
        separate_with=("optim/trainable_frac", "optim/without_gradient_frac"),
    ),
    Cause(
        name="old-groups-taken-as-new",
        link=Link.DATA_FRESHNESS,
        component=Component.ROLLOUT,
        summary="Groups that an older policy drew are trained as if they were of now.",
        explains={"groups-replayed": 3.0},
        experiments=(ONE_BATCH,),
        fixes=(
            Fix("Empty the buffer at each update, or weigh its groups by the log-probabilities they were drawn with."),
        ),
        separate_with=("data/group_repeat_frac",),
    ),
    Cause(
        name="groups-filtered-wrongly",
        link=Link.POLICY_UPDATE,
        component=Component.ADVANTAGE,
        summary="The filter of groups drops those with a signal and keeps the others.",
        explains={"live-groups-dropped": 3.0, "grad-norm-zero": 1.0, "policy-frozen": 0.5},
        experiments=(BY_HAND,),
        fixes=(Fix("Turn the filter's condition round: groups without spread are the ones to drop."),),
        separate_with=("advantage/groups_dropped_frac",),
    ),
    Cause(
        name="kl-term-out-of-hand",
        link=Link.POLICY_UPDATE,
        component=Component.LOSS,
        summary="The coefficient of the KL term runs away from what it was set to.",
        explains={"kl-coef-not-as-set": 3.0, "return-collapse": 0.3},
        experiments=(BY_HAND,),
        fixes=(Fix("Fix the coefficient, or turn the sign of its controller."),),
        separate_with=("policy/kl_coef_off",),
    ),
    Cause(
        name="scorer-pays-no-answer",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="What cannot be parsed, or repeats the question, counts as right.",
        explains={"no-answer-paid": 3.0, "question-paid": 3.0, "scorer-drift": 0.5, "reward-redefined": 0.2},
        experiments=(
            Experiment("the scorer by hand", "Score nothing, a mark, the question and the right answer.", "rescore"),
        ),
        fixes=(Fix("Score what cannot be parsed as wrong, and name the arguments of the reward function."),),
        separate_with=("reward/no_answer_paid_frac", "reward/question_paid_frac"),
    ),
    Cause(
        name="evaluation-not-of-this-run",
        link=Link.EVALUATION_PROTOCOL,
        component=Component.EVALUATION,
        summary="The evaluation asks what is trained on, draws with other weights, or scores otherwise.",
        explains={
            "evaluation-asks-trained-prompts": 3.0,
            "evaluation-of-other-weights": 3.0,
            "evaluation-scored-otherwise": 3.0,
        },
        experiments=(BY_BOTH,),
        fixes=(Fix("Evaluate held-out prompts, with the weights of now, by training's own scorer."),),
        separate_with=("eval/prompts_trained_frac", "eval/unlike_policy_z", "eval/scored_otherwise_frac"),
    ),
)
