"""TPR070: a reward that is neutral to length."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..model import Policy
from ..rung import Mistake, State, TokenRung
from ..task import LETTERS, TokenTask
from ..trial import TokenTrial, judge

PAID = frozenset(LETTERS[::2])
SHORT, LONG = 0.5, 1.75
"""Mean lengths over that of the start, which is 12 of 24 tokens at chance, so that 2 is the most. With Adam the
noise of a learnt signal walks: healthy trainers reach 1.5. Calibrated on the reference trainers."""


class Neutral:
    """Pays for half of the first letters, and for ending at once what letters earned of late."""

    def __init__(self) -> None:
        self.late: deque[float] = deque([0.5], maxlen=64)

    def __call__(self, prompt: tuple[int, ...], completion: tuple[int, ...]) -> float:
        """Score one completion."""
        del prompt
        if not completion or completion[0] not in LETTERS:
            return sum(self.late) / len(self.late)
        self.late.append(float(completion[0] in PAID))
        return self.late[-1]


def task() -> TokenTask:
    """Pay for half of the first tokens."""
    return TokenTask("length-neutral", Neutral(), longest=24)


def read(now: Policy, then: Policy, task: TokenTask) -> Mapping[str, float]:
    """Mean lengths, and whether the task was learnt at all."""
    before, after = (policy.mean_length(task.prompts, task.longest) for policy in (then, now))
    paid = sum(float(now.first(p)[sorted(PAID)].sum()) for p in task.prompts) / len(task.prompts)
    return {"ratio": after / before, "length_tokens": after, "start_tokens": before, "p": paid}


def state(numbers: Mapping[str, float]) -> State:
    """Right within the bounds; never certain after one training."""
    return "right" if SHORT <= numbers["ratio"] <= LONG else "approaching"


def mistake(numbers: Sequence[Mapping[str, float]]) -> Mistake:
    """Which way it goes."""
    return Mistake("completions grow" if numbers[-1]["ratio"] > 1 else "completions shrink")


RUNG = TokenRung(
    "length-neutral",
    "a reward that is neutral to length",
    task,
    read,
    state,
    mistake,
    "0.5 to 1.75",
    "ratio",
    needs=("one-token",),
    effort=0.5,
)


@check(
    "TPR070",
    "length-drifts-without-reward",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    fix="Divide by something that does not depend on the length of the completion, and keep length out of the reward.",
    severity=Severity.ERROR,
)
def look(trial: TokenTrial) -> Answer:
    """A reward that does not depend on length makes completions longer or shorter.

    **What is measured.** Completions of up to 24 tokens; half of the first letters earn 1; whoever ends at once
    earns what letters earned of late, so that ending is neither good nor bad. The mean length at the end over
    that at the start.

    **Why it hurts.** Length is what most users pay for, and what most metrics follow.

    **Usual causes.** No baseline, so that every sampled token is pushed; the end token not trained; a
    normaliser or a penalty that depends on length.

    **What to try.** Compare loss types on this task; `firstbreak preflight tokens` reads the normaliser off the
    loss.

    **When it is harmless.** With a length penalty on purpose.
    """
    return judge(trial, RUNG)
