"""The rule `evaluation-all-wrong`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

SCORE, SUCCESS = "reward/eval_mean", "reward/success_rate"
TRIES = "reward/eval_pass_at_k"
"""The share of problems of which one of several answers is right."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `evaluation-all-wrong`."""

    evals: int = 3
    """Latest evaluations that must all be 0. Engineering default."""
    never: int = 5
    """The same where no evaluation was ever above 0: a model may need some updates before it generalises. Engineering
    default."""
    solved_frac: float = 0.2
    """Share of training answers that must succeed meanwhile, and share of the held-out score that must have been there
    before it fell. At a fifth, that 32 answers are all wrong has a chance below 0.001. Engineering default."""
    fallen: float = 0.25
    """What is left of a score that fell from one evaluation to the next, of the one before and of the median of all
    before. Engineering default; of the 410 recorded runs of language models of the fault benchmark (both halves) whose
    success in training was kept, none without a fault of the evaluation lost as much."""
    kept: float = 0.7
    """Share of the success in training that must be left where the evaluation fell to 0. Engineering default."""


GRPO = synth.like("GRPO")
SOLVES = {SUCCESS: synth.clipped(synth.flat(0.6, 0.1), 0, 1)}
CASES = (
    fires("from the first evaluation on", lambda: GRPO(SOLVES | {SCORE: synth.constant(0.0)})),
    fires("all at once", lambda: GRPO(SOLVES | {SCORE: synth.after(0.5, synth.constant(0.0), synth.flat(0.6, 0.05))})),
    fires(
        "nearly all at once",
        lambda: GRPO(SOLVES | {SCORE: synth.after(0.5, synth.flat(0.03, 0.3), synth.flat(0.6, 0.05))}),
    ),
    near_miss(
        "forgotten bit by bit", lambda: GRPO(SOLVES | {SCORE: synth.ramp(0.6, 0.03, 0.02, begin=0.3, until=0.9)})
    ),
    healthy("about as good as in training", lambda: GRPO(SOLVES | {SCORE: synth.flat(0.5, 0.05)})),
    near_miss("held-out problems are harder", lambda: GRPO(SOLVES | {SCORE: synth.flat(0.04, 0.2)})),
    near_miss(
        "training is lost, too",
        lambda: GRPO(
            {
                SUCCESS: synth.after(0.5, synth.constant(0.0), synth.flat(0.6, 0.05)),
                SCORE: synth.after(0.5, synth.constant(0.0), synth.flat(0.6, 0.05)),
            }
        ),
    ),
    near_miss(
        "nothing is solved anywhere yet", lambda: GRPO({SUCCESS: synth.constant(0.01), SCORE: synth.constant(0.0)})
    ),
)


@rule(
    "EVA015",
    "evaluation-all-wrong",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.WARNING,
    needs=(SCORE, SUCCESS),
    when=("language",),
    min_points=3,
    across_phases=True,
    implies=("heldout-regression", "best-long-past", "pass-at-k-falls", "proxy-divergence"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Next to every answer of the evaluation is wrong while the same model solves a good part of its training problems.

    What it means:
        The held-out score is exactly 0, evaluation after evaluation, from the start; or it fell to 0, or to less than
        a quarter, from one evaluation to the next and stays there, while training goes on as before.

    Why it matters:
        The evaluation says nothing: it will not show that the run improves, nor that it breaks, and no checkpoint can
        be chosen by it.

    Usual causes:
        Answers cut before they end, because the evaluation allows fewer tokens; another prompt template or stop token;
        an answer parser that does not fit; tools or a verifier that are out of order there.

    What to try:
        Read ten answers of an evaluation with their stop reason; score ten training problems through the evaluation.

    When it is harmless:
        When the held-out problems are far beyond the model: then it is a hint that they cannot guide the run yet. A
        score that was above 0 before and a training success that stays rule that out, and it is an error.

    References:
        Biderman et al. 2024, arXiv 2405.14782 (evaluations depend on prompt, parser and limits).
    """
    score, success = view.get(SCORE), view.get(SUCCESS)
    assert score is not None
    assert success is not None
    first = fell_at(score.value, params.fallen)
    if first is None:
        return None
    wrong = len(score) - first
    if wrong < (params.evals if first else params.never):
        return None
    before, after = success.value[success.step < score.step[first]], success.value[success.step >= score.step[first]]
    solved = median(after) if after.size >= LEAST else 0.0
    if solved < params.solved_frac:
        return None
    if first and (median(score.value[:first]) < params.solved_frac or before.size < LEAST):
        return None
    if first and solved < params.kept * median(before[-4 * LEAST :]):
        return None
    return Detection(
        message=f"{wrong} evaluations on end score {told(score.value[first:])}, "
        f"while {solved:.0%} of the training answers succeed",
        onset=view.onset(float(score.step[max(first - 1, 0)]), float(score.step[first])),
        metric=shown(view, float(score.step[first])),
        evidence={"evaluations": wrong, "training_success_frac": solved},
        severity=Severity.ERROR if first else None,
    )


def shown(view: RunView, since: float) -> str:
    """Return which metric shows it first: of several tries not one is right, which a weak model is above sooner."""
    tries = view.get(TRIES)
    none = tries is not None and (after := tries.value[tries.step >= since]).size > 0 and not after.any()
    return TRIES if none else SCORE


def fell_at(score: Floats, fallen: float) -> int | None:
    """Return the place of the first evaluation of those that are low [n] to the end; None where the last is not.

    0 where none was ever above 0.
    """
    if not score.any():
        return 0
    for place in range(1, score.size):
        bound = fallen * min(float(score[place - 1]), median(score[:place]))
        if bound > 0 and float(score[place:].max()) <= bound:
            return place
    return None


def told(score: Floats) -> str:
    """Return how high `score` [n] is."""
    most = float(score.max())
    return f"{most:.2g} or less" if most else "0"
