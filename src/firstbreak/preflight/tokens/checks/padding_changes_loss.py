"""More padding in the batch changes the gradient on the tokens."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Number, Severity
from ..bench import TokenBench, skips
from ..noise import gradients_of_two_seeds
from ..variants import CLOSE_FRAC, EXTRA, padding_effect, policy_padding_effect


@check(
    "TOK031",
    "padding-changes-loss",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Divide by the number of trained tokens, and number positions by the attention mask.",
    explained_by=(
        "logits-score-wrong-token",
        "loss-mask-shifted",
        "padding-token-weighted",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """More padding in the batch changes the gradient on the tokens.

    Measured: the change of the gradient on the same tokens when three columns of padding are added on a side on
    which the trainer pads.

    Why it hurts: what a sample teaches depends on the longest other sample of its batch.

    Usual causes: a mean over the padded width; position ids that count columns under left padding; a value or
    entropy term without the mask; padding that is attended to.

    What to try: compare the loss of one row alone with that of the same row in a longer batch.

    Harmless: never; a constant normaliser does not depend on the width of the batch.
    """
    found = bench.once(padding_effect)
    changed = [(s, f) for s, f in (("left", found.left_frac), ("right", found.right_frac)) if f is not None]
    worst = max(changed, key=lambda pair: pair[1])
    if worst[1] <= CLOSE_FRAC or bench.once(gradients_of_two_seeds) > CLOSE_FRAC:
        return None
    numbers: dict[str, Number] = {f"change_{side}_frac": change for side, change in changed}
    only_left = worst[0] == "left" and (found.right_frac is None or found.right_frac <= CLOSE_FRAC)
    return Symptom(
        f"{EXTRA} more columns of padding on the {worst[0]} change the gradient by {worst[1]:.1%}",
        "loss",
        numbers,
        component=Component.ROLLOUT if only_left else _guilty(bench),
    )


def _guilty(bench: TokenBench) -> Component:
    """The policy part of the loss, unless that stays as it is: then the value part."""
    if bench.pieces.values is None:
        return Component.LOSS
    return Component.LOSS if bench.once(policy_padding_effect) > CLOSE_FRAC else Component.VALUE
