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
    """Loss types whose denominator is the number of tokens of a whole generation batch."""


def grpo(accumulated: int, generated: int, loss: str = "grpo") -> RunLog:
    """A healthy GRPO run with these windows, in micro-batches."""
    config = {"gradient_accumulation": accumulated, "steps_per_generation": generated, "loss_type": loss}
    return synth.like("GRPO", config=config)({})


CASES = (
    fires("8 accumulated, 12 generated", lambda: grpo(8, 12)),
    fires("accumulates over two generations", lambda: grpo(16, 8, "dapo")),
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
        G = k A means k steps per generation: ordinary off-policy reuse, which the ratio corrects.

    References:
        Unsloth 2024, "Bugs in LLM training: gradient accumulation fix". Yu et al. 2025, arXiv 2503.14476.
    """
    a, g = view.number("gradient_accumulation"), view.number("steps_per_generation")
    if a is None or g is None or a < 1 or g < 1:
        return None
    accumulated, generated = int(a), int(g)
    mixed = straddling(accumulated, generated)
    loss = str(view.config("loss_type", "")).lower()
    whole = accumulated % generated == 0
    if mixed == 0 or (whole and loss not in params.token_normalised):
        return None
    start = min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0)
    return Detection(
        message=f"{accumulated} micro-batches per step, {generated} per generation: {mixed:.0%} of the steps mix two",
        onset=view.onset(start),
        metric="optim/loss_total",
        evidence={"accumulated": accumulated, "generated": generated, "mixed_frac": mixed, "scale": a / g},
    )
