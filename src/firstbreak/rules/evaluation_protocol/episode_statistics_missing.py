"""The rule `episode-statistics-missing`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, ended, from_start
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `episode-statistics-missing`. Engineering defaults where no source is named."""

    rows: int = 30
    """Rows of losses without any episode statistic after which it is reported; a log that is over is judged at once."""


PPO = synth.like("PPO", drop=("reward/episode_return_mean", "episode/length_mean"))
NAN = {"reward/episode_return_mean": synth.constant(float("nan")), "episode/length_mean": synth.constant(float("nan"))}
CASES = (
    fires("statistics are NaN in every row", lambda: PPO(NAN)),
    fires("never logged", lambda: PPO({})),
    fires("one row", lambda: synth.like("PPO", drop=("reward/episode_return_mean", "episode/length_mean"), n=1)(NAN)),
    healthy("logged", lambda: synth.like("PPO")({})),
    near_miss(
        "no episode has ended at first",
        lambda: synth.like("PPO")(
            {"reward/episode_return_mean": synth.after(0.05, synth.ramp(20, 300), synth.constant(float("nan")))}
        ),
    ),
    near_miss("reward per step instead", lambda: PPO({"reward/step_mean": synth.flat(1.0)})),
)


@rule(
    "EVA010",
    "episode-statistics-missing",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.LOGGING,
    severity=Severity.INFO,
    any_of=(("critic/loss", "policy/loss", "optim/loss_total"),),
    when=("control",),
    across_phases=True,
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """Losses are logged but no return or episode length is.

    What it means:
        Episode statistics are absent, or NaN in every row, while the losses are finite.

    Why it matters:
        Training is probably fine, but nothing says whether it helps; most looks at the reward are blind.

    Usual causes:
        No monitor around the environment; statistics under another key; episodes that never end; a done flag that is
        read under the wrong name.

    What to try:
        Wrap the environment in a monitor; count done flags in one rollout.

    When it is harmless:
        Early on, before the first episode has ended; where the score is measured by separate evaluations.

    References:
        Raffin et al. 2021, "Stable-Baselines3" (Monitor wrapper).
    """
    loss = view.get("critic/loss", "policy/loss", "optim/loss_total")
    assert loss is not None
    if not len(loss) or not (len(loss) >= params.rows or ended(view)) or view.has("seq/len_mean"):
        return None
    names = (
        *TRAIN,
        *TRUTH,
        "reward/raw_episode_return",
        "reward/shaped_return_mean",
        "reward/agent_return_mean",
        "reward/extrinsic_mean",
        "reward/final_mean",
        "reward/success_rate",
        "reward/component",
    )
    held = [points for points in (view.logged(name) for name in names) if points is not None]
    if (
        any(len(points) for points in held)
        or view.family("reward/agent_return_mean")
        or view.family("reward/component")
    ):
        return None
    what = "NaN in every row" if held else "not logged"
    return Detection(
        message=f"losses are finite in {len(loss)} rows but returns are {what}",
        onset=from_start(view, loss),
        metric=loss.metric,
        evidence={"rows": len(loss), "episode_statistics": what},
    )
