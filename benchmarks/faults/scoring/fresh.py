"""Healthy runs that nobody had seen when rules were mended: what `score.py --half fresh --json` wrote, for the page.

They are scored by themselves, so that all of the halves can still be scored within three minutes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .intervals import Estimate
from .printing import shown

FRESH = Path(__file__).resolve().parents[1] / "fresh.json"
Table = Callable[[Sequence[str], list[Sequence[object]]], str]
TEXT = """\
Alarms on the held half, and on the healthy runs that were new before these, led to mended rules, so those cannot say
what they are worth now. These runs could: their eleven pairs of trainer and task (`fresh` in `tasks.toml` then) were
chosen and written down after the alarms on eight earlier pairs had been read and before a rule was mended because of
them; they were scored once. Their own alarms have been read since, so that they count for tuning from here on (`late`);
six other pairs are written down as `fresh`, and no run of them has been scored yet. No fault is planted in them. On the
eight earlier pairs 5 of 35 healthy runs and 3 of 22 hard negatives had alarmed, 2 of 57 were called broken: again,
mending did not carry over.

Two of the pairs make 21 of the 26 runs that alarm. A2C ends LunarLander, in so few steps and with these settings, no
better or worse than it began, and the warnings say so: the pair was badly chosen, and counts all the same. DQN in the
corridor is where firstbreak was wrong: all 8 verdicts of *broken* are of two rules that compare the world with a
linear model of it, in a world that no linear model explains. `action-response-changed` and `reward-unforeseen` were
mended afterwards, with these logs in view and with those of faults that they find in both halves; that is not scored
again. Written by `python benchmarks/faults/score.py --half fresh --json benchmarks/faults/fresh.json`.

"""


def read_fresh(path: Path = FRESH) -> dict[str, Any] | None:
    """Return what was scored; None where nothing has been."""
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def rate(found: Mapping[str, Any]) -> str:
    """Return a rate as the tables write it."""
    return "–" if not found["n"] else shown(Estimate(**found))


def fresh_section(found: Mapping[str, Any], table: Table) -> str:
    """Return the section: the two rates of every tool that reads these logs, and every alarm of ours."""
    runs = found["runs"]
    broken = found["scores"]["broken_without_fault"]
    what = (
        f"{runs['healthy']} healthy runs and {runs['hard_negatives']} hard negatives over {runs['tasks']} tasks. "
        f"Called broken, at the end: {rate(broken)}.\n\n"
    )
    tools: list[Sequence[object]] = [
        (one["tool"], rate(one["false_alarms"]), rate(one["false_alarms_hard"]))
        for one in found["tools"]
        if one["false_alarms"]["n"] or one["false_alarms_hard"]["n"]
    ]
    alarms: list[Sequence[object]] = [
        (f"`{a['id']}`", a["kind"], a["severity"], f"`{a['rule']}`", f"{a['at_frac']:.0%}", a["message"])
        for a in found["false_alarms"]
    ]
    return (
        TEXT
        + what
        + table(("tool", "healthy runs alarmed, any tick", "hard negatives alarmed, any tick"), tools)
        + table(("run", "kind", "severity", "rule", "at", "said"), alarms)
    )


def in_a_sentence(found: Mapping[str, Any] | None) -> str:
    """Return what docs/figures.md says of these runs, `""` where none were scored."""
    if found is None:
        return ""
    broken, plain, hard = (found["scores"][k] for k in ("broken_without_fault", "false_alarms", "false_alarms_hard"))
    return (
        f"**Healthy runs that nobody had seen** when rules were last mended: {plain['hits']} of {plain['n']} alarmed, "
        f"{hard['hits']} of {hard['n']} of those that look like trouble; {broken['hits']} of {broken['n']} were called "
        "broken.\n\n"
    )
