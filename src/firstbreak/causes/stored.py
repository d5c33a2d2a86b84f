"""Causes in what is stored of a rollout."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="rollout-misfiled",
        link=Link.DATA_FRESHNESS,
        component=Component.ROLLOUT,
        summary="Observations stored with a rollout are not those that were acted on; all else beside them is.",
        explains={
            "rollout-of-other-states": 3.0,
            "ratio-off-at-first-minibatch": 1.0,
            "kl-overshoot": 0.5,
            "clip-fraction-high": 0.5,
            "ratio-tail": 0.5,
            "ratio-off-one": 0.5,
        },
        experiments=(
            Experiment(
                "act by hand", "Act again on stored observations: are values and log-probabilities the stored ones?"
            ),
        ),
        fixes=(Fix("Copy observations when they are stored; let no later step write into the same array."),),
        separate_with=("policy/ratio_first_minibatch", "critic/loss", "critic/explained_variance"),
    ),
)
