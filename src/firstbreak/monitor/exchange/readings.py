"""Whether steps follow from actions as they were handed over, or from what a slip on the way makes of them.

Between the place where the world watches and the task itself lie more layers: casts, clips, drivers, queues. What they
do to an action shows in no figure of the trainer, but in what follows from it: where the model that was learned of
earlier steps explains the newest ones by another reading of their actions far better than by the actions themselves,
that reading is what the task got.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import slips
from .columns import finite, mean, middle
from .predictor import LEAST_UNEXPLAINED
from .transitions import MOST_CHOICES, acting, expanded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .predictor import Predictor
    from .transitions import Floats

METRIC = "env/action_reread"
NUMBER = "env/action_reading"
TRIMMED = 8
"""One in so many steps, the worst, is left out: a contact or a reset follows from no action. Engineering choice."""
MOST = 16
"""Action entries; more cost too much."""
OFF, RIGHT, KNOWN = 0.7, 0.85, 8
"""A stretch of steps is told at once where its error under another reading is so small a part of the one as handed
over, and `KNOWN` stretches before, all of them, were above `RIGHT`."""
NEAR = 0.8
"""Gain of actions, or its inverse, that is as ever: cut, lost or turned, actions come to less. As `early.LEAST_LOG`."""
CHOSEN_NEAR = 0.6
"""The same of choices: another one does something else altogether, so that hardly anything is left of the gain."""
REACH = 0.16
"""Of the mean squared error, what a reading must move what follows by at least: what moves it by less than four tenths
of the error cannot bring it to six tenths, which is what the rule asks for (triangle inequality)."""
FARTHEST = 9.0
"""Times the mean square of what actions add to what is foreseen, that another reading of them moves it by at most: an
action and its opposite lie twice as far apart as either from none, 4 times; entries in reverse may add up where their
own cancel out: in 4 of 2,000 random worlds a reading counted that was 4 to 8 times as far (2026-11-26)."""
FARTHER = 1.5
"""Times that changes must be as large as foreseen, for a step to be asked whether it is several."""
SELDOM, MISSED = 4, 1.5
"""One row in so many is asked about time, too (late actions, several steps), and every one whose error is so many times
the usual: these cost as much as all other readings. Engineering choice: of the rows before that a rule asks for, some
are of each kind."""
FOLLOWS = 0.1
"""What of a row's error goes into the usual one. Engineering choice, as in `predictor`."""


@dataclass(frozen=True)
class Reading:
    """What came of asking whether steps follow from something else."""

    ratio: float
    """Error over that by the actions as handed over."""
    number: int
    places: NDArray[np.intp]
    """Which steps were asked [k]."""
    action: Floats
    """What their actions are read as [k, A]."""
    follows: Floats | None = None
    """What observations change by then [k, D], where it is not one step."""


class Readings:
    """Asks about rows, and every stretch of steps before a row is due."""

    def __init__(self) -> None:
        self._known, self._least = 0, np.inf
        self._gap = 0
        """Steps that lie between those of one copy."""
        self._many = 0
        """Choices that were ever made."""
        self._rows, self._usual = 0, np.inf
        """Rows so far, and their usual error."""

    def row(self, model: Predictor, inputs: Floats, action: Floats, change: Floats) -> dict[str, float]:
        """Return the error of a row's steps under the best other reading over that as handed over, and which it is."""
        if not model.knows or not finite(inputs, change):
            return {}
        missed = middle(np.sort(model.missed_by(change - model.says(inputs)))) ** 0.5
        long = self._rows % SELDOM == 0 or missed > MISSED * self._usual
        self._rows += 1
        self._usual = (
            missed if self._rows == 1 else (1 - FOLLOWS) * self._usual + FOLLOWS * min(missed, 2 * self._usual)
        )
        if action.shape[1] == MOST_CHOICES:
            self._many = max(self._many, slips.choices_of(action))
        tells = could_tell(model, inputs, action, change, missed, self._many)
        if not tells and not long:
            return {}
        if long and tells:
            self._gap = slips.behind(inputs[:, : change.shape[1]], change, self._gap)
        found = asked(model, inputs, action, change, self._gap, self._many, long=long, tells=tells)
        return {} if found is None else {METRIC: found[0], NUMBER: float(found[1])}

    def off(
        self, model: Predictor, inputs: Floats, action: Floats, change: Floats, said: tuple[float, float] | None
    ) -> bool:
        """Say whether a stretch follows from another reading of its actions as none before it did.

        Args:
            model: What was learned of the steps before.
            inputs: What `expanded` makes of observations and actions [m, P].
            action: [m, A].
            change: Of the observation [m, D].
            said: Its error and the gain of its actions (`Predictor.asked`): where the gain is as ever, readings are not
                asked, which would cost as much again as all else of a stretch. None: nothing is known yet.
        """
        if said is None:
            return False
        known = self._known >= KNOWN and self._least >= RIGHT
        self._known += 1
        near = CHOSEN_NEAR if action.shape[1] == MOST_CHOICES else NEAR
        if near < said[1] < 1 / near:
            return False
        tells = could_tell(model, inputs, action, change, said[0], self._many)
        if not tells and said[0] * OFF <= self._usual:  # several steps would leave less than is ever left
            return False
        found = asked(model, inputs, action, change, self._gap, self._many, tells=tells)
        self._least = self._least if found is None else min(self._least, found[0])
        return known and found is not None and found[0] <= OFF


def could_tell(model: Predictor, inputs: Floats, action: Floats, change: Floats, missed: float, many: int = 0) -> bool:
    """Say whether actions add enough to what is foreseen for any other reading of them to be worth asking about.

    Where next to nothing follows from actions, or too much of what follows is missed anyway, none can count: that is
    known from earlier rows, and costs a tenth of the question.

    Args:
        model: What was learned of the steps before.
        inputs: What `expanded` makes of observations and actions [m, P].
        action: [m, A].
        change: Of the observation [m, D].
        missed: Median error of these steps, in spreads of what changes.
        many: Choices that there are, where actions are choices.
    """
    places = acting(change, action)
    does, targets = model.does(places), change.shape[1]
    if action.shape[1] == MOST_CHOICES:
        share = mean(action)
        does = does - share @ does
        each: Floats = np.einsum("ij,ij->i", does, does) / targets
        moves = 2 * float(share @ each + each[:many].max(initial=0.0))
    else:
        own = inputs[:, places]
        together, alone = own @ does, mean(own * own) @ (does * does)
        moves = FARTHEST / targets * max(float(np.add.reduce(alone)), float(np.add.reduce(mean(together * together))))
    return moves >= REACH * (missed * missed + LEAST_UNEXPLAINED**2)


def asked(
    model: Predictor,
    inputs: Floats,
    action: Floats,
    change: Floats,
    gap: int = 0,
    many: int = 0,
    *,
    long: bool = True,
    tells: bool = True,
) -> tuple[float, int] | None:
    """Return the smallest error ratio over readings, and its number; None where nothing can be said.

    Args:
        model: What was learned of the steps before.
        inputs: What `expanded` makes of observations and actions [m, P].
        action: [m, A].
        change: Of the observation [m, D].
        gap: Steps that lie between those of one copy; 0: not known.
        many: Choices that there are, where actions are choices.
        long: Whether to ask about time, too.
        tells: Whether other actions can tell anything (`could_tell`); else only steps that are several are asked about.
    """
    choices = action.shape[1] == MOST_CHOICES
    several = many > 1 if choices else action.shape[1] <= MOST
    if not several or len(action) < TRIMMED or not finite(inputs, change) or _numbered(inputs[:, : change.shape[1]]):
        return None
    known = list[Reading]()
    if tells:
        numbers, others = slips.of_choices(action, many) if choices else slips.of_numbers(action)
        found = _read(model, inputs, change, action, others)
        if found is None:
            return None
        steps = np.arange(len(action))
        known += [
            Reading(float(ratio), int(number), steps, one)
            for number, ratio, one in zip(numbers, found, others, strict=True)
        ]
    if long:
        known += _behind(model, inputs, action, change, gap) if tells else []
        known += held_for(model, inputs, action, change)
    best = min((one for one in known if one.ratio < np.inf), key=lambda one: one.ratio, default=None)
    return None if best is None else (_beyond_state(model, inputs, change, best), best.number)


def _numbered(before: Floats) -> bool:
    """Whether observations are numbers of states: of these a straight line says nothing (a walk along a cliff)."""
    return before.shape[1] == 1 and bool((before == np.rint(before)).all())


def _read(model: Predictor, inputs: Floats, change: Floats, action: Floats, others: Floats) -> Floats | None:
    """Return the error ratio of each other reading [G]; infinite where it cannot be small. None: nothing is known."""
    read = others if action.shape[1] == MOST_CHOICES else np.concatenate([others, others * others], axis=2)
    found = model.read_as(inputs, change, acting(change, action), read)
    if found is None:
        return None
    errors, moves = trimmed(found[0]), found[1].mean(axis=1)
    return np.where(moves >= REACH * errors[0], np.sqrt(errors[1:] / errors[0]), np.inf)


def _behind(model: Predictor, inputs: Floats, action: Floats, change: Floats, gap: int) -> list[Reading]:
    """Ask whether what follows is that of actions of some steps before."""
    found = list[Reading]()
    before = inputs[:, : change.shape[1]]
    for number, steps in enumerate(slips.LATE if gap else ()):
        places = slips.late(before, change, gap, steps)
        if len(places) < TRIMMED:
            break
        other = action[places - steps * gap]
        ratio = _read(model, inputs[places], change[places], action[places], other[None])
        found += [] if ratio is None else [Reading(float(ratio[0]), slips.BEHIND + number, places, other)]
    return found


def held_for(model: Predictor, inputs: Floats, action: Floats, change: Floats) -> list[Reading]:
    """Ask whether what follows is that of several steps with the same action, where more follows than was foreseen."""
    at = inputs[:, : change.shape[1]]
    foreseen = model.says(inputs)
    missed, moved, own = (model.missed_by(one) for one in (change - foreseen, change, foreseen))
    along = float((moved + own - missed).sum()) / 2  # of what is foreseen, as |a - b|^2 = a^2 + b^2 - 2 a b
    if along < FARTHER * float(own.sum()):
        return []
    usual = float(trimmed(missed[None])[0])
    found, steps = list[Reading](), foreseen
    for times in range(2, slips.TIMES[-1] + 1):
        steps = steps + model.says(expanded(at + steps, action))
        if times in slips.TIMES and finite(steps):
            now = float(trimmed(model.missed_by(change - steps)[None])[0])
            number = slips.HELD + slips.TIMES.index(times)
            found.append(Reading((now / usual) ** 0.5, number, np.arange(len(at)), action, follows=steps))
    return found


def _beyond_state(model: Predictor, inputs: Floats, change: Floats, best: Reading) -> float:
    """Return the error ratio of a reading, of what no straight line through the observations explains, if it is larger.

    A policy that picks actions by the state alone makes of whatever the model has missed of the state an effect of
    actions: a car in a valley that is pushed to one side wherever the slope is steeper than was learned.
    """
    before, places = inputs[:, : change.shape[1]], best.places
    state = np.concatenate([np.ones((len(places), 1)), before[places]], axis=1)
    if best.ratio > OFF or 2 * state.shape[1] > len(places):
        return best.ratio
    basis = np.linalg.qr(state)[0]
    follows = model.says(expanded(before[places], best.action)) if best.follows is None else best.follows
    errors = (change[places] - model.says(inputs[places]), change[places] - follows)
    left = trimmed(np.stack([model.missed_by(one - basis @ (basis.T @ one)) for one in errors]))
    return max(best.ratio, float(left[1] / left[0]) ** 0.5)


def trimmed(missed: Floats) -> Floats:
    """Return the mean over steps of squared errors [G, m], but for the worst, and what always counts as unexplained."""
    return np.sort(missed, axis=1)[:, : -(missed.shape[1] // TRIMMED)].mean(axis=1) + LEAST_UNEXPLAINED**2
