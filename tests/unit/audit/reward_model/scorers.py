"""Reward models with one trait each, as functions; responses of the made pairs carry `quality=<number>` in them."""

from __future__ import annotations

import itertools
import math
import random
import re

Texts = list[str]
_CALLS = itertools.count()


def quality(text: str) -> float:
    found = re.search(r"quality=(-?\d+\.?\d*)", text)
    return float(found[1]) if found else 0.0


def sound(prompts: Texts, responses: Texts) -> list[float]:
    return [quality(r) for r in responses]


def reversed_sign(prompts: Texts, responses: Texts) -> list[float]:
    return [-quality(r) for r in responses]


def loves_length(prompts: Texts, responses: Texts) -> list[float]:
    return [0.1 * quality(r) + 4 * math.log(len(r.strip()) + 1) for r in responses]


def likes_lists(prompts: Texts, responses: Texts) -> list[float]:
    return [quality(r) + 5.0 * r.startswith("#") for r in responses]


def reads_the_end(prompts: Texts, responses: Texts) -> list[float]:
    return [quality(r) - 3.0 * r.endswith("\n") for r in responses]


def constant(prompts: Texts, responses: Texts) -> list[float]:
    return [0.25] * len(responses)


def rounded(prompts: Texts, responses: Texts) -> list[float]:
    return [float(round(quality(r) / 3)) for r in responses]


def clipped(prompts: Texts, responses: Texts) -> list[float]:
    return [min(quality(r), 0.2) for r in responses]


def noisy(prompts: Texts, responses: Texts) -> list[float]:
    draw = random.Random(next(_CALLS))
    return [quality(r) + draw.gauss(0, 1) for r in responses]


def depends_on_batch(prompts: Texts, responses: Texts) -> list[float]:
    return [quality(r) + 0.5 * len(responses) for r in responses]


def sometimes_nan(prompts: Texts, responses: Texts) -> list[float | None]:
    return [math.nan if quality(r) > 1.5 else None if quality(r) < -1.5 else quality(r) for r in responses]


def certain(prompts: Texts, responses: Texts) -> list[float]:
    return [40 * quality(r) for r in responses]


def raises(prompts: Texts, responses: Texts) -> list[float]:
    raise RuntimeError("no weights")


def too_short(prompts: Texts, responses: Texts) -> list[float]:
    return [1.0]
