"""PRB031: what the environments saw late in training, against what the trained agent does."""

from __future__ import annotations

from ...check import Answer, Symptom, check
from ...finding import Component, Link, Severity, Skip
from ..ladder.outcome import Outcome
from ..ladder.rungs import rungs
from ..ladder.trial import Trial

LEARNED_SHARE = 0.8
"""An agent that draws the right action this often has learned it."""
AT_CHANCE = 1.15
"""A behaviour below this multiple of chance is that of an untrained policy; the counts are in the hundreds or more, so
that their own error is a few per cent."""
FEWEST = 200
"""Fewer late steps than this in a state do not tell."""


@check(
    "PRB031",
    "behaviour-not-updated",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    fix="Give the collector the policy that is trained, or copy its weights after each update.",
    severity=Severity.ERROR,
)
def look(trial: Trial) -> Answer:
    """The agent has learned the right action, yet the environments saw an untrained policy to the end.

    **What is measured.** On the rungs with a right action: how often it was taken in the last quarter of the training,
    by the environments' own count, against how often the trained agent draws it.

    **Why it hurts.** The data never come from the policy that is improved; on harder tasks it learns nothing.

    **Usual causes.** The collector holds a copy of the first weights; exploration never falls.

    **What to try.** Compare a parameter of the collector's policy with the trained one after an update.

    **When it is harmless.** For an off-policy learner that explores at random on purpose; then it is a warning.

    References: own.
    """
    looked = False
    for outcome in trial.outcomes:
        rung = rungs()[outcome.rung]
        if not outcome.finished or rung.asks != "choice":
            continue
        chance = 1.0 / rung.world.cells
        right = rung.answers(outcome.gamma or 0.99, bool(outcome.q)).right
        for state, cell in zip(rung.judged, right, strict=True):
            late, agent = _late_share(outcome, state, int(cell)), _agent_share(outcome, state, int(cell))
            if late is None or agent is None or agent < LEARNED_SHARE:
                continue
            looked = True
            if late <= AT_CHANCE * chance:
                return Symptom(
                    f"right in {late:.0%} of late training steps (chance {chance:.0%}), {agent:.0%} in the agent",
                    f"{outcome.rung}/{outcome.kind}",
                    {"late_share_frac": late, "agent_share_frac": agent, "chance_frac": chance},
                    severity=Severity.WARNING if outcome.q else None,
                )
    return None if looked else Skip("no rung with a right action was learned", ("a policy that learns",))


def _late_share(outcome: Outcome, state: int, cell: int) -> float | None:
    inside = sum(n for key, n in outcome.late.items() if key.startswith(f"{state},"))
    return outcome.late.get(f"{state},{cell}", 0) / inside if inside >= FEWEST else None


def _agent_share(outcome: Outcome, state: int, cell: int) -> float | None:
    drawn = outcome.drawn.get(state)
    if not drawn:
        return None
    world = rungs()[outcome.rung].world
    kind = "discrete" if outcome.kind == "discrete" else "continuous"
    return sum(world.cell(kind, action) == cell for action in drawn) / len(drawn)
