"""The gate: the table of its rules, each a small function from the evidence to a ruling.

The order is from outside in: what was run, how it was measured, what it scored, what it does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ..diagnosis import Verdict
from ..evaluation.statistics.intervals import Interval
from .alike import STATE, one_protocol, unlisted
from .checklists import FAILED, MISSING
from .evidence import Change, Evidence, Line, count, names
from .kept import checkpoints_kept, failures_kept
from .over_tasks import GIVE
from .results import FEW
from .ruling import GateRule, Ruling, bad, good, missing, not_asked
from .setting import silent


def _context_recorded(e: Evidence) -> Ruling:
    lacking = [run for run in e.runs if run.context is None or not run.context.code.commit]
    if lacking:
        return missing(f"code version or record not there for {names(lacking)}",
                       "firstbreak record --run RUN -- python train.py, in a git work tree")  # fmt: skip
    return good(f"the code version of {count(len(e.runs), 'run')} is recorded")


def _runs_finished(e: Evidence) -> Ruling:
    died = [run for run in e.runs if run.crashed]
    going = [run for run in e.runs if run.ended in ("running", "stalled")]
    if died and len(died) * 2 > len(e.runs):
        return bad(f"{len(died)} of {count(len(e.runs), 'run')} died: {names(died)}")
    if died:
        return missing(f"{len(died)} of {count(len(e.runs), 'run')} died: {names(died)}",
                       "find out why, and run these seeds again")  # fmt: skip
    if going:
        return missing(f"{len(going)} of {count(len(e.runs), 'run')} have not ended: {names(going)}", "wait for them")
    untold = [run for run in e.runs if not run.ended]
    if untold:
        return missing(f"whether {names(untold)} ended is not recorded",
                       "firstbreak record --run RUN -- python train.py, or total_steps in its settings")  # fmt: skip
    return good(f"{count(len(e.runs), 'run')}, none died")


def _runs_healthy(e: Evidence) -> Ruling:
    broken = [run for run in e.runs if run.diagnosis.verdict is Verdict.BROKEN]
    if broken:
        first = broken[0].diagnosis.first_break
        what = f": {first.name} in {broken[0].name}" if first is not None else ""
        return bad(f"{len(broken)} of {count(len(e.runs), 'run')} broken{what}")
    return good(f"no rule finds any of {count(len(e.runs), 'run')} broken")


def _seeds_known_and_distinct(e: Evidence) -> Ruling:
    unknown = [run for run in e.runs if not run.seed]
    if unknown:
        return missing(f"the seed of {names(unknown)} is not recorded", "record runs, or log the seed")
    marks = Counter((run.task, run.protocol, run.seed) for run in e.runs)
    twice = [seed for (_, _, seed), count in marks.items() if count > 1]
    if twice:
        return missing(f"seed {twice[0]} was run more than once: it counts as one", "use a seed for each run")
    same = _equal_curves(e)
    if same:
        return missing(f"{same[0]} and {same[1]} are equal to the last bit: their seeds change nothing",
                       "check that the seed reaches the environment and the weights")  # fmt: skip
    return good(f"{count(len(e.runs), 'seed')}, all different" if len(e.runs) > 1 else "one seed")


def _equal_curves(e: Evidence) -> tuple[str, str] | None:
    seen: dict[tuple[object, ...], str] = {}
    for run in e.runs:
        if run.score.size < 3 or float(run.score.min()) == float(run.score.max()):
            continue
        # The training reward too: coarse evaluations of different runs may tie.
        key = (run.task, run.step.tobytes(), run.score.tobytes(), run.reward)
        if key in seen:
            return seen[key], run.name
        seen[key] = run.name
    return None


def _one_setting(e: Evidence) -> Ruling:
    if len(e.runs) == 1:
        return not_asked("a single run")
    mute = silent(e.runs)
    if mute and not e.odd:
        return missing(f"no setting of {names(mute)} is known", "record runs, or log their configuration")
    if not e.odd:
        return good("runs of one task differ in nothing that matters but the seed")
    one = e.odd[0]
    what = ", ".join(f"{d.kind} {d.name}" for d in one.differences[:3])
    return missing(f"{one.run} differs from {one.against} in more than the seed: {what}",
                   "release runs of one setting; compare settings with --baseline")  # fmt: skip


def _enough_seeds(e: Evidence) -> Ruling:
    if not e.results.groups:
        return missing(
            "no run was evaluated apart from training", "log an evaluation, or name the score: --metric METRIC"
        )
    least = min(e.results.groups, key=lambda g: len(g.runs))
    seeds = len(least.runs)
    where = f" of {least.task}" if least.task else ""
    if seeds < FEW:
        said = "a single run: no interval can be given" if seeds == 1 else f"{seeds} runs{where}: too few"
        return missing(said, f"{count(FEW - seeds, 'more seed')} of the same setting")
    return good(f"{seeds} runs{where}")


def _better_than_baseline(e: Evidence) -> Ruling:
    if not e.baseline:
        return not_asked("no baseline was given (--baseline)")
    known = [g.improvement for g in e.results.groups if g.improvement is not None]
    if len(known) < len(e.results.groups) or not known:
        return missing("not every group could be compared with the baseline",
                       "2 or more baseline runs of the same task, protocol and metric")  # fmt: skip
    worst = min(known, key=lambda i: i.hi)
    said = f"a run beats one of the baseline with probability {_interval(worst)}"
    if worst.hi < 0.5:
        return bad(said)
    least = min(known, key=lambda i: i.lo)
    if least.lo > 0.5:
        return good(f"a run beats one of the baseline with probability {_interval(least)}")
    return missing(f"a run beats one of the baseline with probability {_interval(least)}: cannot tell", "more seeds")


def _interval(found: Interval) -> str:
    if found.remark and not math.isfinite(found.width):
        return f"{found.value:.3g} (no interval: {found.remark})"
    return f"{found.value:.3g} [{found.lo:.3g}, {found.hi:.3g}]"


def _selection_corrected(e: Evidence) -> Ruling:
    give = "evaluate the best checkpoint of each run again on fresh seeds: rows `fresh` in scores.csv"
    if not e.selection.fresh:
        chosen = (
            f"was chosen among up to {e.selection.evaluations} evaluations, and not"
            if e.selection.evaluations
            else "was not"
        )
        return missing(f"the best {chosen} scored again on fresh seeds", give)
    if e.selection.apart:
        return missing(e.selection.apart, GIVE if e.units else STATE)
    if e.selection.corrected is None or e.selection.gain is None:
        return missing("a single run was scored on fresh seeds: no interval", give)
    if len(e.selection.fresh) < len(e.runs):
        return missing(f"{len(e.selection.fresh)} of {count(len(e.runs), 'run')} were scored on fresh seeds", give)
    luck = ", which was luck: the fresh score is the one that counts" if e.selection.gain.lo > 0 else ""
    said = f"on fresh seeds {_interval(e.selection.corrected)}; choosing had gained {_interval(e.selection.gain)}{luck}"
    if e.selection.gain.hi < 0:
        return missing(f"{said}: the two evaluations are not alike", "score the fresh seeds as the choice was made")
    return good(said)


def _reward_and_private_set(e: Evidence) -> Ruling:
    """Follow the walkthrough: what counts is the private set; the training reward says whether it was the right one."""
    if e.private is None and e.units and e.private_hashes:
        return missing(f"the private set: {e.units}", GIVE)
    if e.private is None:
        return missing("nothing is known of the private set",
                       "score best and baseline there once: rows `private` in scores.csv")  # fmt: skip
    private, reward = e.private.better, "unclear" if e.reward is None else e.reward.direction
    moved = f"private set {_change(e.private)}; training reward {_change(e.reward)}"
    if private == "better" and reward == "down":
        return good(f"{moved}: the earlier reward was probably wrong")
    if private == "better":
        return good(moved)
    if private == "worse" and reward == "up":
        return bad(f"{moved}: the reward is gamed")
    if private == "worse":
        return bad(moved)
    if reward == "up":
        return missing(f"{moved}: the gain does not show where nobody tuned",
                       "look at samples of high reward; score more seeds on the private set")  # fmt: skip
    return missing(moved, "score more seeds on the private set")


def _change(change: Change | None) -> str:
    if change is None:
        return "not logged"
    if change.difference is None:
        return f"{change.before:.4g} to {change.after:.4g} (a single run: cannot tell)"
    what = f", which is {change.better}" if change.lower and change.better != "unclear" else ""
    return f"{change.direction}{what} ({change.before:.4g} to {change.after:.4g}, by {_interval(change.difference)})"


def _private_set_unspoiled(e: Evidence) -> Ruling:
    if e.looks is None:
        return missing("no ledger says how often the private set was looked at",
                       "firstbreak eval record SCORES --split private_test --protocol protocol.toml; "
                       "then --ledger firstbreak-looks.db")  # fmt: skip
    if e.looks.faults:
        return bad(f"the ledger was changed by hand: {e.looks.faults[0]}")
    if not e.looks.looks:
        return missing("the ledger holds no look at the private set", "record the look there: firstbreak eval")
    foreign = unlisted(e)
    if foreign:
        return missing(foreign, "record the look that gave these scores: firstbreak eval record SCORES "
                                "--split private_test --protocol protocol.toml")  # fmt: skip
    if e.looks.budget_looks is not None and e.looks.looks > e.looks.budget_looks:
        said = f"{count(e.looks.looks, 'look')} at the private set, of {e.looks.budget_looks} allowed: worn out"
        return missing(said, "a new private set")
    return good(f"{count(e.looks.looks, 'look')} at the private set, as allowed")


def _samples_audited(e: Evidence) -> Ruling:
    if e.samples is None:
        give = "--samples FILE: texts, or episodes of control, of the released checkpoint"
        return missing("no sample was audited", give)
    errors = [f for f in e.samples.findings if f.severity.value == "error" and not f.ignored]
    if e.samples.verdict is Verdict.BROKEN:
        return bad(f"{errors[0].name}: {errors[0].message}" if errors else "the audit finds the samples broken")
    warned = [f for f in e.samples.findings if f.severity.value == "warning" and not f.ignored]
    if warned:
        return missing(
            f"{warned[0].name}: {warned[0].message}", "look at these samples, and say that they are fine or not"
        )
    blind = [s for s in e.samples.skipped if s.applies]
    if e.samples.verdict is not Verdict.HEALTHY or not e.samples.looked:
        what = f"{len(blind)} checks could not look at the samples" + (f", {blind[0].name} first" if blind else "")
        wanted = list(dict.fromkeys(name for s in blind for name in s.unlock_with))
        return missing(
            what, f"with the samples: {', '.join(wanted[:3])}" if wanted else "samples with rewards and texts"
        )
    return good(f"{e.samples.looked} checks looked at the samples, nothing to fear")


def _looked_before(e: Evidence) -> Ruling:
    return _checklist(e.before, "before training")


def _watched_during(e: Evidence) -> Ruling:
    return _checklist(e.during, "during training")


def _checklist(lines: Sequence[Line], which: str) -> Ruling:
    wrong = [line for line in lines if line.status == FAILED]
    if wrong:
        return bad(f"{wrong[0].question} {wrong[0].answer}")
    open_lines = [line for line in lines if line.status == MISSING]
    if open_lines or not lines:
        more = f" and {len(open_lines) - 1} more" if len(open_lines) > 1 else ""
        first = open_lines[0] if open_lines else Line("", f"the checklist {which}", MISSING, "")
        return missing(f"not looked at {which}: {first.question}{more}", first.add or "see the checklist below")
    return good(f"{len(lines)} rows of the checklist {which}")


RULES: tuple[GateRule, ...] = (
    GateRule("context-recorded", "Is written down what was run?", _context_recorded),
    GateRule("looked-before", "Was the checklist before training gone through?", _looked_before),
    GateRule("runs-finished", "Did the runs end?", _runs_finished),
    GateRule("runs-healthy", "Is no run broken?", _runs_healthy),
    GateRule("watched-during", "Were the signals of training looked at?", _watched_during),
    GateRule("one-protocol", "Were all runs evaluated alike?", one_protocol),
    GateRule("seeds-distinct", "Is every run a seed of its own?", _seeds_known_and_distinct),
    GateRule("one-setting", "Do the runs differ in the seed alone?", _one_setting),
    GateRule("enough-seeds", "Are there seeds enough?", _enough_seeds),
    GateRule("selection-corrected", "Was the best checkpoint scored again on fresh seeds?", _selection_corrected),
    GateRule("better-than-baseline", "Is it better than the baseline?", _better_than_baseline),
    GateRule("reward-and-private-set", "Does the gain hold on the private set?", _reward_and_private_set),
    GateRule("private-set-unspoiled", "Is the private set still private?", _private_set_unspoiled),
    GateRule("samples-audited", "Does it do what it is paid for?", _samples_audited),
    GateRule("checkpoints-kept", "Are the best and the last checkpoint there?", checkpoints_kept),
    GateRule("failures-kept", "Are failed checkpoints there?", failures_kept),
)
"""The gate. A release goes when no rule is bad and none lacks its evidence."""


def judge(evidence: Evidence) -> tuple[tuple[GateRule, Ruling], ...]:
    """Put every rule to the evidence."""
    return tuple((rule, rule.judge(evidence)) for rule in RULES)
