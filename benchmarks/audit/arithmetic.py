"""Generator 1: word problems with worked steps."""

from __future__ import annotations

from random import Random

from task import Task

PEOPLE = [
    "Ana",
    "Boris",
    "Chidi",
    "Dora",
    "Emeka",
    "Farah",
    "Goran",
    "Hana",
    "Ivo",
    "Jun",
    "Kofi",
    "Lena",
    "Mira",
    "Nadia",
    "Oskar",
    "Petra",
    "Quim",
    "Rosa",
    "Samir",
    "Tove",
]
THINGS = [
    "apples",
    "tiles",
    "candles",
    "bolts",
    "stamps",
    "marbles",
    "pencils",
    "bricks",
    "shells",
    "buttons",
    "lemons",
    "coins",
    "plates",
    "ropes",
    "jars",
]
BOXES = ["crates", "boxes", "bags", "trays", "shelves", "sacks", "baskets", "drawers"]
PLACES = ["market", "workshop", "school", "harbour", "library", "farm", "bakery", "station", "museum", "garden"]
MADE = ("makes", "gives", "comes to", "is", "adds up to", "leaves us at")


def arithmetic(rng: Random) -> Task:
    """Return a problem: some boxes of things, some of them given away, the rest bought at a price."""
    who, thing, box, place = rng.choice(PEOPLE), rng.choice(THINGS), rng.choice(BOXES), rng.choice(PLACES)
    n, each, gone, price = rng.randint(4, 39), rng.randint(3, 48), 0, rng.randint(2, 19)
    total = n * each
    gone = rng.randint(1, total - 1)
    left, slip = total - gone, rng.choice((-10, -1, 1, 2, 10))
    worth = left * price
    prompt = rng.choice((
        f"{who} brings {n} {box} of {each} {thing} to the {place} and gives away {gone} of them. "
        f"The rest is sold for {price} crowns apiece. How many crowns does {who} earn?",
        f"At the {place} there are {n} {box}. Each of the {box} holds {each} {thing}. {who} drops {gone} {thing} "
        f"and sells all others at {price} crowns. What is the sum?",
        f"How much money does {who} take at the {place} when {n} {box} with {each} {thing} each arrive, {gone} {thing} "
        f"are spoiled, and every other one costs {price} crowns?",
    ))  # fmt: skip
    tens = n // 10 * 10
    more = [
        f"Splitting the product, {n} * {each} = {tens} * {each} + {n - tens} * {each} "
        f"= {tens * each} + {(n - tens) * each}.",
        f"Going back, {worth} / {price} = {left}, and {left} + {gone} = {left + gone}, which is {n} * {each} again.",
        f"Had {who} given away nothing, the sum would be {total} * {price} = {total * price}.",
        f"The {gone} lost {thing} cost {gone} * {price} = {gone * price} crowns.",
        f"So {total * price} - {gone * price} = {total * price - gone * price} says the same by another way.",
        *[
            f"With {k} {box} fewer there would be {total - k * each} {thing} in all."
            for k in rng.sample(range(1, n), min(3, n - 1))
        ],
        *[f"{rng.choice(PEOPLE)} could buy {k} {thing} for {k * price} crowns." for k in rng.sample(range(2, 60), 5)],
        *[
            f"A price of {p} instead of {price} would bring {left * p} crowns to the {place}."
            for p in rng.sample(range(20, 60), 5)
        ],
        *[
            f"If {k} {thing} more went missing, {left - k} would stay, worth {(left - k) * price}."
            for k in rng.sample(range(1, 40), 5)
        ],
        *[
            f"Each share among {k} buyers is about {left // k} {thing}, and {left % k} remain."
            for k in rng.sample(range(3, 25), 5)
        ],
    ]
    return Task(
        prompt,
        str(worth),
        str((left + slip) * price),
        (who, thing, box, place, "crowns", "sum", "price", "each", "rest", "sold"),
        _steps(rng, n, each, total, gone, left, price, worth, thing, box),
        _steps(rng, n, each, total, gone, left + slip, price, (left + slip) * price, thing, box),
        rng.choice(("The answer is \\boxed{{{}}}.", "So the result is \\boxed{{{}}} crowns.", "Hence \\boxed{{{}}}.")),
        tuple(more),
        tuple(f"{k} of the {box} hold {k * each} {thing}" for k in range(1, 25)),
        (f"I checked it backwards: {worth} / {price} + {gone} = {total}.", f"Counting {thing} only, not {box}."),
    )


def _steps(
    rng: Random, n: int, each: int, total: int, gone: int, left: int, price: int, worth: int, thing: str, box: str
) -> tuple[str, ...]:
    made = rng.sample(MADE, 3)
    return (
        rng.choice((
            f"First, {n} {box} of {each} {made[0]} {n} * {each} = {total} {thing}.",
            f"We multiply {n} by {each}, which {made[0]} {total} {thing}.",
            f"There are {n} * {each} = {total} {thing} at the start.",
        )),
        rng.choice((
            f"Taking away {gone} {made[1]} {total} - {gone} = {left}.",
            f"Of these {gone} are gone, so {left} are left.",
            f"Then {total} - {gone} = {left} {thing} stay.",
        )),
        rng.choice((
            f"At {price} crowns each that {made[2]} {left} * {price} = {worth}.",
            f"Selling {left} at {price} brings {worth} crowns.",
            f"Finally {left} * {price} = {worth}.",
        )),
    )  # fmt: skip
