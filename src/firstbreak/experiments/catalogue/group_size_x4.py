"""The experiment `group-size-x4`."""

from __future__ import annotations

from collections.abc import Sequence

from ...finding import Component, Link
from ..batch.given import COUNT, GENERATE, PROMPTS, SCORER, number_of
from ..batch.responses import judge_of, questions_of, writer_of
from ..experiment import Cost, Measures, Need, Reading, Side, experiment
from ..subject import Subject
from ..trial import Trial

TIMES = 4
"""How much larger the groups are made."""
SILENT_FRAC = 0.2
"""Share of silent prompts from which there is something to explain. Engineering default."""
WAKE_FRAC = 0.1
"""Share of the silent prompts that a larger group has to wake, beyond what drawing again wakes. Engineering default."""
LOOK_SEED = 7_919
"""Added to a seed to look for silent prompts, so that no arm is judged by the draw that chose them."""

GROUP = Need("group", "--with group=N: responses per prompt in training")
CAP = Need("cap", "--with cap=TOKENS: the longest response in training")


def _symptom(controls: Sequence[Measures], subject: Subject) -> str:
    del subject
    silent = sum(c["silent_frac"] for c in controls) / len(controls)
    return "" if silent >= SILENT_FRAC else f"only {silent:.0%} of the prompts have silent groups"


@experiment(
    "group-size-x4",
    hypothesis="The silent prompts are within reach: larger groups would hold both right and wrong answers.",
    changes="group_times",
    control=1,
    changed=TIMES,
    prediction="With four times as many responses, at least a tenth of the silent prompts show different rewards.",
    needs=(GENERATE, PROMPTS, SCORER, GROUP, CAP),
    options=(COUNT,),
    cost=Cost(0.0, "6 groups for each of 50 prompts for each seed, no training"),
    reading=Reading(
        effect=lambda control, changed: changed["awake_frac"] - control["awake_frac"],
        confirms=Side.ABOVE,
        margin=WAKE_FRAC,
        unit="share of the silent prompts",
        symptom=_symptom,
    ),
    link=Link.EXPLORATION,
    component=Component.ADVANTAGE,
    pilot=3,
)
def measure(trial: Trial) -> Measures:
    """The silent prompts are within reach of larger groups.

    What is changed:
        The number of responses per prompt: as in training (`group`), and four times that, on the prompts whose group
        was silent (all rewards equal) in a draw of its own. Both arms draw anew, so that what a mere second draw
        wakes counts for neither.

    Prediction:
        If the policy solves these prompts now and then, the silent share p^G + (1-p)^G falls with G; if it never
        (or always) does, it stays.

    How the verdict is drawn:
        Confirmed when the larger groups wake at least a tenth of the silent prompts more than groups of the old size;
        refuted when less: the task is then too hard for this policy (or too easy), and larger groups do not help.

    Cost:
        50 prompts (or `count`), six groups each, for each of at least three seeds; no training.

    When it cannot decide:
        When few prompts are silent, or about a tenth wakes: more prompts, more seeds.

    References:
        Shao et al. 2024, arXiv 2402.03300, section 4.1 (group-relative advantages); Yu et al. 2025, arXiv 2503.14476,
        section 3.2 (groups without spread have no gradient).
    """
    subject, seed = trial.subject, trial.seed
    group, cap = int(number_of(subject, "group", 0)), int(number_of(subject, "cap", 0))
    questions = questions_of(subject, seed, int(number_of(subject, "count", 50)))
    write, judge = writer_of(subject), judge_of(subject)
    scores = judge(questions, write(questions, group, cap, seed + LOOK_SEED))
    trial.beat()
    silent = [q for q, row in zip(questions, scores, strict=True) if row.max() == row.min()]
    found = {"silent_frac": len(silent) / len(questions), "awake_frac": 0.0, "best": float(scores.max())}
    if silent:
        again = judge(silent, write(silent, group * trial.settings["group_times"], cap, seed))
        found["awake_frac"] = float((again.max(1) > again.min(1)).mean())
        found["solved_frac"] = float((again == max(found["best"], again.max())).mean())
    return found
