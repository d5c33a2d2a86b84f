"""The experiment `component-ablation`."""

from __future__ import annotations

from ...finding import Component, Link
from ..experiment import Cost, Measures, Need, Reading, Side, experiment
from ..language.training import LANGUAGE_TRAINER, OWN_ARGUMENT, SCORE, score_of, share_of_scale, train
from ..trial import Trial

COMPONENT = Need("component", "--with component=NAME: the part of the reward that is suspected")


@experiment(
    "component-ablation",
    hypothesis="One component of the reward works against the task.",
    changes="without",
    control="",
    changed="component",
    prediction="Without that component the trained policy scores higher on the private set.",
    needs=(LANGUAGE_TRAINER, COMPONENT),
    options=(SCORE, OWN_ARGUMENT),
    cost=Cost(2.0, "two short trainings for each seed"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.ABOVE,
        margin=share_of_scale,
        unit="score",
    ),
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
)
def measure(trial: Trial) -> Measures:
    """One component of the reward works against the task.

    What is changed:
        The reward: with all of its components, and without the one that is suspected (`component`). The trainer is
        given the keyword `without`, the name of the component that it leaves out, "" for none (or the keyword named by
        `without_argument`).

    Prediction:
        Without it, the score on a private set, which does not depend on the components, is higher.

    How the verdict is drawn:
        The effect is the gain of that score (`score`, by default reward/eval_mean). Confirmed above 5 points of a pass
        rate (5 % of the score's scale), refuted below.

    Cost:
        Two short trainings for each of at least five seeds.

    When it cannot decide:
        When two components do the same harm: either one alone changes little.

    References:
        Meyes et al. 2019, arXiv 1901.08644 (ablation as a way to tell what a part contributes).
    """
    own = trial.settings["without"]
    curves = train(trial, without=str(trial.subject.given["component"]) if own == "component" else own)
    return {"score": curves.end(score_of(trial.subject, curves))}
