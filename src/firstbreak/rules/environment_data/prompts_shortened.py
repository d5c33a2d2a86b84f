"""The rule `prompts-shortened`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `prompts-shortened`. Engineering defaults."""

    before: int = 8
    """Updates that say what is usual."""
    lasts: int = 5
    """Updates for which it has lasted."""
    left: float = 0.85
    """Tokens of an update that are left, as a share of the least before, once shorter responses are allowed for."""
    fallen: float = 0.7
    """Reward that is left, as a share of its level before (where that is positive), for an error."""


TOKENS, LENGTH = "sample/tokens_total", "seq/len_mean"
REWARD = ("reward/train_mean", "reward/rollout_mean")
GRPO = synth.like("GRPO")


def counted(before: float, after: float, at: float = 0.5) -> synth.Shape:
    """Tokens in all: so many an update before time `at`, and so many after."""
    return lambda t, rng: np.cumsum(np.where(t < at, before, after) * (1 + 0.01 * rng.standard_normal(t.size)))


STEADY = {LENGTH: synth.flat(150, 0.02)}
CASES = (
    fires(
        "the question is dropped",
        lambda: GRPO(STEADY | {TOKENS: counted(9000, 6500), "reward/train_mean": synth.jump(0.6, 0.1)}),
    ),
    fires("shorter prompts, reward unharmed: a hint", lambda: GRPO(STEADY | {TOKENS: counted(9000, 6500)})),
    healthy("as many tokens throughout", lambda: GRPO(STEADY | {TOKENS: counted(9000, 9000)})),
    near_miss(
        "responses get shorter, and the tokens with them",
        lambda: GRPO({LENGTH: synth.jump(150, 90), TOKENS: counted(9000, 6000)}),
    ),
    near_miss("longer prompts", lambda: GRPO(STEADY | {TOKENS: counted(6500, 9000)})),
)


@rule(
    "ENV021",
    "prompts-shortened",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.INFO,
    needs=(TOKENS, LENGTH),
    when=("language",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "reward-flat", "zero-std-groups", "reward-std-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one update to the next, prompts hold fewer tokens.

    What it means:
        The tokens of an update fell at once, by more than shorter responses can explain, and stayed down.

    Why it matters:
        A model that no longer sees the question, or half of it, cannot answer it; the reward falls to what guessing
        earns, and from there on the policy learns to guess.

    Usual causes:
        A chat template that drops a field or the last turn; truncation of prompts from the wrong side; another data
        set or shard.

    What to try:
        Decode three prompts as token ids from before and after that update, and read them.

    When it is harmless:
        A curriculum that moves on to shorter questions. It is an error only where the reward fell with it.

    References:
        None; the rule compares two counts that the log holds.
    """
    tokens, length = view.get(TOKENS), view.get(LENGTH)
    assert tokens is not None
    assert length is not None
    place = shortened(tokens, length, params)
    if place is None:
        return None
    step, spent, _ = per_update(tokens, length)
    fell = reward_fell(view, float(step[place]), params)
    before, now = median(spent[max(0, place - 32) : place]), median(spent[place : place + params.lasts])
    return Detection(
        message=f"tokens of an update fell from {before:.6g} to {now:.6g}, and not by shorter responses",
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=TOKENS,
        evidence={"tokens_before": before, "tokens_after": now, "reward_fell": fell},
        severity=Severity.ERROR if fell else None,
    )


def per_update(tokens: Points, length: Points) -> tuple[Floats, Floats, Floats]:
    """Return position, tokens spent on it and mean response length of each update [n] that both metrics hold."""
    shared, at_tokens, at_length = np.intersect1d(tokens.step, length.step, return_indices=True)
    spent = np.diff(tokens.value[at_tokens]) / np.diff(shared)
    return shared[1:], spent, length.value[at_length][1:]


def shortened(tokens: Points, length: Points, params: Params) -> int | None:
    """Return the place at which prompts became shorter for good.

    With N responses an update spends N (prompt + response) tokens, so shorter responses take at most their own share
    from it, that is when prompts hold no tokens at all.
    """
    _, spent, size = per_update(tokens, length)
    lowest, highest = np.minimum.accumulate(spent), np.maximum.accumulate(size)
    for place in range(params.before, spent.size - params.lasts + 1):
        least, longest = lowest[place - 1], highest[place - 1]
        if least <= 0 or longest <= 0:
            return None
        allowed = np.minimum(size[place : place + params.lasts] / longest, 1.0)
        if np.all(spent[place : place + params.lasts] < params.left * allowed * least):
            return place
    return None


def reward_fell(view: RunView, at: float, params: Params) -> bool:
    """Whether the reward lost much of its level there."""
    reward = view.get(*REWARD)
    if reward is None:
        return False
    before, after = reward.value[reward.step < at][-8:], reward.value[reward.step >= at][:8]
    if min(before.size, after.size) < 4:
        return False
    return bool(median(before) > 0 and median(after) < params.fallen * median(before))
