"""Nine classic alarms, each given by a rule that states it safely.

As absolute limits these alarms fire on healthy runs and stay silent on broken ones: they depend on the scale of the
reward, on units and on dimensions. The rules named here judge a run against itself and against what its rewards allow;
when one of them fires, W&B, Trackio and chats show the familiar title and level.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...finding import Severity
from ..verdict import Notice
from .plain import brief


class Level(StrEnum):
    """The levels of W&B and Trackio."""

    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


@dataclass(frozen=True)
class Classic:
    """A familiar alarm: its title and level, the limit it is known by, and the rules that say it safely."""

    title: str
    level: Level
    limit: str
    rules: tuple[str, ...]
    unsafe: str
    """Why the limit alone misleads."""


NINE: tuple[Classic, ...] = (
    Classic(
        "Gradient explosion",
        Level.ERROR,
        "grad_norm > 1e4",
        ("grad-norm-explosion", "critic-gradient-explosion"),
        "the norm scales with the number of parameters, the loss and the batch, and may be logged after clipping",
    ),
    Classic(
        "NaN in metrics",
        Level.ERROR,
        "any metric is NaN",
        ("nonfinite-metric", "reward-nonfinite"),
        "infinities pass unseen, and loggers pad rows with NaN",
    ),
    Classic(
        "Entropy collapse",
        Level.WARN,
        "entropy < 0.01",
        ("entropy-collapse", "token-entropy-collapse"),
        "differential entropy may be negative in health, and depends on the unit of the action",
    ),
    Classic(
        "Action dim collapsed",
        Level.WARN,
        "action_std_min < 0.01",
        ("action-std-collapse",),
        "raw action units, mixed with how actions differ between states",
    ),
    Classic(
        "Q-value divergence",
        Level.WARN,
        "|q_mean| > 1000",
        ("q-divergence", "q-over-bound", "q-exceeds-return"),
        "the right size is set by the rewards and the discount",
    ),
    Classic(
        "Q-value twin divergence",
        Level.WARN,
        "q_value_spread > 100",
        ("twin-q-apart",),
        "a difference of batch means cancels what the samples disagree on, and scales with the reward",
    ),
    Classic(
        "Value function anti-correlated",
        Level.WARN,
        "explained_variance < -0.5",
        ("explained-variance-negative",),
        "normal in the first updates, and also the score of a value function of the right shape and the wrong scale",
    ),
    Classic(
        "Excessive PPO clipping",
        Level.WARN,
        "clip_fraction > 0.5",
        ("clip-fraction-high",),
        "depends on the clip range and on how many updates reuse a batch",
    ),
    Classic(
        "Advantage explosion",
        Level.WARN,
        "advantage abs_max > 100",
        ("advantage-outliers",),
        "scales with the reward, and cannot be reached once advantages are normalised",
    ),
)

_BY_RULE = {rule: classic for classic in NINE for rule in classic.rules}
_LEVEL = {Severity.INFO: Level.INFO, Severity.WARNING: Level.WARN, Severity.ERROR: Level.ERROR}


def classic_of(notice: Notice) -> Classic | None:
    """Return which of the nine a notice is, None when it is another."""
    return _BY_RULE.get(notice.name)


def level_of(notice: Notice) -> Level:
    """Return the level to show: that of the nine, else the finding's own; a finding reduced to a note stays one."""
    classic = classic_of(notice)
    return _LEVEL[notice.level] if classic is None or notice.level is Severity.INFO else classic.level


def title_of(notice: Notice, most: int = 63) -> str:
    """Return the title to show, in at most `most` characters: that of the nine and the metric, or the notice's own."""
    classic = classic_of(notice)
    title = notice.title if classic is None else f"{classic.title}: {notice.metric or notice.name}"
    return brief(title, most)
