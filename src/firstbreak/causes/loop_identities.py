"""Causes within a trainer's loop that an identity shows: who plays is trained, what is drawn was stored."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

HASH = Experiment(
    "hash the weights",
    "Hash the parameters of who plays before a rollout, and of who is trained after the update: they must be alike.",
)
BY_HAND = Experiment(
    "act by hand", "Print, for twenty steps, what `step` and `reset` returned beside what is stored of them.", "metric"
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
    Cause(
        name="answers-changed-at-rest",
        link=Link.POLICY_UPDATE,
        component=Component.SAMPLER,
        summary="Something beside its weights decides what the policy does: a bound, a hook, a mode, a turned sign.",
        explains={
            "answers-change-at-rest": 3.0,
            "played-by-another": 1.0,
            "ratio-off-at-first-minibatch": 1.0,
            "policy-turns-uniform": 0.5,
            "exploration-moves-at-once": 0.5,
            "policy-moves-at-once": 0.5,
            "return-falls-at-once": 0.5,
        },
        experiments=(
            Experiment(
                "ask twice",
                "Print the policy's output for one state after an update and before the next: both must be alike.",
            ),
        ),
        fixes=(
            Fix("Take hooks and wrappers off the policy, one by one, until it answers alike."),
            Fix("Let acting and learning ask the policy in the same mode, by the same function."),
        ),
        separate_with=("policy/answers_moved_frac",),
    ),
    Cause(
        name="reset-left-out",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="After an episode's end the environment is not begun anew: the next goes on from where it ended.",
        explains={
            "ends-not-reset": 3.0,
            "stuck-done": 2.0,
            "return-falls-at-once": 0.5,
            "return-collapse": 0.5,
        },
        experiments=(BY_HAND,),
        fixes=(
            Fix("Let `reset` draw a new state, and hand its observation on; clear what a wrapper remembers."),
            Fix("Go back to the last checkpoint from before it: episodes since say nothing of the task."),
        ),
        separate_with=("env/unreset_frac",),
    ),
    Cause(
        name="draws-misread",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ROLLOUT,
        summary="What is drawn from the replay buffer is put together of several rows, or changed on the way out.",
        explains={
            "drawn-not-as-stored": 3.0,
            "targets-not-td": 0.3,
            "critic-loss-leaps": 0.5,
            "critic-moves-at-once": 0.5,
            "q-over-bound": 0.5,
            "q-divergence": 0.3,
        },
        experiments=(BY_HAND,),
        fixes=(
            Fix("Read all columns of a draw by one and the same index; compute places before, not while, reading."),
        ),
        separate_with=("replay/drawn_unlike_frac",),
    ),
)
