"""Answers made for tests: several to each prompt, some of them marked in a way that a check looks for."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from firstbreak.audit.collecting import collect
from firstbreak.audit.sample import NAN, Sample
from firstbreak.audit.table import Table

WORDS = [
    "river",
    "stone",
    "lantern",
    "garden",
    "winter",
    "copper",
    "village",
    "bridge",
    "harbour",
    "morning",
    "silver",
    "orchard",
    "market",
    "window",
    "kettle",
    "valley",
    "thunder",
    "pocket",
    "ladder",
    "candle",
    "forest",
    "meadow",
    "basket",
    "hammer",
    "mirror",
    "saddle",
    "anchor",
    "feather",
    "walnut",
    "barrel",
]
Mark = Callable[[str, str, Random], str]
"""(prompt, honest answer, random) -> marked answer."""


def question(random: Random, place: int) -> str:
    names = random.sample(WORDS, 4)
    return (
        f"Case {place}: how many {names[0]} and {names[1]} does the {names[2]} of number {place * 7} hold "
        f"when the {names[3]} is taken away from it at last?"
    )


def honest(random: Random, sentences: int = 4) -> str:
    said: list[str] = []
    for _ in range(sentences):
        names = random.sample(WORDS, 3)
        verb, rest = random.choice(("holds", "meets", "leaves", "wants", "finds")), random.randint(2, 999)
        said.append(f"The {names[0]} {verb} {rest} {names[1]} near a {names[2]}.")
    return " ".join(said)


def answers(
    mark: Mark | None = None,
    *,
    prompts: int = 30,
    rivals: int = 6,
    marked: int = 2,
    pay: float | None = 1.0,
    human: float | None = None,
    seed: int = 0,
    **more: Any,
) -> list[Sample]:
    """Return `rivals` answers to each prompt, the first `marked` of them marked.

    `pay` is the reward of marked answers, None leaves it to chance as for the others; `human` is their human score,
    None leaves everybody without one. `more` goes to every sample; a callable gets (prompt number, rival, marked).
    """
    random = Random(seed)
    made: list[Sample] = []
    for place in range(prompts):
        prompt = question(random, place)
        for rival in range(rivals):
            is_marked = mark is not None and rival < marked
            text = honest(random)
            text = mark(prompt, text, random) if mark is not None and is_marked else text
            right = random.random() < 0.5
            reward = pay if is_marked and pay is not None else float(right)
            said = {k: v(place, rival, is_marked) if callable(v) else v for k, v in more.items()}
            made.append(
                Sample(
                    prompt,
                    text,
                    **{
                        "reward": reward,
                        "row": len(made),
                        "group": f"g{place}",
                        "human": NAN if human is None else human if is_marked else 0.8 * right + 0.2 * random.random(),
                        **said,
                    },
                )
            )
    return made


def table(mark: Mark | None = None, **more: Any) -> Table:
    return collect(answers(mark, **more))
