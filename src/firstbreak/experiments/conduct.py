"""`Conduct`: one experiment from its first trial to its verdict."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..isolation import Limits
from .experiment import Experiment, Measures, Pair, Side
from .judging import Schedule, look, proven, schedule, still_needed, verdict
from .plan import Plan, differences
from .result import Look, Outcome, Result, Why
from .running.executor import Executor, Job, Order
from .saying import say
from .trial import BOTH, CHANGED, CONTROL, Ended

MOST_FAILED_FRAC = 1 / 3
"""Share of an arm's trials that may fail. Above it the trials that are left say little about those that are not.
Engineering default."""


@dataclass(frozen=True)
class Progress:
    """Told after each trial: how it ended, how many are done, and how many there will be as far as is known."""

    ended: Ended
    done: int
    planned: int
    seconds: float


class _OverError(Exception):
    """Raised within `Conduct` when nothing more can be concluded; carries why, and the reason in words."""

    def __init__(self, why: Why, words: str) -> None:
        super().__init__(words)
        self.why, self.words = why, words


class _ProvenError(Exception):
    """Raised while trials run, when one of them has proved the hypothesis: the others are stopped."""


class Conduct:
    """Runs trials, looks, and stops as early as the plan allows."""

    def __init__(
        self,
        one: Experiment,
        made: Plan,
        executor: Executor,
        limits: Limits,
        seconds: float | None = None,
        tell: Callable[[Progress], None] | None = None,
        seeds: int | None = None,
    ) -> None:
        self.one, self.plan, self.executor, self.seeds = one, made, executor, seeds
        self.job = Job(one.address, made.subject, limits)
        self.seconds, self.tell = seconds, tell
        self.start = time.monotonic()
        self.ended: list[Ended] = []
        self.looks: list[Look] = []
        self.margin = made.margin
        self.planned = made.pilot * (1 if one.together else 2)

    def go(self) -> Result:
        """Carry the plan out."""
        try:
            return self._through()
        except _OverError as over:
            return self._result(Outcome.INCONCLUSIVE, over.why, over.words)

    def interrupted(self) -> Result:
        """Return what is known after Ctrl-C."""
        return self._result(Outcome.INCONCLUSIVE, Why.INTERRUPTED, "Interrupted before a verdict.")

    def _through(self) -> Result:
        first = self.seeds or self.plan.pilot
        self._trials(self._seeds(first), CONTROL)
        self._insist_on_symptom()
        self._trials(self._seeds(first), CHANGED)
        self._insist_on_one_variable()
        self._settle_margin()
        if self._proven():
            self._look(self.plan.alpha)
            return self._result(Outcome.CONFIRMED, Why.DECIDED)
        effects = self.effects()
        assert self.margin is not None
        steps = (
            Schedule((len(effects),), self.plan.alpha)
            if self.seeds
            else schedule(effects, self.margin, most=self.plan.most, alpha=self.plan.alpha, power=self.plan.power)
        )
        blind = ""
        for at in steps.looks:
            self.planned = at * (1 if self.one.together else 2)
            self._reach(at)
            found = self._look(steps.level)
            blind = self._insensitive() if found is Outcome.REFUTED else ""
            if found is not Outcome.INCONCLUSIVE and not blind:
                return self._result(found, Why.DECIDED)
        if blind:
            return self._result(Outcome.INCONCLUSIVE, Why.NOT_SENSITIVE, blind)
        return self._result(Outcome.INCONCLUSIVE, Why.TOO_FEW_SEEDS, needed=self._needed())

    # ---- trials -------------------------------------------------------------------------------------------------

    def _seeds(self, upto: int) -> list[int]:
        return [self.plan.first_seed + i for i in range(upto)]

    def _trials(self, seeds: Sequence[int], arm: str) -> None:
        """Run the trials of one arm (of both where they are measured together) that have not been run yet."""
        arm = BOTH if self.one.together else arm
        known = {(e.arm, e.seed) for e in self.ended}
        wanted: list[Order] = [(self._arm_of(s, arm), s) for s in seeds]
        orders = [] if self._proven() else [order for order in wanted if order not in known]
        if orders and self.seconds is not None and time.monotonic() - self.start > self.seconds:
            raise _OverError(
                Why.OUT_OF_TIME,
                f"The {self.seconds:g} s that were granted are over; run again, "
                "with a larger --budget, it starts anew.",
            )
        before = len(self.ended)
        if orders:
            with contextlib.suppress(_ProvenError):
                self.executor.run(self.job, orders, self._heard)
        self._insist_on_trials(arm, self.ended[before:])

    def _arm_of(self, seed: int, arm: str) -> str:
        return CHANGED if self.one.control_once and seed != self.plan.first_seed else arm

    def _heard(self, ended: Ended) -> None:
        self.ended.append(ended)
        if self.tell is not None:
            done = len(self.ended)
            self.tell(Progress(ended, done, max(self.planned, done), time.monotonic() - self.start))
        if self._proven():
            raise _ProvenError

    def _proven(self) -> bool:
        """Whether a pair has shown what one pair proves, its control the symptom included."""
        if not self.plan.one_proves or self.margin is None:
            return False
        symptom = self.one.reading.symptom
        if not self.controls():
            return False
        shown = symptom is None or not symptom(self.controls(), self.plan.subject)
        return shown and proven(self.effects(), self.margin, self.one.reading.confirms)

    def _reach(self, pairs: int) -> None:
        lost = {e.seed for e in self.ended if not e.measured}
        seeds = self._seeds(pairs + len(lost))
        self._trials(seeds, CONTROL)
        self._trials(seeds, CHANGED)

    # ---- what must hold before anything is concluded ------------------------------------------------------------

    def _insist_on_trials(self, arm: str, fresh: Sequence[Ended]) -> None:
        mine = [e for e in self.ended if self._arm_of(e.seed, arm) == e.arm]
        failed = [e for e in mine if not e.measured]
        few = len(mine) - len(failed) < 2 or not self.controls()
        if mine and not self._proven() and (len(failed) > MOST_FAILED_FRAC * len(mine) or few):
            first = next((e for e in fresh if not e.measured), failed[0] if failed else mine[0])
            where = "both arms" if arm == BOTH else f"the {arm} arm"
            words = f"{len(failed)} of {len(mine)} trials of {where} did not yield"
            raise _OverError(Why.TRIALS_FAILED, f"{words} a measurement; {first.how}: {first.message}")

    def _insist_on_symptom(self) -> None:
        controls = self.controls()
        prints = [e.fingerprint for e in self.ended if e.measured and e.fingerprint]
        if not self.one.reading.exact and len(prints) > 1 and len(set(prints)) == 1:
            words = f"The trainer did exactly the same with each of {len(prints)} seeds: it ignores the seed"
            raise _OverError(
                Why.SEED_IGNORED, f"{words} (or nothing in it is random), so that nothing can be repeated."
            )
        shows = "" if self.one.reading.symptom is None else self.one.reading.symptom(controls, self.plan.subject)
        if shows:
            raise _OverError(Why.NOT_REPRODUCED, f"The control does not show the symptom: {shows}")

    def _insist_on_one_variable(self) -> None:
        used = self._used()
        if {CONTROL, CHANGED} <= set(used):
            found = [d for d in differences(used[CONTROL], used[CHANGED]) if d.split(".")[0] != self.plan.changes]
            if found:
                words = f"The arms turned out to differ in {', '.join(found)} as well as in {self.plan.changes}"
                raise _OverError(Why.TWO_DIFFERENCES, f"{words}: neither can be convicted.")

    def _settle_margin(self) -> None:
        if self.margin is None:
            rule = self.one.reading.margin
            self.margin = float(rule if isinstance(rule, int | float) else rule(self.pairs(), self.plan.subject))

    # ---- what is known ------------------------------------------------------------------------------------------

    def controls(self) -> list[Measures]:
        """The control's measures of every seed that yielded some."""
        mine = [e for e in self.ended if e.measured and e.arm in (CONTROL, BOTH)]
        return [e.measures[CONTROL] if e.arm == BOTH else e.measures for e in sorted(mine, key=lambda e: e.seed)]

    def pairs(self) -> list[Pair]:
        """Every seed for which both arms yielded numbers, in order."""
        good = [e for e in self.ended if e.measured]
        both = {e.seed: (e.measures[CONTROL], e.measures[CHANGED]) for e in good if e.arm == BOTH}
        changed = {e.seed: e.measures for e in good if e.arm == CHANGED}
        for e in good:
            if e.arm == CONTROL and e.seed in changed:
                both[e.seed] = (e.measures, changed[e.seed])
        if self.one.control_once and both:
            shared = both[self.plan.first_seed][0]
            both |= {seed: (shared, measures) for seed, measures in changed.items()}
        return [Pair(seed, *both[seed]) for seed in sorted(both)]

    def effects(self) -> list[float]:
        """The effect of each pair."""
        return [float(self.one.reading.effect(p.control, p.changed)) for p in self.pairs()]

    def _used(self) -> dict[str, Mapping[str, Any]]:
        return {e.arm: e.used for e in reversed(self.ended) if e.measured}

    def _look(self, level: float) -> Outcome:
        assert self.margin is not None
        self.looks.append(look(self.effects(), self.margin, level))
        return verdict(self.looks[-1], self.margin, self.one.reading.confirms)

    def _insensitive(self) -> str:
        """Return why the experiment could not have seen the effect that it misses; "" where it could."""
        ask = self.one.reading.sensitive
        return "" if ask is None else ask(self.effects(), self.plan.subject)

    def _needed(self) -> int:
        assert self.margin is not None
        confirms: Side = self.one.reading.confirms
        return still_needed(self.effects(), self.margin, confirms, alpha=self.plan.alpha, power=self.plan.power)

    def _result(self, outcome: Outcome, why: Why, words: str = "", needed: int | None = None) -> Result:
        pairs = self.pairs()
        notes = dict.fromkeys(note for e in self.ended for note in e.notes)
        if self.one.control_once and len(pairs) > 1:
            notes[f"The control was measured with seed {self.plan.first_seed} alone; the other seeds share it."] = None
        first = next((e.seconds for e in self.ended), None)
        result = Result(
            plan=replace(
                self.plan, seconds=None if first is None else first * self.plan.pilot * (1 if self.one.together else 2)
            ),
            outcome=outcome,
            why=why,
            words=words,
            pairs=tuple(pairs),
            effects=tuple(self.effects()),
            margin=self.margin,
            looks=tuple(self.looks),
            seeds_needed=needed,
            troubles=tuple(e for e in self.ended if not e.measured),
            controls=tuple(self.controls()),
            used=self._used(),
            notes=tuple(notes),
            trials=len(self.ended),
            seconds=time.monotonic() - self.start,
            cpu_s=sum(e.seconds for e in self.ended),
            env_steps=sum(e.env_steps for e in self.ended),
        )
        return result if words else replace(result, words=say(result))
