"""The rule `draws-are-chosen`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

Z, NATS = "sample/engine_choice_z", "sample/engine_choice_nats"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `draws-are-chosen`; engineering defaults where no source is named."""

    z: float = 5.0
    """Standard deviations between the log-probabilities of what an engine returned and their mean under the policy,
    minus its entropy: 0 in the mean for draws."""
    nats: float = 0.03
    """The same a token: kernels of 16 bits differ by some 0.01."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("the best of three", lambda: GRPO({Z: synth.flat(12.0, 0.5), NATS: synth.flat(0.2, 0.01)})),
    fires(
        "half-way",
        lambda: GRPO({Z: synth.jump(0.0, 9.0, 0.5, 0.3), NATS: synth.jump(0.0, 0.15, 0.5, 0.005)}),
    ),
    healthy("draws", lambda: GRPO({Z: synth.flat(0.0, 1.0), NATS: synth.flat(0.0, 0.02)})),
    near_miss("a trifle, for certain", lambda: GRPO({Z: synth.flat(8.0, 0.5), NATS: synth.flat(0.01, 0.001)})),
    near_miss("one row", lambda: GRPO({Z: synth.spikes(0.0, 9.0, at=(0.5,)), NATS: synth.constant(0.1)})),
)


@rule(
    "EXP061",
    "draws-are-chosen",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=(Z, NATS),
    when=("language",),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "draws-too-alike",
        "zero-std-groups",
        "reward-flat",
        "token-entropy-collapse",
        "response-collapse",
        "reward-std-collapse",
        "reward-redefined",
        "advantage-collapse",
        "smooth-decline",
        "logprob-mismatch",
        "length-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The engine's responses are likelier, or less likely, than draws of the policy, though both agree on each token.

    What it means:
        Log-probabilities of engine and trainer are the same, so that the weights are. But in the mean over tokens they
        are not minus the entropy, as those of draws are: the responses were chosen among several.

    Why it matters:
        The policy gradient holds for draws. Of chosen responses the likeliest are pushed up again and again, no ratio
        between engine and trainer shows it, and the policy loses its entropy.

    Usual causes:
        `best_of` or beam search left on in the server; a filter or ranking of responses before they are returned.

    What to try:
        Print the request that the engine got; draw one group with `n` responses and nothing else.

    When it is harmless:
        Where choosing is the method, and the loss knows of it.

    References:
        Freedman 1975, doi:10.1214/aop/1176996452, theorem 1.6. vLLM documentation, `SamplingParams`.
    """
    z, nats = view.get(Z), view.get(NATS)
    assert z is not None
    assert nats is not None
    size = np.interp(z.step, nats.step, nats.value)
    off = (np.abs(z.value) >= params.z) & (np.abs(size) >= params.nats)
    onset = persistent_onset(z.step, off, params.rows)
    if onset is None:
        return None
    value = median(size[off & (z.step >= onset[1])])
    return Detection(
        message=f"the engine's responses are {value:+.2f} nats a token off draws of the policy it agrees with",
        onset=view.onset(*onset),
        metric=NATS,
        evidence={"nats": value, "z": median(z.value[off])},
    )
