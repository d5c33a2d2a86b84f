"""Judging a rung: try, try longer and on a second seed, then name the mistake that the answer belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...check import Answer, Symptom
from ...finding import Component, Link, Number, Skip
from ..environments.world import Kind
from .by_return import LOG, as_return, only_logged, returns_of, unfit
from .naming import name_mistake, show
from .outcome import Outcome
from .reading import Reading, read, tolerance
from .rung import Answers, Rung
from .settling import ROUNDS, Where, where_it_goes
from .soft import soft_values
from .telling import out_of_reach, tellable
from .trial import Order, Row, Trial

NOT_A_NUMBER = re.compile(r"\bnan\b|found invalid values|probability tensor contains", re.IGNORECASE)
"""How torch's distributions complain of parameters that are not numbers."""

GAMMA = "train(make_env, *, total_steps, seed, gamma)"
"""What lets the ladder set a discount of its own."""


@dataclass
class Tries:
    """The trainings of one rung on one action space."""

    outcomes: list[Outcome]
    readings: list[Reading]
    answers: Answers
    judged: tuple[int, ...]
    gamma: float = 0.99
    """The discount that the answers are for."""
    blurred: bool = False
    """Whether some mistake would look like the right answer with this discount."""


def judge(trial: Trial, rung: Rung) -> Answer:
    """Put `rung` to the trainer in each action space that it takes; the first fault is the answer."""
    below = [name for name in trial.failed if not trial.everything or name in rung.needs]
    if below:
        return Skip(f"the rung below is not passed: {below[0]}", (below[0],))
    ends = [_judge_kind(trial, rung, kind) for kind in rung.kinds]
    faults = [end for end in ends if isinstance(end, Symptom)]
    if faults:
        trial.fail(rung.name)
        return faults[0]
    skips = [end for end in ends if isinstance(end, Skip)]
    withheld = [skip for skip in skips if skip.withholds]
    if withheld:
        return withheld[0]
    return skips[0] if len(skips) == len(ends) else None


def _judge_kind(trial: Trial, rung: Rung, kind: Kind) -> Answer:
    tries = Tries([], [], Answers(()), ())
    where: Where = "approaching"
    for orders in ROUNDS:
        for outcome in trial.get([Order(rung.name, kind, trial.seed + k, factor) for factor, k in orders]):
            tries.outcomes.append(outcome)
            if only_logged(outcome) and rung.asks != "value":
                rung = as_return(rung)
            stop = _unusable(trial, rung, kind, outcome) or _take(trial, rung, tries, outcome)
            if stop is not None:
                return stop
        where = _where(rung, tries)
        if where != "approaching":
            break
        if len(tries.readings) > 1 and out_of_reach(rung, tries.gamma):
            return _not_asked(trial, rung, kind, tries)
    return _conclude(trial, rung, kind, tries, where)


WHOLE = "learns from whole episodes, and waits for the end of one that has none"
"""What is said of a trainer that stops on the rungs below and goes on where no episode ends."""


def _not_asked(trial: Trial, rung: Rung, kind: Kind, tries: Tries) -> Skip:
    """The trainer's own discount makes the answer too large; it is on its way there, which is all that can be seen."""
    right, obtained = show(tries.answers.right), [show(r.obtained[-1:]) for r in tries.readings]
    answer = show(tries.answers.right[-1:])
    says = f"with the trainer's own gamma of {tries.gamma:.3g} the answer is {answer}, out of reach"
    seconds = sum(o.seconds for o in tries.outcomes)
    trial.add(Row(rung.name, kind, "not asked", right, show(tries.readings[-1].obtained), seconds, says=says))
    return Skip(f"not asked to the end: {says}; on the way there: {', '.join(obtained)}", (GAMMA,))


def _unusable(trial: Trial, rung: Rung, kind: Kind, outcome: Outcome) -> Answer:
    """Return the answer that a training without a reading forces, or None."""
    if outcome.ended == "unasked":
        return Skip("a script shows no values", ("agent.value(obs)",))
    if outcome.finished:
        trial.taken.add(kind)
        return _unplayed(trial, rung, kind, outcome) if outcome.steps == 0 and outcome.log is None else None
    if outcome.ended == "unseen":
        trial.taken.add(kind)
        trial.add(Row(rung.name, kind, "cannot decide", seconds=outcome.seconds, says=outcome.message))
        trial.fail(rung.name)
        return Skip(f"cannot decide {rung.name}, {kind}: {outcome.message}", LOG, withholds=True)
    on_trial = rung.discrete is not None and kind == "discrete"  # MultiDiscrete: few trainers take it
    may_refuse = kind not in trial.taken or rung.asks == "action"  # one dimension does not promise two
    tried_others = bool(trial.taken) or kind != rung.kinds[-1] or outcome.undeclared
    refuses = outcome.refused and may_refuse and tried_others
    if refuses or on_trial:
        trial.refusals.append(outcome)
        trial.add(Row(rung.name, kind, "not asked", says=outcome.message))
        return Skip(f"does not take {kind} actions here: {outcome.message}"[:200])
    if outcome.ended == "never_stops" and kind in trial.taken and rung.world.never_ends:
        trial.add(Row(rung.name, kind, "not asked", seconds=outcome.seconds, says=WHOLE))
        return Skip(f"{WHOLE}: this rung does not concern it, a task without ends would")
    row = Row(rung.name, kind, "failed", seconds=outcome.seconds, steps=outcome.steps, says=outcome.message)
    trial.add(row)
    trial.fail(rung.name)
    if outcome.ended == "raised" and NOT_A_NUMBER.search(outcome.message):
        return _not_a_number(rung, outcome)
    trial.crashes.append(outcome)
    if outcome.ended == "too_slow":
        return Skip(f"{rung.name}, {kind}: {outcome.message} within the time limit", ("--time-limit",), withholds=True)
    return Skip(f"the training did not end well: {outcome.ended} in {outcome.call}", ("trainer-fails",), withholds=True)


def _unplayed(trial: Trial, rung: Rung, kind: Kind, outcome: Outcome) -> Symptom:
    """A training that never stepped its environments has nothing to be judged by."""
    trial.add(Row(rung.name, kind, "failed", seconds=outcome.seconds, says="no step was taken"))
    trial.fail(rung.name)
    return Symptom(
        "train returned without one step in an environment of make_env()",
        f"{rung.name}/{kind}",
        {"steps": 0},
        component=Component.ROLLOUT,
        link=Link.ENVIRONMENT_DATA,
    )


def _not_a_number(rung: Rung, outcome: Outcome) -> Symptom:
    """A distribution refuses NaN parameters: the training is wrong, not the machine."""
    equal = rung.name == "constant-value"
    says = "all advantages are equal: 0/0 without an epsilon?" if equal else f"the rung adds {rung.adds}"
    return Symptom(
        f"numbers became NaN after {outcome.steps} steps; {says}",
        f"{rung.name}/{outcome.kind}",
        {"raised": outcome.message, "steps": outcome.steps},
        component=Component.ADVANTAGE if equal else None,
        link=Link.NUMERICS,
    )


def _take(trial: Trial, rung: Rung, tries: Tries, outcome: Outcome) -> Answer:
    """Read `outcome`; return a Skip where the rung does not concern this trainer."""
    visited = {int(key.split(",")[0]) for key in outcome.tried} or set(rung.judged)
    if rung.concerns == "several_copies" and not _several_copies(rung, outcome):
        return Skip("the trainer trains on one environment only")
    gamma = outcome.gamma if outcome.gamma is not None else trial.gamma
    if gamma is None:
        gamma = _implied(rung, outcome)
    if gamma is None:
        gamma = 0.99  # what most trainers default to; only the names of wrong answers depend on it so far
    answers = rung.answers(gamma, bool(outcome.q))
    judged = tuple(s for s in rung.judged if s in visited)
    if rung.asks != "action" and len(judged) < len(rung.judged):
        keep = [rung.judged.index(s) for s in judged]
        answers = Answers(
            tuple(answers.right[i] for i in keep),
            tuple(replace(w, answer=tuple(w.answer[i] for i in keep)) for w in answers.wrong),
        )
    blurred = len(answers.wrong)
    answers = tellable(rung, answers)
    if not judged:
        return Skip("none of the judged states was visited", withholds=True)
    if rung.asks in ("action", "return"):
        answers = rung.for_kind(outcome.kind, answers)
    if rung.asks == "return":
        answers = returns_of(rung, outcome.kind, answers)
        stop = unfit(outcome, answers)
        if stop is not None:
            trial.fail(rung.name)
            return stop
    reading = read(rung, outcome, answers, judged)
    if reading is None:
        return Skip("the agent has no value(obs) and no q(obs, action)", ("agent.value(obs)",))
    tries.readings.append(reading)
    tries.answers, tries.judged, tries.gamma = answers, judged, gamma
    tries.blurred = len(answers.wrong) < blurred
    return None


def _several_copies(rung: Rung, outcome: Outcome) -> bool:
    """Whether copies of every kind were stepped alike; a copy for evaluation alone takes fewer steps."""
    kinds = len(rung.starts)
    width = rung.world.states // kinds
    shares = [0] * kinds
    for key, count in outcome.tried.items():
        shares[int(key.split(",")[0]) // width] += count
    return min(shares) > 0.8 * max(shares)


def _implied(rung: Rung, outcome: Outcome) -> float | None:
    """Return the discount that the values of a chain imply, where the rung has such a chain."""
    if not rung.tells_gamma:
        return None
    from .reading import values_of

    values = values_of(outcome)
    late, last = values.get(rung.judged[-2]), values.get(rung.judged[-1])
    if late is None or last is None or not last > 0.5:
        return None
    return min(max(late / last, 0.0), 1.0)


def _where(rung: Rung, tries: Tries) -> Where:
    if tries.readings[-1].right:
        return "right"
    if not all(r.finite for r in tries.readings):
        return "settled" if len(tries.readings) > 1 else "approaching"
    slack = 0.0 if rung.asks == "choice" else tolerance(rung, tries.answers)
    where = where_it_goes([r.distance for r in tries.readings], slack)
    return "approaching" if where == "right" else where


def _conclude(trial: Trial, rung: Rung, kind: Kind, tries: Tries, where: Where) -> Answer:
    last, reading = tries.outcomes[-1], tries.readings[-1]
    if trial.gamma is None and last.gamma is None and where == "right":
        trial.gamma = _implied(rung, last)
    row = Row(
        rung.name,
        kind,
        {"right": "right", "settled": "wrong", "approaching": "slow"}[where],
        show(tries.answers.right),
        show(reading.obtained),
        sum(o.seconds for o in tries.outcomes),
        last.steps,
    )
    if where == "right":
        trial.add(row)
        if rung.tells_gamma and tries.blurred:
            says = f"with the trainer's own gamma of {tries.gamma:.3g} a wrong discount would look the same"
            return Skip(f"right as far as can be told: {says}", (GAMMA,))
        return None
    soft = soft_values(rung, last, reading, tries.answers, tries.gamma) if where == "settled" else ""
    if soft:
        row.answer, row.says = "soft", soft
        trial.add(row)
        return Skip(f"{rung.name}, {kind}: right as far as can be told: {soft}", ("a temperature near 0",))
    mistake = name_mistake(rung, kind, tries.outcomes, tries.readings, tries.answers)
    row.says = mistake.says
    trial.add(row)
    if where == "approaching":
        trial.fail(rung.name)
        return Skip(
            f"{rung.name}, {kind}: still approaching {row.expected} after {last.steps} steps, at {row.obtained}",
            ("a larger learning rate or more steps",),
            withholds=True,
        )
    return Symptom(
        mistake.message,
        f"{rung.name}/{kind}",
        _evidence(rung, tries, mistake.says),
        component=mistake.component,
        link=mistake.link,
    )


def _evidence(rung: Rung, tries: Tries, says: str) -> dict[str, Number]:
    evidence: dict[str, Number] = {"adds": rung.adds, "mistake": says, "expected": show(tries.answers.right)}
    for outcome, reading in zip(tries.outcomes, tries.readings, strict=True):
        evidence[f"obtained_after_{outcome.steps}_steps_seed_{outcome.seed}"] = show(reading.obtained)
    gamma = tries.outcomes[-1].gamma
    if gamma is not None:
        evidence["gamma"] = gamma
    implied = _implied(rung, tries.outcomes[-1])
    if implied is not None:
        evidence["gamma_implied_by_values"] = round(implied, 3)
    return evidence
