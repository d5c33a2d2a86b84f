"""Causes that show between the loader, the scorer and the loss of a language model, and in settings that move."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="rows-written-over",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ROLLOUT,
        summary="Between loader, sampler and scorer, rows are exchanged or written over.",
        explains={"rows-exchanged": 3.0, "prompts-not-of-data": 1.5, "prompts-alike": 0.5},
        experiments=(
            Experiment(
                "one row all the way",
                "Print one row where it is drawn, where it is generated for, and where it is scored.",
                "tokens",
            ),
        ),
        fixes=(Fix("Hand rows on whole; write templates' output beside the prompt, not over it."),),
        separate_with=("data/rows_changed_frac", "data/prompt_foreign_frac"),
    ),
    Cause(
        name="scorer-answers-otherwise",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The scorer gives the same response to the same question another score than before.",
        explains={"scores-not-kept": 3.0, "scorer-drift": 1.0, "reward-redefined": 0.5, "scores-not-repeatable": 0.5},
        experiments=(
            Experiment(
                "the scorer by hand",
                "Score a response that came again in a fresh process, and compare with both of its scores.",
                "rescore",
            ),
        ),
        fixes=(Fix("Pin the scorer and its inputs; score nothing at all where a check fails."),),
        separate_with=("reward/rescored_off_frac", "reward/golden_mean"),
    ),
    Cause(
        name="batch-exchanged-before-the-loss",
        link=Link.DATA_FRESHNESS,
        component=Component.ROLLOUT,
        summary="The loss gets another batch than the one that was drawn and scored.",
        explains={"trained-on-others": 3.0, "groups-replayed": 1.0, "batch-repeated": 0.5},
        experiments=(
            Experiment(
                "one batch, drawn and scored",
                "Hash the tokens of one batch where it is generated, and where its loss is made.",
                "tokens",
            ),
        ),
        fixes=(Fix("Empty the queue at each update; key caches of batches by the update."),),
        separate_with=("data/trained_unlike_drawn_frac",),
    ),
    Cause(
        name="advantages-written-over",
        link=Link.POLICY_UPDATE,
        component=Component.ADVANTAGE,
        summary="Between scoring and loss, advantages are turned, scaled, shifted or handed to other rows.",
        explains={"advantages-changed-on-the-way": 3.0, "advantage-sign-wrong": 1.0, "zero-std-groups": 0.1},
        experiments=(
            Experiment(
                "one group by hand",
                "Print rewards and advantages of one group where they are computed, and where the loss is made.",
                "tokens",
            ),
        ),
        fixes=(Fix("Compute advantages once, beside the rewards, and change them nowhere else."),),
        separate_with=("advantage/altered_frac",),
    ),
    *(
        Cause(
            name=name,
            link=link,
            component=component,
            summary=summary,
            explains={rule: 3.0, **more},
            experiments=(
                Experiment(
                    "one batch, drawn and scored",
                    "Print the settings in force, in the trainer itself, before and after that update.",
                    "tokens",
                ),
            ),
            fixes=(Fix("Set it in the arguments, once; put back what an evaluation needed otherwise."),),
            separate_with=(metric,),
        )
        for name, link, component, rule, metric, summary, more in (
            ("reward-set-anew", Link.REWARD_SIGNAL, Component.REWARD, "reward-settings-changed",
             "reward/settings_changed", "Reward functions or their weights were exchanged in mid-run.",
             {"scores-not-kept": 0.5, "reward-sum-off": 0.5}),
            ("sampler-set-anew", Link.EXPLORATION, Component.SAMPLER, "sampling-settings-changed",
             "sample/settings_changed", "Settings with which responses are drawn were exchanged in mid-run.",
             {"sampling-altered": 0.5, "sampling-temperature-unscored": 0.5}),
            ("loss-set-anew", Link.POLICY_UPDATE, Component.LOSS, "loss-settings-changed",
             "policy/settings_changed", "Settings of the loss or the optimiser were exchanged in mid-run.",
             {"kl-coef-not-as-set": 0.5, "clip-not-as-set": 0.5, "betas-not-as-set": 0.5}),
            ("prompts-set-anew", Link.ENVIRONMENT_DATA, Component.ROLLOUT, "prompt-settings-changed",
             "data/settings_changed", "Template, tokenizer or caps were exchanged in mid-run.",
             {"response-cap-fell": 0.5, "template-changed": 0.5}),
        )
    ),
)  # fmt: skip
"""The last four say the same of settings of four links."""
