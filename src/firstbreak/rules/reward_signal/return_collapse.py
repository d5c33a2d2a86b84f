"""The rule `return-collapse`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.rules.reward_signal import LEAST, TRAIN, began, rises
from firstbreak.series import Floats
from firstbreak.stats import compare, count_swings, linear_trend, median, persistent_onset, quantile
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of

SINGLE = ("reward/episode_return", "reward/raw_episode_return")
"""Returns of which each row is one episode."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `return-collapse`. Engineering defaults where no source is named."""

    lost: float = 0.5
    """Share of what had been gained since the start that is gone again."""
    lost_greedy: float = 0.9
    """The same where actions are those of highest value. Such policies change as values cross: healthy runs of DQN lose
    0.54 to 0.84 of their gain for a while (development half of the fault benchmark and ordinary logs, 2026-11-25)."""
    z: float = 6.0
    """Standard errors of gain and of loss. The peak is the best of many stretches, so it needs more than 4."""
    least_z: float = 4.0
    """The same of the gain alone, where the loss is the surer: a return that climbs from its first row on has an
    opening without a level."""
    changes: int = 5
    """Rows in which the return must have changed at all: the mean over the last hundred episodes that one success
    entered, and left again, has changed twice, and has no scatter to be compared with."""
    rows: int = 8
    """Rows during which the loss has lasted (the shortest stretch with a stated error)."""
    episodes: int = 8
    """Episodes that are averaged where each row is one, a 24th of them at most: single episodes scatter far more than
    means do, with many alike at the bottom."""
    apart: float = 0.95
    """Share of the gain that is gone where nine tenths of all rows since lie below nine tenths of the `rows` before
    (twice as many single episodes): so many standard errors are not asked for then. Of healthy ordinary logs and those
    of the fault benchmark's development half (2026-11-26) that had gained `gained`, the one that lost most is a step of
    a curriculum, with 0.92 of it."""
    gained: float = 0.4
    """Least gain then, as a share of the size of the opening."""


PPO = synth.like("PPO")


def one_success(t: Floats, rng: np.random.Generator) -> Floats:
    """A return [n] of 0, but for a stretch with one success among the last hundred episodes."""
    return np.where((t > 0.3) & (t < 0.5), 0.01, 0.0)


CASES = (
    fires(
        "learned and lost",
        lambda: PPO({"reward/episode_return_mean": synth.after(0.6, synth.flat(40, 0.1), synth.ramp(20, 400, 0.03))}),
    ),
    fires(
        "lost at once, in few and scattered rows",
        lambda: synth.like("SAC", n=60)(
            {TRAIN[2]: synth.after(0.6, synth.flat(-33, 0.4), synth.ramp(-16, -6, 0.2, until=0.3))}
        ),
    ),
    healthy("rises and stays", lambda: PPO({})),
    near_miss(
        "dips and recovers",
        lambda: PPO(
            {"reward/episode_return_mean": synth.after(0.5, synth.ramp(250, 400, 0.03), synth.ramp(20, 600, 0.03))}
        ),
    ),
    near_miss("one success in the mean over a hundred episodes", lambda: PPO({TRAIN[2]: one_success})),
    near_miss(
        "values crossed, and a third of the gain is left",
        lambda: synth.like("DQN")({TRAIN[2]: synth.after(0.6, synth.flat(70, 0.1), synth.ramp(20, 200, 0.03))}),
    ),
    near_miss("never learned anything", lambda: PPO({"reward/episode_return_mean": synth.walk(-200, 30)})),
    near_miss(
        "short dip", lambda: PPO({"reward/episode_return_mean": synth.spikes(300, 30, at=(0.7, 0.71), noise=0.05)})
    ),
)


@rule(
    "RWD022",
    "return-collapse",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(TRAIN,),
    min_points=24,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """What the policy had learned is lost again.

    What it means:
        The return rose well above its opening and has since fallen back by at least half of the gain, for several rows.

    Why it matters:
        The return is a lagging sign: whatever broke did so before. The onset given here is when it became visible.

    Usual causes:
        Too large policy steps, entropy collapse, a critic that diverged, stale or foreign data, a lost optimiser
        state, a changed environment.

    What to try:
        Look at what else was found with an earlier onset; go back to the last healthy checkpoint.

    When it is harmless:
        A curriculum step; a changed reward. Dips that recover are not reported once they have.

    References:
        Moalla et al. 2024, arXiv 2405.00662 (collapse follows earlier signs).
    """
    reward = view.get(*TRAIN)
    assert reward is not None
    if len(reward) < 3 * LEAST:
        return None
    each = reward
    if reward.metric in SINGLE:
        reward = averaged(reward, min(params.episodes, len(reward) // (3 * LEAST)))
    greedy = "epsilon_greedy" in traits_of(view.algorithm)
    best = collapsed(reward, params.lost_greedy if greedy else params.lost, params)
    if any(rises(p) for p in view.family("env/curriculum").values()):
        return None
    if best is None:
        apart = None if greedy else came_apart(view, each, params)
        return None if apart is None else unless_harder(view, apart)
    size = params.rows
    opening, peak, now = reward.value[:size], reward.value[best : best + size], reward.value[-size:]
    gained, lost = compare(opening, peak).difference, -compare(peak, now).difference
    fallen = peak.mean() - (params.lost_greedy if greedy else params.lost) * gained
    over = persistent_onset(reward.step[best:], reward.value[best:] <= fallen, 3)
    end_of_peak = float(reward.step[best + size - 1])
    return unless_harder(
        view,
        Detection(
            message=f"return rose from {median(opening):.4g} to {peak.mean():.4g} and fell to {median(now):.4g}",
            onset=view.onset(end_of_peak, max(over[1], end_of_peak)) if over is not None else began(view, reward),
            metric=reward.metric,
            evidence={
                "opening": median(opening),
                "peak": float(peak.mean()),
                "recent": median(now),
                "lost_share": lost / gained,
            },
        ),
    )


def collapsed(reward: Points, share: float, params: Params) -> int | None:
    """Return where the best stretch of a return begins whose gain is lost, to `share` of it; None if it is not."""
    size, value = params.rows, reward.value
    means = np.convolve(value, np.ones(size) / size, mode="valid")
    best = int(np.argmax(means))
    opening, peak, now = value[:size], value[best : best + size], value[-size:]
    gained, lost = compare(opening, peak), compare(peak, now)
    if (
        best + 2 * size + len(reward) // 12 > len(reward)
        or gained.z < params.least_z
        or lost.z > -params.z
        or gained.z - lost.z < 2 * params.z
        or gained.difference <= 0
        or np.count_nonzero(np.diff(value)) < params.changes
    ):
        return None
    if -lost.difference < share * gained.difference or median(now) > peak.mean() - share * gained.difference:
        return None
    # A collapse is one way up and one way down; more swings of that size are noise or a cycle. Nor is it one while
    # the return climbs again.
    if climbing(reward, size) or count_swings(means, params.lost * gained.difference) > 2:
        return None
    return best


def came_apart(view: RunView, reward: Points, params: Params) -> Detection | None:
    """Return that all rows since some place lie below those just before it, where the return began or lower."""
    size, value = params.rows * (2 if reward.metric in SINGLE else 1), reward.value
    least = max(2 * size, value.size // 8)
    if value.size < 2 * size + least or np.count_nonzero(np.diff(value)) < params.changes:
        return None
    if quantile(value[-least:], 0.9) >= quantile(value[:-least], 0.9):
        return None
    opening, found = median(value[:size]), (0.0, 0)
    for place in range(2 * size, value.size - least + 1, max(1, size // 4)):
        before = value[place - size : place]
        found = max(found, (quantile(before, 0.1) - quantile(value[place:], 0.9), place))
    place = found[1]
    if not place:
        return None
    peak, now = median(value[place - size : place]), median(value[place:])
    gain = peak - opening
    if gain < params.gained * abs(opening) or peak - now < params.apart * gain or gain <= 0:
        return None
    at = value[place - size : place] >= quantile(value[place - size : place], 0.1)
    high = place - size + int(np.flatnonzero(at)[-1])
    return Detection(
        message=f"return rose from {opening:.4g} to {peak:.4g} and fell to {now:.4g}",
        onset=view.onset(float(reward.step[high]), float(reward.step[place])),
        metric=reward.metric,
        evidence={"opening": opening, "peak": peak, "recent": now, "lost_share": (peak - now) / gain},
    )


def climbing(reward: Points, size: int) -> bool:
    """Whether the return rises again, over the last rows or over a tenth of the run."""
    tail = max(2 * size, len(reward) // 10)
    return any(linear_trend(reward.step[-n:], reward.value[-n:]).z > z for n, z in ((size, 3.0), (tail, 2.0)))


def averaged(reward: Points, count: int) -> Points:
    """Return the means of `count` rows on end, each at the step of its last row; rows left over at the start go."""
    if count <= 1:
        return reward
    blocks = len(reward) // count
    cut = len(reward) - blocks * count
    value = reward.value[cut:].reshape(blocks, count).mean(axis=1)
    return replace(reward, step=reward.step[cut:][count - 1 :: count], value=value)
