"""Writes the demo of README.md, and the results of docs/figures.md: labelled logs, their variants, cases, rule counts.

Run `make results`; `python tools/results.py --check` fails when a page is out of date.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from firstbreak.diagnosis import Verdict  # noqa: E402
from firstbreak.finding import Severity  # noqa: E402
from firstbreak.registry import all_rules  # noqa: E402
from firstbreak.runlog import RunLog  # noqa: E402
from tests.corpus.cases import score  # noqa: E402
from tests.corpus.grafts import fires_on_a_graft  # noqa: E402
from tests.corpus.labels import Label, judge, labels, link_of, runs_of, wrong  # noqa: E402
from tests.corpus.recorded import is_recorded, recorded_labels, tally  # noqa: E402
from tests.corpus.variants import rescaled, subsampled, without  # noqa: E402

DEMO = ROOT / "src" / "firstbreak" / "data" / "demo" / "sb3_ppo_lr01"


def variants(log: RunLog) -> list[tuple[str, RunLog, bool]]:
    """Return (name, changed run, may it abstain) for every change that must not matter."""
    changed = [("as logged", log, False)]
    changed += [(f"rewards x{f:g}", rescaled(log, f), False) for f in (0.1, 10.0)]
    changed.append(("every second row", subsampled(log), True))
    changed += [("30 % of metrics dropped", without(log, 0.3, seed), True) for seed in range(4)]
    return changed


def logs_table() -> list[str]:
    """Return the Markdown lines on the labelled logs."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    rows: list[str] = []
    for label in [one for one in labels() if not is_recorded(one)]:
        for log in runs_of(label.name):
            answer = judge(log)
            expected = " or ".join(label.verdicts) + (f" at {label.link}" if label.link else "")
            said = answer.verdict + (f" at {link_of(answer)}" if answer.verdict is Verdict.BROKEN else "")
            known = label.missed and label.missed in (str(answer.verdict), link_of(answer))
            mark = " (missed)" if known else "" if not wrong(label, answer) else " (wrong)"
            rows.append(f"| {label.name} | {label.framework} {label.algorithm} | {expected} | {said}{mark} |")
            for name, changed, lenient in variants(log):
                total[name] += 1
                right[name] += not wrong(label, judge(changed), may_abstain=lenient)
    lines = ["| run | recognised as | label | said |", "|---|---|---|---|", *rows, ""]
    lines += ["| runs changed in a way that must not matter | right |", "|---|---|"]
    return lines + [f"| {name} | {right[name]}/{total[name]} |" for name in total]


def recorded_table() -> list[str]:
    """Return the Markdown lines on the runs recorded with an injected fault, plain and changed."""
    rows = [(label, log) for label in recorded_labels() for log in runs_of(label.name)]
    kinds = ("right link", "abstained", "wrong link", "called healthy", "quiet", "alarmed")
    lines = [
        "| recorded runs | faulty: right link | abstained | wrong link | called healthy | healthy: quiet | alarmed |",
        "|---|---|---|---|---|---|---|",
    ]
    changes: list[tuple[str, list[tuple[Label, RunLog]]]] = [
        ("as logged", rows),
        ("rewards x10", [(label, rescaled(log, 10.0)) for label, log in rows]),
        ("every second row", [(label, subsampled(log)) for label, log in rows]),
        ("30 % of metrics dropped", [(label, without(log, 0.3, 0)) for label, log in rows]),
    ]
    misses: list[str] = []
    for name, changed in changes:
        counts, wrong_answers = tally(changed)
        misses = misses or wrong_answers
        lines.append(f"| {name} | " + " | ".join(str(counts[kind]) for kind in kinds) + " |")
    return [*lines, "", "Wrong as logged: " + ("; ".join(misses) or "none") + "."]


def cases_table() -> list[str]:
    """Return the Markdown lines on the reported cases, beside an answer that is always undecided."""
    got = score()
    rows = {
        "decidable": ("decidable and broken: right link named first", "0"),
        "extra": ("more evidence needed: the right kind of evidence named", "0"),
        "healthy": ("healthy: no error-level finding", str(got["healthy"].total)),
    }
    lines = ["| reported cases (tier A) | firstbreak | always undecided |", "|---|---|---|"]
    return lines + [f"| {text} | {got[k]} | {floor}/{got[k].total} |" for k, (text, floor) in rows.items()]


def earned() -> list[str]:
    """Return the Markdown lines on how many rules there are and how many fire on real broken runs."""
    rules = all_rules()
    fired: set[str] = set()
    false: set[str] = set()
    for label in labels():
        for log in runs_of(label.name):
            loud = {f.name for f in judge(log).findings if f.severity is not Severity.INFO}
            (fired if Verdict.BROKEN in label.verdicts and label.injected else false).update(loud)
    links = Counter(r.link.value for r in rules)
    spread = ", ".join(f"{link} {n}" for link, n in links.items())
    return [
        f"{len(rules)} rules ({spread}); each has a synthetic run on which it fires, a healthy one and a near miss. "
        f"{sum(map(fires_on_a_graft, rules))} fire on a fault injected into a real healthy run, {len(fired)} at "
        f"warning or above on the real broken runs below, {len(false)} on a run without a fault."
    ]


def section() -> str:
    """Return the whole results section."""
    return "\n".join([*earned(), "", *logs_table(), "", *recorded_table(), "", *cases_table()])


def demo() -> str:
    """Return what the command line prints for the broken demo run, as a Markdown code block."""
    command = [sys.executable, "-m", "firstbreak", "diagnose", DEMO.name]
    plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(  # noqa: S603
        command, cwd=DEMO.parent, env=plain, capture_output=True, text=True, check=False
    )
    return "\n".join(["```", f"$ firstbreak diagnose {DEMO.name}", done.stdout.rstrip(), "```"])


def put(text: str, name: str, block: str) -> str:
    """Return `text` with the block between the markers of `name` replaced."""
    before, rest = text.split(f"<!-- {name}:begin -->")
    _, after = rest.split(f"<!-- {name}:end -->")
    return f"{before}<!-- {name}:begin -->\n{block}\n<!-- {name}:end -->{after}"


def main() -> int:
    """Rewrite (or check) what the two pages show."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when a page is out of date")
    args = parser.parse_args()
    shown = {"README.md": ("demo", demo()), "docs/figures.md": ("results", section())}
    old = {name: (ROOT / name).read_text("utf-8") for name in shown}
    new = {name: put(old[name], *block) for name, block in shown.items()}
    changed = [name for name in shown if old[name] != new[name]]
    if args.check and changed:
        print(f"out of date, run `make results`: {', '.join(changed)}", file=sys.stderr)
        return 1
    for name in changed:
        (ROOT / name).write_text(new[name], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
