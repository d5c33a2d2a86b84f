"""Write docs/settle_results.md from the results of `campaign`.

python -m benchmarks.settle.publish [--results FOLDER] [--later FOLDER] [--to FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.faults.scoring.intervals import clopper_pearson
from benchmarks.faults.scoring.page import table
from benchmarks.settle.campaign import CHOSEN, HERE, LATER, RESULTS, read
from benchmarks.settle.choosing import Pair, curveless, read_pairs
from benchmarks.settle.truths import Truth, Verdict, judged
from benchmarks.settle.walk import KEPT
from firstbreak.experiments.result import Outcome

AFTER_THAT = ("third", "fourth", "fifth", "sixth")
"""Folders of the deals after the second; each has its head beside it, `third_head.md`."""
AGAIN = "again"
"""Folder of the places of the first five deals with other seeds; in no sum, for they had been seen."""
MENDED = "mended"
"""Folder of pairs of `again` that were made anew when experiments had become cheaper; in no sum either."""
PAGE = HERE.parents[1] / "docs" / "settle_results.md"


@dataclass(frozen=True)
class Made:
    """One experiment that was made, and what its verdict was worth."""

    pair: Pair
    verdict: Verdict
    outcome: str
    why: str
    words: str
    share: float
    """CPU time over that of the recorded run."""
    startup_s: float
    free: bool
    """Whether it needed no learning curve, as it was when it was made."""


def made_of(pair: Pair, found: dict[str, Any]) -> Made:
    """Judge one result; a setup that refused or did not end is as good as inconclusive."""
    result = found["result"]
    if result is None:
        return Made(
            pair, Verdict.INCONCLUSIVE, "none", "not made", found["ended"], float("nan"), float("nan"), curveless(pair)
        )
    return Made(
        pair,
        judged(Truth(pair.truth), Outcome(result["outcome"])),
        result["outcome"],
        result["why"].replace("_", " "),
        result["words"],
        found["cpu_s"] / found["run_cpu_s"],
        found["startup_cpu_s"],
        result["plan"]["runs"] < 0.1 if "plan" in result else curveless(pair),
    )


def rate(hits: int, total: int) -> str:
    """Return a share with its exact 95 % interval."""
    if not total:
        return "–"
    low, high = clopper_pearson(hits, total)
    return f"{hits} of {total} ({hits / total:.0%}; {low:.0%} to {high:.0%})"


def shares(made: Sequence[Made]) -> str:
    """Return median and largest cost."""
    known = [one.share for one in made if one.share == one.share]
    return f"{median(known):.1%}, at most {max(known):.1%}" if known else "–"


def counted(made: Sequence[Made], verdict: Verdict) -> int:
    return sum(one.verdict is verdict for one in made)


def summary(made: Sequence[Made]) -> str:
    """Return the figures that the page leads with."""
    total, false = len(made), sum(one.pair.truth == Truth.FALSE for one in made)
    sites = by_site(made)
    whole = sum(all(one.verdict is Verdict.RIGHT for one in mine) for mine in sites)
    free = [one for one in made if one.free and one.share == one.share]
    within = sum(one.share <= 0.1 for one in free)
    lines = [
        f"- **Right: {rate(counted(made, Verdict.RIGHT), total)}.** Wrong confirmed: "
        f"{rate(counted(made, Verdict.WRONG_CONFIRMED), total)}; wrong refuted: "
        f"{rate(counted(made, Verdict.WRONG_REFUTED), total)}; inconclusive: "
        f"{rate(counted(made, Verdict.INCONCLUSIVE), total)}.",
        f"- They are of {len(sites)} places (subject, task, what was planted, experiment); right in all pairs of a "
        f"place: {rate(whole, len(sites))}.",
        f"- Hypotheses that are false: {rate(false, total)}.",
        f"- Cost of those that need no learning curve: median {shares(free)} of the run; "
        f"{rate(within, len(free))} cost at most a tenth. The others: median "
        f"{shares([one for one in made if not one.free])}.",
    ]
    return "\n".join(lines) + "\n\n"


def needing(made: Sequence[Made]) -> str:
    """Return whether these need learning curves: none, yes, or how many of them."""
    count = sum(not one.free for one in made)
    return "none" if not count else "yes" if count == len(made) else f"{count} of {len(made)}"


def by_experiment(made: Sequence[Made]) -> str:
    """Return one row for each experiment."""
    rows: list[tuple[Any, ...]] = []
    for name in sorted({one.pair.experiment for one in made}):
        mine = [one for one in made if one.pair.experiment == name]
        rows.append(
            (
                f"`{name}`", len(mine), sum(one.pair.truth == Truth.TRUE for one in mine),
                *(counted(mine, verdict) for verdict in Verdict), needing(mine), shares(mine),
            )
        )  # fmt: skip
    head = ("experiment", "made", "true", "right", "wrong confirmed", "wrong refuted", "inconclusive",
            "learning curves", "cost, median and most")  # fmt: skip
    return table(head, rows)


def every(made: Sequence[Made]) -> str:
    """Return one row for each pair."""
    rows = [
        (
            one.pair.run, f"`{one.pair.experiment}`", ", ".join(name for name, _ in one.pair.causes), one.pair.truth,
            one.outcome, f"{one.share:.1%}" if one.share == one.share else "–",
        )
        for one in sorted(made, key=lambda one: (one.pair.experiment, one.pair.run))
    ]  # fmt: skip
    return table(("run", "experiment", "causes named", "hypothesis", "verdict", "cost"), rows)


def misses(made: Sequence[Made]) -> str:
    """Return what was not right, each with what the experiment said and why it should have said otherwise."""
    lost = [one for one in made if one.verdict is not Verdict.RIGHT]
    lines = [
        f"- {one.pair.run}, `{one.pair.experiment}`: {one.verdict.value} ({one.why}). {one.words} The hypothesis is "
        f"{one.pair.truth}: {one.pair.reason}.\n"
        for one in lost
    ]
    return "".join(lines) + "\n" if lines else "None.\n\n"


def left_out(pairs: Sequence[Pair]) -> str:
    """Return the pairs that nothing settles."""
    rows = sorted({(p.what, f"`{p.experiment}`", p.reason) for p in pairs if p.truth == Truth.OPEN})
    return table(("planted", "experiment", "why its hypothesis is not settled"), rows) if rows else "None.\n"


def page(made: Sequence[Made], pairs: Sequence[Pair]) -> str:
    """Return the text of the page."""
    head = (HERE / "results_head.md").read_text("utf-8")
    halves = " and ".join(sorted({one.pair.half for one in made}))
    startup = median([one.startup_s for one in made if one.startup_s == one.startup_s] or [float("nan")])
    planted = sum(one.pair.truth != Truth.OPEN for one in made)
    sizes = (
        f"{planted} pairs of the halves {halves}, of {len({one.pair.run for one in made})} runs and "
        f"{len({one.pair.what for one in made})} things planted. Importing took {startup:.1f} s of CPU each time.\n\n"
    )
    return (
        head + "## Figures\n\n" + summary(made) + sizes + by_experiment(made) + "## What was not right\n\n"
        + misses(made) + "## Every pair\n\n" + every(made) + "## Left out\n\n" + left_out(pairs)
    )  # fmt: skip


def later_section(made: Sequence[Made], head_of: str = "later_head.md") -> str:
    """Return what pairs chosen later came to, apart from all other figures."""
    head = (HERE / head_of).read_text("utf-8")
    return head + "\n" + summary(made) + by_experiment(made) + "What was not right:\n\n" + misses(made) + every(made)


def pooled_section(deals: Mapping[str, Sequence[Made]]) -> str:
    """Return what all deals after the first came to, each as it was first made; and the same by places."""
    rows: list[tuple[Any, ...]] = []
    for name, made in (*deals.items(), ("all of these", [one for each in deals.values() for one in each])):
        sites = by_site(made)
        rows.append((
            name, *(counted(made, verdict) for verdict in Verdict), rate(counted(made, Verdict.RIGHT), len(made)),
            rate(sum(all(one.verdict is Verdict.RIGHT for one in mine) for mine in sites), len(sites)),
        ))  # fmt: skip
    head = ("deal", "right", "wrong confirmed", "wrong refuted", "inconclusive", "right, of pairs", "right, of places")
    return (HERE / "pooled_head.md").read_text("utf-8") + "\n" + table(head, rows)


def by_site(made: Sequence[Made]) -> list[list[Made]]:
    """Return the pairs of each place: subject, task, what was planted and the experiment."""
    found: dict[tuple[str, str], list[Made]] = {}
    for one in made:
        found.setdefault(one.pair.site, []).append(one)
    return list(found.values())


def walk_section(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what came of the experiments that were made both ways on small trainers."""
    rows = [
        (
            f"`{one['experiment']}`", one["trainer"] or "–", one["why"], one["wanted"],
            one["outcome"] + ("" if one["outcome"] == one["wanted"] else f" ({one['reason'].replace('_', ' ')})"),
            one["pairs"], f"{one['cpu_s']:.0f} s",
        )
        for _, one in sorted(found.items())
    ]  # fmt: skip
    right = sum(one["outcome"] == one["wanted"] for one in found.values())
    head = (HERE / "walk_head.md").read_text("utf-8")
    columns = ("experiment", "trainer", "planted", "must be", "was", "pairs", "CPU")
    return f"{head}\n**{right} of {len(found)} as planted.**\n\n" + table(columns, rows)


def made_in(folder: Path) -> list[Made]:
    """Return all that a campaign has made."""
    return [made_of(*read(path)) for path in sorted(folder.glob("*.json")) if path.name != CHOSEN]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--later", type=Path, default=LATER, help="results of pairs chosen later")
    parser.add_argument("--to", type=Path, default=PAGE)
    args = parser.parse_args()
    pairs = read_pairs(args.results / CHOSEN)
    made, later = made_in(args.results), made_in(args.later)
    deals = {name: found for name in AFTER_THAT if (found := made_in(HERE / name))}
    text = page(made, pairs) + (later_section(later) if later else "")
    text += "".join(later_section(found, f"{name}_head.md") for name, found in deals.items())
    text += pooled_section({"second": later, **deals})
    again = made_in(HERE / AGAIN)
    text += later_section(again, f"{AGAIN}_head.md") if again else ""
    mended = made_in(HERE / MENDED)
    text += later_section(mended, f"{MENDED}_head.md") if mended else ""
    args.to.write_text(text + walk_section(json.loads(KEPT.read_text("utf-8"))), "utf-8")
    print(
        *map(summary, (made, later, *deals.values(), again, mended)), pooled_section({"second": later, **deals}), sep=""
    )


if __name__ == "__main__":
    main()
