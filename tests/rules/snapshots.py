"""The reviewed snapshots of the rules; run as a program (`make update-listing`) it writes them anew."""

from __future__ import annotations

import json
from pathlib import Path

from firstbreak.engine import run_rules
from tests.rules.runs import FIRING, RULES, log_of, loud

HERE = Path(__file__).parent
LISTING = HERE / "listing.txt"
SPECIFICITY = HERE / "specificity.json"


def listing() -> str:
    """One line per rule: code and name."""
    return "".join(f"{rule.code} {rule.name}\n" for rule in RULES)


def specificity() -> dict[str, list[str]]:
    """For each firing case, the other rules that fire on it at warning or above."""
    matrix: dict[str, list[str]] = {}
    for named in FIRING:
        outcomes = run_rules(log_of(named), [r for r in RULES if r.name != named.rule])
        others = sorted(o.rule.name for o in outcomes if loud(o.findings))
        if others:
            matrix[str(named)] = others
    return matrix


def write() -> None:
    """Write both snapshots."""
    LISTING.write_text(listing(), "utf-8")
    SPECIFICITY.write_text(json.dumps(specificity(), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    write()
