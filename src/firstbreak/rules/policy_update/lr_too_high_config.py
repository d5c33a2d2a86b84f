"""The rule `lr-too-high-config`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, rises
from firstbreak.stats import median
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `lr-too-high-config`; engineering defaults where no source is named."""

    control: float = 1e-2
    """Learning rate of an adaptive optimiser (Adam, RMSprop) above all tuned settings for control: those of RL Zoo and
    CleanRL end at about 7e-3."""
    language: float = 1e-3
    """The same for language models: full fine-tuning uses 1e-7 to 1e-5, adapters up to about 2e-4."""
    absurd: float = 0.1
    """Rate at which one step of Adam moves each weight by more than its size in a layer of a hundred inputs: a warning
    in control where nothing was learned with it."""
    rows: int = 24
    """Rows of the return, or of the explained variance, that must show that nothing was."""
    explained: float = 0.2
    """Median explained variance of the newest rows under which the critic learned nothing."""


PPO, GRPO = synth.like("PPO"), synth.like("GRPO")
LR, EV = "optim/lr", "critic/explained_variance"

CASES = (
    fires("0.1 in PPO", lambda: PPO({LR: synth.constant(0.1)})),
    fires("from the configuration", lambda: synth.like("GRPO", drop=(LR,), config={"lr": 5e-3})({})),
    fires("1, and the critic explains nothing", lambda: PPO({LR: synth.constant(1.0), EV: synth.flat(0.03, 0.2)})),
    healthy("3e-4", lambda: PPO({})),
    near_miss("2.3e-3 in DQN", lambda: synth.like("DQN")({LR: synth.constant(2.3e-3)})),
    near_miss("plain SGD", lambda: synth.like("PPO", config={"optimizer": "SGD"})({LR: synth.constant(0.05)})),
    near_miss("adapter", lambda: GRPO({LR: synth.constant(2e-4)})),
)


@rule(
    "POL022",
    "lr-too-high-config",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.INFO,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("kl-overshoot", "clip-fraction-high", "entropy-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The learning rate is above every published setting for this kind of training.

    What it means:
        The rate lies outside the range that tuned configurations of the same family use. It is a hint; the update's
        own KL decides.

    Why it matters:
        Adam moves each weight by about the learning rate a step, whatever the gradient: ten times the rate is ten
        times the step. From 0.1 on it is a warning where the return does not rise or the critic explains nothing.

    Usual causes:
        A value from supervised learning or from SGD; a slip of one digit.

    What to try:
        Divide it by ten for one update and compare the KL.

    When it is harmless:
        For tiny or linear models, and for optimisers whose steps scale with the gradient (SGD: not judged).

    References:
        Raffin 2020, RL Baselines3 Zoo. Huang et al. 2022, CleanRL, JMLR 23. Kingma and Ba 2015, arXiv 1412.6980.
    """
    if "sgd" in str(view.config("optimizer", "")).lower():
        return None
    logged = view.get(LR)
    if logged is not None and len(logged):
        rate, at = logged.max, logged.max_at
    else:
        given = view.number("lr")
        if given is None:
            return Skip("the learning rate is not known", (LR, "config lr"))
        rate, at = given, min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0)
    limit = params.language if "language" in traits_of(view.algorithm) else params.control
    if rate <= limit:
        return None
    return Detection(
        message=f"learning rate {rate:g} is above published settings (up to about {limit:g})",
        onset=view.onset(at),
        metric=LR,
        evidence={"lr": rate, "limit": limit},
        severity=Severity.WARNING if limit < params.absurd <= rate and nothing_learned(view, params) else None,
    )


def nothing_learned(view: RunView, params: Params) -> bool:
    """Whether the return does not rise, or the critic explains none of it, over enough rows."""
    if "control" not in traits_of(view.algorithm):
        return False
    reward, explained = view.get(*TRAIN), view.get(EV)
    flat = reward is not None and len(reward) >= params.rows and not rises(reward)
    blind = explained is not None and len(explained) >= params.rows
    return flat or (blind and explained is not None and median(explained.value[-params.rows // 2 :]) < params.explained)
