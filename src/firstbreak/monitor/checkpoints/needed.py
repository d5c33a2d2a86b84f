"""The parts a trainer must carry over a resume, and what is seen when one is left behind. One table."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import unknown_name
from ...finding import Severity
from ...vocabulary import algorithm_named, algorithms, traits_of

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO


@dataclass(frozen=True)
class Part:
    """One part of a trainer's state."""

    name: str
    title: str
    symptom: str
    """What is seen after a resume without it, in one line."""
    rules: tuple[str, ...]
    """The rules that see it, likeliest first."""
    severity: Severity
    always: tuple[str, ...] = ()
    """Traits of algorithms that have it for certain; `*` for all."""
    perhaps: tuple[str, ...] = ()
    """Traits of algorithms that may have it, as the trainer is set up."""
    instead: tuple[str, ...] = ()
    """Parts from which it can be computed anew: then it is needed only perhaps."""


PARTS: tuple[Part, ...] = (
    Part(
        "policy",
        "policy weights",
        "the policy starts anew: return and entropy are those of the first update",
        ("return-collapse",),
        _E,
        always=("policy_gradient",),
    ),
    Part(
        "critic",
        "critic weights",
        "values start anew: the critic's loss jumps, explained variance drops and advantages are noise until it has "
        "caught up",
        ("explained-variance-collapse", "value-loss-explosion"),
        _E,
        always=("value_function", "q_function"),
    ),
    Part(
        "target_network",
        "target network",
        "targets come from other weights at once: TD errors jump, Q is pulled away and comes back over one target "
        "period",
        ("value-loss-explosion", "q-divergence"),
        _W,
        always=("q_function",),
    ),
    Part(
        "optimiser",
        "optimiser moments",
        "the first updates have full size whatever the gradient: KL and loss spike at the resume and settle over about "
        "1 / (1 - beta2) updates",
        ("optimiser-state-lost", "kl-overshoot", "policy-loss-spike"),
        _W,
        always=("*",),
    ),
    Part(
        "scheduler",
        "learning-rate schedule",
        "the learning rate jumps back to its start, or warms up again",
        ("lr-schedule-fault", "kl-overshoot"),
        _W,
        perhaps=("*",),
    ),
    Part(
        "grad_scaler",
        "gradient scaler",
        "the loss scale starts at its initial value: updates are skipped until it has halved often enough",
        ("steps-skipped", "loss-scale-collapse"),
        _W,
        perhaps=("*",),
    ),
    Part(
        "log_alpha",
        "entropy temperature (log alpha)",
        "the temperature starts at its initial value: alpha jumps and entropy follows",
        ("alpha-runaway", "entropy-growing"),
        _W,
        always=("max_entropy",),
    ),
    Part(
        "alpha_optimiser",
        "optimiser of the temperature",
        "the temperature takes full-size steps at first: alpha and entropy swing before they settle",
        ("alpha-runaway", "alpha-collapse"),
        _I,
        always=("max_entropy",),
    ),
    Part(
        "observation_normaliser",
        "statistics of the observation normaliser",
        "observations are shifted and scaled otherwise at once: return drops at the resume and KL jumps",
        ("return-collapse", "kl-overshoot", "train-eval-gap"),
        _E,
        perhaps=("control",),
    ),
    Part(
        "return_normaliser",
        "statistics of the reward or return normaliser",
        "rewards are scaled otherwise at once: the critic's loss jumps, its values no longer fit the returns",
        ("value-scale-mismatch", "value-loss-explosion"),
        _W,
        perhaps=("control", "value_function"),
    ),
    Part(
        "replay",
        "replay buffer",
        "few fresh samples are fitted again and again: Q overfits them and return drops until the buffer has filled",
        ("q-divergence", "q-exceeds-return", "return-collapse"),
        _W,
        always=("replay",),
    ),
    Part(
        "epsilon",
        "exploration rate (epsilon)",
        "exploration starts again at its first value: actions are random and return drops",
        ("epsilon-stays-high", "return-collapse"),
        _W,
        always=("epsilon_greedy",),
        instead=("step",),
    ),
    Part(
        "step",
        "counter of steps or updates",
        "whatever follows the counter starts again: learning rate, epsilon, clip range, the axis of the log",
        ("lr-schedule-fault", "epsilon-stays-high"),
        _W,
        always=("*",),
    ),
    Part(
        "reference",
        "reference policy",
        "KL to the reference starts again at 0 if the resumed policy becomes its own reference: the anchor is lost",
        ("kl-ref-runaway", "no-kl-anchor"),
        _W,
        perhaps=("reference",),
    ),
    Part(
        "kl_coefficient",
        "adaptive KL coefficient",
        "the penalty starts at its initial weight: KL to the reference drifts or the policy is held back",
        ("kl-ref-runaway", "policy-frozen"),
        _I,
        perhaps=("reference",),
    ),
    Part(
        "ema",
        "averaged weights (EMA)",
        "the average starts at the current weights: evaluations of it step at the resume",
        ("eval-step-change",),
        _I,
        perhaps=("*",),
    ),
    Part(
        "data_position",
        "position in the data",
        "prompts that were already used come again from the start of the order",
        ("batch-repeated",),
        _W,
        perhaps=("language",),
    ),
    Part(
        "rng",
        "random generators",
        "the random draws differ, or the first ones come again under a fixed seed: the run cannot be repeated to the "
        "bit",
        ("batch-repeated",),
        _I,
        always=("*",),
    ),
)
"""In the order in which they are reported within one severity."""

BY_NAME: dict[str, Part] = {part.name: part for part in PARTS}


def part_named(name: str) -> Part:
    """Return a part of the table.

    Raises:
        UnknownNameError: There is none; the nearest are offered.
    """
    if name not in BY_NAME:
        raise unknown_name("part of a trainer's state", name, BY_NAME)
    return BY_NAME[name]


def parts_of_algorithm(algorithm: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the parts that a trainer of `algorithm` has for certain, and those it may have.

    Raises:
        UnknownNameError: No such algorithm; the nearest are offered.
    """
    name = algorithm_named(algorithm)
    if not name:
        raise unknown_name("algorithm", algorithm, algorithms())
    traits = traits_of(name) | {"*"}
    certain = tuple(part for part in PARTS if traits & set(part.always))
    return certain, tuple(part for part in PARTS if part not in certain and traits & set(part.perhaps))
