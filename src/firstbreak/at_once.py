"""A run held against its own past: several metrics that move at once, each further than it ever has in this run.

Learning moves metrics slowly, or one kind of them at a time; what breaks in mid-run moves many in the same row. How far
a metric moves from one row to the next is measured by the record of its own earlier moves, so no unit, no threshold and
no other run is asked for, and it does not matter which fault it is. Metrics that follow from one another count once
(`FAMILIES`). What moved first names the link: a setting, weights or the world's answers before all else, then what is
further out in the loop. Returns, lengths and visited states follow from everything, and name none.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from .finding import LOOP, Detection, Link, Skip
from .series import Confidence, Floats, Series
from .stats import record_moves_of_each
from .view import BUDGET, Points, RunView
from .vocabulary import metrics

STAYS = 3
"""Rows in a row that stay beyond the record: two odd batches are no change. Engineering default."""
ROWS = 26
"""Rows of a metric before it is asked about: so many say what is usual. Engineering default."""
LEAST = 1.3
"""Times its record that a metric moves to count. Calibrated with EVIDENCE; between 1.2 and 2 little changes."""
MOST = 30.0
"""Times its record that a family counts for at most: none is to stand for all. Calibrated with EVIDENCE; 10 and 100
serve as well."""
FROM_REST = 5.0
"""What a metric counts for that had never moved: a first success breaks no record. Calibrated with EVIDENCE."""
EVIDENCE = 150.0
"""Least product of the families' factors. If moves have tails as heavy as 1/x, the next exceeds f times the record of
n by a chance of about 1 / (n f); the product bounds the joint chance. Calibrated on the development half of the fault
benchmark and the recorded live campaigns (corpus of 2026-11-25): none of 89 unbroken twins, 1 of 337 healthy runs and
2 of 298 hard negatives reach it; 120 to 180 differ by four faults of 334."""
LEAST_FAMILIES = 2
"""Families that must have moved."""
ROUNDING = 1e-6
"""Moves up to which a metric is at rest: sums that are 0 by construction move by rounding."""
SPEAKS = 2.0
"""Times its record that a metric moves to name the link. Engineering default."""
SURE = 5.0
"""The same of a setting and of what the world answers: models that are fitted on the way err by chance. Calibrated
as EVIDENCE: a healthy policy that goes somewhere new reaches 4.3."""
THROWN = 10.0
"""The same of the size of weights and of their distance from the target's, which steps move. Engineering default."""
OUTSIDE = 0.3
"""Change between two updates over the norm of the weights that throws them: as `weights-changed-outside` has it."""
FOLLOWS = 10
"""Rows within which a policy whose weights were thrown goes where it never was: models of the world follow within as
many."""

FAMILIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("world", ("env/dynamics_surprise", "env/predicted_frac", "env/action_response", "env/contradicted_frac",
               "env/held_frac", "obs/constant_frac")),
    ("states", ("obs/",)),
    ("prompts", ("data/", "seq/prompt", "prompt/")),
    ("outcome", ("reward/episode", "reward/train", "reward/rollout_mean", "reward/component", "reward/success",
                 "reward/env_mean", "reward/step_mean", "reward/final", "reward/true", "episode/", "group/")),
    ("reward", ("reward/",)),
    ("temperature", ("sac/alpha_loss", "optim/alpha_grad_norm")),
    ("setting", ("dqn/epsilon", "policy/ent_coef", "policy/clip_range", "policy/kl_coef", "policy/mmd_coef",
                 "policy/loss_weight", "critic/discount", "critic/coef", "sac/alpha", "sac/target_entropy", "optim/lr",
                 "optim/actor_lr", "optim/critic_lr", "optim/alpha_lr")),
    ("errors", ("critic/loss", "critic/td_error", "optim/critic_grad_norm", "optim/loss_total", "optim/grad_norm")),
    ("fit", ("critic/explained_variance", "critic/value_corr", "critic/value_slope", "critic/value_bias")),
    ("critic weights", ("critic/target_delta", "critic/weight_delta", "critic/value_delta")),
    ("twins", ("critic/twin",)),
    ("values", ("critic/", "return/")),
    ("advantage", ("advantage/",)),
    ("step", ("policy/kl", "policy/ratio", "policy/ess", "policy/clip", "policy/exponent", "policy/mmd",
              "policy/advantage_follow", "policy/loss_total", "optim/second_moment")),
    ("policy weights", ("net/", "optim/weight_delta", "optim/outside_change_frac")),
    ("certainty", ("policy/entropy", "policy/logprob", "policy/action_std", "policy/saturation", "policy/logit")),
    ("answers", ("seq/", "tool/")),
)  # fmt: skip
"""What follows from one another, by the beginnings of names; the first that fits counts. Others are of a family of the
word before their stroke."""
SILENT = ("outcome", "states", "prompts")
"""Families that name no link: what happens, and where the policy goes, follows from whatever broke."""
LINKS = {"policy weights": Link.POLICY_UPDATE, "certainty": Link.EXPLORATION}
"""The link of families whose metrics the vocabulary files under several."""
SHRINKS_WELL = ("errors", "advantage", "return/std")
"""What is smaller the better things go."""
RISES_WELL = ("reward/episode_return_mean", "reward/episode_return_min", "reward/episode_return_max",
              "reward/step_mean", "reward/train_mean", "reward/success_rate", "episode/success_rate")  # fmt: skip
"""What is higher the better things go, and takes all else with it."""
SURPRISED = ("advantage", "values")
"""What a first success moves as far as any fault: it counts as what had never moved does."""
LEFT_OUT = ("optim/n_updates", "replay/size", "episode/count", "eval/", "time/", "obs/stuck_frac",
            "env/dynamics_bias", "env/restart_frac", "env/ends_inside_frac")  # fmt: skip
"""Counters, what is measured so rarely that a row says little of when, and what is measured by a record already."""


@dataclass(frozen=True)
class Move:
    """A metric that moved in (lo, hi] from `before` to `now`, `factor` times its record."""

    metric: str
    family: str
    link: Link
    lo: float
    hi: float
    factor: float
    before: float
    now: float

    @property
    def counts(self) -> float:
        """What it counts for."""
        rose = self.family in SURPRISED and abs(self.now) > abs(self.before)
        return min(self.factor, FROM_REST if rose else MOST) if math.isfinite(self.factor) else FROM_REST

    @property
    def good(self) -> bool:
        """Whether it is a fit or an error that became better."""
        if self.metric == "critic/explained_variance":
            return self.now > self.before
        return (self.family in SHRINKS_WELL or self.metric in SHRINKS_WELL) and abs(self.now) < abs(self.before)


@dataclass(frozen=True)
class Break:
    """The moves of one moment, and of them the one that names the link."""

    leader: Move
    moves: tuple[Move, ...]
    evidence: float

    @property
    def families(self) -> tuple[str, ...]:
        """The families that moved, in the order of the loop."""
        order = [name for name, _ in FAMILIES]
        known = sorted({m.family for m in self.moves})
        return tuple(sorted(known, key=lambda name: order.index(name) if name in order else len(order)))


@lru_cache(maxsize=1024)
def family_of(metric: str) -> str:
    """Return the family of a canonical metric."""
    return next((name for name, starts in FAMILIES if metric.startswith(starts)), metric.split("/", 1)[0])


def link_of(metric: str) -> Link:
    """Return the link that a canonical metric speaks of here."""
    return LINKS.get(family_of(metric), Link(metrics()[metric].link))


def moves_of(points: Points) -> tuple[Move, ...]:
    """Return the moves of one metric that break its record.

    A move and its record say nothing of what comes later: those of a prefix are the first of the whole series'.
    """
    if not points.opening:
        return _moves(points.metric, points.step, points.value, _records([points.value])[0])
    found = points.source.once(_opening_moves)
    return tuple(move for place, move in found if place + STAYS <= len(points))


def _opening_moves(series: Series) -> tuple[tuple[int, Move], ...]:
    """Return the moves among as many points as a view shows without leaving any out, each with its place."""
    step, value = (part if series.finite is None else part[series.finite] for part in (series.step, series.value))
    found = _records([value[:BUDGET]])[0]
    return tuple(zip(found[0], _moves(series.metric, step, value, found), strict=True))


def _records(values: Sequence[Floats]) -> list[tuple[list[int], list[float]]]:
    return record_moves_of_each(values, stays=STAYS, rows=ROWS, floor=ROUNDING, least=LEAST)


def _moves(metric: str, step: Floats, value: Floats, found: tuple[list[int], list[float]]) -> tuple[Move, ...]:
    """Return the moves of a metric with values [n] at `step` [n], of which `found` says where and how far."""
    family, link = family_of(metric), link_of(metric)
    return tuple(
        Move(metric, family, link, step.item(at - 1), step.item(at), factor, value.item(at - 1), value.item(at))
        for at, factor in zip(*found, strict=True)
    )


def break_of(view: RunView) -> Break | None:
    """Return the first moment of `view` at which more moves at once than chance or success explain."""
    looked = view.once(_looked_at)
    moves = [move for points in looked if points.opening for move in points.once(moves_of)]
    late = [points for points in looked if not points.opening]
    for points, found in zip(late, _records([points.value for points in late]), strict=True):
        moves += _moves(points.metric, points.step, points.value, found)
    moves.sort(key=lambda m: (m.hi, m.lo, m.metric))
    ends, widest = [m.hi for m in moves], max((m.hi - m.lo for m in moves), default=0.0)
    for place, first in enumerate(moves):
        near = moves[place : bisect_right(ends, first.hi + 3 * widest)]  # none further on can begin so early
        together = [m for m in near if m.lo < first.hi + max(first.hi - first.lo, m.hi - m.lo)]
        best: dict[str, float] = {}
        for move in together:
            if not move.good:
                best[move.family] = max(best.get(move.family, 0.0), move.counts)
        evidence = math.prod(best.values())
        if evidence < EVIDENCE or len(best) < LEAST_FAMILIES or excused(together):
            continue
        leader = leader_of(together)
        if leader is not None:
            return Break(leader, tuple(together), evidence)
    return None


def excused(moves: Sequence[Move]) -> bool:
    """Whether other prompts, or a success, moved all this."""
    if any(m.family == "prompts" for m in moves):
        return True
    rises = any(m.metric in RISES_WELL and m.now > m.before for m in moves)
    return rises and not any(m.family == "world" and m.counts >= SURE for m in moves)


def leader_of(moves: Sequence[Move]) -> Move | None:
    """Return the move that names the link; None where returns fell with the critic, and either may have come first."""
    speak = [m for m in moves if m.family not in SILENT and m.counts >= SPEAKS and not m.good]
    first = min((m.hi for m in speak), default=math.nan)
    tied = [m for m in speak if m.lo < first]
    settings = [m for m in tied if m.family == "setting" and m.counts >= SURE]
    if settings:
        return max(settings, key=lambda m: (m.metric == "optim/lr", m.counts))
    thrown = [m for m in tied if m.metric in ("net/weight_norm", "critic/target_delta") and m.factor >= THROWN]
    if thrown:
        return max(thrown, key=lambda m: m.factor)
    # The row after is as early: a model that is fitted on the way sees a change once a whole row is of it.
    near = [m for m in speak if m.lo <= first]
    missed = max((m.counts for m in tied if m.family == "errors"), default=0.0)
    for family, bar in (("world", max(SURE, missed)), ("reward", SURE)):
        outer = [m for m in near if m.family == family]
        if any(m.counts >= bar for m in outer):
            return max(outer, key=lambda m: m.counts)
    inner = [m for m in tied if m.family != "world"]
    if not inner:
        return None
    leader = min(inner, key=lambda m: (LOOP.index(m.link), -m.counts))
    fell = any(m.family == "outcome" and m.counts >= SPEAKS and m.lo < first for m in moves)
    return None if fell and leader.link == Link.CRITIC else leader


def weights_thrown(view: RunView, step: float) -> bool:
    """Whether the weights were thrown in the row that holds `step`, or shortly before it.

    A policy that is suddenly another goes where nothing was learned of the world: what the world answers there is news,
    and no sign that it changed.
    """
    size, outside = view.get("net/weight_norm"), view.get("optim/outside_change_frac")
    thrown = [(m.lo, m.hi) for m in size.once(moves_of) if m.factor >= THROWN] if size is not None else []
    if outside is not None:
        places = outside.step[outside.value >= OUTSIDE]
        thrown += [(at - outside.cadence, at) for at in places.tolist()]
    return any(lo < step <= hi + FOLLOWS * (hi - lo) for lo, hi in thrown)


def moves_at_once(view: RunView, link: Link) -> Detection | Skip | None:
    """Answer for the rule of `link`: whether much moved at once, and a metric of this link first."""
    if link not in {link_of(points.metric) for points in view.once(_looked_at)}:  # nothing of it was seen to rest
        return Skip(f"needs more than {ROWS + STAYS} rows of a metric of {link} to say what is usual in this run")
    found = view.once(break_of)
    if found is None or found.leader.link != link:
        return None
    one = found.leader
    others = sorted({m.metric for m in found.moves} - {one.metric})
    times = f"{one.factor:.3g} times its largest move before" if math.isfinite(one.factor) else "after resting"
    return Detection(
        message=f"{one.metric} moved {times}, and with it {_listed(found.families, one.family)}",
        onset=view.onset(one.lo, one.hi),
        metric=one.metric,
        evidence={
            "before": one.before,
            "now": one.now,
            "evidence": round(found.evidence),
            "kinds": ", ".join(found.families),
            "moved_with_it": ", ".join(others[:8]),
        },
    )


def _listed(families: Sequence[str], own: str) -> str:
    """Name at most three families beside the leader's own."""
    others = [name for name in families if name != own]
    return ", ".join(others[:3]) + (f" and {len(others) - 3} more kinds" if len(others) > 3 else "")


def _looked_at(view: RunView) -> tuple[Points, ...]:
    """Return the metrics of the whole run that are known for what they are and do not time the machine."""
    judged = _judged()
    found = [points for name in view.metrics if name in judged and (points := view.get(name)) is not None]
    long = [points for points in found if len(points) > ROWS + STAYS]
    return tuple(points for points in long if points.source.confidence is not Confidence.GUESS)


@cache
def _judged() -> frozenset[str]:
    """Return the metrics that may break their record: all but what times the machine, and `LEFT_OUT`."""
    return frozenset(
        name for name, spec in metrics().items() if spec.link != Link.SYSTEM_RESOURCES and not name.startswith(LEFT_OUT)
    )
