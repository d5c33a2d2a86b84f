"""A rung judged by logged returns, where nobody saw the script's environments: what is the right return, what a wrong?

Environments in processes that do not inherit our mark (containers, clusters, cleaned environments) leave no record. The
returns that the script logs then stand for the policy: the last quarter is held against what the best policy, a random
one, and each named mistake would earn, all in closed form.
"""

from __future__ import annotations

from dataclasses import replace

from ...finding import Component, Link, Skip
from ..environments.returns import best_return, random_return, return_of_action, return_of_choice
from .outcome import Outcome
from .rung import Answers, Rung, Wrong

CLOSENESS_FRAC = 0.5
"""Nearer to the best policy's return than to any other that has a name: exploration costs the rest."""
SURE_ERRORS = 3.0
"""The mean must be known to a third of the tolerance; a return beyond the best by this many errors is impossible."""
LOG = ("reward/episode_return_mean",)


def only_logged(outcome: Outcome) -> bool:
    """Whether the returns that the script logged are all that is known of its policy."""
    return outcome.finished and outcome.steps == 0 and outcome.log is not None and outcome.log.late_return is not None


def as_return(rung: Rung) -> Rung:
    """Return `rung` with the question what an episode pays in the end."""
    return replace(rung, asks="return", closeness_frac=CLOSENESS_FRAC, tells_gamma=False)


def returns_of(rung: Rung, kind: str, answers: Answers) -> Answers:
    """Return the right and the wrong answers of `rung` as returns; those that pay alike share the first name."""
    space = "discrete" if kind == "discrete" else "continuous"
    world = rung.world
    best = best_return(world, space)
    chance = Wrong(
        (random_return(world, space),), "that is what chance earns: no gradient reaches the actor", Component.LOSS
    )
    wrong = [replace(chance, link=Link.POLICY_UPDATE)]
    for mistake in answers.wrong:
        if world.targets:
            paid = return_of_action(world, space, mistake.answer)
        else:
            cells = {s: int(c) for s, c in zip(rung.judged, mistake.answer, strict=True)}
            paid = return_of_choice(world, space, cells)
        if all(abs(paid - other.answer[0]) > 1e-9 for other in wrong) and paid < best - 1e-9:
            wrong.append(replace(mistake, answer=(paid,)))
    return Answers((best,), tuple(wrong))


def unfit(outcome: Outcome, answers: Answers) -> Skip | None:
    """Return why the logged returns cannot be held against `answers`: too uncertain, or not of this environment."""
    assert outcome.log is not None
    late = outcome.log.late_return
    assert late is not None
    best, paid = answers.right[0], [w.answer[0] for w in answers.wrong]
    tolerance = CLOSENESS_FRAC * min(best - p for p in paid)
    if late.mean > best + tolerance + SURE_ERRORS * late.error or late.mean < min(*paid, 0.0) - tolerance:
        words = f"the log's returns ({late.mean:.3g}) are none of this environment's, which pays {best:.3g} at most"
        return Skip(f"{words}: does the script use {{env_id}}?", LOG, withholds=True)
    if SURE_ERRORS * late.error > tolerance:
        words = f"the log's last returns scatter too much: {late.mean:.3g} +- {late.error:.2g} ({late.rows} rows)"
        return Skip(words, ("more rows of reward/episode_return_mean",), withholds=True)
    return None
