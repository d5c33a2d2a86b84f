"""The rule `accumulation-window-mismatch`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import RunLog
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `accumulation-window-mismatch`; engineering defaults where no source is named."""

    token_normalised: tuple[str, ...] = ("dapo", "cispo", "token", "token-mean")
    """Loss types whose denominator is the number of tokens of a whole generation batch. The first is the default of
    the trainer that has this setting (TRL from v0.22 on, GRPOConfig.loss_type), so it stands where none is stated."""


def grpo(accumulated: int, generated: int, loss: str = "grpo", **more: int) -> RunLog:
    """A healthy GRPO run with these windows, in micro-batches."""
    config = {"gradient_accumulation": accumulated, "steps_per_generation": generated, "loss_type": loss or None}
    return synth.like("GRPO", config={**config, **more})({})


CASES = (
    fires("8 accumulated, 12 generated", lambda: grpo(8, 12)),
    fires("accumulates over two generations", lambda: grpo(16, 8, "dapo")),
    fires("the same, loss type left at its default", lambda: grpo(32, 8, "")),
    fires(
        "one of two settings that are stated",
        lambda: grpo(8, 8, "dapo", **{"b.gradient_accumulation_steps": 32, "b.steps_per_generation": 8}),
    ),
    healthy("equal windows", lambda: grpo(8, 8, "dapo")),
    near_miss("a generation is two whole windows", lambda: grpo(8, 16)),
    near_miss("two whole generations, normalised per sequence", lambda: grpo(16, 8)),
)


def straddling(accumulated: int, generated: int) -> float:
    """Share of optimiser steps, each of `accumulated` micro-batches, that mix two generation batches of `generated`."""
    steps = math.lcm(accumulated, generated) // accumulated
    mixed = sum(k * accumulated // generated != ((k + 1) * accumulated - 1) // generated for k in range(steps))
    return mixed / steps


@rule(
    "POL015",
    "accumulation-window-mismatch",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs_config=("gradient_accumulation", "steps_per_generation"),
    when=("language",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("ratio-off-one",),
)
def detect(view: RunView, params: Params) -> Answer:
    """Gradients are accumulated over another window than the one that samples and denominators belong to.

    What it means:
        An optimiser step takes A micro-batches, a generation batch holds G. Unless one divides the other, some steps
        mix samples of two generations. With a denominator counted over G, each step's gradient is A / G times the
        intended mean.

    Why it matters:
        The effective step size and the policy that a sample is compared with change from step to step; clipping of
        the gradient norm then acts on another scale.

    Usual causes:
        gradient_accumulation changed without steps_per_generation (or the generation batch size).

    What to try:
        Make G a multiple of A, and equal to it where the loss is normalised by tokens.

    When it is harmless:
        G = k A means k steps per generation: ordinary off-policy reuse, which the ratio corrects. TRL v1.16 rescales
        by A / G, which makes up for whole generations; v1.9 does not.

    References:
        Unsloth 2024, "Bugs in LLM training: gradient accumulation fix". Yu et al. 2025, arXiv 2503.14476.
    """
    loss = str(view.config("loss_type") or params.token_normalised[0]).lower()
    worst = max(
        (pair for pair in windows(view) if mixes(*pair, loss in params.token_normalised)),
        key=lambda pair: abs(math.log(pair[0] / pair[1])),
        default=None,
    )
    if worst is None:
        return None
    accumulated, generated = worst
    mixed = straddling(accumulated, generated)
    start = min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0)
    return Detection(
        message=f"{accumulated} micro-batches per step, {generated} per generation: {mixed:.0%} of the steps mix two",
        onset=view.onset(start),
        metric="optim/loss_total",
        evidence={
            "accumulated": accumulated,
            "generated": generated,
            "mixed_frac": mixed,
            "scale": accumulated / generated,
        },
    )


def mixes(accumulated: int, generated: int, by_tokens: bool) -> bool:
    """Whether steps mix generations in a way that matters: whole generations matter only for token denominators."""
    return straddling(accumulated, generated) > 0 and (by_tokens or accumulated % generated != 0)


def windows(view: RunView) -> list[tuple[int, int]]:
    """Return (accumulated, generated) of the run, and of every group of settings that states both under one name."""
    found = [(view.number("gradient_accumulation"), view.number("steps_per_generation"))]
    for key in view.log.config:
        parent, _, last = str(key).rpartition(".")
        if parent and last == "steps_per_generation":
            pair = (view.number(f"{parent}.gradient_accumulation_steps"), view.number(str(key)))
            found.append(pair)
    return [(int(a), int(g)) for a, g in found if a is not None and g is not None and a >= 1 and g >= 1]
