"""What a report says to do next, and whether that would show the fault.

Read off the first screen as it is printed, in its order: commands of firstbreak, looks by hand, metrics and settings.
Each thing has the links that it can speak of, by what firstbreak itself would do with it and not by what it says of it:
a metric those of the rules that could look if all that the screen asks for were there, a family of checks those that
hold a tenth of its checks, an experiment its own, a look by hand those of the causes that ask for it. What can show any
link, or none by itself (other seeds, a healthy run beside it), has none.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from firstbreak.causes import all_causes
from firstbreak.check import FAMILIES, checks_of
from firstbreak.diagnosis import Diagnosis, Skipped
from firstbreak.experiments.experiment import find_experiment
from firstbreak.registry import all_rules
from firstbreak.report.text import render

BEFORE = Path(__file__).parent / "asked_before.json"
"""What was asked with the rules of commit 88815c4c, before any of it was chosen for what it can show."""
MOST = 3
"""Things that are counted: nobody does ten."""
SHARE = 0.1
"""Share of a family's checks that makes it one of a link."""
ENTRIES = ("or", "prove", "decide", "then", "seen", "unread", "open", "note", "unseen")
"""Entries of the first screen that may say what to do."""
COMMAND = re.compile(r"`firstbreak (?P<command>preflight|probe|experiment|eval|audit)(?: (?P<what>[a-z-]+))?[^`]*`")
AS_WELL = re.compile(r"`(?P<family>reward|invariants|task)`")
"""A second family of `firstbreak preflight`, named in one breath with the first."""
SETTING = re.compile(r"(?:config |--given )(?P<setting>[a-z_]+)")
METRIC = re.compile(r"\b(?P<metric>[a-z]+/[a-z0-9_]+)\b")
FAMILY = {"env": "environment", "probe": "probes"}
"""What a command is called -> the family of its checks, where that has another name."""
GENERAL: Mapping[str, tuple[str, ...]] = {
    "baseline score": ("environment_data", "reward_signal"),
    "checkpoint from before": ("environment_data", "reward_signal"),  # else it is one of four others
    "finite check per term": ("environment_data", "reward_signal", "numerics"),
    "invariants of the loss": ("policy_update", "critic"),
    "phase trace": ("system_resources",),
    "read samples": ("reward_signal",),
    "repeat with other seeds": (),
    "one batch twice": ("numerics",),
    "token ids": ("environment_data",),
    "zero learning rate": ("numerics", "data_freshness"),
    "monitored run": (),
}
"""Looks by hand that no cause asks for (`firstbreak.advice`) -> the links that they show."""


@dataclass(frozen=True)
class Thing:
    """One thing to do."""

    what: str
    links: tuple[str, ...]


def things(diagnosis: Diagnosis) -> tuple[Thing, ...]:
    """Return what the first screen says to do, in its order, each once."""
    return read_off(render([diagnosis]), diagnosis)


def read_off(screen: str, diagnosis: Diagnosis) -> tuple[Thing, ...]:
    """Return what a `screen` says to do."""
    asked = [word for entry, text in entries(screen) if entry in ENTRIES for word in asked_for(text, diagnosis)]
    asked = list(dict.fromkeys(asked))
    logged = {word for word in asked if "/" in word or word.startswith("config ")}
    return tuple(Thing(word, links_of(word, logged, diagnosis)) for word in asked)


def entries(screen: str) -> list[tuple[str, str]]:
    """Return the entries of a screen with their text in one line."""
    found: list[tuple[str, str]] = []
    for line in screen.splitlines():
        label, text = line[:8].strip(), line[8:].strip()
        if label or not found:
            found.append((label, text))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {text}")
    return found


def asked_for(text: str, diagnosis: Diagnosis) -> list[str]:
    """Return what one entry asks for, in its order: `preflight env`, a look's name, a metric, `config NAME`."""
    found = [(m.start(), f"{m['command']} {m['what'] or ''}".strip()) for m in COMMAND.finditer(text)]
    found += [(m.start(), f"preflight {m['family']}") for m in AS_WELL.finditer(text)]
    found += [(m.start(), f"config {m['setting']}") for m in SETTING.finditer(text)]
    known = {metric for rule in all_rules() for metric in rule.metrics} | {"reward/component"}
    bare = COMMAND.sub(lambda m: " " * len(m[0]), text)
    found += [(m.start(), m["metric"]) for m in METRIC.finditer(bare) if m["metric"] in known]
    looks = {*GENERAL, *(e.name for cause in all_causes() for e in cause.experiments)}
    if not COMMAND.search(text):  # which says it already
        found += [(0, look) for look in looks if text.startswith(f"{look}:")]
    return [what for _, what in sorted(found)]


def links_of(what: str, logged: Iterable[str], diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the links that a thing can speak of, the screen's other metrics and settings being there as well."""
    command, _, name = what.partition(" ")
    if "/" in what or command == "config":
        have = set(logged)
        freed = [s for s in diagnosis.coverage.skipped if s.applies and would_look(s, have) and needs(s, what)]
        return tuple(sorted({rule_links()[s.rule] for s in freed}))
    if command in ("preflight", "probe"):
        return family_links(FAMILY.get(name or command, name or command))
    if command == "experiment":
        return (str(find_experiment(name).link),)
    if command in ("eval", "audit"):
        return ("evaluation_protocol",) if command == "eval" else ("reward_signal", "environment_data")
    mine = {str(cause.link) for cause in diagnosis.causes if any(e.experiment == what for e in cause.confirm_with)}
    return tuple(sorted(mine)) or GENERAL.get(what, ())


def alternatives(item: str) -> list[str]:
    """Return the names of which one is enough."""
    kind = "config " if item.startswith("config ") else ""
    return [kind + name for name in item.removeprefix(kind).split(" or ")]


def would_look(skipped: Skipped, have: set[str]) -> bool:
    """Whether all that a rule waits for is among `have`."""
    return bool(skipped.unlock_with) and all(set(alternatives(item)) & have for item in skipped.unlock_with)


def needs(skipped: Skipped, name: str) -> bool:
    """Whether a rule waits for `name`."""
    return any(name in alternatives(item) for item in skipped.unlock_with)


@cache
def rule_links() -> Mapping[str, str]:
    """Return the link of each rule by its code."""
    return {rule.code: str(rule.link) for rule in all_rules()}


@cache
def family_links(family: str) -> tuple[str, ...]:
    """Return the links that a family of checks is about."""
    if family not in FAMILIES:
        return ()
    counted = Counter(str(check.link) for check in checks_of(family))
    return tuple(sorted(link for link, n in counted.items() if n >= SHARE * counted.total()))


def hits(found: Sequence[Thing], right: Sequence[str], within: int = MOST) -> bool:
    """Whether one of the first things can speak of a link that is right."""
    return any(set(thing.links) & set(right) for thing in found[:within])


def by_chance(found: Mapping[str, Sequence[Thing]], right: Mapping[str, Sequence[str]], within: int = MOST) -> float:
    """Return the share of hits where the things said of each run are held against the faults of all others."""
    pairs = [hits(found[a], right[b], within) for a in found for b in right if a != b]
    return sum(pairs) / len(pairs) if pairs else float("nan")


def before() -> tuple[dict[str, tuple[Thing, ...]], dict[str, int]]:
    """Return what was asked of runs whose right link was not named, and how many things of healthy runs, before."""
    kept = json.loads(BEFORE.read_text("utf-8"))
    asked = {name: tuple(Thing(what, tuple(links)) for what, links in rows) for name, rows in kept["asked"].items()}
    return asked, kept["healthy"]


def figures(found: Mapping[str, Sequence[Thing]], right: Mapping[str, Sequence[str]], calm: Sequence[int]) -> list[str]:
    """Return what is told of one score: hits by the first thing and by three, chance, links spoken of, things asked."""
    if not found:
        return ["–"] * 5
    mine = [(found[name], right[name]) for name in found]
    spoken = [len({link for thing in one[:MOST] for link in thing.links}) for one, _ in mine]
    return [
        *(f"{sum(hits(*pair, within) for pair in mine)} of {len(mine)}" for within in (1, MOST)),
        f"{by_chance(found, right):.0%}",
        f"{sum(spoken) / len(spoken):.1f}",
        f"{sum(calm) / len(calm):.1f}" if calm else "–",
    ]


FIGURES = (
    "the first thing asked for can show a right link",
    "one of the first three can",
    "the same, were they what is asked of another of these runs",
    "links that the first three speak of, of nine",
    "things asked of a healthy run",
)
