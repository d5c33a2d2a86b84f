"""Causes between the environment and the update: what is handed on is not what was exchanged; settings set anew."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

BY_HAND = Experiment(
    "act by hand", "Print, for twenty steps, what `step` took and returned beside what is stored of them.", "metric"
)
IN_FORCE = Experiment(
    "coefficient in force", "Print the setting that the update uses at the first and at the newest update.", "metric"
)

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="observations-altered-on-the-way",
        link=Link.ENVIRONMENT_DATA,
        component=Component.NORMALISER,
        summary="Between environment and update, observations are changed: another scale, other steps, other entries.",
        explains={
            "scale-changed-on-the-way": 3.0,
            "observations-not-as-given": 3.0,
            "rollout-of-other-states": 1.0,
            "replay-chain-broken": 1.0,
            "ratio-off-at-first-minibatch": 0.5,
            "explained-variance-collapse": 0.5,
            "return-falls-at-once": 0.5,
        },
        experiments=(BY_HAND,),
        fixes=(
            Fix("Keep a normaliser's statistics in the checkpoint and load them with the weights."),
            Fix("Copy observations when they are stored; let no later step write into the same array."),
        ),
        separate_with=("data/obs_fit", "data/obs_shift"),
    ),
    Cause(
        name="actions-altered-on-the-way",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="The environment gets other actions than those that are stored and learnt from.",
        explains={"actions-not-as-stored": 3.0, "scale-changed-on-the-way": 1.0, "action-response-changed": 0.5},
        experiments=(BY_HAND,),
        fixes=(Fix("Store the action that is carried out, or map it once, outside of what is learnt from."),),
        separate_with=("data/action_fit", "data/action_shift"),
    ),
    Cause(
        name="ends-lost-on-the-way",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="Ends of episodes are not stored with their steps, or are stored where there are none.",
        explains={"ends-not-stored": 3.0, "replay-chain-broken": 1.0, "terminals-bootstrapped": 1.0},
        experiments=(BY_HAND,),
        fixes=(Fix("Store `terminated` and `truncated` of the very step; bootstrap after the second alone."),),
        separate_with=("data/end_kept_frac", "data/end_added_frac"),
    ),
    Cause(
        name="rewards-altered-on-the-way",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="Between environment and update, rewards are changed: those of other steps, cut off, resized.",
        explains={
            "rewards-not-as-paid": 3.0,
            "rewards-resized-on-the-way": 3.0,
            "value-loss-explosion": 0.5,
            "explained-variance-collapse": 0.5,
        },
        experiments=(BY_HAND,),
        fixes=(
            Fix("Store the reward with the step that earned it; scale it in one place, by a factor that is logged."),
        ),
        separate_with=("data/reward_fit", "data/reward_gain"),
    ),
    Cause(
        name="values-misfiled",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="The values stored with a rollout are not those that the critic gives to its observations.",
        explains={"values-not-the-critics": 3.0, "explained-variance-collapse": 0.5, "critic-fit-lost": 0.5},
        experiments=(BY_HAND,),
        fixes=(Fix("Store the critic's answer with the very observation that it was asked about."),),
        separate_with=("critic/value_residual",),
    ),
    Cause(
        name="critic-set-anew",
        link=Link.CRITIC,
        component=Component.VALUE,
        summary="Somebody set the weight of the critic's loss, or how its targets follow, while the run went on.",
        explains={"critic-setting-moved": 3.0, "critic-frozen": 1.0, "target-network-stuck": 0.5, "q-divergence": 0.5},
        experiments=(IN_FORCE,),
        fixes=(Fix("Set it back; let one place set it."),),
        separate_with=("critic/loss_weight", "critic/target_tau", "critic/target_interval", "critic/settings_changed"),
    ),
    Cause(
        name="update-set-anew",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        summary="Somebody set how far one update goes (passes, batches, clipping) while the run went on.",
        explains={
            "update-setting-moved": 3.0,
            "kl-overshoot": 0.5,
            "clip-fraction-high": 0.5,
            "policy-moves-at-once": 0.5,
        },
        experiments=(IN_FORCE,),
        fixes=(Fix("Set it back; let one place set it."),),
        separate_with=("optim/epochs", "optim/batch_size", "optim/max_grad_norm"),
    ),
    Cause(
        name="replay-set-anew",
        link=Link.DATA_FRESHNESS,
        component=Component.ROLLOUT,
        summary="Somebody set what the replay buffer holds, or how often it is learnt from, while the run went on.",
        explains={
            "replay-setting-moved": 3.0,
            "replay-emptied": 3.0,
            "replay-drawn-unevenly": 3.0,
            "replay-buffer-tiny": 1.0,
            "replay-stale": 0.5,
        },
        experiments=(IN_FORCE,),
        fixes=(Fix("Set it back; make the buffer once, with the size of the configuration."),),
        separate_with=("replay/capacity", "replay/train_interval"),
    ),
)
