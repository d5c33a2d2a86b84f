"""The check `reward-ignores-agent`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..measures import constant
from ..sample import RewardSample

LEAST_REPLAYS = 4
LEAST_STEPS = 10
"""Steps in common that a pair of plays needs: effects of an action may come a few steps later."""


@check(
    "PRW030",
    "reward-ignores-agent",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Find what the reward is computed from: it must read the state that the action changed.",
    explained_by=("reward-fixed-per-episode",),
)
def look(sample: RewardSample) -> Answer:
    """The reward varies, but is the same whatever the agent does.

    What is measured:
        Pairs of plays in fresh environments from the same seed with different random actions: whether all their rewards
        agree over the steps in common (up to 200), although rewards differ between steps or seeds.

    Why it hurts:
        All differences in return are luck; every advantage is noise, however lively the curve.

    Usual causes:
        A reward computed from a copy of the state that is not stepped; from the clock; from a target that moves by
        itself.

    What to try:
        Play full action in one and no action in another environment, and print what goes into the reward.

    When it is harmless:
        When actions take effect only after more steps than were compared.

    References:
        Definition of a reward function R(s, a, s'); compare the policy-difference lemma, Kakade & Langford 2002.
    """
    pairs = [
        (r.first[:n], r.second[:n])
        for r in sample.replays
        if r.kind == "other_actions" and (n := min(r.first.size, r.second.size)) >= LEAST_STEPS
    ]
    if len(pairs) < LEAST_REPLAYS:
        return Skip("no plays from one seed with other actions", ("an environment instead of a table",))
    skip = too_few(sample, 1)
    if skip is not None:
        return skip
    paid = np.concatenate([p[0] for p in pairs])
    if constant(paid) or any(not np.array_equal(a, b) for a, b in pairs):
        return None
    return Symptom(
        f"rewards of {len(pairs)} pairs of plays with different actions agree in all {paid.size} steps: "
        "the agent has no say",
        "reward",
        {"pairs": len(pairs), "steps": int(paid.size), "reward_std": float(paid.std())},
    )
