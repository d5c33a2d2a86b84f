"""TPR030: the token depends on the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..model import Policy
from ..rung import NOISE_NATS, Mistake, State, TokenRung, by_gain, log_odds_gain, stuck_or_backwards
from ..task import PROMPTS, TokenTask
from ..trial import TokenTrial, judge

OWN: dict[tuple[int, ...], int] = {prompt: 8 + i for i, prompt in enumerate(PROMPTS)}


def task() -> TokenTask:
    """Pay each prompt's own token."""
    return TokenTask("token-by-prompt", pay, longest=1)


def pay(prompt: tuple[int, ...], completion: tuple[int, ...]) -> float:
    """Return 1 where the completion is the prompt's own token.

    Raises:
        ValueError: the prompt is none of the task's, so that nobody can say what it should earn.
    """
    if prompt not in OWN:
        raise ValueError(f"task.rewards got the prompt {prompt}, none of task.prompts: cut, shifted or re-tokenised?")
    return float(completion[:1] == (OWN[prompt],))


def read(now: Policy, then: Policy, task: TokenTask) -> Mapping[str, float]:
    """The probabilities of the own token and of those of the other prompts."""
    rows = [(p, now.first(p), then.first(p)) for p in task.prompts]
    own = sum(float(after[OWN[p]]) for p, after, _ in rows) / len(rows)
    before = sum(float(first[OWN[p]]) for p, _, first in rows) / len(rows)
    others = sum(float(after[OWN[q]]) for p, after, _ in rows for q in task.prompts if q != p) / len(rows)
    unscored = float(len(task.prompts) - len(task.scored_prompts))
    return {"p": own, "gain": log_odds_gain(own, before), "others": others, "prompts_unscored": unscored}


def state(numbers: Mapping[str, float]) -> State:
    """Right when the own token is learnt and is more likely than all of the others together."""
    if numbers["others"] > numbers["p"]:
        return "wrong" if numbers["gain"] < -NOISE_NATS else "approaching"
    return by_gain(numbers)


def mistake(numbers: Sequence[Mapping[str, float]]) -> Mistake:
    """All four tokens alike means that the prompt does not count, unless prompts never came to be scored."""
    last = numbers[-1]
    if last["prompts_unscored"]:
        drawn = len(PROMPTS) - int(last["prompts_unscored"])
        return Mistake(f"rewards were asked for {drawn} of {len(PROMPTS)} prompts: the others are not drawn, or cut")
    if last["p"] + last["others"] > 0.6 and last["others"] > 1.5 * last["p"]:
        return Mistake("the tokens of all prompts are learnt alike: rows are mixed up, or the prompt is not seen")
    return stuck_or_backwards(numbers, Mistake("the token of each prompt is not learnt"))


RUNG = TokenRung(
    "token-by-prompt",
    "a reward that depends on the prompt",
    task,
    read,
    state,
    mistake,
    "near 1",
    "p",
    needs=("one-token",),
    effort=1.5,
)


@check(
    "TPR030",
    "token-by-prompt-not-learned",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    fix="Check that reward, advantage and completion of a row belong to one prompt, and that it is attended to.",
    severity=Severity.ERROR,
)
def look(trial: TokenTrial) -> Answer:
    """Which token pays depends on the prompt, and the policy does not learn which.

    **What is measured.** Four prompts of different lengths, each with a token of its own that earns 1. The mean
    probability of the own token, and of the tokens of the other prompts.

    **Why it hurts.** A policy that cannot tell prompts apart learns only what is good on average.

    **Usual causes.** Rewards grouped or shuffled across prompts; prompts cut off or padded over; positions that
    ignore padding; advantages over the batch; a sampler that
    draws the same prompt again and again.

    **What to try.** Print prompt, completion, reward and advantage of one batch side by side.

    **When it is harmless.** Never.
    """
    return judge(trial, RUNG)
