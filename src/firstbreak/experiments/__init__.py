"""Minimal experiments: a hypothesis, one changed variable, a prediction made before the run, and a verdict.

Ordering names a suspect; only an experiment convicts. An experiment has a *subject* (a trainer, an environment, a saved
batch ...), two *arms* (control and changed) that differ in one variable, and a *reading* with a known answer. It ends
in *confirmed*, *refuted* or *inconclusive*.

**To write one**, save one file `catalogue/<name_with_underscores>.py`; the folder is the registry:

    @experiment(
        "reversed-reward",
        hypothesis="The trainer walks down its reward: a sign is flipped on the way.",
        changes="reward", control="own", changed="reversed",
        prediction="Paid the negative of its reward, the trainer ends above the control in true return.",
        needs=(TRAINER, ENV),
        cost=Cost(2.0, "two trainings a seed"),
        reading=Reading(
            effect=lambda control, changed: changed["score"] - control["score"],
            confirms=Side.ABOVE, margin=share_of_span, unit="return", symptom=does_not_learn,
        ),
        link=Link.REWARD_SIGNAL, component=Component.REWARD,
    )
    def measure(trial: Trial) -> Measures:
        \"\"\"The trainer walks down its reward. (The page: claim · what is changed · prediction · how the verdict is
        drawn · cost · when it cannot decide · references.)\"\"\"
        return train_and_score(trial, reward=trial.settings["reward"])

- `measure(trial)` runs in a child process, once for each arm and seed (once a seed with `together=True`, then it
  returns a pair). It returns numbers by name, calls `trial.beat()` now and then, `trial.uses(...)` with the settings
  that were really put to work, `trial.note(...)` with remarks; it sets `trial.env_steps` and `trial.fingerprint`.
  It may raise anything: that is answered. A `FirstbreakError` says that the subject does not offer what is needed.
- `trial.subject.given` holds what the user gave with `--with NAME=VALUE`. What is indispensable is a `Need` of the
  experiment, what else it reads an `Option` (`options=`); other names are refused. `trial.subject.settings` are the
  user's own keyword arguments for the trainer.
- `Reading.effect` pairs the arms seed by seed. `margin` is the smallest effect that matters. The interval of the mean
  effect on the predicted side of the margin confirms, on the other side refutes.
- `Reading.symptom` is asked of the control arm first; if it answers with words, nothing else is concluded.

**To run one**: `firstbreak.experiments.api:run_experiment(experiment, subject, ...) -> Result`. The plan is written
down before anything runs, the result as JSON beside the run (`firstbreak.experiments.result`: `write`, `read`,
`read_all`).
"""

from __future__ import annotations

from .experiment import (
    ENV,
    TRAINER,
    Cost,
    Experiment,
    Measures,
    Need,
    Option,
    Pair,
    Reading,
    Side,
    all_experiments,
    experiment,
    find_experiment,
)
from .subject import Subject
from .trial import Trial

__all__ = [
    "ENV",
    "TRAINER",
    "Cost",
    "Experiment",
    "Measures",
    "Need",
    "Option",
    "Pair",
    "Reading",
    "Side",
    "Subject",
    "Trial",
    "all_experiments",
    "experiment",
    "find_experiment",
]
