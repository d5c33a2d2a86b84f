"""The page of results, written from the scores; nothing on it is typed by hand."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from . import fresh, scores, selective, told, undecided, witness_page
from .assessing import BESIDE, FIRSTBREAK, GIVEN, UNNAMED, Assessed
from .ceilings import ceilings
from .document import counts, tools_of
from .intervals import Estimate
from .others import Tool
from .printing import met, shown
from .summing import OURS, PARTS, Rival, beside, claims, measured, parts

Runs = Sequence[Assessed]
HEAD = Path(__file__).resolve().parent / "page_head.md"
SETTINGS = Path(__file__).resolve().parents[1] / "peers" / "settings.toml"
MOST = 400
"""Lines of a list of cases on the page."""


def page_of(runs: Runs, half: str, tools: Sequence[Tool] = (), lost: Runs = ()) -> str:
    """Return the page of one half, in Markdown; `lost` are runs that count neither as faulty nor as healthy."""
    found = counts(runs)
    what = (
        f"The half shown is **{half}**: {found['fault_runs']} runs with {found['faults']} faults ({found['mid_run']} "
        f"of them switched on in mid-run), {found['healthy']} healthy runs, {found['hard_negatives']} hard negatives, "
        f"over {found['tasks']} tasks.\n\n"
    )
    unseen = fresh.read_fresh()
    sections = (
        ("Scores", scores_table(runs)),
        ("What could be reached", ceilings_table(runs)),
        ("Selective accuracy", selective.section(runs, table, cell)),
        *([("Healthy runs that nobody had seen", fresh.fresh_section(unseen, table))] if unseen else []),
        (f"Given {GIVEN} healthy runs of the task", given_table(runs) + open_table(runs)),
        ("What the name of the task gives", named_table(runs)),
        ("What was missed, and why", reasons_table(runs) + settled_table(runs)),
        ("What a log can decide", witness_page.section(runs, table, cell)),
        ("Beside others", tools_table(runs)),
        ("Each only on the links its own alarms speak of", claims_table(runs, tools)),
        ("Not run", not_run_table()),
        *((f"By {by}", parts_table(runs, by)) for by in PARTS),
        ("Confusion", confusion_table(runs)),
        ("Rules", rules_table(runs)),
        ("Every miss", misses_table(runs)),
        ("Every false alarm", alarms_table(runs)),
        ("Meant to be healthy, but lost by itself more than half of what was gained", lost_table(lost)),
        ("Confidently wrong without the key metric", errors_table(runs)),
        ("Told otherwise under a variant", variants_table(runs)),
    )
    return HEAD.read_text("utf-8") + what + "".join(f"## {title}\n\n{text}" for title, text in sections)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; a bar in a cell is escaped."""
    lines = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    if not lines:
        return "None.\n\n"
    left = len(lines) - MOST
    lines = [list(head), ["---"] * len(head), *lines[:MOST]]
    more = f"\n{left} more are in the JSON.\n" if left > 0 else ""
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) + more + "\n"


def cell(found: Estimate) -> str:
    """Return an estimate for a table: the rate, the counts and the interval."""
    return "–" if found.n == 0 else shown(found)


def count(found: Estimate) -> str:
    return "–" if found.n == 0 else f"{found.hits}/{found.n}"


def scores_table(runs: Runs) -> str:
    rows: list[Sequence[object]] = []
    for name, found in measured(runs).items():
        wanted = OURS[name]
        target = "" if wanted.target is None else f"{'≥' if wanted.higher else '≤'} {100 * wanted.target:.0f} %"
        rows.append((wanted.title, cell(found), target, met(wanted, found).lower()))
    return table(("score", "measured [95 % interval]", "target", ""), rows)


def ceilings_table(runs: Runs) -> str:
    """Return what the first metric and the lead could come to at most."""
    text = (
        "The truth of the first metric is measured, too. Made twice, with every other healthy twin, it does not always "
        "agree with itself: rows two to four are an answer that knew half of the twins, and one that knew the "
        "other seeds of the fault. An alarm before the loss needs rows between the fault and the loss in which "
        "anything lies outside what healthy twins show.\n\n"
    )
    return text + table(("what", "measured [95 % interval]"), [(what, cell(found)) for what, found in ceilings(runs)])


def given_rows(runs: Runs, more: str = BESIDE) -> list[Sequence[object]]:
    """Return what is said from the log alone, and where `more` is given, on the runs that have it."""
    both = [run for run in runs if more in run.answers]
    start = {name: part for name, part in parts(both, "start").items() if part}
    asked = [
        ("an alarm at a right link", scores.detection, both),
        *((f"an alarm at a right link, fault {name}", scores.detection, part) for name, part in start.items()),
        ("link, first answer", lambda part, tool: scores.link_top(part, tool, 1), both),
        *(
            (f"link, first answer, fault {name}", lambda part, tool: scores.link_top(part, tool, 1), part)
            for name, part in start.items()
        ),
        ("link, first two answers", lambda part, tool: scores.link_top(part, tool, 2), both),
        ("names a metric that measurably left first", scores.first_metric, both),
        ("healthy runs alarmed", lambda part, tool: scores.false_alarms(part, tool, False), both),
        ("hard negatives alarmed", lambda part, tool: scores.false_alarms(part, tool, True), both),
    ]
    return [(title, cell(ask(part, FIRSTBREAK)), cell(ask(part, more))) for title, ask, part in asked]


def given_table(runs: Runs) -> str:
    return table(("score", "from the log alone", f"given {GIVEN} healthy runs"), given_rows(runs))


def named_table(runs: Runs) -> str:
    """Return what the name of a standard task adds."""
    text = (
        "The monitor notes under which name Gymnasium registered an environment, and which wrappers around it may "
        "change what it pays; here that is the benchmark's own `Faulty`, around every run, so that the name proves "
        "less and makes warnings at most. On runs whose task is a standard one that "
        "`firstbreak/vocabulary/standard_tasks.toml` knows (what it can pay, what random play earns in it), with the "
        "name and without it:\n\n"
    )
    return text + table(("score", "as the monitor has it", "without the name"), given_rows(runs, UNNAMED))


def open_table(runs: Runs) -> str:
    """Return what the misses from the log alone would need."""
    rows = told.open_misses(runs)
    totals = [sum(row[place] for row in rows) for place in range(1, 5)]
    text = (
        "What is missed from the log alone, by fault, and what healthy runs of the task show of it. Where they show "
        "nothing either, nothing in these logs is further from healthy runs than those are from each other.\n\n"
    )
    head = ("fault", "missed", "right link given healthy runs", "another link", "no alarm")
    return text + table(head, [*rows, ("all", *totals)] if rows else [])


def reasons_table(runs: Runs) -> str:
    """Return what is said of the runs that were missed, by the reason why."""
    found = undecided.by_reason(runs)
    rows = [(one.title, said.total(), *(said[name] or "" for name in undecided.SAID)) for one, said in found]
    totals = ("all", *(sum(int(row[place] or 0) for row in rows) for place in range(1, 2 + len(undecided.SAID))))
    text = (
        "Every run without an alarm at a right link, by what keeps the log from showing the fault "
        "(`benchmarks/faults/undecidable.toml`, written after these misses were in print), and by what its report "
        "says: *healthy* is a right link called healthy as a whole, *healthy in what was seen* says what was not.\n\n"
    )
    arguments = "".join(f"- **{one.title}** {one.argument}\n" for one, _ in found)
    return text + table(("why", "runs", *undecided.SAID), [*rows, totals] if rows else []) + arguments + "\n"


def settled_table(runs: Runs) -> str:
    """Return what shows each missed fault, and whether `preflight` found it before the run."""
    rows = [
        (
            fault,
            n,
            "; ".join(one.title for one in why),
            f"{hits} of {asked}" if asked else "not asked",
            ", ".join(f"`{name}`" for name in names),
            next((one.settled_by[fault] for one in why if fault in one.settled_by), ""),
        )
        for fault, n, why, hits, asked, names in undecided.by_fault(runs)
    ]
    found = [hit for run in undecided.missed(runs) if (hit := undecided.before_run(run)) is not None]
    text = (
        "The same faults before the run (`python -m benchmarks.faults.before`; worlds and trainers of control only): "
        f"of {len(found)} missed runs looked at so, `preflight` finds the fault of {sum(map(bool, found))}.\n\n"
    )
    head = ("fault", "missed", "why", "found before the run", "by", "what shows it")
    return text + table(head, rows)


TOOL = (
    "tool", "fault runs given", "any alarm", "right link", "clean right link", "first link right", "healthy alarmed",
    "hard negatives alarmed", "selective area",
)  # fmt: skip


def tool_row(one: Rival) -> tuple[object, ...]:
    figures = (one.any_alarm, one.recall, one.clean, one.top1, one.false_alarms, one.false_alarms_hard)
    return one.tool, one.faults, *map(count, figures), f"{one.selective.value:.2f}"


def tools_table(runs: Runs) -> str:
    return table(TOOL, [tool_row(beside(runs, tool)) for tool in tools_of(runs)])


def claims_table(runs: Runs, tools: Sequence[Tool]) -> str:
    """Return each tool on what it claims, firstbreak on the same runs below it."""
    return table(TOOL, [tool_row(one) for pair in claims(runs, tools) for one in pair])


def not_run_table() -> str:
    """Return the tools that could not be given these logs, and why."""
    listed = tomllib.loads(SETTINGS.read_text("utf-8"))["not_run"]
    return table(("tool", "tried", "why not"), [(name, one["tried"], one["why"]) for name, one in listed.items()])


def parts_table(runs: Runs, by: str) -> str:
    rows = [
        (
            name,
            cell(scores.detection(part, FIRSTBREAK)),
            cell(scores.link_top(part, FIRSTBREAK, 1)),
            cell(scores.link_top(part, FIRSTBREAK, 2)),
            cell(scores.cause_top(part)),
            cell(scores.false_alarms(part, FIRSTBREAK)),
        )
        for name, part in parts(runs, by).items()
    ]
    return table((by, "recall", "first link", "first two links", "first cause", "healthy runs alarmed"), rows)


def confusion_table(runs: Runs) -> str:
    found = scores.confusion(runs)
    named = sorted({b for _, b in found})
    rows = [(truth, *(found[truth, b] or "" for b in named)) for truth in sorted({a for a, _ in found})]
    return table(("broken link \\ named first", *named), rows)


def rules_table(runs: Runs) -> str:
    head = ("rule", "healthy runs alarmed", "alarms before the fault", "fault runs right")
    rows = scores.false_alarms_by_rule(runs, FIRSTBREAK)
    return table(head, [(f"`{name}`", *numbers) for name, *numbers in rows])


def misses_table(runs: Runs) -> str:
    rows = [
        (
            f"`{one['id']}`",
            one["link"],
            "yes" if one["detected"] else "no",
            f"{one['verdict']} {one['named']}".strip(),
            f"`{one['rule']}`" if one["rule"] else "",
            "; ".join(one["alarms"]),
            ", ".join(one["measured_first"][:3]) or ("nothing" if one["measurable"] else "not measured"),
        )
        for one in told.misses(runs)
    ]
    return table(("run", "link", "detected", "said", "by", "alarms", "left its band first"), rows)


def alarms_table(runs: Runs) -> str:
    rows = [
        (f"`{a['id']}`", a["kind"], a["severity"], f"`{a['rule']}`", f"{a['at_frac']:.0%}", a["message"])
        for a in told.false_alarms(runs)
    ]
    return table(("run", "kind", "severity", "rule", "at", "said"), rows)


def lost_table(lost: Runs) -> str:
    """Return the runs that count neither way, and what was said of them."""
    rows = [
        (f"`{run.id}`", said.verdict, ", ".join(dict.fromkeys(alarm.name for alarm in said.alarms)))
        for run in lost
        for said in [run.answers[FIRSTBREAK]]
    ]
    return table(("run", "said", "alarms"), rows)


def errors_table(runs: Runs) -> str:
    rows = [(f"`{e['id']}`", ", ".join(e["removed"]), e["what"], e["rule"]) for e in told.confident_errors(runs)]
    return table(("run", "removed", "said then", "by"), rows)


def variants_table(runs: Runs) -> str:
    rows = [(f"`{u['id']}`", u["variant"], u["what"], u["rule"]) for u in told.unstable(runs)]
    return table(("run", "variant", "said", "by"), rows)
