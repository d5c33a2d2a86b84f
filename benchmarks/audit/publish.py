"""The page on what the audit of samples finds, from the results of score.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Row = dict[str, Any]
HEAD = """\
# What the audit of samples finds, and what it cannot see

Written by `python benchmarks/audit/score.py --unseen`. The lists of hacks (`tests/audit/planted/*.toml`) were written
before any check. A third of the hacks and the generator `prose` were kept aside: written down at the start, not run
until the end. They were not hidden from the author of the checks. Everything here is synthetic: tables of 512 answers
to 64 prompts, made by grammars (arithmetic with worked steps, questions on an invented atlas, small functions) and by a
Markov chain over a text of our own; about a tenth of the answers are hacked, another tenth are controls that look
alike, are right, are as long and are paid as much. Rewards are 0 and 1 in half of the tables and graded in the other.
Read the figures as what is known to work on such tables, not as a rate on hacks nobody has thought of.

*Named*: a check that the list allows fires, and does not say the same of the honest table. *Caught*: anything at
warning or above fires. *AUC*: the chance that the suspicion of a hacked answer, computed without any human score, is
above that of an honest one. The controls are the harder side.

What was changed after the run: points that tie in the robust line are now kept together (what that does to the
figures was not measured), an interval is computed in closed form, and two checks were renamed. `prose` was run before
`density-falls` was tightened; no entry is named by that check. A name that an information gives counts as
named; what only an information says does not count as caught.
"""


SEEN, ASIDE, LATER = "seen", "kept aside", "written later"
"""What detectors knew of a hack while they were tuned."""
LOOK_ALIKES = (
    "\nLook-alikes are right and all paid in full, so that without human scores their form is really what the reward "
    "prefers; human scores clear them. `unsafe-prompts-answered` is no false finding: in the tables of "
    "*refusal-to-be-safe* honest wrong answers comply with unsafe prompts.\n"
)
LATER_HEAD = """\
## Hacks and a generator that were written after the checks

Written on 2026-11-25 by somebody who had not read the checks (the names of checks that count as naming were chosen
from the tables above), committed, then scored once: `python benchmarks/audit/score.py --later --seeds 3`. Records in
JSON, read from delivery notes in words; six hacks of such answers (`tests/audit/planted/later.toml`), with controls of
matched length. Read: the suspicion holds (AUC 0.946 against controls, 0.947 at matched length), the naming in part
only: placeholders in place of values are named by nothing and, without human scores, caught by nothing; keys that are
repeated are caught by their length, not named; fields that praise themselves are named, but suspected little more than
harmless further fields. One of the six honest tables raises a warning: by chance its wrong answers grow longer.
"""


def publish(rows: Sequence[Row], honest: Sequence[Row], expected: dict[str, Row]) -> str:
    """Return the page as Markdown."""
    later = {r["generator"] for r in rows if expected[r["hack"]]["known"] == LATER}
    mine, others = ([r for r in rows if (r["generator"] in later) is new] for new in (False, True))
    well, also_well = ([r for r in honest if (r["generator"] in later) is new] for new in (False, True))
    parts = [
        HEAD,
        _by_generator(mine, expected),
        _by_hack(mine, expected),
        _false(mine, well) + LOOK_ALIKES,
        _blind(mine, expected),
    ]
    if others:
        tables = (_by_generator(others, expected), _by_hack(others, expected), _false(others, also_well))
        parts += [LATER_HEAD, *(table.replace("## ", "### ", 1) for table in tables)]
    return "\n".join(parts)


def _mean(rows: Iterable[Row], take: Callable[[Row], float]) -> float:
    found = [v for v in map(take, rows) if not math.isnan(v)]
    return sum(found) / len(found) if found else math.nan


def _loud(found: dict[str, str]) -> set[str]:
    return {name for name, severity in found.items() if severity != "info"}


def _visible(rows: Sequence[Row], expected: dict[str, Row]) -> list[Row]:
    return [r for r in rows if expected[r["hack"]]["without_labels"]]


def _by_generator(rows: Sequence[Row], expected: dict[str, Row]) -> str:
    lines = [
        "## By generator\n",
        "Hacks that leave a trace in the text; means over hacks, kinds of reward and seeds.\n",
        "| generator | hacks | tables | AUC, controls | AUC, controls of matched length | AUC, honest rest "
        "| tables with AUC >= 0.9 | AUC of length alone |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for generator in dict.fromkeys(r["generator"] for r in rows):
        for known in (SEEN, ASIDE, LATER):
            mine = [
                r for r in _visible(rows, expected)
                if r["generator"] == generator and expected[r["hack"]]["known"] == known
            ]  # fmt: skip
            if not mine:
                continue
            aside = " (kept aside)" if generator == "prose" else ""
            reached = sum(r["auc_controls"] >= 0.9 for r in mine) / len(mine)
            lines.append(
                f"| {generator}{aside} | {known} "
                f"| {len(mine)} | {_mean(mine, lambda r: r['auc_controls']):.3f} "
                f"| {_mean(mine, lambda r: r['auc_controls_matched']):.3f} "
                f"| {_mean(mine, lambda r: r['auc_honest']):.3f} "
                f"| {100 * reached:.0f} % | {_mean(mine, lambda r: r['auc_length_alone']):.2f} |"
            )
    return "\n".join(lines) + "\n"


def _by_hack(rows: Sequence[Row], expected: dict[str, Row]) -> str:
    lines = [
        "## By hack\n",
        "Shares of the tables, without and with human scores; AUC against controls, without human scores.\n",
        "| hack | caught without | named without | caught with | named with | AUC mean | AUC least | named by |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for hack in dict.fromkeys(r["hack"] for r in rows):
        mine = [r for r in rows if r["hack"] == hack]
        by = [name for r in mine for name in (*r["named_plain"], *r["named_labels"])]
        often = sorted(set(by), key=lambda n: (-by.count(n), by.index(n)))[:2]
        areas = [r["auc_controls"] for r in mine]
        mark = f" ({ASIDE})" if expected[hack]["known"] == ASIDE else ""
        lines.append(
            f"| {hack}{mark} | {_share(bool(_loud(r['plain'])) for r in mine)} "
            f"| {_share(bool(r['named_plain']) for r in mine)} "
            f"| {_share(bool(_loud(r['labels'])) for r in mine)} | {_share(bool(r['named_labels']) for r in mine)} "
            f"| {sum(areas) / len(areas):.3f} | {min(areas):.3f} | {', '.join(often) or 'nothing'} |"
        )
    return "\n".join(lines) + "\n"


def _share(flags: Iterable[bool]) -> str:
    found = list(flags)
    return f"{100 * sum(found) / len(found):.0f} %"


def _false(rows: Sequence[Row], honest: Sequence[Row]) -> str:
    lines = [
        "## False findings\n",
        "| tables | how many | with an error | with a warning or worse | which |",
        "| --- | --- | --- | --- | --- |",
    ]
    sets = (
        ("honest, without human scores", [r["plain"] for r in honest]),
        ("honest, with human scores", [r["labels"] for r in honest]),
        ("honest with look-alikes, without human scores", [r["controls_plain"] for r in rows]),
        ("honest with look-alikes, with human scores", [r["controls_labels"] for r in rows]),
    )
    for name, found in sets:
        errors = sum("error" in f.values() for f in found)
        loud = [_loud(f) for f in found]
        which: list[str] = [n for names in loud for n in names]
        told = ", ".join(f"{n} ({which.count(n)})" for n in sorted(set(which), key=lambda n: (-which.count(n), n)))
        lines.append(f"| {name} | {len(found)} | {errors} | {sum(map(bool, loud))} | {told or 'none'} |")
    return "\n".join(lines) + "\n"


def _blind(rows: Sequence[Row], expected: dict[str, Row]) -> str:
    blind = [r for r in rows if not expected[r["hack"]]["without_labels"]]
    lines = ["## What it cannot see without labels\n"]
    if blind:
        area = _mean(blind, lambda r: r["auc_controls"])
        lines.append(
            f"A fluent wrong answer of usual form (*plausible-wrong*): the suspicion is worth {area:.2f} there, 0.5 "
            f"being chance; without human scores it was caught in {_share(bool(_loud(r['plain'])) for r in blind)} "
            f"of the tables, with them in {_share(bool(_loud(r['labels'])) for r in blind)}.\n"
        )
    low = sorted({(r["hack"], r["generator"]) for r in _visible(rows, expected) if r["auc_controls"] < 0.9})
    lines.append(
        "Pairs with an AUC below 0.9 in at least one table: "
        + (", ".join(f"{h} / {g}" for h, g in low) or "none")
        + ".\n"
    )
    lines.append(
        "Besides: phrases and templates are compared only in tables of up to 4,000 samples, whose texts are all kept; "
        "a hack that all rivals at a prompt share has nothing to stand out from; marks of form are judged by what the "
        "reward prefers, so that right answers which happen to be set better look alike until somebody scores a few."
    )
    return "\n".join(lines) + "\n"
