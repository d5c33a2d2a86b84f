"""Which experiment of the catalogue makes the look that a cause asks for, and which verdict speaks for the cause.

A cause names its experiments in words of its own (`firstbreak.causes`). Each of these names is tied to an experiment of
the catalogue here, or is among those made by hand, with the reason. What another command of firstbreak does by itself
carries that command already and needs no tie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from ...causes import all_causes
from ..result import Outcome


class Otherwise(StrEnum):
    """What the verdict does to a cause that does not speak for it."""

    RULES_OUT = "rules it out"
    """The experiment puts exactly the cause's claim to the test."""
    LOWERS = "speaks against it"
    """The cause has a way out that the experiment does not see."""
    NOTHING = "says nothing of it"
    """The experiment sees one of several ways in which the cause shows."""


@dataclass(frozen=True)
class Tie:
    """An experiment of the catalogue that a cause stands or falls with."""

    experiment: str
    otherwise: Otherwise = Otherwise.RULES_OUT
    supports: Outcome = Outcome.CONFIRMED
    """The verdict that speaks for the cause."""
    given: tuple[tuple[str, Any], ...] = ()
    """What makes it the cause's own experiment (name, value): the setting that is changed, and to what."""

    @property
    def label(self) -> str:
        """The experiment with what is given to it; two of one name and different settings are two experiments."""
        return label_of(self.experiment, dict(self.given))


PARTS = {"one-setting": ("setting", "value")}
"""Experiment -> what must be given alike for two of it to be the same experiment."""


def label_of(experiment: str, given: Mapping[str, Any]) -> str:
    """Return what an experiment is called where several of its name may be made."""
    return " ".join([experiment, *(f"{part}={given.get(part)}" for part in PARTS.get(experiment, ()))])


def setting(name: str, value: Any, otherwise: Otherwise = Otherwise.LOWERS) -> Tie:
    """Return the tie to an experiment that changes one setting, called by its meaning."""
    return Tie("one-setting", otherwise, given=(("setting", name), ("value", value)))


OUT, DOWN, NOTHING = Otherwise.RULES_OUT, Otherwise.LOWERS, Otherwise.NOTHING

TIES: dict[str, Tie] = {
    "bonus off": setting("entropy_coefficient", 0),  # no usable advantage is another reason to stay random
    "both action modes": Tie("deterministic-evaluation", DOWN),  # normaliser and version may differ as well
    "component alone": Tie("component-ablation", NOTHING),  # a component that never pays can be left out unnoticed
    "critic gradient": Tie("critic-only-fit", OUT),
    "critic only": Tie("critic-only-fit", DOWN),  # targets that move are another reason not to fit them
    "fixed temperature": setting("temperature", 0.2),  # another temperature might do
    "fp32": Tie("low-precision", OUT),
    "golden set": Tie("rescore-golden-set", NOTHING),  # what failed under load may be well again
    "hash the weights": Tie("zero-learning-rate", DOWN),  # what happens now and then is not seen in a short run
    "KL coefficient x10": setting("kl_coefficient", "x10"),  # ten times may hold it too tightly
    "length penalty": Tie("length-penalty", NOTHING),  # length is one thing of many that a reward may pay for
    "longer cap": Tie("longer-cap", OUT),
    "one epoch": Tie("one-epoch-one-minibatch", NOTHING),  # steps that are too long leave the data one by one
    "overfit one batch": Tie("overfit-one-batch", OUT),
    "pass counts": Tie("group-size-x4", DOWN),
    "random against expert": Tie("oracle-against-random", OUT),
    "replay the failed batch": Tie("replay-failed-batch", NOTHING),  # the numbers may have gone bad before this batch
    "resume against uninterrupted": Tie("resume", DOWN),  # what is made good before the end is not seen
    "reversed reward": Tie("reversed-reward", OUT),
    "slower schedule": setting("exploration_fraction", 0.5),  # a schedule that never ends is not mended by this
    "score again": Tie("rescore-golden-set", OUT),
    "synchronous run": Tie("sync-vs-async", OUT),
    "usual discount": setting("discount", 0.99, OUT),
}
"""Name of an experiment as causes have it -> its tie, with the reason where the other verdict does not rule out."""

ALSO: dict[str, tuple[Tie, ...]] = {
    "advantage-sign": (Tie("reversed-reward", OUT),),
    "environment-returns-nonfinite": (Tie("replay-failed-batch", DOWN),),
    "gradient-explosion": (Tie("replay-failed-batch", NOTHING, Outcome.REFUTED),),
    "reward-outliers": (Tie("replay-failed-batch", DOWN),),
    "task-too-hard": (
        Tie("group-size-x4", DOWN, Outcome.REFUTED),
        Tie("train-on-test", DOWN, Outcome.REFUTED),
    ),
    "update-too-large": (Tie("batch-x4", NOTHING),),
    "weights-not-synchronised": (Tie("zero-learning-rate", NOTHING),),
}
"""Cause -> ties to experiments that it does not name, or not in these words."""

BY_HAND: dict[str, str] = {
    "largest probability": "needs the distribution that the loop itself makes of its network's output",
    "Monte-Carlo check": "needs the critic beside an environment that can be put into a chosen state",
    "act by hand": "a line in the loop that acts, no run to make",
    "accumulation 1": "needs the trainer's own step on one batch with another accumulation",
    "another seed": "the healthy version of the training, which is not this run's own code",
    "ask twice": "a line printed in the loop between two updates, no run to make",
    "baseline evaluation": "the success rate of the untrained model, under the protocol of training",
    "before and after the step": "a line printed around the temperature's own optimiser, no run to make",
    "before the filter": "a metric to log, not a run to make",
    "clip advantages": "a line in the trainer's loss",
    "closed form": "a metric to log, not a run to make",
    "coefficient in force": "a line printed by the trainer, no run to make",
    "compare ids": "needs the token ids of sampler and trainer; firstbreak preflight tokens holds the invariants",
    "constant divisor": "what turns it on differs by framework: firstbreak experiment one-setting, once you know it",
    "count updates": "a metric to log, not a run to make",
    "draw and count": "a histogram of the indices that training draws, no run to make",
    "critic first": "a change to the order of the trainer's updates",
    "divide the reward": "a wrapper around your environment: two short runs, then firstbreak compare",
    "draw at temperature 1": "needs the policy of your run",
    "epsilon 1e-8": "needs the trainer's own step on one saved batch with another epsilon",
    "fingerprint": "a metric to log, not a run to make",
    "finite check per term": "a line in the reward function, or firstbreak preflight reward on a table of its terms",
    "float32 weights": "what keeps the weights coarse is in the trainer's own loading code",
    "fresh held-out set": "needs prompts that nobody has looked at yet",
    "group size x4": "tied by the other verdict, see ALSO",
    "groups": "a metric to log, not a run to make",
    "half the sequences": "a setting of the inference engine on your machines",
    "hash after every step": "a metric to log, not a run to make",
    "hash the batches": "a metric to log, not a run to make",
    "launch cohorts": "a metric to log, not a run to make",
    "learning rate / 3": "needs the trainer's own step on one saved batch",
    "more episodes": "needs your checkpoints and your own evaluation code",
    "newest data": "a metric to log, not a run to make",
    "no decay": "the optimiser's own setting; firstbreak experiment one-setting, where the trainer takes it",
    "one batch, drawn and scored": "needs the trainer's own draws, beside a forward pass of the same model",
    "one epoch, one minibatch": "a metric to log, not a run to make",
    "one group by hand": "somebody has to read it through",
    "one minibatch": "a metric to log, not a run to make",
    "one set, scored twice": "needs the run's own scorer, the evaluation's, and the weights that both draw with",
    "one row all the way": "prints within the trainer, no run to make",
    "one step by hand": "prints within the trainer's step, no run to make",
    "other range": "which range to try depends on the one in use: firstbreak experiment one-setting, read on entropy",
    "paired prompts": "needs harmful prompts and somebody who judges the answers",
    "phase trace": "needs a profiler in your run",
    "plain sampling": "a setting of the inference engine",
    "prefix cache off": "a setting of the inference engine",
    "print prompt and key": "somebody has to read it through",
    "print the mask": "somebody has to read it through",
    "random targets": "needs the network of your run",
    "reference log-probs": "needs policy and reference of your run on one batch",
    "robust beta": "what sets it differs by trainer: firstbreak experiment one-setting, once you know it",
    "sample twice": "needs the policy of your run",
    "score the references": "needs the data and the scorer: firstbreak audit verifier asks the same",
    "score the same tokens": "needs trainer and inference engine at one version of the weights",
    "score twice": "needs a scorer that is asked within your trainer",
    "second update": "a line printed by the trainer, no run to make",
    "stack dump": "needs the hanging processes",
    "step arithmetic": "somebody has to read the loop's code",
    "swap the answers": "needs the judge and its pairs",
    "swap the ranks": "needs your machines",
    "temperature 1": "needs the policy of the start and of now",
    "the scorer by hand": "firstbreak audit verifier asks a scorer; what it keeps between calls shows in the training",
    "three rows": "rows of the trainer's own buffer to look at, no run to make",
    "tokens under the mask": "somebody has to read it through",
    "twice the batch": "needs the trainer's own step on one batch at another size",
    "usual norm": "the optimiser's own setting; firstbreak experiment one-setting, where the trainer takes it",
    "what changed then": "the log of your machines, your code and your schedules at that moment, no run to make",
    "zero learning rate": "the gap between trainer and sampler is read from the log of such a run",
}
"""Names that no experiment of the catalogue makes for every cause that uses them, each with the reason."""


@cache
def ties_of(cause: str) -> tuple[Tie, ...]:
    """Return the experiments of the catalogue that `cause` stands or falls with, the smallest look first."""
    own = [TIES[e.name] for one in all_causes() if one.name == cause for e in one.experiments if e.name in TIES]
    return tuple(dict.fromkeys((*own, *ALSO.get(cause, ()))))


@cache
def tied_causes(label: str) -> dict[str, Tie]:
    """Return the causes that an experiment of the catalogue speaks to, with their ties."""
    return {one.name: tie for one in all_causes() for tie in ties_of(one.name) if tie.label == label}
