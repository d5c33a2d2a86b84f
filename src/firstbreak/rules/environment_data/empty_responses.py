"""The rule `empty-responses`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.rules.reward_signal import ended, from_start
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `empty-responses`. Engineering defaults where no source is named."""

    warn_frac: float = 0.1
    """Share of empty or aborted responses that distorts the batch. Engineering default."""
    fail_frac: float = 0.9
    """Share from which hardly any response exists."""
    rows: int = 3
    """Latest rows whose median is judged."""
    adapts: int = 30
    """Rows after longer prompts came in during which a policy may still unlearn to stop at once before them."""


GRPO = synth.like("GRPO")
PROMPTS = "seq/prompt_len_mean"
CASES = (
    fires("a third is empty", lambda: GRPO({"seq/aborted_fraction": synth.jump(0.0, 0.3, at=0.5)})),
    fires("responses have no tokens", lambda: GRPO({"seq/len_mean": synth.constant(0.0)})),
    fires(
        "longer prompts, and empty responses for good",
        lambda: GRPO({"seq/aborted_fraction": synth.jump(0.0, 0.3, at=0.5), PROMPTS: synth.jump(5.5, 7.0, 0.5, 0.05)}),
    ),
    healthy("none is empty", lambda: GRPO({"seq/aborted_fraction": synth.constant(0.0)})),
    near_miss("two tokens are enough for this task", lambda: GRPO({"seq/len_mean": synth.constant(2.0)})),
)


@rule(
    "ENV011",
    "empty-responses",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    any_of=(("seq/aborted_fraction", "seq/len_mean"),),
    when=("language",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-flat", "reward-constant", "length-collapse", "zero-std-groups"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses are empty or aborted.

    What it means:
        A noticeable share of the sequences holds no tokens (or the mean length is below one token).

    Why it matters:
        They are scored like answers and their groups compare nothing with something.

    Usual causes:
        The first sampled token is the stop token (template error); requests cut off by the engine; prompts that fill
        the context.

    What to try:
        Read the raw output with its stop reason; decode the prompt's last tokens.

    When it is harmless:
        Never for long: a few aborted requests at a restart; a policy that has just met longer problems, and stops at
        once before some of them, for which this is a note over the first thirty rows.

    References:
        Engineering defaults; see the parameters.
    """
    aborted, length = view.get("seq/aborted_fraction"), view.get("seq/len_mean")
    if aborted is not None and (len(aborted) >= params.rows or (len(aborted) and ended(view))):
        level = median(aborted.value[-params.rows :])
        if level >= params.warn_frac:
            over = persistent_onset(aborted.step, aborted.value >= params.warn_frac, 1)
            found = Detection(
                message=f"{level:.0%} of the responses are empty or aborted",
                onset=view.onset(*over) if over is not None else from_start(view, aborted),
                metric=aborted.metric,
                evidence={"aborted_frac": level},
                severity=Severity.ERROR if level >= params.fail_frac else None,
            )
            return found if level >= params.fail_frac else while_new(view, found, aborted, params)
    if length is not None and (len(length) >= params.rows or (len(length) and ended(view))):
        level = median(length.value[-params.rows :])
        if level < 1:
            over = persistent_onset(length.step, length.value < 1, 1)
            return Detection(
                message=f"responses hold {level:.2g} tokens on average",
                onset=view.onset(*over) if over is not None else from_start(view, length),
                metric=length.metric,
                evidence={"length_tokens": level},
                severity=Severity.ERROR if level == 0 else None,
            )
    return None


def while_new(view: RunView, found: Detection, aborted: Points, params: Params) -> Detection:
    """Return what was found as a note while the policy has just met longer problems."""
    noted = unless_harder(view, found)
    came_in = noted.evidence.get("prompts_longer_at")
    if not isinstance(came_in, float) or aborted.step[aborted.step >= came_in].size > params.adapts:
        return found
    return noted
