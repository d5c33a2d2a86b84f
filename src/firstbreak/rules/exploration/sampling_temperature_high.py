"""The rule `sampling-temperature-high`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST
from firstbreak.view import RunView

SUCCESS, SCORE = "reward/success_rate", "reward/eval_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `sampling-temperature-high`."""

    high: float = 2.0
    """Temperature from which it is worth a warning: published recipes sample at 0.6 to 1.55 (An et al. 2025, POLARIS).
    At 2 the odds of two tokens are only the square root of what the model says. Engineering default."""
    solved_frac: float = 0.1
    """Held-out score of the first evaluation from which a model can be said to solve some problems. Engineering
    default."""
    lost: float = 0.25
    """Share of that score below which the success of the first training rows shows that sampling hides what the model
    can do. Engineering default."""


HOT = synth.like("GRPO", config={"temperature": 5.0})
CASES = (
    fires("five times as hot", lambda: HOT({})),
    fires(
        "the model solves a fifth, and next to none when it samples",
        lambda: HOT({SCORE: synth.ramp(0.22, 0.1, 0.02), SUCCESS: synth.clipped(synth.flat(0.005, 0.5), 0, 1)}),
    ),
    healthy("temperature 1", lambda: synth.like("GRPO", config={"temperature": 1.0})({})),
    near_miss("a recipe that samples hot", lambda: synth.like("GRPO", config={"temperature": 1.5})({})),
)


@rule(
    "EXP028",
    "sampling-temperature-high",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("reward/train_mean", "reward/rollout_mean", "policy/entropy"),),
    needs_config=("temperature",),
    when=("language",),
    static=True,
    implies=(
        "task-too-hard",
        "component-dead",
        "reward-flat",
        "reward-noisy",
        "zero-std-groups",
        "entropy-stuck-high",
        "heldout-regression",
        "pass-at-k-falls",
        "best-long-past",
        "proxy-divergence",
        "no-eos-from-start",
    ),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses are drawn at a temperature at which they hardly follow the model.

    What it means:
        The configured sampling temperature is at least 2. Where a first evaluation shows that the model solves some
        problems and its training samples solve next to none, that is its effect, and an error.

    Why it matters:
        Training sees near random text: what the model can do earns nothing, and what is reinforced are the few answers
        that noise leaves intact. The model that is evaluated forgets what the one that samples never shows.

    Usual causes:
        A temperature of another unit or tool (a top-k, an inverse); a value left over from an experiment.

    What to try:
        Draw twenty answers at temperature 1 and at the one configured, and compare their success.

    When it is harmless:
        A warm sampler with min-p or a small top-k, which cut off what the temperature lifts.

    References:
        An et al. 2025 (POLARIS), recipe for the sampling temperature. Ackley et al. 1985, "A Learning Algorithm for
        Boltzmann Machines", section 2 (temperature).
    """
    temperature = view.number("temperature")
    if temperature is None or temperature < params.high:
        return None
    success, score = view.get(SUCCESS), view.get(SCORE)
    metric = next(m for m in ("policy/entropy", "reward/train_mean", "reward/rollout_mean") if view.get(m))
    shown = view.get(metric)
    assert shown is not None
    could, did = float("nan"), float("nan")
    if success is not None and len(success) >= LEAST and score is not None and len(score):
        could, did = score.first, float(success.value[:LEAST].mean())
    hidden = could >= params.solved_frac and did <= params.lost * could
    said = f"; {did:.1%} of samples succeed, {could:.0%} in the first evaluation" if hidden else ""
    return Detection(
        message=f"responses are drawn at temperature {temperature:g}{said}",
        onset=view.onset(float(shown.source.step[0])),
        metric=metric,
        evidence={"temperature": temperature, "success_frac": did, "evaluation": could},
        severity=Severity.ERROR if hidden else None,
    )
