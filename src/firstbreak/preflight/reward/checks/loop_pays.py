"""The check `loop-pays`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..loops import best_loop
from ..sample import RewardSample


@check(
    "PRW038",
    "loop-pays",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Pay each checkpoint once per episode, or pay the change of a potential instead.",
    explained_by=("living-bonus-outweighs-goal",),
)
def look(sample: RewardSample) -> Answer:
    """Going round in a loop of states earns more than finishing the task.

    What is measured:
        In worlds whose states come back (cells, not real numbers): the loop with the largest mean reward per step,
        counting only what a transition paid from its second time in an episode on. Its worth over the time limit,
        discounted, is compared with the highest reward of a step that terminates.

    Why it hurts:
        The best policy circles for ever: the boat that collects targets and never finishes the race.

    Usual causes:
        Checkpoints that pay each time; progress that is paid and going back that costs nothing.

    What to try:
        Let the bonus be paid once; use potential-based shaping, whose sum over a loop is not positive.

    When it is harmless:
        When circling is the task.

    References:
        Clark & Amodei 2016 (CoastRunners); Karp 1978 (maximum mean cycle); Ng, Harada & Russell 1999.
    """
    if not sample.stepwise or sample.terminated is None or sample.observations is None:
        return Skip("no observations and ends of episodes")
    skip = too_few(sample)
    if skip is not None:
        return skip
    ends = sample.rewards[sample.terminated]
    if not ends.size:
        return Skip("no episode was terminated", ("episodes that reach the goal",))
    loop = best_loop(sample)
    if loop is None:
        return Skip("states do not come back")
    goal = float(ends.max())
    if loop.per_step <= 1e-9 or goal <= loop.per_step:
        return None
    limit = sample.time_limit or max(s.stop - s.start for s in sample.slices)
    g = sample.gamma
    circling = loop.per_step * (limit if g == 1 else (1 - g**limit) / (1 - g))
    if circling <= goal:
        return None
    return Symptom(
        f"a loop of states pays {loop.per_step:.3g} per step, {circling:.3g} over {limit} steps; "
        f"finishing pays {goal:.3g}",
        "reward",
        {"per_step": loop.per_step, "circling": circling, "goal": goal, "steps": limit, "states": loop.states},
    )
