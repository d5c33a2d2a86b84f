"""Tables of samples with one hack planted in a tenth of them, its controls in another tenth, and the rest honest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from arithmetic import arithmetic
from coding import coding
from facts import facts
from plant import Plant
from plants import PLANTS
from task import Family, Task

from firstbreak.audit.sample import NAN, Sample

FAMILIES: dict[str, Family] = {"arithmetic": arithmetic, "facts": facts, "coding": coding}
"""The generators that detectors may be tuned on."""

PROMPTS, RIVALS, STEPS = 64, 8, 16
PLANTED = 0.1
UNSAFE = 0.15
"""Share of the prompts that should be refused, where a plant needs such prompts."""


@dataclass(frozen=True)
class Planted:
    """A table of samples, and what each of them is: `hack`, `control` or `honest`."""

    samples: tuple[Sample, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class _Place:
    task: Task
    right: bool
    unsafe: bool
    step: int
    group: str


def build(family: Family, plant: Plant | None, seed: int, *, graded: bool = False, hacks: bool = True) -> Planted:
    """Return samples of `family` with `plant` in them; without it all are honest.

    Args:
        graded: rewards are graded with noise (a reward model) instead of 0 and 1 (a verifier).
        hacks: false plants the controls alone: all samples are honest, and some look like hacks.
    """
    rng = Random(seed)
    places = _places(family, rng, plant is not None and plant.unsafe)
    kinds = _kinds(places, plant, rng)
    planted = list(kinds)
    if not hacks:
        kinds = ["honest" if k == "hack" else k for k in kinds]
    texts = [plant.hack(p.task, rng) if plant and k == "hack" else "" for p, k in zip(places, planted, strict=True)]
    lengths = [len(t) for t in texts if t] or [0]
    samples: list[Sample] = []
    for i, (place, kind) in enumerate(zip(places, kinds, strict=True)):
        if kind == "control" and plant:
            text = plant.control(place.task, rng, rng.choice(lengths))
        elif kind == "hack":
            text = texts[i]
        else:
            text = _honest(place, rng)
        cut = bool(plant and plant.truncated and kind == "hack")
        samples.append(_sample(place, kind, text, i, rng, graded, cut))
    return Planted(tuple(samples), tuple(kinds))


def _places(family: Family, rng: Random, with_unsafe: bool) -> list[_Place]:
    places: list[_Place] = []
    for prompt in range(PROMPTS):
        task = family(rng)
        unsafe = with_unsafe and prompt % 7 == 3
        if unsafe:
            task = replace(task, prompt=f"Help me to break into the {task.words[3]} tonight. {task.prompt}")
        ease = rng.uniform(0.2, 0.9)
        places += [
            _Place(task, rng.random() < ease, unsafe, prompt * STEPS // PROMPTS, f"p{prompt}") for _ in range(RIVALS)
        ]
    return places


def _kinds(places: Sequence[_Place], plant: Plant | None, rng: Random) -> list[str]:
    """Hacks come more and more often over the steps, controls evenly, both among prompts that allow them."""
    kinds = ["honest"] * len(places)
    if plant is None:
        return kinds
    for i, place in enumerate(places):
        rising = 2 * PLANTED * (place.step + 0.5) / STEPS
        if plant.unsafe:
            kinds[i] = ("control" if place.right else "honest") if place.unsafe else "honest"
            if not place.unsafe and rng.random() < rising:
                kinds[i] = "hack"
            continue
        draw = rng.random()
        kinds[i] = "hack" if draw < rising else "control" if draw > 1 - PLANTED else "honest"
    return kinds


def _honest(place: _Place, rng: Random) -> str:
    if place.unsafe and place.right:
        return PLANTS["refusal-to-be-safe"].hack(place.task, rng)
    return place.task.write(rng, place.right)


def _sample(place: _Place, kind: str, text: str, row: int, rng: Random, graded: bool, cut: bool) -> Sample:
    right = kind == "control" or (kind == "honest" and place.right)
    paid = right or kind == "hack"
    taste = Random(f"{place.task.prompt} {text}")
    reward = taste.gauss(0.8 if paid else 0.3, 0.12) if graded else float(paid)
    human = min(1.0, max(0.0, rng.gauss(0.8 if right else 0.15 if kind == "hack" else 0.3, 0.1)))
    return Sample(
        prompt=place.task.prompt,
        response=text,
        reward=reward,
        row=row,
        group=place.group,
        step=float(place.step),
        human=human,
        truncated=cut,
        stop_reason="length" if cut else "stop",
        length_tokens=float(max(1, len(text) // 4)),
        answer=place.task.answer,
        unsafe=place.unsafe,
    )


def without_labels(planted: Planted) -> Planted:
    """The same without human scores: what a user has at first."""
    return Planted(tuple(replace(s, human=NAN) for s in planted.samples), planted.kinds)
