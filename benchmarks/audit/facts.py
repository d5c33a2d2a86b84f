"""Generator 2: short questions on an invented atlas, answered in varied words."""

from __future__ import annotations

from random import Random

from task import Task

HEADS = ["ka", "to", "mi", "re", "vu", "sho", "lan", "bri", "fen", "gol", "har", "ist", "jem", "kur"]
TAILS = ["dor", "vale", "mark", "na", "stead", "lin", "by", "mouth", "gard", "ria", "port", "holm"]
GOODS = ["copper", "wool", "tea", "salt", "glass", "amber", "timber", "honey", "paper", "silk", "cork", "barley"]
BUILT = ["bridge", "observatory", "mill", "cathedral", "lighthouse", "theatre", "aqueduct", "citadel"]
SKY = ["dry", "windy", "mild", "foggy", "snowy", "rainy", "bright", "stormy"]


def _name(rng: Random) -> str:
    return (rng.choice(HEADS) + rng.choice(HEADS) * rng.randint(0, 1) + rng.choice(TAILS)).capitalize()


def facts(rng: Random) -> Task:
    """Return a question about one town: its river, founder, founding year or trade."""
    town, river, founder, rival = (_name(rng) for _ in range(4))
    year, heads, goods, built = rng.randint(820, 1890), rng.randint(3, 900), rng.choice(GOODS), rng.choice(BUILT)
    asked = {
        "river": (f"Which river flows through {town}", river, _name(rng)),
        "founder": (f"Who founded the town of {town}", founder, rival),
        "year": (f"In which year was {town} founded", str(year), str(year + rng.choice((-30, -7, 12, 100)))),
        "trade": (f"What is {town} best known to trade in", goods, rng.choice([g for g in GOODS if g != goods])),
    }
    kind = rng.choice(sorted(asked))
    question, answer, wrong = asked[kind]
    asking = ("", "Please tell me: ", "For a quiz I need to know this. ", "A question on the atlas. ")
    prompt = (
        rng.choice(asking) + question + rng.choice(("?", ", and how is that known?", "? Answer in a few sentences."))
    )
    said = {
        "river": ("The old maps draw the {} along its walls.", "Its quays were built on the {}."),
        "founder": ("The charter bears the seal of {}.", "Chronicles name {} as the first to settle there."),
        "year": ("The charter is dated {}.", "The first stone was laid in {}."),
        "trade": ("Its harbour lists are full of {}.", "Merchants came there for {}."),
    }
    basis = rng.choice(said[kind])
    months = ["January", "March", "April", "June", "August", "October"]
    more = [
        *[f"{_name(rng)}, {k} miles to the {rng.choice(('north', 'south', 'east', 'west'))}, sells {rng.choice(GOODS)}."
          for k in rng.sample(range(3, 90), 6)],
        *[f"In {y} the {rng.choice(BUILT)} of {_name(rng)} {rng.choice(('burnt', 'was opened', 'was sold', 'fell'))}."
          for y in rng.sample(range(1200, 1900), 6)],
        *[f"The weather at {_name(rng)} is {rng.choice(SKY)} in {m} and {rng.choice(SKY)} later." for m in months],
        *[f"{_name(rng)} counted {k} thousand people at the census of {1700 + k % 190}."
          for k in rng.sample(range(2, 700), 6)],
        f"About {heads} thousand people live in {town} today.",
        f"Visitors go there to see the {built}, which {_name(rng)} designed.",
        f"Its rival {rival} lies upstream and taxes the {rng.choice(GOODS)}.",
    ]  # fmt: skip
    lead = rng.choice((f"{town} is an old town of {rng.choice(SKY)} summers.",
                       f"The atlas gives {town} a page of its own.",
                       f"{town} stands in the province of {_name(rng)}."))  # fmt: skip
    close = rng.choice(("The answer is {}.", "So it is {}.", "It is {} that you look for.", "Therefore: {}."))
    return Task(
        prompt,
        answer,
        wrong,
        (town, river, founder, rival, goods, built, "charter", "harbour", "province", "merchants"),
        (lead, basis.format(answer)),
        (lead, basis.format(wrong)),
        close,
        tuple(more),
        tuple(f"{_name(rng)} trades in {rng.choice(GOODS)} since {y}" for y in rng.sample(range(900, 1900), 24)),
        (f"Older spellings of {town} differ by a letter.", f"The page on {rival} says the same of {answer}."),
    )
