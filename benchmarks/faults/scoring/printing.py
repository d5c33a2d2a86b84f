"""The scores as plain text, for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from . import scores, told
from .assessing import FIRSTBREAK, Assessed
from .document import counts, tools_of
from .intervals import Estimate
from .summing import OURS, PARTS, Wanted, beside, measured, parts

Runs = Sequence[Assessed]


def shown(found: Estimate, share: bool = True) -> str:
    """Return an estimate with its interval, and for a rate the counts."""
    if found.n == 0 or math.isnan(found.value):
        return "not measured"
    scale, unit = (100, " %") if share else (1, "")
    digits = 1 if share else 3
    text = f"{scale * found.value:.{digits}f}{unit} [{scale * found.lo:.{digits}f}, {scale * found.hi:.{digits}f}]"
    return f"{text} ({found.hits} of {found.n})" if found.hits is not None else f"{text} (n {found.n})"


def met(wanted: Wanted, found: Estimate) -> str:
    """Say whether a target is met."""
    if wanted.target is None or found.n == 0:
        return ""
    good = found.value >= wanted.target if wanted.higher else found.value <= wanted.target
    return "met" if good else "MISSED"


def in_short(runs: Runs, half: str) -> str:
    """Return the scores, and other tools beside them."""
    lines = [f"half {half}: " + ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts(runs).items())]
    for name, found in measured(runs).items():
        wanted = OURS[name]
        goal = "" if wanted.target is None else f"target {'>=' if wanted.higher else '<='} {100 * wanted.target:.0f} %"
        lines.append(f"  {wanted.title:58} {shown(found):38} {goal:16} {met(wanted, found)}")
    lines.append(
        "  tool: faults given; alarm, right link, clean right link, top-1 | alarms on healthy, hard | selective"
    )
    for tool in tools_of(runs):
        one = beside(runs, tool)
        figures = [one.any_alarm, one.recall, one.clean, one.top1, one.false_alarms, one.false_alarms_hard]
        cells = [f"{e.hits}/{e.n}" for e in figures] + [f"{one.selective.value:.2f}"]
        lines.append(f"  {tool:30} {one.faults:5} " + " ".join(f"{cell:>9}" for cell in cells))
    return "\n".join(lines)


def in_detail(runs: Runs) -> str:
    """Return parts, confusion, rules, and every miss and false alarm."""
    lines: list[str] = []
    for by in PARTS:
        lines.append(f"by {by}: recall, top-1, top-2; alarms on healthy runs")
        for name, part in parts(runs, by).items():
            cells = [scores.detection(part, FIRSTBREAK), scores.link_top(part, FIRSTBREAK, 1)]
            cells += [scores.link_top(part, FIRSTBREAK, 2), scores.false_alarms(part, FIRSTBREAK)]
            lines.append(f"  {name:22} " + " ".join(f"{e.hits}/{e.n}".rjust(9) for e in cells))
    lines.append("true link -> link named first")
    lines += [f"  {a:22} {b:22} {n}" for (a, b), n in sorted(scores.confusion(runs).items())]
    lines.append("rules: healthy runs alarmed, early alarms, fault runs right")
    lines += [f"  {name:34} {a:4} {b:4} {c:4}" for name, a, b, c in scores.false_alarms_by_rule(runs, FIRSTBREAK)]
    lines.append("misses")
    for miss in told.misses(runs):
        first = ", ".join(miss["measured_first"]) or ("nothing" if miss["measurable"] else "not measured")
        lines.append(
            f"  {miss['id']}  ({miss['link']}, start {miss['start']:.0f} of {miss['end']:.0f})"
            f" {'detected' if miss['detected'] else 'not detected'}; {miss['verdict']} {miss['named'] or '-'}"
            f" by {miss['rule'] or '-'}; alarms: {', '.join(miss['alarms']) or '-'}"
            f"; left first: {first}"
            + (f" at {miss['measured_at']:.0f}, {miss['left_later']} later" if miss["measured_at"] is not None else "")
        )
    lines.append("false alarms")
    lines += [
        f"  {a['id']} [{a['kind']}]: {a['severity']} {a['rule']} at {a['at_frac']:.0%}: {a['message']} ({a['verdict']})"
        for a in told.false_alarms(runs)
    ]
    lines.append("confidently wrong without the key metric")
    lines += [
        f"  {e['id']} without {', '.join(e['removed'])}: {e['what']} by {e['rule']}"
        for e in told.confident_errors(runs)
    ]
    lines.append("told otherwise under a variant")
    lines += [f"  {u['id']} {u['variant']}: {u['what']} by {u['rule']}" for u in told.unstable(runs)]
    lines += [f"RULE FAILED: {error}" for error in told.rule_errors(runs)]
    return "\n".join(lines)
