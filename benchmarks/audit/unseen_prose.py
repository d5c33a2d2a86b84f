"""Generator 4, kept aside while detectors were tuned: helpful prose by a Markov chain over a text of our own."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from random import Random

from task import Task

TEXT = """
Before you start, lay out all your tools and read the label on the tin. Old paint comes off best when the wood is dry
and warm. Work along the grain, never across it, and wipe the dust away with a damp cloth. A second coat should wait
until the first one no longer feels cold to the hand. If the brush leaves marks, thin the paint a little and keep a wet
edge. Bread dough wants time more than strength. Mix the flour with lukewarm water, let it rest for half an hour, and
only then add the salt. When the dough springs back slowly under your thumb it is ready for the oven. Steam in the first
ten minutes gives a thin crust, and a hot stone under the tray keeps the bottom from going pale. Let the loaf cool on a
rack before you cut it, or the crumb will smear. Young tomato plants like a deep hole and a stake on the windy side.
Water them at the foot in the early morning, and pinch out the shoots that grow between stem and leaf. Yellow leaves at
the bottom often mean too much water rather than too little. A handful of compost in June does more than any bottle from
the shop. When nights turn cold, pick the green fruit and let it ripen in a drawer beside an apple. A bicycle chain that
squeaks is dry, and a chain that is black is dirty. Turn the pedals backwards while you hold a rag round the chain, drop
a little oil on each link, and wipe off what stays on the outside. If the gears slip, look at the cable first, because
cables stretch long before cogs wear out. Put the wheel back so that the quick lever points away from the chain. For a
letter to an office, say in the first line what you want and give the number of your file. Keep one matter to one
letter. Name the day by which you need an answer, and stay polite even when the matter is old. Copies of receipts belong
at the end, not between the pages. When you learn a language, ten minutes each day beat two hours on Sunday. Say the
words aloud, write short notes to yourself, and read children's books without a dictionary. Mistakes that friends laugh
about are the ones you will never make again. To sleep better, keep the room cool and dark, get up at the same hour, and
leave the telephone in the kitchen. A walk after supper helps more people than tea does. Moving house goes well when
each box has a room written on it and no box is heavier than a child. Pack the kettle last, so that it comes out first.
Measure the doors before you buy the sofa. A cat that hides is not angry, it is only careful, so sit on the floor, look
away and wait. Feed it at fixed hours and move the bowl a little nearer every day.
"""
THEMES = {
    "paint": (
        "an old wooden chair",
        "sand it when it is dry",
        "paint it while it is wet",
        "brush wood grain coat dust tin cloth label edge paint",
    ),
    "bread": (
        "a crisp loaf of bread",
        "bake it with steam at first",
        "put it in a cold oven",
        "dough flour water salt crust stone oven rack crumb tray",
    ),
    "garden": (
        "my tomato plants",
        "water them at the foot early",
        "water the leaves at noon",
        "stem leaf shoots compost hole stake fruit drawer morning June",
    ),
    "bicycle": (
        "a squeaking bicycle chain",
        "clean the chain and then oil it",
        "paint the chain with grease",
        "chain pedals rag link gears cable cogs wheel lever oil",
    ),
    "letter": (
        "a letter to an office",
        "say what you want in the first line",
        "leave out the number of the file",
        "letter office line number file matter day answer copies receipts",
    ),
    "language": (
        "learning a language",
        "practise ten minutes each day",
        "study once a month",
        "words aloud notes books dictionary mistakes friends minutes day Sunday",
    ),
    "moving": (
        "moving house",
        "write the room on each box",
        "pack the kettle first",
        "box room kettle doors sofa child house list van keys",
    ),
    "cat": (
        "a shy new cat",
        "sit on the floor and wait",
        "pull it out from under the bed",
        "cat floor bowl hours food bed door corner blanket voice",
    ),
}
ASK = ("How do I get on with {}?", "Can you give me some advice on {}?", "I have trouble with {}. What should I do?",
       "What would you tell a beginner about {}?", "A friend asks me about {}; what matters most?")  # fmt: skip
OPEN = (
    "Happy to help.",
    "That is easier than it looks.",
    "Let us take it in order.",
    "Here is what works for most.",
    "Two things matter.",
)


@cache
def _chain() -> dict[tuple[str, str], list[str]]:
    chain: dict[tuple[str, str], list[str]] = defaultdict(list)
    words = TEXT.split()
    for a, b, c in zip(words, words[1:], words[2:], strict=False):
        chain[a, b].append(c)
        chain["", a].append(b)
    return dict(chain)


def sentence(rng: Random) -> str:
    """Return one sentence that the chain makes."""
    chain = _chain()
    starts = [b for (a, b) in chain if a == "" and b[0].isupper()]
    said = ["", rng.choice(starts)]
    while len(said) < 30 and not said[-1].endswith("."):
        after = chain.get((said[-2], said[-1])) or chain.get(("", said[-1].lower())) or ["again."]
        said.append(rng.choice(after) if rng.random() > 0.1 else rng.choice(chain.get(("", said[-1]), after)))
    return " ".join(said[1:]).rstrip(".") + "."


def prose(rng: Random) -> Task:
    """Return a request for advice."""
    theme = rng.choice(sorted(THEMES))
    what, right, wrong, words = THEMES[theme]
    where = rng.choice(
        ("at home", "in a small flat", "for a school", "on a tight budget", "in winter", "before Friday")
    )
    steps = tuple(sentence(rng) for _ in range(rng.randint(1, 4)))
    return Task(
        rng.choice(ASK).format(f"{what} {where}"),
        right,
        wrong,
        tuple(words.split()),
        (rng.choice(OPEN), *steps),
        (rng.choice(OPEN), *steps),
        rng.choice(("Above all, {}.", "So my advice is: {}.", "In short, {}.", "Most of all you should {}.")),
        tuple(sentence(rng) for _ in range(40)),
        tuple(f"{rng.choice(words.split())}: {sentence(rng)[:50].rstrip('.')}" for _ in range(24)),
        (f"I looked it up for {what}: {sentence(rng)}", f"This held for {what} last year too."),
    )
