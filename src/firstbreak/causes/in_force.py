"""Causes in settings that change while a run goes on, and in who acts."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="lambda-out-of-range",
        link=Link.CRITIC,
        component=Component.ADVANTAGE,
        summary="Lambda of the advantages is no weight: errors far away count more than those at hand.",
        explains={
            "trace-decay-out-of-range": 3.0,
            "advantages-not-by-reward": 1.0,
            "value-loss-explosion": 0.5,
            "grad-norm-explosion": 0.5,
            "explained-variance-collapse": 0.5,
        },
        experiments=(
            Experiment("coefficient in force", "Print lambda at the first and at the newest update.", "metric"),
        ),
        fixes=(Fix("Set lambda between 0.9 and 1, and let one place set it."),),
        separate_with=("critic/gae_lambda",),
    ),
    Cause(
        name="exploration-noise-off",
        link=Link.EXPLORATION,
        component=Component.SAMPLER,
        summary="The noise that explores has a mean, or a schedule raises it: what is done is not what was chosen.",
        explains={"action-noise-off": 3.0, "return-falls-at-once": 0.5, "return-collapse": 0.5, "smooth-decline": 0.5},
        experiments=(
            Experiment(
                "coefficient in force", "Print mean and spread of the noise at the first and newest step.", "metric"
            ),
        ),
        fixes=(
            Fix("Give the noise a mean of 0 and a spread in units of the bound of actions; let it fall, if at all."),
        ),
        separate_with=("exploration/noise_mean", "exploration/noise_std"),
    ),
    Cause(
        name="another-policy-acts",
        link=Link.EXPLORATION,
        component=Component.SAMPLER,
        summary="What acts is not the network that is trained: noise on weights, an old copy, another view.",
        explains={
            "acts-unlike-network": 3.0,
            "return-falls-at-once": 0.5,
            "return-collapse": 0.5,
            "smooth-decline": 0.5,
            "greedy-below-random": 0.5,
        },
        experiments=(
            Experiment(
                "act by hand", "In one state, hold the network's best action against the one that is done.", "metric"
            ),
        ),
        fixes=(Fix("Let the network that is trained choose actions, from the very observation that is stored."),),
        separate_with=("exploration/unlike_greedy_excess", "dqn/epsilon"),
    ),
    Cause(
        name="targets-of-something-else",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="The training code fits the critic to targets that its networks and the replay buffer do not give.",
        explains={
            "critic-loss-not-its-targets": 3.0,
            "targets-broadcast": 3.0,
            "targets-not-td": 3.0,
            "critic-loss-leaps": 1.0,
            "value-loss-explosion": 1.0,
            "critic-gradient-explosion": 0.5,
        },
        experiments=(
            Experiment("act by hand", "Work out the targets of one batch by hand, row by row, beside the trainer's."),
        ),
        fixes=(
            Fix("Mend how targets are made: of which rows, with which discount, where episodes end, of which shape."),
        ),
        separate_with=("critic/loss_expected", "critic/td_error_mean"),
    ),
)
