"""Causes within a trainer's loop that an identity shows: who plays is trained, what is drawn was stored."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

HASH = Experiment(
    "hash the weights",
    "Hash the parameters of who plays before a rollout, and of who is trained after the update: they must be alike.",
)

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="player-is-another",
        link=Link.DATA_FRESHNESS,
        component=Component.SAMPLER,
        summary="Rollouts are played by a copy of the policy that is not what is trained: stale, rounded, miscopied.",
        explains={
            "played-by-another": 3.0,
            "ratio-off-at-first-minibatch": 1.0,
            "weights-changed-outside": 0.5,
            "kl-overshoot": 0.3,
            "return-falls-at-once": 0.5,
        },
        experiments=(HASH,),
        fixes=(
            Fix("Copy all weights to who plays after every update, in one precision, by name rather than by position."),
        ),
        separate_with=("policy/player_gap_nats",),
    ),
)
