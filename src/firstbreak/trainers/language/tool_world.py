"""A world with real state and three tools: a store of six keys with a digit each, and an adder.

    Sa3>    put 3 under a                      [Sa3] >3  =
    Ga>     say what is under a                [Ga] >4   =4
    Cab>    put under b what is under a        [Ga] >4   [Sb4] >4  =
    +ab>    say a plus b, modulo ten           [Ga] >4   [Gb] >9   [+49] >3   =3

The agent writes calls in brackets; after `]` the tool answers `>` and a digit, or `!` for a call that it cannot carry
out. `=` with the answer, if one is asked for, and EOS end the episode. Whether it was a success is read from the state
of the store and the answer; what the agent claims is not asked.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from .sampling import Row
from .symbols import BOS, DIGITS, EOS, LETTERS, encode
from .tasks import is_held_out

KINDS = ("set", "get", "copy", "add")
CALL = re.compile(r"\[(?:(G)([a-f])|(S)([a-f][0-9])|(\+)([0-9][0-9]))\]\Z")
ANY_CALL = re.compile(r"\[([^\[\]]*)\]\Z")
CLAIM = re.compile(r"=([0-9]?)\Z")
TOOLS = {"G": "get", "S": "set", "+": "add", "": "none"}


@dataclass(frozen=True)
class Errand:
    """What an episode is about."""

    kind: str
    keys: str
    digit: str
    """The digit to put under the key, of `set`."""
    store: tuple[tuple[str, str], ...]
    """Keys and digits at the beginning."""

    @property
    def prompt(self) -> str:
        """What the agent reads."""
        sign = {"set": "S", "get": "G", "copy": "C", "add": "+"}[self.kind]
        return f"{sign}{self.keys}{self.digit}>"

    @property
    def answer(self) -> str:
        """What the agent has to say at the end; nothing where only the store counts."""
        store = dict(self.store)
        if self.kind == "get":
            return store[self.keys]
        return str(sum(int(store[key]) for key in self.keys) % 10) if self.kind == "add" else ""

    @property
    def final_store(self) -> dict[str, str]:
        """The store as it has to be at the end."""
        store = dict(self.store)
        if self.kind == "set":
            store[self.keys] = self.digit
        elif self.kind == "copy":
            store[self.keys[1]] = store[self.keys[0]]
        return store


@dataclass
class Call:
    """One call of a tool, and what came of it."""

    name: str
    arguments: str
    result: str
    failed: bool
    changed: bool
    turn: int


@dataclass
class Episode:
    """An errand on its way: what was written, and the state of the world."""

    errand: Errand
    row: Row
    store: dict[str, str]
    calls: list[Call] = field(default_factory=list[Call])
    turns: int = 1
    broken: bool = False
    """Whether a tool failed that had been called rightly."""

    @property
    def success(self) -> bool:
        """Whether the store is as it has to be and the answer, if any, right; and the episode ended of itself."""
        claim = CLAIM.search(self.row.text)
        said = claim.group(1) if claim else None
        return self.row.ended and self.store == self.errand.final_store and said == self.errand.answer

    @property
    def claims(self) -> bool:
        """Whether the agent says it is done."""
        return self.row.ended and CLAIM.search(self.row.text) is not None


def begin(errand: Errand, group: int) -> Episode:
    """An episode of the errand in which nothing has happened yet."""
    return Episode(errand, Row((BOS, *encode(errand.prompt)), group), dict(errand.store))


def errands(
    count: int, chance: random.Random, kinds: tuple[str, ...] = KINDS, *, held_out: bool = False
) -> list[Errand]:
    """Return `count` errands, of prompts that are held out or of the others."""
    found: list[Errand] = []
    while len(found) < count:
        kind = chance.choice(kinds)
        keys = "".join(chance.sample(LETTERS, 2 if kind in ("copy", "add") else 1))
        digit = chance.choice(DIGITS) if kind == "set" else ""
        errand = Errand(kind, keys, digit, tuple((key, chance.choice(DIGITS)) for key in LETTERS))
        if is_held_out(errand.prompt) == held_out:
            found.append(errand)
    return found


def answer_call(episode: Episode, *, broken: bool = False, version: int = 0) -> None:
    """Carry out the call that the row ends with, if it ends with one, and append what the tool says.

    Args:
        episode: Changed in place.
        broken: Whether the tool is out of order; then it says `!` whatever it is asked.
        version: Stamped on the tool's tokens.
    """
    text = episode.row.text
    call = CALL.search(text)
    name, arguments = [part for part in call.groups() if part] if call else ("", "")
    before = dict(episode.store)
    result = "!" if broken or not call else ">" + _carried_out(episode.store, name, arguments)
    asked = ANY_CALL.search(text)
    episode.calls.append(
        Call(
            TOOLS[name],
            arguments if call else (asked.group(1) if asked else ""),
            result,
            failed=result == "!",
            changed=episode.store != before,
            turn=episode.turns - 1,
        )
    )
    episode.broken |= broken
    episode.turns += 1
    episode.row.append(encode(result), own=False, log_prob=0.0, version=version)


def _carried_out(store: dict[str, str], name: str, arguments: str) -> str:
    if name == "G":
        return store[arguments]
    if name == "S":
        store[arguments[0]] = arguments[1]
        return arguments[1]
    return str((int(arguments[0]) + int(arguments[1])) % 10)


def expert(errand: Errand, chance: random.Random, *, errors_frac: float = 0.0) -> Episode:
    """An episode played by rule; this share of its calls and answers has a wrong key or digit, or is left out."""
    episode = begin(errand, 0)

    def say(text: str) -> str:
        """Write a call or the end, perhaps wrongly; return what the tool says."""
        if chance.random() < errors_frac:
            if text.startswith("[") and chance.random() < 0.5:
                return chance.choice(DIGITS)  # the call is skipped, and its result made up
            text = _slip(text, chance)
        episode.row.append(encode(text), own=True, log_prob=0.0, version=0)
        if text.endswith("]"):
            answer_call(episode)
            return episode.calls[-1].result[1:]
        return ""

    keys = errand.keys
    if errand.kind == "set":
        say(f"[S{keys}{errand.digit}]")
        say("=")
    elif errand.kind == "get":
        say("=" + say(f"[G{keys}]"))
    elif errand.kind == "copy":
        digit = say(f"[G{keys[0]}]")
        say(f"[S{keys[1]}{digit}]")
        say("=")
    else:
        first, second = say(f"[G{keys[0]}]"), say(f"[G{keys[1]}]")
        say("=" + say(f"[+{first}{second}]"))
    episode.row.append([EOS], own=True, log_prob=0.0, version=0)
    episode.row.ended = True
    return episode


def _slip(text: str, chance: random.Random) -> str:
    """The text with one of its keys or digits replaced by another of the same kind."""
    places = [i for i, sign in enumerate(text) if sign in DIGITS + LETTERS]
    if not places:
        return text
    place = chance.choice(places)
    return text[:place] + chance.choice(DIGITS if text[place] in DIGITS else LETTERS) + text[place + 1 :]
