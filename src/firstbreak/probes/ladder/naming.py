"""From a wrong answer to the mistake that leads to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...check import LONGEST_MESSAGE
from ...finding import Component, Link
from ..environments.world import Kind
from .outcome import Outcome
from .reading import Reading, apart, beats_chance
from .rung import Answers, Rung

NEARER = 0.5
"""A wrong answer names the mistake when it is at most half as far as the right one."""
HARDLY_TRIED = 5
"""A right action tried fewer times than this was never given a chance."""
SAME = 1e-6
"""Two trainings of different length on one seed that agree to this have not moved any parameter."""

CHAIN = 0.02
"""Two factors, or two values of about 1, that differ by less than this are the same to a learner."""


@dataclass(frozen=True)
class Mistake:
    """The mistake in words, and where it lies; no component means the rung's own."""

    says: str
    message: str
    component: Component | None = None
    link: Link | None = None


def show(numbers: Sequence[float]) -> str:
    """Return numbers as a report prints them."""
    return ", ".join(f"{x:.3g}" for x in numbers)


def name_mistake(
    rung: Rung, kind: Kind, outcomes: Sequence[Outcome], readings: Sequence[Reading], answers: Answers
) -> Mistake:
    """Return the mistake that the last answer belongs to, or what can be said without a name."""
    reading = readings[-1]
    if not reading.finite:
        return _said(rung, reading, answers, "a number is not finite (a division by zero?)", None, Link.NUMERICS)
    if rung.asks == "choice":
        return _choice(rung, kind, outcomes, readings, answers)
    near = [(apart(w.answer, reading.obtained), w) for w in answers.wrong]
    near = [(d, w) for d, w in near if d <= NEARER * reading.distance]
    zero = bool(near) and not any(min(near, key=lambda pair: pair[0])[1].answer)
    still = len(readings) > 1 and apart(readings[0].obtained, readings[1].obtained) < SAME
    if (
        still and rung.asks != "return" and not rung.needs and (zero or not near)
    ):  # exact fixed points agree too, but those have other names
        part = "critic" if rung.asks == "value" else "policy"
        return _said(rung, reading, answers, f"the {part} never moves", Component.OPTIMISER, None)
    own = _own_discount(rung, reading)
    if own is not None and all(distance > CHAIN for distance, _ in near):
        return _said(rung, reading, answers, f"values are discounted by {own:.3g} a step", None, None)
    if not near:
        return _said(rung, reading, answers, f"no named mistake; the rung adds {rung.adds}", None, None)
    wrong = min(near, key=lambda pair: pair[0])[1]
    return _said(rung, reading, answers, wrong.says, wrong.component, wrong.link)


def _own_discount(rung: Rung, reading: Reading) -> float | None:
    """The discount of a chain of three values that fall by one and the same factor; None where they do not."""
    if not rung.tells_gamma or len(reading.obtained) != 3:
        return None
    first, middle, last = reading.obtained
    if not (last > 0.5 and middle > CHAIN and 0.0 < middle / last < 1.0):
        return None
    return middle / last if abs(first / middle - middle / last) < CHAIN else None


def _said(
    rung: Rung, reading: Reading, answers: Answers, says: str, component: Component | None, link: Link | None
) -> Mistake:
    quantity = {"value": "V", "choice": "chosen", "action": "action", "return": "logged return"}[rung.asks]
    message = f"{quantity} is {show(reading.obtained)}, not {show(answers.right)}: {says}"
    return Mistake(says, message[:LONGEST_MESSAGE], component, link)


def _choice(
    rung: Rung, kind: Kind, outcomes: Sequence[Outcome], readings: Sequence[Reading], answers: Answers
) -> Mistake:
    reading, outcome = readings[-1], outcomes[-1]
    worst = min(range(len(reading.shares)), key=lambda i: reading.shares[i])
    state, right, share = rung.judged[worst], int(answers.right[worst]), reading.shares[worst]
    tried = outcome.tried.get(f"{state},{right}", 0)
    inside = sum(n for key, n in outcome.tried.items() if key.startswith(f"{state},"))
    chance = 1.0 / rung.world.cells
    opening = f"right action in {share:.0%} of draws, by chance {chance:.0%}"
    if inside and tried < HARDLY_TRIED:
        says = f"the right action was tried {tried} times in {inside} steps"
        return Mistake(says, f"{opening}: {says}"[:LONGEST_MESSAGE], Component.SAMPLER, Link.EXPLORATION)
    named = [w for w in answers.wrong if w.answer == reading.obtained]
    below = 1.0 - share > beats_chance(1.0 - chance, len(outcome.drawn[state]))
    if below and named:
        wrong = named[0]
        return Mistake(wrong.says, f"{opening}: {wrong.says}"[:LONGEST_MESSAGE], wrong.component, wrong.link)
    if not below and share <= beats_chance(chance, len(outcome.drawn[state])):
        says = "the policy stays at chance: no gradient reaches the actor"
        return Mistake(says, f"{opening}: {says}"[:LONGEST_MESSAGE])
    says = f"{kind} choice is not right in state {state}; the rung adds {rung.adds}"
    return Mistake(says, f"{opening}: {says}"[:LONGEST_MESSAGE])
