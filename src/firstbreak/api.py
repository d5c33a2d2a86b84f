"""The public calls: `load`, `diagnose`, `compare`, and `diagnose_runs` behind the command line."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from .baseline import excuse
from .checkpoints import last_healthy
from .comparison import Comparison, compare_runs
from .config import Settings, chosen_rules, find_settings, suppress
from .custom import declare
from .departure import Bands, against
from .diagnosis import Diagnosis
from .engine import Outcome, run_rules
from .errors import InputError
from .loading import load, load_runs
from .reasoning import reason
from .runlog import RunLog
from .window import cut, last_part

__all__ = ["compare", "diagnose", "diagnose_log", "diagnose_runs", "load", "load_runs"]


def diagnose(
    source: Any,
    *,
    config: Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    baseline: Sequence[RunLog] = (),
) -> Diagnosis:
    """Diagnose one run: a path, a `RunLog`, a dict of curves, rows, or a data frame.

    Experiments recorded beside a run that was read from disk are weighed, as `firstbreak diagnose` does
    (`Diagnosis.tried` says what they did), and what was written a moment ago is a run that goes on.

    Args:
        source: what `load` takes, or a `RunLog`.
        config: the run's configuration, where the source does not hold it.
        settings: rule selection, parameters and suppressions; found beside the log when not given.
        baseline: healthy runs of the same task: three or more tell what leaves their band, and what they also do is
            excused.

    Raises:
        InputError: nothing usable, or several runs (then use `firstbreak.api.diagnose_runs`).
    """
    on_disk = isinstance(source, (str, Path))
    present = time.time() if on_disk else None
    log = source if isinstance(source, RunLog) else load(source, config=config, now=present)
    if settings is None:
        settings = find_settings(Path(source)) if on_disk else Settings()
    return _weighed([diagnose_log(log, settings, baseline=baseline)])[0]


def diagnose_runs(
    path: str | Path,
    settings: Settings | None = None,
    *,
    last: str = "",
    until: float | None = None,
    baseline: str | Path | None = None,
    now: float | None = None,
    read: Callable[[str | Path], list[RunLog]] | None = None,
    weigh: bool = True,
) -> list[Diagnosis]:
    """Diagnose every run found at `path` (or the one at an address), in the order found.

    Args:
        last: only the last part of each run, as `20%` or a number of steps.
        until: only points up to this step.
        baseline: a run or a folder of runs, healthy siblings as reference.
        now: the present in seconds since the epoch, to tell a running from a stalled run; without it none is
            called running, and rules that wait for a run's end do not wait.
        read: replaces the reading of a path (the command line passes one that shows progress).
        weigh: whether experiments recorded beside a run move its causes; without, the log alone speaks.
    """
    chosen = settings if settings is not None else find_settings(Path(path))

    def standard(where: str | Path) -> list[RunLog]:
        return load_runs(where, map=chosen.names, now=now)

    reader = read or standard
    siblings, bands = reader(baseline) if baseline is not None else [], Bands()
    found = [
        diagnose_log(
            windowed(log, last, until), chosen, baseline=[s for s in siblings if not _same_run(s, log)], bands=bands
        )
        for log in reader(path)
    ]
    return _weighed(found) if weigh else found


def _weighed(diagnoses: list[Diagnosis]) -> list[Diagnosis]:
    """Return the diagnoses as the experiments recorded beside their runs leave them."""
    from .experiments.settle.beside import with_experiments  # a higher layer, for those who ask for the whole answer

    return with_experiments(diagnoses)


def _same_run(one: RunLog, other: RunLog) -> bool:
    """Whether two logs were read of one place: a run is no reference for itself."""
    return Path(one.path).resolve() == Path(other.path).resolve()


def windowed(log: RunLog, last: str = "", until: float | None = None) -> RunLog:
    """Cut `log` to the part asked for.

    Raises:
        InputError: the part holds no numbers.
    """
    part = cut(log, hi=until) if until is not None else log
    part = last_part(part, last) if last else part
    if log.series and not part.series:
        raise InputError(f"{log.path}: no numbers in the part asked for.", f"The run ends at step {log.last_step:g}.")
    return part


def diagnose_log(
    log: RunLog, settings: Settings, *, baseline: Sequence[RunLog] = (), bands: Bands | None = None
) -> Diagnosis:
    """Run the chosen rules on `log` and reason over what they say.

    `bands` holds what is known of the `baseline` where other runs were held against it.
    """
    log = declare(log, settings.custom)
    if baseline:
        log = against(log, [declare(sibling, settings.custom) for sibling in baseline], bands)
    return concluded(log, run_rules(log, chosen_rules(settings)), settings, baseline)


def concluded(log: RunLog, said: Sequence[Outcome], settings: Settings, baseline: Sequence[RunLog] = ()) -> Diagnosis:
    """Reason over what the rules `said` of `log`, after the user's suppressions and what healthy runs do as well."""
    outcomes = [_reviewed(outcome, log, settings, baseline) for outcome in said]
    diagnosis = reason(log, outcomes)
    broke_at = diagnosis.first_break.onset.lo if diagnosis.first_break else None
    return replace(diagnosis, last_healthy_checkpoint=last_healthy(log, broke_at))


def _reviewed(outcome: Outcome, log: RunLog, settings: Settings, baseline: Sequence[RunLog]) -> Outcome:
    """Apply the user's suppressions and the baseline to what a rule found."""
    today = date.today()
    findings = [suppress(f, log.path, settings, today) for f in outcome.findings]
    cap = settings.severity.get(outcome.rule.name)
    if cap is not None:  # a rule may state the severity of a finding itself: the user's word limits that, too
        findings = [f if f.severity.rank <= cap.rank else replace(f, severity=cap) for f in findings]
    if baseline:
        findings = [excuse(f, log, baseline) for f in findings]
    return replace(outcome, findings=tuple(findings))


def compare(a: Any, b: Any) -> Comparison:
    """Compare run `a` with its twin `b` (anything `load` takes): first divergence per metric, differing settings."""
    first, second = (source if isinstance(source, RunLog) else load(source) for source in (a, b))
    return compare_runs(first, second)
