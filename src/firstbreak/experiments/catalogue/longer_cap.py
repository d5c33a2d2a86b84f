"""The experiment `longer-cap`."""

from __future__ import annotations

from collections.abc import Sequence

from ...finding import Component, Link
from ..batch.given import COUNT, GENERATE, PROMPTS, SCORER, number_of
from ..batch.responses import judge_of, questions_of, writer_of
from ..experiment import Cost, Measures, Need, Option, Reading, Side, experiment
from ..subject import Subject
from ..trial import Trial

TIMES = 4
"""How much longer the cap is made."""
CUT_FRAC = 0.05
"""Share of cut answers from which there is something to explain (AReaL, "Diagnosing RL performance": no_eos_ratio)."""
FINISH_FRAC = 0.25
"""Share of the cut answers that have to finish for the cap to be the reason. Engineering default: of answers that never
stop, hardly any does."""

CAP = Need("cap", "--with cap=TOKENS: the longest response in training")


def _effect(control: Measures, changed: Measures) -> float:
    return (control["cut_frac"] - changed["cut_frac"]) / max(control["cut_frac"], 1 / control["responses"])


def _symptom(controls: Sequence[Measures], subject: Subject) -> str:
    cut = sum(c["cut_frac"] for c in controls) / len(controls)
    cap = number_of(subject, "cap", 0)
    return "" if cut >= CUT_FRAC else f"only {cut:.1%} of the answers are cut at {cap:g} tokens"


@experiment(
    "longer-cap",
    hypothesis="Answers are cut off before they are done: with more room they come to an end.",
    changes="cap_times",
    control=1,
    changed=TIMES,
    prediction="With four times the cap, at least a quarter of the answers that were cut come to an end.",
    needs=(GENERATE, PROMPTS, CAP),
    options=(COUNT, Option(SCORER.name, "module:function: the answers are scored, too")),
    cost=Cost(0.0, "50 prompts answered twice for each seed, no training"),
    reading=Reading(
        effect=_effect, confirms=Side.ABOVE, margin=FINISH_FRAC, unit="share of the cut answers", symptom=_symptom
    ),
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    pilot=3,
)
def measure(trial: Trial) -> Measures:
    """Answers are cut off before they are done.

    What is changed:
        The longest response: as in training (`cap`), and four times that. The same prompts, the same seed.

    Prediction:
        Of the answers that were cut, at least a quarter come to an end with more room. Where the model never stops,
        hardly any does.

    How the verdict is drawn:
        The effect is the fall of the share of cut answers, as a share of those cut. If less than 5 % are cut in the
        control, there is nothing to explain, and nothing is concluded. With a `scorer`, the mean score of both arms is
        shown too: answers that finish and are wrong are another matter.

    Cost:
        50 prompts (or `count`) answered twice for each of at least three seeds; no training.

    When it cannot decide:
        When about a quarter of the cut answers finish, or few are cut: more prompts, more seeds.

    References:
        AReaL documentation, "Diagnosing RL performance", section on sequence length.
    """
    questions = questions_of(trial.subject, trial.seed, int(number_of(trial.subject, "count", 50)))
    cap = int(number_of(trial.subject, "cap", 0) * trial.settings["cap_times"])
    groups = writer_of(trial.subject)(questions, 1, cap, trial.seed)
    trial.beat()
    cut = sum(not r.finished for group in groups for r in group) / len(groups)
    found = {"cut_frac": cut, "responses": float(len(groups))}
    if trial.subject.offers("scorer"):
        found["score"] = float(judge_of(trial.subject)(questions, groups).mean())
    return found
