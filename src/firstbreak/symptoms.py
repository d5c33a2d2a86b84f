"""From a symptom in the user's words to the looks to make, ordered from the outside of the loop to its inside.

A table, not a diagnosis: it says where to start when there is no log yet, or when the log was not decisive.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from .finding import LOOP, Link


@dataclass(frozen=True)
class Look:
    """One look at one link: `what` to see, a `recipe` for the hand, and the `command` that makes it, if any."""

    link: Link
    what: str
    command: str | None = None
    recipe: str = ""


@dataclass(frozen=True)
class Symptom:
    """What a user sees, the words it is told in, and the looks to make, outermost first.

    `words` are beginnings of words: one that starts a word of the user counts.
    """

    name: str
    title: str
    words: tuple[str, ...]
    looks: tuple[Look, ...]
    rules: tuple[str, ...] = ()
    """Rules that see this symptom in a log."""


_STAYS = re.compile(
    r"(?:\bnot|n't|\bnever|\bno longer)\s+(?:\w+ing\s+|go\s+|gone\s+|went\s+|get\s+)?(?:to\s+)?"
    r"(?:up|down|higher|increas\w*|decreas\w*|ris\w*|climb\w*|mov\w*|chang\w*)\b"
)
"""What stays where it is, said by a denied verb of movement: the verb alone says the opposite."""


@cache
def _table() -> dict[str, Any]:
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files("firstbreak").joinpath("data").joinpath("symptoms.toml").read_text("utf-8"))


@cache
def symptoms() -> tuple[Symptom, ...]:
    """Return every symptom, from the table in `symptoms.toml`."""
    table = _table()
    looks = {name: _look(entry) for name, entry in table["look"].items()}
    order = {link: i for i, link in enumerate(OUTSIDE_IN)}
    return tuple(
        Symptom(
            name=name,
            title=entry["title"],
            words=tuple(entry["words"]),
            looks=tuple(sorted((looks[look] for look in entry["looks"]), key=lambda look: order[look.link])),
            rules=tuple(entry.get("rules", ())),
        )
        for name, entry in table["symptom"].items()
    )


OUTSIDE_IN: tuple[Link, ...] = (
    Link.ENVIRONMENT_DATA,
    Link.EVALUATION_PROTOCOL,
    Link.REWARD_SIGNAL,
    *(link for link in LOOP[2:] if link is not Link.EVALUATION_PROTOCOL),
)
"""The order of inspection: world, yardstick, reward, then the algorithm's inside."""


def _look(entry: dict[str, str]) -> Look:
    return Look(Link(entry["link"]), entry["what"], entry.get("command"), entry.get("recipe", ""))


def match(text: str, most: int = 2) -> list[Symptom]:
    """Return the symptoms whose words the text uses, best first; none when no word is known."""
    words = [
        w
        for w in re.findall(r"[a-z0-9-]+", _STAYS.sub(" flat ", text.lower().replace("_", " ")))
        if w not in _table()["silent"]
    ]
    scored = [(sum(_weight(stem) for stem in s.words if _said(stem, words)), s) for s in symptoms()]
    best = max((score for score, _ in scored), default=0.0)
    if best <= 0:
        return []
    kept = sorted((item for item in scored if item[0] >= 0.6 * best), key=lambda item: -item[0])
    return [symptom for _, symptom in kept[:most]]


def _said(stem: str, words: list[str]) -> bool:
    return any(word.startswith(stem) for word in words)


def _weight(stem: str) -> float:
    """Words that few symptoms share say more."""
    sharing = sum(stem in s.words for s in symptoms())
    return 1.0 / max(sharing, 1) ** 0.5
