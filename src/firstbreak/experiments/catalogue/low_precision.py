"""The experiment `low-precision`."""

from __future__ import annotations

import math

from ...errors import InputError
from ...finding import Component, Link
from ..batch.given import function_of, path_of
from ..batch.precision import FORMATS, MOST, distances, evaluate, finite, load_batch, tolerance
from ..experiment import Cost, Measures, Need, Option, Reading, Side, experiment
from ..trial import Trial

TIMES = 1.0
"""Orders of magnitude beyond rounding that matter. Engineering default: layers in a row add a small factor, ten they do
not."""

HOW = ("autocast", "cast")
MODEL = Need("model", "--with model=module:make: make() -> the torch module, with the weights of the run")
LOSS = Need("loss", "--with loss=module:loss: loss(model, batch) -> loss, or (loss, log_probs)")
BATCH = Need("batch", "--with batch=FILE: what torch.save or numpy.savez wrote, or a saved failed update")


def _effect(control: Measures, changed: Measures) -> float:
    return max(math.log10(min(changed[name] / control[name], MOST) + 1e-30) for name in control)


@experiment(
    "low-precision",
    hypothesis="Low precision breaks this computation: it overflows, underflows or cancels.",
    changes="precision",
    control="float32, weights rounded",
    changed="low",
    prediction="Loss, gradient or log-probs differ from single precision ten times more than rounding explains.",
    needs=(MODEL, LOSS, BATCH),
    options=(
        Option("format", "the low precision, instead of bfloat16", FORMATS),
        Option("how", "how it is reached, instead of autocast", HOW),
    ),
    cost=Cost(0.0, "six evaluations of one batch for each seed, no training"),
    reading=Reading(effect=_effect, confirms=Side.ABOVE, margin=TIMES, unit="orders of magnitude", exact=True),
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    pilot=3,
    together=True,
)
def measure(trial: Trial) -> tuple[Measures, Measures]:
    """Low precision breaks this computation.

    What is changed:
        The format in which one saved batch is evaluated: single precision, and `format` (bfloat16 unless given), by
        autocast or with everything cast (`how=cast`). The control stays in single precision and moves every weight by
        at most half the format's epsilon: what storing the weights in that format does to the result.

    Prediction:
        Where low precision breaks the computation, loss, log-probs or gradient are off by orders of magnitude more
        than that, or not finite.

    How the verdict is drawn:
        The effect is the largest of the three ratios, as a power of ten. Confirmed above 1, refuted below. Each seed
        rounds in another way.

    Cost:
        Six forward and backward passes over one batch for each of at least three seeds; no training.

    When it cannot decide:
        About one order of magnitude. It sees one batch: an overflow that needs larger numbers than this batch has is
        not seen, so give the batch of the failed update.

    References:
        Higham 2002, "Accuracy and Stability of Numerical Algorithms", sections 1.6 and 2.2; Micikevicius et al. 2018,
        arXiv 1710.03740, section 3.2 (gradients below the range of half precision).
    """
    subject = trial.subject
    low, how = str(subject.given.get("format", "bfloat16")), str(subject.given.get("how", "autocast"))
    if low not in FORMATS or how not in HOW:
        raise InputError(f"No low precision {low} by {how}.", "format=bfloat16 or float16; how=autocast or cast")
    model, loss = function_of(subject, "model")(), function_of(subject, "loss")
    batch = load_batch(path_of(subject, "batch"))
    reference = evaluate(model, loss, batch, trial.seed)
    if not finite(reference):
        raise InputError("The batch is not finite in single precision either.", "Use: replay-failed-batch")
    trial.beat()
    rounding = tolerance(model, loss, batch, trial.seed, low, reference)
    off = distances(reference, evaluate(model, loss, batch, trial.seed, low, how))
    broken = [name for name, value in off.items() if math.isinf(value)]
    if broken:
        trial.note(f"not finite in {low}: {', '.join(broken)}")
    worst = max(off, key=lambda name: min(off[name] / rounding[name], MOST))
    trial.note(f"furthest off: {worst}, {min(off[worst] / rounding[worst], MOST):.3g} times what rounding does")
    return rounding, {name: min(value, MOST * rounding[name]) for name, value in off.items()}
