"""What the trainer was given of a response: ids, loss mask and log-probabilities."""

from __future__ import annotations

import math

from ..measure import Values, measure
from ..sample import Tokens
from ..seen import Seen

COLUMNS = {
    "tokens/retokenised_frac": "share of ids that differ when the text is encoded again",
    "tokens/retokenised_first": "place of the first id that differs, from 0",
    "tokens/masked_response_frac": "share of the response's tokens that the loss mask leaves out",
    "tokens/unmasked_prompt_frac": "share of the prompt's tokens that the loss mask lets in",
    "tokens/lengths_disagree": "1 where ids, mask, log-probabilities or the stated length disagree, else 0",
    "tokens/logprob_mean": "mean log-probability of the response's tokens, nats",
    "tokens/logprob_min": "least log-probability, nats",
    "tokens/logprob_impossible": "log-probabilities above 0 or not finite",
    "tokens/logprob_zero_frac": "share of log-probabilities that are exactly 0",
}
NAN = float("nan")
ROUNDING = 1e-4
"""Above 0 by no more than this is rounding. Engineering default."""


@measure(COLUMNS)
def tokens(seen: Seen) -> Values:
    """Measure the tokens, where the log holds them."""
    held = seen.sample.tokens
    if held is None:
        return None
    return (*retokenised(held), *masked(held), disagree(held, seen.sample.length_tokens), *logprobs(held))


def retokenised(held: Tokens) -> tuple[float, float]:
    """Return the share of ids that differ from those of the text encoded again, and the place of the first.

    The shorter of the two is compared from the place at which `retokenised` begins: with the prompt where it is as long
    as `ids`, else with the response.
    """
    again = held.retokenised
    if not again or not held.ids:
        return NAN, NAN
    ids = (
        held.ids
        if abs(len(again) - len(held.ids)) <= abs(len(again) - len(held.ids) + held.start)
        else held.ids[held.start :]
    )
    if ids == again:
        return 0.0, NAN
    first = next((i for i, (a, b) in enumerate(zip(ids, again, strict=False)) if a != b), min(len(ids), len(again)))
    differ = sum(a != b for a, b in zip(ids, again, strict=False)) + abs(len(ids) - len(again))
    return differ / max(len(ids), len(again)), float(first)


def masked(held: Tokens) -> tuple[float, float]:
    """Return the share of the response outside the loss, and that of the prompt inside it."""
    mask, start = held.loss_mask, held.start
    if len(mask) != len(held.ids) or not mask:
        return NAN, NAN
    response, prompt = mask[start:], mask[:start]
    out = sum(not m for m in response) / len(response) if response else NAN
    return out, sum(bool(m) for m in prompt) / len(prompt) if prompt else NAN


def disagree(held: Tokens, length_tokens: float) -> float:
    """Return 1 where the lengths of what is held disagree, else 0; one token more or less may be the end's."""
    size = len(held.ids) - held.start
    if not held.ids:
        return NAN
    wrong = held.start > len(held.ids)
    wrong |= bool(held.loss_mask) and len(held.loss_mask) != len(held.ids)
    wrong |= bool(held.logprobs) and len(held.logprobs) != size
    wrong |= math.isfinite(length_tokens) and abs(length_tokens - size) > 1
    return float(wrong)


def logprobs(held: Tokens) -> tuple[float, float, float, float]:
    """Return mean and least of the finite log-probabilities, how many are impossible, and the share of exact zeros."""
    values = held.logprobs
    if not values:
        return NAN, NAN, NAN, NAN
    finite = [v for v in values if math.isfinite(v)]
    impossible = len(values) - len(finite) + sum(v > ROUNDING for v in finite)
    zeros = sum(v == 0 for v in finite) / len(values)
    if not finite:
        return NAN, NAN, impossible, zeros
    return math.fsum(finite) / len(finite), min(finite), impossible, zeros
