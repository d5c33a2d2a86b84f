"""The words of a report: how numbers, onsets, verdicts and coverage read in plain English."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Sequence

from ..advice import asked_of, plays_episodes
from ..blame import whose_fault
from ..departure import LEAST_RUNS, leaders
from ..diagnosis import Advice, Diagnosis, RankedCause, Sight, Verdict
from ..finding import LOOP, Finding, Onset, Severity
from ..quieting import RETURNS
from ..readers.step_axis import STEP_NAMES
from ..readers.step_axis import plain as spelled
from ..runlog import RunLog
from .clean import plain

CLOCK_WORDS = {"updates": "update", "env_steps": "env step", "seconds": "second", "rows": "step"}
ADVICE_WORDS = {Advice.STOP: "stop now", Advice.CONTINUE: "keep going", Advice.CANNOT_TELL: "cannot tell"}
WORST_FIRST = {Verdict.BROKEN: 0, Verdict.UNDECIDED: 1, Verdict.HEALTHY: 2}
_EPOCH = 1e8
"""Seconds above this are a date, not a duration: three years of training."""

_PAID = re.compile("score|rew|ret|gain", re.I)
"""What keys of a return are often called."""
TELLING = ("policy/entropy", "policy/clip_fraction", "critic/loss", "critic/q_mean", "dqn/epsilon")
"""Metrics that tell an algorithm of played episodes by being there."""
MORE_POINTS = "more points"
"""How the engine says that a rule needs a longer or denser log."""

COMMAND = re.compile(r"`(firstbreak [^`]*|[A-Za-z_][\w.]*)`")
"""A command of ours or a name of code, quoted in a sentence; what a log may hold is quoted otherwise."""


def number(value: float) -> str:
    """Return a number with at most four significant digits and thousands separated; nan and inf by name."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:,.1f}" if 1000 <= abs(value) < 1e6 else f"{value:.4g}"


def duration(seconds: float) -> str:
    """Return `h:mm:ss` (with days in front where needed)."""
    whole = max(round(seconds), 0)
    days, rest = divmod(whole, 86_400)
    clock = f"{rest // 3600}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    return f"{days} d {clock}" if days else clock


def count(n: int, one: str, many: str = "") -> str:
    """Return `1 rule`, `2 rules`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def some(items: Iterable[str], most: int = 3) -> str:
    """Return the first `most` items joined, and how many are left."""
    listed = [plain(item, 60) for item in items]
    left = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {left} more" if left > 0 else "")


def onset_phrase(onset: Onset, log: RunLog) -> str:
    """Return when it began, as `update 412-420 of 1,000, 0:07:31 into the run`."""
    word = CLOCK_WORDS.get(onset.clock, onset.clock)
    lo, hi = number(onset.lo), number(onset.hi)
    phrase = f"{word} {lo}" if lo == hi else f"{word} {lo}-{hi}"
    if onset.clock == log.clock and log.last_step > 0:
        phrase += f" of {number(log.last_step)}"
    seconds = seconds_into(log, onset)
    return phrase if seconds is None else f"{phrase}, {duration(seconds)} into the run"


def seconds_into(log: RunLog, onset: Onset) -> float | None:
    """Return the wall-clock seconds from the start of the run to the onset, where clocks are tied."""
    if log.clocks is None or onset.clock not in (log.clocks.clock, log.clock) or onset.clock == "seconds":
        return None
    at = log.clocks.convert(onset.lo, "seconds")
    if at is None or not math.isfinite(at):
        return None
    start = float(log.clocks.others["seconds"][0])
    return at - start if start > _EPOCH else at


def verdict_phrase(diagnosis: Diagnosis) -> str:
    """Return the headline: what is known of the run in one sentence."""
    if diagnosis.verdict is Verdict.BROKEN and diagnosis.first_break is not None:
        first = diagnosis.first_break
        scope = f" [{plain(first.scope, 40)}]" if str(first.scope) else ""
        return f"BROKEN at {first.link}{scope} ({first.component})"
    if diagnosis.verdict is Verdict.HEALTHY:
        looked, partly, _ = links_by_sight(diagnosis)
        parts = [f"in {', '.join(looked)}"] if looked else []
        parts += [f"in what was seen of {', '.join(partly)}"] if partly else []
        return f"HEALTHY {'; '.join(parts)}".rstrip()
    if diagnosis.verdict is Verdict.BROKEN:
        return "BROKEN"
    return f"UNDECIDED: {why_undecided(diagnosis)}"


def why_undecided(diagnosis: Diagnosis) -> str:
    """Return what stands between this run and a verdict."""
    warnings = [f for f in diagnosis.findings if f.severity is Severity.WARNING and not f.ignored]
    if diagnosis.coverage.looked == 0:
        return "no rule could look at this log"
    if warnings:
        return f"{count(len(warnings), 'warning')}, nothing that proves a break"
    signs = diagnosis.coverage.withheld
    wanted = [_first_of(item) for item in diagnosis.coverage.profile_missing if item not in signs]
    wants = f"; a verdict of healthy wants {some(wanted)}" if wanted else ""
    if signs:
        return f"no fault found, but {some(signs)}{wants.replace('healthy wants', 'healthy also wants')}"
    return f"no fault found in what was seen{wants}" if wanted else "not enough was looked at"


def _first_of(missing: str) -> str:
    """Return the first of metrics of which one is missing (`a/b or c/d`); any other reason as it is."""
    metrics = missing.split(" or ")
    return metrics[0] if all("/" in name and " " not in name for name in metrics) else missing


def unknown_keys(log: RunLog) -> list[str]:
    """Return the keys of a log without a known meaning, sorted; a step column has one."""
    return sorted(key for key in log.unmapped if spelled(key) not in STEP_NAMES)


def unread_phrase(diagnosis: Diagnosis) -> str:
    """Return the keys without a known meaning and how to give one, where that may decide an undecided run; else ``."""
    known = _deciding_phrase(diagnosis)
    if known or diagnosis.verdict is Verdict.BROKEN or diagnosis.log.framework:
        return known
    keys, understood = unknown_keys(diagnosis.log), len(diagnosis.log.metrics)
    if len(keys) <= understood:
        return ""
    told = f"{len(keys)} of {len(keys) + understood} keys: {some(keys, 4)}; --map KEY=METRIC says what one is"
    return told + _such_as(diagnosis)


def _such_as(diagnosis: Diagnosis) -> str:
    """Return metrics that tell the algorithm and that every verdict of a played task asks for, where none is known."""
    log = diagnosis.log
    missing = [name for name in TELLING if name not in log.metrics]
    return f" ({', '.join(missing)})" if not log.algorithm and plays_episodes(log.metrics) and missing else ""


def _deciding_phrase(diagnosis: Diagnosis) -> str:
    """Return the key that may be what the verdict waits for, as an option to give."""
    log = diagnosis.log
    keys = unknown_keys(log)
    missing = [_first_of(item) for item in diagnosis.coverage.profile_missing]
    wanted = [name for name in missing if "/" in name and " " not in name]
    if not wanted and not any(metric.startswith("reward/") for metric in log.metrics):
        wanted = ["reward/episode_return_mean"]
    found = any(f.severity.rank and not f.ignored for f in diagnosis.findings)
    if diagnosis.verdict is not Verdict.UNDECIDED or found or not keys or not wanted:
        return ""
    link = wanted[0].split("/")[0]
    near = [key for key in keys if log.guesses.get(key) == wanted[0]]
    if "loss" not in wanted[0]:  # an entropy loss is the entropy with its sign turned, or is not
        near = [key for key in near if "loss" not in key.lower()]
    near += [key for key in keys if link == "reward" and _PAID.search(key)]
    if not near and link != "reward":
        return ""
    likely = near[0] if near else "KEY"
    flag = shlex.quote(f"{plain(likely, 60)}={wanted[0]}")
    return f"--map {flag}{' if it is that' if near else ''}; not understood: {some(keys, 6)}"


def links_by_sight(diagnosis: Diagnosis) -> tuple[list[str], list[str], list[str]]:
    """Return the links looked at, partly looked at and not looked at, each in the order of the loop."""

    def of(sight: Sight) -> list[str]:
        return [link.value for link in LOOP if diagnosis.coverage.links.get(link, Sight.BLIND) is sight]

    return of(Sight.LOOKED), of(Sight.PARTIAL), of(Sight.BLIND)


def worst_first(diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Return broken runs first, then undecided ones, else in the order given."""
    return sorted(diagnoses, key=lambda diagnosis: WORST_FIRST[diagnosis.verdict])


def short_path(path: str) -> str:
    """Return the last two parts of a path, enough to tell runs apart."""
    parts = [p for p in plain(path, 1000).replace("\\", "/").split("/") if p not in ("", ".")]
    return "/".join(parts[-2:])[-60:] or "run"


def run_phrase(log: RunLog) -> str:
    """Return what the run is: framework, algorithm, length, state."""
    framework = plain(log.framework, 40) or "framework not recognised"
    algorithm = plain(log.algorithm, 40) or "algorithm not recognised"
    if log.framework and not log.verified:
        framework += " (unverified)"
    word = CLOCK_WORDS.get(log.clock, plain(log.clock, 20))
    length = f"{number(log.last_step)} {word}{'' if log.last_step == 1 else 's'}"
    state = plain(log.state, 20) or "state unknown"
    if any(event.name == "roll_back" for event in log.events):
        state += ", rolled back"
    return f"{framework}, {algorithm}, {length}, {state}, {count(len(log.metrics), 'metric')}"


def coverage_phrase(diagnosis: Diagnosis) -> str:
    """Return how far firstbreak could look, and what to log to look further."""
    coverage = diagnosis.coverage
    phrase = f"{coverage.looked} of {count(coverage.applicable, 'rule')} looked"
    longer = sum(rules for name, rules in coverage.unlock if name.startswith(MORE_POINTS))
    if longer:  # before the names, which may be cut
        phrase += f", {longer:,} {'lacks' if longer == 1 else 'lack'} points"
    best = asked_of(diagnosis.log, coverage)
    if best.names:
        names = ", ".join(plain(name, 40) for name in best.spoken)
        what = "this" if len(best.names) == 1 else f"these {len(best.names)}"
        phrase += f"; log {what} to unlock {best.rules} more: {names}"
    if coverage.errors:
        ours = all(whose_fault(message, "run") for _, message in coverage.errors)
        phrase += f" ({count(len(coverage.errors), 'rule')} failed{': a fault of firstbreak' if ours else ''})"
    return phrase


def leading(diagnosis: Diagnosis) -> Finding | None:
    """Return the finding that broke first; where nothing broke, the worst, and of equals one that the cause explains.

    Of those one that is not about the return: whatever breaks ends there, so that another says more.

    None without a finding at warning or above.
    """
    first = diagnosis.first_break
    active = [f for f in diagnosis.findings if not f.ignored and f.severity.rank]
    if first is not None:
        return next((f for f in active if f.rule == first.rule and f.scope == first.scope), None)
    told = diagnosis.causes[0].explains if diagnosis.causes else ()
    return max(active, key=lambda f: (f.severity.rank, f.id in told, f.metric not in RETURNS), default=None)


def findings_phrase(findings: Iterable[Finding]) -> str:
    """Return how many findings of each severity there are, `` when none."""
    active = [f for f in findings if not f.ignored]
    parts = [
        count(n, severity.value if severity is not Severity.INFO else "note")
        for severity in Severity
        if (n := sum(f.severity is severity for f in active))
    ]
    return ", ".join(parts)


def explained(cause: RankedCause, findings: Iterable[Finding]) -> str:
    """Return the names of the findings that a cause explains."""
    names = {f.id: f"{f.name}[{plain(f.scope, 40)}]" if str(f.scope) else f.name for f in findings}
    return ", ".join(names.get(identifier, plain(identifier, 60)) for identifier in cause.explains)


def separation(cause: RankedCause) -> str:
    """Return the rivals of a cause, what separates it from them and what nobody could look for; `` for none of each."""
    said: list[str] = []
    if cause.rivals:
        by = some(cause.separate_with, 3) or (cause.confirm_with[0].experiment if cause.confirm_with else "")
        said.append(some(cause.rivals, 2) + (f"; told apart by {by}" if by else ""))
    if cause.not_excluded:
        first = cause.not_excluded[0]
        more = f" (and {some([one.cause for one in cause.not_excluded[1:]], 2)})" if cause.not_excluded[1:] else ""
        said.append(f"{first.cause}, not excluded: log {plain(first.log[0], 60)}{more}")
    return "; ".join(said)


def against_phrase(log: RunLog) -> str:
    """Return how the run stands beside the healthy runs that were given, `""` where none were."""
    found = log.against
    if found is None:
        return ""
    runs = count(found.runs, "healthy run")
    if not found.compared:
        few = f"{runs} on its clock: {LEAST_RUNS} tell what leaves their band; what they also do is excused"
        return few if found.runs < LEAST_RUNS else f"{runs} share no metric with it that could be compared"
    if not found.departures:
        return f"{runs}: none of {count(found.compared, 'metric')} leaves their band"
    first = leaders(found)
    told = f", first {some([d.metric for d in first], 2)}" if first else ", too few to tell a fault from chance"
    own = f"; own settings: {some(found.settings, 2)}" if found.settings else ""
    return f"{runs}: {len(found.departures):,} of {found.compared:,} metrics leave their band{told}{own}"
